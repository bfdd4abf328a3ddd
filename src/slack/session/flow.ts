import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { Refusal } from '../../answers/access-policy.ts';
import type { Origin } from '../../answers/answer.ts';
import type { Clock } from '../../clock.ts';
import { retryAtOf } from '../../errors.ts';
import { loggedId } from '../../log.ts';
import { logAccess } from '../access-log.ts';
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
import { isWorthTelling, type PersonReads, type Reading, type ReadPermit, TooFastError } from '../person-reads.ts';
import type { Reply } from '../reply.ts';
import type { PersonRequest } from '../request.ts';
import { type AllowedRequest, ifAllowed, type Task } from '../task.ts';
import type { TypedText, Values } from './draft-for.ts';
import type { ViewOpener } from './open-view.ts';
import { type PatientReads, ViewLeftError } from './patient-reads.ts';
import { newFormId, type Presenter, type WantedQuestion } from './presenter.ts';
import { createViewHandle, type OpenView, type UpdateOutcome, type ViewHandle } from './view-handle.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly openView: ViewOpener;
	readonly presenter: Presenter;
	/** The session as it was last read, while it is at hand. */
	readonly latest: (sessionId: string) => Reading | null;
	readonly personReads: PersonReads;
	readonly patientReads: PatientReads;
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

interface Content {
	readonly metadata: ViewMetadata;
	readonly typed?: TypedText | null;
	readonly prefill?: Values | null;
	readonly text?: string | null;
	readonly wanted?: WantedQuestion;
	readonly notices?: readonly Notice[];
	/** Costs no request while what was read last is at hand; the person is told when that is newer than what they saw. */
	readonly sameReading?: boolean;
	/** The view shows this session already, and what it shows stays while the session is read. */
	readonly isShown?: boolean;
}

/** A view that Slack's limit on calls leaves without its content is updated again, so many times in all … */
const MOST_UPDATES = 3;
/** … when Slack asks for at most so many seconds; its limits count by the minute. */
const LONGEST_LIMIT_S = 60;

/** A person's read that may be sent, and the view that waits for it; null when there is none. */
interface Begun {
	readonly permit: ReadPermit;
	readonly view: ViewHandle | null;
}

/**
 * Shows a session in a modal: a loading view at once, whatever the service does, then the content by `views.update`. When
 * the trigger is lost, an ephemeral card with a button brings the same.
 */
