import { setTimeout as pause } from 'node:timers/promises';
import { type Bed, createBed } from './bed.ts';
import { measureDisk } from './disk.ts';
import { type Figure, load } from './report.ts';
import type { Setting } from './setting.ts';
import { pair, Rounds } from './stats.ts';

const COMMANDS = 100;
const GOAL_MS = 20;

/** From the command to the session in the modal: what it takes beyond the service's time and Slack's calls. */
export async function measureContent(setting: Setting): Promise<Figure[]> {
	const { service, directory, rounds: count } = setting;
	const databaseUrl = await (await setting.postgres()).createDatabase();
	const common = { program: 'handraise', transport: 'socket', service, directory } as const;
	await using sqlite = await createBed(common);
	await using postgres = await createBed({ ...common, databaseUrl });
	const beds = [
		{ name: 'SQLite', bed: sqlite },
		{ name: 'PostgreSQL', bed: postgres },
	] as const;
	for (const { name, bed } of beds) await takeRound(setting, name, bed, new Rounds());
	const rounds = new Rounds();
	for (let round = 0; round < count; round++) {
		rounds.addSample('disk', await measureDisk(directory));
		for (const { name, bed } of round % 2 === 0 ? beds : beds.toReversed()) await takeRound(setting, name, bed, rounds);
	}
	return beds.map(({ name }) => ({
		what: `From command to content, beyond the service's time and Slack's calls, ${name} (p50 / p99)`,
		handraise: pair(rounds, name),
		reference: `in all ${pair(rounds, `${name} in all`)}; fdatasync ${pair(rounds, 'disk')}`,
		goal: `p50 ≤ ${GOAL_MS} ms`,
		met: rounds.median(`${name} p50`) <= GOAL_MS,
		load: load(),
	}));
}

/** One command after the other, each of a person nobody has met. */
async function takeRound({ service }: Setting, name: string, bed: Bed, rounds: Rounds): Promise<void> {
	const actors = bed.meet(COMMANDS);
	const ids = actors.map((_, index) => `session${index}`);
	await service.tell({ do: 'clear' });
	await service.tell({ do: 'put', ids });
	for (let index = 0; index < COMMANDS; index++) {
		await bed.command(actors.slice(index, index + 1), ids.slice(index, index + 1));
		await bed.called('views.update', index + 1);
		await pause(5);
	}
	const log = await service.log();
	const commands = bed.acknowledged('slash_commands');
	const updates = bed.slack.traffic.calls('views.update');
	const others = bed.slack.traffic.calls().filter((call) => call.name !== 'views.update');
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
