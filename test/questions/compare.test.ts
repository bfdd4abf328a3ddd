import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	compareForDelivery,
	type DeliveryInput,
	mergeForPut,
	type OurValues,
	type ResumeOutcome,
	resumeOutcome,
} from '../../src/questions/compare.ts';
import { fingerprintOf } from '../../src/questions/fingerprint.ts';
import { askingMessageIndex } from '../../src/questions/open-question.ts';
import type { Session } from '../../src/questions/session.ts';
import { buildSession, saying } from '../support/sessions.ts';
import { anySession, anyStatus, asking } from './sessions.ts';

function compare(status: string, stored: string[], values: OurValues, more: Partial<DeliveryInput> = {}) {
	const session = buildSession({ status, messages: [saying('task', 'user'), asking(stored)] });
	return compareForDelivery({
		session,
		messageIndex: 1,
		fingerprint: fingerprintOf(asking(stored).humanInput),
		values,
		...more,
	});
}

describe('comparing before a delivery', () => {
	it.each(['humanInput', 'active', 'inactive', 'paused', 'unheardOf'])(
		'is clear when nothing is there and the status is %s',
		(status) => {
			expect(compare(status, ['', ''], ['a', 'b'])).toEqual({ kind: 'clear' });
			expect(compare(status, ['', ''], ['a', ''])).toEqual({ kind: 'clear' });
		},
	);
	it('is over when nobody would read it', () => {
		expect(compare('failed', [''], ['a'])).toEqual({ kind: 'over', status: 'failed' });
		expect(compare('failed', ['x'], ['a'])).toEqual({ kind: 'over', status: 'failed' });
		expect(compare('stopped', [''], ['a'], { fingerprint: 'another' })).toEqual({ kind: 'over', status: 'stopped' });
	});
	it.each(['humanInput', 'active', 'completed'])('finds our own values while %s', (status) => {
		expect(compare(status, ['a', 'b'], ['a', 'b'])).toEqual({ kind: 'alreadyOurs' });
		expect(compare(status, ['a', ''], ['a', ''])).toEqual({ kind: 'alreadyOurs' });
		expect(compare(status, ['earlier', 'b'], [null, 'b'])).toEqual({ kind: 'alreadyOurs' });
		expect(compare(status, ['a', 'b'], ['a'])).toEqual({ kind: 'alreadyOurs' });
	});
	it('finds our own values though the agent asks something newer by now', () => {
		const session = buildSession({ messages: [asking(['a']), asking([''], 'New')] });
		const fingerprint = fingerprintOf(asking(['']).humanInput);
		expect(compareForDelivery({ session, messageIndex: 0, fingerprint, values: ['a'] })).toEqual({
			kind: 'alreadyOurs',
		});
	});
	it('takes a text that the service trimmed, or whose line ends it rewrote, for ours', () => {
		expect(compare('active', ['a\r\nb'], [' a\nb\n']).kind).toBe('alreadyOurs');
	});

	it('does not take nearly the same text for ours', () => {
		expect(compare('active', ['a  b'], ['a b']).kind).toBe('answeredByOther');
		expect(compare('active', ['A'], ['a']).kind).toBe('answeredByOther');
	});
	it('never finds an answer that fills nothing', () => {
		expect(compare('humanInput', ['', ''], ['', ''])).toEqual({ kind: 'clear' });
		expect(compare('humanInput', ['x', ''], [null, '']).kind).not.toBe('alreadyOurs');
	});
	it.each(['humanInput', 'active', 'paused'])('tells what somebody else answered while %s', (status) => {
		expect(compare(status, ['x', ''], ['a', 'b'])).toEqual({ kind: 'answeredByOther', values: ['x', ''] });
		expect(compare(status, ['a', 'x'], ['a', 'b'])).toEqual({ kind: 'answeredByOther', values: ['a', 'x'] });
	});
	it('does not overwrite a value though the agent waits', () => {
		expect(compare('humanInput', ['x'], ['a']).kind).toBe('answeredByOther');
	});
	it('lets both answers stand while the agent waits for the rest', () => {
		expect(compare('humanInput', ['x', ''], ['', 'b'])).toEqual({ kind: 'clear' });
		expect(compare('humanInput', ['x', ''], [null, 'b'])).toEqual({ kind: 'clear' });
	});
	it.each(['active', 'inactive', 'paused', 'unheardOf'])(
		'takes a value in an item that ours left empty for an answer to all while %s',
		(status) => {
			expect(compare(status, ['x', ''], ['', 'b'])).toEqual({ kind: 'answeredByOther', values: ['x', ''] });
		},
	);
	it.each(['humanInput', 'active', 'inactive', 'paused', 'unheardOf'])(
		'does not mind values in items that had one when the person saw them while %s',
		(status) => {
			expect(compare(status, ['x', ''], [null, 'b'])).toEqual({ kind: 'clear' });
			expect(compare(status, ['', 'x'], ['b'])).toEqual({ kind: 'clear' });
			expect(compare(status, ['', ''], [null, 'b'])).toEqual({ kind: 'clear' });
		},
	);
	it('sends what is missing when a part equals ours', () => {
		expect(compare('active', ['a', ''], ['a', 'b'])).toEqual({ kind: 'clear' });
	});
	it('is changed when the message is gone, asks nothing or asks something else', () => {
		expect(compare('active', [''], ['a'], { fingerprint: 'another' })).toEqual({ kind: 'changed' });
		expect(compare('active', ['x'], ['a'], { fingerprint: 'another' })).toEqual({ kind: 'changed' });
		expect(compare('active', [''], ['a'], { messageIndex: 7 })).toEqual({ kind: 'changed' });
		expect(compare('active', [''], ['a'], { messageIndex: 0 })).toEqual({ kind: 'changed' });
	});
	it('is changed when a newer message asks, though the old one is as it was', () => {
		const fingerprint = fingerprintOf(asking(['']).humanInput);
		const input = { messageIndex: 0, fingerprint, values: ['a'] };
		const newer = (...messages: Session['messages']) =>
			compareForDelivery({ ...input, session: buildSession({ messages, status: 'active' }) });
		expect(newer(asking(['']), asking([''], 'New'))).toEqual({ kind: 'changed' });
		expect(newer(asking(['']), asking(['']))).toEqual({ kind: 'changed' });
		expect(newer(asking(['']), asking(['x'], 'New'))).toEqual({ kind: 'changed' });
		expect(newer(asking(['x']), asking([''], 'New'))).toEqual({ kind: 'answeredByOther', values: ['x'] });
		expect(newer(asking(['']), saying('going on'))).toEqual({ kind: 'clear' });
	});
});

