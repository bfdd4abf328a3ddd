import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { createHarness, lastCall } from './harness.ts';
import type { Figure } from './report.ts';
import { interleaved, Rounds } from './stats.ts';
import { measureWatchedMemory } from './watched-memory.ts';

const COMMANDS = 1_000;
const PEOPLE = 90;
const AT_ONCE = 10;
const GOAL = 1.5;

/** Resident memory of new processes before and after 1,000 commands, each for a session of its own. */
export async function measureMemory(context: BenchContext): Promise<Figure[]> {
	const rounds = new Rounds();
	await interleaved(context.rounds, ['handraise', 'bare'] as const, (program) => takeRound(context, program, rounds));
	const ratio = rounds.median('handraise after') / rounds.median('bare after');
	const both = (program: string) =>
		`${rounds.mebibytes(`${program} after`)}, at start ${rounds.median(`${program} before`).toFixed(0)} MiB`;
	return [
		{
			what: 'Resident memory after 1,000 commands',
			handraise: both('handraise'),
			reference: `bare app ${both('bare')}`,
			goal: `≤ ${GOAL} × bare: ${ratio.toFixed(2)} ×`,
			met: ratio <= GOAL,
		},
		await measureWatchedMemory(context),
	];
}

async function takeRound({ service }: BenchContext, program: 'handraise' | 'bare', rounds: Rounds): Promise<void> {
	await using harness = await createHarness({ program, transport: 'socket', service });
	const [process] = harness.processes;
	if (process === undefined) throw new Error('No program runs.');
	const people = harness.meet(PEOPLE);
	const actors = Array.from({ length: COMMANDS / PEOPLE + 1 }, () => people).flat();
	const ids = Array.from({ length: COMMANDS }, (_, index) => `session${index}`);
	await service.renew(ids);
	rounds.add(`${program} before`, await process.memory());
	for (let from = 0; from < COMMANDS; from += AT_ONCE) {
		await harness.command(actors.slice(from, from + AT_ONCE), ids.slice(from, from + AT_ONCE));
		await harness.called(lastCall(harness), from + AT_ONCE);
	}
	await pause(1_000);
	rounds.add(`${program} after`, await process.memory());
}
