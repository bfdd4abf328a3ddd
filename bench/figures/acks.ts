import type { BenchContext } from './context.ts';
import { createHarness, type Harness } from './harness.ts';
import type { Figure } from './report.ts';
import { interleaved, pair, Rounds } from './stats.ts';

/** Below the 3 s from which the program has two requests under way at a time. */
const SERVICE_TAKES_MS = 2_500;
const ONE_BY_ONE = 100;
const AT_ONCE = 200;
const GOAL = 1.5;

/** How soon `/session` is acknowledged while the session service takes 2.5 s. */
export async function measureAcks({ service, rounds: count }: BenchContext): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const transport of ['socket', 'http'] as const) {
		await using handraise = await createHarness({ program: 'handraise', transport, service });
		await using bare = await createHarness({ program: 'bare', transport, service });
		await service.tell({ do: 'slow', ms: SERVICE_TAKES_MS });
		for (const harness of [handraise, bare]) await takeRound(harness, new Rounds(), service);
		const rounds = new Rounds();
		await interleaved(count, [handraise, bare], (harness) => takeRound(harness, rounds, service));
		await service.tell({ do: 'slow', ms: 0 });
		for (const atOnce of [1, AT_ONCE]) {
			const ratio = rounds.median(`handraise ${atOnce} p99`) / rounds.median(`bare ${atOnce} p99`);
			figures.push({
				what: `Ack of \`/session\`, ${atOnce} at once, ${transport === 'socket' ? 'Socket Mode' : 'HTTP'}, service takes 2.5 s (p50 / p99)`,
				handraise: pair(rounds, `handraise ${atOnce}`),
				reference: `bare app ${pair(rounds, `bare ${atOnce}`)}`,
				goal: `p99 ≤ ${GOAL} × bare: ${ratio.toFixed(2)} ×`,
				met: ratio <= GOAL,
			});
		}
	}
	return figures;
}

/** Every round has new people, each of whom is looked up, and new sessions. */
async function takeRound(harness: Harness, rounds: Rounds, service: BenchContext['service']): Promise<void> {
	const actors = harness.meet(ONE_BY_ONE + AT_ONCE, 'same');
	const ids = actors.map((_, index) => `session${index}`);
	await service.renew(ids);
	const single: number[] = [];
	for (let index = 0; index < ONE_BY_ONE; index++) {
		single.push(...(await harness.command(actors.slice(index, index + 1), ids.slice(index, index + 1))));
		await harness.called('views.open', index + 1);
	}
	const together = await harness.command(actors.slice(ONE_BY_ONE), ids.slice(ONE_BY_ONE));
	await harness.shown(actors.length);
	harness.acknowledged('slash_commands');
	rounds.addSample(`${harness.program} 1`, single);
	rounds.addSample(`${harness.program} ${AT_ONCE}`, together);
}
