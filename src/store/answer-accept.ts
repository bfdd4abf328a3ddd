import type { ExpressionBuilder, Insertable, Kysely } from 'kysely';
import {
	type Answer,
	type AnswerItem,
	type AnswerState,
	BLOCKING_STATES,
	isBlocking,
	isFailed,
	type OtherAnswer,
	type QuestionKey,
} from '../answers/answer.ts';
import type { AcceptResult, NewAnswer, RetryResult } from '../answers/ports.ts';
import {
	type AnswerRow,
	changeRow,
	enterState,
	newRow,
	positionsOf,
	readAnswer,
	readSecretPositions,
	readSubmission,
	resetReceipt,
	sealOther,
	secretOf,
	submittedColumns,
} from './answer-rows.ts';
import type { StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { type AnswersTable, questionColumns, type Tables, WITHOUT_LEASE } from './tables.ts';

/** `AnswerStore.accept`. Nearly always there is no conflict, which one statement can find out and act on. */
export async function acceptAnswer(db: StoreDatabase, cipher: Cipher, answer: NewAnswer): Promise<AcceptResult> {
	const accepted = await db.writeOne((one) => insertWithoutConflict(one, cipher, answer));
	if (accepted !== null) return { kind: 'accepted', answer: accepted };
	return db.write((trx) => acceptInTransaction(trx, cipher, answer));
}

/** Inserts when no row has this submission key or conflicts with it; null when it did not. */
async function insertWithoutConflict(db: Kysely<Tables>, cipher: Cipher, answer: NewAnswer): Promise<Answer | null> {
	// Made here, in the write: on SQLite the key of secrets may be replaced between two writes.
	const row = newRow(answer, cipher);
	const columns = Object.keys(row) as (keyof typeof row)[];
	const inserted = await db
		.insertInto('answers')
		.columns(columns)
		.expression(
			db
				.selectNoFrom((eb) => columns.map((column) => eb.val(row[column]).as(column)))
				.where((eb) => eb.not(eb.exists(db.selectFrom('answers').select('id').where(sameOrConflicting(answer))))),
		)
		// A concurrent submission of the same question: the transaction finds out about it.
		.onConflict((conflict) => conflict.doNothing())
		.returningAll()
		.executeTakeFirst();
	return inserted === undefined ? null : readAnswer(inserted, cipher);
}

async function acceptInTransaction(db: Kysely<Tables>, cipher: Cipher, answer: NewAnswer): Promise<AcceptResult> {
	// One statement, one snapshot: an answer that is just being delivered is seen as live or as delivered, never as neither.
	const rows = await db
		.selectFrom('answers')
		.selectAll()
		.where(sameOrConflicting(answer))
		.orderBy('accepted_at', 'desc')
		.execute();

	const repeated = rows.find((row) => row.submission_key === answer.submissionKey);
	if (repeated !== undefined) return repeat(db, cipher, repeated, answer);

	const insert = (row: Insertable<AnswersTable>) =>
		db.insertInto('answers').values(row).returningAll().executeTakeFirstOrThrow();
	const row = newRow(answer, cipher);
	const first = firstConflict(rows, positionsOf(answer.items, answer.leftEmpty));
	if (first !== null) {
		const by = readAnswer(first, cipher);
		// It was never accepted, so its timeline does not say so.
		const unaccepted = { ...row, timeline: '[]', ended_at: null };
		const lost = giveWay(unaccepted, { winner: winnerOf(by), mine: answer.items, now: answer.acceptedAt }, cipher);
		return { kind: 'taken', by, answer: readAnswer(await insert({ ...unaccepted, ...lost }), cipher) };
	}
	// Before the insert, or this and a retry of one of those would wait for each other.
	await replaceWaiting(db, cipher, rows, { winner: { ...answer, at: answer.acceptedAt }, now: answer.acceptedAt });
	return { kind: 'accepted', answer: readAnswer(await insert(row), cipher) };
}

async function repeat(db: Kysely<Tables>, cipher: Cipher, row: AnswerRow, answer: NewAnswer): Promise<AcceptResult> {
	const stored = readAnswer(row, cipher);
	if (sameSubmission(stored, answer.items, answer.leftEmpty))
		return { kind: 'repeated', answer: stored, edited: false };
	const { viewId, origin } = stored;
	// A worker notes that its PUT begins and gets the values in one write, so that this either comes before or fails.
	const edited = await db
		.updateTable('answers')
		.set({ ...submittedColumns(row.id, { ...answer, viewId, origin }, cipher), edit_count: row.edit_count + 1 })
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

/** `AnswerStore.retry` for the author's row, locked in this transaction. */
export async function retryAnswer(
	db: Kysely<Tables>,
	cipher: Cipher,
	row: AnswerRow,
	{ now, giveUpAt }: { now: number; giveUpAt: number },
): Promise<RetryResult> {
	const answer = readAnswer(row, cipher);
	if (!isFailed(answer.state)) return { kind: 'notRetryable', answer };
	const { content } = answer;
	if (content.kind !== 'readable' || content.items.some((item) => item.wiped)) return { kind: 'valuesGone', answer };
	const { formReadAt, positions } = readSubmission(row);
	const rows = await db
		.selectFrom('answers')
		.selectAll()
		.where(conflictsWith(answer.question, row.fingerprint, formReadAt))
		.where('id', '!=', row.id)
		.orderBy('accepted_at', 'desc')
		.execute();
	const first = firstConflict(rows, positions);
	if (first !== null) {
		const by = readAnswer(first, cipher);
		const lost = giveWay(row, { winner: winnerOf(by), mine: content.items, now }, cipher);
		return { kind: 'taken', by, answer: await changeRow(db, cipher, row, lost) };
	}
	await replaceWaiting(db, cipher, rows, { winner: winnerOf(answer), now });
	const queued = await changeRow(db, cipher, row, {
		...enterState(row, 'accepted', now),
		...resetReceipt(row),
		...WITHOUT_LEASE,
		attempts: 0,
		not_before: null,
		missing_count: 0,
		next_attempt_at: now,
		give_up_at: giveUpAt,
		last_error: null,
		other: null,
	});
	return { kind: 'queued', answer: queued };
}

function sameOrConflicting({ submissionKey, question, fingerprint, formReadAt }: NewAnswer) {
	return (eb: ExpressionBuilder<Tables, 'answers'>) =>
		eb.or([eb('submission_key', '=', submissionKey), conflictsWith(question, fingerprint, formReadAt)(eb)]);
}

/**
 * Answers to `question` that a new one must look at: live ones and those that wait, and what was delivered for the same
 * question since its form was read, which its author has not seen.
 */
function conflictsWith(question: QuestionKey, fingerprint: string, formReadAt: number) {
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

/** Among rows of one question: the one that an answer to these positions must give way to. */
function firstConflict(rows: readonly AnswerRow[], positions: readonly number[]): AnswerRow | null {
	const overlaps = (row: AnswerRow) => readSubmission(row).positions.some((position) => positions.includes(position));
	return (
		rows.find((row) => isBlocking(row.state as AnswerState)) ??
		rows.find((row) => row.delivered_at !== null && overlaps(row)) ??
		null
	);
}

/** Answers that wait for their authors give way to `winner`; a worker is to tell them at once. */
async function replaceWaiting(
	db: Kysely<Tables>,
	cipher: Cipher,
	rows: readonly AnswerRow[],
	{ winner, now }: { winner: Winner; now: number },
): Promise<void> {
	for (const row of rows) {
		if (row.state !== 'waiting') continue;
		const { content } = readAnswer(row, cipher);
		const mine = content.kind === 'readable' ? content.items : null;
		await db
			.updateTable('answers')
			.set({ ...giveWay(row, { winner, mine, now }, cipher), ...resetReceipt(row), next_attempt_at: now })
			.where('id', '=', row.id)
			.where('state', '=', 'waiting')
			.execute();
	}
}

/** What another answer is told of the one that was first. */
type Winner = Pick<NewAnswer, 'person' | 'items'> & { readonly at: number };

function winnerOf({ person, content, deliveredAt, acceptedAt }: Answer): Winner {
	return { person, items: content.kind === 'readable' ? content.items : [], at: deliveredAt ?? acceptedAt };
}

/** `conflicted`, because `winner` was there first. `mine`: null when it cannot be read. */
function giveWay(
	row: Pick<AnswerRow, 'id' | 'timeline' | 'ended_at'>,
	{ winner, mine, now }: { winner: Winner; mine: readonly AnswerItem[] | null; now: number },
	cipher: Cipher,
) {
	const other: OtherAnswer = {
		person: winner.person,
		values: winner.items.map((item) => (item.secret ? null : item.value)),
		at: winner.at,
		same: mine !== null && sameWords(mine, winner.items),
	};
	return {
		...enterState(row, 'conflicted', now),
		...WITHOUT_LEASE,
		other: sealOther(row.id, other, cipher),
		next_attempt_at: null,
	};
}

/** Everything that `mine` says stands word for word in `theirs`. What was wiped is never the same. */
function sameWords(mine: readonly AnswerItem[], theirs: readonly AnswerItem[]): boolean {
	return mine.every((item, position) =>
		item.value === null ? !item.wiped : item.value === (theirs[position]?.value ?? null),
	);
}

/** The same submission with the same words; a secret that was wiped cannot be compared and does not count. */
function sameSubmission(stored: Answer, items: readonly AnswerItem[], leftEmpty: readonly number[]): boolean {
	if (stored.content.kind !== 'readable') return true;
	const before = stored.content.items;
	return (
		before.length === items.length &&
		before.every(
			(item, position) =>
				(item.wiped || item.value === items[position]?.value) && item.secret === (items[position]?.secret ?? false),
		) &&
		stored.leftEmpty.length === leftEmpty.length &&
		stored.leftEmpty.every((position) => leftEmpty.includes(position))
	);
}
