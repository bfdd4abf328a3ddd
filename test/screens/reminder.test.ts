import type { KnownBlock } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { validateMessage } from '../../fake-slack/index.ts';
import type { ReminderStage } from '../../src/domain/channel-settings.ts';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import {
	digestPost,
	heldWords,
	listedOf,
	MOST_LISTED,
	type RemindedQuestion,
	reminderPost,
	reminderWords,
	settledReminderPost,
} from '../../src/screens/reminder.ts';
import { decodeInboxRow } from '../../src/slack/ids.ts';
import { now } from '../slack/support/answers.ts';
import { expectSafeMessage } from '../slack/support/check.ts';
import { textsOf } from '../slack/support/questions.ts';
import { said } from '../support/said.ts';
import { buildSession, saying } from '../support/sessions.ts';

const names = { displayName: () => 'Ann' };
const context = { mention: null, names, now };

function reminderOf(
	title: string,
	stage: ReminderStage,
	{
		isLast = false,
		id = 'a1',
		above = 'I need to know something.',
		description = '',
		...told
	}: Partial<RemindedQuestion> & { isLast?: boolean; id?: string; above?: string; description?: string } = {},
): RemindedQuestion {
	const messages = [{ ...saying(above), humanInput: [{ title, description, value: '' }] }];
	const { question } = snapshotOf(buildSession({ status: 'active', messages }), now);
	if (question === null) throw new Error('there is no question');
	const times = { postedAt: now - 900_000, dueAt: now, lastReminderAt: null };
	const entry = {
		watchId: id,
		sessionId: id,
		questionId: `${id} ${title}`,
		postTs: '1.000001',
		heldBy: null,
		stage,
		isLast,
		...times,
	};
	const place = { channelId: 'C1', discreet: false, threadOnly: false, handOver: null, outcome: '', steps: '' };
	return { entry, question, sessionName: 'Fly & go', link: null, waitedMs: 900_000, ...place, ...told };
}

/** What a message of several shows, line by line. */
function listOf(asked: readonly RemindedQuestion[]) {
	const message = digestPost(asked, context);
	expectSafeMessage(message);
	const [headline = '', ...lines] = linesOf(message.blocks);
	return { ...message, headline, lines };
}

const linesOf = (blocks: readonly KnownBlock[]) => textsOf(blocks.filter(({ type }) => type !== 'context'));

describe('a message about several questions', () => {
	it('names the session of a question of which it may tell nothing, and its notification does not', () => {
		const { text, lines } = listOf([
			reminderOf('Which colour?', 'reminder', { discreet: true }),
			reminderOf('What is the password?', 'reminder', { id: 'b2' }),
			reminderOf('Which size?', 'reminder', { id: 'c3', threadOnly: true }),
		]);
		expect(text).toBe('⏰ 3 questions still ask.');
		expect(lines).toEqual(['a1', 'b2', 'c3'].map((id) => `✋ Fly & go · ${id} · 15 min`));
	});

	it('is an escalation when one of them is, and says once that all are the last', () => {
		const mixed = listOf([reminderOf('A?', 'reminder'), reminderOf('B?', 'escalation', { isLast: true })]);
		expect(mixed.headline).toBe('*📣 2 questions still ask:*');
		expect(mixed.lines.map((line) => line.includes('last reminder'))).toEqual([false, true]);
		const last = ['A?', 'B?'].map((title) => reminderOf(title, 'escalation', { isLast: true }));
		const all = listOf(last);
		expect(all.headline).toBe('*📣 2 questions still ask. This is the last reminder:*');
		expect(all.lines.join()).not.toContain('last reminder');
		expect(listOf([reminderOf('A?', 'reminder')]).headline).toBe('*⏰ 1 question still asks:*');
	});

	it.each([
		['long', 'Which of the many colours should I take for the chairs '.repeat(20), 'Maximiliana zu Oberunterammergau'],
		['escaped', '&<>'.repeat(400), '&<>'.repeat(100)],
		['quoted', '"\\'.repeat(600), 'Ann'],
	])('fits into a message with %s texts, with every line whole', (_, title, name) => {
		const link =
			'https://acme.enterprise.slack.com/archives/C0123456789/p1736069999123456?thread_ts=1736069999.123456&cid=C0123';
		const session = { service: 'https://s.example', sessionId: 'a1' };
		const place = { id: 'h', teamId: 'T1', session, fingerprint: 'f', watchId: 'w', channelId: 'C1' };
		const handOver = { ...place, from: 'U1', to: 'U2', count: 1, handedOverAt: now, givenBackAt: null };
		const asked = reminderOf(title, 'escalation', { isLast: true, sessionName: title, handOver, link });
		const held = { ...asked, entry: { ...asked.entry, heldBy: 'U3' } };
		const others = Array.from({ length: 39 }, (_, index) => {
			const sessionId = `${index}`.padStart(100, '0');
			return { ...held, entry: { ...held.entry, sessionId, questionId: `${index}` } };
		});
		const list = digestPost([...others, reminderOf('A?', 'reminder')], {
			...context,
			names: { displayName: () => name },
		});
		expect(validateMessage(list)).toEqual([]);
		const lines = linesOf(list.blocks);
		const [, first = ''] = lines;
		const withoutIds = lines.map((line) => line.replace(/\d{100}/, 'its id'));
		expect(withoutIds.slice(1)).toEqual(Array.from({ length: MOST_LISTED }, () => first.replace(/\d{100}/, 'its id')));
		expect(first).toContain('last reminder');
	});
});

