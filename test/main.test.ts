import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../src/main.ts';
import { runHere, startCommand } from './support/commands.ts';
import { startProgram as start } from './support/program.ts';
import { refusedStart } from './support/refused-start.ts';
import { skipUnless } from './support/skip-unless.ts';
import { createWorld, type World } from './support/world.ts';

const CHECK_NODE = new URL('../src/check-node.js', import.meta.url).pathname;
const PACKAGE = new URL('../package.json', import.meta.url).pathname;
/** Where a Node.js of the machine's own may be; the tests run with the one of the package `node`. */
const OWN_NODE_FOLDER = '/usr/bin';

let world: World;
let slack: World['slack'];
beforeAll(async () => {
	world = await createWorld();
	({ slack } = world);
});
afterAll(() => world[Symbol.asyncDispose]());

const complete = () => ({ ...world.env });

const refusal = (env: Record<string, string>) => refusedStart({ ...complete(), ...env });

describe('the program', () => {
	it('exits with 1 and one line for each missing or invalid setting, without values or a stack', async () => {
		const { code, stdout, stderr } = await runHere(main, [], {
			SLACK_BOT_TOKEN: 'xapp-very-secret',
			SESSION_SERVICE_URL: 'ftp://nowhere.secret',
			HTTPS_PROXY: 'user:secret@proxy',
			ALLOWED_USERS: 'ada-secret',
			PORT: 'many-secret',
		});
		expect(code).toBe(1);
		expect(stdout).toBe('');
		const lines = stderr.trimEnd().split('\n');
		expect(lines.map((line) => line.split(' ')[0])).toEqual([
			'SLACK_BOT_TOKEN',
			'SESSION_SERVICE_URL',
			'SESSION_SERVICE_API_KEY',
			'HTTPS_PROXY',
			'ALLOWED_USERS',
			'PORT',
			'SLACK_APP_TOKEN',
		]);
		expect(stderr).not.toContain('secret');
		expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
	});

	it('exits with 1 and one line for a .env with a byte-order mark, as doctor does', async () => {
		const folder = await mkdtemp(join(tmpdir(), 'handraise-env-'));
		await writeFile(join(folder, '.env'), '\uFEFFALLOWED_USERS=U0ADA\n');
		const line = '.env begins with a byte-order mark, so its first line is not read: save it as UTF-8 without BOM';
		const options = { cwd: folder, nodeOptions: ['--env-file-if-exists=.env'] };
		// Slack of this process answers the doctor meanwhile.
		expect(await start(complete(), undefined, options).closed).toEqual({ code: 1, stdout: '', stderr: `${line}\n` });
		const doctor = await startCommand('doctor', [], complete(), options).closed;
		expect(doctor.stdout + doctor.stderr).toContain(line);
		await rm(folder, { recursive: true });
	});

	it('exits with 1 and one line when Slack refuses the bot token', async () => {
		const { code, stderr } = await start({ ...complete(), SLACK_BOT_TOKEN: 'xoxb-wrong-secret' }).closed;
		expect(code).toBe(1);
		expect(stderr).toMatch(/^Slack refuses SLACK_BOT_TOKEN \(invalid_auth\)/);
		expect(stderr.trimEnd().split('\n')).toHaveLength(1);
		expect(stderr).not.toContain('wrong-secret');
	});

	it('does not start, and says so in one line, when Slack refuses the app-level token', async () => {
		const line = await refusal({ SLACK_APP_TOKEN: 'xapp-wrong-secret' });
		expect(line).toMatch(/^Slack refuses SLACK_APP_TOKEN \(invalid_auth\)/);
		expect(line).not.toContain('wrong-secret');
	});

	it.each([
		['Slack says so', { team_id: 'E0ACME', is_enterprise_install: true }],
		['Slack names no workspace', {}],
	])(
		'does not start, and says so in one line, when the app is installed for a whole organisation: %s',
		async (_, answer) => {
			const self = { user_id: 'U0BOT', bot_id: 'B0BOT', enterprise_id: 'E0ACME', ...answer };
			const mend = slack.faults.add({ method: 'auth.test', answer: self });
			const line = await refusal({});
			mend();
			expect(line).toMatch(
				/^The app is installed for a whole Enterprise Grid organisation, which is not supported yet: /,
			);
		},
	);

	it('does not start, and says so in one line, when its port is in use', async () => {
		const other = createServer();
		await new Promise<void>((resolve) => other.listen(0, () => resolve()));
		const { port } = other.address() as { port: number };
		const line = await refusal({ PORT: String(port) });
		other.close();
		expect(line).toContain(String(port));
	});
});

