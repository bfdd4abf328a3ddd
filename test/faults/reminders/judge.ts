import type { ReminderStage } from '../../../src/store/watch.ts';
import type { Asked, History, Post } from './history.ts';
import { type Interval, isIn, quietPeriods, without } from './local-time.ts';
import { kindOf, type MessageKind, questionIdsIn, questionPosts, unlistedCount } from './messages.ts';
import { DEFAULT_MS } from './periods.ts';

/** What must not happen. */
export const FAULTS = [
	'twice or too early',
	'after the answer was known',
	'without a read',
	'in quiet hours',
	'while the service was away',
	'while somebody was answering',
	'a reminder for an escalation, or the other way round',
	'unlisted, and more than it says',
] as const;
export type Fault = (typeof FAULTS)[number];

/** A reminder of a question in a channel, or one that was due and did not come. */
export interface Ring {
	readonly channelId: string;
	readonly questionId: string;
	/** From when nothing was in its way. */
	readonly dueAt: number;
	/** When it came, or when it was no longer due. */
	readonly at: number;
	/** Null: it did not come. */
	readonly post: Post | null;
}

export interface Judgement {
	readonly rings: readonly Ring[];
	/** When reminders fell due, also those that were not needed, as only a read could tell. */
	readonly dueAts: readonly number[];
	readonly faults: readonly { readonly fault: Fault; readonly post: Post; readonly questionId: string }[];
}

/** A reminder that is due in this time before something gets in its way may be on its way to Slack. */
const UNDER_WAY_MS = 15_000;
/** The same before an outage: the read before a reminder may be half a minute old. */
const READ_BEFORE_MS = 45_000;
/** The program's time of a post or a reminder may be earlier than the call, because calls are repeated. */
const POST_ALLOWANCE_MS = 1_000;
const REMINDER_ALLOWANCE_MS = 40_000;
/** A process that starts again goes on within this time, and leases of a killed one lapse. */
const RESTART_MS = 40_000;
/** The longest time from a read to the reminder that waits for it. */
const READ_WITHIN_MS = 45_000;
export const LATE_MS = 30_000;
const MOST_ESCALATIONS = 3;
const NEVER = Number.POSITIVE_INFINITY;

/** The reminders so far. */
interface Progress {
	readonly isReminded: boolean;
	readonly escalationCount: number;
	/** From when the next reminder counts: the question's post, or the last escalation. */
	readonly countsFrom: number;
}

/** A message that rings for a question, or may do so without showing it. */
interface ReminderPost {
	readonly post: Post;
	readonly kind: MessageKind;
	readonly isUnlisted: boolean;
}

/**
 * When each reminder was due and whether it came, computed from what people and Slack saw: from the question's post, pushed
 * out of quiet hours, outages and the time of whoever was answering.
 */
export function judge(history: History): Judgement {
	const factsOf = factsIn(history);
	const judgements = history.questions.flatMap((question) =>
		(history.channelsOf.get(question.sessionId) ?? []).flatMap((channelId) => {
			const facts = factsOf(question, channelId);
			const progress = { isReminded: false, escalationCount: 0, countsFrom: facts?.postedAt ?? 0 };
			return facts === null ? [] : [judgeFrom(facts, 0, progress)];
		}),
	);
	const rings = judgements.flatMap((judged) => judged.rings);
	const faults = judgements.flatMap((judged) => judged.faults);
	const dueAts = judgements.flatMap((judged) => judged.dueAts);
	return { rings, dueAts, faults: [...faults, ...tooManyUnlisted(rings)] };
}

