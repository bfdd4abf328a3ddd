import { atOnce } from '../core/slices.ts';
import { isGeneric, matchingText, readingsOf } from './matching-text.ts';
import type { ItemTexts } from './session.ts';
import { phrases } from './word-list.ts';

/* What names a secret, and how agents ask, stands in the word lists of `words/secret/`. Patterns match `matchingText`. */

const list = (...names: readonly string[]) => phrases(...names.map((name) => `secret/${name}`));
const has = (text: string, pattern: RegExp) => text.search(pattern) !== -1;

const AND = '(?:and|but|so|now|then|und|et|y|e)';

/** A secret by its name alone. */
const NAMES = list('names');
/** Two words that name a secret together, at most this many characters apart: "code from the SMS", "API key". */
const PAIRS = [
	[list('codes'), list('code-kinds'), 24],
	[list('codes'), list('came', 'messages', 'phones'), 30],
	[list('digits'), list('came', 'messages'), 30],
	[list('counts'), list('count-words'), 2],
	[list('keys'), list('key-kinds'), 12],
	[list('links'), list('link-kinds'), 16],
	[list('cards'), list('card-parts', 'codes'), 26],
	[list('cookies'), list('cookie-kinds'), 12],
] as const;
/** Removed before these are tried. */
const HARMLESS = list('harmless');
/** What makes the name of a secret ordinary: "password policy", "length of the password". */
const HEADS = list('heads');
const OF = new RegExp(`^ ${list('of').source} $`, 'u');
const LONGEST_HEAD = 40;
const WHOLE = list('whole');
/** What came to a person: a later "What is it?" asks for its contents. */
const CAME = list('messages', 'a-code');

/** A sentence with such a word asks for something, so it does not only mention the name of a secret. */
const ASKS = list('asks', 'asks-after', 'wanted');
const VERBS = list('asks');
const REQUESTS_AFTER = list('asks-after');
const REQUESTS_IT = list('asks-for-it');
/** The words of a sentence that asks for what stands before it. */
const LITTLE = list('asks', 'asks-after', 'little', 'links');
const METHODS = list('methods');
const [OFFERS_CHOICE, OR] = [list('choice'), list('or')];
const ABOUT = new RegExp(`^[^\\p{L}]*(?:${AND} ){0,3}${list('about').source}|${list('acts-elsewhere').source}`, 'u');
/** "Which page should the magic link open?" asks for a page. */
const WHICH = new RegExp(
	`^[^\\p{L}]*${list('which', 'what').source} ([\\p{L}\\p{N} ]{1,60}?) ${list('auxiliaries').source}`,
	'u',
);
const STARTS_WITH_WHICH = new RegExp(`^[^\\p{L}]*${list('which').source}`, 'u');
const THINGS = [NAMES, list('whole', 'codes', 'digits', 'keys', 'links', 'cards')];

/** Asks the reader: "to enter" and "I sent" tell of something else. */
const REQUESTS = new RegExp(`(?<!(?:to|i|we|you|they|it|should|shall) )${VERBS.source}`, 'u');
/** Where a sentence turns from what it tells to what it asks: "The password is new, which colour?" */
const BEFORE_ASKING = new RegExp(`(?:[,:;] | (?=${AND} ))(?=(?:${AND} ){0,9}${list('turns', 'asks').source})`, 'u');
/** Tells what was done. */
const TELLS = new RegExp(`^[^\\p{L}]*${list('tells').source}`, 'u');

/** What a text is about a secret: it asks for it; it names it last, or before it asks for "it"; it only names it. */
export type Request = 'asks' | 'implies' | 'names' | null;

/** Several rules ask about one item, and of a long one it takes milliseconds. */
const found = new WeakMap<ItemTexts, boolean>();

/** Whether the title names a secret or the description asks for one; true in doubt, because a masked answer costs little. */
export function looksSecret(item: ItemTexts): boolean {
	return item.isCut === true || (found.get(item) ?? atOnce(examineItem(item)));
}

