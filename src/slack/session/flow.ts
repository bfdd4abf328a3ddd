import type { WebClient } from '@slack/web-api';
import type { ActRefusal } from '../../answers/access-policy.ts';
import type { Origin } from '../../answers/answer.ts';
import type { Clock } from '../../clock.ts';
import { loggedId } from '../../log.ts';
import { answerCard, chooseItemModal, stillWaitingMessage } from '../blocks/commands.ts';
import { errorMessage, errorModal } from '../blocks/errors.ts';
import { loadingModal, type Notice, type SessionModel, sessionModal } from '../blocks/session-modal.ts';
import { codeOf, slackErrorCode, slackFailure, slackRetryAfterMs } from '../clients.ts';
import { CALLBACKS } from '../ids.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import { type PersonReads, type Reading, type ReadPermit, TooFastError } from '../person-reads.ts';
import { type Reply, whereItBegan } from '../reply.ts';
import { isInbox, logAccess, originOf, type PersonRequest, type SubmittedView } from '../request.ts';
import { type AllowedRequest, copyPlace, ifAllowed, type Task, windowPlace } from '../task.ts';
import { newFormId, type Prefill, type TypedText } from './drafts.ts';
import type { Presenter, WantedQuestion } from './presenter.ts';
import { createViewHandle, openView, type UpdateOutcome, type ViewHandle } from './view-handle.ts';
import type { Note, PatientReads } from './waiting.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly presenter: Presenter;
	/** The last reading of a session; null when it is not in memory any more. */
	readonly latest: (sessionId: string) => Reading | null;
	readonly personReads: PersonReads;
	readonly reads: PatientReads;
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

/** What a person wants to see. */
interface Wish {
	readonly sessionId: string;
	/** The message index that a button named; null: the open question. */
	readonly messageIndex: number | null;
	/** The person came to answer: when no question is open, the modal says who settled the newest one. */
	readonly toAnswer?: boolean;
	/** Left out: the origin of the request. */
	readonly origin?: Origin;
	/** Initial texts. */
	readonly prefill?: Prefill;
	/** A message chosen for an answer. If it fits several items, the person is asked which one. */
	readonly text?: string;
}

interface Content {
	readonly metadata: ViewMetadata;
	readonly typed?: TypedText | null;
	readonly prefill?: Prefill | null;
	readonly text?: string | null;
	readonly wanted?: WantedQuestion;
	/** Uses the last reading if it is in memory. The person is told when that is newer than what they saw. */
	readonly sameReading?: boolean;
}

/** How many times an update is tried when Slack limits calls … */
const MAX_UPDATES = 3;
/** … and Slack asks to wait no longer than this. Slack's limits are per minute. */
const MAX_LIMIT_MS = 60_000;

/** A permit for a read, and the loading view that waits for it; null when Slack did not open it. */
interface Begun {
	readonly permit: ReadPermit;
	readonly handle: ViewHandle | null;
}

/**
 * Shows a session in a modal: a loading view at once, then the content by `views.update`. When the loading view cannot be
 * opened, an ephemeral card offers a button instead.
 */
