import { looksSecret } from './asks-for-secret.ts';
import { type Choices, choicesFrom } from './choices.ts';
import type { Mark } from './contract.ts';
import { isGeneric, matchingText, withoutFinalMarks, words } from './matching-text.ts';
import { type AskedItem, askedAt, YES_NO } from './options.ts';
import type { ItemTexts } from './session.ts';
import { wordList } from './word-list.ts';

/** The input that suits an item. Every input sends a string. */
export type InputGuess =
	/** `options`: 2 to 99, in full length. Slack shows only 75 characters of each. */
	| ({ readonly kind: 'choice' } & Choices)
	| { readonly kind: 'yesNo' }
	/** Examples: a `number` is 3 or 0.5, a `date` 2026-11-20, a `time` 17:05. */
	| { readonly kind: (typeof INPUT_RULES)[number]['kind'] | 'longText' };

export function choicesOf(guess: InputGuess): Choices {
	return guess.kind === 'choice' ? guess : { options: guess.kind === 'yesNo' ? YES_NO : [] };
}

/** The patterns of `words/inputs.txt` by name, for `matchingText`: lower case, no accents, no hyphens. */
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

/** The first rule that matches decides. The last one offers a line where another rule has a doubt. */
export const INPUT_RULES = (['number', 'email', 'url', 'date', 'time', 'line', 'line in doubt'] as const).map(
	(name) => ({
		kind: name === 'line in doubt' ? 'line' : name,
		/** Matches the whole name of what is asked for, without final marks. */
		label: new RegExp(`^(?:${source(name)})$`, 'u'),
		/** Words in title or description that allow another kind of answer. With them, the rule does not apply. */
		unless: words(source(`not ${name}`)),
	}),
);

/** UTF-16 units. A longer text explains what is asked for, and does not name it. */
const MAX_LABEL_LENGTH = 200;
/** UTF-16 units. A longer description asks for more than one word, number or date. */
const MAX_BRIEF_LENGTH = 400;

/** Results, by the result of `askedAt`. */
const guesses = new WeakMap<AskedItem, InputGuess>();

/** `guessInputAt` of an item without the text above it. */
export const guessInput = (item: ItemTexts) => guessInputAt({ items: [item], context: '' }, 0);

/**
 * The input that suits one item of a question, by `looksSecret`, then by `askedAt`, then by `INPUT_RULES`. In doubt it
 * is long text.
 */
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
