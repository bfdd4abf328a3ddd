import fc from 'fast-check';
import { anyCharacter } from '../../support/any-text.ts';

/** Texts that mean something to Slack, to Markdown, to the guesses of inputs, or that a wrong cut breaks. */
const HOSTILE = [
	'',
	' ',
	'\n\n\n',
	'<!channel> <!here> <!everyone>',
	'<@U0HOSTILE> <#C0HOSTILE|general> <!subteam^S0HOSTILE>',
	'<https://evil.example|https://bank.example>',
	'[https://bank.example](https://evil.example)',
	'![bank](https://evil.example/x.png "title")',
	'[bank][1]\n\n[1]: https://evil.example',
	'[a[b](https://evil.example)](https://evil.example)',
	'[bank]\u200b(https://evil.example) [x]\u2060[1]',
	'&lt;!channel&gt; &amp;lt;@U0HOSTILE&amp;gt; &#60;!here&#62; &#x3c;@U0HOSTILE&#x3E;',
	'<\u200b!channel> <\u202e!here>',
	'`<!here>` ```<@U0HOSTILE>``` ``a`<!here>`b``',
	'```\n<!channel>\n[a](https://evil.example)',
	'| <!here> | `<@U0HOSTILE>` |\n|---|:-:|\n| [bank](https://evil.example) ``` \\| | ![x](https://evil.example)<br>漢字 |\n'.repeat(
		30,
	),
	`a|b\n-|-:\n${'**👩‍👩‍👧‍👦**|<!channel>'.repeat(60)}\n\n|${'&'.repeat(900)}|`,
	'- ```\n  <!channel>\n  | a |\n',
	'~~~\n</script><script>alert(1)</script>',
	'# <!here>\n> <@U0HOSTILE>\n- [ ] <!channel>\n1. __x__ **y *z** _w_*',
	'*'.repeat(300),
	'_*~`'.repeat(200),
	'['.repeat(400),
	']('.repeat(200),
	'&'.repeat(700),
	'<'.repeat(700),
	'👩‍👩‍👧‍👦'.repeat(200),
	'🇩🇪'.repeat(300),
	`e${'\u0301'.repeat(600)}`,
	'\ud800 \udc00 \ud83d',
	'\u0000\u0007\u001b[31m\u007f\u0085\u2028\u2029',
	'\u202eevil\u202c\u2066x\u2069\ufeff\u00ad',
	'مرحبا بالعالم \u200f שלום',
	'क्‍ष நி',
	'Proceed? (yes/no)',
	'One of: A, B, C',
	'One of: <!here>, A & B, 👍, :wave:',
	`One of: ${Array.from({ length: 120 }, (_, index) => `choice ${index}`).join(', ')}`,
	...'E-mail address | Departure date | Start time | How many? | Link (URL) | Your password'.split(' | '),
	...'One-time code | null | __proto__ | constructor | humanInput | maybe | yes | 42 | 2026-12-12'.split(' | '),
	...'09:30 | ada@example.org | A & B'.split(' | '),
	'https://evil.example/?a=<!here>&b=|x',
	'x'.repeat(5000),
	'word '.repeat(2000),
	'"\\'.repeat(1000),
	'漢字'.repeat(3000),
] as const;

const fragment = fc.constantFrom(...HOSTILE);

/** Lines that begin, go on with or end a table, code, a list or emphasis. */
const LINES = [
	'| a | <!here> | `x` |',
	'|--:|:-:|---|',
	'a | **漢字** | [bank](https://evil.example)',
	'-|-',
	'|&|👍🏽|~~x~~|y \\| z|',
	'```ts',
	'  ```',
	'~~~~',
	'    - <@U0HOSTILE> `a',
	'## **b** *c* ``',
	'*d **e __f__',
	'1. ![g](https://evil.example) [h **i**](<https://evil.example> "j")',
	'',
];

/** Any Unicode with lone surrogates, one of the texts above, or several of them joined. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
	{ weight: 6, arbitrary: fragment },
	{ weight: 2, arbitrary: fc.tuple(fragment, fragment, fragment).map((parts) => parts.join('')) },
	{ weight: 2, arbitrary: fc.array(fc.constantFrom(...LINES), { maxLength: 40 }).map((lines) => lines.join('\n')) },
	{ weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
	{ weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
	{
		weight: 1,
		arbitrary: fc
			.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
			.map((units) => String.fromCharCode(...units)),
	},
);
