import { asksForSeveral, asksToChoose, asksToType, asksYesOrNo, offersOther, questionsIn } from './introductions.ts';
import { entryOf, inlineList, lineOptions, masked, quotedRun } from './list-text.ts';
import { type Build, readable, sentencesOf, Words } from './phrases.ts';
import type { ItemTexts } from './session.ts';
import { wordList } from './word-list.ts';

/** Code units. A longer text is not searched: its list may belong to a report. */
const MAX_TEXT_LENGTH = 8_000;
/** A line with more code units gives no options: it is a paragraph. */
const isLong = (line: string) => line.length > 500;
/** Slack's limit for a select. */
const MAX_OPTIONS = 100;
/** Code units and words of an option of a sentence, and of a line without a mark. */
const MAX_NAME_LENGTH = 40;
const MAX_NAME_WORDS = 5;

export const YES_NO = ['Yes', 'No'] as const;

export interface Choice {
	/** Two to 100 different texts, as the item gives them and in its order. Without "other", as any form takes a text. */
	readonly options: readonly string[];
	/** Whether the item says that they are the answers: in lines below a question, or after words with a colon ("One of: A, B"). */
	readonly isExplicit: boolean;
	/** Whether more than one of them may be the answer. */
	readonly isSeveral: boolean;
}

interface Asked {
	readonly items: readonly ItemTexts[];
	/** The text above the items. */
	readonly context: string;
}

/**
 * An item as its options are looked for: a lone one without a description has the text above it for one, if its title says
 * nothing ("Answer"), or if it asks which of the things that the end of this text lists.
 */
export function askedItem({ items, context }: Asked, position: number): ItemTexts {
	const item = items[position] ?? { title: '', description: '' };
	if (items.length !== 1 || item.description.trim() !== '' || context === '') return item;
	const words = new Words(item.title);
	const title = readable(item.title).replace(/(?<![\s:.?])[\s:.?]+$/, '');
	if (title === '' || words.is(title, 'answer')) return { title: item.title, description: context };
	const lines = context.split('\n').filter((line) => line.trim() !== '');
	const from = lines.findLastIndex((line) => entryOf(line) === null);
	const above = readable(sentencesOf(lines[from] ?? '').at(-1) ?? '');
	// What the title asks about is what the list is of: "Which flight?" below "I found two flights:".
	const isAbout = words.says(title, 'which') && sharesWord(title, above) && !words.says(above, 'facts', 'parts');
	const isChosen = new Words(context).says(above, 'choose') && !words.says(title, 'open');
	return isAbout || isChosen ? { title: item.title, description: lines.slice(Math.max(from, 0)).join('\n') } : item;
}

/** Whether two texts have a word, or the beginning of one, in common that says something. */
function sharesWord(one: string, other: string): boolean {
	const beginnings = (text: string) => (text.match(/\p{L}{4,}/gu) ?? []).map((word) => word.slice(0, 5));
	const taken = new Set(beginnings(other));
	return beginnings(one).some((word) => taken.has(word) && word !== 'which');
}

/** A list of an item. `options` null: the grammar cannot take it apart, or it is not one to choose from. */
interface Found {
	readonly options: readonly string[] | null;
	readonly isExplicit: boolean;
}

/**
 * The options of an item: those that it lists, in a form of `docs/using.md`, else yes and no. Null when they are not certain,
 * when their order or a word to type is asked for, and for examples.
 */
export function choiceOf({ title, description }: ItemTexts): Choice | null {
	if (title.length > MAX_TEXT_LENGTH || description.length > MAX_TEXT_LENGTH) return null;
	const text = `${title.trim()}\n${description}`.replaceAll('\r', '');
	const [words, said] = [new Words(text), readable(text)];
	if (words.says(said, 'example', 'rank') || /(?:^|[\s,;/])(?:\.\.\.|…)/.test(text)) return null;
	const lines = text.split('\n').filter((line) => line.trim() !== '');
	const pair = yesNoPair(lines, words);
	const found = pair ?? fromLines(lines, words) ?? fromSentences(lines, words);
	const isTyped = pair === null && asksToType(text, words);
	if (found?.options == null) {
		const isPlain = !isTyped && found?.isExplicit !== true && asksYesOrNo(said, words);
		return isPlain ? { options: YES_NO, isExplicit: true, isSeveral: false } : null;
	}
	const options = [...new Set(found.options)].filter((option) => !words.is(option, 'other')).slice(0, MAX_OPTIONS);
	// "Choose a name: 6 to 20 characters, no spaces"
	if (options.length < 2 || options.some((option) => words.says(readable(option), 'rule'))) return null;
	const asked = lines.filter((line) => entryOf(line) === null).map(readable);
	const isSeveral = asksForSeveral(asked.join('\n'), words);
	return { options: isYesNo(options) ? YES_NO : options, isExplicit: found.isExplicit && !isTyped, isSeveral };
}

