import {
	type AgentOutcome,
	type Answer,
	isBlocking,
	isFailed,
	type ReceiptState,
	TAKES_LONG_MS,
} from '../answers/answer.ts';
import type { Receipts, Telling } from '../answers/ports.ts';
import { setBounded } from '../bounded-map.ts';
import { type Clock, uptimeOf } from '../clock.ts';
import type { Log } from '../log.ts';
import { type MessageContent, replacement } from './blocks/parts.ts';
import { type ReceiptContext, receiptMessage, receiptModal } from './blocks/receipt.ts';
import { type SlackClients, slackErrorCode, slackRetryAfter } from './clients.ts';
import { agentMayStand } from './words/answers.ts';
import type { Names } from './words/people.ts';

/**
 * Somebody who pressed Submit is taken to look at the modal for so long. Later an update says nothing about that: a view
 * lives on at Slack's side when the client is reloaded or quits, and its updates succeed.
 */
const STILL_THERE_MS = 5_000;
/**
 * Slack puts the acknowledgement's view up a moment after it got it. An update that overtakes it would be replaced by
 * "saved", so the first one waits this long after the acknowledgement, and after acceptance when that was another
 * process'.
 */
const AFTER_ACK_MS = 250;
const AFTER_FOREIGN_ACCEPT_MS = 1_500;

const MOST_ACKS = 1_000;
/** Messages that are remembered until their place is in the store. */
const MOST_POSTED = 1_000;

/** With these codes Slack will never take an update of a message: it or its channel is gone, or is not ours to edit now. */
const NOT_UPDATABLE = new Set(['message_not_found', 'channel_not_found', 'cant_update_message', 'edit_window_closed']);
/** What happened after the delivery that its author has to know, whether they still look or not. */
const BAD_ENDINGS: readonly (AgentOutcome | null)[] = ['overwritten', 'failed', 'stopped'];

interface Dependencies {
	readonly clients: SlackClients;
	readonly names: Names;
	readonly adminContact: string | null;
	/** Whether authors may put their own texts before a channel. */
	readonly postsText: boolean;
	readonly clock: Clock;
	readonly log: Log;
}

export interface SlackReceipts extends Receipts {
	/** Before a submission of this view is stored: its receipts wait until `acknowledged`. */
	expectAcknowledgement(viewId: string): void;
	acknowledged(viewId: string): void;
	/** What a receipt needs beside its answer. `note`: something to say about the press that brought it up, mrkdwn. */
	context(note?: string): ReceiptContext;
}

/**
 * Tells authors what became of their answers in the modal, as long as Slack knows it. In a DM too: bad news that comes when
 * nobody may look at the modal any more, and whatever takes long. Good news that comes soon is in the modal alone.
 */
