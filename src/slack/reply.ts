import { setBounded } from '../kernel/memory.ts';
import { LONGEST_RETRY_AFTER_MS, retryAtOf } from '../kernel/retries.ts';
import { isOfBlocks, type MessageContent, type ModalView, plainMessage } from './blocks.ts';
import { linkOf, respond, slackCodeOf, slackFailure } from './clients.ts';
import {
	checkingMessage,
	type ErrorContext,
	errorMessage,
	errorModal,
	errorWords,
	type KeptInput,
	noWindow,
	refusedModal,
	stillWaitingMessage,
} from './error-view.ts';
import { CALLBACKS, newMetadata, OLDER, type ViewMetadata } from './ids.ts';
import { withNotes } from './patient-reads.ts';
import type { PersonReads } from './person-reads.ts';
import {
	atOrigin,
	type NotAllowed,
	originOf,
	type PersonRequest,
	type Press,
	type Subject,
	type SubmittedView,
} from './request.ts';
import type { SlackCore } from './slack-core.ts';
import { addressOf, createViewHandle, openView, type ViewHandle } from './view-handle.ts';

const REPLY_WITHIN_MS = 5_000;
/** More windows than Slack opens in the time for which they wait. */
const MAX_OPENED_AHEAD = 1_000;

/**
 * Sends messages that only one person sees: through the request's response_url, else as an ephemeral message, else as a
 * direct message. A response_url works where the bot is no member, and uses no limit that people share. Any other reply
 * takes a turn of its person, except `withoutTurn`; a person who is too fast is told so once. A message goes into a
 * thread only if its person has it open, because nobody sees it who looks at the channel.
 */
export function createReply(
	{ config, clock, directChannelOf, clients: { people: client } }: SlackCore,
	personReads: PersonReads,
) {
	/** Replies that take no turn, by user id. `limited` resolves when Slack's limit delays them. */
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

	/** Resolves to Slack's failure, or null when the message was sent. */
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

	/**
	 * Sends one reply at a time to each person, so that hundreds to one delay no others. Resolves at a limit of Slack
	 * too.
	 */
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
		// Slack limits ephemeral messages for all people together, but direct messages for each conversation.
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
			// A waiting message that says the same is sent instead.
			if (!waiting.has(key)) await post(onLimit);
		}
		const sent = waiting.get(key) ?? inSequence(userId, post);
		waiting.set(key, sent);
		await sent;
	}

	/**
	 * Opens `modal` above the open view. If that fails, sends `message` to the view's origin. `overHome`: on the Home
	 * tab.
	 */
	async function onTop(
		request: PersonRequest,
		{ origin }: Pick<ViewMetadata, 'origin'>,
		{ modal, message, overHome = false }: { modal: ModalView; message: MessageContent; overHome?: boolean },
		tell: (request: PersonRequest, message: MessageContent) => Promise<unknown> = send,
	): Promise<void> {
		if ((await openView(client, request, modal, !overHome)) !== null) return;
		await tell(atOrigin(request, origin), message);
	}

	const noting = <Result>(request: PersonRequest, words: MessageContent, work: Promise<Result>) =>
		withNotes(clock, work, async () => {
			await toPerson(request, words);
			return false;
		});

	return {
		/** False when the person is too fast to be told this, or when no way worked (logged). */
		toPerson,
		/**
		 * Sends a message however fast the person is: about a failure, or the outcome of something that took a turn or a
		 * read. Equal messages that wait are sent once. Resolves when it is sent, when Slack allows it only later, or when
		 * no way worked (logged).
		 */
		withoutTurn,
		/** Sends only through the response_url. False when Slack did not accept it. */
		throughResponseUrl,
		/** Replaces the ephemeral message that somebody acted on; null deletes it. False when Slack refused. */
		inPlace: (request: PersonRequest, content: MessageContent | null) =>
			throughResponseUrl(request, content ?? { delete_original: true }, content !== null),
		onTop,
		/**
		 * Opens a view before the access policy has allowed the request. `openWindow` of the same request returns it then;
		 * `refused` shows the refusal in it. @throws `too_fast`
		 */
		async openAhead(request: PersonRequest, view: ModalView): Promise<void> {
			await personReads.permit(request);
			const handle = await openView(client, request, view);
			if (handle !== null) setBounded(openedAhead, request.requestId, handle, MAX_OPENED_AHEAD);
		},
		/**
		 * Opens a window. Resolves to null and tells the person when Slack does not open it or, with `needsId`, does not
		 * return its id. @throws `too_fast` before it calls `view`
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
		/** Says that an older version made the pressed message, with a link to its question unless they press too fast. */
		async older(request: PersonRequest, { view, row }: Pick<Press, 'view' | 'row'>): Promise<void> {
			const { channelId, threadTs } = row ?? originOf(request, view);
			const isLinked = channelId !== null && threadTs !== null && (await personReads.turn(request)) === null;
			const link = isLinked ? await linkOf(client, channelId, threadTs) : undefined;
			await toPerson(request, errorMessage(OLDER, null, { ...errorContext(), link }));
		},
		/** Tells a person about an error or a code. Errors are told however fast they are, `too_fast` now and then. */
		async failed(request: PersonRequest, error: unknown, about: Partial<Subject> = {}): Promise<void> {
			const code = slackCodeOf(error);
			const content = errorMessage(code, about.sessionId ?? null, errorContext(error, about.kept), about.others);
			if (code === 'too_fast') await slowDown(request, content);
			else if (error instanceof Error) await withoutTurn(request, content);
			else await toPerson(request, content);
		},
		/** Settles as `work`, and tells the person if it takes long. `sessionId`: what is read; null for several. */
		patiently: <Result>(request: PersonRequest, sessionId: string | null, work: Promise<Result>) =>
			noting(request, stillWaitingMessage(sessionId), work),
		/** Settles as `work`, and tells the person if Slack takes long to tell who they are. */
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
				return void (await tell(atOrigin(request, metadata.origin), message));
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
