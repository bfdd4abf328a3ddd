import type { WebClient } from '@slack/web-api';
import type { Answers } from '../../answers/accept.ts';
import type { Answer } from '../../answers/answer.ts';
import type { AnswerStore } from '../../answers/ports.ts';
import { canRestart } from '../../answers/restart.ts';
import type { Session } from '../../questions/session.ts';
import { type MessageContent, replacement } from '../blocks/parts.ts';
import { ownTextMessage, receiptMessage, receiptModal } from '../blocks/receipt.ts';
import { codeOf, isThreaded, slackErrorCode } from '../clients.ts';
import { ACTIONS, type ActionId, decodeCarriage, type SessionTarget } from '../ids.ts';
import { decodeMetadata } from '../metadata.ts';
import { TooFastError } from '../person-reads.ts';
import type { SlackReceipts } from '../receipts.ts';
import { isSamePerson, type PersonRequest, type Press } from '../request.ts';
import type { Values } from '../session/drafts.ts';
import {
	type AllowedRequest,
	type Done,
	forAnybody,
	ifAllowed,
	inTheirName,
	NOTHING_TO_DO,
	type Task,
} from '../task.ts';
import { notSentAgainWords, PRESS_NOTES } from '../words/answers.ts';
import { errorWords } from '../words/errors.ts';
import type { HandlerContext } from './context.ts';

/** Buttons on receipts, in a modal or a DM; they work as long as the answer is in the store. */
export function registerAnswerActions(
	{ listen, client, personReads, flow, reply, adminContact }: HandlerContext,
	{ answers, store, receipts }: { answers: Answers; store: AnswerStore; receipts: Pick<SlackReceipts, 'context'> },
): void {
	/** For the author of the answer that the button belongs to, as far as they may act where its form came from. */
	function onReceipt(id: ActionId, act: (own: Answer, request: AllowedRequest, press: Press) => Done): void {
		listen.action(id, async (asked, press) => {
			const own = press.value === undefined ? null : await store.get(press.value);
			if (own === null || !isSamePerson(asked, own.person)) {
				return forAnybody(() => reply.failed(asked, 'answer_not_yours'));
			}
			const task = ifAllowed(own.origin.channelId, async (request): Promise<Task> => {
				// Each shows the receipt again, and one posts: Slack limits both for all people together.
				const tooFast = await personReads.turn(request);
				if (tooFast === null) return (await act(own, request, press)) ?? NOTHING_TO_DO;
				await reply.failed(request, tooFast, { sessionId: own.question.sessionId, kept: 'answer' });
				return NOTHING_TO_DO;
			});
			return inTheirName(task);
		});
	}

	/** Shows the answer as it is now where the button was. */
	async function showAgain(request: PersonRequest, press: Press, answer: Answer, note = ''): Promise<void> {
		const receipt = receipts.context(note);
		if (press.view !== null) {
			await client.views.update({ view_id: press.view.id, view: receiptModal(answer, receipt) });
			return;
		}
		if (request.channelId === null || request.messageTs === null) return;
		const content = replacement(receiptMessage(answer, receipt));
		await client.chat.update({ channel: request.channelId, ts: request.messageTs, ...content });
	}

	/** Opens the session's form with the texts of `carry` in it, where they fit. */
	function openForm(request: PersonRequest, { view }: Press, target: SessionTarget, carry: Answer | null): Task {
		const carried = carry === null ? {} : { origin: carry.origin, prefill: textsOf(carry) };
		return flow.open(request, { ...target, ...carried }, view);
	}

	onReceipt(ACTIONS.tryAgain, async (own, request, press) => {
		const result = await answers.tryAgain(own.id, own.person);
		request.log.info({ answer: own.id, outcome: result.kind }, 'try again');
		if (result.kind === 'notFound') return NOTHING_TO_DO;
		// A secret was wiped when its answer ended: only the person has it, so the form is opened for it.
		if (result.kind === 'valuesGone') return openForm(request, press, own.question, own);
		await showAgain(request, press, result.answer);
		return NOTHING_TO_DO;
	});

	onReceipt(ACTIONS.sendAgain, async (own, request, press) => {
		let session: Session;
		try {
			const permit = await personReads.permit(request);
			if (permit instanceof TooFastError) throw permit;
			({ session } = await permit.read(own.question.sessionId));
		} catch (error) {
			if (error instanceof TooFastError && !error.isFirst) return;
			return showAgain(request, press, own, notSentAgainWords(codeOf(error)));
		}
		if (!canRestart(own, session)) {
			// The agent is not standing still: nothing is offered any more.
			await showAgain(request, press, { ...own, startFailed: false }, PRESS_NOTES.nothingToStart);
			return;
		}
		const asked = await answers.sendAgain(own.id, own.person);
		request.log.info({ answer: own.id, outcome: asked === null ? 'too late' : 'asked' }, 'send again');
		if (asked !== null) return showAgain(request, press, asked);
		await showAgain(request, press, (await store.get(own.id)) ?? own, PRESS_NOTES.sentAgain);
	});

	onReceipt(ACTIONS.giveUp, async (own, request, press) => {
		const withdrawn = await answers.withdraw(own.id, own.person);
		await showAgain(request, press, withdrawn ?? (await store.get(own.id)) ?? own);
	});

	onReceipt(ACTIONS.postToThread, async (own, request, press) => {
		const { channelId: channel, threadTs } = own.origin;
		if (channel === null) return;
		// A button from before the setting was changed.
		if (receipts.context().postsText === false) return showAgain(request, press, own, PRESS_NOTES.notInChannels);
		const content = ownTextMessage(own);
		const failed = await (threadTs === null
			? client.chat.postMessage({ channel, ...content }).then(() => null)
			: postToThread(client, { channel, threadTs, content })
		).catch((error: unknown) => (slackErrorCode(error) === null ? 'slack_unavailable' : 'post_refused'));
		request.log.info({ answer: own.id, outcome: failed ?? 'posted' }, 'post my text');
		const context = { kept: 'answer', adminContact } as const;
		await showAgain(request, press, own, failed === null ? PRESS_NOTES.posted : errorWords(failed, context).text);
	});

	listen.action(ACTIONS.answerNew, async (request, press) => {
		const carriage = decodeCarriage(press.value);
		if (carriage === null) return NOTHING_TO_DO;
		const answerId = carriage.answerId ?? decodeMetadata(press.view?.privateMetadata)?.answerId ?? null;
		const answer = answerId === null ? null : await store.get(answerId);
		const own = answer !== null && isSamePerson(request, answer.person) ? answer : null;
		return openForm(request, press, { ...carriage.target, messageIndex: null }, own);
	});
}

