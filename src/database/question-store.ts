// Owns `questions` and `snoozes`: what agents of watched sessions asked, who has it, and who hides it.
import { sql } from 'kysely';
import { z } from 'zod';
import { parseOrNull, pick } from '../core/basics.ts';
import { type Answer, ARRIVED_STATES, BLOCKING_STATES, evidenceAt } from '../questions/answer.ts';
import { evidence, type Judgement, NOTHING_SEEN, type SettledHow, withArrival } from '../questions/asked.ts';
import type { HandOver } from '../questions/hand-over.ts';
import type { Person, QuestionDigest, QuestionKey, SessionKey } from '../questions/session.ts';
import { maskedQuestion, type QuestionView, questionView } from '../questions/session-snapshot.ts';
import { recordEvents } from './audit.ts';
import {
	add,
	type Cipher,
	type CipherTx,
	change,
	type Db,
	type Filter,
	from,
	hasChanged,
	personOf,
	type Row,
	remove,
	type StoreDatabase,
	sealedColumn,
	sessionOf,
	TABLES,
} from './database.ts';
import { changeInBatches } from './due.ts';

/** A question as a channel may see it, and when the read of this text began, clock milliseconds. */
export interface Asked {
	readonly question: QuestionView;
	readonly readAt: number;
	/** The items when they were answered; left out before, and where no read has shown the answer. */
	readonly answered?: QuestionView['items'];
}

const items = questionView.shape.items;
const view = questionView.transform((stored) => maskedQuestion(new Set(), stored));
const asked = z.object({ question: view, readAt: z.number(), answered: z.exactOptional(items) });
export const contentColumn = sealedColumn('questions.content', asked as z.ZodType<Asked>);
const noteColumn = sealedColumn('questions.handOverNote', z.string());

/** What a read shows of a session's newest question, if anything. */
export interface QuestionRead {
	readonly session: SessionKey;
	readonly newest: { readonly question: QuestionView | null; readonly readAt: number };
	readonly cipher: Cipher;
	readonly now: number;
}

/** The columns of a question as it is asked now. Its text stays where the read does not show it. */
function shownColumns(id: string, asked: QuestionDigest, { session, newest, cipher }: QuestionRead) {
	const { question, readAt } = newest;
	return {
		...pick(asked, 'messageIndex', 'sameBefore', 'fingerprint', 'shownHash'),
		...(question?.messageIndex === asked.messageIndex && {
			content: contentColumn.seal({ question, readAt }, { id, ...sessionOf(session) }, cipher),
		}),
	};
}

/** Adds the open question. `held`: the hand-over of the one before, which goes on. Returns the id. */
export async function addQuestion(
	trx: Db,
	asked: QuestionDigest,
	read: QuestionRead,
	{ askedAt, held }: { readonly askedAt: number; readonly held: Held | null },
): Promise<string> {
	const { service, sessionId } = read.session;
	const number = sql<number>`(select coalesce(max(number), 0) + 1 from questions
		where service = ${service} and session_id = ${sessionId})`;
	const id = crypto.randomUUID();
	const columns = {
		...shownColumns(id, asked, read),
		askedAt,
		...(held && holderColumns({ id, service, sessionId }, held, read.cipher)),
		evidence: JSON.stringify(NOTHING_SEEN),
	};
	await add(trx, 'questions', { id, service, sessionId, number, ...columns }).execute();
	// One that was answered before anybody watched its session is no news.
	if (askedAt > 0) recordAsked(trx, asked, read, 'asked');
	return id;
}

const recordAsked = (trx: Db, { fingerprint }: QuestionDigest, { session, now }: QuestionRead, outcome: string) =>
	recordEvents(trx, { at: now, action: 'asked', actor: null, session: session.sessionId, fingerprint, outcome });

/** Notes that the open question is asked as it is read now. */
export async function rewordQuestion(trx: Db, open: Row<'questions'>, asked: QuestionDigest, read: QuestionRead) {
	const isReworded = open.shownHash !== asked.shownHash;
	const reworded = isReworded ? { rewordedCount: open.rewordedCount + 1, rewordedAt: read.now } : {};
	await change(trx, 'questions', { id: open.id }, { ...shownColumns(open.id, asked, read), ...reworded }).execute();
}

