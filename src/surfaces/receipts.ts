import type { Core } from '../core.ts';
import type { AnswerStore } from '../delivery/answer-store.ts';
import {
	type AgentOutcome,
	type Answer,
	agentMayStand,
	firstDueAt,
	isBlocking,
	isFailed,
	isTold,
	TAKES_LONG_MS,
	type Telling,
} from '../domain/answer.ts';
import { setBounded } from '../kernel/basics.ts';
import type { Wish } from '../people/drafts.ts';
import { receiptContext, receiptMessage, receiptModal } from '../screens/receipt.ts';
import { slackErrorCode, slackFailure } from '../slack/clients.ts';
import { replacement } from '../slack/parts.ts';
import type { PersonRequest } from '../slack/request.ts';
import type { PostStore } from './store.ts';

/** After this time a successful update proves nothing: Slack keeps a view when its client is reloaded or quits. */
const STILL_THERE_MS = 5_000;
/** Slack shows the acknowledgement's view ("saved") late. It would replace an earlier update, so that one waits. */
const AFTER_ACK_MS = 250;
/** A receipt waits this long after acceptance when another process sent the acknowledgement. */
const AFTER_FOREIGN_ACCEPT_MS = 1_500;

/** Of each map below; only the newest entries matter. */
const MAX_REMEMBERED = 1_000;

/** Slack will never accept an update of this view or message. */
// biome-ignore format: a list of words
const NOT_UPDATABLE = new Set([
	'not_found', 'view_not_found', 'message_not_found', 'channel_not_found', 'cant_update_message',
	'edit_window_closed',
]);

/** Of these the author has to learn even with a closed modal. */
// biome-ignore format: a list of words
const BAD_OUTCOMES: readonly (AgentOutcome | null)[] = [
	'overwritten', 'failed', 'stopped', 'lost',
];

/**
 * Tells authors the outcome in the modal while Slack knows it, and by a direct message when delivery takes long and for
 * bad news: a post like others.
 * `nextOf`: the question that waits for its author after this one; null: none is known.
 */
export function createReceipts(
	core: Core<{ answers: Pick<AnswerStore, 'get'>; posts: Pick<PostStore, 'showReceipt'> }>,
	nextOf: (answer: Answer) => Promise<Wish | null>,
) {
	const { clients, clock, log, store } = core;
	const { answers, posts } = store;
	/** By view; each resolves a moment after the acknowledgement. */
	const acks = new Map<string, PromiseWithResolvers<void>>();
	/** One at a time for an answer; otherwise each call would post its own message. */
	const telling = new Map<string, Promise<unknown>>();

	/** `note`: mrkdwn about the press that led to this receipt. */
	const context = (note = '') => receiptContext(core, note);

	function shown(answer: Answer, note = '') {
		const receipt = context(note);
		return { modal: receiptModal(answer, receipt), message: receiptMessage(answer, receipt) };
	}

	async function untilAcknowledged(answer: Answer, shutdownSignal: AbortSignal): Promise<void> {
		const { viewId, acceptedAt, receiptState } = answer;
		const ack = acks.get(viewId);
		const foreignMs = receiptState.state === null ? acceptedAt + AFTER_FOREIGN_ACCEPT_MS - clock.now() : 0;
		// Slack waits three seconds for an acknowledgement.
		const waitMs = ack === undefined ? foreignMs : 3_000 + AFTER_ACK_MS;
		if (waitMs <= 0) return;
		const pause = clock.sleep(waitMs, shutdownSignal).catch(() => {});
		await (ack === undefined ? pause : Promise.race([ack.promise, pause]));
		if (acks.get(viewId) === ack) acks.delete(viewId);
	}

	/** False as in `isUpdated`, and when the person left the receipt. */
	async function inModal(answer: Answer): Promise<boolean> {
		const receipt = { ...context(), offersNext: (await nextOf(answer).catch(() => null)) !== null };
		if ((await answers.get(answer.id))?.receiptState.modalOpen === false) return false;
		return isUpdated(clients.people.views.update({ view_id: answer.viewId, view: receiptModal(answer, receipt) }));
	}

	/** False when Slack will never accept the update. */
	async function isUpdated(update: Promise<unknown>): Promise<boolean> {
		try {
			await update;
			return true;
		} catch (error) {
			if (NOT_UPDATABLE.has(slackErrorCode(error) ?? '')) return false;
			throw error;
		}
	}

	/** Of a receipt's updates, the last that began stays. `work` must not fail. */
	function inTurn<T>({ id }: Answer, work: () => Promise<T>): Promise<T> {
		const turn = Promise.resolve(telling.get(id)).then(work);
		setBounded(telling, id, turn, MAX_REMEMBERED);
		return turn;
	}

	async function tell(answer: Answer, shutdownSignal: AbortSignal): Promise<Telling> {
		await untilAcknowledged(answer, shutdownSignal);
		const { receiptState } = answer;
		let againAfterMs: number | null = null;
		/** Null: that may succeed later. */
		const isShown =
			receiptState.modalOpen &&
			(await inModal(answer).catch((error: unknown) => {
				const { code, retryAfterMs } = slackFailure(error);
				againAfterMs = retryAfterMs;
				log.warn('receipt_not_in_window', { answer: answer.id, code });
				return null;
			}));
		const isMessage = receiptState.isMessage || needsDm(answer, isShown === true, clock.now());
		if (isMessage) await posts.showReceipt(answer, { isNews: !isTold(answer, receiptState), now: clock.now() });
		const { state, agentOutcome } = isMessage || isShown !== null ? answer : receiptState;
		return { receiptState: { state, agentOutcome, isMessage, modalOpen: isShown !== false }, againAfterMs };
	}

	return {
		context,
		/** Call it before a submission of this view is stored: its receipts then wait for `acknowledged`. */
		expectAcknowledgement(viewId: string): void {
			setBounded(acks, viewId, Promise.withResolvers(), MAX_REMEMBERED);
		},
		acknowledged: (viewId: string) => acks.get(viewId)?.resolve(clock.sleep(AFTER_ACK_MS)),

		/** Never throws. Stops waiting once `shutdownSignal` is aborted. */
		tell: (answer: Answer, shutdownSignal: AbortSignal) => inTurn(answer, () => tell(answer, shutdownSignal)),

		shown,
		nextOf,

		/** Shows an answer in a press's receipt: the view, or else the message. False when Slack takes no update of it. */
		showIn(pressed: PersonRequest, viewId: string | null, answer: Answer, note: string): Promise<boolean> {
			const { modal: view, message } = shown(answer, note);
			const { channelId: channel, messageTs: ts } = pressed;
			const { chat, views } = clients.people;
			async function update(): Promise<boolean> {
				if (viewId !== null) return isUpdated(views.update({ view_id: viewId, view }));
				if (channel === null || ts === null) return false;
				return isUpdated(chat.update({ channel, ts, ...replacement(message) }));
			}
			return inTurn(answer, () => update().catch(() => false));
		},
	};
}

export type Receipts = ReturnType<typeof createReceipts>;

function needsDm(answer: Answer, isShown: boolean, now: number): boolean {
	const age = now - firstDueAt(answer);
	const isBadNews = isFailed(answer.state) || BAD_OUTCOMES.includes(answer.agentOutcome) || agentMayStand(answer);
	if (isBadNews) return !isShown || age > STILL_THERE_MS;
	if (answer.state === 'delivered') return answer.agentOutcome === null && age >= TAKES_LONG_MS;
	return isBlocking(answer.state) && age >= TAKES_LONG_MS;
}
