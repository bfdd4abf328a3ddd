import { describe, expect, it } from 'vitest';
import { type Edit, edited } from './edit.ts';

const SOURCE = `
import { save } from './save.ts';

export const LIMIT_MS = 5_000 as const;

const isLate = (at: number) => at > LIMIT_MS;

export function createQueue(store: Store) {
	async function take(id: string, now: number) {
		const found = await store.find(id, now);
		if (found === null) return null;
		if (isLate(found.at)) {
			await save({ id, state: 'late', at: now });
			return found;
		}
		return [found].map((one) => { return one; });
	}
	return { take, put: async (id: string) => save({ id, state: 'new' }), stop() {} };
}

function stop() {}
`;
const FILE = { file: 'queue.ts' } as const;

describe('an edit', () => {
	it.each<[string, Edit, string]>([
		['replaces a constant', { ...FILE, constant: 'LIMIT_MS', becomes: '0' }, 'LIMIT_MS = 0;'],
		['keeps the value of a constant', { ...FILE, constant: 'LIMIT_MS', becomes: '$value * 2' }, '(5_000 as const) * 2'],
		['empties a function', { ...FILE, in: 'createQueue.stop', body: '' }, 'stop() {\n\n}'],
		['replaces what an expression gives', { ...FILE, in: 'isLate', returns: 'at < 0' }, '=> (at < 0);'],
		['replaces a call', { ...FILE, in: 'take', call: 'find', becomes: 'null' }, 'found = await (null);'],
		[
			'names the call, the called function and its arguments',
			{ ...FILE, in: 'take', call: 'find', becomes: '$2 > 0 ? $call : $callee($1, 0)' },
			'await (now > 0 ? store.find(id, now) : store.find(id, 0))',
		],
		['decides a condition', { ...FILE, in: 'take', if: 'isLate', becomes: 'false' }, 'if (false) {'],
		['leaves a property out', { ...FILE, in: 'put', property: 'state', becomes: null }, 'save({ id, ...{} })'],
		['replaces a property', { ...FILE, in: 'put', property: 'state', becomes: 'id' }, 'save({ id, state: (id) })'],
	])('%s', (_, edit, expected) => {
		const result = edited(SOURCE, edit);
		expect(result).toContain(expected);
		expect(result).not.toBe(SOURCE);
	});

	it('replaces all that a function returns, and nothing that functions in it return', () => {
		const result = edited(SOURCE, { ...FILE, in: 'take', returns: 'Promise.resolve($result)' });
		expect(result.match(/return \(Promise\.resolve\(.*/g)).toEqual([
			'return (Promise.resolve(null));',
			'return (Promise.resolve(found));',
			'return (Promise.resolve([found].map((one) => { return one; })));',
		]);
	});

	it.each<[string, Edit, string]>([
		['a function', { ...FILE, in: 'give', body: '' }, 'src/queue.ts, give: there is no function of this name any more'],
		['a constant', { ...FILE, constant: 'MOST', becomes: '1' }, 'src/queue.ts, MOST: there is no constant of this'],
		['a call', { ...FILE, in: 'take', call: 'drop', becomes: '0' }, 'src/queue.ts, take: there is no call of drop()'],
		[
			'an if',
			{ ...FILE, in: 'take', if: 'isEarly', becomes: 'true' },
			'there is no "if" that mentions isEarly any more',
		],
		['a property', { ...FILE, in: 'put', property: 'at', becomes: null }, 'there is no property at any more'],
		['a result', { ...FILE, in: 'createQueue.stop', returns: '1' }, 'it returns nothing'],
		['what it names', { ...FILE, in: 'put', property: 'state', becomes: 'now' }, 'names what is not there: now'],
		['an argument', { ...FILE, in: 'take', call: 'find', becomes: '$3' }, 'names what is not there: $3'],
	])('fails when %s is gone', (_, edit, message) => {
		expect(() => edited(SOURCE, edit)).toThrow(message);
	});

	it.each<[string, Edit, string]>([
		['several functions have the name', { ...FILE, in: 'stop', body: '' }, 'more than one function of this name: 2'],
		['a function calls it twice', { ...FILE, in: 'createQueue', call: 'save', becomes: '0' }, 'call of save(): 2'],
		['it changes nothing', { ...FILE, in: 'take', if: 'isLate', becomes: 'isLate(found.at)' }, 'changes nothing'],
		['the result is no program', { ...FILE, in: 'put', call: 'save', becomes: '(' }, 'it does not parse'],
	])('fails when %s', (_, edit, message) => {
		expect(() => edited(SOURCE, edit)).toThrow(message);
	});

	it('changes every call when it says so', () => {
		const result = edited(SOURCE, { ...FILE, in: 'createQueue', call: 'save', becomes: '0', every: true });
		expect(result.match(/save\(/g)).toBeNull();
	});
});
