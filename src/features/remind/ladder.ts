import { type QuietHours, quietUntil } from '../../core/quiet-hours.ts';
import type { LadderTimes, ReminderStage } from '../../database/channel-settings.ts';
import type { Wait } from '../../database/ladders.ts';
import type { TakenLadder } from './ladder-store.ts';

export interface LadderFacts extends Omit<TakenLadder, 'changeCount'> {
	readonly times: LadderTimes;
	readonly quietHours: QuietHours | null;
	/** Null: nobody has. */
	readonly settingsChangedAt: number | null;
}

/** A reminder is due. `unread`: a read of the session has to tell whether it is needed. */
export type DueReminder =
	| { readonly kind: 'remind'; readonly stage: ReminderStage; readonly reminderDueAt: number }
	| (Omit<Wait, 'kind'> & { readonly kind: 'unread'; readonly reminderDueAt: number });

/** `over`: the question is settled, so no more reminders. */
export type Decision = { readonly kind: 'over' } | Wait | DueReminder;

export const MOST_ESCALATIONS = 3;
/** A read that began in this time before a reminder was due, or later, tells whether the question is still open... */
const READ_BEFORE_DUE_MS = 10_000;
/** ...unless it is older than this: the reminder waited for other reminders meanwhile. */
const READ_WITHIN_MS = 30_000;
/** How often to look whether the read that was asked for is there. */
export const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_FAILING_MS = 5_000;
/** An answer may be taken back or fail; that is noticed at once unless the process dies then. */
const LOOK_AGAIN_ANSWERED_MS = 10_000;
/** Reminders of a channel that are due within this time are announced together. */
export const TOGETHER_MS = 10_000;

export function decide(facts: LadderFacts, now: number): Decision {
	const { ladder, claim } = facts;
	if (!facts.isOpen) return { kind: 'over' };
	if (facts.hasGoneOn) return NOT_DUE;
	if (facts.isAnswered) {
		const dueAt = now + LOOK_AGAIN_ANSWERED_MS;
		return { ...NOT_DUE, dueAt, reminderDueAt: dueAt };
	}
	// While Slack is away, reminders do not pile up.
	if (ladder.isSending) return NOT_DUE;
	const next = nextReminder(facts, now);
	if (next === null) return NOT_DUE;
	if (next.at > now) return { ...NOT_DUE, dueAt: next.at, heldBy: ladder.heldBy };
	// The reminder is late from here. Time while somebody answered, the service was away or other settings applied does not count.
	const dueSince = Math.max(next.at, facts.settingsChangedAt ?? next.at);
	const reminderDueAt = Math.max(dueSince, Math.min(ladder.reminderDueAt ?? dueSince, now));
	if (claim !== null && claim.until > now)
		return { kind: 'wait', dueAt: claim.until, reminderDueAt: claim.until, heldBy: claim.userId };
	const unread = { kind: 'unread', heldBy: ladder.heldBy } as const;
	if (facts.isFailing) {
		// Others could join meanwhile, so it waits for none that fall due when the service is back.
		return { ...unread, dueAt: now + LOOK_AGAIN_FAILING_MS, reminderDueAt: Math.max(dueSince, now - TOGETHER_MS) };
	}
	const readFrom = Math.max(now - READ_WITHIN_MS, reminderDueAt - READ_BEFORE_DUE_MS);
	if (facts.readAt === null || facts.readAt < readFrom) {
		return { ...unread, dueAt: now + LOOK_AGAIN_MS, reminderDueAt };
	}
	return { kind: 'remind', stage: next.stage, reminderDueAt };
}

/** Of a question that is asked again because its answer is gone, nobody is mentioned before: its author was told. */
const LOST_UNMENTIONED_MS = 15 * 60_000;

const NOT_DUE = { kind: 'wait', dueAt: null, reminderDueAt: null, heldBy: null } as const;

/** The next reminder and its time, after the quiet hours; of two that are due, only the escalation. */
function nextReminder({ ladder, times, quietHours, isLost }: LadderFacts, now: number) {
	const { remindAfterMs } = times;
	const escalateAfterMs = times.escalateAfterMs && Math.max(times.escalateAfterMs, isLost ? LOST_UNMENTIONED_MS : 0);
	const { postedAt, remindedAt, escalationCount } = ladder;
	const afterQuietHours = (at: number) => {
		if (quietHours === null) return at;
		const after = quietUntil(quietHours, at) ?? at;
		return after > now ? after : (quietUntil(quietHours, now) ?? after);
	};
	const reminders: { stage: ReminderStage; at: number }[] = [];
	if (escalateAfterMs !== null && escalationCount < MOST_ESCALATIONS) {
		const from = escalationCount === 0 ? postedAt : (ladder.lastReminderAt ?? postedAt);
		reminders.push({ stage: 'escalation', at: afterQuietHours(from + escalateAfterMs) });
	}
	if (remindAfterMs !== null && remindedAt === null && escalationCount === 0)
		reminders.push({ stage: 'reminder', at: afterQuietHours(postedAt + remindAfterMs) });
	return reminders.find(({ at }) => at <= now) ?? reminders.toSorted((one, other) => one.at - other.at)[0] ?? null;
}
