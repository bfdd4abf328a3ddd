import type {
	Button,
	ContextBlock,
	KnownBlock,
	ModalView,
	Overflow,
	PlainTextOption,
	SectionBlock,
	StaticSelect,
} from '@slack/types';
import { type Answer, type AnswerItem, type Origin, SOMEBODY } from '../domain/answer.ts';
import type { AgentAction } from '../domain/session.ts';
import type { SessionSnapshot } from '../domain/session-snapshot.ts';
import { isForgotten } from '../kernel/basics.ts';
import { APP_NAME } from '../kernel/command-name.ts';
import {
	ACTIONS,
	type ActionId,
	type ButtonLabel,
	type CallbackId,
	encodeMenuChoice,
	encodeMetadata,
	encodeQuestionMark,
	encodeTarget,
	inboxRowId,
	isDirectMessage,
	type QuestionMark,
	type SessionTarget,
	type ViewMetadata,
} from './ids.ts';
import { escapeMrkdwn, unescaped } from './mrkdwn.ts';
import { isBlank, mrkdwn, oneLine, oneLineMrkdwn, plain, quotedName, quotedNameMrkdwn, withoutMarks } from './text.ts';

export type { Button, HomeView, InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';

/** A section of escaped mrkdwn; no block when nothing in it is visible. */
export function section(text: string, extra: Partial<SectionBlock> = {}): SectionBlock[] {
	return isBlank(text) ? [] : [{ type: 'section', text: mrkdwn(text), ...extra }];
}

/** Slack's limit for the text of a section. */
const SECTION_LENGTH = 3_000;

/** Lines of mrkdwn in as few sections as hold them. None may be longer than a section. */
export function sectionsOf(lines: readonly string[], extra: Partial<SectionBlock> = {}): SectionBlock[] {
	const texts: string[] = [];
	for (const line of lines) {
		const longer = [...texts.slice(-1), line].join('\n');
		if (texts.length > 0 && longer.length <= SECTION_LENGTH) texts[texts.length - 1] = longer;
		else texts.push(line);
	}
	return texts.flatMap((text) => section(text, extra));
}

/** Small grey lines of escaped mrkdwn; no block when nothing in it is visible. */
export function context(...texts: readonly string[]): ContextBlock[] {
	const elements = texts.filter((text) => !isBlank(text)).map(mrkdwn);
	return elements.length === 0 ? [] : [{ type: 'context', elements }];
}

export const divider = (): KnownBlock => ({ type: 'divider' });

export function heading(text: string): KnownBlock {
	// Slack takes 150 characters.
	return { type: 'header', text: plain(text, 150) };
}

export function button(actionId: ActionId, label: ButtonLabel, extra: Partial<Button> = {}): Button {
	return { type: 'button', action_id: actionId, text: plain(label, 75), ...extra };
}

/**
 * `Answer: Which row? Buy concert tickets`: a button that may stand on a screen more than once says to whoever hears it
 * what about (plain text). Slack takes 75 characters, and no such label for a menu.
 */
export const saying =
	(about: string) =>
	<E extends Button | Overflow | null>(one: E): E =>
		one?.type === 'button' ? { ...one, accessibility_label: oneLine(`${one.text.text}: ${about}`, 75) } : one;

/** As `sessionTitle` without its quotation marks. Plain text. */
export const spokenName = (id: string, name = '') => withoutMarks(quotedName(name, 75)) || `session ${id}`;
export const sayingSession = (sessionId: string, name = '') => saying(spokenName(sessionId, name));

export function answerButton(target: SessionTarget): Button {
	return button(ACTIONS.answer, 'Answer…', { value: encodeTarget(target), style: 'primary' });
}

/** Opens what the agent asked last, where `question` is settled. */
export function answerAgainButton(
	question: QuestionMark,
	label: 'Answer again…' | 'Answer anyway' = 'Answer again…',
): Button {
	return button(ACTIONS.answerAgain, label, { value: encodeQuestionMark(question) });
}

/** Slack's limits for a menu. */
const MENU_ENTRIES = 5;
const OPTION_VALUE_LENGTH = 150;

/** Buttons as entries of one menu `⋯`, handled alike (`listen`). One alone, or of too long a value, stays a button. */
export function moreMenu(...entries: readonly (Button | null)[]): (Button | Overflow)[] {
	const all = entries.filter((entry) => entry !== null);
	const options = new Map<Button, PlainTextOption>();
	for (const entry of all) {
		const { text, url, action_id = '', value = '' } = entry;
		const chosen = encodeMenuChoice({ actionId: action_id, value });
		if (options.size === MENU_ENTRIES || chosen.length > OPTION_VALUE_LENGTH) continue;
		options.set(entry, { text: plain(text.text, 75), value: chosen, ...(url !== undefined && { url }) });
	}
	if (options.size < 2) return all;
	const menu: Overflow = { type: 'overflow', action_id: ACTIONS.more, options: [...options.values()] };
	return [...all.filter((entry) => !options.has(entry)), menu];
}

/** A row of buttons and menus; no block when there are none. */
export function buttons(...row: readonly (Button | Overflow | StaticSelect | null)[]): KnownBlock[] {
	const elements = row.filter((element) => element !== null);
	return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

/** Rows of buttons with an id that tells where they belong, not where they stand. See `inboxRowId`. */
export function inRow(rows: readonly KnownBlock[], origin: Origin, key: string): KnownBlock[] {
	return rows.map((row) => ({ ...row, block_id: inboxRowId(origin, key) }));
}

interface ModalParts {
	readonly callbackId: CallbackId;
	readonly title: string;
	readonly blocks: readonly KnownBlock[];
	/** A string: encoded already, of views about no session. */
	readonly metadata: ViewMetadata | string;
	/** Only where there are inputs. */
	readonly submit?: ButtonLabel;
	readonly close?: ButtonLabel;
	readonly notifyOnClose?: boolean;
	/** Closing it closes the views below it, too. */
	readonly clearOnClose?: boolean;
}

export function modal(parts: ModalParts): ModalView {
	return {
		type: 'modal',
		callback_id: parts.callbackId,
		title: plain(parts.title, 24, 'Session'),
		close: plain(parts.close ?? 'Close', 24),
		...(parts.submit === undefined ? {} : { submit: plain(parts.submit, 24) }),
		...(parts.notifyOnClose === true ? { notify_on_close: true } : {}),
		...(parts.clearOnClose === true ? { clear_on_close: true } : {}),
		private_metadata: typeof parts.metadata === 'string' ? parts.metadata : encodeMetadata(parts.metadata),
		blocks: [...parts.blocks],
	};
}

/** Opens the session's page in the service's dashboard; null without an address that a button can carry. */
export function dashboardButton(dashboardUrl: string | null, sessionId: string, label: ButtonLabel): Button | null {
	if (dashboardUrl === null) return null;
	const url = `${dashboardUrl}/sessions/session?id=${encodeURIComponent(sessionId.toWellFormed())}`;
	const isUsable = url.length <= 3000 && /^https?:\/\/[^\s<>"|\\]+$/i.test(url) && URL.canParse(url);
	return isUsable ? button(ACTIONS.dashboard, label, { url }) : null;
}

/** Else Slack adds mentions or links: `chat.update` parses `text` as typed, `chat.postMessage` links addresses. */
const AS_WRITTEN = { parse: 'none', link_names: false } as const;

/** A message for chat.* or a response_url: blocks, and escaped text for notifications and screen readers. */
export type MessageContent = ReturnType<typeof message>;

export function message(text: string, blocks: readonly KnownBlock[]) {
	// A preview would show the words of whoever wrote the linked page.
	return { text, blocks: [...blocks], unfurl_links: false, unfurl_media: false, ...AS_WRITTEN } as const;
}

/** A message of these words (mrkdwn), and what stands below them. */
export function textMessage(words: string, below: readonly KnownBlock[] = []): MessageContent {
	return message(words, [...section(words), ...below]);
}

/** What replaces the content of a message with `chat.update`. */
export function replacement({ text, blocks }: Pick<MessageContent, 'text' | 'blocks'>) {
	return { text, blocks, ...AS_WRITTEN };
}

/** Display names of people, where they are not mentioned. They are untrusted text. */
export interface Names {
	displayName(userId: string): string;
}

/** A mention of somebody. What is no Slack user id is quoted. */
export function personMrkdwn(userId: string): string {
	if (isForgotten(userId)) return SOMEBODY;
	return isUserId(userId) ? `<@${userId}>` : quotedNameMrkdwn(userId, 80) || 'somebody';
}

/** Mentions of people and user groups; empty for nobody. mrkdwn. */
export function mentionMrkdwn(mention: { userIds: readonly string[]; groupIds: readonly string[] } | null): string {
	if (mention === null) return '';
	return [...mention.userIds.map(personMrkdwn), ...mention.groupIds.map((id) => `<!subteam^${id}>`)].join(' ');
}

/** The name, which notifies nobody. It may not be known: the program learns it when the person acts. mrkdwn. */
export function personName(userId: string, names: Names): string {
	if (isForgotten(userId)) return SOMEBODY;
	return withoutMarks(quotedNameMrkdwn(names.displayName(userId), 80)) || 'somebody';
}

const NOBODY_NAMED = 'whoever runs Handraise here';

/** Whom to ask: a Slack user id becomes a mention, anything else stays text. */
export function contactMrkdwn(adminContact: string | null | undefined): string {
	const contact = oneLine(adminContact ?? '', 200) || NOBODY_NAMED;
	return isUserId(contact) ? `<@${contact}>` : escapeMrkdwn(contact);
}

export const isUserId = (text: string) => /^[UW][A-Z0-9]{2,30}$/.test(text);

/** A moment (ms since 1970) in each reader's time zone, else `20 Nov 2026, 08:19 UTC`. `seconds`: without the day. */
export function momentMrkdwn(at: number, to: 'minutes' | 'seconds' = 'minutes'): string {
	// Slack shows a time that it cannot format (before 1970, or from the year 3000 on) as raw `<!date…>`.
	if (!(at > 0 && at < 32_503_680_000_000)) return 'at an unknown time';
	if (to === 'seconds') {
		const seconds = Math.ceil(at / 1000);
		return `<!date^${seconds}^{time_secs}|${new Date(seconds * 1000).toISOString().slice(11, 19)} UTC>`;
	}
	const fallback = new Date(at).toUTCString().replace(/^\w+, 0?(\d+ \w+ \d+) (\d\d:\d\d).*/, '$1, $2 UTC');
	return `<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${fallback}>`;
}

/** Our mrkdwn as plain text, in which times are in UTC and an id means nothing to people. */
export function plainText(words: string): string {
	const named = words
		.replace(/<!date\^[^|<]*\|([^><]*)>/g, '$1')
		.replace(/<@\w+>/g, NOBODY_NAMED)
		.replace(/<#\w+>/g, 'a channel');
	return unescaped(named).replaceAll('`', '');
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

/** The characters of ordinary ids. A link can carry any text as an id. */
const ID = /^[\w.-]+$/;
/** What Slack shows of a view's title. */
const TITLE_LENGTH = 24;
const TITLE_ID = TITLE_LENGTH - 'Session '.length;

/** A session's id, between quotation marks if it does not look like an id. mrkdwn. */
export function sessionIdMrkdwn(sessionId: string): string {
	return ID.test(sessionId) ? oneLineMrkdwn(sessionId, 100) : quotedNameMrkdwn(sessionId, 100) || '(no id)';
}

export const sessionName = (sessionId: string) => `session *${sessionIdMrkdwn(sessionId)}*`;

/** The id below a name, small: it tells sessions of the same name apart. mrkdwn. */
export const smallId = (sessionId: string) => `Session ${sessionIdMrkdwn(sessionId)}`;

/** `“Book a flight”`, or `session 3f9a2c1d` if it has no name. No message begins with it. mrkdwn without emphasis. */
export function sessionTitle(name: string, sessionId: string): string {
	return quotedNameMrkdwn(name, 150) || `session ${sessionIdMrkdwn(sessionId)}`;
}

export function viewTitle({ sessionId, sessionName }: Pick<ViewMetadata, 'sessionId' | 'sessionName'>): string {
	const name = quotedName(sessionName, TITLE_LENGTH);
	if (name !== '') return name;
	const id = ID.test(sessionId) ? oneLine(sessionId, TITLE_ID) : quotedName(sessionId, TITLE_ID);
	return `Session ${id}`.trim();
}

/** `meaning`: for people who want to answer when no question is open; see `waitingWords`. All are mrkdwn. */
export const STATUSES = {
	active: { emoji: '⚙️', mrkdwn: 'working', meaning: 'The agent is working and has no question right now.' },
	humanInput: { emoji: '✋', mrkdwn: 'needs you', meaning: 'The agent waits for a person.' },
	inactive: { emoji: '⚪', mrkdwn: 'inactive', meaning: 'The agent is not running and has no question right now.' },
	paused: { emoji: '⏸️', mrkdwn: 'paused', meaning: 'The session is paused and has no question right now.' },
	stopped: { emoji: '⏹️', mrkdwn: 'stopped', meaning: 'The session was stopped. It takes no more answers.' },
	completed: { emoji: '✅', mrkdwn: 'done', meaning: 'The agent is done. It takes no more answers.' },
	failed: { emoji: '❌', mrkdwn: 'failed', meaning: 'The session failed. It takes no more answers.' },
} as const;
const isKnown = (status: string): status is keyof typeof STATUSES => Object.hasOwn(STATUSES, status);

/** A session's status for people. An unknown status is quoted. */
export function statusWords(status: string) {
	if (isKnown(status)) return STATUSES[status];
	const mrkdwn = quotedNameMrkdwn(status, 60) || 'no status';
	return { emoji: '❔', mrkdwn, meaning: 'There is no question to answer right now.' };
}

const ENDS: Readonly<Record<string, string>> = { completed: 'is done', failed: 'failed', stopped: 'was stopped' };
/** What became of a session that is over, after its name. */
export const endWords = (status: string) => ENDS[status] ?? 'is over';

type Progress = Pick<SessionSnapshot, 'status' | 'step'>;

/** `⚙️ *working* · step 12`. */
export function statusLine(progress: Progress): string {
	const { emoji, mrkdwn } = statusWords(progress.status);
	return joined(`${emoji} *${mrkdwn}*`, stepWords(progress.step));
}

/** `✋ *“Book a flight”* · needs you · step 3`; unnamed: its id. mrkdwn. */
export function titleLine({ name, sessionId, ...progress }: Progress & Pick<SessionSnapshot, 'name' | 'sessionId'>) {
	const { emoji, mrkdwn } = statusWords(progress.status);
	return joined(`${emoji} *${sessionTitle(name, sessionId)}*`, mrkdwn, stepWords(progress.step));
}

const stepWords = (step: number) => (step === 0 ? 'no step yet' : `step ${step}`);

/** Why an agent waits with no question open. `newest`: its last one; `answer`: to it; `state`: of that. mrkdwn. */
export function waitingWords(
	newest: { readonly goneOn: boolean } | null,
	answer: Pick<Answer, 'person' | 'acceptedAt'> | null,
	state = 'The agent should continue soon',
): string {
	if (newest === null || newest.goneOn) {
		const asked =
			newest === null
				? 'The agent waits for a person, but it asked nothing'
				: 'The agent waits for a person. Its last question was answered, and it asked nothing new';
		return `${asked} that can be answered here. Look at its latest message, or at the session in the dashboard.`;
	}
	const by = answer === null ? '' : ` by ${personMrkdwn(answer.person.userId)}`;
	const at = answer === null ? '' : momentMrkdwn(answer.acceptedAt);
	return sentences(`The newest question has been answered${by}.`, `${state}.`, at);
}

export function stillWaitingWords(waitedMs: number): string {
	return `Still waiting for the session service… (${durationText(waitedMs)})`;
}

const named = (text: string, otherwise: string, limit = 80) => quotedNameMrkdwn(text, limit) || otherwise;

/** `clicked`, `opened “example.com”`, `saved “report.pdf”`; unknown actions by their name. mrkdwn. */
const ACTION_WORDS: Readonly<Record<AgentAction['kind'], (text: string) => string>> = {
	click: () => 'clicked',
	open: (text) => `opened ${named(text, 'a page')}`,
	done: () => 'finished',
	saveFile: (text) => `saved ${named(text, 'a file')}`,
	deleteFile: (text) => `deleted ${named(text, 'a file')}`,
	other: (text) => USUAL_ACTIONS.get(text) ?? named(text.replaceAll('_', ' '), 'did something', 60),
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

export function valueMrkdwn({ value, secret }: Pick<AnswerItem, 'value' | 'secret'>, show: (text: string) => string) {
	if (secret) return '(hidden)';
	return value === null || isBlank(value) ? '(left empty)' : show(value);
}

export const joined = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(' · ');

export const sentences = (...parts: readonly string[]) => parts.filter((part) => part !== '').join(' ');

/** `1 question`, `3 questions`; `many`: the plural that `one` makes not by an s. */
export const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** `and 3 more`, with `what` behind it; empty when nothing is left out. */
export const andMoreWords = (count: number, what = '') => (count > 0 ? `and ${count} more ${what}`.trim() : '');

/** Slack shows no name for a direct message's id. `whose`: who is in it when that is not the reader; mrkdwn. */
export function placeMrkdwn(channelId: string, whose: string | null = null): string {
	if (!isDirectMessage(channelId)) return `<#${channelId}>`;
	return whose === null ? `your direct messages with ${APP_NAME}` : `the direct messages of ${whose} with ${APP_NAME}`;
}

/** A link to another message. mrkdwn. */
export const linkWords = (link: string, what: 'question' | 'result' | 'end') => `<${link}|Go to ${what}>`;

/** In the place of a message that stands twice. `link`: to the other one. mrkdwn. */
export const repeatWords = (link: string | undefined) =>
	'🔁 This was a repeat. The message that is kept current is ' +
	`${link === undefined ? 'another one here' : `<${link}|this one>`}.`;

export const MAYBE_REPEAT = '🔁 Handraise was interrupted: this post may be a repeat.';
