import { setBounded } from '../core/values.ts';
import { LETTER, oneOf, wordList } from './word-list.ts';

/* What words do in the questions of agents, by language: `words/options/`. */

const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'ru', 'tr', 'zh'] as const;
type Language = (typeof LANGUAGES)[number];
/** What an entry does: `words/options/en.txt` says it of each, and `de.txt` and `pt.txt` of what only they have. */
// biome-ignore format: a list of words
const ROLES = [
	'choose', 'between', 'or', 'or here', 'and', 'yes', 'no', 'which', 'what', 'open', 'ask', 'unsure', 'several', 'number', 'one',
	'rank', 'facts', 'gone', 'not', 'parts', 'example', 'type', 'typed', 'reason', 'more', 'data', 'other', 'answer', 'points',
	'opener', 'speech', 'prose', 'remark', 'article', 'rule', 'short', 'suffix', 'month', 'common',
] as const;
export type Role = (typeof ROLES)[number];

/** A text as entries match it: lower case, without marks of emphasis, a plain space between words. Line ends stay. */
export function readable(text: string): string {
	return text
		.normalize('NFC')
		.toLowerCase()
		.replace(/[*`]/g, '')
		.replace(/[’´]/g, "'")
		.replaceAll('：', ':')
		.replace(/[_\p{Pd}]|[^\S\n]/gu, ' ')
		.replace(/ {2,}/g, ' ')
		.trim();
}

/** The sentences and lines of a text, with their marks. */
export function sentencesOf(text: string): readonly string[] {
	return text.split(/\n|(?<=[.?!؟])\s+|(?<=[。？！।])/).filter((sentence) => sentence.trim() !== '');
}

type Entry = (typeof ENTRIES)[number];
const ENTRIES = LANGUAGES.flatMap((language) =>
	wordList(`options/${language}`).map((line) => {
		const [name, text = ''] = line.split(/: (.*)/);
		const role = ROLES.find((one) => one === name);
		if (role === undefined || text === '') throw new Error(`words/options/${language}.txt: not an entry: ${line}`);
		return { language, role, text: readable(text) };
	}),
);
const BY_TEXT = Map.groupBy(ENTRIES, ({ text }) => text);
const BY_LANGUAGE = Map.groupBy(ENTRIES, ({ language }) => language);

/** Scripts without spaces between words. */
const UNSPACED = /[\u1100-\u11ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
const WORD = LETTER.replace(']', '\\d]');
const NO_WORDS = `[^\\n${WORD.slice(1)}*`;

/** The edges of a sentence, and what stands for words. */
const STANDS_FOR = {
	'^': `(?<=^${NO_WORDS})`,
	$: `(?=${NO_WORDS}$)`,
	'…': `[^\\s${WORD.slice(1)}* (?:\\S+ ){0,5}`,
	'~': `${LETTER}+`,
};

/** Any of these entries, in what `readable` gives, with a sentence a line. */
function anyOf(entries: readonly Entry[]): RegExp {
	const rows = entries.map(({ text }) =>
		text
			.replace(/^(.*) …$/, '^$1')
			.replace(/^… (.*)$/, '$1$')
			.replace(' … ', '…'),
	);
	const { inside = [], apart = [] } = Object.groupBy(rows, (row) => (UNSPACED.test(row) ? 'inside' : 'apart'));
	return new RegExp(`(?<!${WORD})${oneOf(apart, STANDS_FOR)}(?!${WORD})|${oneOf(inside, STANDS_FOR)}`, 'gmu');
}

const wordsOf = (text: string) => new Set(text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
/** The words of all entries, with the languages that have them. */
const VOCABULARY = Map.groupBy(
	Array.from(BY_LANGUAGE).flatMap(([language, entries]) =>
		Array.from(wordsOf(entries.map(({ text }) => text).join(' ')), (word) => ({ word, language })),
	),
	({ word }) => word,
);
const UNSPACED_WORDS = Array.from(VOCABULARY.keys()).filter((word) => UNSPACED.test(word));

/** By language and role. */
const PATTERNS = new Map<string, RegExp>();

function patternOf(language: Language, role: Role): RegExp {
	const key = `${language} ${role}`;
	const entries = () => BY_LANGUAGE.get(language)?.filter((entry) => entry.role === role) ?? [];
	const pattern = PATTERNS.get(key) ?? anyOf(entries());
	PATTERNS.set(key, pattern);
	return pattern;
}

/** Of which the patterns are remembered. */
const MAX_LANGUAGE_SETS = 100;
const BUILT = new WeakMap<Build, Map<string, RegExp>>();

export type Build = (entries: (...roles: Role[]) => string) => string;

/** The words of the languages that a text may be in: those with the most words in it, and all without any. */
export class Words {
	readonly #languages: readonly Language[];
	/** The one with the most words; null where several have as many. */
	readonly #main: Language | null;

	constructor(text: string) {
		const said = readable(text);
		const inside = UNSPACED.test(said) ? UNSPACED_WORDS.filter((word) => said.includes(word)) : [];
		const found = Array.from(new Set([...wordsOf(said), ...inside])).flatMap((word) => VOCABULARY.get(word) ?? []);
		const counts = LANGUAGES.map((name) => found.filter(({ language }) => language === name).length);
		const most = Math.max(...counts);
		this.#languages = LANGUAGES.filter((_, at) => (counts[at] ?? 0) * 2 >= most);
		const [main = null, another] = LANGUAGES.filter((_, at) => counts[at] === most);
		this.#main = another === undefined ? main : null;
	}

	/** Whether a sentence has an article that looks like "or" of another language. */
	hasArticle(sentence: string): boolean {
		return this.#main !== null && sentence.search(patternOf(this.#main, 'article')) !== -1;
	}

	/** Whether a sentence of a text, as `readable` gives it, has an entry of one of these roles. */
	says(text: string, ...roles: readonly Role[]): boolean {
		const lines = sentencesOf(text).join('\n');
		return this.#languages.some((language) => roles.some((role) => lines.search(patternOf(language, role)) !== -1));
	}

	/** Whether all of a text is an entry of one of these roles. */
	is(text: string, ...roles: readonly Role[]): boolean {
		const entries = BY_TEXT.get(readable(text)) ?? [];
		// A title such as "Answer" may be in another language than the question.
		return entries.some(
			({ role, language }) => roles.includes(role) && (role === 'answer' || this.#languages.includes(language)),
		);
	}

	/** A pattern of these languages, remembered by `build`, which gets a function that gives the entries of roles as alternatives. */
	pattern(build: Build, flags = 'u'): RegExp {
		const languages = this.#languages.join(' ');
		const known = BUILT.get(build) ?? new Map<string, RegExp>();
		const entriesOf = (...roles: readonly Role[]) => {
			const entries = ENTRIES.filter(
				({ role, language }) => roles.includes(role) && this.#languages.includes(language),
			);
			const longestFirst = entries.toSorted((one, other) => other.text.length - one.text.length);
			const texts = longestFirst.map(({ text }) => text.replace(/^… | …$/g, '')).filter((text) => !text.includes('~'));
			return texts.map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('|') || '(?!)';
		};
		const pattern = known.get(languages) ?? new RegExp(build(entriesOf), flags);
		setBounded(known, languages, pattern, MAX_LANGUAGE_SETS);
		BUILT.set(build, known);
		return pattern;
	}
}
