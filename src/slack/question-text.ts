import { looksSecret } from '../questions/asks-for-secret.ts';
import { YES_NO } from '../questions/input-kind.ts';
import type { QuickAnswer } from '../questions/quick-answer.ts';
import { looksSecretAt } from '../questions/secrecy.ts';
import type { ItemView, QuestionView } from '../watches/session-snapshot.ts';
import { firstCharactersMrkdwn, oneLine, quotedNameMrkdwn, withoutMarks } from './text.ts';
import { counted, durationText } from './words.ts';

/** What phones show of a notification, in characters. */
const SHOWN_CHARACTERS = 250;
/** UTF-16 units, after escaping. */
const TEXT_LENGTH = 400;
const NAME_LENGTH = 60;
/** UTF-16 units. A longer part is cut anyway. */
const PART_LENGTH = 1_000;
/** Of each item when there are several. */
const SHORT_PART_LENGTH = 80;

type Asked = Pick<QuestionView, 'context' | 'items' | 'openCount' | 'itemCount'>;

/**
 * The `text` of a message with a question: what phones show in notifications and screen readers read. One line of at most
 * 400 UTF-16 units, escaped for mrkdwn. It begins with words of ours, so that no agent's text does. Says nothing of a
 * question that asks for a secret, or when `discreet`.
 */
export function questionText(shown: ShownQuestion): string {
	const { question, sessionName, waitedMs, changed = false, settled = false } = shown;
	const asks = settled ? 'An agent asked' : 'An agent asks';
	const nothingTold = `${asks} for an answer`;
	const told = toldOf(shown);
	if (told === null) return `${nothingTold}.`;
	const end = inParentheses([
		withoutMarks(quotedNameMrkdwn(sessionName, NAME_LENGTH + 2)),
		waitedMs !== null && waitedMs >= 60_000 ? `waiting ${durationText(waitedMs)}` : '',
	]);
	const opening = changed ? 'An agent asks something else now' : several(asks, question.openCount);
	const text = told === '' ? (opening ?? nothingTold) : `${opening ?? asks}: ${told}`;
	return firstCharactersMrkdwn(text, SHOWN_CHARACTERS, TEXT_LENGTH - end.length) + end;
}

/** Whether `questionText` says anything of the question. */
export function tellsQuestion(shown: ShownQuestion): boolean {
	return toldOf(shown) !== null;
}

interface ShownQuestion {
	readonly question: Asked;
	readonly quick: QuickAnswer | null;
	readonly sessionName: string;
	/** Since the agent asked; null: not told. */
	readonly waitedMs: number | null;
	readonly discreet: boolean;
	/** It asked something else before. */
	readonly changed?: boolean;
	/** It takes no more answers. */
	readonly settled?: boolean;
}

/** The words of the question; null when nothing of it may be told. */
function toldOf({ question, quick, discreet }: ShownQuestion): string | null {
	const open = question.items.filter((item) => item.open);
	if (discreet || question.items.some((item, at) => item.open && (item.secret || looksSecretAt(question, at))))
		return null;
	const asked = question.openCount > 1 ? severalItems(open, question.openCount) : oneItem(open[0], quick);
	return asked === '' ? contextOf(question) : asked;
}

/** Null for one question. */
function several(asks: string, openCount: number): string | null {
	return openCount > 1 ? `${asks} ${counted(openCount, 'question')}` : null;
}

/** What the agent wrote above items that say nothing; null when that asks for a secret. */
function contextOf({ context }: Asked): string | null {
	return looksSecret({ title: '', description: context }) ? null : oneLine(context, PART_LENGTH);
}

function inParentheses(parts: readonly string[]): string {
	const told = parts.filter((part) => part !== '');
	return told.length === 0 ? '' : ` (${told.join(', ')})`;
}

function severalItems(open: readonly ItemView[], openCount: number): string {
	const parts = open
		.map(({ title, description }) => oneLine(title, SHORT_PART_LENGTH) || oneLine(description, SHORT_PART_LENGTH))
		.map((part) => part.replace(/[\s.:;,]+$/, ''))
		.filter((part) => part !== '');
	if (parts.length === 0) return '';
	return `${parts.join('; ')}${openCount > parts.length ? '; …' : ''}`;
}

function oneItem(item: ItemView | undefined, quick: QuickAnswer | null): string {
	if (item === undefined) return '';
	const title = oneLine(item.title, PART_LENGTH);
	const description = oneLine(item.description, PART_LENGTH);
	const options = quick === null || quick.options.join() === YES_NO.join() ? [] : quick.options;
	if (options.length === 0) return titled(title, description);
	const asked = title === '' ? description : title;
	const before = withoutList(asked, options);
	// The list stands where it cannot be removed from, so it is not told twice.
	if (before === null && title === '') return description;
	return asSentences(before ?? title, `One of: ${options.join(', ')}`);
}

/** `Title: description`; a title with a mark at its end needs no colon. */
function titled(title: string, description: string): string {
	if (title === '' || description === '') return title + description;
	if (description.startsWith(title) && !/^[\p{L}\p{N}]/u.test(description.slice(title.length))) return description;
	return /[.!?…:;,。！？：]$/.test(title) ? `${title} ${description}` : `${title}: ${description}`;
}

function asSentences(first: string, second: string): string {
	const bare = first.replace(/[\s:;,–—-]+$/, '');
	if (bare === '') return second;
	return /[.!?…。！？]$/.test(bare) ? `${bare} ${second}` : `${bare}. ${second}`;
}

/** Between two options of a list on one line: marks, "or", the next bullet or ordinal. */
const BETWEEN =
	'[^\\p{L}\\p{N}]{1,20}(?:(?:or|and|oder|und|ou|et|o|y)[^\\p{L}\\p{N}]{1,20})?(?:(?:\\d|[a-zA-Z])[.)] )?';

/**
 * The text without its list of these options and the words that lead to it ("Please choose one of: "); null when it has no
 * such list. An option without a letter or digit could begin at too many positions.
 */
function withoutList(text: string, options: readonly string[]): string | null {
	if (!options.every((option) => /[\p{L}\p{N}]/u.test(option))) return null;
	const literal = options.map((option) => option.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join(BETWEEN);
	const list = new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'u').exec(text);
	if (list === null) return null;
	const before = text
		.slice(0, list.index)
		.replace(/(?:^|(?<=\s))\(?(?:1|[aA])[.)]\s*$/, '')
		.replace(/[-*•–▪◦"'“„`_\s]+$/, '')
		.replace(/[^.!?:]{0,80}:$/, '');
	const after = text
		.slice(list.index + list[0].length)
		.replace(/^[\s,;/|]*(?:or|oder|ou|o)\s[^.!?]*/i, '')
		.replace(/^[\s.,;"'“”`*_]+/, '');
	return after === '' ? before.trim() : `${before.trim()} ${after}`.trim();
}
