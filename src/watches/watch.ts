import type { Digest } from '../questions/changes.ts';

/**
 * Which changes are posted. The card shows everything in the first two modes. `raisedHand`: `watch all` brought the
 * session into the channel; it has no card, its question is posted in the channel, and it ends when none is open.
 */
export type WatchMode = 'everything' | 'questionsOnly' | 'raisedHand';

/** Ends after which nothing more is posted: Slack or the settings refuse, or another organisation is in the channel. */
const CHANNEL_ENDS = ['channelArchived', 'channelGone', 'botRemoved', 'channelShared', 'channelNotAllowed'] as const;
export type ChannelEnd = (typeof CHANNEL_ENDS)[number];

/**
 * Why a watch ended. `noChange`: for `WATCH_MAX_DAYS`. `handLowered`: the question of a raised hand is not open any
 * more, or `watch all` has ended. `gaveWay`: a raised hand gave its place to a newer one.
 */
export const WATCH_ENDS = [
	'sessionOver',
	'unwatched',
	'noChange',
	'sessionGone',
	'handLowered',
	'gaveWay',
	...CHANNEL_ENDS,
] as const;
export type WatchEnd = (typeof WATCH_ENDS)[number];

/** Whether nothing more is posted to the channel of a watch with this end. */
export function isChannelEnd(reason: WatchEnd): reason is ChannelEnd {
	return CHANNEL_ENDS.some((end) => end === reason);
}

export interface SessionKey {
	/** The service's base address; see the answers' question key. */
	readonly service: string;
	readonly sessionId: string;
}

export interface ChannelKey {
	readonly teamId: string;
	readonly channelId: string;
}

/** `now`: questions, answers, ends and who is answering. `progress`: everything else, which waits for `now`. */
export type CardUrgency = 'now' | 'progress';

export interface CardState {
	/** Null until it is posted. Of a raised hand: the post of its newest question, which is the root of its thread. */
	readonly ts: string | null;
	/** `key` (see `prepareCard`) of the card as last posted or updated; an update with the same key is not sent. */
	readonly shownKey: string | null;
	/** Null while the card is current. `wants` counts every request for an update. */
	readonly wanted: { readonly urgency: CardUrgency; readonly since: number; readonly wants: number } | null;
}

/** What people choose for a watch. */
export interface WatchSettings {
	readonly mode: WatchMode;
	/** Whether a question in the thread is shown in the channel too. */
	readonly questionsInChannel: boolean;
	/** Whether notifications and posts tell neither questions nor answers, only that there are some. */
	readonly discreet: boolean;
	/** Whether posts of questions offer short options as buttons. */
	readonly buttons: boolean;
}

/** How the questions of a session ended lately in one channel. */
export interface Endings {
	/** How many ended, or got another text, without an answer in the last `COUNTED_MS`. */
	readonly unansweredCount: number;
	/** When the newest of them ended, clock milliseconds. */
	readonly unansweredAt: number;
	/** Whether the newest question that ended was answered: what an agent asks after an answer always notifies. */
	readonly isNewestAnswered: boolean;
	/** Whether our answer to the open question arrived. A fast agent may ask something else before a read shows that. */
	readonly isAnswered: boolean;
}

/** A session watched in a channel. All times are milliseconds since the epoch. */
export interface Watch extends WatchSettings {
	readonly id: string;
	readonly teamId: string;
	readonly channelId: string;
	readonly session: SessionKey;
	/** Slack user id; told when the watch ends for a reason that cannot be posted to the channel. */
	readonly createdBy: string;
	readonly createdAt: number;
	readonly card: CardState;
	/** The state that was last announced; null before the first read. */
	readonly digest: Digest | null;
	/** Counts the writes of `digest`, so that two replicas cannot announce changes from the same one. */
	readonly revision: number;
	/** When something that people see last changed; `createdAt` before any change. */
	readonly lastChangeAt: number;
	readonly ended: { readonly reason: WatchEnd; readonly at: number } | null;
	/** How the session's questions ended lately in the channel. Only `ofSession` finds it. */
	readonly endings?: Endings;
}

/** The revision of a raised hand that was unwatched before its first read, which tells what is not wanted and ends it. */
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
	/** Whether it began to wait after the first list. Of the others nobody knows for how long they have waited. */
	readonly isNew: boolean;
}

/** What people choose for `watch all`. */
export type DiscoverySettings = Pick<WatchSettings, 'discreet' | 'buttons'>;

/** What people see of the account's sessions. */
export interface Discovered {
	/** The longest waiting first. */
	readonly sessions: readonly WaitingSession[];
	/** Why there are none; null: they are listed. */
	readonly why: NoListReason | null;
}

/** A channel into which each raised hand of the account is brought. */
export interface Discovery extends ChannelKey, DiscoverySettings {
	/** The service's base address. */
	readonly service: string;
	/** Slack user id; told when it ends for a reason that cannot be posted to the channel. */
	readonly createdBy: string;
	/** Clock milliseconds */
	readonly createdAt: number;
}

/** `settings`: left out: as before, else the default of watches. */
export type NewDiscovery = Omit<Discovery, keyof DiscoverySettings> & { readonly settings: Partial<DiscoverySettings> };

/** Why no sessions are listed: `DISCOVER_SESSIONS` is off, `SESSION_SERVICE_LIST` is, or the service does not list them. */
export const NO_LIST_REASONS = ['notDiscovering', 'listOff', 'noList'] as const;
export type NoListReason = (typeof NO_LIST_REASONS)[number];

/** A listed session, and what reads have told of it. */
export interface RaisedHand {
	readonly sessionId: string;
	/** When it was last found to ask nothing, or could not be read, clock milliseconds; null: it was not read. */
	readonly loweredAt: number | null;
	/** How often in a row. */
	readonly loweredCount: number;
	/** Whether it began to wait after the first list, and has not given way in a channel since. */
	readonly isNew: boolean;
}
