import type { KnownBlock } from '@slack/types';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/answers/answer.ts';
import { historyView } from '../../../src/slack/blocks/lists.ts';
import { ownTextMessage, receiptMessage, receiptModal, savedModal } from '../../../src/slack/blocks/receipt.ts';
import { decodeMetadata, newMetadata } from '../../../src/slack/metadata.ts';
import { momentMrkdwn } from '../../../src/slack/words/times.ts';
import { answerOf, item, now } from '../support/answers.ts';
import { expectSafeMessage, expectSafeView } from '../support/check.ts';
import { textsOf } from '../support/questions.ts';

const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const soon = now - 29_999;
const receipt = { names: { displayName: () => 'Ada' }, now, adminContact: 'U0OURSADMIN' };

function show(more: Partial<Answer>) {
	const view = receiptModal(answerOf(more), receipt);
	const message = receiptMessage(answerOf(more), receipt);
	expectSafeView(view);
	expectSafeMessage(message);
	expect(textsOf(message.blocks).slice(0, 2)).toEqual(textsOf(view.blocks).slice(0, 2));
	return { texts: textsOf(view.blocks), buttons: buttonsOf(message.blocks), view, message };
}

describe('a receipt', () => {
	it.each<[what: string, answer: Partial<Answer>, headline: string, explanation: RegExp, buttons: string[]]>([
		['saved', { acceptedAt: soon }, '💾 Your answer is saved. Delivering…', /^You can close this/, []],
		[
			'being sent',
			{ state: 'delivering', acceptedAt: soon },
			'📨 Your answer is saved. Delivering…',
			/^You can close this/,
			[],
		],
		[
			'saved half a minute ago',
			{ acceptedAt: soon - 1 },
			'💾 Your answer is saved. Delivering…',
			/^The session service is slow to respond\. Handraise is still sending your answer\./,
			[],
		],
		[
			'being sent for half a minute',
			{ state: 'delivering', acceptedAt: soon - 1 },
			'📨 Your answer is saved. Delivering…',
			/^The session service is slow to respond\. Handraise is still sending your answer\./,
			[],
		],
		[
			'in trouble',
			{ lastError: 'unavailable', nextAttemptAt: now + 60_000 },
			'💾 Your answer is saved and not delivered yet.',
			/cannot be reached.* Your answer is saved\. It is sent again by itself: <!date/,
			['Give it up'],
		],
		[
			'waiting for its author',
			{ state: 'waiting', lastError: 'unauthorized', attempts: 24 },
			'⚠️ Your answer is saved, but could not be delivered.',
			/does not accept Handraise's key\. It was tried 24 times since <!date.*Try again, or give it up\?$/,
			['Try again', 'Give it up'],
		],
		['delivered', { state: 'delivered' }, '✅ Your answer arrived. Waiting for the agent to go on…', /^\*“Hall”/, []],
		[
			'resumed',
			{ state: 'resumed', aftermath: 'resumed' },
			'✅ Your answer arrived and the agent went on.',
			/^\*“Hall”/,
			[],
		],
		[
			'failed after',
			{ state: 'delivered', aftermath: 'failed' },
			'⚠️ Your answer arrived, then the session failed.',
			/^\*“Hall”/,
			[],
		],
		[
			'stopped after',
			{ state: 'delivered', aftermath: 'stopped' },
			'⚠️ Your answer arrived, then the session was stopped.',
			/^\*“Hall”/,
			[],
		],
		[
			'paused after',
			{ state: 'delivered', aftermath: 'paused' },
			'⚠️ Your answer arrived, then the session was paused.',
			/^\*“Hall”/,
			[],
		],
		[
			'completed after',
			{ state: 'delivered', aftermath: 'completed' },
			'✅ Your answer arrived and the session is complete.',
			/^\*“Hall”/,
			[],
		],
		[
			'not seen',
			{ state: 'delivered', aftermath: 'unseen' },
			'⚠️ Your answer arrived. The agent has not moved yet.',
			/^\*“Hall”/,
			[],
		],
		[
			'overwritten',
			{ state: 'delivered', aftermath: 'overwritten' },
			'⚠️ Your answer arrived, then somebody outside Handraise overwrote it.',
			/^\*“Hall”/,
			['Open the session', 'Post my text to the thread'],
		],
		[
			'too late',
			{ state: 'conflicted' },
			'⚠️ Your answer was not sent: somebody else answered first.',
			/^Nothing was overwritten\. Your text is below\.$/,
			['Open the session', 'Post my text to the thread'],
		],
		[
			'outdated',
			{ state: 'changed' },
			'⚠️ Your answer was not sent: the question has changed.',
			/Your text is below\. It is carried over where it fits\.$/,
			['Answer the new question', 'Post my text to the thread'],
		],
		[
			'refused',
			{ state: 'refused', lastError: 'request_too_large' },
			'⚠️ Your answer could not be delivered: the session service refused it.',
			/\(100 kB\)\. Your text is below\. .*<@U0OURSADMIN> can tell\.$/,
			['Try again', 'Post my text to the thread'],
		],
		[
			'after the end',
			{ state: 'ended' },
			'⚠️ Your answer was not sent: the session is over.',
			/^No agent reads/,
			['Open the session', 'Post my text to the thread'],
		],
		[
			'given up though it was sent once',
			{ state: 'withdrawn', putStartedAt: now - 30_000 },
			'↩️ You gave this answer up. It was sent before and may have arrived.',
			/^\*“Hall”/,
			[],
		],
		[
			'of which nobody knows whether it arrived',
			{ state: 'waiting', putStartedAt: now - 30_000, lastError: 'timed_out', attempts: 3 },
			'⚠️ Your answer is saved. It was sent and may have arrived, but Handraise could not check.',
			/took too long\. It was tried 3 times/,
			['Try again', 'Give it up'],
		],
		[
			'that was sent before the question changed',
			{ state: 'changed', putStartedAt: now - 30_000 },
			'⚠️ The agent has gone on or asks something else. Your answer was sent before and may have arrived.',
			/^Look at the session before you answer again/,
			['Answer the new question', 'Post my text to the thread'],
		],
		[
			'that was sent before the session ended',
			{ state: 'ended', putStartedAt: now - 30_000 },
			'⚠️ The session is over. Your answer was sent before and may have arrived.',
			/^No agent reads/,
			['Open the session', 'Post my text to the thread'],
		],
		[
			'that stands behind another one',
			{ state: 'conflicted', putStartedAt: now - 30_000 },
			'⚠️ The session has a different answer now. Yours was sent and may have arrived first.',
			/^It is not sent again/,
			['Open the session', 'Post my text to the thread'],
		],
		[
			'of which it is not known yet whether it arrived',
			{ state: 'delivering', putStartedAt: now - 30_000, lastError: 'timed_out' },
			'📨 Your answer is saved and was sent. Handraise is checking whether it arrived.',
			/sends your answer again only once it is certain that it did not arrive/,
			[],
		],
		[
			'whose agent could not be started',
			{ state: 'delivered', startFailed: true },
			'⚠️ Your answer arrived, but the session service reported a failure. The agent may not have been started.',
			/^\*Send again\* sends the same answer once more/,
			['Send again'],
		],
		[
			'that is sent again to start the agent',
			{ state: 'delivered', startFailed: true, restartAskedAt: now },
			'⚠️ Your answer arrived, but the session service reported a failure. The agent may not have been started.',
			/^It is sent again now/,
			[],
		],
		['given up', { state: 'withdrawn' }, '↩️ You gave this answer up. Nothing was sent.', /^\*“Hall”/, []],
	])('for an answer %s says so, with what can be done', (_what, answer, headline, explanation, buttons) => {
		const shown = show(answer);
		expect(shown.texts[0]).toBe(`*${headline}*`);
		expect(shown.texts[1]).toMatch(explanation);
		expect(shown.buttons).toEqual(buttons);
		expect(shown.texts).toContain('*“Hall”*\n> The &lt;garden&gt;\n> please');
	});

	it('lists each state with its time', () => {
		const timeline = [
			{ state: 'accepted', at: now - 3000 },
			{ state: 'delivered', at: now - 2000 },
			{ state: 'resumed', at: now - 1000 },
		] as const;
		expect(show({ state: 'resumed', aftermath: 'resumed', timeline }).texts).toContain(
			[
				`💾 Saved · ${momentMrkdwn(now - 3000)}`,
				`✅ Delivered · ${momentMrkdwn(now - 2000)}`,
				`▶️ The agent went on · ${momentMrkdwn(now - 1000)}`,
			].join('\n'),
		);
	});

	it("tells what the other person said, with the items' titles, and hides secrets", () => {
		const person = { teamId: 'T1', userId: 'U0OURS2' };
		const other = { person, values: ['Hall A', null, ''], at: now - 120_000, same: false };
		const items = [item('Hall', 'Hall B'), item('PIN', null, { secret: true, wiped: true }), item('Notes', 'x')];
		const { texts } = show({ state: 'conflicted', content: { kind: 'readable', items, other } });
		expect(texts).toContain(
			'<@U0OURS2> answered 2 min ago:\n“Hall”\n> Hall A\n“PIN”\n> (hidden)\n“Notes”\n> (left empty)',
		);
		expect(texts).toContain('*“PIN”*\n(hidden, and removed from Handraise)');
		expect(texts[1]).toContain('Passwords and codes are not kept: they have to be typed again.');
	});

	it('says when the other person said the very same, and when nobody knows who it was', () => {
		const other = { person: null, values: ['x'], at: null, same: true };
		const items = [item('Hall', 'x')];
		const { texts } = show({ state: 'conflicted', content: { kind: 'readable', items, other } });
		expect(texts).toContain('Somebody outside Slack answered the very same.');
	});

	it('counts what else the other person said', () => {
		const other = { person: null, values: Array.from({ length: 12 }, () => 'x'), at: null, same: false };
		const { texts } = show({ state: 'conflicted', content: { kind: 'readable', items: [item('a', 'b')], other } });
		expect(texts.find((text) => text.startsWith('Somebody'))).toMatch(/> x\nand 2 more$/);
	});

	it('never shows a secret, wiped or not', () => {
		const items = [item('Password', 'hunter2', { secret: true })];
		const { view, texts, buttons } = show({ state: 'ended', content: { kind: 'readable', items, other: null } });
		expect(JSON.stringify(view)).not.toContain('hunter2');
		expect(texts).toContain('*“Password”*\n(hidden)');
		expect(texts[1]).not.toContain('Your text is below');
		expect(buttons).toEqual(['Open the session']);
	});

	it.each([
		['removed', 'The text of this answer was removed after the time it is kept.'],
		['unreadable', 'The text of this answer was stored with another key and cannot be read.'],
	] as const)('says when the text was %s', (kind, words) => {
		const { texts } = show({ state: 'ended', content: { kind } });
		expect(texts).toContain(words);
		expect(texts[1]).toBe('No agent reads answers of this session any more.');
	});

	it('leaves out items that were not theirs, and counts those beyond ten', () => {
		const items = [item('', null), ...Array.from({ length: 13 }, (_, at) => item(`t${at}`, 'x'.repeat(5000)))];
		const { texts, message } = show({ content: { kind: 'readable', items, other: null } });
		expect(texts.filter((text) => text.startsWith('*“t'))).toHaveLength(10);
		expect(texts).toContain('and 3 more answers');
		expect(textsOf(message.blocks).join('').length).toBeLessThan(12_000);
	});

	it('offers no thread where there is none', () => {
		expect(show({ state: 'ended', origin: { channelId: null, threadTs: null } }).buttons).toEqual(['Open the session']);
		expect(show({ state: 'ended', origin: { channelId: 'C1', threadTs: null } }).buttons).toEqual([
			'Open the session',
			'Post my text in the channel',
		]);
	});

	it('remembers which answer it tells of', () => {
		expect(decodeMetadata(show({}).view.private_metadata)?.answerId).toBe('answer-1');
		expectSafeView(savedModal(answerOf({})));
	});

	it('puts a text that was not sent into the thread with its author and what it is', () => {
		const message = ownTextMessage(answerOf({ state: 'ended' }));
		expectSafeMessage(message);
		expect(textsOf(message.blocks)).toEqual([
			'💬 <@U0OURS1> wanted to answer session *3f9a2c1d*. This was not sent to the agent:',
			'*“Hall”*\n> The &lt;garden&gt;\n> please',
		]);
	});
});

describe('a history', () => {
	const page = (answers: readonly Answer[], total: number, offset = 0) => {
		const view = historyView({ metadata: { ...metadata, offset }, answers, total, names: receipt.names });
		expectSafeView(view);
		return { texts: textsOf(view.blocks), buttons: buttonsOf(view.blocks as KnownBlock[]) };
	};

	it('says that there is nothing', () => {
		expect(page([], 0)).toEqual({
			texts: ['Nobody has answered session *3f9a2c1d* through Handraise yet.'],
			buttons: [],
		});
	});

	it('tells who answered what and when', () => {
		expect(page([answerOf()], 1).texts).toEqual([
			'One answer to session *3f9a2c1d*, newest first.',
			'<@U0OURS1>',
			'*“Hall”*\n> The &lt;garden&gt;\n> please',
			`💾 Saved · ${momentMrkdwn(now - 60_000)}`,
		]);
	});

	it('turns pages', () => {
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
