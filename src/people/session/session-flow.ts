import type { Origin } from '../../domain/answer.ts';
import type { Person } from '../../domain/person.ts';
import { MINUTE_MS } from '../../kernel/clock.ts';
import { loggedId } from '../../kernel/log.ts';
import { chooseItemModal, loadingModal, metadataOf, type SessionModel, sessionModal } from '../../screens/form.ts';
import { NOTICES } from '../../screens/form-notices.ts';
import { ONLY_TEXT } from '../../screens/question.ts';
import { NOT_FOUND_CODES, WAITS_FOR_SERVICE_CODES } from '../../service/service.ts';
import type { ModalView } from '../../slack/blocks.ts';
import { slackCodeOf, slackErrorCode, slackFailure } from '../../slack/clients.ts';
import { answerCard, errorMessage, errorModal, errorWords, stillWaitingMessage } from '../../slack/error-view.ts';
import { CALLBACKS, decodeMetadata, newMetadata, type SessionTarget } from '../../slack/ids.ts';
import { createPatientReads } from '../../slack/patient-reads.ts';
import type { ReadPermit } from '../../slack/person-reads.ts';
import {
	type AllowedRequest,
	atOrigin,
	copyPlace,
	ifAllowed,
	inboxOf,
	type NotAllowed,
	originOf,
	type PersonRequest,
	type SubmittedView,
	type Task,
	windowPlace,
} from '../../slack/request.ts';
import { line, type Words } from '../../slack/rich-text.ts';
import { openView, type UpdateOutcome, type ViewHandle } from '../../slack/view-handle.ts';
import type { Prefill } from './drafts.ts';
import { type ChosenMessage, type Content, createPresenter, type ShownReading } from './session-presenter.ts';

export interface OpenOptions extends SessionTarget {
	/** The person came to answer: when no question is open, the modal says who settled the newest one. */
	readonly toAnswer?: boolean;
	/** Shows each empty field, whatever is known of earlier answers. */
	readonly again?: boolean;
	/** The question beside the button of *Answer again…*: the form says when it asks another one. */
	readonly fingerprint?: string;
	/** Default: the origin of the request. */
	readonly origin?: Origin;
	readonly prefill?: Prefill;
	/** For a new window. Called once the person is allowed, because reading a message may ask Slack for names. */
	readonly chosen?: () => Promise<ChosenMessage | null>;
}

interface ToShow extends Content {
	readonly chosen?: ChosenMessage | null;
	/** Allows to read the session; left out: it is asked for. */
	readonly permit?: ReadPermit;
	/** Uses the last reading if it is in memory. The person is told if it is newer than what they saw. */
	readonly sameReading?: boolean;
	/** How often an update is tried while Slack limits calls. */
	readonly tries?: number;
}

interface Filling {
	readonly reading: ShownReading;
	readonly notices?: SessionModel['notices'];
}

/** What could not be shown in a view, and why. */
interface Failed {
	readonly request: AllowedRequest;
	readonly handle: ViewHandle;
	readonly content: ToShow;
	readonly error: unknown;
}

type Filled = Readonly<{ outcome: UpdateOutcome; view: ModalView }>;

/** Why a stored question is shown. */
const NOT_YET = 'The session service has not responded yet.';

/** Whether the session could not be read, and perhaps can be later. */
const isOfService = (code: string) => WAITS_FOR_SERVICE_CODES.has(code) && code !== NOT_FOUND_CODES.gone;

/** How often an update is tried when Slack limits calls, and asks to wait no longer than a minute. */
const MAX_UPDATES = 3;

