import type { AnswerStore } from '../../store/answer-store.ts';
import { HISTORY_PAGE, historyView } from '../blocks/answers.ts';
import { errorModal } from '../blocks/errors.ts';
import { codeOf } from '../clients.ts';
import { ACTIONS } from '../ids.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import { TooFastError } from '../person-reads.ts';
import { logAccess, metadataOf, originOf } from '../request.ts';
import { newFormId } from '../session/drafts.ts';
import { type AllowedRequest, ifAllowed, NOTHING_TO_DO, windowPlace } from '../task.ts';
import type { HandlerContext } from './context.ts';

/**
 * Registers the buttons for older and newer answers of a session; the returned `open` is for `/session history`. Answers
 * come from our own store, so a loading view is not necessary.
 */
export function registerHistory(
	{ listen, client, serviceUrl, personReads, reply }: HandlerContext,
	{ store }: { store: AnswerStore },
) {
	async function page(request: AllowedRequest, metadata: ViewMetadata) {
		const { sessionId, offset } = metadata;
		try {
			const session = { service: serviceUrl, sessionId, teamId: request.person.teamId };
			const { answers, total } = await store.history(session, { offset, limit: HISTORY_PAGE });
			return historyView(metadata, answers, total);
		} catch (error) {
			return errorModal(codeOf(error), metadata, reply.errorContext(error));
		}
	}

	/** Resolves to the outcome for the log. */
	async function openModal(request: AllowedRequest, sessionId: string): Promise<string> {
		const { triggerId } = request;
		// No read of the service follows, but Slack limits opening modals for all people together.
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) {
			await reply.failed(request, permit, { sessionId });
			return permit.code;
		}
		if (triggerId === null) {
			await reply.failed(request, 'slack_unavailable', { sessionId });
			return 'no_window';
		}
		const metadata = newMetadata({ sessionId, formId: newFormId(), origin: originOf(request, null) });
		await client.views.open({ trigger_id: triggerId, view: await page(request, metadata) });
		return 'shown';
	}

	for (const id of [ACTIONS.historyOlder, ACTIONS.historyNewer]) {
		listen.action(id, (_, { view, value }) => {
			if (view === null) return NOTHING_TO_DO;
			const metadata = metadataOf(view);
			const { sessionId, origin } = metadata;
			const offset = Math.max(0, Math.floor(Number(value)) || 0);
			return ifAllowed(windowPlace(metadata), async (request) => {
				const tooFast = await personReads.turn(request);
				if (tooFast !== null) {
					logAccess(request, 'history', sessionId, tooFast.code);
					await reply.failed({ ...request, ...origin }, tooFast, { sessionId });
					return;
				}
				await client.views.update({ view_id: view.id, view: await page(request, { ...metadata, offset }) });
				logAccess(request, 'history', sessionId, 'shown');
			});
		});
	}

	return {
		async open(request: AllowedRequest, sessionId: string): Promise<void> {
			const outcome = await openModal(request, sessionId).catch((error: unknown) => {
				logAccess(request, 'history', sessionId, codeOf(error));
				throw error;
			});
			logAccess(request, 'history', sessionId, outcome);
		},
	};
}

export type History = ReturnType<typeof registerHistory>;