/** Opens a settled question again. */
export async function reopenQuestion(trx: Db, { id }: Row<'questions'>, asked: QuestionDigest, read: QuestionRead) {
	const again = { settledAt: null, settledHow: null, answerId: null };
	await change(trx, 'questions', { id }, { ...shownColumns(id, asked, read), ...again }).execute();
	recordAsked(trx, asked, read, 'reopened');
}

/** Notes how many equal messages stand before the one that asks. */
export const renumberQuestion = (trx: Db, id: string, { sameBefore }: Asking) =>
	change(trx, 'questions', { id }, { sameBefore }).execute();

/** Closes what the agent of a session went on without: nobody can answer it any more. */
export async function closeWentOn(trx: Db, session: SessionKey): Promise<void> {
	const wentOn = { ...sessionOf(session), settledHow: 'wentOn' };
	if (await hasChanged(change(trx, 'questions', wentOn, { settledHow: 'closed', handOverNote: null })))
		await endSnoozes(trx, sessionOf(session));
}

/** Closes what was open when nobody watched its session any more, except this one. */
export async function closeUnwatched(trx: Db, session: SessionKey, { fingerprint, sameBefore }: Asking) {
	const left = change(trx, 'questions', { ...sessionOf(session), settledHow: 'unwatched' }, { settledHow: 'closed' });
	await left.where((is) => is.or([is('fingerprint', '!=', fingerprint), is('sameBefore', '!=', sameBefore)])).execute();
}

/** Stores what reads have shown of the question that the newest message asks. */
export async function noteEvidence(trx: Db, session: SessionKey, { of, evidence: found, isNews }: Judgement) {
	if (of === null || !isNews) return;
	const { same } = await knownAskings(trx, session, of);
	if (same === null) return;
	const shown = found && { evidence: JSON.stringify(found) };
	await change(trx, 'questions', { id: same.id }, { messageIndex: of.messageIndex, ...shown }).execute();
}

/**
 * A read for a person shows an empty field after a value: of a session that nobody watches nothing else notes since
 * when. False: no question is stored, so it is noted with its answer.
 */
export async function noteEmptied(trx: Db, session: SessionKey, judged: Judgement): Promise<boolean> {
	const { same } = await knownAskings(trx, session, judged.of);
	if (same === null) return false;
	if (!same.isRead) await noteEvidence(trx, session, judged);
	return true;
}

/** Stores the items of a question as a read shows them answered. */
export async function keepAnswered(trx: Db, row: Row<'questions'>, answered: QuestionView['items'], cipher: Cipher) {
	const asked = contentColumn.open(row.content, row, cipher);
	if (asked === null) return;
	const content = contentColumn.seal({ ...asked, answered }, row, cipher);
	await change(trx, 'questions', { id: row.id }, { content }).execute();
}

/** The newest time that the agent of a session asked, and the newest time that it asked this. */
export async function knownAskings(db: Db, session: SessionKey, asked: Asking | null) {
	const all = from(db, 'questions', sessionOf(session)).selectAll().select(IS_READ.as('isRead'));
	const rows = all.orderBy('number', 'desc').limit(1);
	const equal = asked && rows.where('fingerprint', '=', asked.fingerprint).where('sameBefore', '=', asked.sameBefore);
	// First what is compared before a read is stored: an answer may arrive in between.
	const first = await rows.executeTakeFirst();
	const [newest, same] = [readAsking(first), readAsking(await equal?.executeTakeFirst())];
	// Equal messages before the newest one are gone, unless its history was rewound to one of them, which has a value.
	const isLeft = asked !== null && first?.fingerprint === asked.fingerprint && first.sameBefore > asked.sameBefore;
	const isRewound = same?.messageIndex === asked?.messageIndex && (asked?.answered.length ?? 0) > 0;
	return { newest, same: isLeft && !isRewound ? newest : same };
}
type Asking = Pick<QuestionDigest, 'fingerprint' | 'sameBefore' | 'messageIndex' | 'answered'>;

