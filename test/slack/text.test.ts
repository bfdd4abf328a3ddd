import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCutMark, cutWithNote } from '../../src/domain/texts.ts';
import { escapeMrkdwn } from '../../src/slack/mrkdwn.ts';
import {
	cutTo,
	fitText,
	isBlank,
	markdownLine,
	neutralise,
	oneLine,
	oneLineMrkdwn,
	plain,
	quoted,
	quotedLine,
	quotedMarkdown,
	quotedName,
	quotedNameMrkdwn,
	withoutListed,
	withoutMarks,
} from '../../src/slack/text.ts';
import { expectHarmlessMrkdwn, expectQuoted } from './support/check.ts';
import { hostileText } from './support/hostile-text.ts';

const mrkdwnText = (text: string, most: number) => fitText(text, most, escapeMrkdwn);
const limit = fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 120, max: 3000 }));

describe('neutralise', () => {
	it.each([
		['controls', 'a\u0000b\u0007c\u001b[0m\u007f', 'abc[0m'],
		['bidi overrides and isolates', 'gpj\u202e.exe\u202c \u2066x\u2069', 'gpj.exe x'],
		[
			'zero-width spaces, joiners between ASCII, soft hyphens and byte order marks',
			'a\u200bb\u2060c\u200dd\u00ade\ufeff',
			'abcde',
		],
		['tag characters', `a${String.fromCodePoint(0xe0041)}b`, 'ab'],
		['a control that stands alone', 'a\u0000b', 'ab'],
		['a last control', 'a\u007f', 'a'],
		['lone surrogates', 'a\ud800b', 'a\ufffdb'],
		['stacks of marks', `e${'\u0301'.repeat(100)}x`, `e${'\u0301'.repeat(8)}x`],
	])('removes %s', (_what, text, expected) => {
		expect(neutralise(text)).toBe(expected);
	});

	it.each([
		['emoji with joiners', '👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈'],
		['Persian with a non-joiner', 'می‌خواهم'],
		['Indic conjuncts', 'क्‍ष'],
		['accents, tabs and lines', 'Zoë\tça\nvà'],
		['ideographs with variants', '葛\u{e0100}'],
	])('keeps %s', (_what, text) => {
		expect(neutralise(text)).toBe(text);
	});

	it('handles every kind of line end', () => {
		expect(neutralise('a\r\nb\rc\u2028d\u2029e\u0085f')).toBe('a\nb\nc\nd\ne\nf');
	});
});

