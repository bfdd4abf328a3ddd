import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { HandraiseError } from '../../src/kernel/errors.ts';
import { createLeaseLoop, type LeaseQueueOptions, leaseQueue } from '../../src/kernel/lease-loop.ts';
import { createRecordingLog } from '../store/support.ts';

interface Job {
	readonly id: string;
	readonly dueAt: number;
}

type Clock = ReturnType<typeof createManualClock>;

/** A queue in memory. A job whose name begins with `long` goes on until it is finished or cut short. */
function jobsOf(clock: Clock, options: Partial<LeaseQueueOptions<Job>>) {
	let onChange = () => {};
	const queue: Job[] = [];
	const begun: { readonly id: string; readonly at: number }[] = [];
	const released: string[] = [];
	const finish = new Map<string, () => void>();
	const store = { isAway: false, lost: new Set<string>(), renewals: 0, takes: 0 };
	const described = leaseQueue<Job>({
		itemsName: 'jobs',
		rows: {
			onChange(listener) {
				onChange = listener;
			},
		},
		concurrency: 2,
		async take(_lease, room) {
			store.takes += 1;
			if (store.isAway) throw new HandraiseError('away', { code: 'store_unavailable' });
			const due = queue.filter(({ dueAt }) => dueAt <= clock.now()).slice(0, room);
			for (const job of due) queue.splice(queue.indexOf(job), 1);
			return due;
		},
		async nextDueAt() {
			if (store.isAway) throw new HandraiseError('away', { code: 'store_unavailable' });
			return queue.length === 0 ? null : Math.min(...queue.map(({ dueAt }) => dueAt));
		},
		async work({ id }, _token, signal) {
			begun.push({ id, at: clock.now() });
			if (id.startsWith('broken')) throw new Error('broken');
			if (!id.startsWith('long')) return;
			await new Promise<void>((resolve, reject) => {
				finish.set(id, resolve);
				if (!id.startsWith('long deaf')) signal.addEventListener('abort', () => reject(signal.reason), { once: true });
			});
		},
		async renew(held) {
			store.renewals += 1;
			return held.filter(({ item }) => !store.lost.has(item.id));
		},
		release: async (held) => void released.push(...held.map(({ item }) => item.id)),
		...options,
	});
	const begunIds = () => begun.map(({ id }) => id);
	return { described, queue, begun, begunIds, released, finish, store, change: () => onChange() };
}

/** A loop on a queue in memory, and on `others`. */
function setting(options: Partial<LeaseQueueOptions<Job>> = {}, ...others: Partial<LeaseQueueOptions<Job>>[]) {
	const manual = createManualClock(0);
	const clock = {
		...manual,
		get sleeping() {
			return manual.sleeping;
		},
		/** A change of rows and an end of work wake the loop a turn of the event loop later. */
		async advance(ms: number) {
			await manual.advance(0);
			await manual.advance(ms);
			await setImmediate();
		},
	};
	const log = createRecordingLog();
	const jobs = jobsOf(clock, options);
	const otherJobs = others.map((other) => jobsOf(clock, other));
	const all = [jobs, ...otherJobs];
	const loop = createLeaseLoop({ clock, log }, ...all.map(({ described }) => described));
	loop.start();
	onTestFinished(async () => {
		for (const { finish } of all) for (const end of finish.values()) end();
		await loop.stop();
	});
	return { ...jobs, others: otherJobs, clock, log, loop, stop: loop.stop };
}

it('takes stored items at once when rows were changed or it is woken, and otherwise at its next look', async () => {
	const { clock, queue, loop, change, begun } = setting();
	await clock.advance(300);
	queue.push({ id: 'woken', dueAt: 0 });
	loop.wake();
	await clock.advance(100);
	queue.push({ id: 'told', dueAt: 0 });
	change();
	await clock.advance(0);
	queue.push({ id: 'found', dueAt: 0 });
	await clock.advance(30_000);
	expect(begun).toEqual([
		{ id: 'woken', at: 300 },
		{ id: 'told', at: 400 },
		{ id: 'found', at: 30_400 },
	]);
});