describe('merging for the PUT', () => {
	it('sends every item in order, fills the empty ones and keeps the others', () => {
		const { humanInput } = asking(['x', '', '', '']);
		expect(mergeForPut(humanInput, ['mine', 'b', null]).map((item) => item.value)).toEqual(['x', 'b', '', '']);
		expect(mergeForPut(humanInput, [])).toEqual(humanInput);
	});
	it('keeps what is no text as the service has it, except for the value that is ours', () => {
		const raw = { title: '7', description: 'null', value: 'null' };
		const items = [
			{ title: '7', description: '', value: '2', raw: { ...raw, value: '2' } },
			{ title: '7', description: '', value: '', raw },
			{ title: '7', description: '', value: '', raw },
			{ title: '7', description: '', value: '', raw },
		];
		const { value: _, ...names } = raw;
		expect(mergeForPut(items, [null, 'mine', '', null])).toEqual([
			items[0],
			{ title: '7', description: '', value: 'mine', raw: names },
			{ title: '7', description: '', value: '', raw: names },
			items[3],
		]);
	});
	it('loses no value of anybody when the comparison was clear, and is recognised afterwards whatever happened next', () => {
		let clear = 0;
		const values = fc.array(fc.constantFrom('', null, 'x', 'mine'), { maxLength: 4 });
		fc.assert(
			fc.property(
				anySession,
				values,
				fc.option(fc.nat(7), { freq: 1 }),
				anyStatus,
				(session, ours, anyIndex, later) => {
					const index = anyIndex ?? askingMessageIndex(session) ?? 0;
					const items = session.messages[index]?.humanInput ?? [];
					const input = { session, messageIndex: index, fingerprint: fingerprintOf(items), values: ours };
					const { kind } = compareForDelivery(input);
					if (['completed', 'failed', 'stopped'].includes(session.status))
						expect(['over', 'alreadyOurs']).toContain(kind);
					if (kind !== 'clear') return;
					const merged = mergeForPut(items, ours);
					expect(merged.map(({ title, description }) => [title, description])).toEqual(
						items.map((item) => [item.title, item.description]),
					);
					items.forEach((item, position) => {
						const mine = ours[position] ?? '';
						if (item.value !== '') expect(merged[position]?.value).toBe(item.value);
						if (mine !== '') expect(merged[position]?.value).toBe(mine);
					});
					if (!items.some((_, position) => (ours[position] ?? '') !== '')) return;
					clear += 1;
					const put = session.messages.map((message, at) =>
						at === index ? { ...message, humanInput: merged } : message,
					);
					const next = buildSession({ status: later, messages: [...put, asking([''], 'New')] });
					expect(compareForDelivery({ ...input, session: next })).toEqual({ kind: 'alreadyOurs' });
				},
			),
			{ numRuns: 3_000 },
		);
		expect(clear).toBeGreaterThan(100);
	});
});

describe('what became of the agent', () => {
	it.each<[before: string, status: string, more: number, outcome: ResumeOutcome]>([
		['humanInput', 'active', 0, 'resumed'],
		['humanInput', 'humanInput', 1, 'resumed'],
		['humanInput', 'humanInput', 0, 'notYet'],
		['humanInput', 'inactive', 0, 'notYet'],
		['humanInput', 'queued', 0, 'notYet'],
		['humanInput', 'paused', 0, 'paused'],
		['humanInput', 'paused', 1, 'resumed'],
		['humanInput', 'failed', 0, 'failed'],
		['humanInput', 'failed', 2, 'failed'],
		['humanInput', 'stopped', 0, 'stopped'],
		['humanInput', 'stopped', 1, 'stopped'],
		['humanInput', 'completed', 3, 'completed'],
		['active', 'active', 0, 'notYet'],
		['active', 'active', 1, 'resumed'],
		['active', 'humanInput', 0, 'notYet'],
		['active', 'paused', 0, 'paused'],
		['paused', 'paused', 0, 'notYet'],
		['paused', 'active', 0, 'resumed'],
		['inactive', 'active', 0, 'resumed'],
		['inactive', 'inactive', 1, 'resumed'],
		['humanInput', 'humanInput', -1, 'notYet'],
		['humanInput', 'active', -1, 'resumed'],
	])('from %s to %s with %i assistant messages more is %s', (before, status, more, outcome) => {
		const messages = [saying('task', 'user'), ...Array.from({ length: 3 + more }, () => saying('step'))];
		expect(resumeOutcome({ status: before, assistantCount: 3 }, { status, messages })).toBe(outcome);
	});
});
