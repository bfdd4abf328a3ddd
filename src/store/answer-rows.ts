import type { Insertable, Kysely } from 'kysely';
import { z } from 'zod';
import {
	AGENT_OUTCOMES,
	ANSWER_STATES,
	type Answer,
	type AnswerContent,
	type AnswerItem,
	type AnswerState,
	firstDueAt,
	isBlocking,
	isFailed,
	isSettled,
	type NewAnswer,
	type OtherAnswer,
	type ReceiptState,
	type TimelineEntry,
} from '../answers/answer.ts';
import type { Log } from '../log.ts';
import type { BeforePut } from '../questions/compare.ts';
import type { AnswerMarks } from '../questions/secrecy.ts';
import type { Cipher, CipherPlace } from './encryption.ts';
import { personColumns, personOf, questionColumns, questionOf, type Row, type Tables } from './tables.ts';

export type AnswerRow = Row<'answers'>;
/** Columns to write; undefined ones keep their value. */
export type AnswerChange = { readonly [Column in keyof AnswerRow]?: AnswerRow[Column] | undefined };

const state = z.enum(ANSWER_STATES);
const agentOutcome = z.enum(AGENT_OUTCOMES);
const positions = z.array(z.int());
/** The JSON column `submission`: written only when its author presses a button, and never part of a WHERE clause. */
const submission = z.object({
	viewId: z.string(),
	origin: z.object({
		channelId: z.string().nullable(),
		threadTs: z.string().nullable(),
		isCopy: z.literal(true).exactOptional(),
	}),
	/** When the session shown in the form was read. */
	formReadAt: z.number(),
	/** Positions that the answer fills or leaves empty on purpose. */
	positions,
	leftEmpty: positions,
	checkedAt: z.number(),
	shownHash: z.string().nullable(),
});
export type Submission = z.infer<typeof submission>;
const lostTo = z.enum(['other', 'own', 'ownInstead']).optional();
const timeline: z.ZodType<TimelineEntry[]> = z.array(z.object({ state, at: z.number(), lostTo }));
const beforePut: z.ZodType<BeforePut> = z.object({
	status: z.string(),
	assistantCount: z.int(),
	sameCount: z.int().nullable(),
});
const receiptState: z.ZodType<ReceiptState, unknown> = z
	.object({
		state: state.nullable(),
		aftermath: agentOutcome.nullable(),
		dm: z.object({ channelId: z.string(), ts: z.string() }).nullable(),
		modalOpen: z.boolean(),
	})
	.transform(({ aftermath, ...receipt }) => ({ ...receipt, agentOutcome: aftermath }));
const other: z.ZodType<OtherAnswer> = z.object({
	answerId: z.string().nullable(),
	person: z.object({ teamId: z.string(), userId: z.string() }).nullable(),
	values: z.array(z.string().nullable()),
	at: z.number().nullable(),
	same: z.boolean(),
});
/** `held`: the value of this secret item is in the `secrets` column until that is wiped. */
const items = z.array(
	z.object({ title: z.string(), value: z.string().nullable(), secret: z.boolean(), held: z.boolean() }),
);
const secrets = z.record(z.string(), z.string());
/** The JSON of each column. */
export const ANSWER_JSON = {
	submission,
	timeline,
	before_put: beforePut,
	told: receiptState,
	other,
	content: items,
	secrets,
	secret_positions: positions,
};

const NO_RECEIPT: ReceiptState = { state: null, agentOutcome: null, dm: null, modalOpen: true };

/** A damaged timeline or receipt state counts as empty: it must not prevent an answer. */
function readTimeline(row: Pick<AnswerRow, 'timeline'>): TimelineEntry[] {
	return timeline.safeParse(JSON.parse(row.timeline)).data ?? [];
}

function readReceiptState(row: AnswerRow): ReceiptState {
	return receiptState.safeParse(JSON.parse(row.told)).data ?? NO_RECEIPT;
}

/** The stored name of the agent outcome is `aftermath`. */
export function writeReceiptState({ agentOutcome: aftermath, ...receipt }: ReceiptState): string {
	return JSON.stringify({ ...receipt, aftermath });
}

export function readSubmission(row: Pick<AnswerRow, 'submission'>): Submission {
	return submission.parse(JSON.parse(row.submission));
}

