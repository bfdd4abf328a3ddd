import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../src/questions/asks-for-secret.ts';
import { lookDifferent, looksOfLabels, quickAnswerOf } from '../../src/questions/quick-answer.ts';
import type { ReadItem } from '../../src/questions/session.ts';
import { BUTTON_LABELS } from '../../src/slack/ids.ts';
import { plain } from '../../src/slack/text.ts';
import { hostileText } from '../slack/support/hostile-text.ts';
import { anyCharacter } from '../support/any-text.ts';

const isOrdinary = () => false;

function items(...texts: readonly (readonly [title: string, description: string])[]): ReadItem[] {
	return texts.map(([title, description]) => ({ title, description, value: '' }));
}

/** What people take for each other, by its look or as a number. */
const ALIKE = [
	['barn', 'bam'],
	['clear', 'dear'],
	['vvest', 'west'],
	['plan 0', 'plan O'],
	['plan 1', 'plan ١'],
	['plan 1', 'plan l'],
	['plan I', 'plan l'],
	['PLAN I', 'plan l'],
	['plan 𝐢', 'plan l'],
	['plan 3', 'plan ३'],
	['plan 8', 'plan ৪'],
	['plan 4', 'plan ৪'],
	['plan ٥', 'plan ۵'],
	['plan 7', 'plan ７'],
	['plan 7', 'plan 𝟳'],
	['Ｐａｙ', 'Pay'],
	['Рау', 'Pay'],
	['scope', 'ѕсоре'],
	['Νο', 'No'],
	['ρay', 'pay'],
	['ԁone', 'done'],
	['ǎ lot', 'ă lot'],
	['カ', '力'],
	['کتاب', 'كتاب'],
	['pay $1,000', 'pay $1.000'],
	['10.5', '10,5'],
	['Yes', 'Yes\u0335'],
] as const;

/** What nobody takes for each other. */
const DIFFERENT = [
	['1', '2', '3', '4', '5'],
	['10', '11', '20'],
	['I', 'II', 'III', 'IV'],
	['A', 'B', 'C', 'D', 'E'],
	['8:00', '9:00'],
	['Small', 'Medium', 'Large'],
	['C', 'C++', 'C#'],
	['schön', 'schon'],
	['Да', 'Нет'],
	['Ναι', 'Όχι'],
	['نعم', 'لا'],
	['כן', 'לא'],
	['はい', 'いいえ'],
	['一', '二', '三'],
	['१', '२'],
] as const;

/** The options of a question with this one item. */
function quick(title: string, description = ''): readonly string[] | null {
	return (
		quickAnswerOf({ items: items([title, description]), openItems: [0], context: '' }, isOrdinary)?.options ?? null
	);
}

