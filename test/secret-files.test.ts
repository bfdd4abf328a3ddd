import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseConfig, readSettings } from '../src/config.ts';
import { HandraiseError } from '../src/kernel/errors.ts';
import { afterAll, afterEach, askingSession, beforeAll, describe, expect, it, openSession, startApp } from './kit.ts';

const COMPLETE = {
	SLACK_BOT_TOKEN: 'xoxb-1',
	SLACK_APP_TOKEN: 'xapp-1',
	SESSION_SERVICE_URL: 'https://service.example',
	SESSION_SERVICE_API_KEY: 'key-1',
};

let folder: string;
beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), 'handraise-secrets-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(content: string): Promise<string> {
	const path = join(await mkdtemp(join(folder, 'file-')), 'secret');
	await writeFile(path, content);
	return path;
}

function problems(env: Record<string, string>): readonly string[] {
	try {
		parseConfig(env);
		return [];
	} catch (error) {
		if (error instanceof HandraiseError) return error.message.split('\n');
		throw error;
	}
}

describe('a secret in a file', () => {
	it('is read without the space around it, beside an empty setting, for every secret', async () => {
		const { SLACK_BOT_TOKEN: _, ...others } = COMPLETE;
		const config = parseConfig({
			...others,
			SLACK_BOT_TOKEN: '  ',
			SLACK_BOT_TOKEN_FILE: await fileOf('\n xoxb-2\r\n'),
			DATABASE_URL_FILE: await fileOf('postgres://ada:secret@db.example/handraise'),
			ENCRYPTION_KEY_FILE: await fileOf('a passphrase of words'),
			HTTPS_PROXY_FILE: await fileOf('http://ada:secret@proxy.example:3128\n'),
			https_proxy: '',
		});
		expect(config).toMatchObject({
			SLACK_BOT_TOKEN: 'xoxb-2',
			DATABASE_URL: 'postgres://ada:secret@db.example/handraise',
			ENCRYPTION_KEY: 'a passphrase of words',
			HTTPS_PROXY: 'http://ada:secret@proxy.example:3128',
		});
		const file = { SLACK_APP_TOKEN_FILE: 'a', SLACK_SIGNING_SECRET_FILE: 'b', HTTP_PROXY_FILE: 'c' };
		expect(readSettings({ ...file, SESSION_SERVICE_API_KEY_FILE: 'd', SESSION_SERVICE_URL_FILE: 'e' }).unknown).toEqual(
			['SESSION_SERVICE_URL_FILE'],
		);
	});

	it('is refused in one line each, which holds no content', async () => {
		const { SLACK_APP_TOKEN: _, ...others } = COMPLETE;
		expect(problems({ ...COMPLETE, SLACK_BOT_TOKEN_FILE: await fileOf('xoxb-2') })).toEqual([
			'SLACK_BOT_TOKEN_FILE and SLACK_BOT_TOKEN are both set: remove one of them',
		]);
		expect(problems({ ...COMPLETE, http_proxy: 'http://proxy.example', HTTP_PROXY_FILE: 'x' })).toEqual([
			'HTTP_PROXY_FILE and http_proxy are both set: remove one of them',
		]);
		expect(problems({ ...others, SLACK_APP_TOKEN_FILE: join(folder, 'nowhere') })).toEqual([
			'SLACK_APP_TOKEN_FILE names a file that cannot be read (ENOENT): check its path and who may read it',
		]);
		expect(problems({ ...others, SLACK_APP_TOKEN_FILE: folder })[0]).toContain('(EISDIR)');
		expect(problems({ ...others, SLACK_APP_TOKEN_FILE: await fileOf(' \n') })).toEqual([
			'SLACK_APP_TOKEN_FILE names an empty file: write the value into it',
		]);
		expect(problems({ ...others, SLACK_APP_TOKEN_FILE: '/dev/zero' })).toEqual([
			'SLACK_APP_TOKEN_FILE names a file of more than 64 KiB: it holds something else',
		]);
		expect(problems({ ...others, SLACK_APP_TOKEN_FILE: await fileOf('xoxb-very-secret') })).toEqual([
			'SLACK_APP_TOKEN_FILE names a file whose content is another kind of token, or incomplete: use an app-level token with connections:write, which starts with xapp-',
		]);
	});
});

