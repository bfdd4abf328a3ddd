import { setTimeout as pause } from 'node:timers/promises';
import { done } from '../../fake-session-service/builders.ts';
import type { Random } from '../../test/support/random.ts';
import { median, spread } from '../figures/stats.ts';
import { type Outcome, press, rowsOf } from './acts.ts';
import { personName, question, type Size, sessionId } from './company.ts';
import { sample } from './crowd.ts';
import type { Installation, Reading } from './installation.ts';
import { callsBetween, listed, total } from './slack-calls.ts';

export interface StretchSize {
	readonly minutes: number;
	/** Questions an hour. */
	readonly questions: number;
	/** Minutes before it in which nobody asks and nobody presses: what watching costs by itself. */
	readonly quiet: number;
}

/** Changes of people a minute: each of 2,000 changes their status four times in eight hours. */
const CHANGES_A_MINUTE = 17;
/** Somebody presses so long after a question stands there. */
const THINKS_MS = [5_000, 60_000] as const;
const POSTED_WITHIN_MS = 180_000;
const SAVED_WITHIN_MS = 120_000;
const LOOK_MS = 250;
const MIB = 2 ** 20;

interface Asked {
	/** From asking to the post. */
	readonly postedMs: number;
	readonly pressed: Outcome | null;
	/** From the press until the service had the answer. */
	readonly savedMs: number;
}

/** Agents ask for some minutes and people press; before that, for some minutes, nothing. Returns the table. */
export async function runStretch(
	installation: Installation,
	size: Size,
	{ minutes, questions, quiet }: StretchSize,
	random: Random,
): Promise<string[]> {
	const { slack, service, screens, teams } = installation;
	const savedSince = (id: string, from: number) =>
		service.log.puts(id).find(({ savedAt }) => savedAt !== null && savedAt >= from)?.savedAt ?? null;
	const ended = new AbortController();
	const changing = changePeople(installation, size, random, ended.signal);
	const atRest = await installation.read();
	await pause(quiet * 60_000);
	const before = await installation.read();

	// Those with an open question from before are left alone.
	const free = Array.from({ length: size.watches - size.open }, (_, index) => size.open + index);
	let number = size.watches;

	async function ask(session: number): Promise<Asked> {
		const id = sessionId(session);
		const own = number++;
		service.sessions.push(id, question(own));
		service.sessions.setStatus(id, 'humanInput');
		const askedAt = Date.now();
		const post = await until(() => screens.posts.get(own) ?? null, POSTED_WITHIN_MS);
		if (post === null) {
			service.sessions.answerAsPage(id, ['Green']);
			return { postedMs: Number.POSITIVE_INFINITY, pressed: null, savedMs: Number.POSITIVE_INFINITY };
		}
		await pause(random.between(...THINKS_MS));
		const pressedAt = Date.now();
		const person = random.pick(teams[session % size.channels] ?? []);
		const pressing = press(slack, screens, person, post);
		const savedAt = await until(() => savedSince(id, pressedAt), SAVED_WITHIN_MS);
		if (savedAt === null) service.sessions.answerAsPage(id, ['Green']);
		const savedMs = (savedAt ?? Number.POSITIVE_INFINITY) - pressedAt;
		const pressed = await pressing;
		// The agent goes on.
		service.sessions.push(id, done(`I did what ${own} was about.`));
		free.push(session);
		return { postedMs: post.at - askedAt, pressed, savedMs };
	}

	const memory: number[] = [];
	const sampling = sample(installation, memory, ended.signal);
	const asked: Promise<Asked>[] = [];
	const everyMs = 3_600_000 / questions;
	const start = Date.now();
	for (let at = everyMs / 2; at < minutes * 60_000; at += everyMs) {
		await pause(Math.max(0, start + at - Date.now()));
		const [session] = free.splice(random.whole(0, free.length - 1), 1);
		if (session === undefined) throw new Error('There are too few sessions for so many questions.');
		asked.push(ask(session));
	}
	const outcomes = await Promise.all(asked);
	const tookMinutes = (Date.now() - start) / 60_000;
	const after = await installation.read();
	ended.abort();
	await Promise.all([changing, sampling]);

	const pressed = outcomes.flatMap((one) => one.pressed ?? []);
	const calls = callsBetween(slack, before.place, after.place);
	const shared = tookMinutes / quiet;
	/** What `count` grew by, without what the quiet minutes had of it, for 1,000 questions. */
	const per1000 = (count: (reading: Reading) => number) => {
		const grown = count(after) - count(before) - (count(before) - count(atRest)) * shared;
		return (1_000 * grown) / outcomes.length;
	};
	const rows = [...after.rows.keys()]
		.map((table) => ({ table, more: (after.rows.get(table) ?? 0) - (before.rows.get(table) ?? 0) }))
		.filter(({ more }) => more !== 0)
		.map(({ table, more }) => `${table} ${((1_000 * more) / outcomes.length).toFixed(0)}`);
	const quietCalls = callsBetween(slack, atRest.place, before.place);
	return [
		`| questions asked in ${minutes} min, until all were answered ${tookMinutes.toFixed(1)} min | ${outcomes.length} |`,
		`| from asking to its post, p50 / p99 / longest | ${spread(outcomes.map((one) => one.postedMs))} |`,
		...rowsOf('presses', pressed, start),
		`| from the press until the service has the answer | ${spread(outcomes.filter((one) => one.pressed !== null).map((one) => one.savedMs))} |`,
		`| 429s | ${listed(calls.limited)} |`,
		`| calls of Slack a minute | ${listed(calls.all, 1 / tookMinutes)} |`,
		`| the same of the ${quiet} quiet minutes before | ${listed(quietCalls.all, 1 / quiet)} |`,
		`| requests to the service a minute, then and before | ${((after.requests - before.requests) / tookMinutes).toFixed(0)}, ${((before.requests - atRest.requests) / quiet).toFixed(0)} |`,
		`| processor time a minute, then and before | ${((after.cpuSeconds - before.cpuSeconds) / tookMinutes).toFixed(2)} s, ${((before.cpuSeconds - atRest.cpuSeconds) / quiet).toFixed(2)} s |`,
		`| resident memory of a replica, median and most | ${median(memory).toFixed(0)} and ${Math.max(...memory).toFixed(0)} MiB |`,
		`| **1,000 questions**: processor time | ${per1000((one) => one.cpuSeconds).toFixed(1)} s |`,
		`| calls of Slack | ${((1_000 * (total(calls) - total(quietCalls) * shared)) / outcomes.length).toFixed(0)} |`,
		`| requests to the service | ${per1000((one) => one.requests).toFixed(0)} |`,
		`| rows | ${rows.join(', ') || 'none'} |`,
		`| growth of the database | ${(per1000((one) => one.databaseBytes) / MIB).toFixed(1)} MiB |`,
	];
}

/** Waits until `look` finds something; null after `withinMs`. */
async function until<T>(look: () => T | null, withinMs: number): Promise<T | null> {
	const end = performance.now() + withinMs;
	for (;;) {
		const found = look();
		if (found !== null || performance.now() > end) return found;
		await pause(LOOK_MS);
	}
}

/** People change their status all day. Slack tells the app only if its manifest asks for it. */
async function changePeople({ slack }: Installation, size: Size, random: Random, signal: AbortSignal): Promise<void> {
	for (let number = 0; !signal.aborted; number++) {
		await slack.changePerson(personName(random.whole(0, size.people - 1)), { statusText: `Busy ${number}` });
		await pause(60_000 / CHANGES_A_MINUTE, undefined, { signal }).catch(() => {});
	}
}
