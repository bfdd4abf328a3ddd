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
	type ReceiptState,
	TAKES_LONG_MS,
	type Telling,
} from '../domain/answer.ts';
import { setBounded } from '../kernel/basics.ts';
import type { Wish } from '../people/drafts.ts';
import { receiptContext, receiptMessage, receiptModal } from '../screens/receipt.ts';
import { keyedBy, slackErrorCode, slackFailure, slackOutcome } from '../slack/clients.ts';
import { context as blocksBelow, MAYBE_REPEAT, replacement } from '../slack/parts.ts';
import type { PersonRequest } from '../slack/request.ts';
import type { createMessages } from './messages.ts';

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

type Messages = ReturnType<typeof createMessages>;

/**
 * Tells authors the outcome in the modal while Slack knows it, and by DM when delivery takes long and for bad news.
 * `nextOf`: the question that waits for its author after this one; null: none is known.
 */
export function createReceipts(
	core: Core<{ answers: Pick<AnswerStore, 'get' | 'noteDm'> }>,
	messages: Pick<Messages, 'find'>,
	nextOf: (answer: Answer) => Promise<Wish | null>,
) {
	const { clients, directChannelOf, clock, log, store } = core;
	const { answers } = store;
	/** By view; each resolves a moment after the acknowledgement. */
	const acks = new Map<string, PromiseWithResolvers<void>>();
	/** The newest message, by its answer and the message stored before it: the store may fail to save the new one. */
	const posted = new Map<string, ReceiptState['dm']>();
	/** By answer, since when its next message may stand in Slack. */
	const sending = new Map<string, number>();
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

	/** Updates the author's message, or else posts a new one. */
	async function inDm(answer: Answer, signal: AbortSignal): Promise<ReceiptState['dm']> {
		const message = receiptMessage(answer, context());
		const { chat } = clients.background;
		const key = `${answer.id} ${answer.receiptState.dm?.ts ?? ''}`;
		const before = posted.get(key) ?? answer.receiptState.dm;
		if (before !== null) {
			const update = chat.update({ channel: before.channelId, ts: before.ts, ...replacement(message) });
			// The author may have deleted the message: only news justifies another one.
			if ((await isUpdated(update)) || isTold(answer, answer.receiptState)) return before;
		}
		const channelId = await directChannelOf(answer.person.userId);
		const dm = { id: key, target: { kind: 'person', ...answer.person } } as const;
		const earlierAt = sending.get(answer.id) ?? answer.receiptState.dmSince ?? null;
		const earlier =
			earlierAt === null ? ({ kind: 'absent' } as const) : await messages.find(dm, [null], earlierAt, signal);
		if (earlier.kind === 'later') return null;
		const isUnsure = earlier.kind === 'unreadable';
		async function post(since: number) {
			await answers.noteDm(answer.id, since);
			setBounded(sending, answer.id, since, MAX_REMEMBERED);
			const blocks = [...message.blocks, ...(isUnsure ? blocksBelow(MAYBE_REPEAT) : [])];
			const posting = chat.postMessage({ channel: channelId, ...message, blocks, metadata: keyedBy(key) });
			return posting.catch((error: unknown) => {
				if (!isUnsure && slackOutcome(error).kind !== 'unknown') sending.delete(answer.id);
				throw error;
			});
		}
		const { ts } = earlier.kind === 'found' ? earlier : await post(earlierAt ?? clock.now());
		if (ts === undefined) return null;
		if (earlier.kind === 'found') await isUpdated(chat.update({ channel: channelId, ts, ...replacement(message) }));
		sending.delete(answer.id);
		setBounded(posted, key, { channelId, ts }, MAX_REMEMBERED);
		return { channelId, ts };
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
		const failed = (event: 'receipt_not_in_window' | 'receipt_not_sent') => (error: unknown) => {
			const { code, retryAfterMs } = slackFailure(error);
			if (retryAfterMs !== null) againAfterMs = Math.max(retryAfterMs, againAfterMs ?? 0);
			log.warn(event, { answer: answer.id, code });
			return null;
		};
		/** Null: that may succeed later. */
		const isShown = receiptState.modalOpen && (await inModal(answer).catch(failed('receipt_not_in_window')));
		const wantsDm = receiptState.dm !== null || needsDm(answer, isShown === true, clock.now());
		const dm = wantsDm ? await inDm(answer, shutdownSignal).catch(failed('receipt_not_sent')) : null;
		const { state, agentOutcome } = (wantsDm ? dm : isShown) !== null ? answer : receiptState;
		const dmSince = sending.get(answer.id);
		const open = { modalOpen: isShown !== false, ...(dmSince !== undefined && { dmSince }) };
		const told = { state, agentOutcome, dm: dm ?? receiptState.dm, ...open };
		return { receiptState: told, againAfterMs };
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
		showIn(request: PersonRequest, viewId: string | null, answer: Answer, note: string): Promise<boolean> {
			const receipt = context(note);
			const { chat, views } = clients.people;
			// The pressed message may be a repeat of it.
			const { dm } = answer.receiptState;
			const { channelId: channel, ts } = dm && request.postKey !== null ? dm : { ...request, ts: request.messageTs };
			async function update(): Promise<boolean> {
				if (viewId !== null) return isUpdated(views.update({ view_id: viewId, view: receiptModal(answer, receipt) }));
				if (channel === null || ts === null) return false;
				return isUpdated(chat.update({ channel, ts, ...replacement(receiptMessage(answer, receipt)) }));
			}
			return inTurn(answer, () => update().catch(() => false));
		},
	};
}

export type Receipts = ReturnType<typeof createReceipts>;

/** A receipt that was posted twice and pressed says so, and links to the one kept current. Never rejects. */
export async function showRepeat(
	answers: Pick<AnswerStore, 'get'>,
	messages: Pick<Messages, 'replaceRepeat'>,
	{ postKey, messageTs, responseUrl }: PersonRequest,
): Promise<void> {
	const [id = '', former] = postKey?.split(' ') ?? [];
	if (former === undefined || responseUrl === null) return;
	const dm = (await answers.get(id).catch(() => null))?.receiptState.dm;
	if (dm == null || dm.ts === messageTs) return;
	await messages.replaceRepeat(responseUrl, { channel: dm.channelId, ts: dm.ts });
}

function needsDm(answer: Answer, isShown: boolean, now: number): boolean {
	const age = now - firstDueAt(answer);
	const isBadNews = isFailed(answer.state) || BAD_OUTCOMES.includes(answer.agentOutcome) || agentMayStand(answer);
	if (isBadNews) return !isShown || age > STILL_THERE_MS;
	if (answer.state === 'delivered') return answer.agentOutcome === null && age >= TAKES_LONG_MS;
	return isBlocking(answer.state) && age >= TAKES_LONG_MS;
}
