import type { Answer, AnswerItem } from '../domain/answer.ts';
import { isForgotten, SOMEBODY } from '../domain/person.ts';
import type { AgentAction } from '../domain/session.ts';
import type { SessionSnapshot } from '../domain/session-snapshot.ts';
import { isBlank, oneLine } from '../domain/shown-text.ts';
import { APP_NAME } from '../kernel/command-name.ts';
import { isDirectMessage } from './ids.ts';
import { joined, line, type Piece, quotedText, rich, sentences, type Words } from './rich-text.ts';

export const spokenName = (id: string, name = '') => oneLine(name, 75) || `session ${id}`;

/** Display names of people, where they are not mentioned. They are untrusted text. */
export interface Names {
	displayName(userId: string): string;
}

/** A mention of somebody. Text that is no Slack user id is shown as it is. */
export function mentionOf(userId: string): Words {
	if (isForgotten(userId)) return SOMEBODY;
	return isUserId(userId) ? [{ type: 'user', user_id: userId }] : oneLine(userId, 80) || 'somebody';
}

type Mentioned = { readonly userIds: readonly string[]; readonly groupIds: readonly string[] };

/** Mentions of people and user groups; empty for nobody. */
export function mentionsOf(mention: Mentioned | null): Words {
	if (mention === null) return '';
	const groups = mention.groupIds.map((id): Words => [{ type: 'usergroup', usergroup_id: id }]);
	return sentences(...mention.userIds.map(mentionOf), ...groups);
}

/** The name of a person as text, which notifies nobody; `somebody` while it is not known. */
export function personName(userId: string, names: Names): string {
	return isForgotten(userId) ? SOMEBODY : oneLine(names.displayName(userId), 80) || 'somebody';
}

export const NOBODY_NAMED = 'whoever runs Handraise here';

/** Whom to ask: a Slack user id becomes a mention, anything else stays text. */
export function contactOf(adminContact: string | null | undefined): Words {
	const contact = oneLine(adminContact ?? '', 200) || NOBODY_NAMED;
	return isUserId(contact) ? [{ type: 'user', user_id: contact }] : contact;
}

export const isUserId = (text: string) => /^[UW][A-Z0-9]{2,30}$/.test(text);

/** A moment (ms since 1970) in each reader's time zone, else `20 Nov 2026, 08:19 UTC`. `seconds`: without the day. */
export function momentOf(at: number, to: 'minutes' | 'seconds' = 'minutes'): Words {
	// Slack shows a time that it cannot format (before 1970, or from the year 3000 on) raw.
	if (!(at > 0 && at < 32_503_680_000_000)) return 'at an unknown time';
	if (to === 'seconds') {
		const timestamp = Math.ceil(at / 1000);
		const fallback = `${new Date(timestamp * 1000).toISOString().slice(11, 19)} UTC`;
		return [{ type: 'date', timestamp, format: '{time_secs}', fallback }];
	}
	const fallback = new Date(at).toUTCString().replace(/^\w+, 0?(\d+ \w+ \d+) (\d\d:\d\d).*/, '$1, $2 UTC');
	return [{ type: 'date', timestamp: Math.floor(at / 1000), format: '{date_short_pretty} {time}', fallback }];
}

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function agoText(at: number, now: number): string {
	const ms = now - at;
	return ms < 60_000 ? 'just now' : `${durationText(ms)} ago`;
}

