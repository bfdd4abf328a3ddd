import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { quietHours } from '../kernel/quiet-hours.ts';
import type { DeepReadonly } from '../kernel/values.ts';
import { namesAnybody } from './answerers.ts';

/** Whoever was forgotten stays as somebody who has left: a list that loses its people must not become empty. */
const named = z.object({ userIds: z.array(z.string()), groupIds: z.array(z.string()) });
export type Mention = DeepReadonly<z.infer<typeof named>>;

/** In place of a time, in the settings of 1.1.0: as a setting of the environment said. */
export const FORMER_DEFAULT = 'default';

/** What members of a channel set with `/session settings`. A setting that a stored row lacks has its default. */
export const channelSettings = z.object({
	/** `default`: as `REMIND_AFTER` says. Null: off. */
	remindAfterMs: z.union([z.number(), z.literal('default'), z.null()]).default('default'),
	/** Null: off. Rows of 1.1.0 may say `default`, until a start knows what that was. */
	escalateAfterMs: z.preprocess(
		(after) => (after === FORMER_DEFAULT ? null : after),
		z.number().nullable().default(null),
	),
	mention: named.default({ userIds: [], groupIds: [] }),
	quietHours: quietHours.nullable().default(null),
	answerers: named.default({ userIds: [], groupIds: [] }),
	/** Pauses and the like are posted in the card's thread. */
	progress: z.boolean().default(false),
	/** Questions, reminders and the end stand in the card's thread; see `isInThread`. */
	questionsInThread: z.boolean().default(false),
	/** Notifications and posts tell neither questions nor answers, only that there are some. */
	discreet: z.boolean().default(false),
	/** Posts of questions offer short options as buttons. */
	buttons: z.boolean().default(true),
});
export type ChannelSettings = DeepReadonly<z.infer<typeof channelSettings>>;

export const DEFAULT_CHANNEL_SETTINGS: ChannelSettings = channelSettings.parse({});

/** How a channel wants its posts. */
export type PostStyle = Pick<ChannelSettings, 'progress' | 'questionsInThread' | 'discreet' | 'buttons'>;

/** Where it is not known what a channel wants, a post tells the least. */
export const UNKNOWN_STYLE: PostStyle = { progress: false, questionsInThread: false, discreet: true, buttons: false };

/** Whether the questions of a watch stand in the thread of its card. A raised hand has none. */
export const isInThread = (mode: string | undefined, { questionsInThread }: Pick<PostStyle, 'questionsInThread'>) =>
	questionsInThread && mode === 'card';

/** `reminder`: in the card's thread if `isInThread`. `escalation`: in the channel, with its mentions. */
export const REMINDER_STAGES = ['reminder', 'escalation'] as const;
export type ReminderStage = (typeof REMINDER_STAGES)[number];

/** As set: when to remind and to escalate, in milliseconds from the question's post; null: never. */
export interface ReminderTimes {
	readonly remindAfterMs: number | null;
	readonly escalateAfterMs: number | null;
}

/** `defaultMs`: `REMIND_AFTER`, which holds where a channel has not set it; null: never. */
export function timesIn({ remindAfterMs, escalateAfterMs }: ChannelSettings, defaultMs: number | null): ReminderTimes {
	return { remindAfterMs: remindAfterMs === 'default' ? defaultMs : remindAfterMs, escalateAfterMs };
}

/** When reminders come: an escalation only where it can mention somebody. */
export function reminderTimes(settings: ChannelSettings, defaultMs: number | null): ReminderTimes {
	const times = timesIn(settings, defaultMs);
	return namesAnybody(settings.mention) ? times : { ...times, escalateAfterMs: null };
}

/** The settings that differ; the order of people, groups and days does not count. */
export function changedParts(before: ChannelSettings, after: ChannelSettings): readonly (keyof ChannelSettings)[] {
	const parts = Object.keys(channelSettings.shape) as (keyof ChannelSettings)[];
	return parts.filter((part) => !isDeepStrictEqual(withoutOrder(before[part]), withoutOrder(after[part])));
}

function withoutOrder(setting: unknown): unknown {
	return JSON.parse(JSON.stringify(setting), (_, value) => (Array.isArray(value) ? new Set(value) : value));
}
