import { expect, it } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import type { Metrics } from '../../../src/core/metrics.ts';
import type { ListedWaiting } from '../../../src/database/watch.ts';
import type { SessionStore } from '../../../src/database/watch-store.ts';
import { createWaitingReads } from '../../../src/features/discover/listing.ts';
import { coreOf } from '../../support/core.ts';

/**
 * A list every 2 s. `contradicts`: sessions whose reads never show that they wait. `changes`: whether each read finds
 * something new.
 */
function start({ contradicts = [], changes = false }: { contradicts?: readonly string[]; changes?: boolean } = {}) {
	const clock = createManualClock();
	const startedAt = clock.now();
	const asked: { readonly id: string; readonly at: number; readonly absentAt: number | null }[] = [];
	const seconds = (at: number | null) => (at === null ? null : (at - startedAt) / 1_000);
	const counts = { reads: 0 };
	const watches = {
		async readWaiting(_service: string, sessions: readonly ListedWaiting[]) {
			const now = clock.now();
			for (const { sessionId: id, absentAt } of sessions) {
				asked.push({ id, at: seconds(now) ?? 0, absentAt: seconds(absentAt) });
			}
			return sessions
				.filter(({ sessionId, moved }) => {
					const isHeld = moved !== null && now < moved.until && !changes;
					return !isHeld && contradicts.includes(sessionId);
				})
				.map(({ sessionId }) => ({ sessionId, hasChanged: changes }));
		},
	};
	const listing = {
		listedReads(count: number) {
			counts.reads += count;
		},
	};
	const core = coreOf({
		store: { sessions: watches as unknown as SessionStore },
		serviceUrl: 'https://service.example',
		metrics: { listing: listing as unknown as Metrics['listing'] },
		clock,
	});
	const onList = createWaitingReads(core);
	async function lists(times: number, ids: readonly string[], isComplete = true): Promise<void> {
		for (let time = 0; time < times; time += 1) {
			const sessions = ids.map((sessionId) => ({ sessionId, name: '', status: 'humanInput', updatedAt: null }));
			await onList({ sessions, isComplete, requestCount: 1, tookMs: 0 });
			await clock.advance(2_000);
		}
	}
	return { asked, counts, lists, timesOf: (id: string) => asked.filter((one) => one.id === id).map(({ at }) => at) };
}

it('compares a session that newly waits at once, and then every 30 s', async () => {
	const { lists, asked, timesOf } = start();
	await lists(2, []);
	await lists(32, ['a']);
	expect(timesOf('a')).toEqual([4, 34, 64]);
	expect(asked[0]).toEqual({ id: 'a', at: 4, absentAt: 2 });
});

it('compares a session again at once that was gone from the list in between', async () => {
	const { lists, asked } = start();
	await lists(1, ['a']);
	await lists(1, []);
	await lists(1, ['a']);
	expect(asked).toEqual([
		{ id: 'a', at: 0, absentAt: null },
		{ id: 'a', at: 4, absentAt: 2 },
	]);
});

it('takes a session for absent only after a list with all sessions', async () => {
	const { lists, asked } = start();
	await lists(1, ['b'], false);
	await lists(1, ['a', 'b'], false);
	expect(asked).toContainEqual({ id: 'a', at: 2, absentAt: null });
});

it('knows from the newest list with all sessions that one was absent, whatever lists come after it', async () => {
	const { lists, asked } = start();
	await lists(1, []);
	await lists(1, ['b'], false);
	await lists(1, ['a', 'b'], false);
	expect(asked).toContainEqual({ id: 'a', at: 4, absentAt: 0 });
});

it('does not take a session for absent that a list without all sessions leaves out', async () => {
	const { lists, asked } = start();
	await lists(1, ['a']);
	await lists(1, ['b'], false);
	await lists(1, ['a', 'b']);
	expect(asked.filter(({ id }) => id === 'a')).toEqual([{ id: 'a', at: 0, absentAt: null }]);
});

it('asks ever more rarely for a session whose reads contradict the list', async () => {
	const { lists, timesOf, counts } = start({ contradicts: ['lie'] });
	await lists(150, ['lie', 'true']);
	expect(timesOf('lie')).toEqual([0, 30, 90, 210]);
	expect(timesOf('true').slice(0, 4)).toEqual([0, 30, 60, 90]);
	expect(counts).toEqual({ reads: 4 });
});

it('reads a session ever more rarely that comes and goes in lists and never changes', async () => {
	const { lists, counts } = start({ contradicts: ['a'] });
	for (let time = 0; time < 150; time += 1) {
		await lists(1, ['a']);
		await lists(1, []);
	}
	// In 10 minutes: after 0, 30, 60, 120, 240 and 480 s.
	expect(counts.reads).toBeLessThanOrEqual(6);
});

it('reads a session each time that it comes back when it asks something new each time', async () => {
	const { lists, counts } = start({ contradicts: ['a'], changes: true });
	for (let time = 0; time < 20; time += 1) {
		await lists(1, ['a']);
		await lists(1, []);
	}
	expect(counts.reads).toBe(20);
});
