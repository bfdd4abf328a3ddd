import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { measureDisk } from './disk.ts';
import { createHarness, type Harness } from './harness.ts';
import { type Figure, load } from './report.ts';
import { pair, Rounds } from './stats.ts';

const COMMANDS = 100;
const GOAL_MS = 20;

/** From the command to the session in the modal: the time beyond the service's and Slack's calls. */
export async function measureContent(context: BenchContext): Promise<Figure[]> {
	const { service, directory, rounds: count } = context;
	const databaseUrl = await (await context.postgres()).createDatabase();
	const common = { program: 'handraise', transport: 'socket', service, directory } as const;
	await using sqlite = await createHarness(common);
	await using postgres = await createHarness({ ...common, databaseUrl });
	const harnesses = [
		{ name: 'SQLite', harness: sqlite },
		{ name: 'PostgreSQL', harness: postgres },
	] as const;
	for (const { name, harness } of harnesses) await takeRound(context, name, harness, new Rounds());
	const rounds = new Rounds();
	for (let round = 0; round < count; round++) {
		rounds.addSample('disk', await measureDisk(directory));
		for (const { name, harness } of round % 2 === 0 ? harnesses : harnesses.toReversed())
			await takeRound(context, name, harness, rounds);
	}
	return harnesses.map(({ name }) => ({
		what: `From command to content, beyond the service's time and Slack's calls, ${name} (p50 / p99)`,
		handraise: pair(rounds, name),
		reference: `in all ${pair(rounds, `${name} in all`)}; fdatasync ${pair(rounds, 'disk')}`,
		goal: `p50 ≤ ${GOAL_MS} ms`,
		met: rounds.median(`${name} p50`) <= GOAL_MS,
		load: load(),
	}));
}

/** One command after another, each from a person whom the program has not met. */
async function takeRound({ service }: BenchContext, name: string, harness: Harness, rounds: Rounds): Promise<void> {
	const actors = harness.meet(COMMANDS);
	const ids = actors.map((_, index) => `session${index}`);
	await service.tell({ do: 'clear' });
	await service.tell({ do: 'put', ids });
	for (let index = 0; index < COMMANDS; index++) {
		await harness.command(actors.slice(index, index + 1), ids.slice(index, index + 1));
		await harness.called('views.update', index + 1);
		await pause(5);
	}
	const log = await service.log();
	const commands = harness.acknowledged('slash_commands');
	const updates = harness.slack.traffic.calls('views.update');
	const others = harness.slack.traffic.calls().filter((call) => call.name !== 'views.update');
	const times = commands.map((command, index) => {
		const from = command.at;
		const to = updates[index]?.at ?? Number.NaN;
		const spans = [
			...others.map((call): Span => [call.at, call.doneAt ?? Number.NaN]),
			...log
				.filter((entry) => entry.sessionId === ids[index])
				.map((entry): Span => [entry.at, entry.answeredAt ?? Number.NaN]),
		].filter(([start, end]) => start >= from && end <= to);
		return { inAll: to - from, beyond: to - from - covered(spans) };
	});
	rounds.addSample(
		name,
		times.map((time) => time.beyond),
	);
	rounds.addSample(
		`${name} in all`,
		times.map((time) => time.inAll),
	);
}

type Span = readonly [from: number, to: number];

/** Milliseconds in which at least one of the spans runs. */
function covered(spans: readonly Span[]): number {
	let until = Number.NEGATIVE_INFINITY;
	let total = 0;
	for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
		total += Math.max(0, to - Math.max(from, until));
		until = Math.max(until, to);
	}
	return total;
}
