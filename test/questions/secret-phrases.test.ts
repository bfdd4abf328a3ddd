import { expect, it } from 'vitest';
import { looksSecretAt } from '../../src/questions/secrecy.ts';
import { HELD_BACK_HARMLESS, HELD_BACK_SECRET } from './held-back-phrases.ts';
import { HARMLESS_PHRASES, SECRET_PHRASES } from './secret-phrases.ts';

function isTakenForSecret(phrase: string): boolean {
	const [asked = '', context = ''] = phrase.split(' >> ').toReversed();
	const [title = '', description = ''] = asked.split(' :: ');
	return looksSecretAt({ context, items: [{ title, description }] }, 0);
}

/** The wrong ones, which are printed: the documents give their number. */
function wrong(what: string, phrases: readonly string[], areSecret: boolean): string[] {
	const found = phrases.filter((phrase) => isTakenForSecret(phrase) !== areSecret);
	process.stdout.write(
		`${what}: ${found.length} of ${phrases.length} wrong\n${found.map((one) => `  ${one}\n`).join('')}`,
	);
	return found;
}

it('takes the phrases that the rules were made with for what they are', () => {
	const [secret, harmless] = [SECRET_PHRASES, HARMLESS_PHRASES].map((phrases) => Object.values(phrases).flat());
	expect(secret).toHaveLength(294);
	expect(harmless).toHaveLength(294);
	expect(wrong('asks for a secret', secret ?? [], true)).toEqual([]);
	expect(wrong('harmless', harmless ?? [], false)).toEqual([]);
});

it('takes most of the held-back phrases for what they are', () => {
	expect([HELD_BACK_SECRET, HELD_BACK_HARMLESS].map(({ length }) => length)).toEqual([30, 30]);
	expect(wrong('held back, asks for a secret', HELD_BACK_SECRET, true)).toHaveLength(6);
	expect(wrong('held back, harmless', HELD_BACK_HARMLESS, false)).toHaveLength(0);
});