describe('one press answers', () => {
	it.each<[title: string, description: string, expected: string[]]>([
		// After words with a colon.
		['Which flight should I book?', 'One of: LH 1173, TP 570', ['LH 1173', 'TP 570']],
		['Plan', 'Options: Basic / Pro / Team', ['Basic', 'Pro', 'Team']],
		['Which desks?', 'One of: Graphite, Sand', ['Graphite', 'Sand']],
		['Plan', 'Please choose one of the following: Basic, Pro or Team.', ['Basic', 'Pro', 'Team']],
		['Priority', 'Select: low|medium|high', ['low', 'medium', 'high']],
		['Version', 'Options: v1.2, v1.3. The newer one is slower.', ['v1.2', 'v1.3']],
		['Seat', 'Pick one: window or aisle', ['window', 'aisle']],
		['', 'Which size do you need? Possible values: S; M; L; XL; XXL', ['S', 'M', 'L', 'XL', 'XXL']],
		['Delivery. Options: **Standard**, **Express**', '', ['Standard', 'Express']],
		['Plan', 'Options: Basic, Pro or something else', ['Basic', 'Pro']],
		['Merge strategy', 'Choose one: "squash", "rebase", "merge"', ['squash', 'rebase', 'merge']],
		['The page offers two lists', 'Tell me which one to use.\nOptions: A & B, C + D', ['A & B', 'C + D']],
		// Lists of lines.
		['Which flight?', '- 8:00, 120 €\n- 11:30, 90 €', ['8:00, 120 €', '11:30, 90 €']],
		['Which flight should I take?', '1. Morning\n2. Noon\n3. Evening', ['Morning', 'Noon', 'Evening']],
		['Flight', 'Please choose:\r\n\r\n* Morning\r\n* Evening\r\n\r\nThe prices are the same.', ['Morning', 'Evening']],
		['Flight', 'I found these:\n• **Morning**\n• Evening;\nWhich one shall I book?', ['Morning', 'Evening']],
		['Which account?', '1) Personal (…1234)\n2) Business (…9876)', ['Personal (…1234)', 'Business (…9876)']],
		['Which one?', `- ${'x'.repeat(30)}\n- B`, ['x'.repeat(30), 'B']],
		['Which one?', '- 👍\n- 👎', ['👍', '👎']],
		...DIFFERENT.map((options): [string, string, string[]] => [
			'Which one?',
			options.map((option) => `- ${option}`).join('\n'),
			[...options],
		]),
		// Other languages.
		['Farbe', 'Optionen: rot, grün oder blau', ['rot', 'grün', 'blau']],
		['Welcher Tarif?', '- Basis\n- Profi', ['Basis', 'Profi']],
		['Soll ich weitermachen? Auswahl: Ja / Nein', '', ['Ja', 'Nein']],
		['Color', 'Opciones: rojo, azul o verde', ['rojo', 'azul', 'verde']],
		['¿Continuar?', 'Elige una: Sí, No', ['Sí', 'No']],
		['Créneau', 'Choisissez : matin, soir', ['matin', 'soir']],
		['Quelle taille ?', '- Petite\n- Grande', ['Petite', 'Grande']],
		['Город?', 'Options: Москва, Казань', ['Москва', 'Казань']],
		['どちら?', 'Options: 東京, 大阪', ['東京', '大阪']],
		// Yes and no.
		['Should I proceed?', '', ['Yes', 'No']],
		['Shall I renew it anyway?', 'yes/no', ['Yes', 'No']],
		['Proceed? (y/n)', '', ['Yes', 'No']],
		['Question', 'The total is 30 euros. Should I submit the form?', ['Yes', 'No']],
		['Soll ich die Bestellung abschicken?', '', ['Yes', 'No']],
		['Go on? One of: Yes, No', '', ['Yes', 'No']],
		['Weiter? (ja/nein)', '', ['ja', 'nein']],
	])('%j with %j', (title, description, expected) => {
		expect(quick(title, description)).toEqual(expected);
	});
});

