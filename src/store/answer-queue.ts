import { type Kysely, sql } from 'kysely';
import { type Answer, BLOCKING_STATES } from '../answers/answer.ts';
import type { AnswerPatch, AnswerStore } from '../answers/ports.ts';
import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import {
	type AnswerChange,
	type AnswerRow,
	changeRow,
	enterState,
	readAnswer,
	sealOther,
	writeReceiptState,
} from './answer-rows.ts';
import { countUpdated, lockRows, type StoreDatabase, StoreUnavailableError } from './database.ts';
import { databaseTime } from './database-clock.ts';
import { dueAt, earliest, hasLapsed, isDue, LONGEST_DELAY_MS, leaseDue, UNREADABLE_RETRY_MS } from './due.ts';
import type { Cipher } from './encryption.ts';
import { type Tables, WITHOUT_LEASE } from './tables.ts';

/** Rows looked at for each one wanted: others may be locked by replicas that ask at the same moment. */
const LOOK_AHEAD = 8;

type QueueMethods = Pick<
	AnswerStore,
	'takeDue' | 'update' | 'renew' | 'release' | 'nextDueAt' | 'hasten' | 'lookAtAll'
>;

/** What delivers answers, of `AnswerStore`: each row is its own queue entry. */
export function createAnswerQueue({
	db,
	cipher,
	checksTime,
	readIfKnown,
}: {
	db: StoreDatabase;
	cipher: Cipher;
	checksTime: boolean;
	/** None for a row of another version of the program. */
	readIfKnown(row: AnswerRow): readonly Answer[];
}): QueueMethods {
	/** Rows that this version cannot read are put off, so that they hold up neither their session nor the queue. */
	async function putOff(taken: readonly AnswerRow[], token: string, now: number): Promise<void> {
		const ids = taken.map((row) => row.id);
		await db.writeOne((trx) =>
			trx
				.updateTable('answers')
				.set({ ...WITHOUT_LEASE, next_attempt_at: now + UNREADABLE_RETRY_MS })
				.where('id', 'in', ids)
				.where('lease_token', '=', token)
				.execute(),
		);
	}

	return {
		async takeDue(service, lease, limit, now) {
			const where = firstOfSession(service, now, limit);
			const orderBy = sql`next_attempt_at, accepted_at, id`;
			const before = (trx: Kysely<Tables>) => freeLapsed(trx, db, now);
			const due = { table: 'answers', key: 'id', service, where, orderBy, limit, before } as const;
			const rows = await leaseDue(db, due, { lease, now });
			const answers = rows.flatMap(readIfKnown);
			if (answers.length < rows.length) {
				const known = new Set(answers.map(({ id }) => id));
				const unreadable = rows.filter(({ id }) => !known.has(id));
				await putOff(unreadable, lease.token, now);
			}
			return answers;
		},

		update: ({ id, state }, token, patch, { now, release, editCount }) =>
			db.write(async (trx) => {
				const row = await trx
					.selectFrom('answers')
					.selectAll()
					.where('id', '=', id)
					.where('lease_token', '=', token)
					.where('state', '=', state)
					.$if(editCount !== undefined, (query) => query.where('edit_count', '=', editCount ?? 0))
					.$call(lockRows(db.dialect))
					.executeTakeFirst();
				if (row === undefined) return null;
				if (checksTime && patch.before != null && patch.putStartedAt != null) await expectTime(trx, patch.putStartedAt);
				const set = { ...patchRow(row, patch, now, cipher), ...(release && WITHOUT_LEASE) };
				return Object.values(set).every((value) => value === undefined)
					? readAnswer(row, cipher)
					: changeRow(trx, cipher, row, set);
			}),

		renew: (id, lease, now) =>
			db.writeOne(async (trx) => {
				const own = trx.updateTable('answers').where('id', '=', id).where('lease_token', '=', lease.token);
				return (await countUpdated(own.set({ leased_until: now + lease.ms }))) > 0;
			}),

		release: (held) =>
			db.writeOne(async (trx) => {
				if (held.length === 0) return;
				await trx
					.updateTable('answers')
					.set(WITHOUT_LEASE)
					.where((eb) => eb.or(held.map(({ id, token }) => eb.and({ id, lease_token: token }))))
					.execute();
			}),

		async nextDueAt(service, now) {
			const due = dueAt('due.next_attempt_at', now, LONGEST_DELAY_MS.answer);
			// An answer whose session is leased (itself, perhaps) is not to be had before that lease lapses.
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
				.select(earliest(due, now, 'leased').as('at'))
				.executeTakeFirstOrThrow();
			return row.at;
		},

		hasten: (service, lastErrors, now) =>
			db.writeOne((trx) =>
				countUpdated(
					dueNow(trx, service, now).where('state', 'in', BLOCKING_STATES).where('last_error', 'in', lastErrors),
				),
			),

		async lookAtAll(service, now) {
			await db.writeOne((trx) => dueNow(trx, service, now).execute());
		},
	};
}

