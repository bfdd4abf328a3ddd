import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Arena } from './arena.ts';
import { bytes } from './front.ts';
import { type Scenario, unless } from './scenario.ts';

const MB = 1024 * 1024;

function restWith(messages: readonly object[], more = ''): Buffer {
	return Buffer.from(`"status":"active","messages":${JSON.stringify(messages)}${more}}}`);
}
const sessionOf = (id: string, rest: Buffer) => bytes(Buffer.from(`{"session":{"sessionId":"${id}",`), rest);

/** That many strangers open these sessions at once. Returns how many commands were not acknowledged. */
async function openAll(arena: Arena, ids: readonly string[]): Promise<number> {
	const outcomes = await Promise.all(ids.map((id) => arena.stranger().command('#agents', `/session ${id}`)));
	return outcomes.filter(({ ok }) => !ok).length;
}

const notAcknowledged = (count: number) => unless(count === 0, `${count} commands were not acknowledged within 3 s`);

/** 22 people open sessions of 31 MB and keep them open. */
const bigSessions: Scenario = {
	name: 'big-sessions',
	transport: 'socket',
	feltMs: 1_000,
	growthMiB: 400,
	async attack(arena) {
		const text = 'The page shows a list of orders, and I read all of them. ';
		const content = text.repeat(Math.ceil((31 * MB) / 620 / text.length));
		const body = restWith(Array.from({ length: 600 }, () => ({ role: 'assistant', content })));
		const ids = Array.from({ length: 22 }, (_, index) => `big-${index}-x`);
		for (const id of ids) arena.front.hostile.set(id, sessionOf(id, body));
		let failed = 0;
		for (const id of ids) {
			failed += await openAll(arena, [id]);
			await pause(500);
		}
		await pause(5_000);
		return { did: `22 sessions of ${(body.length / MB).toFixed(0)} MB`, broken: notAcknowledged(failed) };
	},
};

/** Sessions with millions of levels, and one deep value beside healthy sessions in the same command. */
const nested: Scenario = {
	name: 'nested',
	transport: 'socket',
	feltMs: 300,
	growthMiB: 300,
	async attack(arena) {
		const { front, slack } = arena;
		const levels = 3_000_000;
		const deepest = `,"unknown":${'['.repeat(levels)}${']'.repeat(levels)}`;
		const task = { role: 'user', content: 'Work.' };
		const nestedIds = Array.from({ length: 6 }, (_, index) => `nested-${index}-x`);
		for (const id of nestedIds) front.hostile.set(id, sessionOf(id, restWith([task], deepest)));
		const value = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
		const message = `{"role":"assistant","content":"Deep.","agent_data":{"action":[${value}]}}`;
		front.hostile.set('deep-x', sessionOf('deep-x', Buffer.from(`"status":"active","messages":[${message}]}}`)));

		let failed = 0;
		for (const id of nestedIds) {
			failed += await openAll(arena, [id]);
			await pause(1_000);
		}
		const healthy = [arena.calmSession(), arena.calmSession()] as const;
		const { ok } = await slack.as('ada').command('#agents', `/session watch ${healthy[0]} deep-x ${healthy[1]}`);
		await pause(5_000);
		const shown = JSON.stringify(slack.state.messages);
		const unwatched = healthy.filter((id) => !shown.includes(id)).length;
		return {
			did: `6 sessions of 3 million levels; a value 20,000 deep watched beside ${healthy.length} healthy sessions`,
			broken: [
				...notAcknowledged(failed + (ok ? 0 : 1)),
				...unless(unwatched === 0, `${unwatched} of 2 healthy sessions of the same command are not watched`),
			],
		};
	},
};

/** A service that redirects people elsewhere, never responds, or never ends its response. */
const service: Scenario = {
	name: 'service',
	transport: 'socket',
	feltMs: 1_000,
	growthMiB: 300,
	env: { SESSION_SERVICE_TIMEOUT_MS: '8000' },
	async attack(arena) {
		const { hostile } = arena.front;
		let strays = 0;
		const elsewhere = createServer((_, response) => {
			strays++;
			response.end('{}');
		}).listen(0, '127.0.0.1');
		await once(elsewhere, 'listening');
		const { port } = elsewhere.address() as AddressInfo;
		const piece = Buffer.alloc(64 * 1024, ' ');
		const kinds = ['redirect', 'hang', 'endless', 'trickle'] as const;
		const ids = kinds.flatMap((kind) => Array.from({ length: 5 }, (_, index) => `${kind}-${index}-x`));
		for (const id of ids) {
			hostile.set(id, (_, response) => {
				if (id.startsWith('redirect')) {
					response.writeHead(302, { location: `http://127.0.0.1:${port}/v1/sessions/x` }).end();
				} else if (id.startsWith('endless')) {
					response.writeHead(200, { 'content-type': 'application/json' });
					const fill = () => {
						while (!response.destroyed && response.write(piece));
					};
					response.on('drain', fill);
					fill();
				} else if (id.startsWith('trickle')) {
					response.writeHead(200, { 'content-type': 'application/json' });
					const dripping = setInterval(() => response.write(' '), 100);
					response.once('close', () => clearInterval(dripping));
				}
			});
		}
		const failed = await openAll(arena, ids);
		await pause(12_000);
		elsewhere.close();
		return {
			did: `5 sessions of each kind: ${kinds.join(', ')}; ${strays} requests went elsewhere`,
			broken: [...notAcknowledged(failed), ...unless(strays === 0, `${strays} requests followed a redirect`)],
		};
	},
};

export const hostileService: readonly Scenario[] = [bigSessions, nested, service];
