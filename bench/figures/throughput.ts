import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { openForms, submitAll } from './forms.ts';
import { createHarness, type Harness } from './harness.ts';
import { preciseClock } from './precise-clock.ts';
import type { Figure } from './report.ts';
import { interleaved, ms, Rounds } from './stats.ts';

const SERVICE_TAKES_MS = 200;
const ANSWERS = 400;
const AT_ONCE = 50;

/** Answers delivered per second from a queue, with one and two replicas on PostgreSQL. */
export async function measureThroughput(context: BenchContext): Promise<Figure[]> {
	const { service, rounds: count } = context;
	const server = await context.postgres();
	const common = { program: 'handraise', transport: 'socket', service } as const;
	await using one = await createHarness({ ...common, databaseUrl: await server.createDatabase() });
	await using two = await createHarness({ ...common, databaseUrl: await server.createDatabase(), replicas: 2 });
	const rounds = new Rounds();
	await interleaved(count, [one, two], async (harness) => {
		rounds.add(String(harness.processes.length), await takeRound(context, harness));
	});
	return ['1', '2'].map((replicas) => ({
		what: `Answers delivered a second on PostgreSQL, service takes 200 ms, replicas: ${replicas}`,
		handraise: ms(rounds.median(replicas)),
		reference: 'the service allows 250 requests a minute: 2 a second at two requests each',
		goal: '',
		met: null,
	}));
}

/** Answers per second, from the moment the service starts to respond until it has saved the last of the queue. */
async function takeRound({ service }: BenchContext, harness: Harness): Promise<number> {
	const actors = harness.meet(ANSWERS, 'same');
	const ids = actors.map((_, index) => `session${index}`);
	await service.renew(ids);
	const modals = await openForms(harness, actors, ids);
	await service.tell({ do: 'hold' });
	for (let from = 0; from < ANSWERS; from += AT_ONCE) await submitAll(modals.slice(from, from + AT_ONCE));
	await service.tell({ do: 'slow', ms: SERVICE_TAKES_MS });
	const start = preciseClock.now();
	await service.tell({ do: 'release' });
	for (;;) {
		await pause(500);
		const saved = (await service.log()).filter((entry) => entry.effective).map((entry) => entry.savedAt ?? Number.NaN);
		if (saved.length < ANSWERS) continue;
		await service.tell({ do: 'slow', ms: 0 });
		// By then the confirmation checks after 2 s have ended.
		await pause(4_000);
		return (ANSWERS / (Math.max(...saved) - start)) * 1000;
	}
}
