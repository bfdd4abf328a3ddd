import type { Core } from '../core.ts';
import { createLeaseLoop, type LeaseLoop } from '../lease-loop.ts';
import type { Announcer } from '../slack/posts/announcer.ts';
import type { CardResult, DueAnnouncement, DueCard } from './announcements.ts';
import { endChannel } from './channel-guard.ts';
import { createPosting, KEPT_FROM_PROGRESS, POST_LEASE_MS, retryDelay, UPDATE_RATE } from './posting.ts';
import type { CardUrgency } from './watch.ts';

type Due =
	| { readonly kind: 'post'; readonly post: DueAnnouncement }
	| { readonly kind: 'card'; readonly card: DueCard };

const POSTS_AT_ONCE = 6;
const CARDS_AT_ONCE = 4;

/**
 * Posts announcements, each target's in order, and keeps cards current, under the shared rates. Questions, answers and
 * ends go first; progress gets what is left.
 */
export function createOutbox(core: Core, announcer: Announcer): LeaseLoop {
	const { rateLimiter, clock, log } = core;
	const { watches: store } = core.store;
	const { watches: metrics } = core.metrics;
	const deliver = createPosting(core, announcer);
	/** When the shared rate of updates next has room, clock milliseconds. */
	const roomAt: Record<CardUrgency, number> = { now: 0, progress: 0 };
	clock.onStep?.(() => Object.assign(roomAt, { now: 0, progress: 0 }));

	function roomFor(kind: Due['kind'], running: readonly Due[]): number {
		const limit = kind === 'post' ? POSTS_AT_ONCE : CARDS_AT_ONCE;
		return limit - running.filter((due) => due.kind === kind).length;
	}

	/** Null: there is nothing to note. */
	async function attempt(due: DueCard, token: string): Promise<CardResult | null> {
		const { watch } = due;
		const { ts, wanted, shownKey } = watch.card;
		if (ts === null || wanted === null) return null;
		const { key, send } = await announcer.prepareCard(due, ts);
		const shown = () => ({ kind: 'shown', key, wants: wanted.wants, now: clock.now() }) as const;
		if (key === shownKey) {
			metrics.card('unchanged');
			return shown();
		}
		const now = clock.now();
		const keep = wanted.urgency === 'now' ? 0 : KEPT_FROM_PROGRESS;
		const waitMs = await rateLimiter.take(`update:${watch.teamId}`, UPDATE_RATE, { now, keep });
		if (waitMs > 0) {
			roomAt[wanted.urgency] = now + waitMs;
			if (wanted.urgency === 'now') roomAt.progress = Math.max(roomAt.progress, now + waitMs);
			return { kind: 'retry', at: now + waitMs };
		}
		// The watch may have ended since, in a channel to which nothing more is posted.
		if (!(await store.holdsCard(watch.id, token))) return null;
		const outcome = await send();
		const sentAt = clock.now();
		switch (outcome.kind) {
			case 'sent':
				metrics.card('sent');
				return shown();
			case 'gone':
				await endChannel(core, watch, outcome.reason);
				return { kind: 'refused' };
			case 'deleted':
				metrics.card('failed');
				log.info({ watchId: watch.id }, 'somebody deleted a card; a new one is posted');
				return { kind: 'lost', ts, now: sentAt };
			case 'refused':
				metrics.card('failed');
				log.warn(
					{ watchId: watch.id, code: outcome.code },
					'Slack refuses the update of a card; the next change is tried again',
				);
				return { kind: 'refused' };
			case 'later':
				if (outcome.limited) await rateLimiter.pause(`update:${watch.teamId}`, sentAt + retryDelay(3, outcome.ms));
				return { kind: 'retry', at: sentAt + retryDelay(1, outcome.ms) };
			case 'unknown':
			case 'unthreaded':
				// A repeated update changes nothing.
				return { kind: 'retry', at: sentAt + retryDelay(0) };
		}
	}

	async function updateCard(due: DueCard, token: string): Promise<void> {
		const result = await attempt(due, token);
		if (result !== null) await store.endCard(due.watch.id, token, result);
	}

	return createLeaseLoop<Due>(core, {
		itemsName: 'posts',
		rows: store.postRows,
		leaseMs: POST_LEASE_MS,
		concurrency: POSTS_AT_ONCE + CARDS_AT_ONCE,
		// Cards only when no post is due: a second query could fail and lose what the first one leased.
		async take(lease, _room, running) {
			const now = clock.now();
			const postRoom = roomFor('post', running);
			const posts = postRoom > 0 ? await store.takeAnnouncements(lease, postRoom, now) : [];
			if (posts.length > 0) return posts.map((post) => ({ kind: 'post', post }));
			const cardRoom = roomAt.now <= now ? roomFor('card', running) : 0;
			if (cardRoom === 0) return [];
			const urgency = roomAt.progress <= now ? 'any' : 'now';
			const cards = await store.takeCards(lease, cardRoom, { now, urgency });
			return cards.map((card) => ({ kind: 'card', card }));
		},
		async nextDueAt(running) {
			const now = clock.now();
			const { post, card } = await store.nextPostDueAt();
			const times = post !== null && roomFor('post', running) > 0 ? [post] : [];
			for (const urgency of ['now', 'progress'] as const) {
				const at = card[urgency];
				if (at === null || roomFor('card', running) === 0) continue;
				times.push(Math.max(at, now, roomAt.now, roomAt[urgency]));
			}
			return times.length === 0 ? null : Math.min(...times);
		},
		work: (due, token, signal) =>
			due.kind === 'post' ? deliver(due.post, token, signal) : updateCard(due.card, token),
		release: (held) => store.releasePosts(held.map(({ token }) => token)),
	});
}
