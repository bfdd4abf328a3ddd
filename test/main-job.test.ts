import { describe, expect, headline, it, startApp } from './kit.ts';

describe.each(['socket', 'http'] as const)('the main job over %s', (transport) => {
	it('shows what the agent asks, takes the answer and tells that the agent went on', async () => {
		await using app = await startApp({ transport });
		const ada = app.slack.as('ada');

		await ada.command('#agents', '/session demo');
		const form = await ada.waitForModal('Which flight should I book?');
		await form.choose('Which flight should I book?', 'LH 1173 at 06:05 for 129 €');
		const outcome = await form.submit();
		expect(outcome.outcome).toBe('updated');

		const receipt = await ada.waitForModal(headline('resumed'));
		expect(receipt.text()).toContain('LH 1173 at 06:05 for 129 €');
		const [put, ...more] = app.service.log.savedPuts('demo');
		expect(more).toEqual([]);
		expect(put?.body).toMatchObject({
			sessionId: 'demo',
			humanInputResponse: [{ value: 'LH 1173 at 06:05 for 129 €' }],
		});
		expect(app.slack.violations()).toEqual([]);
	});
});
