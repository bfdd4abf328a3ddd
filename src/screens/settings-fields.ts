import { z } from 'zod';
import { namesAnybody } from '../domain/answerers.ts';
import {
	type ChannelSettings,
	changedParts,
	type Mention,
	ofEachStylePart,
	type PostStyle,
	STYLE_PARTS,
	type StylePart,
	timesIn,
} from '../domain/channel-settings.ts';
import { isForgotten } from '../domain/person.ts';
import { oneLine } from '../domain/shown-text.ts';
import { FALLBACK_TIME_ZONE, leavesTime, type QuietHours, timeZoneNamed, WEEKDAYS } from '../kernel/quiet-hours.ts';
import type { DeepReadonly } from '../kernel/values.ts';
import { type InputBlock, type PlainTextOption, plain } from '../slack/blocks.ts';
import type { Element } from '../slack/form/fields.ts';
import { ACTIONS } from '../slack/ids.ts';
import { rich, type Words } from '../slack/rich-text.ts';
import type { UserGroup, UserGroups } from '../slack/user-groups.ts';

/** The boxes of *Posts* in a channel's settings. */
export const POSTS = {
	progress: { label: "Progress in the card's thread", about: 'That a session is paused, and the like.' },
	questionsInThread: {
		label: "Questions in the card's thread",
		about: 'Reminders and ends too; an escalation names only the session.',
	},
	discreet: { label: 'Discreet', about: 'Notifications tell no questions, and posts no answers.' },
	buttons: { label: 'One-press buttons', about: 'Posts of questions have short options as buttons.' },
} as const satisfies Record<StylePart, { readonly label: string; readonly about: string }>;

/** `HH:MM`, as Slack gives it. */
const TIME = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);

/** What the fields hold. Their order in the form is that of `FIELDS`. */
export const settingsValues = z.object({
	remind: z.union([z.number(), z.literal('default'), z.null()]),
	escalate: z.number().nullable(),
	people: z.array(z.string()),
	groups: z.array(z.string()),
	/** Empty: no quiet hours, whatever the other three hold. */
	days: z.array(z.literal(WEEKDAYS)),
	from: TIME,
	to: TIME,
	zone: z.string(),
	answerers: z.array(z.string()),
	answererGroups: z.array(z.string()),
	posts: z.array(z.enum(STYLE_PARTS)),
});
export type SettingsValues = DeepReadonly<z.infer<typeof settingsValues>>;
export type SettingsField = keyof SettingsValues;

interface Filled {
	readonly values: SettingsValues;
	readonly chosen: ChannelSettings;
	/** The values that the form showed. */
	readonly shown: SettingsValues;
	/** The stored settings that the person has seen. */
	readonly before: ChannelSettings;
	readonly defaultMs: number | null;
}

export interface SettingsInput<Value> {
	readonly label: string;
	/** Plain text. */
	readonly hint?: string;
	/** The hint in a direct message, if it differs. */
	readonly directHint?: string;
	readonly isForChannels?: true;
	/** Null: there is nothing to choose. */
	element(shown: Value, known: { groups: UserGroups; defaultMs: number | null }): InputBlock['element'] | null;
	/** The value of a field. If Slack leaves it out or sends an empty one, it is as it was shown. */
	read(element: Element, shown: Value): Value;
	/** The error that needs no question to Slack, as plain text; empty for none. */
	check?(filled: Filled): string;
}

/** The most entries of each list. More would not fit into Slack's limits of a view. */
export const MOST_PEOPLE = 10;
export const MOST_GROUPS = 5;
/** Slack's limit for a select. */
export const MOST_OPTIONS = 100;
/** The longest names of time zones have about 30 characters. */
const ZONE_LENGTH = 60;
const action_id = ACTIONS.settingsField;

type ListField = Omit<SettingsInput<readonly string[]>, 'label'>;

const peopleField = (field: 'people' | 'answerers', tooMany: string): ListField => ({
	element: (shown) => ({
		type: 'multi_users_select',
		action_id,
		placeholder: plain('Choose people', 150),
		max_selected_items: MOST_PEOPLE,
		...(shown.every(isForgotten) ? {} : { initial_users: shown.filter((id) => !isForgotten(id)) }),
	}),
	// Slack does not know forgotten people, so the field lacks them. They stay if the list is not changed.
	read({ selected_users: users }, shown) {
		const offered = shown.filter((id) => !isForgotten(id));
		const chosen = listOr(users, offered);
		return chosen.join() === offered.join() ? shown : chosen;
	},
	check: ({ values }) => (values[field].length > MOST_PEOPLE ? tooMany : ''),
});