/** What there is to know of a question in a channel; null when it was not posted there. */
function factsIn(history: History) {
	const { endedAt, outages, stops } = history;
	const versions = versionsOf(history);
	const asked = questionPosts(history.posts);
	const reminders = reminderPosts(history.posts);
	const incomplete = Map.groupBy(incompleteLists(history.posts, asked), ({ post }) => post.channelId);
	const claims = Map.groupBy(history.claims, ({ questionId }) => questionId);
	const answers = Map.groupBy(history.answers, ({ questionId }) => questionId);
	const readsOf = Map.groupBy(history.reads, ({ sessionId }) => sessionId);
	return (question: Asked, channelId: string) => {
		const key = `${channelId} ${question.id}`;
		const postedAt = asked.get(key)?.at;
		if (postedAt === undefined) return null;
		const reads = readsOf.get(question.sessionId) ?? [];
		const settledAt = question.settledAt ?? NEVER;
		const answered = answers.get(question.id) ?? [];
		const claimed = messageOf(question, history.questions).flatMap((id) => claims.get(id) ?? []);
		return {
			question,
			channelId,
			postedAt,
			/** When a read that found it settled was stored. */
			knownAt: reads.find(({ stateAt, isSure }) => isSure && stateAt >= settledAt)?.storedAt ?? NEVER,
			settledAt: Math.min(settledAt, endedAt),
			versions: versions.get(channelId) ?? [],
			reminders: withUnlisted(reminders.get(key) ?? [], incomplete.get(channelId) ?? [], postedAt),
			answered: answered.filter(({ isSure }) => isSure),
			claimed: claimed.filter(({ isSure }) => isSure),
			unsure: [...answered, ...claimed].filter(({ isSure }) => !isSure),
			outages,
			stops,
			reads,
		};
	};
}

type Facts = NonNullable<ReturnType<ReturnType<typeof factsIn>>>;

/** The questions that stood in one message, this one last. */
function messageOf({ id, changedFrom }: Asked, questions: readonly Asked[]): string[] {
	const former = questions.find((question) => question.id === changedFrom);
	return former === undefined ? [id] : [...messageOf(former, questions), id];
}

/** Judges the reminders from the one at `index` on. */
function judgeFrom(facts: Facts, index: number, progress: Progress): Judgement {
	const { question, channelId, reminders } = facts;
	const ring = { channelId, questionId: question.id };
	const reminder = reminders[index];
	const { allowed, required } = timesFor(facts, progress);
	if (reminder === undefined) {
		return { rings: missedIn(required, NEVER, ring), dueAts: allowed.map(({ from }) => from), faults: [] };
	}
	const { post, kind, isUnlisted } = reminder;
	const { at } = post;
	const fitting = allowed.find(({ from, to }) => from <= at && at < to) ?? underWay(facts, allowed, at);
	const faults: Fault[] = [];
	const possible = possibleReminders(facts, progress, at);
	if (fitting === undefined) faults.push(faultAt(facts, possible, at));
	if (
		!facts.reads.some(({ beganAt, storedAt }) => beganAt >= at - allowance(facts, at, READ_WITHIN_MS) && storedAt <= at)
	) {
		faults.push('without a read');
	}
	const came = kind === 'several' || kind === 'other' ? possible : [kind];
	if (fitting !== undefined && !came.some((one) => possible.includes(one))) {
		faults.push('a reminder for an escalation, or the other way round');
	}
	const absent = isUnlisted ? judgeFrom(facts, index + 1, progress) : null;
	if (absent !== null && (faults.length > 0 || problemsIn(absent) === 0)) return absent;
	const firstDueAt = Math.min(...Object.values(dueTimes(facts, progress, at)));
	const dueAt = fitting === undefined ? at : Math.min(at, Math.max(fitting.from, firstDueAt));
	// In a message with several, one that is due as both may be either: as the next reminders show.
	const [first, ...others] = (came.length === 0 ? ['escalation' as const] : came).map((one) =>
		judgeFrom(facts, index + 1, after(progress, one, at)),
	) as [Judgement, ...Judgement[]];
	const next = others.reduce(better, first);
	const judged = {
		rings: [...missedIn(required, fitting?.from ?? at, ring), { ...ring, dueAt, at, post }, ...next.rings],
		dueAts: [dueAt, ...next.dueAts],
		faults: [...faults.map((fault) => ({ fault, post, questionId: question.id })), ...next.faults],
	};
	return absent === null ? judged : better(absent, judged);
}

/** The one with fewer problems; of equals the first. */
function better(one: Judgement, other: Judgement): Judgement {
	return problemsIn(other) < problemsIn(one) ? other : one;
}