export function createSessionFlow(deps: Dependencies) {
	const { client, presenter, latest, personReads, reads, reply, adminContact, clock } = deps;

	/** Repeats an update that Slack limits after the time for which Slack asks. Throws what `update` throws otherwise. */
	async function despiteLimit(update: () => Promise<UpdateOutcome>): Promise<UpdateOutcome> {
		for (let updateCount = 1; ; updateCount++) {
			try {
				return await update();
			} catch (error) {
				const retryAfterMs = slackRetryAfterMs(error);
				if (retryAfterMs === null || retryAfterMs > MAX_LIMIT_MS || updateCount === MAX_UPDATES) throw error;
				await clock.sleep(retryAfterMs);
			}
		}
	}

	async function showError(request: PersonRequest, handle: ViewHandle, metadata: ViewMetadata, error: unknown) {
		const code = codeOf(error);
		request.log.warn(
			{ session: loggedId(metadata.sessionId), code, ...(code === 'internal' ? { err: error } : {}) },
			'could not show a session',
		);
		const modal = errorModal(code, metadata, reply.errorContext(error));
		await despiteLimit(() => handle.update(modal)).catch(async (updateError: unknown) => {
			request.log.error({ code: slackFailure(updateError).code }, 'could not show the error in the modal');
			await reply.failed(whereItBegan(request, metadata.origin), error, { sessionId: metadata.sessionId });
		});
	}

	/**
	 * Puts a session into the view; null when nobody waits for it any more. Throws when the session cannot be read.
	 * `source`: a permit to read the session, or a reading.
	 */
	async function fill(
		request: AllowedRequest,
		handle: ViewHandle,
		content: Content & { readonly source: ReadPermit | Reading },
		note: Note,
	): Promise<UpdateOutcome | null> {
		const { metadata, source } = content;
		const { sessionId } = metadata;
		const reading = 'session' in source ? source : await reads.read(sessionId, source, handle, note);
		if (reading === null) {
			request.log.info({ session: loggedId(sessionId) }, 'nobody waits for a read any more');
			return null;
		}
		const place =
			content.text == null ? null : await presenter.placeText(request.person, metadata, reading, content.text);
		if (place?.kind === 'choose') {
			const modal = chooseItemModal(place.question, place.positions, place.text, place.metadata);
			return despiteLimit(() => handle.update(modal));
		}
		const filled =
			place?.kind === 'place' ? { ...content, prefill: { values: place.values, givenFor: null } } : content;
		const notices = [...newerNotice(content, reading), ...(place?.kind === 'unused' ? [place.notice] : [])];
		const model = await modelOf(request, handle, filled, { reading, notices });
		return despiteLimit(() => put(request, handle, model));
	}

	function modelOf(
		{ person }: AllowedRequest,
		{ id: viewId }: ViewHandle,
		{ metadata, typed = null, prefill = null, wanted = null }: Content,
		shown: { readonly reading: Reading; readonly notices: readonly Notice[] },
	): Promise<SessionModel> {
		return presenter.model({ person, metadata, viewId, typed, prefill, wanted, ...shown });
	}

	async function put(request: AllowedRequest, handle: ViewHandle, model: SessionModel): Promise<UpdateOutcome> {
		const outcome = await handle.update(sessionModal(model)).catch((error: unknown) => {
			if (slackErrorCode(error) === null || model.session.lastScreenshotUrl === null) throw error;
			// Slack refuses a view with an image that it cannot download.
			return handle.update(sessionModal({ ...model, withoutImages: true }));
		});
		// Only now, because a person who closed or submitted the form during the read is not answering any more.
		if (outcome === 'updated') await presenter.markSeen(request.person, model);
		return outcome;
	}

	/** Adds a notice to what a view shows; null when its reading is not in memory or would show another question. */
	async function putNotice(
		request: AllowedRequest,
		handle: ViewHandle,
		content: Content,
		notice: (readAt: number) => Notice,
	): Promise<UpdateOutcome | null> {
		const { metadata } = content;
		// After a submission the view shows a receipt, which must not be replaced.
		if (await presenter.isSent(handle.id, metadata)) return 'gone';
		const reading = latest(metadata.sessionId);
		if (reading === null || !(await presenter.asksTheSame(metadata, reading))) return null;
		const shown = { metadata, typed: content.typed ?? null };
		const model = await modelOf(request, handle, shown, { reading, notices: [notice(reading.readAt)] });
		return put(request, handle, model);
	}

	/** Opens the loading view at once, because the trigger expires after three seconds, but not for a person who is too fast. */
	async function begin(request: PersonRequest, metadata: ViewMetadata, onTop: boolean): Promise<Begun | TooFastError> {
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) return permit;
		const handle = await openView(client, request, { view: loadingModal(metadata.sessionId, metadata), onTop });
		return { permit, handle };
	}

	/** Fills the loading view. Never throws; resolves to the outcome for the log. */
	async function fillOpened(
		request: AllowedRequest,
		{ permit, handle }: Begun,
		metadata: ViewMetadata,
		wish: Wish,
	): Promise<string> {
		const { sessionId, messageIndex, prefill = null, text = null } = wish;
		if (handle === null) {
			await reply.toPerson(request, answerCard(sessionId, messageIndex));
			return 'no_window';
		}
		try {
			const content = { metadata, source: permit, wanted: wantedBy(wish), prefill, text };
			const note: Note = (waitedMs) => handle.update(loadingModal(sessionId, metadata, waitedMs));
			const outcome = await fill(request, handle, content, note);
			if (outcome === 'gone' && handle.id === null) {
				await reply.toPerson(request, answerCard(sessionId, messageIndex));
			}
			return loggedOutcome(outcome);
		} catch (error) {
			await showError(request, handle, metadata, error);
			return codeOf(error);
		}
	}

	/** `isShown`: the view shows this session, and keeps showing it during the read. Resolves to the outcome for the log. */
	async function showAgain(
		request: AllowedRequest,
		handle: ViewHandle,
		content: Content,
		isShown: boolean,
	): Promise<string | null> {
		const { metadata } = content;
		const { sessionId } = metadata;
		let isNoted = false;
		async function note(waitedMs: number): Promise<UpdateOutcome | null> {
			if (!isShown) return handle.update(loadingModal(sessionId, metadata, waitedMs));
			const outcome = await putNotice(request, handle, content, () => ({ kind: 'stillWaiting', waitedMs }));
			if (outcome === null) {
				await reply.toPerson(whereItBegan(request, metadata.origin), stillWaitingMessage(sessionId));
			}
			isNoted ||= outcome === 'updated';
			return outcome;
		}
		try {
			const lastReading = content.sameReading === true ? latest(sessionId) : null;
			const source = lastReading ?? (await personReads.permit(request));
			if (source instanceof TooFastError) throw source;
			const tooFast = lastReading === null ? null : await personReads.turn(request);
			if (tooFast !== null) throw tooFast;
			const outcome = await fill(request, handle, { ...content, source }, note);
			return lastReading === null ? loggedOutcome(outcome) : null;
		} catch (error) {
			const code = codeOf(error);
			const tooFast = error instanceof TooFastError ? error : null;
			if (tooFast === null) request.log.warn({ session: loggedId(sessionId), code }, 'could not show a session again');
			else if (!personReads.isWorthTelling(request)) return code;
			if (isNoted || (tooFast !== null && isShown)) {
				// A notice about the error replaces the one that the read takes long.
				const retryAt = tooFast?.retryAt ?? null;
				const stale = (readAt: number) => ({ kind: 'stale', code, readAt, retryAt }) as const;
				const outcome = await putNotice(request, handle, content, stale).catch(() => null);
				// If the view changed after the press, the error of the press is not shown.
				if (outcome === 'updated' || (tooFast === null && outcome !== null)) return code;
			}
			if (tooFast === null && metadata.fields.length === 0) {
				await showError(request, handle, metadata, error);
				return code;
			}
			const context = reply.errorContext(error, metadata.fields.length === 0 ? 'nothing' : 'text');
			const modal = errorModal(code, { ...metadata, fields: [] }, context);
			await reply.onTop(request, metadata, { modal, message: errorMessage(code, sessionId, context) });
			return code;
		}
	}

	/**
	 * Shows the session again in an open view: refreshed, another page, other fields. The texts in the fields stay. When the
	 * session cannot be read, the form stays and the error opens on top of it.
	 */
	async function show(request: AllowedRequest, view: SubmittedView, content: Content): Promise<void> {
		const { id, hash, callbackId } = view;
		const isShown = callbackId === CALLBACKS.session;
		const handle = createViewHandle(client, { id, hash: hash === '' ? null : hash }, false);
		const outcome = await showAgain(request, handle, content, isShown);
		if (outcome === null) return;
		logAccess(request, isShown ? 'refresh' : 'open', content.metadata.sessionId, outcome);
	}

	/** Opens a modal with the request's trigger, perhaps `onTop` of an open one; the modal also shows a refusal. */
	function openModal(request: PersonRequest, metadata: ViewMetadata, wish: Wish, onTop: boolean): Task {
		const { sessionId } = wish;
		const beginning = begin(request, metadata, onTop);
		// The functions below handle a rejection when they await it.
		beginning.catch(() => undefined);

		async function toSomebodyAllowed(allowed: AllowedRequest): Promise<void> {
			const begun = await beginning;
			if (begun instanceof TooFastError) {
				logAccess(request, 'open', sessionId, begun.code);
				return reply.failed(request, begun, { sessionId });
			}
			logAccess(request, 'open', sessionId, await fillOpened(allowed, begun, metadata, wish));
		}

		async function toSomebodyRefused(refusal: ActRefusal): Promise<void> {
			logAccess(request, 'open', sessionId, refusal);
			const begun = await beginning;
			if (begun instanceof TooFastError) return reply.failed(request, begun, { sessionId });
			const modal = errorModal(refusal, metadata, { adminContact });
			const outcome = await begun.handle?.update(modal).catch(() => null);
			if (outcome !== 'updated') await reply.refused(request, refusal);
		}

		const { origin } = metadata;
		// In the channel itself Slack has just let them act.
		return ifAllowed(origin.isCopy ? windowPlace(metadata) : origin.channelId, toSomebodyAllowed, toSomebodyRefused);
	}

	return {
		/**
		 * Shows a session in `view`, or without one in a new modal, to people who may see it in the origin's channel. An inbox
		 * stays as it is, under the new modal.
		 */
		open(request: PersonRequest, wish: Wish, view: SubmittedView | null = null): Task {
			const { sessionId } = wish;
			const from = wish.origin ?? originOf(request, view);
			const isNew = view === null || isInbox(view);
			const isCopy = isNew && wish.origin !== undefined && copyPlace(request, from.channelId, sessionId).isCopy;
			const origin = isCopy ? { ...from, isCopy } : from;
			const metadata = newMetadata({ sessionId, formId: newFormId(), origin });
			if (isNew) {
				return openModal(request, metadata, wish, view?.callbackId === CALLBACKS.inbox);
			}
			const content = { metadata, wanted: wantedBy(wish), prefill: wish.prefill ?? null };
			return ifAllowed(windowPlace(metadata), (allowed) => show(allowed, view, content));
		},

		show,

		/** The person closed a view: ends its reads. */
		left: reads.left,
	};
}

export type SessionFlow = ReturnType<typeof createSessionFlow>;

function wantedBy({ messageIndex, toAnswer = false }: Wish): WantedQuestion {
	return messageIndex ?? (toAnswer ? 'newest' : null);
}

/** The notice that the session was read again since the view was filled, when the person only changed page or fields. */
function newerNotice({ sameReading, metadata }: Content, reading: Reading): Notice[] {
	const isNewer = sameReading === true && metadata.readAt > 0 && reading.since > metadata.readAt;
	return isNewer ? [{ kind: 'readAgain' }] : [];
}

function loggedOutcome(outcome: UpdateOutcome | null): string {
	return outcome === 'updated' ? 'shown' : 'closed_meanwhile';
}
