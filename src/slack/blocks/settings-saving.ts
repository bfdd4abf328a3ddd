import { changedParts, type LadderTimes, mentionsAnybody, timesIn } from '../../inbox/channel-settings.ts';
import type { ChannelSettings, Mention, QuietHours, Weekday } from '../../watches/channel-settings.ts';
import type { ContentOf } from '../../watches/kinds.ts';
import type { ChannelVerdict } from '../channels.ts';
import type { MentionProblem, PersonProblem } from '../settings/mention-checks.ts';
import type { UserGroups } from '../settings/user-groups.ts';
import { oneLine, quotedName, quotedNameMrkdwn } from '../text.ts';
import {
	andMoreWords,
	isDirectMessage,
	MAYBE_REPEAT,
	type Names,
	personMrkdwn,
	personName,
	placeMrkdwn,
} from '../words.ts';
import { type ErrorWords, errorWords } from './errors.ts';
import { context, type MessageContent, message, section } from './parts.ts';
import { mentionMrkdwn } from './reminders.ts';

/* Errors of fields are plain text: Slack shows no mark-up in them. */

const NOT_SAVED = 'Nothing was saved; your choices are still here.';

export const PLACES = {
	not_member:
		'⚠️ I am not in this channel, so I remind of nothing here. Invite me with `/invite @Handraise`, then try again.',
	archived: '⚠️ This channel is archived, so nothing can be posted here.',
	external: '🔒 This channel is shared with another organisation, so I post nothing here.',
	unclear_sharing:
		'🔒 Slack does not say clearly who else can read this channel, so I post nothing here. Please try again.',
	direct: '⚠️ A group message has no settings. Use a channel, or our direct messages.',
	no_channel: '⚠️ I do not know which channel this is about. Type `/session settings` in the channel.',
	could_not_check: '⚠️ Slack did not respond in time when I asked about this channel. Please try again.',
} as const satisfies Record<Extract<ChannelVerdict, { ok: false }>['reason'], string>;

/** The words about a code, without what was kept. */
export function codeWords(code: string, adminContact: string | null): { text: string; plain: string; retry: boolean } {
	const words: ErrorWords = errorWords(code, { kept: 'nothing', adminContact });
	return { text: words.what, plain: words.what.replaceAll('`', ''), retry: words.retry };
}

export const SETTINGS_ERRORS = {
	tooManyPeople: 'An escalation mentions at most 10 people. For more, choose a user group.',
	tooManyGroups: 'An escalation mentions at most 5 user groups.',
	neverMentioned:
		'Nobody is mentioned while this is off. Choose a time, or take out the people and groups under Mention.',
	notATime: 'This is not a time. Type hours and minutes, such as 22:00.',
	alwaysQuiet: 'These quiet hours never end, so nobody would ever be reminded. Leave out a day, or choose another end.',
	notChecked: `Slack did not tell in time whether you are in this channel and may change its settings. ${NOT_SAVED} Press Save again.`,
	mentionNotChecked: `Slack did not tell in time whether they are in this channel and may answer. ${NOT_SAVED} Press Save again.`,
	notMember: 'You are not a member of this channel any more, so you cannot change its settings. Nothing was saved.',
	unknownOutcome: 'I could not check whether this was saved. Press Save again: it is not saved or posted twice.',
} as const;

/** For an escalation that does not come after the reminder. */
export function orderError(remindAfterMs: number | null): string {
	return `An escalation comes after the reminder (${timeWords(remindAfterMs)}). Choose a longer time here, or a shorter one above.`;
}

/** For times of quiet hours without a day. `shown`: what the fields began with. */
export function noDayError({ from, to, timeZone }: Pick<QuietHours, 'from' | 'to' | 'timeZone'>): string {
	return `Without a day there are no quiet hours. Choose at least one day, or put back ${from}, ${to} and ${timeZone} below.`;
}

/** For a time zone that is not known. */
export function zoneError(typed: string): string {
	const zone = ['I do not know the time zone', quotedName(typed, 80)].filter(Boolean).join(' ');
	return `${zone}. Type its full name, such as Europe/Berlin, America/New_York or UTC. ${NOT_SAVED}`;
}

/** Why somebody may not save, or why saving failed. */
export function notSavedError(code: string, adminContact: string | null): string {
	const { plain, retry } = codeWords(code, adminContact);
	return [plain, NOT_SAVED, retry ? 'Press Save again in a moment.' : ''].filter(Boolean).join(' ');
}

/** The same for a place in which nothing can be posted any more. */
export function placeError(reason: keyof typeof PLACES): string {
	return `${PLACES[reason].replace(/^\S+ /, '').replaceAll('`', '')} ${NOT_SAVED}`;
}

