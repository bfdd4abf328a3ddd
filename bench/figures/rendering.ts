import { atOnce } from '../../src/kernel/lease-loop.ts';
import { sessionModal } from '../../src/screens/form.ts';
import { readSessionResponse } from '../../src/service/schema.ts';
import { buildSessionModel } from '../../test/support/session-model.ts';
import type { BenchContext } from './context.ts';
import { type Figure, load } from './report.ts';
import { longSessionBody } from './sessions.ts';
import { ms, Rounds } from './stats.ts';

/** Length in characters of the text of each of the 600 messages. */
const SIZES = [3_400, 10_000];
const RUNS = 30;

/** The cost of showing a session of 600 messages, compared with JSON.parse of its body. */
export async function measureRendering({ rounds: count }: BenchContext): Promise<Figure[]> {
	return SIZES.map((size) => {
		const body = Buffer.from(longSessionBody(size));
		const text = body.toString('utf8');
		const rounds = new Rounds();
		for (let round = 0; round <= count; round++) {
			const times = { parse: [] as number[], render: [] as number[], all: [] as number[] };
			for (let run = 0; run < RUNS; run++) {
				const value = timed(times.parse, () => JSON.parse(text) as unknown);
				timed(times.render, () => render(value));
				timed(times.all, () => render(JSON.parse(body.toString('utf8'))));
			}
			// The first round warms up.
			if (round === 0) continue;
			for (const [name, sample] of Object.entries(times)) rounds.addSample(name, sample);
		}
		const [parse, rendering, all] = ['parse', 'render', 'all'].map((name) => rounds.median(`${name} p50`)) as [
			number,
			number,
			number,
		];
		return {
			what: `Rendering a session of 600 messages, ${(body.length / 1e6).toFixed(1)} MB: schema, question, modal (p50)`,
			handraise: `${ms(rendering)} ms; with decoding and parsing ${ms(all)} ms (${(all / parse).toFixed(2)} × JSON.parse)`,
			reference: `JSON.parse of its body ${ms(parse)} ms`,
			goal: `≤ 1 × JSON.parse: ${(rendering / parse).toFixed(2)} ×`,
			met: rendering <= parse,
			load: load(),
		};
	});
}

/** From the parsed body to the serialised view for Slack. */
function render(value: unknown): string {
	const session = atOnce(readSessionResponse(value, '', '3f9a2c1d'));
	const model = session === null ? null : buildSessionModel(session, Date.now());
	if (model === null || model.question === null) throw new Error('The session has no open question.');
	return JSON.stringify(sessionModal(model));
}

function timed<T>(into: number[], run: () => T): T {
	const start = performance.now();
	const result = run();
	into.push(performance.now() - start);
	return result;
}
