import type { AnnouncementContent, ReminderEntry } from './kinds.ts';
import type { SessionSnapshot } from './session-snapshot.ts';
import type { ChannelKey, Watch, WatchEnd } from './watch.ts';

/** `lastError` of what waits for its `heldUntil`. The target's other posts do not wait for it. */
export const HELD = 'card_held';
/** `lastError` of a post that waits for the shared rate: its attempt sent nothing and failed at nothing. */
export const PACED = 'paced';

/** Where to post. Announcements of one target are posted in order. `switching`: see `switchingTargetOf`. */
export type AnnouncementTarget =
	| (ChannelKey & { readonly kind: 'watch'; readonly watchId: string; readonly topic?: 'switching' })
	| { readonly kind: 'channel'; readonly teamId: string; readonly channelId: string }
	/** `topic`: posts about other topics to the same person do not wait for those about this one. */
	| { readonly kind: 'person'; readonly teamId: string; readonly userId: string; readonly topic?: string };

export interface NewAnnouncement {
	readonly target: AnnouncementTarget;
	/** Unique within its target, so that nothing is queued twice. */
	readonly key: string;
	readonly content: AnnouncementContent;
	/** Not posted before this time, clock milliseconds. A question that is settled before it is never posted. */
	readonly heldUntil?: number;
	/**
	 * Not queued when the key of the target's newest announcement with `about` in its key begins with `says` and a colon.
	 */
	readonly unlessSaid?: { readonly about: string; readonly says: string };
}

/** An intent to post, stored in one transaction with the digest it follows from. */
export interface Announcement extends NewAnnouncement {
	readonly id: string;
	readonly attempts: number;
	/** Set before Slack is called, cleared when certainly nothing was posted. While set, the post is searched first. */
	readonly sendingSince: number | null;
	readonly postedTs: string | null;
	/** `key` (see `updatesOf`) of what the post of a question shows; null while that is what was posted. */
	readonly shownKey: string | null;
	readonly lastError: string | null;
}

export interface DueAnnouncement {
	readonly announcement: Announcement;
	/** For a target that is a watch, which may have ended: its end is announced too. */
	readonly watch: Watch | null;
	readonly view: SessionSnapshot | null;
}

export interface DueCard {
	readonly watch: Watch;
	readonly view: SessionSnapshot;
	/** When the session was last read, changed or not. */
	readonly checkedAt: number | null;
	/** Since when its question is open; null when none is, or when that is not known. */
	readonly questionSince: number | null;
}

export type GoneReason = Extract<WatchEnd, 'channelArchived' | 'channelGone' | 'botRemoved'>;

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
	| { readonly kind: 'deleted' };

export type AttemptResult =
	/**
	 * `cardKey`: only of a card. `sentAt`: when the attempt began; left out: now. `lostCardTs`: the card whose thread is
	 * gone. `leftOut`: reminders that the post does not show; they are due again.
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
	/** No place to post it, or nothing to say. Its reminders are due again unless it may have been posted (`unknown`). */
	| { readonly kind: 'dropped'; readonly unknown: boolean };

export type CardResult =
	| { readonly kind: 'shown'; readonly key: string; readonly wants: number; readonly now: number }
	| { readonly kind: 'retry'; readonly at: number }
	| { readonly kind: 'refused' }
	| { readonly kind: 'lost'; readonly ts: string; readonly now: number };

/** Where a watch has its post for all questions. Apart from the others: what settles a question does not settle it. */
export function switchingTargetOf(target: Extract<AnnouncementTarget, { kind: 'watch' }>) {
	return { ...target, topic: 'switching' } as const;
}

export function targetOf(watch: Pick<Watch, 'id' | 'teamId' | 'channelId'>) {
	return { kind: 'watch', watchId: watch.id, teamId: watch.teamId, channelId: watch.channelId } as const;
}

const CARD_AGAIN_MS = 3_600_000;

/** The card that replaces the deleted card `lostTs`. `before`: the `notBefore` of the newest replacement, or null. */
export function cardAgain(watch: Watch, lostTs: string, before: number | null, now: number): NewAnnouncement {
	const notBefore = before === null ? now : Math.max(now, Math.min(before, now) + CARD_AGAIN_MS);
	const held = notBefore > now ? { heldUntil: notBefore } : {};
	return { target: targetOf(watch), key: `card:${lostTs}`, content: { kind: 'card', notBefore }, ...held };
}

/** Announces the end of a watch whose session goes on. */
export function watchEndedIn(watch: Watch, reason: WatchEnd, days: number | null): NewAnnouncement {
	return { target: targetOf(watch), key: 'watchEnded', content: { kind: 'watchEnded', reason, days } };
}

/** Settles the posts of an open question, because they are no longer kept current, or because it is not there any more. */
export function settlingOf(watch: Watch, how: 'unwatched' | 'gaveWay' | 'closed' = 'unwatched'): NewAnnouncement[] {
	const question = watch.digest?.question ?? null;
	if (question === null || question.open.length === 0) return [];
	const { messageIndex } = question;
	const content = { kind: 'settle', messageIndex, how } as const;
	return [{ target: targetOf(watch), key: `settle:${messageIndex}:${how}`, content }];
}
