import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { QuestionDigest } from '../questions/changes.ts';
import type { SettledHow } from '../questions/occurrences.ts';
import { type QuestionView, questionView } from '../watches/session-snapshot.ts';
import type { SessionKey } from '../watches/watch.ts';
import type { QuestionChange } from '../watches/watched-session.ts';
import { change, from } from './database.ts';
import { type Cipher, sealedColumn } from './encryption.ts';
import { type Row, sessionColumns, type Tables } from './tables.ts';

export const questionContent = sealedColumn<QuestionView>('questions', 'content', questionView);

/** When a read began, and the one before it; clock milliseconds. */
interface ReadTimes {
	readonly readAt: number;
	readonly before: number | null;
}

/** Writes what a read changes of a session's questions. The caller holds the lock of the session. */
export async function recordQuestions(
	{ trx, cipher, now }: { readonly trx: Kysely<Tables>; readonly cipher: Cipher; readonly now: number },
	session: SessionKey,
	changes: readonly QuestionChange[],
	{ readAt, before }: ReadTimes,
): Promise<void> {
	for (const one of changes) {
		if (one.kind === 'settled') {
			await settleQuestion(trx, session, one.how, { now });
			continue;
		}
		const open = await openQuestionOf(trx, session);
		const isSame = open?.fingerprint === one.question.fingerprint && open.same_before === one.question.sameBefore;
		if (open !== undefined && (one.kind === 'updated' || (isSame && one.settled === null))) {
			const columns = columnsOf(open.id, one.question, one.view, cipher);
			await change(trx, 'questions', { id: open.id }).set(columns).execute();
			continue;
		}
		// The former state of the session could not be read.
		if (one.kind === 'updated') continue;
		if (open !== undefined) await settleQuestion(trx, session, 'closed', { now });
		const id = randomUUID();
		const { service, sessionId } = session;
		const number = sql<number>`(select coalesce(max(number), 0) + 1 from questions
			where service = ${service} and session_id = ${sessionId})`;
		const columns = columnsOf(id, one.question, one.view, cipher);
		const row = { id, ...sessionColumns(session), number, ...columns, asked_at: readAt };
		await trx.insertInto('questions').values(row).execute();
		if (one.settled !== null) await settleQuestion(trx, session, one.settled, { now, since: before ?? readAt });
	}
}

/** The open question of a watched session, if it has one. */
export function openQuestionOf(db: Kysely<Tables>, session: SessionKey): Promise<Row<'questions'> | undefined> {
	return from(db, 'questions', { ...sessionColumns(session), settled_at: null })
		.selectAll()
		.executeTakeFirst();
}

/** Since when the open questions of these sessions are asked, by session id. */
export async function askedSince(db: Kysely<Tables>, service: string, sessionIds: readonly string[]) {
	if (sessionIds.length === 0) return new Map<string, number>();
	const open = from(db, 'questions', { service, session_id: sessionIds, settled_at: null });
	const rows = await open.select(['session_id', 'asked_at']).execute();
	return new Map(rows.map((row) => [row.session_id, row.asked_at]));
}

/**
 * Settles the session's open question, if there is one. The caller holds the lock of the session.
 * @param since when it may have been asked; left out: when it was found
 */
export async function settleQuestion(
	trx: Kysely<Tables>,
	session: SessionKey,
	how: SettledHow,
	{ now, since }: { readonly now: number; readonly since?: number },
): Promise<void> {
	const ours = sql<string | null>`(select answers.id from answers
		where answers.service = questions.service and answers.session_id = questions.session_id
			and answers.fingerprint = questions.fingerprint and answers.state in ('delivering', 'delivered')
			and coalesce(answers.delivered_at, answers.put_started_at) >= ${since ?? sql.ref('questions.asked_at')}
		order by coalesce(answers.delivered_at, answers.put_started_at) desc limit 1)`;
	await change(trx, 'questions', { ...sessionColumns(session), settled_at: null })
		.set({ settled_at: now, settled_how: how, ...(how === 'answered' && { answer_id: ours }) })
		.execute();
}

function columnsOf(id: string, question: QuestionDigest, view: QuestionView | null, cipher: Cipher) {
	return {
		message_index: question.messageIndex,
		same_before: question.sameBefore,
		fingerprint: question.fingerprint,
		shown_hash: question.shownHash,
		open_items: JSON.stringify(question.open),
		answered_items: JSON.stringify(question.answered),
		content: view === null ? null : questionContent.seal(view, id, cipher),
	};
}
