import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createFakeSessionService } from '../../../fake-session-service/fake-session-service.ts';
import { type Clock, createFakeSlack, createManualClock, type FakeSlackOptions } from '../../../fake-slack/index.ts';
import { COMPILE_CACHE } from '../../../sandbox/compile-cache.ts';
import { manifestPath } from '../../../sandbox/manifest-path.ts';
import { runDoctor } from '../../../src/operator/doctor/run.ts';

export type Env = Readonly<Record<string, string>>;
type Json = Record<string, unknown>;

/** The secrets of the set-up. None may ever be printed. */
const SECRETS = {
	botToken: 'xoxb-1-canary-bot',
	appToken: 'xapp-1-A0APP-canary-app',
	signingSecret: '0123456789abcdef0123456789abcdef',
	apiKey: 'canary-key-of-the-service',
	encryptionKey: Buffer.alloc(32, 7).toString('base64'),
};

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const DOCTOR = join(ROOT, 'src/doctor.ts');

export interface Report {
	readonly exit: number;
	readonly lines: readonly string[];
}

/** A set-up in order: Slack (under another host name for a proxy), a session service, a directory. Tests break one part of it. */
export async function createHarness(options: Pick<FakeSlackOptions, 'hostname' | 'workspace'> = {}) {
	const slack = await createFakeSlack({ ...SECRETS, ...options, manifest: manifestPath });
	const service = createFakeSessionService({ apiKey: SECRETS.apiKey });
	await service.start();
	const dataDir = mkdtempSync(join(tmpdir(), 'handraise-doctor-'));
	const closing: (() => Promise<void>)[] = [];

	const env: Env = {
		SLACK_BOT_TOKEN: SECRETS.botToken,
		SLACK_APP_TOKEN: SECRETS.appToken,
		SLACK_API_URL: slack.apiUrl,
		SESSION_SERVICE_URL: service.url,
		SESSION_SERVICE_API_KEY: SECRETS.apiKey,
		DATA_DIR: dataDir,
		PORT: '0',
		ADMIN_CONTACT: 'the platform team',
	};

	/** Throws when `run` prints a secret or changes DATA_DIR. */
	async function checked(changed: Env, run: (all: Env) => Promise<Output>): Promise<Report> {
		const all = { ...env, ...changed };
		const before = traceOf(dataDir);
		const { exit, output } = await run(all);
		const secrets = [...Object.values(SECRETS), ...secretsIn(all)];
		for (const secret of secrets) if (output.includes(secret)) throw new Error(`a secret was printed:\n${output}`);
		if (traceOf(dataDir) !== before) throw new Error(`DATA_DIR was changed:\n${before}\n${traceOf(dataDir)}`);
		return { exit, lines: output.trimEnd().split('\n') };
	}

	/** Starts a proxy for `target` that changes responses. Returns its address. */
	async function inFront(target: string, change: Change): Promise<string> {
		const server = createFront(target, change);
		closing.push(() => closed(server));
		return listening(server);
	}

	return {
		slack,
		service,
		dataDir,
		env,
		secrets: SECRETS,
		/** Runs the command in this process. An empty string unsets a setting. */
		doctor: (changed: Env = {}, args: readonly string[] = [], surroundings: Surroundings = {}) =>
			checked(changed, (all) => inProcess(all, args, surroundings)),
		/** Runs the command as a process. */
		doctorProcess: (changed: Env = {}, start: Start = {}) => checked(changed, (all) => asProcess(all, start)),
		inFront,
		/** Settings for Slack behind such a proxy. */
		slackBehind: async (change: Change): Promise<Env> => ({
			SLACK_API_URL: `${await inFront(slack.origin, change)}/api/`,
		}),
		serviceBehind: async (change: Change): Promise<Env> => ({
			SESSION_SERVICE_URL: await inFront(service.url, change),
		}),
		async [Symbol.asyncDispose]() {
			await Promise.all(closing.map((close) => close()));
			await slack.close();
			await service.stop();
			await rm(dataDir, { recursive: true, force: true });
		},
	};
}

export type Harness = Awaited<ReturnType<typeof createHarness>>;

interface Output {
	readonly exit: number;
	readonly output: string;
}

interface Surroundings {
	/** Without one, pauses of the command end at once. */
	readonly clock?: Clock;
	/** Interrupts the command. */
	readonly signal?: AbortSignal;
	/** Gets each line when it is printed. */
	readonly onLine?: (line: string) => void;
}

