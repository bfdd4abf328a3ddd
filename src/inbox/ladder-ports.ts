import type { Person } from '../answers/answer.ts';
import type { Lease, QueuedRows } from '../lease-loop.ts';
import type { NewAnnouncement } from '../watches/announcements.ts';
import type { ChannelSettings, Rung } from '../watches/channel-settings.ts';
import type { ChannelKey, SessionKey } from '../watches/watch.ts';
import type { Ladder, LadderFacts, WaitingRungs } from './ladder.ts';

/** A ladder that was taken, with what is known of its question; the channel's settings are applied by the caller. */
export interface TakenLadder extends Omit<LadderFacts, 'times' | 'quietHours' | 'settingsChangedAt'> {
	/** Counts what happened to the question; see `LadderOutcome`. */
	readonly changeCount: number;
}

/** The ladders of one channel that are due, taken together. */
export interface LadderBatch {
	readonly channel: ChannelKey;
	readonly settings: ChannelSettings;
	/** Null: nobody has. */
	readonly settingsChangedAt: number | null;
	readonly ladders: readonly TakenLadder[];
}

/** What becomes of a ladder that was taken. */
export type LadderOutcome = { readonly ladder: Ladder; readonly changeCount: number } & (
	| { readonly kind: 'over' }
	/** A ladder whose question changed meanwhile is due at once. `dueAt` null: when something changes. */
	| {
			readonly kind: 'wait';
			readonly dueAt: number | null;
			readonly rungDueAt: number | null;
			readonly heldBy: string | null;
			/** Left out: its rung waits for no others. */
			readonly waiting?: WaitingRungs | null;
			/** Read the session early: those that rungs wait for in the order of these times. Null: no read is needed. */
			readonly readBy: number | null;
	  }
	| { readonly kind: 'rung'; readonly rung: Rung }
);

/**
 * The ladders of open questions: rows with a due time. A ladder begins when its question's post is noted as posted. Every
 * method is one transaction; throws `StoreUnavailableError` (code `store_unavailable`, retryable).
 */
export interface LadderStore {
	/**
	 * Leases the due ladders of up to `limit` channels, longest due first, and those of these channels with a rung that waits
	 * for other rungs. What is due in a channel is taken together, by one replica. None of the channels `except`.
	 */
	takeDue(
		serviceUrl: string,
		lease: Lease,
		options: { now: number; limit: number; except: readonly ChannelKey[] },
	): Promise<readonly LadderBatch[]>;
	readonly rows: QueuedRows;
	/** When `takeDue` with the same `except` next finds something; null for never. */
	nextDueAt(serviceUrl: string, except: readonly ChannelKey[]): Promise<number | null>;
	/**
	 * Notes what becomes of ladders and queues `announcement`, all or nothing, and gives their leases back. Null when a lease
	 * was lost: nothing else was written.
	 */
	record(
		token: string,
		outcomes: readonly LadderOutcome[],
		options: { announcement: NewAnnouncement | null; now: number },
	): Promise<'recorded' | null>;
	/** Looks at the ladders of a session now: somebody answered, took an answer back, or began or stopped answering. */
	touchSession(session: SessionKey, now: number): Promise<void>;
	/** Looks at all ladders now: settings of the program may have changed. */
	touchAll(serviceUrl: string, now: number): Promise<void>;
	/** Gives back the ladders that are still held with these tokens (shutdown). */
	release(tokens: readonly string[]): Promise<void>;
}

/** The settings of a channel as stored. */
export interface StoredChannelSettings {
	readonly settings: ChannelSettings;
	/** Counts the changes, so that nobody overwrites a change that they did not see; 0: never changed. */
	readonly revision: number;
	readonly changedBy: string | null;
	readonly changedAt: number | null;
}

/** See `LadderStore` for errors. */
export interface ChannelSettingsStore {
	/** The defaults where nobody has set anything. */
	read(channel: ChannelKey): Promise<StoredChannelSettings>;
	/**
	 * Replaces the settings, queues `announcement` and looks at the channel's ladders now. False when they are not at
	 * `revision` any more: nothing was written.
	 */
	write(
		channel: ChannelKey,
		change: {
			readonly settings: ChannelSettings;
			readonly revision: number;
			readonly person: Person;
			readonly announcement: NewAnnouncement;
			readonly now: number;
		},
	): Promise<boolean>;
}
