import { setTimeout as pause } from 'node:timers/promises';
import type { Harness } from '../../harness.ts';
import type { StrikeOptions } from '../../hits.ts';
import { shuffled } from '../../until.ts';
import { armServiceTroubles } from '../troubles.ts';
import type { Choice } from './choice.ts';
import { meetPeople, PEOPLE } from './people.ts';
import type { PressPart } from './questions.ts';
import { createPressStrikes, PRESS_PHASES, PRESS_TARGETS, type PressPhase } from './strikes.ts';

export interface PressesOptions extends PressPart, Pick<StrikeOptions<never, never, never>, 'outage' | 'freezeMs'> {
	readonly presses: number;
}

/** Handraise cannot see an answer in the service's page that comes between its read and its PUT. */
const BEFORE_READ_MS = 500;

/** People answer in one press while the program is killed, cut off and restarted. Judges every answer. */
export async function runPresses(options: PressesOptions) {
	const { harness, presses: wanted, random, undoMs, outage, freezeMs, onProgress = () => {} } = options;
	await harness.store.watchCommits();
	const { choices, take, settle, end } = meetPeople(options);
	const redrawnAt = watchRedraws(harness);
	const strikes = createPressStrikes({ harness, random, undoMs, outage, freezeMs, redrawnAt });
	const firstTarget = random.whole(0, PRESS_TARGETS.length - 1);

	for (let turn = 0; choices.all.length < wanted; turn++) {
		const target = PRESS_TARGETS[(firstTarget + turn) % PRESS_TARGETS.length] ?? 'any time';
		const { strike } = await strikes.next();
		const questions = await take(wanted - choices.all.length, 0);
		const now = questions.map((question, index) => {
			const person = harness.people[index % PEOPLE] ?? '';
			return choices.begin(question, person, shuffled(question.options, random));
		});
		for (const choice of now) armTroubles(choice, target === 'during the PUT');
		await Promise.all([strike(target, now), ...now.map((choice) => press(choice))]);
		settle(now);
		onProgress(`${choices.all.length} of ${wanted} pressed, last ${target}, ${strikes.counts.kills} kills`);
	}
	const outcome = await end();
	const met = (phase: PressPhase) => choices.all.flatMap(({ hits }) => hits).filter((hit) => hit === phase).length;
	return {
		...outcome,
		/** How many answers each phase's kills met. */
		histogram: Object.fromEntries(PRESS_PHASES.map((phase) => [phase, met(phase)])) as Record<PressPhase, number>,
		...strikes.counts,
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

export type PressesResult = Awaited<ReturnType<typeof runPresses>>;

/** When Slack was last asked to update the post of a session's question. */
function watchRedraws({ signals }: Harness): ReadonlyMap<string, number> {
	const redrawnAt = new Map<string, number>();
	signals.on('redraw', (sessionId: string) => redrawnAt.set(sessionId, Date.now()));
	return redrawnAt;
}