/** `looksSecret`, which remembers what this finds. */
export function* examineItem(item: ItemTexts): Generator<void, boolean> {
	const isNamed = !offersList(item) && (yield* isSecretTitle(item.title));
	const looks = isNamed || takesSecret(item, yield* requestIn(item.description));
	found.set(item, looks);
	return looks;
}

/** "Which key should I use?" above a list asks for the name of one. */
function offersList({ title, description }: ItemTexts): boolean {
	const lines = description.match(/^[^\S\n]*(?:[-*•–]|\d{1,2}[.)])[^\S\n]/gm) ?? [];
	return lines.length > 1 && STARTS_WITH_WHICH.test(matchingText(title));
}

/** Whether an item takes the secret of a text above it, or of its description. */
export function takesSecret({ title }: ItemTexts, request: Request): boolean {
	if (request === null || request === 'asks') return request !== null;
	const text = withoutHarmless(matchingText(title));
	if (isGeneric(text)) return request === 'implies';
	const asksForOther = asksForIt(text) || has(text, METHODS) || text.includes(REMOVED);
	return saysLittle(text) || (request === 'implies' && !asksForOther);
}

function* isSecretTitle(text: string): Generator<void, boolean> {
	const readings = readingsOf(text);
	for (const reading of readings ?? []) {
		yield;
		const [title = '', ...others] = sentencesOf(withoutHarmless(reading));
		const request = others.length > 0 ? yield* requestOf([title, ...others]) : null;
		if (request === 'asks' || request === 'implies') return true;
		if (others.length === 0 && !isAbout(title) && (isWhole(title) || (yield* namesSecret(title)))) return true;
	}
	return readings === null;
}

/** What a text of several sentences is about a secret. It asks when it is too long. */
export function* requestIn(text: string): Generator<void, Request> {
	const readings = readingsOf(text);
	if (readings === null) return 'asks';
	const requests: Request[] = [];
	for (const reading of readings) {
		yield;
		requests.push(yield* requestOf(sentencesOf(withoutHarmless(reading))));
	}
	return (['asks', 'implies', 'names'] as const).find((one) => requests.includes(one)) ?? null;
}

function* requestOf(sentences: readonly string[]): Generator<void, Request> {
	let request: Request = null;
	let under: 'request' | 'choice' | null = null;
	/** Whether what "it" may mean, the sentence before, is a secret. */
	let isBefore = false;
	for (const sentence of sentences) {
		yield;
		// The lines under "Please provide:" are asked for, those under "Choose one:" or "Which method?" are not.
		const isChoice = has(sentence, OFFERS_CHOICE) || isAbout(sentence);
		if (/[:?]\n$/.test(sentence)) {
			under = has(sentence, ASKS) ? 'request' : null;
			if (isChoice || STARTS_WITH_WHICH.test(sentence)) under = 'choice';
		} else if (sentence.trim().split(' ').length > 6) under = null;
		const isNamed = yield* namesSecret(sentence);
		const isLittle = saysLittle(sentence) && (asksForIt(sentence) || sentence.trim().includes(' '));
		if (isNamed && under === 'request') return 'asks';
		if (isBefore && (isLittle || has(sentence, REQUESTS_IT))) return 'asks';
		if (has(sentence, ASKS) && isWhole(sentence)) return 'asks';
		isBefore = isNamed || has(sentence, CAME);
		if (!isLittle && asksForIt(sentence)) request = null;
		if (isNamed || has(sentence, CAME)) request ??= 'names';
		if (!isNamed) continue;
		if (has(sentence, REQUESTS_AFTER) || (yield* namesAfter(REQUESTS, sentence))) return 'asks';
		if (under === 'choice' || isChoice) continue;
		if (isQuestion(sentence)) return 'asks';
		if (asksForIt(sentence) ? yield* namesAfter(ASKS, sentence) : yield* leavesOpen(sentence)) request = 'implies';
	}
	return request;
}

