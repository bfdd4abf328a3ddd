import {
	aligned,
	entryOf,
	hasBox,
	inlineList,
	lineOptions,
	masked,
	type Options,
	quotedParts,
	quotedRun,
} from './list-text.ts';
import {
	asksForSeveral,
	asksToChoose,
	asksToType,
	asksYesOrNo,
	type Build,
	isAbout,
	isGone,
	isLongLine,
	isNamed,
	mayOfferOther,
	namesTwo,
	offersOther,
	questionsIn,
	readable,
	saysNothing,
	sentencesOf,
	Words,
	yesNoPair,
} from './phrases.ts';
import type { ItemTexts } from './session.ts';
import { wordList } from './word-list.ts';

/** Code units. A longer text is not searched: its list may belong to a report. */
const MAX_TEXT_LENGTH = 8_000;
/** Slack's limit for a select. */
const MAX_OPTIONS = 100;
/** Code units and words of an option of a sentence, and of a line without a mark. */
const MAX_NAME_LENGTH = 40;
const MAX_NAME_WORDS = 5;

export const YES_NO = ['Yes', 'No'] as const;

export interface Choice {
	/** Two to 100 different texts as the agent gives them, in its order. Without "other": any form takes a text. */
	readonly options: readonly string[];
	/** The agent says that they are the answers: in lines below a question, or after a colon ("One of: A, B"). */
	readonly isExplicit: boolean;
	/** More than one of them may be the answer. */
	readonly isSeveral: boolean;
	/** The texts that they are a part of. */
	readonly text: string;
}

/** An item with the text above it, if that may have its options. */
export interface AskedItem extends ItemTexts {
	readonly above?: string;
}

/** A lone item may have its options in the text above it. */
export function askedItem(
	{ items, context }: { readonly items: readonly ItemTexts[]; readonly context: string },
	position: number,
): AskedItem {
	const item = items[position] ?? { title: '', description: '' };
	const isAlone = items.length === 1 && context.trim() !== '' && context.length <= MAX_TEXT_LENGTH;
	return isAlone ? { ...item, above: context } : item;
}

/** A list. `options` null: the grammar cannot take it apart, or it is not one to choose from. */
interface Found {
	readonly options: Options;
	readonly isExplicit: boolean;
	/** The number of its first line. */
	readonly line: number;
}

/** "(send/skip)", "Anna/Ben", "1, 2, 3": other answers than yes and no. */
const OTHERS = /[([（][^()[\]（）]*[,/|、・／][^()[\]（）]*[)\]）]|\p{L}\/\p{L}|\d, ?\d+, | [/|] /u;
/** What is in brackets behind an option. */
const NOTE = /(?<!\s)\s*[([（][^()[\]（）]*[)\]）]$/;
/** What stands for a text that is to be written. */
const PLACEHOLDER = /<[^<>]+>|\{[^{}]*\}|\[\w+\]|\b(?:YYYY|MM|DD|HH|XX+)\b|\/(?:[A-Z]{3,}|\*)$|(?:…|\.\.\.)$/;
/** In English they are ours, whatever their letter case; elsewhere the agent's. */
const YES_NO_ALIKE = /^(?:y|yes)\n(?:n|no)$|^no?\ny(?:es)?$/i;
const linesOf = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '');

/**
 * The options of an item: those of a list in it or in the text above it, in a form of `docs/using.md`, else yes and no.
 * Null when they are uncertain, when it asks for their order or a word to type, and for examples.
 */
