import type { Kysely } from 'kysely';
import { ANSWER_STATES, type Answer, type AnswerState, type Person } from '../answers/answer.ts';
import type { AnswerStats, AnswerStore, RetryResult } from '../answers/ports.ts';
import type { Log } from '../log.ts';
import { acceptAnswer, findFirst, inTheWay, replaceWaiting } from './answer-accept.ts';
import { enterState, giveWay, patchRow, REVOKED, toldNothing, WITHOUT_LEASE } from './answer-changes.ts';
import { leaseDue, nextDue } from './answer-lease.ts';
import { type AnswerRow, readAnswer, readLeftEmpty, readPositions } from './answer-rows.ts';
import type { Cipher } from './cipher.ts';
import { personColumns, questionColumns } from './columns.ts';
import { lockRows, type StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

const RETRYABLE: readonly AnswerState[] = ['waiting', 'conflicted', 'changed', 'refused', 'ended'];
/** Rows emptied in one transaction: on SQLite it holds the event loop. */
const REMOVAL_BATCH = 200;

/** `AnswerStore` over SQLite or PostgreSQL; its docstrings are the contract. */
export function createAnswerStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log?: Log }): AnswerStore {
	const read = (row: AnswerRow): Answer => readAnswer(row, cipher);

	/** None for a row of another version of the program: the rest of the queue must not wait for it. */
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

	async function change(trx: Kysely<Tables>, id: string, set: Partial<AnswerRow>): Promise<Answer> {
		return read(
			await trx.updateTable('answers').set(set).where('id', '=', id).returningAll().executeTakeFirstOrThrow(),
		);
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
		if (!RETRYABLE.includes(answer.state)) return { kind: 'notRetryable', answer };
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
			return { kind: 'taken', by, answer: await change(trx, id, giveWay(row, content.items, by, now, cipher)) };
		}
		await replaceWaiting(trx, cipher, rows, answer, now);
		const queued = await change(trx, id, {
			...enterState(row, 'accepted', now),
			...toldNothing(row),
			...REVOKED,
			attempts: 0,
			next_attempt_at: now,
			give_up_at: giveUpAt,
			last_error: null,
			other: null,
		});
		return { kind: 'queued', answer: queued };
	}

	return {
		accept: (answer) => acceptAnswer(db, cipher, answer),

		async takeDue(lease, limit, now) {
			return (await db.write((trx) => leaseDue(trx, db.dialect, lease, limit, now))).flatMap(readIfKnown);
		},

		update: (id, owner, patch, { now, release }) =>
			db.write(async (trx) => {
				const row = await trx
					.selectFrom('answers')
					.selectAll()
					.where('id', '=', id)
					.where('lease_owner', '=', owner)
					.$call(lockRows(db.dialect))
					.executeTakeFirst();
				if (row === undefined) return null;
				if (row.lease_revoked === 1) {
					await change(trx, id, WITHOUT_LEASE);
					return null;
				}
				const set = { ...patchRow(row, patch, now, cipher), ...(release && WITHOUT_LEASE) };
				return Object.keys(set).length === 0 ? read(row) : change(trx, id, set);
			}),

		renew: (id, lease, now) =>
			db.writeOne(async (trx) => {
				const result = await trx
					.updateTable('answers')
					.set({ lease_until: now + lease.ms })
					.where('id', '=', id)
					.where('lease_owner', '=', lease.owner)
					.where('lease_revoked', '=', 0)
					.executeTakeFirst();
				return result.numUpdatedRows > 0n;
			}),

		releaseAll: (owner) =>
			db.writeOne(async (trx) => {
				await trx.updateTable('answers').set(WITHOUT_LEASE).where('lease_owner', '=', owner).execute();
			}),

		nextDueAt: () => nextDue(db.read),

		async get(id) {
			const row = await db.read.selectFrom('answers').selectAll().where('id', '=', id).executeTakeFirst();
			return row === undefined ? null : read(row);
		},

		async standing(question) {
			const row = await db.read
				.selectFrom('answers')
				.selectAll()
				.where((eb) => eb.and(questionColumns(question)))
				.where('state', 'in', ['accepted', 'delivering', 'waiting', 'delivered', 'resumed'])
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
				if (!unsent && !RETRYABLE.includes(row.state as AnswerState)) return null;
				return change(trx, id, { ...enterState(row, 'withdrawn', now), ...REVOKED, next_attempt_at: null });
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
			return { answers: rows.map(read), total };
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
					.where('state', 'in', ['accepted', 'delivering', 'waiting'])
					.executeTakeFirstOrThrow(),
			]);
			const byState = Object.fromEntries(
				ANSWER_STATES.map((state) => [state, counts.find((row) => row.state === state)?.count ?? 0]),
			) as AnswerStats['byState'];
			return { byState, oldestUndeliveredAt: oldest };
		},

		async removeValues(before) {
			let removed = 0;
			for (;;) {
				const batch = await db.writeOne(async (trx) => {
					const result = await trx
						.updateTable('answers')
						.set({ content: null, secrets: null, other: null })
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
