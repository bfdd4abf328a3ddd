import { foldConfusables } from './texts.ts';
import { oneOf, wordList } from './word-list.ts';

/** Stands for what is hidden. */
export const MASK = '••••';

/** What to hide, without what stands before it and may be seen. */
type Span = readonly [from: number, to: number];

/* Keys of known forms: `words/credentials.txt` has how they begin, and the least that follows. */

const LEAST_AFTER = new Map(
	wordList('credentials').map((line) => {
		const [prefix = '', count] = line.split(' ');
		return [prefix, Number(count)] as const;
	}),
);
const KNOWN = new RegExp(`(?<![A-Za-z\\d])(${oneOf([...LEAST_AFTER.keys()], {})})([\\w.+/=~-]{12,})`, 'g');

/** Bot tokens of Telegram; parts of links that let their holders in. */
const OTHERS = [
	/(?<![\p{L}\d])\d{8,10}:(AA[\w-]{30,})/dgu,
	/\d{4,8}(?= is your [\w ]{0,30}(?:code|otp|pin)\b)/dgi,
	/ (?:-u|--user)[ =]["']?[^\s:"']{1,64}:([^\s"']{3,64})/dg,
	/:\/\/[^\s/@:?#]{0,64}:([^\s/@"'<>]{1,128})@/dg,
	/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/-]{16,})/dg,
	/\/webhooks\/\d{10,25}\/([\w-]{20,})/dg,
	/[/?&](?:[a-z]{1,12}[-_])?(?:reset|verify|magic|invite|confirm|activate|login|auth)(?:[-_][a-z]{1,12}){0,2}[/?=](?:[a-z_]{1,12}=)?([\w.~%-]{16,})/dgi,
	/[?&;#](?:sig|signature|code|auth|key|otp|x-amz-(?:signature|credential|security-token)|x-goog-signature)=([^\s&#;"'<>]{6,})/dgi,
	/(?<![\w-])(ey[JI][\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*){0,3})/dg,
];
const PRIVATE_KEY = /-----BEGIN [A-Z\d ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----/g;
const LINK = /:\/\/[^\s"'<>]*$/;

/* Card numbers: as they are printed, or without spaces. */

const DIGITS = /(?<![\p{L}\p{N}_./#:-])\d(?:[ -]?\d){12,18}(?![\p{L}\p{N}_/-])/gu;
const CARD =
	/^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d|35[2-8]\d|62\d\d|50\d\d|5[6-9]\d\d|63\d\d|67\d\d)\d{12})$/;
const GROUPS = /^(?:\d+|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})$/;
const CARD_BEFORE = /(?:card|karte|carte|tarjeta|cartão|carta|visa|mastercard|amex)[^\n]{0,30}$/i;
/** Of other numbers with the right check digit, which one in ten has. */
const NO_CARD = /(?:order|tracking|parcel|invoice|ticket|case|reference|ref|imei|isbn|ean|gtin|id|no|nr|number|#)[.:# ]{0,3}$/i;

/* What stands beside the name of a credential: `words/credential-names.txt`. */

const KINDS = new Map(
	wordList('credential-names').map((line) => {
		const [, kind = '', inside = '', name = ''] = /^(\w+): (\*?)(.*)/.exec(line) ?? [];
		return [name.replace(/[ _-]/g, ''), { kind, name, isInside: inside !== '' }] as const;
	}),
);
const NAME = new RegExp(oneOf([...KINDS.values()].map(({ name }) => name), { ' ': '[ _-]?', '.': '\\.' }), 'g');
/** Between words of these scripts stands no space, and a particle may follow. */
const JOINED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
const PARTICLE = /[은는이가はが是为為]?/y;
const LETTER_BEFORE = /\p{L}\p{M}*$/u;
const LETTER_AFTER = /\d?\p{L}/uy;

/** From a name to its value: a mark; a verb; only a space. In brackets or behind "for", a few words more. */
const CLOSED = '["\'`*_)\\]\\\\]{0,4}';
const FOR = '(?: ?\\([^()\\n]{0,40}\\)| (?:for|of|on|für|zum|zur|von|pour|de|del|para|per|voor|do|для|от) (?:[^:=.!?\\n]|[.!?](?=\\S)){1,40}?)??';
const VERBS =
	'is|was|are|to|now|ist|lautet|war|auf|est|à|es|era|é|è|jest|är|er|это|—|–|with|set to|is now|is set to|was set to|changed to|is still|ist jetzt';
const MARK = new RegExp(
	`${CLOSED}${FOR}${CLOSED}(?: (?:${VERBS}))?\\s?(?::=|=>|->|--?>|[:=：＝>|→])[\\s*_]{0,6}(?:(?:bearer|basic|token|digest) )?`,
	'y',
);
const VERB = new RegExp(`${CLOSED}(?:${FOR}(?: (?:${VERBS})))? (?=\\S)`, 'y');
const NOTHING = / ?(?=[!-~])/y;
const QUOTED = /"([^"\n]{1,500})"|'([^'\n]{1,500})'|`+([^`\n]{1,500})`|“([^”\n]{1,500})”|[„»]([^“”«\n]{1,500})[“”«]|«([^»\n]{1,500})»|\\"([^"\n]{1,500})"/dy;
const RUN = /(?:(?![;&,] ?[\w ]{1,40}=)[^\s"'`<>|]){1,500}/y;
const RUN_ON = /(?:(?![;&,] ?[\w ]{1,40}=)[^\s"'`<>|])*/y;
const CODE = /(?:[A-Z]{1,3}-?)?\d(?:[ -]?\d){2,9}(?![\p{L}\d])|(?=[A-Z]{0,11}\d)[A-Z\d]{4,12}(?:-[A-Z\d]{4,12})?(?![\p{L}\d])/uy;
const WORDS = /(?:(?:\d{1,2}[.):] ?)?\p{Ll}{3,9}(?:[ ,\n]{1,3}|$)){6,24}/uy;
const PAIR = /[^\s/:|,"'`<>]{2,64}["'`]?(?: ?[/|,:] ?| \/ )["'`]?([^\s/|,:"'`<>]{3,64})/dy;

const NO_VALUE = new Set(wordList('no-credentials'));
/** A place where the value stands, something left out, or a link to it. */
const ELSEWHERE = /^(?:[*•·.xX_#?…-]+$|\$?\{|\$[A-Z_]+$|<|\[|\(|%\w+%?$|(?:https?|op|vault|file|arn|projects):|process\.env|os\.|env[.(]|secrets?\.|getenv|config\.|self\.|settings\.|var\.)/;
const MIXED = /(?=.*[\p{L}])(?=.*[\d!$%^&*+=@#~?_])|\p{Ll}\p{Lu}/u;

/** Letters that may look like Latin ones. */
const OTHER_SCRIPT = /[\u0250-\u1fff\ua000-\uffff]/;

function at(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
	pattern.lastIndex = from;
	return pattern.exec(text);
}

/**
 * An agent's text without what looks like a credential, and how many of them it had. What nobody sees goes with them: a
 * text that has none comes back as it was. It takes time in proportion to the length of the text.
 */
export function masked(text: string): { readonly text: string; readonly count: number } {
	const plain = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize();
	const folded = OTHER_SCRIPT.test(plain) ? foldConfusables(plain) : plain;
	const spans = spansIn(folded.length === plain.length ? folded : plain).toSorted(([a], [b]) => a - b);
	let [end, count, shown] = [0, 0, ''];
	for (const [from, to] of spans) {
		// Of those that overlap, the rest of the later one goes with the first.
		if (from >= end) {
			shown += plain.slice(end, from) + MASK;
			count += 1;
		}
		end = Math.max(end, to);
	}
	return count === 0 ? { text, count } : { text: shown + plain.slice(end), count };
}

function spansIn(text: string): Span[] {
	return [...privateKeysIn(text), ...knownIn(text), ...othersIn(text), ...cardsIn(text), ...namedIn(text)];
}

/** Without its end, all that follows is a part of it. */
function privateKeysIn(text: string): Span[] {
	return Array.from(text.matchAll(PRIVATE_KEY), ({ index, 0: begin }) => {
		const end = text.indexOf('-----END ', index + begin.length);
		const close = end === -1 ? -1 : text.indexOf('-----', end + 9);
		return [index, close === -1 ? text.length : close + 5] as const;
	});
}

function knownIn(text: string): Span[] {
	return Array.from(text.matchAll(KNOWN), ({ index, 1: prefix = '', 2: rest = '' }): Span | null => {
		const value = rest.replace(/[.=/]{1,3}$/, '');
		const isKey = value.length >= (LEAST_AFTER.get(prefix) ?? 0) && /\d/.test(value);
		return isKey ? [index + prefix.length, index + prefix.length + rest.length] : null;
	}).filter((span) => span !== null);
}

function othersIn(text: string): Span[] {
	return OTHERS.flatMap((pattern) => Array.from(text.matchAll(pattern), ({ indices }) => indices?.[1] ?? indices?.[0] ?? [0, 0])).filter(
		([from, to]) => !ELSEWHERE.test(text.slice(from, to)) && (text[from] !== 'e' || isHeader(text.slice(from, to))),
	);
}

/** Whether a text that begins as a JWT is one. */
function isHeader(text: string): boolean {
	if (!/^ey[JI]/.test(text)) return true;
	return /^\{\s*"/.test(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString());
}

function cardsIn(text: string): Span[] {
	return Array.from(text.matchAll(DIGITS), ({ index, 0: found }): Span | null => {
		const number = found.replace(/[ -]/g, '');
		const before = text.slice(Math.max(0, index - 60), index);
		const isCard = CARD.test(number) && GROUPS.test(found) && hasCheckDigit(number);
		const isOther = LINK.test(before) || (NO_CARD.test(before) && !CARD_BEFORE.test(before));
		return isCard && !isOther ? [index, index + found.length] : null;
	}).filter((span) => span !== null);
}

/** By Luhn. */
function hasCheckDigit(number: string): boolean {
	const digits = Array.from(number, Number).reverse();
	const sum = digits.reduce((all, one, place) => all + (place % 2 === 0 ? one : one * 2 - (one > 4 ? 9 : 0)), 0);
	return sum % 10 === 0;
}

function namedIn(text: string): Span[] {
	const lower = text.toLowerCase();
	const read = lower.length === text.length ? lower : text;
	const spans: Span[] = [];
	NAME.lastIndex = 0;
	for (let found = NAME.exec(read); found !== null; found = NAME.exec(read)) {
		const [name] = found;
		const { kind = '', isInside = false } = KINDS.get(name.replace(/[ _-]/g, '')) ?? {};
		const end = found.index + name.length;
		const isJoined = JOINED.test(name);
		const isPart =
			(!isInside && LETTER_BEFORE.test(read.slice(Math.max(0, found.index - 3), found.index))) ||
			at(LETTER_AFTER, read, end) !== null;
		const from = isJoined ? end + (at(PARTICLE, read, end)?.[0].length ?? 0) : end;
		const span = isPart && !isJoined ? null : valueAfter({ text, read, kind, isJoined }, /\d/.test(read.charAt(from)) && !isJoined ? from + 1 : from);
		if (span !== null) spans.push(span);
		NAME.lastIndex = span?.[1] ?? found.index + 1;
	}
	return spans;
}

interface Named {
	readonly text: string;
	/** In lower case. */
	readonly read: string;
	readonly kind: string;
	readonly isJoined: boolean;
}

function valueAfter({ text, read, kind, isJoined }: Named, from: number): Span | null {
	const mark = at(MARK, read, from);
	const between = mark ?? at(VERB, read, from) ?? (isJoined ? at(NOTHING, read, from) : null);
	if (between === null) return null;
	const start = from + between[0].length;
	const isNamed = mark !== null && !between[0].includes('\n');
	if (kind === 'phrase') return spanOf(at(WORDS, text, start));
	if (kind === 'code') return spanOf(at(CODE, text, start));
	if (kind === 'pair') return pairAt(text, start, isNamed);
	const quoted = at(QUOTED, text, start);
	const [begin, close] = quoted?.indices?.slice(1).find((found) => found !== undefined) ?? runAt(text, start);
	const value = text.slice(begin, close);
	if (/(?:bearer|basic|digest) $/.test(between[0]) && value.length >= 8) return [begin, close];
	const rest = text.slice(close, close + 60).split('\n')[0] ?? '';
	if (value === '' || !isValue(kind, value, { isQuoted: quoted !== null, isNamed, isSet: between[0].endsWith('='), rest })) return null;
	// Only so much of a long value was looked at.
	return quoted === null && close - start > 490 ? [begin, close + (at(RUN_ON, text, close)?.[0].length ?? 0)] : [begin, close];
}

const spanOf = (found: RegExpExecArray | null): Span | null =>
	found === null ? null : [found.index, found.index + found[0].trimEnd().length];

/** A word without the marks of a sentence behind it. */
function runAt(text: string, start: number): Span {
	const run = at(RUN, text, start)?.[0] ?? '';
	return [start, start + run.length - (/[.,;:!?)\]}*_]{1,4}$/.exec(run)?.[0].length ?? 0)];
}

/** "admin / Summer2024": only the second. */
function pairAt(text: string, start: number, isNamed: boolean): Span | null {
	const span = at(PAIR, text, start)?.indices?.[1];
	if (span === undefined || !isNamed) return null;
	const value = text.slice(...span).replace(/[.!?)\]}*_]{1,4}$/, '');
	return MIXED.test(value) && !ELSEWHERE.test(text.slice(start, span[1])) ? [span[0], span[0] + value.length] : null;
}

interface Found {
	readonly isQuoted: boolean;
	/** A mark stands before it: "password: hunter". */
	readonly isNamed: boolean;
	/** As in "password=hunter". */
	readonly isSet: boolean;
	/** Of its line. */
	readonly rest: string;
}

function isValue(kind: string, value: string, { isQuoted, isNamed, isSet, rest }: Found): boolean {
	const words = value.toLowerCase().split(/[\s_-]+/);
	if (ELSEWHERE.test(value) || words.every((word) => NO_VALUE.has(word.replace(/[.,;:!?'’].*$/, '')))) return false;
	if (/\s/.test(value)) return kind === 'password' && isNamed && !words.some((word) => NO_VALUE.has(word));
	if (kind === 'key') return looksRandom(value);
	const isNumber = /^\d+$/.test(value);
	if (isNumber) return value.length >= 4 && (isNamed || isQuoted) && !/^ ?\p{L}/u.test(rest);
	if (/^\d+[-–+]\d*$/.test(value)) return false;
	if (isQuoted || (isNamed && MIXED.test(value))) return true;
	// A word at the end of its line or clause is meant; one in a sentence tells something.
	if (isNamed) return /^\p{L}[\p{L}-]+$/u.test(value) && (isSet || /^\s*(?:$|[,;.)|/\]}"'`*<])/.test(rest));
	return value.length >= 5 && !value.includes('=') && MIXED.test(value) && !/^[\d.,:%]+\p{L}{0,3}$/u.test(value);
}

/** Not a word, a name with hyphens, a path or a file. */
function looksRandom(value: string): boolean {
	if (value.length < 8 || /^\.{0,2}\/|\.(?:json|ya?ml|txt|pem|env|ts|js|py|md)$|\(/.test(value)) return false;
	const hasBoth = /\p{L}/u.test(value) && /\d/.test(value);
	return hasBoth || (value.length >= 16 && (/\p{Ll}.*\p{Lu}|\p{Lu}.*\p{Ll}/u.test(value) || /^(?:[\p{L}]+|\d{20,})$/u.test(value)));
}
