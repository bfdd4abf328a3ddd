import { randomUUID } from 'node:crypto';
import type { Core } from '../core.ts';
import { HandraiseError } from '../errors.ts';
import { changesBetween } from '../questions/changes.ts';
import type { Session } from '../questions/session.ts';
import type { AddWatchResult } from '../store/watch-adding.ts';
import { newsFor, settlingOf, targetOf } from './announcements.ts';
import { type Expectation, expectationFor } from './capacity.ts';
import { logEnded } from './channel-guard.ts';
import type { PollerOptions } from './poller.ts';
import { questionViewAt, snapshotOf } from './session-snapshot.ts';
import type { ChannelKey, SessionKey, Watch, WatchSettings } from './watch.ts';

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

const DEFAULT_SETTINGS: WatchSettings = {
	mode: 'everything',
	questionsInChannel: true,
	discreet: false,
	buttons: true,
};

/** `onChange`: a watch began or ended. `usualReadsPerSecond`: in the long run; while somebody adds many, the rate is lower. */
export function createSubscriptions(
	core: Core,
	{
		usualReadsPerSecond,
		ourAnswers,
		onChange,
	}: Pick<PollerOptions, 'ourAnswers'> & { usualReadsPerSecond: () => number; onChange: () => void },
) {
	const { serviceUrl, clock, log } = core;
	const { watches: store } = core.store;
	const { watches: metrics } = core.metrics;
	const { watchLimits: limits } = core.config;
	const keyOf = (sessionId: string): SessionKey => ({ service: serviceUrl, sessionId });

	return {
		/**
		 * The access policy has allowed the request, and the bot is a member of the channel.
		 * @throws `store_unavailable`
		 */
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
			const { leftEmpty, disclosure } = await ourAnswers(session, null);
			const view = snapshotOf(session, readAt, leftEmpty, disclosure);
			if (view.digest.over) return { kind: 'over', status: view.status };
			const watch: Watch = {
				id: randomUUID(),
				teamId,
				channelId,
				session: keyOf(sessionId),
				...settingsAfter(existing, request.settings),
				createdBy: request.userId,
				createdAt: clock.now(),
				card: { ts: null, shownKey: null, wanted: null },
				digest: null,
				revision: 0,
				lastChangeAt: readAt,
				ended: null,
			};
			const seen = { view, questionAt: (index: number) => questionViewAt(session, index, leftEmpty, disclosure) };
			const result = await store.add({
				...watch,
				card: { target: targetOf(watch), key: 'card', content: { kind: 'card' } },
				view,
				news: newsFor(watch, changesBetween(null, session, leftEmpty), seen).announcements,
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

		/** Ends one watch of a channel, or all (`sessionId` null). The card stays as it was. */
		async unwatch({
			teamId,
			channelId,
			sessionId,
		}: ChannelKey & { readonly sessionId: string | null }): Promise<UnwatchOutcome> {
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
				if (result === null) continue;
				ended.push(result);
				logEnded(log, watch, reason);
			}
			if (ended.length > 0) onChange();
			return ended.length === 0 ? { kind: 'notWatched' } : { kind: 'ended', watches: ended };
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
