import { createHash } from 'node:crypto';
import type { Core } from '../core.ts';
import { type ReminderStage, type ReminderTimes, reminderTimes } from '../domain/channel-settings.ts';
import { elapsedSince, MINUTE_MS } from '../kernel/clock.ts';
import { type QuietHours, quietUntil } from '../kernel/quiet-hours.ts';
import type { ChannelKey } from '../store/watch.ts';
import type { ContentOf, Hold, Post, ReminderEntry } from './post.ts';
import type { ReminderFacts, ReminderStore } from './reminder-store.ts';

/** What the reminders of one question are decided from. Times are milliseconds since the epoch. */
export interface QuestionReminders
	extends Pick<
		ReminderFacts['questions'][number],
		| 'remindSince'
		| 'remindedAt'
		| 'escalationCount'
		| 'lastReminderAt'
		| 'isLost'
		| 'isAnswered'
		| 'claim'
		| 'readAt'
		| 'isFailing'
	> {
	/** The reminder that waits, as it was noted. */
	readonly noted: Pick<ReminderEntry, 'dueAt' | 'heldBy'> | null;
	readonly times: ReminderTimes;
	readonly quietHours: QuietHours | null;
	/** Null: nobody has. */
	readonly settingsChangedAt: number | null;
}

/** A reminder whose time has come. `lookAt`: what it waits for may be over then. */
type Due = { readonly stage: ReminderStage } & Pick<ReminderEntry, 'dueAt' | 'heldBy'>;
export type Decision =
	| { readonly kind: 'later'; readonly lookAt: number | null }
	| (Due & { readonly kind: 'held' | 'unread'; readonly lookAt: number })
	| (Due & { readonly kind: 'remind' });

export const MOST_ESCALATIONS = 3;
/** A read that began in this time before a reminder was due, or later, tells whether the question is still open... */
const READ_BEFORE_DUE_MS = 10_000;
/** ...unless it is older than this: the reminder waited for other reminders meanwhile. */
const READ_WITHIN_MS = 30_000;
/** How often to look whether the read that was asked for is there. */
const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_FAILING_MS = 5_000;
/** An answer may be taken back or fail; that is noticed at once unless the process dies. */
const LOOK_AGAIN_ANSWERED_MS = 10_000;
/** Reminders of a channel that are due within this time are announced together. */
const TOGETHER_MS = 10_000;

/** What becomes of the next reminder of an open question. */
export function decide(facts: QuestionReminders, now: number): Decision {
	const { noted, claim } = facts;
	const next = nextReminder(facts, now);
	if (next === null || next.at > now) return { kind: 'later', lookAt: next?.at ?? null };
	// It is late from here: time while somebody answered, the service was away or other settings applied does not count.
	const dueSince = Math.max(next.at, facts.settingsChangedAt ?? next.at);
	const due = {
		stage: next.stage,
		dueAt: Math.max(dueSince, Math.min(noted?.dueAt ?? dueSince, now)),
		heldBy: noted?.heldBy ?? null,
	};
	if (facts.isAnswered) {
		const lookAt = now + LOOK_AGAIN_ANSWERED_MS;
		return { ...due, kind: 'held', lookAt, dueAt: lookAt };
	}
	if (claim !== null)
		return { ...due, kind: 'held', lookAt: claim.until, dueAt: claim.until, heldBy: claim.person.userId };
	if (facts.isFailing) {
		// Others could join meanwhile, so it waits for none that fall due when the service is back.
		const dueAt = Math.max(dueSince, now - TOGETHER_MS);
		return { ...due, kind: 'unread', lookAt: now + LOOK_AGAIN_FAILING_MS, dueAt };
	}
	const readFrom = Math.max(now - READ_WITHIN_MS, due.dueAt - READ_BEFORE_DUE_MS);
	if (facts.readAt === null || facts.readAt < readFrom) return { ...due, kind: 'unread', lookAt: now + LOOK_AGAIN_MS };
	return { ...due, kind: 'remind' };
}

/** Of a question that is asked again because its answer is gone, nobody is mentioned before: its author was told. */
const LOST_UNMENTIONED_MS = 15 * MINUTE_MS;

/** The next reminder and its time, after the quiet hours; of two that are due, only the escalation. */
function nextReminder(facts: QuestionReminders, now: number) {
	const { times, quietHours, isLost, remindSince, remindedAt, escalationCount, lastReminderAt } = facts;
	const { remindAfterMs } = times;
	const escalateAfterMs = times.escalateAfterMs && Math.max(times.escalateAfterMs, isLost ? LOST_UNMENTIONED_MS : 0);
	const afterQuietHours = (at: number) => {
		if (quietHours === null) return at;
		const after = quietUntil(quietHours, at) ?? at;
		return after > now ? after : (quietUntil(quietHours, now) ?? after);
	};
	const reminders: { stage: ReminderStage; at: number }[] = [];
	if (escalateAfterMs !== null && escalationCount < MOST_ESCALATIONS) {
		const from = escalationCount === 0 ? remindSince : (lastReminderAt ?? remindSince);
		reminders.push({ stage: 'escalation', at: afterQuietHours(from + escalateAfterMs) });
	}
	if (remindAfterMs !== null && remindedAt === null && escalationCount === 0)
		reminders.push({ stage: 'reminder', at: afterQuietHours(remindSince + remindAfterMs) });
	return reminders.find(({ at }) => at <= now) ?? reminders.toSorted((one, other) => one.at - other.at)[0] ?? null;
}

