import { codeOf } from '../errors.ts';
import { createWaker } from '../waker.ts';
import { KEPT_FROM_PROGRESS, UPDATE_PACE } from './pace.ts';
import type { DueCard } from './ports.ts';
import { deliver, endChannel, type PostingOptions, retryDelay } from './posting.ts';
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
	const { store, announcer, paces, clock, log, metrics, owner } = options;
	const waker = createWaker(clock);
	const delivery: PostingOptions = { ...options, turns: new Map() };
	const running = new Set<Promise<void>>();
	let posting = 0;
	let updating = 0;
	/** When the shared rate of updates has room again, by urgency. */
	const roomAt: Record<CardUrgency, number> = { now: 0, progress: 0 };

	function start(kind: 'post' | 'card', work: Promise<void>): void {
		if (kind === 'post') posting += 1;
		else updating += 1;
		const done = work
			.catch((error: unknown) => log.warn({ code: codeOf(error) }, 'what became of a post could not be stored'))
			.finally(() => {
				if (kind === 'post') posting -= 1;
				else updating -= 1;
				running.delete(done);
				waker.wake();
			});
		running.add(done);
	}

	async function startDue(signal: AbortSignal): Promise<boolean> {
		const now = clock.now();
		let started = false;
		if (posting < POSTS_AT_ONCE) {
			const posts = await store.takeAnnouncements({ owner, ms: LEASE_MS }, POSTS_AT_ONCE - posting, now);
			for (const due of posts) start('post', deliver(due, delivery, signal));
			started = posts.length > 0;
		}
		if (updating < CARDS_AT_ONCE && now >= roomAt.now) {
			const urgency = now >= roomAt.progress ? 'any' : 'now';
			const cards = await store.takeCards({ owner, ms: LEASE_MS }, CARDS_AT_ONCE - updating, { now, urgency });
			for (const due of cards) start('card', update(due, signal));
			started ||= cards.length > 0;
		}
		return started;
	}

	async function update(due: DueCard, signal: AbortSignal): Promise<void> {
		const { watch } = due;
		const { ts, wanted, shownKey } = watch.card;
		if (ts === null || wanted === null) return;
		const prepared = await announcer.prepareCard(due);
		if (prepared.key === shownKey) {
			metrics.card('unchanged');
			await shown(due, prepared.key, wanted.wants);
			return;
		}
		const now = clock.now();
		const keep = wanted.urgency === 'now' ? 0 : KEPT_FROM_PROGRESS;
		const wait = await paces.take(`update:${watch.teamId}`, UPDATE_PACE, { now, keep });
		if (wait > 0) {
			roomAt[wanted.urgency] = now + wait;
			if (wanted.urgency === 'now') roomAt.progress = Math.max(roomAt.progress, now + wait);
			await store.endCard(watch.id, owner, { kind: 'retry', at: now + wait });
			return;
		}
		const outcome = await prepared.send({ ts, metadataKey: null, signal });
		switch (outcome.kind) {
			case 'sent':
				metrics.card('sent');
				await shown(due, prepared.key, wanted.wants);
				return;
			case 'gone':
				await store.endCard(watch.id, owner, { kind: 'lost' });
				await endChannel({
					store,
					teamId: watch.teamId,
					channelId: watch.channelId,
					reason: outcome.reason,
					now: clock.now(),
				});
				return;
			case 'refused':
				metrics.card('failed');
				log.warn({ watchId: watch.id, code: outcome.code }, 'Slack refuses a card');
				await store.endCard(watch.id, owner, { kind: 'lost' });
				return;
			case 'later':
				if (outcome.limited) await paces.pause(`update:${watch.teamId}`, clock.now() + (outcome.ms ?? retryDelay(3)));
				await store.endCard(watch.id, owner, { kind: 'retry', at: clock.now() + (outcome.ms ?? retryDelay(1)) });
				return;
			case 'unknown':
				// Sent twice it looks the same.
				await store.endCard(watch.id, owner, { kind: 'retry', at: clock.now() + retryDelay(0) });
				return;
		}
	}

	async function shown({ watch }: DueCard, key: string, wants: number): Promise<void> {
		await store.endCard(watch.id, owner, { kind: 'shown', key, wants, now: clock.now() });
	}

	async function loop(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			try {
				if (await startDue(signal)) continue;
				const next = (await store.nextPostDueAt()) ?? Number.POSITIVE_INFINITY;
				const wait = Math.min(LOOK_MS, Math.max(next - clock.now(), MOMENT_MS));
				await waker.wait(wait, signal);
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
			await store.releasePosts(owner).catch((error: unknown) => {
				log.warn({ code: codeOf(error) }, 'leases could not be given back');
			});
		},
		wake: () => waker.wake(),
	};
}

/** What is due but cannot be taken (others hold it, the rate has no room) is not asked for in a tight loop. */
const MOMENT_MS = 50;
