import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createRequestBudget } from '../../src/session-service/budget.ts';
import { inTurns } from '../../src/session-service/budget-queue.ts';

const asking = (...people: string[]) => people.map((person, place) => ({ person, place }));
const names = (turns: readonly { person: string; place: number }[]) =>
	turns.map(({ person, place }) => `${person}${place}`).join(' ');

describe('the turns of people who wait', () => {
	test('go round, whoever asked how often', () => {
		expect(names(inTurns(asking('a', 'a', 'a', 'b', 'c', 'b'), new Map()))).toBe('a0 b3 c4 a1 b5 a2');
	});

	test('begin with whoever had none for longest', () => {
		const lastTurns = new Map([
			['a', 3],
			['b', 1],
		]);
		expect(names(inTurns(asking('a', 'a', 'b', 'c'), lastTurns))).toBe('c3 b2 a0 a1');
	});

	const people = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 });
	const history = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(50)));

	test('leave nobody out, and keep the order of each person', () => {
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

	test('never give anybody two more than another who still waits', () => {
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

test('a person who asks once is served next, however many requests of another person wait', async () => {
	const clock = createManualClock();
	const budget = createRequestBudget({ requestsPerMinute: 50, clock });
	const granted: string[] = [];
	const ask = (person: string) => void budget.acquire('person', { person }).then(() => granted.push(person));
	for (let n = 0; n < 200; n++) ask('flood');
	await clock.advance(1_000);
	const before = granted.length;
	expect(before).toBeLessThan(50);
	for (const person of ['ann', 'bob']) ask(person);
	await clock.advance(62_000);
	expect(granted.slice(before, before + 3).toSorted()).toEqual(['ann', 'bob', 'flood']);
});

test('turns go on round from one free request to the next', async () => {
	const clock = createManualClock();
	const budget = createRequestBudget({ requestsPerMinute: 10, clock });
	const granted: string[] = [];
	const ask = (person: string) => void budget.acquire('person', { person }).then(() => granted.push(person));
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
