import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askedItem, choiceOf, YES_NO } from '../../src/questions/options.ts';
import { guessInput } from '../../src/questions/secrecy.ts';

function options(title: string, description = '') {
	const choice = choiceOf({ title, description });
	return choice === null || choice.isSeveral || choice.options === YES_NO ? null : choice.options;
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
		['Formal or informal?', 'Formal (vous) or informal (tu)?', ['Formal (vous)', 'informal (tu)']],
		['Sizes', 'Options: S, M, XL.', ['S', 'M', 'XL']],
		['Which of these two flights?', '- LH 1\n- LH 2', ['LH 1', 'LH 2']],
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
		['Plan', 'Options: A, B, A'],
		['Which?', `- ${'x'.repeat(400)}\n- B`],
		['Which?', `${'x '.repeat(5_000)}\n- A\n- B`],
	])('are not found in %j with %j', (title, description = '') => {
		expect(options(title, description)).toBeNull();
	});

	it.each<[title: string, description: string, expected: string[] | null]>([
		['Budget', 'Options: $1,200, $980', ['$1,200', '$980']],
		['Plan', 'Options: A (cheap, slow), B (fast, dear)', ['A (cheap, slow)', 'B (fast, dear)']],
		['Plan', 'One of: Basic, Pro (incl. support), Enterprise', ['Basic', 'Pro (incl. support)', 'Enterprise']],
		['Which database?', "['PostgreSQL', 'MySQL']", ['PostgreSQL', 'MySQL']],
		['Format', 'Supported values: ["csv", "json"]', ['csv', 'json']],
		['Slot', 'One of: 9 a.m., 2:30 p.m.', ['9 a.m.', '2:30 p.m.']],
		['Slot', 'Options: 3 Mar, 10:00; 5 Mar, 14:30', ['3 Mar, 10:00', '5 Mar, 14:30']],
		['Close it?', 'Choose one: Save and exit, Discard and exit', ['Save and exit', 'Discard and exit']],
		['Which database?', '- **PostgreSQL**: robust\n- **SQLite**: simple', ['PostgreSQL: robust', 'SQLite: simple']],
		['Company', 'Options: Acme, Inc., Foo, Ltd.', null],
		['Date', 'Options: March 3, 2026, March 5, 2026', null],
		['Date', 'Options: 3 Mar, 10:00, 5 Mar, 14:30', null],
		['Town', 'Options: Portland, OR, Salem, MA', null],
		['Number', 'Options: 1,200', null],
		['Plan', 'Options: (A, B', null],
		['Plan', 'Options: A), B', null],
		['Plan', 'Options: "A, B', null],
		['Plan', 'Options: **A, B', null],
		['Plan', 'Options: A; B | C', null],
		['Meal', 'Options: tea, coffee, bed and breakfast', null],
		['Folder', 'Options: src/questions/words', null],
		['Size', 'Options: size: S, M, L', null],
		['Branch', 'Options: it should be short, clear', null],
		['Plan', 'Choose one of: A, B, C (default A)', null],
	])('are all of the list, or none: %j with %j', (title, description, expected) => {
		expect(options(title, description)).toEqual(expected);
	});

	it.each([
		['What should I do next? So far I have:', '- logged in\n- opened the page'],
		['What is the delivery address?', 'I need:\n- street\n- city'],
		['Which one is it?', 'It says:\n- Login\n- Register'],
		['Which one?', 'Pros:\n- cheap\n- fast'],
		['Was soll ich tun?', 'Bisher habe ich versucht:\n- Neustart\n- Update'],
		['Why did it stop?', '- no disk\n- no memory'],
		['What should I write?', '- refund\n- apology'],
		['Address', '- Street\n- City'],
		['Which colour?', 'Red\nGreen\nCheers'],
		['Continue?', 'Branch main / dev is behind.'],
		['Which flight?', 'Sold out:\n- LH 1\n- LH 2'],
		['Delete the project?', 'Type DELETE to confirm'],
		['Proceed?', 'Reply with “OK”'],
		['Borrar el proyecto', 'Escriba BORRAR para continuar'],
	])('are neither facts, data nor a word to type: %j with %j', (title, description) => {
		expect(choiceOf({ title, description })).toBeNull();
	});

	it.each([
		['Choose your top three', '- red\n- blue\n- green\n- black'],
		['Pick 2', '- a1\n- b1\n- c1'],
		['Which of these emails should I delete?', '- Newsletter\n- Invoice'],
		['Toppings (multi-select)', 'Options: ham, olives, basil'],
		['Welche Dateien soll ich löschen?', '- a.txt\n- b.txt'],
		['¿Cuáles prefieres?', '- uno\n- dos'],
	])('may be several: %j with %j', (title, description) => {
		expect(choiceOf({ title, description })?.isSeveral).toBe(true);
	});

	it.each([
		['Answer', 'Which hotel?\n\n1. Ibis\n2. Novotel', ['Ibis', 'Novotel']],
		[
			'Which hotel should I book?',
			'I was at the station.\n\nI found two hotels:\n- Ibis\n- Novotel',
			['Ibis', 'Novotel'],
		],
		['How shall I go on?', 'It failed.\nOptions: Retry, Stop', ['Retry', 'Stop']],
		['Which name should the booking have?', 'Your trip:\n- Ibis\n- two nights', null],
		['What should I try next?', 'Build failed:\n- a.ts\n- b.ts', null],
		['Answer', 'I have two questions:\n1. Which city?\n2. How many people?', null],
	])('of a lone item stand in the text above it: %j below %j', (title, context, expected) => {
		const item = { title, description: '' };
		expect(choiceOf(askedItem({ items: [item], context }, 0))?.options ?? null).toEqual(expected);
		const items = [item, { title: 'Notes', description: '' }];
		expect(choiceOf(askedItem({ items, context }, 0))).toBeNull();
	});

	it.each<[title: string, above: string, expected: string[] | null, isExplicit?: boolean]>([
		// A list that is of what is asked about.
		[
			'Which cabin?',
			'Two cabins are free:\n\n+ Lake view, 90 €\n+ Garden view, 70 €',
			['Lake view, 90 €', 'Garden view, 70 €'],
			true,
		],
		['Which one, please?', 'Seen so many.\n→ oak\n→ beech', ['oak', 'beech'], true],
		['Welche Farbe?', 'Farben gibt es zwei:\n①rot\n②blau', ['rot', 'blau'], true],
		[
			'Your call',
			'Facts so far:\n- disk full\n- swap full\nWhat should I do?\n🔁 Restart\n🛑 Stop',
			['Restart', 'Stop'],
			true,
		],
		['Ticket', 'Which ticket?\n**A** — single\n**B** — return', ['single', 'return'], true],
		['Layout', '```json\n{"ask": 1, "options": ["grid", "list"]}\n```', ['grid', 'list'], false],
		['Lequel dois-je réserver ?', 'Deux hôtels sont libres :\n- Ibis\n- Novotel', ['Ibis', 'Novotel'], true],
		['Welchen soll ich buchen?', 'Es gibt zwei Flüge:\n- LH 1\n- LH 2', ['LH 1', 'LH 2'], true],
		['どれを予約しますか？', '二つあります。\n- JL 1\n- NH 2', ['JL 1', 'NH 2'], true],
		// What may be about something else gives no buttons.
		['Which server shall I restart?', 'Two problems:\n- disk full\n- no memory', ['disk full', 'no memory'], false],
		['What now?', 'The page has:\n- a banner\n- a form', ['a banner', 'a form'], false],
		['Which room?', 'Free rooms: Elbe, Weser and Rhine.', ['Elbe', 'Weser', 'Rhine'], false],
		[
			'Index',
			'Which column should be the index: `sku`, `slug` or `(sku, slug)`?',
			['sku', 'slug', '(sku, slug)'],
			false,
		],
		['Send it?', 'The draft is done.\n**approve** / **reject** / **edit**', ['approve', 'reject', 'edit'], false],
		['Your decision?', 'Expense.\n**Approve** / **Reject** / **Send back**', ['Approve', 'Reject', 'Send back'], false],
		['How should I proceed?', 'I can either\n1. ask again\n2. wait', ['ask again', 'wait'], false],
		['Occasion?', 'The form asks for the occasion.\n• Birthday\n• Anniversary', ['Birthday', 'Anniversary'], false],
		// Facts, data and questions that no list answers.
		['Send it?', '**approve** / **reject** / **edit**', ['approve', 'reject', 'edit'], false],
		['Which address?', 'Cart:\n- pen\n- ink', null],
		['What should I do?', 'Flight: LH 1\nBooking:\n- Seat: 17C\n- Bags: 2', null],
		['Which slot, and how many people?', 'Free:\n- 9:00\n- 10:00', null],
		['Any wishes?', 'Agenda:\n- intro\n- close', null],
	])('of a lone item may stand above it: %j below %j', (title, above, expected, isExplicit) => {
		const choice = choiceOf(askedItem({ items: [{ title, description: '' }], context: above }, 0));
		expect(choice?.options ?? null).toEqual(expected);
		expect(choice?.isExplicit).toBe(isExplicit);
	});

	it.each<[question: string, expected: string[] | null]>([
		['Shall I take the Visa 11 or the Amex 22?', ['the Visa 11', 'the Amex 22']],
		['Fly with Lufthansa or Iberia?', ['Lufthansa', 'Iberia']],
		['On foot or by bus?', ['On foot', 'by bus']],
		['Send it by mail or courier?', null],
		['Start at 02:00, 03:30 or 05:00 UTC?', null],
		['Fly to Rome or Paris tomorrow?', null],
		['Size (S or M) and colour (red or blue)?', null],
		['Category? travel / meals / other costs', ['travel', 'meals', 'other costs']],
		['Whom? Acme, Inc.; Foo & Bar', ['Acme, Inc.', 'Foo & Bar']],
		['Reply "keep" to wait for them, or "move"', ['keep', 'move']],
		['Reply `yes` or `no: <reason>`', null],
	])('of a sentence begin where the others show it: %j', (question, expected) => {
		expect(options(question)).toEqual(expected);
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
