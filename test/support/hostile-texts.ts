import type { MessageJson, SessionJson } from '../../fake-session-service/json.ts';

const MEGABYTE = 1_000_000;

/** Repeated up to this length, then cut. */
const filled = (length: number, unit: string) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

const task = { role: 'user', content: 'Work.' };
const item = { title: 'Go on?', description: '(yes/no)' };

/** A session whose agent waits for these items. */
export function says(content: string, items: MessageJson['human_input'] = [item]): SessionJson {
	return { status: 'humanInput', messages: [task, { role: 'assistant', content, human_input: items }] };
}

const many = (count: number, description: string, title = 'Which?') =>
	Array.from({ length: count }, (_, at) => ({ title: `${title} ${at}`, description }));

const keys = (count: number) =>
	Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`.padEnd(40, '.'), 1]));

/** An address whose host has so many different letters. */
const ideographs = (length: number, first: number) =>
	`https://${Array.from({ length }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 37 + first) % 20_000))).join('')}.com/`;

/** Words of many rules in several scripts, with what is read in more than one way. */
const WORDS = 'Пожалуйста code 1n the phone, was für ein Passwor 🙂 é. p a s s l33t and so i need your pin it? ';

/** The same without a secret. */
const HARMLESS = 'Пожалуйста отчёт 1n the report, was für ein Wort 🙂 é. o k l33t and so i want it? ';

/** Sessions of up to 5 MB whose texts are made to take long, by what they have. */
export const HOSTILE_TEXTS: Readonly<Record<string, () => SessionJson>> = {
	'marks of two classes': () => says(`a${'\u0301'.repeat(20_000)}${'\u0316'.repeat(20_000)}`),
	'150,000 marks': () => says(`a${'\u0316\u0301'.repeat(75_000)}`, many(1, `a${'\u0316\u0301'.repeat(75_000)}`)),
	'5 MB of marks': () => says(`a${'\u0316\u0301'.repeat(1.2 * MEGABYTE)}`),
	'150,000 line ends': () => says(`Please decide.${'\n'.repeat(150_000)}x`),
	'spaces before quotation marks': () => says('Choose.', many(200, `say "a"${' '.repeat(7_900)}x "b"`)),
	'5 MB in one message': () => says(filled(5 * MEGABYTE, 'The page shows a list of orders. Which one do you mean? ')),
	'5 MB in one line': () => says(`- ${' '.repeat(5 * MEGABYTE)}\u2028x`),
	'5 MB beyond Latin': () => says(filled(2.4 * MEGABYTE, 'é가\u1161다漢')),
	'5 MB of Hangul vowels': () => says('\u1161'.repeat(1.6 * MEGABYTE)),
	'a signed address of 5 MB': () => says(`https://a.example/?${filled(5 * MEGABYTE, 'sig=1&a=2;amp;')}`),
	'pages and files with addresses beyond Latin': () => ({
		...says('Decide.'),
		files: many(20, '').map((_, at) => ({ filename: 'f', signedUrl: ideographs(5_400, at) })),
		lastScreenshotUrl: ideographs(5_400, 20),
		messages: [
			{
				...task,
				agent_data: { action: many(800, '').map((_, at) => ({ go_to_url: { url: ideographs(1_990, at) } })) },
			},
			{ role: 'assistant', content: 'Decide.', human_input: [item] },
		],
	}),
	'24,000 pages with addresses beyond Latin': () => ({
		...says('Decide.'),
		messages: [
			{
				...task,
				agent_data: { action: many(24_000, '').map((_, at) => ({ go_to_url: { url: ideographs(50, at) } })) },
			},
			{ role: 'assistant', content: 'Decide.', human_input: [item] },
		],
	}),
	addresses: () => says(filled(5 * MEGABYTE, 'https://a.example/?a=1&sig=2 ')),
	'steps of 5 MB': () => ({
		...says('Decide.'),
		messages: [
			task,
			...Array.from({ length: 600 }, () => ({ role: 'assistant', content: filled(8_000, `${WORDS}**b** | \n`) })),
			{ role: 'assistant', content: 'Decide.', human_input: [item] },
		],
	}),
	'24,000 items': () => says('Decide.', many(24_000, 'of many, and so on')),
	'24,000 items, the first answered': () =>
		says(
			'Decide.',
			many(24_000, 'of many').map((one, at) => (at < 12_000 ? { ...one, value: 'blue' } : one)),
		),
	'90 items of secret words': () => says(filled(20_000, WORDS), many(90, filled(8_000, WORDS), filled(8_000, WORDS))),
	'30 items of secret words': () => says(filled(1_000, WORDS), many(30, filled(2_900, WORDS), filled(300, WORDS))),
	'90 items of harmless words': () =>
		says(filled(19_000, HARMLESS), many(90, filled(700, HARMLESS), filled(300, HARMLESS))),
	'30 items of harmless words': () =>
		says(filled(1_500, HARMLESS), many(30, filled(300, HARMLESS), filled(300, HARMLESS))),
	'6 long items of harmless words': () =>
		says(filled(19_000, HARMLESS), many(6, filled(7_900, HARMLESS), filled(7_900, HARMLESS))),
	'a secret in doubt': () => says(filled(19_000, `${WORDS}and `), many(6, filled(7_900, WORDS), filled(7_900, WORDS))),
	'the word and': () => says(filled(19_000, 'and '), many(6, filled(7_900, ', and and and'))),
	'one sentence': () => says(filled(19_000, 'code aa bb '), many(6, filled(7_900, 'the code you ё '))),
	ligatures: () => says('\ufdfa'.repeat(19_000), many(90, '\ufdfa'.repeat(7_900))),
	Markdown: () =>
		says(filled(5 * MEGABYTE, '| **a** | [b](c) |\n|-|-|\n```\n> *_~~`'), many(90, filled(7_900, '**[`a'))),
	'quotation marks and options': () => says('Which?', many(90, filled(7_900, 'One of: "a", (b/c) or d? '))),
	'a list': () => says('Which?', many(90, `Choose:\n${filled(7_900, '- a b, c\n')}`)),
	'a value of 5 MB': () =>
		says('Decide.', [
			{ ...item, value: filled(5 * MEGABYTE, ' \r\n\u0301') },
			{ title: 'Colour?', description: '' },
		]),
	'49,000 keys': () => ({ ...says('Decide.'), other: keys(49_000) }),
	'98,000 keys of a value': () => says('Decide.', [{ ...item, title: 'Where?', value: keys(98_000) as never }, item]),
	'98,000 keys of an action': () => ({
		...says('Decide.'),
		messages: [
			{ ...task, agent_data: { action: keys(98_000) as never } },
			{ role: 'assistant', content: 'Decide.', human_input: [item] },
		],
	}),
	'texts of files and actions': () => ({
		...says('Decide.'),
		name: filled(MEGABYTE, WORDS),
		sessionDetails: filled(MEGABYTE, '\u0301\u0316'),
		files: many(20, '').map(() => ({ filename: filled(50_000, '\u0301\u0316'), signedUrl: null })),
		messages: [
			task,
			{ role: filled(MEGABYTE / 2, WORDS), content: 'x', agent_data: { action: [{ done: filled(MEGABYTE, WORDS) }] } },
			{ role: 'assistant', content: 'Decide.', human_input: [item] },
		],
	}),
};
