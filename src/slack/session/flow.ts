import type { WebClient } from '@slack/web-api';
import type { Refusal } from '../../answers/access-policy.ts';
import type { Origin } from '../../answers/answer.ts';
import type { Clock } from '../../clock.ts';
import { loggedId } from '../../log.ts';
import { answerCard, errorMessage, stillWaitingMessage } from '../blocks/messages.ts';
import { type SessionModel, sessionModal } from '../blocks/session-modal.ts';
import { chooseItemModal, errorModal, loadingModal, refusedModal } from '../blocks/small-modals.ts';
import { codeOf, slackErrorCode, slackRetryAfter } from '../clients.ts';
import { CALLBACKS } from '../ids.ts';
import { newMetadata, type ViewMetadata } from '../metadata.ts';
import { isWorthTelling, type PersonReads, type Reading, type ReadPermit, TooFastError } from '../person-reads.ts';
import { type Reply, whereItBegan } from '../reply.ts';
import { logAccess, originOf, type PersonRequest, type ViewSnapshot } from '../request.ts';
import { type AllowedRequest, ifAllowed, type Task } from '../task.ts';
import type { Notice } from '../words/notices.ts';
import { newFormId, type TypedText, type Values } from './drafts.ts';
import type { Presenter, WantedQuestion } from './presenter.ts';
import { createViewHandle, openView, type UpdateOutcome, type ViewHandle } from './view-handle.ts';
import type { Note, PatientReads } from './waiting.ts';

interface Dependencies {
	readonly client: WebClient;
	readonly presenter: Presenter;
	/** The session as it was last read, while it is at hand. */
	readonly latest: (sessionId: string) => Reading | null;
	readonly personReads: PersonReads;
	readonly reads: PatientReads;
	readonly reply: Reply;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

/** What somebody wants to see. */
export interface Wish {
	readonly sessionId: string;
	/** The message whose question a button named; null: whatever is open. */
	readonly messageIndex: number | null;
	/** Whoever opens it came to answer: when nothing is open, who settled the newest question is said. */
	readonly toAnswer?: boolean;
	/** Left out: where the request comes from. */
	readonly origin?: Origin;
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
	/** Costs no request while what was read last is at hand; the person is told when that is newer than what they saw. */
	readonly sameReading?: boolean;
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
	const { client, presenter, latest, personReads, reads, reply, adminContact, clock } = deps;

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
		const modal = errorModal(code, metadata, reply.errorContext(error));
		await despiteLimit(() => view.update(modal)).catch(async (failed: unknown) => {
			request.log.error({ code: slackErrorCode(failed) ?? 'no_answer' }, 'could not even show the error');
			await reply.failed(whereItBegan(request, metadata.origin), error, { sessionId: metadata.sessionId });
		});
	}

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
		const reading = 'session' in source ? source : await reads.read(sessionId, source, view, note);
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
			notices: [...newerNotice(content, reading), ...(place?.kind === 'unused' ? [place.notice] : [])],
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

