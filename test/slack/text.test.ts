import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	cutTo,
	escapeMrkdwn,
	isBlank,
	markdownAsMrkdwn,
	markdownBlockText,
	mrkdwnText,
	neutralise,
	oneLine,
	oneLineMrkdwn,
	plain,
	quoted,
} from '../../src/slack/text.ts';
import { expectHarmlessMarkdown, expectHarmlessMrkdwn } from './support/check.ts';
import { hostileText } from './support/hostile-text.ts';

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
	])('takes away %s', (_what, text, expected) => {
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

	it('knows every kind of line end', () => {
		expect(neutralise('a\r\nb\rc\u2028d\u2029e\u0085f')).toBe('a\nb\nc\nd\ne\nf');
	});
});

describe('cuts', () => {
	it('say how much is missing', () => {
		expect(mrkdwnText('x'.repeat(12_440), 136)).toBe(`${'x'.repeat(100)}… (12,340 more characters)`);
		expect(mrkdwnText(`${'x'.repeat(100)} y`, 101)).toContain('more character');
	});

	it('leave a text alone that fits exactly', () => {
		expect(mrkdwnText('x'.repeat(150), 150)).toBe('x'.repeat(150));
		expect(mrkdwnText('&'.repeat(30), 150)).toBe('&amp;'.repeat(30));
	});

	it('end short labels with an ellipsis alone', () => {
		expect(oneLine('abcdefghij', 5)).toBe('abcd…');
	});

	it.each([
		['families', '👩‍👩‍👧‍👦'],
		['flags', '🇩🇪'],
		['letters with marks', 'e\u0301'],
		['surrogate pairs', '𝒳'],
		['line ends of Windows', 'a\r\n'],
	])('split no %s', (_what, character) => {
		const clusters = new Set(new Intl.Segmenter('en').segment(neutralise(character)));
		for (let room = 101; room < 130; room += 1) {
			const shown = mrkdwnText(character.repeat(400), room).replace(/… \(.*\)$/, '');
			const pieces = [...new Intl.Segmenter('en').segment(shown)].map(({ segment }) => segment);
			expect(pieces.every((piece) => [...clusters].some(({ segment }) => segment === piece))).toBe(true);
		}
	});

	it('split no entity', () => {
		for (let room = 100; room < 140; room += 1) expectHarmlessMrkdwn(mrkdwnText('<&>'.repeat(500), room));
	});

	it('cut one character that is longer than a page between its parts', () => {
		const monster = `${'👩\u200d'.repeat(5000)}👩`;
		expect(mrkdwnText(monster, 500).length).toBeLessThanOrEqual(500);
		expect(mrkdwnText(monster, 500).isWellFormed()).toBe(true);
		expect(cutTo(monster, 499).isWellFormed()).toBe(true);
	});

	it('stay within the limit, whole and harmless, whatever the text', () => {
		fc.assert(
			fc.property(hostileText, limit, (text, room) => {
				for (const convert of [oneLineMrkdwn, mrkdwnText, markdownAsMrkdwn, quoted]) {
					const shown = convert(text, room);
					expect(shown.length).toBeLessThanOrEqual(convert === quoted ? Math.max(2, room) : room);
					expect(shown.isWellFormed()).toBe(true);
					expectHarmlessMrkdwn(shown);
				}
				const block = markdownBlockText(text, room);
				expect(block.length).toBeLessThanOrEqual(room);
				expectHarmlessMarkdown(block);
				expect(plain(text, room).text.length).toBeLessThanOrEqual(Math.max(room, '(empty)'.length));
				expect(cutTo(text, room).length).toBeLessThanOrEqual(room);
				expect(text.startsWith(cutTo(text, room))).toBe(true);
			}),
			{ numRuns: 1500 },
		);
	});

	it('look at no more of a text of megabytes than they show', () => {
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
			expect(markdownAsMrkdwn(giant, 3000).length).toBeLessThanOrEqual(3000);
			expect(markdownBlockText(giant, 12_000).length).toBeLessThanOrEqual(12_000);
			expect(oneLine(giant, 75).length).toBeLessThanOrEqual(75);
		}
	});
});

