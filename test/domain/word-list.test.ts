import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { phrases, wordList } from '../../src/domain/word-list.ts';

const FOLDER = new URL('../../src/domain/words/', import.meta.url).pathname;
const NAMES = globSync('**/*.txt', { cwd: FOLDER }).map((path) => path.replace(/\.txt$/, ''));

it.each(NAMES)('%s has entries, and each once', (name) => {
	const entries = wordList(name);
	expect(entries.length).toBeGreaterThan(0);
	expect(new Set(entries).size).toBe(entries.length);
	for (const entry of entries) expect(entry).toMatch(/^[^\s#](?:.*\S)?$/u);
	// `phrases` takes one UTF-16 unit for a character.
	if (name.startsWith('secret/')) expect(entries.join('')).not.toMatch(/[\u{10000}-\u{10ffff}]/u);
});

it('reads escapes, and names the file that is missing', () => {
	expect(wordList('look-alikes')).toContain('\u06cc \u064a');
	expect(() => wordList('secret/none')).toThrow('secret/none.txt');
});

describe('the pattern of word lists', () => {
	const passwords = phrases('secret/passwords');
	const finds = (text: string) => text.match(passwords);

	it.each([
		['your one time password', 'password'],
		['das routerpasswort', 'routerpasswort'],
		['passwords', 'passwords'],
		['pass code', 'pass code'],
		['passcode', 'passcode'],
		['otp番号', 'otp'],
		['新しいパスワードを'.normalize('NFKD').replace(/\p{M}/gu, ''), 'ハスワート'],
	])('finds whole words with their endings, and in scripts without spaces any: %s', (text, found) => {
		expect(finds(text)).toEqual([found]);
	});

	it.each(['compass', 'spinning', 'opinion', 'hotpot'])('finds nothing inside a word: %s', (text) => {
		expect(finds(text)).toBeNull();
	});
});
