import { isDeepStrictEqual } from 'node:util';
import {
	AWAITED_AHEAD_MS,
	type PlannedRead,
	sessionReads,
	stepRateAfter,
	UNKNOWN_STEP_RATE,
} from '../../../../src/database/watch.ts';
import { listEveryMs, reservedFor } from '../../../../src/features/discover/listing.ts';
import { createPlanner, movesFor, PLAN_MS, type WatchedOutline } from '../../../../src/features/watch/schedule.ts';
import { createRandom, type Random } from '../../../support/random.ts';
import { type Agenda, createAgenda } from './agenda.ts';
import { createVirtualBudget, type VirtualBudget } from './budget.ts';
import { createVirtualCards } from './cards.ts';
import { createLimitedService, WINDOW_MS } from './limited-service.ts';
import { digestAt, type Script, stepsUntil } from './population.ts';
import {
	neverFound,
	PERSON_EVERY_MS,
	type Policy,
	READ_MS,
	type Result,
	type SimulationOptions,
	WARM_UP_MS,
} from './simulation.ts';
import { simulateViewers } from './viewers.ts';

/** As in the poller: reads that wait for the budget at once, so that their order is decided late. */
const MOST_WAITING = 2;
/** A group of people types `/session` at once every few minutes. */
const GROUP_EVERY_MS = 5 * 60_000;
const GROUP = 10;
const SAMPLE_MS = 10_000;
/** The share of answers given in Slack: each takes four requests to deliver and confirm, and an early read. */
const ANSWERED_HERE = 0.8;

export function simulate(policy: Policy, options: SimulationOptions): Result {
	return policy === 'viewers at 1 Hz' ? simulateViewers(options) : simulatePoller(policy, options);
}

function simulatePoller(
	policy: Exclude<Policy, 'viewers at 1 Hz'>,
	{ scripts, lengthMs, seed, creators }: SimulationOptions,
): Result {
	const agenda = createAgenda();
	const random = createRandom(seed);
	const service = createLimitedService(random.between(0, WINDOW_MS));
	const budget = createVirtualBudget(agenda, service);
	const cards = createVirtualCards(agenda, scripts.length);
	const detection: number[] = [];
	const detectionOf: number[][] = scripts.map(() => []);
	const staleness: number[] = [];
	let reads = 0;
	const seen = scripts.map((script) => digestAt(script, 0));

	/** Reads a session, before others if `ahead`, and calls back with what was known before. */
	function read(index: number, then: (before: Found) => void, ahead = false): void {
		const script = scripts[index] as Script;
		const sent = (allowed: boolean) => {
			reads += 1;
			const sentAt = agenda.now;
			agenda.at(sentAt + READ_MS, () => {
				if (!allowed) {
					then(null);
					return;
				}
				const before = seen[index] as ReturnType<typeof digestAt>;
				const digest = digestAt(script, sentAt + READ_MS / 2);
				let asked = 0;
				for (let step = before.assistantCount; step < digest.assistantCount; step += 1) {
					if (!script.questions.has(step)) continue;
					asked += 1;
					if (agenda.now <= WARM_UP_MS) continue;
					const ms = agenda.now - (script.steps[step] as number);
					detection.push(ms);
					detectionOf[index]?.push(ms);
				}
				seen[index] = digest;
				if (asked > 0 || digest.status !== before.status) cards.want(index, 'now', digest.assistantCount);
				else if (digest.assistantCount !== before.assistantCount) cards.want(index, 'progress', digest.assistantCount);
				then(before);
			});
		};
		budget.acquire('background', 1, sent, ahead);
	}

	const polling = { agenda, budget, scripts, seen, read, creators, lists: policy === 'with a list' };
	const readEarly = policy === 'round robin' ? startRoundRobin(polling) : startAdaptive(polling);
	const personWaits = startPeople(agenda, budget, random);
	startAnswers(agenda, budget, scripts, { random, readEarly });
	sampleStaleness(agenda, scripts, cards, staleness);
	agenda.runUntil(lengthMs);
	const minutes = lengthMs / 60_000;
	const counts = seen.map(({ assistantCount }) => assistantCount);
	return {
		detection: [...detection, ...neverFound(scripts, counts, lengthMs)],
		requestsPerMinute: service.requests / minutes,
		backgroundPerSecond: reads / (lengthMs / 1000),
		refused: service.refused,
		personWaits,
		updates: cards.figures(),
		staleness,
		detectionOf,
	};
}

