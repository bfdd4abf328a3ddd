import { NOTHING_ELSE_ASKS } from '../../src/screens/receipt.ts';
import { DELIVERED, describe, expect, forCase, inboxApp, it } from '../kit.ts';

const NEXT = 'Next question';

describe('the receipt of an answer', () => {
	it('leads to the next question that waits for its author, in the same window, until none waits', async () => {
		const app = await forCase(inboxApp());
		const [first = '', second = '', third = ''] = await app.askedIn('#agents', ['Chairs', 'Tables', 'Lamps']);
		const ada = app.slack.as('ada');
		await ada.command('#agents', `/session ${first}`);
		const form = await ada.waitForModal('Which colour?');
		const answer = async (id: string, value: string) => {
			await app.windowSays('Which colour?');
			await form.fill(0, value);
			await form.submit();
			await app.until(() => app.service.log.effectivePuts(id).length === 1);
			await app.windowSays(DELIVERED);
		};
		await answer(first, 'grey');
		await app.windowSays(NEXT);
		const reads = app.service.log.reads(second).length;
		await form.press(NEXT);
		await app.windowSays('Tables');
		expect(ada.modal()?.id).toBe(form.id);
		expect(app.service.log.reads(second).length - reads).toBeLessThanOrEqual(2);
		// What becomes of the first answer does not replace the form.
		await form.fill(0, 'oak');
		app.service.sessions.setStatus(first, 'active');
		await app.pass(30_000);
		expect(form.text()).toContain('Tables');
		await form.submit();
		await app.until(() => app.service.log.effectivePuts(second).length === 1);
		await app.windowSays(NEXT);
		// Somebody else answers the last one before it is opened.
		app.slack.faults.add({ method: 'views.update', error: 'internal_error' });
		app.service.sessions.answerAsPage(third, ['red']);
		app.service.sessions.setStatus(third, 'active');
		await app.until(() => app.thread(third).some((post) => post.text().includes('Answered in the dashboard')));
		app.slack.faults.clear();
		await form.press(NEXT);
		await app.windowSays(NOTHING_ELSE_ASKS, { without: [NEXT] });
	});
});
