import { expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../fake-slack/index.ts';
import type { Cell } from '../../src/core/basics.ts';
import { createRequestBudget } from '../../src/session-service/budget.ts';
import type { BudgetState } from '../../src/session-service/budget-state.ts';
import type { RequestPriority } from '../../src/session-service/service.ts';

function createHarness(requestsPerMinute = 250) {
	const clock = createManualClock();
	const budget = createRequestBudget({ requestsPerMinute, clock });
	const granted: string[] = [];
	const ask = (name: string, priority: RequestPriority, options: Parameters<typeof budget.acquire>[1] = {}) =>
		budget.acquire(priority, options).then((grant) => {
			granted.push(name);
			return grant;
		});
	return { clock, budget, granted, ask };
}

it('a person does not wait while background asks for as much as it can get', async () => {
	const { clock, budget, ask, granted } = createHarness();
	for (let n = 0; n < 1_000; n++) void ask('poll', 'background');
	let longest = 0;
	// The share of people is 40 a minute.
	for (let n = 0; n < 80; n++) {
		const askedAt = clock.now();
		void ask('person', 'person').then(() => {
			longest = Math.max(longest, clock.now() - askedAt);
		});
		await clock.advance(1_550);
	}
	expect(granted.filter((name) => name === 'person')).toHaveLength(80);
	expect(longest).toBe(0);
	expect(budget.waiting('person')).toBe(0);
});

it('forty people at once do not wait, after any load of background and deliveries', async () => {
	const { clock, ask, granted } = createHarness();
	for (let n = 0; n < 300; n++) void ask('poll', 'background');
	for (let n = 0; n < 300; n++) void ask('delivery', 'delivery', { count: 2 });
	await clock.advance(30_000);
	for (let n = 0; n < 40; n++) void ask('person', 'person');
	await clock.advance(0);
	expect(granted.filter((name) => name === 'person')).toHaveLength(40);
});

it('grants deliveries first, then people, then background, each in the order of asking', async () => {
	const { clock, budget, ask, granted } = createHarness(10);
	budget.observe({ retryAfterSeconds: 30 }, 0);
	for (const name of ['poll 1', 'poll 2']) void ask(name, 'background');
	for (const name of ['person 1', 'person 2']) void ask(name, 'person');
	for (const name of ['delivery 1', 'delivery 2']) void ask(name, 'delivery');
	await clock.advance(29_999);
	expect(granted).toEqual([]);
	await clock.advance(1);
	expect(granted).toEqual(['delivery 1', 'delivery 2', 'person 1', 'person 2', 'poll 1', 'poll 2']);
});

it('grants a request ahead of others of its priority, and of no other priority', async () => {
	const { clock, budget, ask, granted } = createHarness(10);
	budget.observe({ retryAfterSeconds: 30 }, 0);
	for (const name of ['poll 1', 'poll 2']) void ask(name, 'background');
	void ask('list', 'background', { ahead: true });
	void ask('person', 'person');
	await clock.advance(30_000);
	expect(granted).toEqual(['person', 'list', 'poll 1', 'poll 2']);
});

it('a waiting delivery holds back requests beyond their share, and no person within it', async () => {
	const { clock, ask, granted } = createHarness(50);
	// 4 are kept for deliveries, 8 for people.
	for (let n = 0; n < 42; n++) void ask('early', 'delivery');
	void ask('late delivery', 'delivery');
	for (let n = 0; n < 9; n++) void ask(`person ${n}`, 'person');
	void ask('poll', 'background');
	await clock.advance(0);
	expect(granted.slice(42)).toEqual(Array.from({ length: 8 }, (_, n) => `person ${n}`));
	await clock.advance(62_000);
	expect(granted.slice(50)).toEqual(['late delivery', 'person 8', 'poll']);
});

it('single requests do not overtake a waiting pair for ever', async () => {
	const { clock, ask, granted } = createHarness(10);
	for (let n = 0; n < 10; n++) {
		await ask('early', n % 2 ? 'person' : 'delivery');
		await clock.advance(1_000);
	}
	void ask('pair', 'delivery', { count: 2 });
	for (let n = 0; n < 5; n++) void ask('person', 'person');
	// Two early requests have left the window, one after the other.
	await clock.advance(53_000);
	expect(granted.slice(10)).toEqual(['pair']);
	await clock.advance(60_000);
	expect(granted.slice(11)).toEqual(Array.from({ length: 5 }, () => 'person'));
});

it('a pair is granted together and resolves to the number of its second request', async () => {
	const { budget, ask } = createHarness();
	expect(await ask('pair', 'delivery', { count: 2 })).toBe(2);
	expect(await ask('one', 'person')).toBe(3);
	expect(budget.usage()).toMatchObject({ limit: 250, free: 247, delivery: 2, person: 1, background: 0 });
});

it('an aborted request is not charged and makes room', async () => {
	const { clock, budget, ask, granted } = createHarness(10);
	for (let n = 0; n < 9; n++) void ask('early', 'delivery');
	const leaving = new AbortController();
	const gone = ask('gone', 'delivery', { count: 2, signal: leaving.signal });
	void ask('stays', 'delivery', { count: 1 });
	await clock.advance(1_000);
	leaving.abort(new Error('left'));
	await expect(gone).rejects.toThrow('left');
	await clock.advance(62_000);
	expect(granted).toContain('stays');
	expect(budget.usage().delivery).toBeLessThanOrEqual(9);
	await expect(budget.acquire('person', { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
		'too late',
	);
});

it('refuses at once a deadline that cannot be kept, and others when they pass', async () => {
	const { clock, budget, ask } = createHarness();
	const waiting = ask('poll', 'background', { deadline: clock.now() + 8_000 });
	await waiting;
	budget.observe({ retryAfterSeconds: 28 }, 1);
	const deadline = clock.now() + 8_000;
	await expect(ask('person', 'person', { deadline })).rejects.toMatchObject({
		code: 'rate_limited',
		retryAt: clock.now() + 28_000,
	});
	await clock.advance(28_000);
	for (let n = 0; n < 230; n++) void ask('person', 'person');
	// A request before this one may still leave, so this one waits until its deadline.
	const late = ask('one more', 'person', { deadline: clock.now() + 61_000 }).catch(
		(error: { code: string }) => error.code,
	);
	await clock.advance(60_999);
	expect(budget.waiting('person')).toBe(1);
	await clock.advance(1);
	// This is our own limit, not one of the service.
	expect(await late).toBe('no_permit');
});

it('refuses at once a request whose deadline is before the end of a new pause', async () => {
	const { clock, budget, ask } = createHarness();
	for (let n = 0; n < 4; n++) await ask('poll', 'background');
	const waiting = ask('poll', 'background', { deadline: clock.now() + 10_000 });
	budget.observe({ retryAfterSeconds: 60 }, 4);
	await expect(waiting).rejects.toMatchObject({ code: 'rate_limited' });
	await clock.advance(0);
	expect(clock.sleeping).toBe(0);
});

it('other clients behind the same address slow down background, not deliveries', async () => {
	const { clock, budget, ask, granted } = createHarness();
	budget.observe({ limit: 250, remaining: 40, resetSeconds: 30 }, 0);
	for (let n = 0; n < 5; n++) void ask('poll', 'background');
	void ask('delivery', 'delivery', { count: 2 });
	void ask('person', 'person');
	await clock.advance(29_000);
	expect(granted).toEqual(['delivery', 'person']);
	await clock.advance(2_000);
	expect(granted.filter((name) => name === 'poll').length).toBeGreaterThan(0);
});

it('a whole day of full load never exceeds the limit of a fixed window, wherever it begins', async () => {
	const { clock, ask } = createHarness(30);
	const at: number[] = [];
	for (let minute = 0; minute < 20; minute++) {
		for (let n = 0; n < 10; n++) void ask('poll', 'background').then(() => at.push(clock.now()));
		for (let n = 0; n < 6; n++) void ask('person', 'person').then(() => at.push(clock.now()));
		for (let n = 0; n < 6; n++) void ask('delivery', 'delivery').then(() => at.push(clock.now()));
		await clock.advance(37_000);
	}
	for (const first of at) {
		expect(at.filter((moment) => moment >= first && moment <= first + 60_000).length).toBeLessThanOrEqual(30);
	}
	expect(at.length).toBeGreaterThan(200);
});

/** A cell as in a database: the state is JSON, transactions run one after the other and take time. */
function databaseCell(): Cell<BudgetState> & { away: boolean } {
	let row: string | null = null;
	let last: Promise<unknown> = Promise.resolve();
	return {
		away: false,
		update(change) {
			const transaction = last.then(async () => {
				await new Promise<void>((resolve) => setImmediate(resolve));
				if (this.away) throw new Error('the database is away');
				// The first try is rolled back, as after a conflict.
				change(row === null ? null : (JSON.parse(row) as BudgetState));
				const { state, result } = change(row === null ? null : (JSON.parse(row) as BudgetState));
				row = JSON.stringify(state);
				return result;
			});
			last = transaction.catch(() => undefined);
			return transaction;
		},
	};
}

async function advanceSlowly(clock: ManualClock, ms: number, step = 500): Promise<void> {
	for (let moved = 0; moved < ms; moved += step) {
		await clock.advance(step);
		// Transactions take a few turns of the event loop.
		for (let turn = 0; turn < 8; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
	}
}

it('replicas that share a cell keep to one limit, and their people do not wait', async () => {
	const clock = createManualClock();
	const cell = databaseCell();
	const replicas = [1, 2, 3].map(() => createRequestBudget({ requestsPerMinute: 60, clock, cell }));
	const at: number[] = [];
	const note = () => at.push(clock.now());
	for (const replica of replicas) for (let n = 0; n < 100; n++) void replica.acquire('background').then(note);
	await advanceSlowly(clock, 30_000);
	let people = 0;
	for (let n = 0; n < 9; n++) {
		void replicas[n % 3]?.acquire('person').then(() => {
			note();
			people++;
		});
	}
	await advanceSlowly(clock, 500);
	expect(people).toBe(9);
	await advanceSlowly(clock, 100_000);
	for (const first of at) {
		expect(at.filter((moment) => moment >= first && moment <= first + 60_000).length).toBeLessThanOrEqual(60);
	}
	expect(at.length).toBeGreaterThan(60);
	const numbers = await Promise.all(replicas.map((replica) => replica.acquire('person')));
	expect(new Set(numbers).size).toBe(3);
});

it('a pause that one replica observes holds for the others', async () => {
	const clock = createManualClock();
	const cell = databaseCell();
	const [one, other] = [1, 2].map(() => createRequestBudget({ clock, cell }));
	one?.observe({ retryAfterSeconds: 20 }, 0);
	let granted = false;
	void other?.acquire('delivery').then(() => {
		granted = true;
	});
	await advanceSlowly(clock, 19_500);
	expect(granted).toBe(false);
	await advanceSlowly(clock, 1_000);
	expect(granted).toBe(true);
});

it('grants nothing while the cell cannot be read, keeps deadlines, and goes on afterwards', async () => {
	const clock = createManualClock();
	const cell = databaseCell();
	const budget = createRequestBudget({ clock, cell });
	cell.away = true;
	const hasty = budget
		.acquire('person', { deadline: clock.now() + 8_000 })
		.catch((error: { code: string }) => error.code);
	let granted = false;
	void budget.acquire('delivery').then(() => {
		granted = true;
	});
	budget.observe({ remaining: 5, resetSeconds: 60 }, 0);
	await advanceSlowly(clock, 10_000);
	expect(granted).toBe(false);
	expect(await hasty).toBe('no_permit');
	cell.away = false;
	await advanceSlowly(clock, 2_000);
	expect(granted).toBe(true);
	expect(clock.sleeping).toBe(0);
});
