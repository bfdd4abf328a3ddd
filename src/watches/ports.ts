import type { Lease, QueuedRows } from '../lease-loop.ts';
import type { Digest } from '../questions/changes.ts';
import type { ListedSession } from '../questions/session.ts';
import type { Announcement, NewAnnouncement, RungEntry } from './announcements.ts';
import type { DueAnnouncement, DueCard } from './announcer.ts';
import type { Rung } from './channel-settings.ts';
import type { Discovery, NewDiscovery, WaitingSession } from './discovered.ts';
import type { QuestionView, SessionSnapshot } from './session-snapshot.ts';
import type {
	CardUrgency,
	ChannelKey,
	SessionKey,
	Watch,
	WatchEnd,
	WatchLimit,
	WatchLimits,
	WatchSettings,
} from './watch.ts';
import type { PlannedRead, SessionUpdate, TakenSession, WatchedOutline } from './watched-session.ts';

export interface NewWatch
	extends Pick<Watch, 'id' | 'teamId' | 'channelId' | 'session' | 'createdBy' | 'createdAt' | keyof WatchSettings> {
	readonly card: NewAnnouncement;
	/** From the read of who subscribes: for the card, and what to post after it. Without `news` another read comes at once. */
	readonly view: SessionSnapshot;
	readonly news?: readonly NewAnnouncement[];
	readonly limits: WatchLimits;
}

export type AddWatchResult =
	| { readonly kind: 'added'; readonly watch: Watch }
	/** The channel watches the session already. `changed`: its settings were updated. */
	| { readonly kind: 'already'; readonly watch: Watch; readonly changed: boolean }
	/** There are `count` already: nothing was written. */
	| LimitReached;

export interface LimitReached {
	readonly kind: 'limit';
	readonly limit: WatchLimit;
	readonly count: number;
	readonly most: number;
}

/** A read's outcome for one watch, written only while it is at `revision` and goes on. `reworded`: its question's new text. */
export interface WatchUpdate extends Pick<Watch, 'revision'> {
	readonly watchId: string;
	readonly digest: Digest;
	/** Whether people see a difference: sets `lastChangeAt`. */
	readonly changed: boolean;
	readonly announcements: readonly NewAnnouncement[];
	readonly reworded?: QuestionView | null;
	readonly card: CardUrgency | null;
	readonly end: WatchEnd | null;
}

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

/** A watch without a card for a session that waits, with the settings of the channel's discovery. */
export interface NewRaisedHand extends Pick<Watch, 'id' | 'teamId' | 'channelId' | 'session' | 'createdAt'> {
	/** Read it ahead of all others. */
	readonly ahead: boolean;
	/** Add it beyond a limit too if another hand can give way. */
	readonly isNew: boolean;
	/** It counts for the channel and for all, not for a person. */
	readonly limits: WatchLimits;
}

export interface OutageUpdate {
	/** The service's base address. */
	readonly service: string;
	readonly now: number;
	readonly down: boolean;
	/** When the first read failed, clock milliseconds. */
	readonly since: number;
	/** The service is not down if any replica has read something since. */
	readonly unlessReadSince: number;
}

export interface WatchPage {
	readonly watches: readonly (Watch & { readonly view: SessionSnapshot | null; readonly checkedAt: number | null })[];
	readonly total: number;
}

