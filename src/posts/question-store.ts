import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import { parseOrNull, pick } from '../core/values.ts';
import { add, change, from, hasChanged, remove } from '../database/database.ts';
import { type Cipher, sealedColumn } from '../database/encryption.ts';
import type { PlacedRow } from '../database/sealed-columns.ts';
import { type Db, type Row, sessionOf } from '../database/tables.ts';
import { type Answer, ARRIVED_STATES, BLOCKING_STATES, evidenceAt, type QuestionKey } from '../questions/answer.ts';
import {
	evidence,
	type Judgement,
	type KnownAsking,
	NOT_JUDGED,
	NOTHING_SEEN,
	type SettledHow,
	withArrival,
} from '../questions/asked.ts';
import type { HandOver } from '../questions/hand-over.ts';
import type { OccurrenceChange } from '../questions/occurrences.ts';
import type { QuestionDigest, SessionKey } from '../questions/session.ts';
import { type QuestionView, questionView } from '../questions/session-snapshot.ts';
import { type CipherTx, dropPlanned, OPEN } from './plan-store.ts';
import { type Asked, HELD, type StoredQuestion } from './post.ts';

const items = questionView.shape.items;
const asked = z.object({ question: questionView, readAt: z.number(), answered: z.exactOptional(items) });
export const contentColumn = sealedColumn('questions.content', asked as z.ZodType<Asked>);
const noteColumn = sealedColumn('questions.handOverNote', z.string());

/** Writes what a read changes of questions, and what it means. `before`: when the read before it began. The caller holds the session's lock. */
export async function recordQuestions(
	{ trx, cipher, now }: CipherTx,
	session: SessionKey,
	changes: readonly OccurrenceChange[],
	{
		newest,
		before,
		judged = NOT_JUDGED,
	}: {
		readonly newest: { readonly question: QuestionView | null; readonly readAt: number };
		readonly before: number | null;
		readonly judged?: Judgement | undefined;
	},
): Promise<void> {
	const { question: view, readAt } = newest;
	const { of, renumbered } = judged;
	if (of !== null && renumbered !== null)
		await change(trx, 'questions', { id: renumbered }, { sameBefore: of.sameBefore }).execute();
	function contentOf(id: string, { messageIndex }: QuestionDigest) {
		if (view?.messageIndex !== messageIndex) return {};
		return { content: contentColumn.seal({ question: view, readAt }, { id, ...sessionOf(session) }, cipher) };
	}
	/** The hand-over of a question that is asked again while it is open: its person still has it. */
	let handOver: HandOver | null = null;
	let note: string | null = null;
	for (const one of changes) {
		if (one.kind === 'settled') {
			const open = await openQuestionOf(trx, session);
			if (one.how === 'renewed') {
				handOver = readHandOver(open);
				note = open === undefined ? null : noteColumn.open(open.handOverNote, open, cipher);
			}
			if (open !== undefined && one.items !== undefined) await keepAnswered(trx, open, one.items, cipher);
			await settleQuestion(trx, session, one.how, { now });
			continue;
		}
		const { question } = one;
		const last = await newestQuestionOf(trx, session);
		const isLast = last?.fingerprint === question.fingerprint && last.sameBefore === question.sameBefore;
		if (isLast && (one.kind === 'reopened' || (one.kind === 'asked' && last.settledHow === 'unwatched'))) {
			const columns = { ...columnsOf(question), ...contentOf(last.id, question), ...OPEN_AGAIN };
			await change(trx, 'questions', { id: last.id }, columns).execute();
			if (one.kind === 'asked' && one.settled !== null) await settleQuestion(trx, session, one.settled, { now });
			continue;
		}
		// Somebody watches again what was settled: its row has what reads and answers have shown.
		const isKnown = isLast && last.settledAt !== null && !judged.isAnsweredAnew;
		if (isKnown && one.kind === 'asked' && one.settled !== null && before === null) continue;
		const open = await openQuestionOf(trx, session);
		const isSame = open?.fingerprint === question.fingerprint && open.sameBefore === question.sameBefore;
		if (open !== undefined && (one.kind !== 'asked' || (isSame && one.settled === null))) {
			const isReworded = open.shownHash !== question.shownHash;
			const reworded = isReworded ? { rewordedCount: open.rewordedCount + 1, rewordedAt: now } : {};
			const columns = { ...columnsOf(question), ...contentOf(open.id, question), ...reworded };
			await change(trx, 'questions', { id: open.id }, columns).execute();
			continue;
		}
		// The former state of the session could not be read.
		if (one.kind !== 'asked') continue;
		if (open !== undefined) await settleQuestion(trx, session, 'closed', { now });
		const { service, sessionId } = session;
		const number = sql<number>`(select coalesce(max(number), 0) + 1 from questions
			where service = ${service} and session_id = ${sessionId})`;
		// Nobody can answer it any more.
		const wentOn = { ...sessionOf(session), settledHow: 'wentOn' };
		if (await hasChanged(change(trx, 'questions', wentOn, { settledHow: 'closed', handOverNote: null })))
			await remove(trx, 'snoozes', sessionOf(session)).execute();
		const id = randomUUID();
		const wasSettled = one.settled !== null && before === null;
		const columns = { ...columnsOf(question), ...contentOf(id, question), askedAt: wasSettled ? 0 : readAt };
		const held = handOver !== null && {
			...holderColumns(handOver),
			...noteColumns(note, { id, ...sessionOf(session), handOverId: handOver.id }, cipher),
		};
		const unseen = JSON.stringify(NOTHING_SEEN);
		await add(trx, 'questions', { id, ...sessionOf(session), number, ...columns, ...held, evidence: unseen }).execute();
		if (handOver !== null) {
			// The direct messages about it are about this one now.
			const told = { watchId: handOver.watchId, kind: ['handedOver', 'givenBack'], state: OPEN };
			await change(trx, 'posts', told, { questionId: id }).execute();
		}
		if (one.settled !== null) await settleQuestion(trx, session, one.settled, { now, since: before ?? readAt });
	}
	if (before === null && of !== null) {
		const { fingerprint, sameBefore } = of;
		// Another one was asked while nobody watched: it comes back only if the agent waits for it.
		const left = change(trx, 'questions', { ...sessionOf(session), settledHow: 'unwatched' }, { settledHow: 'closed' });
		await left
			.where((is) => is.or([is('fingerprint', '!=', fingerprint), is('sameBefore', '!=', sameBefore)]))
			.execute();
	}
	await noteEvidence(trx, session, judged);
}

