import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createRequestBudget } from '../../src/session-service/budget.ts';
import { inTurns } from '../../src/session-service/budget-state.ts';

const asking = (...people: string[]) => people.map((person, place) => ({ person, place }));
const names = (turns: readonly { person: string; place: number }[]) =>
	turns.map(({ person, place }) => `${person}${place}`).join(' ');

describe('the turns of waiting people', () => {
	it('people take turns, however often each asked', () => {
		expect(names(inTurns(asking('a', 'a', 'a', 'b', 'c', 'b'), new Map()))).toBe('a0 b3 c4 a1 b5 a2');
	});

	it('turns begin with the person who was served least recently', () => {
		const lastTurns = new Map([
			['a', 3],
			['b', 1],
		]);
		expect(names(inTurns(asking('a', 'a', 'b', 'c'), lastTurns))).toBe('c3 b2 a0 a1');
	});

	const people = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 });
	const history = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(50)));

	it('turns leave nobody out and keep the order of each person', () => {
		fc.assert(
			fc.property(people, history, (who, turns) => {
				const waiting = asking(...who);
				const result = inTurns(waiting, new Map(turns));
				expect(new Set(result)).toEqual(new Set(waiting));
				for (const person of ['a', 'b', 'c', 'd']) {
					const places = result.filter((one) => one.person === person).map(({ place }) => place);
					expect(places).toEqual(places.toSorted((one, other) => one - other));
				}
			}),
		);
	});

	it('nobody has two turns more than a person who still waits', () => {
		fc.assert(
			fc.property(people, history, fc.nat(60), (who, turns, served) => {
				const result = inTurns(asking(...who), new Map(turns));
				const had = (person: string) => result.slice(0, served).filter((one) => one.person === person).length;
				for (const { person } of result.slice(served)) {
					for (const other of ['a', 'b', 'c', 'd']) expect(had(other)).toBeLessThanOrEqual(had(person) + 1);
				}
			}),
		);
	});
});

function start(requestsPerMinute: number) {
	const clock = createManualClock();
	const budget = createRequestBudget({ requestsPerMinute, clock });
	const granted: string[] = [];
	const ask = (person: string) => void budget.acquire('person', { person }).then(() => granted.push(person));
	return { clock, budget, granted, ask };
}

it('serves a person who asks once next, however many requests of another person wait', async () => {
	const { clock, granted, ask } = start(50);
	for (let n = 0; n < 200; n++) ask('flood');
	await clock.advance(1_000);
	const before = granted.length;
	expect(before).toBeLessThan(50);
	for (const person of ['ann', 'bob']) ask(person);
	await clock.advance(62_000);
	expect(granted.slice(before, before + 3).toSorted()).toEqual(['ann', 'bob', 'flood']);
});

it('continues the turns from one free request to the next', async () => {
	const { clock, granted, ask } = start(10);
	for (let n = 0; n < 8; n++) {
		ask('early');
		await clock.advance(1_000);
	}
	const before = granted.length;
	for (const person of ['a', 'a', 'a', 'a', 'b', 'b', 'b']) ask(person);
	// One request becomes free at a time.
	await clock.advance(61_000);
	expect(granted.slice(before).join('')).toMatch(/^(?:ab){3}a?$/);
});

it('keeps background requests for those that go ahead, also after others have waited long', async () => {
	const { clock, budget } = start(250);
	budget.background.reserve(1.5);
	let reads = 0;
	for (let n = 0; n < 1_000; n++) void budget.acquire('background').then(() => reads++);
	let longest = 0;
	for (let n = 0; n < 120; n++) {
		await clock.advance(1_000);
		const askedAt = clock.now();
		void budget.acquire('background', { ahead: true }).then(() => {
			longest = Math.max(longest, clock.now() - askedAt);
		});
	}
	await clock.advance(0);
	expect(longest).toBe(0);
	// 190 of 250 are for background, in a little more than a minute.
	expect(reads).toBeGreaterThan(180);
	expect(reads).toBeLessThan(200);
});

it('reserves at most three quarters of what background has', async () => {
	const { clock, budget } = start(50);
	budget.background.reserve(10);
	let reads = 0;
	for (let n = 0; n < 100; n++) void budget.acquire('background').then(() => reads++);
	await clock.advance(60_000);
	expect(reads).toBeGreaterThan(7);
	expect(reads).toBeLessThan(14);
});

it('leaves a quarter of what background has to the others when ahead requests ask for everything', async () => {
	const { clock, budget } = start(250);
	budget.background.reserve(1);
	const counts = { ahead: 0, others: 0 };
	for (let n = 0; n < 2_500; n++) {
		void budget.acquire('background', { ahead: true }).then(() => counts.ahead++);
		void budget.acquire('background').then(() => counts.others++);
	}
	// Eleven windows of 62 s, and what goes at once in the twelfth.
	await clock.advance(682_000);
	expect(counts.ahead).toBeGreaterThan(11 * 130);
	expect(counts.others).toBeGreaterThan(11 * 40);
	expect(counts.ahead + counts.others).toBeLessThanOrEqual(12 * 190);
});

it.each([12, 8, 6])('reads go on in their turn when the service allows %s requests a minute', async (limit) => {
	const { clock, budget } = start(250);
	budget.background.reserve(1);
	budget.observe({ limit, remaining: limit, resetSeconds: 60 }, 0);
	let reads = 0;
	for (let n = 0; n < 100; n++) void budget.acquire('background').then(() => reads++);
	await clock.advance(10 * 60_000);
	expect(reads).toBeGreaterThan(4);
});