/**
 * Posts into a thread or nowhere: what somebody meant for a few must not appear before a whole channel. Resolves to the
 * code of what went wrong: `thread_gone` when nothing was posted, `text_in_channel` when it stands in the open channel and
 * Slack did not delete it. Throws Slack's errors; then nothing was posted, unless Slack did not answer.
 */
async function postToThread(
	client: WebClient,
	{ channel, threadTs, content }: { channel: string; threadTs: string; content: MessageContent },
): Promise<'thread_gone' | 'text_in_channel' | null> {
	// Needs no scope, and finds a parent that is gone before anybody sees the post.
	const isThere = await client.chat.getPermalink({ channel, message_ts: threadTs }).then(() => true, falseWhenGone);
	if (!isThere) return 'thread_gone';
	const { ts, message } = await client.chat.postMessage({ channel, ...content, thread_ts: threadTs });
	if (isThreaded(message) || ts === undefined) return null;
	const isDeleted = await client.chat.delete({ channel, ts }).then(
		() => true,
		(error: unknown) => slackErrorCode(error) === 'message_not_found',
	);
	return isDeleted ? 'thread_gone' : 'text_in_channel';
}

/** False for a message that is gone; throws any other error again. */
function falseWhenGone(error: unknown): false {
	if (slackErrorCode(error) !== 'message_not_found') throw error;
	return false;
}

/** The texts of an answer by position, secrets left out. */
function textsOf({ content }: Answer): Values {
	if (content.kind !== 'readable') return {};
	return Object.fromEntries(
		content.items.flatMap(({ value, secret }, position) => (secret || value === null ? [] : [[position, value]])),
	);
}
