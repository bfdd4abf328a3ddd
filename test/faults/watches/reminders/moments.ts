import type { Random } from '../../../support/random.ts';
import type { Harness } from '../../harness.ts';
import { dueAtOf, type ReminderTimes } from './judge.ts';
import { type Asked, isReminder } from './questions.ts';

/** What a strike aims at. */
export const REMINDER_TARGETS = [
	'when a reminder is due',
	'during the early read',
	'before the call',
	'during the call',
	'after the ok',
	'any time',
] as const;
export type ReminderTarget = (typeof REMINDER_TARGETS)[number];

const LOOK_EVERY_MS = 5;
/** What happens at a time is looked for in this time before and after it. */
const AROUND_MS = 60;

interface Aim {
	readonly harness: Harness;
	readonly questions: readonly Asked[];
	readonly target: ReminderTarget;
	readonly times: ReminderTimes;
	readonly random: Random;
}

/** Calls `strike` in a moment of this kind. Resolves after the call. */
export async function strikeAtReminder(aim: Aim, strike: () => void): Promise<void> {
	await new Promise<void>((resolve) => {
		const undo: (() => void)[] = [];
		let isStruck = false;
		const hit = () => {
			if (isStruck) return;
			isStruck = true;
			strike();
			for (const lift of undo) lift();
			resolve();
		};
		// Several reminders are due in this time. Not every one of them offers every moment.
		const timer = setTimeout(hit, 3 * aim.times.escalateMs);
		undo.push(() => clearTimeout(timer), arm(aim, hit));
	});
}

/** Calls `hit` in the moment; returns what ends the waiting for it. */
function arm({ harness, questions, target, times, random }: Aim, hit: () => void): () => void {
	const { slack, held } = harness;
	const dueAt = (question: Asked) =>
		question.answeredAt === null ? dueAtOf(question, question.reminders.length, times) : null;

	/** At the time of a reminder, or a time after it. */
	function atTime(afterMs: number): () => void {
		const from = Date.now();
		const shiftMs = afterMs + random.between(-AROUND_MS, AROUND_MS);
		const timer = setInterval(() => {
			const now = Date.now();
			const isNow = questions.some((question) => {
				const at = (dueAt(question) ?? 0) + shiftMs;
				return at > from && at <= now && at > now - AROUND_MS;
			});
			if (isNow) hit();
		}, LOOK_EVERY_MS);
		return () => clearInterval(timer);
	}

	/** While Slack holds such a call; Slack does its work after that. */
	function duringCall(method: string, isMeant: (args: Record<string, unknown>) => boolean): () => void {
		return slack.faults.hold(method, (args) => {
			if (!isMeant(args)) return false;
			// The call is held first.
			setTimeout(hit, random.between(0, AROUND_MS));
			return true;
		});
	}

	switch (target) {
		case 'when a reminder is due':
			return atTime(0);
		case 'during the early read': {
			for (const question of questions) {
				held.set(question.sessionId, async () => {
					if ((dueAt(question) ?? Number.POSITIVE_INFINITY) <= Date.now()) hit();
				});
			}
			return () => held.clear();
		}
		case 'before the call':
			return random.chance(0.5) ? atTime(times.togetherMs) : duringCall('chat.getPermalink', () => true);
		case 'during the call':
			return duringCall('chat.postMessage', isReminder);
		case 'after the ok':
			return slack.changes.listen(({ kind, id }) => {
				const message = kind === 'message' ? slack.state.messages.at(-1) : undefined;
				if (message !== undefined && message.ts === id && isReminder(message)) hit();
			});
		case 'any time': {
			const timer = setTimeout(hit, random.between(0, times.escalateMs));
			return () => clearTimeout(timer);
		}
	}
}