describe('HOST', () => {
	/** A program that listens at this address alone, and fetches from it. */
	async function listening(host: string) {
		const program = start({ ...complete(), DATA_DIR: join(world.dataDir, host), HOST: host });
		await program.says('Handraise is ready');
		const port = Number(/"port":(\d+)/.exec(program.output())?.[1]);
		const get = (path: string, at = host, timeoutMs = 30_000) =>
			fetch(`http://${at}:${port}/${path}`, { signal: AbortSignal.timeout(timeoutMs) }).then(
				({ status }) => status,
				(error: Error) => error.name,
			);
		return { ...program, port, get };
	}

	it('is the only address where the program listens, which ends on SIGTERM though nobody reads its output', async () => {
		const { child, closed, get } = await listening('127.0.0.2');
		expect([await get('healthz'), await get('healthz', '127.0.0.1')]).toEqual([200, 'TypeError']);
		child.stdout.destroy();
		child.kill('SIGTERM');
		expect((await closed).code).toBe(0);
	});

	it('still takes connections while the program is frozen, so only a request with a time-out shows that', async () => {
		const { child, closed, port, get } = await listening('127.0.0.1');
		const probes = () => Promise.all(['healthz', 'readyz'].map((path) => get(path, '127.0.0.1', 1_000)));
		child.kill('SIGSTOP');
		const socket = connect(port, '127.0.0.1');
		await once(socket, 'connect');
		socket.destroy();
		expect(await probes()).toEqual(['TimeoutError', 'TimeoutError']);
		child.kill('SIGCONT');
		await expect.poll(probes).toEqual([200, 200]);
		child.kill('SIGTERM');
		await closed;
	});

	it.each(['192.0.2.1', 'nowhere.invalid'])('that is not of this machine is named: %s', async (host) => {
		expect(await refusal({ HOST: host })).toContain(`HOST ${host} cannot be used`);
	});
});

describe('a running program', () => {
	let first: ReturnType<typeof start>;
	beforeAll(async () => {
		first = start({ ...complete(), SHOW_ANSWER: 'never-secret' });
		await first.says('Handraise is ready');
		await slack.connected(2);
	});
	afterAll(() => {
		first.child.kill('SIGKILL');
	});

	it('logs unknown settings at the start', async () => {
		await first.says('"setting":"SHOW_ANSWER"');
	});

	it('lets no other process use its data: that one exits with 1 and one line', async () => {
		const second = await start(complete()).closed;
		expect(second.code).toBe(1);
		expect(second.stderr.trimEnd().split('\n')).toHaveLength(1);
	});

	it('ends when npm alone gets SIGTERM, and leaves no process', async () => {
		const program = start({ ...complete(), HOME: world.dataDir, DATA_DIR: join(world.dataDir, 'npm') }, undefined, {
			byNpm: true,
		});
		try {
			await program.says('Handraise is ready');
			program.child.kill('SIGTERM');
			// Its output ends with its last process.
			expect((await program.closed).stdout).toContain('"stopped"');
		} finally {
			try {
				process.kill(-(program.child.pid ?? 0), 'SIGKILL');
			} catch {
				// All have ended.
			}
		}
	});

	it('exits with 0 on SIGTERM, with a modal open, and has logged no secret', async () => {
		await slack.as('ada').command('#agents', '/session choices');
		await slack.as('ada').waitForModal('Which colour?');
		first.child.kill('SIGTERM');
		const ended = await first.closed;
		expect(ended.code).toBe(0);
		expect(ended.stderr).toBe('');
		expect(ended.stdout).toContain('"msg":"stopped"');
		expect(slack.sockets.count()).toBe(0);
		for (const secret of [slack.tokens.bot, slack.tokens.app, world.service.apiKey, 'never-secret'])
			expect(ended.stdout).not.toContain(secret);
	});
});

describe('on an old Node.js', () => {
	const { scripts, engines } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as {
		scripts: Record<string, string>;
		engines: { node: string };
	};
	const oldest = engines.node.replace('>=', '');
	const check = (version: string) => spawnSync(process.execPath, [CHECK_NODE, version], { encoding: 'utf8' });
	const saysWhichIsNeeded = (version: string) =>
		new RegExp(`^This is Node.js ${version}; Handraise needs ${oldest} or newer: .*\\n$`);

	it.each(['18.20.8', '20.20.2', '23.11.1'])('the check ends with 1 and one line on %s', (version) => {
		const { status, stdout, stderr } = check(version);
		expect([status, stdout]).toEqual([1, '']);
		expect(stderr).toMatch(saysWhichIsNeeded(version));
	});

	it.each(['24.0.0', '100.0.0'])('the check says nothing on %s', (version) => {
		expect(check(version)).toMatchObject({ status: 0, stdout: '', stderr: '' });
	});

	const ofOperators = ['start', 'dev', 'doctor', 'migrate', 'backup', 'restore', 'person'];
	it.each(ofOperators)('npm run %s checks it first', (script) => {
		expect(scripts[script]).toMatch(/^node src\/check-node\.js && /);
	});

	it(
		`npm start says it with the Node.js in ${OWN_NODE_FOLDER}`,
		skipUnless(ownNodeMajor() < Number(oldest), 'that Node.js is not too old'),
		async () => {
			// Not in the project, where npm finds the package `node` first.
			const folder = await mkdtemp(join(tmpdir(), 'handraise-old-node-'));
			await cp(PACKAGE, join(folder, 'package.json'));
			await cp(CHECK_NODE, join(folder, 'src/check-node.js'));
			const { status, stdout, stderr } = spawnSync('npm', ['start', '--silent'], {
				cwd: folder,
				encoding: 'utf8',
				env: { PATH: OWN_NODE_FOLDER, HOME: folder },
			});
			await rm(folder, { recursive: true });
			expect([status, stdout]).toEqual([1, '']);
			expect(stderr).toMatch(saysWhichIsNeeded('[\\d.]+'));
		},
	);
});

/** Infinity without a Node.js of the machine's own. */
function ownNodeMajor(): number {
	try {
		return Number.parseInt(execFileSync(join(OWN_NODE_FOLDER, 'node'), ['-p', 'process.versions.node']).toString(), 10);
	} catch {
		return Number.POSITIVE_INFINITY;
	}
}
