import { Temporal } from 'temporal-polyfill';

/** No reminders on these days (1: Monday) from one time of day (`HH:MM`) to another, of the next day if `to` is not later. */
export interface QuietHours {
	readonly days: readonly number[];
	readonly from: string;
	readonly to: string;
	readonly timeZone: string;
}

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
		// Only Intl refuses dates with a zone, and only Temporal refuses PST and the like. Intl makes Asia/Calcutta of Asia/Kolkata.
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
