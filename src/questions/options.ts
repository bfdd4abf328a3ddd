import { begins, ends, isWhole, languagesThatAsk, says, wordsBefore } from './asking-words.ts';
import {
	decisionsAtEnd,
	draftIn,
	jsonList,
	keyedList,
	type Line,
	type Listed,
	linesOf,
	listAt,
	type Mark,
	markedTitle,
} from './contract.ts';
import type { ItemTexts } from './session.ts';
import { isGeneric, matchingText } from './texts.ts';

/** Code units. A longer text is not searched: its list may belong to a report. */
const MAX_TEXT_LENGTH = 8_000;
/** Entries of a list with decisions in it, and words and code units of one to reply with. */
const MOST_DECISIONS = 6;
const MOST_WORDS = 2;
const MOST_LENGTH = 30;

export const YES_NO = ['Yes', 'No'] as const;
/** In English they are ours, whatever their letter case; elsewhere the agent's. */
const YES_NO_ALIKE = /^(?:y|yes)\n(?:n|no)$|^no?\ny(?:es)?$/i;

export interface Choice {
	/** Two to 99 different texts exactly as the agent gives them, in its order. */
	readonly options: readonly string[];
	/** More than one of them may be the answer. */
	readonly isSeveral: boolean;
	/** One of them is the whole answer: a press may send it. */
	readonly isWhole: boolean;
}

/** What Handraise makes of an item's texts. */
export interface Asked {
	/** The title without the marks behind it. */
	readonly name: string;
	readonly marks: ReadonlySet<Mark>;
	/** What its field begins with. */
	readonly draft: string | null;
	/** Null: any text. */
	readonly choice: Choice | null;
	/** Why so, in words for the authors of agents. */
	readonly why: string;
	/** It looks like the contract, and is not: see `asking_unclear`. */
	readonly isUnclear: boolean;
}

/** An item with the text above it, if it is the only one. */
export interface AskedItem extends ItemTexts {
	readonly above?: string;
}

export function askedItem(
	{ items, context }: { readonly items: readonly ItemTexts[]; readonly context: string },
	position: number,
): AskedItem {
	const item = items[position] ?? { title: '', description: '' };
	const isAlone = items.length === 1 && context.trim() !== '' && context.length <= MAX_TEXT_LENGTH;
	return isAlone ? { ...item, above: context } : item;
}

export const choiceOf = (item: AskedItem): Choice | null => asked(item).choice;

/** Reads an item by the contract of docs/asking.md, else by the few guesses that are certain. In doubt, it offers nothing. */
export function asked(item: AskedItem): Asked {
	const { name, marks } = markedTitle(item.title);
	const draft = draftIn(item.description);
	const found = (choice: Choice | null, why: string, isUnclear = false): Asked => {
		return { name, marks, draft: draft?.draft ?? null, choice, why, isUnclear };
	};
	if (item.title.length > MAX_TEXT_LENGTH || item.description.length > MAX_TEXT_LENGTH)
		return found(null, 'no options: the text is too long to search');
	const description = draft?.others ?? item.description;
	const isOnlyAbove = draft === null && description.trim() === '' && isGeneric(matchingText(name));
	const text = isOnlyAbove ? (item.above ?? '') : [name, description].join('\n');
	const above = isOnlyAbove ? '' : (item.above ?? '');
	const lines = linesOf(text);

	const listed = jsonList(description, linesOf(name).length) ?? keyedList(lines);
	if (listed !== null && 'unclear' in listed) return found(null, `no options: ${listed.unclear}`, true);
	const atEnd = decisionsAtEnd(text);
	const ending = atEnd ?? decisionsAtEnd(name);
	if (listed !== null) {
		const others = lines.toSpliced(listed.from, listed.to - listed.from);
		const isSecond = (one: Listed) => !isTold(sentenceBefore(others, one.from));
		const isOther = listsIn(others).some(isSecond) || repliesIn(others.map((line) => line.text).join('\n')).length > 0;
		if (isOther || ending !== null) return found(null, 'no options: the item has two lists of options', true);
		const lead = sentenceBefore(lines, listed.from);
		const isSeveral = listed.isSeveral || allowsSeveral(lead, `${above}\n${textOf(others)}`);
		const behind = textOf(lines.slice(listed.to));
		const isWhole = !isSeveral && asksOnce(textOf(others), behind) && !asksElse(textOf(others), listed.options);
		return found({ options: listed.options, isSeveral, isWhole }, 'options: a list of the contract');
	}
	if (ending !== null) {
		const options = YES_NO_ALIKE.test(ending.options.join('\n')) ? YES_NO : ending.options;
		const behind = atEnd === null ? description : '';
		return found(
			{ options, isSeveral: false, isWhole: asksOnce(`${ending.others}\n${behind}`, behind) },
			'options: decisions at the end',
		);
	}
	if (draft !== null) return found(null, 'no options: the item has a draft');
	if ([...marks].some((mark) => mark !== 'optional')) return found(null, 'no options: a mark says which field it gets');
	return { ...found(null, ''), ...guessed(text, above) };
}

