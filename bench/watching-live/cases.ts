import { done, item, task } from '../../fake-session-service/builders.ts';
import type { SessionJson } from '../../fake-session-service/json.ts';
import { watchingApp } from '../../test/sessions/harness.ts';
import { createRandom } from '../../test/support/random.ts';
import { spread } from '../figures/stats.ts';

/*
 * The whole program in virtual time: what watching costs the service, and how soon people see what happens. A call takes
 * no time. Of bytes only bodies count: what HTTP adds is the same for each request.
 */

const MINUTE_MS = 60_000;
const PER_CHANNEL = 20;
const STEP_MS = 8_000;
const STEP = 'I looked at the next row of the list. '.repeat(25);

/** A question, an answer past Handraise, an end. */
type Kind = 'asks' | 'answered' | 'ends';

interface Case {
	readonly name: string;
	readonly working: number;
	readonly quiet: number;
	readonly hasList: boolean;
	readonly kilobytes?: number;
	readonly stepMs?: number;
	/** Until it is measured, and for how long calls are counted. */
	readonly before: number;
	readonly minutes: number;
	/** How often each thing happens to one of those at work, if there are any, so many minutes apart. */
	readonly events: Readonly<Partial<Record<Kind, number>>>;
	readonly apart: number;
}

/** With a list of the service, and without one. */
const both = (name: string, of: Omit<Case, 'name' | 'hasList'>): Case[] =>
	[true, false].map((hasList) => ({ ...of, name: `${name}, ${hasList ? 'a list' : 'no list'}`, hasList }));
const ten = { before: 11, minutes: 2, events: { asks: 10, answered: 10, ends: 3 }, apart: 11 };
const atWork = { quiet: 0, hasList: false, before: 5, minutes: 5, apart: 0.3 };
const many = { before: 12, minutes: 5, events: { asks: 40, ends: 10 }, apart: 0.4 };
const large = { kilobytes: 5_000, stepMs: 2_000, before: 1, minutes: 2, events: { asks: 8 }, apart: 0.7 };

const CASES: readonly Case[] = [
	...both('ten quiet', { ...ten, working: 0, quiet: 10 }),
	{ ...atWork, name: 'ten at work, a list', working: 10, hasList: true, events: { asks: 20, ends: 9 } },
	...both('300, 30 of them at work', { ...many, working: 30, quiet: 270 }),
	...[10, 40, 100, 1_000].map((working) => {
		return { ...atWork, name: `${working} at work, no list`, working, events: { asks: working > 100 ? 20 : 40 } };
	}),
	...both('one of 5 MB that steps every 2 s', { ...large, working: 1, quiet: 0 }),
];

function bodyOf(kilobytes: number, status: string): SessionJson {
	const steps = Array.from({ length: Math.max(1, kilobytes - 1) }, (_, step) => done(STEP, { click: { index: step } }));
	return { status, maxSteps: 100_000, messages: [task('Work through the list.'), ...steps], files: [] };
}

