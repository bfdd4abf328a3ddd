import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { quietHours, quietUntil } from '../core/quiet-hours.ts';
import type { DeepReadonly } from '../core/values.ts';
import { isForgotten } from '../questions/answer.ts';

const mention = z.object({
	/** Whoever was forgotten is not mentioned any more. */
	userIds: z.array(z.string()).transform((ids) => ids.filter((id) => !isForgotten(id))),
	groupIds: z.array(z.string()),
});
export type Mention = DeepReadonly<z.infer<typeof mention>>;

const after = z.union([z.number(), z.literal('default'), z.null()]);

/** What members of a channel set with `/session settings`. A setting that a stored row lacks has its default. */
export const channelSettings = z.object({
	/** `default`: as `REMIND_AFTER` and `ESCALATE_AFTER` say. Null: off. */
	remindAfterMs: after.default('default'),
	escalateAfterMs: after.default('default'),
	mention: mention.default({ userIds: [], groupIds: [] }),
	quietHours: quietHours.nullable().default(null),
});
export type ChannelSettings = DeepReadonly<z.infer<typeof channelSettings>>;

export const DEFAULT_CHANNEL_SETTINGS: ChannelSettings = channelSettings.parse({});

/** `reminder`: in the question's thread. `escalation`: with the channel's mentions, and in the channel too. */
export const REMINDER_STAGES = ['reminder', 'escalation'] as const;
export type ReminderStage = (typeof REMINDER_STAGES)[number];

/** When to remind and to escalate, in milliseconds from the question's post; null: never. */
export interface LadderTimes {
	readonly remindAfterMs: number | null;
	readonly escalateAfterMs: number | null;
}

export function timesIn({ remindAfterMs, escalateAfterMs }: ChannelSettings, defaults: LadderTimes): LadderTimes {
	return {
		remindAfterMs: remindAfterMs === 'default' ? defaults.remindAfterMs : remindAfterMs,
		escalateAfterMs: escalateAfterMs === 'default' ? defaults.escalateAfterMs : escalateAfterMs,
	};
}

/** The reminders that the settings of now allow: none in quiet hours, and no reminder whose escalation is due too. */
export function stillDue<Entry extends { readonly stage: ReminderStage; readonly postedAt: number }>(
	entries: readonly Entry[],
	settings: ChannelSettings,
	{ defaults, now }: { defaults: LadderTimes; now: number },
): readonly Entry[] {
	const { quietHours } = settings;
	if (quietHours !== null && quietUntil(quietHours, now) !== null) return [];
	const { remindAfterMs, escalateAfterMs } = timesIn(settings, defaults);
	return entries.filter(({ stage, postedAt }) => {
		if (stage === 'escalation') return escalateAfterMs !== null;
		return remindAfterMs !== null && (escalateAfterMs === null || now < postedAt + escalateAfterMs);
	});
}

export function mentionsAnybody({ mention: { userIds, groupIds } }: Pick<ChannelSettings, 'mention'>): boolean {
	return userIds.length + groupIds.length > 0;
}

/** The settings that differ; the order of people, groups and days does not count. */
export function changedParts(before: ChannelSettings, after: ChannelSettings): readonly (keyof ChannelSettings)[] {
	const parts = Object.keys(channelSettings.shape) as (keyof ChannelSettings)[];
	return parts.filter((part) => !isDeepStrictEqual(withoutOrder(before[part]), withoutOrder(after[part])));
}

function withoutOrder(setting: unknown): unknown {
	return JSON.parse(JSON.stringify(setting), (_, value) => (Array.isArray(value) ? new Set(value) : value));
}
