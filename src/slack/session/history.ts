import type { WebClient } from '@slack/web-api';
import type { AnswerStore } from '../../answers/ports.ts';
import { logAccess } from '../access-log.ts';
import { errorModal } from '../blocks/error-modal.ts';
import { HISTORY_PAGE, historyView } from '../blocks/history-view.ts';
import { errorMessage } from '../blocks/messages.ts';
import { codeOf } from '../error-code.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import { type PersonReads, TooFastError } from '../person-reads.ts';
import type { Reply } from '../reply.ts';
import { originOf } from '../request.ts';
import type { AllowedRequest } from '../task.ts';
import type { Names } from '../words.ts';
import { newFormId } from './presenter.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly service: string;
	readonly store: AnswerStore;
	readonly personReads: PersonReads;
	readonly reply: Reply;
	readonly names: Names;
	readonly adminContact: string | null;
}

/** Who answered what in a session, newest first, in pages; from our own store, so it needs no loading view. */
export function createHistoryFlow(deps: Dependencies) {
	const { client, service, store, personReads, reply, names, adminContact } = deps;

	async function page(request: AllowedRequest, metadata: ViewMetadata) {
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

	async function slowDown(request: AllowedRequest, sessionId: string, error: TooFastError): Promise<void> {
		const context = { kept: 'nothing', adminContact, retryAt: error.retryAt } as const;
		await reply.slowDown(request, error, errorMessage(error.code, sessionId, context));
	}

	/** Resolves to the word for the log. */
	async function openWindow(request: AllowedRequest, sessionId: string): Promise<string> {
		const { triggerId } = request;
		try {
			// It reads nothing of the service, but opens a window, which Slack counts for everybody together.
			await personReads.permit(request);
		} catch (error) {
			if (!(error instanceof TooFastError)) throw error;
			await slowDown(request, sessionId, error);
			return error.code;
		}
		if (triggerId === null) {
			await reply.toPerson(request, errorMessage('slack_unavailable', sessionId, { kept: 'nothing', adminContact }));
			return 'no_window';
		}
		const metadata = newMetadata({ sessionId, formId: newFormId(), origin: originOf(request) });
		await client.views.open({ trigger_id: triggerId, view: await page(request, metadata) });
		return 'shown';
	}

	return {
		async open(request: AllowedRequest, sessionId: string): Promise<void> {
			const outcome = await openWindow(request, sessionId).catch((error: unknown) => {
				logAccess(request, 'history', sessionId, codeOf(error));
				throw error;
			});
			logAccess(request, 'history', sessionId, outcome);
		},
		/** Another page in the open view. */
		async turn(request: AllowedRequest, viewId: string, metadata: ViewMetadata, offset: number): Promise<void> {
			const tooFast = await personReads.turn(request);
			if (tooFast !== null) {
				logAccess(request, 'history', metadata.sessionId, tooFast.code);
				await slowDown({ ...request, ...metadata.origin }, metadata.sessionId, tooFast);
				return;
			}
			await client.views.update({ view_id: viewId, view: await page(request, { ...metadata, offset }) });
			logAccess(request, 'history', metadata.sessionId, 'shown');
		},
	};
}

export type HistoryFlow = ReturnType<typeof createHistoryFlow>;
