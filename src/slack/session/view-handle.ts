import { randomBytes } from 'node:crypto';
import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { slackErrorCode } from '../clients.ts';
import type { PersonRequest } from '../request.ts';

/** A view of ours that is open. */
type OpenView =
	| {
			readonly id: string;
			/** As Slack gave it with the view; an update with an old one is dropped. Null: update in any case. */
			readonly hash: string | null;
	  }
	/** Slack's answer to the opening was lost: the view is known by the name that we gave it, if it is there at all. */
	| { readonly externalId: string };

/** `gone`: it was closed. `changed`: something else was put into it meanwhile. */
export type UpdateOutcome = 'updated' | 'gone' | 'changed';

/** An open view through several updates. */
export interface ViewHandle {
	/** Null while only the name is known. */
	readonly id: string | null;
	/** Whether an update that arrives late would be dropped. */
	readonly hasHash: boolean;
	/** Throws Slack's error when it refuses the view. */
	update(view: ModalView): Promise<UpdateOutcome>;
}

/**
 * @param isOnlyOurs nothing but this handle changes the view (a loading view). Then an update whose outcome is unknown is
 * followed by one that counts in any case; elsewhere that could overwrite what a person did.
 */
export function createViewHandle(client: WebClient, open: OpenView, isOnlyOurs: boolean): ViewHandle {
	let current = open;
	return {
		id: 'id' in open ? open.id : null,
		get hasHash() {
			return 'id' in current && current.hash !== null;
		},
		async update(view) {
			try {
				if ('externalId' in current) {
					await client.views.update({ external_id: current.externalId, view });
					return 'updated';
				}
				const { id, hash } = current;
				const updated = await client.views.update({ view_id: id, view, ...(hash === null ? {} : { hash }) });
				current = { id, hash: updated.view?.hash ?? null };
				return 'updated';
			} catch (error) {
				const code = slackErrorCode(error);
				if (code === 'not_found') return 'gone';
				// A conflict in a view that nobody else changes: the call was repeated, and its first try took effect.
				if ('id' in current && isOnlyOurs && (code === null || code === 'hash_conflict')) {
					current = { id: current.id, hash: null };
				}
				if (code === 'hash_conflict') return 'changed';
				throw error;
			}
		},
	};
}

/** Opens a view with a request's trigger; `onTop` of the view that is open. Null when there is no view; never throws. */
export async function openView(
	client: WebClient,
	request: PersonRequest,
	{ view, onTop = false }: { view: ModalView; onTop?: boolean },
): Promise<OpenView | null> {
	if (request.triggerId === null) return null;
	const externalId = `open.${randomBytes(9).toString('base64url')}`;
	try {
		const call = { trigger_id: request.triggerId, view: { ...view, external_id: externalId } };
		const opened = onTop ? await client.views.push(call) : await client.views.open(call);
		const id = opened.view?.id;
		return id === undefined ? { externalId } : { id, hash: opened.view?.hash ?? null };
	} catch (error) {
		const code = slackErrorCode(error);
		request.log.info({ code: code ?? 'no_answer' }, 'a view could not be opened');
		// Without an answer, and when a repeat found the trigger used, the view may be there all the same.
		return code === null || code === 'exchanged_trigger_id' ? { externalId } : null;
	}
}
