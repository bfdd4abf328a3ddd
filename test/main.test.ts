import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from '../fake-slack/index.ts';
import { COMPILE_CACHE } from '../sandbox/compile-cache.ts';
import { connectionEnv } from '../sandbox/connection-env.ts';
import { manifestPath } from '../sandbox/manifest-path.ts';
import { createFakeSessionService, type FakeSessionService } from '../sandbox/session-service/fake-session-service.ts';

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;

let slack: FakeSlack;
let service: FakeSessionService;
let dataDir: string;
beforeAll(async () => {
	slack = await createFakeSlack({ waitMs: 20_000, manifest: manifestPath });
	service = createFakeSessionService();
	await service.start();
	dataDir = await mkdtemp(join(tmpdir(), 'handraise-main-'));
});
afterAll(async () => {
	await slack.close();
	await service.stop();
	await rm(dataDir, { recursive: true, force: true });
});

const complete = () => ({
	...connectionEnv({ slack, service }),
	DATA_DIR: dataDir,
	PORT: '0',
});

/** Starts the program like `npm start`, with only these settings in its environment. */
function start(env: Record<string, string>) {
	const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, ...env } });
	let stdout = '';
	let stderr = '';
	child.stdout.on('data', (data) => {
		stdout += data;
	});
	child.stderr.on('data', (data) => {
		stderr += data;
	});
	const closed = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
	return {
		child,
		closed,
		/** Resolves when the log contains these words. */
		async says(words: string): Promise<void> {
			while (!stdout.includes(words)) {
				const ended = await Promise.race([once(child.stdout, 'data').then(() => null), closed]);
				if (ended !== null) throw new Error(`It ended without saying "${words}": ${stdout}${stderr}`);
			}
		},
	};
}

describe('the program', () => {
	it('exits with 1 and one line for each missing or invalid setting, without values or a stack', async () => {
		const { code, stdout, stderr } = await start({
			SLACK_BOT_TOKEN: 'xapp-very-secret',
			SESSION_SERVICE_URL: 'ftp://nowhere.secret',
			ALLOWED_USERS: 'ada-secret',
			PORT: 'many-secret',
		}).closed;
		expect(code).toBe(1);
		expect(stdout).toBe('');
		const lines = stderr.trimEnd().split('\n');
		expect(lines.map((line) => line.split(' ')[0])).toEqual([
			'SLACK_BOT_TOKEN',
			'SESSION_SERVICE_URL',
			'SESSION_SERVICE_API_KEY',
			'ALLOWED_USERS',
			'PORT',
			'SLACK_APP_TOKEN',
		]);
		expect(stderr).not.toContain('secret');
		expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
	});

	it.each([
		['the bot token', { SLACK_BOT_TOKEN: 'xoxb-wrong-secret' }, /^Slack refuses SLACK_BOT_TOKEN \(invalid_auth\)/],
		[
			'the app-level token',
			{ SLACK_APP_TOKEN: 'xapp-wrong-secret' },
			/^Slack refuses SLACK_APP_TOKEN \(invalid_auth\)/,
		],
	])('exits with 1 and one line when Slack refuses %s', async (_, env, words) => {
		const { code, stderr } = await start({ ...complete(), ...env }).closed;
		expect(code).toBe(1);
		expect(stderr).toMatch(words);
		expect(stderr.trimEnd().split('\n')).toHaveLength(1);
		expect(stderr).not.toContain('wrong-secret');
	});

	it.each([
		['Slack says so', { team_id: 'E0ACME', is_enterprise_install: true }],
		['Slack names no workspace', {}],
	])('exits with 1 and one line when the app is installed for a whole organisation: %s', async (_, answer) => {
		const self = { user_id: 'U0BOT', bot_id: 'B0BOT', enterprise_id: 'E0ACME', ...answer };
		const mend = slack.faults.add({ method: 'auth.test', answer: self });
		const { code, stderr } = await start(complete()).closed;
		mend();
		expect(code).toBe(1);
		expect(stderr).toMatch(
			/^The app is installed for a whole Enterprise Grid organisation, which is not supported yet: /,
		);
		expect(stderr.trimEnd().split('\n')).toHaveLength(1);
	});

	it('logs unknown settings at the start', async () => {
		const program = start({ ...complete(), SHOW_ANSWER: 'never-secret' });
		await program.says('Handraise is ready');
		program.child.kill('SIGTERM');
		const { stdout } = await program.closed;
		expect(stdout).toContain('"setting":"SHOW_ANSWER"');
		expect(stdout).not.toContain('never-secret');
	});

	it('exits with 1 and one line when its port is in use', async () => {
		const other = createServer();
		await new Promise<void>((resolve) => other.listen(0, () => resolve()));
		const { port } = other.address() as { port: number };
		const { code, stderr } = await start({ ...complete(), PORT: String(port) }).closed;
		other.close();
		expect(code).toBe(1);
		expect(stderr).toContain(String(port));
		expect(stderr.trimEnd().split('\n')).toHaveLength(1);
	});

	it('exits with 1 and one line when another process uses its data, and with 0 on SIGTERM', async () => {
		const first = start(complete());
		await first.says('Handraise is ready');
		await slack.connected(2);

		const second = await start(complete()).closed;
		expect(second.code).toBe(1);
		expect(second.stderr.trimEnd().split('\n')).toHaveLength(1);

		await slack.as('ada').command('#agents', '/session choices');
		await slack.as('ada').waitForModal('Which colour?');
		first.child.kill('SIGTERM');
		const ended = await first.closed;
		expect(ended.code).toBe(0);
		expect(ended.stderr).toBe('');
		expect(ended.stdout).toContain('"msg":"stopped"');
		expect(slack.sockets.count()).toBe(0);
		for (const secret of [slack.tokens.bot, slack.tokens.app, service.apiKey])
			expect(ended.stdout).not.toContain(secret);
	});
});