const groupsField = (field: 'groups' | 'answererGroups', tooMany: string): ListField => ({
	element(shown, { groups }) {
		const options = groups.kind === 'unknown' ? [] : offeredGroups(groups.groups, shown);
		if (options.length === 0) return null;
		const initial = options.filter(({ value }) => shown.includes(value ?? ''));
		return {
			type: 'multi_static_select',
			action_id,
			placeholder: plain('Choose user groups', 150),
			options,
			max_selected_items: MOST_GROUPS,
			...(initial.length === 0 ? {} : { initial_options: initial }),
		};
	},
	read: (element, shown) => listOr(valuesIn(element), shown),
	check: ({ values }) => (values[field].length > MOST_GROUPS ? tooMany : ''),
});

const timeField = (field: 'from' | 'to'): Omit<SettingsInput<string>, 'label'> => ({
	element: (shown) => ({ type: 'timepicker', action_id, initial_time: shown }),
	read: ({ selected_time: time }, shown) => time ?? shown,
	check: ({ values }) =>
		TIME.safeParse(values[field]).success ? '' : 'This is not a time. Type hours and minutes, such as 22:00.',
});

export const FIELDS: { readonly [F in SettingsField]: SettingsInput<SettingsValues[F]> } = {
	remind: {
		label: 'Remind after',
		hint: 'Posts a reminder here.',
		element: (shown, { defaultMs }) => timesElement(shown, ['default', null], defaultMs),
		read: (element, shown) => (element.selected_option?.value === 'default' ? 'default' : readTime(element, shown)),
	},
	escalate: {
		label: 'Escalate after',
		hint: 'Mentions those named below, up to three times. When nobody is named, there is no escalation.',
		element: (shown) => timesElement(shown, [null]),
		read: readTime,
		check({ chosen, before, defaultMs }) {
			const { remindAfterMs, escalateAfterMs } = timesIn(chosen, defaultMs);
			const hasNewMention = namesAnybody(chosen.mention) && changedParts(before, chosen).includes('mention');
			// A list that was saved before may stay while escalations are off.
			if (escalateAfterMs === null && hasNewMention) return NEVER_MENTIONED;
			return remindAfterMs === null || escalateAfterMs === null || escalateAfterMs > remindAfterMs
				? ''
				: `An escalation comes after the reminder (${timeWords(remindAfterMs)}). Choose a longer time here, or a ` +
						'shorter one above.';
		},
	},
	people: {
		label: 'Mention',
		hint: 'Up to 10 members of this channel who may answer. Only an escalation mentions them.',
		directHint: 'Only you are here, so nobody else can be mentioned. Only an escalation mentions.',
		...peopleField('people', 'An escalation mentions at most 10 people. For more, choose a user group.'),
	},
	groups: {
		label: 'Mention user groups',
		hint: 'Up to 5. At least one person of the group must be in this channel.',
		directHint: 'Up to 5. You must be in the group.',
		...groupsField('groups', 'An escalation mentions at most 5 user groups.'),
	},
	days: {
		label: 'Quiet hours',
		hint: 'No reminders then; one summary afterwards. New questions are still posted.',
		element: (shown) => ({
			type: 'checkboxes',
			action_id,
			options: WEEKDAYS.map(dayOption),
			...(shown.length === 0 ? {} : { initial_options: shown.map(dayOption) }),
		}),
		read(element, shown) {
			const days = WEEKDAYS.filter((day) => valuesIn(element)?.includes(String(day)));
			return listOr(days, shown);
		},
		check({ values: { from, to, zone }, chosen: { quietHours }, shown }) {
			if (quietHours !== null)
				return leavesTime(quietHours)
					? ''
					: 'These quiet hours never end, so nobody would ever be reminded. Leave out a day, or choose another end.';
			return from === shown.from && to === shown.to && zone === shown.zone
				? ''
				: `Without a day there are no quiet hours. Choose at least one day, or put back ${shown.from}, ${shown.to} ` +
						`and ${shown.zone} below.`;
		},
	},
	from: { label: 'Quiet hours from', ...timeField('from') },
	to: {
		label: 'Quiet hours to',
		hint: 'If this is not later than the beginning, it is on the next day.',
		...timeField('to'),
	},
	zone: {
		label: 'Time zone',
		hint: 'Such as Europe/Berlin, America/New_York or UTC.',
		element: (shown) => ({ type: 'plain_text_input', action_id, initial_value: shown, max_length: ZONE_LENGTH }),
		read({ value }, shown) {
			const typed = value?.trim() ?? shown;
			return timeZoneNamed(typed) ?? typed;
		},
		check({ values: { zone }, chosen }) {
			if (chosen.quietHours === null || timeZoneNamed(zone) !== null) return '';
			const what = ['There is no time zone', oneLine(zone, 80)].filter(Boolean).join(' ');
			return `${what}. Type its full name, such as Europe/Berlin, America/New_York or UTC. ${NOT_SAVED}`;
		},
	},
	posts: {
		label: 'Posts',
		element: (shown) => ({
			type: 'checkboxes',
			action_id,
			options: STYLE_PARTS.map(postOption),
			...(shown.length === 0 ? {} : { initial_options: shown.map(postOption) }),
		}),
		read(element, shown) {
			const ticked = valuesIn(element);
			return listOr(
				STYLE_PARTS.filter((part) => ticked?.includes(part)),
				shown,
			);
		},
	},
	answerers: {
		label: 'Who may answer',
		hint: 'Up to 10 people. Only they may answer sessions that this channel watches first. Empty: everybody may.',
		isForChannels: true,
		...peopleField('answerers', 'At most 10 people can be named. For more, choose a user group.'),
	},
	answererGroups: {
		label: 'User groups that may answer',
		hint: 'Up to 5. Only those named in these two fields may change them, or stop watching here.',
		isForChannels: true,
		...groupsField('answererGroups', 'At most 5 user groups can be named.'),
	},
};
export const SETTINGS_FIELDS = Object.keys(FIELDS) as readonly SettingsField[];

