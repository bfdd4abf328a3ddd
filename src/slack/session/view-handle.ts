import { randomBytes } from 'node:crypto';
import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { slackErrorCode } from '../clients.ts';
import type { PersonRequest } from '../request.ts';

/** How updates name a view. */
type ViewAddress =
	| {
			readonly id: string;
			/** Slack drops an update with an old hash. Null: the update applies in any case. */
			readonly hash: string | null;
	  }
	/** Slack's response to the opening was lost, so the view, if it exists, is known only by the name that we gave it. */
	| { readonly externalId: string };

/** `gone`: the view was closed. `changed`: the view has other content meanwhile. */
export type UpdateOutcome = 'updated' | 'gone' | 'changed';

/** Updates an open view. */
export interface ViewHandle {
	/** Null when Slack's response to the opening was lost. */
	readonly id: string | null;
	/** Whether Slack drops an update that arrives late. */
	readonly hasHash: boolean;
	/** Throws Slack's error when Slack refuses the view. */
	update(view: ModalView): Promise<UpdateOutcome>;
}

/**
 * @param isOnlyOurs nothing but this handle changes the view (a loading view). Then the update after one with an unknown
 * outcome has no hash; in other views that could overwrite what a person did.
 */
export function createViewHandle(client: WebClient, address: ViewAddress, isOnlyOurs: boolean): ViewHandle {
	let current = address;
	return {
		id: 'id' in address ? address.id : null,
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
				// With a conflict in a view that nobody else changes, the client repeated a call that had succeeded.
				if ('id' in current && isOnlyOurs && (code === null || code === 'hash_conflict')) {
					current = { id: current.id, hash: null };
				}
				if (code === 'hash_conflict') return 'changed';
				throw error;
			}
		},
	};
}

/** Opens a view with a request's trigger, or `onTop` of the open view. Null when there is no view; never throws. */
export async function openView(
	client: WebClient,
	request: PersonRequest,
	{ view, onTop = false }: { view: ModalView; onTop?: boolean },
): Promise<ViewHandle | null> {
	if (request.triggerId === null) return null;
	const externalId = `open.${randomBytes(9).toString('base64url')}`;
	try {
		const call = { trigger_id: request.triggerId, view: { ...view, external_id: externalId } };
		const opened = onTop ? await client.views.push(call) : await client.views.open(call);
		const { id, hash = null } = opened.view ?? {};
		return createViewHandle(client, id === undefined ? { externalId } : { id, hash }, true);
	} catch (error) {
		const code = slackErrorCode(error);
		request.log.info({ code: code ?? 'no_answer' }, 'a view could not be opened');
		// The view may exist if Slack did not respond, or if a repeat of the call found the trigger used.
		const mayExist = code === null || code === 'exchanged_trigger_id';
		return mayExist ? createViewHandle(client, { externalId }, true) : null;
	}
}
