import type { KnownBlock } from '@slack/types';
import { describe, expect, it } from 'vitest';
import type { Answer, AnswerItem, OtherAnswer } from '../../src/domain/answer.ts';
import { draftModal, historyView } from '../../src/screens/answer.ts';
import { receiptMessage, receiptModal } from '../../src/screens/receipt.ts';
import { decodeMetadata, newMetadata } from '../../src/slack/ids.ts';
import { momentOf } from '../../src/slack/phrases.ts';
import { notificationText } from '../../src/slack/rich-text.ts';
import { answerOf, item, now } from '../slack/support/answers.ts';
import { expectSafeMessage, expectSafeView } from '../slack/support/check.ts';
import { textsOf } from '../slack/support/questions.ts';
import { line, whatHappened } from '../support/sentences.ts';

const dateOf = (at: number) => notificationText(momentOf(at));
const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const soon = now - 29_999;
const receipt = { now, adminContact: 'U0OURSADMIN' };

function show(more: Partial<Answer>) {
	const view = receiptModal(answerOf(more), receipt);
	const message = receiptMessage(answerOf(more), receipt);
	expectSafeView(view);
	expectSafeMessage(message);
	expect(textsOf(message.blocks).slice(0, 2)).toEqual(textsOf(view.blocks).slice(0, 2));
	return { texts: textsOf(view.blocks), buttons: buttonsOf(message.blocks), view, message };
}

function expectReceipt(
	answer: Partial<Answer>,
	headline: string,
	{ explanation = /^\*Hall\*/, buttons = [] }: { explanation?: RegExp; buttons?: string[] } = {},
) {
	const shown = show(answer);
	expect(shown.texts[0]).toBe(`*${headline}*`);
	expect(shown.texts[1]).toMatch(explanation);
	expect(shown.texts.at(-1)).toBe('Session 3f9a2c1d');
	expect(shown.buttons).toEqual(buttons);
	expect(shown.texts).toContain('*Hall*\n> The <garden>\n> please');
}

const WRONG_KEY = whatHappened('unauthorized');
const SLOW = /^The session service is slow to respond\. Handraise is still sending your answer\./;
const SAVED = /^Your answer is saved\. You can close this/;
const NOT_STARTED = '⚠️ Delivered, but the session service reported a failure: the agent may not have been started';
const PERHAPS = '⚠️ Sent, and may have arrived';
const OPEN = 'Open session';

