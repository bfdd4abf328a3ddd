import { MOST_ESCALATIONS } from '../../../../src/surfaces/reminders.ts';
import type { AskedQuestion, SeenReminder } from './questions.ts';

/** The times of the program under test, in milliseconds. */
export interface ReminderTimes {
	/** `REMIND_AFTER` */
	readonly remindMs: number;
	/** As the channels have it. */
	readonly escalateMs: number;
	/** A reminder waits this long for others of its channel... */
	readonly togetherMs: number;
	/** ...and not longer than this for reads of their sessions. */
	readonly othersMs: number;
	/** The longest lease of a dead process's work; 0 where the next process clears the leases. */
	readonly leaseMs: number;
}

/** A kill or a freeze. */
export interface Strike {
	readonly at: number;
	/** When a process ran again that was not hit; `at` when another one ran all the time. */
	readonly upAt: number;
}

/** What was done to the program, and how fast it is. */
interface Setting {
	readonly times: ReminderTimes;
	readonly strikes: readonly Strike[];
}

const NONE = {
	/** That came, each counted once; `together`: those in a message with others. */
	reminders: 0,
	together: 0,
	/** Between whose time and message a strike fell. */
	struck: 0,
	/** That never came, or too late, while their question was open; questions that were never posted. */
	missed: 0,
	/** That came a second time, without the mark of a possible repeat; and more than were due. */
	unmarkedRepeats: 0,
	markedRepeats: 0,
	/** After the answer was known. */
	afterAnswer: 0,
};

/** How many reminders came, and how. `delays`: from the time of each to its message; ms, ascending. */
export type ReminderVerdict = Readonly<typeof NONE> & {
	readonly questions: number;
	readonly delays: readonly number[];
	readonly problems: readonly string[];
};

/** A reminder and the escalations. */
const MOST_REMINDERS = 1 + MOST_ESCALATIONS;
/** A read before a reminder is no older than this. */
const READ_WITHIN_MS = 10_000;
/** A post waits for the posts before it, one a second in a channel. */
const POSTED_WITHIN_MS = 6_000;
/** A process that takes work over reads the session, looks for the post, and posts. */
const TAKEN_UP_MS = 12_000;

/** Judges by what stands in Slack. A reminder is due by the settings, counted from the post and from the reminder before it. */
export function judgeReminders(
	questions: readonly AskedQuestion[],
	options: Setting & { readonly historyReadable: boolean; readonly endedAt: number },
): ReminderVerdict {
	const { times, strikes, historyReadable, endedAt } = options;
	const counts = { ...NONE };
	const delays: number[] = [];
	const problems: string[] = [];
	for (const question of questions) {
		const tell = (what: string) => void problems.push(`${what}: ${question.title} ${storyOf(question, strikes)}`);
		const { reminders, repeats } = withoutRepeats(question.reminders);
		for (const { isMarked } of repeats) {
			counts[isMarked ? 'markedRepeats' : 'unmarkedRepeats'] += 1;
			if (!isMarked || historyReadable) tell(isMarked ? 'marked as a repeat' : 'not marked as a repeat');
		}
		for (const [index, reminder] of reminders.entries()) {
			counts.reminders += 1;
			if (reminder.kind === 'together') counts.together += 1;
			if (index >= MOST_REMINDERS || reminder.at < earliestAt(question, index, times)) {
				counts.unmarkedRepeats += 1;
				tell(`reminder ${index + 1} was not due yet`);
				continue;
			}
			if (isAfterAnswer(question, reminder, options)) {
				counts.afterAnswer += 1;
				tell(`reminder ${index + 1} came after the answer`);
			}
			const dueAt = dueAtOf({ ...question, reminders }, index, times) ?? reminder.at;
			delays.push(Math.max(0, reminder.at - dueAt));
			if (strikes.some(({ at }) => at >= dueAt && at <= reminder.at)) counts.struck += 1;
			if (reminder.at <= latestAt(dueAt, options)) continue;
			counts.missed += 1;
			tell(`reminder ${index + 1} came too late`);
		}
		const { postedAt } = question;
		const dueAt =
			postedAt === null
				? question.askedAt + POSTED_WITHIN_MS
				: dueAtOf({ ...question, reminders }, reminders.length, times);
		if (dueAt === null || (question.answeredAt ?? endedAt) <= latestAt(dueAt, options)) continue;
		counts.missed += 1;
		tell(postedAt === null ? 'never posted' : `reminder ${reminders.length + 1} never came`);
	}
	return { questions: questions.length, ...counts, delays: delays.toSorted((one, other) => one - other), problems };
}