function problemsIn({ faults, rings }: Judgement): number {
	return faults.length + rings.filter(({ post, dueAt, at }) => post === null || at - dueAt > LATE_MS).length;
}

function after(progress: Progress, stage: ReminderStage, at: number): Progress {
	if (stage === 'reminder') return { ...progress, isReminded: true };
	return { ...progress, escalationCount: progress.escalationCount + 1, countsFrom: at };
}

/** When the next reminders are due by the settings of `version`, without what gets in their way. */
function duesIn(
	facts: Facts,
	progress: Progress,
	{ settings }: Facts['versions'][number],
): Record<ReminderStage, number> {
	const { isReminded, escalationCount, countsFrom } = progress;
	const remindMs = settings.remindAfterMs === 'default' ? DEFAULT_MS : settings.remindAfterMs;
	const escalateMs = settings.escalateAfterMs;
	const hasReminder = remindMs !== null && !isReminded && escalationCount === 0;
	const mentionsAnybody = settings.mention.userIds.length + settings.mention.groupIds.length > 0;
	const hasEscalation = escalateMs !== null && mentionsAnybody && escalationCount < MOST_ESCALATIONS;
	return {
		reminder: hasReminder ? facts.postedAt + remindMs : NEVER,
		escalation: hasEscalation ? countsFrom + escalateMs : NEVER,
	};
}

function dueTimes(facts: Facts, progress: Progress, at: number): Record<ReminderStage, number> {
	const version = facts.versions.findLast(({ from }) => from <= at);
	return version === undefined ? { reminder: NEVER, escalation: NEVER } : duesIn(facts, progress, version);
}

/** When the next reminder may come, and when it has to. */
function timesFor(facts: Facts, progress: Progress): { allowed: Interval[]; required: Interval[] } {
	const { postedAt, knownAt, settledAt, answered, claimed, unsure, outages, versions } = facts;
	const early = progress.escalationCount === 0 ? POST_ALLOWANCE_MS : REMINDER_ALLOWANCE_MS;
	const dueFrom = (allowanceMs: number) =>
		versions.flatMap((version) => {
			const { reminder, escalation } = duesIn(facts, progress, version);
			const from = Math.max(postedAt, version.from, Math.min(reminder, escalation) - allowanceMs);
			return without([{ from, to: version.to }], version.quiet);
		});
	const inTheWay = [...answered, ...claimed, ...outages];
	return {
		allowed: without(dueFrom(early), [...inTheWay, { from: knownAt, to: NEVER }]),
		required: without(dueFrom(0), [...inTheWay, ...unsure, { from: Math.min(settledAt, knownAt), to: NEVER }]),
	};
}

/** The time that allowed a reminder which was on its way when something got in its way. */
function underWay(facts: Facts, allowed: readonly Interval[], at: number): Interval | undefined {
	if (isIn(facts.answered, at) || at >= facts.knownAt) return undefined;
	const before = allowed.findLast(({ to }) => to <= at);
	const longest = isIn(facts.outages, at) ? READ_BEFORE_MS : UNDER_WAY_MS;
	return before !== undefined && at - before.to <= allowance(facts, at, longest) ? before : undefined;
}

/** Longer when the process was started again meanwhile. */
function allowance({ stops }: Facts, at: number, ms: number): number {
	const isStopped = stops.some(({ from, to }) => from <= at && to >= at - RESTART_MS);
	return isStopped ? ms + RESTART_MS : ms;
}

/** What a reminder at this time can be. What is due as both is an escalation, unless that came to be due just now. */
function possibleReminders(facts: Facts, progress: Progress, at: number): ReminderStage[] {
	const { reminder, escalation } = dueTimes(facts, progress, at);
	const early = progress.escalationCount === 0 ? POST_ALLOWANCE_MS : REMINDER_ALLOWANCE_MS;
	const reminders: ReminderStage[] = [];
	if (escalation - early <= at) reminders.push('escalation');
	if (reminder - POST_ALLOWANCE_MS <= at && escalation > at - allowance(facts, at, UNDER_WAY_MS))
		reminders.push('reminder');
	return reminders;
}

