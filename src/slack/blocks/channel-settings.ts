import type { InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import type { LadderTimes } from '../../inbox/channel-settings.ts';
import type { ChannelSettings, Weekday } from '../../watches/channel-settings.ts';
import type { ContentOf } from '../../watches/kinds.ts';
import { ACTIONS, CALLBACKS, type SettingsField, settingsBlockId } from '../ids.ts';
import { encodeSettingsMetadata, type SettingsMetadata } from '../settings/metadata.ts';
import { afterOption, MOST_GROUPS, MOST_PEOPLE } from '../settings/read.ts';
import type { UserGroup, UserGroups } from '../settings/user-groups.ts';
import { plain } from '../text.ts';
import {
	afterOptionText,
	GONE_GROUP,
	lastChangeWords,
	moreGroupsWords,
	NO_SETTINGS_WINDOW,
	noGroupsWords,
	SETTINGS_LOADING,
	savedWords,
	settingsHints,
	settingsIntro,
	settingsLines,
} from '../words/channel-settings.ts';
import type { Names } from '../words/people.ts';
import { dayName, settingsChangedWords } from '../words/reminders.ts';
import { MAYBE_REPEAT } from '../words/watching.ts';
import { context, divider, type MessageContent, message, modal, section } from './parts.ts';

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
const WEEKDAYS: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];
/** Slack's limit for a select. */
const MOST_OPTIONS = 100;
/** The longest names of time zones have about 30 characters. */
const ZONE_LENGTH = 60;

/** The form of a channel's settings, in a window. */
export function settingsForm(model: SettingsModel): ModalView {
	const { metadata, groups, change, notice, names, defaults } = model;
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
			...section(settingsIntro(channelId)),
			input(model, 'remind', 'Remind after', {
				element: times(shown.remindAfterMs, defaults.remindAfterMs),
			}),
			input(model, 'escalate', 'Escalate after', {
				element: times(shown.escalateAfterMs, defaults.escalateAfterMs),
			}),
			input(model, 'people', 'Mention', {
				element: {
					type: 'multi_users_select',
					action_id: ACTIONS.settingsField,
					placeholder: plain('Choose people', 150),
					max_selected_items: MOST_PEOPLE,
					...(shown.userIds.length === 0 ? {} : { initial_users: [...shown.userIds] }),
				},
				mayBeEmpty: true,
			}),
			...groupBlocks,
			...moreGroups(groups),
			divider(),
			input(model, 'days', 'Quiet hours', {
				element: {
					type: 'checkboxes',
					action_id: ACTIONS.settingsField,
					options: WEEKDAYS.map(dayOption),
					...(shown.days.length === 0 ? {} : { initial_options: shown.days.map(dayOption) }),
				},
				mayBeEmpty: true,
			}),
			input(model, 'from', 'Quiet hours from', {
				element: { type: 'timepicker', action_id: ACTIONS.settingsField, initial_time: shown.from },
			}),
			input(model, 'to', 'Quiet hours to', {
				element: { type: 'timepicker', action_id: ACTIONS.settingsField, initial_time: shown.to },
			}),
			input(model, 'zone', 'Time zone', {
				element: {
					type: 'plain_text_input',
					action_id: ACTIONS.settingsField,
					initial_value: shown.timeZone,
					max_length: ZONE_LENGTH,
				},
			}),
			...context(lastChangeWords(change, names)),
		],
	});
}

const TITLE = 'Channel settings';

/** Opens before the settings are read. */
export function settingsLoadingModal(): ModalView {
	return settingsNotice(SETTINGS_LOADING);
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
	return message('The settings could not be opened in a window.', section(NO_SETTINGS_WINDOW));
}

/** Tells a channel what somebody changed. */
export function settingsChangedPost(
	content: ContentOf<'settingsChanged'>,
	{ maybeRepeat, ...known }: Parameters<typeof settingsChangedWords>[1] & { readonly maybeRepeat: boolean },
): MessageContent {
	const words = settingsChangedWords(content, known);
	return message(words, [...section(words), ...context(maybeRepeat ? MAYBE_REPEAT : '')]);
}

/** `mayBeEmpty`: Slack reports when somebody empties it, because it cannot be told from an untouched list later. */
function input(
	{ metadata }: SettingsModel,
	field: SettingsField,
	label: string,
	{ element, mayBeEmpty = false }: { element: InputBlock['element']; mayBeEmpty?: boolean },
): InputBlock {
	const { [field]: hint = '' } = settingsHints(metadata.channelId);
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
	if (groups.kind === 'unknown') return context(noGroupsWords(groups.why, groupIds.length, adminContact));
	const offered = offeredGroups(groups.groups, groupIds);
	if (offered.length === 0) return [];
	const options = offered.map(groupOption);
	const initial = options.filter(({ value }) => groupIds.includes(value ?? ''));
	return [
		input(model, 'groups', 'Mention user groups', {
			element: {
				type: 'multi_static_select',
				action_id: ACTIONS.settingsField,
				placeholder: plain('Choose user groups', 150),
				options,
				max_selected_items: MOST_GROUPS,
				...(initial.length === 0 ? {} : { initial_options: initial }),
			},
			mayBeEmpty: true,
		}),
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
		...gone.map((id) => ({ id, name: GONE_GROUP, handle: '' })),
	];
}

function groupOption({ id, name, handle }: UserGroup): PlainTextOption {
	const text = handle === '' || handle === name ? name : `${name} (@${handle})`;
	return { text: plain(text, 75), value: id };
}

function moreGroups(groups: UserGroups): KnownBlock[] {
	if (groups.kind === 'unknown' || groups.groups.length <= MOST_OPTIONS) return [];
	return context(moreGroupsWords(MOST_OPTIONS, groups.groups.length));
}
