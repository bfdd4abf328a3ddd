import { z } from 'zod';
import { atOnce } from '../src/kernel/lease-loop.ts';
import { readSessionResponse, sourcesIn } from '../src/service/schema.ts';
import { SessionServiceError } from '../src/service/service.ts';
import { readBody } from '../src/service/transport.ts';
import { readOptions } from '../test/support/options.ts';

/**
 * The cost of reading a session, compared with JSON.parse of its body: by the service's schema (zod for the envelope,
 * messages by hand) and by zod alone, and of finding the sources of items' fields. Also the cost of the check that refuses
 * bodies of too many parts. Medians of interleaved runs; `npm run bench -- schema`.
 */

readOptions('npm run bench -- schema', {});
const RUNS = 60;

const decode = (body: Buffer) =>
	readBody({ status: 200, headers: new Map(), body, arrivedAt: 0 }, 'read', (value) => value);

/** 600 messages with `size` characters each: as many unread fields as read ones. */
function body(size: number): string {
	const messages = Array.from({ length: 600 }, (_, n) => ({
		role: n === 0 ? 'user' : 'assistant',
		content: `Step ${n}. ${'The page shows a list of orders. '.repeat(size / 34)}`,
		agent_data: {
			action: [{ click: { index: n } }, { go_to_url: { url: `https://shop${n}.example.org/orders?page=${n}` } }],
			state: { memory: 'm'.repeat(size / 4), evaluation: 'ok', nested: { deep: [1, 2, 3] } },
		},
		...(n % 40 === 0 ? { human_input: [{ title: 'Colour', description: 'Which?', value: 'red' }] } : {}),
	}));
	return JSON.stringify({ session: { sessionId: 'bench', status: 'active', maxSteps: 600, messages } });
}

const text = z
	.unknown()
	.optional()
	.transform((value) => (typeof value === 'string' ? value : ''));
const item = z.object({ title: text, description: text, value: text });
const message = z.object({
	role: text,
	content: text,
	agent_data: z.object({ action: z.array(z.record(z.string(), z.unknown())).nullish() }).nullish(),
	human_input: z.array(item).nullish(),
});
const zodAlone = z.object({
	session: z.object({ sessionId: text, status: text, messages: z.array(message).nullish() }),
});

function median(times: readonly number[]): number {
	return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}

for (const size of [500, 3_400, 10_000]) {
	const json = body(size);
	const times = { parse: [] as number[], schema: [] as number[], sources: [] as number[], zod: [] as number[] };
	const timed = <T>(into: number[], run: () => T): T => {
		const startedAt = performance.now();
		const result = run();
		into.push(performance.now() - startedAt);
		return result;
	};
	for (let run = 0; run < RUNS; run++) {
		const value: unknown = timed(times.parse, () => JSON.parse(json));
		if (timed(times.schema, () => atOnce(readSessionResponse(value, json, 'bench')))?.messages.length !== 600)
			throw new Error('The schema refused the session.');
		timed(times.sources, () => atOnce(sourcesIn(json)));
		if (!timed(times.zod, () => zodAlone.safeParse(value)).success) throw new Error('zod refused');
	}
	const { parse, schema, sources, zod } = Object.fromEntries(
		Object.entries(times).map(([what, all]) => [what, median(all)]),
	) as Record<keyof typeof times, number>;
	console.log(
		`${(json.length / 1e6).toFixed(1)} MB: JSON.parse ${parse.toFixed(2)} ms, ` +
			`schema ${schema.toFixed(2)} ms (${(schema / parse).toFixed(2)}), ` +
			`sources ${sources.toFixed(2)} ms (${(sources / parse).toFixed(2)}), zod alone ${zod.toFixed(2)} ms (${(zod / parse).toFixed(2)})`,
	);
}

/** A session of about `megabytes`: each of its 600 messages holds `piece` in a text, or as JSON in an unread field. */
function filled(megabytes: number, piece: string, where: 'content' | 'state'): string {
	const text = piece.repeat(Math.ceil((megabytes * 1e6) / 600 / piece.length));
	const held = where === 'content' ? `"content":${JSON.stringify(text)}` : `"agent_data":{"state":[${text}0]}`;
	const message = `{"role":"assistant",${held}}`;
	return `{"session":{"sessionId":"bench","status":"active","messages":[${Array(600).fill(message).join(',')}]}}`;
}

const node = '{"tag":"div","attributes":{"class":"row","id":"r17"},"x":12,"y":17,"text":"Order number 17"},';
const code = '<div class="row"><a href="/orders/17" style="color: red">Order "17"</a></div>\n';
const keys = (count: number) =>
	Array.from({ length: count / 100 }, (_, group) => {
		const names = Array.from({ length: 100 }, (__, n) => `"${(group * 100 + n).toString(36)}":1`);
		return `{${names.join(',')}}`;
	}).join(',');
const inSession = (json: string) => `{"session":{"status":"active","messages":[],"state":[${json}]}}`;
const levels = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`;

const bodies: readonly (readonly [string, string])[] = [
	['prose', filled(7.5, 'The page shows a list of orders, with prices: 5, 7. ', 'content')],
	['prose', filled(31, 'The page shows a list of orders, with prices: 5, 7. ', 'content')],
	['prose beyond Latin', filled(7.5, 'Die Übersicht der Aufträge für März: 5 €. ', 'content')],
	['Markdown', filled(7.5, '## Orders\n\n- **Order 17** by "Ada": 12\n- see [x](https://e.example)\n', 'content')],
	['HTML in texts', filled(7.5, code, 'content')],
	['JSON in texts', filled(7.5, node, 'content')],
	['many objects, unread', filled(7.5, node, 'state')],
	['many objects, unread', filled(1.1, node, 'state')],
	['3 million levels, unread', inSession(levels(3_000_000))],
	['3 million levels of messages', `{"session":{"status":"active","messages":[${levels(3_000_000)}]}}`],
	['1 million keys, unread', inSession(keys(1_000_000))],
	['31 MB of [], unread', inSession(`${'[],'.repeat(10_000_000)}0`)],
	['98,000 keys', inSession(keys(98_000))],
];

console.log();
// Let V8 compile it before it is measured.
for (let run = 0; run < 30; run++) await decode(Buffer.from(bodies[0]?.[1] ?? ''));
for (const [what, json] of bodies) {
	const bytes = Buffer.from(json);
	const times = { bare: [] as number[], ours: [] as number[] };
	let isRefused = false;
	const runs = {
		bare: async () => JSON.parse(bytes.toString()) as unknown,
		async ours() {
			try {
				return await decode(bytes);
			} catch (error) {
				if (!(error instanceof SessionServiceError)) throw error;
				isRefused = true;
				return null;
			}
		},
	};
	for (let run = 0; run < (bytes.length > 1e7 ? 21 : 61); run++) {
		for (const kind of run % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)) {
			const startedAt = performance.now();
			await runs[kind]();
			times[kind].push(performance.now() - startedAt);
		}
		if (times.bare.reduce((sum, ms) => sum + ms, 0) > 10_000) break;
	}
	const [bare, ours] = [times.bare, times.ours].map(median) as [number, number];
	console.log(
		`${what}, ${(bytes.length / 1e6).toFixed(1)} MB: JSON.parse ${bare.toFixed(1)} ms, ` +
			`ours ${ours.toFixed(1)} ms (${(ours / bare).toFixed(2)})${isRefused ? ', refused' : ''}`,
	);
}
