import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { QuestionDigest } from '../questions/changes.ts';
import type { OccurrenceChange, SettledHow } from '../questions/occurrences.ts';
import type { SessionKey } from '../watches/watch.ts';
import { change, from } from './database.ts';
import { type Row, sessionColumns, type Tables } from './tables.ts';

/**
 * Writes what a read changes of a session's questions. `before`: when the read before it began. The caller holds the lock of
 * the session.
 */
export async function recordQuestions(
	{ trx, now }: { readonly trx: Kysely<Tables>; readonly now: number },
	session: SessionKey,
	changes: readonly OccurrenceChange[],
	{ readAt, before }: { readonly readAt: number; readonly before: number | null },
): Promise<void> {
	for (const one of changes) {
		if (one.kind === 'settled') {
			await settleQuestion(trx, session, one.how, { now });
			continue;
		}
		const open = await openQuestionOf(trx, session);
		const isSame = open?.fingerprint === one.question.fingerprint && open.same_before === one.question.sameBefore;
		if (open !== undefined && (one.kind === 'updated' || (isSame && one.settled === null))) {
			await change(trx, 'questions', { id: open.id }).set(columnsOf(one.question)).execute();
			continue;
		}
		// The former state of the session could not be read.
		if (one.kind === 'updated') continue;
		if (open !== undefined) await settleQuestion(trx, session, 'closed', { now });
		const { service, sessionId } = session;
		const number = sql<number>`(select coalesce(max(number), 0) + 1 from questions
			where service = ${service} and session_id = ${sessionId})`;
		const row = { id: randomUUID(), ...sessionColumns(session), number, ...columnsOf(one.question), asked_at: readAt };
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

/** Settles the open question, asked after `since` (left out: when it was found). The caller holds the lock of the session. */
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

function columnsOf(question: QuestionDigest) {
	return {
		message_index: question.messageIndex,
		same_before: question.sameBefore,
		fingerprint: question.fingerprint,
		shown_hash: question.shownHash,
		open_items: JSON.stringify(question.open),
		answered_items: JSON.stringify(question.answered),
	};
}
