import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { Origin } from '../../answers/answer.ts';
import type { Gatekeeper, Verdict } from '../../answers/who-may.ts';
import { retryAtOf } from '../../errors.ts';
import type { Session } from '../../questions/session.ts';
import { chooseItemModal } from '../blocks/choose-item-modal.ts';
import { errorModal } from '../blocks/error-modal.ts';
import { loadingModal } from '../blocks/loading-modal.ts';
import type { MessageContent } from '../blocks/message.ts';
import { answerCard, errorMessage, refusedMessage } from '../blocks/messages.ts';
import { refusedModal } from '../blocks/refused-modal.ts';
import { sessionModal } from '../blocks/session-modal.ts';
import type { Notice } from '../blocks/session-model.ts';
import { slackErrorCode } from '../clients.ts';
import { codeOf } from '../error-code.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import type { Reply } from '../reply.ts';
import type { PersonRequest } from '../request.ts';
import type { Values } from './draft-for.ts';
import { newFormId, type Presenter, type WantedQuestion } from './presenter.ts';
import type { Reading, Readings } from './readings.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly service: {
		read(sessionId: string, options: { priority: 'person' }): Promise<{ session: Session; readAt: number }>;
	};
	readonly presenter: Presenter;
	readonly readings: Readings;
	readonly gatekeeper: Gatekeeper;
	readonly reply: Reply;
	readonly adminContact: string | null;
}

/** A view of ours that is open. */
export type OpenView =
	| {
			readonly id: string;
			/** As Slack gave it with the view; an update with an old one is dropped. Null: update in any case. */
			readonly hash: string | null;
	  }
	/** Slack's answer to the opening was lost: the view is known by the name that we gave it, if it is there at all. */
	| { readonly externalId: string };

export interface Wish {
	readonly sessionId: string;
	/** The message whose question a button named; null: whatever is open. */
	readonly messageIndex: number | null;
	/** Whoever opens it came to answer: when nothing is open, who settled the newest question is said. */
	readonly toAnswer?: boolean;
	readonly origin: Origin;
	/** Texts to begin with, by position. */
	readonly prefill?: Values;
	/** A message chosen for an answer; which item it is for is asked when there are several. */
	readonly text?: string;
}

/**
 * Shows a session in a modal: a loading view at once, whatever the service does, then the content by `views.update`. When
 * the trigger is lost, an ephemeral card with a button brings the same.
 */
