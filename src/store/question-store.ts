// Owns `questions` and `snoozes`: what agents asked, in watched sessions or with our answers, who has it, who hides it.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { type Answer, ARRIVED_STATES, BLOCKING_STATES, filledBy } from '../domain/answer.ts';
import { type Arrived, type Evidence, evidence, NOTHING_SEEN, withArrival } from '../domain/asked.ts';
import type { HandOver } from '../domain/hand-over.ts';
import type { SettledHow, StoredOccurrence } from '../domain/occurrences.ts';
import type { Person } from '../domain/person.ts';
import type { QuestionDigest, SessionKey } from '../domain/session.ts';
import { maskedQuestion, type QuestionSnapshot, questionSnapshot } from '../domain/session-snapshot.ts';
import { parseOrNull, pick } from '../kernel/values.ts';
import { recordEvents } from './audit.ts';
import { changeInBatches } from './batches.ts';
import {
	add,
	type Cipher,
	change,
	type Db,
	type Filter,
	from,
	isFound,
	personOf,
	type Row,
	remove,
	type StoreDatabase,
	sealedColumn,
	sessionOf,
	TABLES,
} from './database.ts';

/** A question as a channel may see it, and when the read of this text began, clock milliseconds. */
export interface Asked {
	readonly question: QuestionSnapshot;
	readonly readAt: number;
	/** The items when they were answered; left out before, and where no read has shown the answer. */
	readonly answered?: QuestionSnapshot['items'];
}

const items = questionSnapshot.shape.items;
const view = questionSnapshot.transform((stored) => maskedQuestion(new Set(), stored));
const asked = z.object({ question: view, readAt: z.number(), answered: z.exactOptional(items) });
export const questionContentColumn = sealedColumn('questions.content', asked as z.ZodType<Asked>);
const noteColumn = sealedColumn('questions.handOverNote', z.string());

/** What a read shows of a session's newest question, if anything. */
export interface QuestionRead {
	readonly session: SessionKey;
	/** `isFirst`: no read of the session was stored before. */
	readonly newest: { readonly question: QuestionSnapshot | null; readonly readAt: number; readonly isFirst?: boolean };
	readonly cipher: Cipher;
	readonly now: number;
}

/** The columns of a question as it is asked now. Its text stays where the read does not show it. */
function shownColumns(id: string, asked: QuestionDigest, { session, newest, cipher }: QuestionRead) {
	const { question, readAt } = newest;
	return {
		...pick(asked, 'messageIndex', 'fingerprint', 'shownHash'),
		...(question?.messageIndex === asked.messageIndex && {
			content: questionContentColumn.seal({ question, readAt }, { id, ...sessionOf(session) }, cipher),
		}),
	};
}

/** Adds a question. `held`: the hand-over of the one before, which goes on. Returns the id. */
export async function addQuestion(
	trx: Db,
	asked: QuestionDigest,
	read: QuestionRead,
	{ askedAt, held, evidence: found }: Readonly<{ askedAt: number; held: HeldQuestion | null; evidence: Evidence }>,
): Promise<string> {
	const { service, sessionId } = read.session;
	const id = crypto.randomUUID();
	const columns = {
		...shownColumns(id, asked, read),
		askedAt,
		...(held && holderColumns({ id, service, sessionId }, held, read.cipher)),
		evidence: JSON.stringify(found),
	};
	await add(trx, 'questions', { id, service, sessionId, number: nextNumber(read.session), ...columns }).execute();
	// A question that was answered before anybody watched its session is no news.
	if (askedAt > 0) recordAsked(trx, asked, read, 'asked');
	return id;
}

const nextNumber = (session: SessionKey) => numberAt(session, sql`coalesce(max(number), 0) + 1`);
const formerNumber = (session: SessionKey) => numberAt(session, sql`coalesce(min(number), 1) - 1`);
const numberAt = ({ service, sessionId }: SessionKey, number: RawBuilder<unknown>) =>
	sql<number>`(select ${number} from questions where service = ${service} and session_id = ${sessionId})`;

