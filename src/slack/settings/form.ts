import { z } from 'zod';
import { FALLBACK_TIME_ZONE } from '../../inbox/quiet-hours.ts';
import type { StoredChannelSettings } from '../../store/channel-settings-store.ts';
import type { ChannelSettings, LadderTimes } from '../../watches/channel-settings.ts';
import { ACTIONS, settingsBlockId, slackCodec } from '../ids.ts';
import type { SubmittedView } from '../request.ts';
import {
	FIELDS,
	SETTINGS_FIELDS,
	type SettingsField,
	type SettingsValues,
	settingsElement,
	settingsValues,
} from './table.ts';

/** The fields for these settings. `quiet`: what the fields of the quiet hours hold while there are none. */
export function valuesOf(
	{ remindAfterMs: remind, escalateAfterMs: escalate, mention, quietHours }: ChannelSettings,
	quiet: { readonly from?: string; readonly to?: string; readonly zone: string | null },
): SettingsValues {
	const { from = '20:00', to = '08:00', zone } = quiet;
	const hours = quietHours ?? { days: [], from, to, timeZone: zone ?? FALLBACK_TIME_ZONE };
	const { timeZone, ...times } = hours;
	return { remind, escalate, people: mention.userIds, groups: mention.groupIds, ...times, zone: timeZone };
}

export function settingsOf({ remind, escalate, people, groups, ...quiet }: SettingsValues): ChannelSettings {
	const { days, from, to, zone } = quiet;
	return {
		remindAfterMs: remind,
		escalateAfterMs: escalate,
		mention: { userIds: people, groupIds: groups },
		quietHours: days.length === 0 ? null : { days, from, to, timeZone: zone },
	};
}

const CODEC = slackCodec(
	'settings',
	z.object({
		channelId: z.string(),
		/** Of the stored settings that the person has seen. */
		revision: z.int().min(0),
		/** Those settings. */
		base: settingsValues,
		/** What the fields began with: Slack may leave it out of the state while nobody touches it. */
		shown: settingsValues,
	}),
);
/** What a form of a channel's settings carries from one event to the next. */
export type SettingsMetadata = Parameters<typeof CODEC.encode>[0];
export const { encode: encodeSettingsMetadata, decode: decodeSettingsMetadata } = CODEC;

/** The metadata of a new form. */
export function metadataFor(
	channelId: string,
	{ settings, revision }: StoredChannelSettings,
	quiet: Parameters<typeof valuesOf>[1],
): SettingsMetadata {
	const shown = valuesOf(settings, quiet);
	return { channelId, revision, base: shown, shown };
}

/** By field: what is wrong. Plain text. */
export type SettingsErrors = Readonly<Partial<Record<SettingsField, string>>>;

type State = SubmittedView['values'];

function elementIn(state: State, blockId: string) {
	return settingsElement.safeParse(state[blockId]?.[ACTIONS.settingsField]).data ?? {};
}

/**
 * Reads the form from `view.state.values`. What Slack leaves out, or sends as empty, is as it was shown. `errors`: what can
 * be seen without asking Slack.
 */
export function readSettingsForm(
	state: State,
	{ revision, base, shown }: SettingsMetadata,
	defaults: LadderTimes,
): { readonly chosen: ChannelSettings; readonly errors: SettingsErrors } {
	const read = <F extends SettingsField>(field: F): [F, SettingsValues[F]] => [
		field,
		FIELDS[field].read(elementIn(state, settingsBlockId(field, revision)), shown[field]),
	];
	const values = Object.fromEntries(SETTINGS_FIELDS.map(read)) as unknown as SettingsValues;
	const chosen = settingsOf(values);
	const filled = { values, chosen, shown, before: settingsOf(base), defaults };
	const errors = SETTINGS_FIELDS.flatMap((field) => {
		const error = FIELDS[field].check?.(filled) ?? '';
		return error === '' ? [] : [[field, error] as const];
	});
	return { chosen, errors: Object.fromEntries(errors) };
}

/** The field whose list a person has just emptied; null when they did something else. `acted`: the block_id of the field. */
export function emptiedList(state: State, acted: string, { revision, shown }: SettingsMetadata): SettingsField | null {
	const field = SETTINGS_FIELDS.find((one) => acted === settingsBlockId(one, revision));
	const before = field === undefined ? null : shown[field];
	const { selected_users: users, selected_options: chosen = users } = elementIn(state, acted);
	return field !== undefined && Array.isArray(before) && before.length > 0 && chosen?.length === 0 ? field : null;
}

/** Errors by block_id, for `response_action: 'errors'`. `blockIds`: of the view; errors of a field that it lacks stand at the first. */
export function placed(errors: SettingsErrors, blockIds: readonly string[], revision: number): Record<string, string> {
	const [first = ''] = blockIds;
	const byBlock: Record<string, string> = {};
	for (const [field, words] of Object.entries(errors)) {
		const id = settingsBlockId(field, revision);
		const place = blockIds.includes(id) ? id : first;
		byBlock[place] = [byBlock[place], words].filter(Boolean).join(' ');
	}
	return byBlock;
}
