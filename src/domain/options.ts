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
import { isGeneric, matchingText } from './matching-text.ts';
import type { ItemTexts } from './session.ts';

/** UTF-16 units. A longer text is not searched, because its list may belong to a report. */
export const MAX_TEXT_LENGTH = 8_000;

export const YES_NO = ['Yes', 'No'] as const;
/** English pairs in any letter case become `YES_NO`. Other languages keep the agent's words. */
const YES_NO_ALIKE = /^(?:y|yes)\n(?:n|no)$|^no?\ny(?:es)?$/i;

export interface Choice {
	/** Two to 99 different texts exactly as the agent gives them, in its order; or `YES_NO`. */
	readonly options: readonly string[];
	/** More than one of them may be the answer. */
	readonly isSeveral: boolean;
	/** One option is a complete answer, so a press may send it. */
	readonly isWhole: boolean;
}

/** What an item asks for. `choice` null: any text. `why`: the reason, in words for authors of agents. */
export interface AskedItem {
	/** The title without its marks. */
	readonly name: string;
	readonly marks: ReadonlySet<Mark>;
	readonly choice: Choice | null;
	/** The initial text of the field; null: empty. */
	readonly draft: string | null;
	readonly why: string;
	/** The item looks like the contract and is not. This is logged. */
	readonly isUnclear: boolean;
}

/** Results by item: without the text above, and with it. Several screens and rules ask about one item. */
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

/** Reads an item by the contract of docs/asking.md, else by the few guesses that are certain. In doubt: no options. */
function askedIn({ title, description: whole }: ItemTexts, above: string): AskedItem {
	const { name, marks } = markedTitle(title);
	const draft = draftIn(whole);
	const base = { name, marks, draft: draft?.draft ?? null, isUnclear: false };
	const none = (why: string, isUnclear = false) => ({ ...base, choice: null, why: `no options: ${why}`, isUnclear });
	if (Math.max(title.length, whole.length) > MAX_TEXT_LENGTH) return none('the text is too long');
	const description = draft?.others ?? whole;
	// With a generic title such as "Answer", the text above is the question.
	const saysNothing = whole.trim() === '' && isGeneric(matchingText(name));
	const text = saysNothing ? above : `${name}\n${description}`;
	const others = saysNothing ? '' : above;
	const lines = linesOf(text);
	const listed = jsonList(description, linesOf(name).length) ?? keyedList(lines);
	if (listed !== null && 'unclear' in listed) return none(listed.unclear, true);
	const atEnd = endingOf(text);
	const ending = atEnd ?? endingOf(name);
	if (listed !== null) {
		const around = linesOf(textAround(lines, listed));
		if (hasAsked(around) || keyedList(around) !== null || ending !== null || repliesIn(textOf(around)) !== null)
			return none(TWO_LISTS, true);
		// "May I order it? Options: leather, sunroof" lists what is ordered.
		const isTold = listed.hasCommas && !listed.options.some(isDecision);
		if (isTold && isAnsweredByYesOrNo(around, '')) return none('yes or no answers the question', true);
		return { ...base, choice: choiceFrom(listed, lines, others), why: 'options: a list as docs/asking.md says' };
	}
	if (ending !== null) {
		const behind = atEnd === null ? description : '';
		const isWhole = asksOnce(sentencesOf(`${ending.others}\n${behind}`), 1);
		const choice = { options: orYesNo(ending.options), isSeveral: false, isWhole };
		return { ...base, choice, why: 'options: decisions at the end' };
	}
	if (draft !== null) return none('the item has a draft');
	if ([...marks].some((mark) => mark !== 'optional')) return none('a mark says which field it gets');
	return { ...base, ...guessed(text, others) };
}

/** Decisions at the end of a text. Without brackets they count only after a question that yes or no could answer. */
function endingOf(text: string) {
	const ending = decisionsAtEnd(text);
	if (ending === null || ending.isInBrackets) return ending;
	const before = sentencesOf(ending.others);
	const isOpen = (one: string) => isQuestion(one) && (says('wh', one, 'start') || says('which', one));
	const isAsked = isQuestion(text) || before.length === 0 || isQuestion(before.at(-1) ?? '');
	return isAsked && !before.some(isOpen) ? ending : null;
}

const orYesNo = (options: readonly string[]) => (YES_NO_ALIKE.test(options.join('\n')) ? YES_NO : options);

