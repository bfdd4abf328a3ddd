import type { Core } from '../core.ts';
import { unlessAborted, within } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import { backOff } from '../kernel/retries.ts';
import { isSameButCase } from '../service/service.ts';
import type { createChannelList } from '../slack/channels.ts';
import { isDirectMessage } from '../slack/ids.ts';
import type { ChannelEnd, ChannelKey, Watch, WatchEnd } from '../store/watch.ts';
import type { NewPost } from '../surfaces/post.ts';
import type { PostStore } from '../surfaces/post-store.ts';
import type { DiscoveryStore } from './discovery-store.ts';
import type { WatchStore } from './watch-store.ts';

export function createEndings(core: Core<{ watches: WatchStore; discoveries: DiscoveryStore; posts: PostStore }>) {
	const { clock, store } = core;

	/** Ends a watch. False when it had ended before. */
	async function end({ id }: Watch, reason: WatchEnd, posts: readonly NewPost[] = []): Promise<boolean> {
		return (await store.watches.end(id, reason, { now: clock.now(), posts })) !== null;
	}

	/** Ends the watches and discovery of a channel to which nothing is posted; tells each creator once. Idempotent. */
	async function endChannel(channel: ChannelKey, reason: ChannelEnd): Promise<void> {
		const { teamId, channelId } = channel;
		function told(userId: string, key: string, sessionIds: readonly string[]): NewPost {
			const content = { kind: 'creatorTold', reason, channelId, sessionIds } as const;
			return { target: { kind: 'person', teamId, userId }, key: `ended:${key}`, content };
		}
		await store.posts.silence(channel);
		// First `watch all`, which adds watches.
		await store.discoveries.end(channel, {
			now: clock.now(),
			posts: ({ createdBy, createdAt }) => [told(createdBy, `all:${channelId}:${createdAt}`, [])],
		});
		for (const [userId, own] of Map.groupBy(await store.watches.ofChannel(channel), ({ createdBy }) => createdBy)) {
			// Raised hands are not listed: nobody asked for a single one.
			const watched = own.filter(({ mode }) => mode !== 'raisedHand');
			const sessionIds = watched.map(({ session }) => session.sessionId);
			for (const watch of own)
				await end(watch, reason, watch === watched[0] ? [told(userId, watch.id, sessionIds)] : []);
		}
	}

	return {
		endChannel,
		/** Ends the watches of channels and direct messages that the settings do not allow any more. */
		async endNotAllowed(): Promise<void> {
			const allowed = core.config.ALLOWED_CHANNELS;
			if (allowed.length === 0) return;
			for (const channel of await store.posts.activeChannels()) {
				if (!allowed.includes(channel.channelId)) await endChannel(channel, 'channelNotAllowed');
			}
		},
		/**
		 * Ends the watch of a session in a channel, or of the session whose id differs only by letter case where that one
		 * is not watched. Returns the ids of the sessions that are not watched there any more.
		 */
		async unwatch(channel: ChannelKey, sessionId: string): Promise<readonly string[]> {
			const watches = await store.watches.ofChannel(channel);
			const named = watches.filter(({ session }) => session.sessionId === sessionId);
			const alike = watches.filter(({ session }) => isSameButCase(session.sessionId, sessionId));
			const ended: string[] = [];
			for (const watch of named.length > 0 ? named : alike)
				if (await end(watch, 'unwatched')) ended.push(watch.session.sessionId);
			return ended;
		},
		/** Ends all watches of a channel. Returns how many. */
		async unwatchAll(channel: ChannelKey): Promise<number> {
			let count = 0;
			for (const watch of await store.watches.ofChannel(channel)) {
				// `unwatched` would keep the question of this raised hand away from the next `watch all`.
				if (await end(watch, watch.mode === 'raisedHand' ? 'discoveryEnded' : 'unwatched')) count += 1;
			}
			return count;
		},
	};
}

export type Endings = ReturnType<typeof createEndings>;

/** How often channels are checked: Slack's event of a shared channel may be lost, and an invitation has none. */
export const CHECK_INTERVAL_MS = 3 * 60_000;
const RETRY = { firstMs: 5_000, longestMs: CHECK_INTERVAL_MS } as const;
/** The longest wait of posting for the first check: Slack may never list the channels. */
const FIRST_CHECK_MS = 15_000;

/**
 * Checks at the start and every three minutes which watched channels another organisation reads or is invited to, and
 * calls `end` for each. Only a channel listed as external ends: a page that fails or leaves it out proves nothing.
 */
export function createChannelGuard(
	core: Core<{ posts: PostStore }>,
	listChannels: ReturnType<typeof createChannelList>,
	end: (channel: ChannelKey) => Promise<void>,
) {
	const { clock, log } = core;
	const { watches: metrics } = core.metrics;
	const firstCheck = Promise.withResolvers<void>();
	let cursor: string | null = null;
	let failures = 0;

	function retry(code: string, retryAfterMs: number | null): number {
		metrics.channelCheck('failed');
		log.warn('channel_check_failed', { code });
		if (retryAfterMs === null) {
			// An invalid cursor may be the cause.
			cursor = null;
			failures += 1;
		}
		return backOff(failures, RETRY, retryAfterMs);
	}

	/** Checks one page. Returns the milliseconds to wait before the next page. */
	async function checkPage(signal: AbortSignal): Promise<number> {
		const active = (await core.store.posts.activeChannels()).filter(({ channelId }) => !isDirectMessage(channelId));
		if (active.length > 0) {
			const page = await unlessAborted(listChannels(cursor), signal);
			if (page.kind === 'failed') return retry(page.code, page.retryAfterMs);
			for (const channel of active) if (page.external.includes(channel.channelId)) await end(channel);
			if (page.next !== null && page.next !== cursor) {
				cursor = page.next;
				return 0;
			}
			metrics.channelCheck('complete');
		}
		cursor = null;
		failures = 0;
		firstCheck.resolve();
		return CHECK_INTERVAL_MS;
	}

	return {
		/** Checks until the signal is aborted. Never rejects. */
		async run(signal: AbortSignal): Promise<void> {
			while (!signal.aborted) {
				const failed = (error: unknown) => (signal.aborted ? 0 : retry(codeOf(error), null));
				const waitMs = await checkPage(signal).catch(failed);
				if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => undefined);
			}
			firstCheck.resolve();
		},
		/** Resolves when all channels were checked once, after 15 s or when `run` ends. */
		firstCheck: () => within(clock, firstCheck.promise, FIRST_CHECK_MS, () => undefined),
	};
}