async function measure(one: Case) {
	const { working, quiet, hasList, kilobytes = 5, stepMs = STEP_MS, before, minutes, events, apart } = one;
	await using app = await watchingApp({
		env: { SESSION_SERVICE_RPM: '250', REMIND_AFTER: 'off', SESSION_SERVICE_TIMEOUT_MS: '20000', MAX_WATCHES: '2000' },
		limits: { watches: { channel: 1_000, person: 2_000 } },
		service: { list: { mode: hasList ? 'on' : 'off' }, resumeAfterMs: null },
	});
	const { service, clock, slack } = app;
	const random = createRandom(1);
	const ids = Array.from({ length: working + quiet }, (_, index) =>
		app.session(bodyOf(kilobytes, index < working ? 'active' : 'paused')),
	);
	for (let from = 0; from < ids.length; from += PER_CHANNEL) {
		await app.command(`/session watch ${ids.slice(from, from + PER_CHANNEL).join(' ')}`);
		// What one command reads is within the burst that people have.
		if (ids.length > 300) await app.pass(10_000);
	}
	const steps = new Map(ids.slice(0, working).map((id) => [id, clock.now() + random.between(0, stepMs)]));

	/** Lets time pass, with the steps of those at work. */
	async function play(ms: number): Promise<void> {
		const until = clock.now() + ms;
		for (;;) {
			const [id, at] = [...steps].reduce((first, next) => (next[1] < first[1] ? next : first), ['', until]);
			if (Math.min(at, until) > clock.now()) await app.pass(Math.min(at, until) - clock.now());
			if (at >= until) return;
			steps.set(id, at + stepMs * random.between(0.7, 1.3));
			app.step(id, `${STEP} ${Math.round(at)}`);
		}
	}

	const writtenSince = (first: number, words: string) =>
		slack.state.messages.slice(first).some((message) => JSON.stringify(message).includes(words));
	const isShown = (words: string) =>
		slack.state.messages.some((message) => JSON.stringify(message.blocks).includes(words));

	/** From an act at some moment of the next seconds until it is seen. The steps of others stand still meanwhile. */
	async function seenAfter(act: () => void, look: () => boolean): Promise<number> {
		let from = Number.POSITIVE_INFINITY;
		void clock.sleep(random.between(1, 8_000)).then(() => {
			act();
			from = clock.now();
		});
		await app.until(
			() => clock.now() >= from && look(),
			() => 'never seen',
			15 * MINUTE_MS,
		);
		return clock.now() - from;
	}

	await play(before * MINUTE_MS);
	const from = clock.now();
	await play(minutes * MINUTE_MS);
	const reads = service.log.reads().filter(({ at }) => at >= from);
	const lists = service.log.lists().filter(({ at }) => at >= from);
	const seen: string[] = [];
	for (const [kind, count] of Object.entries(events)) {
		const after: number[] = [];
		for (let number = 0; number < count; number += 1) {
			await play(apart * MINUTE_MS * random.between(0.9, 1.1));
			const id = random.pick(working > 0 ? [...steps.keys()] : ids);
			const stepsAt = steps.get(id);
			steps.delete(id);
			const words = `${kind} ${number}?`;
			const first = slack.state.messages.length;
			if (kind === 'ends') {
				const isTold = () => slack.state.messages.slice(first).some(({ text }) => text.includes('is done'));
				after.push(await seenAfter(() => service.sessions.setStatus(id, 'completed'), isTold));
				continue;
			}
			const asked = await seenAfter(
				() => app.ask(id, [item(words)]),
				() => writtenSince(first, words),
			);
			if (kind === 'asks') {
				after.push(asked);
				service.sessions.answerAsPage(id, [`${kind} value ${number}.`]);
			} else {
				await play(apart * MINUTE_MS);
				const answer = () => void service.sessions.answerAsPage(id, [`${kind} value ${number}.`]);
				after.push(await seenAfter(answer, () => isShown(`${kind} value ${number}.`)));
			}
			service.sessions.setStatus(id, working > 0 ? 'active' : 'paused');
			app.step(id, `I go on (${number}).`);
			if (stepsAt !== undefined) steps.set(id, clock.now() + stepMs);
		}
		seen.push(`${kind}: ${spread(after, [0.5, 0.95])}`);
	}
	const limited = service.log.reads().filter(({ status }) => status === 429).length;
	const bytes = [...reads, ...lists].reduce((sum, { byteCount }) => sum + byteCount, 0);
	return [
		one.name,
		((reads.length + lists.length) / minutes).toFixed(0),
		(lists.length / minutes).toFixed(0),
		`${(bytes / minutes / 1e6).toFixed(1)} MB`,
		String(limited),
		seen.join('; '),
	];
}

/** Prints the cases whose names contain `only`. */
export async function measureCases(only: string): Promise<void> {
	console.log(
		'| watched | calls a minute | of these lists | bytes a minute | 429s | seen after, median / p95 |\n|---|---|---|---|---|---|',
	);
	for (const one of CASES.filter(({ name }) => name.includes(only)))
		console.log(`| ${(await measure(one)).join(' | ')} |`);
}
