import type { AppProcess } from './app-process.ts';

/** The read-to-PUT window as the program measures it: upper bounds of the histogram's buckets. */
export interface Window {
	readonly p50Ms: number;
	readonly p99Ms: number;
	readonly count: number;
}

const BUCKET = /^handraise_read_to_put_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;

/** Reads `/metrics` of every replica. */
export async function readWindow(processes: readonly AppProcess[]): Promise<Window> {
	const buckets = new Map<number, number>();
	for (const { url } of processes) {
		const text = await fetch(`${url}/metrics`).then((response) => response.text());
		for (const [, bound = '', count] of text.matchAll(BUCKET)) {
			const ms = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1000;
			buckets.set(ms, (buckets.get(ms) ?? 0) + Number(count));
		}
	}
	const sorted = [...buckets].sort(([one], [other]) => one - other);
	const count = sorted.at(-1)?.[1] ?? 0;
	const bound = (share: number) => sorted.find(([, below]) => below >= share * count)?.[0] ?? Number.NaN;
	return { p50Ms: bound(0.5), p99Ms: bound(0.99), count };
}
