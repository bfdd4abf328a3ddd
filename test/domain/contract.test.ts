import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftIn, markedTitle } from '../../src/domain/contract.ts';
import { askedAt } from '../../src/domain/options.ts';
import { looksSecretAt } from '../../src/domain/secrecy.ts';
import { wordList } from '../../src/domain/word-list.ts';
import { runs } from '../support/runs.ts';
import { titles } from './no-buttons.ts';

const asked = (title: string, description = '', context = '') =>
	askedAt({ items: [{ title, description }], context }, 0);

/** The words before a list, in 15 languages, as people and programs write them. */
const KEYS = wordList('asking/lists').flatMap((line) => line.slice(4).split(' | '));
const wide = (text: string) =>
	text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)).replaceAll(' ', '\u3000');
const key = fc
	.tuple(
		fc.constantFrom(...KEYS),
		fc.constantFrom<(key: string) => string>(
			(one) => `${one}:`,
			(one) => `${one.toUpperCase()}：`,
			(one) => `**${one}:**`,
			(one) => `**${one}**:`,
			(one) => `  ${one} :`,
			(one) => `${wide(one)}：`,
		),
	)
	.map(([one, write]) => write(one));

const word = fc.constantFrom(
	..."Basic|blue|Wi-Fi|x2|C++|C#|#12|größer|São|naïve|O'Neil|🚀|👍🏽|e\u0301clair|東京|明日|Москва|नीला|빨강".split(
		'|',
	),
	...'أحمر|غدًا|אדום|ירוק|A & B|50 %|9:30|<main>|*.ts'.split('|'),
);
const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
const price = fc
	.tuple(fc.constantFrom('$', '€', '₹', '¥'), fc.integer({ min: 1, max: 9_999_999 }))
	.map(([sign, amount]) => `${sign}${amount.toLocaleString('en-US')}`);
const wrapped = fc
	.tuple(name, name, fc.constantFrom('()', '[]', '（）', '“”', '«»', '「」', '""'))
	.map(([one, other, pair]) => `${one} ${pair.charAt(0)}${one}, ${other}${pair.charAt(1)}`);
/** What may stand between commas. */
const plain = fc.oneof(
	name,
	price,
	wrapped,
	fc.tuple(name, price).map((parts) => parts.join(' – ')),
);
/** What may stand in a line of its own, or in JSON. */
const any = fc.oneof(
	plain,
	fc
		.tuple(plain, plain, fc.constantFrom(', ', ' | ', '; ', ' or ', '. ', ': '))
		.map(([a, b, sign]) => `${a}${sign}${b}`),
	plain.map((option) => `${option}.`),
	plain.map((option) => `${option}?`),
	plain.map((option) => `${option} ${'and more of it '.repeat(12).trim()}`),
);
const several = (option: fc.Arbitrary<string>, maxLength = 30) => fc.uniqueArray(option, { minLength: 2, maxLength });
const MARKS = ['- ', '– ', '* ', '• ', '#. ', '#) ', '@) ', '  - ', '・'];
const withMark = (mark: string, option: string, at: number) =>
	mark.replace('#', String(at + 1)).replace('@', String.fromCharCode(97 + at)) + option;

const question = fc.constantFrom('What now?', 'Plan', 'Which one?', 'Wie weiter?', '次は？', 'ماذا الآن؟', 'Далее');

/** With commas, a time may be half of an entry: "Monday, 9:30". */
const noTime = plain.filter((option) => !/^\d/.test(option));
const hasNumber = (option: string) => /\p{N}/u.test(option);
/** "Monday, March 3, Tuesday, March 4" */
const areInTurn = (options: readonly string[]) =>
	options.length > 3 && options.every((option, at) => hasNumber(option) === (at % 2 === 1));

/** Each form of the contract with these options. */
const contract: fc.Arbitrary<readonly [description: string, options: readonly string[]]> = fc.oneof(
	fc
		.tuple(
			key,
			several(noTime).filter((all) => !areInTurn(all)),
		)
		.map(([of, all]) => [`${of} ${all.join(', ')}`, all] as const),
	fc.tuple(key, several(any)).map(([of, all]) => {
		const options = all.map((option) => option.replaceAll('|', '/'));
		return [`${of} ${options.join(' | ')}`, options] as const;
	}),
	fc
		.tuple(key, several(any, 26), fc.constantFrom(...MARKS), fc.constantFrom('\n', '\n\n'))
		.map(([of, all, mark, gap]) => {
			const lines = all.map((option, at) => withMark(mark, option, at));
			return [`${of}${gap}${lines.join('\n')}\n\nThank you.`, all] as const;
		}),
	several(any).map((options) => [JSON.stringify({ options, multiple: false }), options] as const),
);