/** The id of the row of what an answer is to, as SQL; null when no read has noted it. */
export function knownRow({ question, fingerprint }: Pick<Answer, 'question' | 'fingerprint'>): RawBuilder<string> {
	const { service, sessionId, messageIndex } = question;
	return sql`(select id from questions where service = ${service} and session_id = ${sessionId}
		and message_index = ${messageIndex} and fingerprint = ${fingerprint} order by number desc limit 1)`;
}

/** The id of the row of what an answer is to. Adds the row if no read has noted the question. */
export async function rowOfAnswer(
	trx: Db,
	answer: Pick<Answer, 'question' | 'fingerprint' | 'shownHash' | 'acceptedAt'>,
): Promise<string> {
	const { question, fingerprint, shownHash, acceptedAt } = answer;
	const { messageIndex } = question;
	const { rows } = await sql<{ id: string | null }>`select ${knownRow(answer)} as id`.execute(trx);
	const known = rows[0]?.id ?? null;
	if (known !== null) return known;
	const id = crypto.randomUUID();
	const watched = from(trx, 'watched_sessions', sessionOf(question)).select('sessionId');
	// While a session is watched, its newest question has a row. So this one is older, from a form opened before.
	const isOld = await isFound(watched.where('nextReadAt', 'is not', null));
	await add(trx, 'questions', {
		id,
		...sessionOf(question),
		number: isOld ? formerNumber(question) : nextNumber(question),
		messageIndex,
		fingerprint,
		shownHash: shownHash ?? '',
		askedAt: 0,
		evidence: JSON.stringify(NOTHING_SEEN),
		settledAt: acceptedAt,
		settledHow: 'unwatched',
	}).execute();
	return id;
}

const recordAsked = (trx: Db, { fingerprint }: QuestionDigest, { session, now }: QuestionRead, outcome: string) =>
	recordEvents(trx, { at: now, action: 'asked', actor: null, session: session.sessionId, fingerprint, outcome });

/** Notes that the open question is asked as it is read now. */
export async function rewordQuestion(trx: Db, open: Row<'questions'>, asked: QuestionDigest, read: QuestionRead) {
	await change(trx, 'questions', { id: open.id }, shownColumns(open.id, asked, read)).execute();
}

/** Opens a settled question again. One that nobody watched counts as asked at this read. */
export async function reopenQuestion(trx: Db, row: Row<'questions'>, asked: QuestionDigest, read: QuestionRead) {
	const askedAt = row.askedAt > 0 ? row.askedAt : read.newest.readAt;
	const again = { settledAt: null, settledHow: null, answerId: null, askedAt };
	await change(trx, 'questions', { id: row.id }, { ...shownColumns(row.id, asked, read), ...again }).execute();
	recordAsked(trx, asked, read, row.askedAt > 0 ? 'reopened' : 'asked');
}

/** Stores what reads have shown of a question, and where it stands. */
export const noteSeen = (trx: Db, id: string, { evidence: found, messageIndex }: Seen) =>
	change(trx, 'questions', { id }, { evidence: JSON.stringify(found), messageIndex }).execute();
type Seen = { readonly evidence: Evidence; readonly messageIndex: number };

/** Stores the items of a question as a read shows them answered. */
export async function keepAnswered(
	trx: Db,
	row: Row<'questions'>,
	answered: QuestionSnapshot['items'],
	cipher: Cipher,
) {
	const asked = questionContentColumn.open(row.content, row, cipher);
	if (asked === null) return;
	const content = questionContentColumn.seal({ ...asked, answered }, row, cipher);
	await change(trx, 'questions', { id: row.id }, { content }).execute();
}

/** Written out: SQLite uses a partial index only then. */
export const ARRIVED = sql.join(ARRIVED_STATES.map((state) => sql.lit(state)));

/** How many answers have arrived in the session of a row of `table`. */
export const arrivedIn = (table: 'answers' | 'watched_sessions') => sql<number>`(select count(*) from answers as other
	where other.service = ${sql.ref(`${table}.service`)} and other.session_id = ${sql.ref(`${table}.sessionId`)}
	and other.state in (${ARRIVED}))`;

