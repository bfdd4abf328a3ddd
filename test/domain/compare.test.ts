import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	beforePut,
	compareForDelivery,
	type DeliveryInput,
	hasWorkedSince,
	mergeForPut,
	type OurValues,
} from '../../src/domain/compare.ts';
import type { ReadItem, ReadSession } from '../../src/domain/gate.ts';
import { askingMessageIndex } from '../../src/domain/session.ts';
import { runs } from '../support/runs.ts';
import { buildSession, fingerprintOf, saying, sentItems, shownHashOf } from '../support/sessions.ts';
import { anySession, anyStatus, asking } from './sessions.ts';

function compare(status: string, stored: string[], values: OurValues, overrides: Partial<DeliveryInput> = {}) {
	const session = buildSession({ status, messages: [saying('task', 'user'), asking(stored)] });
	return compareForDelivery({
		session,
		messageIndex: 1,
		fingerprint: fingerprintOf(asking(stored).humanInput),
		shownHash: null,
		values,
		...overrides,
	});
}

describe('compareForDelivery', () => {
	it.each(['humanInput', 'active', 'inactive', 'paused', 'unheardOf'])(
		'allows the answer when no item has a value and the status is %s',
		(status) => {
			expect(compare(status, ['', ''], ['a', 'b'])).toEqual({ kind: 'clear' });
			expect(compare(status, ['', ''], ['a', ''])).toEqual({ kind: 'clear' });
		},
	);
	it('reports that the session is over', () => {
		expect(compare('failed', [''], ['a'])).toEqual({ kind: 'over' });
		expect(compare('failed', ['x'], ['a'])).toEqual({ kind: 'over' });
		expect(compare('stopped', [''], ['a'], { fingerprint: 'another' })).toEqual({ kind: 'over' });
	});
	it.each(['humanInput', 'active', 'completed'])('finds our own values while the status is %s', (status) => {
		expect(compare(status, ['a', 'b'], ['a', 'b'])).toEqual({ kind: 'alreadyOurs' });
		expect(compare(status, ['a', ''], ['a', ''])).toEqual({ kind: 'alreadyOurs' });
		expect(compare(status, ['earlier', 'b'], [null, 'b'])).toEqual({ kind: 'alreadyOurs' });
		expect(compare(status, ['a', 'b'], ['a'])).toEqual({ kind: 'alreadyOurs' });
	});
	it('finds our own values when a newer message asks', () => {
		const session = buildSession({ messages: [asking(['a']), asking([''], 'New')] });
		const fingerprint = fingerprintOf(asking(['']).humanInput);
		expect(compareForDelivery({ session, messageIndex: 0, fingerprint, shownHash: null, values: ['a'] })).toEqual({
			kind: 'alreadyOurs',
		});
	});
	it('recognises our text after the service trimmed it or rewrote its line ends', () => {
		expect(compare('active', ['a\r\nb'], [' a\nb\n']).kind).toBe('alreadyOurs');
	});

	it('does not take a similar text for ours', () => {
		expect(compare('active', ['a  b'], ['a b']).kind).toBe('answeredByOther');
		expect(compare('active', ['A'], ['a']).kind).toBe('answeredByOther');
	});
	it('never finds an answer that fills no item', () => {
		expect(compare('humanInput', ['', ''], ['', ''])).toEqual({ kind: 'clear' });
		expect(compare('humanInput', ['x', ''], [null, '']).kind).not.toBe('alreadyOurs');
		// The service trims it: sent, it is as empty as the item.
		expect(compare('humanInput', [''], [' '])).toEqual({ kind: 'clear' });
	});
	it.each(['humanInput', 'active', 'paused'])(
		'reports what somebody else answered while the status is %s',
		(status) => {
			expect(compare(status, ['x', ''], ['a', 'b'])).toEqual({ kind: 'answeredByOther', values: ['x', ''] });
			expect(compare(status, ['a', 'x'], ['a', 'b'])).toEqual({ kind: 'answeredByOther', values: ['a', 'x'] });
		},
	);
	it('allows both answers while the agent waits for the other items', () => {
		expect(compare('humanInput', ['x', ''], ['', 'b'])).toEqual({ kind: 'clear' });
		expect(compare('humanInput', ['x', ''], [null, 'b'])).toEqual({ kind: 'clear' });
	});
	it.each(['active', 'inactive', 'paused', 'unheardOf'])(
		'counts a value in an item that we left empty as an answer to all items while the status is %s',
		(status) => {
			expect(compare(status, ['x', ''], ['', 'b'])).toEqual({ kind: 'answeredByOther', values: ['x', ''] });
		},
	);
	it.each(['humanInput', 'active', 'inactive', 'paused', 'unheardOf'])(
		'ignores values in items that already had one when the person saw them while the status is %s',
		(status) => {
			expect(compare(status, ['x', ''], [null, 'b'])).toEqual({ kind: 'clear' });
			expect(compare(status, ['', 'x'], ['b'])).toEqual({ kind: 'clear' });
			expect(compare(status, ['', ''], [null, 'b'])).toEqual({ kind: 'clear' });
		},
	);
	it('allows the answer when one of its values is already stored', () => {
		expect(compare('active', ['a', ''], ['a', 'b'])).toEqual({ kind: 'clear' });
	});
	it('reports a change when the message is gone, asks nothing or asks something else', () => {
		expect(compare('active', [''], ['a'], { fingerprint: 'another' })).toEqual({ kind: 'changed' });
		expect(compare('active', ['x'], ['a'], { fingerprint: 'another' })).toEqual({ kind: 'changed' });
		expect(compare('active', [''], ['a'], { messageIndex: 0, fingerprint: 'another' })).toEqual({ kind: 'changed' });
		expect(compare('active', [''], ['a'], { messageIndex: 7, shownHash: 'another' })).toEqual({ kind: 'changed' });
	});
	it.each([0, 7])('reports that the question has moved when it stands at another index than %s', (messageIndex) => {
		expect(compare('active', [''], ['a'], { messageIndex })).toEqual({ kind: 'moved' });
		expect(compare('active', ['x'], ['a'], { messageIndex })).toEqual({ kind: 'moved' });
	});
	it('reports a change when a newer message asks and the old one is unchanged', () => {
		const fingerprint = fingerprintOf(asking(['']).humanInput);
		const input = { messageIndex: 0, fingerprint, shownHash: null, values: ['a'] };
		const compareFirst = (...messages: ReadSession['messages']) =>
			compareForDelivery({ ...input, session: buildSession({ messages, status: 'active' }) });
		expect(compareFirst(asking(['']), asking([''], 'New'))).toEqual({ kind: 'changed' });
		expect(compareFirst(asking(['']), asking(['']))).toEqual({ kind: 'moved' });
		expect(compareFirst(asking(['']), asking(['x'], 'New'))).toEqual({ kind: 'changed' });
		expect(compareFirst(asking(['x']), asking([''], 'New'))).toEqual({ kind: 'answeredByOther', values: ['x'] });
		expect(compareFirst(asking(['']), saying('going on'))).toEqual({ kind: 'clear' });
	});
	it('reports a change when the text above the items is another, and finds our own values under it', () => {
		const shownHash = shownHashOf(asking(['']));
		const reworded = (values: string[], seen: string | null = shownHash) =>
			compareForDelivery({
				session: buildSession({ messages: [{ ...asking(values), content: 'Something else' }] }),
				messageIndex: 0,
				fingerprint: fingerprintOf(asking(values).humanInput),
				shownHash: seen,
				values: ['a'],
			});
		expect(reworded([''])).toEqual({ kind: 'changed' });
		expect(reworded(['a'])).toEqual({ kind: 'alreadyOurs' });
		expect(reworded(['x'])).toEqual({ kind: 'answeredByOther', values: ['x'] });
		// A button of a version without the hash does not say what its author saw.
		expect(reworded([''], null)).toEqual({ kind: 'clear' });
		expect(compare('humanInput', [''], ['a'], { shownHash })).toEqual({ kind: 'clear' });
	});
});

