import type { ChannelKey, WatchSettings } from './watch.ts';

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

export interface NewDiscovery extends Omit<Discovery, keyof DiscoverySettings> {
	/** Left out: as before, else the default of watches. */
	readonly settings: Partial<DiscoverySettings>;
}

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