/** What was known before the read; null when the read was refused. */
type Found = ReturnType<typeof digestAt> | null;

interface Polling {
	readonly agenda: Agenda;
	readonly budget: VirtualBudget;
	readonly scripts: readonly Script[];
	readonly seen: readonly ReturnType<typeof digestAt>[];
	readonly read: (index: number, then: (before: Found) => void, ahead?: boolean) => void;
	readonly creators: readonly string[] | undefined;
	/** Whether the service lists the sessions that wait. */
	readonly lists: boolean;
}

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

/** The program's planner and step rates with the poller's rules. Returns the function that asks for an early read. */
function startAdaptive({ agenda, budget, scripts, seen, read, creators, lists }: Polling): (index: number) => void {
	const planner = createPlanner();
	const outlines = scripts.map(
		(_, index): Changeable<WatchedOutline> => ({
			session: { service: '', sessionId: String(index) },
			stepRate: UNKNOWN_STEP_RATE,
			nextRead: { at: 0, by: 0 },
			lastReadAt: null,
			lastChangeAt: null,
			reads: sessionReads.parse({}),
			isClaimed: false,
			earlyReadAskedAt: null,
			failures: 0,
			overSince: null,
			status: null,
			questionOpen: false,
			watchers: [creators?.[index] ?? 'one'],
		}),
	);
	const running = new Set<number>();
	let wakeAt = Number.POSITIVE_INFINITY;

	function plan(): void {
		planner.plan(outlines, budget.background.rates().planned);
		for (const { session, to } of movesFor(outlines, planner, agenda.now, false)) {
			if (!running.has(Number(session.sessionId))) outline(Number(session.sessionId)).nextRead = to;
		}
		startDue();
		agenda.at(agenda.now + PLAN_MS, plan);
	}

	function outline(index: number): Changeable<WatchedOutline> {
		return outlines[index] as Changeable<WatchedOutline>;
	}

	function startDue(): void {
		for (;;) {
			// As the poller: while enough wait, only those that go ahead of others.
			const isFull = budget.background.waiting() >= MOST_WAITING;
			let best = -1;
			let soonest = Number.POSITIVE_INFINITY;
			for (let index = 0; index < outlines.length; index += 1) {
				if (running.has(index)) continue;
				const { at, by } = outline(index).nextRead;
				soonest = Math.min(soonest, at);
				if (isFull && by >= at) continue;
				if (at <= agenda.now && (best < 0 || by < outline(best).nextRead.by)) best = index;
			}
			if (best < 0) {
				if (!isFull) wake(soonest);
				return;
			}
			begin(best);
		}
	}

	function begin(index: number): void {
		running.add(index);
		const { at, by } = outline(index).nextRead;
		const done = (before: Found) => {
			const found = seen[index] as ReturnType<typeof digestAt>;
			const now = agenda.now;
			const session = outline(index);
			if (before !== null && session.lastReadAt !== null) {
				const previousAt = session.lastReadAt;
				session.stepRate = stepRateAfter(session.stepRate, { before, after: found, previousAt, readAt: now });
			}
			if (session.lastReadAt === null || !isDeepStrictEqual(before, found)) session.lastChangeAt = now;
			session.lastReadAt = now;
			session.status = found.status;
			session.questionOpen = found.question !== null;
			session.nextRead = planner.nextRead(session, now);
			running.delete(index);
			startDue();
		};
		read(index, done, by < at);
	}

	function wake(at: number): void {
		if (at >= wakeAt || at === Number.POSITIVE_INFINITY) return;
		wakeAt = at;
		agenda.at(at, () => {
			if (agenda.now < wakeAt) return;
			wakeAt = Number.POSITIVE_INFINITY;
			startDue();
		});
	}

	/** Sessions in the list before, and its time. */
	let listed: ReadonlySet<number> = new Set();
	let listedAt = Number.NEGATIVE_INFINITY;

	/** The program's list with its pace. Sessions that newly wait by it and not by their last read are read first. */
	function list(): void {
		const beganAt = agenda.now;
		const sent = (allowed: boolean) => {
			const waiting = new Set(
				scripts.flatMap((script, index) =>
					digestAt(script, agenda.now + READ_MS / 2).status === 'humanInput' ? [index] : [],
				),
			);
			agenda.at(agenda.now + READ_MS, () => {
				const { now } = agenda;
				for (const index of allowed ? waiting : []) {
					const session = outline(index);
					const isKnown = session.status === 'humanInput' && (session.lastReadAt ?? 0) >= listedAt;
					if (listed.has(index) || isKnown) continue;
					session.nextRead = { at: now, by: now - AWAITED_AHEAD_MS };
				}
				if (allowed) {
					listed = waiting;
					listedAt = now;
				}
				startDue();
				const { background } = budget;
				const everyMs = listEveryMs(
					{ tookMs: READ_MS, requestCount: 1 },
					{ discoverSessions: false, watched: scripts.length, backgroundPerSecond: background.rates().left },
				);
				budget.background.reserve(reservedFor(1_000 / everyMs));
				agenda.at(Math.max(now, beganAt + everyMs, background.pausedUntil()), list);
			});
		};
		budget.acquire('background', 1, sent, true);
	}

	agenda.at(0, plan);
	if (lists) agenda.at(0, list);
	return (index) => {
		const session = outline(index);
		const at: PlannedRead = { at: agenda.now + 2_000, by: agenda.now + 2_000 };
		session.earlyReadAskedAt = agenda.now;
		if (session.nextRead.at > at.at) session.nextRead = at;
		startDue();
	};
}

