import type { Kysely } from 'kysely';
import {
	ANSWER_STATES,
	type Answer,
	type AnswerState,
	BLOCKING_STATES,
	isFailed,
	type Person,
} from '../answers/answer.ts';
import type { AnswerStats, AnswerStore, RetryResult } from '../answers/ports.ts';
import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import { acceptAnswer, findFirst, inTheWay, replaceWaiting } from './answer-accept.ts';
import { enterState, giveWay, patchRow, toldNothing } from './answer-changes.ts';
import { leaseDue, nextDue } from './answer-lease.ts';
import { type AnswerRow, readAnswer, readLeftEmpty, readMarks, readPositions } from './answer-rows.ts';
import type { Cipher } from './cipher.ts';
import { personColumns, questionColumns, WITHOUT_LEASE } from './columns.ts';
import { lockRows, type StoreDatabase } from './database.ts';
import { databaseTime } from './database-clock.ts';
import { StoreUnavailableError } from './errors.ts';
import type { Tables } from './tables.ts';
import { UNREADABLE_RETRY_MS } from './unreadable.ts';

/** Rows emptied in one transaction: on SQLite it holds the event loop. */
const REMOVAL_BATCH = 200;
const WITHOUT_VALUES = { content: null, secrets: null, other: null } as const;

/** `AnswerStore` over SQLite or PostgreSQL; its docstrings are the contract. */
export function createAnswerStore({
	db,
	cipher,
	log,
	checksTime = false,
}: {
	db: StoreDatabase;
	cipher: Cipher;
	log?: Log;
	/** Whether the times given are the database's own, so that a process which has lost them is found out (PostgreSQL). */
	checksTime?: boolean;
}): AnswerStore {
	const read = (row: AnswerRow): Answer => readAnswer(row, cipher);

	/** None for a row of another version of the program: nothing else must wait for it. */
	function readIfKnown(row: AnswerRow): Answer[] {
		try {
			return [read(row)];
		} catch {
			log?.error({ answer: row.id }, 'an answer in the store was written by another version and is left alone');
			return [];
		}
	}

	/** The row of this person's answer, locked until the end of the transaction. */
	function lockOwn(trx: Kysely<Tables>, id: string, person: Person) {
		return trx
			.selectFrom('answers')
			.selectAll()
			.where((eb) => eb.and({ id, ...personColumns(person) }))
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
	}

	/** Changes the row of which `row` was read in this transaction, if it is still in that state. */
	async function change(trx: Kysely<Tables>, row: AnswerRow, set: Partial<AnswerRow>): Promise<Answer> {
		const changed = await trx
			.updateTable('answers')
			.set(set)
			.where('id', '=', row.id)
			.where('state', '=', row.state)
			.returningAll()
			.executeTakeFirstOrThrow();
		return read(changed);
	}

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

	/**
	 * A PUT that begins is noted with the time by which others count when it cannot land any more. A machine that slept may
	 * have fallen behind that time without knowing it yet.
	 */
	async function expectTime(trx: Kysely<Tables>, at: number): Promise<void> {
		if (Math.abs((await databaseTime(trx)) - at) <= CLOCK_ALLOWANCE_MS) return;
		throw new StoreUnavailableError("This process has lost the database's time, and measures it again.");
	}

	async function retry(
		trx: Kysely<Tables>,
		id: string,
		person: Person,
		now: number,
		giveUpAt: number,
	): Promise<RetryResult> {
		const row = await lockOwn(trx, id, person);
		if (row === undefined) return { kind: 'notFound' };
		const answer = read(row);
		if (!isFailed(answer.state)) return { kind: 'notRetryable', answer };
		const { content } = answer;
		if (content.kind !== 'readable' || content.items.some((item) => item.wiped)) return { kind: 'valuesGone', answer };
		const rows = await trx
			.selectFrom('answers')
			.selectAll()
			.where(inTheWay(answer.question, row.fingerprint, row.form_read_at))
			.where('id', '!=', id)
			.orderBy('accepted_at', 'desc')
			.execute();
		const first = findFirst(rows, readPositions(row));
		if (first !== null) {
			const by = read(first);
			return { kind: 'taken', by, answer: await change(trx, row, giveWay(row, content.items, by, now, cipher)) };
		}
		await replaceWaiting(trx, cipher, rows, answer, now);
		const queued = await change(trx, row, {
			...enterState(row, 'accepted', now),
			...toldNothing(row),
			...WITHOUT_LEASE,
			attempts: 0,
			not_before: null,
			missing_count: 0,
			next_attempt_at: now,
			give_up_at: giveUpAt,
			last_error: null,
			other: null,
		});
		return { kind: 'queued', answer: queued };
	}

	/** Answers that their authors were asked about before that time. */
	function waitingSince(before: number) {
		return db.read.selectFrom('answers').selectAll().where('state', '=', 'waiting').where('give_up_at', '<', before);
	}

	/** Returns how many of these answers waited still. Their authors hear of it: the receipt counts as not told yet. */
	async function takeFromWaiting(rows: readonly AnswerRow[], set: Partial<AnswerRow>, now: number): Promise<number> {
		let changed = 0;
		for (const row of rows) {
			const told = readIfKnown(row).length > 0 ? { ...toldNothing(row), next_attempt_at: now } : {};
			const result = await db.writeOne((trx) =>
				trx
					.updateTable('answers')
					.set({ ...set, ...told, ...WITHOUT_LEASE })
					.where('id', '=', row.id)
					.where('state', '=', 'waiting')
					.executeTakeFirst(),
			);
			changed += Number(result.numUpdatedRows);
		}
		return changed;
	}

	return {
		accept: (answer) => acceptAnswer(db, cipher, answer),

		async takeDue(service, lease, limit, now) {
			const rows = await db.write((trx) => leaseDue(trx, db.dialect, service, lease, limit, now));
			const answers = rows.flatMap(readIfKnown);
			if (answers.length < rows.length) {
				const known = new Set(answers.map(({ id }) => id));
				await putOff(
					rows.filter(({ id }) => !known.has(id)),
					lease.token,
					now,
				);
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
				return Object.keys(set).length === 0 ? read(row) : change(trx, row, set);
			}),

		renew: (id, lease, now) =>
			db.writeOne(async (trx) => {
				const result = await trx
					.updateTable('answers')
					.set({ lease_until: now + lease.ms })
					.where('id', '=', id)
					.where('lease_token', '=', lease.token)
					.executeTakeFirst();
				return result.numUpdatedRows > 0n;
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

		nextDueAt: (service, now) => nextDue(db.read, service, now),

		async get(id) {
			const row = await db.read.selectFrom('answers').selectAll().where('id', '=', id).executeTakeFirst();
			return row === undefined ? null : read(row);
		},

		async standing(question) {
			const row = await db.read
				.selectFrom('answers')
				.selectAll()
				.where((eb) => eb.and(questionColumns(question)))
				.where('state', 'in', [...BLOCKING_STATES, 'waiting', 'delivered', 'resumed'])
				.orderBy('accepted_at', 'desc')
				.orderBy('id', 'desc')
				.limit(1)
				.executeTakeFirst();
			return row === undefined ? null : read(row);
		},

		async leftEmpty(question, fingerprint) {
			const rows = await db.read
				.selectFrom('answers')
				.select('left_empty')
				.where((eb) => eb.and(questionColumns(question)))
				.where('fingerprint', '=', fingerprint)
				.where('state', 'in', ['delivered', 'resumed'])
				.execute();
			return new Set(rows.flatMap(readLeftEmpty));
		},

		async marks(service, sessionId) {
			const rows = await db.read
				.selectFrom('answers')
				.select(['id', 'message_index', 'fingerprint', 'state', 'put_started_at', 'secret_positions', 'content'])
				.where('service', '=', service)
				.where('session_id', '=', sessionId)
				.orderBy('accepted_at')
				.execute();
			return rows.map((row) => readMarks(row, cipher));
		},

		async delivered(question, fingerprint) {
			const rows = await db.read
				.selectFrom('answers')
				.selectAll()
				.where((eb) => eb.and(questionColumns(question)))
				.where('fingerprint', '=', fingerprint)
				.where('state', 'in', ['delivered', 'resumed'])
				.orderBy('delivered_at', 'desc')
				.execute();
			return rows.flatMap(readIfKnown);
		},

		async hasten(service, lastErrors, now) {
			return db.writeOne(async (trx) => {
				const result = await trx
					.updateTable('answers')
					.set({ next_attempt_at: now, not_before: null })
					.where('service', '=', service)
					.where('state', 'in', BLOCKING_STATES)
					.where('last_error', 'in', lastErrors)
					.where('next_attempt_at', '>', now)
					.where('lease_token', 'is', null)
					.executeTakeFirst();
				return Number(result.numUpdatedRows);
			});
		},

		async lookAtAll(service, now) {
			await db.writeOne((trx) =>
				trx
					.updateTable('answers')
					.set({ next_attempt_at: now, not_before: null })
					.where('service', '=', service)
					.where('next_attempt_at', '>', now)
					.where('lease_token', 'is', null)
					.execute(),
			);
		},

		async unsentElsewhere(service) {
			const { count } = await db.read
				.selectFrom('answers')
				.select((eb) => eb.fn.countAll<number>().as('count'))
				.where('service', '!=', service)
				.where('state', 'in', BLOCKING_STATES)
				.executeTakeFirstOrThrow();
			return count;
		},

		async waitingBecause(lastError) {
			const rows = await db.read
				.selectFrom('answers')
				.selectAll()
				.where('state', '=', 'waiting')
				.where('last_error', '=', lastError)
				.orderBy('accepted_at')
				.execute();
			return rows.flatMap(readIfKnown);
		},

		retry: (id, person, now, giveUpAt) => db.write((trx) => retry(trx, id, person, now, giveUpAt)),

		withdraw: (id, person, now) =>
			db.write(async (trx) => {
				const row = await lockOwn(trx, id, person);
				if (row === undefined) return null;
				const unsent = row.state === 'accepted' && row.put_started_at === null;
				if (!unsent && !isFailed(row.state as AnswerState)) return null;
				return change(trx, row, { ...enterState(row, 'withdrawn', now), ...WITHOUT_LEASE, next_attempt_at: null });
			}),

		askRestart: (id, person, now, quietSince) =>
			db.write(async (trx) => {
				const row = await lockOwn(trx, id, person);
				if (row === undefined || row.state !== 'delivered' || row.start_failed === 0) return null;
				const isUnderWay = row.put_started_at !== null && row.put_started_at > quietSince;
				if (isUnderWay || row.restart_asked_at !== null) return null;
				// The lease stays: whoever looks whether the agent went on finds the wish with its next write.
				return change(trx, row, { restart_asked_at: now, next_attempt_at: now });
			}),

		async history(service, sessionId, teamId, { offset, limit }) {
			const base = db.read
				.selectFrom('answers')
				.where('service', '=', service)
				.where('session_id', '=', sessionId)
				.where('team_id', '=', teamId);
			const [rows, { total }] = await Promise.all([
				base.selectAll().orderBy('accepted_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute(),
				base.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
			]);
			return { answers: rows.flatMap(readIfKnown), total };
		},

		async stats() {
			const [counts, { oldest }] = await Promise.all([
				db.read
					.selectFrom('answers')
					.select((eb) => ['state', eb.fn.countAll<number>().as('count')])
					.groupBy('state')
					.execute(),
				db.read
					.selectFrom('answers')
					.select((eb) => eb.fn.min('accepted_at').as('oldest'))
					.where('state', 'in', [...BLOCKING_STATES, 'waiting'])
					.executeTakeFirstOrThrow(),
			]);
			const byState = Object.fromEntries(
				ANSWER_STATES.map((state) => [state, counts.find((row) => row.state === state)?.count ?? 0]),
			) as AnswerStats['byState'];
			return { byState, oldestUndeliveredAt: oldest };
		},

		async wipeWaitingSecrets(before, now) {
			const rows = await waitingSince(before).where('secrets', 'is not', null).execute();
			return takeFromWaiting(rows, { secrets: null }, now);
		},

		async removeValues(before, now) {
			const rows = await waitingSince(before).where('content', 'is not', null).execute();
			let removed = await takeFromWaiting(rows, WITHOUT_VALUES, now);
			for (;;) {
				const batch = await db.writeOne(async (trx) => {
					const result = await trx
						.updateTable('answers')
						.set(WITHOUT_VALUES)
						.where('id', 'in', (eb) =>
							eb
								.selectFrom('answers')
								.select('id')
								.where('ended_at', '<', before)
								.where('content', 'is not', null)
								.limit(REMOVAL_BATCH),
						)
						.executeTakeFirst();
					return Number(result.numUpdatedRows);
				});
				removed += batch;
				if (batch < REMOVAL_BATCH) return removed;
			}
		},
	};
}
