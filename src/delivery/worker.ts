import {
	type Answer,
	type AnswerPatch,
	firstDueAt,
	isAwaited,
	isBlocking,
	isTold,
	type ReceiptState,
	TAKES_LONG_MS,
	type Telling,
} from '../domain/answer.ts';
import type { Person } from '../domain/session.ts';
import { codeOf, DAY_MS, isForgotten, MINUTE_MS } from '../kernel/basics.ts';
import { createLeaseLoop } from '../kernel/lease-loop.ts';
import type { Missed } from '../service/health.ts';
import type { Receipts } from '../surfaces/receipts.ts';
import { createConfirmation, type NoteRead } from './confirm.ts';
import { createDelivery } from './deliver.ts';
import { atMost, createPut, LeaseLost, MAX_ASKING, type Policy } from './put.ts';

/** Answers in work at the same time in this process, at most one per session. */
const CONCURRENCY = 64;
/** How long a PUT may take that is under way when the process stops. */
const STOP_WITHIN_MS = 8_000;
/** A receipt that Slack refuses is tried again for a day, at growing intervals or when Slack allows it. */
const TELL_AGAIN_MIN_MS = 2_000;
const TELL_AGAIN_MAX_MS = 10 * MINUTE_MS;
const CORRECTION_TRIES = 5;
/** How often an answer for another address is looked at until its time to be sent is over. */
const ELSEWHERE_MS = 10 * MINUTE_MS;
/** The `lastError` of an answer that was given for another address of the service. */
export const OTHER_SERVICE = 'other_service';
/** An old answer without a failure gets this long before its author hears of the delay. */
const MIN_BEFORE_LONG_MS = 2_000;

interface Options {
	readonly policy: Policy;
	readonly missed: Missed;
	readonly noteRead: NoteRead;
	readonly random?: () => number;
	readonly receipts: Pick<Receipts, 'tell'>;
	/** Whether somebody is of the workspace to whose people this process writes; false until that is known. */
	readonly isOurs: (person: Person) => boolean;
}

