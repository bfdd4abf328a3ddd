import { describe, expect, it } from 'vitest';
import { sessionModal } from '../../../src/screens/form.ts';
import { newMetadata } from '../../../src/slack/ids.ts';
import { expectSafeView } from '../../slack/support/check.ts';
import { CANARY } from '../../slack/support/hostile-session.ts';
import { buildSessionModel } from '../../support/session-model.ts';
import { gatedResponse } from '../../support/sessions.ts';

const now = Date.parse('2026-11-20T08:40:00Z');
const mega = 1_000_000;

/** What each session has several megabytes of. */
const giants: readonly { what: string; said: (at: number) => string; messages: number; items?: object[] }[] = [
	{
		what: 'steps',
		said: (at) => `Step ${at}: ${'report '.repeat(1000)}`,
		messages: 600,
		items: [{ title: 'Go on?', description: '(yes/no)' }],
	},
	{
		what: 'opening brackets in one message',
		said: () => '['.repeat(4 * mega),
		messages: 1,
		items: [{ title: 'a', description: 'b' }],
	},
	{ what: 'emphasis', said: () => '**_~`'.repeat(mega), messages: 1 },
	{ what: 'things to escape', said: () => '<&>'.repeat(2 * mega), messages: 2 },
	{ what: 'marks on one letter', said: () => `e${'\u0301'.repeat(3 * mega)}`, messages: 1 },
	{ what: 'joined people', said: () => '👩\u200d'.repeat(mega), messages: 2 },
	{ what: 'lines', said: () => '\n- x\n> y'.repeat(mega / 2), messages: 1 },
	{ what: 'fences', said: () => '```\n'.repeat(mega), messages: 1 },
	{ what: 'invisible characters', said: () => `${'\u200b'.repeat(3 * mega)}end`, messages: 1 },
	{
		what: 'titles and descriptions',
		said: () => 'x',
		messages: 3,
		items: Array.from({ length: 50 }, () => ({ title: '漢'.repeat(50_000), description: '&<'.repeat(20_000) })),
	},
	{
		what: 'items',
		said: () => 'x',
		messages: 3,
		items: Array.from({ length: 40_000 }, (_, at) => ({ title: `Question ${at}`, description: 'of many' })),
	},
	{
		what: 'option lists',
		said: () => 'x',
		messages: 1,
		items: [{ title: 'Which?', description: `One of: ${'A, '.repeat(mega)}` }],
	},
];

describe('giant sessions', () => {
	it.each(giants)(
		'shows a session of several megabytes with $what in a modal that Slack accepts',
		({ said, messages, items = [] }) => {
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
			const session = gatedResponse(raw, '3f9a2c1d');
			if (session === null) throw new Error('unreadable');
			for (const page of [0, 1, 10_000]) {
				const view = sessionModal(
					buildSessionModel(session, now, {
						metadata: { ...newMetadata({ sessionId: '3f9a2c1d', formId: 'f' }), page },
						draft: { 0: 'd'.repeat(2 * mega) },
					}),
				);
				expectSafeView(view);
				expect(view.blocks.length).toBeGreaterThan(2);
			}
		},
	);
});
