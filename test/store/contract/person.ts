import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Person } from '../../../src/domain/person.ts';
import type { Page } from '../../../src/operator/person-requests.ts';
import { createPersonStore } from '../../../src/operator/person-store.ts';
import {
	columnsOf,
	type PlacedRow,
	placeIn,
	type Row,
	SEALED_COLUMNS,
	type SealedColumn,
	type SealedName,
	TABLE_NAMES,
	type TableName,
} from '../../../src/store/database.ts';
import { PERSON_TABLES, type PersonPage, peopleColumns } from '../../../src/store/person-ids.ts';
import type { Store } from '../../../src/stores.ts';
import { AWAITED, readPost } from '../../../src/surfaces/post.ts';
import type { Subject } from '../contract.ts';
import {
	accepted,
	CONNECTIONS,
	current,
	damage,
	inTurns,
	item,
	LEASE,
	lease,
	moved,
	patched,
	present,
	rowsOf,
	SERVICE,
	setRows,
	submission,
	T0,
	valuesOf,
} from '../support.ts';

const ADA = 'U0ADA';
/** Begins as hers, so a search for a part of an id would find it too. */
const ADAM = 'U0ADAM';
/** In the ids of their rows. */
const TAGS: Readonly<Record<string, string>> = { [ADA]: 'hers', [ADAM]: 'his' };
const HER: Person = { teamId: 'T1', userId: ADA };
const BOB: Person = { teamId: 'T1', userId: 'U0BOB' };
const DAY = 86_400_000;
const people = (store: Store) => createPersonStore(store.cipher, 7);
export const forget = (store: Store, userId = ADA, now = T0 + 60_000) =>
	store.db.write((trx) => people(store).forget({ trx, now }, userId));

/** A row with these columns; the others have the least that the schema asks for. */
async function insert<T extends TableName>(store: Store, table: T, columns: Partial<Row<T>>): Promise<void> {
	const least = columnsOf(table).flatMap(([name, { type, isNull, default: byDefault }]) =>
		isNull || byDefault !== undefined ? [] : [[name, type === 'text' ? randomUUID() : 0] as const],
	);
	const row = { ...Object.fromEntries(least), ...columns };
	await store.db.writeOne((trx) =>
		trx
			.insertInto(table as 'meta')
			.values(row as never)
			.execute(),
	);
}

const columnOf = (name: string) => SEALED_COLUMNS.find(({ table, column }) => `${table}.${column}` === name);

const seal = <Name extends SealedName>(store: Store, name: Name, row: PlacedRow<Name>, value: unknown) =>
	store.cipher.encrypt(JSON.stringify(value), placeIn(columnOf(name) as SealedColumn, row));

/** What the fields of some JSON hold, by a path of `Column`. */
function valuesAt(json: unknown, path: string): unknown[] {
	let found: unknown[] = [json];
	for (const part of path.split('.')) {
		const name = part.replace('[]', '');
		found = found.flatMap((value) => (name === '{}' ? Object.keys(value ?? {}) : (value as never)?.[name]));
		if (part.endsWith('[]')) found = found.flat();
	}
	return found;
}

const COUNTS = {
	'answers, now without author and texts': 2,
	'answers of others that no longer say who was first': 1,
	'questions given back that they had by hand-over': 1,
	'watches ended in their direct message (others go on)': 1,
	'drafts removed': 1,
};

