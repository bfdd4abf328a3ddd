import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { DeepReadonly } from './values.ts';

/** 1 is Monday, 7 is Sunday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export const quietHours = z.object({
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

/** Quiet hours that follow each other without a gap last less than a week, or they would never end. */
const LONGEST_DAYS = 8;

export const FALLBACK_TIME_ZONE = 'UTC';

/** When the quiet hours around `at` end; null outside, or when they cannot be computed: better a reminder too many. */
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

export const leavesTime = ({ days, from, to }: QuietHours) => days.length < 7 || from !== to;

/** As the time zone database writes it; null when unknown here, and for `+05:30`, which has no daylight-saving time. */
export function timeZoneNamed(name: string): string | null {
	if (/^[+-]/.test(name)) return null;
	try {
		// Only Intl refuses dates with a zone, only Temporal PST and the like. Intl makes Asia/Calcutta of Asia/Kolkata.
		new Intl.DateTimeFormat('en', { timeZone: name });
		return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
	} catch {
		return null;
	}
}

export function tomorrowAtNine(now: number, timeZone: string): number {
	const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate();
	return momentOf(today.add({ days: 1 }), '09:00', timeZone);
}

/** A time that daylight saving skips counts as the same time after the change; one that comes twice, as the first. */
function momentOf(day: Temporal.PlainDate, time: string, timeZone: string): number {
	return day.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds;
}
