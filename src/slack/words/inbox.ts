import type { Answer } from '../../answers/answer.ts';
import { FOLLOWED_MS } from '../../inbox/inbox.ts';
import { stateLine } from './answers.ts';
import { durationText, momentMrkdwn } from './times.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How many questions wait, and how many more the person snoozed. `oldCount`: sessions in one line below. Plain text. */
export function waitingCountWords(total: number, snoozedCount: number, oldCount = 0): string {
	const snoozed = snoozedCount === 0 ? '' : `, ${snoozedCount} ${snoozedCount === 1 ? 'is' : 'are'} snoozed`;
	const old =
		oldCount === 0 ? '' : ` ${oldCount} old ${oldCount === 1 ? 'session waits' : 'sessions wait'}, see below.`;
	if (total === 0) return `No ${old === '' ? '' : 'new '}question waits for you${snoozed}.${old}`;
	return `${total === 1 ? '1 question waits for you' : `${total} questions wait for you`}${snoozed}`;
}

/** How many questions the person snoozed, and when the first of them comes back. mrkdwn. */
export function snoozedWords(count: number, nextAt: number): string {
	const what = count === 1 ? '1 question is snoozed. It comes' : `${count} questions are snoozed. The next one comes`;
	return `💤 ${what} back here ${momentMrkdwn(nextAt)}. Only your inbox hides ${count === 1 ? 'it' : 'them'}.`;
}

/** To a person whose time zone Slack does not tell. mrkdwn. */
export function snoozedInZoneWords(until: number, timeZone: string): string {
	return `💤 Slack did not tell Handraise your time zone, so the question is snoozed until 9:00 ${timeZone}: ${momentMrkdwn(until)} for you. *Show now* in your inbox shows it again.`;
}

/** Which questions or sessions a page shows; `first` counts from 1. Empty when it shows all. */
export function pageWords(what: 'Question' | 'Session', first: number, count: number, total: number): string {
	if (total <= count) return '';
	const which = count === 1 ? `${what} ${first}` : `${what}s ${first} to ${first + count - 1}`;
	return `${which} of ${total}, oldest first.`;
}

/** `waiting 12 min`. Rounded, so that an inbox changes seldom: to 5 minutes after 10 minutes, to hours after one hour. */
export function waitingSinceWords(since: number, now: number): string {
	const ms = Math.max(0, now - since);
	if (ms < MINUTE_MS) return 'asked just now';
	const step = ms < 10 * MINUTE_MS ? MINUTE_MS : ms < HOUR_MS ? 5 * MINUTE_MS : HOUR_MS;
	return `waiting ${durationText(Math.floor(ms / step) * step)}`;
}

/** Of a session that waited already when the list first showed it. mrkdwn. */
export function waitingBeforeWords(since: number): string {
	return `waiting since before ${momentMrkdwn(since)}`;
}

/** On a page of old sessions, whose button *Hide* leads back to the questions. mrkdwn. */
export const QUESTIONS_HIDDEN = 'Your questions are not on this page of old sessions: *Hide* shows them.';

/** Above the sessions of the account that wait. */
export function waitingSessionsWords(total: number): string {
	if (total === 0) return 'No other session of the account waits for a person. New ones appear here by themselves.';
	return total === 1
		? 'One more session of the account waits for a person. Anybody may answer it.'
		: `${total} more sessions of the account wait for a person, the newest first. Anybody may answer them.`;
}

/** Of the sessions that are probably abandoned. mrkdwn. */
export function oldSessionsWords(total: number): string {
	return `💤 ${total} ${total === 1 ? 'session has' : 'sessions have'} waited for more than a day, or since before Handraise first looked, or gave way to newer questions in a channel. A session that nobody needs any more waits until it is stopped in the session service.`;
}

/** What to do when no question waits. `discovers`: whether sessions that nobody watches are shown too. */
export function emptyWords(isWatching: boolean, discovers: boolean): string {
	if (discovers) {
		return 'New questions of the sessions that your channels watch appear here by themselves. To bring the questions of all sessions into a channel, type `/session watch all` there.';
	}
	return isWatching
		? 'New questions of the sessions that your channels watch appear here by themselves. To watch another session, type `/session watch` and its id in a channel.'
		: 'No session is watched yet. Type `/session watch` and the id of a session in a channel: its questions appear there and here.';
}

export const CHANNELS_UNKNOWN =
	'⚠️ Slack did not tell which channels you are in, so questions from channels are missing here. Handraise is asking again.';

/** Questions of a page that cannot be decrypted. */
export function unreadableWords(count: number): string {
	const [what, them] = count === 1 ? ['One question', 'it'] : [`${count} questions`, 'them'];
	return `⚠️ ${what} on this page cannot be read here right now. Open ${them} from the card in the channel.`;
}

/** Of a one-press answer that can be taken back. */
export const SENT_SOON = 'Your choice is sent in a moment. *Undo* takes it back until then.';

/** What became of an answer, to its author. mrkdwn. */
export function ownStateLine(answer: Answer): string {
	return stateLine(answer).replace('its author', 'you');
}

/** How long an inbox follows changes. mrkdwn. */
export function followedWords(openedAt: number): string {
	return `This list updates by itself until ${momentMrkdwn(openedAt + FOLLOWED_MS)}. After that, press *Refresh*.`;
}

/** The window for the inbox could not be opened. */
export const NO_WINDOW =
	'Slack only opens a window within three seconds, and this took longer. Open the *Home* tab of this app, or type `/session inbox` again.';