/** The outcome of one attempt to post. */
export type AttemptResult =
	/**
	 * `cardKey`: only of a card. `sentAt`: when the attempt began that posted it; left out: now. `lostCardTs`: the card whose
	 * thread is gone. `leftOut`: rungs that the post does not show; they are due again.
	 */
	| {
			readonly kind: 'posted';
			readonly ts: string;
			readonly cardKey: string | null;
			readonly sentAt?: number;
			readonly lostCardTs?: string;
			readonly leftOut?: readonly RungEntry[];
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
	 * There is no place to post it, or nothing to say any more. Its rungs are due again, unless an earlier attempt may have
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

/**
 * The stored watches, split by what uses them. "Our": of `StoreOptions.workspace`. Every method is one transaction; a resolved promise means committed. When
 * the store cannot be reached it throws `StoreUnavailableError` (code `store_unavailable`, retryable).
 *
 * A row that is damaged, or that needs another encryption key, is left out of every result
 * and stays unchanged. Its announcement is tried again after 10 minutes and at the next start.
 */
export interface WatchStore extends SubscriptionStore, ChannelStore, ReadingStore, PostingStore, DiscoveryStore {
	/** Removes announcements that were posted, refused or dropped before `before`, and watches that ended before it. */
	removeEnded(before: number): Promise<number>;
	/**
	 * Removes the texts of announcements that were posted, refused or dropped before `before`, also of watches that go on.
	 * A question whose post is not settled yet keeps its text. Returns how many. Also forgets the sessions that were first
	 * listed before then, such as those of a former service, but not those of `listedService`: its lists tell who still waits.
	 */
	removeTexts(before: number, listedService: string | null): Promise<number>;
}

/** See `WatchStore`. */
export interface SubscriptionStore {
	/**
	 * Creates the watch, its session's row (due at once) and the announcement of its card; idempotent by channel and session.
	 * The limits hold exactly, however many replicas add at once. A raised hand becomes this watch and keeps its posts:
	 * `added`.
	 */
	add(watch: NewWatch): Promise<AddWatchResult>;
	/** The watches that have not ended, newest change first. */
	list(channel: ChannelKey, page: { offset: number; limit: number }): Promise<WatchPage>;
	/** The watch of this session in this channel that has not ended. */
	find(channel: ChannelKey, session: SessionKey): Promise<Watch | null>;
	/** The newest watch of this channel, ended or not, that has or had this message as its card or as a question. */
	findByPost(
		channel: ChannelKey,
		ts: string,
	): Promise<{ readonly watch: Watch; readonly view: SessionSnapshot | null } | null>;
	/** How many sessions are watched. */
	countSessions(serviceUrl: string): Promise<number>;
	/**
	 * Queues a `redraw` for each live watch of the session that has posted its question or is about to, and for the direct
	 * messages about it, unless one waits already. Returns how many.
	 */
	redraw(session: SessionKey, now: number): Promise<number>;
	/** Marks a session's cards for an update now, and moves its read forward to `earlyReadAt` (null: as planned). */
	refresh(session: SessionKey, options: { now: number; earlyReadAt: number | null }): Promise<void>;
}

/** See `WatchStore`. */
export interface ChannelStore {
	/**
	 * Ends a watch and queues `announcements`; drops its pending ones unless `keepPending`. Null when it had ended before.
	 * The session's row goes with its last watch. A raised hand that is unwatched before its first read ends with that read.
	 */
	end(
		watchId: string,
		reason: WatchEnd,
		options: { now: number; announcements: readonly NewAnnouncement[]; keepPending: boolean },
	): Promise<Watch | null>;
	/** Ends the watch of the stalest question if more stand in a channel, or in all, than a limit allows. Returns whether it did. */
	makeRoom(discovery: Discovery, options: { limits: WatchLimits; now: number }): Promise<boolean>;
	/** The watches of a channel that have not ended. */
	ofChannel(channel: ChannelKey): Promise<readonly Watch[]>;
	/** Drops pending posts and card updates of a channel, also of ended watches, and revokes their leases. */
	silence(channel: ChannelKey): Promise<void>;
	/** Our channels with watches that have not ended, with a discovery, or with pending posts or card updates. */
	activeChannels(): Promise<readonly ChannelKey[]>;
}

/** See `WatchStore`. */
export interface DiscoveryStore {
	/**
	 * The newest list of the sessions that wait for a person replaces the one before. Sessions that were listed in the last day
	 * keep their `since`, unless something shows that they went on. Returns whether anything changed.
	 */
	replaceWaiting(
		serviceUrl: string,
		sessions: readonly Omit<ListedSession, 'status'>[],
		options: {
			now: number;
			/** Whether a list came before this one, also when no session waited. */
			isFollowing: boolean;
			/** Whether the end of this list or the one before is missing: a session that moves up from there has waited before. */
			isCut: boolean;
		},
	): Promise<boolean>;
	/** The listed sessions, the longest waiting first. A name that needs another key is empty. */
	waiting(serviceUrl: string): Promise<readonly WaitingSession[]>;
	/**
	 * Begins to discover and queues `announcements`, or changes the settings; who began it stays. One of another service is
	 * replaced.
	 */
	discover(
		discovery: NewDiscovery,
		announcements: readonly NewAnnouncement[],
	): Promise<'begun' | 'changed' | 'already'>;
	/** Ends it and queues `announcements`; null when the channel discovers nothing. */
	endDiscovery(
		channel: ChannelKey,
		options: { now: number; announcements: (discovery: Discovery) => readonly NewAnnouncement[] },
	): Promise<Discovery | null>;
	/** `serviceUrl` null: of any service. */
	discoveryOf(channel: ChannelKey, serviceUrl: string | null): Promise<Discovery | null>;
	/** All of them, the oldest first. */
	discoveries(serviceUrl: string): Promise<readonly Discovery[]>;
	/** The listed sessions that a channel does not watch, the longest waiting first. */
	raisedHands(discovery: Discovery): Promise<readonly RaisedHand[]>;
	/**
	 * Creates a watch without a card, whose session is read at once; the read tells what it asks. A question that the channel
	 * stopped watching while it was open is not posted again. `unneeded`: the channel watches the session already, or its
	 * discovery has ended.
	 */
	raiseHand(hand: NewRaisedHand): Promise<{ readonly kind: 'raised' | 'unneeded' } | LimitReached>;
	/** The limit that leaves no place in a channel; raised hands whose question does not stand yet do not count. */
	limitOf(discovery: Discovery, limits: WatchLimits): Promise<LimitReached | null>;
	/** Queues an announcement, unless one with its key was queued before. */
	tell(announcement: NewAnnouncement, now: number): Promise<void>;
}

/** A session that was taken and is not given back yet. */
export interface HeldSession {
	readonly session: SessionKey;
	readonly token: string;
}

/** A session that waits for a person. */
export interface ListedWaiting {
	readonly sessionId: string;
	/** When it was known not to wait, clock milliseconds; null: never. */
	readonly absentAt: number | null;
	/** When its read was last moved, and until when it is not again if that read found nothing; null: never. */
	readonly moved: { readonly at: number; readonly until: number } | null;
}

/** A session whose read was moved. */
export interface MovedRead {
	readonly sessionId: string;
	/** Whether its session has changed since its read was moved before. */
	readonly hasChanged: boolean;
}

/** `awaited`: the read was moved ahead of others. `planned`: it comes in its turn. */
export type ReadKind = 'awaited' | 'planned';

/** See `WatchStore`. */
export interface ReadingStore {
	/** Leases up to `limit` sessions whose read is due, in the order of `PlannedRead.by`. `only` null: of both kinds. */
	takeDue(
		serviceUrl: string,
		lease: Lease,
		limit: number,
		options: { now: number; only: ReadKind | null },
	): Promise<readonly TakenSession[]>;
	/** Prolongs these leases by `ms` from `now`; returns the sessions still held. */
	renew(held: readonly HeldSession[], ms: number, now: number): Promise<readonly SessionKey[]>;
	/** Gives back the sessions that are still held with these tokens (shutdown). */
	releaseReads(tokens: readonly string[]): Promise<void>;
	readonly sessionRows: QueuedRows;
	/** When `takeDue` next finds a session, or null. */
	nextReadDueAt(serviceUrl: string, only: ReadKind | null): Promise<number | null>;
	outlines(serviceUrl: string): Promise<readonly WatchedOutline[]>;
	/** The watches of a session that have not ended, with their `endings`. */
	ofSession(session: SessionKey, now: number): Promise<readonly Watch[]>;
	/**
	 * Writes a read's outcome and gives the lease back: schedule, view, and for each watch digest, announcements, card and
	 * end, all or nothing. Null when the lease was lost: nothing was written. `coalesced`: cards that were wanted already.
	 */
	record(
		held: HeldSession,
		read: { readonly update: SessionUpdate; readonly watches: readonly WatchUpdate[]; readonly now: number },
	): Promise<{ readonly coalesced: number } | null>;
	/** Moves the reads that are still planned for `from` and not leased. */
	reschedule(moves: readonly { session: SessionKey; from: PlannedRead; to: PlannedRead }[]): Promise<void>;
	/** Whether the reads of a session fail that could be read before. */
	isFailing(serviceUrl: string): Promise<boolean>;
	/**
	 * Moves ahead of all others the reads of those of these sessions, which wait for a person, that are watched and whose
	 * newest read does not show that: it found another status, or is older than `absentAt`. Returns them.
	 */
	readWaiting(serviceUrl: string, sessions: readonly ListedWaiting[], now: number): Promise<readonly MovedRead[]>;
	/**
	 * Notes that the service is down or back. The first replica to do so queues one announcement for each channel that
	 * watches; "back" only for channels that were told of the outage. Returns whether it was news.
	 */
	noteOutage(outage: OutageUpdate): Promise<boolean>;
}

/** See `WatchStore`. */
export interface PostingStore {
	/**
	 * Leases our announcements that are due, oldest first, one for each target at a time. A card goes before the other
	 * announcements of its target, which keep their order. An announcement that settles, cannot be read or is a held card
	 * holds up no other.
	 */
	takeAnnouncements(lease: Lease, limit: number, now: number): Promise<readonly DueAnnouncement[]>;
	/**
	 * The question posts of the target of a `settle` or `redraw`, oldest first: those between the `settle` before it and
	 * `updateId`, and for a `redraw` only posts that no `settle` follows.
	 */
	postedQuestions(updateId: string): Promise<readonly Announcement[]>;
	/** These watches, ended or not, with what their cards show and when that was last read, by id. */
	shownOf(
		watchIds: readonly string[],
	): Promise<
		ReadonlyMap<
			string,
			{ readonly watch: Watch; readonly view: SessionSnapshot | null; readonly checkedAt: number | null }
		>
	>;
	/** Notes what the post of a question shows now. */
	noteShown(id: string, key: string): Promise<void>;
	/**
	 * Notes that Slack is about to be called, and prolongs the lease. `since`: now, or the time of an earlier attempt whose
	 * post may exist. False when the lease was lost.
	 */
	beginAttempt(
		id: string,
		token: string,
		attempt: { readonly since: number; readonly leasedUntil: number },
	): Promise<boolean>;
	/**
	 * Notes the outcome and gives the lease back; does nothing when the lease was lost. A lost card is handled as by
	 * `endCard`.
	 */
	endAttempt(id: string, token: string, result: AttemptResult, now: number): Promise<void>;
	/** Leases our posted cards whose update is wanted: urgency `now` first, then the longest wanted. */
	takeCards(
		lease: Lease,
		limit: number,
		options: { now: number; urgency: CardUrgency | 'any' },
	): Promise<readonly DueCard[]>;
	/** Whether the card is still leased by this token; asked right before Slack is called. */
	holdsCard(watchId: string, token: string): Promise<boolean>;
	/**
	 * Notes the outcome and gives the lease back; does nothing when the lease was lost. After `shown`, updates wanted after
	 * `wants` stay wanted. `retry`: not due before `at`. `refused`: the update is given up. `lost`: a watch that has not
	 * ended gets one new card queued.
	 */
	endCard(watchId: string, token: string, result: CardResult): Promise<void>;
	/** Gives back the cards and announcements that are still held with these tokens (shutdown). */
	releasePosts(tokens: readonly string[]): Promise<void>;
	readonly postRows: QueuedRows;
	/**
	 * When `takeAnnouncements` and `takeCards` next find something; null for never. Announcements that wait for another one
	 * do not count.
	 */
	nextPostDueAt(): Promise<{
		readonly post: number | null;
		readonly card: Readonly<Record<CardUrgency, number | null>>;
	}>;
}

/** Figures about the service's list for `/metrics`; `ops/metrics.ts` implements it. */
export interface ListingMetrics {
	/** Whether the service has a list that works, as any replica has found. */
	available(isAvailable: boolean): void;
	listed(list: { readonly sessions: readonly unknown[]; readonly requestCount: number }): void;
	/** A request for a list, whatever became of it. */
	requested(cost: { readonly byteCount: number; readonly tookMs: number }): void;
	/** An error's code. */
	listFailed(code: string): void;
	/** Reads that were moved forward because of a list. */
	listedReads(count: number): void;
}

/** Figures for `/metrics`; `ops/metrics.ts` implements it. */
export interface WatchMetrics {
	watchedSessions(count: number): void;
	read(outcome: 'changed' | 'unchanged' | 'failed'): void;
	/** From the read before a change to the read that found it: the most that the detection can have taken. */
	detectionAge(ms: number): void;
	backgroundPerSecond(rate: number): void;
	card(outcome: 'wanted' | 'sent' | 'unchanged' | 'coalesced' | 'failed'): void;
	limitReached(limit: WatchLimit): void;
	post(outcome: 'posted' | 'found' | 'retried' | 'refused' | 'maybeRepeated'): void;
	rung(rung: Rung): void;
	/** From the time that a rung was due to its post. */
	rungLate(ms: number): void;
	/** `complete`: all pages were checked. `failed`: one page failed. */
	channelCheck(outcome: 'complete' | 'failed'): void;
}
