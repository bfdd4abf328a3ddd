import { z } from 'zod';
import { namesAnybody, OPERATOR } from '../domain/answerers.ts';
import { type ChannelSettings, changedParts, type Mention } from '../domain/channel-settings.ts';
import { isForgotten } from '../domain/person.ts';
import { oneLine } from '../domain/shown-text.ts';
import { APP_NAME, COMMAND } from '../kernel/command-name.ts';
import type { StoredChannelSettings } from '../sessions/channel-settings-store.ts';
import {
	context,
	divider,
	type InputBlock,
	type KnownBlock,
	type MessageContent,
	type ModalView,
	modal,
	plain,
	section,
	textMessage,
} from '../slack/blocks.ts';
import type { ChannelVerdict } from '../slack/channels.ts';
import { ASKING_SLACK, CANNOT_ANSWER, type ErrorContext, errorWords, REFUSAL_CODES } from '../slack/error-view.ts';
import { elementStateOf } from '../slack/form/fields.ts';
import { ACTIONS, CALLBACKS, isDirectMessage, settingsBlockId, slackCodec } from '../slack/ids.ts';
import {
	andMoreWords,
	contactOf,
	mentionOf,
	mentionsOf,
	momentOf,
	type Names,
	NOBODY_NAMED,
	personName,
	placeWords,
} from '../slack/phrases.ts';
import type { Submitted, SubmittedView } from '../slack/request.ts';
import { isEmpty, joined, lines, plainWords, rich, sentences, template, type Words } from '../slack/rich-text.ts';
import { groupIn, groupName, MOST_NAMED, type UserGroups } from '../slack/user-groups.ts';
import type { ContentOf } from '../surfaces/post.ts';
import {
	capitalised,
	FIELDS,
	LINES,
	type LineContext,
	MOST_OPTIONS,
	NO_ESCALATION,
	NOT_SAVED,
	PARTS,
	POSTS,
	SETTINGS_FIELDS,
	type SettingsField,
	type SettingsInput,
	type SettingsValues,
	settingsOf,
	settingsValues,
	settingsValuesOf,
} from './settings-fields.ts';

const CODEC = slackCodec(
	'settings',
	z.object({
		channelId: z.string(),
		/** The revision of `base`, the stored settings that the person has seen. */
		revision: z.int().min(0),
		base: settingsValues,
		/** The values that the fields showed at first. Slack may leave out of the state what nobody touched. */
		shown: settingsValues,
		/** True in the window that asks whether to save a list that does not name its saver. `shown`: what they chose. */
		confirms: z.boolean().default(false),
	}),
);
/** What a form of a channel's settings carries from one event to the next. */
export type SettingsMetadata = Parameters<typeof CODEC.encode>[0];
export const { encode: encodeSettingsMetadata, decode: decodeSettingsMetadata } = CODEC;

export function metadataFor(
	channelId: string,
	{ settings, revision }: StoredChannelSettings,
	quiet: Parameters<typeof settingsValuesOf>[1],
): SettingsMetadata {
	const shown = settingsValuesOf(settings, quiet);
	return { channelId, revision, base: shown, shown, confirms: false };
}

/** Errors by field, as plain text. */
export type SettingsErrors = Readonly<Partial<Record<SettingsField, string>>>;

/**
 * Reads a form. `before`: the settings that the person saw; `toCheck`: what Slack has to check; `errors`: found without
 * it.
 */
