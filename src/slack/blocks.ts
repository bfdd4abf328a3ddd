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
import type { Origin } from '../domain/answer.ts';
import { isBlank, neutralise, oneLine } from '../domain/shown-text.ts';
import { cutText, cutWithNote } from '../domain/texts.ts';
import {
	ACTIONS,
	type ActionId,
	type ButtonLabel,
	type CallbackId,
	encodeMenuChoice,
	encodeMetadata,
	encodeQuestionRef,
	encodeTarget,
	inboxRowId,
	type QuestionRef,
	type SessionTarget,
	type ViewMetadata,
} from './ids.ts';
import { spokenName } from './phrases.ts';
import {
	line,
	linesIn,
	notificationText,
	type Piece,
	piecesText,
	richText,
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

/** Lines of plain text in a section, with a button, menu or image beside them. Rich text takes none. */
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
 * Adds an accessibility label such as `Answer: Which row? Buy concert tickets`. It tells equal buttons of a screen
 * apart for people who hear them. `about`: plain text. Slack takes 75 characters, and no label for a menu.
 */
export const labelAbout =
	(about: string) =>
	<E extends Button | Overflow | null>(one: E): E =>
		one?.type === 'button' ? { ...one, accessibility_label: oneLine(`${one.text.text}: ${about}`, 75) } : one;
export const labelAboutSession = (sessionId: string, name = '') => labelAbout(spokenName(sessionId, name));

export function answerButton(target: SessionTarget): Button {
	return button(ACTIONS.answer, 'Answer…', { value: encodeTarget(target), style: 'primary' });
}

/** On a settled question: opens what the agent asked last. */
export function answerAgainButton(
	question: QuestionRef,
	label: 'Answer again…' | 'Answer anyway' = 'Answer again…',
): Button {
	return button(ACTIONS.answerAgain, label, { value: encodeQuestionRef(question) });
}

/** Slack's limits for a menu. */
const MENU_ENTRIES = 5;
const OPTION_VALUE_LENGTH = 150;

/**
 * Buttons as entries of one menu `⋯`; `listen` handles both alike. A lone one, or one with a long value, stays a
 * button.
 */
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

/** Blocks with a block_id that carries the origin of what is pressed in them, and no position. See `inboxRowId`. */
export function inRow(rows: readonly KnownBlock[], origin: Origin, key: string): KnownBlock[] {
	return rows.map((row) => ({ ...row, block_id: inboxRowId(origin, key) }));
}

interface ModalParts {
	readonly callbackId: CallbackId;
	readonly title: string;
	readonly blocks: readonly KnownBlock[];
	/** A string is used as it is, for views about no session. */
	readonly metadata: ViewMetadata | string;
	/** Only in views with inputs: Slack wants one there and nowhere else. */
	readonly submit?: ButtonLabel;
	readonly close?: ButtonLabel;
	readonly notifyOnClose?: boolean;
	/** Closing this view closes the views below it too. */
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

/** Without these, `chat.update` parses `text` like typed text, and `chat.postMessage` links addresses. */
const AS_WRITTEN = { parse: 'none', link_names: false } as const;

/** A message for chat.* or a response_url: blocks, and escaped text for notifications and screen readers. */
export type MessageContent = ReturnType<typeof message>;

export function message(words: Words, blocks: readonly KnownBlock[]) {
	const text = notificationText(words);
	// Slack's preview of a link would show text of the linked page.
	return { text, blocks: [...blocks], unfurl_links: false, unfurl_media: false, ...AS_WRITTEN } as const;
}

/** Slack refuses a message with rich text whose blocks have more characters of JSON. */
const MESSAGE_JSON = 12_000;

/** Builds blocks with the first of `sizes` that fits into a message, else with the last one. */
export function fitting<Size>(sizes: readonly Size[], build: (size: Size) => KnownBlock[]): KnownBlock[] {
	let blocks: KnownBlock[] = [];
	for (const size of sizes) {
		blocks = build(size);
		if (JSON.stringify(blocks).length <= MESSAGE_JSON) break;
	}
	return blocks;
}

/** A message of these words with blocks below them. */
export function textMessage(words: Words, below: readonly KnownBlock[] = []): MessageContent {
	return message(words, [...section(words), ...below]);
}

/** Whether Slack refused a message because of its blocks, not because of its channel. */
export const isOfBlocks = (code: string | null) => /^(?:invalid_blocks|msg_(?:blocks_)?too_long)/.test(code ?? '');

/** Blocks that Slack takes where it refuses others. */
const PLAIN_BLOCKS: readonly string[] = [
	'section',
	'context',
	'actions',
	'divider',
	'header',
] satisfies KnownBlock['type'][];

/** A message whose blocks Slack refused: of each block that is not plain, a section has the plain text. */
export function plainMessage<M extends Pick<MessageContent, 'blocks'>>(refused: M): M {
	const plainBlock = (block: KnownBlock): KnownBlock[] => {
		if (PLAIN_BLOCKS.includes(block.type)) return [block];
		const text = cutWithNote(plainLines(block).join('\n').trim(), SECTION_LENGTH);
		return isBlank(text) ? [] : [{ type: 'section', text: { type: 'plain_text', text, emoji: false } }];
	};
	return { ...refused, blocks: refused.blocks.flatMap(plainBlock) };
}

function plainLines(block: KnownBlock): string[] {
	if (block.type === 'rich_text') return (block.elements as Piece[]).map(plainPiece);
	if (block.type === 'table') return block.rows.map((cells) => `> ${cells.flatMap(textsIn).join(' | ')}`);
	// It may hold words of an agent.
	return textsIn(block).map((text) => text.replace(/^/gm, '> '));
}

/** The texts in a block of any kind, from the outside in. */
function textsIn(part: unknown): string[] {
	if (typeof part !== 'object' || part === null) return [];
	if ('text' in part && typeof part.text === 'string') return [part.text];
	return Object.values(part).flatMap(textsIn);
}

/** Marks each line of an agent with `> `, so that nobody takes it for one of ours. */
function plainPiece(piece: Piece): string {
	const text = piecesText([piece]);
	return piece.type === 'rich_text_section' ? text : text.replace(/^/gm, '> ');
}

/** The arguments of `chat.update` that replace the content of a message. */
export function replacement({ text, blocks }: Pick<MessageContent, 'text' | 'blocks'>) {
	return { text, blocks, ...AS_WRITTEN };
}
