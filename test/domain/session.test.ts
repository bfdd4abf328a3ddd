import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadMessage } from '../../src/domain/gate.ts';
import {
	ageOf,
	askingMessageIndex,
	assistantCountOf,
	isAnswered,
	isOver,
	isReworded,
	isWaiting,
	latestAssistantMessages,
	latestHistory,
	openQuestion,
	parseTime,
	questionAt,
	questionOutcomeOf,
	resultOf,
	taskOf,
} from '../../src/domain/session.ts';
import { runs } from '../support/runs.ts';
import { buildSession, saying, shownHashOf } from '../support/sessions.ts';
import { anySession, asking } from './sessions.ts';

it.each([
	{ status: 'active', over: false, waiting: false },
	{ status: 'humanInput', over: false, waiting: true },
	{ status: 'inactive', over: false, waiting: false },
	{ status: 'paused', over: false, waiting: false },
	{ status: 'stopped', over: true, waiting: false },
	{ status: 'completed', over: true, waiting: false },
	{ status: 'failed', over: true, waiting: false },
	{ status: 'Completed', over: false, waiting: false },
	{ status: '', over: false, waiting: false },
	{ status: 'constructor', over: false, waiting: false },
])('classifies the status "$status"', ({ status, over, waiting }) => {
	expect(isOver(status)).toBe(over);
	expect(isWaiting(status)).toBe(waiting);
});

const item = { title: 'Which plan?', description: 'One of: A, B', value: '' };
const shown = (content: string, ...humanInput: (typeof item)[]) => shownHashOf({ content, humanInput });

describe('the hash of what an asking message shows', () => {
	it('stays the same in new versions, because posts and stored answers have it', () => {
		expect(shown('May I?', item)).toBe('b54be4253648bfc66641d162d1f33673');
	});

	it.each([
		['white space', ' Look  at\n\tthis\u00a0plan ', 'Look at this plan'],
		['the signature of a link', 'https://x.example/a?X-Amz-Signature=1', 'https://x.example/a?X-Amz-Signature=2'],
		['the composition of a letter', 'the café'.normalize('NFC'), 'the café'.normalize('NFD')],
		['a value', '', ''],
	])('does not depend on %s', (_, one, other) => {
		expect(shown(one, { ...item, value: 'x' })).toBe(shown(other, item));
	});

	it.each([
		['a word', shown('May I READ it?', item), shown('May I DELETE it?', item)],
		['the order of the items', shown('', item, { ...item, title: 'b' }), shown('', { ...item, title: 'b' }, item)],
		['a description', shown('', item), shown('', { ...item, description: 'One of: B, A' })],
		['where a text stands', shown('a', { ...item, title: '' }), shown('', { ...item, title: 'a' })],
		['the path of a signed link', shown('https://x.example/a?sig=1', item), shown('https://x.example/b?sig=1', item)],
		['another parameter', shown('https://x.example/a?b=5&sig=1', item), shown('https://x.example/a?b=9&sig=1', item)],
		['a joined word', shown('no where', item), shown('nowhere', item)],
	])('depends on %s', (_, one, other) => {
		expect(one).not.toBe(other);
		expect(isReworded(one, other)).toBe(true);
	});

	it('is not another one where one of two is not known', () => {
		expect([isReworded(null, 'a'), isReworded('a', null), isReworded(null, null), isReworded('a', 'a')]).toEqual(
			Array(4).fill(false),
		);
	});
});

const shownOf = (message: ReadMessage) => {
	const { fingerprint = '', shownHash = '' } = buildSession({ messages: [message] }).messages[0] ?? {};
	return { fingerprint, shownHash };
};

function openItems(status: string, values: string[], closed?: number[]): readonly number[] | null {
	const session = buildSession({ status, messages: [saying('task', 'user'), asking(values)] });
	return openQuestion(session, closed && (() => new Set(closed)))?.openItems ?? null;
}

