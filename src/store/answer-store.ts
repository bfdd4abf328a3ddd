import type { Kysely } from 'kysely';
import { PROVEN_REFUSALS } from '../answers/access-policy.ts';
import {
	ANSWER_STATES,
	type Answer,
	type AnswerState,
	BLOCKING_STATES,
	isFailed,
	type Person,
	type QuestionKey,
} from '../answers/answer.ts';
import type { AnswerStats, AnswerStore } from '../answers/ports.ts';
import type { Log } from '../log.ts';
import { acceptAnswer, lockQuestionOf, noteTold, releaseLosers, removeDraft, retryAnswer } from './answer-accept.ts';
import { createAnswerQueue } from './answer-queue.ts';
import {
	type AnswerRow,
	changeRow,
	enterState,
	readAnswer,
	readMarks,
	readSubmission,
	receiptDueAt,
	resetReceipt,
} from './answer-rows.ts';
import { countUpdated, inBatches, lockRows, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { personColumns, questionColumns, type Tables, WITHOUT_LEASE } from './tables.ts';

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
	/** Whether `now` is the database's time (PostgreSQL), so that a process with a wrong time is detected. */
	checksTime?: boolean;
}): AnswerStore {
	/** Empty for a damaged row: it must not block others. */
	function readOrSkip(row: AnswerRow): Answer[] {
		try {
			return [readAnswer(row, cipher)];
		} catch {
			log?.error({ answer: row.id }, 'a damaged answer cannot be read and is skipped');
			return [];
		}
	}

	const answers = () => db.read.selectFrom('answers').selectAll();
	const answersTo = (question: QuestionKey) => answers().where((eb) => eb.and(questionColumns(question)));

	/** The person's own answer, locked until the end of the transaction. */
	function lockOwn(trx: Kysely<Tables>, id: string, person: Person) {
		return trx
			.selectFrom('answers')
			.selectAll()
			.where((eb) => eb.and({ id, ...personColumns(person) }))
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
	}

	/** Answers whose authors were asked before that time what to do. */
	function waitingSince(before: number) {
		return answers().where('state', '=', 'waiting').where('give_up_at', '<', before);
	}

	/** Returns how many answers it changed. Resets their receipts, so that the authors hear of it. */
	async function takeFromWaiting(rows: readonly AnswerRow[], set: Partial<AnswerRow>, now: number): Promise<number> {
		let changed = 0;
		for (const row of rows) {
			const receipt = readOrSkip(row).length > 0 ? { ...resetReceipt(row), next_attempt_at: now } : {};
			changed += await db.writeOne((trx) =>
				countUpdated(
					trx
						.updateTable('answers')
						.set({ ...set, ...receipt, ...WITHOUT_LEASE })
						.where('id', '=', row.id)
						.where('state', '=', 'waiting'),
				),
			);
		}
		return changed;
	}

	return {
		...createAnswerQueue({ db, cipher, checksTime, readOrSkip }),
		accept: (answer) => acceptAnswer(db, cipher, answer),
		noteTold: (id) => db.write((trx) => noteTold(trx, id)),

		async get(id) {
			const row = await answers().where('id', '=', id).executeTakeFirst();
			return row === undefined ? null : readAnswer(row, cipher);
		},

		async standing(question) {
			const row = await answersTo(question)
				.where('state', 'in', [...BLOCKING_STATES, 'waiting', 'delivered', 'resumed'])
				.orderBy('accepted_at', 'desc')
				.orderBy('id', 'desc')
				.limit(1)
				.executeTakeFirst();
			return row === undefined ? null : readAnswer(row, cipher);
		},

		async refused(question, fingerprint) {
			const row = await answersTo(question)
				.where((eb) => eb.and({ fingerprint, state: 'refused' }))
				.where('last_error', 'in', PROVEN_REFUSALS)
				.orderBy('accepted_at', 'desc')
				.limit(1)
				.executeTakeFirst();
			return row === undefined ? null : readAnswer(row, cipher);
		},

		async leftEmpty(question, fingerprint) {
			const rows = await db.read
				.selectFrom('answers')
				.select('submission')
				.where((eb) => eb.and(questionColumns(question)))
				.where('fingerprint', '=', fingerprint)
				.where('state', 'in', ['delivered', 'resumed'])
				.execute();
			return new Set(rows.flatMap((row) => readSubmission(row).leftEmpty));
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
			const rows = await answersTo(question)
				.where('fingerprint', '=', fingerprint)
				.where('state', 'in', ['delivered', 'resumed'])
				.orderBy('delivered_at', 'desc')
				.execute();
			return rows.flatMap(readOrSkip);
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
			const rows = await answers()
				.where('state', '=', 'waiting')
				.where('last_error', '=', lastError)
				.orderBy('accepted_at')
				.execute();
			return rows.flatMap(readOrSkip);
		},

		retry: (id, person, now, giveUpAt) =>
			db.write(async (trx) => {
				await lockQuestionOf(trx, db.dialect, id);
				const row = await lockOwn(trx, id, person);
				return row === undefined ? { kind: 'notFound' } : retryAnswer(trx, cipher, row, { now, giveUpAt });
			}),

		withdraw: (id, person, now, { onlyUnsent } = { onlyUnsent: false }) =>
			db.write(async (trx) => {
				await lockQuestionOf(trx, db.dialect, id);
				const row = await lockOwn(trx, id, person);
				if (row === undefined) return null;
				const unsent = row.state === 'accepted' && row.put_started_at === null;
				if (!unsent && (onlyUnsent || !isFailed(row.state as AnswerState))) return null;
				const answer = readAnswer(row, cipher);
				const withdrawn = await changeRow(trx, cipher, row, {
					...enterState(row, 'withdrawn', now),
					...WITHOUT_LEASE,
					// The worker has the question's posts drawn again, even if this process ends now.
					next_attempt_at: answer.press === null ? receiptDueAt(answer, now) : now,
				});
				await removeDraft(trx, id);
				await releaseLosers(trx, cipher, withdrawn, now);
				return withdrawn;
			}),

		askRestart: (id, person, now, quietSince) =>
			db.write(async (trx) => {
				const row = await lockOwn(trx, id, person);
				if (row === undefined || row.state !== 'delivered' || row.start_failed === 0) return null;
				const isUnderWay = row.put_started_at !== null && row.put_started_at > quietSince;
				if (isUnderWay || row.restart_asked_at !== null) return null;
				// The lease stays: its holder, who confirms the delivery, finds the request with its next write.
				return changeRow(trx, cipher, row, { restart_asked_at: now, next_attempt_at: now });
			}),

		async history({ service, sessionId, teamId }, { offset, limit }) {
			const base = db.read
				.selectFrom('answers')
				.where('service', '=', service)
				.where('session_id', '=', sessionId)
				.where('team_id', '=', teamId);
			const [rows, { total }] = await Promise.all([
				base.selectAll().orderBy('accepted_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute(),
				base.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
			]);
			return { answers: rows.flatMap(readOrSkip), total };
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
			const waitingCount = await takeFromWaiting(rows, WITHOUT_VALUES, now);
			const removeFromEnded = (limit: number) =>
				db.writeOne((trx) =>
					countUpdated(
						trx
							.updateTable('answers')
							.set(WITHOUT_VALUES)
							.where('id', 'in', (eb) =>
								eb
									.selectFrom('answers')
									.select('id')
									.where('ended_at', '<', before)
									.where('content', 'is not', null)
									.limit(limit),
							),
					),
				);
			return waitingCount + (await inBatches(removeFromEnded));
		},
	};
}
