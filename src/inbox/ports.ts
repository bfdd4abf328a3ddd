import type { Answer, Person, QuestionKey } from '../answers/answer.ts';
import type { Claim, Draft } from '../answers/ports.ts';
import type { Lease, QueuedRows } from '../lease-loop.ts';
import type { SessionSnapshot } from '../watches/session-snapshot.ts';
import type { HandOver } from './hand-over.ts';
import type { Inbox, InboxContent, InboxPlace, OpenQuestion } from './inbox.ts';
import type { Snooze, SnoozeStore } from './snooze.ts';

/**
 * The stored inboxes and what they show. Every method is one transaction; a resolved promise means committed. Throws
 * `StoreUnavailableError` (code `store_unavailable`, retryable).
 */
export interface InboxStore extends OpenedInboxes, SnoozeStore, InboxReads {}

/** See `InboxStore`. The row is the queue: an inbox is due when its person asked for it or its content may have changed. */
export interface OpenedInboxes {
	/**
	 * The person opened it or did something in it: it is followed from now on, and due now or `PRESS_SPACING_MS` after its
	 * content was last put together. `page` null: as before. `spacingMs`: it takes its turn with those that only follow, and
	 * waits for so long instead.
	 */
	ask(place: InboxPlace, page: number | null, now: number, spacingMs?: number): Promise<void>;
	/**
	 * Marks all followed inboxes as changed. Each is due now, or `spacingMs` after its content was last put together. One
	 * that is leased is due again after that work. Returns how many there are.
	 */
	touchAll(options: { now: number; spacingMs: number }): Promise<number>;
	/** Leases due inboxes of `StoreOptions.workspace`: first those whose person waits, then the longest due. `asked`: only those whose person waits. */
	takeDue(lease: Lease, limit: number, options: { now: number; only: 'asked' | 'all' }): Promise<readonly Inbox[]>;
	readonly rows: QueuedRows;
	/** When `takeDue` next finds something; null for never. */
	nextDueAt(): Promise<{ readonly asked: number | null; readonly all: number | null }>;
	/**
	 * Notes that Slack is about to be called, after which nobody knows what is shown until `end`: the process may die in
	 * between. False when the lease was lost or the inbox was forgotten.
	 */
	beginShowing(id: string, token: string): Promise<boolean>;
	/**
	 * Notes what became of an update and gives the lease back; does nothing when the lease was lost. If the inbox was
	 * marked as changed meanwhile, it is due `spacingMs` from now, or `PRESS_SPACING_MS` when its person asked.
	 */
	end(inbox: Inbox, token: string, result: InboxResult): Promise<void>;
	/** Forgets an inbox; it is not updated any more. */
	remove(id: string): Promise<void>;
	/** Gives back the inboxes that are still held with these tokens, or this one alone. They stay due since when they were. */
	release(tokens: readonly string[], id?: string): Promise<void>;
	/** Forgets inboxes that nobody opened since `before` and that are not due any more. Returns how many. */
	removeOlderThan(before: number): Promise<number>;
}

/** What became of one update of an inbox. */
export interface InboxResult {
	/** The key of what it shows now; null when nothing was shown, or nobody knows. */
	readonly shownKey: string | null;
	/** When to update it again if nothing changes; null: never. */
	readonly nextAt: number | null;
	readonly now: number;
	readonly spacingMs: number;
}

/** See `InboxStore`. Damaged rows are left out. */
export interface InboxReads {
	/**
	 * The open questions of sessions that channels of this workspace watch, without those that an answer of ours settles:
	 * one that is being delivered, or was delivered after the last read of the session. In no order, without texts.
	 */
	openQuestions(serviceUrl: string, teamId: string): Promise<readonly OpenQuestion[]>;
	/** Whether a channel of this workspace watches a session. */
	isWatching(serviceUrl: string, teamId: string): Promise<boolean>;
	/** The person's snoozes, also those that have ended. */
	snoozes(serviceUrl: string, person: Person): Promise<readonly Snooze[]>;
	/** The questions of this workspace that somebody has, because they were handed over to them. */
	handOvers(serviceUrl: string, teamId: string): Promise<readonly HandOver[]>;
	/** What cards show of these sessions, by session id; without those that cannot be read. */
	snapshots(serviceUrl: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, SessionSnapshot>>;
	/** The claims on these questions that have not lapsed, oldest first. */
	claims(questions: readonly QuestionKey[], now: number): Promise<readonly Claim[]>;
	/**
	 * The person's answers that are under way or need a decision, those first, each newest first. A failed one needs a
	 * decision if it ended after `failedSince` and the person has not answered the question again.
	 */
	ownAnswers(
		serviceUrl: string,
		person: Person,
		options: { failedSince: number; limit: number },
	): Promise<{ readonly shown: readonly Answer[]; readonly total: number }>;
	/** Those of these sessions to which an answer of ours is on its way, or was delivered at or after `since`. */
	answeredSessions(serviceUrl: string, sessionIds: readonly string[], since: number): Promise<ReadonlySet<string>>;
	/** The person's newest answers, newest first. */
	lastAnswers(serviceUrl: string, person: Person, limit: number): Promise<readonly Answer[]>;
	/** The person's newest drafts, one for each question, without those whose question is known to be closed. */
	drafts(serviceUrl: string, person: Person, limit: number): Promise<readonly Draft[]>;
}

/** Which channels a person is in. Throws errors with a stable `code`, and `retryAt` when Slack limits the calls. */
export interface Memberships {
	/** Ids of the public and private channels; at most five minutes old. */
	channelsOf(userId: string): Promise<ReadonlySet<string>>;
	/** The id of the person's direct message with the app. */
	directChannelOf(userId: string): Promise<string>;
}

/** The outcome of showing an inbox. */
export type ShowOutcome =
	| { readonly kind: 'shown' }
	/** Nobody can see it any more: the window was closed, or the person is unknown. */
	| { readonly kind: 'gone' }
	/** Slack refuses the content or the surface: the same call fails again. */
	| { readonly kind: 'refused'; readonly code: string }
	/** `ms`: the wait that Slack asks for. `limited`: Slack limits these calls for the whole workspace. */
	| { readonly kind: 'later'; readonly ms: number | null; readonly limited: boolean };

/** An inbox, ready to be sent. */
export interface PreparedInbox {
	/** Equal keys look the same. */
	readonly key: string;
	/** `isAsked`: the person waits for it. */
	send(options: { isAsked: boolean }): Promise<ShowOutcome>;
}

/** Shows inboxes to people. */
export interface InboxDisplay {
	/** `now` in whole minutes: ages in the content change at most once a minute. */
	prepare(inbox: Inbox, content: InboxContent, now: number): PreparedInbox;
}

/** Figures for `/metrics`; `ops/metrics.ts` implements it. */
export interface InboxMetrics {
	update(outcome: 'sent' | 'unchanged' | 'failed'): void;
	/** How long the content took to put together, without Slack. */
	built(ms: number): void;
}
