import type { Person } from '../../questions/session.ts';
import { codeOf, slackErrorCode, slackFailure } from '../../slack/clients.ts';
import { answerCard, errorMessage, errorModal, errorWords, stillWaitingMessage } from '../../slack/error-view.ts';
import { CALLBACKS, newMetadata } from '../../slack/ids.ts';
import type { ModalView } from '../../slack/parts.ts';
import type { PersonReads, Reading, ReadPermit } from '../../slack/person-reads.ts';
import { createPatientReads, openView, type Reply, type UpdateOutcome, type ViewHandle } from '../../slack/reply.ts';
import {
	type AllowedRequest,
	copyPlace,
	ifAllowed,
	inboxOf,
	logAccess,
	logged,
	type NotAllowed,
	originOf,
	type PersonRequest,
	type SubmittedView,
	type Task,
	whereItBegan,
	windowPlace,
} from '../../slack/request.ts';
import type { Wish } from '../answer/drafts.ts';
import {
	chooseItemModal,
	loadingModal,
	metadataOf,
	NOTICES,
	type SessionModel,
	screenshotModal,
	sessionModal,
} from '../answer/form-view.ts';
import { type Content, createPresenter } from './presenter.ts';

interface Wanted extends Content {
	readonly text?: Wish['text'];
	readonly isPicture?: boolean;
	/** Allows to read the session; left out: it is asked for. */
	readonly permit?: ReadPermit;
	/** Uses the last reading if it is in memory. The person is told if it is newer than what they saw. */
	readonly sameReading?: boolean;
}

type Noticed = Pick<Content, 'metadata' | 'typed'> & { readonly isReading?: boolean };

/** How often an update is tried when Slack limits calls, and asks to wait no longer than this. */
const MAX_UPDATES = 3;
const MAX_LIMIT_MS = 60_000;