/** Rows in which each column and field of the list holds the id. */
async function fill(store: Store, userId: string): Promise<void> {
	const tag = TAGS[userId];
	const person = { teamId: 'T1', userId };
	const session = { service: SERVICE, sessionId: `session-${tag}` };
	const question = { ...session, messageIndex: 1 };
	const press = submission({ person, question, submissionKey: `press:${userId}:C1:1.2`, id: `answer-${tag}` });
	await accepted(store, press, 'delivering', 'delivered', 'resumed');
	const second = { ...submission({ person: BOB, question, items: [item('crimson')] }), id: `second-${tag}` };
	await store.answers.accept(second);
	await store.posts.showReceipt({ ...second, questionId: null }, { isNews: true, now: T0 });
	await setRows(store, 'posts', { state: 'closed', ts: '5.5', dueAt: null }, { kind: 'receipt' });
	const form = { formId: `form-${tag}`, ...person, ...question };
	await insert(store, 'drafts', { ...form, content: seal(store, 'drafts.content', form, { values: { 0: 'blu' } }) });
	const shown = { blocks: [{ text: `<@${userId}> is answering` }], who: userId };
	for (const [viewId, whose] of [`own-${tag}`, `of-bob-${tag}`].map((id, at) => [id, at] as const)) {
		const window = { id: viewId, ...(whose === 0 ? person : BOB), ...question };
		const form = { kind: 'form', viewId, claimUntil: T0 + 300_000, followedUntil: T0 + 900_000 };
		await insert(store, 'views', { ...window, ...form, view: seal(store, 'views.view', window, shown) });
	}
	for (const channelId of ['C1', 'D1']) {
		const id = `${channelId}-${tag}`;
		await insert(store, 'watches', { id, teamId: 'T1', channelId, ...session, mode: 'card', createdBy: userId });
		await insert(store, 'discoveries', { teamId: 'T1', channelId: id, createdBy: userId });
	}
	await insert(store, 'watched_sessions', { ...session, nextReadAt: T0 });
	const held = { heldWatchId: `C1-${tag}`, heldTeamId: 'T1', heldChannelId: 'C1', handOverId: 'V1', handOverCount: 1 };
	const handOver = { ...held, handedOverAt: T0, fingerprint: 'fingerprint-1' };
	const asked = { id: `to-${tag}`, ...question, number: 9, ...handOver, fromUserId: BOB.userId, toUserId: userId };
	const withNote = (row: PlacedRow<'questions.handOverNote'>, text: string) =>
		insert(store, 'questions', { ...row, handOverNote: seal(store, 'questions.handOverNote', row, text) });
	await withNote(asked, 'note of Bob');
	const handed = { ...question, sessionId: `handed-${tag}`, number: 2, fromUserId: userId, toUserId: BOB.userId };
	await withNote({ id: `from-${tag}`, handOverId: null, ...handed }, `note of ${userId}`);
	const lost = { ...question, sessionId: `lost-${tag}` };
	const first = submission({ person: BOB, question: lost, items: [item('first')] });
	await accepted(store, first, 'delivering', 'delivered', 'resumed');
	await store.answers.accept({ ...submission({ person, question: lost }), id: `lost-${tag}` });
	const mention = { userIds: [BOB.userId, userId], groupIds: ['S1'] };
	const answerers = { userIds: [userId], groupIds: [] };
	const settings = { remindAfterMs: null, escalateAfterMs: null, mention, quietHours: null, answerers };
	const entry = { watchId: 'w', sessionId: 's', questionId: 'q', postTs: '1', postedAt: T0, heldBy: userId };
	const entries = [{ ...entry, stage: 'reminder', dueAt: T0, isLast: false }];
	const contents = [
		{ kind: 'settingsChanged', by: userId, before: settings, after: settings },
		{ kind: 'handedOver', watchId: 'w', handOverId: 'V1', from: userId },
		{ kind: 'reminder', entries },
	];
	for (const [at, content] of contents.entries()) {
		const place = { stream: `channel:T1:C1-${tag}`, uniqueKey: `settings:${at}`, teamId: 'T1', placeId: 'C1' };
		const watchId = content.kind === 'handedOver' ? `C1-${tag}` : null;
		const told = { watchId, kind: content.kind, content: JSON.stringify(content) };
		await insert(store, 'posts', { id: `${at}-${tag}`, ...place, ...told, state: 'closed', ts: `${at}.1`, number: at });
	}
	const direct = { stream: `person:T1:${userId}:V1`, uniqueKey: `handedOver:${userId}`, placeId: userId, teamId: 'T1' };
	const content = JSON.stringify({ kind: 'creatorTold', reason: 'botRemoved', channelId: 'C1', sessionIds: [] });
	await insert(store, 'posts', { ...direct, kind: 'creatorTold', content, state: 'shown', ts: '9.9', dueAt: T0 });
	await insert(store, 'people', person);
	await insert(store, 'views', { id: `home:T1:${userId}`, kind: 'home', ...person, dueAt: T0 });
	const awaited = { kind: 'reminder', content: JSON.stringify({ kind: 'reminder', entries }), waitsAs: AWAITED };
	const place = { stream: `channel:T1:C2-${tag}`, uniqueKey: 'reminder', teamId: 'T1', placeId: `C2-${tag}` };
	await insert(store, 'posts', { ...awaited, ...place, state: 'planned', dueAt: T0, leaseToken: 'mine' });
	const channel = { teamId: 'T1', channelId: `C1-${tag}`, revision: 1 };
	await insert(store, 'channel_settings', { ...channel, settings: JSON.stringify(settings), changedBy: userId });
	await insert(store, 'snoozes', { ...person, ...session });
	await insert(store, 'refusals', { userId });
	const changes = JSON.stringify({ [userId]: T0, [BOB.userId]: T0 });
	await insert(store, 'shared_states', { name: `memberships:${userId}`, state: changes });
}

