import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { Origin } from '../../answers/answer.ts';
import type { Gatekeeper, Verdict } from '../../answers/who-may.ts';
import type { Clock } from '../../clock.ts';
import { retryAtOf } from '../../errors.ts';
import { chooseItemModal } from '../blocks/choose-item-modal.ts';
import { errorModal } from '../blocks/error-modal.ts';
import { loadingModal } from '../blocks/loading-modal.ts';
import type { MessageContent } from '../blocks/message.ts';
import { answerCard, errorMessage, refusedMessage, stillWaitingMessage } from '../blocks/messages.ts';
import { refusedModal } from '../blocks/refused-modal.ts';
import { sessionModal } from '../blocks/session-modal.ts';
import type { Notice, SessionModel } from '../blocks/session-model.ts';
import { slackErrorCode, slackRetryAfter } from '../clients.ts';
import { codeOf } from '../error-code.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import type { Reply } from '../reply.ts';
import type { PersonRequest } from '../request.ts';
import type { TypedText, Values } from './draft-for.ts';
import { type PatientReads, ViewLeftError } from './patient-reads.ts';
import { newFormId, type Presenter, type WantedQuestion } from './presenter.ts';
import type { Readings } from './readings.ts';
import { createViewHandle, type OpenView, type UpdateOutcome, type ViewHandle } from './view-handle.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly presenter: Presenter;
	readonly readings: Readings;
	readonly patientReads: PatientReads;
	readonly gatekeeper: Gatekeeper;
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

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

/** A view that Slack's limit on calls leaves without its content is updated again, so many times in all … */
const MOST_UPDATES = 3;
/** … when Slack asks for at most so many seconds; its limits count by the minute. */
const LONGEST_LIMIT_S = 60;

/**
 * Shows a session in a modal: a loading view at once, whatever the service does, then the content by `views.update`. When
 * the trigger is lost, an ephemeral card with a button brings the same.
 */
