import { z } from 'zod';
import { DEFAULT_CHANNEL_SETTINGS } from '../inbox/channel-settings.ts';
import type { ChannelSettings, QuietHours } from '../watches/channel-settings.ts';

const weekday = z.union([
	z.literal(1),
	z.literal(2),
	z.literal(3),
	z.literal(4),
	z.literal(5),
	z.literal(6),
	z.literal(7),
]);
const quietHours: z.ZodType<QuietHours> = z.object({
	days: z.array(weekday),
	from: z.string(),
	to: z.string(),
	timeZone: z.string(),
});
const after = z.union([z.number(), z.literal('default'), z.null()]);
export const channelSettings: z.ZodType<ChannelSettings> = z.object({
	remindAfterMs: after,
	escalateAfterMs: after,
	mention: z.object({ userIds: z.array(z.string()), groupIds: z.array(z.string()) }),
	quietHours: quietHours.nullable(),
});

/** The defaults for null. */
export function readSettings(text: string | null): ChannelSettings {
	return text === null ? DEFAULT_CHANNEL_SETTINGS : channelSettings.parse(JSON.parse(text));
}