const PEOPLE = {
	guest: 'is a guest, and guests cannot answer here',
	bot: 'is an app or a bot, which cannot answer',
	external: 'belongs to another workspace or organisation and cannot answer here',
	deactivated: 'has a deactivated account',
	channel_not_allowed: 'cannot answer in this channel',
	user_not_allowed: 'is not among the people who may use Handraise',
	not_here: 'is not a member of this channel and would not see the question',
} as const satisfies Record<PersonProblem, string>;

const GROUPS = {
	gone: 'does not exist any more',
	nobody_here: 'has no member in this channel, so nobody would see the question',
} as const;

const TAKE_OUT = 'Take them out, then press Save again. Nothing was saved.';

/** Why people cannot be mentioned; empty when all can. */
export function peopleError(problems: readonly MentionProblem[], names: Names): string {
	const sentences = problems.flatMap((problem) =>
		problem.kind === 'person'
			? [`${quotedName(names.displayName(problem.userId), 80) || 'Somebody'} ${PEOPLE[problem.why]}.`]
			: [],
	);
	return sentences.length === 0 ? '' : [...sentences, TAKE_OUT].join(' ');
}

/** The same for user groups. `groups`: those whose names are known. */
export function groupsError(problems: readonly MentionProblem[], groups: UserGroups): string {
	const nameOf = (groupId: string) =>
		groups.kind === 'listed' ? (groups.groups.find(({ id }) => id === groupId)?.name ?? '') : '';
	const sentences = problems.flatMap((problem) =>
		problem.kind === 'group'
			? [`${quotedName(nameOf(problem.groupId), 80) || 'A chosen group'} ${GROUPS[problem.why]}.`]
			: [],
	);
	return sentences.length === 0 ? '' : oneLine([...sentences, TAKE_OUT].join(' '), 2_000);
}

/** What became of *Save*; `same`: nothing had to be changed. mrkdwn. */
export function savedWords(how: 'saved' | 'same', channelId: string): string {
	if (how === 'same') return 'These are the settings already, so nothing was changed.';
	const where = isDirectMessage(channelId) ? 'A message here says' : 'The channel is told';
	return `✅ Saved. ${where} what changed.`;
}

/** After saving, what holds now: a line for each setting. mrkdwn. */
export function settingsLines(settings: ChannelSettings, defaults: LadderTimes): string {
	const { remindAfterMs, escalateAfterMs, mention, quietHours } = settings;
	const isOff = mentionsAnybody(settings) && timesIn(settings, defaults).escalateAfterMs === null;
	return [
		`*Remind after*: ${afterOptionText(remindAfterMs, defaults.remindAfterMs)}`,
		`*Escalate after*: ${afterOptionText(escalateAfterMs, defaults.escalateAfterMs)}`,
		`*Mention*: ${mentionMrkdwn(mention) || 'nobody'}${isOff ? ', but not while *Escalate after* is off' : ''}`,
		`*Quiet hours*: ${quietWords(quietHours)}`,
	].join('\n');
}

/** The text of an option with a time: `Default (15 min)`, `Off`, `1 h`. */
export function afterOptionText(after: ChannelSettings['remindAfterMs'], fallback: number | null): string {
	if (after === 'default') return `Default (${timeWords(fallback)})`;
	return after === null ? 'Off' : timeWords(after);
}

/** Somebody else saved first. mrkdwn for a window, which notifies nobody. */
export function conflictWords(
	by: string | null,
	{ before, newest, chosen }: Readonly<Record<'before' | 'newest' | 'chosen', ChannelSettings>>,
	{ names, defaults }: { readonly names: Names; readonly defaults: LadderTimes },
): string {
	const known = { mentioned: (mention: Mention) => mentionMrkdwn(mention) || 'nobody', defaults };
	return [
		`⚠️ ${by === null ? 'Somebody' : personMrkdwn(by, names)} changed these settings meanwhile, so yours are not saved.`,
		...settingsChanges(before, newest, known),
		'The fields below show the settings as they are now. With your choices they would change so:',
		...settingsChanges(newest, chosen, known),
		'Choose again what is still needed, then press *Save*.',
	].join('\n');
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
function settingsChanges(
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
function timeWords(after: number | null): string {
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
function quietWords(hours: QuietHours | null): string {
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

/** Tells a channel what somebody changed. */
export function settingsChangedPost(
	content: ContentOf<'settingsChanged'>,
	{ maybeRepeat, ...known }: Parameters<typeof settingsChangedWords>[1] & { readonly maybeRepeat: boolean },
): MessageContent {
	const words = settingsChangedWords(content, known);
	return message(words, [...section(words), ...context(maybeRepeat ? MAYBE_REPEAT : '')]);
}
