import type { Core } from '../core.ts';
import { createWaker, uptimeOf } from '../kernel/clock.ts';
import { repeatUntilAborted } from '../kernel/retries.ts';
import type { MarkStore } from './mark-store.ts';

/** All changes of a session within this time are drawn once. A press shows its own post without this wait. */
const EVERY_MS = 1_000;
const RETRY_MS = 1_000;
/** The pause while there are no marks. A new one ends it. */
const REST_MS = 30_000;

/** Spreads marks as they come, at most once in `EVERY_MS`. */
export function createSpreading({ store, clock, log }: Core<{ marks: MarkStore }>) {
	const { marks } = store;
	const waker = createWaker(clock);
	const stopping = new AbortController();
	let ended: Promise<void> | null = null;
	/** By uptime: the clock may be set in between. */
	let spreadAt = Number.NEGATIVE_INFINITY;
	marks.rows.onChange(waker.wake);

	async function turn(): Promise<number> {
		waker.clear();
		const dueAt = await marks.nextDueAt();
		if (dueAt === null) return REST_MS;
		const waitMs = Math.max(dueAt - clock.now(), spreadAt + EVERY_MS - uptimeOf(clock));
		if (waitMs > 0) return waitMs;
		spreadAt = uptimeOf(clock);
		await marks.spread(clock.now());
		return 0;
	}

	return {
		start(): void {
			const pause = async (ms: number) => ms > 0 && waker.wait(ms, stopping.signal);
			const onFailure = (code: string) => log.warn('take_failed', { rows: 'marks', code });
			ended ??= repeatUntilAborted(pause, stopping.signal, turn, { retryMs: RETRY_MS, onFailure });
		},
		async stop(): Promise<void> {
			stopping.abort();
			await ended;
		},
	};
}
