import type { Clock } from '../../clock.ts';
import { HandraiseError } from '../../errors.ts';
import { keepNewest } from '../../keep-newest.ts';
import { withNotes } from '../long-wait.ts';
import type { Reading, ReadPermit } from '../person-reads.ts';
import type { UpdateOutcome, ViewHandle } from './view-handle.ts';

/** Closed views are remembered for the moment in which their reads may not have begun yet. */
const MOST_LEFT = 500;

interface Dependencies {
	readonly clock: Clock;
}

/** Nobody waits for the read any more: its view was closed, or shows something else. */
export class ViewLeftError extends HandraiseError {
	override readonly code = 'view_left';
	override readonly retryable = false;
}

class StoppedError extends HandraiseError {
	override readonly code = 'aborted';
	override readonly retryable = true;
}

/** Reads whose results go into open views. People see that it takes long, and closing the view ends the read. */
export function createPatientReads({ clock }: Dependencies) {
	const running = new Set<{ readonly viewId: string | null; readonly controller: AbortController }>();
	const leftViews = new Map<string, true>();

	return {
		/**
		 * `note` puts words about the time waited into the view; null when it has nowhere to put them.
		 * @throws ViewLeftError, StoppedError, or what the read throws
		 */
		async read(
			sessionId: string,
			permit: ReadPermit,
			view: ViewHandle,
			note: (waitedMs: number) => Promise<UpdateOutcome | null>,
		): Promise<Reading> {
			if (view.id !== null && leftViews.has(view.id)) throw new ViewLeftError('the view of a read was closed');
			const controller = new AbortController();
			const entry = { viewId: view.id, controller };
			running.add(entry);
			try {
				const work = permit.read(sessionId, controller.signal);
				const reading = await withNotes(clock, work, async (waitedMs) => {
					// Without a hash a note that is late could take the place of the content.
					if (!view.hasHash) return false;
					const outcome = await note(waitedMs);
					// Whoever closed it may have been heard by another replica.
					if (outcome === 'gone' || (outcome === 'changed' && view.hasHash)) {
						controller.abort(new ViewLeftError('the view of a read is gone'));
					}
					return outcome === 'updated';
				});
				controller.signal.throwIfAborted();
				return reading;
			} finally {
				running.delete(entry);
			}
		},

		/** The view was closed: nobody waits for what is being read for it. */
		left(viewId: string): void {
			keepNewest(leftViews, viewId, true, MOST_LEFT);
			for (const { viewId: waiting, controller } of running) {
				if (waiting === viewId) controller.abort(new ViewLeftError('the view of a read was closed'));
			}
		},

		/** Ends all reads; those who wait are told. */
		stop(): void {
			for (const { controller } of running) controller.abort(new StoppedError('the program stops'));
		},
	};
}

export type PatientReads = ReturnType<typeof createPatientReads>;