/** At most this many equal questions are read: the newest say what is known. */
const MOST_EQUAL = 20;

/** What is stored of a session's questions, to judge a read by. `equal`: those with this fingerprint. */
export async function knownQuestions(db: Db, session: SessionKey, fingerprint: string | null) {
	const ofSession = from(db, 'questions', sessionOf(session));
	const isNewest = sql<boolean>`number = ${ofSession.select(({ fn }) => fn.max('number').as('number'))}`;
	// In one statement: an answer may arrive in between.
	const rows = await ofSession
		.selectAll()
		.select(IS_HELD.as('isHeld'))
		.where((eb) => eb.or([isNewest, eb('fingerprint', '=', fingerprint ?? '')]))
		.orderBy('number', 'desc')
		.limit(MOST_EQUAL)
		.execute();
	const [newest] = rows;
	return {
		newest: newest === undefined ? null : readKnown(newest),
		equal: rows.filter((row) => row.fingerprint === fingerprint).map(readKnown),
		heldIds: rows.flatMap(({ id, isHeld }) => (isHeld === 1 ? [id] : [])),
	};
}

const IS_HELD = sql<number>`case when exists (select 1 from answers where answers.question_id = questions.id
	and answers.service = questions.service and answers.session_id = questions.session_id
	and state in (${sql.join(BLOCKING_STATES)})) then 1 else 0 end`;

function readKnown(row: Row<'questions'>): StoredOccurrence {
	return {
		...pick(row, 'id', 'messageIndex', 'fingerprint', 'shownHash', 'askedAt'),
		settledHow: row.settledHow as SettledHow | null,
		evidence: readEvidence(row),
	};
}

/** Damaged evidence says only whether the question was answered. */
function readEvidence({ evidence: stored, settledHow, answerId, settledAt }: Row<'questions'>): Evidence {
	const value = { answerId, number: null, at: settledAt ?? 0, steps: null, isPerhaps: false, filled: [] };
	return parseOrNull(evidence, stored) ?? { ...NOTHING_SEEN, value: settledHow === 'answered' ? value : null };
}

/**
 * Notes that our answer arrived as the `number`th of its session; `number` null: it may have arrived. Reads that
 * began earlier say nothing of its question. Returns the id of the question if it was answered before.
 */
export async function noteArrival(trx: Db, answer: Answer, at: number, number: number | null): Promise<string | null> {
	const row = await from(trx, 'questions', { id: answer.questionId ?? '' })
		.selectAll()
		.forUpdate()
		.executeTakeFirst();
	if (row === undefined) return null;
	const isPerhaps = number === null;
	const { id: answerId, beforePut, leftEmpty } = answer;
	const value: Arrived = {
		answerId,
		number,
		at,
		steps: beforePut?.stepsSince ?? null,
		isPerhaps,
		filled: filledBy(answer),
	};
	const found = withArrival(readEvidence(row), value, { filled: beforePut?.filled ?? [], leftEmpty });
	// After *Answer again…* there are several, and the newest counts.
	const by = row.settledHow === 'answered' && !isPerhaps ? answerId : row.answerId;
	await change(trx, 'questions', { id: row.id }, { evidence: JSON.stringify(found), answerId: by }).execute();
	return row.settledHow === 'answered' ? row.id : null;
}

export function openQuestionOf(db: Db, session: SessionKey): Promise<Row<'questions'> | undefined> {
	return from(db, 'questions', { ...sessionOf(session), settledAt: null })
		.selectAll()
		.executeTakeFirst();
}

export function newestQuestionOf(db: Db, session: SessionKey): Promise<Row<'questions'> | undefined> {
	return from(db, 'questions', sessionOf(session)).selectAll().orderBy('number', 'desc').limit(1).executeTakeFirst();
}

/** A stored question: one time that an agent asked. */
export type StoredQuestion = Readonly<ReturnType<typeof readQuestion>>;