describe('receipts', () => {
	it.each<[what: string, answer: Partial<Answer>, headline: string, more?: Parameters<typeof expectReceipt>[2]]>([
		['saved', { acceptedAt: soon }, '⏳ Sending…', { explanation: SAVED }],
		['being sent', { state: 'delivering', acceptedAt: soon }, '⏳ Sending…', { explanation: SAVED }],
		['saved half a minute ago', { acceptedAt: soon - 1 }, '⏳ Sending…', { explanation: SLOW }],
		['long being sent', { state: 'delivering', acceptedAt: soon - 1 }, '⏳ Sending…', { explanation: SLOW }],
		[
			'waiting for its author',
			{ state: 'waiting', lastError: 'unauthorized', attempts: 24 },
			'⚠️ Not delivered: your decision',
			{
				explanation: new RegExp(`^${WRONG_KEY} Handraise tried 24 times\\. Try again, or discard it\\?$`),
				buttons: ['Try again', 'Discard answer'],
			},
		],
		['delivered', { state: 'delivered' }, '✅ Delivered'],
		['resumed', { state: 'resumed', agentOutcome: 'resumed' }, '✅ Delivered · continued'],
		[
			'overwritten',
			{ state: 'delivered', agentOutcome: 'overwritten' },
			'⚠️ Delivered · not in the field any more',
			{ explanation: /^Somebody changed it outside Handraise\.$/, buttons: [OPEN] },
		],
		[
			'too late',
			{ state: 'conflicted' },
			'🔀 Not sent: somebody else answered first',
			{ explanation: /^Nothing was overwritten\. Your text is below\.$/, buttons: [OPEN] },
		],
		[
			'second to one that did not arrive',
			{ state: 'conflicted', lastError: 'first_failed' },
			'📝 Not sent: the first answer did not arrive either',
			{
				explanation: /^Somebody answered before you\. That answer was not delivered\. Your text is a draft now,/,
				buttons: ['Open the question'],
			},
		],
		[
			'outdated',
			{ state: 'changed' },
			'✏️ Not sent: the question changed',
			{
				explanation:
					/^The agent has changed its question\. Your text is below\. \*Answer the new question\* fills it in where it fits\.$/,
				buttons: ['Answer the new question'],
			},
		],
		[
			'refused',
			{ state: 'refused', lastError: 'request_too_large' },
			'⛔ Not delivered: it was refused',
			{ explanation: /\(100 kB\)\. Your text is below\. .*<@U0OURSADMIN> can help\.$/, buttons: ['Try again'] },
		],
		[
			'after the end',
			{ state: 'ended' },
			'🏁 Not sent: the session was over',
			{ explanation: /^The agent of this session no longer reads answers/, buttons: [OPEN] },
		],
		['given up though it was sent once', { state: 'withdrawn', putStartedAt: now - 30_000 }, PERHAPS],
		[
			'of which nobody knows whether it arrived',
			{ state: 'waiting', putStartedAt: now - 30_000, lastError: 'timed_out', attempts: 3 },
			PERHAPS,
			{
				explanation: new RegExp(`^${whatHappened('timed_out')} Handraise tried 3 times`),
				buttons: ['Try again', 'Discard answer'],
			},
		],
		[
			'that was sent before the question changed',
			{ state: 'changed', putStartedAt: now - 30_000 },
			PERHAPS,
			{ explanation: /^Look at the session before you answer again/, buttons: ['Answer again'] },
		],
		[
			'that was sent before the session ended',
			{ state: 'ended', putStartedAt: now - 30_000 },
			PERHAPS,
			{ explanation: /^The agent of this session no longer reads answers/, buttons: [OPEN] },
		],
		[
			'that stands behind another one',
			{ state: 'conflicted', putStartedAt: now - 30_000 },
			PERHAPS,
			{ explanation: /^It is not sent again/, buttons: [OPEN] },
		],
		[
			'of which it is not known yet whether it arrived',
			{ state: 'delivering', putStartedAt: now - 30_000, lastError: 'timed_out' },
			'⏳ Sent, checking whether it arrived',
			{ explanation: /sends your answer again only when it is certain that the first one did not arrive/ },
		],
		[
			'whose agent could not be started',
			{ state: 'delivered', startFailed: true },
			NOT_STARTED,
			{
				explanation:
					/^Your answer is saved .* If the agent does not continue, <@U0OURSADMIN> can start it in the dashboard\.$/,
				buttons: [OPEN],
			},
		],
		['given up', { state: 'withdrawn' }, '↩️ Undone; nothing was sent'],
		['then failed', { state: 'delivered', agentOutcome: 'failed' }, '❌ Delivered · the session failed'],
		['then stopped', { state: 'delivered', agentOutcome: 'stopped' }, '⏹️ Delivered · the session was stopped'],
		['then completed', { state: 'delivered', agentOutcome: 'completed' }, '✅ Delivered · the session is done'],
		['then unseen', { state: 'delivered', agentOutcome: 'unseen' }, '👀 Delivered · no sign of the agent yet'],
	])('shows headline, explanation and buttons for an answer: %s', (_, answer, headline, more) => {
		expectReceipt(answer, headline, more);
	});

	it('says what is saved, why it is not delivered yet, and that nobody has to send it again', () => {
		const { texts, buttons } = show({ lastError: 'unauthorized', nextAttemptAt: now + 60_000 });
		expect(texts[0]).toBe(
			`⏳ *Saved, not delivered yet.* ${WRONG_KEY} Handraise keeps trying; <@U0OURSADMIN> has to change the key.`,
		);
		expect(buttons).toEqual(['Discard answer']);
		const away = show({ lastError: 'unavailable', nextAttemptAt: now + 60_000 });
		expect(away.texts[0]).toMatch(/^⏳ \*Saved, not.* Handraise keeps trying\.$/);
	});

	it('lists each state of an answer with its time only when something failed', () => {
		const timeline = [
			{ state: 'accepted', at: now - 3000 },
			{ state: 'delivered', at: now - 2000 },
			{ state: 'resumed', at: now - 1000 },
		] as const;
		const { texts } = show({ state: 'resumed', agentOutcome: 'resumed', timeline });
		// The headline has said what.
		expect(texts).toContain(dateOf(now - 1000));
		expect(texts.join()).not.toContain('Saved');
		const second = show({
			state: 'conflicted',
			timeline: [
				{ state: 'accepted', at: now },
				{ state: 'conflicted', at: now },
			],
		});
		expect(second.texts.join('')).toContain(`💾 Saved ·${dateOf(now)}🔀${dateOf(now)}`);
		const lost = show({ state: 'delivered', agentOutcome: 'lost', timeline: timeline.slice(0, 2) });
		expect(lost.texts.join('')).toContain(`💾 Saved ·${dateOf(now - 3000)}✅ Delivered ·${dateOf(now - 2000)}`);
	});

	it('names the session by its name, and its id last', () => {
		const named = { kind: 'readable', items: [], other: null, sessionName: 'Plan the <Frankfurt> trip' } as const;
		const { view, texts, message } = show({ content: named });
		expect(view.title.text).toBe('Answer');
		expect(texts.at(-1)).toBe('Session 3f9a2c1d');
		expect(message.text).toContain('(your answer for Plan the &lt;Frankfurt&gt; trip)');
		expect(textsOf(message.blocks).at(-1)).toBe('For Plan the <Frankfurt> trip · Session 3f9a2c1d');
	});

	/** The texts of an answer to these items that another one was before. */
	function conflictTexts(items: readonly AnswerItem[], changes: Partial<OtherAnswer>) {
		const other = { person: null, values: ['x'], at: null, answerId: null, same: false, ...changes };
		return show({ state: 'conflicted', content: { kind: 'readable', items, other } }).texts;
	}

	it("shows the other person's answer with the items' titles and hides secrets", () => {
		const person = { teamId: 'T1', userId: 'U0OURS2' };
		const items = [item('Hall', 'Hall B'), item('PIN', null, { secret: true, wiped: true }), item('Notes', 'x')];
		const texts = conflictTexts(items, { person, values: ['Hall A', null, ''], at: now - 120_000 });
		expect(texts.slice(2, 4)).toEqual([
			'<@U0OURS2> answered 2 min ago:\n*Hall*\n> Hall A\n*PIN*\n(hidden)\n*Notes*\n(left empty)\nYour text:',
			'*Hall*\n> Hall B\n*PIN*\n(hidden, and removed from Handraise)\n*Notes*\n> x',
		]);
		expect(texts[1]).toContain('Passwords and codes were not kept. Type them again.');
	});

	it('says when the other answer is the same, that its author is unknown, and how many values it has beyond ten', () => {
		expect(conflictTexts([item('Hall', 'x')], { same: true })).toContain(
			'Somebody in the dashboard answered the same.\nYour text:',
		);
		const many = conflictTexts([item('a', 'b')], { values: Array.from({ length: 12 }, () => 'x') });
		expect(many.find((text) => text.startsWith('Somebody'))).toMatch(/> x\nand 2 more\nYour text:$/);
	});

	it('never shows a secret in a receipt', () => {
		const items = [item('Password', 'hunter2', { secret: true })];
		const { view, texts, buttons } = show({ state: 'ended', content: { kind: 'readable', items, other: null } });
		expect(JSON.stringify(view)).not.toContain('hunter2');
		expect(texts).toContain('*Password*\n(hidden)');
		expect(texts[1]).not.toContain('Your text is below');
		expect(buttons).toEqual([OPEN]);
	});

	it.each([
		['removed', 'The text of this answer was removed because its retention time is over.'],
		['unreadable', 'The text of this answer was stored with another encryption key and cannot be read.'],
	] as const)('says that the text of an answer was %s', (kind, words) => {
		const { texts } = show({ state: 'ended', content: { kind } });
		expect(texts).toContain(words);
		expect(texts[1]).toBe('The agent of this session no longer reads answers.');
	});

	it('leaves out items that the author did not answer and counts those beyond ten', () => {
		const items = [item('', null), ...Array.from({ length: 13 }, (_, at) => item(`t${at}`, 'x'.repeat(5000)))];
		const { texts, message } = show({ content: { kind: 'readable', items, other: null } });
		expect(texts.join('\n').match(/^\*t\d+\*$/gm)).toHaveLength(10);
		expect(texts).toContain('and 3 more answers');
		expect(textsOf(message.blocks).join('').length).toBeLessThan(12_000);
	});

	it("keeps the answer's id in its metadata", () => {
		expect(decodeMetadata(show({ state: 'ended' }).view.private_metadata)?.formId).toBe('answer-1');
	});
});

