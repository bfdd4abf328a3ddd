import type { Person } from '../answers/answer.ts';
import type { SessionKey } from '../watches/watch.ts';
import { tomorrowAtNine } from './quiet-hours.ts';

/** A question that one person does not see in their inbox until `until` (milliseconds since the epoch). */
export interface Snooze {
	readonly person: Person;
	readonly session: SessionKey;
	/** Another question of the session is not snoozed. */
	readonly fingerprint: string;
	readonly until: number;
}

/** For how long people can snooze. `tomorrow`: until 9:00 of the next day in their time zone. */
export const SNOOZE_LENGTHS = ['15m', '1h', 'tomorrow'] as const;
export type SnoozeLength = (typeof SNOOZE_LENGTHS)[number];

/** Used when Slack does not tell a person's time zone. */
export const FALLBACK_TIME_ZONE = 'UTC';

const MINUTE_MS = 60_000;
/** Tomorrow 9:00 is at most 33 hours ahead, or 34 when clocks are put back. */
export const LONGEST_SNOOZE_MS = 36 * 60 * MINUTE_MS;

export function snoozedUntil(length: SnoozeLength, now: number, timeZone: string): number {
	if (length === 'tomorrow') return tomorrowAtNine(now, timeZone);
	return now + (length === '15m' ? 15 : 60) * MINUTE_MS;
}
