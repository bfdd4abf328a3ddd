import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { signedHeaders } from '../../fake-slack/index.ts';
import { connectAll, forged, hangUp, headOf, isOpen, type RawConnection, tally } from './raw-http.ts';
import { type Outcome, type Scenario, unless } from './scenario.ts';

/** The program as the network sees it. */
interface Target {
	readonly url: string;
	readonly signingSecret: string;
}

type Flood = (target: Target) => Promise<Outcome>;

const MB = 1024 * 1024;
const HELD = Buffer.alloc(3.9 * MB, 'x');
const FORM = 'application/x-www-form-urlencoded';
const COMMAND = 'command=%2Fsession&text=help&user_id=U0PERSON1&team_id=T0ACME&channel_id=C0AGENTS';

/** Connections that send 3.9 MB of a body of 4 MB and then nothing; two waves. */
const bodies =
	(count: number, headers: () => Record<string, string>): Flood =>
	async ({ url }) => {
		const statuses: (number | null)[] = [];
		for (let wave = 0; wave < 2; wave++) {
			const connections: RawConnection[] = [];
			for (let group = 0; group < 10; group++) {
				const opened = await connectAll(url, count / 10);
				for (const { socket } of opened) {
					socket.write(headOf({ 'content-length': 4 * MB, ...headers() }));
					socket.write(HELD);
				}
				connections.push(...opened);
				// Over a second or two, like a fast line. Otherwise only the speed of the loopback interface would be measured.
				await pause(200);
			}
			await pause(2_000);
			statuses.push(...connections.map((connection) => connection.status()));
			hangUp(connections);
		}
		return { did: `2 × ${count} connections of 3.9 MB: ${tally(statuses)}`, broken: [] };
	};

/** Bodies that announce too large a size, that grow too large, and that come byte by byte. */
const oversized: Flood = async ({ url }) => {
	const declared = await connectAll(url, 50);
	for (const { socket } of declared) socket.write(headOf({ 'content-length': 1_000 * MB, ...forged() }));
	const others = await connectAll(url, 30);
	const singles = Buffer.from('1\r\nx\r\n'.repeat(200_000));
	const growing = Buffer.concat([Buffer.from(`${(5 * MB).toString(16)}\r\n`), Buffer.alloc(5 * MB)]);
	for (const [index, { socket }] of others.entries()) {
		socket.write(headOf({ 'transfer-encoding': 'chunked', ...forged() }));
		socket.write(index < 20 ? growing : singles);
	}
	await pause(5_000);
	const taken = declared.filter((connection) => connection.status() !== 413).length;
	const all = [...declared, ...others];
	hangUp(all);
	return {
		did: `50 of 1 GB, 20 that grow to 5 MB, 10 of 200,000 single bytes: ${tally(all.map((one) => one.status()))}`,
		broken: unless(taken === 0, `${taken} requests of 1 GB were not refused at once`),
	};
};

/** Requests that never end: half of them stop in the headers, half in the body. */
const slowLoris: Flood = async ({ url }) => {
	const connections = await connectAll(url, 400);
	for (const [index, { socket }] of connections.entries()) {
		const head = headOf({ 'content-length': 1_000, ...forged() });
		socket.write(index % 2 === 0 ? head.slice(0, 60) : head);
	}
	for (let second = 0; second < 13; second++) {
		for (const { socket } of connections) if (socket.writable) socket.write('a');
		await pause(1_000);
	}
	const open = connections.filter(isOpen).length;
	const statuses = tally(connections.map((connection) => connection.status()));
	hangUp(connections);
	return {
		did: `400 connections, a byte a second for 13 s: ${statuses}`,
		broken: unless(open === 0, `${open} of 400 were still open after 13 s`),
	};
};

