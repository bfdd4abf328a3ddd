import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { slackErrorCode } from '../clients.ts';
import type { PersonRequest } from '../request.ts';
import { newFormId } from './presenter.ts';
import type { OpenView } from './view-handle.ts';

/** Opens a view with a request's trigger. */
export function createViewOpener(client: WebClient) {
	/** `onTop`: the view that is open stays below. Null when there is no view; never throws. */
	return async (
		request: PersonRequest,
		view: ModalView,
		{ onTop }: { onTop: boolean } = { onTop: false },
	): Promise<OpenView | null> => {
		if (request.triggerId === null) return null;
		const externalId = `open.${newFormId()}`;
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
	};
}

export type ViewOpener = ReturnType<typeof createViewOpener>;
