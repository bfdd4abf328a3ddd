import { looksSecret } from './asks-for-secret.ts';
import { guessInput, WANTS_MORE_THAN_YES_OR_NO, YES_NO } from './input-kind.ts';
import { lookDifferent } from './look-alikes.ts';
import { matchingText, words } from './matching-text.ts';
import type { Question } from './open-question.ts';
import { listedOptions } from './options.ts';
import type { HumanInputItem } from './session.ts';

/** What one press can answer: the only item of a question, which is open, and its short options. */
export interface QuickAnswer {
	readonly position: number;
	/** 2 to 5. Each is at once the label of its button and the value that is sent. */
	readonly options: readonly string[];
}

/** More buttons are harder to read than a select. */
const MAX_OPTIONS = 5;
/** UTF-16 units. Slack cuts longer labels of buttons. */
const MAX_OPTION_LENGTH = 30;

/** The answer is more than one option, or depends on something. */
const WANTS_MORE_THAN_AN_OPTION = words(
	'if|unless|in case|also|and (?:what|how|when|where|who|which)|tell (?:me|us) (?:how|when|where|who|your)|(?:please|then|and) (?:add|enter|include|provide|specify|describe|give|type)|warum|wieso|weshalb|begrunde\\p{L}*|falls|por que|explica\\p{L}*|pourquoi|expliquez',
);

/**
 * The options of the only item, if it is open, a button can show each of them in full and one of them is a whole
 * answer: yes and no, or a list that the item marks as one. Null in doubt, because a wrong press cannot be taken back
 * and the form is always there. `isSecret`: whether the item of a position is known to be secret.
 */
export function quickAnswerOf(
	question: Pick<Question, 'items' | 'openItems'>,
	isSecret: (position: number) => boolean,
): QuickAnswer | null {
	const [position] = question.openItems;
	// Items that have a value already, from whomever, are a part of what is asked, and only the form shows them.
	if (position === undefined || question.items.length > 1) return null;
	const item = question.items[position];
	if (item === undefined || isSecret(position) || looksSecret(item)) return null;
	const options = guessInput(item).kind === 'yesNo' ? YES_NO : fromList(item);
	return options === null ? null : { position, options };
}

function fromList(item: HumanInputItem): readonly string[] | null {
	const listed = listedOptions(item);
	if (listed?.explicit !== true || asksForMore(item)) return null;
	const { options } = listed;
	if (options.length < 2 || options.length > MAX_OPTIONS || !options.every(staysAsItIs)) return null;
	// Finding a list joins lines and white space, and drops marks of emphasis. What is sent is what the agent wrote.
	if (!options.every((option) => [item.title, item.description].some((part) => standsAsItIs(option, part))))
		return null;
	return lookDifferent(options) ? options : null;
}

/** Whether the text has this option: "**Red**" emphasizes all of it, and "*A* search" has lost a mark of its own. */
function standsAsItIs(option: string, text: string): boolean {
	const at = text.indexOf(option);
	if (at === -1) return false;
	const [isMarkedBefore, isMarkedAfter] = [at - 1, at + option.length].map((place) => /[*_`]/.test(text.charAt(place)));
	return isMarkedBefore === isMarkedAfter;
}

/** "Which plan? One of: A, B. And how many seats?" */
function asksForMore({ title, description }: HumanInputItem): boolean {
	const text = `${matchingText(title)}\n${matchingText(description)}`;
	const asksTwice = [title, description].some((part) => part.split(/[?？]/).length > 2);
	return asksTwice || WANTS_MORE_THAN_YES_OR_NO.test(text) || WANTS_MORE_THAN_AN_OPTION.test(text);
}

/** Control, format and unassigned characters, lone surrogates, and all that fonts draw as nothing. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** White space at an end, two in a row, and any but the plain space. */
const UNUSUAL_SPACE = /^ | $| {2}|[^\S ]/;
/** Marks without a letter, and more than any script puts on one: the cleaning of labels removes these. */
const STRAY_MARKS = /^\p{M}|\p{M}{9}/u;
/** What Slack may show as something else: `:smile:`, `&lt;`, `<!here>`. */
const SLACK_MARKUP = /:[\p{L}\p{N}_+'-]+:|&(?:amp|lt|gt);|<[^<>]*>/u;
/** A label shows marks of Markdown as they are, and a box to tick is not a choice. */
const MARKDOWN = /\*\*|__|~~|`|\]\(|^\[[ xX]?\]/;

/** Whether a button shows exactly this text. */
function staysAsItIs(option: string): boolean {
	if (option.length > MAX_OPTION_LENGTH) return false;
	return ![INVISIBLE, UNUSUAL_SPACE, STRAY_MARKS, SLACK_MARKUP, MARKDOWN].some((pattern) => pattern.test(option));
}
