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
	/** Its entry in the held reminder. */
	readonly noted: Pick<ReminderEntry, 'dueAt' | 'heldBy'> | null;
	readonly times: ReminderTimes;
	readonly quietHours: QuietHours | null;
	/** Null: nobody has changed them. */
	readonly settingsChangedAt: number | null;
}

/** A reminder whose time has come. */
type Due = { readonly stage: ReminderStage } & Pick<ReminderEntry, 'dueAt' | 'heldBy'>;
/**
 * `later`: none is due; the next one comes at `lookAt`, or never (null). `held`: somebody has answered or is answering.
 * `unread`: a read has to show first that the question is still open. `lookAt`: when to decide again.
 */
export type Decision =
	| { readonly kind: 'later'; readonly lookAt: number | null }
	| (Due & { readonly kind: 'held' | 'unread'; readonly lookAt: number })
	| (Due & { readonly kind: 'remind' });

export const MOST_ESCALATIONS = 3;
/** A read counts that began at most this long before the reminder was due… */
const READ_BEFORE_DUE_MS = 10_000;
/** …and at most this long ago: the reminder may have waited for others since. */
const READ_WITHIN_MS = 30_000;
/** How often to look whether the read that was asked for is there. */
const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_FAILING_MS = 5_000;
/** How often to look whether an answer has failed. Its change makes the reminder due, unless the process dies. */
const LOOK_AGAIN_ANSWERED_MS = 10_000;
/** Reminders of a channel that are due within this time stand in one message. */
const TOGETHER_MS = 10_000;

/** Decides about the next reminder of an open question. Pure. */
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
		// Others could join it during the outage. When that ends, it waits for no more of them.
		const dueAt = Math.max(dueSince, now - TOGETHER_MS);
		return { ...due, kind: 'unread', lookAt: now + LOOK_AGAIN_FAILING_MS, dueAt };
	}
	const readFrom = Math.max(now - READ_WITHIN_MS, due.dueAt - READ_BEFORE_DUE_MS);
	if (facts.readAt === null || facts.readAt < readFrom) return { ...due, kind: 'unread', lookAt: now + LOOK_AGAIN_MS };
	return { ...due, kind: 'remind' };
}

/** A question whose answer was lost mentions nobody before this time: the author of the answer was told. */
const LOST_UNMENTIONED_MS = 15 * MINUTE_MS;

/** The next reminder and its time, moved behind the quiet hours. Of two that are due, only the escalation comes. */
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
/** Reads for channels whose reminders are due within this time come in any order. */
const SAME_TIME_MS = 1_000;

/**
 * Decides what becomes of a held reminder: one message for all that is due in its place. Sessions are read before that,
 * because a question that may be settled reminds nobody.
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
			// Questions in threads have their reminders there, but their escalations in the channel.
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
		// During an outage nobody is reminded, so no reminder waits for others.
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
 * The place of a channel's reads among awaited reads (`by` of `PlannedRead`): the channel that waits longest comes
 * first. One message needs fresh reads of all its sessions. So each channel adds a part of a second of its own, which
 * keeps its reads together.
 */
function placeOfReads({ teamId, channelId }: ChannelKey, due: readonly { readonly entry: ReminderEntry }[]): number {
	const apartMs = createHash('sha256').update(`${teamId}:${channelId}`).digest().readUInt16BE() % SAME_TIME_MS;
	return Math.min(...due.map(({ entry }) => entry.dueAt)) + apartMs;
}