/** Cut, mixed or told lists, several, typed words and other questions: what one press would answer wrongly. */
const NO_PRESS: readonly (readonly [title: string, description: string, above: string])[] = [
	['Optionen: heute, morgen, am 3. Mai', '', ''],
	['Options: now, later, on 3. May', '', ''],
	['One of: Bus, Bahn, Straße des 17. Juni', '', ''],
	['One of: 980, 1. FC Köln or U.S. East', '', ''],
	['Choose one: U.S.; Dr. Who; Mo., 3. Mai; Node.js', '', ''],
	['Options: wait, call Capt. Smith', '', ''],
	['Which time?', '1 – 2 pm\n2 – 3 pm\n3 – 4 pm', ''],
	['Which room?', '1 – 2 beds\n2 – 3 beds', ''],
	['Welcher Termin?', '1. Mai\n2. Juni\n3. Juli', ''],
	['Choose one:', '- Red;\n- Green; or\n- Blue.', ''],
	['Choose one:', '- Red,\n- Green, or\n- Blue', ''],
	['One of: S, M, L - or a number', '', ''],
	['Choose one: later, now, no. Thanks for your help.', '', ''],
	['Choose: --env=dev|prod, --all', '', ''],
	['One of: New York, Washington, DC, Boston', '', ''],
	['Choose two:', '- Apple\n- Pear\n- Plum', ''],
	['Pick two: ham, egg, fig', '', ''],
	['Select All That Apply', '- A\n- B', ''],
	['Select all that apply:', '- all\n- some\n- none', ''],
	['Which toppings?', '- Ham\n- Basil', 'Select all that apply.'],
	['In which order should I visit them?', '- A1\n- B1', ''],
	['Do you want to keep the data?', '- Keep\n- Delete', ''],
	['Shall I send it?', '- Send now\n- Send later', ''],
	['Should I go on? (send/skip)', '', ''],
	['Should I go on? (low, medium, high)', '', ''],
	['Is it urgent?', '', 'Choose one of: low, high.'],
	['Shall I send it?', '(1 = yes, 2 = no)', ''],
	['Soll ich senden? (Ja / Nein, mit Grund)', '', ''],
	['Should I delete it? To confirm, type its name.', '', ''],
	['Delete the project?', '', 'Type the project name to confirm.'],
	['Correct date', '', 'Is the date right?'],
	['Delivery address', '', 'Shall I place the order with this address?'],
	['Which day?', '- Monday\n- Tuesday\nAnd at what time?', ''],
	['Which plan?', '- Free\n- Pro\nSeats?', ''],
	['Which plan?', '- Free\n- Pro\nI need your postcode too.', ''],
	['Number of nights', '', 'Choose a room: Single, Double.'],
	['Guest name', '', 'Choose a room: Single, Double.'],
	['Which arrival day?', '', 'Choose a room: Single, Double.'],
	['Which flight should I take instead?', '', 'These flights are sold out:\n- LH 1172\n- LH 1174'],
	['Which colour?', '', 'Do not pick one of: red, green'],
	['What now?', '', 'Options considered and rejected: red, green'],
	['Which folder should I put these files in?', '- a.txt\n- b.txt', ''],
	['Which account should these go to?', '- a.txt\n- b.txt', ''],
	['What should I do with these?', '- a.txt\n- b.txt', ''],
	['Which one?', '- Pro with {seats} seats\n- Free', ''],
	['Which one?', '- feature/NAME\n- main', ''],
	['Which one?', '- Blocked (please say by what)\n- Fine', ''],
	['Which one?', '- YYYY-MM-DD\n- today', ''],
	['Answer', '', 'The customer is unhappy:\n- It came late\n- A cup is broken\nHow should I reply?'],
	['Answer', '', 'Config: {"mode":"fast","options":["cache","gzip"]}\nShould I apply it?'],
	['Answer', '', '{"question":"Which envs?","options":["dev","prod"],"multiSelect":true}'],
	['Log level', 'Pick one: info, debug; default is info', ''],
	['Answer', '', 'Discarded options:\n- Red\n- Blue\nWhich colour do you want?'],
	['Réponse', '', 'Options écartées :\n- rouge\n- bleu\nQuelle couleur voulez-vous ?'],
	['Mode', "Don't pick: PDF, Word", ''],
	['Answer', '', 'Fully booked:\n- Tuesday\n- Wednesday\nWhich day should I book?'],
	['Answer', '', 'Your wishes:\n- Near the sea\n- Two beds\nWhich city do you prefer?'],
	['Is the name right and is the date right?', '', ''],
	['Möchten Sie Frühstück, und brauchen Sie einen Parkplatz?', '', ''],
	['Do you pay by card, cash?', '', ''],
	['Should I book 9:00 vs 10:00?', '', ''],
	['Is Monday fine?', 'Yes or a new date.', ''],
	['Is Monday fine?', 'Time:', ''],
	['Should I send it to Tom?', 'Please reply with his address.', ''],
	['Airline', 'Options: Lufthansa, Swiss\nSeat number:', ''],
	['Farbe und Größe', 'Optionen: rot, blau', ''],
	['Which law firm?', 'Options: Baker, McKenzie & Co. or Clifford', ''],
	['Which day?', 'Options: Monday, March 3, Tuesday, March 4', ''],
	['Which time?', 'Options: 9, 10 or 11 am', ''],
	['Mode', 'Pick one: on, off, thanks', ''],
	['Severity', 'Options: low, medium, high (pick two)', ''],
	['Choose a seat', '| Seat | Price |\n| 12A | 10 |\n| 14C | 8 |', ''],
	['Which label(s)?', 'Options: bug, docs', ''],
	['Which hotel should I book?', '', 'So far I have booked:\n- Station Inn\n- Hotel Sol'],
	['Which task should I do next?', '', 'I have finished these tasks:\n- Flight\n- Hotel'],
	['Devo usare Visa o PayPal?', '', ''],
	['¿Continúo o espero?', '', ''],
	['Czy wysłać teraz, czy później?', '', ''],
	['Pencere mi koridor mu?', '', ''],
	['Answer', '', 'Choose a plan:\n- Basic\n- Pro\nHow many seats?'],
	['How many seats?', 'Options: Basic, Pro', ''],
	['Answer', '', 'The options are:\n- Basic\n- Pro\nI recommend Pro. Should I go ahead?'],
	['Darf ich Ihre Adresse haben?', '', ''],
	['Answer', '', 'Is Monday fine? Or a new date.'],
	['Invite?', '{"question": "Invite?", "options": ["Ann", "Ben"], "type": "checkbox"}', ''],
	['Which labels?', '- bug\n- docs', ''],
	['Mode', 'Options: red, blue, up to you', ''],
	['Answer', '', '{"question":"Which env?","options":[{"id":1,"t":"Dev"},{"id":2,"t":"Prod"}]}'],
];

