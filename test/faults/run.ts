import { setTimeout as pause } from 'node:timers/promises';
import { asking } from '../../sandbox/session-service/builders.ts';
import type { Random } from '../support/random.ts';
import type { Harness } from './harness.ts';
import { FAULT_KINDS, type FaultName, isFault } from './kinds/index.ts';
import { TARGETS, type Target } from './moments.ts';
import { PHASES, type Phase } from './phases.ts';
import { RATES_ALLOWANCE_MS } from './rates.ts';
import { watchReceipts } from './receipt-watch.ts';
import { beginRound, type Claim, type Fate, QUESTION, type Round, submit } from './round.ts';
import type { StoreKind } from './stores.ts';
import { createStrikes, type Outage } from './strikes.ts';
import { armTroubles } from './troubles.ts';
import { createTurns, type Turn } from './turn.ts';
import { judge, type Verdict } from './verdict.ts';

/** What a turn does to its answers: a kill in some phase of their way, or another fault. */
export type Aim = Target | FaultName;

/** All that can be done to answers on a store of this kind. */
export function aimsFor(store: StoreKind): readonly Aim[] {
	const faults = Object.entries(FAULT_KINDS).filter(([, { stores }]) => stores.includes(store));
	return [...TARGETS, ...faults.map(([name]) => name as FaultName)];
}

export interface RunOptions {
	readonly harness: Harness;
	readonly rounds: number;
	/** Submissions under way at once: one kill meets them all. */
	readonly batch: number;
	readonly random: Random;
	/** What turns do, one after the other: everything by default. */
	readonly aims?: readonly Aim[];
	/** Of the database, for every tenth kill instead of it. */
	readonly outage?: Outage;
	/** Every 15th kill, one of several replicas stands still for so long instead: longer than its lease. */
	readonly freezeMs?: number;
	readonly onProgress?: (line: string) => void;
}

export interface RunResult {
	readonly verdict: Verdict;
	/** How many answers were met by a kill in each phase, and by each other fault. */
	readonly histogram: Readonly<Partial<Record<Phase | FaultName, number>>>;
	readonly kills: number;
	readonly outages: number;
	readonly freezes: number;
	readonly claims: ReadonlyMap<Claim, number>;
	/** The errors of turns that could not be run to their end. */
	readonly brokenTurns: readonly string[];
	/** Calls that Slack has refused with status 429. */
	readonly refusedCalls: number;
	/** What the app sent that Slack refuses as malformed, one line each. */
	readonly violations: readonly string[];
	readonly seconds: number;
}

/**
 * A dead replica's lease (20 s) and an unknown outcome have run out after this long, on a busy machine; and receipts that
 * Slack has refused as one call too many are told.
 */
const SETTLE_WITHIN_MS = 90_000 + RATES_ALLOWANCE_MS;
const QUIET_WITHIN_MS = 5_000;
/** Between the last entry in the store and what Slack shows of it. */
const QUIET_FOR_MS = 1_500;
/** What was typed has been kept by then. */
const DRAFTS_MS = 300;