describe('escaping', () => {
	it('takes its meaning from everything that Slack knows', () => {
		expect(escapeMrkdwn('<!here> & <@U1> &lt;')).toBe('&lt;!here&gt; &amp; &lt;@U1&gt; &amp;lt;');
	});

	it('puts quotes before each line', () => {
		expect(quoted('a\n<b>', 100)).toBe('> a\n> &lt;b&gt;');
	});

	it('knows texts without anything to see', () => {
		expect(isBlank(' \n\u200b\ufeff')).toBe(true);
		expect(isBlank('.')).toBe(false);
		expect(plain('\u200b', 75, 'nothing')).toEqual({ type: 'plain_text', text: 'nothing', emoji: false });
	});
});

describe("an agent's Markdown in a modal", () => {
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
		['fenced code', '```ts\nif (a < b) **x**\n```\nz', '```\nif (a &lt; b) **x**\n```\nz'],
		['tilde fences', '~~~\n```\n~~~', "```\n'''\n```"],
		['a fence that nobody closes', '```\na', '```\na\n```'],
		['headings', '# A **b** #\n### C', '*A b*\n*C*'],
		['lists', '- a\n* b\n  + c\n1. d', '• a\n• b\n  • c\n1. d'],
		['tasks', '- [ ] a\n- [x] b', '☐ a\n☑ b'],
		['quotes', '> a', '> a'],
		['rules', '---', '———'],
		['tables', 'a\n| b | **c** |\n|---|:-:|\n| <d> | e |\nf', 'a\n```\n| b | **c** |\n| &lt;d&gt; | e |\n```\nf'],
		['a table at the end', '| a |', '```\n| a |\n```'],
		['links', '[Bank](https://evil.example)', 'Bank (https://evil.example)'],
		['links with titles', '[a](https://b.example "c")', 'a (https://b.example)'],
		['addresses with parentheses', '[a](https://b.example/x_(y))', 'a (https://b.example/x_(y))'],
		['images', '![alt](https://b.example/a.png)', 'alt (https://b.example/a.png)'],
		['links that are their own label', '[https://a.example](https://a.example)', 'https://a.example'],
		['bare addresses, marks included', 'see https://a.example/b_c_d*e*', 'see https://a.example/b_c_d*e*'],
		['autolinks', '<https://a.example>', 'https://a.example'],
		['autolinks with foreign labels', '<https://a.example|Bank>', '&lt;https://a.example|Bank&gt;'],
		['escaped marks', '\\*a\\* \\<b', '*a* \\&lt;b'],
		['mentions', '<!here> **<@U1>**', '&lt;!here&gt; *&lt;@U1&gt;*'],
	])('converts %s', (_what, markdown, expected) => {
		expect(markdownAsMrkdwn(markdown, 3000)).toBe(expected);
	});

	it('lets no cut leave code open', () => {
		const shown = markdownAsMrkdwn(`\`\`\`\n${'x'.repeat(1000)}\n\`\`\``, 200);
		expect(shown).toMatch(/x\n```\n… \([\d,]+ more characters\)$/);
	});
});

describe("an agent's Markdown in a markdown block", () => {
	it.each([
		['keeps bold, lists and tables', '**a**\n- b\n|c|d|', '**a**\n- b\n|c|d|'],
		['keeps ampersands', 'a & b &copy;', 'a & b &copy;'],
		['keeps quotes', '> a > b', '> a &gt; b'],
		['disarms mentions', '<!here> <@U1>', '&lt;!here&gt; &lt;@U1&gt;'],
		['disarms mentions in entities', '&lt;!here&gt; &#60;!here&#x3E;', '&lt;!here&gt; &lt;!here&gt;'],
		['flattens links', '[Bank](https://evil.example)', 'Bank (https://evil.example)'],
		['flattens images', '![Bank](https://evil.example "t")', 'Bank (https://evil.example)'],
		[
			'breaks links in links',
			'[a[b](https://c.example)](https://evil.example)',
			'[ab (https://c.example)] (https://evil.example)',
		],
		['breaks reference links', '[Bank][1]\n\n[1]: https://evil.example', '[Bank] [1]\n\n[1] : https://evil.example'],
		['breaks links with invisible joints', '[Bank]\u200b(https://evil.example)', 'Bank (https://evil.example)'],
		['unwraps autolinks', '<https://a.example>', 'https://a.example'],
		['disarms autolinks with labels', '<https://a.example|Bank>', '&lt;https://a.example|Bank&gt;'],
		['closes code that was left open', '```\na', '```\na\n```'],
	])('%s', (_what, markdown, expected) => {
		expect(markdownBlockText(markdown, 3000)).toBe(expected);
	});
});
