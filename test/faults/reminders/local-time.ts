import type { QuietHours } from '../../../src/database/channel-settings.ts';
import { type Interval, union } from './intervals.ts';

const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** What clocks in the zone show, as if it were UTC; milliseconds. */
function wallTime(at: number, timeZone: string): number {
	let format = formats.get(timeZone);
	if (format === undefined) {
		const numeric = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
		const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
		format = new Intl.DateTimeFormat('en', { timeZone, ...numeric, ...time });
		formats.set(timeZone, format);
	}
	const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
	const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
	return (
		Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) + (at % 1000)
	);
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
