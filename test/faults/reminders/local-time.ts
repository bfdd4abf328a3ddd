import type { QuietHours } from '../../../src/kernel/quiet-hours.ts';

/** From `from` until before `to`; milliseconds since the epoch. */
export interface Interval {
	readonly from: number;
	readonly to: number;
}

/** The same times as intervals that neither overlap nor touch, in order. */
function union(intervals: readonly Interval[]): Interval[] {
	const merged: Interval[] = [];
	for (const next of intervals.toSorted((one, other) => one.from - other.from)) {
		const last = merged.at(-1);
		if (next.to <= next.from) continue;
		if (last === undefined || next.from > last.to) merged.push(next);
		else merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
	}
	return merged;
}

/** The times of `intervals` that are in none of `others`. */
export function without(intervals: readonly Interval[], others: readonly Interval[]): Interval[] {
	let left = union(intervals);
	for (const cut of union(others)) {
		left = left.flatMap(({ from, to }) => {
			if (cut.to <= from || cut.from >= to) return [{ from, to }];
			return [
				{ from, to: cut.from },
				{ from: cut.to, to },
			].filter((part) => part.from < part.to);
		});
	}
	return left;
}

export function isIn(intervals: readonly Interval[], at: number): boolean {
	return intervals.some(({ from, to }) => from <= at && at < to);
}

const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** What clocks in the zone show, as if it were UTC; milliseconds. */
function wallTime(at: number, timeZone: string): number {
	// Swedes write 2026-03-29 02:30:00.
	const styles = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const;
	const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('sv', styles);
	formats.set(timeZone, format);
	return Date.parse(`${format.format(at)}Z`) + (at % 1000);
}

/**
 * When clocks in the zone show `wall` (as `wallTime` gives it). The first of two such times; for one that is skipped, the
 * same time after the change.
 */
function instantAt(wall: number, timeZone: string): number {
	const before = wallTime(wall - DAY_MS, timeZone) - (wall - DAY_MS);
	const after = wallTime(wall + DAY_MS, timeZone) - (wall + DAY_MS);
	const fitting = [wall - before, wall - after].filter((at) => wallTime(at, timeZone) === wall);
	return fitting.length === 0 ? wall - before : Math.min(...fitting);
}

/** The quiet hours between two times, longest possible, in order. Computed without the code of the program. */
export function quietPeriods({ days, from, to, timeZone }: QuietHours, start: number, end: number): Interval[] {
	const periods: Interval[] = [];
	const firstDay = Math.floor(wallTime(start, timeZone) / DAY_MS) - 2;
	for (let day = firstDay; day * DAY_MS <= end + 2 * DAY_MS; day += 1) {
		// The first of January 1970 was a Thursday.
		const weekday = ((day + 3) % 7) + 1;
		if (!days.some((quietDay) => quietDay === weekday)) continue;
		const lastDay = to <= from ? day + 1 : day;
		periods.push({
			from: instantAt(day * DAY_MS + timeOfDay(from), timeZone),
			to: instantAt(lastDay * DAY_MS + timeOfDay(to), timeZone),
		});
	}
	return union(periods);
}

function timeOfDay(text: string): number {
	const [hours = 0, minutes = 0] = text.split(':').map(Number);
	return (hours * 60 + minutes) * 60_000;
}