/** Shows a session in a modal: a loading view, then the content. Without it, an ephemeral card offers a button. */
export function createSessionFlow(
	core: Parameters<typeof createPresenter>[0],
	shown: Parameters<typeof createPresenter>[1],
	{ personReads, reply }: { personReads: PersonReads; reply: Reply },
) {
	const presenter = createPresenter(core, shown);
	const { clock } = core;
	const client = core.clients.people;
	const { latest } = core.sessionService;
	const reads = createPatientReads(core);

	/** Repeats an update that Slack limits, after the wait that it asks for. Throws what `update` throws otherwise. */
	function despiteLimit(update: () => Promise<UpdateOutcome>, tries = MAX_UPDATES): Promise<UpdateOutcome> {
		return update().catch(async (error: unknown) => {
			const { retryAfterMs } = slackFailure(error);
			if (retryAfterMs === null || retryAfterMs > MAX_LIMIT_MS || tries === 1) throw error;
			await clock.sleep(retryAfterMs);
			return despiteLimit(update, tries - 1);
		});
	}

	async function fill(person: Person, handle: ViewHandle, content: Wanted, reading: Reading): Promise<UpdateOutcome> {
		const { text } = content;
		const metadata = metadataOf(content.metadata, reading.session);
		const picture = { ...reading, metadata, links: shown.links, now: clock.now() };
		if (content.isPicture === true) return (await draw(handle, (without) => screenshotModal(picture, without))).outcome;
		const isRefused = text != null && (await shown.whyNotAnswer(person, metadata)) !== null;
		const placed = text == null || isRefused ? null : await presenter.placeText(person, metadata, reading, text);
		const choose = placed?.choose;
		if (choose) return despiteLimit(() => handle.update(chooseItemModal(...choose)));
		const isNewer = content.sameReading === true && metadata.readAt > 0 && reading.since > metadata.readAt;
		const model = await presenter.model({
			...content,
			metadata,
			person,
			viewId: handle.id,
			prefill: placed?.prefill ?? content.prefill ?? null,
			reading,
			notices: [...(isNewer ? [NOTICES.readAgain] : []), ...(placed?.notices ?? [])],
		});
		return put(person, handle, model);
	}

	async function draw(handle: ViewHandle, build: (withoutImages: boolean) => ModalView, tries = MAX_UPDATES) {
		let view = build(false);
		const update = () => despiteLimit(() => handle.update(view), tries);
		const outcome = await update().catch((error: unknown) => {
			if (slackErrorCode(error) === null) throw error;
			// Slack refuses a view with an image that it cannot download.
			view = build(true);
			return update();
		});
		return { view, outcome };
	}

	async function put(person: Person, handle: ViewHandle, model: SessionModel, isReading = false) {
		const build = (withoutImages: boolean) => sessionModal({ ...model, withoutImages });
		const { view, outcome } = await draw(handle, build, isReading ? 1 : MAX_UPDATES);
		if (outcome !== 'updated') return outcome;
		// Only now: whoever closed or submitted the form during the read is no longer answering.
		await Promise.all([
			presenter.markSeen(person, model),
			shown.drafting.shown(person, handle, view, { ...model, isReading }),
		]);
		return outcome;
	}

	/** Adds a notice to what a view shows; null when its reading is not in memory or would show another question. */
	async function putNotice(person: Person, handle: ViewHandle, content: Noticed, notice: (readAt: number) => string) {
		const { metadata, typed = null, isReading } = content;
		// After a submission the view shows a receipt, which must not be replaced.
		if (await presenter.isSent(handle.id, metadata)) return 'gone';
		const reading = latest(metadata.sessionId);
		if (reading === null || !(await presenter.asksTheSame(metadata, reading))) return null;
		const notices = [notice(reading.readAt)];
		const model = await presenter.model({ person, viewId: handle.id, metadata, typed, reading, notices });
		return put(person, handle, model, isReading);
	}

	/** Shows a session in a view. `isShown`: it stays during the read. Resolves to the outcome; null: nothing read. */
	async function showIn(request: AllowedRequest, handle: ViewHandle, content: Wanted, isShown: boolean) {
		const { person } = request;
		const { metadata } = content;
		const { sessionId } = metadata;
		let isNoted = false;
		async function note(waitedMs: number): Promise<UpdateOutcome | null> {
			if (!isShown) return handle.update(loadingModal(metadata, waitedMs));
			const waiting = () => NOTICES.stillWaiting(waitedMs);
			const outcome = await putNotice(person, handle, { ...content, isReading: true }, waiting);
			if (outcome === null)
				await reply.toPerson(whereItBegan(request, metadata.origin), stillWaitingMessage(sessionId));
			isNoted ||= outcome === 'updated';
			return outcome;
		}
		try {
			const lastReading = content.sameReading === true ? latest(sessionId) : null;
			if (lastReading !== null) {
				const tooFast = await personReads.turn(request);
				if (tooFast !== null) throw tooFast;
				await fill(person, handle, content, lastReading);
				return null;
			}
			const reading = await reads.read(sessionId, content.permit ?? (await personReads.permit(request)), handle, note);
			if (reading === null) request.log.info({}, 'nobody waits for a read any more');
			const outcome = reading && (await fill(person, handle, content, reading));
			return outcome === 'updated' ? 'shown' : 'closed_meanwhile';
		} catch (error) {
			const code = codeOf(error);
			const isTooFast = code === 'too_fast';
			const context = reply.errorContext(error, metadata.fields.length === 0 ? 'nothing' : 'text');
			if (isTooFast && !(await personReads.isWorthTelling(request))) return code;
			if (isNoted || (isTooFast && isShown)) {
				// A notice about the error replaces the one that the read takes long.
				const { retryAt } = context;
				const { what, text } = errorWords(code, { retryAt });
				const words = isTooFast && retryAt !== null ? text : what;
				const stale = (readAt: number) => NOTICES.stale(words, readAt, clock.now());
				const outcome = await putNotice(person, handle, content, stale).catch(() => null);
				// If the view changed after the press, the error of the press is not shown.
				if (outcome === 'updated' || (!isTooFast && outcome !== null)) return code;
			}
			if (isTooFast || metadata.fields.length > 0) {
				const modal = errorModal(code, { ...metadata, fields: [] }, context);
				await reply.onTop(request, metadata, { modal, message: errorMessage(code, sessionId, context) });
				return code;
			}
			// The line of the access names the session.
			request.log.warn('session_not_shown', { code, ...(code === 'internal' && { err: error }) });
			await despiteLimit(() => handle.update(reply.errorView(error, metadata))).catch(async (updateError: unknown) => {
				request.log.error('error_not_shown', { code: slackFailure(updateError).code });
				await reply.failed(whereItBegan(request, metadata.origin), error, { sessionId });
			});
			return code;
		}
	}

	/** Shows the session again in an open view, whose texts stay. If it cannot be read, the error opens on top. */
	async function show(request: AllowedRequest, content: Wanted & { view: SubmittedView }): Promise<void> {
		const { view, metadata } = content;
		const isShown = view.callbackId === CALLBACKS.session;
		const outcome = await showIn(request, reply.handleOf(await shown.drafting.takeOver(view)), content, isShown);
		if (outcome !== null) logAccess(request, isShown ? 'refresh' : 'open', metadata.sessionId, outcome);
	}

	/** Opens a modal with the request's trigger, perhaps `onTop` of an open one; the modal also shows a refusal. */
	function openModal(request: PersonRequest, content: Wanted, { sessionId, messageIndex }: Wish, onTop: boolean): Task {
		const { metadata } = content;
		const access = content.isPicture === true ? 'screenshot' : 'open';
		// At once, because the trigger expires after three seconds. `handle` null: Slack did not open the view.
		const beginning = personReads.permit(request).then(async (permit) => {
			return { permit, handle: await openView(client, request, loadingModal(metadata), onTop) };
		});
		// The functions below handle a rejection when they await it.
		beginning.catch(() => undefined);

		const toSomebodyAllowed = (allowed: AllowedRequest) =>
			logged(request, access, sessionId, async () => {
				const { permit, handle } = await beginning;
				const shown = handle && (await showIn(allowed, handle, { ...content, permit }, false));
				// Without an id, Slack may not have opened it.
				const isLost = handle === null || (handle.id === null && shown === 'closed_meanwhile');
				if (isLost) await reply.toPerson(request, answerCard(sessionId, messageIndex));
				return shown ?? 'no_window';
			});

		async function toSomebodyRefused(refusal: NotAllowed): Promise<void> {
			logAccess(request, access, sessionId, codeOf(refusal));
			const { handle } = await beginning;
			const outcome = await handle?.update(reply.errorView(refusal, metadata)).catch(() => null);
			if (outcome !== 'updated') await reply.failed(request, refusal);
		}

		const { origin } = metadata;
		// In the channel itself Slack has just let them act.
		const place = origin.isCopy ? windowPlace(metadata) : origin.channelId;
		return ifAllowed(place, toSomebodyAllowed, { refused: toSomebodyRefused });
	}

	return {
		/** Shows a session in `view` or a new modal (over an inbox too), to who may see it in the origin's channel. */
		open(request: PersonRequest, wish: Wish, view: SubmittedView | null = null): Task {
			const { sessionId, ownText = false } = wish;
			const from = wish.origin ?? originOf(request, view);
			const isNew = view === null || inboxOf(request, view) !== null;
			const isCopy = isNew && wish.origin !== undefined && copyPlace(request, from.channelId, sessionId).isCopy;
			const metadata = newMetadata({ sessionId, ownText, origin: isCopy ? { ...from, isCopy } : from });
			const { messageIndex, toAnswer = false, isPicture = false, prefill = null, text = null } = wish;
			const wanted = messageIndex ?? (toAnswer ? 'newest' : null);
			const content = { metadata, wanted, isPicture, prefill, text } as const;
			if (isNew) return openModal(request, content, wish, view?.callbackId === CALLBACKS.inbox);
			return ifAllowed(windowPlace(metadata), (allowed) => show(allowed, { ...content, view }));
		},

		show,

		left: reads.left,
		stop: reads.stop,
	};
}

export type SessionFlow = ReturnType<typeof createSessionFlow>;
