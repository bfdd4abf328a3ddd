import { setBounded } from '../../core/values.ts';
import type { Core } from '../../core.ts';
import {
	type AgentOutcome,
	type Answer,
	agentMayStand,
	firstDueAt,
	isBlocking,
	isFailed,
	isTold,
	type ReceiptState,
	TAKES_LONG_MS,
	type Telling,
} from '../../questions/answer.ts';
import { isThreaded, slackErrorCode, slackFailure } from '../../slack/clients.ts';
import { type MessageContent, replacement } from '../../slack/parts.ts';
import type { PersonRequest } from '../../slack/request.ts';
import { ownTextMessage, type ReceiptContext, receiptMessage, receiptModal } from './receipt-view.ts';

/** After this time a successful update proves nothing: Slack keeps a view when its client is reloaded or quits. */
const STILL_THERE_MS = 5_000;
/** Slack shows the acknowledgement's view ("saved") late. It would replace an earlier update, so that one waits. */
const AFTER_ACK_MS = 250;
/** The same wait after acceptance, when another process sent the acknowledgement. */
const AFTER_FOREIGN_ACCEPT_MS = 1_500;

const MAX_ACKS = 1_000;
/** Messages that are remembered until the store has their ids. */
const MAX_POSTED = 1_000;

/** Slack will never accept an update of this message. */
const NOT_UPDATABLE = new Set(['message_not_found', 'channel_not_found', 'cant_update_message', 'edit_window_closed']);
type Message = NonNullable<ReceiptState['dm']>;

/** Of these the author has to learn even with a closed modal. */
const BAD_OUTCOMES: readonly (AgentOutcome | null)[] = ['overwritten', 'failed', 'stopped'];

