import { looksSecret } from '../questions/asks-for-secret.ts';
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
	const about = [
		withoutMarks(quotedNameMrkdwn(sessionName, NAME_LENGTH + 2)),
		waitedMs !== null && waitedMs >= 60_000 ? `waiting ${durationText(waitedMs)}` : '',
	].filter(Boolean);
	const end = about.length === 0 ? '' : ` (${about.join(', ')})`;
	const several = question.openCount > 1 ? `${asks} ${counted(question.openCount, 'question')}` : null;
	const opening = changed ? 'An agent asks something else now' : several;
	const text = told === '' ? (opening ?? nothingTold) : `${opening ?? asks}: ${told}`;
	return firstCharactersMrkdwn(text, SHOWN_CHARACTERS, TEXT_LENGTH - end.length) + end;
}

/** Whether `questionText` says anything of the question. */
export function tellsQuestion(shown: ShownQuestion): boolean {
	return toldOf(shown) !== null;
}

interface ShownQuestion {
	readonly question: Asked;
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
function toldOf({ question, discreet }: ShownQuestion): string | null {
	const open = question.items.filter((item) => item.open);
	if (discreet || question.items.some((item, at) => item.open && (item.secret || looksSecretAt(question, at))))
		return null;
	const asked = question.openCount > 1 ? severalItems(open, question.openCount) : oneItem(open[0]);
	return asked === '' ? contextOf(question) : asked;
}

/** What the agent wrote above items that say nothing; null when that asks for a secret. */
function contextOf({ context }: Asked): string | null {
	return looksSecret({ title: '', description: context }) ? null : oneLine(context, PART_LENGTH);
}

function severalItems(open: readonly ItemView[], openCount: number): string {
	const parts = open
		.map(({ title, description }) => oneLine(title, SHORT_PART_LENGTH) || oneLine(description, SHORT_PART_LENGTH))
		.map((part) => part.replace(/[\s.:;,]+$/, ''))
		.filter((part) => part !== '');
	if (parts.length === 0) return '';
	return `${parts.join('; ')}${openCount > parts.length ? '; …' : ''}`;
}

function oneItem(item: ItemView | undefined): string {
	return item === undefined ? '' : titled(oneLine(item.title, PART_LENGTH), oneLine(item.description, PART_LENGTH));
}

/** `Title: description`; a title with a mark at its end needs no colon. */
function titled(title: string, description: string): string {
	if (title === '' || description === '') return title + description;
	if (description.startsWith(title) && !/^[\p{L}\p{N}]/u.test(description.slice(title.length))) return description;
	return /[.!?…:;,。！？：]$/.test(title) ? `${title} ${description}` : `${title}: ${description}`;
}
