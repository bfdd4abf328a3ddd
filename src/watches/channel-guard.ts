import type { Clock } from '../clock.ts';
import { codeOf, LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { Log } from '../log.ts';
import type { NewAnnouncement } from './announcements.ts';
import type { ChannelKey, ChannelList, ChannelStore, WatchMetrics } from './ports.ts';
import type { ChannelEnd, Watch } from './watch.ts';

/** Slack's event for a shared channel is lost while nobody listens, and there is none for an invitation. */
const EVERY_MS = 3 * 60_000;
const FIRST_RETRY_MS = 5_000;
/** Posting waits so long for the first look. It must not wait for good when Slack cannot list channels. */
const FIRST_LOOK_MS = 15_000;

interface Dependencies {
	readonly store: Pick<ChannelStore, 'activeChannels'>;
	readonly channels: ChannelList;
	/** Ends the watches of a channel that another organisation reads. */
	readonly end: (channel: ChannelKey) => Promise<void>;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: Pick<WatchMetrics, 'channelCheck'>;
}

/**
 * Checks at the start and every three minutes which watched channels another organisation reads or is invited to. Only
 * what Slack says about a channel ends its watches: a page that fails or lists fewer channels proves nothing.
 */
export function createChannelGuard({ store, channels, end, clock, log, metrics }: Dependencies) {
	const first = Promise.withResolvers<void>();
	let cursor: string | null = null;
	let failures = 0;

	function beginAgain(): number {
		cursor = null;
		failures = 0;
		first.resolve();
		return EVERY_MS;
	}

	function retry(code: string, retryAfterMs: number | null): number {
		metrics.channelCheck('failed');
		log.warn({ code }, 'channels could not be checked for other organisations; trying again');
		if (retryAfterMs !== null) return Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs);
		// The cursor may be the reason.
		cursor = null;
		failures += 1;
		return Math.min(EVERY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, failures - 1));
	}

	/** Looks at one page. Returns in how many milliseconds to look at the next one. */
	async function look(aborted: Promise<null>): Promise<number> {
		const active = (await store.activeChannels()).filter(isTeamChannel);
		if (active.length === 0) return beginAgain();
		const page = await Promise.race([channels.page(cursor), aborted]);
		if (page === null) return 0;
		if (page.kind === 'failed') return retry(page.code, page.retryAfterMs);
		const external = new Set(page.external);
		for (const channel of active) if (external.has(channel.channelId)) await end(channel);
		if (page.next !== null && page.next !== cursor) {
			cursor = page.next;
			return 0;
		}
		metrics.channelCheck('complete');
		return beginAgain();
	}

	return {
		/** Looks until the signal is aborted. Never rejects. */
		async run(signal: AbortSignal): Promise<void> {
			const aborted = new Promise<null>((resolve) => {
				signal.addEventListener('abort', () => resolve(null), { once: true });
			});
			while (!signal.aborted) {
				const wait = await look(aborted).catch((error: unknown) => retry(codeOf(error), null));
				if (wait > 0) await clock.sleep(wait, signal).catch(() => undefined);
			}
		},
		/** Resolves when all channels were looked at once, at the latest after 15 s or when the signal is aborted. */
		async firstLook(signal: AbortSignal): Promise<void> {
			const done = new AbortController();
			const late = clock.sleep(FIRST_LOOK_MS, AbortSignal.any([signal, done.signal])).catch(() => undefined);
			await Promise.race([first.promise, late]);
			done.abort();
		},
	};
}

/** Direct messages are shared with nobody. */
function isTeamChannel({ channelId }: ChannelKey): boolean {
	return !channelId.startsWith('D');
}

/** Ends the watches of channels and direct messages that are not among `allowed`; empty: all are allowed. */
export async function endNotAllowed(
	store: ChannelStore,
	allowed: readonly string[],
	{ clock, log }: { clock: Clock; log: Log },
): Promise<void> {
	if (allowed.length === 0) return;
	for (const channel of await store.activeChannels()) {
		if (allowed.includes(channel.channelId)) continue;
		const ended = await endChannel(store, channel, 'channelNotAllowed', clock.now());
		log.info({ channel: channel.channelId, reason: 'channelNotAllowed', ended }, 'the watches of a channel ended');
	}
}

/**
 * Ends every watch of a channel that nothing more is written into, and drops what waits to be posted there. Each creator
 * is told once for all of their watches. Idempotent, also between replicas. Returns how many ended.
 */
export async function endChannel(
	store: ChannelStore,
	channel: ChannelKey,
	reason: ChannelEnd,
	now: number,
): Promise<number> {
	await store.silence(channel);
	const watches = await store.ofChannel(channel);
	const byCreator = Map.groupBy(watches, ({ createdBy }) => createdBy);
	for (const [first, ...others] of byCreator.values()) {
		if (first === undefined) continue;
		const notice = creatorToldOf([first, ...others], reason);
		await store.end(first.id, reason, { now, announcements: [notice], keepPending: false });
		for (const { id } of others) await store.end(id, reason, { now, announcements: [], keepPending: false });
	}
	return watches.length;
}

/** Tells the creator of these watches, all of one channel. */
function creatorToldOf(watches: readonly [Watch, ...Watch[]], reason: ChannelEnd): NewAnnouncement {
	const [{ id, teamId, channelId, createdBy }] = watches;
	const sessionIds = watches.map(({ session }) => session.sessionId);
	return {
		target: { kind: 'person', teamId, userId: createdBy },
		key: `ended:${id}`,
		content: { kind: 'creatorTold', reason, channelId, sessionIds },
	};
}
