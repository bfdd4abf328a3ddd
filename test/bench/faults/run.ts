import { setTimeout as pause } from 'node:timers/promises';
import { removeViews } from '../../support/slack/windows.ts';
import { strikeAt, TARGETS, type Target } from './moments.ts';
import { PHASES, type Phase, phaseOf, progressOf, type Strike } from './phases.ts';
import type { Random } from './random.ts';
import { watchReceipts } from './receipt-watch.ts';
import { beginRound, type Claim, QUESTION, type Round, submit } from './round.ts';
import { armTroubles } from './troubles.ts';
import { judge, type Verdict } from './verdict.ts';
import type { World } from './world.ts';

/** Takes the database away and brings it back. */
export interface Outage {
	stop(): Promise<void>;
	start(): Promise<void>;
}

export interface RunOptions {
	readonly world: World;
	readonly rounds: number;
	/** Submissions under way at once: one kill meets them all. */
	readonly batch: number;
	readonly random: Random;
	/** What kills aim at, in turn: everything by default. */
	readonly targets?: readonly Target[];
	/** Of the database, for every tenth batch instead of a kill. */
	readonly outage?: Outage;
	/** Every 15th batch, one of several replicas stands still for so long instead: longer than its lease. */
	readonly freezeMs?: number;
	readonly onProgress?: (line: string) => void;
}

export interface RunResult {
	readonly verdict: Verdict;
	readonly histogram: Readonly<Record<Phase, number>>;
	readonly kills: number;
	readonly outages: number;
	readonly freezes: number;
	readonly claims: ReadonlyMap<Claim, number>;
	/** What the app sent that Slack refuses as malformed, one line each. */
	readonly violations: readonly string[];
	readonly seconds: number;
}

/** A dead replica's lease (20 s) and an unknown outcome have run out after this long, on a busy machine. */
const SETTLE_WITHIN_MS = 90_000;
const QUIET_WITHIN_MS = 5_000;
/** Between the last entry in the store and what Slack shows of it. */
const QUIET_FOR_MS = 1_500;
/** What was typed has been kept by then. */
const DRAFTS_MS = 300;
/** What was written to a socket before the kill has arrived after this long. */
const IN_FLIGHT_MS = 60;

