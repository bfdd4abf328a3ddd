import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { DeepReadonly } from './values.ts';

/** 1 is Monday, 7 is Sunday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export const quietHours = z.object({
	/** The days on which quiet hours begin, at least one. */
	days: z.array(z.literal(WEEKDAYS)),
	/** `HH:MM`, 24 hours. */
	from: z.string(),
	/** `HH:MM`. If not later than `from`, it means the next day. */
	to: z.string(),
	/** A name of the time zone database, such as `Europe/Berlin`. */
	timeZone: z.string(),
});
/** When a channel gets no reminders: from `from` on each of these days until the next `to`. */
export type QuietHours = DeepReadonly<z.infer<typeof quietHours>>;

/** Days to search for the end. Quiet hours without a gap last less than a week, or they would never end. */
const LONGEST_DAYS = 8;

export const FALLBACK_TIME_ZONE = 'UTC';

/** When the quiet hours around `at` end; null: none, or they cannot be computed (better a reminder too many). */
export function quietUntil(hours: QuietHours, at: number): number | null {
	let end = at;
	try {
		const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(hours.timeZone).toPlainDate();
		for (let day = -1; day <= LONGEST_DAYS; day += 1) {
			const date = today.add({ days: day });
			if (!hours.days.some((weekday) => weekday === date.dayOfWeek)) continue;
			const from = momentOf(date, hours.from, hours.timeZone);
			const to = momentOf(hours.to <= hours.from ? date.add({ days: 1 }) : date, hours.to, hours.timeZone);
			if (from <= end && end < to) end = to;
		}
	} catch {
		return null;
	}
	return end === at ? null : end;
}

/** Whether the quiet hours end at some time of the week. */
export const leavesTime = ({ days, from, to }: QuietHours) => days.length < 7 || from !== to;

/** A time zone's name as its database writes it; null: unknown, or an offset such as `+05:30`. */
export function timeZoneNamed(name: string): string | null {
	if (/^[+-]/.test(name)) return null;
	try {
		// Both check the name: only Intl refuses a date with a zone, only Temporal refuses PST and the like. The id is
		// Temporal's, because Intl turns Asia/Kolkata into Asia/Calcutta.
		new Intl.DateTimeFormat('en', { timeZone: name });
		return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
	} catch {
		return null;
	}
}

/** A local time in ms. One that summer time skips is taken after the change; one that comes twice is the first. */
function momentOf(day: Temporal.PlainDate, time: string, timeZone: string): number {
	return day.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds;
}