/** The columns and fields of the list in which this id stands. */
async function placesOf(store: Store, userId: string): Promise<string[]> {
	const wanted = new RegExp(`\\b${userId}\\b`);
	const found = new Set<string>();
	for (const table of PERSON_TABLES) {
		for (const row of (await rowsOf(store, table)) as Record<string, string | number | null>[]) {
			for (const { column, people: how } of peopleColumns(table)) {
				const name = `${table}.${column}`;
				const sealed = columnOf(name);
				const stored = String(row[column] ?? '');
				const text = sealed && stored ? store.cipher.decrypt(stored, placeIn(sealed, row)) : stored;
				if (text === null || !wanted.test(text)) continue;
				if (typeof how === 'string') found.add(name);
				else
					for (const path of how) if (valuesAt(JSON.parse(text), path).includes(userId)) found.add(`${name}: ${path}`);
			}
		}
	}
	return [...found].sort();
}

const ALL_PLACES = PERSON_TABLES.flatMap((table) =>
	peopleColumns(table).flatMap(({ column, people: how }) =>
		typeof how === 'string' ? `${table}.${column}` : how.map((path) => `${table}.${column}: ${path}`),
	),
);

/** Every text of every row that names somebody, opened: also columns of which the list says nothing. */
async function textOf(store: Store): Promise<string> {
	// What is due of it would encrypt secrets anew between two looks.
	await store.compact();
	return JSON.stringify(await Promise.all(TABLE_NAMES.map((table) => rowsOf(store, table))));
}

async function exported(store: Store, userId: string): Promise<Record<string, Record<string, unknown>[]>> {
	const all: Record<string, Record<string, unknown>[]> = {};
	for (const table of PERSON_TABLES) {
		for (let after: string | null = ''; after !== null; ) {
			const place: PersonPage = { table, after };
			const page: Page = await store.db.write((trx) => people(store).page(trx, userId, place));
			all[table] = [...(all[table] ?? []), ...page.rows];
			after = page.next;
		}
	}
	return all;
}

