import { type LadderTimes, mentionsAnybody, timesIn } from '../../inbox/channel-settings.ts';
import type { ChannelSettings, Mention, QuietHours } from '../../watches/channel-settings.ts';
import type { ChannelVerdict } from '../channels.ts';
import type { SettingsField } from '../ids.ts';
import type { MentionProblem, PersonProblem } from '../settings/mention-checks.ts';
import type { UserGroups } from '../settings/user-groups.ts';
import { oneLine, quotedName } from '../text.ts';
import { type ErrorWords, errorWords } from './errors.ts';
import { contactMrkdwn, type Names, personMrkdwn } from './people.ts';
import { mentionMrkdwn, quietWords, settingsChanges, timeWords } from './reminders.ts';
import { momentMrkdwn } from './times.ts';
import { isDirectMessage, placeMrkdwn } from './watching.ts';

/* Errors of fields are plain text: Slack shows no mark-up in them. */

const NOT_SAVED = 'Nothing was saved; your choices are still here.';

export const SETTINGS_LOADING = '⏳ Looking up the settings…';
/** The window for the settings could not be opened. */
export const NO_SETTINGS_WINDOW =
	'Slack only opens a window within three seconds, and this took longer. Type `/session settings` again.';
export const SETTINGS_OUTDATED =
	'⚠️ This window was made by another version of Handraise and cannot be read any more. Nothing was saved. Close it and type `/session settings` again.';

/** What the settings are about. mrkdwn. */
export function settingsIntro(channelId: string): string {
	return `When Handraise reminds of questions in ${placeMrkdwn(channelId)} that nobody has answered.`;
}

const HINTS = {
	remind: 'A word in the thread of the question, this long after its post.',
	escalate:
		'Shown in the channel too, with the mentions below, this long after the post. Then twice more, as long after the last.',
	people: 'Up to 10 members of this channel who may answer. Only an escalation mentions them.',
	groups: 'Up to 5. At least one person of the group must be in this channel.',
	days: 'The days on which quiet hours begin. What falls due then comes once, at their end. No day: no quiet hours.',
	to: 'If this is not later than the beginning, it is on the next day.',
	zone: 'Such as Europe/Berlin, America/New_York or UTC.',
} as const satisfies Partial<Record<SettingsField, string>>;

/** Where they differ in a direct message. */
const DIRECT_HINTS = {
	escalate:
		'Shown outside of the thread too, with the mentions below, this long after the post. Then twice more, as long after the last.',
	people: 'Only you are here, so nobody else can be mentioned. Only an escalation mentions.',
	groups: 'Up to 5. You must be in the group.',
} as const satisfies Partial<Record<SettingsField, string>>;

/** The hints of the fields that have one, for a channel or a direct message. Plain text. */
export function settingsHints(channelId: string): Readonly<Partial<Record<SettingsField, string>>> {
	return isDirectMessage(channelId) ? { ...HINTS, ...DIRECT_HINTS } : HINTS;
}

/** Who changed the settings last. mrkdwn. */
export function lastChangeWords(change: { readonly by: string; readonly at: number } | null, names: Names): string {
	if (change === null) return 'Nobody has changed these settings yet.';
	return `Last changed by ${personMrkdwn(change.by, names)}, ${momentMrkdwn(change.at)}.`;
}

/** The text of an option with a time: `Default (15 min)`, `Off`, `1 h`. */
export function afterOptionText(after: ChannelSettings['remindAfterMs'], fallback: number | null): string {
	if (after === 'default') return `Default (${timeWords(fallback)})`;
	return after === null ? 'Off' : timeWords(after);
}

/** Why no user group can be chosen, and what to do. `keptCount`: groups that were chosen before. mrkdwn. */
export function noGroupsWords(
	why: Extract<UserGroups, { kind: 'unknown' }>['why'],
	keptCount: number,
	adminContact: string | null,
): string {
	const kept =
		keptCount === 0
			? ''
			: ` The ${keptCount === 1 ? 'group' : `${keptCount} groups`} chosen before stay${keptCount === 1 ? 's' : ''}.`;
	return why === 'missing_scope'
		? `⚠️ User groups cannot be chosen: Slack has not granted \`usergroups:read\` to Handraise.${kept} To get it, ask ${contactMrkdwn(adminContact)}.`
		: `⚠️ User groups cannot be chosen: Slack did not list them.${kept} To try again, close this window and type \`/session settings\`.`;
}

/** Not all groups fit into the field. mrkdwn. */
export function moreGroupsWords(shownCount: number, total: number): string {
	return `⚠️ Slack shows only ${shownCount} groups in one field, and this workspace has ${total}. The others cannot be chosen here.`;
}

/** A chosen group that Slack does not list any more. */
export const GONE_GROUP = 'A group that no longer exists';

const PLACES = {
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

/** Why a place has no settings, and what to do. mrkdwn. */
export function noSettingsWords(reason: keyof typeof PLACES): string {
	return PLACES[reason];
}

export const NOT_A_MEMBER =
	'🔒 Only members of this channel can see and change its settings. Join the channel, then type `/session settings` again.';

/** A failure while the window is filled. mrkdwn. */
export function settingsFailedWords(code: string, adminContact: string | null): string {
	return `⚠️ ${whatHappened(code, adminContact).text} Type \`/session settings\` again.`;
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

/** What became of *Save*; `same`: nothing had to be changed. mrkdwn. */
export function savedWords(how: 'saved' | 'same', channelId: string): string {
	if (how === 'same') return 'These are the settings already, so nothing was changed.';
	const where = isDirectMessage(channelId) ? 'A message here says' : 'The channel is told';
	return `✅ Saved. ${where} what changed.`;
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
	const { plain, retry } = whatHappened(code, adminContact);
	return [plain, NOT_SAVED, retry ? 'Press Save again in a moment.' : ''].filter(Boolean).join(' ');
}

/** The same for a place in which nothing can be posted any more. */
export function placeError(reason: keyof typeof PLACES): string {
	return `${PLACES[reason].replace(/^\S+ /, '').replaceAll('`', '')} ${NOT_SAVED}`;
}

/** The words about a code, without what was kept. */
function whatHappened(code: string, adminContact: string | null): { text: string; plain: string; retry: boolean } {
	const words: ErrorWords = errorWords(code, { kept: 'nothing', adminContact });
	return { text: words.what, plain: words.what.replaceAll('`', ''), retry: words.retry };
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