/** Guesses the options of an item without a form of the contract. */
function guessed(text: string, above: string): Pick<AskedItem, 'choice' | 'why'> {
	const lines = linesOf(text);
	const list = listAtEnd(lines);
	const replies = list === null ? repliesIn(text) : null;
	if (replies !== null) {
		const isWhole = questionsIn(sentencesOf(text)).length === 1;
		return { choice: { options: orYesNo(replies), isSeveral: false, isWhole }, why: 'options: words to reply with' };
	}
	const unclear = list !== null && 'unclear' in list ? list.unclear : null;
	const listed = list === null || 'unclear' in list ? null : list;
	const lead = listed === null ? '' : leadTo(lines, listed.from);
	// "Send payment? Which is for:" asks yes or no before the list.
	const isFollowUp = questionsIn(sentencesOf(text)).some(
		(one) => one !== lead && isAnsweredByYesOrNo(linesOf(one), ''),
	);
	if (listed !== null && !isFollowUp && isAskedFor(listed.options, lead)) {
		const isSeveral = listed.isSeveral || PLURAL.test(lead);
		const choice = choiceFrom({ ...listed, isSeveral }, lines, above);
		return { choice, why: 'options: a list below a question for one of them' };
	}
	if (isAnsweredByYesOrNo(lines, above))
		return { choice: { options: YES_NO, isSeveral: false, isWhole: true }, why: 'yes or no: a plain question' };
	if (unclear !== null) return { choice: null, why: `no options: ${unclear}` };
	const why =
		list === null ? 'field guessed from the title' : 'the list is told, not asked: write "Options:" in a line above it';
	return { choice: null, why: `no options: ${why}` };
}

function choiceFrom(list: Listed, lines: readonly Line[], above: string): Choice {
	const around = sentencesOf(textAround(lines, list));
	const asking = around.filter((one) => isQuestion(one) || says('which', one));
	const askedAbove = sentencesOf(above).filter((one) => isQuestion(one) || says('which', one));
	const isMany = (one: string) => says('several', one) || (says('which', one) && MANY.test(one));
	const isSeveral = list.isSeveral || [leadTo(lines, list.from), ...asking, ...askedAbove].some(isMany);
	const behind = sentencesOf(textOf(lines.slice(list.to)));
	const isWhole =
		behind.every(isFact) &&
		asksOnce(around, around.length - behind.length) &&
		!asksElse([around[0] ?? '', ...asking], list.options);
	return { options: list.options, isSeveral, isWhole: isWhole && !isSeveral };
}

/** Asks for several: "Pick 2", "Which label(s)", "Welche Farben". */
const MANY = /^[^\p{L}]*\p{L}+ [2-9](?![\p{N}.:])|\p{L}\(\p{L}{1,2}\)|[Ww]elche \p{Lu}\p{L}*en(?!\p{L})/u;

/** A plural may ask for several: "Which days work for you?" */
const PLURAL = /\b(?:which|choose|pick|select) (?:of )?(?:the |these |those |my |your |our )?\p{L}{2,}[^\Wsui]s\b/iu;

/** Whether the sentence before a list (`lead`) asks to choose from it, or is a question with a decision in the list. */
function isAskedFor(options: readonly string[], lead: string): boolean {
	// "Which folder should I put these in?" is about all entries; "Which of these?" is not.
	const isAboutAll = isQuestion(lead) && says('these', lead.split(/\s+/).slice(3).join(' '));
	if (options.some((option) => /[:：]\s/.test(option)) || says('rank', lead) || isAboutAll) return false;
	const isOpen = says('wh', lead, 'start');
	if ((says('which', lead) && !isOpen) || says('several', lead)) return true;
	const decides = (option: string) =>
		isDecision(option) ||
		// "Yes, by mail" decides; "No open tasks" does not.
		says('yes-no', /^[^,;.–—(]+(?=[,;.–—(])/.exec(option)?.[0] ?? '', 'whole') ||
		(isOpen && says('decisions', option, 'start'));
	return isQuestion(lead) && options.length <= 6 && options.some(decides);
}

/* Sentences of a text. Fences, quotes and tables ask nothing. */

const textOf = (lines: readonly Line[]) => lines.map(({ text, isPlain }) => (isPlain ? text : '')).join('\n');

const textAround = (lines: readonly Line[], { from, to, lead }: Listed) =>
	[textOf(lines.slice(0, from)), lead, textOf(lines.slice(to))].join('\n');

const sentencesOf = (text: string) =>
	text.split(/\n|(?<=[.?!؟])\s+|(?<=[。？！।])/).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));

