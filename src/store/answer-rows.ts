import type { Selectable } from 'kysely';
import { z } from 'zod';
import {
	AFTERMATHS,
	ANSWER_STATES,
	type Answer,
	type AnswerContent,
	type AnswerItem,
	type OtherAnswer,
	type TimelineEntry,
	type Told,
} from '../answers/answer.ts';
import type { NewAnswer } from '../answers/ports.ts';
import type { BeforePut } from '../questions/compare.ts';
import type { AnswerMarks } from '../questions/secrecy.ts';
import type { Cipher, CipherPlace } from './cipher.ts';
import { personColumns, questionColumns, WITHOUT_LEASE } from './columns.ts';
import type { AnswersTable } from './tables.ts';

export type AnswerRow = Selectable<AnswersTable>;

const state = z.enum(ANSWER_STATES);
const aftermath = z.enum(AFTERMATHS);
const positions = z.array(z.int());
const timeline: z.ZodType<TimelineEntry[]> = z.array(z.object({ state, at: z.number() }));
const beforePut: z.ZodType<BeforePut, unknown> = z.object({
	status: z.string(),
	assistantCount: z.int(),
	// Not in rows of the version before.
	sameCount: z.int().nullable().default(null),
});
const told: z.ZodType<Told> = z.object({
	state: state.nullable(),
	aftermath: aftermath.nullable(),
	dm: z.object({ channelId: z.string(), ts: z.string() }).nullable(),
	modalOpen: z.boolean(),
});
const other: z.ZodType<OtherAnswer> = z.object({
	person: z.object({ teamId: z.string(), userId: z.string() }).nullable(),
	values: z.array(z.string().nullable()),
	at: z.number().nullable(),
	same: z.boolean(),
});
/** `held`: the value of this secret item stands in the `secrets` column, as long as that is not wiped. */
const items = z.array(
	z.object({ title: z.string(), value: z.string().nullable(), secret: z.boolean(), held: z.boolean() }),
);
const secrets = z.record(z.string(), z.string());

const NOTHING_TOLD: Told = { state: null, aftermath: null, dm: null, modalOpen: true };

/** What another version wrote about telling is taken as not there: it must not keep anybody from answering. */
export function readTimeline(row: AnswerRow): TimelineEntry[] {
	return timeline.safeParse(JSON.parse(row.timeline)).data ?? [];
}

export function readTold(row: AnswerRow): Told {
	return told.safeParse(JSON.parse(row.told)).data ?? NOTHING_TOLD;
}

export function readPositions(row: AnswerRow): readonly number[] {
	return positions.parse(JSON.parse(row.positions));
}

export function readLeftEmpty(row: Pick<AnswerRow, 'left_empty'>): readonly number[] {
	return positions.parse(JSON.parse(row.left_empty));
}

export function readAnswer(row: AnswerRow, cipher: Cipher): Answer {
	return {
		id: row.id,
		submissionKey: row.submission_key,
		viewId: row.view_id,
		person: { teamId: row.team_id, userId: row.user_id },
		question: { service: row.service, sessionId: row.session_id, messageIndex: row.message_index },
		fingerprint: row.fingerprint,
		content: readContent(row, cipher),
		leftEmpty: readLeftEmpty(row),
		origin: { channelId: row.origin_channel, threadTs: row.origin_thread },
		state: state.parse(row.state),
		attempts: row.attempts,
		editCount: row.edit_count,
		acceptedAt: row.accepted_at,
		giveUpAt: row.give_up_at,
		nextAttemptAt: row.next_attempt_at,
		putStartedAt: row.put_started_at,
		before: row.before_put === null ? null : beforePut.parse(JSON.parse(row.before_put)),
		deliveredAt: row.delivered_at,
		aftermath: aftermath.nullable().parse(row.aftermath),
		endedAt: row.ended_at,
		lastError: row.last_error,
		timeline: readTimeline(row),
		told: readTold(row),
		notBefore: row.not_before,
		missingCount: row.missing_count,
		startFailed: row.start_failed === 1,
		restartAskedAt: row.restart_asked_at,
	};
}

