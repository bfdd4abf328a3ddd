import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModalView } from '@slack/types';
import { sql } from 'kysely';
import type { Draft } from '../../src/delivery/draft-store.ts';
import type { Answer, AnswerItem, AnswerPatch, NewAnswer } from '../../src/domain/answer.ts';
import type { BeforePut } from '../../src/domain/compare.ts';
import type { Person } from '../../src/domain/person.ts';
import type { QuestionKey, SessionKey } from '../../src/domain/session.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Lease } from '../../src/kernel/lease-loop.ts';
import type { Log } from '../../src/kernel/log.ts';
import { LOG_LINES, type LogEvent } from '../../src/kernel/log-lines.ts';
import { REMOVALS } from '../../src/operator/housekeeping.ts';
import type { Row, StoreDatabase, TableName } from '../../src/store/database.ts';
import { lockSession } from '../../src/store/locks.ts';
import { markDue } from '../../src/store/marks.ts';
import { AWAITED_AHEAD_MS } from '../../src/store/session-reads.ts';
import { readEarly } from '../../src/store/watched-sessions.ts';
import { openStore, type Store, type StoreOptions } from '../../src/stores.ts';

export const KEY = Buffer.alloc(32, 7).toString('base64');
export const OTHER_KEY = Buffer.alloc(32, 8).toString('hex');

/** The session service of the answers. */
export const SERVICE = 'https://service.example';

/** The time at which tests start. */
export const T0 = Date.parse('2026-01-05T09:00:00Z');

export const ANN: Person = { teamId: 'T1', userId: 'U-ANN' };
export const BOB: Person = { teamId: 'T1', userId: 'U-BOB' };
/** From another workspace. */
export const EVE: Person = { teamId: 'T2', userId: 'U-EVE' };

export const LEASE: Lease = { token: 'replica-1', ms: 20_000 };
export const OTHER_LEASE: Lease = { token: 'replica-2', ms: 20_000 };

/** An attempt to post that begins then. */
export const attemptAt = (now: number) => ({ since: now, leasedUntil: now + LEASE.ms });

export function item(value: string | null, options: { title?: string; secret?: boolean } = {}): AnswerItem {
	return { title: options.title ?? 'Which one?', value, secret: options.secret ?? false, wiped: false };
}

/** Removes the rows that were over before a time, as housekeeping does. Resolves to how many watches were removed. */
export async function removeEnded(db: StoreDatabase, before: number): Promise<unknown> {
	let removed: unknown;
	for (const [, removeOf] of REMOVALS) removed = await removeOf(db, before);
	return removed;
}

let count = 0;

/** A new submission; by default Ann's single answer to message 1 of session `s1`. */
export function submission(overrides: Partial<NewAnswer> & Partial<QuestionKey> = {}): NewAnswer {
	const { service = SERVICE, sessionId = 's1', messageIndex = 1, ...rest } = overrides;
	const id = `answer-${++count}`;
	return {
		id,
		submissionKey: `key-${id}`,
		viewId: `view-${id}`,
		press: null,
		person: ANN,
		question: { service, sessionId, messageIndex },
		fingerprint: 'fingerprint-1',
		shownHash: null,
		items: [item('blue')],
		sessionName: 'Chairs',
		leftEmpty: [],
		boxed: true,
		origin: { channelId: 'C1', threadTs: '1.2' },
		formReadAt: T0 - 1_000,
		arrivalSeen: null,
		acceptedAt: T0,
		giveUpAt: T0 + 86_400_000,
		...rest,
	};
}

/** Ann's draft of an answer to message 1 of session `s1`. */
export function draftOf(overrides: Partial<Draft> = {}): Draft {
	const { person, question, fingerprint } = submission();
	const rest = { values: {}, shownHash: 'shown-1', sessionName: 'Chairs', updatedAt: T0, ...overrides };
	return { formId: 'form-1', person, question, fingerprint, ...rest };
}