export function createSessionFlow(deps: Dependencies) {
	const { client, openView, presenter, latest, personReads, patientReads, reply, adminContact, clock } = deps;

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
			{ session: loggedId(metadata.sessionId), code, ...(code === 'internal' ? { err: error } : {}) },
			'could not show a session',
		);
		const context = { kept: 'nothing', adminContact, retryAt: retryAtOf(error, clock.now()) } as const;
		const modal = errorModal(code, metadata, context);
		await despiteLimit(() => view.update(modal)).catch(async (failed: unknown) => {
			request.log.error({ code: slackErrorCode(failed) ?? 'no_answer' }, 'could not even show the error');
			await reply.toPerson(whereItBegan(request, metadata), errorMessage(code, metadata.sessionId, context));
		});
	}

	/** Says in the view, or elsewhere, that it takes long; null when there is nothing more to be said. */
	type Note = (waitedMs: number) => Promise<UpdateOutcome | null>;

	/**
	 * Reads the session and puts it into the view; null when nobody waits for it any more. Throws when the session cannot
	 * be read.
	 */
	async function fill(
		request: AllowedRequest,
		view: ViewHandle,
		content: Content & { readonly source: ReadPermit | Reading },
		note: Note,
	): Promise<UpdateOutcome | null> {
		const { metadata, source } = content;
		const { sessionId } = metadata;
		const reading =
			'session' in source ? source : await patientReads.read(sessionId, source, view, note).catch(nullWhenLeft);
		if (reading === null) {
			request.log.info({ session: loggedId(sessionId) }, 'nobody waits for a read any more');
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
			notices: [
				...newerNotice(content, reading),
				...(content.notices ?? []),
				...(place?.kind === 'unused' ? [place.notice] : []),
			],
			reading,
		});
		return despiteLimit(() => put(request, view, model));
	}

	async function put(request: AllowedRequest, view: ViewHandle, model: SessionModel): Promise<UpdateOutcome> {
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
		request: AllowedRequest,
		view: ViewHandle,
		content: Content,
		notice: (readAt: number) => Notice,
	): Promise<UpdateOutcome | null> {
		const { metadata } = content;
		// What was read since shows the answer already, and not what the form asks.
		if (await presenter.isSent(view.id, metadata)) return 'gone';
		const reading = latest(metadata.sessionId);
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
		if ((await openView(request, view, { onTop: true })) === null) {
			await reply.toPerson(whereItBegan(request, metadata), message);
		}
	}

	async function slowDown(request: PersonRequest, sessionId: string, error: TooFastError): Promise<void> {
		const context = { kept: 'nothing', adminContact, retryAt: error.retryAt } as const;
		await reply.slowDown(request, error, errorMessage(error.code, sessionId, context));
	}

	/** Opens the loading view, at once, since the trigger lives for three seconds, but not for somebody who is too fast. */
	async function begin(request: PersonRequest, metadata: ViewMetadata): Promise<Begun | TooFastError> {
		try {
			const permit = await personReads.permit(request);
			const opened = await openView(request, loadingModal(metadata.sessionId, metadata));
			return { permit, view: opened === null ? null : createViewHandle(client, opened, true) };
		} catch (error) {
			if (error instanceof TooFastError) return error;
			throw error;
		}
	}

	/** Fills the view that was opened for a wish. Never throws; resolves to the word for the log. */
	async function fillOpened(
		request: AllowedRequest,
		{ permit, view }: Begun,
		metadata: ViewMetadata,
		wish: Wish,
	): Promise<string> {
		const { sessionId, messageIndex, toAnswer = false, prefill = null, text = null } = wish;
		if (view === null) {
			await reply.toPerson(request, answerCard(sessionId, messageIndex));
			return 'no_window';
		}
		try {
			const wanted = messageIndex ?? (toAnswer ? ('newest' as const) : null);
			const content = { metadata, source: permit, wanted, prefill, text };
			const outcome = await fill(request, view, content, (ms) => view.update(loadingModal(sessionId, metadata, ms)));
			if (outcome === 'gone' && view.id === null) {
				await reply.toPerson(request, answerCard(sessionId, messageIndex));
			}
			return shown(outcome);
		} catch (error) {
			await showError(request, view, metadata, error);
			return codeOf(error);
		}
	}

	/** Resolves to the word for the log; null when nothing was read. */
	async function showAgain(request: AllowedRequest, open: OpenView, content: Content): Promise<string | null> {
		const { metadata } = content;
		const { sessionId } = metadata;
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
			const kept = content.sameReading === true ? latest(sessionId) : null;
			const source = kept ?? (await personReads.permit(request));
			const tooFast = kept === null ? null : await personReads.turn(request);
			if (tooFast !== null) throw tooFast;
			const outcome = await fill(request, view, { ...content, source }, note);
			return kept === null ? shown(outcome) : null;
		} catch (error) {
			const code = codeOf(error);
			const tooFast = error instanceof TooFastError ? error : null;
			if (tooFast === null) request.log.warn({ session: loggedId(sessionId), code }, 'could not show a session again');
			else if (!isWorthTelling(request, tooFast)) return code;
			if (isNoted || (tooFast !== null && content.isShown === true)) {
				// The notice says that somebody waits, so what became of that takes its place.
				const retryAt = tooFast?.retryAt ?? null;
				const stale = (readAt: number) => ({ kind: 'stale', code, readAt, retryAt }) as const;
				const outcome = await putNotice(request, view, content, stale).catch(() => null);
				// A press that came before the view was as it is now changes nothing in it.
				if (outcome === 'updated' || (tooFast === null && outcome !== null)) return code;
			}
			if (tooFast === null && metadata.fields.length === 0) {
				await showError(request, view, metadata, error);
				return code;
			}
			const kept = metadata.fields.length === 0 ? 'nothing' : 'text';
			const context = { kept, adminContact, retryAt: retryAtOf(error, clock.now()) } as const;
			const modal = errorModal(code, { ...metadata, fields: [] }, context);
			await putOnTop(request, metadata, modal, errorMessage(code, sessionId, context));
			return code;
		}
	}

	return {
		/**
		 * Opens a modal for the request's trigger; it shows the session only to those who may see it in the channel that the
		 * wish comes from.
		 */
		open(request: PersonRequest, wish: Wish): Task {
			const { sessionId, origin } = wish;
			const metadata = newMetadata({ sessionId, formId: newFormId(), origin });
			const beginning = begin(request, metadata);
			// Heard by whichever of the two below runs.
			beginning.catch(() => undefined);

			async function toSomebodyAllowed(allowed: AllowedRequest): Promise<void> {
				const begun = await beginning;
				if (begun instanceof TooFastError) {
					logAccess(request, 'open', sessionId, begun.code);
					return slowDown(request, sessionId, begun);
				}
				logAccess(request, 'open', sessionId, await fillOpened(allowed, begun, metadata, wish));
			}

			async function toSomebodyRefused(refusal: Refusal): Promise<void> {
				logAccess(request, 'open', sessionId, refusal);
				const begun = await beginning;
				if (begun instanceof TooFastError) return slowDown(request, sessionId, begun);
				const modal = refusedModal(refusal, metadata, adminContact);
				const outcome = await begun.view?.update(modal).catch(() => null);
				if (outcome !== 'updated') await reply.toPerson(request, refusedMessage(refusal, adminContact));
			}

			return ifAllowed(origin.channelId, toSomebodyAllowed, toSomebodyRefused);
		},

		/**
		 * Shows the session again in an open view: refreshed, another page, other fields. What stands in the fields stays.
		 * When the session cannot be read, the form stays too and the error comes on top of it.
		 */
		async show(request: AllowedRequest, open: OpenView, content: Content): Promise<void> {
			const outcome = await showAgain(request, open, content);
			if (outcome === null) return;
			logAccess(request, content.isShown === true ? 'refresh' : 'open', content.metadata.sessionId, outcome);
		},

		/** Somebody closed a view: what is being read for it is not needed any more. */
		left: (viewId: string) => patientReads.left(viewId),
	};
}

export type SessionFlow = ReturnType<typeof createSessionFlow>;

/** Another page, or other fields, of a session that has been read anew since the view was filled. */
function newerNotice({ sameReading, metadata }: Content, reading: Reading): Notice[] {
	const isNewer = sameReading === true && metadata.readAt > 0 && reading.since > metadata.readAt;
	return isNewer ? [{ kind: 'readAgain' }] : [];
}

function nullWhenLeft(error: unknown): null {
	if (error instanceof ViewLeftError) return null;
	throw error;
}

/** What became of showing a session, for the log. */
function shown(outcome: UpdateOutcome | null): string {
	return outcome === 'updated' ? 'shown' : 'closed_meanwhile';
}