function readContent(row: AnswerRow, cipher: Cipher): AnswerContent {
	if (row.content === null) return { kind: 'removed' };
	const plainItems = cipher.decrypt(row.content, place(row.id, 'content'));
	const plainSecrets = row.secrets === null ? '{}' : cipher.decrypt(row.secrets, place(row.id, 'secrets'));
	const plainOther = row.other === null ? 'null' : cipher.decrypt(row.other, place(row.id, 'other'));
	if (plainItems === null || plainSecrets === null || plainOther === null) return { kind: 'unreadable' };
	const held = secrets.parse(JSON.parse(plainSecrets));
	const kept = readSecretPositions(row);
	return {
		kind: 'readable',
		items: items.parse(JSON.parse(plainItems)).map((item, position): AnswerItem => {
			const value = item.held ? (held[position] ?? null) : item.value;
			const secret = item.secret || kept.includes(position);
			return { title: item.title, value, secret, wiped: item.held && value === null };
		}),
		other: other.nullable().parse(JSON.parse(plainOther)),
	};
}

/** The columns that hold what a person wrote; secret values apart, so that they can be wiped without the key. */
export function sealItems(id: string, given: readonly AnswerItem[], cipher: Cipher) {
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

/** A row as `accept` writes it, before it is known whether it is accepted or conflicted. */
export function newRow(answer: NewAnswer, cipher: Cipher): AnswerRow {
	return {
		id: answer.id,
		submission_key: answer.submissionKey,
		view_id: answer.viewId,
		...personColumns(answer.person),
		...questionColumns(answer.question),
		fingerprint: answer.fingerprint,
		...sealItems(answer.id, answer.items, cipher),
		other: null,
		positions: JSON.stringify(positionsOf(answer.items, answer.leftEmpty)),
		left_empty: JSON.stringify(answer.leftEmpty),
		secret_positions: secretPositions(answer),
		origin_channel: answer.origin.channelId,
		origin_thread: answer.origin.threadTs,
		state: 'accepted',
		attempts: 0,
		edit_count: 0,
		form_read_at: answer.formReadAt,
		accepted_at: answer.acceptedAt,
		give_up_at: answer.giveUpAt,
		next_attempt_at: answer.acceptedAt,
		put_started_at: null,
		before_put: null,
		delivered_at: null,
		aftermath: null,
		ended_at: null,
		last_error: null,
		timeline: JSON.stringify([{ state: 'accepted', at: answer.acceptedAt }] satisfies TimelineEntry[]),
		told: JSON.stringify(NOTHING_TOLD),
		...WITHOUT_LEASE,
		not_before: null,
		missing_count: 0,
		start_failed: 0,
		restart_asked_at: null,
	};
}

/** The positions that an answer fills or leaves empty on purpose. */
export function positionsOf(given: readonly AnswerItem[], leftEmpty: readonly number[]): number[] {
	const filled = given.flatMap((item, position) => (item.value === null ? [] : [position]));
	return [...new Set([...filled, ...leftEmpty])].sort((a, b) => a - b);
}

/** The column that outlives the values. */
export function secretPositions({ items: given, boxed }: Pick<NewAnswer, 'items' | 'boxed'>): string | null {
	return boxed ? JSON.stringify(secretOf(given)) : null;
}

/** The positions of secret items. */
export function secretOf(given: readonly { readonly secret: boolean }[]): number[] {
	return given.flatMap(({ secret }, position) => (secret ? [position] : []));
}

export function readSecretPositions({
	secret_positions: text,
}: Pick<AnswerRow, 'secret_positions'>): readonly number[] {
	return text === null ? [] : positions.parse(JSON.parse(text));
}

export type MarksRow = Pick<
	AnswerRow,
	'id' | 'message_index' | 'fingerprint' | 'state' | 'put_started_at' | 'secret_positions' | 'content'
>;

/** States of answers that the service has, or may have. */
const MAY_HAVE_ARRIVED: ReadonlySet<string> = new Set(['delivering', 'delivered', 'resumed']);

/** A row whose values cannot be read, or are gone, still says what is secret. */
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
