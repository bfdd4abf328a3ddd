import { randomBytes } from 'node:crypto';
import type { WebClient } from '@slack/web-api';
import { type Clock, HandraiseError, setBounded, uptimeOf } from '../core/basics.ts';
import { slackErrorCode } from './clients.ts';
import type { ModalView } from './parts.ts';
import type { Reading, ReadPermit } from './person-reads.ts';
import type { PersonRequest } from './request.ts';

type ViewAddress =
	/** Slack drops an update with an old hash; without one, the update applies in any case. */
	| { readonly view_id: string; readonly hash?: string }
	/** Slack's response to the opening was lost, so the view, if it exists, is known only by the name that we gave it. */
	| { readonly external_id: string };

export const addressOf = (view_id: string, hash = ''): ViewAddress => (hash === '' ? { view_id } : { view_id, hash });

/** `gone`: the view was closed. `changed`: the view has other content meanwhile. */
export type UpdateOutcome = 'updated' | 'gone' | 'changed';

export type ViewHandle = ReturnType<typeof createViewHandle>;

/**
 * Makes the handle that updates a view. `isOnlyOurs`: nothing else changes the view (a loading view). Then the update after
 * one with an unknown outcome has no hash; in other views that could overwrite what a person did.
 */
export function createViewHandle(client: WebClient, start: ViewAddress, isOnlyOurs = false) {
	let address = start;
	return {
		/** Null when Slack's response to the opening was lost. */
		id: 'view_id' in start ? start.view_id : null,
		/** Slack's, of what the view shows, which drops an update that arrives late; empty when that is not known. */
		get hash() {
			return 'hash' in address ? (address.hash ?? '') : '';
		},
		/** Throws Slack's error when Slack refuses the view. */
		async update(view: ModalView): Promise<UpdateOutcome> {
			try {
				const updated = await client.views.update({ ...address, view });
				if ('view_id' in address) address = addressOf(address.view_id, updated.view?.hash);
				return 'updated';
			} catch (error) {
				const code = slackErrorCode(error);
				if (code === 'not_found') return 'gone';
				// With a conflict in a view that nobody else changes, the client repeated a call that had succeeded.
				const isUnknown = code === null || code === 'hash_conflict';
				if (isUnknown && isOnlyOurs && 'view_id' in address) address = addressOf(address.view_id);
				if (code === 'hash_conflict') return 'changed';
				throw error;
			}
		},
	};
}

/** Opens a view with a request's trigger, or `onTop` of the open view: its handle, null when there is no view; never throws. */
export async function openView(client: WebClient, request: PersonRequest, view: ModalView, onTop = false) {
	if (request.triggerId === null) return null;
	const named = { external_id: `open.${randomBytes(9).toString('base64url')}` };
	try {
		const call = { trigger_id: request.triggerId, view: { ...view, ...named } };
		const { id, hash } = (onTop ? await client.views.push(call) : await client.views.open(call)).view ?? {};
		return createViewHandle(client, id === undefined ? named : addressOf(id, hash), true);
	} catch (error) {
		const code = slackErrorCode(error);
		request.log.info({ code: code ?? 'no_answer' }, 'a view could not be opened');
		// The view may exist if Slack did not respond, or if a repeat of the call found the trigger used.
		const mayExist = code === null || code === 'exchanged_trigger_id';
		return mayExist ? createViewHandle(client, named, true) : null;
	}
}

/** When people learn that a read takes long. Further waits double: Slack allows about 100 view updates a minute for all. */
const FIRST_NOTE_MS = 4_000;

/** Closed views whose reads may not have begun yet. */
const MAX_CLOSED_VIEWS = 500;
const VIEW_LEFT = 'the view of a read was closed';

/** Tells the person, in the view or elsewhere, that a read takes long; null: no further note. */
type Note = (waitedMs: number) => Promise<UpdateOutcome | null>;

/** Reads for open views, which show that a read takes long, and end it when they are closed. */
export function createPatientReads({ clock }: { clock: Clock }) {
	/** With the id of the view, if it is known. */
	const running = new Map<AbortController, string | null>();
	const closedViews = new Map<string, true>();

	return {
		/** Reads for a view; null if that was closed or changed. @throws what the read throws; `aborted` when the program stops */
		async read(sessionId: string, permit: ReadPermit, handle: ViewHandle, note: Note): Promise<Reading | null> {
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
			for (const [controller, id] of running) if (id === viewId) controller.abort(VIEW_LEFT);
		},

		/** Ends all reads; the people who wait are told. */
		stop(): void {
			for (const controller of running.keys()) {
				controller.abort(new HandraiseError('the program stops', { code: 'aborted', retryable: true }));
			}
		},
	};
}

/** Settles as `work` does, but not during a `note`. Calls `note` after 4, 12, 28 … s, until it resolves to false or fails. */
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