const idle: Flood = async ({ url }) => {
	const connections: RawConnection[] = [];
	for (let wave = 0; wave < 20; wave++) {
		connections.push(...(await connectAll(url, 250)));
		await pause(100);
	}
	await pause(3_000);
	const open = connections.filter(isOpen).length;
	hangUp(connections);
	return { did: `5,000 idle connections: ${open} were kept`, broken: unless(open <= 2_000, `${open} were kept`) };
};

async function post(url: string, body: string, headers: Record<string, string>): Promise<number | null> {
	const request = { method: 'POST', body, headers, signal: AbortSignal.timeout(2_000) };
	return fetch(`${url}/slack/events`, request).then(
		async (response) => {
			await response.arrayBuffer();
			return response.status;
		},
		() => null,
	);
}

/** Replayed requests of Slack and requests signed for a later time; forged and unsigned ones. */
const stamps: Flood = async ({ url, signingSecret }) => {
	const statuses: (number | null)[] = [];
	const end = performance.now() + 3_000;
	while (performance.now() < end) {
		const kept = [-86_400_000, -302_000, 302_000, 86_400_000].map((ms) =>
			signedHeaders(signingSecret, COMMAND, Date.now() + ms),
		);
		const all = [...kept, forged(), {}];
		const posts = all.map((headers) => post(url, COMMAND, { 'content-type': FORM, ...headers }));
		statuses.push(...(await Promise.all(posts)));
	}
	const others = statuses.filter((status) => status !== 401).length;
	return {
		did: `${statuses.length} requests: ${tally(statuses)}`,
		broken: unless(others === 0, `${others} were not answered with 401`),
	};
};

/** Bodies that are signed correctly and are no request of Slack. */
const nulls: Flood = async ({ url, signingSecret }) => {
	const statuses: (number | null)[] = [];
	for (let round = 0; round < 50; round++) {
		for (const [body, type] of [
			['null', 'application/json'],
			['[]', 'application/json'],
			['{"type":', 'application/json'],
			['payload=null', FORM],
			['payload=%7B', FORM],
			['{}', 'text/plain'],
		] as const) {
			const signature = signedHeaders(signingSecret, body, Date.now());
			const status = await post(url, body, { 'content-type': type, ...signature });
			statuses.push(status);
		}
		// Nobody responds to them, so there is no need to wait for all.
		if (statuses.filter((status) => status === null).length > 5) break;
	}
	const others = statuses.filter((status) => status !== 400).length;
	return {
		did: `${statuses.length} signed bodies that are no request: ${tally(statuses)}`,
		broken: unless(others === 0, `${others} were not answered with 400 within 2 s`),
	};
};

/** Each with how much resident memory may grow, in MiB: 16 MB of bodies may arrive at once, and stay until garbage collection. */
const FLOODS: Readonly<Record<string, readonly [flood: Flood, growthMiB: number]>> = {
	bodies: [bodies(250, () => ({})), 150],
	// Fewer, because they are read: the buffers of both ends are in one kernel.
	'forged-bodies': [bodies(60, forged), 150],
	oversized: [oversized, 250],
	'slow-loris': [slowLoris, 100],
	idle: [idle, 150],
	stamps: [stamps, 100],
	'signed-null': [nulls, 100],
};

export const httpFloods: readonly Scenario[] = Object.entries(FLOODS).map(([name, [, growthMiB]]) => ({
	name,
	transport: 'http',
	feltMs: 1_000,
	growthMiB,
	async attack({ program, slack }) {
		const target: Target = { url: program.url, signingSecret: slack.tokens.signingSecret };
		const attacker = new Worker(new URL(import.meta.url), { workerData: { name, target } });
		const [outcome] = (await once(attacker, 'message')) as [Outcome];
		await attacker.terminate();
		return outcome;
	},
}));

// The flood runs in its own thread, so that it does not slow the fake Slack down.
if (!isMainThread) {
	const { name, target } = workerData as { readonly name: string; readonly target: Target };
	parentPort?.postMessage(await FLOODS[name]?.[0](target));
}
