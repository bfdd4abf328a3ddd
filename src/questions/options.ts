import {
	asksForSeveral,
	asksToChoose,
	asksToType,
	asksWhich,
	asksYesOrNo,
	isLongLine,
	offersOther,
	questionsIn,
	sharesWord,
	yesNoPair,
} from './introductions.ts';
import {
	aligned,
	entryOf,
	hasBox,
	inlineList,
	isOneList,
	lineOptions,
	masked,
	NOT_A_CHOICE,
	type Options,
	PLACEHOLDER,
	quotedParts,
	quotedRun,
	separated,
} from './list-text.ts';
import { type Build, readable, sentencesOf, Words } from './phrases.ts';
import type { ItemTexts } from './session.ts';

/** Code units. A longer text is not searched: its list may belong to a report. */
const MAX_TEXT_LENGTH = 8_000;
/** Slack's limit for a select. */
const MAX_OPTIONS = 100;
/** Code units and words of an option of a sentence, and of a line without a mark. */
const MAX_NAME_LENGTH = 40;
const MAX_NAME_WORDS = 5;

export const YES_NO = ['Yes', 'No'] as const;

export interface Choice {
	/** Two to 100 different texts, as the agent gives them and in its order. Without "other", as any form takes a text. */
	readonly options: readonly string[];
	/** Whether the agent says that they are the answers: in lines below a question, or after words with a colon ("One of: A, B"). */
	readonly isExplicit: boolean;
	/** Whether more than one of them may be the answer. */
	readonly isSeveral: boolean;
	/** The texts that they are a part of. */
	readonly text: string;
}

/** An item with the text above it, if that may have its options. */
export interface AskedItem extends ItemTexts {
	readonly above?: string;
}

/** An item as its options are looked for: a lone one may have them in the text above it. */
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
	/** Where it stands and what asks for it. */
	readonly lines: readonly string[];
}

/** "(send/skip)", "Anna/Ben", "1, 2, 3": other answers than yes and no. */
const OTHERS = /[([（][^()[\]（）]*[,/|、・／][^()[\]（）]*[)\]）]|\p{L}\/\p{L}|\d, ?\d+, /u;

const linesOf = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '');

/**
 * The options of an item: those that it lists, in a form of `docs/using.md`, else those of a list above it, else yes and no. Null
 * when they are not certain, when their order or a word to type is asked for, and for examples.
 */
export function choiceOf({ title, description, above = '' }: AskedItem): Choice | null {
	if (title.length > MAX_TEXT_LENGTH || description.length > MAX_TEXT_LENGTH) return null;
	const [item, context] = [linesOf(`${title.trim()}\n${description}`), linesOf(above)];
	const words = new Words([...item, ...context].join('\n'));
	// Below a title that says nothing ("Answer"), the text above is the item's.
	const isBare = description.trim() === '' && saysNothing(title, words);
	const [own, told] = isBare ? [[...item, ...context], []] : [item, context];
	const [said, saidAbove] = [readable(own.join('\n')), readable(told.join('\n'))];
	if (words.says(said, 'rank') || words.says(saidAbove, 'rank')) return null;
	const found = listIn(own, words) ?? listAbove(own, told, words);
	const text = (found?.lines ?? own).join('\n');
	const isPair = yesNoPair(found?.lines ?? [], words) !== null;
	const isTyped = !isPair && asksToType(text, words);
	if (found?.options == null) {
		// "Shall I place this order?" above "Place order".
		const asksAbove = questionsIn(saidAbove);
		const [named = ''] = questionsIn(said).length > 0 ? [] : asksAbove;
		const isNamed = sharesWord(nameOf(title), named) && !words.says(nameOf(title), 'data');
		const asked = isNamed ? saidAbove : said;
		const isElsewhere =
			words.says(saidAbove, 'choose', 'typed') || asksAbove.some((question) => asksWhich(question, words));
		const offers = isElsewhere || OTHERS.test(own.join('\n'));
		const isPlain = !isTyped && !offers && found?.isExplicit !== true && asksYesOrNo(asked, words);
		return isPlain ? { options: YES_NO, isExplicit: true, isSeveral: false, text } : null;
	}
	if (words.says(readable(text), 'example') || /(?:^|[\s,;/])(?:\.\.\.|…)/.test(text)) return null;
	const options = [...new Set(found.options)].filter((option) => !words.is(option, 'other')).slice(0, MAX_OPTIONS);
	// "Choose a name: 6 to 20 characters, no spaces", "`approve` or `reject: <reason>`"
	const isRule = (option: string) => words.says(readable(option), 'rule') || PLACEHOLDER.test(option);
	if (options.length < 2 || options.some(isRule)) return null;
	// "Other store (enter its number)"
	const isMore = options.some((option) =>
		words.says(readable(BRACKETS.exec(option)?.[1] ?? ''), 'type', 'open', 'reason', 'more'),
	);
	const isExplicit = found.isExplicit && !isTyped && !isMore;
	return {
		options: isYesNo(options) ? YES_NO : options,
		isExplicit,
		isSeveral: mayBeSeveral(found, item, context, words),
		text,
	};
}

