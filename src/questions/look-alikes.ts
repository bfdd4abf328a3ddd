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
export function foldConfusables(text: string): string {
	return text.replace(/\P{ASCII}/gu, (character) => CONFUSABLES[character] ?? character);
}

/** `p a s s w o r d` and `p.i.n` as words; `text` is in lower case with one space between words. */
export function joinSpacedOut(text: string): string {
	return text.replace(/(?<![\p{L}\p{N}])[\p{L}\p{N}$@](?:[ .][\p{L}\p{N}$@](?![\p{L}\p{N}])){2,}/gu, (run) =>
		run.replace(/[ .]/g, '').replace(INSIDE_A_RUN, ' $& '),
	);
}

/** Digits and signs that stand for letters, in words that have a letter too; `one` is what `1` stands for. */
export function withoutLeet(text: string, one: 'i' | 'l'): string {
	if (!/[013457$@]/.test(text)) return text;
	return text.replace(/[\p{L}\p{N}$@]+/gu, (word) =>
		/\p{L}/u.test(word) ? word.replace(/[013457$@]/g, (sign) => (sign === '1' ? one : (LEET[sign] ?? sign))) : word,
	);
}
