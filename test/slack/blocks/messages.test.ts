import { describe, expect, it } from 'vitest';
import { errorModal } from '../../../src/slack/blocks/error-modal.ts';
import { loadingModal } from '../../../src/slack/blocks/loading-modal.ts';
import { message } from '../../../src/slack/blocks/message.ts';
import { answerCard, errorMessage, helpMessage, refusedMessage } from '../../../src/slack/blocks/messages.ts';
import { questionSummaryBlocks, questionSummaryText } from '../../../src/slack/blocks/question-summary.ts';
import { refusedModal } from '../../../src/slack/blocks/refused-modal.ts';
import { sessionSummaryBlocks, sessionSummaryText } from '../../../src/slack/blocks/session-summary.ts';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { newMetadata } from '../../../src/slack/metadata.ts';
import { expectSafeMessage, expectSafeView } from '../support/check.ts';
import { questionOf, sessionAsking, textsOf } from '../support/questions.ts';

const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const now = Date.parse('2026-11-20T08:40:00Z');

describe('help', () => {
	it.each([
		'asked',
		'unclear',
		'missing_id',
		'too_many_ids',
		'foreign_link',
		'link_without_id',
		'id_too_long',
	] as const)('shows every form of the command and why it is shown: %s', (reason) => {
		const help = helpMessage(reason);
		expectSafeMessage(help);
		const text = textsOf(help.blocks).join('\n');
		for (const word of ['3f9a2c1d', 'watch', 'unwatch', 'list', 'history', 'help']) {
			expect(text).toMatch(new RegExp(`\`/session ${word}`));
		}
		expect(text.startsWith('⚠️')).toBe(reason !== 'asked');
	});
});

describe('the card for a lost trigger', () => {
	it('leads to the same session and question', () => {
		const card = answerCard('3f9a2c1d', 7);
		expectSafeMessage(card);
		expect(JSON.stringify(card)).toContain(`"action_id":"${ACTIONS.answer}"`);
		expect(JSON.stringify(card)).toContain('"value":"7:3f9a2c1d"');
	});
});

describe('errors', () => {
	it('offer another try where it makes sense', () => {
		const context = { kept: 'nothing', adminContact: null } as const;
		const again = errorModal('unavailable', metadata, context);
		expectSafeView(again);
		expect(JSON.stringify(again)).toContain(ACTIONS.reload);
		const never = errorModal('session_not_found', metadata, context);
		expectSafeView(never);
		expect(JSON.stringify(never)).not.toContain(ACTIONS.reload);
	});

	it('name the session where there is one', () => {
		const context = { kept: 'nothing', adminContact: null } as const;
		expect(textsOf(errorMessage('unavailable', '<!here>', context).blocks)[1]).toBe(
			'This was about session *&lt;!here&gt;*.',
		);
		expect(textsOf(errorMessage('unavailable', null, context).blocks)).toHaveLength(1);
		expect(textsOf(errorModal('unavailable', { ...metadata, sessionId: '' }, context).blocks)).toHaveLength(1);
	});
});

describe('refusals', () => {
	it('show nothing of the session', () => {
		expectSafeMessage(refusedMessage('guest', 'U0OURSADMIN'));
		const view = refusedModal('guest', metadata, null);
		expectSafeView(view);
		expect(JSON.stringify(view.blocks)).not.toContain('3f9a2c1d');
	});
});

describe('what stands everywhere', () => {
	it('is a loading view that fits any id', () => {
		const view = loadingModal('x'.repeat(400), metadata);
		expectSafeView(view);
		expect(view.title.text).toHaveLength(24);
	});

	it('is a summary without any link', () => {
		const session = sessionAsking([], {
			name: 'Book [a](https://evil.example) <hall>',
			lastScreenshotUrl: 'https://a.example/x',
		});
		const card = message(sessionSummaryText(session), sessionSummaryBlocks(session, now));
		expectSafeMessage(card);
		expect(card.text).toBe('Book [a](https://evil.example) &lt;hall&gt;: Working');
		expect(JSON.stringify(card)).not.toContain('https://a.example');
		expect(textsOf(sessionSummaryBlocks({ ...session, name: '' }, now))[0]).toBe('Session *3f9a2c1d*');
	});

	it('is a question with the words of the agent and what it wants to know', () => {
		const items = Array.from({ length: 12 }, (_, at) => ({
			title: `T<${at}>`,
			description: at === 0 ? 'one\n& two' : '',
		}));
		const question = { ...questionOf(items), context: 'See [bank](https://evil.example) <!here>' };
		const card = message(questionSummaryText(question), questionSummaryBlocks(question));
		expectSafeMessage(card);
		expect(card.text).toBe('An agent asks: T&lt;0&gt;');
		expect(card.blocks[0]).toEqual({ type: 'markdown', text: 'See bank (https://evil.example) &lt;!here&gt;' });
		const [lines = ''] = textsOf(card.blocks);
		expect(lines).toMatch(/^• \*T&lt;0&gt;\* one &amp; two\n• \*T&lt;1&gt;\*\n[\s\S]*\nand 2 more$/);
		expect(questionSummaryText({ ...question, items: [], openItems: [] })).toContain('An agent asks: See [bank]');
	});

	it('is a question however long its titles are', () => {
		const question = questionOf(
			Array.from({ length: 10 }, () => ({ title: '&'.repeat(500), description: '<'.repeat(500) })),
		);
		expectSafeMessage(message(questionSummaryText(question), questionSummaryBlocks(question)));
	});

	it('is no unfolded link', () => {
		expect(helpMessage()).toMatchObject({ unfurl_links: false, unfurl_media: false });
	});
});