/** Takes due answers by lease and does each one's next step: deliver, confirm, send the receipt. */
export function createAnswerWorker(
	core: Parameters<typeof createConfirmation>[0],
	{ policy, missed, noteRead, random = Math.random, receipts, isOurs }: Options,
) {
	const { serviceUrl, clock, log } = core;
	const { answers: store } = core.store;
	const put = createPut(core, policy);
	const deliver = createDelivery(core, put, { missed, noteRead, random });
	const confirm = createConfirmation(core, noteRead);
	const tellingUnchecked = atMost(MAX_ASKING);

	async function work(answer: Answer, token: string, signal: AbortSignal): Promise<void> {
		const advanced = new AbortController();
		const longReceipt = tellWhenLong(answer, token, AbortSignal.any([signal, advanced.signal]));
		const advancedAnswer = await advance(answer, token, signal)
			.catch((error: unknown) => {
				if (error instanceof LeaseLost || signal.aborted) return null;
				throw error;
			})
			.finally(() => advanced.abort());
		const receiptState = await longReceipt;
		if (advancedAnswer !== null) {
			return tellAndRelease(receiptState === null ? advancedAnswer : { ...advancedAnswer, receiptState }, token);
		}
		// The author or another replica has changed the answer, and its receipt may be newer than this one.
		if (receiptState !== null && !shutdownSignal.aborted) {
			await correctReceipt({ ...answer, state: receiptState.state ?? answer.state });
		}
		await store.release([{ id: answer.id, token }]);
	}

	/** Tells the author after `TAKES_LONG_MS`, during the attempt. Null when that ended before. Never rejects. */
	async function tellWhenLong(answer: Answer, token: string, ended: AbortSignal): Promise<ReceiptState | null> {
		if (!isBlocking(answer.state) || answer.receiptState.isMessage) return null;
		const untilLong = firstDueAt(answer) + TAKES_LONG_MS - clock.now();
		try {
			await clock.sleep(Math.max(untilLong, answer.lastError === null ? MIN_BEFORE_LONG_MS : 0), ended);
			const current = await store.get(answer.id);
			if (current === null || !isBlocking(current.state) || !isOurs(current.person)) return null;
			const { receiptState } = await receipts.tell(current, shutdownSignal);
			// Writes nothing when the attempt has changed the state. Then the end of the attempt writes this too.
			await store.update(current, token, { receiptState }, { now: clock.now(), release: false });
			return receiptState;
		} catch (error) {
			if (!ended.aborted) log.warn('delay_not_told', { answer: answer.id, code: codeOf(error) });
			return null;
		}
	}

	/** @throws LeaseLost */
	async function advance(answer: Answer, token: string, signal: AbortSignal): Promise<Answer> {
		if (isBlocking(answer.state) && answer.question.service !== serviceUrl) {
			const now = clock.now();
			const isLate = now >= answer.giveUpAt;
			const next = isLate ? { state: 'waiting' as const, nextAttemptAt: now } : { nextAttemptAt: now + ELSEWHERE_MS };
			return put.write(answer, token, { ...next, lastError: OTHER_SERVICE });
		}
		if (isBlocking(answer.state)) {
			// It is due early to tell its author that it takes long, or because the clock was set.
			const from = Math.max(answer.press?.undoUntil ?? 0, answer.notBefore ?? 0);
			if (from > clock.now()) return put.write(answer, token, { nextAttemptAt: from });
			return deliver(answer, token, signal);
		}
		if (!isAwaited(answer)) return answer;
		const checked = await confirm(answer, signal);
		if (checked !== null) return put.write(answer, token, checked);
		return (await store.get(answer.id)) ?? answer;
	}

	async function tellAndRelease(answer: Answer, token: string): Promise<void> {
		const nothingNew: Telling = { receiptState: answer.receiptState, againAfterMs: null };
		const tell = () => receipts.tell(answer, shutdownSignal);
		// While Slack hangs, this takes long too: the other authors are told at their next attempts.
		const tellSome = () => (answer.lastError === 'not_checked' ? tellingUnchecked(tell, nothingNew) : tell());
		const telling = isReceiptCurrent(answer) || !isOurs(answer.person) ? nothingNew : await tellSome();
		const { receiptState } = telling;
		const due = dueAfterTelling(answer, telling);
		if (telling === nothingNew && Object.keys(due).length === 0)
			return store.release([{ id: answer.id, token }]).then(() => undefined);
		const patch: AnswerPatch = { receiptState, ...due };
		const written = await store.update(answer, token, patch, { now: clock.now(), release: true });
		if (written === null && receiptState !== answer.receiptState) await correctReceipt(answer);
	}

	/** Another replica may have told a newer state before: the receipt is sent again until it shows the current one. */
	async function correctReceipt(answer: Answer): Promise<void> {
		let shown = answer;
		for (let tries = 0; tries < CORRECTION_TRIES; tries++) {
			const current = await store.get(answer.id);
			if (current === null || (current.state === shown.state && current.agentOutcome === shown.agentOutcome)) return;
			// Clears what the other replica told; otherwise a call that fails counts as told.
			const cleared = { ...current, receiptState: { ...current.receiptState, state: null, agentOutcome: null } };
			const { receiptState, againAfterMs } = await receipts.tell(cleared, shutdownSignal);
			if (isReceiptCurrent(current, receiptState)) shown = current;
			else await clock.sleep(tellAgainAfter(againAfterMs ?? TELL_AGAIN_MIN_MS), shutdownSignal);
		}
	}

	/** Changes the due time only when nothing but the receipt is left to do. */
	function dueAfterTelling(answer: Answer, { receiptState, againAfterMs }: Telling): AnswerPatch {
		if (isBlocking(answer.state)) return {};
		if (isAwaited(answer) && answer.nextAttemptAt !== null) return {};
		if (isReceiptCurrent(answer, receiptState)) return { nextAttemptAt: null };
		const since = clock.now() - (answer.timeline.at(-1)?.at ?? clock.now());
		if (since > DAY_MS && isOurs(answer.person)) return { nextAttemptAt: null };
		return { nextAttemptAt: clock.now() + tellAgainAfter(againAfterMs ?? since) };
	}

	const loop = createLeaseLoop<Answer>(core, {
		itemsName: 'answers',
		rows: store.rows,
		concurrency: CONCURRENCY,
		take: (lease, room) => store.takeDue(serviceUrl, lease, room, clock.now()),
		nextDueAt: () => store.nextDueAt(serviceUrl),
		work,
		logFailure: ({ id }, error) => log.error('answer_work_failed', { answer: id, code: codeOf(error), err: error }),
		async renew(held, ms) {
			const renewed = await Promise.all(
				held.map(({ item, token }) => store.renew(item.id, { token, ms }, clock.now())),
			);
			return held.filter((_, index) => renewed[index]);
		},
		release: (held) => store.release(held.map(({ item, token }) => ({ id: item.id, token }))),
		// The next holder of an answer waits until this process's PUT cannot land any more.
		drainMs: STOP_WITHIN_MS,
	});
	const { shutdownSignal } = loop;

	return loop;
}

const tellAgainAfter = (ms: number) => Math.min(Math.max(ms, TELL_AGAIN_MIN_MS), TELL_AGAIN_MAX_MS);

/** After a failed attempt it is not: the next attempt is new information. Forgotten people are told nothing. */
function isReceiptCurrent(answer: Answer, receiptState = answer.receiptState): boolean {
	if (isForgotten(answer.person.userId)) return true;
	return !(isBlocking(answer.state) && answer.lastError !== null) && isTold(answer, receiptState);
}
