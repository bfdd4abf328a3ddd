import { readFileSync } from 'node:fs';

/**
 * The entries of `words/<name>.txt`, in their order. A file has one entry a line; empty lines and lines that begin with `#` are
 * comments. Reads the file at each call, so call it once, when a module is loaded. Throws where there is no such file.
 */
export function wordList(name: string): readonly string[] {
	return readFileSync(new URL(`words/${name}.txt`, import.meta.url), 'utf8')
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '' && !line.startsWith('#'));
}
