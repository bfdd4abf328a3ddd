import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../support/random.ts';
import type { Harness } from '../../harness.ts';
import { violationsOf } from '../../harness.ts';
import type { Outage } from '../../hits.ts';
import { armServiceTroubles } from '../troubles.ts';
import { type Choice, followChoices } from './choice.ts';
import type { PressPart, QuestionDesk } from './questions.ts';
import { createPressStrikes, PRESS_PHASES, PRESS_TARGETS, type PressPhase } from './strikes.ts';
import { isSettled, isTaken, judgePresses, type PressVerdict } from './verdict.ts';

export interface PressesOptions extends PressPart {
	readonly presses: number;
	readonly outage?: Outage | undefined;
	readonly freezeMs?: number | undefined;
}

export interface PressesResult {
	readonly verdict: PressVerdict;
	/** How many answers each phase's kills met. */
	readonly histogram: Readonly<Record<PressPhase, number>>;
	readonly kills: number;
	readonly outages: number;
	readonly freezes: number;
	readonly cuts: number;
	/** Posts that were being redrawn when the program was killed. */
	readonly redraws: number;
	/** Calls that Slack refused with status 429. */
	readonly refusedCalls: number;
	/** The verdict's problems, and what Slack refuses as malformed of what the app sent. */
	readonly problems: readonly string[];
	readonly seconds: number;
}

/** People who press. Slack tells about each of them once a restart, and no more often than its rates allow. */
export const PEOPLE = 4;
const SETTLE_WITHIN_MS = 90_000;
/** A dead replica's lease (20 s) and the wait for an unknown outcome. */
const FORGOTTEN_AFTER_MS = 45_000;
/** Handraise cannot see an answer in the service's page that comes between its read and its PUT. */
const BEFORE_READ_MS = 500;
const LOOK_EVERY_MS = 200;

/** People answer in one press while the program is killed, cut off and restarted. Judges every answer. */
export async function runPresses(options: PressesOptions): Promise<PressesResult> {
	const { harness, desk, presses: wanted, batch, random, undoMs, outage, freezeMs, onProgress = () => {} } = options;
	const started = performance.now();
	await harness.store.watchCommits();
	const choices = followChoices(harness, desk);
	const redrawnAt = watchRedraws(harness);
	const strikes = createPressStrikes({ harness, random, undoMs, outage, freezeMs, redrawnAt });
	const finisher = finishSettled(harness, desk);
	const firstTarget = random.whole(0, PRESS_TARGETS.length - 1);

	for (let turn = 0; choices.all.length < wanted; turn++) {
		const target = PRESS_TARGETS[(firstTarget + turn) % PRESS_TARGETS.length] ?? 'any time';
		if (outage?.everyTurn === true) await outage.prepare?.();
		const questions = await desk.take(Math.min(batch, wanted - choices.all.length));
		const now = questions.map((question, index) => {
			const person = harness.people[index % PEOPLE] ?? '';
			return choices.begin(question, person, shuffled(question.options, random));
		});
		for (const choice of now) armTroubles(choice, target === 'during the PUT');
		await Promise.all([strikes.strike(target, now), ...now.map((choice) => press(choice))]);
		finisher.add(now);
		onProgress(`${choices.all.length} of ${wanted} pressed, last ${target}, ${strikes.counts.kills} kills`);
	}
	await finisher.settled(SETTLE_WITHIN_MS);
	// A PUT that was given up last could still be saved within this time.
	await pause(harness.callTimeoutMs + 500);
	finisher.stop();
	choices.stop();
	const verdict = judgePresses(harness, choices.all, undoMs);
	const met = (phase: PressPhase) => choices.all.flatMap(({ hits }) => hits).filter((hit) => hit === phase).length;
	return {
		verdict,
		histogram: Object.fromEntries(PRESS_PHASES.map((phase) => [phase, met(phase)])) as Record<PressPhase, number>,
		...strikes.counts,
		refusedCalls: harness.rates.refused,
		problems: [...verdict.problems, ...violationsOf(harness)],
		seconds: (performance.now() - started) / 1000,
	};

	function armTroubles(choice: Choice, slowPut: boolean): void {
		const { sessionId } = choice.question;
		armServiceTroubles(harness, { sessionId, troubles: choice.troubles }, { random, slowPut });
		if (random.chance(0.1)) {
			harness.slack.faults.duplicateNext('block_actions');
			choice.troubles.push('a press delivered twice');
		}
	}

	async function press(choice: Choice): Promise<void> {
		const { sessionId } = choice.question;
		if (random.chance(0.4)) await pause(random.whole(0, 40));
		await choices.press(choice);
		if (!random.chance(0.08)) return;
		// Somebody answers in the service's page before the answer is sent.
		const until = (choice.attempts.at(-1)?.sentAt ?? 0) + undoMs - BEFORE_READ_MS;
		await pause(Math.max(0, random.between(Date.now(), until) - Date.now()));
		if (Date.now() > until) return;
		harness.service.sessions.answerAsPage(sessionId, ['Given on the web page']);
		choice.troubles.push('somebody answered in the web page');
	}
}

/** When Slack was last asked to update the post of a session's question. */
function watchRedraws({ signals }: Harness): ReadonlyMap<string, number> {
	const redrawnAt = new Map<string, number>();
	signals.on('redraw', (sessionId: string) => redrawnAt.set(sessionId, Date.now()));
	return redrawnAt;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
	return items
		.map((item) => ({ item, at: random.uniform() }))
		.toSorted((one, other) => one.at - other.at)
		.map(({ item }) => item);
}

/** A press that was never acknowledged may be stored all the same: then it is sent by then. */
function isForgotten(choice: Choice): boolean {
	return !isTaken(choice) && Date.now() - (choice.attempts.at(-1)?.sentAt ?? 0) > FORGOTTEN_AFTER_MS;
}

/** Lets the sessions of settled questions ask again. */
export function finishSettled(harness: Harness, desk: QuestionDesk) {
	let pending: Choice[] = [];
	const timer = setInterval(() => {
		const over = pending.filter((choice) => isSettled(harness, choice) || isForgotten(choice));
		pending = pending.filter((choice) => !over.includes(choice));
		const open = new Set(pending.map(({ question }) => question));
		for (const question of new Set(over.map((choice) => choice.question))) {
			if (!open.has(question)) desk.finish(question);
		}
	}, LOOK_EVERY_MS);
	return {
		/** All choices of a question at once. */
		add: (choices: readonly Choice[]) => void pending.push(...choices),
		/** Resolves when everything is settled, or after this time. The verdict reports what is not. */
		async settled(withinMs: number): Promise<void> {
			const until = Date.now() + withinMs;
			while (pending.length > 0 && Date.now() < until) await pause(LOOK_EVERY_MS);
		},
		stop: () => clearInterval(timer),
	};
}
