/** A message that asks, and what 1.0.0 made of it. */
interface Recorded {
	readonly content: string;
	readonly items: readonly { readonly title: string; readonly description: string }[];
}

const items = (count: number, text: (at: number) => string) =>
	Array.from({ length: count }, (_, at) => ({ title: text(at), description: `${text(at)} ${at}` }));

/** Any text, the same in each run: mixes scripts, white space, links and single surrogates. */
function mixed(length: number, seed: number): string {
	const units = [
		'word ',
		'  \n\t',
		'é',
		'e\u0301',
		'漢字',
		'한\u1100\u1161\u11a8',
		'\ud83d\ude00',
		'\ud800',
		'\udc00',
		'\u00a0',
		'\u2028',
		'\u0344\u0315',
		'\ufb01\u2126\u212b',
		'"<',
		'https://a.example/x?b=1&X-Amz-Signature=2&sig=3&amp;token=4#s=5',
		'HTTP://b.example/?Signature=a;Expires=9;c=…&sig=1 ',
		'https://c.example/d?e=f',
		'://?',
	];
	let state = seed;
	let text = '';
	while (text.length < length) {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		text += units[Math.floor(state / 65_536) % units.length];
	}
	return text.slice(0, length);
}

export const RECORDED: Readonly<Record<string, Recorded>> = {
	nothing: { content: '', items: [{ title: '', description: '' }] },
	'white space': { content: ' \n\u00a0\u3000\ufeff ', items: [{ title: '\t', description: '  a  b\r\n' }] },
	'odd Unicode': {
		content: '\ud800a\udc00 \ufffe\0\u0344 \u1e9b\u0323 \u{1d160}',
		items: [{ title: 'Å\u2126\u212bA\u030a', description: '\u0f71\u0f74\u0f72 각\u1100\u1161\u11a8' }],
	},
	'30 marks': { content: `e${'\u0301\u0316'.repeat(15)}`, items: [{ title: 'e\u0301', description: 'é' }] },
	links: {
		content: 'see https://a.example/?x=1&sig=2&sig=3&amp;sig=4 (http://b.example/a?Signature=1#token=2) https://?',
		items: [
			{ title: 'https://c.example/;sig=1', description: 'https://d.example/?q=a b&sig=1 HTTPS://E.example/?SIG=1' },
		],
	},
	'8,000 characters': { content: 'x', items: [{ title: 'a'.repeat(8_000), description: '😀'.repeat(8_000) }] },
	'8,001 characters': { content: 'x', items: [{ title: 'a'.repeat(8_001), description: '😀'.repeat(8_001) }] },
	'20,001 characters': { content: '漢 '.repeat(10_001), items: [{ title: 'a', description: 'b' }] },
	'a long link': {
		content: `https://a.example/?${'sig=1&a=2;amp;&sig=3&amp;'.repeat(9_000)}`,
		items: [{ title: 'a', description: `https://a.example/?${'b'.repeat(200_000)}&sig=1` }],
	},
	'a long word': {
		content: '한국어'.repeat(50_000),
		items: [{ title: 'a', description: 'é'.normalize('NFD').repeat(50_000) }],
	},
	'long white space': {
		content: ` a${' \n'.repeat(70_000)}b `,
		items: [{ title: 'a', description: '\u2003'.repeat(66_000) }],
	},
	'much of everything': {
		content: mixed(200_000, 1),
		items: [{ title: mixed(70_000, 2), description: mixed(131_072, 3) }],
	},
	'91 items': { content: 'x', items: items(91, (at) => mixed(50, at)) },
	'1,000 items': { content: 'x', items: items(1_000, () => 'Which?') },
};