const YES_NO_PAIR: Build = (entries) => {
	const join = ` ?[/|,、] ?| (?:${entries('or', 'or here')}) `;
	return `(?<![\\p{L}\\p{N}\\p{M}])(${entries('yes')})["'”’]?(?:${join})["'“‘]?(${entries('no')})[^\\p{L}\\p{N}\\p{M}]*$`;
};

/** "(yes/no)", "Reply yes or no.": at the end of a line, below a question that nothing else answers. */
function yesNoPair(lines: readonly string[], words: Words): Found | null {
	const pair = words.pattern(YES_NO_PAIR, 'iu');
	const [found, another] = lines
		.map((line) => (isLong(line) ? null : pair.exec(line)))
		.filter((match) => match !== null);
	if (found === undefined || another !== undefined) return null;
	const [whole, yes = '', no = ''] = found;
	const lead = readable(sentencesOf(found.input.slice(0, found.index)).at(-1) ?? '');
	const isAsked = !/\p{L}$/u.test(lead) || words.says(lead, 'type', 'choose');
	const others = readable(lines.map((line) => line.replace(whole, '')).join('\n'));
	if (!isAsked || words.says(others, 'what', 'which', 'open', 'reason') || offersOther(others, words)) return null;
	return { options: [yes, no], isExplicit: true };
}

/** In English they are ours, whatever their letter case; elsewhere the agent's. */
const isYesNo = (options: readonly string[]) => /^(?:y|yes)\n(?:n|no)$|^no?\ny(?:es)?$/i.test(options.join('\n'));

/** The only list with an entry a line, and whether what stands before it asks to choose from it. */
function fromLines(lines: readonly string[], words: Words): Found | null {
	const entries = lines.map(entryOf);
	const marked = entries.filter((entry) => entry !== null);
	const from = marked.length < 2 ? bareFrom(lines, words) : entries.findIndex((entry) => entry !== null);
	if (from === -1) return null;
	const isBare = marked.length < 2;
	const to = isBare ? lines.length : from + marked.length;
	// Two lists, a nested list or a list with text in between is more than a choice.
	const isOne =
		isBare ||
		marked.every(
			({ shape, ordinal }, at) =>
				entries[from + at] === marked[at] && shape === marked[0]?.shape && (ordinal ?? at) === at,
		);
	const bodies = lines.slice(from, to).map((line) => (isBare ? line : (entryOf(line)?.body ?? '')));
	const options = isOne && !lines.slice(from, to).some(isLong) ? lineOptions(bodies) : null;
	const [before, after] = [lines.slice(0, from), lines.slice(to)].map((some) => readable(some.join('\n')));
	const asks = asksToChoose(before ?? '', after ?? '', words);
	const isData = options !== null && options.filter((option) => words.is(option, 'data')).length * 2 >= options.length;
	const answersYesNo = options?.some((option) => words.says(readable(option), 'yes', 'no')) === true;
	const isChosen = asks === 'choose' || (!isData && asks !== 'no' && (asks !== 'yesNo' || answersYesNo));
	if (!isChosen || lists(lines, words).some(({ isExplicit }) => isExplicit))
		return { options: null, isExplicit: asks !== 'yesNo' && asks !== 'no' };
	return { options, isExplicit: asks !== 'name' };
}

/** Where short lines without marks begin that go to the end: "Size?", "S", "M", "L". -1: nowhere. */
function bareFrom(lines: readonly string[], words: Words): number {
	const from = lines.findLastIndex((line) => /[?？:：]\s*$/.test(line)) + 1;
	const most = words.says(readable(lines[from - 1] ?? ''), 'choose') ? MAX_NAME_WORDS : 1;
	const isBare = (line: string) =>
		line.length <= MAX_NAME_LENGTH && line.trim().split(/\s+/).length <= most && !/[.,;!]\s*$|:\s/.test(line);
	return from > 0 && lines.length - from > 1 && lines.slice(from).every(isBare) ? from : -1;
}

/** The only list within a line. Where two differ, none is certain. */
function fromSentences(lines: readonly string[], words: Words): Found | null {
	const found = lists(lines, words).filter(({ options, isExplicit }) => isExplicit || options !== null);
	const explicit = found.filter(({ isExplicit }) => isExplicit);
	const isOne = explicit.length < 2 && new Set(found.map(({ options }) => options?.join('\n'))).size === 1;
	return isOne || found.length === 0 ? (explicit[0] ?? found[0] ?? null) : { options: null, isExplicit: true };
}