it('crosses out what does not wait any more, and has Answer for each other line, which belongs to its thread', () => {
	const over = { ...reminderOf('Which size?', 'reminder', { id: 'b2' }), outcome: '✅ Answered' };
	const { headline, lines, blocks } = listOf([reminderOf('Which colour?', 'reminder'), over]);
	expect(headline).toBe('*⏰ 1 question still asks:*');
	expect(lines[1]).toBe('~Which size? · Fly & go · b2~ · ✅ Answered');
	const buttons = blocks.flatMap((block) => (block.type === 'section' && block.accessory ? [block] : []));
	expect(buttons.map(({ accessory }) => accessory)).toMatchObject([{ text: { text: 'Answer' } }]);
	expect(decodeInboxRow(buttons[0]?.block_id ?? '')).toEqual({ channelId: 'C1', threadTs: '1.000001' });
	const settled = listOf([over]);
	expect([settled.headline, settled.text]).toEqual(['⏰ Reminder of 1 question:', '⏰ Reminder of 1 question.']);
	expect(settled.lines).toEqual(['~Which size? · Fly & go~ · ✅ Answered']);
	const others = Array.from({ length: MOST_LISTED + 2 }, (_, index) =>
		reminderOf('A?', 'reminder', { id: `c${index}` }),
	);
	const many = listOf([over, ...others]);
	expect(many.lines).toHaveLength(MOST_LISTED);
	expect(JSON.stringify(many.blocks)).toContain('and 2 more: /session shows all.');
	expect(many.lines.join()).not.toContain('~');
	expect(listedOf([over, ...others]), 'which have links').toEqual(others.slice(0, MOST_LISTED));
});

it('counts questions, not their fields', () => {
	const form = reminderOf('Which colour?', 'reminder');
	const three = { ...form, question: { ...form.question, openCount: 3 } };
	const { headline, text, lines } = listOf([three, reminderOf('Which size?', 'reminder', { id: 'b2' })]);
	expect([headline, text]).toEqual(['*⏰ 2 questions still ask:*', '⏰ 2 questions still ask.']);
	expect(lines[0]).toContain('Which colour? and 2 more');
	const settled = Array.from({ length: MOST_LISTED + 2 }, () => ({ ...three, outcome: 'No longer watched' }));
	const ended = listOf(settled);
	expect(ended.headline).toBe(`⏰ Reminder of ${MOST_LISTED + 2} questions:`);
	expect(ended.lines).toHaveLength(MOST_LISTED);
	expect(JSON.stringify(ended.blocks)).toContain('"and 2 more"');
});

