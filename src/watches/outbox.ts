import { randomUUID } from 'node:crypto';
import { hasCome } from '../clock.ts';
import { codeOf, LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import { createWaker } from '../waker.ts';
import type { DueCard } from './ports.ts';
import { deliver, endChannel, KEPT_FROM_PROGRESS, type PostingOptions, retryDelay, UPDATE_RATE } from './posting.ts';
import type { CardUrgency } from './watch.ts';

export type OutboxOptions = Omit<PostingOptions, 'turns'>;

export interface Outbox {
	/** Posts and updates until the signal is aborted; lets running calls end and gives the leases back. Never rejects. */
	run(signal: AbortSignal): Promise<void>;
	/** Something was stored that is to be posted. */
	wake(): void;
}

/** Long enough for a call to Slack with its time-out; a dead replica's posts are due again after it. */
const LEASE_MS = 25_000;
/** Replicas do not tell each other of what is to be posted. */
const LOOK_MS = 1_000;
const POSTS_AT_ONCE = 6;
const CARDS_AT_ONCE = 4;
const STORE_PAUSE_MS = 2_000;

/**
 * Posts announcements in the order of their targets and keeps the cards current, all under the shared rates: questions,
 * answers and endings first, progress with what is left, the newest state only, and nothing for a card that looks the
 * same.
 */
export function createOutbox(options: OutboxOptions): Outbox {
	const { store, announcer, rateLimiter, clock, log, metrics } = options;
	const waker = createWaker(clock);
	const delivery: PostingOptions = { ...options, turns: new Map() };
	const running = new Set<Promise<void>>();
	/** The leases of what was cut short. */
	const cut: string[] = [];
	let posting = 0;
	let updating = 0;
	/** When the shared rate of updates has room again, by urgency. */
	const roomAt: Record<CardUrgency, number> = { now: 0, progress: 0 };

	function start(kind: 'post' | 'card', token: string, work: Promise<void>, signal: AbortSignal): void {
		if (kind === 'post') posting += 1;
		else updating += 1;
		const done = work
			.catch((error: unknown) => {
				if (signal.aborted) cut.push(token);
				else log.warn({ code: codeOf(error) }, 'what became of a post could not be stored');
			})
			.finally(() => {
				if (kind === 'post') posting -= 1;
				else updating -= 1;
				running.delete(done);
				waker.wake();
			});
		running.add(done);
	}

	/** Whether the rate of updates may have room for cards of this urgency. */
	function hasRoom(urgency: CardUrgency, now: number): boolean {
		return hasCome(roomAt[urgency], now, LONGEST_RETRY_AFTER_MS);
	}

	async function startDue(signal: AbortSignal): Promise<boolean> {
		const now = clock.now();
		let started = false;
		if (posting < POSTS_AT_ONCE) {
			const token = randomUUID();
			const posts = await store.takeAnnouncements({ token, ms: LEASE_MS }, POSTS_AT_ONCE - posting, now);
			for (const due of posts) start('post', token, deliver(due, token, delivery, signal), signal);
			started = posts.length > 0;
		}
		if (updating < CARDS_AT_ONCE && hasRoom('now', now)) {
			const token = randomUUID();
			const urgency = hasRoom('progress', now) ? 'any' : 'now';
			const cards = await store.takeCards({ token, ms: LEASE_MS }, CARDS_AT_ONCE - updating, { now, urgency });
			for (const due of cards) start('card', token, update(due, token, signal), signal);
			started ||= cards.length > 0;
		}
		return started;
	}

	/** When there is something to take and room for it. */
	async function nextAt(now: number): Promise<number> {
		const { post, card } = await store.nextPostDueAt(now);
		const times: number[] = [];
		if (post !== null && posting < POSTS_AT_ONCE) times.push(post);
		for (const urgency of ['now', 'progress'] as const) {
			const at = card[urgency];
			if (at === null || updating >= CARDS_AT_ONCE) continue;
			const room = hasRoom('now', now) && hasRoom(urgency, now) ? now : Math.max(roomAt.now, roomAt[urgency]);
			times.push(Math.max(at, room));
		}
		return Math.min(...times, Number.POSITIVE_INFINITY);
	}

	async function update(due: DueCard, token: string, signal: AbortSignal): Promise<void> {
		const { watch } = due;
		const { ts, wanted, shownKey } = watch.card;
		if (ts === null || wanted === null) return;
		const prepared = await announcer.prepareCard(due);
		if (prepared.key === shownKey) {
			metrics.card('unchanged');
			await shown(due, token, prepared.key, wanted.wants);
			return;
		}
		const now = clock.now();
		const keep = wanted.urgency === 'now' ? 0 : KEPT_FROM_PROGRESS;
		const wait = await rateLimiter.take(`update:${watch.teamId}`, UPDATE_RATE, { now, keep });
		if (wait > 0) {
			roomAt[wanted.urgency] = now + wait;
			if (wanted.urgency === 'now') roomAt.progress = Math.max(roomAt.progress, now + wait);
			await store.endCard(watch.id, token, { kind: 'retry', at: now + wait });
			return;
		}
		// The watch may have ended meanwhile, in a channel that nothing more is written into.
		if (!(await store.holdsCard(watch.id, token))) return;
		const outcome = await prepared.send({ ts, metadataKey: null, signal });
		switch (outcome.kind) {
			case 'sent':
				metrics.card('sent');
				await shown(due, token, prepared.key, wanted.wants);
				return;
			case 'gone':
				await store.endCard(watch.id, token, { kind: 'refused' });
				await endChannel(store, watch, outcome.reason, clock.now());
				return;
			case 'deleted':
				metrics.card('failed');
				log.info({ watchId: watch.id }, 'a card was deleted');
				await store.endCard(watch.id, token, { kind: 'lost', ts, now: clock.now() });
				return;
			case 'refused':
				metrics.card('failed');
				log.warn({ watchId: watch.id, code: outcome.code }, 'Slack refuses a card');
				await store.endCard(watch.id, token, { kind: 'refused' });
				return;
			case 'later': {
				const answeredAt = clock.now();
				if (outcome.limited) {
					await rateLimiter.pause(`update:${watch.teamId}`, answeredAt + retryDelay(3, outcome.ms), answeredAt);
				}
				await store.endCard(watch.id, token, { kind: 'retry', at: answeredAt + retryDelay(1, outcome.ms) });
				return;
			}
			case 'unknown':
			case 'unthreaded':
				// Sent twice it looks the same.
				await store.endCard(watch.id, token, { kind: 'retry', at: clock.now() + retryDelay(0) });
				return;
		}
	}

	async function shown({ watch }: DueCard, token: string, key: string, wants: number): Promise<void> {
		await store.endCard(watch.id, token, { kind: 'shown', key, wants, now: clock.now() });
	}

	async function loop(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			try {
				if (await startDue(signal)) continue;
				const now = clock.now();
				await waker.wait(Math.min(LOOK_MS, Math.max((await nextAt(now)) - now, MOMENT_MS)), signal);
			} catch (error) {
				if (signal.aborted) return;
				log.warn({ code: codeOf(error) }, 'posting pauses for a moment');
				await clock.sleep(STORE_PAUSE_MS, signal).catch(() => undefined);
			}
		}
	}

	return {
		async run(signal) {
			await loop(signal).catch(() => undefined);
			await Promise.all(running);
			await store.releasePosts(cut).catch((error: unknown) => {
				log.warn({ code: codeOf(error) }, 'leases could not be given back');
			});
		},
		wake: () => waker.wake(),
	};
}

/** What is due and cannot be taken, since another replica is just taking it, is not asked for in a tight loop. */
const MOMENT_MS = 50;
