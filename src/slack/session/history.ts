import type { WebClient } from '@slack/web-api';
import type { AnswerStore } from '../../answers/ports.ts';
import type { Gatekeeper } from '../../answers/who-may.ts';
import { errorModal } from '../blocks/error-modal.ts';
import { HISTORY_PAGE, historyView } from '../blocks/history-view.ts';
import { errorMessage, refusedMessage } from '../blocks/messages.ts';
import { codeOf } from '../error-code.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import type { Reply } from '../reply.ts';
import { originOf, type PersonRequest } from '../request.ts';
import type { Names } from '../words.ts';
import { newFormId } from './presenter.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly service: string;
	readonly store: AnswerStore;
	readonly gatekeeper: Gatekeeper;
	readonly reply: Reply;
	readonly names: Names;
	readonly adminContact: string | null;
}

/** Who answered what in a session, newest first, in pages; from our own store, so it needs no loading view. */
export function createHistoryFlow(deps: Dependencies) {
	const { client, service, store, gatekeeper, reply, names, adminContact } = deps;

	async function page(request: PersonRequest, metadata: ViewMetadata) {
		try {
			const { answers, total } = await store.history(service, metadata.sessionId, request.person.teamId, {
				offset: metadata.offset,
				limit: HISTORY_PAGE,
			});
			return historyView({ metadata, answers, total, names });
		} catch (error) {
			return errorModal(codeOf(error), metadata, { kept: 'nothing', adminContact });
		}
	}

	async function mayRead(request: PersonRequest, channelId: string | null): Promise<boolean> {
		const verdict = await gatekeeper.check(request.person, channelId);
		if (!verdict.allowed) await reply.toPerson(request, refusedMessage(verdict.refusal, adminContact));
		return verdict.allowed;
	}

	return {
		async open(request: PersonRequest, sessionId: string): Promise<void> {
			const { triggerId } = request;
			if (!(await mayRead(request, request.channelId))) return;
			if (triggerId === null) {
				await reply.toPerson(request, errorMessage('slack_unavailable', sessionId, { kept: 'nothing', adminContact }));
				return;
			}
			const metadata = newMetadata({ sessionId, formId: newFormId(), origin: originOf(request) });
			await client.views.open({ trigger_id: triggerId, view: await page(request, metadata) });
		},
		/** Another page in the open view. */
		async turn(request: PersonRequest, viewId: string, metadata: ViewMetadata, offset: number): Promise<void> {
			if (!(await mayRead(request, metadata.origin.channelId))) return;
			await client.views.update({ view_id: viewId, view: await page(request, { ...metadata, offset }) });
		},
	};
}

export type HistoryFlow = ReturnType<typeof createHistoryFlow>;
