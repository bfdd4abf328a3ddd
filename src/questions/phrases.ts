import { setBounded } from '../core/basics.ts';
import { LETTER, oneOf, wordList } from './word-list.ts';

/* What words do in the questions of agents, by language: `words/options/`. */

const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'ru', 'tr', 'zh'] as const;
type Language = (typeof LANGUAGES)[number];
/** What an entry does: see `words/options/en.txt`, and `de.txt` and `pt.txt` for what only they have. */
// biome-ignore format: a list of words
const ROLES = [
	'choose', 'between', 'or', 'or here', 'and', 'yes', 'no', 'which', 'what', 'open', 'ask', 'unsure', 'several',
	'number', 'one', 'rank', 'facts', 'gone', 'not', 'parts', 'example', 'type', 'typed', 'reason', 'more', 'data',
	'other', 'answer', 'points', 'opener', 'speech', 'prose', 'remark', 'article', 'rule', 'short', 'suffix', 'month',
	'common',
] as const;
export type Role = (typeof ROLES)[number];

/** A text as entries match it: lower case, no marks of emphasis, a plain space between words. Line ends stay. */
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

/** The words of the languages that a text may be in: those with most words in it; without any, all. */
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

	/** A pattern of these languages, remembered by `build`, whose argument gives the entries of roles as alternatives. */
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

/* What an agent's words around a list ask for. All texts are as `readable` gives them. */