export function choiceOf({ title, description, above = '' }: AskedItem): Choice | null {
	if (title.length > MAX_TEXT_LENGTH || description.length > MAX_TEXT_LENGTH) return null;
	const words = new Words([above, title, description].join('\n'));
	const [told, named] = [linesOf(above), saysNothing(title, words) ? [] : linesOf(title)];
	const lines = [...told, ...named, ...linesOf(description)];
	const text = lines.join('\n');
	const said = readable(text);
	if (words.says(said, 'rank')) return null;
	const pair = yesNoPair(lines, words);
	const isTyped = pair === null && asksToType(text, words);
	// Below another title than "Answer", the text above may ask for something else.
	const isOfTitle = isAbout(title, told.join('\n'), words);
	const found =
		pair === null
			? (namedOptions(text, words) ??
				fromLines(lines, told.length + named.length, words) ??
				fromSentences(lines, words))
			: { options: pair, isExplicit: true, line: lines.findLastIndex((line) => line.includes(pair[1])) };
	const own = lines.slice(told.length).join('\n');
	if (found?.options == null) {
		const asked = questionsIn(own).length > 0 || !isOfTitle ? own : text;
		const offers = found?.isExplicit === true || words.says(said, 'choose', 'typed') || OTHERS.test(own);
		const isPlain = !isTyped && !offers && isAnsweredByYesOrNo(asked, words);
		return isPlain ? { options: YES_NO, isExplicit: true, isSeveral: false, text: asked } : null;
	}
	const around = found.line < told.length ? text : own;
	if (words.says(readable(around), 'example') || /(?:^|[\s,;/])(?:\.\.\.|…)(?!\d)/.test(around)) return null;
	const isOther = (option: string) => words.is(option.replace(NOTE, ''), 'other');
	const options = [...new Set(found.options)].filter((option) => !isOther(option)).slice(0, MAX_OPTIONS);
	// "Choose a name: 6 to 20 characters, no spaces", "`approve` or `reject: <reason>`"
	const isRule = (option: string) => words.says(readable(option), 'rule') || PLACEHOLDER.test(option);
	if (options.length < 2 || options.some(isRule)) return null;
	// "Other store (enter its number)"
	const asksMore = options.some((option) =>
		words.says(readable(BRACKETS.exec(option)?.[1] ?? ''), 'type', 'open', 'reason', 'more', 'choose'),
	);
	return {
		options: YES_NO_ALIKE.test(options.join('\n')) ? YES_NO : options,
		isExplicit:
			found.isExplicit &&
			!namesTwo(title, words) &&
			(isOfTitle || pair !== null || found.line >= told.length) &&
			!isTyped &&
			!asksMore &&
			!questionsIn(said).some((question) => words.says(question, 'open')),
		isSeveral: mayBeSeveral(options, lines, words),
		text: around,
	};
}

/** Not "Is Monday fine?" with "Or a new date." or "Time:" behind it. */
function isAnsweredByYesOrNo(asked: string, words: Words): boolean {
	const behind = readable(/[^?？؟]*$/.exec(asked)?.[0] ?? '');
	const isToWrite = /[:=][\s_]*$/m.test(behind) || PLACEHOLDER.test(behind) || words.says(behind, 'type', 'more');
	return !isToWrite && !mayOfferOther(` ${behind}`, words) && asksYesOrNo(readable(asked), words);
}

/** Whether what asks for a list asks for several of it. "Up to 5 users" in an option, or in what is told, does not. */
function mayBeSeveral(options: readonly string[], lines: readonly string[], words: Words): boolean {
	const around = lines.filter((line) => entryOf(line) === null).join('\n');
	const long = options.filter((option) => option.includes(' '));
	// `"multiSelect": true`, and not `"multiple": false`.
	const told = around.replace(/"\w+"\s*:\s*false/g, '').replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
	const bare = readable(long.reduce((left, option) => left.replaceAll(option, ''), told));
	const asking = sentencesOf(bare).filter(
		(sentence) => !/[.。]$/.test(sentence) || words.says(sentence, 'choose', 'which'),
	);
	// "Which desks? One of: A, B" asks for one.
	const isOne = asking.some((sentence) => sentence.includes(':') && words.says(sentence, 'one'));
	const asks = (sentence: string) => words.says(sentence, 'several') || (!isOne && asksForSeveral(sentence, words));
	return lines.some(hasBox) || asking.some(asks);
}

