import { existsSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { open } from '../store/support.ts';
import { startApp } from '../support/app.ts';
import { closed, createHarness, listening } from './harness.ts';

describe.concurrent('the doctor on a set-up in order', () => {
	const marks = (lines: readonly string[]) => lines.slice(0, -1).map((line) => line[0]);

	it('reports every check in Socket Mode as in order and exits with 0', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await harness.doctor();
		// The directory of the tests may be in memory or in a container.
		const others = lines.filter((line) => !line.startsWith('! DATA_DIR'));
		expect(new Set(marks(others)), lines.join('\n')).toEqual(new Set(['✓']));
		expect(lines.at(-1)).toMatch(/^All is well/);
		expect(exit).toBe(0);
		const checks =
			'Node.js,Settings,Bot token,Scopes,Socket Mode,Access,Port,Session service,Session list,Rate limit,Dashboard,DATA_DIR,Database,Encryption key,Clock';
		expect(lines.slice(0, -1).map((line) => line.slice(2, line.indexOf(':')))).toEqual(checks.split(','));
	});

	it('says in HTTP mode where Slack must send to', async () => {
		await using harness = await createHarness();
		const { exit, lines } = await harness.doctor({
			SLACK_APP_TOKEN: '',
			SLACK_SIGNING_SECRET: harness.secrets.signingSecret,
		});
		expect(lines).toContainEqual(expect.stringMatching(/^✓ HTTP mode: .*https:\/\/<your address>\/slack\/events/));
		expect(lines).not.toContainEqual(expect.stringMatching(/Socket Mode:/));
		expect(exit).toBe(0);
	});

	it('recognises the running Handraise by its port and database and disturbs neither', async () => {
		await using app = await startApp();
		await using harness = await createHarness();
		const port = new URL(app.url).port;
		const { exit, lines } = await harness.doctor({ DATA_DIR: app.dataDir, PORT: port });
		expect(lines).toContain(`✓ Port: Handraise is running on ${port}, and ready.`);
		expect(lines).toContainEqual(
			expect.stringMatching(/^✓ Database: SQLite in use by the running Handraise, which is fine, at schema \d+\.$/),
		);
		expect(lines).toContainEqual(expect.stringMatching(/^✓ Encryption key: .* is the one the database was made with/));
		expect(exit).toBe(0);
		await app.slack.as('ada').command('agents', '/session help');
	});

	it('sends one read and one harmless list to the service and connects no socket', async () => {
		await using harness = await createHarness();
		await harness.doctor();
		expect(harness.service.log.list().map(({ method, path }) => `${method} ${path}`)).toEqual([
			'GET /v1/sessions/handraise-doctor',
			'GET /v1/sessions/query?status=humanInput&source=&page=1&limit=1',
		]);
		expect(harness.slack.sockets.count()).toBe(0);
	});
});

it('says that a port is taken by another program', async () => {
	await using harness = await createHarness();
	const server = createServer((_, response) => response.end('something else'));
	const port = new URL(await listening(server)).port;
	const { exit, lines } = await harness.doctor({ PORT: port });
	await closed(server);
	expect(lines).toContain(`✗ Port: ${port} is taken by another program: stop it, or set PORT to another port.`);
	expect(exit).toBe(1);
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

/** Starts a program as root without the right to ignore file modes. Another user may not be able to read the clone. */
const SETPRIV = '/usr/bin/setpriv';
const PLAIN_ROOT = [SETPRIV, '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all'];

// Only root can change the owner. 65534 is the user nobody.
it.runIf(process.getuid?.() === 0 && existsSync(SETPRIV))('says that another user owns the data', async () => {
	await using harness = await createHarness();
	await (await open({ dataDir: harness.dataDir })).close();
	await chown(harness.dataDir, 65_534, 65_534);
	await chown(join(harness.dataDir, 'handraise.db'), 65_534, 65_534);
	const { exit, lines } = await harness.doctor({}, [], PLAIN_ROOT);
	expect(lines).toContain(
		`✗ DATA_DIR: ${harness.dataDir} cannot be written by this user: change its owner (chown), or set DATA_DIR to another directory.`,
	);
	expect(lines).toContain(
		'✗ Database: DATA_DIR/handraise.db cannot be used: this user may not read it. Change its owner (chown).',
	);
	expect(exit).toBe(1);
});
