import { z } from 'zod';
import { changedParts, isInOrder, type LadderTimes, mentionsAnybody, timesIn } from '../../inbox/channel-settings.ts';
import { leavesTime, timeZoneNamed } from '../../inbox/quiet-hours.ts';
import type { ChannelSettings, Weekday } from '../../watches/channel-settings.ts';
import { noDayError, orderError, SETTINGS_ERRORS, zoneError } from '../blocks/settings-saving.ts';
import { ACTIONS, type SettingsField, settingsBlockId } from '../ids.ts';
import { type SettingsMetadata, type SettingsValues, settingsOf } from './metadata.ts';

/** Mentions of an escalation. A window with more would not fit into Slack's limits of a view. */
export const MOST_PEOPLE = 10;
export const MOST_GROUPS = 5;

/** What a form of a channel's settings holds. */
export interface SettingsReading {
	readonly values: SettingsValues;
	readonly chosen: ChannelSettings;
	/** By field; empty when nothing is wrong that can be seen without asking Slack. */
	readonly errors: Readonly<Partial<Record<SettingsField, string>>>;
}

const ELEMENT = z.object({
	value: z.string().nullish(),
	selected_option: z.object({ value: z.string() }).nullish(),
	selected_options: z.array(z.object({ value: z.string() })).nullish(),
	selected_users: z.array(z.string()).nullish(),
	selected_time: z.string().nullish(),
});
type Element = z.infer<typeof ELEMENT>;
const STATE = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Reads the form from `view.state.values`. What Slack leaves out, or sends as empty, is as it was shown. */
export function readSettingsForm(state: unknown, metadata: SettingsMetadata, defaults: LadderTimes): SettingsReading {
	const values = valuesIn(state, metadata);
	const chosen = settingsOf(values);
	return { values, chosen, errors: errorsOf({ values, chosen }, metadata, defaults) };
}

function valuesIn(state: unknown, { revision, shown }: SettingsMetadata): SettingsValues {
	const { data: blocks = {} } = STATE.safeParse(state);
	const element = (field: SettingsField): Element =>
		ELEMENT.safeParse(blocks[settingsBlockId(field, revision)]?.[ACTIONS.settingsField]).data ?? {};
	// A list that a person empties is reported at once, and is shown empty from then on.
	const list = <Item>(chosen: readonly Item[] | null | undefined, before: readonly Item[]) =>
		chosen == null || chosen.length === 0 ? before : [...new Set(chosen)];
	const optionsOf = (field: SettingsField) => element(field).selected_options?.map(({ value }) => value);
	return {
		remindAfterMs: afterIn(element('remind'), shown.remindAfterMs),
		escalateAfterMs: afterIn(element('escalate'), shown.escalateAfterMs),
		userIds: list(element('people').selected_users, shown.userIds),
		groupIds: list(optionsOf('groups'), shown.groupIds),
		days: list(optionsOf('days')?.map(Number).filter(isWeekday), shown.days).toSorted((one, other) => one - other),
		from: element('from').selected_time ?? shown.from,
		to: element('to').selected_time ?? shown.to,
		timeZone: zoneIn(element('zone'), shown.timeZone),
	};
}

/** The value of the option with a time. */
export function afterOption(after: ChannelSettings['remindAfterMs']): string {
	return after === null ? 'off' : String(after);
}

function afterIn({ selected_option: option }: Element, shown: ChannelSettings['remindAfterMs']) {
	const value = option?.value;
	if (value === 'default') return 'default';
	if (value === 'off') return null;
	return value !== undefined && /^[1-9]\d{0,10}$/.test(value) ? Number(value) : shown;
}

function zoneIn({ value }: Element, shown: string): string {
	const typed = value?.trim() ?? shown;
	return timeZoneNamed(typed) ?? typed;
}

function isTime(text: string): boolean {
	return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}

function isWeekday(day: number): day is Weekday {
	return Number.isInteger(day) && day >= 1 && day <= 7;
}

function errorsOf(
	{ values, chosen }: Pick<SettingsReading, 'values' | 'chosen'>,
	{ base, shown }: SettingsMetadata,
	defaults: LadderTimes,
): SettingsReading['errors'] {
	const { userIds, groupIds, from, to, timeZone } = values;
	const { quietHours } = chosen;
	const times = timesIn(chosen, defaults);
	const hasNewMention = mentionsAnybody(chosen) && changedParts(settingsOf(base), chosen).includes('mention');
	const hasNewTimes = from !== shown.from || to !== shown.to || timeZone !== shown.timeZone;
	return {
		...(isInOrder(times) ? {} : { escalate: orderError(times.remindAfterMs) }),
		// A list that was there before may be kept for later.
		...(times.escalateAfterMs === null && hasNewMention ? { escalate: SETTINGS_ERRORS.neverMentioned } : {}),
		...(userIds.length > MOST_PEOPLE ? { people: SETTINGS_ERRORS.tooManyPeople } : {}),
		...(groupIds.length > MOST_GROUPS ? { groups: SETTINGS_ERRORS.tooManyGroups } : {}),
		...(quietHours === null || leavesTime(quietHours) ? {} : { days: SETTINGS_ERRORS.alwaysQuiet }),
		...(quietHours === null && hasNewTimes ? { days: noDayError(shown) } : {}),
		...(isTime(from) ? {} : { from: SETTINGS_ERRORS.notATime }),
		...(isTime(to) ? {} : { to: SETTINGS_ERRORS.notATime }),
		...(quietHours === null || timeZoneNamed(timeZone) !== null ? {} : { zone: zoneError(timeZone) }),
	};
}

/** A field whose list may be empty. */
export type SettingsList = 'userIds' | 'groupIds' | 'days';

/** The list that a person has just emptied; null when they did something else. `acted`: the block_id of the field. */
export function emptiedList(state: unknown, acted: string, { revision, shown }: SettingsMetadata): SettingsList | null {
	const found = LISTS.find(([field]) => acted === settingsBlockId(field, revision));
	if (found === undefined) return null;
	const [field, list] = found;
	const { data: blocks = {} } = STATE.safeParse(state);
	const { data } = ELEMENT.safeParse(blocks[acted]?.[ACTIONS.settingsField]);
	const chosen = field === 'people' ? data?.selected_users : data?.selected_options;
	return chosen?.length === 0 && shown[list].length > 0 ? list : null;
}

export const LISTS = [
	['people', 'userIds'],
	['groups', 'groupIds'],
	['days', 'days'],
] as const satisfies readonly (readonly [SettingsField, SettingsList])[];
