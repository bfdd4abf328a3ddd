import type { Lease } from '../lease-loop.ts';
import type { Digest } from '../questions/changes.ts';
import type { Session } from '../questions/session.ts';
import type { Announcement, NewAnnouncement } from './announcements.ts';
import type { SessionSnapshot } from './session-snapshot.ts';
import type { StepRate } from './step-rate.ts';
import type { CardUrgency, SessionKey, Watch, WatchEnd, WatchMode } from './watch.ts';

/** The part of the session service's client that watching needs. */
export interface WatchingService {
	/**
	 * Reads a session on the budget's background share.
	 * @throws errors with a stable `code`, `retryable` and, when limited, `retryAt`; or the signal's reason
	 */
	read(
		sessionId: string,
		options: { priority: 'background'; signal?: AbortSignal },
	): Promise<{
		session: Session;
		/** When the request left: what happened after that is perhaps not in it. Clock milliseconds. */
		readAt: number;
	}>;
}

/** What watching may use of the service now. */
export interface BackgroundBudget {
	/** Requests a second that people and deliveries leave over, lately; 0 while the service says that it is too much. */
	backgroundPerSecond(): number;
	/** Nothing is sent before this (a 429), clock milliseconds; 0 when nothing holds it back. */
	pausedUntil(): number;
	/** Reads of this process that wait for leave: taking more sessions would only fix their order too early. */
	waiting(): number;
}

/** A read to come: not before `at`, and in the order of `by` among those that are due. */
export interface PlannedRead {
	readonly at: number;
	readonly by: number;
}

/** A session that at least one channel watches: one row however many do. */
export interface WatchedSession {
	readonly session: SessionKey;
	readonly stepRate: StepRate;
	/** Null before the first read. */
	readonly digest: Digest | null;
	readonly nextRead: PlannedRead;
	/** The newest read that brought the session, changed or not. */
	readonly lastReadAt: number | null;
	/** The newest read that found something else than the one before; the first read's time before that. */
	readonly lastChangeAt: number | null;
	/** When an early read was asked for: an answer was delivered, so something will change soon. */
	readonly earlyReadAskedAt: number | null;
	/** Reads that failed since the last one that did not. */
	readonly failures: number;
	/** The stable code of the last failure. */
	readonly lastError: string | null;
	/** When it was first seen over; the read after that is the last. */
	readonly overSince: number | null;
	/** Counts what asked for an early read: a read that began before the newest of them does not put it off. */
	readonly earlyReadCount: number;
}

/** What the schedule needs of every session: asked for all of them at once, every few seconds. */
export type SessionOutline = Pick<
	WatchedSession,
	'session' | 'stepRate' | 'nextRead' | 'lastReadAt' | 'lastChangeAt' | 'earlyReadAskedAt' | 'failures' | 'overSince'
> & { readonly status: string | null; readonly questionOpen: boolean };

/** With the people who created its watches: what one of them watches is not to be at the cost of all others. */
export type WatchedOutline = SessionOutline & { readonly watchers: readonly string[] };

/** A session that was taken and is not given back yet. */
export interface HeldSession {
	readonly session: SessionKey;
	readonly token: string;
}

export interface NewWatch {
	readonly id: string;
	readonly teamId: string;
	readonly channelId: string;
	readonly session: SessionKey;
	readonly mode: WatchMode;
	readonly questionsInChannel: boolean;
	readonly createdBy: string;
	readonly createdAt: number;
	/** The first announcement, the card. */
	readonly card: NewAnnouncement;
	/** What the subscribing person's read brought, so that the card has something to show. */
	readonly view: SessionSnapshot;
	readonly limits: WatchLimits;
}

/** How many watches there may be that have not ended: more are not added, those that are there stay. */
export type WatchLimits = Readonly<Record<WatchLimit, number>>;

/** Of one person, of one channel, of all. */
export type WatchLimit = 'person' | 'channel' | 'all';

export type AddWatchResult =
	| { readonly kind: 'added'; readonly watch: Watch }
	/** It is watched here; `changed` when the noise settings were others and are these now. */
	| { readonly kind: 'already'; readonly watch: Watch; readonly changed: boolean }
	/** There are `count` already: nothing was written. */
	| { readonly kind: 'limit'; readonly limit: WatchLimit; readonly count: number; readonly most: number };

