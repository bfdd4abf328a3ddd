import { setTimeout as pause } from 'node:timers/promises';
import { asking } from '../../../fake-session-service/builders.ts';
import { outcomeOf, type Part } from '../harness.ts';
import { createStrikes, type StrikeOptions } from '../hits.ts';
import { RATES_ALLOWANCE_MS } from '../rates.ts';
import type { StoreKind } from '../stores.ts';
import { judgeAudit } from './audit.ts';
import { FAULT_KINDS, type FaultName, isFault } from './kinds/index.ts';
import { strikeAt, TARGETS, type Target } from './moments.ts';
import { PHASES, type Phase, phaseOf, progressOf } from './phases.ts';
import { watchReceipts } from './receipt-watch.ts';
import { type Fate, QUESTION, type Round, sessionsOf, submit } from './round.ts';
import { armTroubles } from './troubles.ts';
import { createTurns, type Turn } from './turn.ts';
import { judge } from './verdict.ts';

/** What a turn does to its answers: a kill in some phase, or another fault. */
export type Aim = Target | FaultName;

/** All faults that a store of this kind supports. */
export function aimsFor(store: StoreKind): readonly Aim[] {
	const faults = Object.entries(FAULT_KINDS).filter(([, { stores }]) => stores.includes(store));
	return [...TARGETS, ...faults.map(([name]) => name as FaultName)];
}

export interface RunOptions extends Part, Pick<StrikeOptions<Target, Round, unknown>, 'outage' | 'freezeMs'> {
	readonly rounds: number;
	/** What the turns do, one after the other; all aims by default. */
	readonly aims?: readonly Aim[];
	/** Ends as soon as each aim has met an answer. Goes on with those that have not. */
	readonly untilMet?: boolean;
	/** So many turns without any fault come before each with one. */
	readonly calm?: number;
}

/**
 * By then a dead replica's lease (20 s) and the wait for an unknown outcome are over, on a busy machine, and receipts
 * that Slack refused are delivered.
 */
const SETTLE_WITHIN_MS = 90_000 + RATES_ALLOWANCE_MS;
const QUIET_WITHIN_MS = 5_000;
/** Between the last change in the store and what Slack shows of it. */
const QUIET_FOR_MS = 1_500;
/** By then a draft of what was typed is stored. */
const DRAFTS_MS = 300;

