import type { Person, QuestionKey } from '../answers/answer.ts';
import type { SessionKey } from '../watches/watch.ts';
import { tomorrowAtNine } from './quiet-hours.ts';

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

/** A question that one person does not see in their inbox until `until` (milliseconds since the epoch). */
export interface Snooze {
	readonly person: Person;
	readonly session: SessionKey;
	/** Another question of the session is not snoozed. */
	readonly fingerprint: string;
	readonly until: number;
}

/** For how long people can snooze. `tomorrow`: until 9:00 of the next day in their time zone. */
export const SNOOZE_LENGTHS = ['15m', '1h', 'tomorrow'] as const;
export type SnoozeLength = (typeof SNOOZE_LENGTHS)[number];

/** Tomorrow 9:00 is at most 33 hours ahead, or 34 when clocks are put back. */
export const LONGEST_SNOOZE_MS = 36 * 60 * 60_000;

export function snoozedUntil(length: SnoozeLength, now: number, timeZone: string): number {
	if (length === 'tomorrow') return tomorrowAtNine(now, timeZone);
	return now + (length === '15m' ? 15 : 60) * 60_000;
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

/** Questions on a page. With everything else, a view holds at most 100 blocks. */
export const QUESTIONS_PER_PAGE = 10;
export const MOST_WAITING_SHOWN = 10;
/** Old sessions on a page of theirs. */
export const OLD_PER_PAGE = 10;
export const MOST_OWN_ANSWERS = 5;
export const MOST_DRAFTS = 5;
export const MOST_LAST_ANSWERS = 10;
