import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadMessage } from '../../src/questions/gate.ts';
import {
	ageOf,
	latestAssistantMessages,
	latestHistory,
	parseTime,
	resultOf,
	stepOf,
	taskOf,
} from '../../src/questions/session.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { anySession } from './sessions.ts';

function done(...texts: string[]): ReadMessage {
	return { ...saying('done'), actions: texts.map((text) => ({ kind: 'done', text })) };
}

describe('the progress of a session', () => {
	it('counts assistant messages', () => {
		const messages = [saying('task', 'user'), saying('a'), saying('b', 'critic'), saying('c')];
		expect(stepOf(buildSession({ messages, maxSteps: 12 }))).toEqual({ step: 2, maxSteps: 12 });
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
				expect(steps).toEqual(Array.from({ length: stepOf(session).step }, (_, index) => stepOf(session).step - index));
			}),
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