it.each(NO_PRESS)('one press does not answer %j with %j below %j', (title, description, context) => {
	const question = { items: items([title, description]), openItems: [0], context };
	expect(quickAnswerOf(question, isOrdinary)).toBeNull();
});

it.each([
	['Answer', 'I have two options for you:\n- Retry\n- Skip\nWhich one do you prefer?', ['Retry', 'Skip']],
	['Antwort', 'Ich habe zwei Hotels gefunden:\n- Adler\n- Krone\nWelches Hotel soll ich buchen?', ['Adler', 'Krone']],
	['Answer', '続けますか？（はい／いいえ）', ['はい', 'いいえ']],
	['Devo enviar o relatório agora?', '', ['Yes', 'No']],
	['Answer', 'Soll ich die Bestellung abschicken?', ['Yes', 'No']],
	['Answer', "I'm not sure which flight you want:\n1. LH 1172\n2. TP 570", ['LH 1172', 'TP 570']],
	['उत्तर', 'विकल्प: लाल, नीला। कौन सा रंग चाहिए?', ['लाल', 'नीला']],
	['Answer', 'The upload failed. Should I retry?\n1. Yes\n2. No', ['Yes', 'No']],
	['Answer', 'Do you want a receipt?\n- Yes, by email\n- No', ['Yes, by email', 'No']],
])('one press answers %j below %j', (title, context, options) => {
	expect(quickAnswerOf({ items: items([title, '']), openItems: [0], context }, isOrdinary)?.options).toEqual(options);
});

