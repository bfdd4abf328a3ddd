import { setTimeout as pause } from 'node:timers/promises';
import { shuffled } from '../../test/faults/until.ts';
import type { Random } from '../../test/support/random.ts';
import { median, spread } from '../figures/stats.ts';
import { type Outcome, open, press, rowsOf } from './acts.ts';
import { channelName, personName, type Size, sessionId, userId } from './company.ts';
import type { Installation } from './installation.ts';
import type { HomeState } from './screens.ts';
import { callsBetween, listed } from './slack-calls.ts';

export interface CrowdSize {
	/** People who open their Home within the first minute. */
	readonly homes: number;
	/** Presses, and as many commands, a minute, each by another person who does nothing else. */
	readonly acts: number;
	readonly minutes: number;
}

const MINUTE_MS = 60_000;
const STATES: readonly (HomeState | 'blank')[] = [
	'filled',
	'waiting',
	'missing',
	'not checked',
	'other words',
	'blank',
];

/** Many people open their Home within a minute, while others press and type commands. Returns the table. */
export async function runCrowd(
	installation: Installation,
	size: Size,
	{ homes: count, acts, minutes }: CrowdSize,
	random: Random,
): Promise<string[]> {
	const { slack, screens, teams } = installation;
	// The same person does not open Home and press: each is one whom the program has not looked up.
	const people = shuffled(
		Array.from({ length: size.people }, (_, index) => index),
		random,
	);
	const visitors = people.slice(0, count);
	const actors = people.slice(count);
	const before = await installation.read();
	const openedAt = new Map<number, number>();
	const outcomes: Record<'presses' | 'commands', Outcome[]> = { presses: [], commands: [] };
	const running: Promise<unknown>[] = [];
	const start = Date.now();
	const until = async (at: number) => {
		if (at > Date.now()) await pause(at - Date.now());
	};

	async function visit(): Promise<void> {
		for (const [index, person] of visitors.entries()) {
			await until(start + (index / count) * MINUTE_MS);
			openedAt.set(person, Date.now());
			running.push(slack.as(personName(person)).openApp('home'));
		}
	}

	/** One of the people who does nothing else, in a channel that this person is in. */
	function takeActor(channel: number): number {
		const at = actors.findIndex((person) => teams[channel]?.includes(person));
		const [actor] = actors.splice(at, 1);
		if (at < 0 || actor === undefined) throw new Error('There are too few people for so many acts.');
		return actor;
	}

	async function act(): Promise<void> {
		const pressed = shuffled([...screens.posts.keys()], random);
		const total = Math.round(acts * minutes);
		for (let index = 0; index < total; index++) {
			await until(start + ((index + 0.5) / acts) * MINUTE_MS);
			const number = pressed[index];
			const post = screens.posts.get(number ?? -1);
			if (number !== undefined && post !== undefined) {
				const one = press(slack, screens, takeActor(number % size.channels), post);
				running.push(one.then((outcome) => outcomes.presses.push(outcome)));
			}
			const session = random.whole(size.open, size.watches - 1);
			const channel = session % size.channels;
			const place = { channel: channelName(channel), sessionId: sessionId(session), name: `Task ${session}` };
			const one = open(slack, screens, takeActor(channel), place);
			running.push(one.then((outcome) => outcomes.commands.push(outcome)));
		}
	}

	const table: string[] = [];
	async function look(): Promise<void> {
		for (let minute = 1; minute <= minutes; minute++) {
			await until(start + minute * MINUTE_MS);
			const states = visitors
				.filter((person) => openedAt.has(person))
				.map((person) => screens.homes.get(userId(person))?.state ?? 'blank');
			const counts = STATES.map((state) => `${states.filter((one) => one === state).length} ${state}`);
			table.push(`| Homes of ${states.length} people after ${minute} min | ${counts.join(', ')} |`);
			process.stderr.write(`${table.at(-1)}\n`);
		}
	}

	const memory: number[] = [];
	const ended = new AbortController();
	const sampling = sample(installation, memory, ended.signal);
	await Promise.all([visit(), act(), look()]);
	await Promise.all(running);
	ended.abort();
	await sampling;
	const after = await installation.read();
	const took = visitors.map((person) => {
		const at = screens.filledAt.get(userId(person));
		return at === undefined ? Number.POSITIVE_INFINITY : at - (openedAt.get(person) ?? 0);
	});
	const calls = callsBetween(slack, before.place, after.place);
	return [
		...table,
		`| from opening to its questions, p50 / p99 / longest | ${spread(took)} |`,
		...rowsOf('presses', outcomes.presses, start),
		...rowsOf('commands', outcomes.commands, start),
		`| 429s | ${listed(calls.limited)} |`,
		`| calls of Slack | ${listed(calls.all)} |`,
		`| processor time | ${(after.cpuSeconds - before.cpuSeconds).toFixed(1)} s |`,
		`| resident memory of a replica, median and most | ${median(memory).toFixed(0)} and ${Math.max(...memory).toFixed(0)} MiB |`,
	];
}

const SAMPLE_MS = 5_000;

/** Collects the memory of each replica until the signal is aborted. */
export async function sample(installation: Installation, memory: number[], signal: AbortSignal): Promise<void> {
	while (!signal.aborted) {
		memory.push(...(await installation.memory()));
		await pause(SAMPLE_MS, undefined, { signal }).catch(() => {});
	}
}
