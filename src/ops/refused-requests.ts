import type { Log } from '../log.ts';

const REPORT_EVERY_MS = 60_000;

interface Dependencies {
	readonly clock: { sleep(ms: number, signal?: AbortSignal): Promise<void> };
	readonly log: Log;
	readonly metrics: { httpRefused(reason: string): void };
}

/**
 * Counts requests that were refused, by reason. The log tells of the first at once and then of all once a minute: a flood
 * must not fill it, and nothing of what was sent stands in it.
 */
export function createRefusedRequests({ clock, log, metrics }: Dependencies) {
	const stopping = new AbortController();
	const counts = new Map<string, number>();
	let isReporting = false;

	async function report(): Promise<void> {
		isReporting = true;
		while (counts.size > 0) {
			log.warn({ refused: Object.fromEntries(counts) }, 'HTTP requests were refused');
			counts.clear();
			await clock.sleep(REPORT_EVERY_MS, stopping.signal).catch(() => {});
		}
		isReporting = false;
	}

	return {
		add(reason: string): void {
			metrics.httpRefused(reason);
			counts.set(reason, (counts.get(reason) ?? 0) + 1);
			if (!isReporting) void report();
		},
		/** Tells of what was not told yet. */
		stop: (): void => stopping.abort(),
	};
}
