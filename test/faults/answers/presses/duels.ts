import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../support/random.ts';
import { isSavedTooLate } from '../../saved.ts';
import { until } from '../../until.ts';
import { wordsForTheSecond } from '../receipt-watch.ts';
import type { Choice } from './choice.ts';
import { answerTo, giveForm, meetPeople, toldWords } from './people.ts';
import type { PressPart, Question } from './questions.ts';
import { putsByQuestion } from './verdict.ts';

type HowTold = 'reply' | 'window' | 'post';

/** Views for a form that is opened, filled in and replaced by a receipt. */
const VIEWS_PER_FORM = 2;
const TOLD_WITHIN_MS = 20_000;

/**
 * Two people answer one question, again and again, and nothing else goes wrong. `byForm`: both submit a form, at the same
 * moment. Otherwise at least one of them answers in one press, at the same moment or later.
 */
export async function runDuels(options: PressPart & { readonly duels: number; readonly byForm: boolean }) {
	const { harness, desk, duels: wanted, byForm, random, undoMs, onProgress = () => {} } = options;
	const { people } = harness;
	const { choices, broken, report, take, settle, end } = meetPeople(options);
	/** By how the second was told: a reply, the form's window, or the post, which had no buttons left. */
	const told: Record<HowTold, number> = { reply: 0, window: 0, post: 0 };
	/** How many people had a form; the others press. */
	let forms = 0;
	/** How often the one who began later won. */
	let upsets = 0;

	async function duel(question: Question, place: number): Promise<void> {
		const first = people[place % people.length] ?? '';
		const second = people[(place + 1 + random.whole(0, people.length - 2)) % people.length] ?? '';
		const pair = [
			choices.begin(question, first, question.options.slice(0, 2)),
			choices.begin(question, second, question.options.slice(2)),
		] as const;
		const withForm = byForm ? pair : place % 2 === 0 ? [pair[1]] : [];
		forms += withForm.length;
		await Promise.all(withForm.map((choice) => giveForm(harness, choice)));
		const order = random.chance(0.5) ? [0, 1] : [1, 0];
		const delayMs = byForm ? 0 : secondAfterMs(random, undoMs);
		await Promise.all(
			order.map(async (index, position) => {
				if (position === 1 && delayMs > 0) await pause(delayMs);
				const choice = pair[index];
				if (choice !== undefined) await (choice.form === null ? choices.press(choice) : choices.submit(choice));
			}),
		);
		settle(pair);
		const isOver = () =>
			answerTo(harness, question) !== '' && pair.some((choice) => isSecond(choice, answerTo(harness, question)));
		await until(isOver, undoMs + TOLD_WITHIN_MS);
		judgeDuel(question, pair, order);
	}

	/** Whether this is the one whose answer was not sent, and they know. */
	const isSecond = (choice: Choice, value: string) => !choice.options.includes(value) && howTold(choice) !== null;

	function judgeDuel(question: Question, pair: readonly Choice[], order: readonly number[]): void {
		const value = answerTo(harness, question);
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
		for (const { form, person } of pair) {
			if (form !== null && form.refusals > 0) report(question, `${person} was refused ${form.refusals} times`);
		}
		// The acknowledgement of two forms already shows the second person everything.
		if (byForm && loser.told[0]?.what !== 'conflicted') report(question, `${loser.person} heard: ${toldWords(loser)}`);
		const { shown, words } = {
			window: () => ({
				shown: loser.form?.modal.text() ?? '',
				words: wordsForTheSecond({ person: winner.person, text: value }, loser.form?.option ?? ''),
			}),
			reply: () => ({
				shown: loser.told.find(({ what }) => what === 'second')?.shown ?? '',
				words: [`<@${winner.userId}>`, value],
			}),
			post: () => ({ shown: JSON.stringify(desk.post(question)?.blocks ?? []), words: [winner.person] }),
		}[how]();
		for (const word of words) {
			if (!shown.includes(word)) report(question, `the second person is not told "${word}" but:\n${shown}`);
		}
	}

	for (let done = 0; done < wanted; ) {
		const questions = await take(wanted - done, byForm ? 2 * VIEWS_PER_FORM : VIEWS_PER_FORM);
		await Promise.all(
			questions.map((question, index) =>
				duel(question, done + index).catch((error: unknown) => report(question, `the duel broke: ${String(error)}`)),
			),
		);
		done += questions.length;
		onProgress(`${done} of ${wanted} duels, ${broken.size} broken`);
	}
	const outcome = await end();
	const all = putsByQuestion(harness);
	// One that timed out before the service took it did nothing: it is sent once more.
	const putsOf = (question: Question) => all(question).filter(({ savedAt }) => savedAt !== null);
	const wrong = [...new Set(choices.all.map(({ question }) => question))].filter((question) => {
		const saved = putsOf(question);
		return saved.length !== 1 && !isSavedTooLate(harness, saved);
	});
	const problems = wrong.map((question) => `question ${question.number}: ${putsOf(question).length} saved PUTs`);
	/** With one PUT, in which the other person was told who was first and what they said, and kept their own text. */
	const clean = wanted - new Set([...broken, ...wrong]).size;
	return { ...outcome, duels: wanted, forms, clean, told, upsets, problems: [...outcome.problems, ...problems] };
}

export type DuelsResult = Awaited<ReturnType<typeof runDuels>>;

/** How much later the second person answers: at once, within the undo window, or around its end. */
function secondAfterMs(random: Random, undoMs: number): number {
	if (random.chance(0.4)) return 0;
	if (random.chance(0.4)) return random.between(0, 40);
	return random.chance(0.5) ? random.between(0, undoMs) : random.between(undoMs - 100, undoMs + 400);
}

/** How this person knows that somebody else was first; null when they do not. */
function howTold({ told, form, gone, attempts }: Choice): HowTold | null {
	if (form !== null) return told.some(({ what }) => what === 'conflicted') ? 'window' : null;
	if (told.some(({ what }) => what === 'second')) return 'reply';
	return gone && attempts.length === 0 ? 'post' : null;
}