function faultAt(facts: Facts, possible: readonly ReminderStage[], at: number): Fault {
	const { answered, claimed, outages, knownAt, versions } = facts;
	if (isIn(answered, at) || at >= knownAt) return 'after the answer was known';
	if (possible.length === 0) return 'twice or too early';
	if (isIn(outages, at)) return 'while the service was away';
	if (versions.some((version) => version.from <= at && at < version.to && isIn(version.quiet, at))) {
		return 'in quiet hours';
	}
	return isIn(claimed, at) ? 'while somebody was answering' : 'twice or too early';
}

/** Reminders that were due for long before `before` and did not come. */
function missedIn(required: readonly Interval[], before: number, ring: Pick<Ring, 'channelId' | 'questionId'>): Ring[] {
	return required
		.filter(({ from, to }) => to <= before && to - from > LATE_MS)
		.map(({ from, to }) => ({ ...ring, dueAt: from, at: to, post: null }));
}

/** The settings of each channel with the times at which they held. */
function versionsOf({ settings, endedAt }: History) {
	const versions = settings.map(({ channelId, at: from, settings: own }, index) => {
		const next = settings.slice(index + 1).find((change) => change.channelId === channelId);
		const to = next?.at ?? NEVER;
		const quiet = own.quietHours === null ? [] : quietPeriods(own.quietHours, from, Math.min(to, endedAt));
		return { channelId, from, to, settings: own, quiet };
	});
	return Map.groupBy(versions, ({ channelId }) => channelId);
}

/** The reminders by channel and question. */
function reminderPosts(posts: readonly Post[]): ReadonlyMap<string, readonly ReminderPost[]> {
	const reminders = posts
		.map((post) => ({ post, kind: kindOf(post), isUnlisted: false }))
		.filter(({ kind }) => kind !== 'other')
		.flatMap((reminder) =>
			questionIdsIn(reminder.post).map((id) => ({ key: `${reminder.post.channelId} ${id}`, reminder })),
		);
	const byKey = Map.groupBy(reminders, ({ key }) => key);
	return new Map(Array.from(byKey, ([key, found]) => [key, found.map(({ reminder }) => reminder)]));
}

/** Messages that do not show all questions for which they ring: the oldest, the newest of them posted at `listedTo`. */
function incompleteLists(posts: readonly Post[], asked: ReadonlyMap<string, Post>) {
	return posts
		.filter((post) => kindOf(post) === 'several' && unlistedCount(post) > 0)
		.map((post) => {
			// A question that took the place of another one has no first post of its own.
			const listed = questionIdsIn(post).flatMap((id) => asked.get(`${post.channelId} ${id}`)?.at ?? []);
			return { post, listedTo: Math.max(...listed) };
		});
}

/** The reminders of a question with those that it may have had in incomplete lists of its channel, in order. */
function withUnlisted(
	reminders: readonly ReminderPost[],
	incomplete: ReturnType<typeof incompleteLists>,
	postedAt: number,
): readonly ReminderPost[] {
	const unlisted = incomplete
		.filter(({ post, listedTo }) => listedTo <= postedAt + POST_ALLOWANCE_MS && post.at > postedAt)
		.filter(({ post }) => !reminders.some((reminder) => reminder.post === post))
		.map(({ post }) => ({ post, kind: 'several' as const, isUnlisted: true }));
	return [...reminders, ...unlisted].toSorted((one, other) => one.post.at - other.post.at);
}

/** Reminders that no message shows, of messages that tell of fewer. */
function tooManyUnlisted(rings: readonly Ring[]): Judgement['faults'] {
	const byPost = Map.groupBy(rings, ({ post }) => post);
	return Array.from(byPost).flatMap(([post, ofPost]) => {
		if (post === null) return [];
		const listed = questionIdsIn(post);
		const unlisted = ofPost.filter(({ questionId }) => !listed.includes(questionId));
		const fault = 'unlisted, and more than it says' as const;
		return unlisted.slice(unlistedCount(post)).map(({ questionId }) => ({ fault, post, questionId }));
	});
}