/** `40 s`, `5 min`, `2 h 5 min`, `3 days`. Milliseconds; never negative. */
export function durationText(ms: number): string {
	const seconds = Math.max(0, Math.round(ms / 1000));
	if (seconds < 60) return `${seconds} s`;
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes} min`;
	const hours = Math.floor(minutes / 60);
	if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
	return `${Math.floor(hours / 24)} days`;
}

export const shownId = (sessionId: string) => oneLine(sessionId, 100) || '(no id)';

/** `session 3f9a2c1d`, the id in bold. */
export const sessionName = (sessionId: string): Words => rich`session *${shownId(sessionId)}*`;

/** The id in small words below a name: it tells sessions of the same name apart. */
export const smallId = (sessionId: string) => `Session ${shownId(sessionId)}`;

/** `Book a flight`, or `session 3f9a2c1d` without a name. Never put it first in a message: it is an agent's text. */
export function sessionTitle(name: string, sessionId: string, limit = 150): string {
	return oneLine(name, limit) || `session ${shownId(sessionId)}`;
}

type Named = Pick<SessionSnapshot, 'name' | 'sessionId'>;

/** The id of a session if another one of `shown` has the same title; else empty. */
export function idIfAmbiguous(shown: readonly Named[], { name, sessionId }: Named): string {
	const title = sessionTitle(name, sessionId);
	const isShared = shown.some((one) => one.sessionId !== sessionId && sessionTitle(one.name, one.sessionId) === title);
	return isShared ? shownId(sessionId) : '';
}

/** `meaning`: what people read who want to answer when no question is open; see `waitingWords`. */
export const STATUSES = {
	active: { emoji: '⚙️', words: 'working', meaning: 'The agent is working and has no question right now.' },
	humanInput: { emoji: '✋', words: 'asks', meaning: 'The agent waits for a person.' },
	inactive: { emoji: '⚪', words: 'inactive', meaning: 'The agent is not running and has no question right now.' },
	paused: { emoji: '⏸️', words: 'paused', meaning: 'The session is paused and has no question right now.' },
	stopped: { emoji: '⏹️', words: 'stopped', meaning: 'The session was stopped. It takes no more answers.' },
	completed: { emoji: '✅', words: 'done', meaning: 'The agent is done. It takes no more answers.' },
	failed: { emoji: '❌', words: 'failed', meaning: 'The session failed. It takes no more answers.' },
} as const;
const isKnown = (status: string): status is keyof typeof STATUSES => Object.hasOwn(STATUSES, status);

/** A session's status for people. An unknown status stands as the service gives it. */
export function statusWords(status: string) {
	if (isKnown(status)) return STATUSES[status];
	const words = oneLine(status, 60) || 'no status';
	return { emoji: '❔', words, meaning: 'There is no question to answer right now.' };
}

const END_WORDS: Readonly<Record<string, string>> = { completed: 'is done', failed: 'failed', stopped: 'was stopped' };
/** How a session ended, as words after its name. */
export const endWords = (status: string) => END_WORDS[status] ?? 'is over';

type Progress = Pick<SessionSnapshot, 'status' | 'step'>;

/** `working · step 12`. */
export const progressWords = ({ status, step }: Progress) => joined(statusWords(status).words, stepWords(step));

/** `⚙️ *Book a flight* · working · step 12`, `✋ *Book a flight* asks · step 3`; the id for a session without a name. */
export function titleLine({ name, sessionId, ...progress }: Progress & Pick<SessionSnapshot, 'name' | 'sessionId'>) {
	const separator = progress.status === 'humanInput' ? ' ' : ' · ';
	const { emoji } = statusWords(progress.status);
	return rich`${emoji} *${sessionTitle(name, sessionId)}*${separator}${progressWords(progress)}`;
}

const stepWords = (step: number) => (step === 0 ? 'no step yet' : `step ${step}`);

/**
 * Why an agent waits with no question open. `newest`: its last question; `answer`: to it; `state`: what it does now.
 */
export function waitingWords(
	newest: { readonly goneOn: boolean } | null,
	answer: Pick<Answer, 'person' | 'acceptedAt'> | null,
	state = 'The agent should continue soon',
): Words {
	if (newest === null || newest.goneOn) {
		const asked =
			newest === null
				? 'The agent waits for a person, but it asked nothing'
				: 'The agent waits for a person. Its last question was answered, and it asked nothing new';
		return `${asked} that can be answered here. Look at its latest message, or at the session in the dashboard.`;
	}
	const by = answer === null ? '' : rich` by ${mentionOf(answer.person.userId)}`;
	const at = answer === null ? '' : momentOf(answer.acceptedAt);
	return sentences(rich`The newest question has been answered${by}.`, `${state}.`, at);
}

export function stillWaitingWords(waitedMs: number): string {
	return `Still waiting for the session service… (${durationText(waitedMs)})`;
}

const named = (text: string, otherwise: string, limit = 80) => oneLine(text, limit) || otherwise;

/** `clicked`, `opened example.com`, `saved report.pdf`; unknown actions by their name. */
const ACTION_WORDS: Readonly<Record<AgentAction['kind'], (text: string) => string>> = {
	click: () => 'clicked',
	open: (text) => `opened ${named(text, 'a page')}`,
	done: () => 'finished',
	saveFile: (text) => `saved ${named(text, 'a file')}`,
	deleteFile: (text) => `deleted ${named(text, 'a file')}`,
	other: (text) => USUAL_ACTIONS.get(text) ?? named(text, 'did something', 60),
};

// biome-ignore format: a list of words
const USUAL_ACTIONS = new Map([
	['ask_human', 'asked you'], ['input_text', 'typed'], ['send_keys', 'typed'], ['search_google', 'searched'],
	['scroll_down', 'scrolled'], ['scroll_up', 'scrolled'], ['go_back', 'went back'], ['wait', 'waited'],
	['switch_tab', 'changed the tab'], ['extract_content', 'read the page'],
]);

export function actionsLine(actions: readonly AgentAction[], most = 6): string {
	const repeats: { words: string; count: number }[] = [];
	for (const { kind, text } of actions.slice(0, 50)) {
		const words = ACTION_WORDS[kind](text);
		const last = repeats.at(-1);
		if (last?.words === words) last.count += 1;
		else repeats.push({ words, count: 1 });
	}
	const shown = repeats.slice(0, most);
	const shownCount = shown.reduce((sum, { count }) => sum + count, 0);
	const parts = shown.map(({ words, count }) => (count === 1 ? words : `${words} ×${count}`));
	return joined(...parts, andMoreWords(actions.length - shownCount));
}

/** A value in one line, cut to `limit`; `(hidden)` for a secret, `(left empty)` for none. */
export function valueLine({ value, secret }: Pick<AnswerItem, 'value' | 'secret'>, limit: number): string {
	return secret ? '(hidden)' : oneLine(value ?? '', limit) || '(left empty)';
}

/** As `valueLine`, with all lines, behind the bar. */
export function valuePieces({ value, secret }: Pick<AnswerItem, 'value' | 'secret'>, limit: number): Piece[] {
	const isShown = !secret && value !== null && !isBlank(value);
	return isShown ? quotedText(value, limit) : line(secret ? '(hidden)' : '(left empty)');
}

/** `1 question`, `3 questions`. `many`: the plural if it is not `one` with an s. */
export const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** `and 3 more questions`, where `what` is `questions`; empty when nothing is left out. */
export const andMoreWords = (count: number, what = '') => (count > 0 ? `and ${count} more ${what}`.trim() : '');

/** The words for a channel. Slack has no name for a direct message. `whose`: its person, if that is not the reader. */
export function placeWords(channelId: string, whose: Words | null = null): Words {
	if (!isDirectMessage(channelId)) return [{ type: 'channel', channel_id: channelId }];
	return whose === null
		? `your direct messages with ${APP_NAME}`
		: rich`the direct messages of ${whose} with ${APP_NAME}`;
}

const linkTo = (url: string, text: string): Words => [{ type: 'link', url, text }];

/** A link to another message. */
export const linkWords = (link: string, what: 'question' | 'result' | 'end') => linkTo(link, `Go to ${what}`);

/** Replaces a message that was posted twice. `link`: to the other one. */
export function repeatWords(link: string | undefined): Words {
	const other = link === undefined ? 'another one here' : linkTo(link, 'this one');
	return rich`🔁 This was a repeat. The message that is kept current is ${other}.`;
}

export const MAYBE_REPEAT = '🔁 Handraise was interrupted: this post may be a repeat.';
