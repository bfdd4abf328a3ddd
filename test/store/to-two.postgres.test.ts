import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { arrivalOf, TIMELINE_ENTRY } from '../../src/domain/answer.ts';
import { type Evidence, evidence, NOTHING_SEEN } from '../../src/domain/asked.ts';
import { DAY_MS } from '../../src/kernel/clock.ts';
import { pick } from '../../src/kernel/values.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrate.ts';
import { type PostRow, readPost } from '../../src/surfaces/post.ts';
import { usePostgres, useSqlite } from './empty-databases.ts';
import { context, openAt } from './migrating-process.ts';
import { SERVICE, T0 } from './support.ts';

/*
 * What 1.0.0 and 1.1.0 stored of questions and answers, and what it says after the migration to 2.0.0. Times are in
 * minutes before the migration.
 */

const NOW = T0;
const ago = (minutes: number) => NOW - minutes * 60_000;

type Columns = Readonly<Record<string, unknown>>;

const questionRow = (id: string, sessionId: string, columns: Columns = {}): Columns => ({
	id,
	service: SERVICE,
	sessionId,
	messageIndex: 1,
	number: 1,
	sameBefore: 0,
	fingerprint: 'f',
	shownHash: 'h',
	askedAt: ago(60),
	...columns,
});

const RECEIPT = { state: 'delivered', agentOutcome: null, dm: { channelId: 'D1', ts: '1.2' }, modalOpen: false };
const SUBMISSION = { viewId: '', origin: { channelId: null, threadTs: null }, formReadAt: 0, checkedAt: 0 };

const answerRow = (id: string, sessionId: string, columns: Columns = {}): Columns => ({
	id,
	submissionKey: id,
	teamId: 'T1',
	userId: 'U-ANN',
	service: SERVICE,
	sessionId,
	messageIndex: 1,
	fingerprint: 'f',
	submission: JSON.stringify({ ...SUBMISSION, positions: [0], leftEmpty: [], shownHash: null }),
	state: 'delivered',
	attempts: 1,
	acceptedAt: ago(31),
	giveUpAt: ago(-600),
	deliveredAt: ago(30),
	endedAt: ago(30),
	timeline: '[{"state":"accepted","at":1},{"state":"delivered","at":2,"arrival":1}]',
	receiptState: JSON.stringify(RECEIPT),
	...columns,
});

const watchRow = (id: string): Columns => ({
	id,
	teamId: 'T1',
	channelId: 'C1',
	service: SERVICE,
	sessionId: id,
	mode: 'everything',
	questionsInChannel: 1,
	createdBy: 'U-ANN',
	createdAt: ago(90),
	lastChangeAt: ago(1),
});

/** The `number`th post of the watch and session with this id; by default that of a question, as Slack shows it. */
const postRow = (id: string, number: number, columns: Columns): Columns => {
	const { kind = 'question', questionId } = columns;
	return {
		id: `${id} ${number}`,
		stream: `watch:${id}`,
		number,
		uniqueKey: kind === 'question' ? `question:${questionId}` : `${kind}:${number}`,
		teamId: 'T1',
		placeId: 'C1',
		watchId: id,
		service: SERVICE,
		sessionId: id,
		kind,
		content: JSON.stringify(kind === 'question' ? { kind, changed: false } : { kind }),
		state: 'shown',
		createdAt: ago(5),
		ts: `${id} ${number}`,
		...columns,
	};
};

const ladderRow = (watchId: string): Columns => ({
	watchId,
	teamId: 'T1',
	channelId: 'C1',
	service: SERVICE,
	sessionId: watchId,
	questionId: `${watchId}-1`,
	postTs: '1.0',
	postedAt: ago(10),
	remindedAt: ago(4),
});

