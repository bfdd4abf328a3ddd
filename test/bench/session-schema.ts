/**
 * What reading a session costs beside JSON.parse of its body: by the service's schema (zod for the envelope, messages
 * by hand) and by zod alone. Medians of interleaved runs; `npm exec node -- test/bench/session-schema.ts`.
 */
import { z } from 'zod';
import { readSessionAnswer } from '../../src/session-service/schema.ts';

const RUNS = 60;

/** 600 messages of about `size` characters each, with the fields that are read and as many that are not. */
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
	const times = { parse: [] as number[], schema: [] as number[], zod: [] as number[] };
	const timed = <T>(into: number[], run: () => T): T => {
		const startedAt = performance.now();
		const result = run();
		into.push(performance.now() - startedAt);
		return result;
	};
	for (let run = 0; run < RUNS; run++) {
		const value: unknown = timed(times.parse, () => JSON.parse(json));
		if (timed(times.schema, () => readSessionAnswer(value, 'bench'))?.messages.length !== 600)
			throw new Error('unread');
		if (!timed(times.zod, () => zodAlone.safeParse(value)).success) throw new Error('zod refused');
	}
	const [parse, schema, zod] = [times.parse, times.schema, times.zod].map(median) as [number, number, number];
	console.log(
		`${(json.length / 1e6).toFixed(1)} MB: JSON.parse ${parse.toFixed(2)} ms, ` +
			`schema ${schema.toFixed(2)} ms (${(schema / parse).toFixed(2)}), zod alone ${zod.toFixed(2)} ms (${(zod / parse).toFixed(2)})`,
	);
}
