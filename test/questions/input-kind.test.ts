import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HARMLESS_PHRASES, looksSecret, SECRET_RULES } from '../../src/questions/asks-for-secret.ts';
import { guessInput, INPUT_RULES } from '../../src/questions/input-kind.ts';
import { anyCharacter } from '../support/any-text.ts';
import { type Example, HARMLESS_TITLES, INPUT_EXAMPLES, SECRET_TITLES } from './rule-examples.ts';
import { STEM_TITLES } from './stem-titles.ts';

function itemOf(example: Example): { title: string; description: string } {
	return typeof example === 'string'
		? { title: example, description: '' }
		: { title: example[0], description: example[1] };
}

function guess(title: string, description = '') {
	const item = { title, description };
	return { ...guessInput(item), secret: looksSecret(item) };
}

/** The rules with their titles: kinds of secrets in English, and the stems of other languages. */
const RULES_WITH_TITLES = SECRET_RULES.map((rule) => {
	const english = SECRET_TITLES[rule.name];
	const [yes, no] = (STEM_TITLES[rule.name] ?? ['', '']).map((titles) => titles.split(' | '));
	return { ...rule, ...(english ?? { name: `secret in ${rule.name}`, yes: yes ?? [], no: no ?? [] }) };
});

describe('the rules for secrets', () => {
	it('have titles for each', () => {
		expect(SECRET_RULES.map(({ name }) => name)).toEqual(Object.keys({ ...SECRET_TITLES, ...STEM_TITLES }));
		expect(HARMLESS_TITLES).toHaveLength(HARMLESS_PHRASES.length);
	});
	for (const rule of RULES_WITH_TITLES) {
		it.each(rule.yes)(`recognise %j as a ${rule.name}`, (title) => {
			expect(guess(title)).toEqual({ kind: 'line', secret: true });
		});
		it.each(rule.yes)(`recognise %j in a description as a ${rule.name}`, (description) => {
			const sentence = `The site stopped me. Please enter this: ${description}`;
			if (!/^(?:code|please enter the code|tan|secret|credit card)$/i.test(description)) {
				expect(looksSecret({ title: 'Next step', description: sentence })).toBe(true);
			}
		});
		it.each(rule.no)(`do not recognise %j as a ${rule.name}`, (title) => {
			expect(guess(title).secret).toBe(false);
		});
		it(`need the rule for a ${rule.name}`, () => {
			const others = SECRET_RULES.filter(({ pattern }) => pattern !== rule.pattern);
			expect(rule.yes.some((title) => !others.some((other) => other.pattern.test(title.toLowerCase())))).toBe(true);
		});
	}
	it.each(['Password', 'SMS code', 'PIN', 'API key', 'Card number', 'CVV', 'Seed phrase', 'SSN', 'Code', 'Token'])(
		'recognise %j without the examples of the table',
		(title) => {
			expect(guess(title)).toEqual({ kind: 'line', secret: true });
		},
	);
	it.each(HARMLESS_TITLES.flat())('take %j as ordinary', (title) => {
		expect(guess(title).secret).toBe(false);
	});
	it.each([
		['Login', 'The site sent a text message. Enter the verification code.'],
		['', 'Password'],
		['Human input required', 'What is the one-time code?'],
		['Your input', 'The page asks for the CVV of the card'],
		['Continue?', 'I need your API key for that'],
		['Options', 'Choose one of: A, B. Then tell me your password.'],
		['Which of these?\n- password\n- pin', ''],
		['Missing data', 'Please provide the following:\n1. Full name\n2. Passport number'],
		['Anmeldung', 'Bitte gib den Bestätigungscode ein.'],
	])('find a secret in the description of %j: %j', (title, description) => {
		expect(guess(title, description)).toEqual({ kind: 'line', secret: true });
	});
	it.each([
		['Which plan?', 'I have logged in with the password that was stored and see three plans now.'],
		['How should I log in?', 'Options: password, magic link'],
		['How should I log in?', 'The page wants you to choose:\n- password\n- magic link'],
		['Next step', 'Does this site use a password or a magic link?'],
		['Which article?', 'The blog has one about password managers and one about tokens.'],
	])('ignore a mention in the description of %j: %j', (title, description) => {
		expect(guess(title, description).secret).toBe(false);
	});
	it('find a request at the end of a long description', () => {
		expect(
			looksSecret({ title: 'Step', description: `${'The page shows a table. '.repeat(5_000)}Enter the password.` }),
		).toBe(true);
	});
});

describe('the rules for inputs', () => {
	it('have examples for each', () => {
		const kinds = INPUT_EXAMPLES.map(({ kind }) => kind).filter((kind) => kind !== 'yesNo');
		expect(kinds).toEqual(INPUT_RULES.map(({ kind }) => kind));
	});
	for (const [index, rule] of INPUT_EXAMPLES.entries()) {
		it.each(rule.yes)(`give %j the input ${rule.kind} (rule ${index})`, (...args) => {
			const example = (args.length > 1 ? args : args[0]) as Example;
			expect(guessInput(itemOf(example)).kind).toBe(rule.kind);
		});
		it.each(rule.no)(`do not give %j the input ${rule.kind} (rule ${index})`, (...args) => {
			const example = (args.length > 1 ? args : args[0]) as Example;
			expect(guessInput(itemOf(example)).kind).not.toBe(rule.kind);
		});
	}
	it.each(['', 'What do you think?', 'Describe the problem', 'Address', 'Comments', 'Notes for the courier'])(
		'give %j long text',
		(title) => {
			expect(guess(title)).toEqual({ kind: 'longText', secret: false });
		},
	);
	it('use a question in the description only for yes or no', () => {
		expect(guess('Notes', 'How many tickets did you have in mind?').kind).toBe('longText');
	});
	it('give long text for a long description', () => {
		expect(guess('How many tickets?', 'x '.repeat(300)).kind).toBe('longText');
	});
});

it('handles any strings without throwing and returns only what the type allows', () => {
	const hostile = fc.oneof(
		fc.string({ unit: anyCharacter, maxLength: 300 }),
		fc.string({ unit: 'grapheme', maxLength: 300 }),
		fc
			.array(
				fc.constantFrom(
					'one of',
					':',
					' or ',
					',',
					'(',
					')',
					'/',
					'?',
					'\n',
					'- ',
					'1. ',
					'"',
					"'",
					'password',
					'Which ',
					'a',
					'code ',
					' ',
				),
				{ maxLength: 200 },
			)
			.map((parts) => parts.join('')),
	);
	fc.assert(
		fc.property(hostile, hostile, (title, description) => {
			const found = guess(title, description);
			if (found.secret) expect(found.kind).toBe('line');
			if (found.kind === 'choice') {
				expect(found.options.length).toBeGreaterThanOrEqual(2);
				expect(found.options.length).toBeLessThanOrEqual(100);
				expect(new Set(found.options).size).toBe(found.options.length);
				for (const option of found.options) expect(option.trim()).toBe(option);
				expect(found.options).not.toContain('');
			}
		}),
		{ numRuns: 1_000 },
	);
});
