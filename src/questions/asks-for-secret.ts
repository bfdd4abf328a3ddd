import { atOnce } from '../core/lease-loop.ts';
import { markedTitle } from './contract.ts';
import { askedAt, YES_NO } from './options.ts';
import type { ItemTexts } from './session.ts';
import { isGeneric, matchingText, readingsOf } from './texts.ts';
import { phrases } from './word-list.ts';

// What names a secret, and how agents ask, stands in `words/secret/`. Patterns match `matchingText`.

const list = (...names: readonly string[]) => phrases(...names.map((name) => `secret/${name}`));
const has = (text: string, pattern: RegExp) => text.search(pattern) !== -1;
/** A text that begins with an entry of these lists. */
const begins = (...names: readonly string[]) => new RegExp(`^[^\\p{L}]*${list(...names).source}`, 'u');

const AND = '(?:and|or|but|so|now|then|und|et|y|e|en|och|og|ja|ve|dan|и|і|та)';

/** A secret by its name alone. */
const NAMES = list('names');
/** Two words that together name a secret, at most so many characters apart: "code from the SMS", "API key". */
const PAIRS = [
	[list('codes'), list('code-kinds'), 24],
	[list('codes'), list('came', 'messages', 'phones'), 30],
	[list('digits'), list('came', 'messages'), 30],
	[list('counts'), list('count-words'), 2],
	[list('keys'), list('key-kinds'), 12],
	[list('links'), list('link-kinds'), 16],
	[list('cards'), list('card-parts', 'codes'), 26],
	[list('cookies'), list('cookie-kinds'), 28],
] as const;
/** Removed before these are tried. */
const HARMLESS = list('harmless');
/** What makes the name of a secret ordinary: "password policy", "length of the password", "длина пароля". */
const HEADS = list('heads');
const HEADS_BEFORE = list('heads-before');
/** Between a name and what is said of it: "トークンの期限". */
const OWN = new RegExp(`^(?:'s)? ?(?:${'의'.normalize('NFKD')}|的|の|क)? ?$`, 'u');
/** Between what is said and the name: "colour of the badge “PIN”". */
const OF = new RegExp(
	`^ ${list('of').source}(?: (?!${AND} )[\\p{L}\\p{N}']+)? ["'“«„「]? ?(?:(?!${AND} )\\p{L}+ )?$`,
	'u',
);
const LONGEST_HEAD = 40;
const WHOLE = list('whole');
/** What came to a person: a later "What is it?" asks for its contents. */
const CAME = list('messages', 'a-code');

/** A sentence with such a word asks for something, so it does not only mention the name of a secret. */
const ASKS = list('asks', 'asks-after', 'wanted');
const VERBS = list('asks');
const REQUESTS_AFTER = list('asks-after');
const REQUESTS_IT = new RegExp(`${VERBS.source} ?${list('it').source}|${list('asks-for-it').source}`, 'u');
/** The words of a sentence that asks for what stands before it. */
const LITTLE = list('asks', 'asks-after', 'little', 'links');
const OR = list('or');
const ACTS = `(?:(?:can|may) (?:i|we) )?${list('acts').source}`;
const STARTS_ABOUT = `^[^\\p{L}]*(?:${AND} ){0,3}(?:${list('about').source}|${ACTS})`;
const ABOUT = new RegExp(`${STARTS_ABOUT}|${list('acts-elsewhere').source}`, 'u');
/** The same without a question mark: "Where to store the key". */
const METHODS = new RegExp(`${list('methods').source}|${begins('where').source}`, 'u');
/** "Which page should the magic link open?" asks for a page. */
const WHICH = new RegExp(`${begins('which', 'what').source} ([^.,:;!?]{1,60}?) ${list('auxiliaries').source}`, 'u');
const STARTS_WITH_WHICH = begins('which');
const THINGS = [NAMES, list('whole', 'codes', 'digits', 'keys', 'links', 'cards', 'cookies')];
/** "hunter2", "4711": one word with a digit. */
const VALUE = /^[^\s\d]*\d\S*$/;

/** Asks the reader: "to enter" and "I sent" tell of something else. */
const REQUESTS = new RegExp(`(?<!(?:to|i|we|you|they|it|should|shall|why|whether|how) )${VERBS.source}`, 'u');
/** Where a sentence turns from what it tells to what it asks: "The password is new, which colour?" */
const BEFORE_ASKING = new RegExp(`(?:[,:;] | (?=${AND} ))(?=(?:${AND} ){0,9}${list('turns', 'asks').source})`, 'u');
/** Tells what was done. */
const TELLS = begins('tells');

