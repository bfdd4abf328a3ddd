import { describe, expect, it } from 'vitest';
import { openQuestion } from '../../../src/questions/open-question.ts';
import { readSessionAnswer } from '../../../src/session-service/schema.ts';
import { sessionModal } from '../../../src/slack/blocks/session-modal.ts';
import { createLinks } from '../../../src/slack/links.ts';
import { newMetadata } from '../../../src/slack/metadata.ts';
import { expectSafeView } from '../support/check.ts';
import { CANARY } from '../support/hostile-session.ts';

const now = Date.parse('2026-11-20T08:40:00Z');
const mega = 1_000_000;

interface Item {
	title: string;
	description: string;
}

/** What each giant has several megabytes of. */
const giants: readonly [what: string, said: (at: number) => string, messages: number, items: readonly Item[]][] = [
	['steps', (at) => `Step ${at}: ${'report '.repeat(1000)}`, 600, [{ title: 'Go on?', description: '(yes/no)' }]],
	['opening brackets in one message', () => '['.repeat(4 * mega), 1, [{ title: 'a', description: 'b' }]],
	['emphasis', () => '**_~`'.repeat(mega), 1, []],
	['things to escape', () => '<&>'.repeat(2 * mega), 2, []],
	['marks on one letter', () => `e${'\u0301'.repeat(3 * mega)}`, 1, []],
	['joined people', () => '👩\u200d'.repeat(mega), 2, []],
	['lines', () => '\n- x\n> y'.repeat(mega / 2), 1, []],
	['fences', () => '```\n'.repeat(mega), 1, []],
	['invisible characters', () => `${'\u200b'.repeat(3 * mega)}end`, 1, []],
	[
		'titles and descriptions',
		() => 'x',
		3,
		Array.from({ length: 50 }, () => ({ title: '漢'.repeat(50_000), description: '&<'.repeat(20_000) })),
	],
	[
		'items',
		() => 'x',
		3,
		Array.from({ length: 40_000 }, (_, at) => ({ title: `Question ${at}`, description: 'of many' })),
	],
	['option lists', () => 'x', 1, [{ title: 'Which?', description: `One of: ${'A, '.repeat(mega)}` }]],
];

describe('a session of several megabytes', () => {
	it.each(giants)('of %s becomes a modal that Slack takes', (_what, said, messages, items) => {
		const raw = {
			session: {
				sessionId: '3f9a2c1d',
				status: 'humanInput',
				name: 'x'.repeat(mega),
				sessionDetails: '*'.repeat(mega),
				messages: [
					{ role: 'user', content: said(0) },
					...Array.from({ length: messages }, (_, at) => ({
						role: 'assistant',
						content: said(at),
						agent_data: { action: [] },
					})),
					{ role: 'assistant', content: said(7), human_input: items, agent_data: { action: [{ done: said(3) }] } },
				],
				sessionVariables: [{ name: 'v'.repeat(mega), value: CANARY.repeat(1000) }],
				vncPassword: CANARY,
			},
		};
		const session = readSessionAnswer(raw, '3f9a2c1d');
		if (session === null) throw new Error('unreadable');
		for (const page of [0, 1, 10_000]) {
			const view = sessionModal({
				session,
				readAt: now,
				question: openQuestion(session),
				metadata: { ...newMetadata({ sessionId: '3f9a2c1d', formId: 'f' }), page },
				draft: { 0: 'd'.repeat(2 * mega) },
				notices: [],
				claims: [],
				now,
				names: { displayName: () => 'Ada' },
				dashboardUrl: 'https://dash.example',
				links: createLinks({ serviceUrl: 'https://service.example', dashboardUrl: 'https://dash.example' }),
				adminContact: null,
				watch: null,
			});
			expectSafeView(view);
			expect(view.blocks.length).toBeGreaterThan(2);
		}
	});
});
