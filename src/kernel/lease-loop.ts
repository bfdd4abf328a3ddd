import { setImmediate } from 'node:timers/promises';
import { type Clock, createWaker, within } from './clock.ts';
import { codeOf } from './errors.ts';
import type { Log } from './log.ts';

export interface LeasedItem<Item> {
	readonly item: Item;
	readonly token: string;
}

/** The table that is a loop's queue. */
export interface QueuedRows {
	/** Calls `listener` after each commit of this process that may make rows due, and at times for what others stored. */
	onChange(listener: () => void): void;
}

export interface LeaseQueueOptions<Item> {
	readonly itemsName: string;
	readonly rows: QueuedRows;
	readonly concurrency: number;
	readonly prepare?: () => Promise<void>;
	/** Leases at most `room` due items. `running`: the items in work, for limits of its own. */
	readonly take: (lease: Lease, room: number, running: readonly Item[]) => Promise<readonly Item[]>;
	/** When the next item is due, or something changes without a change of the rows; null: nothing is known. */
	readonly nextDueAt: (running: readonly Item[]) => Promise<number | null>;
	/**
	 * The same as the newest take has found it; null: it did not, so a look follows. With it, what is known to be due is
	 * taken at its time without another look: for rows that are due again and again.
	 */
	readonly dueAfterTake?: () => number | null;
	/** Gives the lease back as it writes; it lapses after a failure. `signal`: it is lost, or the loop stops. */
	readonly work: (item: Item, token: string, signal: AbortSignal) => Promise<void>;
	/** Logs that `work` rejected. Left out: the code of the error as a warning. */
	readonly logFailure?: (item: Item, error: unknown) => void;
	/** Prolongs these leases; returns those still held. Left out where `LEASE_MS` is longer than any work. */
	readonly renew?: (held: readonly LeasedItem<Item>[], leaseMs: number) => Promise<readonly LeasedItem<Item>[]>;
	/** Gives these leases back, unless they were lost or given back already. */
	readonly release: (held: readonly LeasedItem<Item>[]) => Promise<void>;
	/** How long work may go on after an abort. Left out: without limit, as nobody may begin before its end. */
	readonly drainMs?: number;
}

/** A dead process's items are due again after this. Longer than the wait before a call to Slack and its time-out. */
export const LEASE_MS = 25_000;

/** The same of leases that are renewed. */
const RENEWED_LEASE_MS = 20_000;

/** While the store fails, it is tried again this often. */
const RETRY_MS = 1_000;

/** The longest rest of a loop that nothing wakes: a timer has a longest time. */
const REST_MS = 30_000;

/** The pause after due items could not be taken, because another replica is taking them. */
const CONTENDED_MS = 10;

const RENEWALS_PER_LEASE = 4;

/** What queues of one loop share. */
interface Loop {
	readonly clock: Clock;
	readonly log: Log;
	readonly shutdownSignal: AbortSignal;
	/** Has the loop take again soon: work often ends right after a commit of its own, and the look then sees both. */
	wakeSoon(): Promise<void>;
}

/** A table that is its own queue, as a loop works on it. */
export type LeaseQueue = (loop: Loop) => {
	readonly rows: QueuedRows;
	/** Takes what is due. Returns the milliseconds until the next turn. Never rejects: it delays no other queue. */
	turn(): Promise<number>;
	/** Renews leases until the signal is aborted, then rejects. */
	keepLeases(drained: AbortSignal): Promise<void>;
	/** Waits for the running work and gives back the leases of work that was cut short. */
	drain(): Promise<void>;
};

