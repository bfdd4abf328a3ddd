import { randomBytes } from 'node:crypto';
import type { WebClient } from '@slack/web-api';
import type { Core } from '../core.ts';
import type { Origin } from '../domain/answer.ts';
import { type Clock, uptimeOf, within } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { setBounded } from '../kernel/memory.ts';
import { LONGEST_RETRY_AFTER_MS, retryAtOf } from '../kernel/retries.ts';
import type { MessageContent, ModalView } from './blocks.ts';
import { isOfBlocks, plainMessage } from './blocks.ts';
import { linkOf, respond, slackCodeOf, slackErrorCode, slackFailure } from './clients.ts';
import {
	checkingMessage,
	type ErrorContext,
	errorMessage,
	errorModal,
	errorWords,
	type KeptInput,
	noWindow,
	OLDER,
	refusedModal,
	stillWaitingMessage,
} from './error-view.ts';
import { CALLBACKS, newMetadata, type ViewMetadata } from './ids.ts';
import type { PersonRead, PersonReads, ReadPermit } from './person-reads.ts';
import {
	type NotAllowed,
	originOf,
	type PersonRequest,
	type Press,
	type Subject,
	type SubmittedView,
	whereItBegan,
} from './request.ts';

type ViewAddress =
	/** Slack drops an update with an old hash; without one, the update applies in any case. */
	| { readonly view_id: string; readonly hash?: string }
	/** Slack's response to the opening was lost: the view, if it exists, is known only by the name that we gave it. */
	| { readonly external_id: string };

const addressOf = (view_id: string, hash = ''): ViewAddress => (hash === '' ? { view_id } : { view_id, hash });

/** `gone`: the view was closed. `changed`: the view has other content meanwhile. */
export type UpdateOutcome = 'updated' | 'gone' | 'changed';

export type ViewHandle = ReturnType<typeof createViewHandle>;

/**
 * Makes the handle that updates a view. `isOnlyOurs`: nothing else changes the view (a loading view). Then the update
 * after one with an unknown outcome has no hash; in other views that could overwrite what a person did.
 */
export function createViewHandle(client: WebClient, start: ViewAddress, isOnlyOurs = false) {
	let address = start;
	return {
		/** Null when Slack's response to the opening was lost. */
		id: 'view_id' in start ? start.view_id : null,
		/** Slack's, of what the view shows, which drops a late update; empty when not known. */
		get hash() {
			return 'hash' in address ? (address.hash ?? '') : '';
		},
		/** Throws Slack's error when Slack refuses the view. */
		async update(view: ModalView): Promise<UpdateOutcome> {
			try {
				const updated = await client.views.update({ ...address, view });
				if ('view_id' in address) address = addressOf(address.view_id, updated.view?.hash);
				return 'updated';
			} catch (error) {
				const code = slackErrorCode(error);
				if (code === 'not_found') return 'gone';
				// With a conflict in a view that is only ours, the client repeated a call that had succeeded.
				const isUnknown = code === null || code === 'hash_conflict';
				if (isUnknown && isOnlyOurs && 'view_id' in address) address = addressOf(address.view_id);
				if (code === 'hash_conflict') return 'changed';
				throw error;
			}
		},
	};
}

/** Opens a view with a request's trigger, or `onTop` of the open view. Null when there is no view; never throws. */
export async function openView(client: WebClient, request: PersonRequest, view: ModalView, onTop = false) {
	if (request.triggerId === null) return null;
	const named = { external_id: `open.${randomBytes(9).toString('base64url')}` };
	try {
		const call = { trigger_id: request.triggerId, view: { ...view, ...named } };
		const { id, hash } = (onTop ? await client.views.push(call) : await client.views.open(call)).view ?? {};
		return createViewHandle(client, id === undefined ? named : addressOf(id, hash), true);
	} catch (error) {
		// Of a limit, Slack's client tells no code of Slack.
		const { code } = slackFailure(error);
		request.log.info({ code }, 'a view could not be opened');
		// The view may exist if Slack did not respond, or if a repeat of the call found the trigger used.
		const mayExist = code === 'no_answer' || code === 'exchanged_trigger_id';
		return mayExist ? createViewHandle(client, named, true) : null;
	}
}

