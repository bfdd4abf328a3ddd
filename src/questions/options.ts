import { withoutFinalMarks, words } from './matching-text.ts';
import type { ItemTexts } from './session.ts';

/** Code units. A longer text is not searched: its list may belong to a report. */
const MAX_TEXT_LENGTH = 8_000;
/** A line with more code units gives no options: it is a paragraph. */
const isLong = (line: string) => line.length > 500;
/** Slack's limit for a select. */
const MAX_OPTIONS = 100;
/** Code units. Longer ones are paragraphs, not options. */
const MAX_OPTION_LENGTH = 300;
const MAX_INLINE_OPTION_LENGTH = 60;
const MAX_INLINE_OPTION_WORDS = 8;

/** The answer may name more than one option, which a select cannot take. */
const SEVERAL = words(
	'all that apply|one or more|multiple|several|any of|as many|at least|up to|rank|in order of|each|every|which ones|all of|both|for all|order these|prioriti[sz]e|checklist',
);
/** What follows are examples, not the possible answers. */
const EXAMPLES =
	/\be\.?\s?g\b|\bfor (?:example|instance)\b|\bsuch as\b|\betc\b|\bexamples?\b|\bz\.\s?b\.|(?:^|[\s,;/])(?:\.\.\.|…)|\bincluding\b/i;
const ASKS_WHICH = /\b(?:which|what|how|where|who|welche[rs]?|cual|quelle?)\b[^?\n]{0,200}\?/;
const CHOOSING = words(
	'choose|chose|pick|select|options?|choices?|prefer|preferred|preference|one of|alternatives?|either|wahle|wahlen|auswahl|optionen|elige|opciones|choisis|choisissez',
);
/** Names of data to type in: "E-mail or phone?" asks for one of them and offers no options. */
const DATA_NAMES = words(
	'name|e ?mail|phone|telephone|number|address|id|url|link|date|company|code|title|username|login|description|reason|comments?|details|text|file|handle|reference|street|city|zip|postcode',
);

/**
 * The options that an item lists: as bullets or numbers under a question, after words such as "one of:", in quotation marks, in
 * parentheses `(A/B/C)`, or as "A or B?". Null when that is not certain, when several may be chosen, and for examples.
 * `options`: two to 100 different texts as the item gives them, in its order. `explicit`: they are the text's only list, of
 * lines or after words with a colon ("One of: A, B"). A sentence, quotes or parentheses may list something else.
 */
export function listedOptions(item: ItemTexts) {
	if (item.title.length > MAX_TEXT_LENGTH || item.description.length > MAX_TEXT_LENGTH) return null;
	const title = item.title.trim();
	const all = `${title}\n${item.description}`.replaceAll('\r', '');
	if (SEVERAL.test(all.toLowerCase()) || EXAMPLES.test(all)) return null;
	const lines = all.split('\n').filter((line) => line.trim() !== '');
	const short = lines.filter((line) => !isLong(line));
	const listLines = fromLines(lines);
	const found =
		listLines ??
		firstFound(short, afterCue) ??
		firstFound(short, inParentheses) ??
		firstFound(short, inQuotes) ??
		fromQuestion(title) ??
		(title.includes('?') ? null : fromQuestion(item.description));
	if (found === null) return null;
	const options = [...new Set(found.map(trimmed).filter((option) => option !== '' && !SOMETHING_ELSE.test(option)))];
	if (options.length < 2) return null;
	// Two lists in one item ("Seat, one of: A, B. Meal, one of: C, D") need two answers.
	const cueCount = lines.join('\n').match(LIST_AFTER_COLON)?.length ?? 0;
	const explicit = listLines === null ? cueCount === 1 && hasExplicitList(short) : cueCount === 0;
	return { options: options.slice(0, MAX_OPTIONS), explicit };
}

const LIST_LINE = /^(\s*)(?:([-*•–▪◦])\s+|\(?(\d{1,3}|[a-zA-Z])[.)]\s+)(\S.*)$/;

/** The only list of a text that asks to choose from it. */
function fromLines(lines: readonly string[]): string[] | null {
	const entries = lines.flatMap((line, at) => entryIn(line, at) ?? []);
	const [first] = entries;
	if (first === undefined || entries.length < 2) return null;
	// Two lists, a nested list or a list with text in between is more than a choice.
	const isOneList = entries.every(
		({ shape, at, ordinal }, index) =>
			shape === first.shape && at === first.at + index && (ordinal === null || ordinal === index),
	);
	if (!isOneList || entries.some(({ body, at }) => body.length > MAX_OPTION_LENGTH || isLong(lines[at] ?? '')))
		return null;
	const around = lines.filter((line) => !LIST_LINE.test(line)).join('\n');
	const lower = around.toLowerCase();
	return ASKS_WHICH.test(lower) || CHOOSING.test(lower) ? entries.map(({ body }) => body) : null;
}

