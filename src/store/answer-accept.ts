import type { ExpressionBuilder, Kysely } from 'kysely';
import { type Answer, type AnswerState, BLOCKING_STATES, isBlocking, type QuestionKey } from '../answers/answer.ts';
import type { AcceptResult, NewAnswer } from '../answers/ports.ts';
import { giveWay, sameSubmission, toldNothing } from './answer-changes.ts';
import {
	type AnswerRow,
	newRow,
	positionsOf,
	readAnswer,
	readPositions,
	readSecretPositions,
	sealItems,
	secretOf,
	secretPositions,
} from './answer-rows.ts';
import type { Cipher } from './cipher.ts';
import { questionColumns } from './columns.ts';
import type { StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

/** `AnswerStore.accept`. Nearly always nothing is in the way, which one statement can find out and act on. */
export async function acceptAnswer(db: StoreDatabase, cipher: Cipher, answer: NewAnswer): Promise<AcceptResult> {
	const accepted = await db.writeOne((one) => insertIfFree(one, cipher, answer));
	if (accepted !== null) return { kind: 'accepted', answer: accepted, replacedWaiting: [] };
	return db.write((trx) => acceptInTransaction(trx, cipher, answer));
}

/** Inserts when no row has this submission key and `inTheWay` finds nothing; null when it did not. */
async function insertIfFree(db: Kysely<Tables>, cipher: Cipher, answer: NewAnswer): Promise<Answer | null> {
	// Made here, in the write: on SQLite the key of secrets may be replaced between two writes.
	const row = newRow(answer, cipher);
	const columns = Object.keys(row) as (keyof AnswerRow)[];
	const inserted = await db
		.insertInto('answers')
		.columns(columns)
		.expression(
			db
				.selectNoFrom((eb) => columns.map((column) => eb.val(row[column]).as(column)))
				.where((eb) => eb.not(eb.exists(db.selectFrom('answers').select('id').where(sameOrInTheWay(answer))))),
		)
		// A concurrent submission of the same question: the transaction finds out about it.
		.onConflict((conflict) => conflict.doNothing())
		.returning('id')
		.executeTakeFirst();
	return inserted === undefined ? null : readAnswer(row, cipher);
}

async function acceptInTransaction(db: Kysely<Tables>, cipher: Cipher, answer: NewAnswer): Promise<AcceptResult> {
	// One statement, one snapshot: an answer that is just being delivered is seen as live or as delivered, never as neither.
	const rows = await db
		.selectFrom('answers')
		.selectAll()
		.where(sameOrInTheWay(answer))
		.orderBy('accepted_at', 'desc')
		.execute();

	const repeated = rows.find((row) => row.submission_key === answer.submissionKey);
	if (repeated !== undefined) return repeat(db, cipher, repeated, answer);

	const first = findFirst(rows, positionsOf(answer.items, answer.leftEmpty));
	const row = newRow(answer, cipher);
	if (first !== null) {
		const by = readAnswer(first, cipher);
		// It was never accepted, so its timeline does not say so.
		const unheard: AnswerRow = { ...row, state: 'conflicted', timeline: '[]' };
		const conflicted = { ...unheard, ...giveWay(unheard, answer.items, by, answer.acceptedAt, cipher) };
		await db.insertInto('answers').values(conflicted).execute();
		return { kind: 'taken', by, answer: readAnswer(conflicted, cipher) };
	}

	const accepted = readAnswer(row, cipher);
	const replacedWaiting = await replaceWaiting(db, cipher, rows, accepted, answer.acceptedAt);
	await db.insertInto('answers').values(row).execute();
	return { kind: 'accepted', answer: accepted, replacedWaiting };
}

function sameOrInTheWay(answer: NewAnswer) {
	return (eb: ExpressionBuilder<Tables, 'answers'>) =>
		eb.or([
			eb('submission_key', '=', answer.submissionKey),
			inTheWay(answer.question, answer.fingerprint, answer.formReadAt)(eb),
		]);
}

/**
 * Answers to `question` that a new one must look at: live ones and those that wait, and what was delivered for the same
 * question since its form was read, which its author has not seen.
 */
export function inTheWay(question: QuestionKey, fingerprint: string, formReadAt: number) {
	return (eb: ExpressionBuilder<Tables, 'answers'>) =>
		eb.and([
			eb.and(questionColumns(question)),
			eb.or([
				eb('state', 'in', [...BLOCKING_STATES, 'waiting']),
				eb.and([
					eb('state', 'in', ['delivered', 'resumed']),
					eb('fingerprint', '=', fingerprint),
					eb('delivered_at', '>', formReadAt),
				]),
			]),
		]);
}

/** Among rows of one question: the one that stands in the way of an answer to these positions. */
export function findFirst(rows: readonly AnswerRow[], positions: readonly number[]): AnswerRow | null {
	return (
		rows.find((row) => isBlocking(row.state as AnswerState)) ??
		rows.find(
			(row) => row.delivered_at !== null && readPositions(row).some((position) => positions.includes(position)),
		) ??
		null
	);
}

/** Answers that wait for their authors give way to `by`; a worker is to tell them at once. */
export async function replaceWaiting(
	db: Kysely<Tables>,
	cipher: Cipher,
	rows: readonly AnswerRow[],
	by: Answer,
	now: number,
): Promise<Answer[]> {
	const replaced: Answer[] = [];
	for (const row of rows) {
		if (row.state !== 'waiting' || row.id === by.id) continue;
		const { content } = readAnswer(row, cipher);
		const changed = await db
			.updateTable('answers')
			.set({
				...giveWay(row, content.kind === 'readable' ? content.items : null, by, now, cipher),
				...toldNothing(row),
				next_attempt_at: now,
			})
			.where('id', '=', row.id)
			.where('state', '=', 'waiting')
			.returningAll()
			.executeTakeFirst();
		if (changed !== undefined) replaced.push(readAnswer(changed, cipher));
	}
	return replaced;
}

async function repeat(db: Kysely<Tables>, cipher: Cipher, row: AnswerRow, answer: NewAnswer): Promise<AcceptResult> {
	const stored = readAnswer(row, cipher);
	if (sameSubmission(stored, answer.items, answer.leftEmpty))
		return { kind: 'repeated', answer: stored, edited: false };
	// A worker notes that its PUT begins and gets the values in one write, so that this either comes before or fails.
	const edited = await db
		.updateTable('answers')
		.set({
			...sealItems(row.id, answer.items, cipher),
			positions: JSON.stringify(positionsOf(answer.items, answer.leftEmpty)),
			left_empty: JSON.stringify(answer.leftEmpty),
			secret_positions: secretPositions(answer),
			fingerprint: answer.fingerprint,
			form_read_at: answer.formReadAt,
			edit_count: row.edit_count + 1,
		})
		.where('id', '=', row.id)
		.where('state', '=', 'accepted')
		.where('put_started_at', 'is', null)
		.returningAll()
		.executeTakeFirst();
	if (edited !== undefined) return { kind: 'repeated', answer: readAnswer(edited, cipher), edited: true };
	// Sent is sent, but what its author keeps secret now is shown to nobody from here on.
	const kept = [...new Set([...readSecretPositions(row), ...(answer.boxed ? secretOf(answer.items) : [])])];
	const current = await db
		.updateTable('answers')
		.set({ secret_positions: row.secret_positions === null && kept.length === 0 ? null : JSON.stringify(kept) })
		.where('id', '=', row.id)
		.returningAll()
		.executeTakeFirstOrThrow();
	return { kind: 'tooLate', answer: readAnswer(current, cipher) };
}