/** When people learn that a read is slow. Later waits double: Slack allows about 100 view updates a minute for all. */
const FIRST_NOTE_MS = 4_000;

/** Closed views whose reads may not have begun yet. */
const MAX_CLOSED_VIEWS = 500;
const VIEW_LEFT = 'the view of a read was closed';

/** Tells the person, in the view or elsewhere, that a read takes long; null: no further note. */
type Note = (waitedMs: number) => Promise<UpdateOutcome | null>;

/** Reads for open views, which show that a read takes long; closing one ends its read. */
export function createPatientReads({ clock }: { clock: Clock }) {
	/** With the id of the view, if it is known. */
	const running = new Map<AbortController, string | null>();
	const closedViews = new Map<string, true>();

	function end(viewId: string): void {
		for (const [controller, id] of running) if (id === viewId) controller.abort(VIEW_LEFT);
	}

	return {
		/** Reads for a view; null if that was closed or changed. @throws what the read throws; `aborted` at a stop */
		async read(sessionId: string, permit: ReadPermit, handle: ViewHandle, note: Note): Promise<PersonRead | null> {
			if (handle.id !== null && closedViews.has(handle.id)) return null;
			const controller = new AbortController();
			running.set(controller, handle.id);
			try {
				const reading = await withNotes(clock, permit.read(sessionId, controller.signal), async (waitedMs) => {
					// Without a hash, a late note could replace the content.
					if (handle.hash === '') return false;
					const outcome = await note(waitedMs);
					// Another replica may have received the closing.
					if (outcome === 'gone' || (outcome === 'changed' && handle.hash !== '')) controller.abort(VIEW_LEFT);
					return outcome === 'updated';
				});
				controller.signal.throwIfAborted();
				return reading;
			} catch (error) {
				if (error === VIEW_LEFT) return null;
				throw error;
			} finally {
				running.delete(controller);
			}
		},

		/** The view was closed: ends its reads. */
		left(viewId: string): void {
			setBounded(closedViews, viewId, true, MAX_CLOSED_VIEWS);
			end(viewId);
		},

		/** The view shows something else now, such as a receipt: ends the reads for what it showed. */
		end,

		/** Ends all reads; the people who wait are told. */
		stop(): void {
			for (const controller of running.keys()) {
				controller.abort(new HandraiseError('the program stops', { code: 'aborted', retryable: true }));
			}
		},
	};
}

/** Settles as `work` does, but not during a `note`. Calls `note` after 4, 12, 28 … s, until it is false or fails. */
async function withNotes<T>(clock: Clock, work: Promise<T>, note: (waitedMs: number) => Promise<boolean>) {
	const over = new AbortController();

	async function sendNotes(): Promise<void> {
		const startedAt = uptimeOf(clock);
		for (let pauseMs = FIRST_NOTE_MS; ; pauseMs *= 2) {
			await clock.sleep(pauseMs, over.signal);
			if (!(await note(uptimeOf(clock) - startedAt))) return;
		}
	}

	const noting = sendNotes().catch(() => undefined);
	try {
		return await work;
	} finally {
		over.abort();
		await noting;
	}
}

const REPLY_WITHIN_MS = 5_000;
/** Of the time in which Slack waits for an acknowledgement. */
const LINK_WITHIN_MS = 800;
/** More than Slack opens in the time for which they wait. */
const MAX_OPENED_AHEAD = 1_000;

