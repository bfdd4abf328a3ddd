import { changedParts } from '../../inbox/channel-settings.ts';
import type { ChannelSettings, Mention, QuietHours, Rung, Weekday } from '../../watches/channel-settings.ts';
import { type Names, personName } from './people.ts';
import { andMoreWords } from './sessions.ts';
import { durationText } from './times.ts';

/** The opening words of a rung. mrkdwn. */
export function rungWords(rung: Rung, waitedMs: number): string {
	const waited = durationText(waitedMs);
	return rung === 'reminder'
		? `⏰ Nobody has answered for ${waited}.`
		: `📣 Still no answer after ${waited}. The agent waits.`;
}

/** The opening words of several rungs in one message. Others, whose reminders are not due, may wait too. mrkdwn. */
export function rungsWords(count: number): string {
	return count === 1 ? '⏰ 1 question waits for an answer:' : `⏰ ${count} questions wait for an answer:`;
}

/** The text of a link to a question's thread. */
export const OPEN_THREAD = 'open thread';

/** How many questions a list leaves out; empty for none. mrkdwn. */
export function notListedWords(count: number): string {
	return count === 0 ? '' : `${andMoreWords(count)}: \`/session inbox\` shows all.`;
}

/** Who was answering when the reminder was due. mrkdwn; mentions nobody, because only the channel's settings do. */
export function heldWords(userId: string | null, names: Names): string {
	if (userId === null) return '';
	return `${personName(userId, names)} was answering, and has not sent an answer yet.`;
}

/** Mentions of people and user groups; empty for nobody. mrkdwn. */
export function mentionMrkdwn(mention: Mention | null): string {
	if (mention === null) return '';
	const people = mention.userIds.map((id) => `<@${id}>`);
	const groups = mention.groupIds.map((id) => `<!subteam^${id}>`);
	return [...people, ...groups].join(' ');
}

/** How long the question in a line of a list waits. */
export function waitingTimeWords(waitedMs: number): string {
	return `waiting ${durationText(waitedMs)}`;
}

/** What somebody changed in a channel's settings. mrkdwn; nobody is mentioned. */
export function settingsChangedWords(by: string, before: ChannelSettings, after: ChannelSettings): string {
	return [`🔧 <@${by}> changed the reminders of this channel.`, ...settingsChanges(before, after)].join('\n');
}

/** A line for each setting that differs. mrkdwn; nobody is mentioned. */
export function settingsChanges(before: ChannelSettings, after: ChannelSettings): string[] {
	return [
		changeLine('Remind after', afterWords(before.remindAfterMs), afterWords(after.remindAfterMs)),
		changeLine('Escalate after', afterWords(before.escalateAfterMs), afterWords(after.escalateAfterMs)),
		mentionLine(before, after),
		changeLine('Quiet hours', quietWords(before.quietHours), quietWords(after.quietHours)),
	].filter((line) => line !== '');
}

/** A time in settings: `15 min`, `off` or `default`. */
export function afterWords(after: ChannelSettings['remindAfterMs']): string {
	if (after === 'default') return 'default';
	return after === null ? 'off' : exactly(after);
}

const UNITS = [
	['day', 86_400_000],
	['h', 3_600_000],
	['min', 60_000],
	['s', 1_000],
] as const;

/** `1 day`, `1 h 30 min`, `90 s` as `1 min 30 s`: nothing is rounded away above a second. */
function exactly(ms: number): string {
	let left = ms;
	const parts = UNITS.flatMap(([unit, size]) => {
		const count = Math.floor(left / size);
		left -= count * size;
		return count === 0 ? [] : [`${count} ${unit === 'day' && count > 1 ? 'days' : unit}`];
	});
	return parts.join(' ') || '0 s';
}

const DAY_NAMES = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

export function dayName(day: Weekday): string {
	return DAY_NAMES[day - 1] ?? '';
}

/** `Mon, Tue 22:00 to 08:00 (Europe/Berlin)`, or `none`. */
export function quietWords(hours: QuietHours | null): string {
	if (hours === null) return 'none';
	const days =
		hours.days.length === 7
			? 'every day'
			: hours.days
					.toSorted((one, other) => one - other)
					.map(dayName)
					.join(', ');
	return `${days} ${hours.from} to ${hours.to} (${hours.timeZone})`;
}

function changeLine(name: string, before: string, after: string): string {
	return before === after ? '' : `• *${name}*: ${before} → ${after}`;
}

function mentionLine(before: ChannelSettings, after: ChannelSettings): string {
	const words = mentionWords(after.mention);
	const isSameCount = mentionWords(before.mention) === words;
	const isChanged = changedParts(before, after).includes('mention');
	return changeLine('Mention', mentionWords(before.mention), isSameCount && isChanged ? `others, ${words}` : words);
}

/** Without names: a mention would notify people of every change. */
function mentionWords({ userIds, groupIds }: Mention): string {
	const parts = [
		userIds.length === 0 ? '' : `${userIds.length} ${userIds.length === 1 ? 'person' : 'people'}`,
		groupIds.length === 0 ? '' : `${groupIds.length} ${groupIds.length === 1 ? 'group' : 'groups'}`,
	].filter((part) => part !== '');
	return parts.length === 0 ? 'nobody' : parts.join(' and ');
}
