import type { HomeView, KnownBlock, ModalView } from '@slack/types';
import { expect } from 'vitest';
import { validateMessage, validateView } from '../../../fake-slack/index.ts';
import type { MessageContent } from '../../../src/slack/blocks/parts.ts';
import { CANARY } from './hostile-session.ts';

/** What the app may write in angle brackets: mentions, channels and times. */
const OURS = /<@U0OURS[A-Z0-9]*>|<#C0OURS[A-Z0-9]*>|<!date\^\d+\^\{date_short_pretty\} \{time\}\|[\w ,:]+>/g;

/** Slack accepts it, and interprets nothing in it that a session or a person wrote. */
export function expectSafeView(view: ModalView | HomeView): void {
	expect(validateView(view)).toEqual([]);
	expectHarmless(view.blocks as KnownBlock[], []);
	expect(JSON.stringify(view)).not.toContain(CANARY);
}

export function expectSafeMessage(message: MessageContent): void {
	expect(validateMessage(message)).toEqual([]);
	expect(message.text.trim()).not.toBe('');
	expect(message.text.length).toBeLessThanOrEqual(4000);
	expectHarmless(message.blocks, [message.text]);
	expect(JSON.stringify(message)).not.toContain(CANARY);
}

function expectHarmless(blocks: readonly KnownBlock[], texts: readonly string[]): void {
	for (const text of texts) expectHarmlessMrkdwn(text);
	for (const part of partsOf(blocks)) {
		const text = part.text;
		if (typeof text !== 'string') continue;
		if (part.type === 'mrkdwn') expectHarmlessMrkdwn(text);
		expect(text.isWellFormed()).toBe(true);
	}
}

export function expectHarmlessMrkdwn(text: string): void {
	expect(text.replace(OURS, '')).not.toContain('<');
	expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/);
	// Each `&` begins one of the three entities that Slack knows.
	expect(text).not.toMatch(/&(?!(?:amp|lt|gt);)/);
}

/** Every line is quoted, and no code covers several lines. */
export function expectQuoted(text: string): void {
	for (const line of text.split('\n')) if (text !== '') expect(line).toMatch(/^> |^>$|^>?…/);
	expect(text).not.toContain('```');
	expect(text).not.toMatch(/[\r\u0085\u2028\u2029\v\f]/);
}

/** The object itself and every object in it. */
function* partsOf(value: unknown): Generator<Record<string, unknown>> {
	if (typeof value !== 'object' || value === null) return;
	if (!Array.isArray(value)) yield value as Record<string, unknown>;
	for (const child of Object.values(value)) yield* partsOf(child);
}
