import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { ActRefusal } from '../answers/access-policy.ts';
import type { Clock } from '../clock.ts';
import { retryAtOf } from '../errors.ts';
import { type ErrorContext, errorMessage, refusedMessage, refusedModal } from './blocks/errors.ts';
import type { MessageContent } from './blocks/parts.ts';
import { codeOf, slackFailure } from './clients.ts';
import { CALLBACKS } from './ids.ts';
import type { DirectChannelOf } from './memberships.ts';
import { decodeMetadata, type ViewMetadata } from './metadata.ts';
import { type PersonReads, TooFastError } from './person-reads.ts';
import type { PersonRequest, SubmittedView } from './request.ts';
import { openView } from './session/view-handle.ts';

const REPLY_WITHIN_MS = 5_000;

interface Dependencies {
	readonly client: WebClient;
	readonly directChannelOf: DirectChannelOf;
	readonly personReads: Pick<PersonReads, 'turn' | 'permit' | 'isWorthTelling'>;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

/**
 * Sends messages that only one person sees: through the request's response_url, which also works where the bot is not a
 * member; else as an ephemeral message; else as a DM. A message goes into a thread only if the person has that thread open:
 * Slack shows it only in threads with replies, and not to somebody who looks at the channel.
 *
 * A response_url uses no limit that people share. Any other reply takes a turn of its person: who is too fast hears that once.
 */
export function createReply({ client, directChannelOf, personReads, adminContact, clock }: Dependencies) {
	/** Replies to people who were too fast, in sequence for each person. */
	const queues = new Map<string, Promise<unknown>>();

	async function inChannel(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (request.channelId === null) return false;
		try {
			await client.chat.postEphemeral({
				channel: request.channelId,
				user: request.person.userId,
				...content,
				...threadOf(request),
			});
			return true;
		} catch {
			return false;
		}
	}

	async function inDm(request: PersonRequest, content: MessageContent): Promise<boolean> {
		try {
			const channel = await directChannelOf(request.person.userId);
			await client.chat.postMessage({ channel, ...content });
			return true;
		} catch (error) {
			request.log.warn({ code: slackFailure(error).code }, 'a reply could not be sent');
			return false;
		}
	}

	async function send(request: PersonRequest, content: MessageContent): Promise<boolean> {
		return (await inChannel(request, content)) || (await inDm(request, content));
	}

	async function isTooFast(request: PersonRequest): Promise<boolean> {
		const tooFast = await personReads.turn(request);
		if (tooFast !== null) await slowDown(request, errorMessage(tooFast.code, null, errorContext(tooFast)));
		return tooFast !== null;
	}

	async function toPerson(request: PersonRequest, content: MessageContent): Promise<boolean> {
		return (await throughResponseUrl(request, content)) || (!(await isTooFast(request)) && send(request, content));
	}

	function errorContext(error: unknown, kept: ErrorContext['kept'] = 'nothing'): ErrorContext {
		return { kept, adminContact, retryAt: retryAtOf(error, clock.now()) };
	}

	/** One reply at a time for each person, so that hundreds of replies to one person do not delay others. */
	async function slowDown(request: PersonRequest, content: MessageContent): Promise<void> {
		if (!personReads.isWorthTelling(request)) return;
		const { userId } = request.person;
		const reply = Promise.resolve(queues.get(userId)).then(
			async () => (await throughResponseUrl(request, content)) || (await send(request, content)),
		);
		queues.set(userId, reply);
		await reply;
		if (queues.get(userId) === reply) queues.delete(userId);
	}

	/**
	 * Opens `modal` on top of the view, which stays as it is. If that fails, sends `message` to where the view was opened.
	 * `overHome`: the view is the Home tab.
	 */
	async function onTop(
		request: PersonRequest,
		{ origin }: ViewMetadata,
		{ modal, message, overHome = false }: { modal: ModalView; message: MessageContent; overHome?: boolean },
	): Promise<void> {
		if ((await openView(client, request, { view: modal, onTop: !overHome })) !== null) return;
		await send(whereItBegan(request, origin), message);
	}

	return {
		/** Resolves to false when the person is too fast to be told this, or when no way worked, which is logged. */
		toPerson,
		/** The same for a press in a view, which names no place. */
		inDirectMessage: async (request: PersonRequest, content: MessageContent) =>
			!(await isTooFast(request)) && inDm(request, content),
		/** Only through the response_url; false when Slack did not accept it. */
		throughResponseUrl,
		/** Replaces the ephemeral message that the person acted on; false when Slack did not accept it. */
		inPlace: (request: PersonRequest, content: MessageContent) => throughResponseUrl(request, content, true),
		onTop,
		errorContext,
		/**
		 * Sends words about an error as a message. For a `TooFastError` only if that is worth telling.
		 * @param error what was thrown, or a code
		 */
		async failed(
			request: PersonRequest,
			error: unknown,
			{ sessionId = null, kept }: { sessionId?: string | null; kept?: ErrorContext['kept'] } = {},
		): Promise<void> {
			const code = typeof error === 'string' ? error : codeOf(error);
			const content = errorMessage(code, sessionId, errorContext(error, kept));
			if (error instanceof TooFastError) await slowDown(request, content);
			else await toPerson(request, content);
		},
		slowDown,
		/** Tells a person about a refusal: on top of the view in which they pressed, else as a message. */
		async refused(
			request: PersonRequest,
			refusal: ActRefusal,
			{ view = null, kept = 'nothing' }: { view?: SubmittedView | null; kept?: ErrorContext['kept'] } = {},
		): Promise<void> {
			const metadata = decodeMetadata(view?.privateMetadata);
			const context = { kept, adminContact };
			const message = refusedMessage(refusal, context);
			if (metadata === null) await toPerson(request, message);
			// A window costs more than a message.
			else if ((await personReads.permit(request)) instanceof TooFastError) {
				await toPerson(whereItBegan(request, metadata.origin), message);
			} else {
				const modal = refusedModal(refusal, metadata, context);
				await onTop(request, metadata, { modal, message, overHome: view?.callbackId === CALLBACKS.home });
			}
		},
	};
}

export type Reply = ReturnType<typeof createReply>;

/** A press inside a modal names no channel: replies to it go to where the modal was opened. */
export function whereItBegan(request: PersonRequest, origin: ViewMetadata['origin']): PersonRequest {
	return request.channelId === null ? { ...request, ...origin } : request;
}

function threadOf({ isInThread, threadTs }: PersonRequest): { thread_ts?: string } {
	return isInThread && threadTs !== null ? { thread_ts: threadTs } : {};
}

/** Bolt's own `respond` has no time-out. */
async function throughResponseUrl(
	request: PersonRequest,
	content: MessageContent,
	isReplacement = false,
): Promise<boolean> {
	const { responseUrl } = request;
	if (responseUrl === null) return false;
	try {
		const response = await fetch(responseUrl, {
			method: 'POST',
			headers: { 'content-type': 'application/json; charset=utf-8' },
			body: JSON.stringify({
				...content,
				...threadOf(request),
				response_type: 'ephemeral',
				replace_original: isReplacement,
			}),
			signal: AbortSignal.timeout(REPLY_WITHIN_MS),
		});
		// Slack may refuse a message with status 200 and the error in the body.
		const body = await response.text();
		return response.ok && !/"ok"\s*:\s*false/.test(body);
	} catch {
		return false;
	}
}
