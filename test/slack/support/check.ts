import type { HomeView, ModalView } from '@slack/types';
import { expect } from 'vitest';
import { validateMessage, validateView } from '../../../fake-slack/index.ts';
import type { MessageContent } from '../../../src/slack/blocks.ts';
import { CANARY } from './hostile-session.ts';

/** What the app may write in angle brackets: mentions, channels and times. */
const OURS =
	/<@U0OURS[A-Z0-9]*>|<#C0OURS[A-Z0-9]*>|<!date\^\d+\^\{(?:date_short_pretty\} \{time|time_secs)\}\|[\w ,:]+>/g;

const INVISIBLE = /[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/;

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

// The checks below return what they find: `expect` for each of ten thousand texts takes longer than the checks.

function leaksIn(shown: unknown): string[] {
	const json = JSON.stringify(shown);
	return json.includes(CANARY) ? [`shows what nobody may see: ${json}`] : [];
}

function harmIn(value: unknown, found: string[] = []): string[] {
	if (typeof value !== 'object' || value === null) return found;
	const { type, text } = value as Record<string, unknown>;
	if (isForeign(value as Record<string, unknown>)) found.push(`live: ${JSON.stringify(value)}`);
	if (typeof text === 'string') {
		if (type === 'mrkdwn') found.push(...harmInMrkdwn(text));
		// A text of rich text is shown as it is.
		if (type === 'text' && INVISIBLE.test(text)) found.push(`an invisible character: ${text}`);
		if (!text.isWellFormed()) found.push(`not well-formed: ${JSON.stringify(text)}`);
	}
	for (const child of Object.values(value)) harmIn(child, found);
	return found;
}

/** An element of rich text that rings or leads somewhere, and is not ours. */
function isForeign({ type, user_id: user, channel_id: channel, url }: Record<string, unknown>): boolean {
	if (type === 'user') return !String(user).startsWith('U0OURS');
	if (type === 'channel') return !String(channel).startsWith('C0OURS');
	return ['link', 'usergroup', 'broadcast'].includes(String(type)) || (type === 'date' && url !== undefined);
}

function harmInMrkdwn(text: string): string[] {
	const harms = {
		'an opening bracket': text.includes('<') && text.replace(OURS, '').includes('<'),
		'an invisible character': INVISIBLE.test(text),
		// Slack knows three entities.
		'an ampersand of no entity': /&(?!(?:amp|lt|gt);)/.test(text),
	};
	return Object.entries(harms).flatMap(([harm, isThere]) => (isThere ? [`${harm}: ${text}`] : []));
}
