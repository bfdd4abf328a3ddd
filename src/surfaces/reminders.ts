import { createHash, randomUUID } from 'node:crypto';
import type { Core } from '../core.ts';
import { elapsedSince } from '../kernel/basics.ts';
import { createLeaseLoop } from '../kernel/lease-loop.ts';
import { type QuietHours, quietUntil } from '../kernel/quiet-hours.ts';
import type { LadderOutcome, Wait, WaitingReminders } from '../store/ladders.ts';
import { type ChannelKey, type LadderTimes, type ReminderStage, reminderTimes } from '../store/watch.ts';
import type { LadderBatch, LadderStore, TakenLadder } from './ladder-store.ts';
import type { NewPost } from './post.ts';

export interface LadderFacts extends Omit<TakenLadder, 'changeCount' | 'isThreadOnly'> {
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
const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_FAILING_MS = 5_000;
/** An answer may be taken back or fail; that is noticed at once unless the process dies. */
const LOOK_AGAIN_ANSWERED_MS = 10_000;
/** Reminders of a channel that are due within this time are announced together. */
const TOGETHER_MS = 10_000;

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
	// It is late from here: time while somebody answered, the service was away or other settings applied does not count.
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

interface Due<Kind = DueReminder> {
	readonly taken: TakenLadder;
	readonly decision: Kind;
}

const CHANNELS_AT_ONCE = 8;
/** A reminder waits no longer than this for the reads of a few other due reminders. */
const WAIT_FOR_OTHERS_MS = 20_000;
/** Nor longer than this when more than a few are not read at first, as after quiet hours. */
const WAIT_FOR_MANY_MS = 2 * 60_000;
const A_FEW = 5;
/** Channels whose reminders are due in this time are read in any order. */
const SAME_TIME_MS = 1_000;

/**
 * Reminds of open questions. Each ladder is a row with a due time; a reminder is queued as a post in the same
 * transaction as the row's next time. The session is read before: a question that may be settled reminds nobody.
 */
export function createReminders(core: Core<{ ladders: LadderStore }>) {
	const { serviceUrl, clock } = core;
	const { ladders: store } = core.store;
	const { REMIND_AFTER: defaultMs } = core.config;

	async function work(batch: LadderBatch, token: string): Promise<void> {
		const now = clock.now();
		const { settings, settingsChangedAt } = batch;
		const current = { times: reminderTimes(settings, defaultMs), quietHours: settings.quietHours, settingsChangedAt };
		const decided = batch.ladders.map((taken) => ({ taken, decision: decide({ ...taken, ...current }, now) }));
		const due = decided.flatMap(({ taken, decision }) => (decision.kind === 'remind' ? [{ taken, decision }] : []));
		const unread = decided.flatMap(({ taken, decision }) => (decision.kind === 'unread' ? [{ taken, decision }] : []));
		// While the service is away nobody is reminded, so nothing waits for others.
		const toCome = unread.filter(({ taken }) => !taken.isFailing);
		const waiting = waitingOf([...due, ...toCome], { isFew: toCome.length <= A_FEW, now });
		const remindAt = timeToRemind(due, { isWaitOver: unread.length === 0 || hasWaited(waiting), now });
		const isTime = remindAt !== null && remindAt <= now;
		const posts = isTime ? postsOf(batch, due) : [];
		const readBy = placeOfReads(batch, [...due, ...unread]);
		const outcomes = decided.map(({ taken: { ladder, changeCount }, decision }): LadderOutcome => {
			const taken = { ladder, changeCount };
			if (decision.kind === 'unread') return { ...taken, ...decision, kind: 'wait', waiting, readBy };
			if (decision.kind === 'wait') return { ...taken, ...decision, readBy: null };
			if (decision.kind === 'over' || isTime) return { ...taken, ...decision };
			const { reminderDueAt } = decision;
			return { ...taken, kind: 'wait', dueAt: remindAt, reminderDueAt, heldBy: ladder.heldBy, waiting, readBy: null };
		});
		await store.record(token, outcomes, { posts, now });
	}

	/** Whether a channel's reminders have waited for others long enough. After a stop of the program, all are due. */
	function hasWaited(waiting: WaitingReminders | null): boolean {
		if (waiting === null) return false;
		const { since, fewSince } = waiting;
		const isForFew = fewSince !== null && elapsedSince(clock, fewSince) >= WAIT_FOR_OTHERS_MS;
		return isForFew || elapsedSince(clock, since) >= WAIT_FOR_MANY_MS;
	}

	const channelsOf = (batches: readonly LadderBatch[]) => batches.map(({ channel }) => channel);
	const loop = createLeaseLoop<LadderBatch>(core, {
		itemsName: 'reminders',
		rows: store.rows,
		concurrency: CHANNELS_AT_ONCE,
		take: (lease, room, batches) =>
			store.takeDue(serviceUrl, lease, { now: clock.now(), limit: room, except: channelsOf(batches) }),
		nextDueAt: (batches) => store.nextDueAt(serviceUrl, channelsOf(batches)),
		work,
		release: (held) => store.release(held.map(({ token }) => token)),
	});

	return {
		/** Resolves when the ladders are planned anew: settings may have changed. */
		async start(): Promise<void> {
			await store.touchAll(serviceUrl, clock.now());
			loop.start();
		},
		stop: loop.stop,
	};
}

/**
 * The place of the reads that a channel's reminders wait for, as a time: the longest due first. The reads of one
 * channel follow each other even where many are due at once: they come together, and a read soon is too old.
 */
function placeOfReads({ channel }: LadderBatch, reminders: readonly Due[]): number {
	const key = `${channel.teamId}:${channel.channelId}`;
	const apartMs = createHash('sha256').update(key).digest().readUInt16BE() % SAME_TIME_MS;
	return Math.min(...reminders.map(({ decision }) => decision.reminderDueAt)) + apartMs;
}

/** Since when these reminders wait, as any replica has noted; null without any. `isFew`: at most a few are not read. */
function waitingOf(reminders: readonly Due[], { isFew, now }: { isFew: boolean; now: number }) {
	if (reminders.length === 0) return null;
	const noted = reminders.flatMap(({ taken }) => taken.ladder.waiting ?? []);
	const since = Math.min(now, ...noted.map((waiting) => waiting.since));
	return { since, fewSince: isFew ? Math.min(now, ...noted.flatMap(({ fewSince }) => fewSince ?? [])) : null };
}

/** When to remind: once the reminders due within `TOGETHER_MS` are read, or waited long enough; null: never. */
function timeToRemind(due: readonly Due[], { isWaitOver, now }: { isWaitOver: boolean; now: number }): number | null {
	if (due.length === 0) return null;
	const together = Math.min(...due.map(({ decision }) => decision.reminderDueAt)) + TOGETHER_MS;
	return isWaitOver ? together : Math.max(together, now + LOOK_AGAIN_MS);
}

/** One message in the channel for all that is due; what stays in threads has its own there. */
function postsOf({ channel }: LadderBatch, due: readonly Due<Extract<DueReminder, { kind: 'remind' }>>[]): NewPost[] {
	const threadOf = ({ taken, decision: { stage } }: (typeof due)[0]) =>
		taken.isThreadOnly && stage === 'reminder' ? taken.ladder.watchId : null;
	return Array.from(Map.groupBy(due, threadOf).values(), (together) => postOf(channel, together));
}

function postOf(channel: ChannelKey, due: readonly Due<Extract<DueReminder, { kind: 'remind' }>>[]): NewPost {
	const entries = due.map(({ taken: { ladder }, decision: { stage, reminderDueAt: dueAt } }) => {
		const { watchId, session, questionId, postTs, postedAt, heldBy, lastReminderAt } = ladder;
		const isLast = stage === 'escalation' && ladder.escalationCount === MOST_ESCALATIONS - 1;
		const about = { watchId, sessionId: session.sessionId, questionId, postTs, postedAt };
		return { ...about, heldBy, stage, dueAt, isLast, lastReminderAt };
	});
	const [first] = entries as [(typeof entries)[0], ...typeof entries];
	// Never the key of another one: a reminder that nobody saw comes again.
	const key = `reminder:${randomUUID()}`;
	if (entries.length > 1) return { target: { kind: 'channel', ...channel }, key, content: { kind: 'digest', entries } };
	const target = { kind: 'watch', watchId: first.watchId, ...channel } as const;
	return { target, key, content: { kind: first.stage, entries: [first] } };
}
