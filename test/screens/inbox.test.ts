import { expect, it } from 'vitest';
import { NOTHING } from '../../sandbox/gallery/shapes/views.ts';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import { stateLine } from '../../src/screens/answer.ts';
import { homeView, waitingCountWords } from '../../src/screens/inbox.ts';
import type { InboxContent } from '../../src/screens/inbox-content.ts';
import { answerOf, item, now } from '../slack/support/answers.ts';
import { textsOf } from '../slack/support/questions.ts';
import { gatedResponse } from '../support/sessions.ts';

type Shown = Extract<InboxContent, { kind: 'shown' }>;

/** A session that asks which colour. */
function asking(description: string, buttons = true): Shown {
	const human_input = [{ title: 'Which colour?', description, value: '' }];
	const raw = { name: 'Chairs', status: 'humanInput', messages: [{ role: 'assistant', content: '', human_input }] };
	const session = gatedResponse({ session: raw }, 'demo');
	const snapshot = session === null ? null : snapshotOf(session, now);
	if (snapshot === null || snapshot.question === null) throw new Error('no question');
	const { question: view, name: sessionName } = snapshot;
	const question = { service: 'https://service.example', sessionId: 'demo', messageIndex: view.messageIndex };
	const askedIn = {
		channelId: 'C0OURS1',
		threadTs: null,
		watchedBy: 'U0EXAMPLE1',
		discreet: false,
		buttons,
		isRaised: false,
	};
	const { fingerprint } = view;
	const where = { askedIn, handOver: null, isRaised: false };
	const asked = { question, fingerprint, since: now, ...where, sessionName, view, answering: [] };
	return { ...NOTHING, total: 1, questions: [asked] };
}

const PERSON = { teamId: 'T1', userId: 'U0OURS1' };
const RECEIPT = { now, adminContact: null };

function blocksOf(content: Shown) {
	const inbox = { followedUntil: now + 600_000, person: PERSON };
	return homeView({ inbox, content, receipt: RECEIPT, names: { displayName: String }, isEnding: false }).blocks;
}

const textOf = (content: Shown) => JSON.stringify(blocksOf(content));

it.each([
	['It closes at six.\n\nOptions:\n- red\n- **green**', 'It closes at six.'],
	['It closes at six.\n\nOne of: red, green', 'It closes at six.'],
])('shows the description above the buttons of its options, without lines that are buttons: %j', (text, described) => {
	const shown = textOf(asking(text));
	expect(shown).toContain('"text":"green"');
	expect(shown).toContain(`"text":"\\n${described}"`);
});

it('shows no description that only lists the buttons', () => {
	const shown = textOf(asking('One of: red, green'));
	expect(shown).toContain('"text":"green"');
	expect(shown).not.toContain('One of');
});

it('has a button for each of five long options', () => {
	const options = ['one', 'two', 'three', 'four', 'five'].map((word) => `${word.padEnd(28, 'x')}.`);
	expect(textOf(asking(`One of: ${options.join(' | ')}`)).match(/"action_id":"[^"]*choose/g)).toHaveLength(5);
});

it.each([
	[10, 0, []],
	[11, 0, ['Next 1']],
	[20, 1, ['Previous 10']],
	[25, 1, ['Previous 10', 'Next 5']],
])('of %d questions, page %d has these buttons to others: %j', (total, page, labels) => {
	const text = textOf({ ...asking('One of: red, green'), total, page });
	expect(text.match(/(?:Previous|Next) \d+/g) ?? []).toEqual(labels);
});

it.each([
	[0, 0, 'No question for you.', 0],
	[0, 1, 'No question for you, 1 is snoozed.'],
	[1, 2, '1 question for you, 2 are snoozed'],
	[2, 0, '2 questions for you'],
	[0, 2, 'No new question for you, 2 are snoozed. 40 old sessions ask, see below.', 40],
])('says that %d are for somebody and %d are snoozed', (total, snoozedCount, words, oldCount = 0) => {
	expect(waitingCountWords(total, snoozedCount, oldCount)).toBe(words);
});

it('says that sessions of others ask, when no question is for somebody', () => {
	expect(waitingCountWords(0, 0, 0, 9)).toBe('No question of your channels. 9 other sessions ask.');
	const words = 'No question of your channels, 1 is snoozed. 1 other session asks. 1 old session asks, see below.';
	expect(waitingCountWords(0, 1, 1, 1)).toBe(words);
	expect(waitingCountWords(1, 0, 2, 9)).toBe('1 question for you');
});

it('shows what the agent said in one line with its styles, and with all of its characters but their marks', () => {
	const [, first] = blocksOf(asking('## Three laptops\n- I compared **them** with `bench`\n\nOne of: red, green'));
	expect(textsOf(first === undefined ? [] : [first])).toEqual([
		'> *Which colour?*\n> ## Three laptops - I compared *them* with `bench`',
	]);
});

it('begins with the count, then what failed, Undo, the questions, drafts, the last answers and the figures', () => {
	const content = { kind: 'readable', items: [item('Which size?', 'L')], other: null } as const;
	const undoable = answerOf({ press: { undoUntil: now + 1 }, attempts: 0, content });
	const draft = {
		person: undoable.person,
		question: undoable.question,
		fingerprint: '',
		shownHash: null,
		formId: '',
	};
	const shown = textOf({
		...asking(''),
		ownAnswers: { shown: [answerOf({ state: 'refused', content }), undoable], total: 3 },
		drafts: [{ ...draft, values: { 0: 'half' }, updatedAt: now, askedIn: null, isClosed: false, isAllowed: true }],
		lastAnswers: [answerOf({ state: 'ended', content }), answerOf({ state: 'withdrawn', content })],
	});
	const order = [
		waitingCountWords(1, 0),
		stateLine(answerOf({ state: 'refused' })),
		'"Try again"',
		'"Dismiss"',
		'and 1 more answers',
		'sends in a moment',
		'"Undo"',
		'Chairs',
		'· half',
		'Your last answers',
		stateLine(answerOf({ state: 'ended' })),
		stateLine(answerOf({ state: 'withdrawn' })),
	].map((words) => shown.indexOf(words));
	expect(order).not.toContain(-1);
	expect(order).toEqual(order.toSorted((a, b) => a - b));
	expect(shown.match(/"Dismiss"/g)).toHaveLength(2);
});

it('shows a question in bold with its description, and what else can be done in a menu', () => {
	const blocks = blocksOf(asking('When shall they come?\n\nThe shop closes at six.'));
	const shown = JSON.stringify(blocks);
	expect(textsOf(blocks)[0]).toBe('> *Which colour?*\n> When shall they come?  The shop closes at six.');
	const row = blocks.find((block) => block.type === 'actions');
	expect(row).toMatchObject({ elements: [{ type: 'button', text: { text: 'Answer…' } }, { type: 'overflow' }] });
	expect(shown.match(/Snooze|Hand over/g)).toHaveLength(2);
});