export function readAnswer(row: AnswerRow, cipher: Cipher): Answer {
	const { viewId, origin, leftEmpty, checkedAt, shownHash } = readSubmission(row);
	return {
		id: row.id,
		submissionKey: row.submission_key,
		viewId,
		press: row.undo_until === null ? null : { undoUntil: row.undo_until },
		person: personOf(row),
		question: questionOf(row),
		fingerprint: row.fingerprint,
		shownHash,
		content: readContent(row, cipher),
		leftEmpty,
		origin,
		state: state.parse(row.state),
		attempts: row.attempts,
		checkedAt,
		editCount: row.edit_count,
		acceptedAt: row.accepted_at,
		giveUpAt: row.give_up_at,
		nextAttemptAt: row.next_attempt_at,
		putStartedAt: row.put_started_at,
		before: row.before_put === null ? null : beforePut.parse(JSON.parse(row.before_put)),
		deliveredAt: row.delivered_at,
		agentOutcome: agentOutcome.nullable().parse(row.aftermath),
		endedAt: row.ended_at,
		lastError: row.last_error,
		timeline: readTimeline(row),
		receiptState: readReceiptState(row),
		notBefore: row.not_before,
		missingCount: row.missing_count,
		startFailed: row.start_failed === 1,
		restartAskedAt: row.restart_asked_at,
	};
}

/** Reads rows; empty for a damaged one, which must not block others. */
export function createAnswerReader(cipher: Cipher, log: Log | undefined) {
	return (row: AnswerRow): Answer[] => {
		try {
			return [readAnswer(row, cipher)];
		} catch {
			log?.error({ answer: row.id }, 'a damaged answer cannot be read and is skipped');
			return [];
		}
	};
}

function readContent(row: AnswerRow, cipher: Cipher): AnswerContent {
	if (row.content === null) return { kind: 'removed' };
	const plainItems = cipher.decrypt(row.content, place(row.id, 'content'));
	const plainSecrets = row.secrets === null ? '{}' : cipher.decrypt(row.secrets, place(row.id, 'secrets'));
	const plainOther = row.other === null ? 'null' : cipher.decrypt(row.other, place(row.id, 'other'));
	if (plainItems === null || plainSecrets === null || plainOther === null) return { kind: 'unreadable' };
	const held = secrets.parse(JSON.parse(plainSecrets));
	const secretPositions = readSecretPositions(row);
	return {
		kind: 'readable',
		items: items.parse(JSON.parse(plainItems)).map((item, position): AnswerItem => {
			const value = item.held ? (held[position] ?? null) : item.value;
			const secret = item.secret || secretPositions.includes(position);
			return { title: item.title, value, secret, wiped: item.held && value === null };
		}),
		other: other.nullable().parse(JSON.parse(plainOther)),
	};
}

/** The columns with the person's values. Secret ones have their own column, so that wiping them needs no key. */
function sealItems(id: string, given: readonly AnswerItem[], cipher: Cipher) {
	const held: Record<string, string> = {};
	const open = given.map((item, position): z.infer<typeof items>[number] => {
		const holds = item.secret && item.value !== null && item.value !== '';
		if (holds) held[position] = item.value;
		return { title: item.title, value: holds ? null : item.value, secret: item.secret, held: holds };
	});
	return {
		content: cipher.encrypt(JSON.stringify(open), place(id, 'content')),
		secrets: Object.keys(held).length === 0 ? null : cipher.encrypt(JSON.stringify(held), place(id, 'secrets')),
	};
}

export function sealOther(id: string, value: OtherAnswer, cipher: Cipher): string {
	return cipher.encrypt(JSON.stringify(value), place(id, 'other'));
}

/** The row of a new answer that has no conflict. */
export function newRow(answer: NewAnswer, cipher: Cipher) {
	return {
		id: answer.id,
		submission_key: answer.submissionKey,
		...personColumns(answer.person),
		...questionColumns(answer.question),
		...submittedColumns(answer.id, answer, cipher),
		state: 'accepted',
		attempts: 0,
		accepted_at: answer.acceptedAt,
		give_up_at: answer.giveUpAt,
		next_attempt_at: firstDueAt(answer),
		timeline: JSON.stringify([{ state: 'accepted', at: answer.acceptedAt }] satisfies TimelineEntry[]),
		told: writeReceiptState({ ...NO_RECEIPT, modalOpen: answer.press === null }),
	} satisfies Insertable<Tables['answers']>;
}

/** The columns that a submission writes, and writes again when its author edits the answer before it is sent. */
export function submittedColumns(id: string, answer: NewAnswer, cipher: Cipher) {
	const { viewId, origin, formReadAt, leftEmpty, items: given, boxed, press, shownHash } = answer;
	return {
		fingerprint: answer.fingerprint,
		...sealItems(id, given, cipher),
		undo_until: press?.undoUntil ?? null,
		submission: JSON.stringify({
			viewId,
			origin,
			formReadAt,
			positions: positionsOf(given, leftEmpty),
			leftEmpty: [...leftEmpty],
			checkedAt: answer.acceptedAt,
			shownHash,
		} satisfies Submission),
		// A separate column, because it outlives the values.
		secret_positions: boxed ? JSON.stringify(secretOf(given)) : null,
	};
}

