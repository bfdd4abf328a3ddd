import { runSync } from '../kernel/slices.ts';
import { says } from './asking-words.ts';
import { isGeneric, matchingText } from './matching-text.ts';
import { askedAt } from './options.ts';
import type { ItemTexts } from './session.ts';
import { phrases } from './word-list.ts';

// The patterns of word lists are applied to `matchingText`.

/** Words that name a secret, in any language. */
const NAMES = phrases('secret/passwords', 'secret/names', 'secret/files');
const CODES = phrases('secret/codes');
/** Two kinds of words that name a secret together: "the code" and "by SMS". */
const PAIRS = [
	[CODES, phrases('secret/ways')],
	[phrases('secret/keys'), phrases('secret/kinds', 'secret/several-lines', 'secret/files')],
] as const;
/** Phrases that ask for no secret although they name one, such as "password policy". They are removed first. */
const HARMLESS = phrases('secret/harmless');
/** "What is the password?", "Please enter it here" */
const ASKS_FOR = new RegExp(`^[^\\p{L}\\p{N}]*(?:please )?${phrases('secret/asks-for').source}`, 'u');
/** A word that mixes Latin and Cyrillic letters may hide the word that people read. */
const TWO_SCRIPTS = /[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z]/;
/** The mark `(secret)` at a wrong place: "Name (secret)?". `npm run ask` reports it. In doubt, the answer is hidden. */
const MISPLACED = /[([]\s?(?:[a-z]{3,8}[\s,;/+&]{1,3}){0,3}secret(?:[\s,;/+&]{1,3}[a-z]{3,8}){0,3}\s?[)\]]/i;
const ENDS_AS_QUESTION = /[?？؟]\s*$/;

/** Results by item: several rules ask about one item, and a long item takes milliseconds. */
const found = new WeakMap<ItemTexts, boolean>();

/**
 * Whether an item asks for a secret: it is marked `(secret)`, or its title or description names one. A question that
 * asks how, where or whether does not count. A cut item counts as secret.
 */
export const looksSecret = (item: ItemTexts) => item.isCut === true || (found.get(item) ?? runSync(examineItem(item)));

/** Finds the result of `looksSecret` in short steps, and remembers it. */
export function* examineItem(item: ItemTexts): Generator<void, boolean> {
	const { name, marks, choice } = askedAt({ items: [item], context: '' }, 0);
	let looks = marks.has('secret') || [name, item.description].some((text) => MISPLACED.test(text.normalize('NFKC')));
	// "Password or link?" offers ways as options and asks for no password, so only the name counts.
	for (const text of choice === null ? [name, item.description] : [name])
		looks ||= yield* namesSecret(sentencesOf(text));
	// The title "Code" with the description "The bank sent you a text message."
	if (isCode(name) && choice === null)
		looks ||= yield* namesSecret(sentencesOf(item.description).map((one) => `${name} ${one}`));
	found.set(item, looks);
	return looks;
}

/**
 * Whether the text above a lone item asks for a secret. The item itself must say nothing, and the last sentence above
 * it must name a secret. If that one is short, the one before counts too: "The bank texted a code. Please paste it."
 */
export function* asksAbove(context: string, { title, description }: ItemTexts): Generator<void, boolean> {
	if (!saysLittle(title) || !saysLittle(description)) return false;
	const [last = '', before = ''] = sentencesOf(context).toReversed();
	if (yield* namesSecret([last])) return true;
	// "The password is set; which colour?" asks something of its own.
	if (last.length > LONGEST_LITTLE || asksAbout(last, matchingText(last)) || says('which', last, 'start')) return false;
	return yield* namesSecret([before]);
}

/** UTF-16 units. A longer text says what it asks for. */
const LONGEST_LITTLE = 45;

/** Whether a text is empty or generic: "Answer", "Code", "Enter it here". */
function saysLittle(whole: string): boolean {
	const text = matchingText(whole.slice(0, LONGEST_LITTLE + 1));
	return isGeneric(text) || (text.length <= LONGEST_LITTLE && (text.search(CODES) !== -1 || ASKS_FOR.test(text)));
}

/** Whether a title consists only of words for a code. */
const isCode = (name: string) =>
	name.length <= LONGEST_LITTLE && /^[^\p{L}\p{N}]*$/u.test(matchingText(name).replace(CODES, ''));

/** "Where should I store the password?" asks for a place. `text`: `matchingText` of the sentence. */
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
 * Sentences of at most 2,000 UTF-16 units, because NFKD makes up to 18 letters of one character. A full stop inside a
 * word (".env", "cookies.txt") ends no sentence.
 */
const sentencesOf = (text: string): readonly string[] =>
	text.match(/(?:[^.!?;؟。！？\n]|[.!?](?!\s|$)){1,2000}[.!?;؟。！？]?/g)?.filter((one) => /[\p{L}\p{N}]/u.test(one)) ??
	[];
