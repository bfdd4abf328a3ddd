import type { QuestionView } from './session-view.ts';
import type { WatchEnd } from './watch.ts';

/**
 * What is to be posted. Texts are cut and untrusted, secret values are never in it.
 *
 * - `card`: the first post of a watch; everything else of it goes into its thread. A new one takes the place of one that
 *   somebody deleted, not before `notBefore` (clock milliseconds).
 * - `question`: new, or (`changed`) another at the same place. `answered`: it got values. `questionClosed`: it is open no
 *   longer and no answer is known.
 * - `settle`: no post, but the posts of this question lose their button and say how it was settled.
 * - `end`: the session's, with its result. `watchEnded`: only the watch's.
 * - `serviceDown`, `serviceBack`: one for a channel, not in a thread. `creatorTold`: a direct message.
 */
export type AnnouncementContent =
	| { readonly kind: 'card'; readonly notBefore?: number }
	| { readonly kind: 'question'; readonly question: QuestionView; readonly changed: boolean }
	| {
			readonly kind: 'answered';
			readonly messageIndex: number;
			readonly question: QuestionView | null;
			/** The positions that got a value. */
			readonly items: readonly number[];
			readonly stillOpen: readonly number[];
	  }
	| { readonly kind: 'questionClosed'; readonly messageIndex: number }
	| { readonly kind: 'settle'; readonly messageIndex: number; readonly how: 'answered' | 'closed' | 'unwatched' }
	| { readonly kind: 'status'; readonly from: string; readonly to: string }
	| { readonly kind: 'end'; readonly status: string; readonly result: string | null; readonly step: number }
	| { readonly kind: 'watchEnded'; readonly reason: WatchEnd; readonly days: number | null }
	| { readonly kind: 'serviceDown'; readonly since: number }
	| { readonly kind: 'serviceBack'; readonly since: number; readonly downMs: number }
	| {
			readonly kind: 'creatorTold';
			readonly reason: WatchEnd;
			readonly channelId: string;
			readonly sessionIds: readonly string[];
	  };

/**
 * What `lastError` says of a card that waits for its time: the watch has no thread until then, and its other posts do not
 * wait for one.
 */
export const CARD_HELD = 'card_held';
/** What it says of a post for which the shared rate has no room yet. */
export const PACED = 'paced';

/** Whether an attempt that ended with this code only waits for its turn: nothing was sent. */
export function waitsForTurn(code: string): boolean {
	return code === PACED || code === CARD_HELD;
}

/** Where it goes and, by that, what it waits for: announcements of one target are posted in order. */
export type AnnouncementTarget =
	| { readonly kind: 'watch'; readonly watchId: string; readonly teamId: string; readonly channelId: string }
	| { readonly kind: 'channel'; readonly teamId: string; readonly channelId: string }
	| { readonly kind: 'person'; readonly teamId: string; readonly userId: string };

export interface NewAnnouncement {
	readonly target: AnnouncementTarget;
	/** Unique for its target for ever: the same thing is never queued twice. */
	readonly key: string;
	readonly content: AnnouncementContent;
	/**
	 * Not queued when the newest announcement of its target with `about` in its key says `says` already, which is its key
	 * or the beginning of it up to a colon.
	 */
	readonly unlessSaid?: { readonly about: string; readonly says: string };
}

/** `dropped`: its turn never came (the watch ended, the channel is gone, the outage was over before anybody was told). */
export type AnnouncementState = 'pending' | 'posted' | 'refused' | 'dropped';

/** An intent to post, stored in the transaction that stores the digest it follows from. */
export interface Announcement extends NewAnnouncement {
	readonly id: string;
	readonly state: AnnouncementState;
	readonly createdAt: number;
	readonly attempts: number;
	readonly nextAttemptAt: number | null;
	/**
	 * Set before Slack is called and cleared when it is known that nothing was posted: while set, it may stand in the
	 * channel already, and is looked for before it is posted again.
	 */
	readonly sendingSince: number | null;
	readonly postedTs: string | null;
	readonly lastError: string | null;
}

/** The name by which a post can be found again in the channel's history: goes into its metadata. */
export function metadataKeyOf(announcement: Pick<Announcement, 'id'>): string {
	return announcement.id;
}