/** "I reached the checkout and all that remains is the CVC." */
function* leavesOpen(sentence: string): Generator<void, boolean> {
	for (const part of sentence.split(/,|;| (?:and|but|und|aber) (?=(?:\S+ ){3})/))
		if (!TELLS.test(part) && (yield* namesSecret(part))) return true;
	return false;
}

function* namesAfter(asks: RegExp, sentence: string): Generator<void, boolean> {
	const at = sentence.search(asks);
	return at !== -1 && (yield* namesSecret(sentence.slice(at)));
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

function asksForIt(sentence: string): boolean {
	return has(sentence, ASKS) || isQuestion(sentence);
}

const ENDS_AS_QUESTION = /[?؟？]\s*$/;

function isQuestion(sentence: string): boolean {
	return ENDS_AS_QUESTION.test(sentence) && !has(sentence, OFFERS_CHOICE);
}

/** Whether a sentence asks what to do, about a secret, or for a choice, and not for the secret. */
function isAbout(sentence: string): boolean {
	if (has(sentence, REQUESTS) || has(sentence, REQUESTS_AFTER)) return false;
	if (has(sentence, METHODS)) return true;
	if (!ENDS_AS_QUESTION.test(sentence)) return false;
	const [, thing = ''] = WHICH.exec(sentence) ?? [];
	if (thing !== '') return !THINGS.some((things) => has(thing, things));
	return has(sentence, ABOUT) || (has(sentence, OR) && !has(sentence, ASKS));
}

const REMOVED = ' _ ';
const withoutHarmless = (text: string) => text.replaceAll(HARMLESS, REMOVED);

/** It yields between lists: the first use of a pattern takes milliseconds. */
function* namesSecret(text: string): Generator<void, boolean> {
	if (placesOf(text, NAMES).some((place) => !isHead(text, place))) return true;
	for (const pair of PAIRS) {
		if (areNear(text, pair)) return true;
		yield;
	}
	return false;
}

interface Place {
	readonly from: number;
	readonly to: number;
}

/** Where matches of a global pattern stand. `matchAll` would copy the pattern, which takes longer than this. */
function placesOf(text: string, pattern: RegExp): readonly Place[] {
	const places: Place[] = [];
	pattern.lastIndex = 0;
	for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
		places.push({ from: match.index, to: pattern.lastIndex });
	return places;
}

/** Whether what stands there is said of something else: "password policy", "length of the password". */
function isHead(text: string, { from, to }: Place): boolean {
	if ((placesOf(text.slice(to, to + LONGEST_HEAD), HEADS)[0]?.from ?? 2) < 2) return true;
	const before = text.slice(Math.max(0, from - LONGEST_HEAD), from);
	return OF.test(before.slice(placesOf(before, HEADS).at(-1)?.to));
}

/** Whether matches of both lists stand in a text with at most `gap` characters between. They may overlap. */
function areNear(text: string, [list, otherList, gap]: (typeof PAIRS)[number]): boolean {
	const others = placesOf(text, otherList);
	let at = 0;
	return (others.length === 0 ? others : placesOf(text, list)).some(({ from, to }) => {
		while ((others[at]?.to ?? text.length) + gap < from) at += 1;
		const other = others[at];
		if (other === undefined || other.from > to + gap) return false;
		return !isHead(text, { from: Math.min(from, other.from), to: Math.max(to, other.to) });
	});
}

function sentencesOf(text: string): string[] {
	// A full stop inside a word (".env", "cookies.txt") does not end a sentence.
	const sentences = text.match(/(?:[^.!?;؟。\n]|[.!?](?!\s|$))+[.!?;؟。]?\n?/g) ?? [];
	return sentences.flatMap((sentence) => sentence.split(BEFORE_ASKING).map((part) => part.trimStart()));
}
