import { type Kysely, sql } from 'kysely';
import { type Answer, type AnswerPatch, BLOCKING_STATES, isFailed } from '../answers/answer.ts';
import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import type { Lease } from '../lease-loop.ts';
import { lockQuestionOf, releaseLosers } from './answer-accept.ts';
import { type AnswerChange, type AnswerRow, changeRow, enterState, otherColumn, readAnswer } from './answer-rows.ts';
import { change, countChanged, from, type StoreDatabase, StoreUnavailableError } from './database.ts';
import { earliest, isOurs, leaseDue, UNREADABLE_RETRY_MS } from './due.ts';
import type { Cipher } from './encryption.ts';
import { databaseTime } from './store-clock.ts';
import { type Tables, WITHOUT_LEASE } from './tables.ts';

/** Candidate rows for each row wanted: other replicas may lock some of them at the same moment. */
const CANDIDATES_PER_ROW = 8;

/** The queue part of `AnswerStore`: each row is its own queue entry. */
export function createAnswerQueue({
	db,
	cipher,
	checksTime,
	readOrSkip,
}: {
	db: StoreDatabase;
	cipher: Cipher;
	checksTime: boolean;
	/** Empty for a damaged row. */
	readOrSkip(row: AnswerRow): readonly Answer[];
}) {
	/** Postpones rows that cannot be read, so that they block neither their session nor the queue. */
	async function postpone(ids: readonly string[], token: string, now: number): Promise<void> {
		const later = { ...WITHOUT_LEASE, next_attempt_at: now + UNREADABLE_RETRY_MS };
		await db.writeOne((trx) => change(trx, 'answers', { id: ids, lease_token: token }).set(later).execute());
	}

	return {
		/**
		 * Leases up to `limit` due answers for `service`, oldest first, at most one per session at a time; where only the author is
		 * to be told, only if they are of `StoreOptions.workspace`. Damaged answers are put off and
		 * block nothing.
		 */
		async takeDue(service: string, lease: Lease, limit: number, now: number): Promise<readonly Answer[]> {
			const where = firstOfSession(db, service, { now, limit });
			const orderBy = sql`next_attempt_at, accepted_at, id`;
			const before = (trx: Kysely<Tables>) => freeLapsed(trx, now);
			const due = { table: 'answers', key: 'id', service, where, orderBy, limit, before } as const;
			const rows = await leaseDue(db, due, { lease, now });
			const answers = rows.flatMap(readOrSkip);
			const readableIds = new Set(answers.map(({ id }) => id));
			const unreadableIds = rows.map(({ id }) => id).filter((id) => !readableIds.has(id));
			if (unreadableIds.length > 0) await postpone(unreadableIds, lease.token, now);
			return answers;
		},

		/**
		 * Writes `patch` if the lease `token` still holds the answer and its state is still that of `answer`; with `editCount`,
		 * only if its text is the same too. Returns the stored answer. Null when another replica has it, its author changed it
		 * (`retry`, `withdraw`), another answer replaced it, or an earlier write changed the state although its reply was lost.
		 * `release` gives the lease back in the same write. Ending states wipe secret values in the same write.
		 */
		update: (
			{ id, state }: Pick<Answer, 'id' | 'state'>,
			token: string,
			patch: AnswerPatch,
			{ now, release, editCount }: { now: number; release: boolean; editCount?: number },
		) =>
			db.write(async (trx) => {
				const fails = patch.state !== undefined && patch.state !== 'conflicted' && isFailed(patch.state);
				// Before its row: the order in which all writes lock them.
				if (fails) await lockQuestionOf(trx, id);
				const held = { id, lease_token: token, state, ...(editCount !== undefined && { edit_count: editCount }) };
				const row = await from(trx, 'answers', held).selectAll().forUpdate().executeTakeFirst();
				if (row === undefined) return null;
				if (checksTime && patch.before != null && patch.putStartedAt != null) await expectTime(trx, patch.putStartedAt);
				const set = { ...patchRow(row, patch, now, cipher), ...(release && WITHOUT_LEASE) };
				if (Object.values(set).every((value) => value === undefined)) return readAnswer(row, cipher);
				const changed = await changeRow(trx, cipher, row, set);
				if (fails) await releaseLosers(trx, cipher, changed, now);
				return changed;
			}),

		/** Prolongs the lease; false when it was lost. */
		renew: (id: string, lease: Lease, now: number) =>
			db.writeOne(async (trx) => {
				const own = change(trx, 'answers', { id, lease_token: lease.token });
				return (await countChanged(own.set({ leased_until: now + lease.ms }))) > 0;
			}),

		/** Gives these leases back, in any state of their answers. */
		release: (held: readonly { readonly id: string; readonly token: string }[]) =>
			db.writeOne(async (trx) => {
				if (held.length === 0) return;
				await trx
					.updateTable('answers')
					.set(WITHOUT_LEASE)
					.where((eb) => eb.or(held.map(({ id, token }) => eb.and({ id, lease_token: token }))))
					.execute();
			}),

		rows: db.queuedRows(['answers']),

		/**
		 * When `takeDue` may find an answer next, or null: the earliest `nextAttemptAt`, but not before a lease on the answer's
		 * session lapses.
		 */
		async nextDueAt(service: string): Promise<number | null> {
			// An answer whose session is leased, perhaps by itself, cannot be taken before that lease lapses.
			const row = await db.read
				.selectFrom('answers as due')
				.leftJoin('answers as leased', (join) =>
					join
						.onRef('leased.service', '=', 'due.service')
						.onRef('leased.session_id', '=', 'due.session_id')
						.on('leased.lease_token', 'is not', null),
				)
				.where('due.service', '=', service)
				.where('due.next_attempt_at', 'is not', null)
				.where(isForUs(db))
				.select(earliest('due.next_attempt_at', 'leased.leased_until').as('at'))
				.executeTakeFirstOrThrow();
			return row.at;
		},

		/** Makes live answers due whose last attempt failed with one of these codes, because the service is back. Returns how many. */
		hasten: (service: string, lastErrors: readonly string[], now: number) =>
			db.writeOne((trx) =>
				countChanged(
					change(trx, 'answers', { service, lease_token: null, state: BLOCKING_STATES, last_error: lastErrors })
						.where('next_attempt_at', '>', now)
						.set({ next_attempt_at: now, not_before: null }),
				),
			),
	};
}

