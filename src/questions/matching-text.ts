import type { HumanInputItem } from './session.ts';

/** Code units of a title or description that are looked at; what lies beyond does not change how it is asked. */
const LOOKED_AT = 4_000;

/** Longer texts explain rather than name what is asked for. */
const LABEL_LIMIT = 200;

const GENERIC_TITLE =
	/^(?:question|questions|input|answer|response|reply|request|human input|user input|your input|(?:human|user|your) input (?:required|needed)|input (?:required|needed)|clarification(?: needed| required)?|frage|pregunta|eingabe|antwort)?$/;

/**
 * A text as the rules match it: the beginning (and of a long one the end, where the request often stands), lower case,
 * without accents, invisible characters and Markdown emphasis, `camelCase`, `snake_case` and `kebab-case` as words,
 * one space between words. Line ends stay. Every step is linear.
 */
export function matchingText(text: string): string {
	return plainWords(asWords(plainCharacters(text)));
}

/**
 * The ways to read a text: first `matchingText`, then, where they differ from it, those with look-alike characters, digits
 * in words and spaced-out letters taken for what they look like. Every step is linear.
 */
export function readingsOf(text: string): readonly string[] {
	const plain = plainCharacters(text);
	const folded = foldConfusables(plain);
	const split = plainWords(asWords(plain));
	// "PaSsWoRd" is one word, "userPassword" two.
	const readings = new Set([folded === plain ? split : plainWords(asWords(folded)), plainWords(folded)]);
	const joined = [...readings].map(joinSpacedOut);
	const read = joined.flatMap((reading) => [withoutLeet(reading, 'i'), withoutLeet(reading, 'l')]);
	return [...new Set([split, ...joined, ...read])];
}

/** The part that is looked at, without accents, invisible characters and Markdown emphasis. */
function plainCharacters(text: string): string {
	const cut = text.length <= LOOKED_AT ? text : `${text.slice(0, LOOKED_AT - 1_000)}\n${text.slice(-1_000)}`;
	return (
		cut
			.normalize('NFKD')
			// Some characters become eighteen.
			.slice(0, 2 * LOOKED_AT)
			.replace(/[\p{M}\p{Cf}*`#]/gu, '')
	);
}

function asWords(text: string): string {
	return text
		.replace(/(\p{Ll})(?=\p{Lu})|(\p{N})(?=\p{Lu}\p{Ll})/gu, '$& ')
		.replace(/(\p{Lu})(?=\p{Lu}\p{Ll}{2})/gu, '$1 ');
}

function plainWords(text: string): string {
	return text
		.toLowerCase()
		.replace(/[\u2018\u2019\u00b4]/g, "'")
		.replace(/[_\p{Pd}]/gu, ' ')
		.replace(/[^\S\n]+/g, ' ')
		.trim();
}

/** What names the thing asked for: the title, or the description where the title says nothing; without a final mark. */
export function labelOf(item: Pick<HumanInputItem, 'title' | 'description'>): string {
	const title = matchingText(item.title);
	const label = GENERIC_TITLE.test(withoutFinalMarks(title)) ? matchingText(item.description) : title;
	return label.length > LABEL_LIMIT ? '' : label;
}

/** Without the question marks, colons and the like at the end. */
export function withoutFinalMarks(text: string): string {
	let end = text.length;
	while (end > 0 && ' ?!:.,;\n'.includes(text.charAt(end - 1))) end -= 1;
	return text.slice(0, end);
}

/** A pattern of whole words over `matchingText`, in any script. `source` must be linear: no nested repetition. */
export function words(source: string): RegExp {
	return new RegExp(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, 'u');
}

/**
 * A pattern of whole words, or of `anywhere`: texts of scripts that put no space between words, or join particles and
 * articles to them. Those are given as people write them.
 */
export function wordsOr(source: string, anywhere: string): RegExp {
	const plain = anywhere.normalize('NFKD').replace(/\p{M}/gu, '');
	return new RegExp(`${words(source).source}|${plain}`, 'u');
}

/**
 * Characters that look like a Latin letter, and the letter. Source: Unicode's confusables (UTS #39, confusables.txt), of
 * which only what maps to one Latin letter is kept; compatibility forms (𝗉, ｐ, ⓟ) are folded by NFKD before.
 */
const CONFUSABLES: Readonly<Record<string, string>> = tableOf([
	// Cyrillic
	['АВЕЅІЈКМНОРСТХҮԌԚԜ', 'ABESIJKMHOPCTXYGQW'],
	['асԁеһіјӏорԛѕуүхѵԝ', 'acdehijlopqsyyxvw'],
	// Greek
	['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'],
	['αγινορσυ', 'ayivopou'],
	// Armenian
	['հոսօցզյ', 'hnuogqj'],
	// Cherokee
	['ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎽᏃ', 'ABCDEGHJKLMPRSTVWYZ'],
	// Lisu
	['ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ', 'ABCDEFGHIJKLMNOPRSTUVWXYZ'],
	// Latin letters that no decomposition makes plain: dotless, script, small capital, with a stroke
	['ıɪɩɑɡᴄᴏᴠᴡᴢꜱʏłøđħŧƿ', 'iiiagcovwzsylodhtp'],
]);

/** What people write for a letter inside a word. `1` is an `i` or an `l`. */
const LEET: Readonly<Record<string, string>> = { 0: 'o', 3: 'e', 4: 'a', 5: 's', 7: 't', $: 's', '@': 'a' };

/** Words that are looked for inside a run of spaced-out letters, where nothing tells the words apart. */
const INSIDE_A_RUN = /pass(?:word|code|phrase|wort)/g;

function tableOf(rows: readonly (readonly [string, string])[]): Record<string, string> {
	return Object.fromEntries(
		rows.flatMap(([alike, plain]) => Array.from(alike).map((character, at) => [character, plain.charAt(at)])),
	);
}

/** With plain Latin letters where a character only looks like one. */
function foldConfusables(text: string): string {
	return text.replace(/\P{ASCII}/gu, (character) => CONFUSABLES[character] ?? character);
}

/** `p a s s w o r d` and `p.i.n` as words; `text` is in lower case with one space between words. */
function joinSpacedOut(text: string): string {
	return text.replace(/(?<![\p{L}\p{N}])[\p{L}\p{N}$@](?:[ .][\p{L}\p{N}$@](?![\p{L}\p{N}])){2,}/gu, (run) =>
		run.replace(/[ .]/g, '').replace(INSIDE_A_RUN, ' $& '),
	);
}

/** Digits and signs that stand for letters, in words that have a letter too; `one` is what `1` stands for. */
function withoutLeet(text: string, one: 'i' | 'l'): string {
	if (!/[013457$@]/.test(text)) return text;
	return text.replace(/[\p{L}\p{N}$@]+/gu, (word) =>
		/\p{L}/u.test(word) ? word.replace(/[013457$@]/g, (sign) => (sign === '1' ? one : (LEET[sign] ?? sign))) : word,
	);
}
