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
import type { Origin } from '../questions/answer.ts';
import {
	ACTIONS,
	type ActionId,
	type ButtonLabel,
	type CallbackId,
	encodeMenuChoice,
	encodeMetadata,
	encodeTarget,
	inboxRowId,
	type SessionTarget,
	type ViewMetadata,
} from './ids.ts';
import { isBlank, mrkdwn, plain } from './text.ts';

/** A section of mrkdwn that is escaped already; no block when nothing in it is visible. */
export function section(text: string, extra: Partial<SectionBlock> = {}): SectionBlock[] {
	return isBlank(text) ? [] : [{ type: 'section', text: mrkdwn(text), ...extra }];
}

/** Slack's limit for the text of a section. */
const SECTION_LENGTH = 3_000;

/** Lines of mrkdwn in as few sections as hold them. None may be longer than a section. */
export function sectionsOf(lines: readonly string[]): SectionBlock[] {
	const texts: string[] = [];
	for (const line of lines) {
		const longer = [...texts.slice(-1), line].join('\n');
		if (texts.length > 0 && longer.length <= SECTION_LENGTH) texts[texts.length - 1] = longer;
		else texts.push(line);
	}
	return texts.flatMap((text) => section(text));
}

/** Small grey lines of mrkdwn that is escaped already; no block when nothing in it is visible. */
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

export function answerButton(target: SessionTarget): Button {
	return button(ACTIONS.answer, 'Answer', { value: encodeTarget(target), style: 'primary' });
}

/** Slack's limits for a menu. */
const MENU_ENTRIES = 5;
const OPTION_VALUE_LENGTH = 150;

/**
 * These buttons as the entries of one menu `⋯`: each does what its button does (`listen`). One alone stays a button, and so
 * does one whose value is too long for an entry.
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

/** Rows of buttons with an id that tells where they belong, which is not where they stand. See `inboxRowId`. */
export function inRow(rows: readonly KnownBlock[], origin: Origin, key: string): KnownBlock[] {
	return rows.map((row) => ({ ...row, block_id: inboxRowId(origin, key) }));
}

interface ModalParts {
	readonly callbackId: CallbackId;
	readonly title: string;
	readonly blocks: readonly KnownBlock[];
	/** A string: encoded already, for views that are not about a session. */
	readonly metadata: ViewMetadata | string;
	/** Only where there are inputs. */
	readonly submit?: ButtonLabel;
	readonly close?: ButtonLabel;
	readonly notifyOnClose?: boolean;
}

export function modal(parts: ModalParts): ModalView {
	return {
		type: 'modal',
		callback_id: parts.callbackId,
		title: plain(parts.title, 24, 'Session'),
		close: plain(parts.close ?? 'Close', 24),
		...(parts.submit === undefined ? {} : { submit: plain(parts.submit, 24) }),
		...(parts.notifyOnClose === true ? { notify_on_close: true } : {}),
		private_metadata: typeof parts.metadata === 'string' ? parts.metadata : encodeMetadata(parts.metadata),
		blocks: [...parts.blocks],
	};
}

/** The session's page in the service's dashboard; null where there is none, or none that a button can carry. */
export function dashboardLink(dashboardUrl: string | null, sessionId: string): string | null {
	if (dashboardUrl === null) return null;
	const url = `${dashboardUrl}/sessions/session?id=${encodeURIComponent(sessionId.toWellFormed())}`;
	const isUsable = url.length <= 3000 && /^https?:\/\/[^\s<>"|\\]+$/i.test(url) && URL.canParse(url);
	return isUsable ? url : null;
}

/** Without it Slack makes mentions or links of `text`: `chat.update` parses it as typed, `chat.postMessage` links addresses. */
const AS_WRITTEN = { parse: 'none', link_names: false } as const;

/** A message for chat.* or a response_url: blocks, and the escaped text that notifications and screen readers use. */
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
