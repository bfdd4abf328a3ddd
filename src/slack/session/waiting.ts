import { setBounded } from '../../bounded-map.ts';
import { type Clock, uptimeOf } from '../../clock.ts';
import { codeOf, HandraiseError } from '../../errors.ts';
import type { Reading, ReadPermit } from '../person-reads.ts';
import type { UpdateOutcome, ViewHandle } from './view-handle.ts';

/**
 * When people learn that a read takes long. Each further wait doubles, because Slack allows about 100 view updates a minute
 * for all people together.
 */
const FIRST_NOTE_MS = 4_000;

/** Closed views whose reads may not have begun yet. */
const MAX_CLOSED_VIEWS = 500;

/** Tells the person, in the view or elsewhere, that a read takes long; null: no further note. */
export type Note = (waitedMs: number) => Promise<UpdateOutcome | null>;

/** Reads for open views. The view shows when a read takes long, and closing the view ends the read. */
export function createPatientReads({ clock }: { clock: Clock }) {
	const running = new Set<{ readonly viewId: string | null; readonly controller: AbortController }>();
	const closedViews = new Map<string, true>();

	return {
		/**
		 * Null when nobody waits for the read any more: the view was closed, or has other content.
		 * @throws what the read throws; HandraiseError `aborted` when the program stops
		 */
		async read(sessionId: string, permit: ReadPermit, handle: ViewHandle, note: Note): Promise<Reading | null> {
			if (handle.id !== null && closedViews.has(handle.id)) return null;
			const controller = new AbortController();
			const entry = { viewId: handle.id, controller };
			running.add(entry);
			try {
				const work = permit.read(sessionId, controller.signal);
				const reading = await withNotes(clock, work, async (waitedMs) => {
					// Without a hash, a late note could replace the content.
					if (!handle.hasHash) return false;
					const outcome = await note(waitedMs);
					// Another replica may have received the closing.
					if (outcome === 'gone' || (outcome === 'changed' && handle.hasHash)) controller.abort(viewLeft());
					return outcome === 'updated';
				});
				controller.signal.throwIfAborted();
				return reading;
			} catch (error) {
				if (codeOf(error) === 'view_left') return null;
				throw error;
			} finally {
				running.delete(entry);
			}
		},

		/** The view was closed: ends its reads. */
		left(viewId: string): void {
			setBounded(closedViews, viewId, true, MAX_CLOSED_VIEWS);
			for (const entry of running) {
				if (entry.viewId === viewId) entry.controller.abort(viewLeft());
			}
		},

		/** Ends all reads; the people who wait are told. */
		stop(): void {
			for (const { controller } of running) {
				controller.abort(new HandraiseError('the program stops', { code: 'aborted', retryable: true }));
			}
		},
	};
}

export type PatientReads = ReturnType<typeof createPatientReads>;

function viewLeft(): HandraiseError {
	return new HandraiseError('the view of a read was closed', { code: 'view_left' });
}

/**
 * Settles as `work` does. Meanwhile calls `note` with the time waited, after 4, 12, 28 … s, until it resolves to false or
 * fails. A call of `note` that has begun ends before this settles.
 */
export async function withNotes<T>(
	clock: Clock,
	work: Promise<T>,
	note: (waitedMs: number) => Promise<boolean>,
): Promise<T> {
	const over = new AbortController();

	async function sendNotes(): Promise<void> {
		const startedAt = uptimeOf(clock);
		for (let pauseMs = FIRST_NOTE_MS; ; pauseMs *= 2) {
			await clock.sleep(pauseMs, over.signal);
			if (!(await note(uptimeOf(clock) - startedAt))) return;
		}
	}

	const noting = sendNotes().catch(() => undefined);
	try {
		return await work;
	} finally {
		over.abort();
		await noting;
	}
}
