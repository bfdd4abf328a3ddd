import { expect, it } from 'vitest';
import { PRIORITIES } from '../../src/session-service/budget-state.ts';
import { ANSWERS, createHarness, send, until } from './harness.ts';

it('ten minutes without the service leave no waiting call, and the next call works', async () => {
	const { service, client, clock, budget, calls } = await createHarness();
	const rejections: unknown[] = [];
	const note = (reason: unknown) => rejections.push(reason);
	process.on('unhandledRejection', note);
	try {
		await client.read('s1', { priority: 'person' });
		await service.goDown();
		const codes = new Set<string>();
		let running = 0;
		const call = async (run: () => Promise<unknown>) => {
			running++;
			await run().catch((error: { code: string }) => codes.add(error.code));
			running--;
		};
		const downSince = clock.now();
		while (clock.now() - downSince < 600_000) {
			void call(() => client.read('s1', { priority: 'person' }));
			void call(() => client.read(`other-${clock.now()}`, { priority: 'background' }));
			void call(() => send(client, 's1', 1, ANSWERS));
			void call(async () => (await client.reserveDelivery()).read('s1'));
			await clock.advance(10_000);
		}
		// Every call ends, and none still waits or sleeps.
		await until(() => {
			void clock.advance(1_000);
			return running === 0;
		});
		expect(clock.sleeping).toBe(0);
		expect(PRIORITIES.map(budget.waiting)).toEqual([0, 0, 0]);
		expect([...codes].every((code) => ['unavailable', 'timed_out', 'rate_limited'].includes(code))).toBe(true);
		expect(codes).toContain('unavailable');
		await service.comeBack();
		const before = calls.length;
		await clock.advance(70_000);
		expect((await client.read('s1', { priority: 'person' })).session.status).toBe('humanInput');
		await send(client, 's1', 1, ANSWERS);
		expect(
			calls
				.slice(before)
				.map((report) => report.outcome)
				.at(-1),
		).toBe('ok');
		expect(rejections).toEqual([]);
	} finally {
		process.off('unhandledRejection', note);
	}
});