/** Kills the program again and again while people answer, and judges what became of every answer. */
export async function runFaults({
	world,
	rounds: wanted,
	batch,
	random,
	targets: aims = TARGETS,
	outage,
	freezeMs,
	onProgress = () => {},
}: RunOptions): Promise<RunResult> {
	const started = performance.now();
	const watch = watchReceipts(world);
	const rounds: Round[] = [];
	let kills = 0;
	let outages = 0;
	let freezes = 0;
	// Another beginning for each seed, so that short runs do not always leave out the same.
	const first = random.whole(0, aims.length - 1);
	const targets = [...aims.slice(first), ...aims.slice(0, first)];
	await world.startAll();
	await world.store.watchCommits();

	for (let turn = 0; rounds.length < wanted; turn++) {
		const size = Math.min(batch, wanted - rounds.length);
		const target = targets[turn % targets.length] ?? 'any time';
		const now = await Promise.all(Array.from({ length: size }, (_, index) => begin(rounds.length + index, index)));
		rounds.push(...now);
		for (const round of now) armTroubles(world, round, { random, slowPut: target === 'during the PUT' });
		// Commits of earlier rounds would be taken for those of this one.
		if (target === 'before ack') {
			await quiet(QUIET_WITHIN_MS);
			await pause(DRAFTS_MS);
		}
		// One commit for many, or one for each.
		const staggered = target !== 'before ack' && random.chance(0.4);
		const isOutage = outage !== undefined && turn % 10 === 9;
		const pressing = () => now.map((round) => press(round, { staggered, mayClickTwice: !isOutage }));
		if (isOutage) {
			outages++;
			await Promise.all([strikeDatabase(target, now, outage), ...pressing()]);
		} else if (freezeMs !== undefined && turn % 15 === 7) {
			freezes++;
			await Promise.all([freeze(target, now, freezeMs), ...pressing()]);
		} else {
			await Promise.all([strikeProcess(target, now), ...pressing()]);
		}
		onProgress(
			`${rounds.length} of ${wanted} submitted, ${kills} kills, ${rounds.filter((one) => one.broken.length > 0).length} broken`,
		);
		tidy(rounds);
	}
	await settle();
	const verdict = judge(world, rounds);
	watch.stop();
	const histogram = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>;
	for (const phase of rounds.flatMap((round) => round.hits)) histogram[phase]++;
	return {
		verdict,
		histogram,
		kills,
		outages,
		freezes,
		claims: watch.seen,
		violations: world.slack.violations().map(({ where, messages, payload }) => {
			return `${where}: ${messages.join(', ')}: ${JSON.stringify(payload).slice(0, 400)}`;
		}),
		seconds: (performance.now() - started) / 1000,
	};

	async function begin(number: number, index: number): Promise<Round> {
		const round = await beginRound(world, {
			number,
			prefix: `f${world.store.kind.charAt(0)}`,
			person: world.people[index] ?? random.pick(world.people),
			fate: random.chance(0.88) ? 'plain' : random.pick(['answered', 'ended', 'changed'] as const),
		});
		watch.follow(round);
		meetFate(round);
		return round;
	}

	function meetFate({ fate, sessionId }: Round): void {
		const { sessions } = world.service;
		if (fate === 'answered') sessions.answerAsPage(sessionId, ['Given on the web page']);
		if (fate === 'ended') sessions.setStatus(sessionId, 'stopped');
		if (fate === 'changed') {
			sessions.push(sessionId, {
				role: 'assistant',
				content: 'Something else.',
				human_input: [{ title: `Not "${QUESTION}" any more`, description: '', value: '' }],
			});
		}
	}

	async function press(round: Round, how: { staggered: boolean; mayClickTwice: boolean }): Promise<void> {
		if (how.staggered && random.chance(0.5)) await pause(random.whole(0, 40));
		const edits = random.chance(0.3);
		await submit(world, round, {
			// What the second click is refused with would meet a window that the first has changed.
			twice: how.mayClickTwice && random.chance(0.1),
			edit: (count) => (edits && count === 2 ? `${round.texts[0]} (edited)` : null),
		});
		if (round.fate === 'plain' && round.ackedText !== null && random.chance(0.25) && round.modal.isOpen()) {
			// The laptop is shut.
			round.closed = true;
			await round.modal.close().catch(() => undefined);
		}
	}

	async function strikeProcess(target: Target, now: readonly Round[]): Promise<void> {
		await kill(target, now);
		// Crashes come in rows, too: this one meets what goes on after the first.
		if (random.chance(0.25)) await kill('any time', now);
	}

	async function kill(target: Target, now: readonly Round[]): Promise<void> {
		const running = world.replicas.filter((replica) => replica.running);
		const victims = running.length > 1 && random.chance(0.5) ? [random.pick(running)] : running;
		let progress: Strike['progress'] = new Map();
		let gone: Promise<unknown> = Promise.resolve();
		await strikeAt(target, world, sessionsOf(now), random, () => {
			gone = Promise.all(victims.map((replica) => replica.kill()));
			progress = progressOf(world, now);
		});
		kills++;
		await gone;
		await pause(IN_FLIGHT_MS);
		const strike: Strike = {
			progress,
			pids: victims.map((replica) => replica.pid),
			all: victims.length === running.length,
			stored: await world.store.lookUp(now.map((round) => round.modal.id)),
		};
		for (const round of now) {
			const phase = phaseOf(round, strike);
			if (phase !== null) round.hits.push(phase);
		}
		if (random.chance(0.3)) await pause(random.whole(0, 500));
		await world.startAll();
	}

	/** One replica stands still in the midst of its work, and goes on when others have taken that over. */
	async function freeze(target: Target, now: readonly Round[], ms: number): Promise<void> {
		const victim = random.pick(world.replicas);
		await strikeAt(target, world, sessionsOf(now), random, () => victim.freeze());
		for (const round of now) round.troubles.push('a replica stood still');
		await pause(ms);
		victim.thaw();
	}

	async function strikeDatabase(target: Target, now: readonly Round[], database: Outage): Promise<void> {
		let gone: Promise<unknown> = Promise.resolve();
		await strikeAt(target, world, sessionsOf(now), random, () => {
			gone = database.stop();
		});
		await gone;
		await pause(random.whole(200, 3_000));
		await database.start();
		await world.store.watchCommits();
		for (const round of now) round.troubles.push('the database was stopped and started');
	}

	/** Windows of answers that are through are put away: a workspace that grows without end would slow the run down. */
	function tidy(all: readonly Round[]): void {
		for (const round of all) {
			if (round.told.at(-1) === 'went on' && round.modal.isOpen() && Date.now() - round.pressedAt > 30_000) {
				removeViews(world.slack.core, [round.modal.id]);
			}
		}
		const { state } = world.slack.core;
		state.windows = state.windows.filter((window) => window.stack.length > 0);
	}

	/** Waits until nothing is left to do for any answer; with `forMs`, for so long in a row. */
	async function quiet(withinMs: number, forMs = 0): Promise<void> {
		const until = Date.now() + withinMs;
		let since = Date.now();
		while (Date.now() < until) {
			if ((await world.store.unfinished()) !== 0) since = Date.now() + 1;
			else if (Date.now() - since >= forMs) return;
			await pause(100);
		}
	}

	async function settle(): Promise<void> {
		// Rounds that are not over when there is nothing left to do never will be: then the verdict says so.
		await quiet(SETTLE_WITHIN_MS, QUIET_FOR_MS);
		// What could still land after the last PUT was given up.
		await pause(world.callTimeoutMs + 500);
	}
}

function sessionsOf(rounds: readonly Round[]): ReadonlySet<string> {
	return new Set(rounds.map((round) => round.sessionId));
}
