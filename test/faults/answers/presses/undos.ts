import { setTimeout as pause } from 'node:timers/promises';
import type { Outcome } from '../../harness.ts';
import { killAt } from '../../hits.ts';
import { until } from '../../until.ts';
import { strikeAfter } from '../moments.ts';
import { openForm } from '../round.ts';
import type { Choice } from './choice.ts';
import { answerTo, giveForm, meetPeople, PEOPLE, toldWords } from './people.ts';
import { type PressPart, QUESTION_TITLE, type Question } from './questions.ts';
import { type PressVerdict, putsByQuestion } from './verdict.ts';

const NONE = {
	/** How often somebody pressed *Undo*. */
	undos: 0,
	/** What *Undo* said. */
	takenBack: 0,
	tooLate: 0,
	/** People who were second to an answer that was then taken back, and who were offered the question again. */
	losers: 0,
	offered: 0,
	/** Of those, whose option stood in the form when they opened it. */
	drafts: 0,
	/** Of those, who then sent theirs. */
	sentDrafts: 0,
	/** Pressed again after *Undo*. */
	again: 0,
};

export type UndosResult = Outcome & Readonly<typeof NONE> & { readonly kills: number; readonly verdict: PressVerdict };

/** Of a form, and of the form that shows a draft. */
const VIEWS_PER_UNDO = 2;
const CHOSEN_WITHIN_MS = 3_000;
/** A dead replica's lease (20 s), and what Slack refuses for a minute. */
const OFFERED_WITHIN_MS = 90_000;
/** Questions for each *Undo* wanted. */
const MOST_SCENES = 4;
/**
 * In turn, so that a short run meets each outcome: at random moments, half of all runs press no button in the short time in
 * which Slack still shows it and it is too late.
 */
const SCENES = ['too late', 'any time', 'after a second', 'any time'] as const;
/** By then an answer has arrived whose process was not killed. */
const ARRIVED_WITHIN_MS = 10_000;
const DRAFT_WITHIN_MS = 10_000;

/**
 * People press *Undo* at random moments of the time for it and around its end, while others answer the same question and
 * the program is killed. Judges what each of them was told, and what reached the service.
 */
