import type { BenchContext } from './context.ts';
import { createHarness, type Harness, type Transport } from './harness.ts';
import { type Figure, load } from './report.ts';
import { ms, pair, Rounds } from './stats.ts';

const SERVICE_TAKES_MS = 5_000;
const ONE_BY_ONE = 100;
const AT_ONCE = 200;
const GOAL = 1.5;

/** How soon `/session` is acknowledged while the session service takes 5 s. */
export async function measureAcks({ service, directory, rounds: count }: BenchContext): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const transport of ['socket', 'http'] as const) {
		await using handraise = await createHarness({ program: 'handraise', transport, service, directory });
		await using bare = await createHarness({ program: 'bare', transport, service, directory });
		await service.tell({ do: 'slow', ms: SERVICE_TAKES_MS });
		for (const harness of [handraise, bare]) await takeRound(harness, new Rounds(), service);
		const rounds = new Rounds();
		for (let round = 0; round < count; round++) {
			const order = round % 2 === 0 ? [handraise, bare] : [bare, handraise];
			for (const harness of order) await takeRound(harness, rounds, service);
		}
		await service.tell({ do: 'slow', ms: 0 });
		figures.push(figureOf(rounds, transport, 1), figureOf(rounds, transport, AT_ONCE), ranFigure(rounds, transport));
	}
	return figures;
}

/** Every round has new people, each of whom is looked up, and new sessions. */
async function takeRound(harness: Harness, rounds: Rounds, service: BenchContext['service']): Promise<void> {
	const actors = harness.meet(ONE_BY_ONE + AT_ONCE, 'same');
	const ids = actors.map((_, index) => `session${index}`);
	await service.tell({ do: 'clear' });
	await service.tell({ do: 'put', ids });
	const single: number[] = [];
	for (let index = 0; index < ONE_BY_ONE; index++) {
		single.push(...(await harness.command(actors.slice(index, index + 1), ids.slice(index, index + 1))));
		await harness.called('views.open', index + 1);
	}
	const [process] = harness.processes;
	if (process === undefined) throw new Error('No program runs.');
	const ranBefore = await process.ran();
	const together = await harness.command(actors.slice(ONE_BY_ONE), ids.slice(ONE_BY_ONE));
	rounds.add(`${harness.program} ran`, (await process.ran()) - ranBefore);
	await harness.shown(actors.length);
	harness.acknowledged('slash_commands');
	rounds.addSample(`${harness.program} 1`, single);
	rounds.addSample(`${harness.program} ${AT_ONCE}`, together);
}

function figureOf(rounds: Rounds, transport: Transport, atOnce: number): Figure {
	const ratio = rounds.median(`handraise ${atOnce} p99`) / rounds.median(`bare ${atOnce} p99`);
	return {
		what: `Ack of \`/session\`, ${atOnce} at once, ${nameOf(transport)}, service takes 5 s (p50 / p99)`,
		handraise: pair(rounds, `handraise ${atOnce}`),
		reference: `bare app ${pair(rounds, `bare ${atOnce}`)}`,
		goal: `p99 ≤ ${GOAL} × bare: ${ratio.toFixed(2)} ×`,
		met: ratio <= GOAL,
		load: load(),
	};
}

/** CPU time of the program's main thread, which other work on the machine does not affect. */
function ranFigure(rounds: Rounds, transport: Transport): Figure {
	const ratio = rounds.median('handraise ran') / rounds.median('bare ran');
	return {
		what: `Processor time until the last of ${AT_ONCE} acks, ${nameOf(transport)}`,
		handraise: `${ms(rounds.median('handraise ran'))} ms`,
		reference: `bare app ${ms(rounds.median('bare ran'))} ms`,
		goal: `≤ ${GOAL} × bare: ${ratio.toFixed(2)} ×`,
		met: ratio <= GOAL,
		load: load(),
	};
}

function nameOf(transport: Transport): string {
	return transport === 'socket' ? 'Socket Mode' : 'HTTP';
}