/** The values of an answer, or the reason why there are none. */
export function valuesOf(answer: Answer | null | undefined): readonly (string | null)[] | string {
	if (answer === null || answer === undefined) return 'no answer';
	return answer.content.kind === 'readable' ? answer.content.items.map((one) => one.value) : answer.content.kind;
}

/** Accepts `answer` and takes it through the states like a worker, then releases the lease. */
export async function accepted(store: Store, answer: NewAnswer, ...states: Answer['state'][]): Promise<Answer> {
	const result = await store.answers.accept(answer);
	if (result.kind !== 'accepted') throw new Error(`expected accepted, got ${result.kind}`);
	return states.length === 0 ? result.answer : moved(store, answer.id, ...states);
}

/** Leases this answer and takes it through the states, one per millisecond from `T0` on. */
export async function moved(store: Store, id: string, ...states: Answer['state'][]): Promise<Answer> {
	await lease(store, id, LEASE, T0 + 1_000);
	let answer: Answer | null = null;
	for (const [step, state] of states.entries()) {
		const now = T0 + step + 1;
		const last = step === states.length - 1;
		const patch = { state, ...(state === 'delivered' && { deliveredAt: now }), ...(last && { nextAttemptAt: null }) };
		answer = await patched(store, id, patch, { now, release: last });
	}
	if (answer === null) throw new Error(`the lease of ${id} was lost`);
	return answer;
}

/** Writes to a column of an answer what nothing can read there. */
export async function damage(store: Store, id: string, ...columns: (keyof Row<'answers'>)[]): Promise<void> {
	await setRows(store, 'answers', Object.fromEntries(columns.map((column) => [column, '{"v":9}'])), { id });
}

/** Writes columns of the rows of a table that have these values, of all by default, as no store does. */
export async function setRows<T extends TableName>(
	{ db }: Pick<Store, 'db'>,
	table: T,
	columns: Partial<Row<T>>,
	where: Partial<Row<T>> = {},
): Promise<void> {
	await db.writeOne((trx) => {
		const update = trx.updateTable(table as 'answers').set(columns as Partial<Row<'answers'>>);
		return Object.entries(where)
			.reduce((some, [column, value]) => some.where(column as 'id', '=', value as string), update)
			.execute();
	});
}

/** The rows of a table that have these values, as stored. */
export async function rowsOf<T extends TableName>(
	{ db }: Pick<Store, 'db'>,
	table: T,
	where: Partial<Row<T>> = {},
): Promise<Row<T>[]> {
	const rows = Object.entries(where).reduce(
		(some, [column, value]) => some.where(column as 'id', '=', value as string),
		db.read.selectFrom(table as 'answers').selectAll(),
	);
	return (await rows.execute()) as unknown as Row<T>[];
}

/** What has to be there. */
export function present<T>(value: T | null | undefined): T {
	if (value === null || value === undefined) throw new Error('it is not there');
	return value;
}

/** The only one of a list. */
export function only<T>(list: readonly T[]): T {
	if (list.length !== 1) throw new Error(`there are ${list.length}, not one`);
	return list[0] as T;
}

/** States in which an answer is not sent yet, or being sent, and what leads there. */
export const LIVE = [
	['accepted', []],
	['delivering', ['delivering']],
] as const;

/** The stored answer. */
export async function current(store: Store, id: string): Promise<Answer> {
	const answer = await store.answers.get(id);
	if (answer === null) throw new Error(`there is no answer ${id}`);
	return answer;
}

/** Leases this answer and releases all others that were due. */
export async function lease(store: Store, id: string, by: Lease = LEASE, now = T0): Promise<Answer> {
	const taken = await store.answers.takeDue(SERVICE, by, 100, now);
	const wanted = taken.find((answer) => answer.id === id);
	const others = taken.filter((answer) => answer !== wanted);
	await store.answers.release(others.map((other) => ({ id: other.id, token: by.token })));
	if (wanted === undefined) throw new Error(`${id} was not due`);
	return wanted;
}