const isQuestion = (sentence: string) => /[?？؟]["'”»)\s]*$/.test(sentence);

/** A line with more code units gives no options: it is a paragraph. */
export const isLongLine = (line: string) => line.length > 500;

/** The questions among the sentences of a text. */
export const questionsIn = (text: string) => sentencesOf(text).filter(isQuestion);

/**
 * Whether the text around a list asks to choose from it. `loose`: it asks, but perhaps about something else, or it only
 * names what the list is of; `yesNo`: it asks for yes or no; `no`: the list is told, or is what to write.
 */
export function asksToChoose(
	{ before, after, bodies }: Readonly<{ before: string; after: string; bodies: readonly string[] }>,
	words: Words,
): 'choose' | 'loose' | 'yesNo' | 'no' {
	const introduction = sentencesOf(before).at(-1) ?? '';
	const [behind = ''] = sentencesOf(after);
	// A sentence that is over leads to a list only where it points at one.
	const leads = !/[.。।]$/.test(introduction) || words.says(introduction, 'points');
	if (leads && isGone(introduction, words)) return 'no';
	const facts = leads && words.says(introduction, 'facts');
	// "Let me know which one you would like."
	const isAsked = (sentence: string) =>
		(isQuestion(sentence) || (words.says(sentence, 'which') && words.says(sentence, 'one'))) &&
		!words.says(sentence, 'open');
	const questions = sentencesOf(`${before}\n${after}`).filter(isAsked);
	const asks = questions.find((question) => words.says(question, 'which')) ?? '';
	const isOfList = words.says(asks, 'one') || sharesWord(asks, [introduction, ...bodies].join('\n'));
	// "Flight: LH 1172", "Seat: 17C"
	const isTold = mostOf(bodies, (body) => /^[^\s:][^:]{0,30}:\s/.test(body));
	// "How many seats?" behind the plans
	const asksOther = questionsIn(after).some((question) => !words.says(question, 'which', 'one', 'choose'));
	if (!facts && (words.says(introduction, 'choose', 'several') || asksForSeveral(introduction, words)))
		return asksOther ? 'loose' : 'choose';
	if (words.says(introduction, 'open') || mostOf(bodies, (body) => words.is(body, 'data'))) return 'no';
	// "Should I accept:"
	const isAsking = isQuestion(introduction) || (introduction.endsWith(':') && words.says(introduction, 'ask', 'which'));
	if (isAsking && asksYesOrNo(introduction, words)) return 'yesNo';
	// "Which folder should I put these in?", "Tell me your postcode, too."
	const isOfThese = words.says(introduction, 'points') && !words.says(introduction, 'one', 'choose');
	const asksMore = words.says(after, 'open', 'facts', 'gone', 'more', 'data', 'what');
	if (isAsking && !facts) return isOfThese || asksMore ? 'loose' : 'choose';
	if (!facts && !isQuestion(behind) && words.says(behind, 'choose', 'type')) return 'choose';
	const names = (title: string) => !facts && namesThings(title, words);
	if (after === '' && names(introduction) && !words.says(introduction, 'parts')) return 'loose';
	if (isTold || (leads && words.says(introduction, 'parts'))) return 'no';
	// "I have two hotels:", and behind them "Which one?"
	if (asks !== '' && isOfList) return 'choose';
	// "Which name should it have?" asks for another thing.
	const isOther = asks === '' ? !words.says(questions.join('\n'), 'what') : words.says(asks, 'data');
	const isOfName = names(nameOf(after)) && sharesWord(after, introduction) && !asksYesOrNo(after, words);
	const mayAsk = !isOther || (!facts && (isOfName || words.says(after, 'choose')));
	return mayAsk && (!facts || asks !== '') ? 'loose' : 'no';
}

/** "Sold out:", "Don't pick:": what stands behind is not to be had. */
export function isGone(introduction: string, words: Words): boolean {
	return words.says(introduction, 'gone') || (words.says(introduction, 'not') && words.says(introduction, 'choose'));
}

/** Words of a title that only names what the list below it is of. */
const MAX_NAME_WORDS = 5;
const WRITTEN: Build = (entries) => `(?:^| )(?:${entries('data')})$`;

/** The words of a title, without the marks behind them. */
const nameOf = (title: string) => readable(title).replace(/(?<![\s:.?])[\s:.?]+$/, '');

/** "Department": something that people choose, not a text that they write. */
function namesThings(title: string, words: Words): boolean {
	const name = nameOf(title);
	const isShort = name.split(' ').length <= MAX_NAME_WORDS && !/\n|[.?!。？！]$/.test(title);
	return isShort && !isNamed(name, words) && !words.says(name, 'type', 'points');
}

const TWO: Build = (entries) => `^(?:\\S+ ){1,2}(?:${entries('and')})(?: \\S+){1,2}$`;

/** "Colour and size": a list answers only one of them. */
export const namesTwo = (title: string, words: Words) => words.pattern(TWO).test(nameOf(title));

/** "Delivery address": whether a title names what is typed in. */
export const isNamed = (title: string, words: Words) => words.pattern(WRITTEN).test(nameOf(title));

/** "Answer": a title below which the text above is the question. */
export const saysNothing = (title: string, words: Words) => title.trim() === '' || words.is(nameOf(title), 'answer');

/** Whether what a text says may be about an item with this title. */
export function isAbout(title: string, text: string, words: Words): boolean {
	const name = nameOf(title);
	if (text === '' || saysNothing(title, words)) return true;
	return !isNamed(title, words) && (words.says(name, 'one', 'choose') || sharesWord(name, readable(text)));
}

const mostOf = (texts: readonly string[], is: (text: string) => boolean) => texts.filter(is).length * 2 >= texts.length;

/** Whether two texts share a word, or the beginning of one, that says something. */
function sharesWord(one: string, other: string): boolean {
	const others = beginnings(other);
	return beginnings(one).some((word) => others.some((known) => known.startsWith(word) || word.startsWith(known)));
}

function beginnings(text: string): readonly string[] {
	const words = (text.match(/\p{L}{4,}/gu) ?? []).filter((word) => word !== 'which').map((word) => word.slice(0, 5));
	const pairs = text.matchAll(/(?=([\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]{2}))/gu);
	return [...words, ...Array.from(pairs, ([, pair = '']) => pair)];
}

const PLURAL_NOUN = '\\p{L}{2,}[^\\Wsui]s';
const OF_THESE = 'of (?:these|those|the|my|your|our|them) (?!two|three|four|five)(?:\\p{L}+ )?';
const PLURAL_VERB =
	'(?:do|did|are|were|have|should|shall|can|may|would|could|will|must|to|work|need|hold|apply|i|you|we)';
/** "Which of these emails?", "which days work": a plural of English. "Which bus" and "which address" are none. */
const PLURAL = new RegExp(
	`\\b(?:which|what) (?:${OF_THESE}${PLURAL_NOUN}(?=\\?)|(?:${OF_THESE})?(?:\\p{L}+ )?${PLURAL_NOUN} ` +
		`${PLURAL_VERB}\\b|${PLURAL_NOUN}\\?)|\\b(?:choose|pick|select) (?:the |your ` +
		`)?(?!options|choices|yours)${PLURAL_NOUN}\\b`,
	'u',
);

const COUNTED: Build = (entries) =>
	`(?:(?!option)(?:${entries('choose')})|top)(?: [^ .:]+){0,2} (?:${entries('number')})(?![\\p{L}\\p{N}%]|[.,:/]\\d)`;

/** "Select all that apply", "your top three", "which days": more than one may be the answer. */
export function asksForSeveral(text: string, words: Words): boolean {
	if (words.says(text, 'several') || PLURAL.test(text) || /\p{L}[([]\p{L}{1,2}[)\]]/u.test(text)) return true;
	const counted = words.pattern(COUNTED);
	return sentencesOf(text).some((sentence) => counted.test(sentence) && !words.says(sentence, 'one'));
}

/** "Is it right, and should I send it?" */
const ASKS_TWICE: Build = (entries) => ` (?:${entries('and')}) (?:${entries('ask')}) `;

/** Whether the only question of a text is one that yes or no answers in full. */
export function asksYesOrNo(text: string, words: Words): boolean {
	const [question, another] = questionsIn(text);
	if (question === undefined || another !== undefined || !words.says(question, 'ask')) return false;
	// "By card, cash?", "9:00 vs 10:00?"
	const offers = /[,|]\s?[^\s,|?]+(?: [^\s,|?]+)?[?？]$| vs | -- /.test(question) || words.says(question, 'choose');
	if (offers || words.pattern(ASKS_TWICE).test(question)) return false;
	return !words.says(text, 'unsure', 'what', 'which', 'open', 'reason') && !mayOfferOther(question, words);
}

/** "Now or later?", but not "now or not?". */
export const offersOther = (question: string, words: Words) => words.says(question.replace(/ or not\b/g, ''), 'or');

const OR_HERE: Build = (entries) => ` (?:${entries('or here')}) `;

/** Also with words that are "or" only between others, as the Italian "o". The Portuguese "o" is none. */
export function mayOfferOther(sentence: string, words: Words): boolean {
	return offersOther(sentence, words) || (!words.hasArticle(sentence) && words.pattern(OR_HERE).test(sentence));
}

const YES_NO_PAIR: Build = (entries) => {
	const [letters, join] = ['\\p{L}\\p{N}\\p{M}', ` ?[/|,、／・] ?| (?:${entries('or', 'or here')}) `];
	const pair = `(${entries('yes')})["'”’»]?(?:${join})["'“‘«]?(${entries('no')})`;
	return `(?<![${letters}])${pair}[^${letters}]*$`;
};

/** "(yes/no)", "Reply yes or no.": at the end of a line, below a question that nothing else answers. */
export function yesNoPair(lines: readonly string[], words: Words): readonly [string, string] | null {
	const pair = words.pattern(YES_NO_PAIR, 'iu');
	const [found, another] = lines
		.map((line) => (isLongLine(line) ? null : pair.exec(line)))
		.filter((match) => match !== null);
	if (found === undefined || another !== undefined) return null;
	const [whole, yes = '', no = ''] = found;
	const lead = readable(sentencesOf(found.input.slice(0, found.index)).at(-1) ?? '');
	const isAsked = !/\p{L}$/u.test(lead) || words.says(lead, 'type', 'choose');
	const others = readable(lines.map((line) => line.replace(whole, '')).join('\n'));
	if (!isAsked || words.says(others, 'what', 'which', 'open', 'reason') || offersOther(others, words)) return null;
	return [yes, no];
}

const TYPED: Build = (entries) =>
	`(?<!\\p{L})(?i:${entries('type')})(?: \\p{L}+){0,2}:? (?:\\p{Lu}{2,}(?!\\p{L})|["“„«'\`「])`;

/** "Type DELETE to confirm", "Reply with “OK”". `text`: as it was written. */
export function asksToType(text: string, words: Words): boolean {
	return words.says(readable(text), 'typed') || words.pattern(TYPED).test(text);
}
