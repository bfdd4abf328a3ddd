import { readFileSync } from 'node:fs';
import { masked } from '../../../src/domain/masking.ts';
import { wordList } from '../../../src/domain/word-list.ts';

interface Step {
	readonly text: string;
	/** What has to be hidden, exactly; empty where nothing may be. */
	readonly hides: readonly string[];
}

/** Of a credential, fewer characters tell nobody enough. */
const TELLING = 8;

/** How keys of known forms begin: that may stay. */
const BEGINNINGS = wordList('credentials');

/** Whether it still stands in a text: of a long one, the first or last characters are enough. */
function isShown(text: string, whole: string): boolean {
	const [beginning = ''] = BEGINNINGS.filter((one) => whole.startsWith(one)).toSorted((a, b) => b.length - a.length);
	const secret = whole.slice(beginning.length);
	const parts = secret.length > TELLING ? [secret.slice(0, TELLING), secret.slice(-TELLING)] : [secret];
	return parts.some((part) => text.includes(part));
}

/** Lines with a text and what has to be hidden in it. RESULTS.md says who wrote each. */
export const LISTS = [
	'steps',
	'held-back',
	'outsider',
	'outsider-again',
	'outsider-third',
	'outsider-fourth',
	'outsider-fifth',
] as const;

/** What `masked` makes of a corpus: each credential that it leaves, and each text without one in which it hides some. */
export function scoreOf(name: (typeof LISTS)[number]) {
	const lines = readFileSync(new URL(`${name}.jsonl`, import.meta.url), 'utf8')
		.trim()
		.split('\n');
	const steps = lines.map((line) => JSON.parse(line) as Step);
	const misses = steps.flatMap(({ text, hides }) =>
		hides.filter((secret) => isShown(masked(text).text, secret)).map((secret) => ({ text, secret })),
	);
	const ordinary = steps.filter(({ hides }) => hides.length === 0);
	const falseMasks = ordinary.map(({ text }) => ({ text, masked: masked(text) })).filter((one) => one.masked.count > 0);
	const credentials = steps.flatMap(({ hides }) => hides).length;
	return { texts: steps.length, credentials, misses, ordinary: ordinary.length, falseMasks };
}
