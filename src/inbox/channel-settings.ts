import { isDeepStrictEqual } from 'node:util';
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

/** Of a reminder and an escalation that are both due, only the escalation comes. `postedAt`: of the question's post. */
export function isStillDue(
	{ stage, postedAt }: { readonly stage: 'reminder' | 'escalation'; readonly postedAt: number },
	{ remindAfterMs, escalateAfterMs }: LadderTimes,
	now: number,
): boolean {
	if (stage === 'escalation') return escalateAfterMs !== null;
	return remindAfterMs !== null && (escalateAfterMs === null || now < postedAt + escalateAfterMs);
}

/** Whether escalation comes after the reminder; also when one of them is off. */
export function isInOrder({ remindAfterMs, escalateAfterMs }: LadderTimes): boolean {
	return remindAfterMs === null || escalateAfterMs === null || escalateAfterMs > remindAfterMs;
}

/** Whether an escalation mentions somebody. */
export function mentionsAnybody({ mention: { userIds, groupIds } }: Pick<ChannelSettings, 'mention'>): boolean {
	return userIds.length + groupIds.length > 0;
}

export function isSameSettings(one: ChannelSettings, other: ChannelSettings): boolean {
	return changedParts(one, other).length === 0;
}

/** The settings that differ; the order of people, groups and days does not count. */
export function changedParts(before: ChannelSettings, after: ChannelSettings): readonly (keyof ChannelSettings)[] {
	const [one, other] = [sorted(before), sorted(after)];
	return PARTS.filter((part) => !isDeepStrictEqual(one[part], other[part]));
}

const PARTS = ['remindAfterMs', 'escalateAfterMs', 'mention', 'quietHours'] as const;

function sorted({ mention, quietHours, ...times }: ChannelSettings): ChannelSettings {
	return {
		...times,
		mention: { userIds: mention.userIds.toSorted(), groupIds: mention.groupIds.toSorted() },
		quietHours:
			quietHours === null ? null : { ...quietHours, days: quietHours.days.toSorted((one, other) => one - other) },
	};
}