describe('mergeForPut', () => {
	it('sends every item in order, fills the empty ones and keeps the others', () => {
		const items = sentItems(asking(['x', '', '', '']).humanInput);
		expect(mergeForPut(items, ['mine', 'b', null]).map((item) => item.value)).toEqual(['x', 'b', '', '']);
		expect(mergeForPut(items, [])).toEqual(items);
	});
	it('keeps fields that are not strings as the service has them, except our value', () => {
		const raw = { title: '7', description: 'null', value: 'null' };
		const items = sentItems([
			{ title: '7', description: '', value: '2', raw: { ...raw, value: '2' } },
			{ title: '7', description: '', value: '', raw },
			{ title: '7', description: '', value: '', raw },
			{ title: '7', description: '', value: '', raw },
		]);
		const { value: _, ...names } = raw;
		expect(mergeForPut(items, [null, 'mine', '', null])).toEqual([
			items[0],
			{ title: '7', description: '', value: 'mine', raw: names },
			{ title: '7', description: '', value: '', raw: names },
			items[3],
		]);
	});
	it('loses no value after a clear comparison, and is found by later comparisons', () => {
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
					const input = {
						session,
						messageIndex: index,
						fingerprint: fingerprintOf(items),
						shownHash: null,
						values: ours,
					};
					const { kind } = compareForDelivery(input);
					if (['completed', 'failed', 'stopped'].includes(session.status))
						expect(['over', 'alreadyOurs']).toContain(kind);
					if (kind !== 'clear') return;
					const merged = mergeForPut(session.messages[index]?.sent ?? [], ours) as unknown as readonly ReadItem[];
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
			{ numRuns: runs(3_000) },
		);
		expect(clear).toBeGreaterThan(runs(100));
	});
});