const isQuestion = (sentence: string) => /[?？؟]["'”»)*_\s]*$/.test(sentence);

const questionsIn = (sentences: readonly string[]) => [...new Set(sentences.filter(isQuestion))];

const isSaid = ({ text, isPlain, entry }: Line) => isPlain && entry === null && /[\p{L}\p{N}]/u.test(text);

/** The last sentence before a line that is no entry of a list. */
const leadTo = (lines: readonly Line[], at: number) =>
	sentencesOf(lines.slice(0, at).findLast(isSaid)?.text ?? '').at(-1) ?? '';

/** Whether a list in these lines stands below a sentence that asks for it. */
function hasAsked(lines: readonly Line[]): boolean {
	// One lead for all entries below a sentence.
	const leads = new Set(
		lines.flatMap(({ entry }, at) => (entry === null || lines[at - 1]?.entry ? [] : [leadTo(lines, at)])),
	);
	return [...leads].some((lead) => isQuestion(lead) || says('which', lead) || says('lists', lead));
}

/** The list at the end of a text; empty lines between its entries are allowed. Null: the text ends otherwise. */
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

/** Sentences, or parts of one. A post cuts a text with more of them, so it gets no buttons. */
const MOST_PARTS = 100;

/** Whether the sentences ask one thing together. `behind`: the index of the first sentence after the options. */
function asksOnce(sentences: readonly string[], behind: number): boolean {
	const asksMore = (one: string, at: number) =>
		!isQuestion(one) &&
		((at > 0 && goesOn(one, at >= behind) && !says('which', one)) || (at >= behind && /[:：]\s*$/.test(one)));
	return questionsIn(sentences).length < 2 && sentences.length < MOST_PARTS && !sentences.some(asksMore);
}

/** Whether no option is a complete answer: "Rank these", "Colour and size", "feature/NAME". */
function asksElse(asking: readonly string[], options: readonly string[]): boolean {
	const isUnfinished = (option: string) =>
		PLACEHOLDER.test(option) || says('more', NOTE.exec(option)?.[0] ?? '') || promisesMore(option);
	const isElse = (one: string) =>
		(says('rank', one) && !options.every((option) => /^\p{N}/u.test(option))) ||
		(asksTwice(one) && !options.some(isDecision));
	return asking.some(isElse) || options.some(isUnfinished);
}

/** Whether an option asks for more than a press sends: "No, and tell me why". */
const promisesMore = (option: string) =>
	option.split(/[,，、;–—]\s?/).some((part, at) => {
		const [first = '', ...rest] = part.trim().split(/\s+/);
		return at > 0 && says('more', says('and', first, 'whole') ? rest.join(' ') : part, 'start');
	});

/**
 * Whether a sentence asks for more: "Also send your name.", "To confirm, type its name." Some languages put the verb at
 * the end. `isBehind`: the sentence stands after the options, where "please" alone asks for more.
 */
function goesOn(sentence: string, isBehind: boolean): boolean {
	const isAtAnEnd = (list: 'more' | 'please', clause: string) =>
		says(list, clause, 'start') || says(list, clause, 'end');
	const asksMore = (clause: string) => {
		const isRequest = isAtAnEnd('please', clause);
		return (isBehind && isRequest) || isAtAnEnd('more', isRequest ? withoutFirst(clause) : clause);
	};
	return !FACT.test(sentence) && sentence.split(/[,，、]/, MOST_PARTS).some(asksMore);
}

/** Whether a sentence asks for two things: "Which seat, and what is your name?", "Colour and size". */
function asksTwice(sentence: string): boolean {
	const words = sentence.slice(0, 1_000).split(/\s+/);
	const at = words.findIndex((word, place) => place > 0 && says('and', word, 'whole'));
	const next = words[at + 1] ?? '';
	const isShort = words.length < (isQuestion(sentence) ? 5 : 4);
	const goesOnAsking = sentence
		.split(/[,，、]/, MOST_PARTS)
		.some((part, place) => place > 0 && says('wh', part, 'start'));
	const asksMore = isShort || (['wh', 'which', 'you', 'more'] as const).some((list) => says(list, next, 'whole'));
	return goesOnAsking || (at > 0 && asksMore);
}

const NOTE = /[([（][^()[\]（）]*[)\]）]/;
/** A placeholder for a text that the person has to write. */
const PLACEHOLDER =
	/<[^<>]+>|\{[^{}]*\}|\b(?:YYYY|MM|DD|HH|XX+)\b|\/[A-Z]{3,}$|_{3}|(?:\.{2}|…)$|^(?:\.{2,}|etc\b|usw\b)/;

/** The one-word options of "Reply with A or B" or "Type A, B or C"; null: there are none. */
function repliesIn(text: string): readonly string[] | null {
	const sentence = sentencesOf(text).find((one) => one.length < 200 && says('reply', one)) ?? '';
	const words = sentence.replace(/(?<![.!?。？！\s])[.!?。？！\s]+$/, '').split(/\s+/);
	const at = words.findLastIndex((_, place) => says('reply', words.slice(0, place + 1).join(' '), 'end'));
	const [first = '', last = ''] = splitAtOr(words.slice(at + 1).join(' '));
	const options = [...first.split(/,\s+/), last].map((option) =>
		option.replace(/^["'“„«「`*]+|(?<!["'”“»」`*,])["'”“»」`*,]+$/g, ''),
	);
	// "Reply with yes or corrections"
	if (options.some(isDecision) && !options.every(isDecision)) return null;
	return at !== -1 && options.every((option) => /^[^\s:<>{}[\]()]{1,30}$/.test(option)) ? options : null;
}

/* Questions that yes or no answers. */

/** A fact such as "Amount: 5 €". "A: go on" and "1: stop" are options. */
const FACT = /^(?!\P{L}{0,9}\p{L}?\s*[:：])[^:：]{1,60}[:：]\s*\S/u;
/** Whether a sentence only states a fact. Any other one after a question may ask for more, in words of no list. */
const isFact = (sentence: string) => FACT.test(sentence) && !goesOn(sentence.replace(/^.*?[:：]\s*/, ''), true);
/** Signs of other answers than yes and no: "(send/skip)", "(1 = yes)", "Anna/Ben", "<name>", "9:00 vs 10:00?", JSON. */
const OTHERS =
	/[([（][^()[\]（）]{0,200}[,/|、・／=][^()[\]（）]{0,200}[)\]）]|\p{L}\/\p{L}|\s[/|]\s|<[^<>]+>|_{3}|\svs\b| -- |[{[]\s*"/u;

/** Whether these lines ask exactly one question that yes or no answers in full. Facts may follow it. */
function isAnsweredByYesOrNo(lines: readonly Line[], above: string): boolean {
	const sentences = sentencesOf(textOf(lines));
	const at = sentences.findIndex(isQuestion);
	const [question = '', ...behind] = sentences.slice(at);
	// A list of anything but facts may be what is asked.
	const isListed = lines.some(({ entry }) => entry !== null && !FACT.test(entry.body));
	if (
		at === -1 ||
		isListed ||
		!asksOnce(sentences, at + 1) ||
		!behind.every(isFact) ||
		/[,;]\s|[，、；([（…]|\s[-–—]\s/.test(question) ||
		goesOn(question, true)
	)
		return false;
	const others = sentencesOf(above);
	const isOpenAbove = (one: string) => (isQuestion(one) && says('wh', one, 'start')) || goesOn(one, false);
	const isElsewhere =
		[...behind, ...others].some((one) => says('which', one) || says('reply', one, 'start')) ||
		others.some(isOpenAbove) ||
		keyedList(linesOf(above)) !== null;
	const hasOthers = OTHERS.test(textOf(lines).replace(/https?:\/\/\S+/g, ''));
	if (isElsewhere || hasOthers || says('wh', question, 'start') || says('which', question)) return false;
	const rest = [withoutFirst(question), ...behind].join('\n');
	const last = withoutFirst(others.at(-1) ?? '');
	const languages = LANGUAGES.filter((language) => asksIn(language, question));
	const isOpen = (language: Language) => mayGoOn(language, question, rest) || says('or', last, 'anywhere', language);
	return languages.length > 0 && !languages.some(isOpen);
}

/** A text without its first word. In some languages the word that begins a question is also an "or": "Czy", "O". */
const withoutFirst = (sentence: string) => sentence.replace(/^\S+\s/, '');

const asksIn = (language: Language, question: string) =>
	says('asks', question, 'start', language) ||
	// "An wen senden?" has no word of a yes-or-no question.
	(!says('wh', question, 'anywhere', language) &&
		(says('asks-at-end', question, 'end', language) ||
			says('decisions', question, 'start', language) ||
			says('decisions', question, 'end', language)));

/** Whether a question may ask more: "Monday or Tuesday?", "Is it right, and is it yours?", "Pencere mi koridor mu?" */
const mayGoOn = (language: Language, question: string, rest: string) =>
	(['or', 'and'] as const).some((list) => says(list, rest, 'anywhere', language)) ||
	says('open', `${question}\n${rest}`, 'anywhere', language) ||
	says('asks-at-end', question.split(' ').slice(0, -1).join(' '), 'anywhere', language);
