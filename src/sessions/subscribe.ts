import type { Core } from '../core.ts';
import type { SessionKey } from '../domain/session.ts';
import { changesBetween } from '../domain/session-digest.ts';
import { questionSnapshotAt, snapshotOf } from '../domain/session-snapshot.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { pick } from '../kernel/values.ts';
import type { AccessPolicy } from '../slack/access-policy.ts';
import type { ReadPermit } from '../slack/person-reads.ts';
import { type ChannelKey, hasOpenQuestion, type LimitReached, type Watch } from '../store/watch.ts';
import type { SessionStore } from '../store/watched-sessions.ts';
import { targetOf } from '../surfaces/post.ts';
import type { ChannelSettingsStore } from './channel-settings-store.ts';
import type { PollerOptions } from './poller.ts';
import { postsOf } from './reading.ts';
import { UNLISTED } from './schedule.ts';
import type { WatchStore } from './watch-store.ts';

export interface WatchRequest extends ChannelKey, ReadPermit {
	readonly userId: string;
	readonly sessionId: string;
	/** Waits until Slack has taken or refused the first new post. */
	readonly awaitsPost?: boolean;
}

/**
 * `refused`: Slack's code if it refuses the first post, which is tried again. `name`: of the session, '' if not read.
 * `sessionId`: in the spelling of the service.
 */
type Watched = { readonly refused: string | null; readonly name: string; readonly sessionId: string };

export type WatchOutcome =
	| ({ readonly kind: 'watching'; readonly expectation: Expectation } & Watched)
	/** The channel watches the session already. */
	| ({ readonly kind: 'already' } & Watched)
	| LimitReached
	| { readonly kind: 'unknownSession' }
	| { readonly kind: 'over'; readonly status: string }
	| { readonly kind: 'unreadable'; readonly code: string };

export interface Hooks extends Pick<PollerOptions, 'budget' | 'ourAnswers' | 'list'>, Pick<AccessPolicy, 'withGroups'> {
	/**
	 * Called before posts of a watch or channel are planned. The result waits for Slack's code if it refuses the first.
	 */
	readonly expectPost: (id: string) => () => Promise<string | null>;
}

export function createSubscriptions(
	core: Core<{ watches: WatchStore; sessions: SessionStore; channelSettings: Pick<ChannelSettingsStore, 'rulesOf'> }>,
	{ budget, ourAnswers, list, expectPost, withGroups }: Hooks,
) {
	const { serviceUrl, clock, store } = core;

	return {
		/** The access policy has allowed the request, and the bot is a member of the channel. */
		async watch(request: WatchRequest): Promise<WatchOutcome> {
			const { teamId, channelId, sessionId } = request;
			const find = (key: SessionKey) => store.watches.find({ teamId, channelId }, key);
			let key = { service: serviceUrl, sessionId };
			let existing = await find(key);
			let reading: Awaited<ReturnType<WatchRequest['read']>>;
			try {
				reading = await request.read(sessionId);
			} catch (error) {
				if (!(error instanceof HandraiseError)) throw error;
				const isMissing = error.code === 'session_not_found';
				if ((isMissing && existing === null) || error.code === 'invalid_session_id') return { kind: 'unknownSession' };
				// A watch stays while the service is down. A raised hand needs a read to become a watch with a card.
				if (existing?.mode === 'card') return { kind: 'already', name: '', sessionId, refused: null };
				return { kind: 'unreadable', code: isMissing ? 'session_missing' : error.code };
			}
			const { session, readAt, arrival } = reading;
			if (session.sessionId !== sessionId) {
				key = { service: serviceUrl, sessionId: session.sessionId };
				existing = await find(key);
			}
			const ours = await ourAnswers(reading);
			const { occurrences, outcomes, known } = ours;
			const shownWith = { ...ours, closedItems: occurrences.closedItems };
			const snapshot = snapshotOf(session, readAt, shownWith, arrival);
			const changes = changesBetween(null, snapshot.digest);
			if (changes.some(({ kind }) => kind === 'ended')) return { kind: 'over', status: snapshot.status };
			const asks = hasOpenQuestion(snapshot.digest);
			const now = clock.now();
			const watchedCount = await store.sessions.count(serviceUrl);
			// The budget of this moment: while somebody adds many sessions, it is smaller than in the long run.
			const expectation = expectationFor(watchedCount + 1, budget.perSecond(), list() !== null);
			const watch: Watch = {
				id: crypto.randomUUID(),
				teamId,
				channelId,
				session: key,
				mode: 'card',
				createdBy: request.userId,
				createdAt: now,
				revision: 0,
				lastChangeAt: readAt,
				ended: null,
			};
			const { groupIds } = await withGroups(
				request.userId,
				await store.channelSettings.rulesOf(teamId, session.sessionId),
			);
			const attempted = expectPost(existing?.id ?? watch.id);
			const result = await store.watches.add({
				...watch,
				card: {
					target: targetOf(watch),
					key: 'card',
					content: { kind: 'card', notBefore: now + CARD_AFTER_MS, isFirst: true },
				},
				snapshot,
				found: {
					changes: occurrences.changes,
					outcomes,
					known,
					itemsAt: (index) => questionSnapshotAt(session, index, shownWith)?.items,
				},
				news: postsOf(watch, changes, asks ? { changed: false } : null),
				readAt: now + FIRST_READ_AFTER_MS,
				limits: core.config.watchLimits,
				groupIds,
			});
			if (result.kind === 'limit') {
				core.metrics.watches.limitReached({ limit: result.limit });
				return result;
			}
			// Without a question, the first post is the card, which comes too late to wait for.
			const refused = request.awaitsPost === true && asks && result.isPosting ? await attempted() : null;
			const watched = { ...pick(snapshot, 'name', 'sessionId'), refused };
			if (result.kind === 'already') return { kind: 'already', ...watched };
			return { kind: 'watching', expectation, ...watched };
		},

		list: store.watches.list,
		ofChannel: store.watches.ofChannel,
	};
}

/** A card waits this long for a first question, which stands above it. */
const CARD_AFTER_MS = 60_000;

/** Whoever begins to watch has just caused a read, so the next one is not due at once. */
const FIRST_READ_AFTER_MS = UNLISTED.busyMs / 2;

/** Factors for one busy session in ten: how much more often it is read than in turn, and how much less the others. */
const BUSY_SOONER = 6;
const QUIET_LATER = 2.5;
const SLOW_SECONDS = 60;

/** How soon changes of a new watch are noticed, in seconds. `isListed`: a list shows which sessions ask. */
export function expectationFor(watched: number, readsPerSecond: number, isListed = false) {
	/** To read every watched session once, in turn. */
	const roundSeconds = watched / Math.max(readsPerSecond, 1e-3);
	return {
		roundSeconds,
		/** Until a question of a working session is noticed. */
		typicalSeconds: Math.max(1, roundSeconds / 2 / BUSY_SOONER),
		/** Between two reads of a session. */
		longestSeconds: Math.max(UNLISTED.quietMs / 1_000, roundSeconds * QUIET_LATER),
		/** Whether to tell the person who adds the watch. */
		slow: !isListed && roundSeconds > SLOW_SECONDS,
	};
}

export type Expectation = Readonly<ReturnType<typeof expectationFor>>;

export type Subscriptions = ReturnType<typeof createSubscriptions>;