const NEVER_MENTIONED =
	'Nobody is mentioned while this is off. Choose a time, or take out the people and groups under Mention.';
/** Shown while a time for escalations is set. */
export const NO_ESCALATION = 'Nobody is named, so there is no escalation.';
export const NOT_SAVED = 'Nothing was saved; your choices are still here.';

const TIMES_MS = [5, 15, 30, 60, 2 * 60, 4 * 60, 24 * 60].map((minutes) => minutes * 60_000);

/** A select of times. `others`: what else can be chosen. */
function timesElement(
	shown: SettingsValues['remind'],
	others: readonly SettingsValues['remind'][],
	defaultMs: number | null = null,
): InputBlock['element'] {
	const isOther = typeof shown === 'number' && !TIMES_MS.includes(shown);
	const offered = isOther ? [...TIMES_MS, shown].toSorted((one, other) => one - other) : TIMES_MS;
	const option = (after: SettingsValues['remind']): PlainTextOption => ({
		text: plain(capitalised(afterWords(after, defaultMs)), 75),
		value: after === null ? 'off' : String(after),
	});
	const options = [...others, ...offered].map(option);
	return { type: 'static_select', action_id, options, initial_option: option(shown) };
}

function readTime<Time>({ selected_option: option }: Element, shown: Time): Time | number | null {
	const value = option?.value;
	if (value === 'off') return null;
	return /^[1-9]\d{0,10}$/.test(value ?? '') ? Number(value) : shown;
}

const valuesIn = ({ selected_options: options }: Element) => options?.map(({ value }) => value);

/** An empty list means an untouched field: a list that a person empties is reported at once, and then shown empty. */
function listOr<Item>(chosen: readonly Item[] | null | undefined, shown: readonly Item[]): readonly Item[] {
	return chosen == null || chosen.length === 0 ? shown : [...new Set(chosen)];
}

/** The chosen groups, and as many others as fit into the field. */
function offeredGroups(groups: readonly UserGroup[], chosenIds: readonly string[]): PlainTextOption[] {
	const gone = chosenIds.filter((chosen) => !groups.some(({ id }) => id === chosen));
	let room = MOST_OPTIONS - chosenIds.length;
	return [
		...groups.filter(({ id }) => chosenIds.includes(id) || room-- > 0),
		...gone.map((id) => ({ id, name: 'A group that no longer exists', handle: '' })),
	].map(({ id, name, handle }) => {
		const text = handle === '' || handle === name ? name : `${name} (@${handle})`;
		return { text: plain(text, 75), value: id };
	});
}

const dayOption = (day: keyof typeof DAY_NAMES): PlainTextOption => ({
	text: plain(DAY_NAMES[day], 75),
	value: String(day),
});

const postOption = (part: StylePart) => ({
	text: plain(POSTS[part].label, 75),
	description: plain(POSTS[part].about, 75),
	value: part,
});

