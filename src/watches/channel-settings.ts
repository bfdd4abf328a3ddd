import { z } from 'zod';
import type { DeepReadonly } from '../deep-readonly.ts';

/** 1 is Monday, 7 is Sunday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const quietHours = z.object({
	/** The days on which quiet hours begin; at least one. */
	days: z.array(z.literal(WEEKDAYS)),
	/** `HH:MM`, 24 hours. */
	from: z.string(),
	/** `HH:MM`. Not later than `from`: on the next day. */
	to: z.string(),
	/** A name of the time zone database, such as `Europe/Berlin`. */
	timeZone: z.string(),
});
/** When a channel is not reminded: from `from` on each of these days until the next `to`. */
export type QuietHours = DeepReadonly<z.infer<typeof quietHours>>;

const mention = z.object({
	/** Slack user ids. */
	userIds: z.array(z.string()),
	/** Ids of user groups. */
	groupIds: z.array(z.string()),
});
/** Whom an escalation mentions. */
export type Mention = DeepReadonly<z.infer<typeof mention>>;

const after = z.union([z.number(), z.literal('default'), z.null()]);

export const channelSettings = z.object({
	/** `default`: as `REMIND_AFTER` says. Null: off. */
	remindAfterMs: after,
	/** `default`: as `ESCALATE_AFTER` says. Null: off. */
	escalateAfterMs: after,
	mention,
	quietHours: quietHours.nullable(),
});
/** What the members of a channel have set with `/session settings`. */
export type ChannelSettings = DeepReadonly<z.infer<typeof channelSettings>>;

/**
 * The stages of a question's reminders. `reminder`: a word in the question's thread. `escalation`: it mentions the people
 * that the channel's settings name, and is shown in the channel too.
 */
export const REMINDER_STAGES = ['reminder', 'escalation'] as const;
export type ReminderStage = (typeof REMINDER_STAGES)[number];