/** Shows a session in a modal: a loading view, then the content. Without a modal, an ephemeral card offers a button. */
export function createSessionFlow(core: Parameters<typeof createPresenter>[0]) {
	const presenter = createPresenter(core);
	const { clock, drafting, personReads, reply, noteOpened } = core;
	const client = core.clients.people;
	const { latest } = core.sessionService;
	const reads = createPatientReads(core);

	/** Repeats an update that Slack limits, after the wait that it asks for. Throws what `update` throws otherwise. */
	function despiteLimit(update: () => Promise<UpdateOutcome>, tries = MAX_UPDATES): Promise<UpdateOutcome> {
		return update().catch(async (error: unknown) => {
			const { retryAfterMs } = slackFailure(error);
			if (retryAfterMs === null || retryAfterMs > MINUTE_MS || tries === 1) throw error;
			await clock.sleep(retryAfterMs);
			return despiteLimit(update, tries - 1);
		});
	}

	async function fill(
		person: Person,
		handle: ViewHandle,
		content: ToShow,
		{ reading, notices = [] }: Filling,
	): Promise<Filled> {
		const { chosen = null } = content;
		const named = metadataOf(content.metadata, reading.session);
		// What is masked or cut in a stored question is no option that an agent would know.
		const metadata = reading.stored?.isWhole === false ? { ...named, plainText: true } : named;
		const isRefused = chosen !== null && (await presenter.whyNotAnswer(person, metadata)) !== null;
		const placed = chosen === null || isRefused ? null : await presenter.place(person, metadata, reading, chosen);
		if (placed?.kind === 'choose' && chosen !== null)
			return draw(handle, () => chooseItemModal(placed.question, placed.positions, chosen, placed.metadata));
		const isNewer = content.sameReading === true && metadata.readAt > 0 && reading.since > metadata.readAt;
		const model = await presenter.model({
			...content,
			metadata,
			person,
			viewId: handle.id,
			prefill: placed?.kind === 'filled' ? placed.prefill : (content.prefill ?? null),
			reading,
			notices: [
				...notices,
				...(isNewer ? [NOTICES.readAgain] : []),
				...(placed?.kind === 'nowhere' ? [placed.notice] : []),
				...(chosen?.withFiles === true ? [line(ONLY_TEXT)] : []),
			],
		});
		return put(person, handle, model, content.tries);
	}

	/** Shows the stored question. `words`: why its session cannot be read. Null when no question can be shown. */
	async function fillStored(person: Person, handle: ViewHandle, content: ToShow, words: Words) {
		const reading = await presenter.stored(content.metadata);
		if (reading === null) return null;
		const notices = [NOTICES.stored(words, reading.readAt)];
		const { outcome, view } = await fill(person, handle, content, { reading, notices });
		const metadata = decodeMetadata(view.private_metadata) ?? content.metadata;
		// What is typed in it is in its draft.
		return { outcome, content: { ...content, metadata, typed: content.typed ?? { values: {}, at: 0 } } };
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

	async function put(person: Person, handle: ViewHandle, model: SessionModel, tries?: number) {
		const build = (withoutImages: boolean) => sessionModal({ ...model, withoutImages });
		const drawn = await draw(handle, build, tries);
		if (drawn.outcome !== 'updated') return drawn;
		// Only now: whoever closed or submitted the form during the read is no longer answering.
		await drafting.shown(person, handle, drawn.view, model);
		return drawn;
	}

	/** Adds a notice to what a view shows; null when its reading is not in memory or would show another question. */
	async function putNotice(
		person: Person,
		handle: ViewHandle,
		{ metadata, typed = null, tries }: Pick<ToShow, 'metadata' | 'typed' | 'tries'>,
		notice: (readAt: number) => SessionModel['notices'][number],
	) {
		// After a submission the view shows a receipt, which must not be replaced.
		if (await presenter.isSent(handle.id, metadata)) return 'gone';
		const reading = latest(metadata.sessionId);
		if (reading === null || !(await presenter.asksTheSame(metadata, reading))) return null;
		const notices = [notice(reading.readAt)];
		const model = await presenter.model({ person, viewId: handle.id, metadata, typed, reading, notices });
		return (await put(person, handle, model, tries)).outcome;
	}

	/** Opens the error above the view, whose texts stay. */
	async function showErrorOnTop({ request, content: { metadata }, error }: Failed): Promise<void> {
		const code = slackCodeOf(error);
		const context = reply.errorContext(error, metadata.fields.length === 0 ? 'nothing' : 'text');
		const modal = errorModal(code, { ...metadata, fields: [] }, context);
		await reply.onTop(request, metadata, { modal, message: errorMessage(code, metadata.sessionId, context) });
	}

	/** Adds a notice about an error to what a view shows. Null when that failed or is not possible. */
	function putStale({ request, handle, content }: Failed, words: Words) {
		const stale = (readAt: number) => NOTICES.stale(words, readAt, clock.now());
		return putNotice(request.person, handle, content, stale).catch(() => null);
	}

	/** `isShown`: the view shows the session already. */
	async function tellTooFast(failed: Failed, isShown: boolean): Promise<void> {
		const { request, error } = failed;
		if (!(await personReads.isWorthTelling(request))) return;
		const { retryAt } = reply.errorContext(error);
		const { what, text } = errorWords('too_fast', { retryAt });
		if (isShown && (await putStale(failed, retryAt === null ? what : text)) === 'updated') return;
		await showErrorOnTop(failed);
	}

	/** `isNoted`: the view says that the read takes long. */
	async function tellFailure(failed: Failed, isNoted: boolean): Promise<void> {
		const { request, handle, content, error } = failed;
		const { metadata } = content;
		const { sessionId, origin } = metadata;
		const code = slackCodeOf(error);
		const { retryAt } = reply.errorContext(error);
		// The notice about the error replaces the one about the wait. A view that changed after the press shows none.
		if (isNoted && (await putStale(failed, errorWords(code, { retryAt }).what)) !== null) return;
		if (metadata.fields.length > 0) return showErrorOnTop(failed);
		const session = loggedId(sessionId);
		request.log.warn('session_not_shown', { session, code, ...(code === 'internal' && { err: error }) });
		await despiteLimit(() => handle.update(reply.errorView(error, metadata))).catch(async (updateError: unknown) => {
			request.log.error('error_not_shown', { code: slackFailure(updateError).code });
			await reply.failed(atOrigin(request, origin), error, { sessionId });
		});
	}

	/**
	 * Shows a session in a view. `isShown`: it shows that already, and keeps it during the read. Resolves to `shown`,
	 * `stored`, `closed_meanwhile` or the code of an error; null when nothing was read.
	 */
	async function showIn(request: AllowedRequest, handle: ViewHandle, content: ToShow, isShown: boolean) {
		const { person } = request;
		const { metadata } = content;
		const { sessionId } = metadata;
		let isNoted = false;
		/** With the form of the stored question, once the view shows that. */
		let latestContent = content;
		async function showStored(words: Words, tries = MAX_UPDATES): Promise<UpdateOutcome | null> {
			const filled = await fillStored(person, handle, { ...latestContent, tries }, words);
			if (filled !== null) latestContent = { ...filled.content, tries: MAX_UPDATES };
			return filled?.outcome ?? null;
		}
		async function note(waitedMs: number): Promise<UpdateOutcome | null> {
			if (latestContent !== content) return null;
			if (!isShown) return (await showStored(NOT_YET, 1)) ?? handle.update(loadingModal(metadata, { waitedMs }));
			const waiting = () => NOTICES.stillWaiting(waitedMs);
			const outcome = await putNotice(person, handle, { ...content, tries: 1 }, waiting);
			if (outcome === null) await reply.toPerson(atOrigin(request, metadata.origin), stillWaitingMessage(sessionId));
			isNoted ||= outcome === 'updated';
			return outcome;
		}
		try {
			const lastReading = content.sameReading === true ? latest(sessionId) : null;
			if (lastReading !== null) {
				const tooFast = await personReads.turn(request);
				if (tooFast !== null) throw tooFast;
				await fill(person, handle, content, { reading: lastReading });
				return null;
			}
			const reading = await reads.read(sessionId, content.permit ?? (await personReads.permit(request)), handle, note);
			if (reading === null) request.log.info({}, 'nobody waits for a read any more');
			const filled = reading && (await fill(person, handle, latestContent, { reading }));
			return filled?.outcome === 'updated' ? 'shown' : 'closed_meanwhile';
		} catch (error) {
			const code = slackCodeOf(error);
			// A form that is shown stays as it is, unless the person wants to change it.
			if (isOfService(code) && (!isShown || content.sameReading === true)) {
				const outcome = await showStored(errorWords(code).what).catch(() => null);
				if (outcome !== null) return outcome === 'updated' ? 'stored' : 'closed_meanwhile';
			}
			const failed = { request, handle, content, error };
			await (code === 'too_fast' ? tellTooFast(failed, isShown) : tellFailure(failed, isNoted));
			return code;
		}
	}

	/** The handle of an open view. A notice that was shown since the press does not keep it from being updated. */
	function overNotices(view: SubmittedView): ViewHandle {
		let handle = reply.handleOf(view);
		return {
			id: view.id,
			get hash() {
				return handle.hash;
			},
			async update(content) {
				const outcome = await handle.update(content);
				const noticed = outcome === 'changed' ? await drafting.afterNotice({ ...view, hash: handle.hash }) : null;
				if (noticed === null) return outcome;
				handle = reply.handleOf(noticed);
				return handle.update(content);
			},
		};
	}

	/** Shows the session again in an open view, whose texts stay. If it cannot be read, the error opens on top. */
	async function show(request: AllowedRequest, content: ToShow & { view: SubmittedView }): Promise<void> {
		const { view, metadata } = content;
		const isShown = view.callbackId === CALLBACKS.session;
		if (view.callbackId === CALLBACKS.receipt) await drafting.leaveReceipt(view.id);
		const outcome = await showIn(request, overNotices(view), content, isShown);
		await noteOpened(request, isShown ? 'refresh' : 'open', metadata.sessionId, outcome);
	}

	/** Opens a modal with the request's trigger, perhaps `onTop` of an open one. The modal also shows a refusal. */
	function openModal(
		request: PersonRequest,
		content: ToShow,
		{ messageIndex, chosen = async () => null }: OpenOptions,
		onTop: boolean,
	): Task {
		const { metadata } = content;
		const { sessionId, origin } = metadata;
		const loading = loadingModal(metadata, { isKnown: personReads.isKnown(request) });
		// At once, because the trigger expires after three seconds. `handle` null: Slack did not open the view.
		const beginning = personReads.permit(request).then(async (permit) => {
			return { permit, handle: await openView(client, request, loading, onTop) };
		});
		// The functions below handle a rejection when they await it.
		beginning.catch(() => undefined);

		async function toSomebodyAllowed(allowed: AllowedRequest): Promise<void> {
			const { permit, handle } = await beginning;
			const outcome = handle && (await showIn(allowed, handle, { ...content, chosen: await chosen(), permit }, false));
			// Without an id, Slack may not have opened it.
			const isLost = handle === null || (handle.id === null && outcome === 'closed_meanwhile');
			if (isLost) await reply.toPerson(request, answerCard(sessionId, messageIndex));
			await noteOpened(request, 'open', sessionId, outcome);
		}

		async function toSomebodyRefused(refusal: NotAllowed): Promise<void> {
			const { handle } = await beginning;
			const outcome = await handle?.update(reply.errorView(refusal, metadata)).catch(() => null);
			if (outcome !== 'updated') await reply.failed(request, refusal);
		}

		// In the channel itself Slack has just let them act.
		const place = origin.isCopy ? windowPlace(metadata) : origin.channelId;
		return ifAllowed(place, toSomebodyAllowed, { refused: toSomebodyRefused });
	}

	return {
		/** Shows a session in `view` or a new modal (also above an inbox), to who may see it in the origin's channel. */
		open(request: PersonRequest, options: OpenOptions, view: SubmittedView | null = null): Task {
			const { sessionId, messageIndex, toAnswer = false, again = false, fingerprint = null } = options;
			const { prefill = null } = options;
			const from = options.origin ?? originOf(request, view);
			const isNew = view === null || inboxOf(request, view) !== null;
			const isCopy = isNew && options.origin !== undefined && copyPlace(request, from.channelId, sessionId).isCopy;
			const metadata = newMetadata({ sessionId, again, fingerprint, origin: isCopy ? { ...from, isCopy } : from });
			const content = { metadata, wanted: messageIndex ?? (toAnswer ? 'newest' : null), prefill } as const;
			if (isNew) return openModal(request, content, options, view?.callbackId === CALLBACKS.inbox);
			return ifAllowed(windowPlace(metadata), (allowed) => show(allowed, { ...content, view }));
		},

		show,

		/** The person closed a view: ends its reads. */
		left: reads.left,
		/** The view shows a receipt now: ends the reads for its form. */
		submitted: reads.end,
		stop: reads.stop,
	};
}

export type SessionFlow = ReturnType<typeof createSessionFlow>;