it('does not look while nothing changes', async () => {
	let looks = 0;
	const { clock, change } = setting({
		nextDueAt: async () => {
			looks += 1;
			return null;
		},
	});
	await clock.advance(29_000);
	expect(looks).toBe(1);
	change();
	await clock.advance(29_000);
	expect(looks).toBe(2);
});

it('renews while something is leased, and otherwise sleeps until its next look alone', async () => {
	const { clock, queue, change, finish, store } = setting();
	await clock.advance(0);
	expect(clock.sleeping).toBe(1);
	for (const id of ['long', 'long again']) {
		queue.push({ id, dueAt: 0 });
		change();
		await clock.advance(4_000);
		expect(clock.sleeping).toBe(2);
		const before = store.renewals;
		await clock.advance(16_000);
		expect(store.renewals).toBe(before + 4);
		finish.get(id)?.();
		await clock.advance(0);
		expect(clock.sleeping).toBe(1);
	}
});

it('looks again when rows were changed during a look', async () => {
	let looks = 0;
	const { clock, queue, change, begunIds } = setting({
		async nextDueAt() {
			looks += 1;
			if (looks > 1) return queue.length > 0 ? 0 : null;
			queue.push({ id: 'stored after the look', dueAt: 0 });
			change();
			return null;
		},
	});
	await clock.advance(0);
	expect(begunIds()).toEqual(['stored after the look']);
});

it('looks once when work ends right after its commit, and not for what a look or a take has found', async () => {
	const looks: number[] = [];
	const dueAt = [123, 5_000];
	const { clock, change } = setting({
		async nextDueAt() {
			looks.push(clock.now());
			return dueAt[0] ?? null;
		},
		take: async () => (dueAt.shift() === undefined ? [] : [{ id: 'short', dueAt: 0 }]),
		dueAfterTake: () => dueAt[0] ?? null,
		async work() {
			await clock.sleep(100);
			change();
		},
	});
	await clock.advance(223);
	await clock.advance(777);
	expect(looks).toEqual([0, 223]);
});

it('takes the next item when it is due', async () => {
	const { clock, queue, begun } = setting();
	queue.push({ id: 'later', dueAt: 123 });
	await clock.advance(1_000);
	expect(begun).toEqual([{ id: 'later', at: 123 }]);
});

it('works on a limited number of items at once, and takes the next one when one ends', async () => {
	const { clock, queue, begunIds, finish } = setting();
	for (const id of ['long 1', 'long 2', 'short']) queue.push({ id, dueAt: 0 });
	await clock.advance(5_000);
	expect(begunIds()).toEqual(['long 1', 'long 2']);
	finish.get('long 1')?.();
	await clock.advance(0);
	expect(begunIds()).toEqual(['long 1', 'long 2', 'short']);
});

it('pauses between takes while due items cannot be taken', async () => {
	const { clock, store } = setting({ nextDueAt: async () => 0, take: async () => [] });
	await clock.advance(1_000);
	const before = store.takes;
	await clock.advance(1_000);
	expect(store.takes - before).toBeLessThanOrEqual(20);
});

it('reports failed work and takes the next item', async () => {
	const { clock, queue, begunIds, log } = setting();
	for (const id of ['broken', 'next']) queue.push({ id, dueAt: 0 });
	await clock.advance(0);
	expect(begunIds()).toEqual(['broken', 'next']);
	expect(log.lines).toMatchObject([
		{ level: 'warn', fields: { event: 'work_failed', rows: 'jobs', code: 'internal' } },
	]);
});

it('logs an outage of the store once and goes on after it', async () => {
	const { clock, queue, begunIds, store, log } = setting();
	store.isAway = true;
	queue.push({ id: 'waits', dueAt: 0 });
	await clock.advance(10_000);
	expect(log.lines).toMatchObject([
		{ level: 'warn', fields: { event: 'take_failed', rows: 'jobs', code: 'store_unavailable' } },
	]);
	store.isAway = false;
	await clock.advance(1_000);
	expect(begunIds()).toEqual(['waits']);
	store.isAway = true;
	await clock.advance(30_000);
	expect(log.lines).toHaveLength(2);
});