/** Kills the program again and again while people answer, lets other faults meet it, and judges every answer. */
export async function runFaults({
	harness,
	rounds: wanted,
	batch,
	random,
	aims: given = aimsFor(harness.store.kind),
	outage,
	freezeMs,
	onProgress = () => {},
}: RunOptions): Promise<RunResult> {
	const started = performance.now();
	const watch = watchReceipts(harness);
	const strikes = createStrikes(harness, random);
	const rounds: Round[] = [];
	const turns = createTurns({
		harness,
		random,
		beginRound: (options) => beginRound(harness, options),
		onRound(round) {
			rounds.push(round);
			watch.follow(round);
		},
	});
	const histogram = new Map<Phase | FaultName, number>();
	const met = (what: Phase | FaultName, count: number) => histogram.set(what, (histogram.get(what) ?? 0) + count);
	// Another beginning for each seed, so that short runs do not always leave out the same.
	const first = random.whole(0, given.length - 1);
	const aims = [...given.slice(first), ...given.slice(0, first)];
	for (const phase of aims.some((aim) => !isFault(aim)) ? PHASES : []) met(phase, 0);
	for (const aim of given.filter(isFault)) met(aim, 0);
	let killTurns = 0;
	const brokenTurns: string[] = [];
	let notBegun = 0;
	await harness.startAll();
	await harness.store.watchCommits();

	for (let index = 0; rounds.length + notBegun < wanted; index++) {
		const aim = aims[index % aims.length] ?? 'any time';
		const turn = turns.next(Math.min(batch, wanted - rounds.length - notBegun));
		await harness.rates.roomFor(turn.size);
		const before = rounds.length;
		try {
			if (isFault(aim)) met(aim, await FAULT_KINDS[aim].run(turn));
			else await killTurn(turn, aim, killTurns++);
		} catch (error) {
			brokenTurns.push(`${aim}: ${error instanceof Error ? error.message : String(error)}`);
			notBegun += Math.max(0, turn.size - (rounds.length - before));
			if (!(await mend())) break;
		}
		const broken = rounds.filter((one) => one.broken.length + one.untimely.length > 0).length;
		onProgress(`${rounds.length} of ${wanted} submitted, last ${aim}, ${strikes.counts.kills} kills, ${broken} broken`);
		tidy(rounds);
	}
	await settle();
	// Where a turn broke before Submit was pressed, there is nothing to judge.
	const judged = brokenTurns.length === 0 ? rounds : rounds.filter(({ pressedAt }) => pressedAt !== 0);
	const verdict = judge(harness, judged);
	watch.stop();
	for (const phase of rounds.flatMap((round) => round.hits)) met(phase, 1);
	return {
		verdict,
		histogram: Object.fromEntries(histogram),
		...strikes.counts,
		claims: watch.seen,
		brokenTurns,
		refusedCalls: harness.rates.refused,
		violations: harness.slack.violations().map(({ where, messages, payload }) => {
			return `${where}: ${messages.join(', ')}: ${JSON.stringify(payload).slice(0, 400)}`;
		}),
		seconds: (performance.now() - started) / 1000,
	};

	/** After a turn that broke: what it may have left behind must not meet the next. False when the program does not start. */
	async function mend(): Promise<boolean> {
		harness.slack.faults.clear();
		harness.service.faults.clear();
		harness.store.proxy?.heal();
		for (const replica of harness.replicas) replica.thaw();
		return harness.startAll().then(
			() => true,
			() => false,
		);
	}

	async function killTurn(turn: Turn, target: Target, number: number): Promise<void> {
		const now = await Promise.all(Array.from({ length: turn.size }, () => begin(turn)));
		for (const round of now) armTroubles(harness, round, { random, slowPut: target === 'during the PUT' });
		// Commits of earlier rounds would be taken for those of this one.
		if (target === 'before ack') {
			await turn.quiet(QUIET_WITHIN_MS);
			await pause(DRAFTS_MS);
		}
		// One commit for many, or one for each.
		const staggered = target !== 'before ack' && random.chance(0.4);
		const isOutage = outage !== undefined && number % 10 === 9;
		const pressing = () => now.map((round) => press(round, { staggered, mayClickTwice: !isOutage }));
		if (isOutage) {
			await Promise.all([strikes.database(target, now, outage), ...pressing()]);
		} else if (freezeMs !== undefined && number % 15 === 7) {
			await Promise.all([strikes.freeze(target, now, freezeMs), ...pressing()]);
		} else {
			await Promise.all([strikes.process(target, now), ...pressing()]);
		}
	}

	async function begin(turn: Turn): Promise<Round> {
		const fate: Fate = random.chance(0.88) ? 'plain' : random.pick(['answered', 'ended', 'changed'] as const);
		const round = await turn.begin({ fate });
		meetFate(round);
		return round;
	}

	function meetFate({ fate, sessionId }: Round): void {
		const { sessions } = harness.service;
		if (fate === 'answered') sessions.answerAsPage(sessionId, ['Given on the web page']);
		if (fate === 'ended') sessions.setStatus(sessionId, 'stopped');
		if (fate === 'changed') {
			sessions.push(sessionId, asking('Something else.', [`Not "${QUESTION}" any more`]));
		}
	}

	async function press(round: Round, how: { staggered: boolean; mayClickTwice: boolean }): Promise<void> {
		if (how.staggered && random.chance(0.5)) await pause(random.whole(0, 40));
		const edits = random.chance(0.3);
		await submit(harness, round, {
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

	/** Windows of answers that are through are put away: a workspace that grows without end would slow the run down. */
	function tidy(all: readonly Round[]): void {
		for (const round of all) {
			if (round.told.at(-1) === 'went on' && round.modal.isOpen() && Date.now() - round.pressedAt > 30_000) {
				harness.slack.forgetViews([round.modal.id]);
			}
		}
	}

	async function settle(): Promise<void> {
		// Rounds that are not over when there is nothing left to do never will be: then the verdict says so.
		await turns.quiet(SETTLE_WITHIN_MS, QUIET_FOR_MS);
		// What could still land after the last PUT was given up.
		await pause(harness.callTimeoutMs + 500);
	}
}