/** Accepts this answer and leases it. */
export async function leased(store: Store, answer: NewAnswer): Promise<Answer> {
	await accepted(store, answer);
	return lease(store, answer.id);
}

/** Writes this to an answer as it is stored, as the worker with this lease, which gives it back with `release`. */
export async function patched(
	store: Store,
	id: string,
	{ beforePut, ...patch }: AnswerPatch & { readonly beforePut?: BeforePut },
	{ now = T0, release = false, token = LEASE.token } = {},
): Promise<Answer | null> {
	const stored = await current(store, id);
	const written =
		beforePut === undefined
			? await store.answers.update(stored, token, patch, { now })
			: await store.answers.beginPut(stored, token, { beforePut, startedAt: patch.putStartedAt ?? now }, { now });
	if (release) await store.answers.release([{ id, token }]);
	return written;
}

export interface LogLine {
	readonly level: string;
	readonly fields: object;
	readonly message: string;
}

export function createRecordingLog(lines: LogLine[] = []): Log & { readonly lines: readonly LogLine[] } {
	const at = (level: string) => (fields: object, message: string) => {
		lines.push({ level, fields, message });
	};
	const named = (level: string) => (event: LogEvent, fields?: object) =>
		at(level)({ event, ...fields }, LOG_LINES[event]);
	const log = {
		lines,
		debug: at('debug'),
		info: at('info'),
		warn: named('warn'),
		error: named('error'),
		child: () => log,
	};
	return log;
}