/** What a text does with a secret: it asks for it; names it last, or before it asks for "it"; only names it. */
export type Request = 'asks' | 'implies' | 'names' | null;

/** Several rules ask about one item, and a long one takes milliseconds. */
const found = new WeakMap<ItemTexts, boolean>();

/** Whether the title names a secret or the description asks for one; true in doubt, as a masked answer costs little. */
export const looksSecret = (item: ItemTexts) => item.isCut === true || (found.get(item) ?? atOnce(examineItem(item)));

/** `looksSecret`, which remembers what this finds. */
export function* examineItem(item: ItemTexts): Generator<void, boolean> {
	const { name: title, marks } = markedTitle(item.title);
	const text = `${title}\n${item.description}`;
	const named = { ...item, title };
	let looks = marks.has('secret') || takesSecret(named, yield* requestIn(text, true));
	if (looks && !marks.has('secret') && offersChoice(item)) looks = takesSecret(named, yield* requestIn(text));
	found.set(item, looks);
	return looks;
}

/** "Which key should I use?" above a list asks for the name of one. Parts and values of a secret are no such names. */
function offersChoice(item: ItemTexts): boolean {
	const { choice } = askedAt({ items: [item], context: '' }, 0);
	if (choice?.isWhole !== true || choice.options === YES_NO) return false;
	const isOfNames = STARTS_WITH_WHICH.test(matchingText(item.title));
	const others = isOfNames ? [VALUE] : [VALUE, ...THINGS];
	return !choice.options.some((option) => others.some((other) => has(matchingText(option), other)));
}

/** Whether an item takes the secret of a text above it, or of its description. */
export function takesSecret({ title }: ItemTexts, request: Request): boolean {
	if (request === null || request === 'asks') return request !== null;
	const text = withoutHarmless(matchingText(title));
	if (isGeneric(text)) return request === 'implies';
	const asksForOther = asksForIt(text) || isAbout(text) || text.includes(REMOVED);
	return saysLittle(text) || (request === 'implies' && !asksForOther);
}

/** A text asks when it is too long, and with a title (its first line) that names a secret. */
export function* requestIn(text: string, isTitled = false): Generator<void, Request> {
	const readings = readingsOf(text);
	if (readings === null) return 'asks';
	const requests: Request[] = [];
	for (const reading of readings) requests.push(yield* requestOf(sentencesOf(withoutHarmless(reading)), isTitled));
	return (['asks', 'implies', 'names'] as const).find((one) => requests.includes(one)) ?? null;
}

function* requestOf(sentences: readonly string[], isTitled: boolean): Generator<void, Request> {
	let request: Request = null;
	let under: 'request' | 'choice' | null = null;
	/** Whether the sentence before says what "it" may mean. */
	let isSaid = false;
	for (const [at, sentence] of sentences.entries()) {
		yield;
		// The lines under "Please provide:" are asked for, those under "Choose one:" or "Which method?" are not.
		const isChoice = isAbout(sentence);
		const asked = has(sentence, ASKS) ? 'request' : null;
		if (/[:?]\n$/.test(sentence)) under = isChoice || STARTS_WITH_WHICH.test(sentence) ? 'choice' : asked;
		else if (sentence.trim().split(' ').length > 12) under = null;
		const mentions = yield* mentionsIn(sentence);
		const isNamed = mentions.some((place) => !isHead(sentence, place));
		const isLittle = saysLittle(sentence) && (asksForIt(sentence) || sentence.trim().includes(' '));
		const isTitle = isTitled && at === 0 && (sentence.endsWith('\n') || sentences.length === 1);
		if (isTitle && !isChoice && (isNamed || isWhole(sentence))) return 'asks';
		if (isNamed && under === 'request') return 'asks';
		if (isSaid && (isLittle || has(sentence, REQUESTS_IT))) return 'asks';
		if (has(sentence, ASKS) && isWhole(sentence)) return 'asks';
		isSaid = mentions.length > 0 || has(sentence, CAME);
		if (!isLittle && asksForIt(sentence)) request = null;
		if (isSaid) request ??= 'names';
		if (!isNamed) continue;
		if (has(sentence, REQUESTS_AFTER) || (yield* namesSecret(sentence, REQUESTS))) return 'asks';
		if (under === 'choice' || isChoice) continue;
		if (ENDS_AS_QUESTION.test(sentence)) return 'asks';
		if (asksForIt(sentence) ? yield* namesSecret(sentence, ASKS) : yield* leavesOpen(sentence)) request = 'implies';
	}
	return request;
}