describe('openQuestion', () => {
	it.each(['humanInput', 'active', 'inactive', 'paused', 'somethingNew'])(
		'is all items when none has a value and the status is %s',
		(status) => {
			expect(openItems(status, ['', '', ''])).toEqual([0, 1, 2]);
		},
	);
	it.each(['completed', 'failed', 'stopped'])('is null once the session is %s', (status) => {
		expect(openItems(status, ['', ''])).toBeNull();
	});
	it('is the empty items while the agent waits', () => {
		expect(openItems('humanInput', ['', 'x', ''])).toEqual([0, 2]);
	});
	it.each(['active', 'inactive', 'paused'])('is null when any item has a value and the status is %s', (status) => {
		expect(openItems(status, ['', 'x'])).toBeNull();
	});
	it('is the empty items where it is known which are closed, whatever the status is', () => {
		expect(openItems('active', ['', 'x'], [])).toEqual([0]);
	});
	it('leaves out the empty items that are closed, also when none has a value', () => {
		expect(openItems('humanInput', ['', 'x', ''], [2])).toEqual([0]);
		expect(openItems('humanInput', ['', 'x', ''], [0, 2])).toBeNull();
		expect(openItems('humanInput', ['', ''], [1])).toEqual([0]);
		expect(openItems('active', ['', ''], [1])).toEqual([0]);
		expect(openItems('active', ['', ''], [0, 1])).toBeNull();
	});
	it('counts white space as a value', () => {
		expect(openItems('active', [' ', ''])).toBeNull();
		expect(isAnswered([{ value: '' }, { value: ' ' }])).toBe(true);
		expect(isAnswered([{ value: '' }])).toBe(false);
	});
	it.each(['assistant', 'critic', 'unknown', ''])('can be a message of the role %j', (role) => {
		const session = buildSession({ messages: [asking(['x']), { ...asking(['']), role }] });
		expect(openQuestion(session)).toMatchObject({ messageIndex: 1, openItems: [0] });
	});
	it('is the newest message with items that is not from a user, even when other messages follow', () => {
		const user = { ...asking(['']), role: 'user' };
		const messages = [asking(['']), asking(['', '']), user, saying('going on')];
		const question = openQuestion(buildSession({ messages }));
		expect(question).toMatchObject({ messageIndex: 1, goneOn: true, context: 'I have a question', openItems: [0, 1] });
		expect(openQuestion(buildSession({ messages: messages.slice(0, 3) }))?.goneOn).toBe(false);
	});
	it('is null when the newest message that asks is answered and an older one is not', () => {
		expect(openQuestion(buildSession({ status: 'active', messages: [asking(['']), asking(['x'])] }))).toBeNull();
	});
	it('is null in a session that never asks', () => {
		expect(askingMessageIndex(buildSession())).toBeNull();
		expect(openQuestion(buildSession({ messages: [saying('a')] }))).toBeNull();
	});
});

describe('what became of a question that was shown', () => {
	const shown = { ...shownOf(asking([''])), messageIndex: 0 };
	it.each<[became: ReturnType<typeof questionOutcomeOf>, status: string, ...messages: ReadMessage[]]>([
		[null, 'humanInput', asking([''])],
		['answered', 'active', asking(['x'])],
		['answered', 'humanInput', asking(['x']), asking([''])],
		['changed', 'humanInput', asking([''], 'Another')],
		['changed', 'active', asking(['x'], 'Another')],
		['moved', 'humanInput', saying('first'), asking([''])],
		['ended', 'stopped', asking([''])],
	])('is %s in a session that is %s', (became, status, ...messages) => {
		expect(questionOutcomeOf(buildSession({ status, messages }), shown)).toBe(became);
	});
});

describe('questionAt', () => {
	it('returns a question without open items', () => {
		const session = buildSession({ status: 'completed', messages: [asking([''])] });
		expect(questionAt(session, 0)).toMatchObject({ messageIndex: 0, openItems: [], goneOn: false });
	});
	it('returns null for a message that asks nothing', () => {
		const session = buildSession({ messages: [saying('a'), { ...asking(['']), role: 'user' }] });
		for (const index of [-1, 0, 1, 2, 0.5, Number.NaN]) expect(questionAt(session, index)).toBeNull();
	});
	it('agrees with a plain version of the rule for any session', () => {
		fc.assert(
			fc.property(anySession, fc.option(fc.array(fc.nat(4))), (session, closed) => {
				const question = openQuestion(session, closed === null ? undefined : () => new Set(closed));
				const asks = session.messages.map((message) => message.role !== 'user' && message.humanInput.length > 0);
				const items = session.messages[asks.lastIndexOf(true)]?.humanInput ?? [];
				const empty = items.flatMap((item, position) => (item.value === '' ? [position] : []));
				const over = ['completed', 'failed', 'stopped'].includes(session.status);
				const isAsked = closed !== null || empty.length === items.length || session.status === 'humanInput';
				const expected = !over && isAsked ? empty.filter((position) => closed?.includes(position) !== true) : [];
				expect(question?.openItems ?? []).toEqual(expected);
				if (question !== null) expect(question.messageIndex).toBe(askingMessageIndex(session));
			}),
			{ numRuns: runs(100) },
		);
	});
});

