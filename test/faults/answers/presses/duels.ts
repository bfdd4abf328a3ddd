import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../support/random.ts';
import type { Harness } from '../../harness.ts';
import { violationsOf } from '../../harness.ts';
import { until } from '../../until.ts';
import { wordsForTheSecond } from '../duels.ts';
import { openForm } from '../round.ts';
import { type Choice, followChoices } from './choice.ts';
import { finishSettled } from './presses.ts';
import type { PressPart } from './questions.ts';
import { QUESTION_TITLE, type Question } from './questions.ts';
import { judgePresses, type PressVerdict, putsByQuestion } from './verdict.ts';

export interface PressDuelsResult {
	readonly duels: number;
	/** Of those, between a press and a form; the others are between two presses. */
	readonly withForm: number;
	/** Duels with one PUT, in which the other person was told who was first and what they said. */
	readonly clean: number;
	/** By how the second was told: a reply, the form's window, or the post, which had no buttons left. */
	readonly told: Readonly<Record<HowTold, number>>;
	/** How often the one who began later won. */
	readonly upsets: number;
	readonly verdict: PressVerdict;
	readonly refusedCalls: number;
	readonly problems: readonly string[];
	readonly seconds: number;
}

type HowTold = 'reply' | 'window' | 'post';

/** Views for a form that is opened, filled in and replaced by a receipt. */
const VIEWS_PER_FORM = 2;
const TOLD_WITHIN_MS = 20_000;
const SETTLE_WITHIN_MS = 60_000;

/** Two people answer one question, one of them in one press: at the same moment, or the second one later. */
export async function runPressDuels({
	harness,
	desk,
	duels: wanted,
	batch,
	random,
	undoMs,
	onProgress = () => {},
}: PressPart & { readonly duels: number }): Promise<PressDuelsResult> {
	const { slack, people } = harness;
	const started = performance.now();
	const choices = followChoices(harness, desk);
	const finisher = finishSettled(harness, desk);
	const problems: string[] = [];
	const broken = new Set<number>();
	const told = { reply: 0, window: 0, post: 0 };
	let withForm = 0;
	let upsets = 0;
	let done = 0;

	function report({ number }: Question, what: string): void {
		broken.add(number);
		problems.push(`question ${number}: ${what}`);
	}

	async function duel(question: Question, place: number): Promise<void> {
		const first = people[place % people.length] ?? '';
		const second = people[(place + 1 + random.whole(0, people.length - 2)) % people.length] ?? '';
		const own = question.options.slice(0, 2);
		const pair = [
			choices.begin(question, first, own),
			choices.begin(question, second, question.options.slice(2)),
		] as const;
		const hasForm = random.chance(0.5);
		if (hasForm) {
			withForm++;
			const [, other] = pair;
			await giveForm(harness, other);
		}
		const order = random.chance(0.5) ? [0, 1] : [1, 0];
		const delayMs = secondAfterMs(random, undoMs);
		await Promise.all(
			order.map(async (index, position) => {
				if (position === 1 && delayMs > 0) await pause(delayMs);
				const choice = pair[index];
				if (choice !== undefined) await (choice.form === null ? choices.press(choice) : choices.submit(choice));
			}),
		);
		finisher.add(pair);
		const isOver = () => answerTo(question) !== '' && pair.some((choice) => isSecond(choice, answerTo(question)));
		await until(isOver, undoMs + TOLD_WITHIN_MS);
		judgeDuel(question, pair, order);
	}

	const answerTo = ({ sessionId, messageIndex }: Question) =>
		harness.service.sessions.values(sessionId, messageIndex)[0] ?? '';

	/** Whether this is the one whose answer was not sent, and they know. */
	const isSecond = (choice: Choice, value: string) => !choice.options.includes(value) && howTold(choice) !== null;

	function judgeDuel(question: Question, pair: readonly Choice[], order: readonly number[]): void {
		const value = answerTo(question);
		const winner = pair.find(({ options }) => options.includes(value));
		const loser = pair.find((choice) => choice !== winner);
		if (winner === undefined || loser === undefined) {
			report(question, `the service has "${value}"`);
			return;
		}
		if (pair.indexOf(winner) !== order[0]) upsets++;
		const how = howTold(loser);
		if (how === null) {
			report(question, `${loser.person} was not told that ${winner.person} was first: ${toldWords(loser)}`);
			return;
		}
		told[how]++;
		if (how === 'window') {
			const shown = loser.form?.modal.text() ?? '';
			for (const words of wordsForTheSecond({ person: winner.person, text: value }, loser.form?.option ?? '')) {
				if (!shown.includes(words)) report(question, `the second person is not shown "${words}" but:\n${shown}`);
			}
		} else if (how === 'reply') {
			const shown = loser.told.find(({ what }) => what === 'second')?.shown ?? '';
			for (const words of [`<@${winner.userId}>`, value]) {
				if (!shown.includes(words)) report(question, `the second person is not told "${words}" but: ${shown}`);
			}
		} else {
			const shown = JSON.stringify(desk.post(question)?.blocks ?? []);
			if (!shown.includes(`<@${winner.userId}>`)) report(question, `the post does not say who was first: ${shown}`);
		}
	}

	while (done < wanted) {
		const questions = await desk.take(Math.min(batch, wanted - done));
		await harness.rates.roomFor(questions.length * VIEWS_PER_FORM);
		await Promise.all(
			questions.map((question, index) =>
				duel(question, done + index).catch((error: unknown) => report(question, `the duel broke: ${String(error)}`)),
			),
		);
		done += questions.length;
		onProgress(`${done} of ${wanted} press duels, ${broken.size} broken`);
		slack.forgetViews(Object.keys(slack.state.views));
	}
	await finisher.settled(SETTLE_WITHIN_MS);
	finisher.stop();
	choices.stop();
	const verdict = judgePresses(harness, choices.all, undoMs);
	const putsOf = putsByQuestion(harness);
	for (const question of new Set(choices.all.map((choice) => choice.question))) {
		const puts = putsOf(question);
		if (puts.length !== 1) report(question, `${puts.length} PUTs`);
	}
	return {
		duels: wanted,
		withForm,
		clean: wanted - broken.size,
		told,
		upsets,
		verdict,
		refusedCalls: harness.rates.refused,
		problems: [...problems, ...verdict.problems, ...violationsOf(harness)],
		seconds: (performance.now() - started) / 1000,
	};
}

/** How much later the second person answers: at once, within the undo window, or around its end. */
function secondAfterMs(random: Random, undoMs: number): number {
	if (random.chance(0.4)) return 0;
	if (random.chance(0.4)) return random.between(0, 40);
	return random.chance(0.5) ? random.between(0, undoMs) : random.between(undoMs - 100, undoMs + 400);
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
	choice.form = { modal, option, acked: false };
}

/** How this person knows that somebody else was first; null when they do not. */
function howTold({ told, form, gone, attempts }: Choice): HowTold | null {
	if (form !== null) return told.some(({ what }) => what === 'conflicted') ? 'window' : null;
	if (told.some(({ what }) => what === 'second')) return 'reply';
	return gone && attempts.length === 0 ? 'post' : null;
}

export function toldWords({ told }: Choice): string {
	return told.map(({ what }) => what).join(', ') || 'nothing';
}
