import { expect, it } from 'vitest';
import type { RequestPriority } from '../../src/service/service.ts';
import { createBodySlots } from '../../src/service/transport.ts';

function slotsWithLog() {
	const slotFor = createBodySlots();
	const granted: string[] = [];
	const release = new Map<string, () => void>();
	return {
		granted,
		ask(name: string, priority: RequestPriority, signal = new AbortController().signal) {
			const slot = slotFor(priority);
			release.set(name, slot.giveBack);
			return slot.take(signal).then(() => void granted.push(name));
		},
		giveBack: async (name: string) => {
			release.get(name)?.();
			await Promise.resolve();
			await Promise.resolve();
		},
	};
}

it('background leaves the last slot to people and deliveries', async () => {
	const { ask, giveBack, granted } = slotsWithLog();
	await ask('poll 1', 'background');
	const second = ask('poll 2', 'background');
	await ask('person', 'person');
	expect(granted).toEqual(['poll 1', 'person']);
	await giveBack('person');
	expect(granted).toEqual(['poll 1', 'person']);
	await giveBack('poll 1');
	await second;
	expect(granted.at(-1)).toBe('poll 2');
});

it('gives slots to deliveries before people, and to people before background', async () => {
	const { ask, giveBack, granted } = slotsWithLog();
	for (const name of ['first', 'second']) await ask(name, 'person');
	const waiting = [ask('poll', 'background'), ask('person', 'person'), ask('delivery', 'delivery')];
	for (const name of ['first', 'delivery', 'second', 'person']) await giveBack(name);
	await Promise.all(waiting);
	expect(granted).toEqual(['first', 'second', 'delivery', 'person', 'poll']);
});

it('an aborted wait takes no slot, and giving a slot back twice frees one', async () => {
	const { ask, giveBack, granted } = slotsWithLog();
	for (const name of ['first', 'second']) await ask(name, 'person');
	const leaving = new AbortController();
	const gone = ask('gone', 'person', leaving.signal);
	leaving.abort(new Error('left'));
	await expect(gone).rejects.toThrow('left');
	await giveBack('first');
	await giveBack('first');
	await ask('third', 'person');
	void ask('fourth', 'person');
	await Promise.resolve();
	expect(granted).toEqual(['first', 'second', 'third']);
});

it('a slot that is granted at the moment of an abort is given back', async () => {
	const slotFor = createBodySlots();
	const [other, first, second, third] = [slotFor('person'), slotFor('person'), slotFor('person'), slotFor('person')];
	for (const slot of [other, first]) await slot.take(new AbortController().signal);
	const leaving = new AbortController();
	const granted = second.take(leaving.signal);
	first.giveBack();
	leaving.abort(new Error('left'));
	second.giveBack();
	await Promise.all([granted, third.take(new AbortController().signal)]);
});
