/** 1 is Monday, 7 is Sunday. */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** When a channel is not reminded: from `from` on each of these days until the next `to`. */
export interface QuietHours {
	/** The days on which quiet hours begin; at least one. */
	readonly days: readonly Weekday[];
	/** `HH:MM`, 24 hours. */
	readonly from: string;
	/** `HH:MM`. Not later than `from`: on the next day. */
	readonly to: string;
	/** A name of the time zone database, such as `Europe/Berlin`. */
	readonly timeZone: string;
}

/** Whom an escalation mentions. */
export interface Mention {
	/** Slack user ids. */
	readonly userIds: readonly string[];
	/** Ids of user groups. */
	readonly groupIds: readonly string[];
}

/** What the members of a channel have set with `/session settings`. */
export interface ChannelSettings {
	/** `default`: as `REMIND_AFTER` says. Null: off. */
	readonly remindAfterMs: number | null | 'default';
	/** `default`: as `ESCALATE_AFTER` says. Null: off. */
	readonly escalateAfterMs: number | null | 'default';
	readonly mention: Mention;
	readonly quietHours: QuietHours | null;
}

/**
 * One step of a question's reminders. `reminder`: a word in the question's thread. `escalation`: it mentions the people
 * that the channel's settings name, and is shown in the channel too.
 */
export type ReminderStage = 'reminder' | 'escalation';