/** Whether what asks for a list asks for several of its things. "Up to 5 users" in an option, or in what is told, does not. */
function mayBeSeveral(
	{ options, lines }: Found,
	item: readonly string[],
	told: readonly string[],
	words: Words,
): boolean {
	const long = (options ?? []).filter((option) => option.includes(' '));
	const around = (some: readonly string[]) => {
		const text = some.filter((line) => entryOf(line) === null).join('\n');
		return readable(long.reduce((left, option) => left.replaceAll(option, ''), text));
	};
	const asking = sentencesOf(around([...lines, ...told])).filter(
		(sentence) => !/[.。]$/.test(sentence) || words.says(sentence, 'choose', 'which'),
	);
	return lines.some(hasBox) || [around(item), ...asking].some((text) => asksForSeveral(text, words));
}

const nameOf = (title: string) => readable(title).replace(/(?<![\s:.?])[\s:.?]+$/, '');

const saysNothing = (title: string, words: Words) => title.trim() === '' || words.is(nameOf(title), 'answer');

/** The list of these lines, in any form. */
function listIn(lines: readonly string[], words: Words): Found | null {
	const pair = yesNoPair(lines, words);
	if (pair !== null) return { options: pair, isExplicit: true, lines };
	return namedOptions(lines, words) ?? fromLines(lines, words) ?? fromSentences(lines, words);
}

/**
 * The list that the text above an item tells, when the item itself asks without one. Below a title that only names what is
 * asked, the text above is what asks; what another title asks about has to be what the list is of.
 */
function listAbove(own: readonly string[], told: readonly string[], words: Words): Found | null {
	const said = readable(own.join('\n'));
	const last = told.at(-1);
	if (last === undefined || words.says(said, 'open')) return null;
	if (asksYesOrNo(said, words)) {
		// The agent's own words: "**Approve** / **Reject**" above "Send it?".
		const options = /\s[/|]\s/.test(last) ? inlineList(last, words) : null;
		return options === null ? null : { options, isExplicit: false, lines: [...own, last] };
	}
	const found = questionsIn(said).length > 0 ? fromTold(told, words, said) : namedBy(nameOf(own[0] ?? ''), told, words);
	return found === null ? null : { ...found, lines: [...own, ...found.lines] };
}

/** What the text above asks, for a title that names it: "Primary key", "Vendor". */
function namedBy(name: string, told: readonly string[], words: Words): Found | null {
	const found = words.is(name, 'data') ? null : listIn(told, words);
	const around = readable(told.filter((line) => entryOf(line) === null).join('\n'));
	const isAbout = sharesWord(name, around) || words.says(name, 'choose');
	return found === null ? null : { ...found, isExplicit: found.isExplicit && isAbout };
}