/** Kills the program repeatedly while people answer, causes other faults, and judges every answer. */
export async function runFaults({
	harness,
	rounds: wanted,
	batch,
	random,
	aims: given = aimsFor(harness.store.kind),
	untilMet = false,
	calm = 0,
	outage,
	freezeMs,
	onProgress = () => {},
}: RunOptions) {
	const started = performance.now();
	const watch = watchReceipts(harness);
	const strikes = createStrikes<Target, Round, ReturnType<typeof progressOf>>({
		harness,
		random,
		outage,
		freezeMs,
		at: (target, now, hit) => strikeAt(harness, sessionsOf(now), { target, random }, hit),
		look: (now) => progressOf(harness, now),
		phaseOf,
	});
	const rounds: Round[] = [];
	const problems: string[] = [];
	const turns = createTurns(harness, {
		random,
		report: (what) => problems.push(what),
		onRound(round) {
			rounds.push(round);
			watch.follow(round);
		},
	});
	const histogram = new Map<Phase | FaultName, number>();
	const met = (what: Phase | FaultName, count: number) => histogram.set(what, (histogram.get(what) ?? 0) + count);
	// The start depends on the seed, so that short runs do not always leave out the same aims.
	const first = random.whole(0, given.length - 1);
	const aims = [...given.slice(first), ...given.slice(0, first)];
	for (const phase of aims.some((aim) => !isFault(aim)) ? PHASES : []) met(phase, 0);
	for (const aim of given.filter(isFault)) met(aim, 0);
	/** In turn; with `untilMet`, those that have met no answer. */
	const next = [...aims];
	const brokenTurns: string[] = [];
	let notBegun = 0;
	let turnNumber = 0;
	await harness.startAll();
	await harness.store.watchCommits();

	while (rounds.length + notBegun < wanted) {
		const aim = next.shift();
		if (aim === undefined) break;
		let metCount = 0;
		const turn = turns.next(Math.min(batch, wanted - rounds.length - notBegun));
		await harness.rates.roomFor(turn.size);
		const before = rounds.length;
		try {
			if (++turnNumber % (calm + 1) !== 0) {
				await calmTurn(turn);
				next.unshift(aim);
				continue;
			}
			metCount = isFault(aim) ? await FAULT_KINDS[aim].run(turn) : await killTurn(turn, aim);
			if (isFault(aim)) met(aim, metCount);
		} catch (error) {
			brokenTurns.push(`${aim}: ${error instanceof Error ? error.message : String(error)}`);
			notBegun += Math.max(0, turn.size - (rounds.length - before));
			if (!(await mend())) break;
		}
		// A kill that met nothing is repeated in the moment that misses most rarely.
		if (!untilMet) next.push(aim);
		else if (metCount === 0) next.push(isFault(aim) ? aim : 'during the PUT');
		const broken = rounds.filter((one) => one.broken.length + one.untimely.length > 0).length;
		onProgress(`${rounds.length} of ${wanted} submitted, last ${aim}, ${strikes.counts.kills} kills, ${broken} broken`);
		tidy(rounds);
	}
	await settle();
	// A turn that failed before Submit was pressed has nothing to judge.
	const judged = brokenTurns.length === 0 ? rounds : rounds.filter(({ pressedAt }) => pressedAt !== 0);
	const verdict = judge(harness, judged);
	const audit = await judgeAudit(harness, judged);
	watch.stop();
	for (const phase of rounds.flatMap((round) => round.hits)) met(phase, 1);
	return {
		...outcomeOf(harness, started, [...problems, ...verdict.problems, ...audit.problems]),
		verdict,
		audit,
		/** With `untilMet`, aims that met no answer. A kill may come too early or too late, more often on a busy machine. */
		missing: untilMet ? next : [],
		/** How many answers each phase's kills, and each other fault, met. */
		histogram: Object.fromEntries(histogram) as Readonly<Partial<Record<Phase | FaultName, number>>>,
		...strikes.counts,
		claims: watch.seen,
		/** The errors of turns that could not finish. */
		brokenTurns: brokenTurns as readonly string[],
	};

	/** Cleans up after a failed turn so that the next is not affected. False when the program does not start. */
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

	async function calmTurn(turn: Turn): Promise<void> {
		const now = await Promise.all(Array.from({ length: turn.size }, () => begin(turn)));
		// A database or a replica that a former turn stopped may still stand still.
		await Promise.all(now.map((round) => press(round, { staggered: true, mayClickTwice: false })));
	}

	/** Resolves with the number of answers that the kills met. */
	async function killTurn(turn: Turn, target: Target): Promise<number> {
		const { isOutage, strike } = await strikes.next();
		const now = await Promise.all(Array.from({ length: turn.size }, () => begin(turn)));
		for (const round of now) armTroubles(harness, round, { random, slowPut: target === 'during the PUT' });
		// Commits of earlier rounds would count as commits of this one.
		if (target === 'before ack') {
			await turn.quiet(QUIET_WITHIN_MS);
			await pause(DRAFTS_MS);
		}
		// One commit for many answers, or one for each.
		const staggered = target !== 'before ack' && random.chance(0.4);
		const pressing = now.map((round) => press(round, { staggered, mayClickTwice: !isOutage }));
		await Promise.all([strike(target, now), ...pressing]);
		return now.filter((round) => round.hits.length > 0).length;
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
			// The refusal of the second click would meet a window that the first has changed.
			twice: how.mayClickTwice && random.chance(0.1),
			edit: (count) => (edits && count === 2 ? `${round.texts[0]} (edited)` : null),
		});
		if (round.fate === 'plain' && round.ackedText !== null && random.chance(0.25) && round.modal.isOpen()) {
			// The person closes the laptop.
			round.closed = true;
			await round.modal.close().catch(() => undefined);
		}
	}

	/** Forgets the windows of finished answers: a growing workspace would slow the run down. */
	function tidy(all: readonly Round[]): void {
		for (const round of all) {
			if (round.told.at(-1) === 'went on' && round.modal.isOpen() && Date.now() - round.pressedAt > 30_000) {
				harness.slack.forgetViews([round.modal.id]);
			}
		}
	}

	async function settle(): Promise<void> {
		// Nothing is left to do, so rounds that are not over stay so. The verdict reports them.
		await turns.quiet(SETTLE_WITHIN_MS, QUIET_FOR_MS);
		// A PUT that was given up last could still be saved within this time.
		await pause(harness.callTimeoutMs + 500);
	}
}

export type RunResult = Awaited<ReturnType<typeof runFaults>>;
