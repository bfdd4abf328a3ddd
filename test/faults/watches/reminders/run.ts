import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../support/random.ts';
import { type Harness, type Outcome, outcomeOf, type Part } from '../../harness.ts';
import { shuffled, until } from '../../until.ts';
import { type FleetOptions, startFleet } from '../fleet.ts';
import { dueAtOf, judgeReminders, latestAt, type ReminderTimes, type ReminderVerdict, type Strike } from './judge.ts';
import { type ReminderTarget, strikeAtReminder } from './moments.ts';
import { type Asked, followQuestions } from './questions.ts';

export interface ReminderFaultOptions extends FleetOptions, Omit<Part, 'batch'> {
	/** Kills and freezes, each aimed at a moment around a reminder. */
	readonly strikes: number;
	readonly targets: readonly ReminderTarget[];
	/** An agent whose question was answered asks the next one within this time. */
	readonly asksWithinMs: number;
	/** What the program was started with. */
	readonly pace: { readonly times: ReminderTimes; readonly freezeMs: number };
}

const STRIKES = ['kill one', 'kill all', 'freeze'] as const;
type StrikeKind = (typeof STRIKES)[number];

const TOLD_WITHIN_MS = 60_000;
/**
 * After the leases have ended, the work of the process that was hit is done within this time. More than the judge allows:
 * the next strike must not excuse what came too late after this one.
 */
const AFTERMATH_MS = 15_000;

/**
 * Kills or freezes processes at moments around reminders, while sessions ask questions that most people answer late or never,
 * and judges by what stands in Slack.
 */
export async function runReminderFaults(
	options: ReminderFaultOptions,
): Promise<ReminderVerdict & Outcome & { kills: number; freezes: number }> {
	const { harness, random, pace, historyReadable, onProgress = () => {} } = options;
	const { replicas, store } = harness;
	// A single process on SQLite clears the leases of the one before.
	const times = store.kind === 'sqlite' ? { ...pace.times, leaseMs: 0 } : pace.times;
	const started = performance.now();
	const fleet = await startFleet(harness, options);
	await mentionSomebody(harness, Math.ceil(options.sessions / options.perChannel), pace.times.escalateMs);
	const questions = followQuestions(harness, fleet);
	const strikes: Strike[] = [];
	const counts = { kills: 0, freezes: 0 };
	let isOver = false;

	const agents = fleet.ids.map((id) => agent(id, random.fork()));
	const targets = inTurn(options.targets);
	const kinds = inTurn(replicas.length > 1 ? STRIKES : (['kill all', 'kill all', 'freeze'] as const));
	for (let number = 0; number < options.strikes; number += 1) {
		const [target, kind] = [targets(), kinds()];
		await strike(target, kind, () => {
			// Nothing happens to questions that are asked later.
			isOver = number === options.strikes - 1;
		});
		onProgress(`strike ${number + 1} of ${options.strikes}: ${kind} ${target}`);
	}
	isOver = true;
	await Promise.all(agents);
	questions.close();
	const verdict = judgeReminders(questions.all, { times, strikes, historyReadable, endedAt: Date.now() });
	const misplaced = questions.misplaced.map((text) => `a reminder in another place: ${text}`);
	const nameless = questions.nameless.map((text) => `a reminder that names no open question: ${text}`);
	return {
		...verdict,
		...outcomeOf(harness, started, [...verdict.problems, ...nameless, ...misplaced]),
		...counts,
	};

	/** Asks again and again. Some questions are answered before their first reminder, some between reminders, and many never. */
	async function agent(id: string, own: Random): Promise<void> {
		while (!isOver) {
			await pause(own.whole(0, options.asksWithinMs));
			if (isOver) return;
			const question = questions.ask(id);
			const { remindMs, togetherMs, escalateMs } = times;
			const firstMs = remindMs + togetherMs;
			const patienceMs = own.chance(0.15) ? own.whole(0, firstMs) : own.whole(firstMs, 6 * escalateMs);
			const answerAt = own.chance(0.5) ? Number.POSITIVE_INFINITY : Date.now() + patienceMs;
			while (Date.now() < answerAt && !isThrough(question)) {
				if (isOver) return;
				await pause(100);
			}
			questions.answer(question);
			await until(() => question.toldAt !== null, TOLD_WITHIN_MS);
		}
	}

	/** When the consequences of a strike are over. */
	function overAt({ at, upAt }: Strike): number {
		return Math.max(at + times.leaseMs, upAt) + AFTERMATH_MS;
	}

	/** Whether all reminders came, or the next one comes no more. */
	function isThrough(question: Asked): boolean {
		const dueAt = dueAtOf(question, question.reminders.length, times);
		if (dueAt === null) return question.postedAt !== null || question.askedAt < Date.now() - TOLD_WITHIN_MS;
		return Date.now() > latestAt(dueAt, { times, strikes });
	}

	/** Resolves when the program runs as before and all consequences are over. */
	async function strike(target: ReminderTarget, kind: StrikeKind, onHit: () => void): Promise<void> {
		const running = replicas.filter((replica) => replica.running);
		const victims = kind === 'kill all' ? running : [random.pick(running)];
		let at = 0;
		let gone: Promise<unknown> = Promise.resolve();
		const aim = { harness, questions: questions.all, target, times, random };
		await strikeAtReminder(aim, () => {
			at = Date.now();
			onHit();
			if (kind === 'freeze') for (const victim of victims) victim.freeze();
			else gone = Promise.all(victims.map((victim) => victim.kill()));
		});
		// The end is not known yet.
		strikes.push({ at, upAt: Number.POSITIVE_INFINITY });
		await gone;
		if (kind === 'freeze') {
			await pause(pace.freezeMs);
			for (const victim of victims) victim.thaw();
			counts.freezes += 1;
		} else counts.kills += 1;
		// Of two processes, the other has to take over.
		const hasOther = kind === 'kill one' && running.length > 1;
		if (kind === 'kill all') await harness.startAll();
		const struck = { at, upAt: hasOther ? at : Date.now() };
		strikes.splice(-1, 1, struck);
		await pause(Math.max(0, overAt(struck) - Date.now()));
		await harness.startAll();
	}

	/** Each choice in turn, shuffled anew for each round. */
	function inTurn<T>(choices: readonly T[]): () => T {
		let left: T[] = [];
		return () => {
			if (left.length === 0) left = shuffled(choices, random);
			return left.pop() as T;
		};
	}
}

/** Has the escalations of each channel mention somebody: without names none comes. */
async function mentionSomebody(
	{ slack, people: [person = ''] }: Harness,
	channelCount: number,
	escalateMs: number,
): Promise<void> {
	const somebody = slack.as(person);
	for (let index = 0; index < channelCount; index += 1) {
		const channel = `#fleet${index}`;
		await somebody.command(channel, '/session settings');
		const modal = await somebody.waitForModal('[Save]');
		await modal.choose('Escalate after', `${escalateMs / 1_000} s`);
		await modal.choose('Mention', [person]);
		await modal.submit();
		await somebody.waitForMessage(channel, 'changed the reminders of');
		await somebody.modal()?.close(true);
	}
}