/** A new directory, removed by `remove`. */
export function makeDataDir(): { readonly path: string; remove(): Promise<void> } {
	const path = mkdtempSync(join(tmpdir(), 'handraise-store-'));
	return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

const logs = new WeakMap<Store, { readonly lines: readonly LogLine[] }>();

export async function open(options: Partial<StoreOptions> & Pick<StoreOptions, 'dataDir'>): Promise<Store> {
	const log = createRecordingLog();
	const store = await openStore({ clock: systemClock, log, ...options });
	logs.set(store, log);
	return store;
}

/** Whether the store logged no key mismatch when it was opened. */
export function keyFits(store: Store): boolean {
	const lines = logs.get(store)?.lines ?? [];
	return !lines.some(({ fields }) => 'event' in fields && fields.event === 'encryption_key_mismatch');
}

const TABLES = [
	'answers',
	'drafts',
	'watches',
	'watched_sessions',
	'questions',
	'posts',
	'views',
	'channel_settings',
	'answer_rules',
	'snoozes',
	'people',
	'waiting_sessions',
	'discoveries',
	'service_outages',
	'shared_states',
	'marks',
	'audit_events',
	'refusals',
] as const;

/** One round trip instead of one for each table. */
const DELETE_AT_ONCE = `with ${TABLES.map((table) => `${table}_gone as (delete from ${table})`).join(', ')} select 1`;

/** Empties every table before each test. */
export async function empty(store: Store): Promise<void> {
	await store.db.write(async (db) => {
		if (store.db.dialect === 'postgres') await sql`${sql.raw(DELETE_AT_ONCE)}`.execute(db);
		else for (const table of TABLES) await db.deleteFrom(table).execute();
	});
}

/** As many calls at once find a free connection of a store on PostgreSQL; others wait for one, which has a time limit. */
export const CONNECTIONS = 10;

/** Runs `work` for all inputs, `width` at a time. */
export async function inTurns<I, O>(inputs: readonly I[], width: number, work: (input: I) => Promise<O>): Promise<O[]> {
	const outputs: O[] = [];
	for (let start = 0; start < inputs.length; start += width) {
		outputs.push(...(await Promise.all(inputs.slice(start, start + width).map(work))));
	}
	return outputs;
}

/** Has all marks spread that are there, as the program does within a second. */
export async function spread({ db, marks }: Pick<Store, 'db' | 'marks'>): Promise<void> {
	const newest = db.read.selectFrom('marks').select(({ fn }) => fn.max<number | null>('dueAt').as('at'));
	const { at } = await newest.executeTakeFirstOrThrow();
	if (at !== null) await marks.spread(at);
}

const SPREAD_FIRST = { posts: ['takeDue', 'nextDueAt'], views: ['takeDue'] } as const;

/** The store whose loops find what is marked at once. */
export function spreading(store: Store): Store {
	const first = Object.entries(SPREAD_FIRST).map(([name, methods]) => {
		const part = store[name as 'posts'] as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>;
		const spreadFirst = methods.map((method) => {
			const after = async (...values: unknown[]) => {
				await spread(store);
				return part[method]?.(...values);
			};
			return [method, after] as const;
		});
		return [name, { ...part, ...Object.fromEntries(spreadFirst) }] as const;
	});
	return { ...store, ...(Object.fromEntries(first) as Partial<Store>) };
}

/** Has the posts of a session drawn again, as a change of an answer or a claim does, and its session read early. */
export async function refreshed(
	{ db, marks }: Pick<Store, 'db' | 'marks'>,
	session: SessionKey,
	{ now, earlyReadAt }: { readonly now: number; readonly earlyReadAt: number | null },
): Promise<void> {
	await db.write(async (trx) => {
		await markDue({ trx, now }, session);
		const row = earlyReadAt === null ? undefined : await lockSession(trx, session);
		const at = earlyReadAt ?? now;
		if (row !== undefined) await readEarly(trx, row, { askedAt: now, at, by: at - AWAITED_AHEAD_MS });
	});
	await marks.spread(now);
}

/** What a window shows with a form. */
export const VIEW = { type: 'modal', blocks: [{ type: 'divider' }] } as unknown as ModalView;

interface ShownForm {
	readonly question: QuestionKey;
	readonly person?: Person;
	/** Of the window. Left out: one of its own for each person and question. */
	readonly id?: string;
	readonly submissionKey?: string;
	/** Until then its person is answering; left out: they may not. */
	readonly until?: number | null;
	readonly view?: ModalView;
}

/** A window shows a form. Returns its id. */
export async function formShown({ views }: Pick<Store, 'views'>, form: ShownForm, now: number): Promise<string> {
	const { question, person = ANN, until = null, view = VIEW, submissionKey = 'none' } = form;
	const { id = `V-${person.userId}-${question.service}-${question.sessionId}-${question.messageIndex}` } = form;
	const asked = { question, person, fingerprint: 'fingerprint-1', shownHash: null, submissionKey };
	await views.formShown(id, { ...asked, hash: 'hash-1', claimUntil: until }, view, now);
	return id;
}

/** The row of what an author is told about an answer. */
const receiptOf = ({ db }: Pick<Store, 'db'>, id: string) =>
	db.read.selectFrom('views').selectAll().where('answerId', '=', id).executeTakeFirst();

/** These acts on the first replica; what was stored is read by the second. */
export function storeActs(subject: { readonly store: Store; readonly replica: Store }) {
	const on =
		<R extends unknown[], T>(act: (store: Store, ...rest: R) => T, of: keyof typeof subject = 'store') =>
		(...rest: R) =>
			act(subject[of], ...rest);
	return {
		accepted: on(accepted),
		setRows: on(setRows) as <T extends TableName>(
			table: T,
			columns: Partial<Row<T>>,
			where?: Partial<Row<T>>,
		) => Promise<void>,
		current: on(current, 'replica'),
		damage: on(damage),
		formShown: on(formShown),
		lease: on(lease),
		leased: on(leased),
		moved: on(moved),
		patched: on(patched),
		receiptOf: on(receiptOf, 'replica'),
		refreshed: on(refreshed, 'replica'),
		rowsOf: on(rowsOf, 'replica') as <T extends TableName>(table: T, where?: Partial<Row<T>>) => Promise<Row<T>[]>,
		spread: on(spread),
	};
}