describe('one press does not answer', () => {
	it.each<[title: string, description?: string]>([
		[''],
		['What should I do?'],
		['How many tickets?'],
		// Options taken from a sentence, parentheses or quotation marks.
		['Window or aisle?'],
		['Which colour do you prefer, red or blue?'],
		['Plan', 'Choose between Basic and Pro.'],
		['Plan', 'Pick one of red, green, or blue'],
		['Size (S/M/L)'],
		['Which size (small, medium or large)?'],
		['Proceed? (yes/no/maybe)'],
		['Reply', 'Reply with "accept" or "decline".'],
		['Plan', 'Choose between tea or coffee.\nOptions: A, B'],
		['Where shall I stay?', 'Options: bed and breakfast'],
		// More than one of them, or more than an option.
		['Which of these apply?', 'Select all that apply:\n- A\n- B'],
		['Rank these', 'Options: A, B, C'],
		['Colour', 'Options: red, green, ...'],
		['Plan', 'One of: A, B. Tell me why.'],
		['Plan', 'One of: A, B. Please explain.'],
		['Plan', 'One of: A, B. If B, give the date.'],
		['Plan', 'One of: A, B. And how many seats?'],
		['Plan', 'One of: A, B. Please add your name.'],
		['Which plan? How many seats?', 'One of: A, B'],
		['Tarif', 'Optionen: A, B. Warum?'],
		['Plan', 'Opciones: A, B. ¿Por qué?'],
		['Formule', 'Choisissez : A, B. Expliquez.'],
		['Renew it?', 'Yes or no? If no, say how to go on.'],
		['Proceed? (y/n)', 'If no, explain why.'],
		// Several lists.
		['Seats and meals', 'Seat options: A, B. Meal options: C, D.'],
		['Seats and meals', 'Seat options: A, B\nMeal options: C, D'],
		['Which one?', '- A\n- B\n\nOptions: C, D'],
		['Which?', '- A\n- B\nor else\n- C\n- D'],
		// Too many or too few.
		['Plan', 'One of: A'],
		['Plan', 'Options: Basic, Pro, Basic'],
		['Plan', 'One of: A, B, C, D, E, F'],
		['Which?', '1. A\n2. B\n3. C\n4. D\n5. E\n6. F'],
		// Labels that Slack would cut or show as something else.
		['Which one?', `- ${'x'.repeat(31)}\n- B`],
		['Which one?', `- ${'👍'.repeat(16)}\n- B`],
		['Which one?', '- two  spaces\n- B'],
		['Plan', 'Options: two  spaces, B'],
		['Which one?', '- a\ttab\n- B'],
		['Which one?', '- a\u00a0b\n- B'],
		['Which one?', '- a\u3000b\n- B'],
		['Which one?', '- a\u2028b\n- B'],
		['Which one?', '- a\rb\n- B'],
		['Which one?', '- a\u0000b\n- B'],
		['Which one?', '- a\u200bb\n- B'],
		['Which one?', '- a\u00adb\n- B'],
		['Which one?', '- \u202eevil\u202c\n- B'],
		['Which one?', '- \u2066x\u2069\n- B'],
		['Which one?', '- \ud83d\n- B'],
		['Which one?', '- \u2800\n- B'],
		['Which one?', '- \u3164\n- B'],
		['Which one?', '- 👩‍👧\n- B'],
		['Which one?', `- e${'\u0301'.repeat(9)}\n- B`],
		['Which one?', '- \u0301e\n- B'],
		['Which one?', '- Great :smile:\n- B'],
		['Which one?', '- :+1:\n- :-1:'],
		['Which one?', '- :größe:\n- B'],
		['Which one?', '- a &lt; b\n- B'],
		['Which one?', '- <!here>\n- B'],
		['Which one?', '- <@U012AB3CD>\n- B'],
		['Which one?', '- **Morning** flight\n- **Evening** flight'],
		['Which one?', '- *A* search\n- Hill climbing'],
		['Which one?', '- [ ] Morning\n- [x] Evening'],
		['Which one?', '- [A](https://evil.example)\n- B'],
		// Labels that look the same.
		['Which one?', '- Approve\n- approve'],
		['Which one?', '- Approve\n- Ａｐｐｒｏｖｅ'],
		['Which one?', '- Approve\n- \u0410pprove'],
		['Which one?', '- Zo\u00eb\n- Zoe\u0308'],
		['Which one?', '- STRASSE\n- straße'],
		...ALIKE.map((pair): [string, string] => ['Which one?', pair.map((one) => `- ${one}`).join('\n')]),
		// Secrets.
		['Password', 'One of: hunter2, hunter3'],
		['Your PIN', 'Options: 1234 / 4321'],
		['PаsswоRd', 'One of: A, B'],
		['Enter the one-time code', '- 123456\n- 654321'],
	])('%j with %j', (title, description = '') => {
		expect(quick(title, description)).toBeNull();
	});

	it('a question with no open item, with several items, open or not, and with an item that does not exist', () => {
		const two = items(['Plan', 'One of: A, B'], ['Seat', 'One of: C, D']);
		expect(quickAnswerOf({ items: two, context: '', openItems: [] }, isOrdinary)).toBeNull();
		expect(quickAnswerOf({ items: two, context: '', openItems: [0, 1] }, isOrdinary)).toBeNull();
		expect(quickAnswerOf({ items: two, context: '', openItems: [1] }, isOrdinary)).toBeNull();
		expect(quickAnswerOf({ items: two.slice(1), context: '', openItems: [1] }, isOrdinary)).toBeNull();
	});

	it('an item that is known to be secret although it does not look so', () => {
		const question = { items: items(['Plan', 'One of: A, B']), openItems: [0], context: '' };
		expect(quickAnswerOf(question, (position) => position === 0)).toBeNull();
		expect(quickAnswerOf(question, (position) => position === 1)).not.toBeNull();
	});
});

