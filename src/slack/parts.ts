import type {
	Button,
	ContextBlock,
	KnownBlock,
	ModalView,
	Overflow,
	PlainTextElement,
	PlainTextOption,
	SectionBlock,
	StaticSelect,
} from '@slack/types';
import { type Answer, type AnswerItem, type Origin, SOMEBODY } from '../domain/answer.ts';
import type { AgentAction } from '../domain/session.ts';
import type { SessionSnapshot } from '../domain/session-snapshot.ts';
import { isBlank, neutralise, oneLine } from '../domain/shown-text.ts';
import { cutText, cutWithNote } from '../domain/texts.ts';
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
import {
	joined,
	line,
	linesIn,
	notificationText,
	type Piece,
	piecesText,
	quotedText,
	rich,
	richText,
	sentences,
	smallElements,
	type Words,
} from './rich-text.ts';

export type { Button, HomeView, InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';

/** A plain_text object of one line, cut to `limit`. `fallback` replaces an invisible text, which Slack refuses. */
export function plain(text: string, limit: number, fallback = '(empty)'): PlainTextElement {
	return { type: 'plain_text', text: oneLine(text, limit) || fallback, emoji: false };
}

/** Words in normal size; no block when nothing of them is visible. */
export const section = (words: Words): KnownBlock[] => richText(...line(words));

/** Slack's limit for the text of a section. */
const SECTION_LENGTH = 3_000;

/** Lines of plain text with a button, menu or image beside them, which rich text cannot have. */
export function row(text: string, accessory: SectionBlock['accessory'] | null): KnownBlock[] {
	const shown = cutText(neutralise(text), SECTION_LENGTH);
	const block = { type: 'section' as const, text: { type: 'plain_text' as const, text: shown, emoji: false } };
	return accessory == null ? [block] : [{ ...block, accessory }];
}

/** Elements that Slack takes in one context block. */
const MOST_SMALL = 10;

/**
 * Small grey words; no block when nothing of them is visible. Slack sets the elements of a block side by side, so each
 * of several lines has a block of its own.
 */
export function context(...all: readonly Words[]): ContextBlock[] {
	const rows: ContextBlock['elements'][] = [[]];
	for (const words of all) {
		const [first = '', ...others] = linesIn(words);
		if (others.length === 0) rows.at(-1)?.push(...smallElements(first));
		else rows.push(...[first, ...others].map(smallElements), []);
	}
	return rows.flatMap((elements) =>
		Array.from({ length: Math.ceil(elements.length / MOST_SMALL) }, (_, at) => ({
			type: 'context' as const,
			elements: elements.slice(at * MOST_SMALL, (at + 1) * MOST_SMALL),
		})),
	);
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

export const spokenName = (id: string, name = '') => oneLine(name, 75) || `session ${id}`;
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

export function message(words: Words, blocks: readonly KnownBlock[]) {
	const text = notificationText(words);
	// A preview would show the words of whoever wrote the linked page.
	return { text, blocks: [...blocks], unfurl_links: false, unfurl_media: false, ...AS_WRITTEN } as const;
}

/** Characters of JSON in the blocks of a message that has rich text: Slack refuses more. */
const MESSAGE_JSON = 12_000;

/** The blocks with the first of these sizes with which a message holds them, else with the last. */
export function fitting<Size>(sizes: readonly Size[], build: (size: Size) => KnownBlock[]): KnownBlock[] {
	let blocks: KnownBlock[] = [];
	for (const size of sizes) {
		blocks = build(size);
		if (JSON.stringify(blocks).length <= MESSAGE_JSON) break;
	}
	return blocks;
}

/** A message of these words, and what stands below them. */
export function textMessage(words: Words, below: readonly KnownBlock[] = []): MessageContent {
	return message(words, [...section(words), ...below]);
}

/** Slack refuses a message with these codes for what its blocks are, not for its place. */
export const isOfBlocks = (code: string | null) => /^(?:invalid_blocks|msg_(?:blocks_)?too_long)/.test(code ?? '');

/** A message that Slack refused once, in sections of plain text: "> " where the bar was. Buttons stay. */
export function plainMessage<M extends Pick<MessageContent, 'blocks'>>(refused: M): M {
	const plainBlock = (block: KnownBlock): KnownBlock[] => {
		if (block.type !== 'rich_text' && block.type !== 'table') return [block];
		const lines =
			block.type === 'table'
				? block.rows.map((cells) => `> ${cells.map(cellText).join(' | ')}`)
				: (block.elements as Piece[]).map(plainPiece);
		const text = cutWithNote(lines.join('\n').trim(), SECTION_LENGTH);
		return isBlank(text) ? [] : [{ type: 'section', text: { type: 'plain_text', text, emoji: false } }];
	};
	return { ...refused, blocks: refused.blocks.flatMap(plainBlock) };
}

/** Nobody takes a line of an agent for one of ours. */
function plainPiece(piece: Piece): string {
	const text = piecesText([piece]);
	return piece.type === 'rich_text_section' ? text : text.replace(/^/gm, '> ');
}

const cellText = (cell: object) => ('text' in cell ? String(cell.text) : '');

/** What replaces the content of a message with `chat.update`. */
export function replacement({ text, blocks }: Pick<MessageContent, 'text' | 'blocks'>) {
	return { text, blocks, ...AS_WRITTEN };
}

/** Display names of people, where they are not mentioned. They are untrusted text. */
export interface Names {
	displayName(userId: string): string;
}

/** A mention of somebody. What is no Slack user id stands as it is. */
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

/** The name, which notifies nobody. It may not be known: the program learns it when the person acts. */
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

/** The id below a name, small: it tells sessions of the same name apart. */
export const smallId = (sessionId: string) => `Session ${shownId(sessionId)}`;

/** `Book a flight`, or `session 3f9a2c1d` if it has no name. A message begins with words of ours, never with it. */
export function sessionTitle(name: string, sessionId: string, limit = 150): string {
	return oneLine(name, limit) || `session ${shownId(sessionId)}`;
}

/** `meaning`: for people who want to answer when no question is open; see `waitingWords`. */
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

const ENDS: Readonly<Record<string, string>> = { completed: 'is done', failed: 'failed', stopped: 'was stopped' };
/** What became of a session that is over, after its name. */
export const endWords = (status: string) => ENDS[status] ?? 'is over';

type Progress = Pick<SessionSnapshot, 'status' | 'step'>;

/** `working · step 12`. */
export const progressWords = ({ status, step }: Progress) => joined(statusWords(status).words, stepWords(step));

/** `⚙️ *Book a flight* · working · step 12`, `✋ *Book a flight* asks · step 3`; unnamed: its id. */
export function titleLine({ name, sessionId, ...progress }: Progress & Pick<SessionSnapshot, 'name' | 'sessionId'>) {
	const separator = progress.status === 'humanInput' ? ' ' : ' · ';
	const { emoji } = statusWords(progress.status);
	return rich`${emoji} *${sessionTitle(name, sessionId)}*${separator}${progressWords(progress)}`;
}

const stepWords = (step: number) => (step === 0 ? 'no step yet' : `step ${step}`);

/** Why an agent waits with no question open. `newest`: its last one; `answer`: to it; `state`: of that. */
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

/** A value in one line, cut to `limit`, or what stands in its place. */
export function valueLine({ value, secret }: Pick<AnswerItem, 'value' | 'secret'>, limit: number): string {
	return secret ? '(hidden)' : oneLine(value ?? '', limit) || '(left empty)';
}

/** The same behind the bar, with all its lines. */
export function valuePieces({ value, secret }: Pick<AnswerItem, 'value' | 'secret'>, limit: number): Piece[] {
	const isShown = !secret && value !== null && !isBlank(value);
	return isShown ? quotedText(value, limit) : line(secret ? '(hidden)' : '(left empty)');
}

/** `1 question`, `3 questions`; `many`: the plural that `one` makes not by an s. */
export const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** `and 3 more`, with `what` behind it; empty when nothing is left out. */
export const andMoreWords = (count: number, what = '') => (count > 0 ? `and ${count} more ${what}`.trim() : '');

/** Slack shows no name for a direct message's id. `whose`: who is in it when that is not the reader. */
export function placeOf(channelId: string, whose: Words | null = null): Words {
	if (!isDirectMessage(channelId)) return [{ type: 'channel', channel_id: channelId }];
	return whose === null
		? `your direct messages with ${APP_NAME}`
		: rich`the direct messages of ${whose} with ${APP_NAME}`;
}

const linkTo = (url: string, text: string): Words => [{ type: 'link', url, text }];

/** A link to another message. */
export const linkWords = (link: string, what: 'question' | 'result' | 'end') => linkTo(link, `Go to ${what}`);

/** In the place of a message that stands twice. `link`: to the other one. */
export function repeatWords(link: string | undefined): Words {
	const other = link === undefined ? 'another one here' : linkTo(link, 'this one');
	return rich`🔁 This was a repeat. The message that is kept current is ${other}.`;
}

export const MAYBE_REPEAT = '🔁 Handraise was interrupted: this post may be a repeat.';