describe('draftModal', () => {
	const partsOf = (text: string) => {
		const view = draftModal({ values: { 0: text } });
		expectSafeView(view);
		const parts = JSON.stringify(view.blocks).matchAll(/"type":"text","text":("(?:[^"\\]|\\.)*")/g);
		return Array.from(parts, ([, part = '']): string => JSON.parse(part));
	};

	it.each([
		['letters', 'x'.repeat(100_000)],
		['quotation marks', '"'.repeat(100_000)],
		['emoji', '🪑'.repeat(25_000)],
		['lines', 'a\n'.repeat(49_999).concat('b')],
	])('holds as much as an answer may have, exactly, in parts: %s', (_, text) => {
		const parts = partsOf(text);
		expect(parts.join('')).toBe(text);
		expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(3_000);
	});

	it('says how much is missing of what no answer could hold', () => {
		expect(partsOf('椅'.repeat(270_000)).join('')).toMatch(/^椅+… \([\d,]+ more characters\)$/);
	});
});

it.each([
	['unavailable', true],
	['unauthorized', true],
	['service_missing', true],
	['coded_gzip', true],
	['rate_limited', false],
	['no_permit', false],
	['session_missing', false],
	['not_checked', false],
])('promises an answer for when the service is back only while it is away: %s', (lastError, isAway) => {
	expect(line('accepted', { lastError }).includes('when the service is back')).toBe(isAway);
});