/** The positions that an answer fills or leaves empty on purpose. */
export function positionsOf(given: readonly AnswerItem[], leftEmpty: readonly number[]): number[] {
	const filled = given.flatMap((item, position) => (item.value === null ? [] : [position]));
	return [...new Set([...filled, ...leftEmpty])].sort((a, b) => a - b);
}

/** The positions of secret items. */
export function secretOf(given: readonly { readonly secret: boolean }[]): number[] {
	return given.flatMap(({ secret }, position) => (secret ? [position] : []));
}

export function readSecretPositions(row: Pick<AnswerRow, 'secret_positions'>): readonly number[] {
	return row.secret_positions === null ? [] : positions.parse(JSON.parse(row.secret_positions));
}

/** Changes the row that was read in this transaction. Throws when its state has changed since. */
export async function changeRow(
	trx: Kysely<Tables>,
	cipher: Cipher,
	row: AnswerRow,
	set: AnswerChange,
): Promise<Answer> {
	const changed = await trx
		.updateTable('answers')
		.set(set)
		.where('id', '=', row.id)
		.where('state', '=', row.state)
		.returningAll()
		.executeTakeFirstOrThrow();
	return readAnswer(changed, cipher);
}

/** Marks this state as told to the author; keeps the message that shows the receipt. */
export function receiptOf(row: AnswerRow, told: AnswerState | null): Partial<AnswerRow> {
	return { told: writeReceiptState({ ...readReceiptState(row), state: told, agentOutcome: null }) };
}

/** Marks the current state as not told to the author yet. */
export function resetReceipt(row: AnswerRow): Partial<AnswerRow> {
	return receiptOf(row, null);
}

/** When the worker tells the author of a change that they made themselves: a message of ours must not show the former state. */
export function receiptDueAt({ receiptState }: Answer, now: number): number | null {
	return receiptState.dm === null ? null : now;
}

/**
 * The columns that change with the state. A settled answer loses its secret values in the same write. `first`: the answer
 * that was before one that is now conflicted.
 */
export function enterState(
	row: Pick<AnswerRow, 'timeline' | 'ended_at' | 'state' | 'user_id'>,
	next: AnswerState,
	now: number,
	first?: Pick<OtherAnswer, 'person'> | null,
): Partial<AnswerRow> {
	const own = isFailed(row.state as AnswerState) ? 'ownInstead' : 'own';
	const by = first?.person?.userId === row.user_id ? own : 'other';
	const lostTo = next === 'conflicted' && first != null ? by : undefined;
	return {
		state: next,
		timeline: JSON.stringify(appendState(readTimeline(row), { state: next, at: now, lostTo })),
		...(isSettled(next) ? { ended_at: row.ended_at ?? now, secrets: null } : { ended_at: null }),
	};
}

/**
 * Adds each of the blocking states once until another state comes: an answer that alternates between them for a day must
 * not grow without bound.
 */
function appendState(entries: readonly TimelineEntry[], next: TimelineEntry): readonly TimelineEntry[] {
	const lastOther = entries.findLastIndex((entry) => !isBlocking(entry.state));
	const repeatable = isBlocking(next.state) ? entries.slice(lastOther + 1) : entries.slice(-1);
	return repeatable.some((entry) => entry.state === next.state) ? entries : [...entries, next];
}

export type MarksRow = Pick<
	AnswerRow,
	'id' | 'message_index' | 'fingerprint' | 'state' | 'put_started_at' | 'secret_positions' | 'content'
>;

/** States of answers that may have reached the service. */
const MAY_HAVE_ARRIVED: ReadonlySet<string> = new Set(['delivering', 'delivered', 'resumed']);

/** Tells which positions are secret even when the values cannot be read or were removed. */
export function readMarks(row: MarksRow, cipher: Cipher): AnswerMarks {
	const plain = row.content === null ? null : cipher.decrypt(row.content, place(row.id, 'content'));
	const given = plain === null ? [] : (items.safeParse(JSON.parse(plain)).data ?? []);
	return {
		messageIndex: row.message_index,
		fingerprint: row.fingerprint,
		secret: row.secret_positions === null ? secretOf(given) : readSecretPositions(row),
		boxed: row.secret_positions !== null,
		mayHaveArrived: MAY_HAVE_ARRIVED.has(row.state) || row.put_started_at !== null,
		values: given.map(({ value, secret }) => (secret ? null : value)),
	};
}

function place(id: string, column: 'content' | 'secrets' | 'other'): CipherPlace {
	return { table: 'answers', id, column };
}