export function readQuestion(row: Row<'questions'>, cipher: Cipher) {
	const asked = questionContentColumn.open(row.content, row, cipher);
	return {
		...pick(row, 'id', 'messageIndex', 'fingerprint', 'askedAt', 'settledAt', 'answerId'),
		/** Null while it is open. */
		settledHow: row.settledHow as SettledHow | null,
		/** See `Evidence`. */
		lost: readEvidence(row).lost,
		/** The newest hand-over of an open question, also if given back. It may be of another workspace. */
		handOver: row.settledAt === null ? readHandOver(row) : null,
		/** What whoever handed it over wrote to its holder: untrusted. */
		note: noteColumn.open(row.handOverNote, row, cipher),
		/** Null after the retention time, or when it cannot be read. */
		asked,
		/** Whether it is stored, and encrypted with another key or damaged. */
		isUnreadable: asked === null && row.content !== null,
	};
}

/** `isAnsweredSince` in SQL, for an open row of `questions` and its session's newest read. */
export const IS_ANSWERED = sql<boolean>`exists (select 1 from answers where answers.service = questions.service
	and answers.session_id = questions.session_id and answers.message_index = questions.message_index
	and (state in (${sql.join(BLOCKING_STATES)}) or delivered_at >= coalesce((select last_read_at from watched_sessions
		where watched_sessions.service = questions.service and watched_sessions.session_id = questions.session_id), 0)))`;

/** The newest hand-over of a question in this workspace, also if given back; null: none, or it is over. */
export function readHandOver(row: Row<'questions'> | undefined, teamId = row?.heldTeamId): HandOver | null {
	if (row === undefined || row.heldWatchId === null || row.heldTeamId !== teamId) return null;
	const held = Object.fromEntries(HOLDER.map(([name, column]) => [name, row[column]])) as Omit<HandOver, 'session'>;
	return { ...held, ...pick(row, 'fingerprint'), session: sessionOf(row) };
}

/** The parts of a hand-over and their columns, which are written together. */
const HOLDER = [
	['id', 'handOverId'],
	['watchId', 'heldWatchId'],
	['teamId', 'heldTeamId'],
	['channelId', 'heldChannelId'],
	['from', 'fromUserId'],
	['to', 'toUserId'],
	['count', 'handOverCount'],
	['handedOverAt', 'handedOverAt'],
	['givenBackAt', 'givenBackAt'],
] as const satisfies readonly (readonly [keyof HandOver, keyof Row<'questions'>])[];

export interface HeldQuestion {
	readonly handOver: HandOver;
	readonly note: string | null;
}

/** The newest hand-over of an open question, if any. */
export function heldOf(row: Row<'questions'> | undefined, cipher: Cipher): HeldQuestion | null {
	const handOver = readHandOver(row);
	return row === undefined || handOver === null
		? null
		: { handOver, note: noteColumn.open(row.handOverNote, row, cipher) };
}

function holderColumns(
	row: Pick<Row<'questions'>, 'id' | keyof SessionKey>,
	{ handOver, note }: HeldQuestion,
	cipher: Cipher,
) {
	const columns = Object.fromEntries(HOLDER.map(([name, column]) => [column, handOver[name]]));
	const place = { ...row, handOverId: handOver.id };
	return {
		...(columns as Pick<Row<'questions'>, (typeof HOLDER)[number][1]>),
		handOverNote: note === null ? null : noteColumn.seal(note, place, cipher),
	};
}

/** Gives a question to somebody, who sees it in their inbox. */
export async function handOverQuestion(
	trx: Db,
	row: Row<'questions'>,
	held: HeldQuestion,
	cipher: Cipher,
): Promise<void> {
	await change(trx, 'questions', { id: row.id }, holderColumns(row, held, cipher)).execute();
	const { teamId, to: userId } = held.handOver;
	await endSnoozes(trx, { teamId, userId, ...sessionOf(row) });
}

export const giveBackQuestion = (trx: Db, { id }: Row<'questions'>, givenBackAt: number) =>
	change(trx, 'questions', { id }, { givenBackAt, handOverNote: null }).execute();

/** Ends the hand-overs in a channel that watches no more. */
export const endHandOvers = (trx: Db, heldWatchId: string) =>
	change(trx, 'questions', { heldWatchId }, { heldWatchId: null, handOverNote: null }).execute();

