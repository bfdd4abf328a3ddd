import {
	ANSWER_STATES,
	type Answer,
	type AnswerPatch,
	type AnswerState,
	ARRIVED_STATES,
	arrivalOf,
	BLOCKING_STATES,
	FAILED_STATES,
	isFailed,
	mayHaveArrived,
	type NewAnswer,
	type OtherAnswer,
	PENDING_STATES,
	STANDING_STATES,
} from '../domain/answer.ts';
import type { BeforePut } from '../domain/compare.ts';
import { isForgotten, type Person } from '../domain/person.ts';
import type { QuestionKey, SessionKey } from '../domain/session.ts';
import type { Lease } from '../kernel/lease-loop.ts';
import type { Log } from '../kernel/log.ts';
import { PROVEN_REFUSALS } from '../slack/access-policy.ts';
import {
	change,
	countChanged,
	countOf,
	type Db,
	type Filter,
	from,
	hasChanged,
	questionOf,
	type StoreParts,
	sessionOf,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { earliest, lookAt, nextDue, takeReadable } from '../store/due.ts';
import { markQuestion } from '../store/marks.ts';
import { ARRIVED, arrivedIn, knownQuestions, noteArrival } from '../store/question-store.ts';
import { isNow } from '../store/store-clock.ts';
import { redrawSettled } from '../surfaces/redraw-store.ts';
import {
	acceptAnswer,
	lockQuestionOf,
	ownAnswers,
	retryAnswer,
	returnTextsOfLosers,
	withdrawAnswer,
} from './accept-store.ts';
import { recordAct, recordChange } from './recorded.ts';
import { createRetention } from './retention-store.ts';
import {
	type AnswerRow,
	answersToQuestions,
	changeAnswer,
	contentWith,
	createAnswerReader,
	firstOfSession,
	freeLapsed,
	IS_CURRENT,
	isElsewhere,
	lapsedCount,
	patchColumns,
	readAnswer,
	writeBegunPut,
} from './rows-store.ts';

/** An answer for another address that is due this long is taken by no process there: its author is told. */
const UNTAKEN_MS = 60_000;

/**
 * Stores answers; the row is the queue. `checksTime`: `beginPut` refuses to note a start of a PUT at another time
 * than the database's.
 */
export function createAnswerStore({ db, cipher, log, checksTime }: StoreParts & { log: Log; checksTime: boolean }) {
	const readOrSkip = createAnswerReader(cipher, log);

	const answers = (filter: Filter<'answers'>) => from(db.read, 'answers', filter).selectAll();

	async function newest(filter: Filter<'answers'>, where = sql<boolean>`true`): Promise<Answer | null> {
		const query = answers(filter).where(where).orderBy('acceptedAt', 'desc').orderBy('id', 'desc');
		return (await query.limit(1).execute()).flatMap(readOrSkip)[0] ?? null;
	}

	const withOwn = ownAnswers(db, cipher);

	return {
		/** Idempotent by `submissionKey`. Only one answer to a question is live, across all teams. */
		accept: (answer: NewAnswer) => acceptAnswer(db, cipher, answer),

		/**
		 * Leases up to `limit` due answers for `service`, oldest first, at most one per session at a time. Damaged
		 * answers are put off and block nothing. If there is none: unsent ones for other addresses that nobody has
		 * taken for `UNTAKEN_MS`.
		 */
		async takeDue(service: string, lease: Lease, limit: number, now: number): Promise<readonly Answer[]> {
			const where = firstOfSession(service, { now, limit });
			const orderBy = [sql`next_attempt_at`, sql`accepted_at`, sql`id`];
			const alsoRead = [sql`${lapsedCount(now)} as lapsed`];
			const due = { table: 'answers', service, where, orderBy, limit, alsoRead } as const;
			let isLapsed = false;
			const read = async (rows: readonly (AnswerRow & { lapsed?: number })[]) => {
				isLapsed ||= rows.some(({ lapsed = 0 }) => lapsed > 0);
				return rows.map((row) => readOrSkip(row)[0] ?? null);
			};
			const own = await takeReadable(db, due, { lease, now }, read);
			// A dead process held the leases. Its answers can be taken now.
			const isFreed = (isLapsed || own.length === 0) && (await db.writeOne((trx) => freeLapsed(trx, now)));
			if (own.length > 0) return own;
			if (isFreed) return takeReadable(db, due, { lease, now }, read);
			const untaken = sql<boolean>`${isElsewhere(db, service)} and next_attempt_at <= ${now - UNTAKEN_MS}`;
			return takeReadable(db, { table: 'answers', where: untaken, orderBy, limit }, { lease, now }, read);
		},

		/**
		 * Notes that the PUT of an answer begins: see `update` for its condition. People see no difference: it looks like
		 * waiting to be sent.
		 */
		beginPut: (
			{ id, state }: Pick<Answer, 'id' | 'state'>,
			token: string,
			{ beforePut, startedAt }: { readonly beforePut: BeforePut; readonly startedAt: number },
			{ now, editCount }: UpdateOptions,
		) =>
			db.write(async (trx) => {
				const row = await held(trx, { id, state, leaseToken: token, editCount }).executeTakeFirst();
				if (row === undefined) return null;
				const isOnTime = checksTime ? isNow(startedAt) : sql<boolean>`true`;
				return writeBegunPut({ trx, cipher, now }, readAnswer(row, cipher), { beforePut, startedAt, isOnTime });
			}),

		/**
		 * Writes `patch` if the lease `token` holds the answer, its state is that of `answer` and, with `editCount`,
		 * its text is the same. Ending states wipe secret values in the same write. It marks what people see. Returns the
		 * stored answer. Null: another replica has it, its author changed it (`retry`, `withdraw`), another answer
		 * replaced it, or an earlier write changed the state although its reply was lost.
		 */
		update: (
			{ id, state }: Pick<Answer, 'id' | 'state'>,
			token: string,
			{ repeats, asked, ...patch }: AnswerPatch,
			{ now, editCount }: UpdateOptions,
		) =>
			db.write(async (trx) => {
				const tx = { trx, cipher, now };
				const fails = patch.state !== undefined && patch.state !== 'conflicted' && isFailed(patch.state);
				// Before its row: the order in which all writes lock them.
				if (fails) await lockQuestionOf(trx, id);
				const isDelivered = patch.state === 'delivered';
				const row = await held(trx, { id, state, leaseToken: token, editCount })
					.select((isDelivered ? arrivedIn('answers') : sql.lit(0)).as('arrived'))
					.select((isDelivered ? LOST_BEFORE : sql.lit(0)).as('lost'))
					.executeTakeFirst();
				if (row === undefined) return null;
				const answer = readAnswer(row, cipher);
				const named = {
					...patch,
					// Only one answer of a session has a lease, so no other one is counted meanwhile.
					...(isDelivered && answer.state !== 'delivered' && { arrival: row.arrived + 1 }),
					...(patch.other != null && { other: await namedNow(trx, patch.other) }),
				};
				const set = {
					...patchColumns(answer, named, now, cipher),
					content: contentWith(row, { ...(repeats && { repeats }), ...(asked && { asked }) }, cipher),
				};
				if (Object.values(set).every((value) => value === undefined)) return answer;
				const written = await changeAnswer(trx, cipher, answer, set);
				const arrivedAt = patch.deliveredAt ?? null;
				recordChange(tx, answer, written, arrivedAt !== null);
				if (arrivedAt !== null) {
					await noteDelivery(tx, written, { arrivedAt, lostCount: row.lost });
					return written;
				}
				const changed = fails ? await returnTextsOfLosers(tx, written) : written;
				if (looksOther(answer, changed)) await markQuestion(tx, changed.question, 'answer');
				// After the lock of its session.
				if (fails && mayHaveArrived(changed)) await noteArrival(trx, changed, now, null);
				return changed;
			}),

		/** Prolongs the lease; false when it was lost. */
		renew: (id: string, lease: Lease, now: number) =>
			db.writeOne((trx) =>
				hasChanged(change(trx, 'answers', { id, leaseToken: lease.token }, { leasedUntil: now + lease.ms })),
			),

		/** Gives these leases back, in any state of their answers. */
		release: (held: readonly { readonly id: string; readonly token: string }[]) =>
			db.writeOne(async (trx) => {
				const own = { id: held.map(({ id }) => id), leaseToken: held.map(({ token }) => token) };
				await change(trx, 'answers', own, WITHOUT_LEASE).execute();
			}),

		rows: db.queuedRows('answers'),

		/** When `takeDue` may find an answer at the earliest: not before a lease on its session lapses. Null: never. */
		async nextDueAt(service: string): Promise<number | null> {
			const [own, untaken] = await Promise.all([
				lookAt(
					db,
					sql`(select ${earliest('due.nextAttemptAt', 'leased.leasedUntil')} from answers as due
						left join answers as leased on leased.service = due.service and leased.session_id = due.session_id
							and leased.lease_token is not null
						where due.service = ${service} and due.next_attempt_at is not null)`,
				),
				nextDue(db, 'answers', isElsewhere(db, service), 'nextAttemptAt'),
			]);
			return untaken === null ? own : Math.min(own ?? Number.POSITIVE_INFINITY, untaken + UNTAKEN_MS);
		},

		/** Makes live answers due whose last attempt failed with one of these codes. Returns how many. */
		hasten: (service: string, lastErrors: readonly string[], now: number) =>
			db.writeOne((trx) => {
				const failed = { service, leaseToken: null, state: BLOCKING_STATES, lastError: lastErrors };
				const due = change(trx, 'answers', failed, { nextAttemptAt: now, notBefore: null });
				return countChanged(due.where('nextAttemptAt', '>', now));
			}),

		/** Throws for a damaged row. */
		async get(id: string): Promise<Answer | null> {
			const row = await answers({ id }).executeTakeFirst();
			return row === undefined ? null : readAnswer(row, cipher);
		},

		/**
		 * The newest answer to this question that is live, waiting, delivered or resumed, but not one after which the agent
		 * asked the same again. Null when there is none, or its row is damaged: that must not hide posts and forms.
		 */
		standing: (question: QuestionKey) => newest({ ...questionOf(question), state: STANDING_STATES }, IS_CURRENT),

		/** What is stored of the newest question, and of those with a fingerprint. */
		known: (session: SessionKey, fingerprint: string | null) => knownQuestions(db.read, session, fingerprint),

		/** This answer if the service has it, or may have it. Null like `standing`. */
		arrived: (id: string) => newest({ id, state: ['delivering', ...ARRIVED_STATES] }),

		/**
		 * What `standing` finds, and the newest answer to this question, with this fingerprint, whose author was no longer
		 * allowed to send it. In one statement: each look of a post needs both.
		 */
		async standingAndRefused(question: QuestionKey, fingerprint: string) {
			const isRefused = sql<boolean>`(state = 'refused' and fingerprint = ${fingerprint}
				and last_error in (${sql.join(PROVEN_REFUSALS)}))`;
			const stands = sql<boolean>`(state in (${sql.join(STANDING_STATES)}) and ${IS_CURRENT})`;
			const found = answers(questionOf(question)).where(sql<boolean>`(${isRefused} or ${stands})`);
			const rows = await found.orderBy('acceptedAt', 'desc').orderBy('id', 'desc').execute();
			const read = (row: AnswerRow | undefined) => (row === undefined ? null : (readOrSkip(row)[0] ?? null));
			return {
				standing: read(rows.find(({ state }) => state !== 'refused')),
				refused: read(rows.find(({ state }) => state === 'refused')),
			};
		},

		/** The newest answer to this row's question that is no longer sent and may have arrived. */
		perhapsArrived: (
			question: QuestionKey,
			{ id, fingerprint }: { readonly id: string; readonly fingerprint: string },
		) =>
			newest(
				{ ...questionOf(question), fingerprint, state: FAILED_STATES },
				sql<boolean>`put_started_at is not null and (question_id is null or question_id = ${id})`,
			),

		toQuestions: answersToQuestions(db, cipher, readOrSkip),

		/** How many answers have arrived in a session: the number of the newest arrival, as none is ever taken back. */
		arrivals: (session: SessionKey) =>
			countOf(from(db.read, 'answers', sessionOf(session)).where(sql<boolean>`state in (${ARRIVED})`)),

		/** The answers that wait for their authors with this `lastError`, oldest first. */
		async waitingBecause(lastError: string): Promise<readonly Answer[]> {
			return (await answers({ state: 'waiting', lastError }).orderBy('acceptedAt').execute()).flatMap(readOrSkip);
		},

		/** Puts a failed answer back into the queue, for its author alone; null for others. */
		retry: (id: string, person: Person, now: number, giveUpAt: number) =>
			withOwn(id, person, async (trx, answer) => {
				const result = await retryAnswer({ trx, cipher, now }, answer, giveUpAt);
				if (looksOther(answer, result.answer)) await markQuestion({ trx, now }, answer.question, 'answer');
				return result;
			}),

		/**
		 * Discards an answer that was not sent yet or (unless `onlyUnsent`) failed, for its author alone; else null.
		 * As with an `update` to a failed state, texts that lost to it become drafts (`returnTextsOfLosers`).
		 */
		withdraw: (id: string, person: Person, now: number, { onlyUnsent } = { onlyUnsent: false }) =>
			withOwn(id, person, async (trx, answer) => {
				const unsent = answer.state === 'accepted' && answer.putStartedAt === null;
				if (!unsent && (onlyUnsent || !isFailed(answer.state))) return null;
				recordAct({ trx, now }, answer, unsent ? 'undone' : 'discarded', { outcome: 'withdrawn' });
				const withdrawn = await withdrawAnswer({ trx, cipher, now }, answer);
				await markQuestion({ trx, now }, answer.question, answer.press === null ? 'answer' : 'undo');
				return withdrawn;
			}),

		/** The answers of people of the workspace `teamId`, newest first. */
		async history(of: SessionKey & Pick<Person, 'teamId'>, { offset, limit }: { offset: number; limit: number }) {
			const base = from(db.read, 'answers', of);
			const newest = base.select('id').orderBy('acceptedAt', 'desc').orderBy('id', 'desc').limit(limit).offset(offset);
			const [rows, total] = await Promise.all([
				answers({ id: newest }).orderBy('acceptedAt', 'desc').orderBy('id', 'desc').execute(),
				countOf(base),
			]);
			return { answers: rows.flatMap(readOrSkip), total };
		},

		/** Counts of answers by state, and `oldestAt`: by state, the `acceptedAt` of the oldest undelivered answer. */
		async stats() {
			// Most answers are resumed. To count all answers and the other states is quicker.
			const others = ANSWER_STATES.filter((state) => state !== 'resumed');
			const [all, counts, oldest] = await Promise.all([
				countOf(from(db.read, 'answers')),
				from(db.read, 'answers', { state: others })
					.select((eb) => ['state', eb.fn.countAll<number>().as('count')])
					.groupBy('state')
					.execute(),
				from(db.read, 'answers', { state: PENDING_STATES })
					.select((eb) => ['state', eb.fn.min('acceptedAt').as('at')])
					.groupBy('state')
					.execute(),
			]);
			const resumed = { state: 'resumed', count: counts.reduce((left, { count }) => left - count, all) };
			const byState = Object.fromEntries(
				ANSWER_STATES.map((state) => [state, [...counts, resumed].find((row) => row.state === state)?.count ?? 0]),
			) as Readonly<Record<AnswerState, number>>;
			const oldestAt = Object.fromEntries(
				PENDING_STATES.map((state) => [state, oldest.find((row) => row.state === state)?.at ?? null]),
			);
			return { byState, oldestAt };
		},

		...createRetention({ db, cipher, log }),
	};
}

export type AnswerStore = ReturnType<typeof createAnswerStore>;

interface UpdateOptions {
	readonly now: number;
	readonly editCount?: number | undefined;
}

type HeldAnswer = Pick<AnswerRow, 'id' | 'state' | 'leaseToken'> & Pick<UpdateOptions, 'editCount'>;

/** The query of an answer that a lease holds, locked. */
function held(trx: Db, { editCount, ...filter }: HeldAnswer) {
	const own = from(trx, 'answers', { ...filter, ...(editCount !== undefined && { editCount }) });
	return own.selectAll().forUpdate();
}

/** SQL: how many answers to the question of an answer are lost. */
const LOST_BEFORE = sql<number>`(select count(*) from answers as other where other.service = answers.service
	and other.session_id = answers.session_id and other.message_index = answers.message_index
	and other.fingerprint = answers.fingerprint and other.state = 'delivered' and other.agent_outcome = 'lost')`;

/** Marks lost answers to this question as replaced: nothing is left to do about them. */
async function replaceLost(trx: Db, { id, question, fingerprint }: Answer): Promise<void> {
	const lost = { ...questionOf(question), fingerprint, state: 'delivered', agentOutcome: 'lost' };
	await change(trx, 'answers', lost, { agentOutcome: 'replaced' }).where('id', '!=', id).execute();
}

/** What else changes when an answer arrives, perhaps once more. `lostCount`: earlier answers to the question. */
async function noteDelivery(
	tx: Tx,
	answer: Answer,
	{ arrivedAt, lostCount }: { arrivedAt: number; lostCount: number },
): Promise<void> {
	await markQuestion(tx, answer.question, 'delivered');
	if (lostCount > 0) await replaceLost(tx.trx, answer);
	// After the lock of its session.
	const answeredId = await noteArrival(tx.trx, answer, arrivedAt, arrivalOf(answer.timeline)?.arrival ?? 0);
	if (answeredId !== null) await redrawSettled(tx, answeredId);
}

/** Whether people see a difference. */
function looksOther(before: Answer, after: Answer): boolean {
	const repeated = ({ content }: Answer) => JSON.stringify(content.kind === 'readable' ? content.repeats : null);
	const shown = ['state', 'agentOutcome', 'lastError', 'startFailed'] as const;
	return repeated(before) !== repeated(after) || shown.some((name) => before[name] !== after[name]);
}

/** Its author may have been forgotten since it was read. The lock of the written row prevents that until the commit. */
async function namedNow(trx: Db, other: OtherAnswer): Promise<OtherAnswer> {
	const { answerId, person, values } = other;
	if (answerId === null || person === null) return other;
	const first = await from(trx, 'answers', { id: answerId }).select('userId').executeTakeFirst();
	if (first === undefined || !isForgotten(first.userId)) return other;
	return { ...other, person: { ...person, userId: first.userId }, values: values.map(() => null) };
}
