import { askingSession, DELIVERED, expect, it, openSession, watchingApp } from '../kit.ts';

it('takes nothing from the share of deliveries for confirmation checks', async () => {
	await using app = await watchingApp({ service: { resumeAfterMs: 600_000 } });
	/** The number of requests to the session service that took from this share of the budget. */
	async function requestsOf(priority: string): Promise<number> {
		const text = await fetch(`${app.app.url}/metrics`).then((response) => response.text());
		const lines = text.split('\n').filter((line) => line.startsWith('handraise_service_requests_total{'));
		const own = lines.filter((line) => line.includes(`priority="${priority}"`));
		return own.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
	}

	app.service.sessions.put('share', askingSession(['Name']));
	const modal = await openSession(app, 'share');
	await modal.fill(0, 'Ada');
	await modal.submit();
	await app.until(() => DELIVERED.test(modal.text()));
	// On a busy machine a call of the delivery is repeated.
	const deliveries = await requestsOf('delivery');
	expect(deliveries).toBeGreaterThanOrEqual(2);
	const reads = app.service.log.reads('share').length;
	// The checks come 2, 5, 15 and 60 s after the PUT.
	await app.until(() => app.service.log.reads('share').length >= reads + 2);
	expect(await requestsOf('delivery')).toBe(deliveries);
	await expect.poll(() => requestsOf('background')).toBeGreaterThanOrEqual(2);
});
