import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import type { SharedState } from '../../src/kernel/memory.ts';
import { createRequestBudget } from '../../src/service/budget.ts';
import type { RequestPriority } from '../../src/service/service.ts';
import type { BudgetState } from '../../src/service/token-bucket.ts';
import { createSharedState } from '../../src/store/shared-states.ts';
import type { Replicas } from '../store/contract.ts';
import { openReplicas } from '../store/postgres-replicas.ts';
import { runs } from '../support/runs.ts';

let replicas: Replicas;
beforeAll(async () => {
	replicas = await openReplicas();
});
afterAll(() => replicas.close());

let rows = 0;

/** Two processes, each with its own connections, on a new row. */
function start(requestsPerMinute: number) {
	const clock = createManualClock();
	const name = `budget:${++rows}`;
	const running = new Set<Promise<unknown>>();
	const budgets = [replicas.store, replicas.replica].map(({ db }) => {
		const row = createSharedState<BudgetState>({ db, clock }, name);
		const sharedState: SharedState<BudgetState> = {
			update(change) {
				const update = row.update(change).finally(() => running.delete(update));
				running.add(update);
				return update;
			},
		};
		const budget = createRequestBudget({ requestsPerMinute, clock, sharedState });
		budget.took(50);
		return budget;
	});

	/** Lets all statements that run end, and what follows them. */
	async function settle(): Promise<void> {
		do {
			await Promise.allSettled(running);
			await clock.advance(0);
		} while (running.size > 0);
	}

	/** Lets time pass from one wake to the next one. */
	async function pass(ms: number): Promise<void> {
		const end = clock.now() + ms;
		for (;;) {
			await settle();
			const next = clock.nextWake;
			if (next === null || next > end) break;
			await clock.advance(next - clock.now());
		}
		await clock.advance(end - clock.now());
	}

	return { clock, budgets, settle, pass };
}

const steps = fc.array(
	fc.record({
		wait: fc.oneof(fc.constant(0), fc.nat(3_000), fc.nat(40_000)),
		priority: fc.constantFrom<RequestPriority>('delivery', 'person', 'background'),
		times: fc.constantFrom(1, 3, 8),
	}),
	{ maxLength: 12 },
);

it('two processes send no more than the limit together in any 60 s, and everything in the end', async () => {
	await fc.assert(
		fc.asyncProperty(fc.integer({ min: 10, max: 30 }), steps, async (limit, asked) => {
			const { clock, budgets, settle, pass } = start(limit);
			const sent: number[] = [];
			let count = 0;
			for (const { wait, priority, times } of asked) {
				await pass(wait);
				for (let n = 0; n < times; n++)
					for (const budget of budgets) {
						count++;
						void budget.acquire(priority).then(() => sent.push(clock.now()));
					}
			}
			await settle();
			while (clock.sleeping > 0) await pass(62_000);
			expect(sent).toHaveLength(count);
			for (const [index, at] of sent.entries())
				expect((sent[index + limit] ?? Number.POSITIVE_INFINITY) - at).toBeGreaterThan(60_000);
		}),
		{ numRuns: runs(12) },
	);
});

it('a 429 and what the service has left hold for the other process too, also when the row is removed', async () => {
	const { clock, budgets, settle, pass } = start(250);
	const [one, other] = budgets;
	let granted = 0;
	const ask = (priority: RequestPriority) =>
		void other?.acquire(priority).then(() => {
			granted++;
		});
	ask('delivery');
	await settle();
	one?.observe({ remaining: 1, resetSeconds: 30, retryAfterSeconds: 20 });
	await settle();
	for (let n = 0; n < 3; n++) ask('delivery');
	await pass(19_999);
	expect(granted).toBe(1);
	await pass(1);
	expect(granted).toBe(2);
	await pass(9_999);
	expect(granted).toBe(2);
	await pass(1_000);
	expect(granted).toBe(4);
	// As after a clock that was set.
	one?.observe({ retryAfterSeconds: 300 });
	await settle();
	ask('person');
	await settle();
	await replicas.store.db.writeOne((trx) => trx.deleteFrom('shared_states').execute());
	await pass(60_000);
	expect(granted).toBe(5);
	expect(clock.sleeping).toBe(0);
});