/** For an item that asks: a list above it that asks to choose, or that is of what the item asks about. */
function fromTold(told: readonly string[], words: Words, asked: string): Found | null {
	const block = namedOptions(told, words) ?? fromLines(told, words, asked);
	if (block !== null) return block;
	const explicit = told.flatMap((line) => (isLongLine(line) ? [] : cued(line, words)));
	const [one, another] = explicit;
	if (one === undefined) return told.length > 0 ? colonList(told, words, asked) : null;
	const isAbout =
		!asksWhich(asked, words) || words.says(asked, 'one') || sharesWord(asked, readable(one.lines.join('\n')));
	return another === undefined ? { ...one, isExplicit: isAbout } : null;
}

/** "Free slots: 9:00, 10:30 and 14:00.", where `asked` is which. */
function colonList(lines: readonly string[], words: Words, asked: string): Found | null {
	if (!asksWhich(asked, words)) return null;
	const named = lines.flatMap(sentencesOf).flatMap((sentence) => {
		const [, introduction = '', list = ''] = /^([^:：]+)[:：]\s(.+)$/.exec(sentence) ?? [];
		return list === '' || words.says(readable(introduction), 'facts', 'parts', 'open') ? [] : [{ introduction, list }];
	});
	const [one, another] = named;
	if (one === undefined || another !== undefined) return null;
	const isAbout = words.says(asked, 'one') || sharesWord(asked, readable(`${one.introduction} ${one.list}`));
	const options = isAbout ? inlineList(one.list, words, { joinsAnd: true }) : null;
	return areNames(options, words) ? { options, isExplicit: false, lines } : null;
}

/** `{"options": ["A", "B"]}`: the agent's own structure, if it has one choice. */
function namedOptions(lines: readonly string[], words: Words): Found | null {
	const text = lines.join('\n');
	const object = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
	const lists = [...object.matchAll(/"(?:options|choices|enum)"\s*:\s*(\[[^[\]]*\])/g)].map(([, list = '']) => list);
	const [list, another] = lists;
	if (list === undefined) return null;
	// Only plain texts: an escape is not what the agent wrote.
	const isPlain = /^\[\s*"[^"\\]*"(?:\s*,\s*"[^"\\]*")+\s*\]$/.test(list);
	const isOne = another === undefined && !/"(?:maxItems|fields|properties|items)"|"array"/.test(object);
	return { options: isPlain && isOne ? inlineList(list, words) : null, isExplicit: true, lines };
}

/** In English they are ours, whatever their letter case; elsewhere the agent's. */
const isYesNo = (options: readonly string[]) => /^(?:y|yes)\n(?:n|no)$|^no?\ny(?:es)?$/i.test(options.join('\n'));

/**
 * The only list with an entry a line that is none of facts, and whether what stands around it asks to choose from it. `asked`:
 * the item that asks, below these lines.
 */
function fromLines(lines: readonly string[], words: Words, asked = ''): Found | null {
	const blocks = blocksOf(lines, words).map(({ from, to }) => {
		const bodies = lines.slice(from, to).map((line) => entryOf(line)?.body ?? line);
		const [before = '', after = ''] = [lines.slice(0, from), lines.slice(to)].map((some) => readable(some.join('\n')));
		const asks = asksToChoose({ before, after, bodies: bodies.map(readable), asked }, words);
		return { from, to, bodies, asks };
	});
	const [block, another] = blocks.filter(({ asks }) => asks !== 'no');
	if (blocks.length === 0) return null;
	if (block === undefined) return { options: null, isExplicit: false, lines };
	const { from, to, bodies, asks } = block;
	const rest = [...lines.slice(0, from), ...lines.slice(to)];
	const isOnly = another === undefined && !lists(rest, words).some(({ isExplicit }) => isExplicit);
	const options = isOnly && isOneList(lines.slice(from, to)) ? lineOptions(bodies, words) : null;
	const answersYesNo = options?.some((option) => words.says(readable(option), 'yes', 'no')) === true;
	if (asks === 'yesNo' && !answersYesNo) return { options: null, isExplicit: true, lines };
	const isExplicit = asks !== 'name' && asks !== 'loose';
	return { options, isExplicit, lines: lines.slice(asked === '' ? 0 : Math.max(from - 1, 0)) };
}