/** The outcome of a read for one watch: written only while the watch is at `revision` and has not ended. */
export interface WatchUpdate {
	readonly watchId: string;
	readonly revision: number;
	readonly digest: Digest;
	/** Whether people see a difference: moves `lastChangeAt`. */
	readonly changed: boolean;
	readonly announcements: readonly NewAnnouncement[];
	readonly card: CardUrgency | null;
	readonly end: WatchEnd | null;
}

/** The outcome of a read for its session. */
export interface SessionUpdate {
	readonly stepRate: StepRate;
	readonly nextRead: PlannedRead;
	readonly lastReadAt: number | null;
	readonly lastChangeAt: number | null;
	readonly failures: number;
	readonly lastError: string | null;
	readonly overSince: number | null;
	/** Left out when nothing changed. */
	readonly view?: SessionSnapshot;
	/** As it was when the session was taken. */
	readonly earlyReadCount: number;
}

export interface OutageUpdate {
	readonly service: string;
	readonly now: number;
	readonly down: boolean;
	/** The first read that failed, for saying since when; clock milliseconds. */
	readonly since: number;
	/** It is not down while any replica has read something since. */
	readonly unlessReadSince: number;
}

export interface WatchPage {
	readonly watches: readonly (Watch & { readonly view: SessionSnapshot | null; readonly checkedAt: number | null })[];
	readonly total: number;
}

/** A card that is due, with all it can show. */
export interface DueCard {
	readonly watch: Watch;
	readonly view: SessionSnapshot;
	/** The newest read, changed or not. */
	readonly checkedAt: number | null;
}

export interface DueAnnouncement {
	readonly announcement: Announcement;
	/** For a target that is a watch; it may have ended meanwhile (its end is announced all the same). */
	readonly watch: Watch | null;
	readonly view: SessionSnapshot | null;
}

/** When something can be taken, unless somebody else takes it before; null where nothing is to be done. */
export interface NextPosts {
	readonly post: number | null;
	readonly card: Readonly<Record<CardUrgency, number | null>>;
}

/** What became of one attempt to post. */
export type AttemptResult =
	/** `cardKey` when it was the card. `lostCardTs`: the thread it was meant for is gone, and the watch's card with it. */
	| { readonly kind: 'posted'; readonly ts: string; readonly cardKey: string | null; readonly lostCardTs?: string }
	/** Nothing stands there for certain unless `unknown`. */
	| {
			readonly kind: 'retry';
			readonly at: number;
			readonly code: string;
			readonly unknown: boolean;
			readonly lostCardTs?: string;
	  }
	| { readonly kind: 'refused'; readonly code: string }
	/** There is no place for it. */
	| { readonly kind: 'dropped' };

/**
 * The durable watches, by what uses them. Every method is one transaction; a resolved promise means committed. Throws
 * `StoreUnavailableError` (code `store_unavailable`, retryable) when it cannot.
 *
 * A row that another version of the program wrote, or that needs another encryption key, holds up nobody else: it is
 * left out of every result and stays as it is; what is to be posted of it is tried again after 10 minutes and at the
 * next start.
 */
export interface WatchStore extends SubscriptionStore, ChannelStore, ReadingStore, PostingStore {
	/** Removes announcements that were posted, refused or dropped, and watches that ended, before `before`. */
	removeEnded(before: number): Promise<number>;
	/**
	 * Removes the texts of what was posted, refused or dropped before `before`, of watches that go on too. A question whose
	 * post is not settled yet keeps its text. Returns how many.
	 */
	removeTexts(before: number): Promise<number>;
}

/** What people ask of watches. As `WatchStore` says. */
export interface SubscriptionStore {
	/**
	 * Creates the watch, its session's row (read at once) and the announcement of its card; idempotent by place and session.
	 * The limits hold exactly, however many replicas add at once.
	 */
	add(watch: NewWatch): Promise<AddWatchResult>;
	/** Those that have not ended, newest change first. */
	list(channel: ChannelKey, page: { offset: number; limit: number }): Promise<WatchPage>;
	/** The watch of this session in this channel that has not ended. */
	find(channel: ChannelKey, session: SessionKey): Promise<Watch | null>;
	/**
	 * The newest watch of this channel whose card is or was this message, or whose question, ended or not; with what the card
	 * shows.
	 */
	findByPost(
		channel: ChannelKey,
		ts: string,
	): Promise<{ readonly watch: Watch; readonly view: SessionSnapshot | null } | null>;
	/** How many sessions are watched at all. */
	countSessions(service: string): Promise<number>;
	/** Has a session's cards updated now, and the session read no later than `earlyReadAt` (null: as planned). */
	refresh(session: SessionKey, options: { now: number; earlyReadAt: number | null }): Promise<void>;
}

