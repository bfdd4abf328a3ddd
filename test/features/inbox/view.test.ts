import { describe, expect, it } from 'vitest';
import { NOTHING } from '../../../src/doctor/shapes/views.ts';
import type { InboxContent } from '../../../src/features/inbox/content.ts';
import { homeView, waitingCountWords } from '../../../src/features/inbox/view.ts';
import { snapshotOf } from '../../../src/questions/session-snapshot.ts';
import { readSessionResponse } from '../../../src/session-service/schema.ts';
import { answerOf, item, now } from '../../slack/support/answers.ts';

type Shown = Extract<InboxContent, { kind: 'shown' }>;

/** A session that asks which colour. */
function asking(description: string, buttons = true): Shown {
	const human_input = [{ title: 'Which colour?', description, value: '' }];
	const raw = { name: 'Chairs', status: 'humanInput', messages: [{ role: 'assistant', content: '', human_input }] };
	const session = readSessionResponse({ session: raw }, 'demo');
	const snapshot = session === null ? null : snapshotOf(session, now);
	if (snapshot === null || snapshot.question === null) throw new Error('no question');
	const { question: view, name: sessionName } = snapshot;
	const question = { service: 'https://service.example', sessionId: 'demo', messageIndex: view.messageIndex };
	const askedIn = { channelId: 'C0OURS1', threadTs: null, watchedBy: 'U0EXAMPLE1', buttons, isRaised: false };
	const { fingerprint } = view;
	const where = { askedIn, handOver: null, isRaised: false };
	const asked = { question, fingerprint, since: now, ...where, sessionName, view, answering: [] };
	return { ...NOTHING, total: 1, questions: [asked] };
}

function textOf(content: Shown): string {
	const receipt = { now, adminContact: null };
	const inbox = { openedAt: now, person: { teamId: 'T1', userId: 'U0OURS1' } };
	return JSON.stringify(homeView({ inbox, content, receipt }).blocks);
}

describe('the inbox', () => {
	it.each([
		['One of: red, green', 'One of: red, green'],
		['Choose:\n- red\n- **green**\n\nIt closes at six.', 'Choose: It closes at six.'],
		['One of: red, green\n\nIt closes at six.', 'One of: red, green It closes at six.'],
	])(
		'shows the description above the buttons of its options, without lines that are buttons: %j',
		(text, described) => {
			const shown = textOf(asking(text));
			expect(shown).toContain('"text":"green"');
			expect(shown).toContain(`> ${described}"`);
			// Without buttons, the lines are all that tells the options.
			expect(textOf(asking(text, false))).toContain(`> ${text.replace(/\s+/g, ' ')}"`);
		},
	);

	it('has a button for each of five long options', () => {
		const options = ['one', 'two', 'three', 'four', 'five'].map((word) => `${word.padEnd(28, 'x')}.`);
		expect(textOf(asking(`One of: ${options.join(', ')}`)).match(/"action_id":"[^"]*choose/g)).toHaveLength(5);
	});

	it('shows the options as text when they have no buttons', () => {
		expect(textOf(asking('One of: red, green', false))).toContain('> One of: red, green');
	});

	it.each([
		[0, 0, 'No question waits for you.', 0],
		[0, 1, 'No question waits for you, 1 is snoozed.'],
		[1, 2, '1 question waits for you, 2 are snoozed'],
		[2, 0, '2 questions wait for you'],
		[0, 2, 'No new question waits for you, 2 are snoozed. 40 old sessions wait, see below.', 40],
	])('says that %d wait and %d are snoozed', (total, snoozedCount, words, oldCount = 0) => {
		expect(waitingCountWords(total, snoozedCount, oldCount)).toBe(words);
	});

	it('begins with the count, then Undo, the questions and the other own answers', () => {
		const content = { kind: 'readable', items: [item('Which size?', 'L')], other: null } as const;
		const shown = textOf({
			...asking(''),
			ownAnswers: { shown: [answerOf({ press: { undoUntil: now + 1 }, attempts: 0, content })], total: 1 },
			lastAnswers: [answerOf({ state: 'withdrawn', content })],
		});
		const order = [waitingCountWords(1, 0), 'Undo', 'Your last answers'].map((words) => shown.indexOf(words));
		expect(order).toEqual(order.toSorted((a, b) => a - b));
		expect(order).not.toContain(-1);
		expect(shown).toMatch(/“Which size\?”: “L” · ↩️ Discarded; nothing was sent · /);
	});
});