describe('hasWorkedSince', () => {
	it.each<{ before: string; status: string; newMessages: number; worked: boolean }>([
		{ before: 'humanInput', status: 'active', newMessages: 0, worked: true },
		{ before: 'humanInput', status: 'humanInput', newMessages: 1, worked: true },
		{ before: 'humanInput', status: 'humanInput', newMessages: 0, worked: false },
		{ before: 'humanInput', status: 'inactive', newMessages: 0, worked: false },
		{ before: 'humanInput', status: 'queued', newMessages: 0, worked: false },
		{ before: 'humanInput', status: 'paused', newMessages: 0, worked: false },
		{ before: 'humanInput', status: 'paused', newMessages: 1, worked: true },
		{ before: 'active', status: 'active', newMessages: 0, worked: false },
		{ before: 'active', status: 'active', newMessages: 1, worked: true },
		{ before: 'active', status: 'humanInput', newMessages: 0, worked: false },
		{ before: 'active', status: 'paused', newMessages: 0, worked: false },
		{ before: 'paused', status: 'paused', newMessages: 0, worked: false },
		{ before: 'paused', status: 'active', newMessages: 0, worked: true },
		{ before: 'inactive', status: 'active', newMessages: 0, worked: true },
		{ before: 'inactive', status: 'inactive', newMessages: 1, worked: true },
		{ before: 'humanInput', status: 'humanInput', newMessages: -1, worked: false },
		{ before: 'humanInput', status: 'active', newMessages: -1, worked: true },
	])('is $worked from $before to $status with $newMessages new assistant messages', (row) => {
		const { before, status, newMessages, worked } = row;
		const messages = [saying('task', 'user'), ...Array.from({ length: 3 + newMessages }, () => saying('step'))];
		expect(hasWorkedSince({ status: before, assistantCount: 3 }, buildSession({ status, messages }))).toBe(worked);
	});
});

describe('beforePut', () => {
	it('counts what the agent wrote after the message that asks, not what others did', async () => {
		const question = asking([''], 'Q');
		const session = buildSession({
			status: 'active',
			messages: [saying('a'), question, saying('b'), saying('c', 'tool'), saying('d')],
		});
		const fingerprint = fingerprintOf(question.humanInput);
		expect(await beforePut({ session, messageIndex: 1, fingerprint, values: ['x'] })).toEqual({
			status: 'active',
			assistantCount: 4,
			sameCount: 0,
			stepsSince: 2,
			filled: [],
		});
	});
});