it('renews leases during work, and aborts work that lost its lease', async () => {
	const { clock, queue, store, begunIds, log } = setting({ concurrency: 1 });
	queue.push({ id: 'long', dueAt: 0 }, { id: 'next', dueAt: 0 });
	await clock.advance(20_000);
	expect(store.renewals).toBeGreaterThanOrEqual(3);
	expect(begunIds()).toEqual(['long']);
	store.lost.add('long');
	await clock.advance(5_000);
	expect(begunIds()).toEqual(['long', 'next']);
	expect(log.lines).toEqual([]);
});

it('gives back the lease of work that a stop aborts, and takes nothing more', async () => {
	const { clock, queue, released, begunIds, stop } = setting({ concurrency: 1 });
	queue.push({ id: 'long', dueAt: 0 }, { id: 'next', dueAt: 0 });
	await clock.advance(0);
	await stop();
	expect(released).toEqual(['long']);
	expect(begunIds()).toEqual(['long']);
});

it('waits `drainMs` for work that ignores the stop, then gives its lease back', async () => {
	const { clock, queue, released, stop } = setting({ drainMs: 8_000 });
	queue.push({ id: 'long deaf', dueAt: 0 });
	await clock.advance(0);
	const stopped = stop();
	await clock.advance(7_999);
	expect(released).toEqual([]);
	await clock.advance(1);
	await stopped;
	expect(released).toEqual(['long deaf']);
});

it('waits without limit for work that ignores the stop when there is no `drainMs`', async () => {
	const { clock, queue, released, finish, stop } = setting();
	queue.push({ id: 'long deaf', dueAt: 0 });
	await clock.advance(0);
	const stopped = stop().then(() => clock.now());
	await clock.advance(60_000);
	finish.get('long deaf')?.();
	expect(await stopped).toBe(60_000);
	expect(released).toEqual([]);
});

it('works on several queues, each with its own limit, also while one cannot be taken', async () => {
	const { clock, queue, begunIds, store, log, others } = setting({ concurrency: 1 }, { itemsName: 'others' });
	const [other] = others;
	store.isAway = true;
	for (const [place, jobs] of [queue, other?.queue ?? []].entries())
		for (const id of ['long 1', 'long 2', 'long 3']) jobs.push({ id, dueAt: place });
	await clock.advance(10);
	expect([begunIds(), other?.begunIds()]).toEqual([[], ['long 1', 'long 2']]);
	store.isAway = false;
	await clock.advance(1_000);
	expect([begunIds(), other?.begunIds()]).toEqual([['long 1'], ['long 1', 'long 2']]);
	other?.finish.get('long 2')?.();
	await clock.advance(0);
	expect([begunIds(), other?.begunIds()]).toEqual([['long 1'], ['long 1', 'long 2', 'long 3']]);
	expect(log.lines).toMatchObject([{ fields: { event: 'take_failed', rows: 'jobs' } }]);
});

it('wakes for a change of any of its queues, and takes of each what is due next', async () => {
	const { clock, queue, begun, others } = setting({}, {});
	const [other] = others;
	queue.push({ id: 'later', dueAt: 500 });
	await clock.advance(100);
	other?.queue.push({ id: 'told', dueAt: 0 }, { id: 'next', dueAt: 700 });
	other?.change();
	await clock.advance(900);
	expect(begun).toEqual([{ id: 'later', at: 500 }]);
	expect(other?.begun).toEqual([
		{ id: 'told', at: 100 },
		{ id: 'next', at: 700 },
	]);
});

it('gives back the leases of all its queues when it stops, and renews them until the last has ended', async () => {
	const { clock, queue, released, stop, others } = setting({}, { drainMs: 20_000 });
	const [other] = others;
	queue.push({ id: 'long', dueAt: 0 });
	other?.queue.push({ id: 'long deaf', dueAt: 0 });
	await clock.advance(0);
	const stopped = stop();
	await clock.advance(19_999);
	expect([released, other?.released]).toEqual([['long'], []]);
	expect(other?.store.renewals).toBeGreaterThanOrEqual(3);
	await clock.advance(1);
	await stopped;
	expect(other?.released).toEqual(['long deaf']);
});
