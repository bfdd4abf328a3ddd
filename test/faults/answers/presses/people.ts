import { setTimeout as pause } from 'node:timers/promises';
import { type Harness, type Outcome, outcomeOf } from '../../harness.ts';
import { until } from '../../until.ts';
import { openForm } from '../round.ts';
import { type Choice, followChoices } from './choice.ts';
import { type PressPart, QUESTION_TITLE, type Question, type QuestionDesk } from './questions.ts';
import { isSettled, isTaken, judgePresses, type PressVerdict } from './verdict.ts';

/** People who press. Slack tells about each of them once a restart, and no more often than its rates allow. */
export const PEOPLE = 4;
/** A dead replica's lease (20 s) and the wait for an unknown outcome. */
const FORGOTTEN_AFTER_MS = 45_000;
const SETTLE_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 200;

/** The people of a part with presses, and what is wrong about the questions that they answer. */
export function meetPeople({ harness, desk, batch, undoMs }: PressPart) {
	const { slack, rates } = harness;
	const startedAt = performance.now();
	const choices = followChoices(harness, desk);
	const finisher = finishSettled(harness, desk);
	const problems: string[] = [];
	const broken = new Set<Question>();

	function report(question: Question, what: string): void {
		broken.add(question);
		problems.push(`question ${question.number}: ${what}`);
	}

	return {
		choices,
		broken: broken as ReadonlySet<Question>,
		report,
		/** Meets that many questions at once, for each of which Slack shows that many views: at most `batch`. */
		async take(most: number, viewsPerQuestion: number): Promise<Question[]> {
			slack.forgetViews(Object.keys(slack.state.views));
			const questions = await desk.take(Math.min(batch, most));
			await rates.roomFor(questions.length * viewsPerQuestion);
			return questions;
		},
		/** What people did about a question, all at once. Its session asks again when it is settled. */
		settle: finisher.add,
		/** When everything is settled. */
		async end(): Promise<Outcome & { readonly verdict: PressVerdict }> {
			await finisher.settled(SETTLE_WITHIN_MS);
			// A PUT that was given up last could still be saved within this time.
			await pause(harness.callTimeoutMs + 500);
			finisher.stop();
			choices.stop();
			const verdict = judgePresses(harness, choices.all, undoMs);
			return { verdict, ...outcomeOf(harness, startedAt, [...problems, ...verdict.problems]) };
		},
	};
}

/** The person opens the form of the question and chooses their option in it. */
export async function giveForm(harness: Harness, choice: Choice): Promise<void> {
	const { question, person, options } = choice;
	const option = options[0] ?? '';
	const { modal } = await openForm(harness, {
		sessionId: question.sessionId,
		person,
		text: option,
		question: QUESTION_TITLE,
		enter: (form) => form.choose(0, option),
	});
	choice.form = { modal, option, refusals: 0, acked: false };
}

/** What the service has as the answer to a question; empty without one. */
export function answerTo({ service }: Harness, { sessionId, messageIndex }: Question): string {
	return service.sessions.values(sessionId, messageIndex)[0] ?? '';
}

export function toldWords({ told }: Choice): string {
	return told.map(({ what }) => what).join(', ') || 'nothing';
}

/** A press that was never acknowledged may be stored all the same: then it is sent by then. */
function isForgotten(choice: Choice): boolean {
	return !isTaken(choice) && Date.now() - (choice.attempts.at(-1)?.sentAt ?? 0) > FORGOTTEN_AFTER_MS;
}

/** Lets the sessions of settled questions ask again. */
function finishSettled(harness: Harness, desk: QuestionDesk) {
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
		add: (choices: readonly Choice[]) => void pending.push(...choices),
		/** Resolves when everything is settled, or after this time. The verdict reports what is not. */
		settled: (withinMs: number) => until(() => pending.length === 0, withinMs, LOOK_EVERY_MS),
		stop: () => clearInterval(timer),
	};
}