/** Whether the session of a row is watched. */
const IS_READ = sql<number>`case when exists (select 1 from watched_sessions as session where next_read_at is not null
	and session.service = questions.service and session.session_id = questions.session_id) then 1 else 0 end`;

function readAsking(row?: Row<'questions'> & { readonly isRead: number }) {
	if (row === undefined) return null;
	return {
		...pick(row, 'id', 'messageIndex', 'sameBefore', 'fingerprint', 'shownHash', 'askedAt', 'settledAt'),
		isRead: row.isRead === 1,
		settledHow: row.settledHow as SettledHow | null,
		evidence: parseOrNull(evidence, row.evidence),
	};
}

/** The newest row of this question, or null: for the row that an answer answers. */
export function newestRowOf(question: QuestionKey, fingerprint: string, before: Answer['before'] = null) {
	const { service, sessionId, messageIndex } = question;
	// The index in the row is of the newest read of the watch.
	const place =
		before?.sameBefore == null ? sql`message_index = ${messageIndex}` : sql`same_before = ${before.sameBefore}`;
	return sql<string | null>`(select id from questions where service = ${service} and session_id = ${sessionId}
		and ${place} and fingerprint = ${fingerprint} order by number desc limit 1)`;
}

/** Our answer arrived as the `number`th of a session, locked if watched. Earlier reads say nothing of its question. */
export async function noteArrival(trx: Db, answer: Answer, at: number, number: number): Promise<void> {
	const { question, fingerprint, questionId, before: put } = answer;
	const row = await newestQuestionOf(trx, question);
	const isIts = row?.fingerprint === fingerprint && row.sameBefore === (put?.sameBefore ?? row.sameBefore);
	if (row === undefined || (row.id !== questionId && (questionId !== null || !isIts))) return;
	const before = parseOrNull(evidence, row.evidence) ?? NOTHING_SEEN;
	const { arrived } = evidenceAt(answer, at, number);
	const found = arrived && withArrival(before, arrived);
	const answerId = row.settledHow === 'answered' ? (row.answerId ?? answer.id) : row.answerId;
	await change(trx, 'questions', { id: row.id }, { evidence: JSON.stringify(found), answerId }).execute();
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
	const asked = contentColumn.open(row.content, row, cipher);
	return {
		...pick(row, 'id', 'messageIndex', 'fingerprint', 'askedAt', 'settledAt', 'answerId'),
		/** Null while it is open. */
		settled: row.settledHow as SettledHow | null,
		/** See `Evidence`. */
		lost: parseOrNull(evidence, row.evidence)?.lost ?? null,
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

export interface Held {
	readonly handOver: HandOver;
	readonly note: string | null;
}

/** The newest hand-over of an open question, if any. */
export function heldOf(row: Row<'questions'> | undefined, cipher: Cipher): Held | null {
	const handOver = readHandOver(row);
	return row === undefined || handOver === null
		? null
		: { handOver, note: noteColumn.open(row.handOverNote, row, cipher) };
}

function holderColumns(row: Pick<Row<'questions'>, 'id' | keyof SessionKey>, { handOver, note }: Held, cipher: Cipher) {
	const columns = Object.fromEntries(HOLDER.map(([name, column]) => [column, handOver[name]]));
	const place = { ...row, handOverId: handOver.id };
	return {
		...(columns as Pick<Row<'questions'>, (typeof HOLDER)[number][1]>),
		handOverNote: note === null ? null : noteColumn.seal(note, place, cipher),
	};
}

/** Gives a question to somebody, who sees it in their inbox. */
export async function handOverQuestion(trx: Db, row: Row<'questions'>, held: Held, cipher: Cipher): Promise<void> {
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

/** Settles the open question, asked after `since` if given, and returns its id. */
export async function settleQuestion(
	trx: Db,
	session: SessionKey,
	how: SettledHow,
	{ now, since }: { readonly now: number; readonly since?: number },
): Promise<string | undefined> {
	const ours = sql<string | null>`(select answers.id from answers
		where answers.service = questions.service and answers.session_id = questions.session_id
			and answers.fingerprint = questions.fingerprint and answers.state in ('delivering', ${sql.join(ARRIVED_STATES)})
			and (answers.question_id = questions.id or (answers.question_id is null
				and coalesce(answers.delivered_at, answers.put_started_at) >= ${since ?? sql.ref('questions.askedAt')}))
		order by coalesce(answers.delivered_at, answers.put_started_at) desc limit 1)`;
	const columns = {
		settledAt: now,
		settledHow: how,
		// Who has it may be asked again.
		...(how !== 'wentOn' && { handOverNote: null }),
		...(how !== 'unwatched' && { answerId: ours }),
		...(how === 'renewed' && { heldWatchId: null }),
	};
	const settling = change(trx, 'questions', { ...sessionOf(session), settledAt: null }, columns);
	return (await settling.returning('id').executeTakeFirst())?.id;
}

/**
 * Makes the questions of `other` older ones of the same session as those of `base`, before their ids become one. Of one
 * that both have, that of `base` stays, with who has it. Returns the ids of such, each with the id that stays.
 */
export async function joinQuestions(
	{ trx, cipher, now }: CipherTx,
	base: SessionKey,
	other: SessionKey,
): Promise<readonly (readonly [id: string, staysId: string])[]> {
	const rowsOf = (session: SessionKey) => from(trx, 'questions', sessionOf(session)).selectAll().orderBy('number');
	const [own, others] = [await rowsOf(base).execute(), await rowsOf(other).execute()];
	const [first, newest] = [own[0], others.at(-1)];
	if (first === undefined || newest === undefined) return [];
	const pairs: [string, string][] = [];
	for (const row of others) {
		const same = own.find((one) => one.fingerprint === row.fingerprint && one.sameBefore === row.sameBefore);
		if (same !== undefined) {
			const held = heldOf(row, cipher);
			if (row.settledAt === null && same.settledAt === null && held !== null && heldOf(same, cipher) === null)
				await change(trx, 'questions', { id: same.id }, holderColumns(same, held, cipher)).execute();
			await remove(trx, 'questions', { id: row.id }).execute();
			pairs.push([row.id, same.id]);
			continue;
		}
		const closed = row.settledAt === null && { settledAt: now, settledHow: 'closed', handOverNote: null };
		const number = row.number + first.number - 1 - newest.number;
		await change(trx, 'questions', { id: row.id }, { number, ...closed }).execute();
	}
	return pairs;
}

/** Has the questions of `earlier` count as asked before those of `later`, the same session at another address. */
export async function numberBefore(trx: Db, earlier: SessionKey, later: SessionKey): Promise<void> {
	const numbersOf = (session: SessionKey) => from(trx, 'questions', sessionOf(session)).select(['id', 'number']);
	const first = Math.min(1, ...(await numbersOf(later).execute()).map(({ number }) => number));
	const rows = await numbersOf(earlier).orderBy('number').execute();
	// From the lowest on, so that no two have the same number meanwhile.
	for (const [index, { id }] of rows.entries())
		await change(trx, 'questions', { id }, { number: first - rows.length + index }).execute();
}

/** Removes the questions of a session. */
export const removeQuestions = (trx: Db, session: SessionKey) => remove(trx, 'questions', sessionOf(session)).execute();

/** Removes questions settled before `before`. Of the newest one of a session stays what reads have shown. */
export async function forgetQuestions(db: StoreDatabase, before: number): Promise<void> {
	const settled = (trx: Db) => from(trx, 'questions').select('id').where('settledAt', '<', before);
	// Without its text and its people.
	const gone = { content: null, heldWatchId: null, fromUserId: null, toUserId: null };
	await changeInBatches(db, (trx, limit) =>
		remove(trx, 'questions', { id: settled(trx).where(IS_SUPERSEDED).limit(limit) }),
	);
	await changeInBatches(db, (trx, limit) => {
		const id = settled(trx).where('content', 'is not', null).limit(limit);
		return change(trx, 'questions', { id }, gone);
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

/** People see again what they have snoozed. */
export const endSnoozes = (trx: Db, filter: Filter<'snoozes'>) => remove(trx, 'snoozes', filter).execute();