/**
 * Sends messages that only one person sees: through the request's response_url, which also works where the bot is not a
 * member; else as an ephemeral message; else as a DM. A message goes into a thread only if the person has it open:
 * Slack shows it only in threads with replies, not to somebody who looks at the channel. A response_url uses no limit
 * that people share. Any other reply takes a turn of its person (`withoutTurn`: none): who is too fast hears that once.
 */
export function createReply(
	{ config, clock, directChannelOf, clients: { people: client } }: Core,
	personReads: PersonReads,
) {
	/** Replies that take no turn, by person. `limited` resolves when Slack's limit delays them. */
	const queues = new Map<string, { last: Promise<unknown>; readonly limited: PromiseWithResolvers<void> }>();
	/** Messages of `withoutTurn` that wait, by person and content. */
	const waiting = new Map<string, Promise<void>>();
	/** Windows of `openAhead`, by request. */
	const openedAhead = new Map<string, ViewHandle>();

	function takeOpenedAhead({ requestId }: PersonRequest): ViewHandle | null {
		const handle = openedAhead.get(requestId) ?? null;
		openedAhead.delete(requestId);
		return handle;
	}

	async function inChannel(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (request.channelId === null) return false;
		try {
			const to = { channel: request.channelId, user: request.person.userId, ...threadOf(request) };
			await client.chat.postEphemeral({ ...to, ...content });
			return true;
		} catch {
			return false;
		}
	}

	/** Resolves to why Slack did not take the message, or null. */
	async function inDm(request: PersonRequest, content: MessageContent) {
		try {
			await client.chat.postMessage({ channel: await directChannelOf(request.person.userId), ...content });
			return null;
		} catch (error) {
			const failure = slackFailure(error);
			request.log.warn('reply_not_sent', { code: failure.code });
			return failure;
		}
	}

	async function send(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (await inChannel(request, content)) return true;
		const failure = await inDm(request, content);
		if (failure === null || !isOfBlocks(failure.code)) return failure === null;
		const plain = plainMessage(content);
		return (await inChannel(request, plain)) || (await inDm(request, plain)) === null;
	}

	async function toPerson(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (await throughResponseUrl(request, content)) return true;
		const tooFast = await personReads.turn(request);
		if (tooFast === null) return send(request, content);
		await slowDown(request, errorMessage(tooFast.code, null, errorContext(tooFast)));
		return false;
	}

	function errorContext(error: unknown = null, kept: KeptInput = 'nothing') {
		const { who } = Object(error) as Pick<ErrorContext, 'who'>;
		return { kept, adminContact: config.ADMIN_CONTACT, retryAt: retryAtOf(error, clock.now()), who };
	}

	/** The words about something that an older version made, with a link to the message at this place. */
	async function olderContext({ channelId: channel, threadTs: ts }: Origin, kept?: KeptInput): Promise<ErrorContext> {
		const link = channel === null || ts === null ? undefined : await linkOf(client, channel, ts);
		return { ...errorContext(null, kept), link };
	}

	/** One reply at a time for each person: hundreds to one delay no others. Resolves also when Slack limits it. */
	function inSequence(userId: string, reply: (onLimit: () => void) => Promise<unknown>): Promise<void> {
		const queue = queues.get(userId) ?? { last: Promise.resolve(), limited: Promise.withResolvers<void>() };
		queues.set(userId, queue);
		const sent = queue.last.then(async () => void (await reply(queue.limited.resolve)));
		// A reply that throws must not stop those after it.
		const ended: Promise<unknown> = sent.catch(() => {}).then(() => queue.last === ended && queues.delete(userId));
		queue.last = ended;
		return Promise.race([sent, queue.limited.promise]);
	}

	async function slowDown(request: PersonRequest, content: MessageContent): Promise<void> {
		if (!(await personReads.isWorthTelling(request))) return;
		const slower = async () => (await throughResponseUrl(request, content)) || send(request, content);
		await inSequence(request.person.userId, slower);
	}

	async function withoutTurn(request: PersonRequest, content: MessageContent): Promise<void> {
		if (await throughResponseUrl(request, content)) return;
		// Slack limits ephemeral messages for all people, direct messages for each conversation.
		const mayShare = request.channelId !== null && (await personReads.turn(request)) === null;
		if (mayShare && (await inChannel(request, content))) return;
		const { userId } = request.person;
		const key = `${userId} ${JSON.stringify(content)}`;
		async function post(onLimit: () => void): Promise<void> {
			waiting.delete(key);
			const retryAfterMs = (await inDm(request, content))?.retryAfterMs ?? null;
			if (retryAfterMs === null) return;
			onLimit();
			await clock.sleep(Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
			// The message that waits says the same.
			if (!waiting.has(key)) await post(onLimit);
		}
		const sent = waiting.get(key) ?? inSequence(userId, post);
		waiting.set(key, sent);
		await sent;
	}

	/** Opens `modal` above the view; if that fails, tells `message` where it was opened. `overHome`: on the Home tab. */
	async function onTop(
		request: PersonRequest,
		{ origin }: Pick<ViewMetadata, 'origin'>,
		{ modal, message, overHome = false }: { modal: ModalView; message: MessageContent; overHome?: boolean },
		tell: (request: PersonRequest, message: MessageContent) => Promise<unknown> = send,
	): Promise<void> {
		if ((await openView(client, request, modal, !overHome)) !== null) return;
		await tell(whereItBegan(request, origin), message);
	}

	const noting = <Result>(request: PersonRequest, words: MessageContent, work: Promise<Result>) =>
		withNotes(clock, work, async () => {
			await toPerson(request, words);
			return false;
		});

	return {
		/** False when the person is too fast to be told this, or no way worked, which is logged. */
		toPerson,
		/**
		 * Tells a person something however fast they are: that what they did failed, or the outcome of what took a turn or
		 * a read already. A message that waits speaks for all requests of which it would say the same. Resolves when it is
		 * sent, when Slack allows it only later, or when no way worked, which is logged.
		 */
		withoutTurn,
		/** Nobody waits for it: an ephemeral message where they wrote, or false when they are too fast or Slack refuses. */
		unasked: async (request: PersonRequest, content: MessageContent) =>
			(await personReads.turn(request)) === null && inChannel(request, content),
		/** Only through the response_url; false when Slack did not accept it. */
		throughResponseUrl,
		/** Replaces the ephemeral message that somebody acted on, or deletes it (null); false when Slack refused. */
		inPlace: (request: PersonRequest, content: MessageContent | null) =>
			throughResponseUrl(request, content ?? { delete_original: true }, content !== null),
		onTop,
		/**
		 * Opens this view before the access policy has said whether its person may see what comes: `openWindow` of the
		 * same request returns it then, and `refused` shows the refusal there. @throws `too_fast`
		 */
		async openAhead(request: PersonRequest, view: ModalView): Promise<void> {
			await personReads.permit(request);
			const handle = await openView(client, request, view);
			if (handle !== null) setBounded(openedAhead, request.requestId, handle, MAX_OPENED_AHEAD);
		},
		/**
		 * Opens a window. Resolves to null when Slack does not open it or, with `needsId`, does not return its id; the
		 * person is told so. @throws `too_fast` before `view` is made
		 */
		async openWindow(
			request: PersonRequest,
			what: Parameters<typeof noWindow>[0],
			view: () => ModalView | Promise<ModalView>,
			{ onTop = false, needsId = false }: { onTop?: boolean; needsId?: boolean } = {},
		): Promise<ViewHandle | null> {
			const ahead = takeOpenedAhead(request);
			if (ahead === null) await personReads.permit(request);
			const handle = ahead ?? (await openView(client, request, await view(), onTop));
			if (handle !== null && (handle.id !== null || !needsId)) return handle;
			await withoutTurn(request, noWindow(what));
			return null;
		},
		handleOf: ({ id, hash }: SubmittedView) => createViewHandle(client, addressOf(id, hash)),
		errorContext,
		words: (error: unknown, kept?: KeptInput) => errorWords(slackCodeOf(error), errorContext(error, kept)),
		errorView: (error: unknown, start: Parameters<typeof newMetadata>[0]) =>
			errorModal(slackCodeOf(error), newMetadata(start), errorContext(error)),
		/** Says that an older version made what somebody pressed, and where its question is, unless they press too fast. */
		async older(request: PersonRequest, { view, row }: Pick<Press, 'view' | 'row'>): Promise<void> {
			const isTooFast = (await personReads.turn(request)) !== null;
			const context = isTooFast ? errorContext() : await olderContext(row ?? originOf(request, view));
			await toPerson(request, errorMessage(OLDER, null, context));
		},
		/** The same in the place of a form, in time for an acknowledgement. */
		async olderView({ sessionId, sessionName, origin }: ViewMetadata, kept?: KeptInput): Promise<ModalView> {
			const unlinked = () => errorContext(null, kept);
			const context = await within(clock, olderContext(origin, kept), LINK_WITHIN_MS, unlinked);
			return errorModal(OLDER, newMetadata({ sessionId, sessionName, origin }), context);
		},
		/** Sends words about a code or what was thrown, however fast they are. `too_fast` only if it is worth telling. */
		async failed(request: PersonRequest, error: unknown, about: Partial<Subject> = {}): Promise<void> {
			const code = slackCodeOf(error);
			const content = errorMessage(code, about.sessionId ?? null, errorContext(error, about.kept), about.others);
			if (code === 'too_fast') await slowDown(request, content);
			else if (error instanceof Error) await withoutTurn(request, content);
			else await toPerson(request, content);
		},
		/** The result of `work`; the person hears when it takes long. `sessionId`: what is read, null for several. */
		patiently: <Result>(request: PersonRequest, sessionId: string | null, work: Promise<Result>) =>
			noting(request, stillWaitingMessage(sessionId), work),
		/** The same for what waits until Slack has told who they are. */
		whileChecking: (request: PersonRequest, work: Promise<void>) => noting(request, checkingMessage(), work),
		/** Resolves when all replies that take no turn are sent. */
		drained: () => Promise.all(Array.from(queues.values(), ({ last }) => last)),
		/** Tells a person about a refusal: on top of the view in which they pressed, else as a message. */
		async refused(request: PersonRequest, why: NotAllowed, view: SubmittedView | null, kept: KeptInput) {
			const metadata = view?.metadata ?? null;
			const [refusal, context] = [slackCodeOf(why), errorContext(why, kept)];
			const ahead = await takeOpenedAhead(request)
				?.update(refusedModal(refusal, context))
				.catch(() => null);
			if (ahead === 'updated') return;
			const message = errorMessage(refusal, null, context);
			// The rules may allow what was to be changed.
			const tell = refusal === 'could_not_check' && kept === 'unchanged' ? withoutTurn : toPerson;
			if (metadata === null) return void (await tell(request, message));
			try {
				// A window costs more than a message.
				await personReads.permit(request);
			} catch {
				return void (await tell(whereItBegan(request, metadata.origin), message));
			}
			const modal = errorModal(refusal, metadata, context);
			await onTop(request, metadata, { modal, message, overHome: view?.callbackId === CALLBACKS.home });
		},
	};
}

export type Reply = ReturnType<typeof createReply>;

function threadOf({ isInThread, threadTs }: PersonRequest): { thread_ts?: string } {
	return isInThread && threadTs !== null ? { thread_ts: threadTs } : {};
}

async function throughResponseUrl(request: PersonRequest, content: object, replace_original = false) {
	const { responseUrl } = request;
	if (responseUrl === null) return false;
	const body = { ...content, ...threadOf(request), response_type: 'ephemeral', replace_original };
	return (await respond(responseUrl, body, REPLY_WITHIN_MS)) === 'ok';
}
