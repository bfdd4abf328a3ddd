import { randomUUID } from 'node:crypto';
import { HandraiseError } from '../../core/errors.ts';
import type { Core } from '../../core.ts';
import type { ChannelKey, Expectation, Watch, WatchOutcome, WatchSettings } from '../../database/watch.ts';
import { targetOf } from '../../posts/post.ts';
import { changesBetween } from '../../questions/changes.ts';
import type { Session, SessionKey } from '../../questions/session.ts';
import { seenIn } from '../../questions/session-snapshot.ts';
import { logEnded } from './channel-guard.ts';
import { newsFor } from './news.ts';
import type { PollerOptions } from './poller.ts';
import { CEILING_MS, CEILING_ROUNDS } from './schedule.ts';
import type { WatchStore } from './watch-store.ts';

export interface WatchRequest extends ChannelKey {
	readonly userId: string;
	readonly sessionId: string;
	/** Left out: unchanged for an existing watch, else `DEFAULT_SETTINGS`. */
	readonly settings: Partial<WatchSettings>;
	/** Reads the session once, on this person's share of the budget. @throws errors with a stable `code` */
	readonly read: (sessionId: string) => Promise<{ session: Session; readAt: number }>;
}

const DEFAULT_SETTINGS: WatchSettings = {
	mode: 'everything',
	questionsInChannel: true,
	discreet: false,
	buttons: true,
};

/** `onChange`: a watch began or ended. */
export function createSubscriptions(
	core: Core<{ watches: WatchStore }>,
	{ budget, ourAnswers, onChange }: Pick<PollerOptions, 'budget' | 'ourAnswers'> & { onChange: () => void },
) {
	const { serviceUrl, clock, log } = core;
	const { watches: store } = core.store;
	const { watches: metrics } = core.metrics;
	const { watchLimits: limits } = core.config;
	const keyOf = (sessionId: string): SessionKey => ({ service: serviceUrl, sessionId });

	return {
		/** The access policy has allowed the request, and the bot is a member of the channel. */
		async watch(request: WatchRequest): Promise<WatchOutcome> {
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
			const { session, readAt } = reading;
			const ours = await ourAnswers(session, null);
			const seen = seenIn(session, readAt, ours);
			const { view } = seen;
			const changes = changesBetween(null, session, ours.leftEmpty);
			if (changes.some(({ kind }) => kind === 'ended')) return { kind: 'over', status: view.status };
			const watch: Watch = {
				id: randomUUID(),
				teamId,
				channelId,
				session: keyOf(sessionId),
				...settingsAfter(existing, request.settings),
				createdBy: request.userId,
				createdAt: clock.now(),
				revision: 0,
				lastChangeAt: readAt,
				ended: null,
			};
			const result = await store.add({
				...watch,
				card: { target: targetOf(watch), key: 'card', content: { kind: 'card' } },
				view,
				news: newsFor(watch, { before: null, changes }, seen).posts,
				limits,
			});
			if (result.kind === 'limit') {
				metrics.limitReached(result.limit);
				return result;
			}
			onChange();
			if (result.kind === 'already') return result;
			// While somebody adds many, the rate is lower than in the long run.
			const expectation = expectationFor(await store.countSessions(serviceUrl), budget.rates().usual);
			return { kind: 'watching', watch: result.watch, expectation };
		},

		/** Ends one watch of a channel, or all (`sessionId` null); returns how many. The card stays as it was. */
		async unwatch(channel: ChannelKey, sessionId: string | null): Promise<number> {
			const watches =
				sessionId === null ? await store.ofChannel(channel) : [await store.find(channel, keyOf(sessionId))];
			const now = clock.now();
			let count = 0;
			for (const watch of watches) {
				if (watch === null) continue;
				// Nobody stopped this one: it comes again with the next `watch all`.
				const reason = sessionId === null && watch.mode === 'raisedHand' ? 'discoveryEnded' : 'unwatched';
				const options = { now, posts: [], keepPending: false };
				if ((await store.end(watch.id, reason, options)) === null) continue;
				count += 1;
				logEnded(log, watch, reason);
			}
			if (count > 0) onChange();
			return count;
		},

		list: store.list,
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

/** The speed-up over half a round for a working session, as the simulation shows for 40 to 1,000 sessions. */
const QUICKER_THAN_A_ROUND = 6;
const SLOW_SECONDS = 60;

/** How soon changes of a new watch are noticed, in seconds. */
export function expectationFor(watched: number, readsPerSecond: number): Expectation {
	const roundSeconds = watched / Math.max(readsPerSecond, 1e-3);
	return {
		roundSeconds,
		typicalSeconds: Math.max(1, roundSeconds / 2 / QUICKER_THAN_A_ROUND),
		longestSeconds: Math.max(CEILING_MS / 1000, roundSeconds * CEILING_ROUNDS),
		slow: roundSeconds > SLOW_SECONDS,
	};
}

export type Subscriptions = ReturnType<typeof createSubscriptions>;
