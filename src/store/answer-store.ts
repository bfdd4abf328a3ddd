import type { Kysely } from 'kysely';
import { PROVEN_REFUSALS } from '../answers/access-policy.ts';
import {
	ANSWER_STATES,
	type Answer,
	type AnswerState,
	BLOCKING_STATES,
	isFailed,
	type NewAnswer,
	type Person,
	type QuestionKey,
	type RetryResult,
} from '../answers/answer.ts';
import type { Log } from '../log.ts';
import type { SessionKey } from '../watches/watch.ts';
import { acceptAnswer, lockQuestionOf, noteTold, releaseLosers, removeDraft, retryAnswer } from './answer-accept.ts';
import { createAnswerQueue } from './answer-queue.ts';
import {
	type AnswerRow,
	changeRow,
	createAnswerReader,
	enterState,
	readAnswer,
	receiptDueAt,
	resetReceipt,
} from './answer-rows.ts';
import { change, countChanged, type Filter, from, inBatches, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { personColumns, questionColumns, type Tables, WITHOUT_LEASE } from './tables.ts';

const WITHOUT_VALUES = { content: null, secrets: null, other: null } as const;

/**
 * Stores answers. Every method is one transaction, committed (on SQLite: synced to disk) when its promise resolves. Throws
 * `StoreUnavailableError` (code `store_unavailable`, retryable).
 */
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
}) {
	const readOrSkip = createAnswerReader(cipher, log);

	const answers = (filter: Filter<'answers'>) => from(db.read, 'answers', filter).selectAll();

	/** The person's own answer, locked until the end of the transaction. */
	function lockOwn(trx: Kysely<Tables>, id: string, person: Person) {
		return from(trx, 'answers', { id, ...personColumns(person) })
			.selectAll()
			.forUpdate()
			.executeTakeFirst();
	}

	/** Answers whose authors were asked before that time what to do. */
	function waitingSince(before: number) {
		return answers({ state: 'waiting' }).where('give_up_at', '<', before);
	}

	/** Returns how many answers it changed. Resets their receipts, so that the authors hear of it. */
	async function takeFromWaiting(rows: readonly AnswerRow[], set: Partial<AnswerRow>, now: number): Promise<number> {
		let changed = 0;
		for (const row of rows) {
			const receipt = readOrSkip(row).length > 0 ? { ...resetReceipt(row), next_attempt_at: now } : {};
			const columns = { ...set, ...receipt, ...WITHOUT_LEASE };
			changed += await db.writeOne((trx) =>
				countChanged(change(trx, 'answers', { id: row.id, state: 'waiting' }).set(columns)),
			);
		}
		return changed;
	}

	return {
		...createAnswerQueue({ db, cipher, checksTime, readOrSkip }),
		/**
		 * Idempotent by `submissionKey`. Only one answer to a question is live, across all teams. A one-press answer that comes
		 * second to somebody else's is due after `TOLD_WITHIN_MS`, unless `noteTold` says before that its author knows.
		 */
		accept: (answer: NewAnswer) => acceptAnswer(db, cipher, answer),
		/** Notes that the author of a `conflicted` answer was told so. Changes nothing once the worker has taken it. */
		noteTold: (id: string) => db.write((trx) => noteTold(trx, id)),

		async get(id: string): Promise<Answer | null> {
			const row = await answers({ id }).executeTakeFirst();
			return row === undefined ? null : readAnswer(row, cipher);
		},

		/** The newest answer to this question that is live, waiting, delivered or resumed; null when there is none. */
		async standing(question: QuestionKey): Promise<Answer | null> {
			const state = [...BLOCKING_STATES, 'waiting', 'delivered', 'resumed'];
			const newest = answers({ ...questionColumns(question), state }).orderBy('accepted_at', 'desc');
			const row = await newest.orderBy('id', 'desc').limit(1).executeTakeFirst();
			return row === undefined ? null : readAnswer(row, cipher);
		},

		/** The newest answer to this question, with this fingerprint, whose author was not allowed to send it any more. */
		async refused(question: QuestionKey, fingerprint: string): Promise<Answer | null> {
			const refusal = { fingerprint, state: 'refused', last_error: PROVEN_REFUSALS };
			const newest = answers({ ...questionColumns(question), ...refusal }).orderBy('accepted_at', 'desc');
			const row = await newest.limit(1).executeTakeFirst();
			return row === undefined ? null : readAnswer(row, cipher);
		},

		/** All answers to questions of a session, oldest first. */
		async ofSession({ service, sessionId }: SessionKey): Promise<readonly Answer[]> {
			const all = answers({ service, session_id: sessionId }).orderBy('accepted_at');
			return (await all.execute()).flatMap(readOrSkip);
		},

		/** How many live answers are for another service's address, so that nothing sends them. */
		async unsentElsewhere(service: string): Promise<number> {
			const unsent = from(db.read, 'answers', { state: BLOCKING_STATES }).where('service', '!=', service);
			const counted = unsent.select((eb) => eb.fn.countAll<number>().as('count'));
			return (await counted.executeTakeFirstOrThrow()).count;
		},

		/** Answers in the state `waiting` with this `lastError`, oldest first. */
		async waitingBecause(lastError: string): Promise<readonly Answer[]> {
			const waiting = answers({ state: 'waiting', last_error: lastError });
			return (await waiting.orderBy('accepted_at').execute()).flatMap(readOrSkip);
		},

		/** Puts a failed answer back into the queue, for its author alone. */
		retry: (id: string, person: Person, now: number, giveUpAt: number) =>
			db.write(async (trx): Promise<RetryResult> => {
				await lockQuestionOf(trx, id);
				const row = await lockOwn(trx, id, person);
				return row === undefined ? { kind: 'notFound' } : retryAnswer(trx, cipher, row, { now, giveUpAt });
			}),

		/**
		 * Discards an answer that was not sent yet or (unless `onlyUnsent`) failed, for its author alone; null when that is not
		 * possible. In the same transaction the newest answer of each person that lost to it waits for its author
		 * (`FIRST_ENDINGS`), and its text becomes a draft. So does an update to a failed state other than `conflicted`; for
		 * `changed`, only of answers to another version of the question.
		 */
		withdraw: (id: string, person: Person, now: number, { onlyUnsent } = { onlyUnsent: false }) =>
			db.write(async (trx) => {
				await lockQuestionOf(trx, id);
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

		/**
		 * Notes that its author wants a delivered answer sent again to start the agent. Null when the service reported no
		 * failure to start, and when such a PUT began after `quietSince` and may still be under way.
		 */
		askRestart: (id: string, person: Person, now: number, quietSince: number) =>
			db.write(async (trx) => {
				const row = await lockOwn(trx, id, person);
				if (row === undefined || row.state !== 'delivered' || row.start_failed === 0) return null;
				const isUnderWay = row.put_started_at !== null && row.put_started_at > quietSince;
				if (isUnderWay || row.restart_asked_at !== null) return null;
				// The lease stays: its holder, who confirms the delivery, finds the request with its next write.
				return changeRow(trx, cipher, row, { restart_asked_at: now, next_attempt_at: now });
			}),

		/** The answers of people of the workspace `teamId`, newest first. */
		async history(
			{ service, sessionId, teamId }: { service: string; sessionId: string; teamId: string },
			{ offset, limit }: { offset: number; limit: number },
		) {
			const base = from(db.read, 'answers', { service, session_id: sessionId, team_id: teamId });
			const [rows, { total }] = await Promise.all([
				base.selectAll().orderBy('accepted_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute(),
				base.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
			]);
			return { answers: rows.flatMap(readOrSkip), total };
		},

		/** `oldestUndeliveredAt`: `acceptedAt` of the oldest answer that is accepted, delivering or waiting; null when there is none. */
		async stats() {
			const [counts, { oldest }] = await Promise.all([
				from(db.read, 'answers')
					.select((eb) => ['state', eb.fn.countAll<number>().as('count')])
					.groupBy('state')
					.execute(),
				from(db.read, 'answers', { state: [...BLOCKING_STATES, 'waiting'] })
					.select((eb) => eb.fn.min('accepted_at').as('oldest'))
					.executeTakeFirstOrThrow(),
			]);
			const byState = Object.fromEntries(
				ANSWER_STATES.map((state) => [state, counts.find((row) => row.state === state)?.count ?? 0]),
			) as Readonly<Record<AnswerState, number>>;
			return { byState, oldestUndeliveredAt: oldest };
		},

		/**
		 * Wipes the secret values of answers that have been `waiting` since before `before`, and makes their receipts due.
		 * Returns how many.
		 */
		async wipeWaitingSecrets(before: number, now: number): Promise<number> {
			const rows = await waitingSince(before).where('secrets', 'is not', null).execute();
			return takeFromWaiting(rows, { secrets: null }, now);
		},

		/**
		 * Removes only the values of answers that ended before `before` or have been `waiting` since before it, and makes the
		 * receipts of the latter due. Returns how many.
		 */
		async removeValues(before: number, now: number): Promise<number> {
			const rows = await waitingSince(before).where('content', 'is not', null).execute();
			const waitingCount = await takeFromWaiting(rows, WITHOUT_VALUES, now);
			const removeFromEnded = (limit: number) =>
				db.writeOne((trx) => {
					const ended = from(trx, 'answers').select('id').where('ended_at', '<', before);
					const id = ended.where('content', 'is not', null).limit(limit);
					return countChanged(change(trx, 'answers', { id }).set(WITHOUT_VALUES));
				});
			return waitingCount + (await inBatches(removeFromEnded));
		},
	};
}

export type AnswerStore = ReturnType<typeof createAnswerStore>;
