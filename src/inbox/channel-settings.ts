import type { ChannelSettings } from '../watches/channel-settings.ts';

/** Of a channel in which nobody has changed anything. */
export const DEFAULT_CHANNEL_SETTINGS: ChannelSettings = {
	remindAfterMs: 'default',
	escalateAfterMs: 'default',
	mention: { userIds: [], groupIds: [] },
	quietHours: null,
};

/** When to remind and to escalate, in milliseconds from the question's post; null: never. */
export interface LadderTimes {
	readonly remindAfterMs: number | null;
	readonly escalateAfterMs: number | null;
}

/** The times that hold in a channel. */
export function timesIn({ remindAfterMs, escalateAfterMs }: ChannelSettings, defaults: LadderTimes): LadderTimes {
	return {
		remindAfterMs: remindAfterMs === 'default' ? defaults.remindAfterMs : remindAfterMs,
		escalateAfterMs: escalateAfterMs === 'default' ? defaults.escalateAfterMs : escalateAfterMs,
	};
}

/** Whether escalation comes after the reminder; also when one of them is off. */
export function isInOrder({ remindAfterMs, escalateAfterMs }: LadderTimes): boolean {
	return remindAfterMs === null || escalateAfterMs === null || escalateAfterMs > remindAfterMs;
}