/** Has answers looked at now that wait for a time and that nobody holds. */
function dueNow(trx: Kysely<Tables>, service: string, now: number) {
	return trx
		.updateTable('answers')
		.set({ next_attempt_at: now, not_before: null })
		.where('service', '=', service)
		.where('next_attempt_at', '>', now)
		.where('lease_token', 'is', null);
}

/** One due answer a session: the first of it, where no other of it is leased. */
function firstOfSession(service: string, now: number, limit: number) {
	const due = isDue('next_attempt_at', now, LONGEST_DELAY_MS.answer);
	return sql<boolean>`${due} and id in (
		select id from (
			select id, next_attempt_at, accepted_at, row_number() over (
				partition by session_id order by next_attempt_at, accepted_at, id
			) as place
			from answers as due
			where service = ${service} and ${due} and lease_token is null
				and not exists (
					select 1 from answers as leased
					where leased.service = due.service and leased.session_id = due.session_id and leased.lease_token is not null
				)
		) as firsts
		where place = 1
		order by next_attempt_at, accepted_at, id
		limit ${limit * LOOK_AHEAD}
	)`;
}

/**
 * A lease that lapsed is nobody's: its process is dead, or finds out with its next write. It would keep the other answers
 * of its session from being leased.
 */
async function freeLapsed(trx: Kysely<Tables>, db: StoreDatabase, now: number): Promise<void> {
	const lapsed = await trx
		.selectFrom('answers')
		.select('id')
		.where('lease_token', 'is not', null)
		.where(hasLapsed('leased_until', now))
		.$call(lockRows(db.dialect, { skipLocked: true }))
		.execute();
	if (lapsed.length === 0) return;
	const ids = lapsed.map((row) => row.id);
	await trx.updateTable('answers').set(WITHOUT_LEASE).where('id', 'in', ids).execute();
}

/**
 * A PUT that begins is noted with the time by which others count when it cannot land any more. A machine that slept may
 * have fallen behind that time without knowing it yet.
 */
async function expectTime(trx: Kysely<Tables>, at: number): Promise<void> {
	if (Math.abs((await databaseTime(trx)) - at) <= CLOCK_ALLOWANCE_MS) return;
	throw new StoreUnavailableError("This process has lost the database's time, and measures it again.");
}

/** The columns of a worker's patch; what is undefined is not written. */
function patchRow(row: AnswerRow, patch: AnswerPatch, now: number, cipher: Cipher): AnswerChange {
	// A wish that came meanwhile stays due.
	const isDueAnyway = row.restart_asked_at !== null && patch.restartAskedAt === undefined;
	return {
		...(patch.state !== undefined && patch.state !== row.state && enterState(row, patch.state, now)),
		attempts: patch.attempts,
		next_attempt_at: isDueAnyway ? undefined : patch.nextAttemptAt,
		put_started_at: patch.putStartedAt,
		before_put: patch.before && JSON.stringify(patch.before),
		delivered_at: patch.deliveredAt,
		aftermath: patch.agentOutcome,
		last_error: patch.lastError,
		other: patch.other && sealOther(row.id, patch.other, cipher),
		told: patch.receiptState && writeReceiptState(patch.receiptState),
		not_before: patch.notBefore,
		missing_count: patch.missingCount,
		start_failed: patch.startFailed === undefined ? undefined : Number(patch.startFailed),
		restart_asked_at: patch.restartAskedAt,
	};
}