/** Lines of lists: each run of lines with a mark, else short lines without one that go to the end. */
function blocksOf(lines: readonly string[], words: Words): readonly { readonly from: number; readonly to: number }[] {
	const isMarked = lines.map((line) => entryOf(line) !== null);
	const starts = isMarked.flatMap((is, at) => (is && isMarked[at - 1] !== true ? [at] : []));
	const blocks = starts.map((from) => {
		const end = isMarked.indexOf(false, from);
		return { from, to: end === -1 ? lines.length : end };
	});
	const runs = blocks.filter(({ from, to }) => to - from > 1);
	const from = runs.length === 0 ? bareFrom(lines, words) : -1;
	return from === -1 ? runs : [{ from, to: lines.length }];
}

/** Where short lines without marks begin that go to the end: "Size?", "S", "M", "L". -1: nowhere. */
function bareFrom(lines: readonly string[], words: Words): number {
	const from = Math.max(1, lines.findLastIndex((line) => /[?？:：]\s*$/.test(line)) + 1);
	const most = words.says(readable(lines[from - 1] ?? ''), 'choose') ? MAX_NAME_WORDS : 1;
	const isBare = (line: string) =>
		line.length <= MAX_NAME_LENGTH && line.trim().split(/\s+/).length <= most && !/[.,;!]\s*$|:\s/.test(line);
	return lines.length - from > 1 && lines.slice(from).every(isBare) ? from : -1;
}

/** The only list within a line. Where two differ, none is certain. */
function fromSentences(lines: readonly string[], words: Words): Found | null {
	const found = lists(lines, words).filter(({ options, isExplicit }) => isExplicit || options !== null);
	const explicit = found.filter(({ isExplicit }) => isExplicit);
	const isOne = explicit.length < 2 && new Set(found.map(({ options }) => options?.join('\n'))).size === 1;
	const one = explicit[0] ?? found[0];
	if (one === undefined) return colonList(lines, words, readable(questionsIn(lines.join('\n')).at(-1) ?? ''));
	return { ...(isOne ? one : { options: null, isExplicit: true }), lines };
}

/** What may be a list within a line, by the words and marks around it. */
function lists(all: readonly string[], words: Words): readonly Found[] {
	const lines = all.filter((line) => !isLongLine(line));
	const listed = (options: Options): Found => {
		return { options: areNames(options, words) ? options : null, isExplicit: false, lines: all };
	};
	const inLine = (line: string): readonly Found[] => {
		const explicit = cued(line, words);
		if (explicit.length > 0) return explicit;
		const asking = sentencesOf(line).filter((sentence) => {
			const said = readable(sentence);
			return offersOther(said, words) || words.says(said, 'choose', 'type', 'ask', 'which');
		});
		return [
			...afterPhrase(line, words).map((text) => inlineList(text, words, { joinsAnd: true })),
			...inParentheses(line, words).map((text) => inlineList(text, words, { isTight: true })),
			...asking.flatMap(quotedRun).map((text) => inlineList(text, words) ?? replies(line, text, words)),
		].map(listed);
	};
	const strong = separated(lines, words).map((options) => ({ options, isExplicit: false, lines: all }));
	return [...lines.flatMap(inLine), ...strong, ...[...alone(lines, words), ...inQuestion(lines, words)].map(listed)];
}

