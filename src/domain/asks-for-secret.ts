import { atOnce } from '../kernel/lease-loop.ts';
import { says } from './asking-words.ts';
import { askedAt } from './options.ts';
import type { ItemTexts } from './session.ts';
import { isGeneric, matchingText } from './texts.ts';
import { phrases } from './word-list.ts';

// Patterns match `matchingText`.

/** What names a secret, in any language. */
const NAMES = phrases('secret/passwords', 'secret/names', 'secret/files');
const CODES = phrases('secret/codes');
/** Two kinds of words that name a secret together: "the code" and "by SMS". */
const PAIRS = [
	[CODES, phrases('secret/ways')],
	[phrases('secret/keys'), phrases('secret/kinds', 'secret/several-lines', 'secret/files')],
] as const;
/** Removed before the others are tried: "password policy". */
const HARMLESS = phrases('secret/harmless');
/** "What is the password?", "Please enter it here" */
const ASKS_FOR = new RegExp(`^[^\\p{L}\\p{N}]*(?:please )?${phrases('secret/asks-for').source}`, 'u');
/** A word of Latin and Cyrillic letters does not say what people read. */
const TWO_SCRIPTS = /[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z]/;
/** The mark at another place, "Name (secret)?", which `npm run ask` tells: in doubt, the answer is hidden. */
const MISPLACED = /[([]\s?(?:[a-z]{3,8}[\s,;/+&]{1,3}){0,3}secret(?:[\s,;/+&]{1,3}[a-z]{3,8}){0,3}\s?[)\]]/i;
const ENDS_AS_QUESTION = /[?？؟]\s*$/;

/** Several rules ask about one item, and a long one takes milliseconds. */
const found = new WeakMap<ItemTexts, boolean>();

/**
 * Whether an item is marked `(secret)`, or its title or description names a secret that it asks for. A question how,
 * where or whether does not ask for it.
 */
export const looksSecret = (item: ItemTexts) => item.isCut === true || (found.get(item) ?? atOnce(examineItem(item)));

/** `looksSecret`, which remembers what this finds. */
export function* examineItem(item: ItemTexts): Generator<void, boolean> {
	const { name, marks, choice } = askedAt({ items: [item], context: '' }, 0);
	let looks = marks.has('secret') || [name, item.description].some((text) => MISPLACED.test(text.normalize('NFKC')));
	// Among its options, a secret is a way ("Password or link?"), not what is asked for.
	for (const text of choice === null ? [name, item.description] : [name])
		looks ||= yield* namesSecret(sentencesOf(text));
	// "Code" above "The bank sent you a text message."
	if (isCode(name) && choice === null)
		looks ||= yield* namesSecret(sentencesOf(item.description).map((one) => `${name} ${one}`));
	found.set(item, looks);
	return looks;
}

/**
 * Whether the text above a lone item asks for a secret: the item says nothing of its own, and the last sentence names
 * one. A short sentence goes on with the one before: "The bank texted a code. Please paste it here."
 */
export function* asksAbove(context: string, { title, description }: ItemTexts): Generator<void, boolean> {
	if (!saysLittle(title) || !saysLittle(description)) return false;
	const [last = '', before = ''] = sentencesOf(context).toReversed();
	if (yield* namesSecret([last])) return true;
	// "The password is set; which colour?" asks something of its own.
	if (last.length > LONGEST_LITTLE || asksAbout(last, matchingText(last)) || says('which', last, 'start')) return false;
	return yield* namesSecret([before]);
}

/** UTF-16 units. Longer texts say something of their own. */
const LONGEST_LITTLE = 45;

/** "Answer", "Code", "Enter it here" */
function saysLittle(whole: string): boolean {
	const text = matchingText(whole.slice(0, LONGEST_LITTLE + 1));
	return isGeneric(text) || (text.length <= LONGEST_LITTLE && (text.search(CODES) !== -1 || ASKS_FOR.test(text)));
}

/** Whether a title is only a word for a code. */
const isCode = (name: string) =>
	name.length <= LONGEST_LITTLE && /^[^\p{L}\p{N}]*$/u.test(matchingText(name).replace(CODES, ''));

/** "Where should I store the password?" asks for a place. `text`: its `matchingText`. */
const asksAbout = (sentence: string, text: string) =>
	ENDS_AS_QUESTION.test(sentence) &&
	!ASKS_FOR.test(text) &&
	(says('asks', sentence, 'start') || says('wh', sentence, 'start'));

function* namesSecret(sentences: readonly string[]): Generator<void, boolean> {
	for (const sentence of sentences) {
		yield;
		const text = matchingText(sentence);
		if (TWO_SCRIPTS.test(text)) return true;
		if (asksAbout(sentence, text)) continue;
		const asked = text.replaceAll(HARMLESS, ' _ ');
		const has = (words: RegExp) => asked.search(words) !== -1;
		if (has(NAMES) || PAIRS.some((pair) => pair.every(has))) return true;
	}
	return false;
}

/**
 * In parts of at most 2,000 units, because one character may stand for 18 letters. A full stop inside a word (".env",
 * "cookies.txt") ends no sentence.
 */
const sentencesOf = (text: string): readonly string[] =>
	text.match(/(?:[^.!?;؟。！？\n]|[.!?](?!\s|$)){1,2000}[.!?;؟。！？]?/g)?.filter((one) => /[\p{L}\p{N}]/u.test(one)) ??
	[];