/** Reads all sessions in turn, as fast as the same budget allows. */
function startRoundRobin({ budget, scripts, read }: Polling): (index: number) => void {
	let next = 0;
	const running = new Set<number>();
	function fill(): void {
		while (budget.background.waiting() < MOST_WAITING && running.size < scripts.length) {
			const index = next;
			next = (next + 1) % scripts.length;
			if (running.has(index)) return;
			running.add(index);
			read(index, () => {
				running.delete(index);
				fill();
			});
		}
	}
	fill();
	return () => undefined;
}

/** `/session` from single people and from groups at once. Returns how long each waited for the budget. */
function startPeople(agenda: Agenda, budget: VirtualBudget, random: Random): number[] {
	const waits: number[] = [];
	const ask = () => {
		const askedAt = agenda.now;
		budget.acquire('person', 1, () => {
			if (askedAt > WARM_UP_MS) waits.push(agenda.now - askedAt);
		});
	};
	const one = () => {
		ask();
		agenda.at(agenda.now + random.exponential(PERSON_EVERY_MS), one);
	};
	const group = () => {
		for (let person = 0; person < GROUP; person += 1) agenda.at(agenda.now + random.between(0, 2_000), ask);
		agenda.at(agenda.now + random.exponential(GROUP_EVERY_MS), group);
	};
	agenda.at(random.exponential(PERSON_EVERY_MS), one);
	agenda.at(random.exponential(GROUP_EVERY_MS), group);
	return waits;
}

/** An answer given in Slack takes a read, a PUT, two reads to confirm and an early read. */
function startAnswers(
	agenda: Agenda,
	budget: VirtualBudget,
	scripts: readonly Script[],
	{ random, readEarly }: { random: Random; readEarly: (index: number) => void },
): void {
	for (const [index, script] of scripts.entries()) {
		for (const answeredAt of script.questions.values()) {
			if (random.uniform() > ANSWERED_HERE) continue;
			agenda.at(answeredAt, () => {
				readEarly(index);
				budget.acquire('delivery', 2, () => undefined);
			});
			for (const after of [2_000, 5_000]) {
				agenda.at(answeredAt + after, () => budget.acquire('delivery', 1, () => undefined));
			}
		}
	}
}

function sampleStaleness(
	agenda: Agenda,
	scripts: readonly Script[],
	cards: ReturnType<typeof createVirtualCards>,
	staleness: number[],
): void {
	const sample = () => {
		for (const [index, script] of scripts.entries()) {
			if (agenda.now < WARM_UP_MS || digestAt(script, agenda.now).status !== 'active') continue;
			const shown = cards.shown(index);
			const behind = stepsUntil(script, agenda.now) > shown;
			staleness.push(behind ? agenda.now - (script.steps[shown] as number) : 0);
		}
		agenda.at(agenda.now + SAMPLE_MS, sample);
	};
	agenda.at(SAMPLE_MS, sample);
}