it('mentions nobody and is a reminder where nobody who is named for an escalation is there', () => {
	const about = { ...context, isForNobody: true };
	const asked = reminderOf('A?', 'escalation');
	for (const { text, blocks } of [reminderPost(asked, 900_000, about), digestPost([asked], about)]) {
		expect(text).toMatch(/^⏰/);
		expect(JSON.stringify(blocks)).toContain(
			'Nobody named under Mention is here any more. To change that, type /session settings.',
		);
	}
	expect(settledReminderPost({ ...asked, outcome: 'No longer asked' }, true).text).toMatch(/^⏰/);
});

it('says of an age in a list what a single reminder says: only whole minutes count', () => {
	const asked = reminderOf('Which colour?', 'reminder', { waitedMs: 959_000 });
	expect(listOf([asked]).lines).toEqual(['✋ Which colour? · Fly & go · 15 min']);
	expect(reminderPost(asked, asked.waitedMs, context).text).toContain('has asked for 15 min: ');
	const soon = reminderOf('Which colour?', 'reminder', { waitedMs: 59_000 });
	expect(listOf([soon]).lines).toEqual(['✋ Which colour? · Fly & go']);
});

it('names its question in a line, and opens it', () => {
	const asked = reminderOf('Which flight?', 'escalation', {
		description: 'One of: LH 1173, TP 570',
		link: 'https://a.example',
	});
	const { blocks } = reminderPost(asked, 900_000, context);
	expect(blocks.map(({ type }) => type)).toEqual(['rich_text', 'actions', 'context']);
	expect(JSON.stringify(blocks)).toContain('<https://a.example|Go to question>');
	expect(JSON.stringify(blocks).match(/"action_id":"[^"]+"/g)).toEqual(['"action_id":"question.answer"']);
});

describe('a question that stays in its thread', () => {
	const OPTIONS = 'Which flight? One of: LH 1173, TP 570';

	it('is told by its reminder there, and not by its escalation, which the channel shows', () => {
		const shown = (stage: ReminderStage) =>
			JSON.stringify(reminderPost(reminderOf(OPTIONS, stage, { threadOnly: true }), 900_000, context));
		expect(shown('reminder')).toContain('Which flight?');
		expect(shown('escalation')).not.toContain('Which flight?');
		expect(shown('escalation')).toContain(
			'"text":"Fly & go","style":{"bold":true}},{"type":"text","text":" has asked for 15 min"}',
		);
	});

	it('is not told by its escalation when that is drawn again either', () => {
		const asked = reminderOf(OPTIONS, 'escalation', { threadOnly: true });
		for (const drawn of [
			reminderPost(asked, null, context),
			settledReminderPost({ ...asked, outcome: '✅ Answered' }),
		]) {
			const shown = JSON.stringify(drawn);
			expect(shown).not.toContain('Which flight?');
			expect(shown).toContain('Fly & go');
		}
	});
});

it('names who was answering without a mention, because only the settings of a channel mention people', () => {
	expect(heldWords('U0ANN', names)).toBe('Ann was answering, and has not sent an answer yet.');
	expect(heldWords(null, names)).toBe('');
});

it.each<[ReminderStage, waitedMs: number | null, asked: string, words: string]>([
	['reminder', 300_000, 'Which?', '⏰ Fly has asked for 5 min: Which?'],
	['reminder', null, 'Which?', '⏰ Fly still asks: Which?'],
	['escalation', 7_500_000, '', '📣 Fly has asked for 2 h 5 min'],
	['escalation', null, '', '📣 Fly still asks'],
])('%s after %s ms of %s says "%s"', (stage, waitedMs, asked, words) =>
	expect(said(reminderWords({ stage }, 'Fly', { waitedMs, asked }))).toBe(words),
);