/** Whether these options of a sentence name things: the sentence may offer nothing, or say what to write. */
function areNames(options: Options, words: Words): options is readonly string[] {
	const isName = (option: string) => {
		const bare = option.replace(/(?<!\s)\s*[([（][^()[\]（）]*[)\]）]$/, '');
		const isShort = bare.length <= MAX_NAME_LENGTH && bare.split(' ').length <= MAX_NAME_WORDS;
		// The words of "us-east-1" are none of a sentence.
		const said = bare.split(' ').filter((word) => !/[-\d]/.test(word));
		// "One or two sentences"
		return isShort && !words.is(option, 'yes', 'no', 'one') && !words.says(readable(said.join(' ')), 'speech');
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
function cued(line: string, words: Words): readonly Found[] {
	const group = BRACKETS.exec(line)?.[1] ?? '';
	return [line, group].flatMap((part) =>
		Array.from((masked(part) ?? part).matchAll(/[:：](?=\s*\S)/g), ({ index }) => {
			const introduction = readable(sentencesOf(part.slice(0, index).split(/[:：]/).at(-1) ?? '').at(-1) ?? '');
			const asks = words.says(introduction, 'choose') && !words.says(introduction, 'facts');
			const options = inlineList(part.slice(index + 1), words);
			// "Options: it should be short, clear"
			const isProse = options?.some((option) => words.says(readable(option), 'prose')) === true;
			return asks ? [{ options: isProse ? null : options, isExplicit: true, lines: [line] }] : [];
		}).flat(),
	);
}

/** 'Reply "keep" to wait, or "move"': what to reply is quoted. `run`: from the first quotation mark to the last. */
function replies(line: string, run: string, words: Words): Options {
	const quoted = quotedParts(run);
	const isAsked = words.says(readable(line), 'type') && offersOther(readable(run), words);
	return isAsked && new Set(quoted).size === quoted.length ? quoted : null;
}

const PHRASE: Build = (entries) => `(?:^|\\s)(?:${entries('between')}) (?!.*[:：])(.+)$`;

/** "Choose between A and B.", "Pick one of A, B or C". */
function afterPhrase(line: string, words: Words): readonly string[] {
	return words.pattern(PHRASE, 'iu').exec(line)?.slice(1) ?? [];
}

/** Parentheses at the end of a line: "(S/M/L)". Commas offer a choice only where the line asks for one. */
function inParentheses(line: string, words: Words): readonly string[] {
	const body = BRACKETS.exec(line)?.[1] ?? '';
	// "Size (S/M) and colour (red/blue)"
	if (line.split(/[([（][^()[\]（）]*[)\]）]/).length > 2) return [];
	const offers = /[/|]/.test(body) || words.says(readable(line), 'choose', 'which');
	return offers && !NOT_A_CHOICE.test(body.trim()) ? [body] : [];
}

/** A description that is nothing but a list with slashes, bars or "or", below a question or a title that names what is asked. */
function alone([title = '', description = '', more]: readonly string[], words: Words): readonly Options[] {
	const asked = readable(title);
	const asks = words.says(asked, 'choose') || saysNothing(title, words);
	const isOr = offersOther(readable(description), words);
	const isList = isOr || words.says(asked, 'which') || !/^[^[]*[,;、，]/.test(description);
	const isAsked = asks || (isList && !words.says(asked, 'open') && !words.is(nameOf(title), 'data'));
	const isWhole = more === undefined && sentencesOf(description).length === 1;
	if (!isWhole || !isAsked || NOT_A_CHOICE.test(description.trim())) return [];
	const options = inlineList(description, words);
	return [isOr ? aligned(options, false) : options];
}

const OPENER: Build = (entries) => `^[¿"“\\s]*(?:${entries('opener')}) `;

/** "Red, green or blue?": the only question, without the words before its first option. */
function inQuestion(lines: readonly string[], words: Words): readonly Options[] {
	const [question = '', another] = questionsIn(lines.join('\n'));
	const said = readable(question);
	const others = readable(lines.join('\n').replace(question, ''));
	// Without spaces, nothing shows where the first option begins.
	if (another !== undefined || /\p{Script=Han}/u.test(said) || words.says(others, 'open')) return [];
	const bare = question.trim().replace(/^¿/, '');
	if (!offersOther(said, words))
		return words.says(said, 'which') && bare.includes(': ')
			? [inlineList(bare.slice(bare.indexOf(': ') + 1), words)]
			: [];
	const opener = words.pattern(OPENER, 'iu');
	if (opener.test(bare)) return [aligned(inlineList(bare.replace(opener, ''), words), false)];
	const colon = /[:：]|,|[–—]|\s-\s/.exec(bare);
	if (words.says(said, 'which', 'what', 'open'))
		return colon === null ? [] : [inlineList(bare.slice(colon.index + colon[0].length), words)];
	return [aligned(inlineList(bare.replace(/^[^:：]*[:：]\s/, ''), words), words.says(said, 'ask'))];
}
