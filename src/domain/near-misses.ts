import { says } from './asking-words.ts';
import { draftIn, isDecision, keyedList, type Line, linesOf, MARKS } from './contract.ts';
import { askedAt, MAX_TEXT_LENGTH } from './options.ts';

/*
 * Finds texts that look like a form of docs/asking.md and are none. `npm run ask` and the log tell authors of agents.
 * These findings change nothing that people are offered.
 */

const ONE_MARK = `(?:${MARKS.join('|')})`;
const MARK = new RegExp(`[([（]\\s*${ONE_MARK}(?:[\\s,;/+&]+${ONE_MARK})*\\s*[)\\]）]`, 'i');
/** "(number, 1-12)" and "(time)", at the end. "Name (first)" is none. */
const OTHER_MARK = new RegExp(
	`[([（]\\s*(?:${ONE_MARK}\\s*[^\\p{L}\\s)\\]）][^()[\\]（）]*|(?:time|datetime|text|string|integer|boolean)\\s*)` +
		'[)\\]）][\\s?？.!:]{0,3}$',
	'iu',
);
/** "Options = a | b", "Option: A | B", "Allowed values: A, B" */
const LISTS = /^\W*(?:options?|choices?|alternatives|(?:allowed|possible|supported|valid) values)\b/i;
const SEVERAL = /[|,/、，；;]/;
/** "A | B | C", "A / B" */
const BARS = /^[^|/]+(?:\s[|/]\s[^|/]+)+$/;
/** "(Yes / No / Later)", "Which one? (red/blue)", at the end. */
const BRACKETS = /[([（]([^()[\]（）\n]{3,80})[)\]）][\s?？.!:]{0,3}$/;
/** "Draft reply:" */
const DRAFT = /^\W*draft\b[^:：\n]{0,40}[:：]?\s*$/i;

const WRITE_OPTIONS = 'write a line that begins with "Options:", then the options with " | " between them';

/**
 * Says what in an item is almost contract, and how to write it; null: nothing is. The result has no words of the item,
 * because it goes to the log.
 */
export function nearMissAt(question: Parameters<typeof askedAt>[0], position: number): string | null {
	const { title, description: whole } = question.items[position] ?? { title: '', description: '' };
	const { name, draft, choice, isUnclear } = askedAt(question, position);
	if (Math.max(title.length, whole.length, question.context.length) > MAX_TEXT_LENGTH) return null;
	const description = draftIn(whole)?.others ?? whole;
	const lines = linesOf(`${name}\n${description}`).filter(({ isPlain }) => isPlain);
	if (lines.some(({ text }) => MARK.test(text)))
		return 'a mark counts only at the very end of the title, in brackets of its own: "Day? (date) (optional)"';
	if (OTHER_MARK.test(name))
		return `people see the brackets at the end: the only marks are ${MARKS.map((mark) => `(${mark})`).join(', ')}`;
	if (draft === null && lines.some(({ text }) => DRAFT.test(text)))
		return 'a draft begins behind a line that is only "Draft:"';
	if (choice !== null || isUnclear) return null;
	if (/"(?:options|choices|enum)"\s*:/.test(description))
		return 'JSON counts only as all of the description: {"options": ["…", "…"], "multiple": false}';
	if ([title, description].some(hasOtherBrackets))
		return `brackets at the end hold two or three decisions, such as "(approve/reject)": for others, ${WRITE_OPTIONS}`;
	if (lines.some(isAlmostList)) return `options have a form of their own: ${WRITE_OPTIONS}`;
	return keyedList(linesOf(question.context)) === null
		? null
		: 'options count only in an item: write their line in its description, not in the text above';
}

function isAlmostList({ text, entry }: Line): boolean {
	if (entry !== null) return false;
	return BARS.test(text) || ((LISTS.test(text) || says('lists', text, 'start')) && SEVERAL.test(text));
}

function hasOtherBrackets(text: string): boolean {
	const [, inside = ''] = BRACKETS.exec(text.trimEnd().slice(-100)) ?? [];
	const parts = inside.split(/[/／|]/).map((part) => part.trim());
	const isAsked = /[?？]/.test(text) && parts.every((part) => part.length > 2);
	return parts.length > 2 || (parts.length === 2 && (isAsked || parts.some(isDecision)));
}
