import type { WebClient } from '@slack/web-api';
import type { Answer } from '../../questions/answer.ts';
import type { Session } from '../../questions/session.ts';
import { codeOf, isThreaded, slackErrorCode } from '../../slack/clients.ts';
import { ACTIONS } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import type { MessageContent } from '../../slack/parts.ts';
import { type AllowedRequest, copyPlace, type Press } from '../../slack/request.ts';
import type { Answers } from './accept.ts';
import { canRestart } from './confirm.ts';
import type { ReceiptPresses } from './receipt-presses.ts';
import { notSentAgainWords, ownTextMessage, PRESS_NOTES } from './receipt-view.ts';
import type { Receipts } from './receipts.ts';

/** Registers the buttons on receipts that send an answer once more: to the service, or into its thread in Slack. */
export function registerSecondSending(
	{ clients, personReads, reply, answers, receipts }: HandlerContext & { answers: Answers; receipts: Receipts },
	{ onReceipt, showAgain }: ReceiptPresses,
): void {
	onReceipt(ACTIONS.sendAgain, async (own, request, press) => {
		let session: Session;
		try {
			const permit = await personReads.permit(request);
			({ session } = await permit.read(own.question.sessionId));
		} catch (error) {
			const code = codeOf(error);
			if (code === 'too_fast' && !personReads.isWorthTelling(request)) return;
			return showAgain(request, press, own, notSentAgainWords(code));
		}
		if (!canRestart(own, session)) {
			// The agent is working, so the receipt loses its button.
			await showAgain(request, press, { ...own, startFailed: false }, PRESS_NOTES.nothingToStart);
			return;
		}
		const { answer, isDone } = await answers.sendAgain(own);
		request.log.info({ answer: own.id, outcome: isDone ? 'asked' : 'too late' }, 'send again');
		await showAgain(request, press, answer, isDone ? '' : PRESS_NOTES.sentAgain);
	});

	async function postText(own: Answer, request: AllowedRequest, press: Press): Promise<void> {
		const { channelId: channel, threadTs } = own.origin;
		if (channel === null) return;
		// The button may be older than a change of the setting.
		if (receipts.context().postsText === false) return showAgain(request, press, own, PRESS_NOTES.notInChannels);
		const content = ownTextMessage(own);
		const failed = await (threadTs === null
			? clients.people.chat.postMessage({ channel, ...content }).then(() => null)
			: postToThread(clients.people, { channel, threadTs, content })
		).catch((error: unknown) => (slackErrorCode(error) === null ? 'slack_unavailable' : 'post_refused'));
		request.log.info({ answer: own.id, outcome: failed ?? 'posted' }, 'post my text');
		const note = failed === null ? PRESS_NOTES.posted : reply.words(failed, 'answer').text;
		await showAgain(request, press, own, note);
	}
	onReceipt(ACTIONS.postToThread, postText, ({ origin, question }, asked) =>
		copyPlace(asked, origin.channelId, question.sessionId),
	);
}

/**
 * Posts into a thread or nowhere: a text meant for a few people must not appear in a whole channel. Resolves to an error
 * code: `thread_gone` when nothing was posted, `text_in_channel` when the post is in the channel and Slack did not delete
 * it. Throws Slack's errors; then nothing was posted, unless Slack did not respond.
 */
async function postToThread(
	client: WebClient,
	{ channel, threadTs, content }: { channel: string; threadTs: string; content: MessageContent },
): Promise<'thread_gone' | 'text_in_channel' | null> {
	const isGone = (error: unknown) => slackErrorCode(error) === 'message_not_found';
	try {
		// This needs no scope, and finds a missing thread before anybody sees the post.
		await client.chat.getPermalink({ channel, message_ts: threadTs });
	} catch (error) {
		if (isGone(error)) return 'thread_gone';
		throw error;
	}
	const { ts, message } = await client.chat.postMessage({ channel, ...content, thread_ts: threadTs });
	if (isThreaded(message) || ts === undefined) return null;
	const isDeleted = await client.chat.delete({ channel, ts }).then(() => true, isGone);
	return isDeleted ? 'thread_gone' : 'text_in_channel';
}