/** What is stored of the reminders of each question's post; null: it has none. */
function remindersIn(rows: readonly PostRow[]) {
	const posts = rows.filter(({ kind }) => kind === 'question');
	return Object.fromEntries(
		posts.map((row) => {
			const counts = pick(row, 'remindSince', 'remindedAt', 'escalationCount', 'lastReminderAt');
			return [row.id, row.remindSince === null ? null : counts];
		}),
	);
}

const OLD = {
	waitedSeen: false,
	mostSteps: 0,
	index: 1,
	arrived: null,
	grew: false,
	wasActive: false,
	hasLeft: false,
	elsewhere: false,
	continued: false,
	emptySince: null,
	activeSince: null,
	lost: null,
};
const old = (columns: Columns = {}) => JSON.stringify({ ...OLD, ...columns });
const arrivedOf = (answerId: string | null, columns: Columns = {}) => ({
	answerId,
	number: answerId === null ? null : 1,
	at: ago(30),
	positions: [0],
	steps: 2,
	waited: true,
	...columns,
});
/** As the migration writes it. */
const valueFrom = (answerId: string | null, columns: Partial<Evidence['value']> = {}): Evidence['value'] => ({
	answerId,
	number: answerId === null ? null : 1,
	at: ago(30),
	steps: 2,
	isPerhaps: false,
	filled: answerId === null ? [] : [0],
	...columns,
});

const UNCOUNTED = arrivedOf('a', { steps: Number.MAX_SAFE_INTEGER });
const WENT_ON = { settledAt: ago(20), settledHow: 'wentOn' };
const UNSENT = { questionId: 'q', deliveredAt: null, putStartedAt: ago(25) };

/** Loads the rows into a database of 1.1.0 and migrates that. */
async function migrated(place: string, rows: Readonly<Record<string, readonly Columns[]>>) {
	const db = openAt(place);
	await migrate(db, { ...context(), migrations: MIGRATIONS.filter(({ number }) => number < 35) });
	await db.write(async (trx) => {
		const untyped = trx as unknown as Kysely<Record<string, Record<string, unknown>>>;
		for (const [table, ofTable] of Object.entries(rows))
			for (const row of ofTable) await untyped.insertInto(table).values(row).execute();
	});
	const start = context();
	const clock = { now: () => NOW } as Parameters<typeof migrate>[1]['clock'];
	await migrate(db, { ...start, clock });
	return db;
}

