import { randomBytes } from 'node:crypto';
import type { WebClient } from '@slack/web-api';
import type { ModalView } from './blocks.ts';
import { slackErrorCode, slackFailure } from './clients.ts';
import type { PersonRequest } from './request.ts';

type ViewAddress =
	/** Slack drops an update with an old hash; without one, the update applies in any case. */
	| { readonly view_id: string; readonly hash?: string }
	/** Slack's response to the opening was lost: the view, if it exists, is known only by the name that we gave it. */
	| { readonly external_id: string };

export const addressOf = (view_id: string, hash = ''): ViewAddress => (hash === '' ? { view_id } : { view_id, hash });

/** `gone`: the view was closed. `changed`: Slack dropped the update, because the view has other content now. */
export type UpdateOutcome = 'updated' | 'gone' | 'changed';

export type ViewHandle = ReturnType<typeof createViewHandle>;

/**
 * Makes the handle that updates a view. `isOnlyOurs`: nobody else changes the view, as with a loading view. Only such a
 * view is updated without a hash after an update of unknown outcome; another could lose what a person did.
 */
export function createViewHandle(client: WebClient, start: ViewAddress, isOnlyOurs = false) {
	let address = start;
	return {
		/** Null when Slack's response to the opening was lost. */
		id: 'view_id' in start ? start.view_id : null,
		/** Slack's hash of what the view shows, by which Slack drops a late update; empty when not known. */
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
				// A conflict in a view that is only ours means that the client repeated a call that had succeeded.
				const isUnknown = code === null || code === 'hash_conflict';
				if (isUnknown && isOnlyOurs && 'view_id' in address) address = addressOf(address.view_id);
				if (code === 'hash_conflict') return 'changed';
				throw error;
			}
		},
	};
}

/** Opens a view with a request's trigger, or `onTop` of the open view. Null when Slack opened none. Never throws. */
export async function openView(client: WebClient, request: PersonRequest, view: ModalView, onTop = false) {
	if (request.triggerId === null) return null;
	const named = { external_id: `open.${randomBytes(9).toString('base64url')}` };
	try {
		const call = { trigger_id: request.triggerId, view: { ...view, ...named } };
		const { id, hash } = (onTop ? await client.views.push(call) : await client.views.open(call)).view ?? {};
		return createViewHandle(client, id === undefined ? named : addressOf(id, hash), true);
	} catch (error) {
		// For a 429, Slack's client throws an error without Slack's code, so `slackErrorCode` would be null.
		const { code } = slackFailure(error);
		request.log.info({ code }, 'a view could not be opened');
		// The view may exist if Slack did not respond, or if a repeat of the call found the trigger used.
		const mayExist = code === 'no_answer' || code === 'exchanged_trigger_id';
		return mayExist ? createViewHandle(client, named, true) : null;
	}
}