/** "I reached the checkout and all that remains is the CVC." */
function* leavesOpen(sentence: string): Generator<void, boolean> {
	for (const part of sentence.split(/,|;| (?:and|but|und|aber) (?=(?:\S+ ){3})/))
		if (!TELLS.test(part) && (yield* namesSecret(part))) return true;
	return false;
}

/** Whether a sentence only asks for what stands before it. */
function saysLittle(sentence: string): boolean {
	return /\p{L}{2}/u.test(sentence) && !isAbout(sentence) && !/\p{L}/u.test(sentence.replaceAll(LITTLE, ' '));
}

/** Whether all words of a sentence ask for a word that is a secret only by itself: "Please enter the code". */
function isWhole(sentence: string): boolean {
	const others = sentence.replaceAll(WHOLE, ' ');
	return others !== sentence && !/[\p{L}\p{N}]/u.test(others.replaceAll(LITTLE, ' '));
}

const ENDS_AS_QUESTION = /[?؟？]\s*$/;
const asksForIt = (sentence: string) => has(sentence, ASKS) || ENDS_AS_QUESTION.test(sentence);

/** Whether a sentence asks what to do, or for a choice, and not for the secret. */
function isAbout(sentence: string): boolean {
	if (has(sentence, REQUESTS) || has(sentence, REQUESTS_AFTER)) return false;
	if (has(sentence, METHODS)) return true;
	if (!ENDS_AS_QUESTION.test(sentence)) return false;
	const [, thing = ''] = WHICH.exec(sentence) ?? [];
	if (thing !== '') return !THINGS.some((things) => placesOf(thing, things).some((place) => !isHead(thing, place)));
	return has(sentence, ABOUT) || (has(sentence, OR) && !has(sentence, ASKS));
}

const REMOVED = ' _ ';
const withoutHarmless = (text: string) => text.replaceAll(HARMLESS, REMOVED);

/** Whether what follows these words, or all of a text, names a secret. */
function* namesSecret(text: string, asks = /^/): Generator<void, boolean> {
	const at = text.search(asks);
	const part = text.slice(at);
	return at !== -1 && (yield* mentionsIn(part)).some((place) => !isHead(part, place));
}

/** Where a text names a secret, or what is said of one. It yields: the first use of a pattern takes milliseconds. */
function* mentionsIn(text: string): Generator<void, readonly Place[]> {
	const places = [...placesOf(text, NAMES)];
	for (const pair of PAIRS) {
		places.push(...placesNear(text, pair));
		yield;
	}
	return places;
}

type Place = readonly [from: number, to: number];

/** Where matches of a global pattern stand. `matchAll` would copy the pattern, which takes longer. */
function placesOf(text: string, pattern: RegExp): readonly Place[] {
	const places: Place[] = [];
	pattern.lastIndex = 0;
	for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
		places.push([match.index, pattern.lastIndex]);
	return places;
}

/** Whether it is said of something else: "password policy", "Passwortlänge", "length of the password". */
function isHead(text: string, [from, to]: Place): boolean {
	const isAfter = (at: number) => (from + at < to ? at === 0 : OWN.test(text.slice(to, from + at)));
	const heads = placesOf(text.slice(from, to + LONGEST_HEAD), HEADS);
	if (heads.some(([start, end]) => from + end >= to && isAfter(start))) return true;
	const before = text.slice(Math.max(0, from - LONGEST_HEAD), from);
	const last = (pattern: RegExp) => before.slice(placesOf(before, pattern).at(-1)?.[1] ?? LONGEST_HEAD);
	return OF.test(last(HEADS)) || last(HEADS_BEFORE) === ' ';
}

/** Where matches of both lists stand with at most `gap` characters between. They may overlap. */
function placesNear(text: string, [list, otherList, gap]: (typeof PAIRS)[number]): readonly Place[] {
	const others = placesOf(text, otherList);
	let at = 0;
	return (others.length === 0 ? others : placesOf(text, list)).flatMap(([from, to]): Place[] => {
		while ((others[at]?.[1] ?? text.length) + gap < from) at += 1;
		const [start, end] = others[at] ?? [Number.POSITIVE_INFINITY, 0];
		return start > to + gap ? [] : [[Math.min(from, start), Math.max(to, end)]];
	});
}

function sentencesOf(text: string): string[] {
	// A full stop inside a word (".env", "cookies.txt") does not end a sentence.
	const sentences = text.match(/(?:[^.!?;؟。\n]|[.!?](?!\s|$))+[.!?;؟。]?\n?/g) ?? [];
	return sentences.flatMap((sentence) => sentence.split(BEFORE_ASKING).map((part) => part.trimStart()));
}
