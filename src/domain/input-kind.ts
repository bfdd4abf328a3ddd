import { looksSecret } from './asks-for-secret.ts';
import { type Choices, choicesFrom } from './choices.ts';
import type { Mark } from './contract.ts';
import { type AskedItem, askedAt, YES_NO } from './options.ts';
import type { ItemTexts } from './session.ts';
import { isGeneric, matchingText, withoutFinalMarks, words } from './texts.ts';
import { wordList } from './word-list.ts';

/** The input that suits an item. Every input sends a string. */
export type InputGuess =
	/** `options`: 2 to 100, in full length. Slack shows only 75 characters of each. */
	| ({ readonly kind: 'choice' } & Choices)
	| { readonly kind: 'yesNo' }
	/** A `number` may be a fraction; a `date` is 2026-11-20, a `time` 17:05. */
	| { readonly kind: (typeof INPUT_RULES)[number]['kind'] | 'longText' };

export function choicesOf(guess: InputGuess): Choices {
	return guess.kind === 'choice' ? guess : { options: guess.kind === 'yesNo' ? YES_NO : [] };
}

/** The patterns of `words/inputs.txt`, of `matchingText`: lower case, no accents, no hyphens. */
const PATTERNS = Map.groupBy(
	wordList('inputs').map((line) => line.split(/: (.*)/)),
	([name]) => name ?? '',
);
const source = (name: string): string =>
	(PATTERNS.get(name) ?? [])
		.map(([, pattern = '']) => pattern)
		.join('|')
		.replace(/\{(the|what)\}/g, (_, other: string) => `(?:(?:${source(other)}) )?`)
		.replace('{doubt}', () => source('doubt'));

/** The first rule that matches decides. The last one is for those that have a doubt. */
export const INPUT_RULES = (['number', 'email', 'url', 'date', 'time', 'line', 'line in doubt'] as const).map(
	(name) => ({
		kind: name === 'line in doubt' ? 'line' : name,
		/** All of what names the thing asked for, without its final marks. */
		label: new RegExp(`^(?:${source(name)})$`, 'u'),
		/** Words in title or description with which another answer may be correct: then the rule does not apply. */
		unless: words(source(`not ${name}`)),
	}),
);

/** Code units. Longer texts explain what is asked for and do not name it. */
const MAX_LABEL_LENGTH = 200;
/** A longer description asks for more than one word, number or date. */
const MAX_BRIEF_LENGTH = 400;

/** By what `askedAt` remembers of an item. */
const guesses = new WeakMap<AskedItem, InputGuess>();

/** For an item by itself, without the text above it. */
export const guessInput = (item: ItemTexts) => guessInputAt({ items: [item], context: '' }, 0);

/** By `looksSecret`, `askedAt` (for a lone item with the text above it), `INPUT_RULES`; in doubt long text. */
export function guessInputAt(question: Parameters<typeof askedAt>[0], position: number): InputGuess {
	const item = question.items[position] ?? { title: '', description: '' };
	const asked = askedAt(question, position);
	if (looksSecret(item)) return { kind: asked.marks.has('lines') ? 'longText' : 'line' };
	const guess = guesses.get(asked) ?? guessOf(item, asked);
	guesses.set(asked, guess);
	return guess;
}

function guessOf(item: ItemTexts, { name, marks, choice }: AskedItem): InputGuess {
	if (choice === null) return { kind: kindByMarks(marks) ?? kindByRules({ ...item, title: name }) };
	if (choice.options === YES_NO) return { kind: 'yesNo' };
	return { kind: 'choice', ...choicesFrom(choice.options, choice.isSeveral) };
}

function kindByMarks(marks: ReadonlySet<Mark>) {
	if (marks.has('lines')) return 'longText';
	return (['number', 'date', 'email', 'url'] as const).find((kind) => marks.has(kind));
}

function kindByRules(item: ItemTexts) {
	const [title, description] = [matchingText(item.title), matchingText(item.description)];
	const named = isGeneric(title) ? description : title;
	const text = `${title}\n${description}`;
	if (item.description.length > MAX_BRIEF_LENGTH || text.split('?').length > 2) return 'longText';
	if (named === '' || named.length > MAX_LABEL_LENGTH) return 'longText';
	const rule = INPUT_RULES.find(({ label, unless }) => label.test(withoutFinalMarks(named)) && !unless.test(text));
	return rule?.kind ?? 'longText';
}
