import { setImmediate } from 'node:timers/promises';
import { ABORT_REASON, type Clock, createWaker, within } from './clock.ts';
import { codeOf } from './errors.ts';
import type { Log } from './log.ts';

export interface LeasedItem<Item> {
	readonly item: Item;
	readonly token: string;
}

/** The table whose rows are a queue. */
export interface QueuedRows {
	/** Calls `listener` after each commit of this process that may make rows due, and from time to time for others'. */
	onChange(listener: () => void): void;
}

export interface LeaseQueueOptions<Item> {
	readonly itemsName: string;
	readonly rows: QueuedRows;
	readonly concurrency: number;
	readonly prepare?: () => Promise<void>;
	/** Leases at most `room` due items. `running`: the items in work, for further limits. */
	readonly take: (lease: Lease, room: number, running: readonly Item[]) => Promise<readonly Item[]>;
	/** When the next item is due, or to look again without a change of rows; null: not known. */
	readonly nextDueAt: (running: readonly Item[]) => Promise<number | null>;
	/**
	 * `nextDueAt` as the newest take has found it; null: it has not, so `nextDueAt` is asked. With this option, rows that
	 * are due again and again are taken at their time without another look.
	 */
	readonly dueAfterTake?: () => number | null;
	/** Does the work and gives the lease back. After a failure the lease lapses. `signal`: lease lost, or loop stops. */
	readonly work: (item: Item, token: string, signal: AbortSignal) => Promise<void>;
	/** Logs that `work` rejected. Default: a warning with the error's code. */
	readonly logFailure?: (item: Item, error: unknown) => void;
	/** Prolongs these leases and returns those still held. Absent: `LEASE_MS` is longer than any work. */
	readonly renew?: (held: readonly LeasedItem<Item>[], leaseMs: number) => Promise<readonly LeasedItem<Item>[]>;
	/** Gives back those of these leases that are still held. */
	readonly release: (held: readonly LeasedItem<Item>[]) => Promise<void>;
	/** How long work may run after an abort, in ms. Absent: no limit, because nobody may begin before its end. */
	readonly drainMs?: number;
}

/**
 * The length of leases that nobody renews, after which a dead process's items are due again. Longer than the wait for a
 * call to Slack plus its time-out.
 */
export const LEASE_MS = 25_000;

/** The length of leases that are renewed while the work lasts. So it may be shorter than the work. */
const RENEWED_LEASE_MS = 20_000;

/** The pause after the store failed. */
const RETRY_MS = 1_000;

/** The longest rest of a loop that nothing wakes. A timer of Node.js has a longest time. */
const REST_MS = 30_000;

/** The pause after due items could not be taken because another replica is taking them. */
const CONTENDED_MS = 10;

const RENEWALS_PER_LEASE = 4;

/** What the queues of one loop share. */
interface Loop {
	readonly clock: Clock;
	readonly log: Log;
	readonly shutdownSignal: AbortSignal;
	/** Wakes the loop in the next turn of the event loop. Work often ends right after its commit: one look sees both. */
	wakeSoon(): Promise<void>;
}

/** A queue of rows as a loop works on it. */
export type LeaseQueue = (loop: Loop) => {
	readonly rows: QueuedRows;
	/** Takes what is due. Returns the milliseconds until the next turn. Never rejects, so it delays no other queue. */
	turn(): Promise<number>;
	/** Waits for the running work and gives back the leases of work that was cut short. */
	drain(): Promise<void>;
};

/** Makes a queue for `createLeaseLoop`. */
export function leaseQueue<Item>(options: LeaseQueueOptions<Item>): LeaseQueue {
	const { itemsName, concurrency, drainMs, rows, prepare, take, nextDueAt, dueAfterTake, work, renew, release } =
		options;
	const leaseMs = renew === undefined ? LEASE_MS : RENEWED_LEASE_MS;
	return ({ clock, log, shutdownSignal, wakeSoon }) => {
		const warn = (_: Item, error: unknown) => log.warn('work_failed', { rows: itemsName, code: codeOf(error) });
		const { logFailure = warn } = options;
		/** The code with which the last turn failed; null: it did not fail. */
		let problem: string | null = null;
		/** When the next item is due, by the newest look or take; null: not known. */
		let foundDueAt: number | null = null;
		const running = new Set<LeasedItem<Item> & { readonly lost: AbortController; readonly done: Promise<void> }>();
		const cutShort: LeasedItem<Item>[] = [];
		/** Ends the renewals, which last as long as something runs. Null: there are none. */
		let renewing: AbortController | null = null;

		function endRenewals(): void {
			renewing?.abort(ABORT_REASON);
			renewing = null;
		}

		function begin(item: Item, token: string): void {
			const lost = new AbortController();
			const done = work(item, token, AbortSignal.any([shutdownSignal, lost.signal]))
				.catch((error: unknown) => {
					if (shutdownSignal.aborted) cutShort.push({ item, token });
					else if (!lost.signal.aborted) logFailure(item, error);
				})
				.finally(() => {
					running.delete(entry);
					if (running.size === 0) endRenewals();
					void wakeSoon();
				});
			const entry = { item, token, lost, done };
			running.add(entry);
			if (renew === undefined || renewing !== null) return;
			renewing = new AbortController();
			void keepLeases(renew, renewing.signal).catch(() => undefined);
		}

		/** Renews what runs until the signal is aborted, then rejects. */
		async function keepLeases(prolong: NonNullable<typeof renew>, idle: AbortSignal): Promise<never> {
			for (;;) {
				await clock.sleep(leaseMs / RENEWALS_PER_LEASE, idle);
				const held = [...running];
				try {
					const kept = new Set(await prolong(held, leaseMs));
					for (const entry of held) if (!kept.has(entry)) entry.lost.abort();
				} catch (error) {
					log.warn('lease_not_renewed', { rows: itemsName, code: codeOf(error) });
				}
			}
		}

		async function takeDue(): Promise<number> {
			await prepare?.();
			const room = concurrency - running.size;
			if (room <= 0) return REST_MS;
			const items = Array.from(running, ({ item }) => item);
			// `nextDueAt` costs less than `take`, which may begin a transaction.
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

			async drain() {
				const done = Promise.all(Array.from(running, (entry) => entry.done));
				await (drainMs === undefined ? done : within<unknown>(clock, done, drainMs, () => null));
				endRenewals();
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
 * Works on the due rows of several queues. It takes them under leases, a limited number of each queue at once, and
 * renews the leases while it works. It takes again when the next row is due, rows changed, work ended or it is woken.
 * After a crash, this or another replica continues from what is stored.
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
		while (!shutdownSignal.aborted) {
			// This turn sees everything that it was woken for until now.
			waker.clear();
			const waitMs = Math.min(...(await Promise.all(queues.map((queue) => queue.turn()))));
			if (waitMs > 0) await waker.wait(waitMs, shutdownSignal).catch(() => undefined);
		}
		await Promise.all(queues.map((queue) => queue.drain()));
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

/** The right to work on a row. */
export interface Lease {
	/** Random, new for each take. Only its holder may write, so it fences out everybody else. */
	readonly token: string;
	/** The lease lapses this long after it was given or renewed. */
	readonly ms: number;
}