/**
 * When the reminder after `index` others is due: at the latest, because a message comes after its reminder was noted. Null when no
 * further reminder has to come.
 */
export function dueAtOf(
	{ postedAt, reminders }: Pick<AskedQuestion, 'postedAt' | 'reminders'>,
	index: number,
	{ remindMs, escalateMs }: ReminderTimes,
): number | null {
	const first = reminders[0];
	const before = reminders[index - 1];
	if (postedAt === null) return null;
	if (index === 0 || first === undefined || before === undefined) return postedAt + remindMs;
	// When both are due together, the escalation comes without the reminder.
	const isReminder = first.kind === 'reminder' || (first.kind === 'together' && first.at < postedAt + escalateMs);
	if (index === 1 && isReminder) return postedAt + escalateMs;
	const mostReminders = isReminder ? MOST_REMINDERS : MOST_ESCALATIONS;
	return index < mostReminders ? before.at + escalateMs : null;
}

/** Until when a reminder that is due at `dueAt` has to be in Slack. */
export function latestAt(dueAt: number, setting: Setting): number {
	const { togetherMs, othersMs } = setting.times;
	return postponed(dueAt + togetherMs + othersMs + POSTED_WITHIN_MS, setting);
}

/** When something is done that is done at `at` as long as nothing is killed or frozen. */
function postponed(at: number, { times: { leaseMs }, strikes }: Setting): number {
	let latest = at;
	for (const strike of strikes) {
		if (strike.at > latest) continue;
		latest = Math.max(latest, Math.max(strike.at + leaseMs, strike.upAt) + TAKEN_UP_MS);
	}
	return latest;
}

/** Each reminder counts from a message or a post that may have come before it was seen; from the asking at the earliest. */
function earliestAt({ askedAt }: AskedQuestion, index: number, { remindMs, escalateMs }: ReminderTimes): number {
	return askedAt + (index === 0 ? remindMs : index * escalateMs);
}

function isAfterAnswer({ answeredAt, toldAt }: AskedQuestion, { at }: SeenReminder, setting: Setting): boolean {
	if (toldAt !== null && at > toldAt) return true;
	return answeredAt !== null && at > postponed(answeredAt + READ_WITHIN_MS + POSTED_WITHIN_MS, setting);
}

/** The first message of each post, and the others. */
function withoutRepeats(seen: readonly SeenReminder[]) {
	const isRepeat = ({ key }: SeenReminder, index: number) =>
		key !== null && seen.findIndex((reminder) => reminder.key === key) < index;
	return { reminders: seen.filter((one, index) => !isRepeat(one, index)), repeats: seen.filter(isRepeat) };
}

/** What happened, in seconds from the post. */
function storyOf(
	{ askedAt, postedAt, answeredAt, toldAt, reminders }: AskedQuestion,
	strikes: readonly Strike[],
): string {
	const from = postedAt ?? askedAt;
	const seconds = (at: number | null) => (at === null ? '–' : ((at - from) / 1_000).toFixed(1));
	const seen = reminders.map(({ at, kind, isMarked }) => `${kind} ${seconds(at)}${isMarked ? ' marked' : ''}`);
	return `(posted ${new Date(from).toISOString()}; ${seen.join(', ') || 'no reminder'}; answered ${seconds(answeredAt)}, told ${seconds(toldAt)}; all strikes ${strikes.map(({ at }) => seconds(at)).join(', ') || 'none'})`;
}
