import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCutCheck, cutWithNote } from '../../src/domain/texts.ts';
import { agentLine, agentText, tableOf } from '../../src/slack/agent-text.ts';
import { richText } from '../../src/slack/rich-text.ts';
import { runs } from '../support/runs.ts';
import { showsAll } from './support/as-shown.ts';
import { hostileText } from './support/hostile-text.ts';
import { textsOf } from './support/questions.ts';

/** As people read it: behind `> `, bold between asterisks, code in backticks, frames in fences. */
const read = (text: string, limit = 3_000) => textsOf(richText(...agentText(text, limit))).join('\n');
const quoted = (text: string) => `> ${text.replaceAll('\n', '\n> ')}`;

describe('what an agent wrote, without the marks of what it means', () => {
	it.each([
		['bold words', '**bold** word', '*bold* word'],
		['bold words beside marks', '(**a**), “**b**”: **c**.', '(*a*), “*b*”: *c*.'],
		['code', 'echo `date`', 'echo `date`'],
		['code with a backtick in it', '``c ` d`` and `e`', '`c ` d` and `e`'],
		['no marks in code', '`**a** [b](https://c.example)`', '`**a** [b](https://c.example)`'],
		['a link', '[label](https://x)', 'label (https://x)'],
		['several of them', 'a `b` **c** [d](https://e.example?f=1&g)!', 'a `b` *c* d (https://e.example?f=1&g)!'],
	])('shows %s', (_what, text, expected) => {
		expect(read(text)).toBe(quoted(expected));
	});

	it('shows a heading in bold, with its marks', () => {
		expect(richText(...agentText('## A **b** `c`\n###### d\n####### e\n#f', 100))[0]?.elements).toEqual([
			{
				type: 'rich_text_quote',
				elements: [
					{ type: 'text', text: '## A b ', style: { bold: true } },
					{ type: 'text', text: 'c', style: { bold: true, code: true } },
					{ type: 'text', text: '\n' },
					{ type: 'text', text: '###### d', style: { bold: true } },
					{ type: 'text', text: '\n####### e\n#f' },
				],
			},
		]);
	});

	it.each([
		['Rename _id_ to id?'],
		['src/**/*.ts'],
		['2**3'],
		['**/node_modules/** and **/*.ts'],
		['2 ** 3 ** 4'],
		['a**b**c'],
		['user:key:42 :wave:'],
		['***x***'],
		['__x__ *y* ~~z~~ _w_'],
		['![a](https://x)'],
		['[label](javascript:alert(1)) [a] (b) [c]'],
		['<https://a.example|Bank> <!here> <@U1>'],
		['&lt;b&gt; &amp; &nbsp; &#60;'],
		['<b>bold</b><br><script>alert(1)</script>'],
		['---\n***\n___'],
		['- a\n  * b\n1. c\n7) d\n- [ ] e\n+ f'],
		['> quoted\n>> twice'],
		['\\*a\\* \\_b\\_ C:\\new\\table'],
		['a | b\nc || d'],
		['rm -rf **.log,**.tmp in /srv'],
		['{**.js,**.ts}'],
		['a[0](https://x.example) = 1'],
		['|---|'],
		['`unclosed and **unclosed'],
		['` ` and `  `'],
		['** a ** and **b c'],
		['` `` ```'],
		['``` a ``` b ``'],
		['[x]: https://a.example'],
		['Term\n: definition\n\n    four spaces'],
		['“a” "b" „c“ «d» ‘e’ \'f\''],
		['שלום (עולם) مرحبا'],
	])('shows as it is written: %j', (text) => {
		expect(read(text).replaceAll('`', '')).toBe(quoted(text).replaceAll('`', ''));
		expect(showsAll(agentText(text, 3_000), text)).toBe(true);
		// Nothing of it has a style but code.
		expect(JSON.stringify(agentText(text, 3_000))).not.toMatch(/"bold"|"strike"|"italic"/);
	});

	it.each([
		['with a language', '```ts\nif (a < b) **x**\n\n`y`\n```\nz', '```\nif (a < b) **x**\n\n`y`\n```\n> z'],
		['of tildes, with one in it', '~~~\n```\n~~~', '```\n```\n```'],
		['that nobody closes', 'a\n```\nb\n  c', '> a\n```\nb\n  c\n```'],
		['in a list', '- a\n    ```sh\n    b\n    ```\n- d', '> - a\n```\n    b\n```\n> - d'],
		['that a longer one closes', '```\na\n`````\nb', '```\na\n```\n> b'],
		['that a shorter one does not close', '````\na\n```\nb\n````', '```\na\n```\nb\n```'],
		['with words behind it, which stay', '``` title of it\na\n```\nb', '```\n``` title of it\na\n```\n> b'],
		['of nothing, as it is written', '```js\n\n```', '> ```js\n> \n> ```'],
		['on one line, as code', '```a``` b', '> `a` b'],
	])('shows the lines of a fence in a frame: %s', (_what, text, expected) => {
		expect(read(text)).toBe(expected);
		expect(showsAll(agentText(text, 3_000), text)).toBe(true);
	});

	it('takes words behind tildes that nothing closes for words', () => {
		expect(read('~~~ about that\nand more')).toBe('> ~~~ about that\n> and more');
	});

	it.each([
		[
			'whole',
			'a\n\n| b | **c** |\n|---|:-:|\n| <d> | `e` |\n\nh',
			'> a\n```\n| b | **c** |\n|---|:-:|\n| <d> | `e` |\n```\n> h',
		],
		['with surplus cells', '|a|b|\n|-|-|\n|c|d|e|\n|f|', '```\n|a|b|\n|-|-|\n|c|d|e|\n|f|\n```'],
		['without outer bars', 'a | b\n-|-:\nc\\|d | 1', '```\na | b\n-|-:\nc\\|d | 1\n```'],
	])('shows a table in a frame as it is written: %s', (_what, text, expected) => {
		expect(read(text)).toBe(expected);
	});

	it('shows a text of very many marks as it is written, which Slack may refuse otherwise', () => {
		const text = '**a** '.repeat(60).trim();
		expect(read(text)).toBe(quoted(text));
		expect(read('**a** '.repeat(10).trim())).toBe(quoted('*a* '.repeat(10).trim()));
	});

	it('says how much is cut, and ends a frame there', () => {
		const mark = createCutCheck(false);
		expect(textsOf(richText(...agentText(`a \`${'x'.repeat(500)}\``, 100, mark.onCut)))).toEqual([
			expect.stringMatching(/^> a `x+\n> … \(440 more characters\)$/),
		]);
		expect(mark.isCut).toBe(true);
		expect(read(`\`\`\`\n${'x'.repeat(500)}\n\`\`\``, 100)).toMatch(/^```\nx+\n```\n> … \([\d,]+ more characters\)$/);
		expect(read(cutWithNote('x'.repeat(500), 100), 200)).toMatch(/^> x+\n> … \(436 more characters\)$/);
	});

	it('is nothing where nothing is visible', () => {
		expect(agentText(' \n\u200b', 100)).toEqual([]);
		expect(agentLine('\n', 100)).toEqual([]);
	});

	it('stands in one line where a list has no more', () => {
		expect(textsOf(richText(...agentLine('## Three\n- **a** `b`\n\n[c](https://d.example)', 100)))).toEqual([
			'> ## Three - *a* `b`  c (https://d.example)',
		]);
	});
});

describe('a table as a block', () => {
	const cells = (text: string) =>
		tableOf(text)?.table.rows.map((row) => row.map((cell) => ('text' in cell ? cell.text : cell)));

	it('has the cells without bars and marks, and the text says where it stands', () => {
		const text =
			'Two flights:\n\n| Flight | Price |\n|---|--:|\n| **LH 1173** | `129 €` |\n| [TP](https://tp.example) | – |\n\nWhich?';
		expect(cells(text)).toEqual([
			['Flight', 'Price'],
			['LH 1173', '129 €'],
			['TP (https://tp.example)', '–'],
		]);
		expect(tableOf(text)?.others).toBe('Two flights:\n\n(table below)\n\nWhich?');
	});

	it.each([
		['with surplus cells', '|a|b|\n|-|-|\n|c|d|e|'],
		['with too few cells', '|a|b|\n|-|-|\n|c|'],
		['with an empty cell', '|a|b|\n|-|-|\n||d|'],
		['of too many rows', `|a|\n|-|\n${'|b|\n'.repeat(100)}`],
		['of too many columns', `${'|a'.repeat(21)}|\n|-|`],
		['that is too long', `|a|\n|-|\n|${'x'.repeat(7_000)}|`],
		['in code', '```\n|a|\n|-|\n```'],
		['without a ruler', '|a|b|\n|c|d|'],
	])('is none, so that all of it stands in the text: %s', (_what, text) => {
		expect(tableOf(text)).toBeNull();
	});

	it('reads a bar with a backslash as part of its cell', () => {
		expect(cells('a\\|b | c\n-|-\nd | e\\|')).toEqual([
			['a\\|b', 'c'],
			['d', 'e\\|'],
		]);
	});
});

describe('no character of an agent is lost', () => {
	const line = fc.oneof(
		fc.constantFrom(
			'  ```',
			'',
			'  ',
			...'``` ¦ ```ts ¦ ```` js ¦ ~~~ ¦ ``` two words ¦ | a | b | ¦ |---|:-:| ¦ -|-'.split(' ¦ '),
			...'a | **b** | c ¦ # a **b** ¦ - `c` **d** ¦ **e `f` g** ¦ [h](https://i.example)'.split(' ¦ '),
			...'![j](https://k.example) ¦ ***l*** ¦ `m ¦ **n ¦ 1. o ¦ > p ¦ <!here> &lt; ¦ :q:'.split(' ¦ '),
			...'\u202er\u2066 ¦ “s” "t" ¦ \\*u\\*'.split(' ¦ '),
		),
		fc.string({ unit: fc.constantFrom(...Array.from('`*_~[]()|<>&:\\"\'“”#- aא‏é👩\t')), maxLength: 60 }),
	);
	const markdown = fc.oneof(
		fc.array(line, { minLength: 1, maxLength: 40 }).map((lines) => lines.join('\n')),
		hostileText,
	);

	it('but marks, lines of fences and spaces, in order, up to the cut', () => {
		fc.assert(
			fc.property(markdown, fc.integer({ min: 60, max: 3_000 }), (text, limit) => {
				const pieces = agentText(text, limit);
				expect(showsAll(pieces, text), JSON.stringify(pieces)).toBe(true);
			}),
			{ numRuns: runs(3_000) },
		);
	});

	it('is found by this check', () => {
		const missing = (shown: string, source: string) => showsAll(agentText(shown, 3_000), source);
		expect(missing('Rename id to id?', 'Rename _id_ to id?')).toBe(false);
		expect(missing('a b', 'a <b>')).toBe(false);
		expect(missing('b a', 'a b')).toBe(false);
		expect(missing('a', 'a b')).toBe(false);
		expect(missing('b … (5 more characters)', 'a b')).toBe(false);
		expect(missing('a b', '**a** `b`')).toBe(true);
		expect(missing('x', '```js\nx\n```')).toBe(true);
		expect(missing('x', 'js\nx')).toBe(false);
	});
});
