import { z } from 'zod';
import { FALLBACK_TIME_ZONE } from '../../inbox/snooze.ts';
import type { ChannelSettings, Weekday } from '../../watches/channel-settings.ts';
import { METADATA_LIMIT } from '../metadata.ts';

/** What the fields of a channel's settings hold. */
export interface SettingsValues extends Pick<ChannelSettings, 'remindAfterMs' | 'escalateAfterMs'> {
	readonly userIds: readonly string[];
	readonly groupIds: readonly string[];
	/** Empty: no quiet hours, whatever the other three hold. */
	readonly days: readonly Weekday[];
	/** `HH:MM` */
	readonly from: string;
	readonly to: string;
	readonly timeZone: string;
}

/** What a form of a channel's settings carries from one event to the next. */
export interface SettingsMetadata {
	readonly channelId: string;
	/** Of the stored settings that the person has seen. */
	readonly revision: number;
	/** Those settings. */
	readonly base: SettingsValues;
	/** What the fields began with: Slack may leave it out of the state while nobody touches it. */
	readonly shown: SettingsValues;
	/** Whether there is a field for user groups. */
	readonly offersGroups: boolean;
}

const QUIET_FROM = '20:00';
const QUIET_TO = '08:00';

/** The fields for these settings. `quiet`: what the fields of the quiet hours hold while there are none. */
export function valuesOf(
	{ remindAfterMs, escalateAfterMs, mention, quietHours }: ChannelSettings,
	quiet: { readonly from?: string; readonly to?: string; readonly timeZone: string | null },
): SettingsValues {
	const { from = QUIET_FROM, to = QUIET_TO, timeZone } = quiet;
	const hours = quietHours ?? { days: [], from, to, timeZone: timeZone ?? FALLBACK_TIME_ZONE };
	return { remindAfterMs, escalateAfterMs, ...mention, ...hours };
}

export function settingsOf(values: SettingsValues): ChannelSettings {
	const { remindAfterMs, escalateAfterMs, userIds, groupIds, days, from, to, timeZone } = values;
	return {
		remindAfterMs,
		escalateAfterMs,
		mention: { userIds, groupIds },
		quietHours: days.length === 0 ? null : { days, from, to, timeZone },
	};
}

const after = z.union([z.number(), z.literal('default'), z.null()]);
const time = z.string().regex(/^\d\d:\d\d$/);
const weekday: z.ZodType<Weekday> = z.literal([1, 2, 3, 4, 5, 6, 7]);
const values = z
	.tuple([after, after, z.array(z.string()), z.array(z.string()), z.array(weekday), time, time, z.string()])
	.transform(
		([remindAfterMs, escalateAfterMs, userIds, groupIds, days, from, to, timeZone]): SettingsValues => ({
			remindAfterMs,
			escalateAfterMs,
			userIds,
			groupIds,
			days,
			from,
			to,
			timeZone,
		}),
	);
const SCHEMA = z.object({
	k: z.literal('settings1'),
	c: z.string().min(1).max(64),
	r: z.int().min(0),
	b: values,
	s: values,
	g: z.boolean(),
});

/** The string for private_metadata. @throws RangeError over 3,000 characters (only with lists longer than a form takes) */
export function encodeSettingsMetadata(metadata: SettingsMetadata): string {
	const { channelId, revision, base, shown, offersGroups } = metadata;
	const text = JSON.stringify({
		k: 'settings1',
		c: channelId,
		r: revision,
		b: tupleOf(base),
		s: tupleOf(shown),
		g: offersGroups,
	} satisfies z.input<typeof SCHEMA>);
	if (text.length > METADATA_LIMIT) throw new RangeError(`private_metadata of ${text.length} characters`);
	return text;
}

/** Null for anything else, such as a form of another version. */
export function decodeSettingsMetadata(text: string | undefined): SettingsMetadata | null {
	try {
		const { data } = SCHEMA.safeParse(JSON.parse(text ?? ''));
		if (data === undefined) return null;
		return { channelId: data.c, revision: data.r, base: data.b, shown: data.s, offersGroups: data.g };
	} catch {
		return null;
	}
}

function tupleOf(all: SettingsValues): z.input<typeof values> {
	const { remindAfterMs, escalateAfterMs, userIds, groupIds, days, from, to, timeZone } = all;
	return [remindAfterMs, escalateAfterMs, [...userIds], [...groupIds], [...days], from, to, timeZone];
}