const HURRIED: Clock = { ...createManualClock(), sleep: async () => {} };

async function inProcess(env: Env, args: readonly string[], surroundings: Surroundings): Promise<Output> {
	const { clock = HURRIED, signal = new AbortController().signal, onLine } = surroundings;
	let output = '';
	const print = (line: string) => {
		output += `${line}\n`;
		onLine?.(line);
	};
	const exit = await runDoctor({
		args,
		env,
		clock,
		proxy: null,
		signal,
		lines: { log: print, error: print },
	});
	return { exit, output };
}

interface Start {
	readonly args?: readonly string[];
	/** A command that starts the doctor. */
	readonly by?: readonly string[];
	readonly options?: readonly string[];
	/** The project's folder by default. */
	readonly cwd?: string;
}

function asProcess(env: Env, { args = [], by = [], options = [], cwd = ROOT }: Start): Promise<Output> {
	const [file = process.execPath, ...command] = [...by, process.execPath, ...options, DOCTOR, ...args];
	return new Promise((resolve) => {
		const own = { PATH: process.env.PATH ?? '', ...COMPILE_CACHE };
		const child = execFile(file, command, { env: { ...own, ...env }, cwd }, (_error, stdout, stderr) => {
			resolve({ exit: child.exitCode ?? -1, output: stdout + stderr });
		});
	});
}

/** The values of secret settings, and the passwords in addresses. */
function secretsIn(env: Env): string[] {
	const names = [
		'SLACK_BOT_TOKEN',
		'SLACK_APP_TOKEN',
		'SLACK_SIGNING_SECRET',
		'SESSION_SERVICE_API_KEY',
		'ENCRYPTION_KEY',
		'ENCRYPTION_KEY_FORMER',
	];
	const values = names.map((name) => env[name] ?? '');
	const addresses = [env.DATABASE_URL, env.HTTPS_PROXY, env.HTTP_PROXY];
	const passwords = addresses.map((address) => URL.parse(address ?? '')?.password ?? '');
	return [...values, ...passwords].filter((value) => value.length > 5);
}

/** The files of a directory and their contents, except those that SQLite changes for every reader. */
function traceOf(directory: string): string {
	if (!existsSync(directory)) return '';
	return readdirSync(directory)
		.sort()
		.map((name) => `${name} ${name.endsWith('-shm') ? '' : readFileSync(join(directory, name)).toString('base64')}`)
		.join('\n');
}

/** `object` without one of its fields. */
export function omit<T extends object>(object: T, field: string): T {
	return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field)) as T;
}

interface Change {
	readonly headers?: (headers: IncomingHttpHeaders) => IncomingHttpHeaders;
	/** Changes the headers that `target` gets. */
	readonly forwards?: (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
	/** Changes the JSON responses of this Web API method. */
	readonly json?: { readonly of: string; readonly change: (body: Json) => Json };
}

function createFront(target: string, { headers = (same) => same, forwards = (same) => same, json }: Change): Server {
	const server = createServer(async (request, response) => {
		const { authorization = '', 'x-api-key': key = '' } = request.headers;
		const { url = '/', method = 'GET' } = request;
		const sent = await text(request);
		const targetResponse = await fetch(new URL(url, target), {
			method,
			redirect: 'manual',
			headers: forwards({
				authorization,
				'x-api-key': String(key),
				...(sent === '' ? {} : { 'content-type': request.headers['content-type'] ?? '' }),
			}),
			...(sent === '' ? {} : { body: sent }),
		});
		const received = await targetResponse.text();
		const changes = json !== undefined && url.includes(json.of);
		const body = changes ? JSON.stringify(json.change(JSON.parse(received))) : received;
		const {
			'content-length': _,
			'transfer-encoding': __,
			connection: ___,
			...kept
		} = Object.fromEntries(targetResponse.headers);
		response.writeHead(targetResponse.status, headers(kept)).end(body);
	});
	server.keepAliveTimeout = 1;
	return server;
}

export async function listening(server: Server): Promise<string> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function closed(server: Server): Promise<void> {
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
}

/** The address of a port on which nobody listens. */
export async function nobody(): Promise<string> {
	const server = createServer();
	const url = await listening(server);
	await closed(server);
	return url;
}