export async function runUndos(options: PressPart & { readonly undos: number }): Promise<UndosResult> {
	const { harness, desk, undos: wanted, random, undoMs, onProgress = () => {} } = options;
	const { service, slack, people } = harness;
	const { choices, broken, report, take, settle, end } = meetPeople(options);
	let kills = 0;
	const count = { ...NONE };
	const told = (choice: Choice, what: Choice['told'][number]['what']) => choice.told.some((one) => one.what === what);

	async function kill(now: readonly Question[]): Promise<void> {
		const sessions = new Set(now.map(({ sessionId }) => sessionId));
		const signal = random.pick(['pressed', 'acked', 'acked', 'put'] as const);
		const some = random.whole(1, sessions.size * 2);
		const when = {
			signal,
			count: signal === 'put' ? 1 : some,
			afterMs: random.between(0, random.chance(0.6) ? 15 : undoMs),
		};
		await killAt(harness, { at: (hit) => strikeAfter(harness, sessions, when, hit), oneShare: 0.4, random });
		kills++;
		await harness.startAll();
	}

	async function undo(first: Choice): Promise<void> {
		if (first.own === null) return;
		count.undos++;
		await choices.undo(first);
	}

	/** Presses *Undo* once the answer has arrived: Slack shows the button until then. */
	async function undoTooLate(first: Choice): Promise<void> {
		const { own, question } = first;
		const release = slack.faults.hold('chat.update', ({ ts }) => ts === own?.ts);
		await until(() => answerTo(harness, question) !== '', ARRIVED_WITHIN_MS);
		await undo(first);
		release();
	}

	/** Presses *Undo* around the end of the time for it, or before, while the others answer. */
	async function undoAnyTime(first: Choice, others: readonly Choice[]): Promise<void> {
		const pressedAt = first.attempts.at(-1)?.sentAt ?? Date.now();
		const undoAfterMs = random.chance(0.6)
			? random.between(0, undoMs - 100)
			: random.between(undoMs - 100, undoMs + 300);
		const meanwhile = others.map(async (other) => {
			await pause(Math.max(0, pressedAt + random.between(0, Math.min(undoAfterMs, undoMs)) - Date.now()));
			await (other.form === null ? choices.press(other) : choices.submit(other));
		});
		await until(() => told(first, 'chosen'), Math.max(CHOSEN_WITHIN_MS, undoAfterMs));
		await pause(Math.max(0, pressedAt + undoAfterMs - Date.now()));
		await undo(first);
		await Promise.all(meanwhile);
	}

	/** One person presses and takes that back; none, one or two others answer meanwhile. */
	async function scene(question: Question, place: number): Promise<Choice[]> {
		const kind = SCENES[place % SCENES.length];
		const person = (offset: number) => people[(place + offset) % PEOPLE] ?? '';
		const [own = '', again = '', second = '', third = ''] = question.options;
		const first = choices.begin(question, person(0), [own, again]);
		const otherCount = kind === 'any time' ? random.pick([0, 1, 1, 2]) : kind === 'too late' ? 0 : 1;
		const others = [second, third]
			.slice(0, otherCount)
			.map((option, index) => choices.begin(question, person(index + 1), [option]));
		for (const other of others) if (kind === 'any time' && random.chance(0.4)) await giveForm(harness, other);
		// The answer is on its way for longer, so that more people want it back then.
		if (random.chance(0.35)) {
			const ms = Math.round(harness.callTimeoutMs / 2);
			service.faults.add({ kind: 'slow', ms, method: 'PUT', sessionId: question.sessionId, times: 1 });
			first.troubles.push('a slow PUT');
		}
		await choices.press(first);
		if (kind === 'any time') await undoAnyTime(first, others);
		else {
			await until(() => told(first, 'chosen'), CHOSEN_WITHIN_MS);
			await Promise.all(others.map((other) => choices.press(other)));
			await until(() => others.every((other) => wasSecondTo(other, first)), undoMs);
			await (kind === 'too late' ? undoTooLate(first) : undo(first));
		}
		return [first, ...others];
	}

	async function afterwards([first, ...others]: readonly Choice[]): Promise<void> {
		if (first === undefined || !told(first, 'taken back')) return;
		count.takenBack++;
		const { question } = first;
		const losers = others.filter((other) => wasSecondTo(other, first));
		count.losers += losers.length;
		if (losers.length === 0 && others.length === 0 && random.chance(0.5)) {
			count.again++;
			await until(() => desk.button(question, first.options[1] ?? '') !== null, OFFERED_WITHIN_MS);
			await choices.press(first, first.options[1]);
		}
		for (const loser of losers) {
			if (await isOffered(loser, others)) await takeOffer(loser, others);
			else report(question, `${loser.person} was not offered the question again: ${toldWords(loser)}`);
		}
	}

	async function isOffered(loser: Choice, others: readonly Choice[]): Promise<boolean> {
		const isThere = () => told(loser, 'offered again');
		// A third person may answer before the offer is made. Then the question is not open again.
		const isTaken = () => {
			const value = answerTo(harness, loser.question);
			return others.some((other) => other !== loser && other.options.includes(value));
		};
		await until(() => isThere() || isTaken(), OFFERED_WITHIN_MS);
		if (isThere()) count.offered++;
		else if (isTaken()) count.losers--;
		return isThere() || isTaken();
	}

	/** Opens the form again, where the choice must stand as a draft, and perhaps sends it. */
	async function takeOffer(loser: Choice, others: readonly Choice[]): Promise<void> {
		const { question, person, options } = loser;
		const [option = ''] = options;
		if (others.length > 1 || answerTo(harness, question) !== '') return;
		const isSending = random.chance(0.5);
		let found: unknown = null;
		await harness.rates.roomFor(1);
		await openForm(harness, {
			sessionId: question.sessionId,
			person,
			text: option,
			question: QUESTION_TITLE,
			async enter(modal) {
				await until(() => modal.value(0) === option, DRAFT_WITHIN_MS);
				found = modal.value(0);
				if (!isSending || found !== option) return modal.close();
				loser.sentDraft = true;
				count.sentDrafts++;
				await modal.submit();
			},
		});
		if (found === option) count.drafts++;
		else report(question, `the form of ${person} shows ${JSON.stringify(found)} instead of the draft "${option}"`);
		if (!loser.sentDraft) return;
		const isSent = () => answerTo(harness, question) === option;
		if (!(await until(isSent, OFFERED_WITHIN_MS))) report(question, `the draft "${option}" was not sent`);
	}

	// Who got no reply to their press, because of a kill, has no *Undo*.
	for (let done = 0, turn = 0; count.undos < wanted && done < wanted * MOST_SCENES; turn++) {
		const questions = await take(wanted - count.undos, VIEWS_PER_UNDO);
		// In turn: a run of kills alone meets little else, and each restart takes long on a busy machine.
		const isKilled = turn % 2 === 0;
		const scenes = questions.map((question, index) => scene(question, done + index));
		const [all] = await Promise.all([Promise.all(scenes), isKilled ? kill(questions) : undefined]);
		await Promise.all(
			all.map(async (own) => {
				await afterwards(own).catch((error: unknown) => {
					const [first] = own;
					if (first !== undefined) report(first.question, `it broke: ${String(error)}`);
				});
				settle(own);
			}),
		);
		done += questions.length;
		onProgress(`${count.undos} of ${wanted} undone, ${kills} kills, ${broken.size} broken`);
	}
	const { problems, ...outcome } = await end();
	const putsOf = putsByQuestion(harness);
	const unsent: string[] = [];
	for (const choice of choices.all) {
		if (!told(choice, 'too late')) continue;
		count.tooLate++;
		const isSent = putsOf(choice.question).some(({ savedAt }) => savedAt !== null);
		if (!isSent)
			unsent.push(
				`question ${choice.question.number}: ${choice.person} was told that it is too late, and it was never sent`,
			);
	}
	return { ...outcome, ...count, kills, problems: [...problems, ...unsent] };
}

/** Whether this person was told that the first one was before them. */
function wasSecondTo({ told }: Choice, first: Choice): boolean {
	return told.some(({ what, shown }) => {
		return (what === 'second' || what === 'conflicted') && shown.includes(`<@${first.userId}>`);
	});
}