describe('cutting', () => {
	it('says how much was cut', () => {
		expect(mrkdwnText('x'.repeat(12_440), 136)).toBe(`${'x'.repeat(100)}… (12,340 more characters)`);
		expect(mrkdwnText(`${'x'.repeat(100)} y`, 101)).toContain('more character');
	});

	it.each(['Delete… (0 more characters)', 'Delete… (, more characters)', 'Delete… (007 more characters)'])(
		'takes no note of a text for one of its own: %s',
		(text) => {
			expect(mrkdwnText(text, 75)).toBe(text);
		},
	);

	it('does not cut a text that fits exactly', () => {
		expect(mrkdwnText('x'.repeat(150), 150)).toBe('x'.repeat(150));
		expect(mrkdwnText('&'.repeat(30), 150)).toBe('&amp;'.repeat(30));
	});

	it('says that words are missing behind many spaces', () => {
		expect(quotedLine(`x${' '.repeat(5_000)}y`, 120)).toMatch(/^> x… \([\d,]+ more characters\)$/);
	});

	it('ends a short label with an ellipsis only', () => {
		expect(oneLine('abcdefghij', 5)).toBe('abcd…');
	});

	it.each([
		['families', '👩‍👩‍👧‍👦'],
		['flags', '🇩🇪'],
		['letters with marks', 'e\u0301'],
		['surrogate pairs', '𝒳'],
		['line ends of Windows', 'a\r\n'],
	])('does not split a %s', (_what, character) => {
		const clusters = new Set(new Intl.Segmenter('en').segment(neutralise(character)));
		for (let room = 101; room < 130; room += 1) {
			const shown = mrkdwnText(character.repeat(400), room).replace(/… \(.*\)$/, '');
			const pieces = [...new Intl.Segmenter('en').segment(shown)].map(({ segment }) => segment);
			expect(pieces.every((piece) => [...clusters].some(({ segment }) => segment === piece))).toBe(true);
		}
	});

	it('does not split an entity', () => {
		for (let room = 100; room < 140; room += 1) expectHarmlessMrkdwn(mrkdwnText('<&>'.repeat(500), room));
	});

	it('cuts a character of thousands of code points between them', () => {
		const monster = `${'👩\u200d'.repeat(5000)}👩`;
		expect(mrkdwnText(monster, 500).length).toBeLessThanOrEqual(500);
		expect(mrkdwnText(monster, 500).isWellFormed()).toBe(true);
		expect(cutTo(monster, 499).isWellFormed()).toBe(true);
	});

	it('keeps every text within the limit, well-formed and harmless', () => {
		fc.assert(
			fc.property(hostileText, limit, (text, room) => {
				for (const convert of [
					oneLineMrkdwn,
					markdownLine,
					mrkdwnText,
					quotedNameMrkdwn,
					quotedMarkdown,
					quoted,
					quotedLine,
				]) {
					const shown = convert(text, room);
					expect(shown.length).toBeLessThanOrEqual(Math.max(convert === quotedNameMrkdwn ? 3 : 2, room));
					expect(shown.isWellFormed()).toBe(true);
					expectHarmlessMrkdwn(shown);
				}
				for (const convert of [quotedMarkdown, quoted, quotedLine]) expectQuoted(convert(text, Math.max(40, room)));
				expect(plain(text, room).text.length).toBeLessThanOrEqual(Math.max(room, '(empty)'.length));
				expect(cutTo(text, room).length).toBeLessThanOrEqual(room);
				expect(text.startsWith(cutTo(text, room))).toBe(true);
			}),
			{ numRuns: 750 },
		);
	});

	it('reads no more of a text of megabytes than it shows', () => {
		for (const unit of [
			'[',
			']',
			'](',
			'*',
			'`',
			'``` ',
			'<',
			'&',
			'\n',
			'\u0301',
			'👩\u200d',
			'\u200b',
			'> ',
			'- ',
			'# ',
		]) {
			const giant = unit.repeat(4_000_000 / unit.length);
			expect(quotedMarkdown(giant, 3000).length).toBeLessThanOrEqual(3000);
			expect(quotedName(giant, 150).length).toBeLessThanOrEqual(150);
			expect(oneLine(giant, 75).length).toBeLessThanOrEqual(75);
		}
	});
});

describe('escaping', () => {
	it('escapes everything that has a meaning for Slack', () => {
		expect(escapeMrkdwn('<!here> & <@U1> &lt;')).toBe('&lt;!here&gt; &amp; &lt;@U1&gt; &amp;lt;');
	});

	it('puts a quote mark before each line', () => {
		expect(quoted('a\n<b>', 100)).toBe('> a\n> &lt;b&gt;');
		expect(quoted('a\u2028b\r\n\nc', 100)).toBe('> a\n> b\n> \n> c');
		expect(quotedLine('a\n b', 100)).toBe('> a b');
	});

	it('keeps the quote marks before a code block of several lines', () => {
		expect(quoted('```\na\n```', 100)).toBe("> '''\n> a\n> '''");
	});

	it('recognises texts without visible characters', () => {
		expect(isBlank(' \n\u200b\ufeff')).toBe(true);
		expect(isBlank('.')).toBe(false);
		expect(plain('\u200b', 75, 'nothing')).toEqual({ type: 'plain_text', text: 'nothing', emoji: false });
	});
});