export const capitalised = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** A time in settings: `15 min`, `off` or `default (off)`. */
function afterWords(after: SettingsValues['remind'], defaultMs: number | null = null): string {
	return after === 'default' ? `default (${timeWords(defaultMs)})` : timeWords(after);
}

/** `off`, `1 day`, `1 min 30 s`, exact to the second. */
function timeWords(ms: number | null): string {
	if (ms === null) return 'off';
	const seconds = Math.floor(ms / 1_000);
	const days = Math.floor(seconds / 86_400);
	const clock = { h: Math.floor(seconds / 3_600) % 24, min: Math.floor(seconds / 60) % 60, s: seconds % 60 };
	const parts = Object.entries({ [days > 1 ? 'days' : 'day']: days, ...clock }).filter(([, count]) => count > 0);
	return parts.map(([unit, count]) => `${count} ${unit}`).join(' ') || '0 s';
}

const DAY_NAMES = { 1: 'Mon', 2: 'Tue', 3: 'Wed', 4: 'Thu', 5: 'Fri', 6: 'Sat', 7: 'Sun' } as const;

/** The values of the fields for these settings. `quiet`: for the fields of quiet hours while there are none. */
export function settingsValuesOf(
	{
		remindAfterMs: remind,
		escalateAfterMs: escalate,
		mention,
		quietHours,
		answerers: named,
		...style
	}: ChannelSettings,
	quiet: { readonly from?: string; readonly to?: string; readonly zone: string | null },
): SettingsValues {
	const { from = '20:00', to = '08:00', zone } = quiet;
	const { timeZone, ...times } = quietHours ?? { days: [], from, to, timeZone: zone ?? FALLBACK_TIME_ZONE };
	const lists = { people: mention.userIds, groups: mention.groupIds };
	const namedLists = { answerers: named.userIds, answererGroups: named.groupIds };
	const posts = STYLE_PARTS.filter((part) => style[part]);
	return { remind, escalate, ...lists, ...times, zone: timeZone, posts, ...namedLists };
}

export function settingsOf({ remind, escalate, people, groups, ...others }: SettingsValues): ChannelSettings {
	const { days, from, to, zone, answerers: userIds, answererGroups: groupIds, posts } = others;
	return {
		remindAfterMs: remind,
		escalateAfterMs: escalate,
		mention: { userIds: people, groupIds: groups },
		quietHours: days.length === 0 ? null : { days, from, to, timeZone: zone },
		answerers: { userIds, groupIds },
		...ofEachStylePart((part) => posts.includes(part)),
	};
}

/* What a change of a setting says */

export interface LineContext {
	readonly defaultMs: number | null;
	/** The words for a list of people and groups. `other`: the list before or after the change. */
	readonly mentioned: (list: Mention, other: Mention) => Words;
}

/** The words for a setting. `other`: the settings before or after the change. */
type Line = (settings: ChannelSettings, known: LineContext, other: ChannelSettings) => Words;

const postLine = (part: StylePart) => ({
	label: POSTS[part].label,
	words: (settings: PostStyle) => (settings[part] ? 'on' : 'off'),
});

export const LINES: Readonly<Record<keyof ChannelSettings, { readonly label: string; readonly words: Line }>> = {
	remindAfterMs: {
		label: FIELDS.remind.label,
		words: ({ remindAfterMs }, { defaultMs }) => afterWords(remindAfterMs, defaultMs),
	},
	escalateAfterMs: { label: FIELDS.escalate.label, words: ({ escalateAfterMs }) => timeWords(escalateAfterMs) },
	mention: {
		label: FIELDS.people.label,
		words: ({ mention }, { mentioned }, other) => mentioned(mention, other.mention),
	},
	quietHours: { label: FIELDS.days.label, words: ({ quietHours }) => quietWords(quietHours) },
	answerers: {
		label: FIELDS.answerers.label,
		words: ({ answerers }, { mentioned }, other) =>
			namesAnybody(answerers) ? rich`only ${mentioned(answerers, other.answerers)}` : 'everybody who may use Handraise',
	},
	...ofEachStylePart(postLine),
};
export const PARTS = Object.keys(LINES) as readonly (keyof ChannelSettings)[];

/** `Mon, Tue 22:00 to 08:00 (Europe/Berlin)`, or `none`. */
function quietWords(hours: QuietHours | null): string {
	if (hours === null) return 'none';
	const names = WEEKDAYS.filter((day) => hours.days.includes(day)).map((day) => DAY_NAMES[day]);
	const days = names.length === 7 ? 'every day' : names.join(', ');
	return `${days} ${hours.from} to ${hours.to} (${hours.timeZone})`;
}
