import { type Clock, uptimeOf } from '../clock.ts';

/**
 * Milliseconds. Before this nobody wonders. Each further wait is twice the one before, because Slack allows about 100
 * updates of views a minute for all people together.
 */
const FIRST_NOTE_MS = 4_000;

/**
 * Settles as `work` does. While that takes long, calls `note` with the milliseconds waited so far, after 4, 12, 28 … s,
 * until it resolves to false or fails. A note under way ends first, so what follows the work comes after it.
 */
export async function withNotes<T>(
	clock: Clock,
	work: Promise<T>,
	note: (waitedMs: number) => Promise<boolean>,
): Promise<T> {
	const over = new AbortController();

	async function noteNowAndThen(): Promise<void> {
		const startedAt = uptimeOf(clock);
		for (let step = FIRST_NOTE_MS; ; step *= 2) {
			await clock.sleep(step, over.signal);
			if (!(await note(uptimeOf(clock) - startedAt))) return;
		}
	}

	const noting = noteNowAndThen().catch(() => undefined);
	try {
		return await work;
	} finally {
		over.abort();
		await noting;
	}
}
