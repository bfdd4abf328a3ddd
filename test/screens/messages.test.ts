import { describe, expect, it } from 'vitest';
import { loadingModal } from '../../src/screens/form.ts';
import { helpMessage, mistypedMessage } from '../../src/screens/help.ts';
import { answerCard, errorMessage, errorModal } from '../../src/slack/error-view.ts';
import { ACTIONS, encodeTarget, newMetadata } from '../../src/slack/ids.ts';
import { expectSafeMessage, expectSafeView } from '../slack/support/check.ts';
import { textsOf } from '../slack/support/questions.ts';

const metadata = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });

describe('help', () => {
	it('has seven lines', () => {
		const help = helpMessage();
		expectSafeMessage(help);
		expect(textsOf(help.blocks)[1]?.split('\n')).toHaveLength(7);
	});

	it.each(['unclear', 'unknown_word', 'unknown_flag', 'missing_id', 'no_history', 'id_too_long', 'all_alone'] as const)(
		'is not shown for a mistyped command, which costs one line: %s',
		(reason) => {
			const message = mistypedMessage(reason, '<!here> `x`', '--no-buttons');
			expectSafeMessage(message);
			const [line = '', ...others] = textsOf(message.blocks);
			expect(others).toEqual([]);
			expect(line).toMatch(/^⚠️ [^\n]+$/);
			expect(line.split(' ').length).toBeLessThanOrEqual(17);
		},
	);
});

describe('answerCard', () => {
	it('leads from an expired trigger to the same session and question', () => {
		const card = answerCard('3f9a2c1d', 7);
		expectSafeMessage(card);
		expect(JSON.stringify(card)).toContain(`"action_id":"${ACTIONS.answer}"`);
		expect(JSON.stringify(card)).toContain(JSON.stringify(encodeTarget({ sessionId: '3f9a2c1d', messageIndex: 7 })));
	});
});

describe('errorModal and errorMessage', () => {
	const context = { kept: 'nothing', adminContact: null } as const;

	it('offers another try where it makes sense', () => {
		const [again, never] = ['unavailable', 'session_not_found'].map((code) => errorModal(code, metadata, context));
		for (const view of [again, never]) if (view !== undefined) expectSafeView(view);
		expect(JSON.stringify(again)).toContain(ACTIONS.reload);
		expect(JSON.stringify(never)).not.toContain(ACTIONS.reload);
	});

	it('says how many sessions an error is about, if there are several', () => {
		const several = errorMessage('unavailable', '<!here>', context, 2);
		expect(textsOf(several.blocks)[1]).toBe('session <!here> and 2 more');
		expect(textsOf(errorMessage('unavailable', '<!here>', context).blocks)).toHaveLength(1);
	});

	it('shows nothing of the session in a refusal', () => {
		const message = errorMessage('guest', '3f9a2c1d', { kept: 'unchanged', adminContact: 'U0OURSADMIN' });
		expectSafeMessage(message);
		expect(JSON.stringify(message)).not.toContain('3f9a2c1d');
		const view = errorModal('guest', metadata, context);
		expectSafeView(view);
		expect(JSON.stringify(view.blocks)).not.toContain('3f9a2c1d');
	});
});

it('fits any session id into a loading view', () => {
	const view = loadingModal({ ...metadata, sessionId: 'x'.repeat(400) });
	expectSafeView(view);
	expect(textsOf(view.blocks)[0]).toBe(`⏳ Looking at session *${'x'.repeat(99)}…*…`);
});

it('unfurls no link', () => {
	expect(helpMessage()).toMatchObject({ unfurl_links: false, unfurl_media: false });
});