/** Tests every sentence of the docstrings of `createPersonStore`, and what `HISTORY_RETENTION_DAYS` calls. */
export function describePeople(subject: Subject): void {
	it('leaves the id of a forgotten person in no column and no field of the list, and all others where they were, but for forms', async () => {
		const { store } = subject;
		await fill(store, ADA);
		await fill(store, ADAM);
		expect(await placesOf(store, ADA)).toEqual(ALL_PLACES.toSorted());
		const result = await forget(store);
		expect(result).toMatchObject({ kind: 'forgotten', counts: COUNTS });
		expect(await placesOf(store, ADA)).toEqual([]);
		expect(await textOf(store)).not.toMatch(/U0ADA\b/);
		const his = ALL_PLACES.filter((place) => place !== 'views.view');
		expect(await placesOf(store, ADAM)).toEqual(his.toSorted());
	});

	it('puts one random name in the place of the id, without words of the person, and has all that showed it drawn or told again', async () => {
		const { store } = subject;
		await fill(store, ADA);
		const result = await forget(store);
		if (result.kind !== 'forgotten') throw new Error(result.kind);
		expect(result.name).toMatch(/^forgotten-[0-9a-f]{16}$/);
		const watches = await rowsOf(store, 'watches');
		expect(watches.map(({ id, createdBy, endedReason }) => `${id} ${createdBy} ${endedReason}`).sort()).toEqual([
			`C1-hers ${result.name} null`,
			`D1-hers ${result.name} unwatched`,
		]);
		const own = await current(store, 'answer-hers');
		expect([own.person.userId, valuesOf(own), own.state]).toEqual([result.name, 'removed', 'resumed']);
		const { content } = await current(store, 'second-hers');
		expect(content).toMatchObject({ other: { person: { userId: result.name }, values: [null] } });
		const [settings] = await rowsOf(store, 'channel_settings');
		expect(settings?.changedBy).toBe(result.name);
		const { settings: read } = await store.channelSettings.read({ teamId: 'T1', channelId: 'C1-hers' });
		// Whoever has left: an escalation whose people have all left says so.
		expect(read.mention.userIds).toEqual([BOB.userId, result.name]);
		// Emptied, the list would let everybody answer.
		expect(read.answerers).toEqual({ userIds: [result.name], groupIds: [] });
		expect(await rowsOf(store, 'discoveries')).toMatchObject([{ channelId: 'C1-hers', createdBy: result.name }]);
		for (const table of ['drafts', 'snoozes', 'people'] as const) expect(await rowsOf(store, table)).toEqual([]);
		expect((await rowsOf(store, 'views')).map(({ userId }) => userId)).not.toContain(ADA);

		const posts = await rowsOf(store, 'posts');
		const drawnAgain = { state: 'shown', dueAt: T0 + 60_000, placeId: 'C1' };
		for (const post of [
			{ kind: 'settingsChanged', ts: '0.1', ...drawnAgain },
			{ kind: 'reminder', ts: '2.1', ...drawnAgain },
			{ kind: 'receipt', ts: '5.5', ...drawnAgain, placeId: BOB.userId },
			{ kind: 'creatorTold', ts: '9.9', state: 'closed', dueAt: null, placeId: result.name },
		])
			expect(posts).toContainEqual(expect.objectContaining(post));
		expect(result.counts['messages in Slack that may name them, being drawn again']).toBe(4);
		expect(result.left).toEqual([]);

		const questions = await rowsOf(store, 'questions');
		expect(questions.find(({ id }) => id === 'to-hers')?.givenBackAt).toBe(T0 + 60_000);
		const givenBack = posts.filter(({ kind }) => kind === 'givenBack');
		expect(givenBack).toMatchObject([{ placeId: BOB.userId, state: 'planned' }]);
		expect(JSON.parse(givenBack[0]?.content ?? '')).toMatchObject({ by: result.name });
	});

	it('tells which answers have no post any more: session, time, channel, thread', async () => {
		const { store } = subject;
		for (const [id, threadTs, acceptedAt] of [
			['old', '1767603600.5', T0],
			['older', null, T0],
			['new', '1767603600.6', T0 + 500],
		] as const) {
			const given = submission({ person: HER, sessionId: id, id, acceptedAt, origin: { channelId: 'C1', threadTs } });
			await accepted(store, given, 'delivering', 'delivered', 'resumed');
		}
		const result = await forget(store, ADA, T0 + 7 * DAY + 1);
		const at = '2026-01-05T09:00:00.000Z';
		expect(result).toMatchObject({ days: 7, left: [`old ${at} C1 1767603600.5`, `older ${at} C1`] });
	});

	it.each([ADA, BOB.userId])('draws once more what was on its way and may show the name: of %s', async (from) => {
		const { store } = subject;
		await fill(store, ADA);
		const content = { kind: 'handedOver', watchId: 'w', handOverId: 'V1', from };
		const sending = { kind: content.kind, content: JSON.stringify(content), state: 'planned', leaseToken: LEASE.token };
		const place = { stream: `person:T1:${BOB.userId}:V1`, placeId: BOB.userId, teamId: 'T1' };
		await insert(store, 'posts', { id: 'under', ...place, ...sending, sendingSince: T0, wanted: 0 });
		await forget(store);
		const under = async () => present((await rowsOf(store, 'posts', { id: 'under' }))[0]);
		const post = present(readPost({ ...(await under()), wanted: 0 }));
		const shown = { kind: 'shown', ts: '1.1', key: 'named', isLast: true } as const;
		await store.posts.endAttempt(post, LEASE.token, shown, T0 + 70_000);
		expect(await under()).toMatchObject({ state: 'shown', ts: '1.1', dueAt: T0 + 70_000 });
		const due = await store.posts.takeDue(LEASE, 50, T0 + 70_000);
		const again = present(due.find((one) => one.post.id === 'under'));
		await store.posts.endAttempt(again.post, LEASE.token, { ...shown, key: 'forgotten' }, T0 + 80_000);
		expect(await under()).toMatchObject({ state: 'closed', dueAt: null });
	});

	it.each([
		['waits for the end of its time for Undo', { undoUntil: T0 + 90_000 }],
		['is accepted', { undoUntil: null }],
		['is being delivered', { state: 'delivering' }],
	] as const)('changes nothing while an answer of the person %s', async (_, columns) => {
		const { store } = subject;
		await fill(store, ADA);
		await accepted(store, submission({ person: HER, sessionId: 'live', id: 'live' }));
		await setRows(store, 'answers', columns, { id: 'live' });
		const before = await textOf(store);
		expect(await forget(store)).toEqual({ kind: 'refused', sessionIds: ['live'] });
		expect(await textOf(store)).toBe(before);
	});

	it('changes nothing while an answer cannot be read that may say that the person was first', async () => {
		const { store } = subject;
		await fill(store, ADA);
		await damage(store, 'second-hers', 'other');
		const before = await textOf(store);
		expect(await forget(store)).toEqual({ kind: 'unreadable', count: 1 });
		expect(await textOf(store)).toBe(before);
	});

	it('discards an answer that waits for the person, and leaves one of somebody else that came second', async () => {
		const { store } = subject;
		const [first, second] = [submission({ person: HER }), submission({ person: BOB, items: [item('red')] })];
		await accepted(store, first);
		await store.answers.accept(second);
		await moved(store, first.id, 'waiting');
		await forget(store);
		expect((await current(store, first.id)).state).toBe('withdrawn');
		expect(await current(store, second.id)).toMatchObject({ state: 'conflicted', lastError: 'first_failed' });
		expect(await textOf(store)).not.toContain(ADA);
	});

	it('goes on to look whether the agent went on, and tells nobody of it', async () => {
		const { store } = subject;
		await accepted(store, submission({ person: HER }), 'delivering', 'delivered');
		await setRows(store, 'answers', { nextAttemptAt: T0 + 5, leaseToken: 'mine', leasedUntil: T0 + 20_000 });
		await forget(store);
		expect(await rowsOf(store, 'answers')).toMatchObject([{ nextAttemptAt: T0 + 5, leaseToken: null }]);
	});

	it('lets nothing be written that others read before and that may name the person', async () => {
		const { store } = subject;
		await fill(store, ADA);
		const session = { service: SERVICE, sessionId: 'session-hers' };
		const late = submission({ person: BOB, question: { ...session, messageIndex: 9 }, id: 'late' });
		await accepted(store, late);
		await lease(store, late.id, LEASE);
		await forget(store);
		const tokens = async (table: 'posts' | 'views') =>
			(await rowsOf(store, table)).flatMap(({ leaseToken }) => leaseToken ?? []);
		for (const table of ['posts', 'views'] as const) expect(await tokens(table)).toEqual([]);
		const other = { answerId: 'answer-hers', person: HER, values: ['crimson'], at: T0, same: false };
		const lost = { state: 'conflicted', other } as const;
		await patched(store, late.id, lost, { release: true });
		const { state, content } = await current(store, late.id);
		expect(state).toBe('conflicted');
		const { person } = await current(store, 'answer-hers');
		expect(content).toMatchObject({ other: { person, values: [null] } });
		expect((await rowsOf(store, 'views')).filter(({ view }) => view !== null)).toEqual([]);
		expect(await placesOf(store, ADA)).toEqual([]);
	});

	it('leaves the lease of an answer of somebody else in the same session, whose PUT may be under way', async () => {
		const { store } = subject;
		await fill(store, ADA);
		const question = { service: SERVICE, sessionId: 'session-hers', messageIndex: 9 };
		const sending = await accepted(store, submission({ person: BOB, question, id: 'sending' }));
		const taken = await lease(store, sending.id, LEASE);
		const begun = { state: 'delivering', putStartedAt: T0 } as const;
		const put = present(await store.answers.update(taken, LEASE.token, begun, { now: T0 }));
		expect(await forget(store)).toMatchObject({ kind: 'forgotten' });
		expect(await store.answers.takeDue(SERVICE, { token: 'another', ms: 20_000 }, 10, T0 + 1)).toEqual([]);
		const arrived = { state: 'delivered', deliveredAt: T0 + 1 } as const;
		expect(await store.answers.update(put, LEASE.token, arrived, { now: T0 + 1 })).not.toBeNull();
	});

	it('finds nothing of somebody unknown, and nothing twice', async () => {
		const { store, replica } = subject;
		await fill(store, ADAM);
		expect(await forget(store)).toEqual({ kind: 'nothing' });
		await fill(store, ADA);
		const both = await Promise.allSettled([forget(store), forget(replica)]);
		const kinds = both.flatMap((one) => (one.status === 'fulfilled' ? one.value.kind : [])).sort();
		expect(kinds.filter((kind) => kind === 'forgotten')).toEqual(['forgotten']);
		expect(await forget(store)).toEqual({ kind: 'nothing' });
	});

	it('hands out all rows of the list, with times in ISO, without secrets and without what others wrote', async () => {
		const { store } = subject;
		await fill(store, ADA);
		await fill(store, ADAM);
		const secret = [item('blue', { title: 'Colour' }), item('hunter2', { title: 'Password', secret: true })];
		await accepted(store, submission({ person: HER, sessionId: 'secret', id: 'secret', items: secret }));
		// With a position that its author marked.
		const given = await accepted(store, submission({ person: HER, sessionId: 'released', id: 'released' }));
		const typed = [{ title: 'Password', value: 'hunter2', secret: false, held: false }];
		const stored = { items: typed, sessionName: '' };
		const content = seal(store, 'answers.content', { ...given, ...HER, ...given.question }, stored);
		await setRows(store, 'answers', { content, secretPositions: '[0]' }, { id: given.id });
		const all = await exported(store, ADA);
		expect(all.answers?.map((row) => 'secrets' in row)).not.toContain(true);
		expect(Object.keys(all).sort()).toEqual([...PERSON_TABLES].sort());
		expect(all.answers?.find(({ id }) => id === 'secret')).toMatchObject({
			acceptedAt: '2026-01-05T09:00:00.000Z',
			timeline: [{ state: 'accepted', at: '2026-01-05T09:00:00.000Z' }],
			content: {
				sessionName: 'Chairs',
				items: [
					{ title: 'Colour', value: 'blue' },
					{ title: 'Password', value: 'hidden' },
				],
			},
		});
		expect(all.answers?.find(({ id }) => id === 'released')?.content).toMatchObject({ items: [{ value: 'hidden' }] });
		const named = all.answers?.find(({ id }) => id === 'second-hers');
		expect(Object.keys(named ?? {}).sort()).toEqual(['id', 'messageIndex', 'other', 'service', 'sessionId']);
		expect(all.drafts).toMatchObject([{ content: { values: { 0: 'blu' } } }]);
		expect(all.shared_states).toMatchObject([{ state: '2026-01-05T09:00:00.000Z' }]);
		const text = JSON.stringify(all);
		expect(all.questions?.map(({ id, handOverNote }) => [id, handOverNote])).toEqual([
			['from-hers', `note of ${ADA}`],
			['to-hers', undefined],
		]);
		expect(text).toContain('"other":');
		for (const hidden of ['hunter2', 'crimson', 'first', 'note of Bob', 'is answering', ADAM])
			expect(text).not.toContain(hidden);
	});

	it('hands out that something cannot be read, which may be of the person', async () => {
		const { store } = subject;
		await fill(store, ADA);
		await damage(store, 'answer-hers', 'content');
		await damage(store, 'second-hers', 'other');
		const { answers = [] } = await exported(store, ADA);
		expect(answers.find(({ id }) => id === 'answer-hers')).toMatchObject({ content: 'cannot be read' });
		expect(answers.find(({ id }) => id === 'second-hers')).toMatchObject({ other: 'cannot be read' });
	});

	it('hands out a long history in pages', async () => {
		const { store } = subject;
		const rows = Array.from({ length: 223 }, (_, at) => ({ at, userId: at % 10 === 9 ? BOB.userId : ADA }));
		await inTurns(rows, CONNECTIONS, ({ at, userId }) =>
			accepted(store, submission({ person: { teamId: 'T1', userId }, sessionId: `s${at}` })),
		);
		const { answers = [] } = await exported(store, ADA);
		expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(201);
		expect(answers).toHaveLength(201);
	});

	it('forgets who gave the answers that ended, or lost their texts while waiting, before a time, each by itself, and keeps what hides their secrets', async () => {
		const { store } = subject;
		const secret = [item('hunter2', { secret: true })];
		for (const sessionId of ['s1', 's2']) {
			const press = { id: sessionId, sessionId, items: secret, submissionKey: `press:${ADA}:${sessionId}` };
			await accepted(store, submission({ person: HER, ...press }), 'delivering', 'delivered', 'resumed');
		}
		await accepted(store, submission({ id: 'live', person: HER, sessionId: 's3' }));
		for (const id of ['waits', 'waited'])
			await accepted(store, submission({ id, person: HER, sessionId: id }), 'waiting');
		await setRows(store, 'answers', { content: null, submissionKey: 'key' }, { id: 'waited' });
		expect(await store.answers.forgetAuthors(T0)).toBe(0);
		expect(await store.answers.forgetAuthors(T0 + 10_000)).toBe(3);
		expect(await store.answers.forgetAuthors(T0 + 10_000)).toBe(0);
		const rows = (await rowsOf(store, 'answers')).toSorted((one, other) => (one.id < other.id ? -1 : 1));
		expect(rows.map(({ userId, secretPositions }) => [userId, secretPositions])).toEqual([
			[ADA, '[]'],
			['forgotten-s1', '[0]'],
			['forgotten-s2', '[0]'],
			['forgotten-waited', '[]'],
			[ADA, '[]'],
		]);
		expect(JSON.stringify(rows.slice(1, -1))).not.toContain(ADA);
	});
}