/** `{"options": ["A", "B"]}`: the agent's own structure, if it has one choice. */
function namedOptions(text: string, words: Words): Found | null {
	const object = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1).replace(/"\w+"\s*:\s*false/g, '');
	const lists = [...object.matchAll(/"(?:options|choices|enum)"\s*:\s*(\[[^[\]]*\])/g)].map(([, list = '']) => list);
	const [list, another] = lists;
	if (list === undefined) return null;
	// Only plain texts: an escape is not what the agent wrote.
	const isPlain = /^\[\s*"[^"\\]*"(?:\s*,\s*"[^"\\]*")+\s*\]$/.test(list);
	const isOne =
		another === undefined &&
		!/"(?:(?:max|min)\w*|[\w-]*(?:multi|many)[\w-]*|fields|properties|items|disabled|array|checkbox|ranking)"/i.test(
			object,
		);
	const isAsked = /^\{[^{}]*"(?:question|prompt)"[^{}]*\}$/.test(object);
	return { options: isPlain && isOne ? inlineList(list, words) : null, isExplicit: isAsked, line: 0 };
}

/**
 * The only list with an entry a line that is none of facts, and whether the text around it asks to choose from it.
 * `last`: where short lines without a mark may begin that go to the end.
 */
function fromLines(lines: readonly string[], last: number, words: Words): Found | null {
	const marked = runsOf(lines);
	const listed = marked.length === 0 ? bareRun(lines, last, words) : marked;
	const blocks = listed.map(({ from, to }) => {
		const bodies = lines.slice(from, to).map((line) => readable(entryOf(line)?.body ?? line));
		const [before = '', after = ''] = [lines.slice(0, from), lines.slice(to)].map((some) => readable(some.join('\n')));
		return { from, to, asks: asksToChoose({ before, after, bodies }, words) };
	});
	const [block, another] = blocks.filter(({ asks }) => asks !== 'no');
	if (blocks.length === 0) return null;
	if (block === undefined) return { options: null, isExplicit: false, line: 0 };
	const { from, to, asks } = block;
	const [entries, rest] = [lines.slice(from, to), [...lines.slice(0, from), ...lines.slice(to)]];
	const isOnly = another === undefined && !rest.some((line) => cued(line, words).length > 0);
	const options = isOnly && !entries.some(isLongLine) ? lineOptions(entries, words) : null;
	const isYesNo = options?.map((option) => words.says(readable(option), 'yes', 'no')) ?? [];
	if (asks === 'yesNo' && !isYesNo.includes(true)) return { options: null, isExplicit: true, line: from };
	return { options, isExplicit: asks === 'choose' || (asks === 'yesNo' && !isYesNo.includes(false)), line: from };
}

interface Run {
	readonly from: number;
	/** The line behind it. */
	readonly to: number;
}

/** Where two or more lines with a mark follow each other. */
function runsOf(lines: readonly string[]): readonly Run[] {
	const isMarked = lines.map((line) => entryOf(line) !== null);
	const starts = isMarked.flatMap((is, at) => (is && isMarked[at - 1] !== true ? [at] : []));
	const runs = starts.map((from) => ({ from, to: [...isMarked, false].indexOf(false, from) }));
	return runs.filter(({ from, to }) => to - from > 1);
}

/** Short lines without marks that go to the end: "Size?", "S", "M", "L". */
function bareRun(lines: readonly string[], last: number, words: Words): readonly Run[] {
	const from = Math.max(1, last, lines.findLastIndex((line) => /[?？:：]\s*$/.test(line)) + 1);
	const most = words.says(readable(lines[from - 1] ?? ''), 'choose') ? MAX_NAME_WORDS : 1;
	const bare = lines.slice(from);
	const isBare = (line: string) => line.trim().split(/\s+/).length <= most && !/[.!]\s*$|[,;|]|:\s/.test(line);
	return bare.length > 1 && bare.every(isBare) && areNames(bare, words) ? [{ from, to: lines.length }] : [];
}

/** The only list within a line. Where two differ, none is certain. */
function fromSentences(allLines: readonly string[], words: Words): Found | null {
	const lines = allLines.map((line) => (isLongLine(line) ? '' : line));
	const [question = ''] = questionsIn(readable(lines.join('\n')));
	const all = lines.flatMap((line, at) => {
		const explicit = cued(line, words).map((options) => ({ options, isExplicit: true, line: at }));
		if (explicit.length > 0) return explicit;
		const named = [...inParentheses(line, words), ...inSentence(line, words), ...toldList(line, question, words)];
		const names = named.filter((options) => areNames(options, words));
		return [...names, ...alone(line, lines[at - 1] ?? '', words)].map((options) => ({
			options,
			isExplicit: false,
			line: at,
		}));
	});
	const found = [...all, ...inQuestion(lines, words)].filter(
		({ options, isExplicit }) => isExplicit || options !== null,
	);
	const explicit = found.filter(({ isExplicit }) => isExplicit);
	const one = explicit[0] ?? found.at(-1);
	if (one === undefined) return null;
	// "Formal or informal?", "Formal (vous) or informal (tu)?"
	const isSame = ({ options }: Found) =>
		options?.length === one.options?.length &&
		(options ?? []).every((option, at) => one.options?.[at]?.startsWith(option) === true);
	return explicit.length < 2 && found.every(isSame) ? one : { options: null, isExplicit: true, line: 0 };
}

