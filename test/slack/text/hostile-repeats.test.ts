import { describe, expect, it } from 'vitest';
import { markdownToMrkdwn, seenText } from '../../../src/slack/mrkdwn.ts';
import { nameWithin } from '../../../src/slack/text.ts';

/** At these lengths, quadratic work takes many minutes; the tests time out after half a minute. */
const MESSAGE = 2_000_000;
const MARKDOWN = 500_000;

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
		const text = before + unit.repeat(MESSAGE / unit.length) + after;
		expect(seenText({ text }, 'U1BOT').length).toBeGreaterThan(MESSAGE / 2);
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
		const text = before + unit.repeat(MESSAGE / unit.length) + after;
		expect(seenText({ text }, 'U1BOT').length).toBeGreaterThan(0);
	});
});

describe("work on an agent's hostile Markdown is linear", () => {
	it.each([
		['', '[', ''],
		['', '[', ']('],
		['', '![', ']('],
		['', '[a](', ''],
		['[a](', ' ', 'x'],
		['[a](b', ' ', 'x'],
		['', '[a](         ', ''],
		['', '[a](b "', ''],
		['[a](', '(b)', ''],
		['[a](', '[b](c)', ''],
		['', '](', ''],
		['', '*a', ''],
		['', '**', 'a'],
		['', '` ', ''],
		['', '<https://a', ''],
		['', '&#0', ''],
		['', '| ', 'x'],
		['', '|', '\n|-|'],
		['', 'a|\n', ''],
		['a|b\n-|-\n', '漢|👍\n', ''],
		['|', '漢 ', '|'],
		['|', '<br', '|'],
		['|', ' ', '|\n|-|'],
		['', '|-|\n', 'x'],
		['', '```\n', 'x'],
		['x', ' ', '```'],
		['', '- ', 'x'],
		['# ', ' #', 'x'],
	])('takes linear time for %j, %j repeated, %j', (before, unit, after) => {
		const text = before + unit.repeat(MARKDOWN / unit.length) + after;
		expect(markdownToMrkdwn(text, '> ').length).toBeGreaterThan(0);
	});
});

describe('work on a hostile name is linear', () => {
	it.each([
		['', ':a:', ''],
		['', ':a', ''],
		['', '🔒', '"'],
		['', ' ', '"'],
		['a', "'", '"'],
	])('takes linear time for %j, %j repeated, %j', (before, unit, after) => {
		const text = before + unit.repeat(MARKDOWN / unit.length) + after;
		expect(nameWithin(text).length).toBeLessThan(text.length);
	});
});
