/** From `from` until before `to`; milliseconds since the epoch. */
export interface Interval {
	readonly from: number;
	readonly to: number;
}

/** The same times as intervals that neither overlap nor touch, in order. */
export function union(intervals: readonly Interval[]): Interval[] {
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