/** Tells authors the outcome in the modal while Slack knows it, and by DM when delivery takes long and for bad news. */
export function createReceipts({ clients, directChannelOf, config, clock, log }: Core) {
	/** By view; each resolves a moment after the acknowledgement. */
	const acks = new Map<string, PromiseWithResolvers<void>>();
	/** The newest message, by its answer and the message in the store before it: the store may fail to save the new one. */
	const posted = new Map<string, Message>();
	/** One at a time for an answer; otherwise each call would post its own message. */
	const telling = new Map<string, Promise<Telling>>();

	/** `note`: mrkdwn about the press that led to this receipt. */
	function context(note = ''): ReceiptContext {
		const { ADMIN_CONTACT: adminContact } = config;
		return { adminContact, postsText: config.SHOW_ANSWERS !== 'never', now: clock.now(), note };
	}

	function shown(answer: Answer, note = '') {
		const receipt = context(note);
		return { modal: receiptModal(answer, receipt), message: receiptMessage(answer, receipt) };
	}

	const pause = (ms: number, shutdownSignal: AbortSignal) => clock.sleep(ms, shutdownSignal).catch(() => {});

	async function untilAcknowledged(answer: Answer, shutdownSignal: AbortSignal): Promise<void> {
		const ack = acks.get(answer.viewId);
		if (ack === undefined) {
			const wait = answer.acceptedAt + AFTER_FOREIGN_ACCEPT_MS - clock.now();
			if (wait > 0 && answer.receiptState.state === null) await pause(wait, shutdownSignal);
			return;
		}
		// Slack waits three seconds for an acknowledgement.
		await Promise.race([ack.promise, pause(3_000 + AFTER_ACK_MS, shutdownSignal)]);
		if (acks.get(answer.viewId) === ack) acks.delete(answer.viewId);
	}

	/** `failed` may succeed later; `onLimit` receives how long Slack asks to wait. */
	async function inModal(answer: Answer, onLimit: OnLimit): Promise<'shown' | 'closed' | 'failed'> {
		try {
			await clients.people.views.update({ view_id: answer.viewId, view: receiptModal(answer, context()) });
			return 'shown';
		} catch (error) {
			const code = slackErrorCode(error);
			if (code === 'not_found' || code === 'view_not_found') return 'closed';
			log.warn({ answer: answer.id, code: failureCode(error, onLimit) }, 'a receipt could not be shown in its modal');
			return 'failed';
		}
	}

	/** Updates the author's message, or posts a new one when that is not possible any more; null when both failed. */
	async function inDm(answer: Answer, onLimit: OnLimit): Promise<ReceiptState['dm']> {
		const key = `${answer.id} ${answer.receiptState.dm?.ts ?? ''}`;
		const before = posted.get(key) ?? answer.receiptState.dm;
		try {
			const content = receiptMessage(answer, context());
			// The author may have deleted the message: only news justifies another one.
			if (before !== null && ((await tryUpdate(before, content)) || isTold(answer, answer.receiptState))) return before;
			const dm = await post(answer, content);
			if (dm !== null) setBounded(posted, key, dm, MAX_POSTED);
			return dm;
		} catch (error) {
			log.warn({ answer: answer.id, code: failureCode(error, onLimit) }, 'a receipt could not be sent as a DM');
			return null;
		}
	}

	async function tryUpdate({ channelId, ts }: Message, content: MessageContent): Promise<boolean> {
		try {
			await clients.background.chat.update({ channel: channelId, ts, ...replacement(content) });
			return true;
		} catch (error) {
			if (NOT_UPDATABLE.has(slackErrorCode(error) ?? '')) return false;
			throw error;
		}
	}

	async function post({ id, person }: Answer, content: MessageContent): Promise<ReceiptState['dm']> {
		const channel = await directChannelOf(person.userId);
		const { ts } = await clients.background.chat.postMessage({
			channel,
			...content,
			metadata: { event_type: 'handraise_receipt', event_payload: { answer: id } },
		});
		return ts === undefined ? null : { channelId: channel, ts };
	}

	async function tell(answer: Answer, shutdownSignal: AbortSignal): Promise<Telling> {
		await untilAcknowledged(answer, shutdownSignal);
		const { receiptState } = answer;
		let againAfterMs: number | null = null;
		const onLimit = (retryAfterMs: number) => {
			againAfterMs = Math.max(retryAfterMs, againAfterMs ?? 0);
		};
		const modal = receiptState.modalOpen ? await inModal(answer, onLimit) : 'closed';
		const wantsDm = receiptState.dm !== null || needsDm(answer, modal, clock.now());
		const dm = wantsDm ? await inDm(answer, onLimit) : null;
		const isNowCurrent = wantsDm ? dm !== null : modal !== 'failed';
		return {
			receiptState: {
				state: isNowCurrent ? answer.state : receiptState.state,
				agentOutcome: isNowCurrent ? answer.agentOutcome : receiptState.agentOutcome,
				dm: dm ?? receiptState.dm,
				modalOpen: modal !== 'closed',
			},
			againAfterMs,
		};
	}

	return {
		context,
		/** Call it before a submission of this view is stored: its receipts then wait for `acknowledged`. */
		expectAcknowledgement(viewId: string): void {
			// Bounded, because another replica may send the receipt, and then no `tell` here removes the entry.
			setBounded(acks, viewId, Promise.withResolvers(), MAX_ACKS);
		},
		acknowledged: (viewId: string) => acks.get(viewId)?.resolve(clock.sleep(AFTER_ACK_MS)),

		/** Never throws. Stops waiting once `shutdownSignal` is aborted. */
		async tell(answer: Answer, shutdownSignal: AbortSignal): Promise<Telling> {
			const turn = Promise.resolve(telling.get(answer.id)).then(() => tell(answer, shutdownSignal));
			telling.set(answer.id, turn);
			try {
				return await turn;
			} finally {
				if (telling.get(answer.id) === turn) telling.delete(answer.id);
			}
		},

		shown,

		/** Shows an answer in its receipt `at`: a view's id, or the message of a press. False when Slack takes no update of it. */
		async showIn(
			at: string | Pick<PersonRequest, 'channelId' | 'messageTs'>,
			answer: Answer,
			note: string,
		): Promise<boolean> {
			const { modal, message } = shown(answer, note);
			const { chat, views } = clients.people;
			try {
				if (typeof at === 'string') await views.update({ view_id: at, view: modal });
				else if (at.channelId === null || at.messageTs === null) return false;
				else await chat.update({ channel: at.channelId, ts: at.messageTs, ...replacement(message) });
				return true;
			} catch {
				return false;
			}
		},

		/**
		 * Posts the author's own text into the thread of its form or nowhere, where there is none into the channel: a text meant for a
		 * few people must not appear in a whole channel. Resolves to an error code, or null.
		 */
		async postText(
			own: Answer,
		): Promise<'thread_gone' | 'text_in_channel' | 'slack_unavailable' | 'post_refused' | null> {
			const { channelId: channel, threadTs } = own.origin;
			if (channel === null) return 'post_refused';
			const { chat } = clients.people;
			const isGone = (error: unknown) => slackErrorCode(error) === 'message_not_found';
			try {
				if (threadTs === null) {
					await chat.postMessage({ channel, ...ownTextMessage(own) });
					return null;
				}
				// This needs no scope, and finds a missing thread before anybody sees the post.
				await chat.getPermalink({ channel, message_ts: threadTs });
				const { ts, message } = await chat.postMessage({ channel, ...ownTextMessage(own), thread_ts: threadTs });
				if (isThreaded(message) || ts === undefined) return null;
				const isDeleted = await chat.delete({ channel, ts }).then(() => true, isGone);
				return isDeleted ? 'thread_gone' : 'text_in_channel';
			} catch (error) {
				if (isGone(error)) return 'thread_gone';
				return slackErrorCode(error) === null ? 'slack_unavailable' : 'post_refused';
			}
		},
	};
}

export type Receipts = ReturnType<typeof createReceipts>;

type OnLimit = (retryAfterMs: number) => void;

function failureCode(error: unknown, onLimit: OnLimit): string {
	const { code, retryAfterMs } = slackFailure(error);
	if (retryAfterMs !== null) onLimit(retryAfterMs);
	return code;
}

function needsDm(answer: Answer, modal: 'shown' | 'closed' | 'failed', now: number): boolean {
	const age = now - firstDueAt(answer);
	const isBadNews = isFailed(answer.state) || BAD_OUTCOMES.includes(answer.agentOutcome) || agentMayStand(answer);
	if (isBadNews) return modal !== 'shown' || age > STILL_THERE_MS;
	if (answer.state === 'delivered') return answer.agentOutcome === null && age >= TAKES_LONG_MS;
	return isBlocking(answer.state) && age >= TAKES_LONG_MS;
}