/** `ordinal`: from 0, also of letters; null behind a bullet. */
function entryIn(line: string, at: number) {
	const match = LIST_LINE.exec(line);
	if (match === null) return null;
	const [, indent = '', bullet, mark = '', body = ''] = match;
	if (bullet !== undefined) return { at, body, shape: `${indent.length} ${bullet}`, ordinal: null };
	const isNumber = /\d/.test(mark);
	const ordinal = isNumber ? Number(mark) - 1 : mark.toLowerCase().charCodeAt(0) - 97;
	return { at, body, shape: `${indent.length} ${isNumber ? 'numbers' : 'letters'}`, ordinal };
}

const CUE_WITH_COLON =
	/(?:one of|options?(?: are)?|choices?(?: are)?|choose|pick|select|possible values|valid values|allowed values|available values|possible answers|optionen|auswahl|opciones|wähle|elige|choisissez)\b[^:\n]{0,40}:/;
const CUE = new RegExp(
	`\\b(?:${CUE_WITH_COLON.source}|one of(?= )|(?:choose|pick|select|decide|preference) between(?= ))(.*)$`,
	'i',
);
const LIST_AFTER_COLON = new RegExp(`\\b${CUE_WITH_COLON.source}[^\\S\\n]*\\S`, 'gi');
const DETERMINER = /^(?:the|these|those|this|them|my|your|our|us|which|what|a|an)\b/i;

/** "one of: A, B, C", "Options: A / B", "choose between A and B". */
function afterCue(line: string): string[] | null {
	const { list, withColon } = cuedList(line);
	if (list === '' || (!withColon && DETERMINER.test(list))) return null;
	const parts = splitList(list);
	return parts.some((part) => /\b(?:it|you|i|we|should|must|please|your)\b/i.test(part)) ? null : inline(parts);
}

/** The words after the first cue of a line, up to the end of their sentence. */
function cuedList(line: string): { list: string; withColon: boolean } {
	const match = CUE.exec(line);
	const list = firstSentence(match?.[1] ?? '');
	return { list, withColon: match?.[0].slice(0, -(match[1]?.length ?? 0)).endsWith(':') === true };
}

/** "Options: bed and breakfast" may be one option. */
function hasExplicitList(lines: readonly string[]): boolean {
	const { list, withColon } = cuedList(lines.find((line) => afterCue(line) !== null) ?? '');
	return withColon && /[,;|/]| (?:or|oder|ou|o) /i.test(list);
}

/** Parentheses at the end of a line. Slashes and bars offer a choice; commas do only when the line asks which. */
function inParentheses(line: string): string[] | null {
	const asked = /\bwhich\b/i.test(line) || CHOOSING.test(line.toLowerCase());
	const body = /[([]([^()[\]]{3,600})[)\]][\s?:.!*]*$/.exec(line.slice(-620))?.[1] ?? '';
	if (body === '' || NOT_A_CHOICE.test(body.trim())) return null;
	if (/[/|]/.test(body)) {
		const parts = body.split(/[/|]/);
		if (parts.some((part) => part.trim() === '' || part.length > 40 || !/\p{L}|\p{N}/u.test(part))) return null;
		return parts.every((part) => /^[\s\d.,:]+$/.test(part)) && parts.length < 3 ? null : inline(parts);
	}
	const parts = asked && /,|\bor\b/i.test(body) ? splitList(body) : [];
	return parts.some((part) => namesData(part) || /optional|required|max|min/i.test(part)) ? null : inline(parts);
}

/** Abbreviations, date formats, paths, addresses and units with a slash. */
const NOT_A_CHOICE =
	/^(?:[^/]*\band\/or\b.*|s\/he|he\/she(?:\/they)?|his\/her|him\/her|he\/him|she\/her|they\/them|w\/o|c\/o|n\/a|i\/o|tcp\/ip|a\/c|km\/h|m\/s|24\/7|[dmyhts\s/.:]+|[^/]*:\/\/.*|~?\/.*|[^/]*\d[^/]*\/[^/]*)$/i;

/** Two or more quoted texts joined by commas, slashes, "or" or "and" in a line that asks to choose or to reply. */
function inQuotes(line: string): string[] | null {
	if (
		!/\b(?:choose|pick|select|reply|answer|respond|type|enter|say|either|options?|between|prefer|one of)\b/i.test(line)
	)
		return null;
	const quoted = [
		...line.matchAll(/"([^"]{1,80})"|“([^”]{1,80})”|„([^“”]{1,80})[“”]|'([^']{1,80})'(?!\p{L})|`([^`]{1,80})`/gu),
	];
	for (const [index, match] of quoted.entries()) {
		const next = quoted[index + 1];
		if (next === undefined) break;
		const between = line.slice(match.index + match[0].length, next.index);
		if (between.trim() === '' || !/^(?:[,/|]\s*)?(?:or|and|oder|o|ou)?$/i.test(between.trim())) return null;
	}
	return quoted.length < 2 ? null : quoted.map((match) => match.slice(1).find((text) => text !== undefined) ?? '');
}

