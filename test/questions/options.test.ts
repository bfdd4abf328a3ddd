import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guessInput } from '../../src/questions/input-kind.ts';
import { listedOptions } from '../../src/questions/options.ts';

function options(title: string, description = '') {
	return listedOptions({ title, description })?.options ?? null;
}

describe('options', () => {
	it.each<[title: string, description: string, expected: string[]]>([
		// After a cue.
		['Plan', 'One of: Basic, Pro, Team', ['Basic', 'Pro', 'Team']],
		['Plan', 'Options: Basic / Pro / Team', ['Basic', 'Pro', 'Team']],
		['Plan', 'Please choose one of the following: Basic, Pro or Team.', ['Basic', 'Pro', 'Team']],
		['Plan', 'Possible values: a; b, c; d', ['a', 'b, c', 'd']],
		['Plan', 'Choose between tea and coffee.', ['tea', 'coffee']],
		['Plan', 'Pick one of red, green, or blue', ['red', 'green', 'blue']],
		['Plan', 'Select: low|medium|high', ['low', 'medium', 'high']],
		['Version', 'Options: v1.2, v1.3. The newer one is slower.', ['v1.2', 'v1.3']],
		['Taste', 'One of: salt, pepper, salt and pepper', ['salt', 'pepper', 'salt and pepper']],
		['Farbe', 'Optionen: rot, grün oder blau', ['rot', 'grün', 'blau']],
		['Plan', 'Options: **Basic**, `Pro`, "Team"', ['Basic', 'Pro', 'Team']],
		['Plan', 'Options: A, B, A', ['A', 'B']],
		// Lists of lines.
		['Which flight?', '- 8:00, 120 €\n- 11:30, 90 €\n- 17:10, 95 €', ['8:00, 120 €', '11:30, 90 €', '17:10, 95 €']],
		['Which flight should I take?', '1. Morning\n2. Noon\n3. Evening', ['Morning', 'Noon', 'Evening']],
		['Flight', 'Please choose:\r\n\r\n* Morning\r\n* Evening\r\n\r\nThe prices are the same.', ['Morning', 'Evening']],
		['Flight', 'Pick one\n  a) Morning\n  b) Evening', ['Morning', 'Evening']],
		['Flight', 'Pick one\n(1) Morning\n(2) Evening', ['Morning', 'Evening']],
		['Flight', 'I found these:\n• **Morning**\n• Evening;\nWhich one shall I book?', ['Morning', 'Evening']],
		[
			'Which account?',
			'I see 2:\n\n1) Personal (…1234)\n2) Business (…9876)',
			['Personal (…1234)', 'Business (…9876)'],
		],
		// Parentheses.
		['Size (S/M/L)', '', ['S', 'M', 'L']],
		['Which size? (small | medium | large)', '', ['small', 'medium', 'large']],
		['Which size (small, medium or large)?', '', ['small', 'medium', 'large']],
		['Label', 'The grade [A/B/C]', ['A', 'B', 'C']],
		['Rate it (1/2/3/4/5)', '', ['1', '2', '3', '4', '5']],
		['Season (summer/winter)', '', ['summer', 'winter']],
		['Weiter? (ja/nein)', '', ['ja', 'nein']],
		// Quotation marks.
		['Reply', 'Reply with "accept" or "decline".', ['accept', 'decline']],
		['Choose ‘', 'Choose “Basic”, “Pro” or “Team”', ['Basic', 'Pro', 'Team']],
		// Questions.
		['Window or aisle?', '', ['Window', 'aisle']],
		['Red, green or blue?', '', ['Red', 'green', 'blue']],
		['Red, green, or blue?', '', ['Red', 'green', 'blue']],
		['Do you prefer the window or the aisle?', '', ['the window', 'the aisle']],
		['Which colour do you prefer, red or blue?', '', ['red', 'blue']],
		['Which size: S, M or L?', '', ['S', 'M', 'L']],
		['Seat', 'There are two seats left. Window or aisle?', ['Window', 'aisle']],
		['Tea, coffee or something else?', '', ['Tea', 'coffee']],
	])('are found in %j with %j', (title, description, expected) => {
		expect(options(title, description)).toEqual(expected);
		expect(guessInput({ title, description })).toEqual({ kind: 'choice', options: expected });
	});

	it.each<[title: string, description?: string]>([
		[''],
		['What should I do?'],
		['Which red or blue car?'],
		['Email or phone?'],
		['Name or company?'],
		['Should I call or not?'],
		['Should I book a table or wait?'],
		['Do you want me to go or to stay?'],
		['Could you tell me the street or the city?'],
		['When you arrive, should I call or text?'],
		['Red or blue? And which size?'],
		['Tell me more', 'I tried:\n- the form\n- the chat\nNothing worked.'],
		['Form', 'Please give me:\n- your street\n- your city'],
		['Which of these apply?', 'Select all that apply:\n- A\n- B'],
		['Rank these', 'Options: A, B, C'],
		['Pick one or more', 'A, B, C'],
		['Colour', 'One of the usual ones, e.g. red, green'],
		['Colour', 'Options: red, green, ...'],
		['Choose a name: it should be short, catchy and new'],
		['Choose one of the three offers'],
		['Choose one of the offers, slots or trips'],
		['Speed (km/h)'],
		['Date (DD/MM/YYYY)'],
		['Name (and/or company)'],
		['Path (/etc/hosts)'],
		['Link (https://example.com/a/b)'],
		['Support (24/7)'],
		['Budget (100 USD/month)'],
		['What is your address? (street, city, zip)'],
		['Which address (street, city)?'],
		['Run the (A/B) test first?'],
		['What is "foo" and who wrote "bar"?'],
		['Which?', '- A\n- B\nor else\n- C\n- D'],
		['Which?', '- A\n  - A1\n- B'],
		['Which?', '1. A\n3. B'],
		['Which?', '- only one'],
		['Which?', `- ${'x'.repeat(400)}\n- B`],
		['Which?', `${'x '.repeat(5_000)}\n- A\n- B`],
	])('are not found in %j with %j', (title, description = '') => {
		expect(options(title, description)).toBeNull();
	});

	it('become a yes or no input when they are yes and no', () => {
		for (const title of ['Go on (yes/no)', 'Go on? One of: Yes, No', 'Go on [Y/n]', 'Reply "yes" or "no"']) {
			expect(guessInput({ title, description: '' })).toEqual({ kind: 'yesNo' });
		}
		expect(guessInput({ title: 'Go on (yes/no)', description: 'Say why.' }).kind).toBe('longText');
	});

	it('are found in lists that exclude other answers, and are at most 100', () => {
		expect(options('Plan', 'Must be one of: A, B')).toEqual(['A', 'B']);
		const many = Array.from({ length: 150 }, (_, index) => `- option ${index}`).join('\n');
		expect(options('Which?', `Must be one of\n${many}`)).toHaveLength(100);
	});

	it('keep their full text when a select cannot show it', () => {
		const long = `A ${'very '.repeat(30)}long one`;
		expect(options('Which?', `- ${long}\n- B`)).toEqual([long, 'B']);
	});

	it('are found in any list', () => {
		// Not words of a language, because rules exclude some of those ("You").
		const name = fc.stringMatching(/^[A-Z][a-z]{1,9}q$/);
		fc.assert(
			fc.property(
				fc.uniqueArray(name, { minLength: 2, maxLength: 30 }),
				fc.constantFrom('- ', '* ', '#. '),
				(names, bullet) => {
					const lines = names.map((text, index) => bullet.replace('#', String(index + 1)) + text);
					expect(options('Which one?', lines.join('\n'))).toEqual(names);
					expect(options('Plan', `One of: ${names.join('; ')}`)).toEqual(names);
				},
			),
			{ numRuns: 200 },
		);
	});
});
