import { setBounded } from '../../bounded-map.ts';
import { type Clock, uptimeOf } from '../../clock.ts';
import { codeOf, HandraiseError } from '../../errors.ts';
import type { Reading, ReadPermit } from '../person-reads.ts';
import type { UpdateOutcome, ViewHandle } from './view-handle.ts';

/**
 * Nobody wonders before this. Each further wait is twice the one before, because Slack allows about 100
 * updates of views a minute for all people together.
 */
const FIRST_NOTE_MS = 4_000;

/** Closed views are remembered for the moment in which their reads may not have begun yet. */
const MOST_LEFT = 500;

/** Says in the view, or elsewhere, that it takes long; null when there is nothing more to be said. */
export type Note = (waitedMs: number) => Promise<UpdateOutcome | null>;

/** Reads whose results go into open views. People see that it takes long, and closing the view ends the read. */
export function createPatientReads({ clock }: { clock: Clock }) {
	const running = new Set<{ readonly viewId: string | null; readonly controller: AbortController }>();
	const leftViews = new Map<string, true>();

	return {
		/**
		 * Null when nobody waits for the read any more: the view was closed, or shows something else.
		 * @throws what the read throws; HandraiseError `aborted` when the program stops
		 */
		async read(sessionId: string, permit: ReadPermit, view: ViewHandle, note: Note): Promise<Reading | null> {
			if (view.id !== null && leftViews.has(view.id)) return null;
			const controller = new AbortController();
			const entry = { viewId: view.id, controller };
			running.add(entry);
			try {
				const work = permit.read(sessionId, controller.signal);
				const reading = await withNotes(clock, work, async (waitedMs) => {
					// Without a hash a note that is late could take the place of the content.
					if (!view.hasHash) return false;
					const outcome = await note(waitedMs);
					// Another replica may have received the closing.
					if (outcome === 'gone' || (outcome === 'changed' && view.hasHash)) controller.abort(viewLeft());
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

		/** The view was closed: nobody waits for what is being read for it. */
		left(viewId: string): void {
			setBounded(leftViews, viewId, true, MOST_LEFT);
			for (const { viewId: waiting, controller } of running) {
				if (waiting === viewId) controller.abort(viewLeft());
			}
		},

		/** Ends all reads; those who wait are told. */
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
