import { LANGUAGES, type Language, says, splitAtOr } from './asking-words.ts';
import {
	decisionsAtEnd,
	draftIn,
	isDecision,
	jsonList,
	keyedList,
	type Line,
	type Listed,
	linesOf,
	listAt,
	type Mark,
	markedTitle,
	TWO_LISTS,
} from './contract.ts';
import type { ItemTexts } from './session.ts';
import { isGeneric, matchingText } from './texts.ts';

/** Code units. A longer text is not searched: its list may belong to a report. */
const MAX_TEXT_LENGTH = 8_000;

export const YES_NO = ['Yes', 'No'] as const;
/** In English they are ours, whatever their letter case; elsewhere the agent's. */
const YES_NO_ALIKE = /^(?:y|yes)\n(?:n|no)$|^no?\ny(?:es)?$/i;

export interface Choice {
	/** Two to 99 different texts exactly as the agent gives them, in its order; or `YES_NO`. */
	readonly options: readonly string[];
	/** More than one of them may be the answer. */
	readonly isSeveral: boolean;
	/** One of them is all of the answer: a press may send it. */
	readonly isWhole: boolean;
}

/** What Handraise makes of an item. `choice` null: any text. `why`: so, in words for the authors of agents. */
export interface AskedItem {
	/** The title without its marks. */
	readonly name: string;
	readonly marks: ReadonlySet<Mark>;
	readonly choice: Choice | null;
	/** What its field begins with. */
	readonly draft: string | null;
	readonly why: string;
	/** It looks like the contract and is not: the log says so. */
	readonly isUnclear: boolean;
}

/** By item, with the text above a lone one and without. Several screens and rules ask about each. */
const known = [new WeakMap<ItemTexts, AskedItem>(), new WeakMap<ItemTexts, AskedItem>()] as const;

/** Reads one item of a question; of a lone one, also the text above it. */
export function askedAt(
	{ items, context }: { readonly items: readonly ItemTexts[]; readonly context: string },
	position: number,
): AskedItem {
	const item = items[position] ?? { title: '', description: '' };
	const above = items.length === 1 && context.length <= MAX_TEXT_LENGTH ? context.trim() : '';
	const found = known[above === '' ? 0 : 1];
	const asked = found.get(item) ?? askedIn(item, above);
	found.set(item, asked);
	return asked;
}

/** By the contract of docs/asking.md, else by the few guesses that are certain. In doubt, it offers nothing. */
function askedIn({ title, description: whole }: ItemTexts, above: string): AskedItem {
	const { name, marks } = markedTitle(title);
	const draft = draftIn(whole);
	const base = { name, marks, draft: draft?.draft ?? null, isUnclear: false };
	const none = (why: string, isUnclear = false) => ({ ...base, choice: null, why: `no options: ${why}`, isUnclear });
	if (Math.max(title.length, whole.length) > MAX_TEXT_LENGTH) return none('the text is too long');
	const description = draft?.others ?? whole;
	// "Answer": the text above is the question.
	const saysNothing = whole.trim() === '' && isGeneric(matchingText(name));
	const text = saysNothing ? above : `${name}\n${description}`;
	const lines = linesOf(text);
	const listed = jsonList(description, linesOf(name).length) ?? keyedList(lines);
	if (listed !== null && 'unclear' in listed) return none(listed.unclear, true);
	const atEnd = decisionsAtEnd(text);
	const ending = atEnd ?? decisionsAtEnd(name);
	if (listed !== null) {
		const around = textAround(lines, listed);
		const isSecond = hasAsked(linesOf(around)) || keyedList(linesOf(around)) !== null;
		if (isSecond || ending !== null || repliesIn(around) !== null) return none(TWO_LISTS, true);
		// "May I order it? Options: leather, sunroof" tells what is ordered.
		const isTold = listed.isTold === true && !listed.options.some(isDecision);
		if (isTold && isAnsweredByYesOrNo(around, '')) return none('yes or no answers the question', true);
		return {
			...base,
			choice: choiceFrom(listed, lines, saysNothing ? '' : above, true),
			why: 'options: a list of the contract',
		};
	}
	if (ending !== null) {
		const behind = atEnd === null ? description : '';
		const isWhole = asksOnce(`${ending.others}\n${behind}`, behind);
		return {
			...base,
			choice: { options: orYesNo(ending.options), isSeveral: false, isWhole },
			why: 'options: decisions at the end',
		};
	}
	if (draft !== null) return none('the item has a draft');
	if ([...marks].some((mark) => mark !== 'optional')) return none('a mark says which field it gets');
	return { ...base, ...guessed(text, saysNothing ? '' : above) };
}

const orYesNo = (options: readonly string[]) => (YES_NO_ALIKE.test(options.join('\n')) ? YES_NO : options);