type Guess = Pick<Asked, 'choice' | 'why'>;

/** What the texts of an item without contract offer. */
function guessed(text: string, above: string): Guess {
	const lines = linesOf(text);
	const list = listAtEnd(lines);
	if (list === 'unclear') return { choice: null, why: 'no options: the list at the end has lines of two kinds' };
	if (list !== null) return fromList(lines, list, above);
	const [replies] = repliesIn(text);
	if (replies !== undefined) {
		const isYesNo = YES_NO_ALIKE.test(replies.join('\n'));
		const options = isYesNo ? YES_NO : replies;
		return {
			choice: { options, isSeveral: false, isWhole: questionsIn(text).length === 1 },
			why: 'options: words to reply with',
		};
	}
	return isAnsweredByYesOrNo(lines, above)
		? { choice: yesOrNo, why: 'yes or no: a plain question' }
		: { choice: null, why: 'no options: no list of the contract, and no guess that is certain' };
}

const yesOrNo: Choice = { options: YES_NO, isSeveral: false, isWhole: true };

const isDecision = (option: string) => isWhole('decisions', option) || begins('yes-no', option);

function fromList(lines: readonly Line[], list: Listed, above: string): Guess {
	const lead = sentenceBefore(lines, list.from);
	const before = textOf(lines.slice(0, list.from));
	const { options } = list;
	const hasColon = options.some((option) => /[:：]\s/.test(option));
	const isChosen = (says('which', lead) || says('several', lead)) && !hasColon && !POINTS.test(lead);
	const isFree = begins('wh', lead) || says('which', lead);
	const isAnswer = (option: string) =>
		isDecision(option) || (isFree && (begins('decisions', option) || ends('decisions', option)));
	const areDecisions = isQuestion(lead) && options.length <= MOST_DECISIONS && !hasColon && options.some(isAnswer);
	if ((isChosen || areDecisions) && !says('rank', lead)) {
		const isSeveral = list.isSeveral || allowsSeveral(lead, `${above}\n${before}`);
		const isWhole = !isSeveral && asksOnce(before, '') && !asksElse(before, options);
		const why = areDecisions ? 'options: a list with a decision' : 'options: a list below words that ask to choose';
		return { choice: { options, isSeveral, isWhole }, why };
	}
	const areFacts = options.every((option) => /^[^:：]{1,60}[:：]\s*\S/.test(option));
	const others = lines.slice(0, list.from);
	return areFacts && isAnsweredByYesOrNo(others, above)
		? { choice: yesOrNo, why: 'yes or no: a plain question above facts' }
		: { choice: null, why: 'no options: the list is told, not asked' };
}

/** "Which folder should I put these in?", but not "Which of these?" */
const POINTS = /(?<!\bof )\b(?:these|those|them)\b/i;

const textOf = (lines: readonly Line[]) => lines.map(({ text, isPlain }) => (isPlain ? text : '')).join('\n');

/** The sentences and lines of a text, with their marks. */
const sentencesOf = (text: string) =>
	text.split(/\n|(?<=[.?!؟])\s+|(?<=[。？！।])/).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));

