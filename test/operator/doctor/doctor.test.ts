import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closed, createHarness, listening } from './harness.ts';

describe('the doctor on a set-up in order', () => {
	const marks = (lines: readonly string[]) => lines.slice(0, -1).map((line) => line[0]);

	it('reports every check in Socket Mode as in order, and sends one read and one harmless list to the service', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await harness.doctor();
		expect(new Set(marks(lines)), lines.join('\n')).toEqual(new Set(['✓']));
		expect(lines.at(-1)).toMatch(/^All is well/);
		expect(exit).toBe(0);
		const checks =
			'Handraise,Node.js,Settings,Bot token,Scopes,Socket Mode,Access,Session service,Service address,Session list,Rate limit,Dashboard,DATA_DIR,Database,Encryption key';
		expect(lines.slice(0, -1).map((line) => line.slice(2, line.indexOf(':')))).toEqual(checks.split(','));
		expect(harness.service.log.list().map(({ method, path }) => `${method} ${path}`)).toEqual([
			'GET /v1/sessions/handraise-doctor',
			'GET /v1/sessions/query?status=humanInput&source=&page=1&limit=1',
		]);
		expect(harness.slack.sockets.count()).toBe(0);
	});

	it('says in HTTP mode where Slack must send to', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await harness.doctor({
			SLACK_APP_TOKEN: '',
			SLACK_SIGNING_SECRET: harness.secrets.signingSecret,
		});
		expect(lines).toContainEqual(expect.stringMatching(/^- HTTP mode: .*https:\/\/<your address>\/slack\/events/));
		expect(lines).not.toContainEqual(expect.stringMatching(/Socket Mode:/));
		expect(exit).toBe(0);
	});
});

it('reads only the beginning of a response that does not end', async () => {
	await using harness = await createHarness();
	const server = createServer((_, response) => response.write(`{"session":"${'x'.repeat(11_000_000)}`));
	const { lines } = await harness.doctor({
		SESSION_SERVICE_URL: await listening(server),
		// 10 MB have to arrive within it on a busy machine.
		SESSION_SERVICE_TIMEOUT_MS: '5000',
	});
	await closed(server);
	expect(lines).toContainEqual(expect.stringMatching(/^✓ Session service: .* accepts the key/));
});

it('checks everything else when settings are wrong', async () => {
	await using harness = await createHarness();
	const { lines } = await harness.doctor({ SESSION_SERVICE_URL: '', DATA_DIR: harness.dataDir, SLACK_BOT_TOKEN: '' });
	expect(lines).toContain('- Session service: not checked, because SESSION_SERVICE_URL is not usable.');
	expect(lines).toContain('- Bot token: not checked, because SLACK_BOT_TOKEN is not usable.');
	expect(lines).toContainEqual(expect.stringMatching(/^✓ Socket Mode:/));
	expect(lines).toContainEqual(expect.stringMatching(/^✓ Database:/));
	expect(lines.at(-1)).toMatch(/^2 problems to fix/);
});
