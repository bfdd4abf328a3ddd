import type { Refusal } from '../answers/access-policy.ts';
import type { Answer, Person, QuestionKey } from '../answers/answer.ts';
import type { Draft } from '../store/answering-store.ts';
import type { QuestionView } from '../watches/session-snapshot.ts';
import type { NoListReason, WaitingSession } from '../watches/watch.ts';
import type { HandOver } from './hand-over.ts';

/** A place where a person looks at their inbox: their Home tab or a window. */
export interface InboxPlace {
	/** `homeInboxId` or `windowInboxId`. */
	readonly id: string;
	readonly person: Person;
	/** Null for the Home tab. */
	readonly viewId: string | null;
}

/** A place that was opened, as stored. All times are milliseconds since the epoch. */
export interface Inbox extends InboxPlace {
	/** Counts from 0. */
	readonly page: number;
	readonly openedAt: number;
	/** Counts what the person did: opening it, changing the page, pressing something. */
	readonly askedCount: number;
	/** The `askedCount` that it shows. */
	readonly shownCount: number;
	/** Counts every reason for an update. */
	readonly changeCount: number;
	/** The key of what it shows; null before the first time, and when a call to Slack was interrupted. */
	readonly shownKey: string | null;
}

export function homeInboxId({ teamId, userId }: Person): string {
	return `home:${teamId}:${userId}`;
}

export function windowInboxId(viewId: string): string {
	return `view:${viewId}`;
}

/** An inbox follows changes for so long after its person opened it or did something in it. */
export const FOLLOWED_MS = 10 * 60_000;

/** Presses in one inbox show in it at most so often. */
export const PRESS_SPACING_MS = 1_000;

/** Whether an inbox is followed at `now`. */
export function isFollowed({ openedAt }: Pick<Inbox, 'openedAt'>, now: number): boolean {
	return openedAt > now - FOLLOWED_MS;
}

/** A channel that watches the session of a question. */
export interface AskedIn {
	readonly channelId: string;
	/** The thread of the watch's card; null before it is posted. */
	readonly threadTs: string | null;
	/** Who began to watch: the person of a direct message with the app. */
	readonly watchedBy: string;
	/** Whether its posts offer short options as buttons. */
	readonly buttons: boolean;
	/** Whether `watch all` brought the question there. */
	readonly isRaised: boolean;
}

/** A question that nobody has answered yet. It holds no text. */
export interface OpenQuestion {
	readonly question: QuestionKey;
	readonly fingerprint: string;
	/** When a read first found it open, milliseconds since the epoch. */
	readonly since: number;
	/** The channels of one workspace in which it is watched; at least one. */
	readonly channels: readonly AskedIn[];
}

/** An open question in the one channel through which the person answers it. */
export interface VisibleQuestion extends Omit<OpenQuestion, 'channels'> {
	readonly askedIn: AskedIn;
	/** Who has it now, because it was handed over to them; null: nobody. */
	readonly handOver: HandOver | null;
	/** Whether only `watch all` brought it to the person: nobody chose to watch its session. */
	readonly isRaised: boolean;
}

/** An open question with its text, as the inbox shows it. */
export interface InboxQuestion extends VisibleQuestion {
	readonly sessionName: string;
	readonly view: QuestionView;
	/** The user ids of other people who are answering it, oldest claim first. */
	readonly answering: readonly string[];
}

/** A draft that its author can continue. */
export interface InboxDraft extends Draft {
	/** Where its question is watched, if the person may see it there. */
	readonly askedIn: AskedIn | null;
}

/** Waiting sessions of the account, watched or not. */
export interface InboxWaiting {
	/** The newest first. */
	readonly shown: readonly WaitingSession[];
	readonly total: number;
	/** Those that are probably abandoned, the longest waiting first. They have pages of their own, after those of questions. */
	readonly old: { readonly total: number; readonly firstPage: number; readonly shown: readonly WaitingSession[] };
	/** Why there are none; null: they are listed. */
	readonly why: NoListReason | null;
}

/** What one person's inbox shows. */
export type InboxContent =
	| { readonly kind: 'refused'; readonly refusal: Refusal }
	| {
			readonly kind: 'shown';
			/** How many questions wait for the person, without those that they snoozed. */
			readonly total: number;
			/** The questions that the person snoozed, and when the first of them comes back; null: none. */
			readonly snoozed: { readonly count: number; readonly nextAt: number } | null;
			/** Counts from 0; the last page when the wanted one is beyond it. From `waiting.old.firstPage` on it shows no questions. */
			readonly page: number;
			/** Of this page, oldest first. */
			readonly questions: readonly InboxQuestion[];
			/** Questions of this page that are stored with another key. */
			readonly unreadableCount: number;
			/** False when Slack did not tell the person's channels: only the direct messages with the app are shown. */
			readonly channelsKnown: boolean;
			/** Sessions that wait for somebody, without those whose question is shown or snoozed; null: they are not discovered. */
			readonly waiting: InboxWaiting | null;
			/** Whether any session is watched. */
			readonly isWatching: boolean;
			/** Answers that are under way or need a decision, those first. */
			readonly ownAnswers: { readonly shown: readonly Answer[]; readonly total: number };
			/** Newest first. */
			readonly drafts: readonly InboxDraft[];
			/** The last answers that are not in `ownAnswers`, newest first. */
			readonly lastAnswers: readonly Answer[];
	  };

/** Questions on a page. With everything else, a view holds at most 100 blocks. */
export const QUESTIONS_PER_PAGE = 10;
export const MOST_WAITING_SHOWN = 10;
/** Old sessions on a page of theirs. */
export const OLD_PER_PAGE = 10;
export const MOST_OWN_ANSWERS = 5;
export const MOST_DRAFTS = 5;
export const MOST_LAST_ANSWERS = 10;

/** What became of one update of an inbox. */
export interface InboxResult {
	/** The key of what it shows now; null when nothing was shown, or nobody knows. */
	readonly shownKey: string | null;
	/** When to update it again if nothing changes; null: never. */
	readonly nextAt: number | null;
	readonly now: number;
	readonly spacingMs: number;
}