/** What becomes of the watches of a channel. As `WatchStore` says. */
export interface ChannelStore {
	/**
	 * Ends a watch and queues `announcements`; what was pending for it is dropped unless `keepPending`. Null when it had
	 * ended. The session's row goes with its last watch.
	 */
	end(
		watchId: string,
		reason: WatchEnd,
		options: { now: number; announcements: readonly NewAnnouncement[]; keepPending: boolean },
	): Promise<Watch | null>;
	/** Those of a channel that have not ended, for all of `unwatch all` and for a channel that is gone. */
	ofChannel(channel: ChannelKey): Promise<readonly Watch[]>;
	/**
	 * Gives up what is still to be posted or updated in a channel, of watches that ended too; whoever holds a lease of that
	 * has lost it.
	 */
	silence(channel: ChannelKey): Promise<void>;
	/** The channels of watches that have not ended, and those in which something is still to be posted or updated. */
	activeChannels(): Promise<readonly ChannelKey[]>;
}

/** The sessions that are read, and what a read brought. As `WatchStore` says. */
export interface ReadingStore {
	/** Leases up to `limit` sessions whose read is due, the longest due first. */
	takeDue(service: string, lease: Lease, limit: number, now: number): Promise<readonly WatchedSession[]>;
	/** Prolongs these leases by `ms` from `now`; returns the sessions still held. */
	renew(held: readonly HeldSession[], ms: number, now: number): Promise<readonly SessionKey[]>;
	/** Gives back the sessions that were taken with these tokens and are still held (shut-down). */
	releaseReads(tokens: readonly string[]): Promise<void>;
	/** When `takeDue` finds a session, unless somebody else takes it before, or null. */
	nextReadDueAt(service: string, now: number): Promise<number | null>;
	outlines(service: string): Promise<readonly WatchedOutline[]>;
	/** Those of a session that have not ended. */
	ofSession(session: SessionKey): Promise<readonly Watch[]>;
	/**
	 * Writes a read's outcome and gives the lease back: schedule, view, and for each watch digest, announcements, card and
	 * end, all or nothing. Null when the lease was lost: nothing was written. `coalesced`: cards that were wanted already.
	 */
	record(
		held: HeldSession,
		read: { readonly update: SessionUpdate; readonly watches: readonly WatchUpdate[]; readonly now: number },
	): Promise<{ readonly coalesced: number } | null>;
	/** Moves the reads of these sessions, if they are still where the outline saw them and nobody leases them. */
	reschedule(moves: readonly { session: SessionKey; from: PlannedRead; to: PlannedRead }[]): Promise<void>;
	/**
	 * Notes that the service is down or back. The first to say so queues one announcement for every channel that watches;
	 * a channel that was not told of the outage yet is not told of its end. Returns whether it was news.
	 */
	noteOutage(outage: OutageUpdate): Promise<boolean>;
}

/** What is posted and updated. As `WatchStore` says. */
export interface PostingStore {
	/**
	 * Leases announcements that are due, oldest first; one for a target at a time, a card before everything else and the
	 * others in their order, beside those that settle, those that cannot be read and a card that is held.
	 */
	takeAnnouncements(lease: Lease, limit: number, now: number): Promise<readonly DueAnnouncement[]>;
	/**
	 * The posts that the announcement `settleId` is to settle, oldest first: those of the watch's questions that came before
	 * it and after the one that settled last.
	 */
	postedQuestions(settleId: string): Promise<readonly Announcement[]>;
	/**
	 * Marks that Slack is about to be called; `since`: now, or the time of a former attempt that may stand there unseen.
	 * False when the lease was lost.
	 */
	beginAttempt(id: string, token: string, since: number): Promise<boolean>;
	/**
	 * Notes the outcome and gives the lease back; nothing when the lease was lost. A card that is lost is noted as by
	 * `endCard`.
	 */
	endAttempt(id: string, token: string, result: AttemptResult, now: number): Promise<void>;
	/** Leases cards that are wanted and were posted before, `now` ones first, then the longest wanted. */
	takeCards(
		lease: Lease,
		limit: number,
		options: { now: number; urgency: CardUrgency | 'any' },
	): Promise<readonly DueCard[]>;
	/** Whether the card is still leased by this token: Slack is about to be called. */
	holdsCard(watchId: string, token: string): Promise<boolean>;
	/**
	 * Notes what a card shows and gives the lease back. What was wanted after `wants` stays wanted. `retry` keeps it wanted
	 * and not due before `at`; `refused` gives it up; `lost`: somebody deleted the card `ts`, so a live watch has a new one
	 * queued, once. Nothing when the lease was lost.
	 */
	endCard(
		watchId: string,
		token: string,
		result:
			| { readonly kind: 'shown'; readonly key: string; readonly wants: number; readonly now: number }
			| { readonly kind: 'retry'; readonly at: number }
			| { readonly kind: 'refused' }
			| { readonly kind: 'lost'; readonly ts: string; readonly now: number },
	): Promise<void>;
	/** Gives back the cards and announcements that were taken with these tokens and are still held (shut-down). */
	releasePosts(tokens: readonly string[]): Promise<void>;
	/** When `takeAnnouncements` and `takeCards` find something. What waits for another announcement does not count. */
	nextPostDueAt(now: number): Promise<NextPosts>;
}