/** What an item without a form of the contract offers. */
function guessed(text: string, above: string): Pick<AskedItem, 'choice' | 'why'> {
	const lines = linesOf(text);
	const list = listAtEnd(lines);
	const replies = repliesIn(text);
	if (list === null && replies !== null) {
		const choice = { options: orYesNo(replies), isSeveral: false, isWhole: questionsIn(text).length === 1 };
		return { choice, why: 'options: words to reply with' };
	}
	if (list !== null && 'unclear' in list) return { choice: null, why: `no options: ${list.unclear}` };
	const lead = list === null ? '' : leadTo(lines, list.from);
	if (list !== null && isAskedFor(list.options, lead))
		return { choice: choiceFrom(list, lines, above, false), why: 'options: a list below a question for one of them' };
	if (isAnsweredByYesOrNo(textOf(lines), above))
		return { choice: { options: YES_NO, isSeveral: false, isWhole: true }, why: 'yes or no: a plain question' };
	return { choice: null, why: `no options: ${list === null ? 'nothing certain' : 'the list is told, not asked'}` };
}

/** `isSure`: by the contract, a plural of the question asks for one of the options unless its words say more. */
function choiceFrom(list: Listed, lines: readonly Line[], above: string, isSure: boolean): Choice {
	const around = textAround(lines, list);
	const asking = sentencesOf(`${above}\n${around}`).filter((one) => isQuestion(one) || says('which', one));
	const isMany = (one: string) =>
		says('several', one) || COUNTED.test(matchingText(one)) || (!isSure && PLURAL.test(matchingText(one)));
	const isSeveral = list.isSeveral || [leadTo(lines, list.from), ...asking].some(isMany);
	const isWhole = asksOnce(around, textOf(lines.slice(list.to))) && !asksElse(around, list.options);
	return { options: list.options, isSeveral, isWhole: isWhole && !isSeveral };
}

/** Whether the last sentence before a list asks to choose from it, or it has a decision below a question. */
function isAskedFor(options: readonly string[], lead: string): boolean {
	if (options.some((option) => /[:：]\s/.test(option)) || says('rank', lead) || POINTS.test(lead)) return false;
	const isOpen = says('wh', lead, 'start');
	if ((says('which', lead) && !isOpen) || says('several', lead)) return true;
	const decides = (option: string) =>
		isDecision(option) ||
		// "Yes, by mail", and not "No open tasks".
		says('yes-no', /^[^,;.–—(]+(?=[,;.–—(])/.exec(option)?.[0] ?? '', 'whole') ||
		(isOpen && (says('decisions', option, 'start') || says('decisions', option, 'end')));
	return isQuestion(lead) && options.length <= 6 && options.some(decides);
}

/** "Which folder should I put these in?", but not "Which of these?" */
const POINTS = /(?<!\b(?:of|from|between|among) )\b(?:these|those|them|the following|do this)\b/i;

/* Texts. What stands in fences, quotes and tables asks nothing. */

const textOf = (lines: readonly Line[]) => lines.map(({ text, isPlain }) => (isPlain ? text : '')).join('\n');

const textAround = (lines: readonly Line[], { from, to, lead }: Listed) =>
	[textOf(lines.slice(0, from)), lead, textOf(lines.slice(to))].join('\n');

const sentencesOf = (text: string) =>
	text.split(/\n|(?<=[.?!؟])\s+|(?<=[。？！।])/).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));

