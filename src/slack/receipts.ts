import type { Answer, Told } from '../answers/answer.ts';
import type { Receipts } from '../answers/ports.ts';
import type { Clock } from '../clock.ts';
import { keepNewest } from '../keep-newest.ts';
import type { Log } from '../log.ts';
import { receiptMessage } from './blocks/messages.ts';
import { isFailed, type ReceiptContext } from './blocks/receipt.ts';
import { receiptModal } from './blocks/receipt-modal.ts';
import { type SlackClients, slackErrorCode } from './clients.ts';
import type { Names } from './words.ts';

/** An answer that takes longer than this is told in a DM too: its author will have left the modal. */
const LONG_MS = 30_000;
/** Somebody who was told "no" this soon after Submit still looks at the modal. */
const STILL_THERE_MS = 10_000;
/**
 * Slack puts the acknowledgement's view up a moment after it got it. An update that overtakes it would be replaced by
 * "saved", so the first one waits this long after the acknowledgement, and after acceptance when that was another
 * process'.
 */
const AFTER_ACK_MS = 250;
const AFTER_FOREIGN_ACCEPT_MS = 1_500;

const MOST_ACKS = 1_000;

interface Dependencies {
	readonly clients: SlackClients;
	readonly names: Names;
	readonly adminContact: string | null;
	readonly clock: Clock;
	readonly log: Log;
}

export interface SlackReceipts extends Receipts {
	/** Before a submission of this view is stored: its receipts wait until `acknowledged`. */
	expectAcknowledgement(viewId: string): void;
	acknowledged(viewId: string): void;
}

/** Tells authors what became of their answers: in the modal while it is open, in a DM when it took long or failed. */
export function createReceipts({ clients, names, adminContact, clock, log }: Dependencies): SlackReceipts {
	const acks = new Map<string, { readonly done: Promise<number>; readonly resolve: (at: number) => void }>();

	function context(): ReceiptContext {
		return { names, adminContact, now: clock.now() };
	}

	async function pause(ms: number, hurry: AbortSignal): Promise<void> {
		await clock.sleep(ms, hurry).catch(() => {});
	}

	async function untilAcknowledged(answer: Answer, hurry: AbortSignal): Promise<void> {
		const ack = acks.get(answer.viewId);
		if (ack === undefined) {
			const wait = answer.acceptedAt + AFTER_FOREIGN_ACCEPT_MS - clock.now();
			if (wait > 0 && answer.told.state === null) await pause(wait, hurry);
			return;
		}
		// Slack gives up on an acknowledgement after three seconds.
		const ackedAt = (await Promise.race([ack.done, pause(3_000, hurry)])) ?? clock.now();
		const left = ackedAt + AFTER_ACK_MS - clock.now();
		// An answer that was queued for longer holds up nobody behind it.
		if (left > 0) await pause(left, hurry);
		if (acks.get(answer.viewId) === ack) acks.delete(answer.viewId);
	}

	/** 'shown', 'closed' for good, or 'failed' for now. */
	async function inModal(answer: Answer): Promise<'shown' | 'closed' | 'failed'> {
		try {
			await clients.people.views.update({ view_id: answer.viewId, view: receiptModal(answer, context()) });
			return 'shown';
		} catch (error) {
			const code = slackErrorCode(error);
			if (code === 'not_found' || code === 'view_not_found') return 'closed';
			log.warn({ answer: answer.id, code: code ?? 'no_answer' }, 'a receipt could not be shown in its modal');
			return 'failed';
		}
	}

	async function inDm(answer: Answer, dm: Told['dm']): Promise<Told['dm']> {
		const { text, blocks } = receiptMessage(answer, context());
		try {
			if (dm !== null) {
				await clients.background.chat.update({ channel: dm.channelId, ts: dm.ts, text, blocks });
				return dm;
			}
			const { channel } = await clients.background.conversations.open({ users: answer.person.userId });
			if (channel?.id === undefined) return null;
			const posted = await clients.background.chat.postMessage({
				channel: channel.id,
				text,
				blocks,
				unfurl_links: false,
				unfurl_media: false,
				metadata: { event_type: 'handraise_receipt', event_payload: { answer: answer.id } },
			});
			return posted.ts === undefined ? null : { channelId: channel.id, ts: posted.ts };
		} catch (error) {
			log.warn(
				{ answer: answer.id, code: slackErrorCode(error) ?? 'no_answer' },
				'a receipt could not be sent as a DM',
			);
			return null;
		}
	}

	return {
		expectAcknowledgement(viewId) {
			let resolve: (at: number) => void = () => {};
			const done = new Promise<number>((settle) => {
				resolve = settle;
			});
			// Another replica may tell of it: what nobody asks for is forgotten.
			keepNewest(acks, viewId, { done, resolve }, MOST_ACKS);
		},
		acknowledged: (viewId) => acks.get(viewId)?.resolve(clock.now()),

		async tell(answer, hurry) {
			await untilAcknowledged(answer, hurry);
			const { told } = answer;
			const modal = told.modalOpen ? await inModal(answer) : 'closed';
			const wantsDm = told.dm !== null || needsDm(answer, modal, clock.now());
			const dm = wantsDm ? await inDm(answer, told.dm) : null;
			const isTold = modal === 'shown' || (wantsDm ? dm !== null : modal === 'closed');
			return {
				state: isTold ? answer.state : told.state,
				aftermath: isTold ? answer.aftermath : told.aftermath,
				dm: dm ?? told.dm,
				modalOpen: modal !== 'closed',
			};
		},
	};
}

function needsDm(answer: Answer, modal: 'shown' | 'closed' | 'failed', now: number): boolean {
	const age = now - answer.acceptedAt;
	if (isFailed(answer)) return modal !== 'shown' || age > STILL_THERE_MS;
	if (answer.state === 'delivered') return answer.aftermath === null && age > LONG_MS;
	return (answer.state === 'accepted' || answer.state === 'delivering') && answer.lastError !== null && age > LONG_MS;
}