describe("an agent's Markdown", () => {
	it.each([
		['bold', '**a** and __b__', '*a* and *b*'],
		['italics', '*a* and _b_', '_a_ and _b_'],
		['both at once', '***a***', '*_a_*'],
		['nested marks', '**a *b* c**', '*a _b_ c*'],
		['strike', '~~a~~', '~a~'],
		['no italics inside of words', 'snake_case_name and 2*3*4', 'snake_case_name and 2*3*4'],
		['lonely marks', 'a * b ** c _ d', 'a * b ** c _ d'],
		['code', '`a < b` and ``c ` d``', "`a &lt; b` and `c ' d`"],
		['no Markdown in code', '`**a**`', '`**a**`'],
		['fenced code', '```ts\nif (a < b) **x**\n\n`y`\n```\nz', "`if (a &lt; b) **x**`\n\n`'y'`\nz"],
		['tilde fences', '~~~\n```\n~~~', "`'''`"],
		['a fence in a list', '- a\n    ```sh\n    b\n      c\n    ```\n- d', '• a\n`b`\n`  c`\n• d'],
		['a fence that nobody closes', '```\na', '`a`'],
		['a fence on one line', '```a``` b', '`a` b'],
		['a fence in a line', 'a ``` b\nc ``` d', "a ''' b\nc ''' d"],
		['headings', '# A **b** #\n### C', '*A b*\n*C*'],
		[
			'marks in headings, none of which ends the bold text',
			'## *a* `b*` 2 * 3 **c *d* e**',
			'*_a_ `b*` 2 ∗ 3 c _d_ e*',
		],
		['bold in bold', '**a __b__ * c**', '*a b ∗ c*'],
		[
			'lists',
			'- a\n* b\n  + c\n\t- d\n1. e\n   2) f',
			'• a\n• b\n\u00a0\u00a0◦ c\n\u00a0\u00a0\u00a0\u00a0◦ d\n1. e\n\u00a0\u00a0\u00a02) f',
		],
		['an indent of many spaces', `${' '.repeat(90)}a`, `${'\u00a0'.repeat(12)}a`],
		['tasks', '- [ ] a\n- [x] b', '☐ a\n☑ b'],
		['quotes', '> a', '&gt; a'],
		['rules', '---', '———'],
		['pipes that are no table', 'a | b\nc || d', 'a | b\nc || d'],
		['a table in code', '```\n|a|bb|\n|-|-|\n```', '`|a|bb|`\n`|-|-|`'],
		['links', '[Bank](https://evil.example)', 'Bank (https://evil.example)'],
		['links with titles', '[a](https://b.example "c")', 'a (https://b.example)'],
		['addresses with parentheses', '[a](https://b.example/x_(y))', 'a (https://b.example/x_(y))'],
		['images', '![alt](https://b.example/a.png)', 'alt'],
		['images without a description', '![](https://b.example/a.png)', 'https://b.example/a.png'],
		['links that are their own label', '[https://a.example](https://a.example)', 'https://a.example'],
		['bare addresses, marks included', 'see https://a.example/b_c_d*e*', 'see https://a.example/b_c_d*e*'],
		['autolinks', '<https://a.example>', 'https://a.example'],
		['autolinks with foreign labels', '<https://a.example|Bank>', '&lt;https://a.example|Bank&gt;'],
		['escaped marks', '\\*a\\* \\<b', '*a* \\&lt;b'],
		['mentions', '<!here> **<@U1>**', '&lt;!here&gt; *&lt;@U1&gt;*'],
	])('converts Markdown: %s', (_what, markdown, expected) => {
		expect(quotedMarkdown(markdown, 3000)).toBe(`> ${expected.replaceAll('\n', '\n> ')}`);
	});

	it.each([
		[
			'between lines',
			'a\n| b | **c** |\n|---|:-:|\n| <d> | `e` [f](https://g.example) |\nh',
			'> a\n```\n| b   | c                       |\n| --- | ----------------------- |\n| &lt;d&gt; | e f (https://g.example) |\n```\n> h',
		],
		['of one row', '| a |', '```\n| a |\n```'],
		['that would end the block', '| a``` | `` |\n|-|-|', "```\n| a''' | '' |\n| ---- | -- |\n```"],
		[
			'without outer pipes',
			'a | b\n-|-:\nc\\|d | 1\n|||\ne',
			'```\n| a   | b |\n| --- | - |\n| c|d | 1 |\n|     |   |\n```\n> e',
		],
		['of numbers', '|a|\n|-:|\n|10 €|\n|9 €|', '```\n|    a |\n| ---- |\n| 10 € |\n|  9 € |\n```'],
		[
			'of wide characters',
			'|漢字|👍🏽|x|\n|a|👩‍👩‍👧‍👦é|☀️|',
			'```\n| 漢字 | 👍🏽  | x  |\n| a    | 👩‍👩‍👧‍👦é | ☀️ |\n```',
		],
		['that is a ruler alone', '|---|', ''],
	])('shows a table as one block of code: %s', (_what, markdown, expected) => {
		expect(quotedMarkdown(markdown, 3000)).toBe(expected);
	});

	it('closes code after a cut', () => {
		const shown = quotedMarkdown(`\`\`\`\n${'x'.repeat(1000)}\n\`\`\``, 200);
		expect(shown).toMatch(/^> `x+`… \([\d,]+ more characters\)$/);
	});

	it('puts Markdown on one line', () => {
		expect(markdownLine('## A **b**\n\n- c `d`\n  - <e>\n```\nf\n```', 100)).toBe('*A b* • c `d` ◦ &lt;e&gt; `f`');
	});

	it.each([
		['bold text', `**${'a '.repeat(200)}**`, /^> \*(?:a )+a\*… \(/],
		['struck text', `x ~~${'a '.repeat(200)}~~`, /^> x ~(?:a )+a~… \(/],
		['code', `x \`${'** '.repeat(200)}\``, /^> x `(?:\*\* )+\*\*?`… \(/],
		['a table', `|a|b|\n|-|-|\n${'|c|d|\n'.repeat(200)}`, /^```\n\| a \| b \|\n(?:\| [-c] \|.*\n)+```… \(/],
		['what was cut before', cutWithNote(`**${'a '.repeat(200)}**`, 100), /^> \*(?:a )+a\*… \(340 more characters\)$/],
	])('ends no mark in a cut: %s', (_what, text, expected) => {
		for (let limit = 150; limit < 160; limit += 1) expect(quotedMarkdown(text, limit)).toMatch(expected);
	});

	it('keeps a table as wide as a window, says what it leaves out, and that something is cut', () => {
		const shown = (table: string) => {
			const mark = createCutMark(false);
			const lines = quotedMarkdown(table, 3000, mark.onCut).split('\n').slice(1, -1);
			for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
			return { lines, isCut: mark.isCut };
		};
		const words = 'lorem ipsum '.repeat(6).trim();
		const wrapped = shown(`| a | b |\n|---|---|\n| ${words} | ${'x'.repeat(50)} |`);
		expect(wrapped.isCut).toBe(false);
		expect(wrapped.lines.slice(2)).toEqual([
			'| lorem ipsum lorem ipsum    | xxxxxxxxxxxxxxxxxxxxxxxxxx |',
			'| lorem ipsum lorem ipsum    | xxxxxxxxxxxxxxxxxxxxxxxx   |',
			'| lorem ipsum lorem ipsum    |                            |',
		]);
		const long = shown(`|${'漢'.repeat(300)}|`);
		const whole = `| ${'漢'.repeat(28)} |`;
		expect(long).toEqual({ lines: [whole, whole, whole, `| ${'漢'.repeat(27)}…  |`], isCut: true });
		const many = shown(`${'|a'.repeat(10)}|\n${'|-'.repeat(10)}|\n${`${'|b'.repeat(10)}|\n`.repeat(30)}`);
		expect(many.isCut).toBe(true);
		expect(many.lines).toHaveLength(23);
		expect(many.lines.slice(-3)).toEqual([
			`| ${Array(8).fill('b').join(' | ')} |`,
			'… (2 more columns)',
			'… (11 more rows)',
		]);
	});

	it.each([
		['Which?\n\n1. LH 1173\n2) **TP 570**\n\nToday.', ['LH 1173', 'TP 570'], 'Which?\n\nToday.'],
		['- LH 1173\n* TP 570', ['LH 1173', 'TP 570'], ''],
		['- LH 1173 for 129 €\n- TP 570', ['LH 1173', 'TP 570'], null],
		['- LH 1173', ['LH 1173', 'TP 570'], null],
		['- LH 1173', [], null],
	])('leaves out lines that are the whole text of a button: %j', (text, labels, expected) => {
		expect(withoutListed(text, labels)).toBe(expected ?? text);
	});

	it('returns an empty text for blank Markdown', () => {
		expect(quotedMarkdown(' \n\u200b', 100)).toBe('');
		expect(quotedLine('\n', 100)).toBe('');
	});
});

describe('names', () => {
	it.each([
		['are put between quotation marks', 'Book a flight', '“Book a flight”'],
		['cannot close them', 'a” says: "b" «c» ‘‘d’’ ＂e', "“a' says: 'b' 'c' 'd' 'e”"],
		['keep an apostrophe', "Ada's list", "“Ada's list”"],
		['have no quotation mark of any script', 'a🙷b⹂c‴d⁗e˶f＇＇gʼʼh""i«»j「k」l❞m״n', "“a'b'c'd'e'f'g'h'i'j'k'l'm'n”"],
		['have none of several that look like one', "aʼ'b’ʼc'’d''e ’’ fʹˈgʼ\u200dʼh", "“a'b'c'd'e ' f'g'h”"],
		[
			'keep a letter that looks like an apostrophe',
			"O'Brien, D’Angelo, ʻOkina, Знамʼянка, חיים",
			"“O'Brien, D’Angelo, ʻOkina, Знамʼянка, חיים”",
		],
		['have an apostrophe for a mark beside a word', 'a’ b ’c 5’6', "“a' b 'c 5'6”"],
		[
			'have no code of an emoji anywhere',
			'Deploy :x: done :+1::skin-tone-2: a:größe:b :100:',
			'“Deploy ∶x: done ∶+1:∶skin-tone-2: a∶größe:b ∶100:”',
		],
		['have no code in them', 'a `b` c', "“a 'b' c”"],
		['do not begin with our icons', '🔒 ⚠️ ✅ Handraise security', '“Handraise security”'],
		['do not begin with names of emoji', ':lock: :warning: Handraise', '“Handraise”'],
		['keep amounts, numbers and times', '$5 at 10:30:15, +2', '“$5 at 10:30:15, +2”'],
		['are one line', 'a\u2028b\n> c', '“a b > c”'],
		['have no hidden characters', '\u202eevil\u202c', '“evil”'],
		['keep colons', 'Step 1: pay: 3:2, a:b, 10:30:15', '“Step 1: pay: 3:2, a:b, 10:30:15”'],
		['are nothing when nothing is to see', ' 🔒\u200b', ''],
	])('quotes a name: %s', (_what, name, expected) => {
		expect(quotedName(name, 150)).toBe(expected);
		expect(quotedNameMrkdwn(name, 150)).toBe(escapeMrkdwn(expected));
		expect(withoutMarks(`${expected} (question 1 of 2)`)).toBe(`${expected.replaceAll(/[“”]/g, '')} (question 1 of 2)`);
	});

	it('quotes a name in bold text, which it does not end', () => {
		expect(quotedNameMrkdwn('a *b* c', 150)).toBe('“a ∗b∗ c”');
		expect(quotedName('a *b* c', 150)).toBe('“a *b* c”');
	});

	it('keeps the closing quotation mark of a cut name', () => {
		expect(quotedName('x'.repeat(80), 20)).toBe(`“${'x'.repeat(17)}…”`);
	});
});