/** Whether the answer `due` needs more than its author to be told, or this process may tell them. */
function isForUs(db: StoreDatabase) {
	return sql<boolean>`(due.state in (${sql.join(BLOCKING_STATES)}) or ${isOurs(db, 'due.team_id')}
		or (due.state = 'delivered' and (due.agent_outcome is null or due.restart_asked_at is not null)))`;
}

/** The first due answer of each session, unless an answer of that session is leased. */
function firstOfSession(db: StoreDatabase, service: string, { now, limit }: { now: number; limit: number }) {
	return sql<boolean>`next_attempt_at <= ${now} and id in (
		select id from (
			select id, next_attempt_at, accepted_at, row_number() over (
				partition by session_id order by next_attempt_at, accepted_at, id
			) as place
			from answers as due
			where service = ${service} and next_attempt_at <= ${now} and lease_token is null and ${isForUs(db)}
				and not exists (
					select 1 from answers as leased
					where leased.service = due.service and leased.session_id = due.session_id and leased.lease_token is not null
				)
		) as firsts
		where place = 1
		order by next_attempt_at, accepted_at, id
		limit ${limit * CANDIDATES_PER_ROW}
	)`;
}

/** Clears lapsed leases, which would block the other answers of their sessions. A holder that still runs fails at its next write. */
async function freeLapsed(trx: Kysely<Tables>, now: number): Promise<void> {
	const lapsed = await trx
		.selectFrom('answers')
		.select('id')
		.where('lease_token', 'is not', null)
		.where('leased_until', '<=', now)
		.forUpdate()
		.skipLocked()
		.execute();
	if (lapsed.length === 0) return;
	const ids = lapsed.map((row) => row.id);
	await change(trx, 'answers', { id: ids }).set(WITHOUT_LEASE).execute();
}

/**
 * Other processes count from the noted start of a PUT until it cannot land any more. So the noted time must be the
 * database's, and a machine that slept may not have noticed yet that its own time is behind.
 */
async function expectTime(trx: Kysely<Tables>, at: number): Promise<void> {
	if (Math.abs((await databaseTime(trx)) - at) <= CLOCK_ALLOWANCE_MS) return;
	throw new StoreUnavailableError("This process's clock differs from the database's time. It measures the time again.");
}

/** The columns of a worker's patch; undefined ones are not written. */
function patchRow(row: AnswerRow, patch: AnswerPatch, now: number, cipher: Cipher): AnswerChange {
	// A restart that was asked for during this attempt stays due.
	const isDueAnyway = row.restart_asked_at !== null && patch.restartAskedAt === undefined;
	return {
		...(patch.state !== undefined && patch.state !== row.state && enterState(row, patch.state, now, patch.other)),
		attempts: patch.attempts,
		next_attempt_at: isDueAnyway ? undefined : patch.nextAttemptAt,
		put_started_at: patch.putStartedAt,
		before_put: patch.before && JSON.stringify(patch.before),
		delivered_at: patch.deliveredAt,
		agent_outcome: patch.agentOutcome,
		last_error: patch.lastError,
		other: patch.other && otherColumn.seal(patch.other, row.id, cipher),
		receipt_state: patch.receiptState && JSON.stringify(patch.receiptState),
		not_before: patch.notBefore,
		missing_count: patch.missingCount,
		start_failed: patch.startFailed === undefined ? undefined : Number(patch.startFailed),
		restart_asked_at: patch.restartAskedAt,
	};
}
