import { type Clock, uptimeOf } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { setBounded } from '../kernel/memory.ts';
import type { PersonRead, ReadPermit } from './person-reads.ts';
import type { UpdateOutcome, ViewHandle } from './view-handle.ts';

/** People learn after this that a read is slow. Later waits double: Slack allows about 100 view updates a minute. */
const FIRST_NOTE_MS = 4_000;

/** The most closed views that are remembered, because their reads may begin later. */
const MAX_CLOSED_VIEWS = 500;
const VIEW_LEFT = 'the view of a read was closed';

/** Tells the person, in the view or elsewhere, that a read takes long. Resolves to null for no further note. */
type Note = (waitedMs: number) => Promise<UpdateOutcome | null>;

/** Reads for open views, which show when a read takes long. Closing a view ends its read. */
export function createPatientReads({ clock }: { clock: Clock }) {
	/** Each running read with the id of its view, or null if Slack did not return it. */
	const running = new Map<AbortController, string | null>();
	const closedViews = new Map<string, true>();

	function end(viewId: string): void {
		for (const [controller, id] of running) if (id === viewId) controller.abort(VIEW_LEFT);
	}

	return {
		/** Reads for a view; null if that was closed or changed. @throws what the read throws; `aborted` at a stop */
		async read(sessionId: string, permit: ReadPermit, handle: ViewHandle, note: Note): Promise<PersonRead | null> {
			if (handle.id !== null && closedViews.has(handle.id)) return null;
			const controller = new AbortController();
			running.set(controller, handle.id);
			try {
				const reading = await withNotes(clock, permit.read(sessionId, controller.signal), async (waitedMs) => {
					// Without a hash, a late note could replace the content.
					if (handle.hash === '') return false;
					const outcome = await note(waitedMs);
					// Another replica may have received the closing.
					if (outcome === 'gone' || (outcome === 'changed' && handle.hash !== '')) controller.abort(VIEW_LEFT);
					return outcome === 'updated';
				});
				controller.signal.throwIfAborted();
				return reading;
			} catch (error) {
				if (error === VIEW_LEFT) return null;
				throw error;
			} finally {
				running.delete(controller);
			}
		},

		/** The view was closed: ends its reads. */
		left(viewId: string): void {
			setBounded(closedViews, viewId, true, MAX_CLOSED_VIEWS);
			end(viewId);
		},

		/** The view shows something else now, such as a receipt: ends the reads for what it showed. */
		end,

		/** Ends all reads with an error, of which the waiting people are told. */
		stop(): void {
			for (const controller of running.keys()) {
				controller.abort(new HandraiseError('the program stops', { code: 'aborted', retryable: true }));
			}
		},
	};
}

/** Settles as `work`, but after a running `note`. Calls `note` after 4, 12, 28 … s until it is false or fails. */
export async function withNotes<T>(clock: Clock, work: Promise<T>, note: (waitedMs: number) => Promise<boolean>) {
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
