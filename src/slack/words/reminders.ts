import { changedParts, type LadderTimes } from '../../inbox/channel-settings.ts';
import type { HandOver } from '../../inbox/hand-over.ts';
import type { ChannelSettings, Mention, QuietHours, ReminderStage, Weekday } from '../../watches/channel-settings.ts';
import type { ContentOf, ReminderEntry } from '../../watches/kinds.ts';
import type { UserGroups } from '../settings/user-groups.ts';
import { isBlank, quotedNameMrkdwn } from '../text.ts';
import { type Names, personName } from './people.ts';
import { andMoreWords, sessionIdMrkdwn, sessionTitle } from './sessions.ts';
import { durationText } from './times.ts';
import { isDirectMessage, placeMrkdwn } from './watching.ts';

/**
 * The opening words of a reminder. mrkdwn.
 * @param waitedMs null in an update of its post: nothing updates it again when more time has passed
 */
export function reminderWords(
	{ stage, isLast }: Pick<ReminderEntry, 'stage' | 'isLast'>,
	waitedMs: number | null,
): string {
	const waited = waitedMs === null ? null : durationText(waitedMs);
	if (stage === 'reminder') return `⏰ Nobody has answered ${waited === null ? 'yet' : `for ${waited}`}.`;
	const last = isLast ? ' This is the last reminder.' : '';
	return `📣 Still no answer${waited === null ? '' : ` after ${waited}`}. The agent waits.${last}`;
}

/** The opening words of a reminder whose question does not wait any more. mrkdwn. */
export const REMINDER_OVER_WORDS: Readonly<Record<ReminderStage, string>> = {
	reminder: '⏰ Reminder',
	escalation: '📣 Escalation',
};

/** That no reminder comes after the one in a line of a list; empty when one may. */
export function lastWords({ isLast }: Pick<ReminderEntry, 'isLast'>): string {
	return isLast ? 'last reminder' : '';
}

/**
 * The opening words of several reminders in one message, without a mark at the end. Others, whose reminders are not due, may
 * wait too. mrkdwn.
 */
export function digestWords(entries: readonly Pick<ReminderEntry, 'stage' | 'isLast'>[]): string {
	const emoji = entries.some(({ stage }) => stage === 'escalation') ? '📣' : '⏰';
	const last = areLast(entries) ? '. This is the last reminder' : '';
	return `${emoji} ${entries.length === 1 ? '1 question waits' : `${entries.length} questions wait`} for an answer${last}`;
}

/** Whether no reminder comes after any of these. */
export function areLast(entries: readonly Pick<ReminderEntry, 'isLast'>[]): boolean {
	return entries.every(({ isLast }) => isLast);
}

/** A question of which only the session is shown. mrkdwn. The id tells sessions of the same name apart. */
export function sessionAsksWords(name: string, sessionId: string, settled: boolean): string {
	const id = isBlank(name) ? '' : ` (${sessionIdMrkdwn(sessionId)})`;
	return `${sessionTitle(name, sessionId)}${id} ${settled ? 'asked' : 'asks'} for an answer`;
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

/** Who has the question; empty for nobody. mrkdwn; mentions nobody, because only the channel's settings do. */
export function hasItWords(handOver: HandOver | null, names: Names): string {
	return handOver === null ? '' : `${personName(handOver.to, names)} has it.`;
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

/** What is known of the names of those whom settings mention. */
export interface MentionNames {
	readonly names: Names;
	readonly groups: UserGroups;
}

/** What somebody changed in the settings of a channel, or of a direct message. mrkdwn; nobody is mentioned. */
export function settingsChangedWords(
	{ by, before, after }: ContentOf<'settingsChanged'>,
	{ channelId, defaults, ...known }: MentionNames & { readonly channelId: string; readonly defaults: LadderTimes },
): string {
	const mentioned = (mention: Mention, other: Mention) => mentionedNames(mention, other, known);
	const changes = settingsChanges(before, after, { mentioned, defaults });
	const place = isDirectMessage(channelId) ? placeMrkdwn(channelId) : 'this channel';
	return [`🔧 ${personName(by, known.names)} changed the reminders of ${place}.`, ...changes].join('\n');
}

interface ChangeWords {
	/** The words for whom an escalation mentions, before or after. */
	readonly mentioned: (mention: Mention, other: Mention) => string;
	/** `REMIND_AFTER` and `ESCALATE_AFTER` */
	readonly defaults: LadderTimes;
}

/** A line for each setting that differs. mrkdwn. */
export function settingsChanges(
	before: ChannelSettings,
	after: ChannelSettings,
	{ mentioned, defaults }: ChangeWords,
): string[] {
	const times = (setting: keyof LadderTimes) =>
		[before, after].map((settings) => afterWords(settings[setting], defaults[setting])) as [string, string];
	const mentions = [mentioned(before.mention, after.mention), mentioned(after.mention, before.mention)] as const;
	const lines: Readonly<Record<keyof ChannelSettings, string>> = {
		remindAfterMs: changeLine('Remind after', ...times('remindAfterMs')),
		escalateAfterMs: changeLine('Escalate after', ...times('escalateAfterMs')),
		mention: changeLine('Mention', ...mentions),
		quietHours: changeLine('Quiet hours', quietWords(before.quietHours), quietWords(after.quietHours)),
	};
	return changedParts(before, after).map((part) => lines[part]);
}

/** A time in settings: `15 min`, `off` or `default (off)`. `fallback`: the default. */
function afterWords(after: ChannelSettings['remindAfterMs'], fallback: number | null): string {
	if (after === 'default') return `default (${timeWords(fallback)})`;
	return timeWords(after);
}

/** `15 min` or `off`. */
export function timeWords(after: number | null): string {
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
	return `• *${name}*: ${before} → ${after}`;
}

/** Of people and user groups in one line. */
const MOST_NAMED = 5;

/** Names without mentions, which would notify people of every change; first those that are not in `other`. */
function mentionedNames(mention: Mention, other: Mention, { names, groups }: MentionNames): string {
	const people = mention.userIds.map((id) => ({ text: personName(id, names), isNew: !other.userIds.includes(id) }));
	const ofGroups = mention.groupIds.map((id) => ({
		text: groupName(id, groups),
		isNew: !other.groupIds.includes(id),
	}));
	const all = [...people, ...ofGroups].toSorted((one, two) => Number(two.isNew) - Number(one.isNew));
	if (all.length === 0) return 'nobody';
	const shown = all.slice(0, MOST_NAMED).map(({ text }) => text);
	return [shown.join(', '), andMoreWords(all.length - shown.length)].filter(Boolean).join(' ');
}

function groupName(groupId: string, groups: UserGroups): string {
	const group = groups.kind === 'listed' ? groups.groups.find(({ id }) => id === groupId) : undefined;
	const name = quotedNameMrkdwn(group?.handle || group?.name || '', 80);
	return name === '' ? 'a user group' : `user group ${name}`;
}
