import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import type { ChannelSettings, LadderTimes } from '../../watches/channel-settings.ts';
import { CALLBACKS, settingsBlockId } from '../ids.ts';
import { encodeSettingsMetadata, type SettingsMetadata } from '../settings/form.ts';
import { FIELDS, MOST_OPTIONS, SETTINGS_FIELDS, type SettingsField, type SettingsValues } from '../settings/table.ts';
import type { UserGroups } from '../settings/user-groups.ts';
import { plain } from '../text.ts';
import { contactMrkdwn, isDirectMessage, momentMrkdwn, type Names, personMrkdwn, placeMrkdwn } from '../words.ts';
import { context, divider, type MessageContent, message, modal, section } from './parts.ts';
import { codeWords, PLACES, savedWords, settingsLines } from './settings-saving.ts';

/** The form of a channel's settings. */
export interface SettingsModel {
	readonly metadata: SettingsMetadata;
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

/** The form of a channel's settings, in a window. */
export function settingsForm(model: SettingsModel): ModalView {
	const { metadata, change, notice, names } = model;
	const { channelId } = metadata;
	const inputs = SETTINGS_FIELDS.flatMap((field): KnownBlock[] => {
		const notes = field === 'groups' ? groupNotes(model) : [];
		return [...(field === 'days' ? [divider()] : []), ...input(model, field), ...notes];
	});
	return modal({
		callbackId: CALLBACKS.settings,
		title: TITLE,
		metadata: encodeSettingsMetadata(metadata),
		submit: 'Save',
		close: 'Cancel',
		blocks: [
			...section(notice),
			...section(settingsIntro(channelId)),
			...inputs,
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

/** None where there is nothing to choose. */
function input({ metadata, groups, defaults }: SettingsModel, field: SettingsField): InputBlock[] {
	const { channelId, revision, shown } = metadata;
	const { label, hint = '', directHint = hint, count } = FIELDS[field];
	const element = elementOf(field, shown, { groups, defaults });
	if (element === null) return [];
	const told = isDirectMessage(channelId) ? directHint : hint;
	const mayBeEmpty = count !== undefined;
	return [
		{
			type: 'input',
			block_id: settingsBlockId(field, revision),
			label: plain(label, 75),
			element,
			optional: mayBeEmpty,
			...(mayBeEmpty ? { dispatch_action: true } : {}),
			...(told === '' ? {} : { hint: plain(told, 500) }),
		},
	];
}

function elementOf<F extends SettingsField>(
	field: F,
	shown: SettingsValues,
	known: Pick<SettingsModel, 'groups' | 'defaults'>,
): InputBlock['element'] | null {
	return FIELDS[field].element(shown[field], known);
}

/** Why there is no field for user groups, or why it does not offer all. */
function groupNotes({ metadata: { shown }, groups, adminContact }: SettingsModel): KnownBlock[] {
	if (groups.kind === 'unknown') return context(noGroupsWords(groups.why, shown.groups.length, adminContact));
	return groups.groups.length <= MOST_OPTIONS ? [] : context(moreGroupsWords(MOST_OPTIONS, groups.groups.length));
}

const SETTINGS_LOADING = '⏳ Looking up the settings…';

/** The window for the settings could not be opened. */
const NO_SETTINGS_WINDOW =
	'Slack only opens a window within three seconds, and this took longer. Type `/session settings` again.';

export const SETTINGS_OUTDATED =
	'⚠️ This window was made by another version of Handraise and cannot be read any more. Nothing was saved. Close it and type `/session settings` again.';

/** What the settings are about. mrkdwn. */
function settingsIntro(channelId: string): string {
	return `When Handraise reminds of questions in ${placeMrkdwn(channelId)} that nobody has answered.`;
}

/** Who changed the settings last. mrkdwn. */
export function lastChangeWords(change: { readonly by: string; readonly at: number } | null, names: Names): string {
	if (change === null) return 'Nobody has changed these settings yet.';
	return `Last changed by ${personMrkdwn(change.by, names)}, ${momentMrkdwn(change.at)}.`;
}

/** Why no user group can be chosen, and what to do. `keptCount`: groups that were chosen before. mrkdwn. */
function noGroupsWords(
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
function moreGroupsWords(shownCount: number, total: number): string {
	return `⚠️ Slack shows only ${shownCount} groups in one field, and this workspace has ${total}. The others cannot be chosen here.`;
}

/** Why a place has no settings, and what to do; `not_a_member`: this person is no member of it. mrkdwn. */
export function noSettingsWords(reason: keyof typeof PLACES | 'not_a_member'): string {
	return reason === 'not_a_member' ? NOT_A_MEMBER : PLACES[reason];
}

export const NOT_A_MEMBER =
	'🔒 Only members of this channel can see and change its settings. Join the channel, then type `/session settings` again.';

/** A failure while the window is filled. mrkdwn. */
export function settingsFailedWords(code: string, adminContact: string | null): string {
	return `⚠️ ${codeWords(code, adminContact).text} Type \`/session settings\` again.`;
}