describe('historyView', () => {
	const page = (answers: readonly Answer[], total: number, offset = 0) => {
		const view = historyView({ ...metadata, offset }, answers, total);
		expectSafeView(view);
		return { texts: textsOf(view.blocks), buttons: buttonsOf(view.blocks as KnownBlock[]) };
	};

	it('says that a session has no answers, or who answered what and when', () => {
		const none = 'Nobody has answered *session 3f9a2c1d* through Handraise yet.';
		expect(page([], 0)).toEqual({ texts: [none, 'Session 3f9a2c1d'], buttons: [] });
		expect(page([answerOf()], 1).texts).toEqual([
			'One answer to *session 3f9a2c1d*, newest first.',
			'<@U0OURS1>',
			'*Hall*\n> The <garden>\n> please',
			'⏳ Sending… ·',
			dateOf(now - 60_000),
			'Session 3f9a2c1d',
		]);
	});

	it('turns the pages of a history', () => {
		const six = Array.from({ length: 6 }, () => answerOf());
		expect(page(six, 20).buttons).toEqual(['Older answers']);
		expect(page(six, 20, 6).buttons).toEqual(['Newer answers', 'Older answers']);
		expect(page(six.slice(0, 2), 20, 18).buttons).toEqual(['Newer answers']);
		expect(page([], 20, 100).texts).toContain('No more answers here.');
	});
});

function buttonsOf(blocks: readonly KnownBlock[]): string[] {
	return blocks.flatMap((block) =>
		block.type === 'actions' ? block.elements.flatMap((one) => (one.type === 'button' ? [one.text.text] : [])) : [],
	);
}