describe('the contract', () => {
	it('offers exactly the options that an agent wrote, in every language and form', () => {
		fc.assert(
			fc.property(question, contract, (title, [description, options]) => {
				fc.pre(new Set(options).size === options.length);
				const { choice, why } = asked(title, description);
				expect([choice?.options, why]).toEqual([options, 'options: a list as docs/asking.md says']);
				expect(choice?.isSeveral).toBe(false);
			}),
			{ numRuns: runs(2_000) },
		);
	});

	it.each([
		['Which desk?', '- A1\n- B2\n\nOptions: C3 | D4', 'the item has two lists of options'],
		['Plan', 'Options: A | B\nOne of: C | D', 'the item has two lists of options'],
		['Continue? (yes/no)', 'Options: A | B', 'the item has two lists of options'],
		['Plan', 'Options:\n- A\n* B', 'the list has two kinds of marks'],
		['Plan', 'Options:\n- A\n  - A1\n- B', 'the list has lines at two depths'],
		['Plan', 'Options:\n- A\n  and more of A\n- B', 'the list has lines at two depths'],
		['Plan', 'Options: A | | B', 'an entry is empty'],
		['Plan', 'Options: A', 'the list has only one entry'],
		['Plan', 'Options: A | B | A', 'two entries are equal'],
		['Plan', 'Options: A; B', 'the line has a semicolon'],
		['Plan', 'Options: A, B or C', 'the last entry has an "or"'],
		['Plan', 'Optionen: A, B oder C', 'the last entry has an "or"'],
		['Plan', 'Options: A, B.', 'an entry ends like a sentence'],
		['Plan', 'Options: A, B. Tell me why', 'an entry ends like a sentence'],
		['Plan', 'Options: A, up to you', 'an entry speaks to the reader'],
		['Date', 'Options: Monday, March 3, Tuesday, March 4', 'two entries may be one with a comma'],
		['Town', 'Options: Boston, Washington, DC', 'two entries may be one with a comma'],
		['Plan', 'Options: A, "B, C', 'a bracket or a quotation mark is not closed'],
		['Plan', 'Options: A, B and C', 'the last entry has an "and"'],
		['Plan', 'Options: Save and exit, Discard and exit', 'the last entry has an "and"'],
		['Slot', 'Options: Monday, 3 pm, Tuesday, 4 pm', 'two entries may be one with a comma'],
		['Command', 'Options: `ps | grep x`, `ls`', 'a bracket or a quotation mark is not closed'],
		['Plan', 'Options: A | B\n| C', 'the options go on in the next line'],
		['Plan', 'Options: A | B. Choices: C | D', 'the item has two lists of options'],
		['Plan? Options: A | B', '{"options": ["C", "D"]}', 'the item has two lists of options'],
		['Club', 'Options:\n1. FC Union\n1. FC Nord', 'the numbers or letters before the entries are no sequence'],
		['May I order it?', 'Options: leather seats, sunroof', 'yes or no answers the question'],
		['Plan', 'Options:\nnone', 'no list stands behind the words for it'],
		['Plan', `Options: ${Array.from({ length: 100 }, (_, at) => at).join(' | ')}`, 'the list has more than 99 entries'],
		['Plan', '{"options": ["A", "B"], "default": "A"}', 'the JSON is not {"options": ["…", "…"], "multiple": false}'],
		['Plan', '{"options": ["A", 2]}', 'the JSON is not {"options": ["…", "…"], "multiple": false}'],
		['Plan', '{"options": ["A", ""]}', 'an entry is empty'],
	])('offers nothing where it is not kept, and says why: %j with %j', (title, description, why) => {
		expect(asked(title, description)).toMatchObject({ choice: null, why: `no options: ${why}`, isUnclear: true });
	});

	it.each([
		['Plan', '> Options: A | B'],
		['Plan', '```\nOptions: A | B\n```'],
		['Plan', '````\n```\nOptions: A | B\n```\n````'],
		['Plan', '~~~\n```\nOptions: A | B\n~~~'],
		['Plan', '```\n```js\nOptions: A | B\n```'],
		['Plan', 'It said "Go on. Options: A | B"'],
		['Plan', '"Options: A | B"'],
		['Plan', '`Options: A | B`'],
		['Plan', '- Car: BMW\n- Options: A | B'],
		['Plan', '| Options: A | B |'],
		['Plan', 'The Options: A | B'],
		['Plan', 'Options://a.example, b'],
	])('takes nothing from quotes, fences, tables and other lines: %j with %j', (title, description) => {
		expect(asked(title, description)).toMatchObject({ choice: null, isUnclear: false });
	});

	it.each([
		['Plan', 'Options (several): A | B'],
		['Plan', 'Options:\n- [ ] A\n- [x] B'],
		['Plan', 'Options:\n☐ A\n☐ B'],
		['Plan', '{"options": ["A", "B"], "multiple": true}'],
		['Which ones? Select all that apply.', 'Options: A | B'],
		['Pick at least two, which are they?', 'Options: A | B'],
		['Plan', 'Wählen Sie mindestens eine.\nOptionen: A | B'],
	])('lets several be chosen, and not by one press: %j with %j', (title, description) => {
		expect(asked(title, description).choice).toEqual({ options: ['A', 'B'], isSeveral: true, isWhole: false });
	});

	it('lets one be chosen where the question has a number of something else', () => {
		const pressed = { options: ['Approve', 'Reject'], isSeveral: false, isWhole: true };
		expect(asked('Approve 2 refunds?', 'Options: Approve | Reject').choice).toEqual(pressed);
		expect(asked('Pick 2', 'Options: A | B | C').choice?.isSeveral).toBe(true);
	});

	it.each([
		['Proceed? (yes/no)', '', ['Yes', 'No']],
		['Proceed? (Y/N)', 'I will deploy version 12.', ['Yes', 'No']],
		['Proceed (yes/no)?', '', ['Yes', 'No']],
		['Weiter? (ja/nein)', '', ['ja', 'nein']],
		['続けますか？（はい／いいえ）', '', ['はい', 'いいえ']],
		['Merge it?', 'The tests pass. (approve/reject)', ['approve', 'reject']],
		['The file exists.', 'What now? (overwrite/skip/cancel)', ['overwrite', 'skip', 'cancel']],
		['Deploy it?', 'Approve or reject', ['Approve', 'Reject'.toLowerCase()]],
		['¿Confirmo la reserva?', 'Sí / No', ['Sí', 'No']],
	])('takes decisions at the end of an item: %j with %j', (title, description, options) => {
		expect(asked(title, description).choice).toEqual({ options, isSeveral: false, isWhole: true });
	});

	it.each<[title: string]>([
		...titles('Speed (km/h) | Size (S/M/L) | Proceed? (yes/no/maybe) | Name (first/last)'),
		['Proceed? (yes/no) or later'],
	])('takes no other brackets for decisions: %j', (title) => {
		expect(asked(title).choice).toBeNull();
	});

	it('reads the marks behind a title, in any order, and no others', () => {
		const { name, marks } = markedTitle('One-time code (number) (SECRET)（optional） ');
		expect([name, [...marks].sort()]).toEqual(['One-time code', ['number', 'optional', 'secret']]);
		expect(markedTitle('Name (first) ')).toEqual({ name: 'Name (first) ', marks: new Set() });
		expect(markedTitle('(date)').name).toBe('');
		expect(asked('Is it 5? (number)').choice).toBeNull();
		expect(asked('Is it right? (optional)').choice?.options).toEqual(['Yes', 'No']);
	});

	it('keeps secret what is marked so, and still what looks so', () => {
		const isSecret = (title: string) => looksSecretAt({ items: [{ title, description: '' }], context: '' }, 0);
		expect(['Nickname (secret)', 'One-time code (number)', 'Nickname'].map(isSecret)).toEqual([true, true, false]);
	});

	it.each([
		['Hello,\n\nOptions: A | B', 'Draft: Hello,\n\nOptions: A | B', ''],
		['Hi\n  there', 'See the mail.\n**Draft:**\n```\nHi\n  there\n```\nSend it?', 'See the mail.\nSend it?'],
		['```\nopen', 'Draft:\n```\nopen', ''],
		['Run:\n```\nls\n```', 'Draft:\n````\nRun:\n```\nls\n```\n````\nOK', 'OK'],
	])('takes the draft %j out of %j', (draft, description, others) => {
		expect(draftIn(description)).toEqual({ draft, others });
		expect(asked('Reply to Ada', description)).toMatchObject({ draft, choice: null });
	});

	it('takes "I" for no "and" of another language', () => {
		expect(asked('Which method should I select?', '- Post\n- Express').choice?.isWhole).toBe(true);
	});

	it('keeps what is a part of a name', () => {
		expect(asked('Which file?', 'Options: __init__ | **main**').choice?.options).toEqual(['__init__', 'main']);
	});

	it.each<[title: string]>([
		...titles('Which seat, and what is your name? | Which seat and your full name?'),
		...titles('Which seat? Also send your name. | Which seat? Please include the reason. | Which colour and size?'),
		['For each of the three files, what now?'],
	])('is not all of the answer to %j', (title) => {
		expect(asked(title, 'Options: A | B').choice).toEqual({ options: ['A', 'B'], isSeveral: false, isWhole: false });
	});

	it.each([
		['Deploy it?', 'Please review the plan above.\nOptions: Approve | Reject'],
		['Which seat?', 'Name: Ada\nType: Economy\nOptions: A | B'],
		['Which seat?', 'I compared both (see the table). Options: A | B'],
	])('is all of the answer to %j with what people have to know: %j', (title, description) => {
		expect(asked(title, description).choice?.isWhole).toBe(true);
	});

	it.each([
		['Send payment?', '- Name: Ada (ACME Corp)\n- Date: 12/05/2026'],
		['Should I proceed?', 'Total: 30 euros (with VAT)'],
		['Should I proceed?', '- Total: 30 euros'],
	])('is yes or no for %j with facts: %j', (title, description) => {
		expect(asked(title, description).choice?.options).toEqual(['Yes', 'No']);
	});

	it('is not all of the answer with an option that stands for others', () => {
		for (const last of ['etc.', '…', '...', 'Other (please specify)'])
			expect(asked('Which one?', `Options: A | B | ${last}`).choice?.isWhole).toBe(false);
		expect(asked('Which ones do I keep?', 'Options: A | B').choice?.isSeveral).toBe(true);
	});

	it.each<[title: string, description?: string, context?: string]>([
		...titles('Is this correct? Reply with yes or corrections | Can I get your name? | May I know the reason?'),
		...titles('Should I remind you (and when)? | Soll ich ihn buchen und wann? | Is it OK to spend more (how much)?'),
		...titles('Kann ich Ihren Namen haben? | ¿Puedo saber su nombre? | Puis-je avoir votre nom ?'),
		...titles('Posso sapere il motivo? | Mag ik uw naam? | Czy mogę prosić o imię? | Можно ли узнать адрес?'),
		...titles(
			'Adınızı alabilir miyim? | هل يمكنني معرفة اسمك؟ | क्या आप अपना नाम बता सकते हैं? | お名前を教えてもらえますか？',
		),
		...titles('예약할까요? 이름을 알려 주세요. | 可以提供一下地址吗？ | 窓側ですか、通路側ですか？ | 继续还是回滚？'),
		['このPRを承認しますか？', '', '承認 / 却下 のどちらかを選んでください。'],
		['Rechnung freigeben?', '', 'Bitte entscheiden: Freigeben oder Ablehnen'],
		...titles('Shall I book it? Please send the names of both. | Shall I book it? I need the names of both.'),
		...titles('Shall I start? Let us know the date. | Ready to order? Which size'),
		['Do you approve the following?', '1. Send\n2. Delete'],
		['Approve?', '- Yes\n- No, because ...'],
		['Choose the tasks to run', '- a\n- b'],
	])('is guessed for no press where more is asked: %j %j %j', (title, description = '', context = '') => {
		expect(asked(title, description, context).choice?.isWhole ?? false).toBe(false);
	});

	it('reads a hostile line in time in proportion to its length', () => {
		expect(asked('Plan', `Options: ${'('.repeat(7_900)}`).why).toContain('is not closed');
	});

	it('has no draft in code, quotes, or behind other words', () => {
		for (const text of ['> Draft: A', '```\nDraft: A\n```', 'The draft: A', 'Draft:', 'Draft:\n \n'])
			expect(draftIn(text)).toBeNull();
	});
});
