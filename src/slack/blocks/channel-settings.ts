import type { InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import type { LadderTimes } from '../../inbox/channel-settings.ts';
import type { ChannelSettings, Weekday } from '../../watches/channel-settings.ts';
import { ACTIONS, CALLBACKS, type SettingsField, settingsBlockId } from '../ids.ts';
import { encodeSettingsMetadata, type SettingsMetadata } from '../settings/metadata.ts';
import { afterOption, LISTS, MOST_GROUPS, MOST_PEOPLE } from '../settings/read.ts';
import type { UserGroup, UserGroups } from '../settings/user-groups.ts';
import { plain } from '../text.ts';
import { contactMrkdwn, isDirectMessage, momentMrkdwn, type Names, personMrkdwn, placeMrkdwn } from '../words.ts';
import { errorWords } from './errors.ts';
import { context, divider, type MessageContent, message, modal, section } from './parts.ts';
import { afterOptionText, dayName, savedWords, settingsLines } from './settings-saving.ts';

/** The form of a channel's settings. */
export interface SettingsModel {
	/** `offersGroups` is decided here. */
	readonly metadata: Omit<SettingsMetadata, 'offersGroups'>;
	/** `REMIND_AFTER` and `ESCALATE_AFTER` */
	readonly defaults: LadderTimes;
	readonly groups: UserGroups;
	/** The last change; null when there was none. */
	readonly change: { readonly by: string; readonly at: number } | null;
	/** What has to be said first. mrkdwn, may be empty. */
	readonly notice: string;
	readonly names: Names;
	readonly adminContact: string | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The times that are offered. */
const TIMES_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS, 24 * HOUR_MS];
/** Slack's limit for a select. */
const MOST_OPTIONS = 100;

/** The form of a channel's settings, in a window. */
export function settingsForm(model: SettingsModel): ModalView {
	const { metadata, change, notice, names, defaults } = model;
	const { shown, channelId } = metadata;
	const groupBlocks = groupsOf(model);
	const offersGroups = groupBlocks.some(({ type }) => type === 'input');
	return modal({
		callbackId: CALLBACKS.settings,
		title: TITLE,
		metadata: encodeSettingsMetadata({ ...metadata, offersGroups }),
		submit: 'Save',
		close: 'Cancel',
		blocks: [
			...section(notice),
			...section(`When Handraise reminds of questions in ${placeMrkdwn(channelId)} that nobody has answered.`),
			input(model, 'remind', 'Remind after', times(shown.remindAfterMs, defaults.remindAfterMs)),
			input(model, 'escalate', 'Escalate after', times(shown.escalateAfterMs, defaults.escalateAfterMs)),
			input(model, 'people', 'Mention', {
				type: 'multi_users_select',
				action_id: ACTIONS.settingsField,
				placeholder: plain('Choose people', 150),
				max_selected_items: MOST_PEOPLE,
				...(shown.userIds.length === 0 ? {} : { initial_users: [...shown.userIds] }),
			}),
			...groupBlocks,
			divider(),
			input(model, 'days', 'Quiet hours', {
				type: 'checkboxes',
				action_id: ACTIONS.settingsField,
				options: ([1, 2, 3, 4, 5, 6, 7] as const).map(dayOption),
				...(shown.days.length === 0 ? {} : { initial_options: shown.days.map(dayOption) }),
			}),
			input(model, 'from', 'Quiet hours from', {
				type: 'timepicker',
				action_id: ACTIONS.settingsField,
				initial_time: shown.from,
			}),
			input(model, 'to', 'Quiet hours to', {
				type: 'timepicker',
				action_id: ACTIONS.settingsField,
				initial_time: shown.to,
			}),
			input(model, 'zone', 'Time zone', {
				type: 'plain_text_input',
				action_id: ACTIONS.settingsField,
				initial_value: shown.timeZone,
				// The longest names of time zones have about 30 characters.
				max_length: 60,
			}),
			...context(lastChangeWords(change, names)),
		],
	});
}

const TITLE = 'Channel settings';

/** Opens before the settings are read. */
export function settingsLoadingModal(): ModalView {
	return settingsNotice('⏳ Looking up the settings…');
}

/** Words instead of the form. mrkdwn. */
export function settingsNotice(words: string): ModalView {
	return modal({ callbackId: CALLBACKS.settings, title: TITLE, metadata: '', blocks: section(words) });
}

/** What holds after *Save*. `how` is `same` when nothing had to be changed. */
export function settingsSaved(
	how: 'saved' | 'same',
	settings: ChannelSettings,
	{ channelId, defaults }: { readonly channelId: string; readonly defaults: LadderTimes },
): ModalView {
	return modal({
		callbackId: CALLBACKS.settings,
		title: TITLE,
		metadata: '',
		blocks: [...section(savedWords(how, channelId)), ...section(settingsLines(settings, defaults))],
	});
}

/** For an expired trigger. */
export function noSettingsWindow(): MessageContent {
	const words = 'Slack only opens a window within three seconds, and this took longer. Type `/session settings` again.';
	return message('The settings could not be opened in a window.', section(words));
}

/** Of a list, Slack reports when somebody empties it, because it cannot be told from an untouched list later. */
function input(
	{ metadata }: SettingsModel,
	field: SettingsField,
	label: string,
	element: InputBlock['element'],
): InputBlock {
	const { [field]: hint = '' } = isDirectMessage(metadata.channelId) ? { ...HINTS, ...DIRECT_HINTS } : HINTS;
	const mayBeEmpty = LISTS.some(([list]) => list === field);
	return {
		type: 'input',
		block_id: settingsBlockId(field, metadata.revision),
		label: plain(label, 75),
		element,
		optional: mayBeEmpty,
		...(mayBeEmpty ? { dispatch_action: true } : {}),
		...(hint === '' ? {} : { hint: plain(hint, 500) }),
	};
}

function times(shown: ChannelSettings['remindAfterMs'], fallback: number | null): InputBlock['element'] {
	const isOther = typeof shown === 'number' && !TIMES_MS.includes(shown);
	const offered = isOther ? [...TIMES_MS, shown].toSorted((one, other) => one - other) : TIMES_MS;
	const option = (after: ChannelSettings['remindAfterMs']): PlainTextOption => ({
		text: plain(afterOptionText(after, fallback), 75),
		value: afterOption(after),
	});
	const options = (['default', null, ...offered] as const).map(option);
	return { type: 'static_select', action_id: ACTIONS.settingsField, options, initial_option: option(shown) };
}

function dayOption(day: Weekday): PlainTextOption {
	return { text: plain(dayName(day), 75), value: String(day) };
}

/** The field for user groups; words where there is none, and nothing when the workspace has no groups. */
function groupsOf(model: SettingsModel): KnownBlock[] {
	const { metadata, groups, adminContact } = model;
	const { groupIds } = metadata.shown;
	if (groups.kind === 'unknown') {
		const count = groupIds.length;
		const kept = ['', ' The group chosen before stays.'][count] ?? ` The ${count} groups chosen before stay.`;
		return context(
			groups.why === 'missing_scope'
				? `⚠️ User groups cannot be chosen: Slack has not granted \`usergroups:read\` to Handraise.${kept} To get it, ask ${contactMrkdwn(adminContact)}.`
				: `⚠️ User groups cannot be chosen: Slack did not list them.${kept} To try again, close this window and type \`/session settings\`.`,
		);
	}
	const offered = offeredGroups(groups.groups, groupIds);
	if (offered.length === 0) return [];
	const options = offered.map(({ id, name, handle }) => {
		const text = handle === '' || handle === name ? name : `${name} (@${handle})`;
		return { text: plain(text, 75), value: id };
	});
	const total = groups.groups.length;
	const initial = options.filter(({ value }) => groupIds.includes(value ?? ''));
	return [
		input(model, 'groups', 'Mention user groups', {
			type: 'multi_static_select',
			action_id: ACTIONS.settingsField,
			placeholder: plain('Choose user groups', 150),
			options,
			max_selected_items: MOST_GROUPS,
			...(initial.length === 0 ? {} : { initial_options: initial }),
		}),
		...context(
			total <= MOST_OPTIONS
				? ''
				: `⚠️ Slack shows only ${MOST_OPTIONS} groups in one field, and this workspace has ${total}. The others cannot be chosen here.`,
		),
	];
}

/** Those that were chosen, and as many others as fit into the field. */
function offeredGroups(groups: readonly UserGroup[], chosenIds: readonly string[]): UserGroup[] {
	const gone = chosenIds.filter((chosen) => !groups.some(({ id }) => id === chosen));
	const isChosen = ({ id }: UserGroup) => chosenIds.includes(id);
	const room = MOST_OPTIONS - chosenIds.length;
	const others = new Set(groups.filter((group) => !isChosen(group)).slice(0, room));
	return [
		...groups.filter((group) => isChosen(group) || others.has(group)),
		...gone.map((id) => ({ id, name: 'A group that no longer exists', handle: '' })),
	];
}

export const SETTINGS_OUTDATED =
	'⚠️ This window was made by another version of Handraise and cannot be read any more. Nothing was saved. Close it and type `/session settings` again.';

/** The hints of the fields that have one. Plain text. */
const HINTS: Readonly<Partial<Record<SettingsField, string>>> = {
	remind: 'A word in the thread of the question, this long after its post.',
	escalate:
		'Shown in the channel too, with the mentions below, this long after the post. Then twice more, as long after the last.',
	people: 'Up to 10 members of this channel who may answer. Only an escalation mentions them.',
	groups: 'Up to 5. At least one person of the group must be in this channel.',
	days: 'The days on which quiet hours begin. What falls due then comes once, at their end. No day: no quiet hours.',
	to: 'If this is not later than the beginning, it is on the next day.',
	zone: 'Such as Europe/Berlin, America/New_York or UTC.',
};

/** Where they differ in a direct message. */
const DIRECT_HINTS: typeof HINTS = {
	escalate:
		'Shown outside of the thread too, with the mentions below, this long after the post. Then twice more, as long after the last.',
	people: 'Only you are here, so nobody else can be mentioned. Only an escalation mentions.',
	groups: 'Up to 5. You must be in the group.',
};

/** Who changed the settings last. mrkdwn. */
export function lastChangeWords(change: { readonly by: string; readonly at: number } | null, names: Names): string {
	if (change === null) return 'Nobody has changed these settings yet.';
	return `Last changed by ${personMrkdwn(change.by, names)}, ${momentMrkdwn(change.at)}.`;
}

export const NOT_A_MEMBER =
	'🔒 Only members of this channel can see and change its settings. Join the channel, then type `/session settings` again.';

/** A failure while the window is filled. mrkdwn. */
export function settingsFailedWords(code: string, adminContact: string | null): string {
	return `⚠️ ${errorWords(code, { kept: 'nothing', adminContact }).what} Type \`/session settings\` again.`;
}
