import { z } from 'zod';
import type { QuestionDigest, SessionKey } from '../domain/session.ts';
import type { Digest } from '../domain/session-digest.ts';

/**
 * `card`: somebody watches the session. `raisedHand`: `watch all` brought it into the channel; it has no card, its
 * question is posted in the channel, and it ends when none is open.
 */
export type WatchMode = 'card' | 'raisedHand';

/** Ends after which nothing more is posted: Slack or the settings refuse, or another organisation is in the channel. */
const CHANNEL_ENDS = ['channelArchived', 'channelGone', 'botRemoved', 'channelShared', 'channelNotAllowed'] as const;
export type ChannelEnd = (typeof CHANNEL_ENDS)[number];

/** A watch of a session without any change ends after this. */
export const WATCH_MAX_DAYS = 7;

/**
 * Why a watch ended. `noChange`: nothing changed for `WATCH_MAX_DAYS`. Of a raised hand: its question is not open any
 * more (`handLowered`), a newer one got its place (`gaveWay`), or `watch all` has ended (`discoveryEnded`).
 */
// biome-ignore format: a list of words
export const WATCH_ENDS = [
	'sessionOver', 'unwatched', 'noChange', 'sessionGone', 'handLowered', 'gaveWay', 'discoveryEnded', ...CHANNEL_ENDS,
] as const;
export type WatchEnd = (typeof WATCH_ENDS)[number];

/** After these ends, whoever reads the card can begin the watch again there. */
export const CAN_GO_ON: readonly WatchEnd[] = ['unwatched', 'noChange', 'discoveryEnded'];

export const isChannelEnd = (reason: WatchEnd): reason is ChannelEnd => CHANNEL_ENDS.some((end) => end === reason);

export interface ChannelKey {
	readonly teamId: string;
	readonly channelId: string;
}

/** `now`: questions, answers, ends and who is answering. `progress`: everything else, which waits for `now`. */
export type PostUrgency = 'now' | 'progress';

/** A session watched in a channel. All times are milliseconds since the epoch. */
export interface Watch extends ChannelKey {
	readonly id: string;
	readonly mode: WatchMode;
	readonly session: SessionKey;
	/** Slack user id; told when the watch ends for a reason that cannot be posted there. */
	readonly createdBy: string;
	readonly createdAt: number;
	/**
	 * Counts the reads that it was told of, so that two replicas cannot tell it the same. 0 or less before the first.
	 */
	readonly revision: number;
	/** When something that people see last changed; `createdAt` before any change. */
	readonly lastChangeAt: number;
	readonly ended: { readonly reason: WatchEnd; readonly at: number } | null;
	/** Its channel wants pauses and the like in the thread of its card. Only `ofSession` finds it. */
	readonly progress?: boolean;
	/** The question no longer wanted in its channel. Only `ofSession` finds it, before the first read. */
	readonly dismissed?: Pick<QuestionDigest, 'fingerprint' | 'messageIndex'> | null;
}

/**
 * The `revision` of a raised hand that somebody unwatched before its first read. That read finds out which question
 * is not wanted, and ends it.
 */
export const DISMISSED = -1;

/** The most watches that have not ended: of one person, of one channel, of all. Lowering a limit ends no watch. */
export type WatchLimits = Readonly<Record<WatchLimit, number>>;
export type WatchLimit = 'person' | 'channel' | 'all';

/** A session of the account that waits for a person, as the newest list tells. It may be wrong. */
export interface WaitingSession {
	readonly sessionId: string;
	/** The agent's own words: untrusted. */
	readonly name: string;
	/** When a list first told that it waits, clock milliseconds. */
	readonly since: number;
	/** It began to wait after the first list. Nobody knows how long others have waited. */
	readonly isNew: boolean;
	/** A channel no longer follows it, because a newer question needed the place. */
	readonly gaveWay: boolean;
}

/** A channel into which each raised hand of the account is brought. */
export interface Discovery extends ChannelKey {
	readonly service: string;
	/** Slack user id; told when it ends for a reason that cannot be posted there. */
	readonly createdBy: string;
	readonly createdAt: number;
}

/** Why no sessions are listed: `DISCOVER_SESSIONS` is off, or the service has no list. */
export const NO_LIST_REASONS = ['notDiscovering', 'noList'] as const;
export type NoListReason = (typeof NO_LIST_REASONS)[number];
/** 1.1.0 had a third one, whose setting is gone. */
export const noListReason = z.enum(NO_LIST_REASONS).catch('noList');

export const hasOpenQuestion = (digest: Digest | null) => (digest?.question?.open.length ?? 0) > 0;

/** There are `count` already: nothing was written. */
export interface LimitReached {
	readonly kind: 'limit';
	readonly limit: WatchLimit;
	readonly count: number;
	readonly most: number;
}