/** Whether these options name things: the sentence may offer nothing, or say what to write. */
function areNames(options: Options, words: Words): options is readonly string[] {
	const isName = (option: string) => {
		const bare = option.replace(NOTE, '');
		const isShort = bare.length <= MAX_NAME_LENGTH && bare.split(' ').length <= MAX_NAME_WORDS;
		// The words of "us-east-1" are none of a sentence.
		const said = bare.split(' ').filter((word) => !/[-\d]/.test(word));
		// "One or two sentences"
		return (
			isShort && !words.is(option, 'yes', 'no', 'one') && !words.says(readable(said.join(' ')), 'speech', 'remark')
		);
	};
	if (options === null) return false;
	const data = options.filter((option) => words.is(option, 'data') || words.is(option.split(' ').at(-1) ?? '', 'data'));
	// "0, 1 or 2 (the first is free)": what is in the brackets may be about the list.
	const isNoted =
		options.length > 2 &&
		options.findIndex((option) => /\S\s*[([（][^()[\]（）]*[)\]）]$/.test(option)) === options.length - 1;
	return data.length * 2 < options.length && !isNoted && options.every(isName);
}

/** At the end of a line. */
const BRACKETS = /[([（]([^()[\]（）]{3,600})[)\]）][\s?？:：.!*]*$/u;

/** "Options: A / B", "Which one? One of: A, B", "Type (choose one: A, B)": after words that ask to choose. */
function cued(line: string, words: Words): readonly Options[] {
	const group = BRACKETS.exec(line)?.[1] ?? '';
	return [line, group].flatMap((part) =>
		Array.from((masked(part) ?? part).matchAll(/[:：](?=\s*\S)/g), ({ index }) => {
			const introduction = readable(sentencesOf(part.slice(0, index).split(/[:：]/).at(-1) ?? '').at(-1) ?? '');
			const asks =
				words.says(introduction, 'choose') && !words.says(introduction, 'facts') && !isGone(introduction, words);
			const options = inlineList(part.slice(index + 1), words);
			// "Options: it should be short, clear"
			const isProse = options?.some((option) => words.says(readable(option), 'prose', 'remark')) === true;
			return asks ? [isProse ? null : options] : [];
		}).flat(),
	);
}

/** Abbreviations, date formats, paths, addresses and units with a slash. */
const NOT_A_CHOICE = new RegExp(`^(?:${wordList('slashes').join('|')})$`, 'i');

/** Parentheses at the end of a line: "(S/M/L)". Commas offer a choice only where the line asks for one. */
function inParentheses(line: string, words: Words): readonly Options[] {
	const body = BRACKETS.exec(line)?.[1]?.trim() ?? '';
	const offers = /[/|]/.test(body) || words.says(readable(line), 'choose', 'which');
	// "Size (S/M) and colour (red/blue)"
	const isOnly = line.split(/[([（][^()[\]（）]*[)\]）]/).length === 2;
	return isOnly && offers && !NOT_A_CHOICE.test(body) ? [inlineList(body, words, { isTight: true })] : [];
}

const PHRASE: Build = (entries) => `(?:^|\\s)(?:${entries('between')}) (?!.*[:：])(.+)$`;

