import type { HomeView, ModalView } from '@slack/types';
import { expect } from 'vitest';
import { validateMessage, validateView } from '../../../fake-slack/index.ts';
import type { MessageContent } from '../../../src/slack/parts.ts';
import { CANARY } from './hostile-session.ts';

/** What the app may write in angle brackets: mentions, channels and times. */
const OURS =
	/<@U0OURS[A-Z0-9]*>|<#C0OURS[A-Z0-9]*>|<!date\^\d+\^\{(?:date_short_pretty\} \{time|time_secs)\}\|[\w ,:]+>/g;

/** Slack accepts it, and interprets nothing in it that a session or a person wrote. */
export function expectSafeView(view: ModalView | HomeView): void {
	expect([...validateView(view), ...leaksIn(view), ...harmIn(view.blocks)]).toEqual([]);
}

export function expectSafeMessage(message: MessageContent): void {
	const { text, blocks } = message;
	expect([...validateMessage(message), ...leaksIn(message), ...harmIn(blocks), ...harmInMrkdwn(text)]).toEqual([]);
	expect(text.trim()).not.toBe('');
	expect(text.length).toBeLessThanOrEqual(4000);
}

export function expectHarmlessMrkdwn(text: string): void {
	expect(harmInMrkdwn(text)).toEqual([]);
}

// The checks below return what they find: `expect` for each of ten thousand texts takes longer than the checks.

function leaksIn(shown: unknown): string[] {
	const json = JSON.stringify(shown);
	return json.includes(CANARY) ? [`shows what nobody may see: ${json}`] : [];
}

function harmIn(value: unknown, found: string[] = []): string[] {
	if (typeof value !== 'object' || value === null) return found;
	const { type, text } = value as Record<string, unknown>;
	if (typeof text === 'string') {
		if (type === 'mrkdwn') found.push(...harmInMrkdwn(text));
		if (!text.isWellFormed()) found.push(`not well-formed: ${JSON.stringify(text)}`);
	}
	for (const child of Object.values(value)) harmIn(child, found);
	return found;
}

function harmInMrkdwn(text: string): string[] {
	const harms = {
		'an opening bracket': text.includes('<') && text.replace(OURS, '').includes('<'),
		'an invisible character': /[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/.test(text),
		// Slack knows three entities.
		'an ampersand of no entity': /&(?!(?:amp|lt|gt);)/.test(text),
	};
	return Object.entries(harms).flatMap(([harm, isThere]) => (isThere ? [`${harm}: ${text}`] : []));
}

/** Every line is quoted, or in a whole block of code, which only a table is. */
export function expectQuoted(text: string): void {
	const quotes = text.replace(/^```\n(?:[^`\n]+\n)+```/gm, '> ');
	for (const line of quotes.split('\n')) if (text !== '') expect(line).toMatch(/^> |^>$|^>?…/);
	expect(quotes).not.toContain('```');
	expect(text).not.toMatch(/[\r\u0085\u2028\u2029\v\f]/);
}