export function readSettingsForm(
	view: Pick<SubmittedView, 'values' | 'labels'>,
	{ revision, base, shown }: SettingsMetadata,
	defaultMs: number | null,
) {
	const read = <F extends SettingsField>(field: F): [F, SettingsValues[F]] => [
		field,
		FIELDS[field].read(
			elementStateOf(view, settingsBlockId(field, revision), ACTIONS.settingsField) ?? {},
			shown[field],
		),
	];
	const values = Object.fromEntries(SETTINGS_FIELDS.map(read)) as unknown as SettingsValues;
	const [before, chosen] = [settingsOf(base), settingsOf(values)];
	const filled = { values, chosen, shown, before, defaultMs };
	const found = SETTINGS_FIELDS.map((field) => [field, FIELDS[field].check?.(filled) ?? ''] as const);
	const errors: SettingsErrors = Object.fromEntries(found.filter(([, error]) => error !== ''));
	// Groups without a field cannot be changed; Slack may not tell about them.
	const checked = (field: SettingsField, { userIds, groupIds }: Mention) => ({
		// Slack knows nobody who was forgotten.
		userIds: userIds.filter((id) => !isForgotten(id)),
		groupIds: settingsBlockId(field, revision) in view.labels ? groupIds : [],
	});
	// An unchanged list is not checked: a member who has left must not hold up people who may not change it.
	const isOtherList = changedParts(before, chosen).includes('answerers');
	const toCheck = {
		mention: checked('groups', chosen.mention),
		answerers: isOtherList ? checked('answererGroups', chosen.answerers) : { userIds: [], groupIds: [] },
	};
	return { before, values, chosen, toCheck, errors };
}

/** The field whose list was just emptied; null: something else was done. `acted`: the block_id of the event. */
export function emptiedList(view: Pick<SubmittedView, 'values'>, acted: string, { revision, shown }: SettingsMetadata) {
	const field = SETTINGS_FIELDS.find((one) => acted === settingsBlockId(one, revision));
	const before = field === undefined ? null : shown[field];
	const element = elementStateOf(view, acted, ACTIONS.settingsField);
	const chosen = element?.selected_options ?? element?.selected_users;
	return field !== undefined && Array.isArray(before) && before.length > 0 && chosen?.length === 0 ? field : null;
}

/**
 * Shows errors at the fields of the form; an error of a missing field stands at the first one. The window that asks for
 * a confirmation has no fields, so it shows the errors itself, above the form.
 */
export function settingsRefused({ labels }: SubmittedView, revision: number, errors: SettingsErrors): Submitted {
	const [first] = Object.keys(labels);
	if (first === undefined) {
		const words = Object.values(errors).map((error) => `⚠️ ${error}`);
		return { ack: { response_action: 'update', view: notice(words, { close: 'Back' }) } };
	}
	const byBlock: Record<string, string> = {};
	for (const [field, words] of Object.entries(errors)) {
		const id = settingsBlockId(field, revision);
		const place = id in labels ? id : first;
		byBlock[place] = sentences(byBlock[place] ?? '', words);
	}
	return { ack: { response_action: 'errors', errors: byBlock } };
}

export interface SettingsModel {
	readonly metadata: SettingsMetadata;
	readonly defaultMs: number | null;
	readonly groups: UserGroups;
	readonly change: { readonly by: string; readonly at: number } | null;
	/** Words above the fields; may be empty. */
	readonly notice: Words;
	readonly adminContact: string | null;
	/** Whether the person may change who may answer. If not, the form says so at these fields. */
	readonly mayChange: boolean;
}

export function settingsForm(model: SettingsModel): ModalView {
	const { metadata, change, notice, mayChange } = model;
	const inputs = SETTINGS_FIELDS.flatMap((field): KnownBlock[] => {
		const notes = field === 'groups' ? [...groupNotes(model), ...context(escalationNote(model))] : [];
		const before = field === 'answerers' && !mayChange ? context(NOT_YOURS) : [];
		const isFirst = field === 'days' || field === 'posts' || field === 'answerers';
		return [...(isFirst ? [divider()] : []), ...before, ...input(model, field), ...notes];
	});
	return modal({
		callbackId: CALLBACKS.settings,
		title: TITLE,
		metadata: encodeSettingsMetadata(metadata),
		submit: 'Save',
		close: 'Cancel',
		// The form may be above an earlier form, which closes too.
		clearOnClose: true,
		blocks: [
			...section(notice),
			...section(
				rich`Reminders of questions in ${placeWords(metadata.channelId)}, what posts show, and who may answer.`,
			),
			...inputs,
			...context(lastChangeWords(change)),
		],
	});
}

