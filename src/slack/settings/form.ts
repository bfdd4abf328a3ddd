import { z } from 'zod';
import type { ChannelSettings, LadderTimes } from '../../watches/channel-settings.ts';
import { ACTIONS, settingsBlockId } from '../ids.ts';
import { METADATA_LIMIT } from '../metadata.ts';
import {
	FIELDS,
	SETTINGS_FIELDS,
	type SettingsField,
	type SettingsValues,
	settingsElement,
	settingsOf,
	settingsValues,
} from './table.ts';

/** What a form of a channel's settings carries from one event to the next. */
export interface SettingsMetadata {
	readonly channelId: string;
	/** Of the stored settings that the person has seen. */
	readonly revision: number;
	/** Those settings. */
	readonly base: SettingsValues;
	/** What the fields began with: Slack may leave it out of the state while nobody touches it. */
	readonly shown: SettingsValues;
}

const SCHEMA: z.ZodType<SettingsMetadata> = z.object({
	channelId: z.string().min(1).max(64),
	revision: z.int().min(0),
	base: settingsValues,
	shown: settingsValues,
});

/** The string for private_metadata. @throws RangeError over 3,000 characters (only with lists longer than a form takes) */
export function encodeSettingsMetadata(metadata: SettingsMetadata): string {
	const text = JSON.stringify(metadata);
	if (text.length > METADATA_LIMIT) throw new RangeError(`private_metadata of ${text.length} characters`);
	return text;
}

/** Null for anything else, such as a form of another version. */
export function decodeSettingsMetadata(text: string | undefined): SettingsMetadata | null {
	try {
		return SCHEMA.safeParse(JSON.parse(text ?? '')).data ?? null;
	} catch {
		return null;
	}
}

/** What a form of a channel's settings holds. */
export interface SettingsReading {
	readonly chosen: ChannelSettings;
	/** By field; empty when nothing is wrong that can be seen without asking Slack. */
	readonly errors: Readonly<Partial<Record<SettingsField, string>>>;
}

const STATE = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Reads elements from `view.state.values` by their block_id. */
function elementsIn(state: unknown) {
	const { data: blocks = {} } = STATE.safeParse(state);
	return (blockId: string) => settingsElement.safeParse(blocks[blockId]?.[ACTIONS.settingsField]).data ?? {};
}

/** Reads the form from `view.state.values`. What Slack leaves out, or sends as empty, is as it was shown. */
export function readSettingsForm(
	state: unknown,
	{ revision, base, shown }: SettingsMetadata,
	defaults: LadderTimes,
): SettingsReading {
	const element = elementsIn(state);
	const read = <F extends SettingsField>(field: F): [F, SettingsValues[F]] => [
		field,
		FIELDS[field].read(element(settingsBlockId(field, revision)), shown[field]),
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
export function emptiedList(
	state: unknown,
	acted: string,
	{ revision, shown }: SettingsMetadata,
): SettingsField | null {
	const field = SETTINGS_FIELDS.find((one) => acted === settingsBlockId(one, revision));
	if (field === undefined || FIELDS[field].count?.(elementsIn(state)(acted)) !== 0) return null;
	const before = shown[field];
	return Array.isArray(before) && before.length > 0 ? field : null;
}