/** Describes a queue for `createLeaseLoop`. */
export function leaseQueue<Item>(options: LeaseQueueOptions<Item>): LeaseQueue {
	const { itemsName, concurrency, drainMs, rows, prepare, take, nextDueAt, dueAfterTake, work, renew, release } =
		options;
	const leaseMs = renew === undefined ? LEASE_MS : RENEWED_LEASE_MS;
	return ({ clock, log, shutdownSignal, wakeSoon }) => {
		const warn = (_: Item, error: unknown) => log.warn('work_failed', { rows: itemsName, code: codeOf(error) });
		const { logFailure = warn } = options;
		/** With which code the turn before failed; null: it did not. */
		let problem: string | null = null;
		/** When the next item is due, as the newest look or take found; null: not known. */
		let foundDueAt: number | null = null;
		const running = new Set<LeasedItem<Item> & { readonly lost: AbortController; readonly done: Promise<void> }>();
		const cutShort: LeasedItem<Item>[] = [];

		function begin(item: Item, token: string): void {
			const lost = new AbortController();
			const done = work(item, token, AbortSignal.any([shutdownSignal, lost.signal]))
				.catch((error: unknown) => {
					if (shutdownSignal.aborted) cutShort.push({ item, token });
					else if (!lost.signal.aborted) logFailure(item, error);
				})
				.finally(() => {
					running.delete(entry);
					void wakeSoon();
				});
			const entry = { item, token, lost, done };
			running.add(entry);
		}

		async function takeDue(): Promise<number> {
			await prepare?.();
			const room = concurrency - running.size;
			if (room <= 0) return REST_MS;
			const items = Array.from(running, ({ item }) => item);
			// A look costs less than a take, which may begin a transaction.
			if (foundDueAt === null || foundDueAt > clock.now()) {
				const dueAt = await nextDueAt(items);
				if (dueAt === null) return REST_MS;
				const untilDue = dueAt - clock.now();
				if (dueAfterTake !== undefined) foundDueAt = dueAt;
				if (untilDue > 0) return Math.min(REST_MS, untilDue);
			}
			const token = crypto.randomUUID();
			const taken = await take({ token, ms: leaseMs }, room, items);
			for (const item of taken) begin(item, token);
			foundDueAt = taken.length > 0 ? (dueAfterTake?.() ?? null) : null;
			if (foundDueAt !== null) return Math.min(REST_MS, foundDueAt - clock.now());
			return taken.length > 0 ? 0 : CONTENDED_MS;
		}

		return {
			rows,

			async turn() {
				const outcome = await takeDue().catch(codeOf);
				const code = typeof outcome === 'string' ? outcome : null;
				if (code !== null && code !== problem && !shutdownSignal.aborted)
					log.warn('take_failed', { rows: itemsName, code });
				problem = code;
				return typeof outcome === 'number' ? outcome : RETRY_MS;
			},

			async keepLeases(drained) {
				while (renew !== undefined) {
					await clock.sleep(leaseMs / RENEWALS_PER_LEASE, drained);
					const held = [...running];
					if (held.length === 0) continue;
					try {
						const kept = new Set(await renew(held, leaseMs));
						for (const entry of held) if (!kept.has(entry)) entry.lost.abort();
					} catch (error) {
						log.warn('lease_not_renewed', { rows: itemsName, code: codeOf(error) });
					}
				}
			},

			async drain() {
				const done = Promise.all(Array.from(running, (entry) => entry.done));
				await (drainMs === undefined ? done : within<unknown>(clock, done, drainMs, () => null));
				const unfinished = [...cutShort, ...running];
				if (unfinished.length === 0) return;
				await release(unfinished).catch((error: unknown) => {
					log.warn('lease_not_given_back', { rows: itemsName, code: codeOf(error) });
				});
			},
		};
	};
}

/**
 * Works on the due rows of tables that are their own queues: takes them under leases, of each a limited number at once,
 * renews the leases while it works, and takes again when the next row is due, rows changed, work ends or it is woken.
 * After a crash, or on another replica, work goes on from what is stored.
 */
export function createLeaseLoop(
	{ clock, log }: { readonly clock: Clock; readonly log: Log },
	...described: readonly LeaseQueue[]
) {
	const stopping = new AbortController();
	const shutdownSignal = stopping.signal;
	let ended: Promise<unknown> | null = null;
	const waker = createWaker(clock);

	let isWaking = false;
	async function wakeSoon(): Promise<void> {
		if (isWaking) return;
		isWaking = true;
		await setImmediate();
		isWaking = false;
		waker.wake();
	}

	const queues = described.map((queue) => queue({ clock, log, shutdownSignal, wakeSoon }));

	async function run(): Promise<void> {
		const drained = new AbortController();
		for (const queue of queues) queue.keepLeases(drained.signal).catch(() => undefined);
		while (!shutdownSignal.aborted) {
			// This turn sees everything that it could be woken for until now.
			waker.clear();
			const waitMs = Math.min(...(await Promise.all(queues.map((queue) => queue.turn()))));
			if (waitMs > 0) await waker.wait(waitMs, shutdownSignal).catch(() => undefined);
		}
		await Promise.all(queues.map((queue) => queue.drain()));
		drained.abort();
	}

	for (const { rows } of queues) rows.onChange(() => void wakeSoon());

	return {
		start(): void {
			ended ??= run();
		},
		/** Takes nothing more, waits for the running work and gives back the leases of work that was cut short. */
		async stop(): Promise<void> {
			stopping.abort();
			await ended;
		},
		shutdownSignal,
		wake: waker.wake,
	};
}

/** After so many milliseconds other events have their turn. */
const SLICE_MS = 5;

let turns = Promise.resolve();

/** Works take turns: in one turn of the event loop, only one of them runs. */
export function nextTurn(): Promise<void> {
	turns = turns.then(() => setImmediate());
	return turns;
}

/** Runs work that yields often, and lets the event loop breathe. */
export async function inSlices<Result>(work: Generator<void, Result>): Promise<Result> {
	for (;;) {
		await nextTurn();
		const until = performance.now() + SLICE_MS;
		do {
			const { done, value } = work.next();
			if (done === true) return value;
		} while (performance.now() < until);
	}
}

/** What each value becomes. */
export function* each<From, To>(values: readonly From[], change: (value: From) => To): Generator<void, To[]> {
	const changed: To[] = [];
	for (const value of values) {
		changed.push(change(value));
		yield;
	}
	return changed;
}

/** The results of one work for each value. */
export function* eachIn<From, To>(values: readonly From[], work: (value: From) => Generator<void, To>) {
	const results: To[] = [];
	for (const value of values) {
		results.push(yield* work(value));
		yield;
	}
	return results;
}

/** Runs such work at once: where it is known to be short. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
	let step = work.next();
	while (step.done !== true) step = work.next();
	return step.value;
}

/** The right to work on a row. */
export interface Lease {
	/** Random, new for each take: only its holder may write, so it fences out everybody else. */
	readonly token: string;
	/** The lease lapses this long after it was given or renewed. */
	readonly ms: number;
}