export function createReceipts({ clients, names, adminContact, postsText, clock, log }: Dependencies): SlackReceipts {
	const acks = new Map<string, { readonly done: Promise<number>; readonly resolve: (at: number) => void }>();
	/** The newest message by its answer and the one in the store before it: the store may not take the note of it. */
	const posted = new Map<string, NonNullable<ReceiptState['dm']>>();
	/** One at a time for an answer, or each would post a message of its own. */
	const telling = new Map<string, Promise<Telling>>();

	function context(note = ''): ReceiptContext {
		return { names, adminContact, postsText, now: clock.now(), note };
	}

	async function pause(ms: number, shutdownSignal: AbortSignal): Promise<void> {
		await clock.sleep(ms, shutdownSignal).catch(() => {});
	}

	async function untilAcknowledged(answer: Answer, shutdownSignal: AbortSignal): Promise<void> {
		const ack = acks.get(answer.viewId);
		if (ack === undefined) {
			const wait = answer.acceptedAt + AFTER_FOREIGN_ACCEPT_MS - clock.now();
			// Bounded: the clock may have been put back since.
			if (wait > 0 && answer.receiptState.state === null)
				await pause(Math.min(wait, AFTER_FOREIGN_ACCEPT_MS), shutdownSignal);
			return;
		}
		// Slack gives up on an acknowledgement after three seconds.
		const ackedAt = (await Promise.race([ack.done, pause(3_000, shutdownSignal)])) ?? uptimeOf(clock);
		const left = ackedAt + AFTER_ACK_MS - uptimeOf(clock);
		// An answer that was queued for longer holds up nobody behind it.
		if (left > 0) await pause(left, shutdownSignal);
		if (acks.get(answer.viewId) === ack) acks.delete(answer.viewId);
	}

	/** 'shown', 'closed' for good, or 'failed' for now. `onLimit` hears when Slack says how long that is. */
	async function inModal(answer: Answer, onLimit: OnLimit): Promise<'shown' | 'closed' | 'failed'> {
		try {
			await clients.people.views.update({ view_id: answer.viewId, view: receiptModal(answer, context()) });
			return 'shown';
		} catch (error) {
			const code = slackErrorCode(error);
			if (code === 'not_found' || code === 'view_not_found') return 'closed';
			log.warn({ answer: answer.id, code: codeFor(error, onLimit) }, 'a receipt could not be shown in its modal');
			return 'failed';
		}
	}

	/** The message that tells it, a new one when the one before cannot be updated any more; null when that failed. */
	async function inDm(answer: Answer, onLimit: OnLimit): Promise<ReceiptState['dm']> {
		const key = `${answer.id} ${answer.receiptState.dm?.ts ?? ''}`;
		const before = posted.get(key) ?? answer.receiptState.dm;
		try {
			const content = receiptMessage(answer, context());
			// Whoever deleted it has been told: only news is worth another message.
			if (before !== null && ((await tryUpdate(before, content)) || isReceiptCurrent(answer))) return before;
			const dm = await post(answer, content);
			if (dm !== null) setBounded(posted, key, dm, MOST_POSTED);
			return dm;
		} catch (error) {
			log.warn({ answer: answer.id, code: codeFor(error, onLimit) }, 'a receipt could not be sent as a DM');
			return null;
		}
	}

	/** Updates this message; false when that can never be done. */
	async function tryUpdate(
		{ channelId, ts }: NonNullable<ReceiptState['dm']>,
		content: MessageContent,
	): Promise<boolean> {
		try {
			await clients.background.chat.update({ channel: channelId, ts, ...replacement(content) });
			return true;
		} catch (error) {
			if (NOT_UPDATABLE.has(slackErrorCode(error) ?? '')) return false;
			throw error;
		}
	}

	async function post({ id, person }: Answer, content: MessageContent): Promise<ReceiptState['dm']> {
		const { channel } = await clients.background.conversations.open({ users: person.userId });
		if (channel?.id === undefined) return null;
		const { ts } = await clients.background.chat.postMessage({
			channel: channel.id,
			...content,
			metadata: { event_type: 'handraise_receipt', event_payload: { answer: id } },
		});
		return ts === undefined ? null : { channelId: channel.id, ts };
	}

	async function tell(answer: Answer, shutdownSignal: AbortSignal): Promise<Telling> {
		await untilAcknowledged(answer, shutdownSignal);
		const { receiptState } = answer;
		let againAfterMs: number | null = null;
		const onLimit = (ms: number) => {
			againAfterMs = Math.max(ms, againAfterMs ?? 0);
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
		expectAcknowledgement(viewId) {
			let resolve: (at: number) => void = () => {};
			const done = new Promise<number>((settle) => {
				resolve = settle;
			});
			// Another replica may tell of it: what nobody asks for is forgotten.
			setBounded(acks, viewId, { done, resolve }, MOST_ACKS);
		},
		acknowledged: (viewId) => acks.get(viewId)?.resolve(uptimeOf(clock)),

		async tell(answer, shutdownSignal) {
			const turn = Promise.resolve(telling.get(answer.id)).then(() => tell(answer, shutdownSignal));
			telling.set(answer.id, turn);
			try {
				return await turn;
			} finally {
				if (telling.get(answer.id) === turn) telling.delete(answer.id);
			}
		},
	};
}

type OnLimit = (ms: number) => void;

/** For the log; `onLimit` hears of a limit. */
function codeFor(error: unknown, onLimit: OnLimit): string {
	const seconds = slackRetryAfter(error);
	if (seconds === null) return slackErrorCode(error) ?? 'no_answer';
	onLimit(seconds * 1_000);
	return 'ratelimited';
}

/** Whether what is so now was told before. */
function isReceiptCurrent({ state, agentOutcome, receiptState }: Answer): boolean {
	return receiptState.state === state && receiptState.agentOutcome === agentOutcome;
}

function needsDm(answer: Answer, modal: 'shown' | 'closed' | 'failed', now: number): boolean {
	const age = now - answer.acceptedAt;
	const isBadNews = isFailed(answer.state) || BAD_ENDINGS.includes(answer.agentOutcome) || agentMayStand(answer);
	if (isBadNews) return modal !== 'shown' || age > STILL_THERE_MS;
	if (answer.state === 'delivered') return answer.agentOutcome === null && age >= TAKES_LONG_MS;
	return isBlocking(answer.state) && age >= TAKES_LONG_MS;
}