export interface ChannelKey {
	readonly teamId: string;
	readonly channelId: string;
}

/** One page of the team channels that the bot is in. */
export type ChannelPage =
	/** `external`: those that another organisation reads or is invited to. `next`: null on the last page. */
	| { readonly kind: 'page'; readonly external: readonly string[]; readonly next: string | null }
	/** `code`: Slack's own, or what went wrong on the way. `retryAfterMs`: as Slack asks, null when it did not. */
	| { readonly kind: 'failed'; readonly code: string; readonly retryAfterMs: number | null };

/** Lists channels; `slack/` implements it. Does not throw. */
export interface ChannelList {
	/** `cursor`: null for the first page. */
	page(cursor: string | null): Promise<ChannelPage>;
}

/** Where Slack cannot be written to any more. */
export type GoneReason = Extract<WatchEnd, 'channelArchived' | 'channelGone' | 'botRemoved'>;

/** What Slack said to one post or update. */
export type SendOutcome =
	| { readonly kind: 'sent'; readonly ts: string }
	/** The channel cannot be written to: the watch ends. */
	| { readonly kind: 'gone'; readonly reason: GoneReason }
	/** Nothing was written; `ms` as Slack asks, or null when it did not say. */
	| { readonly kind: 'later'; readonly ms: number | null; readonly code: string; readonly limited: boolean }
	/** A time-out or a broken connection: it may have been written. */
	| { readonly kind: 'unknown'; readonly code: string }
	/** Slack will not take this one, however often it is sent. */
	| { readonly kind: 'refused'; readonly code: string }
	/** It was posted, but into the channel: the thread it was meant for is gone. */
	| { readonly kind: 'unthreaded'; readonly ts: string }
	/** What was to be updated is gone: somebody deleted it. */
	| { readonly kind: 'deleted' };

export interface PreparedCard {
	/** The same key means that it looks the same. */
	readonly key: string;
	/** Posts it (`ts` null) or updates it. */
	send(options: { ts: string | null; metadataKey: string | null }): Promise<SendOutcome>;
}

/** Writes to Slack; `slack/` implements it. Does not throw but for the signal's reason. */
export interface Announcer {
	/** Puts a card together from what is known now, claims and answers included. No call to Slack. */
	prepareCard(card: { watch: Watch; view: SessionSnapshot; checkedAt: number | null }): Promise<PreparedCard>;
	/** Posts one announcement other than a card, or does what a `settle` says. `maybeRepeat`: say in it that it may be one. */
	post(due: DueAnnouncement, options: { metadataKey: string; maybeRepeat: boolean }): Promise<SendOutcome>;
	/** Takes a post away. `refused`: it stays for good. */
	remove(due: DueAnnouncement, ts: string): Promise<'removed' | 'refused' | 'unknown'>;
	/** Looks for a post by its metadata where history is readable, from `since` on: in its thread, then in its channel. */
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

/** Figures for `/metrics`; `ops/metrics.ts` implements it. */
export interface WatchMetrics {
	watchedSessions(count: number): void;
	read(outcome: 'changed' | 'unchanged' | 'failed'): void;
	/** Between a change's earliest possible time (the read before) and its detection; an upper bound. */
	detectionAge(ms: number): void;
	backgroundPerSecond(rate: number): void;
	card(outcome: 'wanted' | 'sent' | 'unchanged' | 'coalesced' | 'failed'): void;
	limitReached(limit: WatchLimit): void;
	post(outcome: 'posted' | 'found' | 'retried' | 'refused' | 'maybeRepeated'): void;
	/** One look through the channels, or a page of it that failed. */
	channelCheck(outcome: 'complete' | 'failed'): void;
}