/** Removes what somebody wrote with their hand-overs. */
export const removeNotesOf = (trx: Db, fromUserId: string) =>
	change(trx, 'questions', { fromUserId }, { handOverNote: null }).execute();

/** Settles a question, unless it is settled in this way already. */
export async function settleQuestion(trx: Db, id: string, how: SettledHow, now: number): Promise<void> {
	const ours = sql<string | null>`(select answers.id from answers where answers.question_id = questions.id
			and answers.service = questions.service and answers.session_id = questions.session_id
			and answers.state in ('delivering', ${sql.join(ARRIVED_STATES)})
		order by coalesce(answers.delivered_at, answers.put_started_at) desc limit 1)`;
	const columns = {
		settledAt: now,
		settledHow: how,
		// After `wentOn` its holder may be asked again.
		...(how !== 'wentOn' && { handOverNote: null }),
		...(how !== 'unwatched' && { answerId: ours }),
		...(how === 'renewed' && { heldWatchId: null }),
	};
	const isOther = sql<boolean>`coalesce(settled_how, '') <> ${how}`;
	await change(trx, 'questions', { id }, columns).where(isOther).execute();
}

/** Numbers the questions of `earlier` before those of `later`: the same session at another address. */
export async function numberBefore(trx: Db, earlier: SessionKey, later: SessionKey): Promise<void> {
	const numbersOf = (session: SessionKey) => from(trx, 'questions', sessionOf(session)).select(['id', 'number']);
	const first = Math.min(1, ...(await numbersOf(later).execute()).map(({ number }) => number));
	const rows = await numbersOf(earlier).orderBy('number').execute();
	// From the lowest on, so that no two have the same number meanwhile.
	for (const [index, { id }] of rows.entries())
		await change(trx, 'questions', { id }, { number: first - rows.length + index }).execute();
}

/** Removes the questions of a session that no answer is to. */
export const removeQuestions = (trx: Db, session: SessionKey) =>
	remove(trx, 'questions', sessionOf(session)).where(IS_WITHOUT_ANSWERS).execute();

const IS_WITHOUT_ANSWERS = sql<boolean>`not exists (select 1 from answers where answers.question_id = questions.id
	and answers.service = questions.service and answers.session_id = questions.session_id)`;

/**
 * Removes questions settled before `before`. The newest question of a session keeps its row, without its text and
 * people.
 */
export async function forgetQuestions(db: StoreDatabase, before: number): Promise<void> {
	const settled = (trx: Db) => from(trx, 'questions').select('id').where('settledAt', '<', before);
	const gone = { content: null, handOverNote: null, heldWatchId: null, fromUserId: null, toUserId: null };
	await changeInBatches(db, (trx, limit) =>
		remove(trx, 'questions', { id: settled(trx).where(IS_SUPERSEDED).limit(limit) }),
	);
	await changeInBatches(db, (trx, limit) => {
		const isKept = sql<boolean>`(content is not null or hand_over_note is not null)`;
		return change(trx, 'questions', { id: settled(trx).where(isKept).limit(limit) }, gone);
	});
}

/** Whether the agent has asked again since a row of `questions`. */
const IS_SUPERSEDED = sql<boolean>`number < (select max(number) from questions as newer
	where newer.service = questions.service and newer.session_id = questions.session_id)`;

/** A question of a session that one person does not see until `until`. Another question of it is not snoozed. */
export interface Snooze {
	readonly person: Person;
	readonly session: SessionKey;
	readonly fingerprint: string;
	readonly until: number;
}

/** Hides a question from its person's inbox; replaces what they have snoozed of this session. */
export const snooze = (trx: Db, { person, session, fingerprint, until }: Snooze) =>
	add(trx, 'snoozes', { ...personOf(person), ...sessionOf(session), fingerprint, until })
		.onConflict((conflict) => conflict.columns(TABLES.snoozes.key).doUpdateSet({ fingerprint, until }))
		.execute();

/** Ends snoozes: their people see the questions again. */
export const endSnoozes = (trx: Db, filter: Filter<'snoozes'>) => remove(trx, 'snoozes', filter).execute();