async function read(db: StoreDatabase) {
	const questions = await db.read.selectFrom('questions').selectAll().orderBy('number').execute();
	const answers = await db.read.selectFrom('answers').selectAll().execute();
	const views = await db.read.selectFrom('views').selectAll().execute();
	await db.close();
	return {
		questions,
		evidenceOf: (id: string) => evidence.parse(JSON.parse(questions.find((row) => row.id === id)?.evidence ?? '')),
		/** What its author is told. */
		receiptOf: (id: string) => views.find(({ answerId }) => answerId === id),
		answer(id: string) {
			const row = answers.find((one) => one.id === id);
			if (row === undefined) throw new Error(`no answer ${id}`);
			return {
				...row,
				states: TIMELINE_ENTRY.array()
					.parse(JSON.parse(row.timeline))
					.map(({ state }) => state),
			};
		},
	};
}

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('the migration to 2.0.0 on %s', (_, useAt) => {
	const use = (rows: Parameters<typeof migrated>[1], check: (found: Awaited<ReturnType<typeof read>>) => void) =>
		useAt(async (place) => check(await read(await migrated(place, rows))));

	/** What the row of a question says, with these answers. */
	const says = (columns: Columns, answers: readonly Columns[], expected: Partial<Evidence>) =>
		use({ questions: [questionRow('q', 's', columns)], answers }, ({ evidenceOf, questions }) => {
			expect(evidenceOf('q')).toEqual({ ...NOTHING_SEEN, ...expected });
			const { settledHow = null, answerId = null, number = 1 } = columns;
			expect(questions.find(({ id }) => id === 'q')).toMatchObject({ settledHow, answerId, number });
		});

	// Without an answer of ours.
	it.each<[string, Columns, Partial<Evidence>]>([
		['an open question of 1.0.0', {}, {}],
		[
			'an answered one of 1.0.0',
			{ settledAt: ago(20), settledHow: 'answered', answerId: 'gone' },
			{ value: valueFrom('gone', { number: null, at: ago(20), steps: null, filled: [] }) },
		],
		[
			'one of 1.0.0 that was answered outside Handraise',
			{ settledAt: ago(20), settledHow: 'answered' },
			{ value: valueFrom(null, { at: ago(20), steps: null }) },
		],
		['a closed one of 1.0.0', { settledAt: ago(20), settledHow: 'closed' }, {}],
		['a damaged one', { evidence: '{"v":9}' }, {}],
		['one that nobody has answered', { evidence: old({ waitedSeen: true, mostSteps: 3 }) }, { waitedSteps: 3 }],
		[
			'one that shows a value from elsewhere',
			{ evidence: old({ arrived: arrivedOf(null, { positions: [0, 2] }) }) },
			{ value: valueFrom(null), filled: [0, 2] },
		],
		[
			'one asked again, with what was lost',
			{ number: 2, evidence: old({ waitedSeen: true, mostSteps: 1, lost: 'a' }) },
			{ waitedSteps: 1, lost: 'a' },
		],
		['one lost from elsewhere', { evidence: old({ lost: '' }) }, { lost: '' }],
	])('says what is known of %s', (_name, columns, expected) => says(columns, [], expected));

	// What else was seen of the question, and is known of it then.
	it.each<[string, Columns, Partial<Evidence>, Columns?]>([
		['arrived', { waitedSeen: true }, { waitedSteps: 0 }],
		['arrived after steps that nobody counted', { arrived: UNCOUNTED }, { value: valueFrom('a', { steps: null }) }],
		['left a field that is empty again', { hasLeft: true, emptySince: ago(3) }, { emptied: true, awaySeen: true }],
		['made its agent write and work', { grew: true, activeSince: ago(3) }, { awaySeen: true, continued: true }],
		['made its agent write and wait, perhaps a heartbeat', { grew: true, wasActive: true }, { awaySeen: true }],
		['made its agent work without a message', { continued: true, activeSince: ago(3) }, { awaySeen: true }],
		[
			'made its agent continue, as its author heard',
			{ grew: true },
			{ continued: true },
			{ state: 'resumed', agentOutcome: 'resumed' },
		],
		[
			'only a check after the delivery has read since',
			{},
			{ emptied: true, awaySeen: true, continued: true },
			{ evidence: old({ arrived: arrivedOf('a'), grew: true, activeSince: ago(2), emptySince: ago(2) }) },
		],
		[
			'left an item empty on purpose',
			{ arrived: arrivedOf('a', { positions: [0, 1] }) },
			{ leftEmpty: [1] },
			{ submission: JSON.stringify({ ...SUBMISSION, positions: [0, 1], leftEmpty: [1], shownHash: null }) },
		],
	])('says what is known of a question whose answer of ours %s', (_name, seen, expected, answer = {}) => {
		const answers = [answerRow('a', 's', { questionId: 'q', ...answer })];
		const known = { value: valueFrom('a'), filled: [0], ...expected };
		return says({ evidence: old({ arrived: arrivedOf('a'), ...seen }) }, answers, known);
	});

	// With an answer of which the question's row says nothing.
	it.each<[string, Columns, Columns, Partial<Evidence>]>([
		[
			'one that 1.0.0 knew and 1.1.0 answered',
			{},
			{ questionId: 'q', evidence: old({ arrived: arrivedOf('a') }) },
			{ value: valueFrom('a'), filled: [0] },
		],
		[
			'one that 1.0.0 knew and answered',
			{},
			{
				timeline: '[{"state":"delivered","at":2}]',
				beforePut: '{"status":"humanInput","assistantCount":3,"sameCount":0}',
			},
			{ value: valueFrom('a'), filled: [0] },
		],
		[
			'one that 1.0.0 asked after this answer',
			{ askedAt: ago(5), number: 2 },
			{ timeline: '[{"state":"delivered","at":2}]' },
			{},
		],
		[
			'one whose agent went on after a PUT of unknown outcome',
			{ ...WENT_ON, evidence: old({ waitedSeen: true, mostSteps: 1, activeSince: ago(9) }) },
			{
				...UNSENT,
				state: 'waiting',
				beforePut: '{"status":"humanInput","assistantCount":3,"sameCount":0,"stepsSince":1}',
			},
			{ waitedSteps: 1, value: valueFrom('a', { number: null, at: ago(25), steps: 1, isPerhaps: true }) },
		],
		[
			'an open one after a PUT of unknown outcome: it is asked',
			{ evidence: old({ waitedSeen: true }) },
			{ ...UNSENT, state: 'waiting' },
			{ waitedSteps: 0 },
		],
		[
			'one with an answer that is not sent yet',
			{ evidence: old({ waitedSeen: true }) },
			{ ...UNSENT, state: 'delivering', putStartedAt: ago(0) },
			{ waitedSteps: 0 },
		],
	])('says what is known of %s', (_name, columns, answer, expected) =>
		says(columns, [answerRow('a', 's', answer)], expected),
	);

	it.each<[string | null, Columns, Columns]>([
		['taken', { grew: true }, { state: 'resumed', agentOutcome: 'resumed', nextAttemptAt: null }],
		['emptied', { grew: true }, { state: 'resumed', agentOutcome: 'resumed', nextAttemptAt: null }],
		['taken', {}, { state: 'delivered', agentOutcome: 'unseen', nextAttemptAt: NOW }],
		['unconfirmed', { grew: true }, { state: 'delivered', agentOutcome: 'unseen', nextAttemptAt: NOW }],
		['paused', {}, { state: 'delivered', agentOutcome: 'unseen', nextAttemptAt: NOW }],
		['unseen', {}, { state: 'delivered', agentOutcome: 'unseen', nextAttemptAt: NOW }],
		['lost', {}, { state: 'delivered', agentOutcome: 'lost', nextAttemptAt: null }],
		['replaced', {}, { state: 'delivered', agentOutcome: 'replaced', nextAttemptAt: null }],
		['overwritten', {}, { state: 'delivered', agentOutcome: 'overwritten', nextAttemptAt: null }],
		['completed', {}, { state: 'delivered', agentOutcome: 'completed', nextAttemptAt: null }],
	])('keeps the outcome of an answer, or has it found again: %s %o', (agentOutcome, flags, expected) => {
		const receiptState = JSON.stringify({ ...RECEIPT, agentOutcome });
		const columns = { agentOutcome, receiptState, evidence: old({ arrived: arrivedOf('a'), ...flags }) };
		const answers = [
			answerRow('a', 's1', columns),
			answerRow('b', 's2', { ...columns, deliveredAt: NOW - DAY_MS - 1 }),
		];
		return use({ answers }, ({ answer, receiptOf }) => {
			const { states, ...found } = answer('a');
			expect(found).toMatchObject(expected);
			expect(receiptOf('a') === undefined).toBe(expected.nextAttemptAt === null);
			expect(states).toEqual(['accepted', 'delivered', ...(found.state === 'resumed' ? ['resumed'] : [])]);
			expect(answer('b')).toMatchObject({ ...expected, nextAttemptAt: null });
		});
	});

	it('counts the messages before the PUT of 1.0.0, which may have arrived, as at most those of the agent', () => {
		const before = { status: 'humanInput', assistantCount: 3, sameCount: 0 };
		const columns = { state: 'delivering', deliveredAt: null, beforePut: JSON.stringify(before) };
		return use({ answers: [answerRow('a', 's', columns)] }, ({ answer }) =>
			expect(JSON.parse(answer('a').beforePut ?? '')).toEqual({ ...before, stepsSince: 2, filled: [] }),
		);
	});

	it('numbers what arrived with 1.0.0 by its times, before what 1.1.0 numbered', () => {
		const timeline = '[{"state":"accepted","at":1},{"state":"delivered","at":2},{"state":"resumed","at":3}]';
		const answers = [
			answerRow('b', 's', { timeline, deliveredAt: ago(40) }),
			answerRow('a', 's', { timeline, deliveredAt: ago(50) }),
			// The clock was set back since.
			answerRow('c', 's', { timeline: timeline.replace('2}', '2,"arrival":3}'), deliveredAt: ago(60) }),
			answerRow('d', 'other', { timeline }),
			answerRow('e', 's', { timeline: '[{"state":"accepted","at":1}]', state: 'waiting', deliveredAt: null }),
		];
		return use({ answers }, ({ answer }) => {
			const numberOf = (id: string) =>
				arrivalOf(TIMELINE_ENTRY.array().parse(JSON.parse(answer(id).timeline)))?.arrival;
			expect(['a', 'b', 'c', 'd', 'e'].map(numberOf)).toEqual([1, 2, 3, 1, undefined]);
		});
	});

	it('makes the direct message about an answer a post, which is searched for where nobody knows whether it is there', () =>
		useAt(async (place) => {
			const told = (receipt: object) => ({ receiptState: JSON.stringify({ ...RECEIPT, ...receipt }) });
			const answers = [
				answerRow('told', 's', told({ agentOutcome: 'taken' })),
				answerRow('sending', 's', told({ dm: null, dmSince: ago(1) })),
				answerRow('replaced', 's', told({ dmSince: ago(2) })),
				answerRow('window', 's', told({ dm: null, modalOpen: true })),
				answerRow('over', 's', { ...told({}), agentOutcome: 'resumed' }),
				answerRow('waiting', 's', { ...told({}), state: 'waiting' }),
			];
			const db = await migrated(place, { answers });
			const rows = await db.read.selectFrom('posts').selectAll().where('kind', '=', 'receipt').orderBy('id').execute();
			const found = rows.map(({ id, state, ts, sendingSince, placeId }) => [id, state, ts, sendingSince, placeId]);
			const author = answers[0]?.userId;
			expect(found).toEqual([
				['over 1.2', 'closed', '1.2', null, author],
				['replaced 1.2', 'planned', null, ago(2), author],
				['sending ', 'planned', null, ago(1), author],
				['told 1.2', 'shown', '1.2', null, author],
				['waiting 1.2', 'shown', '1.2', null, author],
			]);
			const ids = ['over', 'replaced', 'sending', 'told', 'waiting'];
			expect(rows.map(({ content }) => JSON.parse(content).answerId)).toEqual(ids);
			await db.close();
		}));

	it('has the authors told of answers whose receipt was due, or that go on', () => {
		const due = { nextAttemptAt: ago(1) };
		const receipt = (columns: object) => ({ receiptState: JSON.stringify({ ...RECEIPT, ...columns }) });
		const sent = { ...due, deliveredAt: null, endedAt: null };
		const answers = [
			answerRow('sending', 's1', { ...sent, state: 'accepted', ...receipt({ state: 'accepted' }) }),
			answerRow('waits', 's2', { ...sent, state: 'waiting', ...receipt({ state: null, dm: null, modalOpen: true }) }),
			answerRow('lost', 's3', { ...due, agentOutcome: 'lost', ...receipt({ agentOutcome: 'unseen' }) }),
			answerRow('checked', 's4', { ...due, agentOutcome: null }),
			// Of a backup that was mended by hand, or a disk.
			answerRow('damaged', 's5', { ...due, state: 'refused', receiptState: '{"state":' }),
			answerRow('over', 's6', { agentOutcome: 'resumed', state: 'resumed' }),
			answerRow('told', 's7', { ...sent, nextAttemptAt: null, state: 'waiting' }),
			answerRow('forgotten', 's8', { ...due, state: 'refused', userId: 'forgotten-0123456789abcdef' }),
		];
		return use({ answers }, ({ answer, receiptOf }) => {
			const found = answers.map(({ id }) => {
				const row = receiptOf(String(id));
				return [id, row !== undefined, answer(String(id)).nextAttemptAt];
			});
			expect(found).toEqual([
				['sending', true, ago(1)],
				['waits', true, null],
				['lost', true, null],
				['checked', true, ago(1)],
				['damaged', true, null],
				['over', false, null],
				['told', false, null],
				['forgotten', false, null],
			]);
			// The windows that were open begin anew: what is still to be told is told by messages.
			const { teamId, userId, service, sessionId, messageIndex } = answer('lost');
			expect(receiptOf('lost')).toMatchObject({
				id: 'answer:lost',
				kind: 'receipt',
				viewId: null,
				teamId,
				userId,
				service,
				sessionId,
				messageIndex,
				notBefore: NOW,
				dueAt: NOW,
				followedUntil: NOW + 2 * DAY_MS,
				wanted: 0,
			});
		});
	});

	it('drops what its author asked to send again: it stays delivered and is looked at', () => {
		const asked = { agentOutcome: 'unseen', startFailed: 1, restartAskedAt: ago(1), nextAttemptAt: ago(1) };
		return use({ answers: [answerRow('a', 's', asked)] }, ({ answer }) =>
			expect(answer('a')).toMatchObject({ state: 'delivered', startFailed: 1, nextAttemptAt: ago(1) }),
		);
	});

	it('makes the row of a question that nobody watched, with what arrived', () => {
		const unsent = { deliveredAt: null, endedAt: null, timeline: '[{"state":"accepted","at":1}]' };
		const answers = [
			// Two to one question.
			answerRow('a1', 's1', { deliveredAt: ago(40), timeline: '[{"state":"delivered","at":2,"arrival":1}]' }),
			answerRow('a2', 's1', { timeline: '[{"state":"delivered","at":2,"arrival":2}]' }),
			answerRow('a3', 's1', { ...unsent, state: 'accepted', messageIndex: 4 }),
			answerRow('b', 's2', { ...unsent, state: 'withdrawn' }),
			answerRow('c', 's3', { ...unsent, state: 'waiting', putStartedAt: ago(20) }),
		];
		return use({ answers }, ({ questions, evidenceOf, answer }) => {
			const made = questions.map(({ sessionId, messageIndex, number }) => [sessionId, messageIndex, number]);
			expect(new Set(made.map((one) => one.join()))).toEqual(new Set(['s1,1,1', 's1,4,2', 's3,1,1']));
			expect(made).toHaveLength(3);
			for (const row of questions) expect(row).toMatchObject({ askedAt: 0, settledHow: 'unwatched', content: null });
			expect(answer('a2').questionId).toBe(answer('a1').questionId);
			expect(evidenceOf(answer('a2').questionId ?? '').value).toMatchObject({ answerId: 'a2', number: 2, at: ago(30) });
			expect(evidenceOf(answer('a3').questionId ?? '')).toEqual(NOTHING_SEEN);
			expect(evidenceOf(answer('c').questionId ?? '').value).toMatchObject({ answerId: 'c', isPerhaps: true });
			expect(answer('b').questionId).toBeNull();
		});
	});

	it('counts such a question before those that came after it, and after those that came before', () => {
		const questions = [
			questionRow('q1', 's', { number: 3, messageIndex: 5, settledAt: ago(50), settledHow: 'closed' }),
			questionRow('q2', 's', { number: 4, messageIndex: 7 }),
		];
		const answers = [1, 3, 9, 11].map((messageIndex) => answerRow(`a${messageIndex}`, 's', { messageIndex }));
		return use({ questions, answers }, (found) =>
			expect(found.questions.map(({ messageIndex, number }) => [messageIndex, number])).toEqual([
				[1, 1],
				[3, 2],
				[5, 3],
				[7, 4],
				[9, 5],
				[11, 6],
			]),
		);
	});

	it('takes more rows than one statement does', () => {
		const ids = Array.from({ length: 1_201 }, (_, index) => `q${index}`);
		const questions = ids.map((id) => questionRow(id, id, { evidence: old({ arrived: arrivedOf(id) }) }));
		return use({ questions }, ({ evidenceOf }) => {
			for (const id of ids) expect(evidenceOf(id).value?.answerId).toBe(id);
		});
	});

	it('leaves nothing of the columns that it drops', () =>
		useAt(async (place) => {
			const db = await migrated(place, { answers: [answerRow('a', 's')] });
			for (const column of ['evidence', 'restart_asked_at'])
				await expect(sql`select answers.${sql.id(column)} from answers`.execute(db.read)).rejects.toThrow();
			for (const column of ['same_before', 'reworded_count', 'reworded_at'])
				await expect(sql`select questions.${sql.id(column)} from questions`.execute(db.read)).rejects.toThrow();
			await db.close();
		}));

	it('makes the one post of a session that changed its question often that of its newest question', () =>
		useAt(async (place) => {
			const sessions = ['shown', 'rested', 'unsent', 'closed', 'answered'];
			const settled = { settledAt: ago(2), settledHow: 'changed' };
			const questions = sessions.flatMap((id) => [
				questionRow(`${id}-1`, id, settled),
				questionRow(`${id}-2`, id, { number: 2, ...(id === 'answered' && { ...settled, settledHow: 'answered' }) }),
			]);
			const held = { state: 'planned', dueAt: ago(-1), lastError: 'held', questionId: 'shown-2', ts: null };
			const posts = [
				postRow('shown', 1, { kind: 'switching', questionId: null }),
				postRow('shown', 2, held),
				postRow('rested', 1, { kind: 'switching', questionId: null }),
				postRow('rested', 2, { questionId: 'rested-2' }),
				postRow('unsent', 1, { kind: 'switching', questionId: null, state: 'planned', ts: null }),
				postRow('unsent', 2, { ...held, questionId: 'unsent-2' }),
				postRow('closed', 1, { kind: 'switching', questionId: null, state: 'closed' }),
				postRow('answered', 1, { kind: 'switching', questionId: null }),
			];
			const ladders = ['shown', 'answered'].map((id) => ladderRow(id));
			const db = await migrated(place, { watches: sessions.map(watchRow), questions, posts, ladders });
			const all = await db.read.selectFrom('posts').selectAll().orderBy('id').execute();
			const rows = all.filter(({ kind }) => kind !== 'reminder');
			const found = rows.map(({ id, kind, state, uniqueKey, content }) => [id, kind, state, uniqueKey, content]);
			const content = (changed: boolean) => JSON.stringify({ kind: 'question', changed });
			expect(found).toEqual([
				['answered 1', 'question', 'shown', 'question:answered-2', content(true)],
				['rested 2', 'question', 'shown', 'question:rested-2', content(false)],
				['shown 1', 'question', 'shown', 'question:shown-2', content(true)],
				['unsent 2', 'question', 'planned', 'question:unsent-2', content(false)],
			]);
			expect(rows.map(({ dueAt, waitsAs }) => [dueAt, waitsAs])).toEqual([
				[NOW, null],
				[null, null],
				[NOW, null],
				[NOW, null],
			]);
			expect(remindersIn(rows)).toMatchObject({
				'answered 1': null,
				'shown 1': { remindSince: NOW, remindedAt: null },
			});
			await db.close();
		}));

	it('holds a reminder for each channel and thread, and keeps the counts of each question with its post', () =>
		useAt(async (place) => {
			const ids = ['counted', 'unseen', 'another', 'perhaps', 'elsewhere'];
			const ladders = ids.map((id) => ({
				...ladderRow(id),
				escalationCount: id === 'counted' ? 2 : id === 'perhaps' ? 1 : 0,
				lastReminderAt: ago(3),
				channelId: id === 'elsewhere' ? 'C2' : 'C1',
			}));
			const entryOf = (watchId: string, stage: string) => ({
				watchId,
				sessionId: watchId,
				questionId: `${watchId}-1`,
				postTs: '1.0',
				postedAt: ago(10),
				heldBy: null,
				stage,
				dueAt: ago(4),
				isLast: false,
				lastReminderAt: stage === 'reminder' ? null : ago(8),
			});
			const content = (kind: string, ...entries: ReturnType<typeof entryOf>[]) => JSON.stringify({ kind, entries });
			const planned = { state: 'planned', dueAt: ago(-1), ts: null };
			const ofChannel = { stream: 'channel:T1:C1', watchId: null, service: null, sessionId: null, number: 1 };
			const listed = [entryOf('unseen', 'reminder'), entryOf('another', 'reminder')];
			const perhaps = content('escalation', entryOf('perhaps', 'escalation'));
			const posts = [
				...ids.map((id) => postRow(id, 1, { questionId: `${id}-1` })),
				postRow('counted', 2, { kind: 'escalation', content: content('escalation', entryOf('counted', 'escalation')) }),
				postRow('list', 1, { ...ofChannel, ...planned, kind: 'digest', content: content('digest', ...listed) }),
				postRow('perhaps', 2, { ...planned, kind: 'escalation', content: perhaps, sendingSince: ago(1) }),
			];
			const questions = ids.map((id) => questionRow(`${id}-1`, id));
			const db = await migrated(place, { watches: ids.map(watchRow), questions, posts, ladders });
			const rows = await db.read.selectFrom('posts').selectAll().orderBy('stream').orderBy('number').execute();
			const seen = { remindSince: ago(10), remindedAt: ago(4), escalationCount: 0, lastReminderAt: ago(3) };
			expect(remindersIn(rows)).toEqual({
				'counted 1': { ...seen, escalationCount: 2 },
				// Nobody has seen it: it is due again.
				'unseen 1': { ...seen, remindedAt: null, lastReminderAt: null },
				'another 1': { ...seen, remindedAt: null, lastReminderAt: null },
				// It counts when it is found in Slack.
				'perhaps 1': { ...seen, lastReminderAt: ago(8) },
				'elsewhere 1': seen,
			});
			const reminders = rows.filter(({ kind }) => kind === 'reminder');
			const held = { uniqueKey: 'reminder', state: 'planned', dueAt: NOW, waitsAs: 'held' };
			expect(reminders.map(({ stream, state, uniqueKey }) => [stream, state, uniqueKey])).toEqual([
				['channel:T1:C1', 'dropped', 'digest:1'],
				['channel:T1:C1', 'planned', 'reminder'],
				['channel:T1:C2', 'planned', 'reminder'],
				['watch:another', 'planned', 'reminder'],
				['watch:counted', 'shown', 'escalation:2'],
				['watch:counted', 'planned', 'reminder'],
				['watch:elsewhere', 'planned', 'reminder'],
				['watch:perhaps', 'planned', 'reminder'],
				['watch:unseen', 'planned', 'reminder'],
			]);
			expect(reminders[1]).toMatchObject({ ...held, watchId: null, sessionId: null, number: 2, placeId: 'C1' });
			expect(reminders[5]).toMatchObject({ ...held, watchId: 'counted', sessionId: 'counted', number: 3 });
			const asIs = { sendingSince: ago(1), id: 'perhaps 2', content: perhaps.replace('"escalation"', '"reminder"') };
			expect(reminders[7]).toMatchObject(asIs);
			expect(reminders.every((row) => readPost(row) !== null)).toBe(true);
			await db.close();
		}));
});
