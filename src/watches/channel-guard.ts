import type { Core } from '../core.ts';
import { codeOf, LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { Log } from '../log.ts';
import type { createChannelList } from '../slack/channels.ts';
import type { NewAnnouncement } from './announcements.ts';
import type { ChannelEnd, ChannelKey, Discovery, Watch, WatchEnd } from './watch.ts';

/** Slack's event for a shared channel can be lost, and there is none for an invitation. */
const CHECK_INTERVAL_MS = 3 * 60_000;
const FIRST_RETRY_MS = 5_000;
/** How long posting waits for the first check, because Slack may never list the channels. */
const FIRST_CHECK_MS = 15_000;

/**
 * Checks at the start and every three minutes which watched channels another organisation reads or is invited to, and
 * calls `end` for each. Only a channel that Slack lists as external ends: a page that fails or leaves it out proves
 * nothing.
 */
export function createChannelGuard(
	core: Core,
	listChannels: ReturnType<typeof createChannelList>,
	end: (channel: ChannelKey) => Promise<void>,
) {
	const { clock, log } = core;
	const { watches: store } = core.store;
	const { watches: metrics } = core.metrics;
	const firstCheck = Promise.withResolvers<void>();
	let cursor: string | null = null;
	let failures = 0;

	function endRound(): number {
		cursor = null;
		failures = 0;
		firstCheck.resolve();
		return CHECK_INTERVAL_MS;
	}

	function retry(code: string, retryAfterMs: number | null): number {
		metrics.channelCheck('failed');
		log.warn({ code }, 'channels could not be checked for other organisations; trying again');
		if (retryAfterMs !== null) return Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs);
		// The cursor may be the reason.
		cursor = null;
		failures += 1;
		return Math.min(CHECK_INTERVAL_MS, FIRST_RETRY_MS * 2 ** Math.min(10, failures - 1));
	}

	/** Checks one page. Returns the milliseconds to wait before the next page. */
	async function checkPage(aborted: Promise<null>): Promise<number> {
		const active = (await store.activeChannels()).filter(isTeamChannel);
		if (active.length === 0) return endRound();
		const page = await Promise.race([listChannels(cursor), aborted]);
		if (page === null) return 0;
		if (page.kind === 'failed') return retry(page.code, page.retryAfterMs);
		for (const channel of active) if (page.external.includes(channel.channelId)) await end(channel);
		if (page.next !== null && page.next !== cursor) {
			cursor = page.next;
			return 0;
		}
		metrics.channelCheck('complete');
		return endRound();
	}

	return {
		/** Checks until the signal is aborted. Never rejects. */
		async run(signal: AbortSignal): Promise<void> {
			const aborted = new Promise<null>((resolve) => {
				signal.addEventListener('abort', () => resolve(null), { once: true });
			});
			while (!signal.aborted) {
				const waitMs = await checkPage(aborted).catch((error: unknown) => retry(codeOf(error), null));
				if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => undefined);
			}
		},
		/** Resolves when all channels were checked once, after 15 s or when the signal is aborted. */
		async firstCheck(signal: AbortSignal): Promise<void> {
			const done = new AbortController();
			const late = clock.sleep(FIRST_CHECK_MS, AbortSignal.any([signal, done.signal])).catch(() => undefined);
			await Promise.race([firstCheck.promise, late]);
			done.abort();
		},
	};
}

/** Direct messages are shared with nobody. */
export function isTeamChannel({ channelId }: ChannelKey): boolean {
	return !channelId.startsWith('D');
}

/** Ends the watches of channels and direct messages that the settings do not allow any more. */
export async function endNotAllowed(core: Core): Promise<void> {
	const allowed = core.config.access.channels;
	if (allowed.length === 0) return;
	for (const channel of await core.store.watches.activeChannels()) {
		if (!allowed.includes(channel.channelId)) await endChannel(core, channel, 'channelNotAllowed');
	}
}

/** Ends the watches and discovery of a channel to which nothing more is posted; tells each creator once. Idempotent. */
export async function endChannel(core: Core, channel: ChannelKey, reason: ChannelEnd): Promise<void> {
	const { watches: store } = core.store;
	const now = core.clock.now();
	await store.silence(channel);
	// Before the watches: it adds new ones.
	await store.endDiscovery(channel, { now, announcements: (discovery) => [discoveryEnded(discovery, reason)] });
	const watches = await store.ofChannel(channel);
	for (const [userId, own] of Map.groupBy(watches, ({ createdBy }) => createdBy)) {
		// Nobody asked for a single raised hand.
		const watched = own.filter(({ mode }) => mode !== 'raisedHand');
		const sessionIds = watched.map(({ session }) => session.sessionId);
		for (const watch of own) {
			const { id, teamId, channelId } = watch;
			const notice: NewAnnouncement = {
				target: { kind: 'person', teamId, userId },
				key: `ended:${id}`,
				content: { kind: 'creatorTold', reason, channelId, sessionIds },
			};
			const announcements = watch === watched[0] ? [notice] : [];
			const ended = await store.end(id, reason, { now, announcements, keepPending: false });
			if (ended !== null) logEnded(core.log, watch, reason);
		}
	}
}

/** Writes the log line that tells later why a channel hears no more of a session. */
export function logEnded(log: Log, { id, session, channelId }: Watch, reason: WatchEnd): void {
	log.info({ watchId: id, sessionId: session.sessionId, channel: channelId, reason }, 'a watch ended');
}

function discoveryEnded({ teamId, channelId, createdBy, createdAt }: Discovery, reason: ChannelEnd): NewAnnouncement {
	return {
		target: { kind: 'person', teamId, userId: createdBy },
		key: `ended:all:${channelId}:${createdAt}`,
		content: { kind: 'creatorTold', reason, channelId, sessionIds: [], all: true },
	};
}
