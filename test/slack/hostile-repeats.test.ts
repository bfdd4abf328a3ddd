import { describe, expect, it } from 'vitest';
import { neutralise, oneLine } from '../../src/domain/shown-text.ts';
import { agentText, tableOf } from '../../src/slack/agent-text.ts';
import { seenText } from '../../src/slack/seen-text.ts';
import { runs } from '../support/runs.ts';

/** At these lengths, in CI, quadratic work takes many minutes: the tests time out. */
const MESSAGE = runs(2_000_000);
/** Longer than anything that the gate lets through. */
const TEXT = runs(200_000);
/** More than any place shows. */
const SHOWN = 10_000;

const repeated = (before: string, unit: string, after: string, length: number) =>
	before + unit.repeat(length / unit.length) + after;

describe('work on a hostile message is linear', () => {
	it.each([
		['', '<', ''],
		['', '<@U', ''],
		['', '<@U1', '>'],
		['', '<@U1|', ''],
		['', '<#C1|', ''],
		['', '<mailto:', ''],
		['', '<https://a', ''],
		['<https://', '|', ''],
		['<@U', '1', ''],
		['', '&amp', ''],
	])('takes linear time for %j, %j repeated, %j', (before, unit, after) => {
		expect(seenText({ text: repeated(before, unit, after, MESSAGE) }, 'U1BOT').length).toBeGreaterThan(MESSAGE / 2);
	});

	it.each([
		['', '*a ', ''],
		['*', 'a', ' *'],
		['', '*_~a', ''],
		['', '`', ''],
		['```', 'a', ''],
		['', '```a', ''],
		['', '<@U1BOT> a ', ''],
		['a', ' ', '<@U1BOT>'],
		['<@U1BOT>', ' ', 'a'],
		['', '<http://a|b>', ''],
	])('takes linear time for %j, %j repeated, %j', (before, unit, after) => {
		expect(seenText({ text: repeated(before, unit, after, MESSAGE) }, 'U1BOT').length).toBeGreaterThan(0);
	});
});

describe("work on an agent's hostile text is linear", () => {
	it.each([
		['', '[', ''],
		['', '[', ']('],
		['', '![', ']('],
		['', '[a](', ''],
		['', '[a](https://b', ' '],
		['', '](', ''],
		['', '**a', ''],
		['', '**a** ', ''],
		['', ' **a', ''],
		['', '**', 'a'],
		['', '` ', ''],
		['', '`a` ', ''],
		['', '`', 'x'],
		['', '<https://a', ''],
		['', '| ', 'x'],
		['', '|', '\n|-|'],
		['', 'a|\n', ''],
		['', 'a|\n-|\n\n', ''],
		['a|b\n-|-\n', '漢|👍\n', ''],
		['|', ' ', '|\n|-|'],
		['', '|-|\n', 'x'],
		['', '```\n', 'x'],
		['', '```\n\n', ''],
		['', '~~~\n```\n', ''],
		['```', ' ', 'x'],
		['x', ' ', '```'],
		['', '~', '`'],
		['', '- ', 'x'],
		['', '# a\n', ''],
		['', '\n', 'x'],
		['', '\u200b', 'x'],
		['a', '\u0301', 'x'],
		['', '👩\u200d', 'x'],
	])('takes linear time for %j, %j repeated, %j', (before, unit, after) => {
		const text = repeated(before, unit, after, TEXT);
		expect(agentText(text, 2_900).length).toBeGreaterThan(0);
		expect(agentText(text, SHOWN).length).toBeGreaterThan(0);
		expect(tableOf(text)?.others.length ?? 0).toBeLessThan(text.length + 20);
		expect(oneLine(text, 150).length).toBeLessThanOrEqual(150);
		expect(neutralise(text).length).toBeGreaterThan(0);
	});
});