	/** Opens the loading view, at once, since the trigger lives for three seconds, but not for somebody who is too fast. */
	async function begin(request: PersonRequest, metadata: ViewMetadata): Promise<Begun | TooFastError> {
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) return permit;
		const opened = await openView(client, request, { view: loadingModal(metadata.sessionId, metadata) });
		return { permit, view: opened === null ? null : createViewHandle(client, opened, true) };
	}

	/** Fills the view that was opened for a wish. Never throws; resolves to the word for the log. */
	async function fillOpened(
		request: AllowedRequest,
		{ permit, view }: Begun,
		metadata: ViewMetadata,
		wish: Wish,
	): Promise<string> {
		const { sessionId, messageIndex, prefill = null, text = null } = wish;
		if (view === null) {
			await reply.toPerson(request, answerCard(sessionId, messageIndex));
			return 'no_window';
		}
		try {
			const content = { metadata, source: permit, wanted: wantedBy(wish), prefill, text };
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

	/** `isShown`: the view shows this session already, and that stays while the session is read. */
	async function showAgain(
		request: AllowedRequest,
		view: ViewHandle,
		content: Content,
		isShown: boolean,
	): Promise<string | null> {
		const { metadata } = content;
		const { sessionId } = metadata;
		let isNoted = false;
		async function note(waitedMs: number): Promise<UpdateOutcome | null> {
			if (!isShown) return view.update(loadingModal(sessionId, metadata, waitedMs));
			const outcome = await putNotice(request, view, content, () => ({ kind: 'stillWaiting', waitedMs }));
			if (outcome === null) {
				await reply.toPerson(whereItBegan(request, metadata.origin), stillWaitingMessage(sessionId));
			}
			isNoted ||= outcome === 'updated';
			return outcome;
		}
		try {
			const kept = content.sameReading === true ? latest(sessionId) : null;
			const source = kept ?? (await personReads.permit(request));
			if (source instanceof TooFastError) throw source;
			const tooFast = kept === null ? null : await personReads.turn(request);
			if (tooFast !== null) throw tooFast;
			const outcome = await fill(request, view, { ...content, source }, note);
			return kept === null ? shown(outcome) : null;
		} catch (error) {
			const code = codeOf(error);
			const tooFast = error instanceof TooFastError ? error : null;
			if (tooFast === null) request.log.warn({ session: loggedId(sessionId), code }, 'could not show a session again');
			else if (!isWorthTelling(request, tooFast)) return code;
			if (isNoted || (tooFast !== null && isShown)) {
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
			const context = reply.errorContext(error, metadata.fields.length === 0 ? 'nothing' : 'text');
			const modal = errorModal(code, { ...metadata, fields: [] }, context);
			await reply.onTop(request, metadata, { modal, message: errorMessage(code, sessionId, context) });
			return code;
		}
	}

	/**
	 * Shows the session again in an open view: refreshed, another page, other fields. What stands in the fields stays.
	 * When the session cannot be read, the form stays too and the error comes on top of it.
	 */
	async function show(request: AllowedRequest, snapshot: ViewSnapshot, content: Content): Promise<void> {
		const { id, hash, callbackId } = snapshot;
		const isShown = callbackId === CALLBACKS.session;
		const view = createViewHandle(client, { id, hash: hash === '' ? null : hash }, false);
		const outcome = await showAgain(request, view, content, isShown);
		if (outcome === null) return;
		logAccess(request, isShown ? 'refresh' : 'open', content.metadata.sessionId, outcome);
	}

	/** Opens a modal for the request's trigger; a refusal is said in it. */
	function openModal(request: PersonRequest, metadata: ViewMetadata, wish: Wish): Task {
		const { sessionId } = wish;
		const beginning = begin(request, metadata);
		// Either function below handles it.
		beginning.catch(() => undefined);

		async function toSomebodyAllowed(allowed: AllowedRequest): Promise<void> {
			const begun = await beginning;
			if (begun instanceof TooFastError) {
				logAccess(request, 'open', sessionId, begun.code);
				return reply.failed(request, begun, { sessionId });
			}
			logAccess(request, 'open', sessionId, await fillOpened(allowed, begun, metadata, wish));
		}

		async function toSomebodyRefused(refusal: Refusal): Promise<void> {
			logAccess(request, 'open', sessionId, refusal);
			const begun = await beginning;
			if (begun instanceof TooFastError) return reply.failed(request, begun, { sessionId });
			const modal = refusedModal(refusal, metadata, adminContact);
			const outcome = await begun.view?.update(modal).catch(() => null);
			if (outcome !== 'updated') await reply.refused(request, refusal);
		}

		return ifAllowed(metadata.origin.channelId, toSomebodyAllowed, toSomebodyRefused);
	}

	return {
		/**
		 * Shows a session in `view`, where that was pressed, else in a new modal: only to those who may see it in the channel
		 * that the wish comes from.
		 */
		open(request: PersonRequest, wish: Wish, view: ViewSnapshot | null = null): Task {
			const origin = wish.origin ?? originOf(request, view);
			const metadata = newMetadata({ sessionId: wish.sessionId, formId: newFormId(), origin });
			if (view === null) return openModal(request, metadata, wish);
			const content = { metadata, wanted: wantedBy(wish), prefill: wish.prefill ?? null };
			return ifAllowed(origin.channelId, (allowed) => show(allowed, view, content));
		},

		show,

		/** Somebody closed a view: what is being read for it is not needed any more. */
		left: (viewId: string) => reads.left(viewId),
	};
}

export type SessionFlow = ReturnType<typeof createSessionFlow>;

function wantedBy({ messageIndex, toAnswer = false }: Wish): WantedQuestion {
	return messageIndex ?? (toAnswer ? 'newest' : null);
}

/** Another page, or other fields, of a session that has been read anew since the view was filled. */
function newerNotice({ sameReading, metadata }: Content, reading: Reading): Notice[] {
	const isNewer = sameReading === true && metadata.readAt > 0 && reading.since > metadata.readAt;
	return isNewer ? [{ kind: 'readAgain' }] : [];
}

/** What became of showing a session, for the log. */
function shown(outcome: UpdateOutcome | null): string {
	return outcome === 'updated' ? 'shown' : 'closed_meanwhile';
}