/** What may be a list within a line, by the words and marks around it. */
function lists(all: readonly string[], words: Words): readonly Found[] {
	const lines = all.filter((line) => !isLong(line));
	const listed = (text: string, form?: Parameters<typeof inlineList>[2]): Found => {
		const options = inlineList(text, words, form);
		return { options: options?.every((option) => isName(option, words)) === true ? options : null, isExplicit: false };
	};
	const inLine = (line: string): readonly Found[] => {
		const explicit = cued(line, words);
		if (explicit.length > 0) return explicit;
		const asks = words.says(readable(line), 'choose', 'type', 'ask');
		return [
			...afterPhrase(line, words).map((text) => listed(text, { joinsAnd: true })),
			...inParentheses(line, words).map((text) => listed(text, { isTight: true })),
			...(asks ? quotedRun(line) : []).map((text) => listed(text)),
		];
	};
	const whole = [...alone(lines, words), ...inQuestion(lines, words)].map((text) => listed(text));
	return [...lines.flatMap(inLine), ...whole];
}

/** Whether an option of a sentence names a thing: the sentence may offer nothing. */
function isName(option: string, words: Words): boolean {
	const isShort = option.length <= MAX_NAME_LENGTH && option.split(' ').length <= MAX_NAME_WORDS;
	return isShort && !words.is(option, 'data', 'yes', 'no') && !words.says(readable(option), 'speech');
}

/** At the end of a line. */
const BRACKETS = /[([（]([^()[\]（）]{3,600})[)\]）][\s?？:：.!*]*$/u;

/** "Options: A / B", "Which one? One of: A, B", "Type (choose one: A, B)": after words that ask to choose. */
function cued(line: string, words: Words): readonly Found[] {
	const group = BRACKETS.exec(line)?.[1] ?? '';
	return [line, group].flatMap((part) =>
		Array.from((masked(part) ?? part).matchAll(/[:：](?=\s*\S)/g), ({ index }) => {
			const introduction = readable(sentencesOf(part.slice(0, index).split(/[:：]/).at(-1) ?? '').at(-1) ?? '');
			const asks = words.says(introduction, 'choose') && !words.says(introduction, 'facts');
			const options = inlineList(part.slice(index + 1), words);
			// "Options: it should be short, clear"
			const isProse = options?.some((option) => words.says(readable(option), 'prose')) === true;
			return asks ? [{ options: isProse ? null : options, isExplicit: true }] : [];
		}).flat(),
	);
}

const PHRASE: Build = (entries) => `(?:^|\\s)(?:${entries('between')}) (?!.*[:：])(.+)$`;

/** "Choose between A and B.", "Pick one of A, B or C". */
function afterPhrase(line: string, words: Words): readonly string[] {
	return words.pattern(PHRASE, 'iu').exec(line)?.slice(1) ?? [];
}

/** Parentheses at the end of a line: "(S/M/L)". Commas offer a choice only where the line asks for one. */
function inParentheses(line: string, words: Words): readonly string[] {
	const body = BRACKETS.exec(line)?.[1] ?? '';
	const offers = /[/|]/.test(body) || words.says(readable(line), 'choose', 'which');
	return offers && !NOT_A_CHOICE.test(body.trim()) ? [body] : [];
}

/** Abbreviations, date formats, paths, addresses and units with a slash. */
const NOT_A_CHOICE = new RegExp(`^(?:${wordList('slashes').join('|')})$`, 'i');

/** A description that is nothing but a list with slashes, bars or "or", below a question or a title that asks to choose. */
function alone([title = '', description = '', more]: readonly string[], words: Words): readonly string[] {
	const asked = readable(title);
	const asks = words.says(asked, 'choose', 'answer');
	const isAsked =
		asks || (questionsIn(asked).length > 0 && !words.says(asked, 'open') && !/^[^[]*[,;、，]/.test(description));
	return more === undefined && isAsked && !NOT_A_CHOICE.test(description.trim()) ? [description] : [];
}

const OPENER: Build = (entries) => `^[¿"“\\s]*(?:${entries('opener')}) `;

/** "Red, green or blue?": the only question, without the words before its first option. */
function inQuestion(lines: readonly string[], words: Words): readonly string[] {
	const [question = '', another] = questionsIn(lines.join('\n'));
	const said = readable(question);
	// Without spaces, nothing shows where the first option begins.
	if (another !== undefined || !offersOther(said, words) || /\p{Script=Han}/u.test(said)) return [];
	const opener = words.pattern(OPENER, 'iu');
	const bare = question.trim().replace(/^¿/, '');
	if (opener.test(bare)) return [bare.replace(opener, '')];
	const colon = /[:：,–—]|\s-\s/.exec(bare);
	if (words.says(said, 'which', 'what', 'open'))
		return colon === null ? [] : [bare.slice(colon.index + colon[0].length)];
	return words.says(said, 'ask') ? [] : [bare.slice(bare.indexOf(':') + 1)];
}
