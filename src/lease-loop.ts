import { randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';
import { codeOf } from './errors.ts';
import type { Log } from './log.ts';
import { createWaker } from './waker.ts';

/** The right to work on a row. */
export interface Lease {
	/** Random, new for each take: it alone lets the taker write, so that a lease fences by itself. */
	readonly token: string;
	/** It lapses this long after it was given or renewed. */
	readonly ms: number;
}

/** An item that was taken and whose lease was not given back yet. */
export interface Held<Item> {
	readonly item: Item;
	readonly token: string;
}

export interface LeaseLoop {
	/** Takes and works until the signal is aborted, then drains. Never rejects. */
	run(signal: AbortSignal): Promise<void>;
	/** Looks for due items now instead of at the next turn: something was stored, or is due sooner than was known. */
	wake(): void;
}

export interface LeaseLoopOptions<Item> {
	/** What is taken, in the plural; for the log. */
	readonly what: string;
	/** A dead process's items are due again after this. */
	readonly leaseMs: number;
	/** Begins the tokens of this process's leases, for people who look at a row; nothing is decided by it. */
	readonly tokenPrefix?: string;
	/** Items worked on at once. */
	readonly concurrency: number;
	/** Runs before each take. */
	readonly prepare?: () => Promise<void>;
	/** Leases at most `room` due items. `running`: those in work, for bounds of its own. */
	readonly take: (lease: Lease, room: number, running: readonly Item[]) => Promise<readonly Item[]>;
	/** When to look again after a take that found nothing, in clock milliseconds; null: at the next turn. */
	readonly nextDueAt: (running: readonly Item[]) => Promise<number | null>;
	/**
	 * Does what is due and gives the lease back with what it writes. `signal` is aborted when the lease is lost or the
	 * loop stops.
	 */
	readonly work: (item: Item, token: string, signal: AbortSignal) => Promise<void>;
	/** `work` rejected. The lease lapses and the item is taken again. Not called after an abort. */
	readonly onFailure: (item: Item, error: unknown) => void;
	/** Prolongs these leases; returns those still held. Left out where a lease outlasts any work. */
	readonly renew?: (held: readonly Held<Item>[], leaseMs: number) => Promise<readonly Held<Item>[]>;
	/** Gives these leases back, unless they were lost or given back already. */
	readonly release: (held: readonly Held<Item>[]) => Promise<void>;
	/**
	 * After an abort, work may go on for this long; then its lease is given back all the same. Left out: work is awaited
	 * however long it takes, because nobody else may begin before its end.
	 */
	readonly drainMs?: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Replicas do not tell each other of what they store, so each looks this often; also while the store is away. */
const LOOK_EVERY_MS = 1_000;
/** Another replica is just taking what is due and could not be taken: this keeps the loop from asking without a pause. */
const CONTENDED_MS = 50;
const RENEWALS_PER_LEASE = 4;

/**
 * Works on the due rows of a table that is its own queue: takes them under leases, a bounded number at once, renews the
 * leases while it works, and looks again when the next row is due, when work ends or when it is woken. After a crash or
 * on another replica everything goes on from what is stored.
 *
 * While the store fails it tries again every second and says so once. On an abort it takes nothing more, waits for
 * the work under way and gives back the leases of what was cut short.
 */
export function createLeaseLoop<Item>(options: LeaseLoopOptions<Item>): LeaseLoop {
	const { what, leaseMs, concurrency, drainMs, clock, log } = options;
	const { prepare, take, nextDueAt, work, onFailure, renew, release } = options;
	const waker = createWaker(clock);
	const running = new Set<Held<Item> & { readonly lost: AbortController; readonly done: Promise<void> }>();
	const cutShort: Held<Item>[] = [];

	function start(item: Item, token: string, shutdownSignal: AbortSignal): void {
		const lost = new AbortController();
		const signal = AbortSignal.any([shutdownSignal, lost.signal]);
		const done = work(item, token, signal)
			.catch((error: unknown) => {
				if (shutdownSignal.aborted) cutShort.push({ item, token });
				else if (!lost.signal.aborted) onFailure(item, error);
			})
			.finally(() => {
				running.delete(entry);
				waker.wake();
			});
		const entry = { item, token, lost, done };
		running.add(entry);
	}

	/** Takes once and starts what was taken. Returns after how many milliseconds to take again. */
	async function turn(shutdownSignal: AbortSignal): Promise<number> {
		await prepare?.();
		const room = concurrency - running.size;
		if (room <= 0) return LOOK_EVERY_MS;
		const items = Array.from(running, ({ item }) => item);
		const token = `${options.tokenPrefix ?? ''}${randomUUID()}`;
		const taken = await take({ token, ms: leaseMs }, room, items);
		for (const item of taken) start(item, token, shutdownSignal);
		if (taken.length > 0) return 0;
		const dueAt = await nextDueAt(items);
		if (dueAt === null) return LOOK_EVERY_MS;
		const untilDue = dueAt - clock.now();
		return Math.min(LOOK_EVERY_MS, untilDue > 0 ? untilDue : CONTENDED_MS);
	}

	async function takeUntil(shutdownSignal: AbortSignal): Promise<void> {
		let failure: string | null = null;
		while (!shutdownSignal.aborted) {
			let waitMs = LOOK_EVERY_MS;
			try {
				waitMs = await turn(shutdownSignal);
				failure = null;
			} catch (error) {
				const code = codeOf(error);
				if (code !== failure) log.warn({ code }, `could not take due ${what}; trying again every second`);
				failure = code;
			}
			if (waitMs > 0) await waker.wait(waitMs, shutdownSignal).catch(() => undefined);
		}
	}

	/** Renews until the signal is aborted; rejects then. */
	async function keepLeases(drained: AbortSignal): Promise<void> {
		while (renew !== undefined) {
			await clock.sleep(leaseMs / RENEWALS_PER_LEASE, drained);
			const held = [...running];
			if (held.length === 0) continue;
			try {
				const kept = new Set(await renew(held, leaseMs));
				for (const entry of held) if (!kept.has(entry)) entry.lost.abort();
			} catch (error) {
				log.warn({ code: codeOf(error) }, `leases on ${what} could not be renewed`);
			}
		}
	}

	async function drain(): Promise<void> {
		const done = Promise.all(Array.from(running, (entry) => entry.done));
		const over = new AbortController();
		const late = drainMs === undefined ? done : clock.sleep(drainMs, over.signal).catch(() => undefined);
		await Promise.race([done, late]);
		over.abort();
		const left = [...cutShort, ...running];
		if (left.length === 0) return;
		await release(left).catch((error: unknown) => {
			log.warn({ code: codeOf(error) }, `leases on ${what} could not be given back; they lapse by themselves`);
		});
	}

	return {
		async run(signal) {
			const drained = new AbortController();
			keepLeases(drained.signal).catch(() => undefined);
			await takeUntil(signal);
			await drain();
			drained.abort();
		},
		wake: () => waker.wake(),
	};
}
