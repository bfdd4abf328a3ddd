import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Disclosure } from '../questions/disclosure.ts';
import type { Session } from '../questions/session.ts';
import { settlingOf } from './announcements.ts';
import { type Expectation, expectationFor } from './capacity.ts';
import type { AddWatchResult, ChannelStore, SubscriptionStore, WatchMetrics, WatchPage } from './ports.ts';
import { snapshotOf } from './session-snapshot.ts';
import type { ChannelKey, SessionKey, Watch, WatchLimits, WatchSettings } from './watch.ts';

export interface WatchRequest extends ChannelKey {
	readonly userId: string;
	readonly sessionId: string;
	/** Left out: unchanged for an existing watch, else `DEFAULT_SETTINGS`. */
	readonly settings: Partial<WatchSettings>;
	/** Reads the session once, on this person's share of the budget. @throws errors with a stable `code` */
	readonly read: (sessionId: string) => Promise<{ session: Session; readAt: number }>;
}

export type WatchOutcome =
	| { readonly kind: 'watching'; readonly watch: Watch; readonly expectation: Expectation }
	| Exclude<AddWatchResult, { kind: 'added' }>
	| { readonly kind: 'unknownSession' }
	| { readonly kind: 'over'; readonly status: string }
	/** The session could not be read now; `code` says why. */
	| { readonly kind: 'unreadable'; readonly code: string; readonly retryable: boolean };

export type UnwatchOutcome =
	| { readonly kind: 'ended'; readonly watches: readonly Watch[] }
	| { readonly kind: 'notWatched' };

export interface Subscriptions {
	/**
	 * The access policy has allowed the request, and the bot is a member of the channel.
	 * @throws `store_unavailable`
	 */
	watch(request: WatchRequest): Promise<WatchOutcome>;
	/** Ends one watch of a channel, or all (`sessionId` null). The card stays as it was. */
	unwatch(request: ChannelKey & { readonly sessionId: string | null }): Promise<UnwatchOutcome>;
	list(channel: ChannelKey, page: { offset: number; limit: number }): Promise<WatchPage>;
	/** Shows in the posts of a session's question that somebody has chosen an option, or has taken that back. */
	redraw(key: SessionKey): Promise<void>;
	/** Updates a session's cards after somebody claimed, released or answered its question; `readEarly`: reads it soon. */
	refresh(key: SessionKey, options: { readEarly: boolean }): Promise<void>;
}

const DEFAULT_SETTINGS: WatchSettings = {
	mode: 'everything',
	questionsInChannel: true,
	discreet: false,
	buttons: true,
};

/** The agent takes a moment to go on after an answer. */
const EARLY_READ_AFTER_MS = 2_000;

export function createSubscriptions({
	store,
	serviceUrl,
	usualReadsPerSecond,
	limits,
	metrics,
	clock,
	disclosure,
	onChange,
}: {
	store: SubscriptionStore & ChannelStore;
	serviceUrl: string;
	/** In the long run: the rate while somebody adds many sessions is lower. */
	usualReadsPerSecond: () => number;
	limits: WatchLimits;
	metrics: Pick<WatchMetrics, 'limitReached'>;
	clock: Clock;
	/** See `PollerOptions`. */
	disclosure: (key: SessionKey, session: Session) => Promise<Disclosure>;
	/** Wakes poller and outbox. */
	onChange: () => void;
}): Subscriptions {
	const keyOf = (sessionId: string): SessionKey => ({ service: serviceUrl, sessionId });

	return {
		async watch(request) {
			const { teamId, channelId, sessionId } = request;
			const existing = await store.find({ teamId, channelId }, keyOf(sessionId));
			let reading: Awaited<ReturnType<WatchRequest['read']>>;
			try {
				reading = await request.read(sessionId);
			} catch (error) {
				if (!(error instanceof HandraiseError)) throw error;
				if (error.code === 'session_not_found' || error.code === 'invalid_session_id')
					return { kind: 'unknownSession' };
				// What is watched stays watched while the service is away.
				if (existing !== null && !changesSettings(existing, request)) {
					return { kind: 'already', watch: existing, changed: false };
				}
				return { kind: 'unreadable', code: error.code, retryable: error.retryable };
			}
			const shown = await disclosure(keyOf(sessionId), reading.session);
			const view = snapshotOf(reading.session, reading.readAt, undefined, shown);
			if (view.digest.over) return { kind: 'over', status: view.status };
			const id = randomUUID();
			const result = await store.add({
				id,
				teamId,
				channelId,
				session: keyOf(sessionId),
				...settingsAfter(existing, request.settings),
				createdBy: request.userId,
				createdAt: clock.now(),
				card: { target: { kind: 'watch', watchId: id, teamId, channelId }, key: 'card', content: { kind: 'card' } },
				view,
				limits,
			});
			if (result.kind === 'limit') {
				metrics.limitReached(result.limit);
				return result;
			}
			onChange();
			if (result.kind === 'already') return result;
			const watched = await store.countSessions(serviceUrl);
			const expectation = expectationFor(watched, usualReadsPerSecond());
			return { kind: 'watching', watch: result.watch, expectation };
		},

		async unwatch({ teamId, channelId, sessionId }) {
			const watches =
				sessionId === null
					? await store.ofChannel({ teamId, channelId })
					: [await store.find({ teamId, channelId }, keyOf(sessionId))];
			const now = clock.now();
			const ended: Watch[] = [];
			for (const watch of watches) {
				if (watch === null) continue;
				// Nobody stopped this one: it comes again with the next `watch all`.
				const reason = sessionId === null && watch.mode === 'raisedHand' ? 'handLowered' : 'unwatched';
				const options = { now, announcements: settlingOf(watch), keepPending: false };
				const result = await store.end(watch.id, reason, options);
				if (result !== null) ended.push(result);
			}
			if (ended.length > 0) onChange();
			return ended.length === 0 ? { kind: 'notWatched' } : { kind: 'ended', watches: ended };
		},

		list: (channel, page) => store.list(channel, page),

		async redraw(key) {
			if ((await store.redraw(key, clock.now())) > 0) onChange();
		},

		async refresh(key, { readEarly }) {
			const now = clock.now();
			await store.refresh(key, { now, earlyReadAt: readEarly ? now + EARLY_READ_AFTER_MS : null });
			onChange();
		},
	};
}

/** A raised hand becomes a watch with a card. */
function settingsAfter(existing: Watch | null, changes: Partial<WatchSettings>): WatchSettings {
	const { mode, questionsInChannel, discreet, buttons } = existing ?? DEFAULT_SETTINGS;
	const shownMode = mode === 'raisedHand' ? DEFAULT_SETTINGS.mode : mode;
	return { mode: shownMode, questionsInChannel, discreet, buttons, ...changes };
}

function changesSettings(watch: Watch, { settings }: WatchRequest): boolean {
	return (
		watch.mode === 'raisedHand' ||
		Object.entries(settings).some(([name, value]) => watch[name as keyof WatchSettings] !== value)
	);
}
