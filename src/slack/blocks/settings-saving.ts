import { type ChannelSettings, changedParts, type LadderTimes, type Mention } from '../../watches/channel-settings.ts';
import type { ContentOf } from '../../watches/kinds.ts';
import type { ChannelVerdict } from '../channels.ts';
import type { MentionProblems, PersonProblem, UserGroups } from '../settings/mentions.ts';
import { LINES, type LineContext, mentionsWords, NOT_SAVED } from '../settings/table.ts';
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
import { type ErrorContext, errorWords, REFUSAL_CODES } from './errors.ts';
import { context, type MessageContent, message, section } from './parts.ts';

/* Errors of fields are plain text: Slack shows no mark-up in them. */

/** Why a place has no settings, and what to do. mrkdwn. */
export const NO_SETTINGS = {
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

export const SETTINGS_ERRORS = {
	notChecked: `Slack did not tell in time whether you are in this channel and may change its settings. ${NOT_SAVED} Press Save again.`,
	mentionNotChecked: `Slack did not tell in time whether they are in this channel and may answer. ${NOT_SAVED} Press Save again.`,
	notMember: 'You are not a member of this channel any more, so you cannot change its settings. Nothing was saved.',
	unknownOutcome: 'I could not check whether this was saved. Press Save again: it is not saved or posted twice.',
} as const;

/** Why somebody may not save, or why saving failed. */
export function notSavedError(code: string, context: ErrorContext): string {
	if (code === 'settings_outcome_unknown') return SETTINGS_ERRORS.unknownOutcome;
	const { what, plain, retry } = errorWords(code, context);
	if (code === 'too_fast' || REFUSAL_CODES.some((refusal) => refusal === code)) return plain;
	return [what.replaceAll('`', ''), NOT_SAVED, retry ? 'Press Save again in a moment.' : ''].filter(Boolean).join(' ');
}

/** The same for a place in which nothing can be posted any more. */
export function placeError(reason: keyof typeof NO_SETTINGS): string {
	return `${NO_SETTINGS[reason].replace(/^\S+ /, '').replaceAll('`', '')} ${NOT_SAVED}`;
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

/** Why people cannot be mentioned. */
export function peopleError(problems: MentionProblems['people'], names: Names): string {
	const sentences = problems.map(
		({ userId, why }) => `${quotedName(names.displayName(userId), 80) || 'Somebody'} ${PEOPLE[why]}.`,
	);
	return [...sentences, TAKE_OUT].join(' ');
}

/** The same for user groups. `groups`: those whose names are known. */
export function groupsError(problems: MentionProblems['groups'], groups: UserGroups): string {
	const sentences = problems.map(
		({ groupId, why }) => `${quotedName(groupOf(groupId, groups)?.name ?? '', 80) || 'A chosen group'} ${GROUPS[why]}.`,
	);
	return oneLine([...sentences, TAKE_OUT].join(' '), 2_000);
}

function groupOf(groupId: string, groups: UserGroups) {
	return groups.kind === 'listed' ? groups.groups.find(({ id }) => id === groupId) : undefined;
}

/** What became of *Save*; `same`: nothing had to be changed. mrkdwn. */
export function savedWords(how: 'saved' | 'same', channelId: string): string {
	if (how === 'same') return 'These are the settings already, so nothing was changed.';
	const where = isDirectMessage(channelId) ? 'A message here says' : 'The channel is told';
	return `✅ Saved. ${where} what changed.`;
}

/** After saving, what holds now: a line for each setting. mrkdwn. */
export function settingsLines(settings: ChannelSettings, defaults: LadderTimes): string {
	const known = { defaults, mentioned: mentionsWords };
	return Object.values(LINES)
		.map(({ name, words, now = words }) => `*${name}*: ${now(settings, known, settings)}`)
		.join('\n');
}

/** Somebody else saved first. mrkdwn for a window, which notifies nobody. */
export function conflictWords(
	by: string | null,
	{ before, newest, chosen }: Readonly<Record<'before' | 'newest' | 'chosen', ChannelSettings>>,
	{ names, defaults }: { readonly names: Names; readonly defaults: LadderTimes },
): string {
	const known = { mentioned: mentionsWords, defaults };
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

/** A line for each setting that differs. mrkdwn. */
function settingsChanges(before: ChannelSettings, after: ChannelSettings, known: LineContext): string[] {
	return changedParts(before, after).map((part) => {
		const { name, words } = LINES[part];
		return `• *${name}*: ${words(before, known, after)} → ${words(after, known, before)}`;
	});
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
	const group = groupOf(groupId, groups);
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
