import { type App, DELIVERED, describe, expect, openSession, startApp, withApp } from '../kit.ts';

const get = async (app: App, path: string) => {
	const answer = await fetch(`${app.url}${path}`);
	return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};

describe.each(['socket', 'http'] as const)('an operator sees over %s', (transport) => {
	const it = withApp(() => startApp({ transport }));
	it.beforeEach(async ({ app }) => {
		const modal = await openSession(app, 'code');
		await modal.fill(0, '141421');
		await modal.submit();
		await app.slack.as('ada').waitForModal(DELIVERED);
	});

	it('reports that the process runs and is ready, and exposes metrics without an id or a text', async ({ app }) => {
		expect(await get(app, '/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
		expect(await get(app, '/readyz')).toMatchObject({ status: 200, text: 'ready\n' });
		expect((await get(app, '/admin')).status).toBe(404);
		expect((await fetch(`${app.url}/metrics`, { method: 'POST' })).status).toBe(404);
		// The files are cleaned up after the receipt.
		await expect
			.poll(async () => (await get(app, '/metrics')).text)
			.toMatch(/^handraise_wipe_checkpoints_total\{outcome="done"\} [1-9]/m);
		const { status, type, text } = await get(app, '/metrics');
		expect(status).toBe(200);
		expect(type).toContain('text/plain');
		for (const line of [
			/^handraise_answers\{state="(delivered|resumed)"\} 1$/m,
			/^handraise_answers\{state="accepted"\} 0$/m,
			/^handraise_oldest_undelivered_answer_age_seconds\{state="accepted"\} 0$/m,
			/^handraise_database_up 1$/m,
			/^handraise_slack_connected 1$/m,
			/^handraise_submissions_total\{outcome="accepted"\} 1$/m,
			/^handraise_delivery_attempts_total\{outcome="delivered"\} 1$/m,
			/^handraise_delivery_seconds_count 1$/m,
			/^handraise_read_to_put_seconds_count 1$/m,
			/^handraise_ack_seconds_count [1-9]/m,
			/^handraise_service_requests_total\{priority="person",outcome="ok"\} [1-9]/m,
			/^handraise_slack_calls_total\{method="views.open",outcome="answered"\} [1-9]/m,
			/^process_resident_memory_bytes/m,
		]) {
			expect(text).toMatch(line);
		}
		expect(text).not.toMatch(/U0ADA|T0ACME|C0AGENTS|141421|One-time|session="|user="/);
	});

	it('logs one line for each request of a person, with its own id and no secret', async ({ app }) => {
		await expect.poll(() => app.log.join('')).toContain('"what":"submit handraise.session"');
		const lines = app.log.map((line) => JSON.parse(line) as Record<string, unknown>);
		const handled = lines.filter((line) => line.msg === 'handled');
		expect(handled.length).toBeGreaterThanOrEqual(2);
		const ids = handled.map((line) => line.request);
		expect(new Set(ids).size).toBe(ids.length);
		expect(handled.map((line) => line.what)).toEqual(expect.arrayContaining(['/session', 'submit handraise.session']));
		for (const line of handled) expect(line).toMatchObject({ user: 'U0ADA', team: 'T0ACME', ms: expect.any(Number) });
		const log = app.log.join('\n');
		for (const secret of [...Object.values(app.slack.tokens), app.service.apiKey, '141421']) {
			expect(log).not.toContain(secret);
		}
		expect(lines.filter((line) => line.level === 'error' || line.level === 'warn')).toEqual([]);
	});
});
