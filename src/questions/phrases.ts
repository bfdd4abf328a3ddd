import { setBounded } from '../core/values.ts';
import { wordList } from './word-list.ts';

/* What words do in the questions of agents, by language: `words/options/`. */

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
/** What an entry does: `words/options/en.txt` says it of each. */
// biome-ignore format: a list of words
const ROLES = [
	'choose', 'between', 'or', 'or here', 'and', 'yes', 'no', 'which', 'what', 'open', 'ask', 'unsure', 'several', 'number', 'one',
	'rank', 'facts', 'parts', 'example', 'type', 'typed', 'reason', 'more', 'data', 'other', 'answer', 'points',
	'opener', 'speech', 'prose', 'rule', 'short', 'suffix', 'common',
] as const;
export type Role = (typeof ROLES)[number];

interface Entry {
	readonly language: string;
	readonly role: Role;
	/** As `readable` gives it, without the `…` at an end. */
	readonly text: string;
	/** `…` and `*` included. */
	readonly tokens: readonly string[];
	readonly begins: boolean;
	readonly ends: boolean;
}

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

/** Words, and each other sign by itself. */
const tokensOf = (text: string) => text.match(/[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];

function entryOf(language: string, line: string): Entry {
	const [name, text = ''] = line.split(/: (.*)/);
	const role = ROLES.find((one) => one === name);
	if (role === undefined || text === '') throw new Error(`words/options/${language}.txt: not an entry: ${line}`);
	const bare = text.replace(/^… | …$/g, '');
	const parts = bare.split(' ').map((part) => (part.includes('*') ? [part] : tokensOf(readable(part))));
	const ends = text.startsWith('… ');
	return { language, role, text: readable(bare), tokens: parts.flat(), begins: text.endsWith(' …'), ends };
}

const ENTRIES = LANGUAGES.flatMap((language) => wordList(`options/${language}`).map((line) => entryOf(language, line)));
const BY_TEXT = Map.groupBy(ENTRIES, ({ text }) => text);
const BY_ROLE = Map.groupBy(ENTRIES, ({ role }) => role);
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const INSIDE_WORDS = ENTRIES.filter(({ text }) => UNSPACED.test(text));
const BY_FIRST_WORD = Map.groupBy(
	ENTRIES.filter(({ text }) => !UNSPACED.test(text)),
	({ tokens }) => (tokens[0]?.includes('*') === true ? '*' : (tokens[0] ?? '')),
);

/** Every entry that a sentence has, as `readable` gives it. */
function entriesIn(sentence: string): readonly Entry[] {
	const tokens = tokensOf(sentence);
	const isWord = (token: string) => /[\p{L}\p{N}]/u.test(token);
	const [first, last] = [tokens.findIndex(isWord), tokens.findLastIndex(isWord)];
	const spaced = tokens.flatMap((token, at) =>
		[...(BY_FIRST_WORD.get(token) ?? []), ...(BY_FIRST_WORD.get('*') ?? [])].filter((entry) => {
			const end = entry.begins && at !== first ? -1 : endOf(entry.tokens, tokens, at);
			return end !== -1 && (!entry.ends || end === last + 1);
		}),
	);
	if (!UNSPACED.test(sentence)) return spaced;
	const bare = tokens.slice(0, last + 1).join(' ');
	const starts = tokens.slice(Math.max(first, 0)).join(' ');
	const has = ({ text, begins, ends }: Entry) => {
		if (begins) return starts.startsWith(text);
		return ends ? bare.endsWith(text) : sentence.includes(text);
	};
	return [...spaced, ...INSIDE_WORDS.filter(has)];
}

/** The most words that `…` inside an entry stands for. */
const MAX_GAP = 5;

/** Where an entry ends that begins at a token; -1: it does not. */
function endOf(entry: readonly string[], tokens: readonly string[], at: number): number {
	let place = at;
	for (const [index, part] of entry.entries()) {
		if (part === '…') {
			const behind = entry.slice(index + 1);
			const ends = Array.from({ length: MAX_GAP + 1 }, (_, gap) => endOf(behind, tokens, place + gap));
			return ends.find((end) => end !== -1) ?? -1;
		}
		if (!isToken(part, tokens[place])) return -1;
		place += 1;
	}
	return place;
}

function isToken(part: string, token: string | undefined): boolean {
	const [before = '', after] = part.split('*');
	if (token === undefined || after === undefined) return part === token;
	return token.length > part.length - 1 && token.startsWith(before) && token.endsWith(after) && /\p{L}/u.test(token);
}

/** The sentences and lines of a text, with their marks. */
export function sentencesOf(text: string): readonly string[] {
	return text.split(/\n|(?<=[.?!؟])\s+|(?<=[。？！])/).filter((sentence) => sentence.trim() !== '');
}

/** Of which the patterns are remembered. */
const MAX_LANGUAGE_SETS = 100;
const PATTERNS = new WeakMap<Build, Map<string, RegExp>>();

export type Build = (entries: (...roles: Role[]) => string) => string;

/** The words of the languages that a text may be in: those with the most entries in it, and all without any. */
export class Words {
	readonly #found = new Map<string, readonly Entry[]>();
	readonly #languages: ReadonlySet<string>;

	constructor(text: string) {
		const found = new Set(sentencesOf(readable(text)).flatMap((sentence) => this.#in(sentence)));
		const telling = [...found].filter(({ role }) => role !== 'data' && role !== 'short');
		const counts = LANGUAGES.map((name) => telling.filter(({ language }) => language === name).length);
		const most = Math.max(...counts);
		this.#languages = new Set(LANGUAGES.filter((_, at) => (counts[at] ?? 0) * 2 >= most));
	}

	#in(sentence: string): readonly Entry[] {
		const entries = this.#found.get(sentence) ?? entriesIn(sentence);
		this.#found.set(sentence, entries);
		return entries;
	}

	/** Whether a sentence of a text, as `readable` gives it, has an entry of one of these roles. */
	says(text: string, ...roles: readonly Role[]): boolean {
		return sentencesOf(text).some((sentence) =>
			this.#in(sentence).some(({ role, language }) => roles.includes(role) && this.#languages.has(language)),
		);
	}

	/** Whether all of a text is an entry of one of these roles. */
	is(text: string, ...roles: readonly Role[]): boolean {
		const entries = BY_TEXT.get(readable(text)) ?? [];
		return entries.some(({ role, language }) => roles.includes(role) && this.#languages.has(language));
	}

	/** The entries of these roles, as `readable` gives them. */
	listed(...roles: readonly Role[]): readonly string[] {
		const entries = roles.flatMap((role) => BY_ROLE.get(role) ?? []);
		return entries.filter(({ language }) => this.#languages.has(language)).map(({ text }) => text);
	}

	/** A pattern of these languages, remembered by `build`, which gets a function that gives the entries of roles as alternatives. */
	pattern(build: Build, flags = 'u'): RegExp {
		const languages = [...this.#languages].join(' ');
		const known = PATTERNS.get(build) ?? new Map<string, RegExp>();
		const entries = (...roles: Role[]) => {
			const longestFirst = this.listed(...roles).toSorted((one, other) => other.length - one.length);
			return longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|') || '(?!)';
		};
		const pattern = known.get(languages) ?? new RegExp(build(entries), flags);
		setBounded(known, languages, pattern, MAX_LANGUAGE_SETS);
		PATTERNS.set(build, known);
		return pattern;
	}
}
