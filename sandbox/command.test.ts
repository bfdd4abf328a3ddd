import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { createSandbox } from './sandbox.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** `npm run sandbox` with these arguments. Resolves when it has printed its address. */
async function run(...args: string[]) {
	const child: ChildProcess = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
	cleanups.push(() => child.kill('SIGKILL'));
	let output = '';
	const address = await new Promise<string>((resolve, reject) => {
		for (const stream of [child.stdout, child.stderr]) {
			stream?.on('data', (data: Buffer) => {
				output += data.toString();
				const found = /^Handraise sandbox: (http:\/\/127\.0\.0\.1:\d+)\//m.exec(output);
				if (found) resolve(found[1] ?? '');
			});
		}
		child.once('exit', (code) => reject(new Error(`It ended with ${code}: ${output}`)));
	});
	return { child, address, output: () => output };
}

async function busyPort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	cleanups.push(() => server.close());
	const address = server.address();
	return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A new folder, until the end of the case. */
async function newFolder(): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'handraise-sandbox-'));
	cleanups.push(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

const isAlive = (pid: number) => {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
};

/** The app's process, from the page's stream. */
async function botOf(address: string): Promise<number> {
	return new Promise((resolve, reject) => {
		const socket = new WebSocket(`${address.replace('http', 'ws')}/sandbox/stream?as=ada`);
		socket.addEventListener('message', (event) => {
			const frame = JSON.parse(String(event.data)) as { bot?: { pid: number | null } };
			if (typeof frame.bot?.pid !== 'number') return;
			resolve(frame.bot.pid);
			socket.close();
		});
		socket.addEventListener('error', () => reject(new Error('no stream')));
	});
}

it('prints its address on one line, with a free port when the usual one is busy', async () => {
	const port = await busyPort();
	const { address, output } = await run('--port', String(port));
	expect(address).not.toContain(`:${port}`);
	expect(output()).toBe(`Handraise sandbox: ${address}/  (Ctrl-C stops it)\n`);
	expect(await (await fetch(`${address}/`)).text()).toContain('<div id="root">');
});

it('stops with its app on Ctrl-C', async () => {
	const { child, address } = await run('--port', '0');
	const bot = await botOf(address);
	expect(isAlive(bot)).toBe(true);
	const exit = once(child, 'exit');
	child.kill('SIGINT');
	expect((await exit)[0]).toBe(0);
	expect(isAlive(bot)).toBe(false);
});

it('leaves no app behind when it is killed', async () => {
	const { child, address } = await run('--port', '0');
	const bot = await botOf(address);
	expect(isAlive(bot)).toBe(true);
	child.kill('SIGKILL');
	await expect.poll(() => isAlive(bot), { timeout: 10_000 }).toBe(false);
});

it("prints the app's settings when it runs without the bot", async () => {
	const { output } = await run('--port', '0', '--no-bot');
	await expect.poll(output).toContain('npm run dev');
	for (const name of ['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN', 'SLACK_API_URL', 'SESSION_SERVICE_URL', 'DATA_DIR']) {
		expect(output()).toMatch(new RegExp(`^export ${name}=\\S+$`, 'm'));
	}
});

it('refuses a page of another origin, and one whose name resolves to this machine', async () => {
	const { address } = await run('--port', '0', '--no-bot');
	const body = JSON.stringify({ as: 'ada', do: 'say', channel: 'C0AGENTS', text: 'from elsewhere' });
	const headers = { 'content-type': 'application/json' };
	const post = (extra: Record<string, string>) =>
		fetch(`${address}/sandbox/do/act`, { method: 'POST', body, headers: { ...headers, ...extra } });
	expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
	expect((await post({ 'content-type': 'text/plain' })).status).toBe(415);
	expect((await post({})).status).toBe(200);
	const image = encodeURIComponent('http://127.0.0.1:1/secret');
	expect((await fetch(`${address}/sandbox/image?url=${image}`)).status).toBe(404);
});

it('keeps workspace, sessions and the app’s data from one start to the next, and continues the agents', async () => {
	const keepIn = await newFolder();
	const first = await createSandbox({ keepIn, withBot: false, pace: 0.02 });
	await first.slack.as('ada').say('#agents', 'Remember me');
	first.service.sessions.start('demo');
	await first.service.sessions.until('demo', (json) => json.status === 'humanInput');
	await first.close();

	const second = await createSandbox({ keepIn, withBot: false, pace: 0.02 });
	cleanups.push(() => second.close());
	expect(second.service.url).toBe(first.service.url);
	expect(second.slack.as('grace').messages('#agents').at(-1)?.text()).toBe('Remember me');
	expect(second.service.sessions.answerAsPage('demo', ['TP 570 at 08:40 for 164 €'])).toMatchObject({ ok: true });
	await second.service.sessions.until('demo', (json) => JSON.stringify(json).includes('You chose “TP 570'));
});

it('keeps the moved time from one start to the next, and the app has it', async () => {
	const folder = await newFolder();
	const entry = join(folder, 'main.ts');
	await writeFile(entry, 'setInterval(() => console.log("at", new Date().toISOString()), 50);\n');
	const lines: string[] = [];
	const options = { keepIn: join(folder, 'kept'), entry, onLine: (line: string) => lines.push(line) };
	/** How far the app's newest line is ahead of this machine, in whole hours. */
	const aheadHours = () => Math.round((Date.parse(lines.at(-1)?.slice(3) ?? '') - Date.now()) / 3_600_000);
	const first = await createSandbox(options);
	await expect.poll(aheadHours, { timeout: 10_000 }).toBeCloseTo(0);
	const body = JSON.stringify({ as: 'ada', ms: 26 * 3_600_000 });
	const headers = { 'content-type': 'application/json' };
	const moved = await fetch(`${first.url}/sandbox/do/move-clock`, { method: 'POST', body, headers });
	expect(await moved.json()).toEqual({});
	await expect.poll(aheadHours, { timeout: 10_000 }).toBe(26);
	await first.close();

	lines.splice(0);
	const second = await createSandbox(options);
	cleanups.push(() => second.close());
	await expect.poll(aheadHours, { timeout: 10_000 }).toBe(26);
	const { ts } = await second.slack.as('ada').say('#agents', 'Later');
	expect(Math.round((Number(ts) * 1000 - Date.now()) / 3_600_000)).toBe(26);
});

it('names kept data that it cannot read, and does not delete it', async () => {
	const keepIn = await newFolder();
	await writeFile(join(keepIn, 'workspace.json'), '{"slack":');
	await expect(createSandbox({ keepIn, withBot: false })).rejects.toThrow('Delete the file to start anew');
	expect(await readFile(join(keepIn, 'workspace.json'), 'utf8')).toBe('{"slack":');
});

it('shows the output of an app that ends by itself', async () => {
	const entry = join(await newFolder(), 'main.ts');
	await writeFile(entry, 'console.error("SLACK_BOT_TOKEN is missing"); process.exit(3);\n');
	const lines: string[] = [];
	const sandbox = await createSandbox({ entry, onLine: (line) => lines.push(line) });
	cleanups.push(() => sandbox.close());
	await expect.poll(() => sandbox.bot?.status().status, { timeout: 10_000 }).toBe('ended');
	expect(sandbox.bot?.status().problems).toContain('SLACK_BOT_TOKEN is missing');
	expect(sandbox.bot?.status().ended).toContain('exit code 3');
	expect(lines).toContain('SLACK_BOT_TOKEN is missing');
});
