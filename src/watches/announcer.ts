import type { Announcement } from './announcements.ts';
import type { ReminderEntry } from './kinds.ts';
import type { SessionSnapshot } from './session-snapshot.ts';
import type { Watch, WatchEnd } from './watch.ts';

/** Why Slack takes nothing in a channel any more. */
export type GoneReason = Extract<WatchEnd, 'channelArchived' | 'channelGone' | 'botRemoved'>;

/** The result of one post or update. */
export type SendOutcome =
	| { readonly kind: 'sent'; readonly ts: string }
	/** The channel takes no posts: the watch ends. */
	| { readonly kind: 'gone'; readonly reason: GoneReason }
	/** Nothing was written. `ms`: the wait that Slack asks for, or null. `limited`: Slack's rate limit was hit. */
	| { readonly kind: 'later'; readonly ms: number | null; readonly code: string; readonly limited: boolean }
	/** A time-out or a broken connection: it may have been written. */
	| { readonly kind: 'unknown'; readonly code: string }
	/** Slack or the access policy refuses it, and would refuse it again. */
	| { readonly kind: 'refused'; readonly code: string }
	/** It was posted in the channel because its thread is gone. */
	| { readonly kind: 'unthreaded'; readonly ts: string }
	/** Somebody deleted the message that this updates. */
	| { readonly kind: 'deleted' };

/** A card that is due. */
export interface DueCard {
	readonly watch: Watch;
	readonly view: SessionSnapshot;
	/** When the session was last read, changed or not. */
	readonly checkedAt: number | null;
	/** Since when its question is open; null when none is, or when that is not known. */
	readonly questionSince: number | null;
}

export interface PreparedCard {
	/** Two cards with the same key look the same. */
	readonly key: string;
	/** Posts it (`ts` null) or updates it. */
	send(options: { ts: string | null; metadataKey: string | null }): Promise<SendOutcome>;
}

export interface DueAnnouncement {
	readonly announcement: Announcement;
	/** For a target that is a watch, which may have ended: its end is announced too. */
	readonly watch: Watch | null;
	readonly view: SessionSnapshot | null;
}

export interface PreparedPost {
	/** Reminders that it does not show, because somebody has answered. That may be taken back. */
	readonly leftOut?: readonly ReminderEntry[];
	send(options: { metadataKey: string }): Promise<SendOutcome>;
}

/** The outcome of one attempt to post. */
export type AttemptResult =
	/**
	 * `cardKey`: only of a card. `sentAt`: when the attempt began that posted it; left out: now. `lostCardTs`: the card whose
	 * thread is gone. `leftOut`: reminders that the post does not show; they are due again.
	 */
	| {
			readonly kind: 'posted';
			readonly ts: string;
			readonly cardKey: string | null;
			readonly sentAt?: number;
			readonly lostCardTs?: string;
			readonly leftOut?: readonly ReminderEntry[];
	  }
	/** `unknown`: the post may exist; otherwise it certainly does not. */
	| {
			readonly kind: 'retry';
			readonly at: number;
			readonly code: string;
			readonly unknown: boolean;
			readonly lostCardTs?: string;
	  }
	| { readonly kind: 'refused'; readonly code: string }
	/**
	 * There is no place to post it, or nothing to say any more. Its reminders are due again, unless an earlier attempt may have
	 * posted it (`unknown`).
	 */
	| { readonly kind: 'dropped'; readonly unknown: boolean };

/** The outcome of one attempt to update a card. */
export type CardResult =
	| { readonly kind: 'shown'; readonly key: string; readonly wants: number; readonly now: number }
	| { readonly kind: 'retry'; readonly at: number }
	| { readonly kind: 'refused' }
	/** Somebody deleted the card `ts`. */
	| { readonly kind: 'lost'; readonly ts: string; readonly now: number };

/** An update of a post of a question. */
export interface PostUpdate {
	/** The announcement of the question. */
	readonly announcementId: string;
	/** Two posts with the same key look the same. */
	readonly key: string;
	send(): Promise<SendOutcome>;
}

/** Writes to Slack; `slack/` implements it. Throws nothing but the signal's reason. */
export interface Announcer {
	/** Builds a card from what is stored, claims and answers included. Does not call Slack. */
	prepareCard(card: DueCard): Promise<PreparedCard>;
	/** The updates that a `settle` or `redraw` needs, built from what is stored now; empty when the posts are current. */
	updatesOf(due: DueAnnouncement): Promise<readonly PostUpdate[]>;
	/**
	 * Builds the post of an announcement other than a card from what is stored now; may ask Slack for links. Null when what
	 * it says is not so any more. `maybeRepeat`: the post says that it may be a repeat.
	 */
	preparePost(due: DueAnnouncement, options: { maybeRepeat: boolean }): Promise<PreparedPost | null>;
	/** Deletes a post. `refused`: Slack never allows it. */
	remove(due: DueAnnouncement, ts: string): Promise<'removed' | 'refused' | 'unknown'>;
	/** Searches readable history from `since` on for a post by its metadata: first its thread, then its channel. */
	find(
		due: DueAnnouncement,
		options: { metadataKey: string; since: number; signal: AbortSignal },
	): Promise<
		| { readonly kind: 'found'; readonly ts: string; readonly threaded: boolean }
		| { readonly kind: 'absent' }
		| { readonly kind: 'unreadable' }
		| { readonly kind: 'later'; readonly ms: number }
	>;
}