export function createSessionFlow(deps: Dependencies) {
	const { client, presenter, readings, patientReads, gatekeeper, reply, adminContact, clock } = deps;

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

	/** Puts what somebody waits for into a view, as soon as Slack's limit lets us. Throws what `update` throws otherwise. */
	async function despiteLimit(update: () => Promise<UpdateOutcome>): Promise<UpdateOutcome> {
		for (let times = 1; ; times++) {
			try {
				return await update();
			} catch (error) {
				const seconds = slackRetryAfter(error);
				if (seconds === null || seconds > LONGEST_LIMIT_S || times === MOST_UPDATES) throw error;
				await clock.sleep(seconds * 1_000);
			}
		}
	}

	async function showError(request: PersonRequest, view: ViewHandle, metadata: ViewMetadata, error: unknown) {
		const code = codeOf(error);
		request.log.warn(
			{ session: metadata.sessionId, code, ...(code === 'internal' ? { err: error } : {}) },
			'could not show a session',
		);
		const context = { kept: 'nothing', adminContact, retryAt: retryAtOf(error, clock.now()) } as const;
		const modal = errorModal(code, metadata, context);
		await despiteLimit(() => view.update(modal)).catch(async (failed: unknown) => {
			request.log.error({ code: slackErrorCode(failed) ?? 'no_answer' }, 'could not even show the error');
			await reply.toPerson(whereItBegan(request, metadata), errorMessage(code, metadata.sessionId, context));
		});
	}

	interface Content {
		readonly metadata: ViewMetadata;
		readonly typed?: TypedText | null;
		readonly prefill?: Values | null;
		readonly text?: string | null;
		readonly wanted?: WantedQuestion;
		readonly notices?: readonly Notice[];
		/** Shows what was read before, if it still is at hand. */
		readonly sameReading?: boolean;
		/** The view shows this session already, and what it shows stays while the session is read. */
		readonly isShown?: boolean;
	}

	/** Says in the view, or elsewhere, that it takes long; null when there is nothing more to be said. */
	type Note = (waitedMs: number) => Promise<UpdateOutcome | null>;

	/**
	 * Reads the session and puts it into the view; null when nobody waits for it any more. Throws when the session cannot
	 * be read.
	 */
	async function fill(
		request: PersonRequest,
		view: ViewHandle,
		content: Content,
		note: Note,
	): Promise<UpdateOutcome | null> {
		const { metadata } = content;
		const { sessionId } = metadata;
		const kept = content.sameReading === true ? readings.get(sessionId) : null;
		const reading = kept ?? (await patientReads.read(sessionId, view, note).catch(nullWhenLeft));
		if (reading === null) {
			request.log.info({ session: sessionId }, 'nobody waits for a read any more');
			return null;
		}
		const place =
			content.text == null ? null : await presenter.placeText(request.person, metadata, reading, content.text);
		if (place?.kind === 'choose') {
			const modal = chooseItemModal(place.question, place.positions, place.text, place.metadata);
			return despiteLimit(() => view.update(modal));
		}
		const model = await presenter.model({
			person: request.person,
			metadata,
			viewId: view.id,
			typed: content.typed ?? null,
			prefill: place?.kind === 'place' ? place.values : (content.prefill ?? null),
			wanted: content.wanted ?? null,
			notices: [...(content.notices ?? []), ...(place?.kind === 'unused' ? [place.notice] : [])],
			reading,
		});
		return despiteLimit(() => put(request, view, model));
	}

	async function put(request: PersonRequest, view: ViewHandle, model: SessionModel): Promise<UpdateOutcome> {
		const outcome = await view.update(sessionModal(model)).catch((error: unknown) => {
			if (slackErrorCode(error) === null || model.session.lastScreenshotUrl === null) throw error;
			// An image that Slack cannot download fails the whole view.
			return view.update(sessionModal({ ...model, withoutImages: true }));
		});
		// Not before: who has closed or submitted the form while the session was read is not answering any more.
		if (outcome === 'updated') await presenter.markSeen(request.person, model);
		return outcome;
	}

	/** Puts a notice over what a view shows already; null when that is not at hand any more, or not what would be shown. */
	async function putNotice(
		request: PersonRequest,
		view: ViewHandle,
		content: Content,
		notice: (readAt: number) => Notice,
	): Promise<UpdateOutcome | null> {
		const { metadata } = content;
		const reading = readings.get(metadata.sessionId);
		if (reading === null || !(await presenter.asksTheSame(metadata, reading))) return null;
		const model = await presenter.model({
			person: request.person,
			metadata,
			viewId: view.id,
			typed: content.typed ?? null,
			prefill: null,
			wanted: null,
			notices: [notice(reading.readAt)],
			reading,
		});
		return put(request, view, model);
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
			const [verdict, opened] = await Promise.all([
				gatekeeper.check(request.person, origin.channelId),
				openView(request, loadingModal(sessionId, metadata)),
			]);
			const view = opened === null ? null : createViewHandle(client, opened, true);
			if (!verdict.allowed) {
				refuse(request, verdict);
				const modal = refusedModal(verdict.refusal, metadata, adminContact);
				const outcome = view === null ? null : await view.update(modal).catch(() => null);
				if (outcome !== 'updated') await reply.toPerson(request, refusedMessage(verdict.refusal, adminContact));
				return;
			}
			if (view === null) {
				await reply.toPerson(request, answerCard(sessionId, wish.messageIndex));
				return;
			}
			try {
				const { messageIndex, toAnswer = false, prefill = null, text = null } = wish;
				const content = { metadata, wanted: messageIndex ?? (toAnswer ? ('newest' as const) : null), prefill, text };
				const outcome = await fill(request, view, content, (ms) => view.update(loadingModal(sessionId, metadata, ms)));
				if (outcome === 'gone' && view.id === null) {
					await reply.toPerson(request, answerCard(sessionId, wish.messageIndex));
				}
			} catch (error) {
				await showError(request, view, metadata, error);
			}
		},

		/**
		 * Shows the session again in an open view: refreshed, another page, other fields. What stands in the fields stays.
		 * When the session cannot be read, the form stays too and the error comes on top of it.
		 */
		async show(request: PersonRequest, open: OpenView, content: Content): Promise<void> {
			const { metadata } = content;
			const { sessionId } = metadata;
			const verdict = await gatekeeper.check(request.person, metadata.origin.channelId);
			if (!verdict.allowed) {
				refuse(request, verdict);
				const { refusal } = verdict;
				const modal = refusedModal(refusal, metadata, adminContact);
				return putOnTop(request, metadata, modal, refusedMessage(refusal, adminContact));
			}
			const view = createViewHandle(client, open, false);
			let isNoted = false;
			async function note(waitedMs: number): Promise<UpdateOutcome | null> {
				if (content.isShown !== true) return view.update(loadingModal(sessionId, metadata, waitedMs));
				const outcome = await putNotice(request, view, content, () => ({ kind: 'stillWaiting', waitedMs }));
				if (outcome === null) await reply.toPerson(whereItBegan(request, metadata), stillWaitingMessage(sessionId));
				isNoted ||= outcome === 'updated';
				return outcome;
			}
			try {
				await fill(request, view, content, note);
			} catch (error) {
				const code = codeOf(error);
				request.log.warn({ session: sessionId, code }, 'could not show a session again');
				if (isNoted) {
					// The notice says that somebody waits, so what became of that takes its place.
					const stale = (readAt: number) => ({ kind: 'stale', code, readAt }) as const;
					const outcome = await putNotice(request, view, content, stale).catch(() => null);
					if (outcome !== null) return;
				}
				if (metadata.fields.length === 0) return showError(request, view, metadata, error);
				const context = { kept: 'text', adminContact, retryAt: retryAtOf(error, clock.now()) } as const;
				const modal = errorModal(code, { ...metadata, fields: [] }, context);
				await putOnTop(request, metadata, modal, errorMessage(code, sessionId, context));
			}
		},

		/** Somebody closed a view: what is being read for it is not needed any more. */
		left: (viewId: string) => patientReads.left(viewId),
	};
}

export type SessionFlow = ReturnType<typeof createSessionFlow>;

function nullWhenLeft(error: unknown): null {
	if (error instanceof ViewLeftError) return null;
	throw error;
}