const isQuestion = (sentence: string) => /[?？؟]["'”»)*_\s]*$/.test(sentence);

const questionsIn = (text: string) => [...new Set(sentencesOf(text).filter(isQuestion))];

/** The last sentence before a line. */
const sentenceBefore = (lines: readonly Line[], at: number) => sentencesOf(textOf(lines.slice(0, at))).at(-1) ?? '';

const isTold = (lead: string) => !isQuestion(lead) && !says('which', lead) && !says('lists', lead);

/** The lists of two or more entries. */
function listsIn(lines: readonly Line[]): readonly Listed[] {
	const starts = lines.flatMap(({ entry }, at) => (entry !== null && lines[at - 1]?.entry == null ? [at] : []));
	return starts.flatMap((at) => {
		const found = listAt(lines, at);
		return 'unclear' in found ? [] : [found];
	});
}

/** The list at the end of a text, which may have empty lines between its entries. */
function listAtEnd(lines: readonly Line[]): Listed | 'unclear' | null {
	const last = lines.findLastIndex(({ text }) => text.trim() !== '');
	if (last === -1 || lines[last]?.entry == null) return null;
	const before = lines.findLastIndex(({ entry, text }, at) => at < last && entry === null && text.trim() !== '');
	const from = lines.findIndex(({ entry }, at) => at > before && entry !== null);
	const found = listAt(lines, from, true);
	return 'unclear' in found ? 'unclear' : found;
}

/** Words of what asks with which several may be chosen. The last sentence leads to the list. */
function allowsSeveral(lead: string, around: string): boolean {
	const asking = sentencesOf(around).filter((one) => isQuestion(one) || says('which', one));
	return [lead, ...asking].some((sentence) => says('several', sentence) || PLURAL.test(matchingText(sentence)));
}

/** "Which files", "which of these emails", "label(s)". "Which bus" and "which address" are none. */
const PLURAL =
	/\b(?:which|what) (?:of (?:these|those|the|my|your|our) (?:\p{L}+ )?\p{L}{2,}[^\Wsui]s\b|(?:\p{L}+ )?\p{L}{2,}[^\Wsui]s (?:do|are|should|shall|can|may|would|could|will|must|to|work|i|you|we)\b|\p{L}{2,}[^\Wsui]s\?)|\p{L}\(\p{L}{1,2}\)/u;

/** Whether a text asks for one thing. `behind`: what stands behind its options asks for no more. */
function asksOnce(text: string, behind: string): boolean {
	const label = sentencesOf(behind).some((sentence) => /[:：]\s*$/.test(sentence));
	return (
		questionsIn(text).length < 2 && !label && !sentencesOf(behind).some((one) => !isQuestion(one) && says('open', one))
	);
}

/** "How many seats?" above names, "Rank these", "Colour and size", "feature/NAME": what no option answers in full. */
function asksElse(text: string, options: readonly string[]): boolean {
	const asksForAmount = questionsIn(text).some((question) => /\bhow (?:many|much)\b/i.test(question));
	const [title = ''] = text.split('\n');
	const words = title.trim().split(/\s+/);
	const namesTwo = words.length === 3 && isWhole('and', words[1] ?? '') && !options.every(isDecision);
	return (
		says('rank', text) ||
		namesTwo ||
		(asksForAmount && !options.some((option) => /\p{N}/u.test(option))) ||
		options.some(
			(option) => PLACEHOLDER.test(option) || asksMore(/[([（]([^()[\]（）]*)[)\]）]/.exec(option)?.[1] ?? ''),
		)
	);
}

/** "Blocked (please say by what)", "high (pick two)" */
const asksMore = (note: string) => note !== '' && (['open', 'wh', 'which'] as const).some((list) => says(list, note));

/** What stands for a text that is to be written. */
const PLACEHOLDER = /<[^<>]+>|\{[^{}]*\}|\b(?:YYYY|MM|DD|HH|XX+)\b|\/[A-Z]{3,}$|_{3}/;

/** "Reply with A or B", "Type A or B": words without an article. */
function repliesIn(text: string): readonly (readonly string[])[] {
	return sentencesOf(text).flatMap((sentence) => {
		const match = wordsBefore('reply').exec(matchingText(sentence));
		if (match === null || sentence.length > 200) return [];
		// The words as they were written: `matchingText` keeps the number of words.
		const parts = sentence.replace(/[\s.!?。？！]+$/, '').split(/\s+/);
		const before = matchingText(sentence)
			.slice(0, match.index + match[0].length)
			.trim()
			.split(' ').length;
		return repliesOf(parts.slice(before));
	});
}

function repliesOf(words: readonly string[]): readonly (readonly string[])[] {
	const joint = words.findLastIndex((word) => isWhole('or', word));
	if (joint < 1 || joint === words.length - 1) return [];
	const first = words.slice(0, joint).join(' ').replace(/,$/, '').split(/,\s+/);
	const options = [...first, words.slice(joint + 1).join(' ')].map((option) =>
		option.replace(/^["'“„«「`*]+|["'”“»」`*]+$/g, ''),
	);
	const isOption = (option: string) =>
		option !== '' &&
		option.length <= MOST_LENGTH &&
		option.split(' ').length <= MOST_WORDS &&
		!begins('articles', option) &&
		!/[:<>{}[\]()]/.test(option);
	return options.every(isOption) && new Set(options).size === options.length ? [options] : [];
}

/** Whether all that these texts ask is one question that yes or no answers in full. */
function isAnsweredByYesOrNo(lines: readonly Line[], above: string): boolean {
	const text = textOf(lines);
	const questions = questionsIn(text);
	const [question] = questions;
	if (question === undefined || questions.length > 1 || listsIn(lines).some(({ from }) => isAsked(lines, from)))
		return false;
	const at = text.lastIndexOf(question);
	const behind = text.slice(at + question.length);
	const clause = question.split(/[,;:–—]\s+/).at(-1) ?? '';
	const isElsewhere = (one: string) =>
		begins('reply', one) || begins('which', one) || (isQuestion(one) && says('which', one));
	if (sentencesOf(above).some(isElsewhere)) return false;
	const offers = OFFERS.test(question) && !isWhole('decisions', clause);
	if (offers || begins('wh', question) || says('wh', clause === question ? '' : clause) || says('which', question))
		return false;
	if (
		OTHERS.test(`${question}${behind}`) ||
		/"(?:options|choices|enum)"\s*:/.test(text) ||
		/[:：]\s*$/.test(behind.trimEnd())
	)
		return false;
	const languages = [question, clause].flatMap((part) => [...languagesThatAsk(part)]);
	// "Is it right, and is it yours?", "Pencere mi koridor mu?"
	const [first = ''] = /^\P{L}*\p{L}+/u.exec(question) ?? [];
	const others = question.slice(first.length).split(/\s+/);
	const asksTwice = others.some(
		(word, place) => isWhole('and', word) && begins('asks', others.slice(place + 1).join(' ')),
	);
	if (
		asksTwice ||
		(clause !== question && begins('and', clause)) ||
		others.slice(0, -1).some((word) => isWhole('asks-at-end', word))
	)
		return false;
	const isOpen = (language: string) =>
		says('or', behind, language) ||
		says('or', others.join(' '), language) ||
		says('open', question, language) ||
		says('open', behind, language);
	return languages.length > 0 && !languages.some(isOpen);
}

const isAsked = (lines: readonly Line[], from: number) => !isTold(sentenceBefore(lines, from));

/** "(send/skip)", "1 = yes", "Anna/Ben", "<name>": other answers than yes and no. */
const OTHERS = /[([（][^()[\]（）]*[,/|、・／=][^()[\]（）]*[)\]）]|\p{L}\/\p{L}|\d, ?\d+, | [/|] |<[^<>]+>|_{3}/u;
/** "By card, cash?", "9:00 vs 10:00?" */
const OFFERS = /[,|]\s?[^\s,|?]+(?: [^\s,|?]+)?[?？]$| vs\.? | -- /;
