import type { Digest } from '../questions/changes.ts';

/** How much of a session a channel hears. The card shows everything either way. */
export type WatchMode = 'everything' | 'questionsOnly';

/**
 * Ends after which nothing more is written into the channel: Slack does not allow it; another organisation reads the
 * channel or is invited to; the settings do not allow the channel any more.
 */
const CHANNEL_ENDS = ['channelArchived', 'channelGone', 'botRemoved', 'channelShared', 'channelNotAllowed'] as const;
export type ChannelEnd = (typeof CHANNEL_ENDS)[number];

/**
 * Why a watch ended: the session ended; somebody unwatched it; nothing changed for `WATCH_MAX_DAYS`; the service does not
 * know the session any more; or a channel end.
 */
export const WATCH_ENDS = ['sessionOver', 'unwatched', 'noChange', 'sessionGone', ...CHANNEL_ENDS] as const;
export type WatchEnd = (typeof WATCH_ENDS)[number];

/** Whether nothing more is written into the channel of a watch that ended so. */
export function isChannelEnd(reason: WatchEnd): reason is ChannelEnd {
	return CHANNEL_ENDS.some((one) => one === reason);
}

/** A session as the service's address and its id: one read of it serves every watch. */
export interface SessionKey {
	/** The service's base address; see the answers' question key. */
	readonly service: string;
	readonly sessionId: string;
}

/** Questions, answers, endings and who is answering (`now`) go before progress. */
export type CardUrgency = 'now' | 'progress';

/** The one message that is kept current. */
export interface CardState {
	/** Null until it was posted. */
	readonly ts: string | null;
	/** `PreparedCard.key` as last posted or updated; a card that would look the same is not sent. */
	readonly shownKey: string | null;
	readonly shownAt: number | null;
	/** Null while it shows everything that is known. `wants` counts every request for an update. */
	readonly wanted: { readonly urgency: CardUrgency; readonly since: number; readonly wants: number } | null;
}

/** A session watched in a channel. All times are milliseconds since the epoch. */
export interface Watch {
	readonly id: string;
	readonly teamId: string;
	readonly channelId: string;
	readonly session: SessionKey;
	readonly mode: WatchMode;
	/** Whether a question's post in the thread is shown in the channel too. */
	readonly questionsInChannel: boolean;
	/** Slack user id; told when the watch ends for a reason the channel cannot be told. */
	readonly createdBy: string;
	readonly createdAt: number;
	readonly card: CardState;
	/** What was last announced; null before the first read. */
	readonly digest: Digest | null;
	/** Counts the writes of `digest`, so that two replicas cannot announce from the same one. */
	readonly revision: number;
	/** When something that people see last changed; `createdAt` before that. */
	readonly lastChangeAt: number;
	readonly ended: { readonly reason: WatchEnd; readonly at: number } | null;
}
