import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutTo, isBlank, neutralise, oneLine, shownPart } from '../../src/domain/shown-text.ts';
import { createCutCheck, cutText, cutWithNote } from '../../src/domain/texts.ts';
import { hostileText } from '../slack/support/hostile-text.ts';
import { runs } from '../support/runs.ts';

const limit = fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 120, max: 3000 }));
const note = /… \([\d,]+ more characters?\)$/;
const whole = (text: string, most: number) => {
	const part = shownPart(text, most);
	return part.text + part.note;
};

describe('neutralise', () => {
	it.each([
		['controls', 'a\u0000b\u0007c\u001b[0m\u007f', 'abc[0m'],
		['bidi overrides and isolates', 'gpj\u202e.exe\u202c \u2066x\u2069', 'gpj.exe x'],
		[
			'zero-width spaces and joiners, soft hyphens and byte order marks',
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
		['marks of Slack and of Markdown', '<!here> & *a* _b_ ~c~ `d` :wave: “e” &lt; [f](https://g.example) \\h | # -'],
	])('keeps %s', (_what, text) => {
		expect(neutralise(text)).toBe(text);
	});

	it('handles every kind of line end', () => {
		expect(neutralise('a\r\nb\rc\u2028d\u2029e\u0085f')).toBe('a\nb\nc\nd\ne\nf');
	});

	it('finds nothing left in what it has read', () => {
		fc.assert(
			fc.property(hostileText, (text) => {
				expect(neutralise(neutralise(text))).toBe(neutralise(text));
			}),
			{ numRuns: runs(500) },
		);
	});
});

describe('a text for a place of one line', () => {
	it.each([
		['as it is', 'Rename _id_ to id?', 'Rename _id_ to id?'],
		['with its quotation marks', 'a” says: "b" «c» ‘d’', 'a” says: "b" «c» ‘d’'],
		['with its spaces', '  a   b ', '  a   b '],
		['with a space for each line end and tab', 'a\nb\tc\r\n> d', 'a b c > d'],
		['without hidden characters', '\u202eevil\u202c', 'evil'],
		['not, when nothing is to see', ' \u200b\n', ''],
	])('stands %s', (_what, text, expected) => {
		expect(oneLine(text, 150)).toBe(expected);
	});

	it('ends with an ellipsis when it is longer, and tells that', () => {
		const mark = createCutCheck(true);
		expect([oneLine('abcde', 5, mark.onCut), mark.isCut]).toEqual(['abcde', false]);
		expect([oneLine('abcdefghij', 5, mark.onCut), mark.isCut]).toEqual(['abcd…', true]);
		// What cannot be seen takes no place.
		expect(oneLine(`ab\u200bcde`, 5)).toBe('abcde');
		expect(oneLine(`x${'\u200b'.repeat(5_000)}y`, 5)).toBe('x…');
	});
});

describe('a longer text', () => {
	it('says how much was cut', () => {
		expect(whole('x'.repeat(12_440), 136)).toBe(`${'x'.repeat(100)}… (12,340 more characters)`);
		expect(whole(`${'x'.repeat(100)} y`, 101)).toMatch(note);
	});

	it('says once what was cut before, and tells that', () => {
		const before = cutWithNote('x'.repeat(1_000), 136);
		expect(whole(before, 1_000)).toBe(before);
		expect(whole(before, 86)).toBe(`${'x'.repeat(50)}… (950 more characters)`);
		for (const counts of [true, false]) {
			const mark = createCutCheck(counts);
			shownPart(before, 1_000, mark.onCut);
			expect(mark.isCut).toBe(counts);
		}
	});

	it.each(['Delete… (0 more characters)', 'Delete… (, more characters)', 'Delete… (007 more characters)'])(
		'takes no note of a text for one of its own: %s',
		(text) => {
			expect(whole(text, 75)).toBe(text);
		},
	);

	it('does not cut a text that fits exactly', () => {
		expect(whole('x'.repeat(150), 150)).toBe('x'.repeat(150));
		expect(whole('&'.repeat(150), 150)).toBe('&'.repeat(150));
	});

	it('says that words are missing behind many spaces', () => {
		expect(whole(`x${' '.repeat(5_000)}y`, 120)).toMatch(/^x… \([\d,]+ more characters\)$/);
	});

	it.each([
		['families', '👩‍👩‍👧‍👦'],
		['flags', '🇩🇪'],
		['letters with marks', 'e\u0301'],
		['surrogate pairs', '𝒳'],
		['line ends of Windows', 'a\r\n'],
	])('does not split %s', (_what, character) => {
		const clusters = new Set(
			[...new Intl.Segmenter('en').segment(neutralise(character))].map(({ segment }) => segment),
		);
		for (let room = 101; room < 130; room += 1) {
			for (const shown of [
				shownPart(character.repeat(400), room).text,
				cutText(neutralise(character.repeat(400)), room).slice(0, -1),
			]) {
				const pieces = [...new Intl.Segmenter('en').segment(shown)].map(({ segment }) => segment);
				expect(pieces.filter((piece) => !clusters.has(piece))).toEqual([]);
			}
		}
	});

	it('cuts a character of thousands of code points between them', () => {
		const monster = `${'👩\u200d'.repeat(5000)}👩`;
		expect(whole(monster, 500).length).toBeLessThanOrEqual(500);
		expect(whole(monster, 500).isWellFormed()).toBe(true);
		expect(cutTo(monster, 499).isWellFormed()).toBe(true);
	});

	it('stays within its limit, and is well-formed and the beginning of what was written', () => {
		fc.assert(
			fc.property(hostileText, limit, (text, room) => {
				const line = oneLine(text, room);
				expect(line.length).toBeLessThanOrEqual(room);
				const spaced = neutralise(text).replace(/[\n\t]/g, ' ');
				const isWhole = line === spaced || (line === '' && isBlank(spaced));
				expect(isWhole || (line.endsWith('…') && spaced.startsWith(line.slice(0, -1)))).toBe(true);
				const part = shownPart(text, Math.max(40, room));
				expect((part.text + part.note).length).toBeLessThanOrEqual(Math.max(40, room));
				expect(neutralise(text).startsWith(part.text)).toBe(true);
				expect(part.note !== '' || part.text === neutralise(text).trimEnd()).toBe(true);
				expect([line, part.text].every((one) => one.isWellFormed())).toBe(true);
				expect(cutTo(text, room).length).toBeLessThanOrEqual(room);
				expect(text.startsWith(cutTo(text, room))).toBe(true);
			}),
			{ numRuns: runs(750) },
		);
	});
});

it('recognises texts without visible characters', () => {
	expect(isBlank(' \n\u200b\ufeff')).toBe(true);
	expect(isBlank('.')).toBe(false);
	expect(isBlank('漢')).toBe(false);
});

it('reads no more of a text of megabytes than it shows', () => {
	for (const unit of ['<', '&', '\n', '\u0301', '👩\u200d', '\u200b', '\u200c\u200d', '> ', 'é']) {
		const giant = unit.repeat(4_000_000 / unit.length);
		expect(oneLine(giant, 75).length).toBeLessThanOrEqual(75);
		expect(whole(giant, 3_000).length).toBeLessThanOrEqual(3_000);
	}
});
