import { describe, expect, it } from 'vitest';
import { nameWithin } from '../../../src/slack/text/clean.ts';
import { markdownToMrkdwn } from '../../../src/slack/text/mrkdwn.ts';
import { typedText } from '../../../src/slack/text.ts';

/** Work that grows with the square of these lengths takes many minutes, and the test's time-out is half of one. */
const MESSAGE = 2_000_000;
const MARKDOWN = 500_000;

describe('the work on a hostile message is in proportion', () => {
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
	])('for %j, %j repeated, %j', (before, unit, after) => {
		const text = before + unit.repeat(MESSAGE / unit.length) + after;
		expect(typedText(text, 'U1BOT').length).toBeGreaterThan(MESSAGE / 2);
	});
});

describe("the work on an agent's hostile Markdown is in proportion", () => {
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
		['', '- ', 'x'],
		['# ', ' #', 'x'],
	])('for %j, %j repeated, %j', (before, unit, after) => {
		const text = before + unit.repeat(MARKDOWN / unit.length) + after;
		expect(markdownToMrkdwn(text).length).toBeGreaterThan(0);
	});
});

describe('the work on a hostile name is in proportion', () => {
	it.each([
		['', ':a:', ''],
		['', ':a', ''],
		['', '🔒', '"'],
		['', ' ', '"'],
		['a', "'", '"'],
	])('for %j, %j repeated, %j', (before, unit, after) => {
		const text = before + unit.repeat(MARKDOWN / unit.length) + after;
		expect(nameWithin(text).length).toBeLessThan(text.length);
	});
});