const OPEN_AGAIN = { settledAt: null, settledHow: null, answerId: null } as const;

/** Stores what reads have shown of the question that the newest message asks. */
async function noteEvidence(trx: Db, session: SessionKey, { of, evidence: found, isNews }: Judgement): Promise<void> {
	if (of === null || !isNews) return;
	const { same } = await knownAskings(trx, session, of);
	if (same === null) return;
	const shown = found && { evidence: JSON.stringify(found) };
	await change(trx, 'questions', { id: same.id }, { messageIndex: of.messageIndex, ...shown }).execute();
}

/** A read for a person shows an empty field after a value: of a session that nobody watches nothing else notes since when. */
export async function noteEmptied(trx: Db, session: SessionKey, judged: Judgement): Promise<void> {
	const { same } = await knownAskings(trx, session, judged.of);
	if (same?.isRead === true) return;
	if (same !== null) return noteEvidence(trx, session, judged);
	const id = judged.evidence?.arrived?.answerId ?? '';
	await change(trx, 'answers', { id }, { evidence: JSON.stringify(judged.evidence) }).execute();
}

async function keepAnswered(trx: Db, row: Row<'questions'>, answered: QuestionView['items'], cipher: Cipher) {
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

function readAsking(row?: Row<'questions'> & { readonly isRead: number }): KnownAsking | null {
	if (row === undefined) return null;
	return {
		...pick(row, 'id', 'messageIndex', 'sameBefore', 'shownHash', 'askedAt', 'settledAt'),
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

/**
 * An answer of ours arrived, as the `number`th of its session. No read that began before it says anything about its question.
 * The caller has locked the session, if it is watched.
 */
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

export function readQuestion(row: Row<'questions'>, cipher: Cipher): StoredQuestion {
	const asked = contentColumn.open(row.content, row, cipher);
	return {
		...pick(row, 'id', 'messageIndex', 'fingerprint', 'askedAt', 'settledAt', 'answerId'),
		settled: row.settledHow as SettledHow | null,
		lost: parseOrNull(evidence, row.evidence)?.lost ?? null,
		handOver: row.settledAt === null ? readHandOver(row) : null,
		note: noteColumn.open(row.handOverNote, row, cipher),
		asked,
		isUnreadable: asked === null && row.content !== null,
	};
}

/** `isAnsweredSince` in SQL: whether an answer of ours settles an open row of `questions` since its session's newest read. */
export const IS_ANSWERED = sql<boolean>`exists (select 1 from answers where answers.service = questions.service
	and answers.session_id = questions.session_id and answers.message_index = questions.message_index
	and (state in (${sql.join(BLOCKING_STATES)}) or delivered_at >= coalesce((select last_read_at from watched_sessions
		where watched_sessions.service = questions.service and watched_sessions.session_id = questions.session_id), 0)))`;

/** The newest hand-over of a question in this workspace, also one that was given back; null: there is none, or it is over. */
export function readHandOver(row: Row<'questions'> | undefined, teamId = row?.heldTeamId): HandOver | null {
	if (row === undefined || row.heldWatchId === null || row.heldTeamId !== teamId) return null;
	const held = Object.fromEntries(HOLDER.map(([name, column]) => [name, row[column]])) as Omit<HandOver, 'session'>;
	return { ...held, ...pick(row, 'fingerprint'), session: sessionOf(row) };
}

export function holderColumns(handOver: HandOver) {
	const columns = HOLDER.map(([name, column]) => [column, handOver[name]]);
	return Object.fromEntries(columns) as Pick<Row<'questions'>, (typeof HOLDER)[number][1]>;
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

export function noteColumns(note: string | null, row: PlacedRow<'questions.handOverNote'>, cipher: Cipher) {
	return { handOverNote: note === null ? null : noteColumn.seal(note, row, cipher) };
}

/** Settles the open question, asked after `since` if given, and drops its held post. The caller holds the session's lock. */
export async function settleQuestion(
	trx: Db,
	session: SessionKey,
	how: SettledHow,
	{ now, since }: { readonly now: number; readonly since?: number },
): Promise<void> {
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
	const settled = await settling.returning('id').executeTakeFirst();
	if (settled !== undefined) await dropPlanned(trx, { questionId: settled.id, lastError: HELD, sendingSince: null });
}

const columnsOf = (question: QuestionDigest) =>
	pick(question, 'messageIndex', 'sameBefore', 'fingerprint', 'shownHash');