export function createSessionFlow(deps: Dependencies) {
	const { client, service, presenter, readings, gatekeeper, reply, adminContact } = deps;

	async function openView(request: PersonRequest, view: ModalView, push = false): Promise<OpenView | null> {
		if (request.triggerId === null) return null;
		const externalId = `open.${newFormId()}`;
		try {
			const call = { trigger_id: request.triggerId, view: { ...view, external_id: externalId } };
			const opened = push ? await client.views.push(call) : await client.views.open(call);
			const id = opened.view?.id;
			return id === undefined ? { externalId } : { id, hash: opened.view?.hash ?? null };
		} catch (error) {
			const code = slackErrorCode(error);
			request.log.info({ code: code ?? 'no_answer' }, 'the loading view could not be opened');
			// Without an answer, and when a repeat found the trigger used, the view may be there all the same.
			return code === null || code === 'exchanged_trigger_id' ? { externalId } : null;
		}
	}

	/** False when the view is gone or was changed meanwhile; throws Slack's error when it refuses the view. */
	async function update(open: OpenView, view: ModalView): Promise<boolean> {
		try {
			if ('externalId' in open) await client.views.update({ external_id: open.externalId, view });
			else await client.views.update({ view_id: open.id, view, ...(open.hash === null ? {} : { hash: open.hash }) });
			return true;
		} catch (error) {
			const code = slackErrorCode(error);
			if (code === 'not_found' || code === 'hash_conflict') return false;
			throw error;
		}
	}

	async function showError(request: PersonRequest, open: OpenView, metadata: ViewMetadata, error: unknown) {
		const code = codeOf(error);
		request.log.warn(
			{ session: metadata.sessionId, code, ...(code === 'internal' ? { err: error } : {}) },
			'could not show a session',
		);
		const context = { kept: 'nothing', adminContact, retryAt: retryAtOf(error) } as const;
		await update(open, errorModal(code, metadata, context)).catch(async (failed: unknown) => {
			request.log.error({ code: slackErrorCode(failed) ?? 'no_answer' }, 'could not even show the error');
			await reply.toPerson(whereItBegan(request, metadata), errorMessage(code, metadata.sessionId, context));
		});
	}

	async function read(sessionId: string): Promise<Reading> {
		const { session, readAt } = await service.read(sessionId, { priority: 'person' });
		readings.put(sessionId, { session, readAt });
		return { session, readAt };
	}

	interface Content {
		readonly metadata: ViewMetadata;
		readonly typed?: Values | null;
		readonly prefill?: Values | null;
		readonly text?: string | null;
		readonly wanted?: WantedQuestion;
		readonly notices?: readonly Notice[];
		/** Shows what was read before, if it still is at hand. */
		readonly sameReading?: boolean;
	}

	/** Reads the session and puts it into the view; false when that is gone. Throws when the session cannot be read. */
	async function fill(request: PersonRequest, open: OpenView, content: Content): Promise<boolean> {
		const { metadata } = content;
		const { sessionId } = metadata;
		const kept = content.sameReading === true ? readings.get(sessionId) : null;
		const reading = kept ?? (await read(sessionId));
		const place =
			content.text == null ? null : await presenter.placeText(request.person, metadata, reading, content.text);
		if (place?.kind === 'choose') {
			return update(open, chooseItemModal(place.question, place.positions, place.text, place.metadata));
		}
		const model = await presenter.model({
			person: request.person,
			metadata,
			typed: content.typed ?? null,
			prefill: place?.kind === 'place' ? place.values : (content.prefill ?? null),
			wanted: content.wanted ?? null,
			notices: [...(content.notices ?? []), ...(place?.kind === 'unused' ? [place.notice] : [])],
			reading,
		});
		try {
			return await update(open, sessionModal(model));
		} catch (error) {
			if (slackErrorCode(error) === null || reading.session.lastScreenshotUrl === null) throw error;
			// An image that Slack cannot download fails the whole view.
			return update(open, sessionModal({ ...model, withoutImages: true }));
		}
	}

	/** A press inside a modal has no place of its own: words about it go where the modal was opened. */
	function whereItBegan(request: PersonRequest, { origin }: ViewMetadata): PersonRequest {
		return request.channelId === null ? { ...request, ...origin } : request;
	}

	/** Puts `view` on top of the one that stays; when the trigger is dead by now, says `message` instead. */
	async function putOnTop(
		request: PersonRequest,
		metadata: ViewMetadata,
		view: ModalView,
		message: MessageContent,
	): Promise<void> {
		if ((await openView(request, view, true)) === null) {
			await reply.toPerson(whereItBegan(request, metadata), message);
		}
	}

	function refuse(request: PersonRequest, verdict: Verdict & { allowed: false }): void {
		request.log.info({ refusal: verdict.refusal }, 'refused');
	}

	return {
		/** Opens a modal for the request's trigger and fills it. Never throws; the person is told what went wrong. */
		async open(request: PersonRequest, wish: Wish): Promise<void> {
			const { sessionId, origin } = wish;
			const metadata = newMetadata({ sessionId, formId: newFormId(), origin });
			const [verdict, open] = await Promise.all([
				gatekeeper.check(request.person, origin.channelId),
				openView(request, loadingModal(sessionId, metadata)),
			]);
			if (!verdict.allowed) {
				refuse(request, verdict);
				const told =
					open !== null &&
					(await update(open, refusedModal(verdict.refusal, metadata, adminContact)).catch(() => false));
				if (!told) await reply.toPerson(request, refusedMessage(verdict.refusal, adminContact));
				return;
			}
			if (open === null) {
				await reply.toPerson(request, answerCard(sessionId, wish.messageIndex));
				return;
			}
			try {
				const { messageIndex, toAnswer = false, prefill = null, text = null } = wish;
				const content = { metadata, wanted: messageIndex ?? (toAnswer ? ('newest' as const) : null), prefill, text };
				const isShown = await fill(request, open, content);
				if (!isShown && 'externalId' in open) await reply.toPerson(request, answerCard(sessionId, wish.messageIndex));
			} catch (error) {
				await showError(request, open, metadata, error);
			}
		},

		/**
		 * Shows the session again in an open view: refreshed, another page, other fields. What stands in the fields stays.
		 * When the session cannot be read, the form stays too and the error comes on top of it.
		 */
		async show(request: PersonRequest, open: OpenView, content: Content): Promise<void> {
			const { metadata } = content;
			const verdict = await gatekeeper.check(request.person, metadata.origin.channelId);
			if (!verdict.allowed) {
				refuse(request, verdict);
				const { refusal } = verdict;
				const view = refusedModal(refusal, metadata, adminContact);
				return putOnTop(request, metadata, view, refusedMessage(refusal, adminContact));
			}
			try {
				await fill(request, open, content);
			} catch (error) {
				const code = codeOf(error);
				request.log.warn({ session: metadata.sessionId, code }, 'could not show a session again');
				if (metadata.fields.length === 0) return showError(request, open, metadata, error);
				const context = { kept: 'text', adminContact, retryAt: retryAtOf(error) } as const;
				const view = errorModal(code, { ...metadata, fields: [] }, context);
				await putOnTop(request, metadata, view, errorMessage(code, metadata.sessionId, context));
			}
		},
	};
}

export type SessionFlow = ReturnType<typeof createSessionFlow>;