function escalationNote({ metadata: { shown } }: SettingsModel): string {
	const isNobody = shown.people.every(isForgotten) && shown.groups.length === 0;
	return isNobody && shown.escalate !== null ? `⚠️ ${NO_ESCALATION}` : '';
}

const TITLE = 'Channel settings';
const NOT_YOURS = '🔒 The two lists below do not name you: only those whom they name can change them.';

/** Asks, above the form, whether to save a list that does not name its saver. `metadata`: what they chose. */
export function settingsConfirmation(metadata: SettingsMetadata, adminContact: string | null): ModalView {
	const { channelId, shown } = metadata;
	const named = mentionsWords(settingsOf(shown).answerers);
	return modal({
		callbackId: CALLBACKS.settings,
		title: TITLE,
		metadata: encodeSettingsMetadata({ ...metadata, confirms: true }),
		submit: 'Save anyway',
		close: 'Back',
		blocks: [
			...section(rich`⚠️ *Who may answer* does not name you.`),
			...section(
				template(
					'You will not be able to answer here or change this list. After that, only {named} can change it. Nothing ' +
						'is saved yet.',
					{ named },
				),
			),
			...section(
				template('If none of them can, ask {contact}: `npm run settings -- clear {channelId}` empties the list.', {
					contact: contactOf(adminContact),
					channelId,
				}),
			),
		],
	});
}

export function settingsNotice(...words: readonly Words[]): ModalView {
	return notice(words, {});
}

function notice(words: readonly Words[], how: Pick<Parameters<typeof modal>[0], 'close' | 'clearOnClose'>): ModalView {
	const blocks = words.flatMap((text) => section(text));
	return modal({ callbackId: CALLBACKS.settings, title: TITLE, metadata: '', blocks, ...how });
}

export const SETTINGS_WAITING = `⏳ ${ASKING_SLACK} The settings come as soon as Slack responds.`;
export const SETTINGS_LOADING = '⏳ Looking up the settings…';
export const SETTINGS_OUTDATED = template(
	'⚠️ This window was made by another version of Handraise and cannot be read any more. Nothing was saved. Close it ' +
		'and type `{command} settings` again.',
	{ command: COMMAND },
);

/** The settings after *Save*. `how`: `same` when nothing had to be changed. */
export function settingsSaved(
	how: 'saved' | 'same',
	settings: ChannelSettings,
	{ channelId, defaultMs }: { readonly channelId: string; readonly defaultMs: number | null },
): ModalView {
	const where = isDirectMessage(channelId) ? 'A message here says' : 'The channel is told';
	const same = 'These are the settings already, so nothing was changed.';
	const [isOff, mentions] = [settings.escalateAfterMs === null, namesAnybody(settings.mention)];
	const settled = PARTS.map((part): Words => {
		const { label, words } = LINES[part];
		const now = words(settings, { defaultMs, mentioned: mentionsWords }, settings);
		const note = part === 'mention' && mentions && isOff ? rich`, but not while *Escalate after* is off` : '';
		return rich`*${label}*: ${typeof now === 'string' && part.endsWith('AfterMs') ? capitalised(now) : now}${note}`;
	});
	if (!mentions && !isOff) settled.push(`⚠️ ${NO_ESCALATION}`);
	// Closing it closes the form below, if this was a confirmation.
	return notice([how === 'same' ? same : `✅ Saved. ${where} what changed.`, lines(...settled)], {
		clearOnClose: true,
	});
}