describe('a file that changes while the program runs', () => {
	let app: Awaited<ReturnType<typeof startApp>>;
	let links: string;
	let count = 0;

	/** As Kubernetes does it: the files are links into a folder that is a link itself, and that one is replaced. */
	async function swap(content: Record<string, string>): Promise<void> {
		const next = join(links, `..${count++}`);
		await mkdir(next);
		for (const [name, text] of Object.entries(content)) await writeFile(join(next, name), text);
		await symlink(next, join(links, '..new'));
		await rename(join(links, '..new'), join(links, '..data'));
	}
	const now = () => ({ token: app.slack.tokens.bot, key: app.service.apiKey });
	const isSaid = (words: string) => app.log.filter((line) => line.includes(words)).length;

	beforeAll(async () => {
		links = await mkdtemp(join(folder, 'links-'));
		for (const name of ['token', 'key']) await symlink(join('..data', name), join(links, name));
		await swap({ token: 'xoxb-fake', key: 'sandbox-key\n' });
		app = await startApp({
			env: {
				SLACK_BOT_TOKEN: '',
				SLACK_BOT_TOKEN_FILE: join(links, 'token'),
				SESSION_SERVICE_API_KEY: '',
				SESSION_SERVICE_API_KEY_FILE: join(links, 'key'),
			},
		});
	});
	afterAll(() => app[Symbol.asyncDispose]());
	afterEach(() => {
		app.slack.faults.clear();
		delete app.service.hooks.onRequest;
		expect(app.slack.violations()).toEqual([]);
	});

	async function answers(): Promise<void> {
		const session = `asking-${count++}`;
		app.service.sessions.put(session, askingSession(['Which colour?']));
		const form = await openSession(app, session);
		await form.fill(0, 'red');
		await form.submit();
		await expect.poll(() => app.service.log.effectivePuts(session).length, { timeout: 10_000 }).toBe(1);
	}

	it('is used from the next request on; nothing of it is said', async () => {
		await swap({ token: 'xoxb-second', key: 'second-key' });
		app.slack.tokens.bot = 'xoxb-second';
		app.service.changeApiKey('second-key');
		await answers();
		expect(isSaid('the file has changed')).toBe(2);
		const said = await app.said();
		for (const secret of ['xoxb-second', 'second-key']) expect(said).not.toContain(secret);
	});

	it('stays in use as it was while it is unusable, and the log says so once', async () => {
		await swap({ token: 'xapp-unusable', key: 'not\u00a0a key' });
		await answers();
		await swap({ token: '"xoxb-quoted"', key: '"quoted-key"' });
		await answers();
		await swap({ token: '', key: '' });
		await answers();
		await swap(now());
		for (const [words, times] of [
			['another kind of token', 1],
			['not allowed in an HTTP header', 1],
			['stands in quotation marks', 2],
			['an empty file', 2],
		] as const)
			expect(isSaid(words)).toBe(times);
		expect(await app.said()).not.toContain('xapp-unusable');
	});

	it('loses no request that the former one fails just then', async () => {
		const third = { token: 'xoxb-third', key: 'third-key' };
		const swapNow = (name: keyof typeof third) => {
			const path = join(links, `now-${name}`);
			writeFileSync(path, third[name]);
			symlinkSync(path, join(links, 'new-link'));
			renameSync(join(links, 'new-link'), join(links, name));
		};
		let isRotated = false;
		app.service.hooks.onRequest = () => {
			if (isRotated) return;
			isRotated = true;
			swapNow('key');
			app.service.changeApiKey(third.key);
		};
		app.slack.faults.add({
			method: 'views.update',
			error: 'token_revoked',
			times: 1,
			when() {
				swapNow('token');
				app.slack.tokens.bot = third.token;
				return true;
			},
		});
		onTestFinished(() => expect(now()).toEqual(third));
		await answers();
		expect(isRotated).toBe(true);
	});
});