const isQuestion = (sentence: string) => /[?？؟]["'”»)*_\s]*$/.test(sentence);

const questionsIn = (text: string) => [...new Set(sentencesOf(text).filter(isQuestion))];

const isSaid = ({ text, isPlain, entry }: Line) => isPlain && entry === null && /[\p{L}\p{N}]/u.test(text);

/** The last sentence before a line that is no entry of a list. */
const leadTo = (lines: readonly Line[], at: number) =>
	sentencesOf(lines.slice(0, at).findLast(isSaid)?.text ?? '').at(-1) ?? '';

/** Whether a list in these lines stands below words that ask. `isMeant`: which entries count. */
function hasAsked(lines: readonly Line[], isMeant: (entry: string) => boolean = () => true): boolean {
	// Once for all entries below a sentence.
	const leads = new Set<string>();
	let lead = '';
	for (const line of lines) {
		if (isSaid(line)) lead = sentencesOf(line.text).at(-1) ?? '';
		else if (line.entry !== null && isMeant(line.entry.body)) leads.add(lead);
	}
	return [...leads].some(asksFor);
}

const asksFor = (lead: string) => isQuestion(lead) || says('which', lead) || says('lists', lead);

/** The list at the end of a text, which may have empty lines between its entries. */
function listAtEnd(lines: readonly Line[]) {
	const isFull = ({ text }: Line) => text.trim() !== '';
	if (lines.findLast(isFull)?.entry == null) return null;
	const before = lines.findLastIndex((line) => line.entry === null && isFull(line));
	return listAt(
		lines,
		lines.findIndex(({ entry }, at) => at > before && entry !== null),
		true,
	);
}

/** "Pick 2", "label(s)" */
const COUNTED = /\b(?:choose|pick|select) [2-9]\b|\p{L}\(\p{L}{1,2}\)/u;
/** "Which files", "which of these emails". "Which bus" and "which address" are none. */
const PLURAL = new RegExp(
	[
		'\\b(?:which|what) of (?:these|those|the|my|your|our) (?:\\p{L}+ )?\\p{L}{2,}[^\\Wsui]s\\b',
		'\\b(?:which|what) (?:\\p{L}+ )?\\p{L}{2,}[^\\Wsui]s ' +
			'(?:do|are|should|shall|can|may|would|could|will|must|to|work|i|you|we)\\b',
		'\\b(?:which|what) \\p{L}{2,}[^\\Wsui]s\\?',
		'\\b(?:choose|pick|select) (?:the|your|my|our) \\p{L}{2,}[^\\Wsui]s\\b',
	].join('|'),
	'u',
);

/** Whether a text asks one thing, and what stands behind its options asks for no more. */
function asksOnce(text: string, behind: string): boolean {
	const asksMore = (one: string) => /[:：]\s*$/.test(one) || (!isQuestion(one) && says('open', one));
	const [, ...others] = sentencesOf(text);
	return questionsIn(text).length < 2 && !sentencesOf(behind).some(asksMore) && !others.some((one) => TO_DO.test(one));
}

/** "Also send your name.", "Add a reason" */
const TO_DO = new RegExp(
	[
		'^[^\\p{L}]*(?:(?:please|and|then|also) ){0,3}(?:' +
			'(?:add|attach|include|provide|specify|explain|state|give|tell) |' +
			'(?:(?<=(?:please|also) )(?:write|send|enter|name|note)|' +
			'(?:write|send|enter|name|note) (?:me|us|down|your|an?)) ' +
			')(?!me which)',
		'^[^\\p{L}]*(?:please )?also ',
		'\\bi (?:also )?need (?:the|your|an?) ',
		'\\bplease\\W*$',
	].join('|'),
	'iu',
);

/** "Rank these", "How many seats?" above names, "Colour and size", "feature/NAME": what no option answers in full. */
function asksElse(text: string, options: readonly string[]): boolean {
	const isAmount = questionsIn(text).some((question) => /\bhow (?:many|much)\b/i.test(question));
	const [, joint = ''] = /^\s*\S+ (\S+) [^\s?？]+\s*(?:\n|$)/.exec(text) ?? [];
	const isUnfinished = (option: string) =>
		PLACEHOLDER.test(option) ||
		(['open', 'wh', 'which'] as const).some((list) => says(list, NOTE.exec(option)?.[0] ?? ''));
	return (
		says('rank', text) ||
		(isAmount && !options.some((option) => /\p{N}/u.test(option))) ||
		(says('and', joint, 'whole') && !options.every(isDecision)) ||
		sentencesOf(text).some(asksTwice) ||
		options.some(isUnfinished)
	);
}

/** "Which seat, and what is your name?", "Which colour and size?" */
function asksTwice(sentence: string): boolean {
	const words = sentence.slice(0, 1_000).split(/\s+/);
	if (!isQuestion(sentence) && !says('which', sentence, 'start')) return false;
	// "I" is an "and" of another language.
	return words.some((word, at) =>
		LANGUAGES.filter((language) => at > 0 && says('and', word, 'whole', language)).some((language) => {
			const next = words[at + 1] ?? '';
			const isLast = at === 2 && words.length === 4 && says('which', words[0] ?? '', 'whole', language);
			return isLast || (['wh', 'which', 'you'] as const).some((list) => says(list, next, 'whole', language));
		}),
	);
}

const NOTE = /[([（][^()[\]（）]*[)\]）]/;
/** What stands for a text that is to be written. */
const PLACEHOLDER = new RegExp(
	[
		'<[^<>]+>|\\{[^{}]*\\}|\\b(?:YYYY|MM|DD|HH|XX+)\\b|\\/[A-Z]{3,}$|_{3}',
		'(?:\\.{3}|…)$|^(?:\\.{2,}|etc\\b|usw\\b)|\\bwith (?:an? )?(?:reason|comment|note|change)s?$',
	].join('|'),
);

/** "Reply with A or B", "Type A, B or C": one or two words each, without an article. */
function repliesIn(text: string): readonly string[] | null {
	const sentence = sentencesOf(text).find((one) => one.length < 200 && says('reply', one)) ?? '';
	const words = sentence.replace(/(?<![.!?。？！\s])[.!?。？！\s]+$/, '').split(/\s+/);
	const at = words.findLastIndex((_, place) => says('reply', words.slice(0, place + 1).join(' '), 'end'));
	const [first = '', last] = splitAtOr(words.slice(at + 1).join(' '));
	const options = [...first.replace(/,$/, '').split(/,\s+/), last ?? ''].map((option) =>
		option.replace(/^["'“„«「`*]+|["'”“»」`*]+$/g, ''),
	);
	const isReply = (option: string) => /^[^\s:<>{}[\]()]{1,30}(?: [^\s:<>{}[\]()]{1,30})?$/.test(option);
	const isThing = (option: string) => says('articles', option, 'start') || says('you', option, 'start');
	// "Reply with yes or corrections"
	if (options.some(isDecision) && !options.every(isDecision)) return null;
	return at !== -1 && options.every((option) => isReply(option) && !isThing(option)) ? options : null;
}

/* Yes and no. */

/** Whether all that a text asks is one question that yes or no answers in full. */
function isAnsweredByYesOrNo(text: string, above: string): boolean {
	const [question = '', another] = questionsIn(text);
	const behind = text.slice(text.lastIndexOf(question) + question.length);
	const isListed = hasAsked(linesOf(text), (entry) => !FACT.test(entry));
	const isElsewhere = (one: string) =>
		says('reply', one, 'start') || says('which', one, 'start') || (isQuestion(one) && says('which', one));
	if (question === '' || another !== undefined || isListed || sentencesOf(above).some(isElsewhere)) return false;
	// Facts are told. Another list may be asked.
	if (linesOf(behind).some(({ entry }) => entry !== null && !FACT.test(entry.body))) return false;
	const asksMore = (one: string) => TO_DO.test(one) || isElsewhere(one) || says('wh', one, 'start');
	if (sentencesOf(behind).some(asksMore) || /\bplease (?:choose|select|pick)\b/i.test(behind)) return false;
	if (says('wh', NOTE.exec(question)?.[0] ?? '')) return false;
	if (
		OTHERS.test((question + behind).replace(/https?:\/\/\S+/g, '')) ||
		JSON_LIST.test(text) ||
		/[:：]\s*$/.test(behind)
	)
		return false;
	return isPlainQuestion(question, behind);
}

/** "Amount: 5 €" */
const FACT = /^[^:：]{1,60}[:：]\s*\S/;
/** "(send/skip)", "1 = yes", "Anna/Ben", "<name>": other answers than yes and no. */
const OTHERS = /[([（][^()[\]（）]*[,/|、・／=][^()[\]（）]*[)\]）]|\p{L}\/\p{L}|\d, ?\d+, | [/|] |<[^<>]+>|_{3}/u;
const JSON_LIST = /"(?:options|choices|enum)"\s*:/;
/** "By card, cash?", "9:00 vs 10:00?" */
const OFFERS = /[,|]\s?[^\s,|?]+(?: [^\s,|?]+)?[?？]$| vs\.? | -- /;

function isPlainQuestion(question: string, behind: string): boolean {
	const clause = question.split(/[,;:–—]\s+/).at(-1) ?? '';
	const isTag = says('decisions', clause, 'whole');
	const isWh = says('wh', question, 'start') || says('which', question) || (clause !== question && says('wh', clause));
	if (isWh || (OFFERS.test(question) && !isTag)) return false;
	const [, ...words] = question.split(/\s+/);
	const asksIn = (language: Language, part: string) =>
		says('asks', part, 'start', language) ||
		// "An wen senden?"
		(!says('wh', question, 'anywhere', language) &&
			(says('asks-at-end', part, 'end', language) ||
				says('decisions', part, 'start', language) ||
				says('decisions', part, 'end', language)));
	// "Is it right, and is it yours?", "Pencere mi koridor mu?"
	const asksAgain = (language: Language) =>
		(clause !== question && says('and', clause, 'start', language)) ||
		words.some((word, at) =>
			says('asks-at-end', word, 'whole', language)
				? at < words.length - 1
				: says('and', word, 'whole', language) &&
					(says('asks', words.slice(at + 1, at + 6).join(' '), 'start', language) ||
						says('wh', words.slice(at + 1, at + 3).join(' '), 'anywhere', language)),
		);
	const isOpen = (language: Language) =>
		asksAgain(language) ||
		says('open', `${question} ${behind}`, 'anywhere', language) ||
		says('or', `${words.join(' ')} ${behind}`, 'anywhere', language);
	const languages = LANGUAGES.filter((language) => asksIn(language, question) || asksIn(language, clause));
	return languages.length > 0 && !languages.some(isOpen);
}