function input<F extends SettingsField>({ metadata, groups, defaultMs }: SettingsModel, field: F): InputBlock[] {
	const { channelId, revision, shown } = metadata;
	const {
		label,
		hint = '',
		directHint = hint,
		isForChannels,
		...fieldOf
	}: SettingsInput<SettingsValues[F]> = FIELDS[field];
	const isDirect = isDirectMessage(channelId);
	const element = isDirect && isForChannels ? null : fieldOf.element(shown[field], { groups, defaultMs });
	if (element === null) return [];
	const told = isDirect ? directHint : hint;
	// An emptied list has to be reported at once, because at *Save* it looks like an untouched one.
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

/** Why there is no field for user groups, or why it does not offer all. */
function groupNotes({ metadata: { shown }, groups, adminContact }: SettingsModel): KnownBlock[] {
	if (groups.kind === 'listed') {
		const total = groups.groups.length;
		if (total <= MOST_OPTIONS) return [];
		return context(
			`⚠️ Slack shows only ${MOST_OPTIONS} groups in one field, of ${total}: others cannot be chosen here.`,
		);
	}
	const count = shown.groups.length;
	const kept = ['', 'The group chosen before stays.'][count] ?? `The ${count} groups chosen before stay.`;
	return context(
		groups.why === 'missing_scope'
			? sentences(
					'⚠️ User groups cannot be chosen: Slack has not granted usergroups:read to Handraise.',
					kept,
					rich`To get it, ask ${contactOf(adminContact)}.`,
				)
			: sentences(
					'⚠️ User groups cannot be chosen: Slack did not list them.',
					kept,
					`To try again, close this window and type ${COMMAND} settings.`,
				),
	);
}

export function lastChangeWords(change: { readonly by: string; readonly at: number } | null): Words {
	if (change === null) return 'Nobody has changed these settings yet.';
	return joined(rich`Last changed by ${mentionOf(change.by)}`, momentOf(change.at));
}

type NoSettings = Extract<ChannelVerdict, { ok: false }>['reason'] | 'not_a_member';

/** Other reasons have the words of a refused watch. */
const NO_SETTINGS: Partial<Record<NoSettings, Words>> = {
	not_a_member: '🔒 Only members of this channel can see and change its settings. Join it, then try again.',
	direct: `⚠️ Direct messages between people have no settings. Use a channel, or your own with ${APP_NAME}.`,
	no_channel: rich`⚠️ Handraise does not know which channel this is about. Type \`${COMMAND} settings\` there.`,
};

/** Why a place has no settings, and what to do. */
export const noSettingsWords = (reason: NoSettings, error: ErrorContext) =>
	NO_SETTINGS[reason] ?? errorWords(`watch_${reason}`, error).text;

/* Errors of fields are plain text: Slack shows no mark-up in them. */

export const SETTINGS_ERRORS = {
	notChecked:
		`Slack did not tell in time whether you are in this channel and may change its settings. ${NOT_SAVED} Press ` +
		'Save again.',
	notNamed:
		'This list did not name you, so you cannot change it. Choose again whom it named, or ask them. Nothing was saved.',
	mentionNotChecked: `Slack did not tell in time whether they are here and may answer. ${NOT_SAVED} Press Save again.`,
	notMember: 'You are not a member of this channel any more, so you cannot change its settings. Nothing was saved.',
	unknownOutcome:
		'Handraise could not check whether this was saved. Press Save again: it is not saved or posted twice.',
} as const;

/** Why somebody may not save, or why saving failed. */
export function notSavedError({ code, what, plain: words, retry }: ReturnType<typeof errorWords>): string {
	if (code === 'settings_outcome_unknown') return SETTINGS_ERRORS.unknownOutcome;
	if (code === 'too_fast' || REFUSAL_CODES.some((refusal) => refusal === code)) return words;
	return sentences(plainWords(what), NOT_SAVED, retry ? 'Press Save again in a moment.' : '');
}

export function placeError(reason: NoSettings): string {
	return `${plainWords(noSettingsWords(reason, {}), NOBODY_NAMED).replace(/^\S+ /, '')} ${NOT_SAVED}`;
}

/** Why a person or a user group cannot be named, after their name. */
const PROBLEMS = {
	...CANNOT_ANSWER,
	not_here: 'is not a member of this channel and would not see the question',
	gone: 'does not exist any more',
	nobody_here: 'has no member in this channel, so nobody would see the question',
} as const;

type Problem = { readonly id: string; readonly why: keyof typeof PROBLEMS };
export type MentionProblems = Readonly<Record<'people' | 'groups', readonly Problem[]>>;

interface MentionNames {
	readonly names: Names;
	readonly groups: UserGroups;
}

/** Errors by field. `fields`: the fields of these people and groups. */
export function namingErrors(
	problems: MentionProblems,
	fields: readonly [people: SettingsField, groups: SettingsField],
	{ names, groups }: MentionNames,
): SettingsErrors {
	function errorAt(part: keyof MentionProblems, field: SettingsField, nameOf: (id: string) => string): SettingsErrors {
		const words = problems[part].map(({ id, why }) => `${nameOf(id)} ${PROBLEMS[why]}.`);
		const error = sentences(...words, 'Take them out, then press Save again. Nothing was saved.');
		return words.length === 0 ? {} : { [field]: oneLine(error, 2_000) };
	}
	return {
		...errorAt('people', fields[0], (id) => oneLine(names.displayName(id), 80) || 'Somebody'),
		...errorAt('groups', fields[1], (id) => oneLine(groupIn(groups, id)?.name ?? '', 80) || 'A chosen group'),
	};
}

/** In a window, where a mention notifies nobody: somebody else saved first. */
export const conflictWords = (by: string | null) =>
	rich`⚠️ ${by === null ? 'Somebody' : mentionOf(by)} changed this meanwhile: look again. Nothing of yours was saved.`;

/** Tells a channel what changed in its settings. Mentions nobody. */
export function settingsChangedPost(
	{ by, before, after }: ContentOf<'settingsChanged'>,
	known: MentionNames & { readonly channelId: string; readonly defaultMs: number | null },
): MessageContent {
	const { channelId, defaultMs, names } = known;
	const mentioned = (mention: Mention, other: Mention) => mentionedNames(mention, other, known);
	const changes = settingsChanges(before, after, { mentioned, defaultMs });
	const parts = changedParts(before, after);
	const isOfReminders = parts.every((part) => part !== 'answerers' && !(part in POSTS));
	const isOfList = parts.every((part) => part === 'answerers');
	const what = isOfReminders ? 'the reminders of' : isOfList ? 'who may answer in' : 'the settings of';
	const place = isDirectMessage(channelId) ? placeWords(channelId) : 'this channel';
	const who = by === OPERATOR ? capitalised(by) : personName(by, names);
	return textMessage(lines(rich`🔧 ${who} changed ${what} ${place}.`, ...changes));
}

function settingsChanges(before: ChannelSettings, after: ChannelSettings, known: LineContext): Words[] {
	return changedParts(before, after).map((part) => {
		const { label, words } = LINES[part];
		return rich`• *${label}*: ${words(before, known, after)} → ${words(after, known, before)}`;
	});
}

/** Mentions of the people and groups in a list, or `nobody`. In a message they notify. */
function mentionsWords(mention: Mention): Words {
	const words = mentionsOf(mention);
	return isEmpty(words) ? 'nobody' : words;
}

/** Names, not mentions, which would notify people of every change. Names that are not in `other` come first. */
function mentionedNames(mention: Mention, other: Mention, { names, groups }: MentionNames): string {
	const all = [
		...mention.userIds.map((id) => ({ text: personName(id, names), isOld: other.userIds.includes(id) })),
		...mention.groupIds.map((id) => ({ text: groupName(id, groups), isOld: other.groupIds.includes(id) })),
	].toSorted((one, two) => Number(one.isOld) - Number(two.isOld));
	if (all.length === 0) return 'nobody';
	const shown = all.slice(0, MOST_NAMED).map(({ text }) => text);
	return sentences(shown.join(', '), andMoreWords(all.length - shown.length));
}
