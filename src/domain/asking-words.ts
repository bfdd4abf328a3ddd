import { setBounded } from '../kernel/memory.ts';
import { matchingText } from './matching-text.ts';
import { oneOf, wordList } from './word-list.ts';

/* Matches texts with the word lists of `words/asking/`. A line has a language and its entries. */

// biome-ignore format: a list of names
export const LANGUAGES = [
	'ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'ru', 'tr', 'zh',
] as const;
export type Language = (typeof LANGUAGES)[number];
// biome-ignore format: a list of words
type List =
	| 'and' | 'asks' | 'asks-at-end' | 'decisions' | 'lists' | 'more' | 'open' | 'or' | 'please' | 'rank' | 'reply'
	| 'several' | 'these' | 'wh' | 'which' | 'yes-no' | 'you';
/** Where an entry has to stand in a text. */
type Place = 'anywhere' | 'start' | 'end' | 'whole';

/** Scripts without spaces between words. */
const UNSPACED = /[\u1100-\u11ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
/** UTF-16 units at the start or end of a text that are searched for an entry with the place `start` or `end`. */
const EDGE = 200;

/** By list: its entries with their language, in the form of `matchingText`. */
const ENTRIES = new Map<List, readonly (readonly [language: string, entry: string])[]>();

function entriesOf(list: List, language: Language | undefined): readonly string[] {
	const all = ENTRIES.get(list) ?? wordList(`asking/${list}`).flatMap(entriesIn);
	ENTRIES.set(list, all);
	return all.flatMap(([of, entry]) => (of === (language ?? of) ? [entry] : []));
}

function entriesIn(line: string) {
	const [language = '', entries = ''] = line.split(': ');
	// `matchingText` would remove the star and the leading space, which have a meaning in an entry.
	const matching = (part: string) => (part.startsWith(' ') ? ' ' : '') + matchingText(part);
	return entries.split(' | ').map((entry) => [language, entry.split('*').map(matching).join('*')] as const);
}

/** Marks around the words of a text do not count. */
const [START, END] = ['^[^\\p{L}\\p{N}]*', '[^\\p{L}\\p{N}]*$'];

const PATTERNS = new Map<string, RegExp>();

function patternOf(list: List, place: Place, language: Language | undefined): RegExp {
	const key = `${list} ${place} ${language}`;
	const known = PATTERNS.get(key);
	if (known !== undefined) return known;
	const isInside = (entry: string) => (UNSPACED.test(entry) ? 'inside' : 'apart');
	const { inside = [], apart = [] } = Object.groupBy(entriesOf(list, language), isInside);
	const source = `(?:(?<![\\p{L}\\p{N}])${oneOf(apart)}(?![\\p{L}\\p{N}])|${oneOf(inside)})`;
	const [from, to] = { anywhere: ['', ''], start: [START, ''], end: ['', END], whole: [START, END] }[place];
	const pattern = new RegExp(`${from}${source}${to}`, 'u');
	PATTERNS.set(key, pattern);
	return pattern;
}

/** `matchingText` of recent texts, because callers try several lists on one text. */
const MATCHED = new Map<string, string>();
const MOST_MATCHED = 50;

function matched(text: string): string {
	const plain = MATCHED.get(text) ?? matchingText(text);
	setBounded(MATCHED, text, plain, MOST_MATCHED);
	return plain;
}

/** Whether a text has an entry of this list at this place. Without `language`, in any language. */
export function says(list: List, text: string, place: Place = 'anywhere', language?: Language): boolean {
	if (place === 'anywhere') return patternOf(list, place, language).test(matched(text));
	if (place === 'whole' && text.length > EDGE) return false;
	const edge = matched(place === 'end' ? text.slice(-EDGE) : text.slice(0, EDGE));
	return patternOf(list, place, language).test(edge);
}

/** Whether a text has an entry of this list in a language without spaces between words. */
export const saysInside = (list: List, text: string) =>
	(['ja', 'ko', 'zh'] as const).some((language) => says(list, text, 'anywhere', language));

/** "A or B" as ["A", "B"]; a text without such a word as one part. */
export function splitAtOr(text: string): readonly string[] {
	const words = text.trim().split(/\s+/);
	const at = words.findLastIndex((word, place) => place > 0 && place < words.length - 1 && says('or', word, 'whole'));
	return at === -1 ? [text] : [words.slice(0, at).join(' '), words.slice(at + 1).join(' ')];
}