describe('the options of one press', () => {
	const option = fc.oneof(
		{ weight: 6, arbitrary: fc.stringMatching(/^[A-Z][a-z]{1,9}q$/) },
		{ weight: 1, arbitrary: hostileText.map((text) => text.slice(0, 40)) },
		{ weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 8 }) },
	);
	const listing = fc
		.tuple(
			fc.array(option, { minLength: 1, maxLength: 7 }),
			fc.constantFrom('One of: ', 'Options: ', 'Which one?\n- ', 'Which one?\n* ', 'Choose between ', ''),
			fc.constantFrom(', ', ' / ', '; ', '|', ' or '),
		)
		.map(([options, cue, separator]) => cue + options.join(cue.includes('\n') ? cue.slice(-3) : separator));
	const text = fc.oneof({ weight: 3, arbitrary: listing }, { weight: 1, arbitrary: hostileText });

	it('are buttons that show what is sent, for any item', () => {
		let found = 0;
		fc.assert(
			fc.property(text, text, fc.boolean(), (title, description, secret) => {
				const [item] = items([title, description]) as [ReadItem];
				const answer = quickAnswerOf({ items: [item], openItems: [0], context: '' }, () => secret);
				if (answer === null) return;
				found += 1;
				const { position, options } = answer;
				expect(position).toBe(0);
				expect(secret || looksSecret(item)).toBe(false);
				expect(options.length).toBeGreaterThanOrEqual(2);
				expect(options.length).toBeLessThanOrEqual(5);
				const isYesNo = options.join() === 'Yes,No';
				for (const label of options) {
					expect(label.length).toBeLessThanOrEqual(30);
					expect(label.trim()).toBe(label);
					expect(plain(label, 30).text).toBe(label);
					if (!isYesNo) expect(`${title}\n${description}`).toContain(label);
				}
				expect(new Set(options.map((label) => label.normalize('NFKC').toLowerCase())).size).toBe(options.length);
			}),
			{ numRuns: 3_000 },
		);
		expect(found).toBeGreaterThan(50);
	});
});

const OWN = looksOfLabels(BUTTON_LABELS);

it.each([
	'Undo',
	'UNDO',
	' undo! ',
	'Un do',
	'Undo ↩️',
	'Undо',
	'∪ndo',
	'Ⓤndo',
	'Ｕｎｄｏ',
	'Und0',
	'Answer',
	'Answer...',
	'Give\tback',
	'Hand-over',
	'hancl over',
	'Discard',
	'discard answer…',
	'Snooze for me',
	'0pen',
	'٠pen',
	'Refresh',
	'Send again',
	'Files (1)',
	'Files (12)',
	'Next 10',
	'previous',
	'Cancel',
	'Undo (10 s)',
	'Undo 10s',
	'Undo10s',
	'Undo – 10 sec.',
	'0pen [new]',
	'Open 👍',
	'Hand over (to @ada)',
	'Send',
	'Send again (2)',
	'Ⓤndo (10 s)',
])('takes %j for a label of our own', (option) => {
	expect(lookDifferent([option], OWN)).toBe(false);
});

it.each([
	'Close ticket',
	'Keep ticket',
	'Open a new account',
	'Use the old one',
	'Send it again',
	'Refresh the page',
	'Send 10 mails',
	'Answer me',
	'Back up (all of it)',
	'Yes',
	'No',
	'Later',
	'Approve',
	'Reject',
	'Reopen',
	'Opening',
	'Undone',
	'1',
	'100',
	'…',
	'👍',
	'Ja',
])('does not take %j for one', (option) => {
	expect(lookDifferent([option], OWN)).toBe(true);
});

it('counts the numbers of a label, and not those behind it', () => {
	const taken = looksOfLabels(['Plan 1']);
	expect(lookDifferent(['Plan 2'], taken)).toBe(true);
	expect(lookDifferent(['Plan 1 (2)'], taken)).toBe(false);
});