const INTERROGATIVE = /^(?:(?:and|so|for|in|on|at|to|by) )?(?:which|what|where|when|who|whose|whom|how|why)\b/i;
const OPENER =
	/^(?:(?:do|would|did) you (?:prefer|want|like|rather have)|should (?:i|we|it) (?:use|choose|pick|select|be)|shall (?:i|we) (?:use|choose|pick|select)|is it|would it be|möchten sie|möchtest du|soll es|prefieres|préférez-vous)\s+/i;
const VERB_FIRST =
	/^(?:is|are|am|was|were|do|does|did|can|could|should|shall|will|would|may|might|must|have|has|had|please|tell|let|if|any|anything)\b/i;
const NOT_AN_OPTION =
	/\b(?:i|me|you|we|us|it|they|my|not|to|any|anything|more|less|later|so|neither|none|do|should|is|are|that|because|if|when|give|provide|enter|tell|send)\b/i;
const SOMETHING_ELSE = /^(?:an?)?\s?(?:something|anything|someone|somewhere) else$|^others?$|^else$/i;

/** "Red, green or blue?": one short question with short alternatives that name things. */
function fromQuestion(text: string): string[] | null {
	if (text.split('\n').some((line) => isLong(line) && line.includes('?'))) return null;
	const questions = (text.match(/[^.!?\n]+[.!?\n]?/g) ?? []).filter((sentence) => sentence.endsWith('?'));
	const question = questions.length === 1 ? (questions[0] as string).slice(0, -1).trim() : '';
	if (question === '' || question.length > 160 || !/ (?:or|oder|ou|o) /i.test(question)) return null;
	let list = question;
	if (INTERROGATIVE.test(question)) {
		const mark = question.search(/[:,–—]|\s-\s/);
		if (mark === -1) return null;
		list = question.slice(mark + 1).replace(/^[\s-]+/, '');
	} else if (OPENER.test(question)) {
		list = question.replace(OPENER, '');
	} else {
		const colon = question.indexOf(':');
		if (colon !== -1) list = question.slice(colon + 1).trim();
	}
	if (VERB_FIRST.test(list) || INTERROGATIVE.test(list)) return null;
	const named = splitList(list).filter((option) => !SOMETHING_ELSE.test(option));
	if (named.some((option) => option.split(' ').length > 5 || option.length > 40)) return null;
	if (named.some((option) => NOT_AN_OPTION.test(option) || namesData(option))) return null;
	return named;
}

/** Splits by the first separator that occurs: semicolons, bars, spaced slashes, commas, "or", "and", slashes. */
function splitList(text: string): string[] {
	const list = withoutFinalMarks(text.replace(/\s+/g, ' ')).trim();
	for (const separator of [';', '|', ' / ']) if (list.includes(separator)) return list.split(separator).map(trimmed);
	if (!list.includes(',')) {
		const parts = list.split(/ (?:or|oder|ou|o) /i);
		if (parts.length > 1) return parts.map(trimmed);
		const pair = list.split(/ (?:and|und|et) /i);
		return pair.length === 2 ? pair.map(trimmed) : list.includes('/') ? list.split('/').map(trimmed) : [];
	}
	const parts = list.split(',').map((part) => trimmed(part.replace(/^\s*(?:or|and|oder|und|ou|et)\s+/i, '')));
	const last = parts.at(-1) ?? '';
	const pair = last.split(/ (?:or|and|oder|und|ou|et|o|y) /i);
	// "salt, pepper, salt and pepper": the last one is one option.
	const isPair =
		pair.length === 2 && !/,\s*(?:or|and|oder|und|ou|et)\s/i.test(list) && !pair.some((part) => parts.includes(part));
	return isPair ? [...parts.slice(0, -1), ...pair.map(trimmed)] : parts;
}

function namesData(option: string): boolean {
	return DATA_NAMES.test(option.toLowerCase().replaceAll('-', ' '));
}

function inline(parts: readonly string[]): string[] | null {
	const options = parts.map(trimmed);
	const fits = options.every(
		(option) => option.length <= MAX_INLINE_OPTION_LENGTH && option.split(' ').length <= MAX_INLINE_OPTION_WORDS,
	);
	return fits && options.length >= 2 ? options : null;
}

/** Without surrounding white space, emphasis, one pair of quotation marks and closing punctuation. */
function trimmed(text: string): string {
	const bare = text
		.trim()
		.replace(/^[*_`]{1,3}|[*_`]{1,3}$/g, '')
		.replace(/[;,.]$/, '')
		.replace(/[*_`]{1,3}$/, '')
		.trim();
	return /^(["'“„]).*["'”“]$/s.test(bare) && bare.length > 2 ? bare.slice(1, -1).trim() : bare;
}

function firstSentence(text: string): string {
	const end = text.search(/[.?!](?:\s|$)/);
	return (end === -1 ? text : text.slice(0, end)).trim();
}

function firstFound(lines: readonly string[], find: (line: string) => string[] | null): string[] | null {
	return lines.reduce<string[] | null>((found, line) => found ?? find(line), null);
}
