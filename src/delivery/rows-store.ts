// Owns `answers`, with the other stores of this folder.
import { z } from 'zod';
import {
	AGENT_OUTCOMES,
	ANSWER_STATES,
	type Answer,
	type AnswerContent,
	type AnswerItem,
	type AnswerPatch,
	type AnswerState,
	ARRIVED_STATES,
	BLOCKING_STATES,
	FAILED_STATES,
	firstDueAt,
	isBlocking,
	isFailed,
	isPending,
	KEPT_QUESTION,
	type NewAnswer,
	OTHER_ANSWER,
	type OtherAnswer,
	SUBMISSION,
	secretOf,
	TIMELINE_ENTRY,
	type TimelineEntry,
} from '../domain/answer.ts';
import type { BeforePut } from '../domain/compare.ts';
import { masked } from '../domain/masking.ts';
import { FORGOTTEN, type Person } from '../domain/person.ts';
import type { AnswerSecrecy } from '../domain/secrecy.ts';
import { positions, type SessionKey } from '../domain/session.ts';
import type { Log } from '../kernel/log.ts';
import { mapInSteps, runInSlices } from '../kernel/slices.ts';
import { parseOrNull, pick } from '../kernel/values.ts';
import {
	type Cipher,
	type CipherTx,
	change,
	type Db,
	from,
	hasChanged,
	type Insertable,
	personOf,
	questionOf,
	type RawBuilder,
	type Row,
	type StoreDatabase,
	sealedColumn,
	sessionOf,
	sql,
	type Tables,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { CANDIDATES_PER_ROW } from '../store/due.ts';
import { knownRow, rowOfAnswer } from '../store/question-store.ts';
import { clockDiffers } from '../store/store-clock.ts';
import { isOurs } from '../store/workspaces.ts';

export type AnswerRow = Row<'answers'>;
/** Columns to write; undefined ones keep their value. */
export type AnswerChange = {
	readonly [Column in keyof AnswerRow]?: AnswerRow[Column] | RawBuilder<AnswerRow[Column]> | undefined;
};

const state = z.enum(ANSWER_STATES);
const agentOutcome = z.enum(AGENT_OUTCOMES);
export const timeline = z.array(TIMELINE_ENTRY);
export const storedBeforePut: z.ZodType<BeforePut> = z.object({
	status: z.string(),
	assistantCount: z.int(),
	sameCount: z.int().nullable(),
	stepsSince: z.int(),
	filled: positions,
});
export const otherColumn = sealedColumn('answers.other', OTHER_ANSWER);
/** `held`: the value of this secret item is in the `secrets` column until that is wiped. */
const item = z.object({ title: z.string(), value: z.string().nullable(), secret: z.boolean(), held: z.boolean() });
const content = z.object({
	items: z.array(item),
	sessionName: z.string(),
	repeats: z.array(z.string()).readonly().nullable().exactOptional(),
	/** Since 2.0.0. */
	asked: KEPT_QUESTION.exactOptional(),
});
export const answerContentColumn = sealedColumn('answers.content', content);
export const secretsColumn = sealedColumn('answers.secrets', z.record(z.string(), z.string()));

/** Whether an answer that arrived is to the newest time that the agent asked this, and not to an earlier one. */
export const IS_CURRENT = sql<boolean>`(question_id is null or state not in (${sql.join(ARRIVED_STATES)})
	or question_id = coalesce((select asked.id from questions as asked where asked.service = answers.service
		and asked.session_id = answers.session_id and asked.message_index = answers.message_index
		and asked.fingerprint = answers.fingerprint order by asked.number desc limit 1), question_id))`;

export const WITHOUT_VALUES = { content: null, secrets: null, other: null } as const;

/** The columns of an answer whose author is forgotten: a key of its own, `name` in their place. */
export function authorGone(name: RawBuilder<unknown>) {
	return { userId: sql<string>`${name}`, submissionKey: sql<string>`${sql.lit(FORGOTTEN)} || id` };
}

/** Throws for a damaged row. */
export function readAnswer(row: AnswerRow, cipher: Cipher): Answer {
	const secretPositions = row.secretPositions === null ? null : positions.parse(JSON.parse(row.secretPositions));
	return {
		...SUBMISSION.parse(JSON.parse(row.submission)),
		...pick(row, 'id', 'submissionKey', 'fingerprint', 'attempts', 'editCount', 'missingCount', 'lastError'),
		...pick(row, 'acceptedAt', 'giveUpAt', 'nextAttemptAt', 'notBefore', 'putStartedAt', 'deliveredAt', 'endedAt'),
		...pick(row, 'missingSince', 'questionId'),
		press: row.undoUntil === null ? null : { undoUntil: row.undoUntil },
		person: personOf(row),
		question: questionOf(row),
		content: readContent(row, secretPositions ?? [], cipher),
		secretPositions,
		state: state.parse(row.state),
		beforePut: row.beforePut === null ? null : storedBeforePut.parse(JSON.parse(row.beforePut)),
		agentOutcome: agentOutcome.nullable().parse(row.agentOutcome),
		// A damaged timeline counts as empty: it must not prevent an answer.
		timeline: parseOrNull(timeline, row.timeline) ?? [],
		startFailed: row.startFailed === 1,
	};
}

/** Reads a row; empty for a damaged one, which must not block others. */
export function createAnswerReader(cipher: Cipher, log?: Log) {
	return (row: AnswerRow): Answer[] => {
		try {
			return [readAnswer(row, cipher)];
		} catch {
			log?.error('answer_damaged', { answer: row.id });
			return [];
		}
	};
}

/** At most this many answers to a text, or at a position, are read: the newest say what is known of it. */
const MOST_READ = 100;
/** The columns for `readMarks`. */
// biome-ignore format: a list of words
const MARKS = [
	'id', 'teamId', 'userId', 'service', 'sessionId', 'messageIndex', 'fingerprint', 'content', 'secretPositions',
	'putStartedAt', 'state',
] as const;

/** Reads may still show what became of it. */
const IS_AWAITED = sql<boolean>`state = 'delivered' and coalesce(agent_outcome, 'unseen') = 'unseen'`;

/**
 * The answers of a session to these texts, at these positions, or that reads may still tell of; oldest first.
 * `marks`: what all of them say of secrecy, also damaged ones.
 */
export const answersToQuestions =
	({ read: db }: StoreDatabase, cipher: Cipher, readOrSkip: ReturnType<typeof createAnswerReader>) =>
	async (session: SessionKey, fingerprints: readonly string[], indexes: readonly number[]) => {
		const isThere = sql<boolean>`message_index in (${sql.join([-1, ...indexes])})`;
		const isSame = sql<boolean>`fingerprint in (${sql.join(['', ...fingerprints])})`;
		const ofSession = from(db, 'answers', sessionOf(session));
		// One text may have thousands of answers at as many positions, and one position as many texts.
		const newest = (isTo: RawBuilder<boolean>) => {
			const ids = ofSession.select('id').where(isTo).orderBy('acceptedAt', 'desc').orderBy('id', 'desc');
			return sql`select id from ${ids.limit(MOST_READ)} as newest`;
		};
		const which = [isThere, isSame, IS_AWAITED].map(newest);
		const isNewest = sql<boolean>`id in (${sql.join(which, sql` union all `)})`;
		const rows = await from(db, 'answers').selectAll().where(isNewest).orderBy('acceptedAt').execute();
		const all = ofSession.where(sql<boolean>`(${isThere} or ${isSame})`);
		const marked = rows.length < MOST_READ ? rows : await all.select(MARKS).orderBy('acceptedAt').execute();
		const answers = await runInSlices(mapInSteps(rows, readOrSkip));
		return { answers: answers.flat(), secrecy: await runInSlices(mapInSteps(marked, (row) => readMarks(row, cipher))) };
	};

/** What a row says about secrecy, even of an unreadable or emptied answer. Damaged columns hide more, not less. */
function readMarks(row: Pick<AnswerRow, (typeof MARKS)[number]>, cipher: Cipher): AnswerSecrecy {
	const { items = [] } = answerContentColumn.open(row.content, row, cipher) ?? {};
	const secret = row.secretPositions === null ? secretOf(items) : parseOrNull(positions, row.secretPositions);
	return {
		...pick(row, 'messageIndex', 'fingerprint'),
		secret,
		boxed: row.secretPositions !== null,
		mayHaveArrived: row.putStartedAt !== null || !UNSENT_STATES.includes(row.state),
		values: items.map((item, position) =>
			item.secret || secret === null || secret.includes(position) ? null : item.value,
		),
	};
}

/** In these states nothing has arrived, unless a PUT began. */
const UNSENT_STATES: readonly string[] = ['accepted', ...FAILED_STATES, 'withdrawn'] satisfies AnswerState[];

/** The positions that a row fills or leaves empty on purpose, even if other columns are damaged; null: nobody knows. */
export function readPositions(row: AnswerRow, cipher: Cipher): readonly number[] | null {
	const given = parseOrNull(SUBMISSION, row.submission)?.positions;
	if (given !== undefined) return given;
	const stored = answerContentColumn.open(row.content, row, cipher);
	return stored?.items.flatMap(({ value, held }, position) => (value !== null || held ? [position] : [])) ?? null;
}

function readContent(row: AnswerRow, secretPositions: readonly number[], cipher: Cipher): AnswerContent {
	if (row.content === null) return { kind: 'removed' };
	const stored = answerContentColumn.open(row.content, row, cipher);
	const held = row.secrets === null ? {} : secretsColumn.open(row.secrets, row, cipher);
	const other = otherColumn.open(row.other, row, cipher);
	if (stored === null || held === null || (row.other !== null && other === null)) return { kind: 'unreadable' };
	return {
		kind: 'readable',
		items: stored.items.map((item, position): AnswerItem => {
			const value = item.held ? (held[position] ?? null) : item.value;
			const secret = item.secret || secretPositions.includes(position);
			return { title: item.title, value, secret, wiped: item.held && value === null };
		}),
		// Stored by 1.1.0 as they were typed.
		other: other && { ...other, values: other.values.map((value) => value && masked(value).text) },
		sessionName: stored.sessionName,
		...(stored.repeats !== undefined && { repeats: stored.repeats }),
		...(stored.asked !== undefined && { asked: stored.asked }),
	};
}

/** The columns with the person's values. Secret ones have their own column: wiping them needs no key. */
function sealItems(answer: NewAnswer, cipher: Cipher) {
	const place = placeOf(answer);
	const held: Record<string, string> = {};
	const items = answer.items.map(({ title, value, secret }, position) => {
		const holds = secret && value !== null && value !== '';
		if (holds) held[position] = value;
		return { title, value: holds ? null : value, secret, held: holds };
	});
	return {
		content: answerContentColumn.seal(
			{
				items,
				sessionName: answer.sessionName ?? '',
				...(answer.repeats !== undefined && { repeats: answer.repeats }),
			},
			place,
			cipher,
		),
		secrets: Object.keys(held).length === 0 ? null : secretsColumn.seal(held, place, cipher),
	};
}

/** The column of a row with what a read shows: see `AnswerPatch`. Undefined: it stays as it is. */
export function contentWith(
	row: AnswerRow,
	{ repeats, asked }: Pick<AnswerPatch, 'repeats' | 'asked'>,
	cipher: Cipher,
): string | undefined {
	if (repeats === undefined && asked === undefined) return undefined;
	const stored = answerContentColumn.open(row.content, row, cipher);
	const found = { ...(repeats !== undefined && { repeats }), ...(asked !== undefined && { asked }) };
	return stored === null ? undefined : answerContentColumn.seal({ ...stored, ...found }, row, cipher);
}

/** The row of a new answer that has no conflict. */
export function newRow(answer: NewAnswer, cipher: Cipher) {
	return {
		...pick(answer, 'submissionKey', 'acceptedAt', 'giveUpAt'),
		...placeOf(answer),
		...submittedColumns(answer, cipher),
		state: 'accepted',
		attempts: 0,
		nextAttemptAt: firstDueAt(answer),
		timeline: JSON.stringify([{ state: 'accepted', at: answer.acceptedAt }] satisfies TimelineEntry[]),
	} satisfies Insertable<Tables['answers']>;
}

/** The columns that the encrypted values of an answer are bound to. */
export function placeOf(answer: Pick<Answer, 'id' | 'person' | 'question' | 'fingerprint'>) {
	return { ...pick(answer, 'id', 'fingerprint'), ...personOf(answer.person), ...questionOf(answer.question) };
}

/** The columns that a submission writes, and an edit before the answer is sent. */
export function submittedColumns(answer: NewAnswer, cipher: Cipher) {
	const { items, leftEmpty, boxed, press, acceptedAt } = answer;
	return {
		fingerprint: answer.fingerprint,
		...sealItems(answer, cipher),
		undoUntil: press?.undoUntil ?? null,
		...submissionColumn({ ...answer, positions: positionsOf(items, leftEmpty), checkedAt: acceptedAt }),
		// A separate column, because it outlives the values.
		secretPositions: boxed ? JSON.stringify(secretOf(items)) : null,
	};
}

export function submissionColumn(answer: Omit<NewAnswer, 'items' | 'boxed'> & Pick<Answer, 'positions' | 'checkedAt'>) {
	return { submission: JSON.stringify(SUBMISSION.parse(answer)) };
}

export function positionsOf(given: readonly AnswerItem[], leftEmpty: readonly number[]): number[] {
	const filled = given.flatMap((item, position) => (item.value === null ? [] : [position]));
	return [...new Set([...filled, ...leftEmpty])].sort((a, b) => a - b);
}

/** Changes an answer that was read in this transaction. Throws when it has another state. */
export async function changeAnswer(trx: Db, cipher: Cipher, { id, state }: Answer, set: AnswerChange): Promise<Answer> {
	return readAnswer(await change(trx, 'answers', { id, state }, set).returningAll().executeTakeFirstOrThrow(), cipher);
}

/**
 * Notes that the PUT of an answer begins, to what is asked now: perhaps once more since the answer was given.
 * `isOnTime`: what has to hold of the database's time in the same statement.
 */
export async function writeBegunPut(
	{ trx, cipher, now }: CipherTx,
	answer: Answer,
	{ beforePut, startedAt, isOnTime }: { beforePut: BeforePut; startedAt: number; isOnTime: RawBuilder<boolean> },
): Promise<Answer> {
	const { id, state } = answer;
	const columns = patchColumns(
		answer,
		{ state: 'delivering', putStartedAt: startedAt, startFailed: false, missingCount: 0 },
		now,
		cipher,
	);
	const set = { ...columns, beforePut: JSON.stringify(beforePut), questionId: knownRow(answer) };
	const begun = change(trx, 'answers', { id, state }, set).where(isOnTime);
	const written = readAnswer(await begun.returningAll().executeTakeFirstOrThrow(clockDiffers), cipher);
	if (written.questionId !== null) return written;
	return changeAnswer(trx, cipher, written, { questionId: await rowOfAnswer(trx, answer) });
}

export function dismissAnswer(trx: Db, id: string, person: Person): Promise<boolean> {
	const own = change(trx, 'answers', { id, ...personOf(person) }, { dismissedAt: sql<number>`ended_at` });
	return hasChanged(own.where('endedAt', 'is not', null));
}

/**
 * The columns that change with the state; a settled answer loses its secrets. `first`: the answer before a conflicted
 * one; `arrival`: of a delivered one.
 */
export function enterState(
	{ state, person, timeline, endedAt }: Pick<Answer, 'timeline' | 'endedAt' | 'state' | 'person'>,
	next: AnswerState,
	now: number,
	{ first, arrival }: { first?: Pick<OtherAnswer, 'person'> | null | undefined; arrival?: number | undefined } = {},
): Partial<AnswerRow> {
	const own = isFailed(state) ? 'ownInstead' : 'own';
	const by = first?.person?.userId === person.userId ? own : 'other';
	const lostTo = next === 'conflicted' && first != null ? by : undefined;
	return {
		state: next,
		timeline: JSON.stringify(
			appendState(timeline, { state: next, at: now, lostTo, ...(arrival !== undefined && { arrival }) }),
		),
		...(isPending(next) ? { endedAt: null } : { endedAt: endedAt ?? now, secrets: null }),
	};
}

/**
 * Adds a state to the timeline. A blocking state is added once until another one comes: an answer that alternates for
 * a day must not grow for ever.
 */
function appendState(entries: readonly TimelineEntry[], next: TimelineEntry): readonly TimelineEntry[] {
	const lastOther = entries.findLastIndex((entry) => !isBlocking(entry.state));
	const repeatable = isBlocking(next.state) ? entries.slice(lastOther + 1) : entries.slice(-1);
	return repeatable.some((entry) => entry.state === next.state) ? entries : [...entries, next];
}

/** The columns of a worker's patch; undefined ones are not written. */
export function patchColumns(
	answer: Answer,
	patch: Omit<AnswerPatch, 'repeats' | 'asked'> & { readonly arrival?: number | undefined },
	now: number,
	cipher: Cipher,
): AnswerChange {
	const { state: next, other, arrival, startFailed, ...columns } = patch;
	return {
		...columns,
		...(next !== undefined && next !== answer.state && enterState(answer, next, now, { first: other, arrival })),
		other: other && otherColumn.seal(other, placeOf(answer), cipher),
		startFailed: startFailed === undefined ? undefined : Number(startFailed),
	};
}

/** Whether an answer is for another address, is not sent and has something left that this process may do. */
export function isElsewhere(db: StoreDatabase, service: string) {
	return sql<boolean>`(service <> ${service} and next_attempt_at is not null
		and state in (${sql.join(BLOCKING_STATES)}) and ${isOurs(db)})`;
}

/** The first due answer of each session, unless an answer of that session is leased. */
export function firstOfSession(service: string, { now, limit }: { now: number; limit: number }) {
	return sql<boolean>`next_attempt_at <= ${now} and id in (
		select id from (
			select id, next_attempt_at, accepted_at, row_number() over (
				partition by session_id order by next_attempt_at, accepted_at, id
			) as place
			from answers as due
			where service = ${service} and next_attempt_at <= ${now} and lease_token is null
				and not exists (
					select 1 from answers as leased
					where leased.service = due.service and leased.session_id = due.session_id and leased.lease_token is not null
				)
		) as firsts
		where place = 1
		order by next_attempt_at, accepted_at, id
		limit ${limit * CANDIDATES_PER_ROW}
	)`;
}

/** How many answers have a lapsed lease, which blocks others of their sessions. */
export const lapsedCount = (now: number) =>
	sql<number>`(select count(*) from answers as held
		where held.lease_token is not null and held.leased_until <= ${now})`;

/** Clears lapsed leases; whether there were any. A holder that still runs fails at its next write. */
export async function freeLapsed(trx: Db, now: number): Promise<boolean> {
	const leased = from(trx, 'answers').select('id').where('leaseToken', 'is not', null);
	const id = leased.where('leasedUntil', '<=', now).forUpdate().skipLocked();
	return hasChanged(change(trx, 'answers', { id }, WITHOUT_LEASE));
}
