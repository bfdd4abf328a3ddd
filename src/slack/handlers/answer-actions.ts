import type { WebClient } from '@slack/web-api';
import type { ChannelPlace } from '../../answers/access-policy.ts';
import type { Answer } from '../../answers/answer.ts';
import { canRestart } from '../../answers/confirm.ts';
import type { Session } from '../../questions/session.ts';
import { afterUndoWords, choiceMessage } from '../blocks/choices.ts';
import { errorWords } from '../blocks/errors.ts';
import { type MessageContent, replacement } from '../blocks/parts.ts';
import { notSentAgainWords, ownTextMessage, PRESS_NOTES, receiptMessage, receiptModal } from '../blocks/receipt.ts';
import { codeOf, isThreaded, slackErrorCode } from '../clients.ts';
import { ACTIONS, type ActionId, CALLBACKS, decodeCarriage, type SessionTarget } from '../ids.ts';
import { TooFastError } from '../person-reads.ts';
import { isInbox, isSamePerson, type PersonRequest, type Press } from '../request.ts';
import type { Values } from '../session/drafts.ts';
import { openView } from '../session/open-view.ts';
import {
	type AllowedRequest,
	changing,
	copyPlace,
	type Done,
	forAnybody,
	ifAllowed,
	inTheirName,
	NOTHING_TO_DO,
	type Task,
	windowPlace,
} from '../task.ts';
import type { HandlerContext } from './context.ts';

