import { matchingText } from './texts.ts';
import { oneOf, wordList } from './word-list.ts';

/* The words of `words/asking/`, in 15 languages: one entry a line, behind its language. */

type List =
	| 'and'
	| 'articles'
	| 'asks'
	| 'asks-at-end'
	| 'decisions'
	| 'lists'
	| 'open'
	| 'or'
	| 'rank'
	| 'reply'
	| 'several'
	| 'wh'
	| 'which'
	| 'yes-no'
	| 'you';

/** Scripts without spaces between words. */
const UNSPACED = /[\u1100-\u11ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
const NOT_IN_WORD = ['(?<![\\p{L}\\p{N}])', '(?![\\p{L}\\p{N}])'] as const;

interface Entry {
	readonly language: string;
	/** As `matchingText` writes it. */
	readonly text: string;
}

const entriesOf = (name: List): readonly Entry[] =>
	wordList(`asking/${name}`).flatMap((line) => {
		const [language = '', entries = ''] = line.split(': ');
		// `matchingText` drops the star.
		return entries.split(' | ').map((entry) => ({ language, text: entry.split('*').map(matchingText).join('*') }));
	});

function sourceOf(entries: readonly Entry[]): string {
	const texts = entries.map(({ text }) => text);
	const { inside = [], apart = [] } = Object.groupBy(texts, (text) => (UNSPACED.test(text) ? 'inside' : 'apart'));
	return `(?:${NOT_IN_WORD[0]}${oneOf(apart)}${NOT_IN_WORD[1]}|${oneOf(inside)})`;
}

const PATTERNS = new Map<string, RegExp>();

/** The pattern of a list, of one language or of all; made once. `frame`: what stands around it. */
function patternOf(name: List, frame: (source: string) => string, language?: string): RegExp {
	const key = `${name} ${frame('')} ${language}`;
	const entries = () => entriesOf(name).filter((entry) => language === undefined || entry.language === language);
	const pattern = PATTERNS.get(key) ?? new RegExp(frame(sourceOf(entries())), 'u');
	PATTERNS.set(key, pattern);
	return pattern;
}

const anywhere = (source: string) => source;
const whole = (source: string) => `^${source}$`;
const atStart = (source: string) => `^${source}`;
const atEnd = (source: string) => `${source}$`;

/** Without what stands around the words of a sentence. */
const bare = (text: string) => matchingText(text).replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');

/** Whether a text has an entry of this list, in one language or in any. */
export const says = (name: List, text: string, language?: string) =>
	patternOf(name, anywhere, language).test(matchingText(text));

/** Whether a text is an entry of this list as a whole. */
export const isWhole = (name: List, text: string) => text.length < 60 && patternOf(name, whole).test(bare(text));

export const begins = (name: List, text: string, language?: string) =>
	patternOf(name, atStart, language).test(bare(text.slice(0, 200)));

export const ends = (name: List, text: string, language?: string) =>
	patternOf(name, atEnd, language).test(bare(text.slice(-200)));

export const LANGUAGES = [
	'ar',
	'de',
	'en',
	'es',
	'fr',
	'hi',
	'it',
	'ja',
	'ko',
	'nl',
	'pl',
	'pt',
	'ru',
	'tr',
	'zh',
] as const;

/** The languages in which a question is one that yes or no answers, by its first or last words. */
export const languagesThatAsk = (question: string) =>
	LANGUAGES.filter(
		(language) =>
			begins('asks', question, language) ||
			ends('asks-at-end', question, language) ||
			begins('decisions', question, language) ||
			ends('decisions', question, language),
	);

/** What stands before "A or B" in "Reply with A or B", as the source of a pattern for `matchingText`. */
export const wordsBefore = (name: 'reply') => patternOf(name, anywhere);

/** The keys of lists with options, in lower case. */
export const listKeys = (lines: readonly string[]) =>
	new Set(lines.flatMap((line) => line.slice(line.indexOf(':') + 1).split('|')).map((key) => key.trim().toLowerCase()));

/** "A or B" in two. A word stands on both sides. */
export const splitAtOr = (text: string): readonly string[] => {
	const words = text.trim().split(' ');
	const at = words.findIndex((word, place) => place > 0 && place < words.length - 1 && isWhole('or', word));
	return at === -1 ? [text] : [words.slice(0, at).join(' '), words.slice(at + 1).join(' ')];
};
