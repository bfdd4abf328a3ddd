import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { quietHours } from '../kernel/quiet-hours.ts';
import type { DeepReadonly } from '../kernel/values.ts';
import { namesAnybody } from './answerers.ts';

/** A forgotten person stays in the list under a random id: an empty list would let everybody answer. */
const named = z.object({ userIds: z.array(z.string()), groupIds: z.array(z.string()) });
export type Mention = DeepReadonly<z.infer<typeof named>>;

/** What members of a channel set with `/session settings`. A setting absent from a stored row has its default. */
export const channelSettings = z.object({
	/** `default`: the time of `REMIND_AFTER`. Null: off. */
	remindAfterMs: z.union([z.number(), z.literal('default'), z.null()]).default('default'),
	/** Null: off. Rows that 1.1.0 wrote may hold `default`, which is off. */
	escalateAfterMs: z.preprocess((after) => (after === 'default' ? null : after), z.number().nullable().default(null)),
	mention: named.default({ userIds: [], groupIds: [] }),
	quietHours: quietHours.nullable().default(null),
	answerers: named.default({ userIds: [], groupIds: [] }),
	/** Pauses and the like are posted in the card's thread. */
	progress: z.boolean().default(false),
	/** Questions, reminders and the end stand in the card's thread; see `isInThread`. */
	questionsInThread: z.boolean().default(false),
	/** Notifications and posts show no text of questions and answers, only that there are some. */
	discreet: z.boolean().default(false),
	/** Posts of questions show short options as buttons. */
	buttons: z.boolean().default(true),
});
export type ChannelSettings = DeepReadonly<z.infer<typeof channelSettings>>;

export const DEFAULT_CHANNEL_SETTINGS: ChannelSettings = channelSettings.parse({});

/** The settings that change how a channel's posts look and where they stand. */
export const STYLE_PARTS = ['progress', 'questionsInThread', 'discreet', 'buttons'] as const;
export type StylePart = (typeof STYLE_PARTS)[number];
export type PostStyle = Pick<ChannelSettings, StylePart>;

/** An object with the value of each part. */
export const ofEachStylePart = <Value>(valueFor: (part: StylePart) => Value) =>
	Object.fromEntries(STYLE_PARTS.map((part) => [part, valueFor(part)])) as Record<StylePart, Value>;

/** The style when a channel's settings are unknown: it discloses the least. */
export const UNKNOWN_STYLE: PostStyle = { progress: false, questionsInThread: false, discreet: true, buttons: false };

/** Whether the questions of a watch stand in the thread of its card. A raised hand has no card. */
export const isInThread = (mode: string | undefined, { questionsInThread }: Pick<PostStyle, 'questionsInThread'>) =>
	questionsInThread && mode === 'card';

/** `reminder`: in the card's thread if `isInThread`. `escalation`: in the channel, with its mentions. */
export const REMINDER_STAGES = ['reminder', 'escalation'] as const;
export type ReminderStage = (typeof REMINDER_STAGES)[number];

/** When to remind and to escalate, in milliseconds after the question's post; null: never. */
export interface ReminderTimes {
	readonly remindAfterMs: number | null;
	readonly escalateAfterMs: number | null;
}

/** The times as the channel set them. `defaultMs`: `REMIND_AFTER`, for a channel without an own time; null: never. */
export function timesIn({ remindAfterMs, escalateAfterMs }: ChannelSettings, defaultMs: number | null): ReminderTimes {
	return { remindAfterMs: remindAfterMs === 'default' ? defaultMs : remindAfterMs, escalateAfterMs };
}

/** The times that apply: there is no escalation when it could mention nobody. */
export function reminderTimes(settings: ChannelSettings, defaultMs: number | null): ReminderTimes {
	const times = timesIn(settings, defaultMs);
	return namesAnybody(settings.mention) ? times : { ...times, escalateAfterMs: null };
}

/** The names of the settings that differ. The order of people, groups and days does not count. */
export function changedParts(before: ChannelSettings, after: ChannelSettings): readonly (keyof ChannelSettings)[] {
	const parts = Object.keys(channelSettings.shape) as (keyof ChannelSettings)[];
	return parts.filter((part) => !isDeepStrictEqual(withoutOrder(before[part]), withoutOrder(after[part])));
}

function withoutOrder(setting: unknown): unknown {
	return JSON.parse(JSON.stringify(setting), (_, value) => (Array.isArray(value) ? new Set(value) : value));
}