/** Registers *Undo*, and the buttons on receipts, in a modal or a DM. They work while the answer is in the store. */
export function registerAnswerActions(core: HandlerContext): void {
	const { listen, client, personReads, flow, reply, adminContact, answers, receipts } = core;
	const { answers: store } = core.store;

	/** The task for the author of the button's answer. */
	function onOwn(id: ActionId, taskFor: (own: Answer, asked: PersonRequest, press: Press) => Task): void {
		listen.action(id, async (asked, press) => {
			const own = press.value === undefined ? null : await store.get(press.value);
			if (own !== null && isSamePerson(asked, own.person)) return taskFor(own, asked, press);
			return forAnybody(() => reply.failed(asked, 'answer_not_yours'));
		});
	}

	/** Runs `act` for the author of the button's answer, if they may act in the channel of its form. */
	function onReceipt(
		id: ActionId,
		act: (own: Answer, request: AllowedRequest, press: Press) => Done,
		placeOf: (own: Answer, asked: PersonRequest) => ChannelPlace = ({ origin, question }) =>
			windowPlace({ ...question, origin }),
	): void {
		onOwn(id, (own, asked, press) => {
			const task = ifAllowed(placeOf(own, asked), async (request): Promise<Task> => {
				// Each button updates the receipt, and one posts: Slack limits both for all people together.
				const tooFast = await personReads.turn(request);
				if (tooFast === null) return (await act(own, request, press)) ?? NOTHING_TO_DO;
				await reply.failed(request, tooFast, { sessionId: own.question.sessionId, kept: 'answer' });
				return NOTHING_TO_DO;
			});
			return inTheirName(task);
		});
	}

	/** Shows the present state of the answer in the receipt that has the button; in a new one when Slack takes no update of it. */
	async function showAgain(request: PersonRequest, press: Press, answer: Answer, note = ''): Promise<void> {
		const receipt = receipts.context(note);
		if (press.view !== null && isInbox(press.view)) {
			// The inbox shows the state by itself, but no note.
			if (note === '') return;
			const modal = { view: receiptModal(answer, receipt), onTop: press.view.callbackId === CALLBACKS.inbox };
			const open = () => openView(client, request, modal);
			const opened = await personReads.permit(request).then(open, () => null);
			if (opened === null) await reply.withoutTurn(request, receiptMessage(answer, receipt));
			return;
		}
		const message = receiptMessage(answer, receipt);
		const { channelId: channel, messageTs: ts } = request;
		const updated =
			press.view !== null
				? client.views.update({ view_id: press.view.id, view: receiptModal(answer, receipt) })
				: channel !== null && ts !== null && client.chat.update({ channel, ts, ...replacement(message) });
		await Promise.resolve(updated).catch(() => reply.withoutTurn(request, message));
	}

	/** Opens the session's form with the texts of `answer` in it, where they fit. */
	function openForm(request: PersonRequest, { view }: Press, target: SessionTarget, answer: Answer | null): Task {
		const prefilled =
			answer === null ? {} : { origin: answer.origin, prefill: { values: textsOf(answer), givenFor: answer } };
		return flow.open(request, { ...target, ...prefilled }, view);
	}

	onReceipt(ACTIONS.tryAgain, async (own, request, press) => {
		const result = await answers.tryAgain(own.id, own.person);
		request.log.info({ answer: own.id, outcome: result.kind }, 'try again');
		if (result.kind === 'notFound') return NOTHING_TO_DO;
		// A secret value was wiped when its answer ended, so the person has to type it again.
		if (result.kind === 'valuesGone') return openForm(request, press, own.question, own);
		await showAgain(request, press, result.answer);
		return NOTHING_TO_DO;
	});

	onReceipt(ACTIONS.sendAgain, async (own, request, press) => {
		let session: Session;
		try {
			const permit = await personReads.permit(request);
			({ session } = await permit.read(own.question.sessionId));
		} catch (error) {
			if (error instanceof TooFastError && !personReads.isWorthTelling(request)) return;
			return showAgain(request, press, own, notSentAgainWords(codeOf(error)));
		}
		if (!canRestart(own, session)) {
			// The agent is working, so the receipt loses its button.
			await showAgain(request, press, { ...own, startFailed: false }, PRESS_NOTES.nothingToStart);
			return;
		}
		const queued = await answers.sendAgain(own.id, own.person);
		request.log.info({ answer: own.id, outcome: queued === null ? 'too late' : 'asked' }, 'send again');
		if (queued !== null) return showAgain(request, press, queued);
		await showAgain(request, press, (await store.get(own.id)) ?? own, PRESS_NOTES.sentAgain);
	});

	onReceipt(
		ACTIONS.giveUp,
		async (own, request, press) => {
			const withdrawn = await answers.withdraw(own.id, own.person);
			await showAgain(request, press, withdrawn ?? (await store.get(own.id)) ?? own);
		},
		// Like *Undo*, also after they left.
		({ origin: { channelId } }) => ({ channelId }),
	);

	onOwn(ACTIONS.undo, (own, _, press) =>
		changing(
			ifAllowed(own.origin.channelId, async (request) => {
				const withdrawn = await answers.withdraw(own.id, own.person, { onlyUnsent: true });
				const current = withdrawn ?? (await store.get(own.id)) ?? own;
				request.log.info({ answer: own.id, outcome: withdrawn === null ? current.state : 'undone' }, 'undo');
				// The inbox shows it by itself.
				if (isInbox(press.view) && withdrawn !== null) return;
				const content = choiceMessage(afterUndoWords(current));
				if (press.view === null && (await reply.inPlace(request, content))) return;
				await reply.withoutTurn(request, content);
			}),
		),
	);

	async function postText(own: Answer, request: AllowedRequest, press: Press): Promise<void> {
		const { channelId: channel, threadTs } = own.origin;
		if (channel === null) return;
		// The button may be older than a change of the setting.
		if (receipts.context().postsText === false) return showAgain(request, press, own, PRESS_NOTES.notInChannels);
		const content = ownTextMessage(own);
		const failed = await (threadTs === null
			? client.chat.postMessage({ channel, ...content }).then(() => null)
			: postToThread(client, { channel, threadTs, content })
		).catch((error: unknown) => (slackErrorCode(error) === null ? 'slack_unavailable' : 'post_refused'));
		request.log.info({ answer: own.id, outcome: failed ?? 'posted' }, 'post my text');
		const note = failed === null ? PRESS_NOTES.posted : errorWords(failed, { kept: 'answer', adminContact }).text;
		await showAgain(request, press, own, note);
	}
	onReceipt(ACTIONS.postToThread, postText, ({ origin, question }, asked) =>
		copyPlace(asked, origin.channelId, question.sessionId),
	);

	listen.action(ACTIONS.answerNew, async (request, press) => {
		const carriage = decodeCarriage(press.value);
		if (carriage === null) return NOTHING_TO_DO;
		const answer = await store.get(carriage.id);
		const own = answer !== null && isSamePerson(request, answer.person) ? answer : null;
		return openForm(request, press, { sessionId: carriage.sessionId, messageIndex: null }, own);
	});
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

/** The texts of an answer by position, without secrets. */
function textsOf({ content }: Answer): Values {
	if (content.kind !== 'readable') return {};
	return Object.fromEntries(
		content.items.flatMap(({ value, secret }, position) => (secret || value === null ? [] : [[position, value]])),
	);
}
