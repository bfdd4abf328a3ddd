import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { Refusal } from '../answers/access-policy.ts';
import type { Clock } from '../clock.ts';
import { retryAtOf } from '../errors.ts';
import { errorMessage, refusedMessage } from './blocks/messages.ts';
import type { MessageContent } from './blocks/parts.ts';
import { refusedModal } from './blocks/small-modals.ts';
import { codeOf, slackErrorCode } from './clients.ts';
import { decodeMetadata, type ViewMetadata } from './metadata.ts';
import { isWorthTelling, TooFastError } from './person-reads.ts';
import type { PersonRequest, ViewSnapshot } from './request.ts';
import { openView } from './session/view-handle.ts';
import type { ErrorContext } from './words/errors.ts';

const REPLY_WITHIN_MS = 5_000;

interface Dependencies {
	readonly client: WebClient;
	readonly adminContact: string | null;
	readonly clock: Clock;
}

/**
 * Tells something to one person, only for their eyes: through the request's response_url, where the bot need not be a
 * member; else as an ephemeral message; else in a DM. Slack shows an ephemeral message in a thread only where that has
 * replies, and not to somebody who looks at the channel: it goes into the thread of somebody who has just written there,
 * and into the channel for anybody else, as what a response_url brings does.
 */
export function createReply({ client, adminContact, clock }: Dependencies) {
	/** What is still to be told to each person who was too fast, one after the other. */
	const queues = new Map<string, Promise<unknown>>();

	async function inChannel(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (request.channelId === null) return false;
		try {
			await client.chat.postEphemeral({
				channel: request.channelId,
				user: request.person.userId,
				...content,
				...(request.wroteInThread && request.threadTs !== null ? { thread_ts: request.threadTs } : {}),
			});
			return true;
		} catch {
			return false;
		}
	}

	async function inDm(request: PersonRequest, content: MessageContent): Promise<boolean> {
		try {
			const { channel } = await client.conversations.open({ users: request.person.userId });
			if (channel?.id === undefined) return false;
			await client.chat.postMessage({ channel: channel.id, ...content });
			return true;
		} catch (error) {
			request.log.warn({ code: slackErrorCode(error) ?? 'no_answer' }, 'a person could not be told anything');
			return false;
		}
	}

	async function toPerson(request: PersonRequest, content: MessageContent): Promise<boolean> {
		if (await throughResponseUrl(request, content)) return true;
		return (await inChannel(request, content)) || (await inDm(request, content));
	}

	function errorContext(error: unknown, kept: ErrorContext['kept'] = 'nothing'): ErrorContext {
		return { kept, adminContact, retryAt: retryAtOf(error, clock.now()) };
	}

	/** One at a time for each person: hundreds of replies to one do not hold up those to others. */
	async function slowDown(request: PersonRequest, error: TooFastError, content: MessageContent): Promise<void> {
		if (!isWorthTelling(request, error)) return;
		const { userId } = request.person;
		const told = (queues.get(userId) ?? Promise.resolve()).then(() => toPerson(request, content));
		queues.set(userId, told);
		await told;
		if (queues.get(userId) === told) queues.delete(userId);
	}

	/** Puts `modal` over the view in which they pressed, which stays as it is; else says `message` where it was opened. */
	async function onTop(
		request: PersonRequest,
		{ origin }: ViewMetadata,
		{ modal, message }: { modal: ModalView; message: MessageContent },
	): Promise<void> {
		if ((await openView(client, request, { view: modal, onTop: true })) !== null) return;
		await toPerson(whereItBegan(request, origin), message);
	}

	return {
		/** Resolves to false when nothing of it worked; that is logged. */
		toPerson,
		/** Only through the response_url; false when Slack did not take it, which is not logged. */
		throughResponseUrl,
		/** In the place of the ephemeral message that was acted on; false when Slack did not take it. */
		inPlace: (request: PersonRequest, content: MessageContent) => throughResponseUrl(request, content, true),
		onTop,
		errorContext,
		/**
		 * Says what went wrong, outside a modal. Somebody who is too fast hears it only where that is worth a call to Slack.
		 * @param error what was thrown, or a code
		 */
		async failed(
			request: PersonRequest,
			error: unknown,
			{ sessionId = null, kept }: { sessionId?: string | null; kept?: ErrorContext['kept'] } = {},
		): Promise<void> {
			const code = typeof error === 'string' ? error : codeOf(error);
			const content = errorMessage(code, sessionId, errorContext(error, kept));
			if (error instanceof TooFastError) await slowDown(request, error, content);
			else await toPerson(request, content);
		},
		slowDown,
		/** Says that they may not: over the view in which they pressed, else where they act. */
		async refused(request: PersonRequest, refusal: Refusal, view: ViewSnapshot | null = null): Promise<void> {
			const metadata = decodeMetadata(view?.privateMetadata);
			const message = refusedMessage(refusal, adminContact);
			if (metadata === null) await toPerson(request, message);
			else await onTop(request, metadata, { modal: refusedModal(refusal, metadata, adminContact), message });
		},
	};
}

export type Reply = ReturnType<typeof createReply>;

/** A press inside a modal has no place of its own: words about it go where the modal was opened. */
export function whereItBegan(request: PersonRequest, origin: ViewMetadata['origin']): PersonRequest {
	return request.channelId === null ? { ...request, ...origin } : request;
}

/** Bolt's own `respond` has no time-out. */
async function throughResponseUrl(
	{ responseUrl }: PersonRequest,
	content: MessageContent,
	isReplacement = false,
): Promise<boolean> {
	if (responseUrl === null) return false;
	try {
		const response = await fetch(responseUrl, {
			method: 'POST',
			headers: { 'content-type': 'application/json; charset=utf-8' },
			body: JSON.stringify({ ...content, response_type: 'ephemeral', replace_original: isReplacement }),
			signal: AbortSignal.timeout(REPLY_WITHIN_MS),
		});
		// What Slack does not take, it may refuse with status 200 and the error in the body.
		const body = await response.text();
		return response.ok && !/"ok"\s*:\s*false/.test(body);
	} catch {
		return false;
	}
}