/** A reminder waits no longer than this for the reads of others that are due. */
const WAIT_FOR_READS_MS = MINUTE_MS;
/** A held reminder is looked at this often, whatever it waits for. */
const LOOK_WITHIN_MS = 10 * MINUTE_MS;
/** Channels whose reminders are due in this time are read in any order. */
const SAME_TIME_MS = 1_000;

/**
 * Decides what becomes of a reminder that is held: one message for all that is due in its place. Sessions are read
 * before: a question that may be settled reminds nobody.
 */
export function createReminding({ store, clock, config, serviceUrl }: Core<{ reminders: ReminderStore }>) {
	const { reminders } = store;
	return async (target: Post['target'], held: ContentOf<'reminder'>): Promise<Hold> => {
		if (target.kind === 'person') return { kind: 'over' };
		const now = clock.now();
		const { questions, settings, settingsChangedAt } = await reminders.factsOf(serviceUrl, target, now);
		const { quietHours } = settings;
		const times = reminderTimes(settings, config.REMIND_AFTER);
		const noted = new Map(held.entries.map((entry) => [entry.questionId, entry]));
		const here = target.kind === 'channel' ? questions : questions.filter(({ isThreadOnly }) => isThreadOnly);
		if (here.length === 0) return { kind: 'over' };
		const decided = here.map((one): { one: typeof one; decision: Decision } => {
			// What stays in threads has its own reminder there.
			const own = target.kind === 'channel' && one.isThreadOnly ? { ...times, remindAfterMs: null } : times;
			const known = { ...one, noted: noted.get(one.questionId) ?? null, times: own, quietHours, settingsChangedAt };
			const decision = decide(known, now);
			const isElsewhere = target.kind === 'watch' && 'stage' in decision && decision.stage === 'escalation';
			return { one, decision: isElsewhere ? { kind: 'later', lookAt: null } : decision };
		});
		const entries = decided.flatMap(({ one, decision }) => {
			if (decision.kind === 'later') return [];
			const { watchId, sessionId, questionId, postTs, remindSince: postedAt } = one;
			const { kind, stage, dueAt, heldBy } = decision;
			const isLast = stage === 'escalation' && one.escalationCount === MOST_ESCALATIONS - 1;
			const entry = { watchId, sessionId, questionId, postTs, postedAt, heldBy, stage, dueAt, isLast };
			return [{ kind, entry, session: one, isFailing: one.isFailing }];
		});
		const due = entries.filter(({ kind }) => kind === 'remind');
		const unread = entries.filter(({ kind }) => kind === 'unread');
		// While the service is away nobody is reminded, so nothing waits for others.
		const isWaiting = due.length + unread.filter(({ isFailing }) => !isFailing).length > 0;
		const waitingSince = isWaiting ? (held.waitingSince ?? now) : undefined;
		const hasWaited = waitingSince !== undefined && elapsedSince(clock, waitingSince) >= WAIT_FOR_READS_MS;
		const isWaitOver = unread.length === 0 || hasWaited;
		const together = Math.min(...due.map(({ entry }) => entry.dueAt)) + TOGETHER_MS;
		const { kind } = held;
		if (due.length > 0 && isWaitOver && together <= now)
			return { kind: 'shown', content: { kind, entries: due.map(({ entry }) => entry) } };
		if (unread.length > 0) {
			const sessions = unread.map(({ session }) => session);
			await reminders.askForReads(sessions, placeOfReads(target, [...due, ...unread]), now);
		}
		const looks = decided.flatMap(({ decision }) => ('lookAt' in decision ? (decision.lookAt ?? []) : []));
		if (due.length > 0) looks.push(isWaitOver ? together : Math.max(together, now + LOOK_AGAIN_MS));
		const content = { kind, entries: entries.map(({ entry }) => entry), ...(waitingSince && { waitingSince }) };
		return { kind: 'held', until: Math.min(now + LOOK_WITHIN_MS, ...looks), content };
	};
}

/**
 * The place of the reads that a channel's reminders wait for, as a time: the longest due first. The reads of one
 * channel follow each other even where many are due at once: they come together, and a read soon is too old.
 */
function placeOfReads({ teamId, channelId }: ChannelKey, due: readonly { readonly entry: ReminderEntry }[]): number {
	const apartMs = createHash('sha256').update(`${teamId}:${channelId}`).digest().readUInt16BE() % SAME_TIME_MS;
	return Math.min(...due.map(({ entry }) => entry.dueAt)) + apartMs;
}