function done(...texts: string[]): ReadMessage {
	return { ...saying('done'), actions: texts.map((text) => ({ kind: 'done', text })) };
}

describe('the progress of a session', () => {
	it('counts assistant messages', () => {
		const messages = [saying('task', 'user'), saying('a'), saying('b', 'critic'), saying('c')];
		expect(assistantCountOf(buildSession({ messages }))).toBe(2);
	});
	it('takes the first user message as the task', () => {
		expect(taskOf(buildSession({ messages: [saying('a'), saying('buy it', 'user'), saying('more', 'user')] }))).toBe(
			'buy it',
		);
		expect(taskOf(buildSession({ messages: [saying('a')] }))).toBeNull();
		expect(taskOf(buildSession({ messages: [saying('', 'user')] }))).toBeNull();
	});
	it('takes the newest done action as the result', () => {
		expect(resultOf(buildSession({ messages: [done('old'), done('newer', 'newest'), saying('bye')] }))).toBe('newest');
		expect(resultOf(buildSession({ messages: [saying('a')] }))).toBeNull();
		expect(resultOf(buildSession({ messages: [done('old'), done('')] }))).toBeNull();
	});
	it('takes the latest assistant messages, newest first, with their step numbers', () => {
		const messages = [saying('task', 'user'), saying('a'), saying('b', 'critic'), saying('c'), saying('d')];
		const steps = (limit: number) =>
			latestAssistantMessages(buildSession({ messages }), limit).map(({ step, message }) => [step, message.content]);
		expect(steps(2)).toEqual([
			[3, 'd'],
			[2, 'c'],
		]);
		expect(steps(9).at(-1)).toEqual([1, 'a']);
		expect(steps(0)).toEqual([]);
	});
	it('pages through all messages of any role except the task', () => {
		const messages = [saying('task', 'user'), saying('a'), saying('b', 'critic'), saying('c', 'user'), saying('d')];
		expect(latestHistory(buildSession({ messages }), 9).map(({ step, message }) => [step, message.content])).toEqual([
			[2, 'd'],
			[null, 'c'],
			[null, 'b'],
			[1, 'a'],
		]);
		expect(latestHistory(buildSession({ messages }), 2, 1).map(({ messageIndex }) => messageIndex)).toEqual([3, 2]);
	});
	it('shows each message on exactly one page', () => {
		fc.assert(
			fc.property(anySession, fc.integer({ min: 1, max: 4 }), (session, size) => {
				const pages = Array.from({ length: 9 }, (_, page) => latestHistory(session, size, page * size)).flat();
				expect(pages).toEqual(latestHistory(session, 99));
				const steps = latestAssistantMessages(session, 99).map(({ step }) => step);
				expect(steps).toEqual(
					Array.from({ length: assistantCountOf(session) }, (_, index) => assistantCountOf(session) - index),
				);
			}),
			{ numRuns: runs(100) },
		);
	});
	it('computes the age from the start until now, or until the end once the session is over', () => {
		const startTime = '2026-11-20T10:00:00.000Z';
		const endTime = '2026-11-20T10:00:05.000Z';
		const now = Date.parse('2026-11-20T10:01:00Z');
		expect(ageOf({ status: 'active', startTime, endTime }, now)).toBe(60_000);
		expect(ageOf({ status: 'failed', startTime, endTime }, now)).toBe(5_000);
		expect(ageOf({ status: 'failed', startTime, endTime: 'soon' }, now)).toBeNull();
		expect(ageOf({ status: 'active', startTime, endTime: null }, now - 120_000)).toBe(0);
		expect(ageOf({ status: 'active', startTime: null, endTime: null }, now)).toBeNull();
	});
	it.each(['1', 'yesterday', '', '2026-99-99', '<timestamp>'])('does not parse %j as a time', (text) => {
		expect(parseTime(text)).toBeNull();
	});
});
