import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import type { ChannelSettings, LadderTimes } from '../../watches/channel-settings.ts';
import { CALLBACKS, settingsBlockId } from '../ids.ts';
import { encodeSettingsMetadata, type SettingsMetadata } from '../settings/form.ts';
import type { UserGroups } from '../settings/mentions.ts';
import { FIELDS, MOST_OPTIONS, SETTINGS_FIELDS, type SettingsField, type SettingsValues } from '../settings/table.ts';
import { plain } from '../text.ts';
import { contactMrkdwn, isDirectMessage, momentMrkdwn, type Names, personMrkdwn, placeMrkdwn } from '../words.ts';
import { errorWords } from './errors.ts';
import { context, divider, type MessageContent, message, modal, section } from './parts.ts';
import { NO_SETTINGS, savedWords, settingsLines } from './settings-saving.ts';

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
			...section(`When Handraise reminds of questions in ${placeMrkdwn(channelId)} that nobody has answered.`),
			...inputs,
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

/** None where there is nothing to choose. */
function input({ metadata, groups, defaults }: SettingsModel, field: SettingsField): InputBlock[] {
	const { channelId, revision, shown } = metadata;
	const { label, hint = '', directHint = hint } = FIELDS[field];
	const element = elementOf(field, shown, { groups, defaults });
	if (element === null) return [];
	const told = isDirectMessage(channelId) ? directHint : hint;
	// Slack reports when somebody empties a list, because it cannot be told from an untouched list later.
	const mayBeEmpty = Array.isArray(shown[field]);
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
	if (groups.kind === 'listed') {
		const total = groups.groups.length;
		if (total <= MOST_OPTIONS) return [];
		return context(
			`⚠️ Slack shows only ${MOST_OPTIONS} groups in one field, and this workspace has ${total}. The others cannot be chosen here.`,
		);
	}
	const count = shown.groups.length;
	const kept = ['', ' The group chosen before stays.'][count] ?? ` The ${count} groups chosen before stay.`;
	return context(
		groups.why === 'missing_scope'
			? `⚠️ User groups cannot be chosen: Slack has not granted \`usergroups:read\` to Handraise.${kept} To get it, ask ${contactMrkdwn(adminContact)}.`
			: `⚠️ User groups cannot be chosen: Slack did not list them.${kept} To try again, close this window and type \`/session settings\`.`,
	);
}

export const SETTINGS_OUTDATED =
	'⚠️ This window was made by another version of Handraise and cannot be read any more. Nothing was saved. Close it and type `/session settings` again.';

/** Who changed the settings last. mrkdwn. */
export function lastChangeWords(change: { readonly by: string; readonly at: number } | null, names: Names): string {
	if (change === null) return 'Nobody has changed these settings yet.';
	return `Last changed by ${personMrkdwn(change.by, names)}, ${momentMrkdwn(change.at)}.`;
}

/** Why a place has no settings, and what to do; `not_a_member`: this person is no member of it. mrkdwn. */
export function noSettingsWords(reason: keyof typeof NO_SETTINGS | 'not_a_member'): string {
	return reason === 'not_a_member' ? NOT_A_MEMBER : NO_SETTINGS[reason];
}

export const NOT_A_MEMBER =
	'🔒 Only members of this channel can see and change its settings. Join the channel, then type `/session settings` again.';

/** A failure while the window is filled. mrkdwn. */
export function settingsFailedWords(code: string, adminContact: string | null): string {
	return `⚠️ ${errorWords(code, { kept: 'nothing', adminContact }).what} Type \`/session settings\` again.`;
}