/** "Choose between A and B.", and quoted texts of a sentence that asks: 'Reply "keep" to wait, or "move"'. */
function inSentence(line: string, words: Words): readonly Options[] {
	const [, between] = words.pattern(PHRASE, 'iu').exec(line) ?? [];
	const phrase = between === undefined ? [] : [inlineList(between, words, { joinsAnd: true })];
	const asking = sentencesOf(line).filter((sentence) => {
		const said = readable(sentence);
		return offersOther(said, words) || words.says(said, 'choose', 'type', 'ask', 'which');
	});
	const quoted = asking.flatMap(quotedRun).map((run) => {
		const isToReply = words.says(readable(line), 'type') && offersOther(readable(run), words);
		return inlineList(run, words) ?? (isToReply ? quotedParts(run) : null);
	});
	return [...phrase, ...quoted];
}

/** "Free slots: 9:00, 10:30 and 14:00.", where the text asks which. */
function toldList(line: string, question: string, words: Words): readonly Options[] {
	if (!words.says(question, 'which') || words.says(question, 'open')) return [];
	return sentencesOf(line).flatMap((sentence) => {
		const [, introduction = '', list = ''] = /^([^:：]+)[:：]\s(.+)$/.exec(sentence) ?? [];
		const isTold = words.says(readable(introduction), 'facts', 'gone', 'parts', 'open');
		return list !== '' && !isTold && isAbout(question, sentence, words)
			? [inlineList(list, words, { joinsAnd: true })]
			: [];
	});
}

/** A line, or what is in it behind a question or a name, that is only a list: "Approve | Reject", "Title: Mr / Ms". */
function alone(line: string, lineBefore: string, words: Words): readonly Options[] {
	const [, start = lineBefore, list = line] = /^(.*[?？]|[^:：]{1,40}[:：])\s+([^?？]*)$/u.exec(line) ?? [];
	if (NOT_A_CHOICE.test(list.trim()) || /[.。!]$/.test(list)) return [];
	const lead = readable(start);
	const isStrong =
		/\s[/|]\s|^(?:\[[^[\]]+\]\s*){2,}$/.test(list) || (list !== line && /;\s|^[^\s()]+\/[^\s()]+$/.test(list));
	const isQuestion = list === line && /[?？]\s*$/.test(list);
	if (isStrong) return [isQuestion ? aligned(inlineList(list, words), true) : inlineList(list, words)];
	if (start === '') return [];
	const asks = words.says(lead, 'choose', 'which') || saysNothing(lead, words);
	const isOr = offersOther(readable(list), words);
	const isAsked = asks || (isOr && !words.says(lead, 'open') && !isNamed(lead, words));
	if (!isAsked || sentencesOf(list).length > 1 || (list !== line && !isOr)) return [];
	const options = inlineList(list, words, { isTight: asks });
	return [isOr ? aligned(options, false) : options].filter((some) => areNames(some, words));
}

const OPENER: Build = (entries) => `^[¿"“\\s]*(?:${entries('opener')}) `;

/** "Red, green or blue?": the only question, without the words before its first option. */
function inQuestion(lines: readonly string[], words: Words): readonly Found[] {
	const [question = '', another] = questionsIn(lines.join('\n'));
	const said = readable(question);
	const others = readable(lines.join('\n').replace(question, ''));
	const line = lines.findIndex((one) => one.includes(question));
	const found = (list: string, leads = false, isWhole = false): readonly Found[] => {
		const options = isWhole ? aligned(inlineList(list, words), leads) : inlineList(list, words);
		return areNames(options, words) ? [{ options, isExplicit: false, line }] : [];
	};
	// Without spaces, nothing shows where the first option begins.
	if (another !== undefined || /\p{Script=Han}/u.test(said) || words.says(others, 'open')) return [];
	const bare = question.trim().replace(/^¿/, '');
	const [, behind] = /(?:[:：]|,|[–—]|\s-\s)(.*)$/u.exec(bare) ?? [];
	if (!offersOther(said, words))
		return words.says(said, 'which') && bare.includes(': ') ? found(bare.slice(bare.indexOf(': ') + 1)) : [];
	const opener = words.pattern(OPENER, 'iu');
	if (opener.test(bare)) return found(bare.replace(opener, ''), false, true);
	if (words.says(said, 'which', 'what', 'open')) return behind === undefined ? [] : found(behind);
	return found(bare.replace(/^[^:：]*[:：]\s/, ''), words.says(said, 'ask'), true);
}
