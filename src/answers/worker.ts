import { type Clock, hasCome } from '../clock.ts';
import { codeOf, LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import { createLeaseLoop } from '../lease-loop.ts';
import type { Log } from '../log.ts';
import { type Answer, isBlocking, type ReceiptState, TAKES_LONG_MS } from './answer.ts';
import type { createConfirmation } from './confirm.ts';
import type { createDelivery } from './deliver.ts';
import type { AnswerPatch, AnswerStore, QuestionObserver, Receipts, Telling } from './ports.ts';

/** A dead replica's answers are taken over after this long. */
const LEASE_MS = 20_000;
/** Answers in work at once in this process. The store takes one for a session at a time. */
const CONCURRENCY = 64;
/** A PUT under way when the process stops may take this long. */
const STOP_WITHIN_MS = 8_000;
/** A receipt that Slack does not take is tried again for this long, in growing steps or when Slack says. */
const TELL_FOR_MS = 24 * 3_600_000;
const TELL_AGAIN_MIN_MS = 2_000;
const TELL_AGAIN_MAX_MS = 10 * 60_000;
const CORRECTION_TRIES = 5;
/** An answer that was accepted long before this process took it gets so long to arrive before its author is told. */
const LONG_ANYWAY_MS = 2_000;

interface Dependencies {
	/** Begins the lease tokens of this process. */
	readonly processName: string;
	readonly store: AnswerStore;
	/** The service's base address; answers for other addresses are not sent. */
	readonly serviceUrl: string;
	readonly delivery: ReturnType<typeof createDelivery>;
	readonly confirmation: ReturnType<typeof createConfirmation>;
	readonly receipts: Receipts;
	readonly observer: QuestionObserver;
	readonly clock: Clock;
	readonly log: Log;
}

/** Takes due answers by lease and does for each what its state asks for: deliver, confirm, tell. */
export function createAnswerWorker(deps: Dependencies) {
	const { processName, store, serviceUrl, delivery, confirmation, receipts, observer, clock, log } = deps;
	const stopping = new AbortController();
	const shutdownSignal = stopping.signal;
	let running: Promise<void> | null = null;
	let heededSince = Number.NEGATIVE_INFINITY;

	/** One answer, from taking to giving back the lease. */
	async function work(answer: Answer, token: string, signal: AbortSignal): Promise<void> {
		const advanced = new AbortController();
		const receiptMeanwhile = tellWhenLong(answer, token, AbortSignal.any([signal, advanced.signal]));
		const done = await advance(answer, token, signal)
			.catch((error: unknown) => {
				if (!signal.aborted) throw error;
				return null;
			})
			.finally(() => advanced.abort());
		const receiptState = await receiptMeanwhile;
		if (done !== null) {
			await tellAndRelease(receiptState === null ? done : { ...done, receiptState }, token);
			return;
		}
		// The author or another replica has changed the answer, and may have told that before this process told its state.
		if (receiptState !== null && !shutdownSignal.aborted) {
			await correctReceipt({ ...answer, state: receiptState.state ?? answer.state });
		}
		await store.release([{ id: answer.id, token }]);
	}

	/**
	 * Tells the author after `TAKES_LONG_MS` that it takes long, while the attempt goes on. Resolves to what was told; null
	 * when the attempt ended before. Never rejects.
	 */
	async function tellWhenLong(answer: Answer, token: string, ended: AbortSignal): Promise<ReceiptState | null> {
		if (!isBlocking(answer.state) || answer.receiptState.dm !== null) return null;
		const untilLong = answer.acceptedAt + TAKES_LONG_MS - clock.now();
		// Bounded: the clock may have been put back since.
		const wait = Math.max(Math.min(untilLong, TAKES_LONG_MS), answer.lastError === null ? LONG_ANYWAY_MS : 0);
		try {
			await clock.sleep(wait, ended);
			const current = await store.get(answer.id);
			if (current === null || !isBlocking(current.state)) return null;
			const { receiptState } = await receipts.tell(current, shutdownSignal);
			// Writes nothing when the attempt has changed the state meanwhile; then the end of the attempt notes this too.
			await store.update(current, token, { receiptState }, { now: clock.now(), release: false });
			return receiptState;
		} catch (error) {
			if (!ended.aborted) log.warn({ answer: answer.id, code: codeOf(error) }, 'could not tell that it takes long');
			return null;
		}
	}

	/** Does the next step; null when the lease was lost. */
	async function advance(answer: Answer, token: string, signal: AbortSignal): Promise<Answer | null> {
		const now = clock.now();
		if (isBlocking(answer.state)) {
			// Due only for telling its author that it takes long: the service has asked for a pause.
			const { notBefore } = answer;
			const isPaused = notBefore !== null && !hasCome(notBefore, now, LONGEST_RETRY_AFTER_MS);
			if (isPaused) return store.update(answer, token, { nextAttemptAt: notBefore }, { now, release: false });
			return delivery.deliver(answer, token, signal);
		}
		if (answer.state !== 'delivered') return answer;
		if (answer.restartAskedAt !== null) return delivery.restart(answer, token, signal);
		if (answer.agentOutcome !== null) return answer;
		const patch = await confirmation.check(answer, signal);
		const checked = await store.update(answer, token, patch, { now: clock.now(), release: false });
		// The restart may have been asked for meanwhile.
		return checked?.state === 'delivered' && checked.restartAskedAt !== null
			? delivery.restart(checked, token, signal)
			: checked;
	}

	async function tellAndRelease(answer: Answer, token: string): Promise<void> {
		observer.questionUpdated(answer.question, answer.state === 'delivered' ? 'delivered' : 'answer');
		const telling = isReceiptCurrent(answer)
			? { receiptState: answer.receiptState, againAfterMs: null }
			: await receipts.tell(answer, shutdownSignal);
		const { receiptState } = telling;
		const patch: AnswerPatch = { receiptState, ...dueAfterTelling(answer, telling) };
		const written = await store.update(answer, token, patch, { now: clock.now(), release: true });
		if (written === null && receiptState !== answer.receiptState) await correctReceipt(answer);
	}

	/**
	 * The lease was lost while the author was being told, in a process that stood still, for example. Another replica may have
	 * told a newer state before, so the receipt is told again until it shows the current one.
	 */
	async function correctReceipt(answer: Answer): Promise<void> {
		let shown = answer;
		for (let tries = 0; tries < CORRECTION_TRIES; tries++) {
			const current = await store.get(answer.id);
			if (current === null || (current.state === shown.state && current.agentOutcome === shown.agentOutcome)) return;
			// What the other replica told is cleared first: otherwise a call that fails would count as told.
			const unheard = { ...current, receiptState: { ...current.receiptState, state: null, agentOutcome: null } };
			const { receiptState: newReceiptState, againAfterMs } = await receipts.tell(unheard, shutdownSignal);
			if (isReceiptCurrent({ ...current, receiptState: newReceiptState })) shown = current;
			else await clock.sleep(tellAgainAfter(againAfterMs ?? TELL_AGAIN_MIN_MS), shutdownSignal);
		}
	}

	/** Leaves the time of the next attempt alone while there is something to do besides telling. */
	function dueAfterTelling(answer: Answer, { receiptState, againAfterMs }: Telling): AnswerPatch {
		if (isBlocking(answer.state)) return {};
		if (answer.state === 'delivered' && answer.agentOutcome === null) return {};
		if (isReceiptCurrent({ ...answer, receiptState })) return { nextAttemptAt: null };
		const since = clock.now() - (answer.timeline.at(-1)?.at ?? clock.now());
		if (since > TELL_FOR_MS) return { nextAttemptAt: null };
		return { nextAttemptAt: clock.now() + tellAgainAfter(againAfterMs ?? since) };
	}

	/** Makes every answer due after the clock was set and at the start: stored times may mean nothing then. */
	async function heedClock(): Promise<void> {
		const steadySince = clock.steadySince?.() ?? Number.NEGATIVE_INFINITY;
		if (steadySince === heededSince) return;
		await store.lookAtAll(serviceUrl, clock.now());
		heededSince = steadySince;
	}

	const loop = createLeaseLoop<Answer>({
		what: 'answers',
		leaseMs: LEASE_MS,
		tokenPrefix: `${processName}/`,
		concurrency: CONCURRENCY,
		prepare: heedClock,
		take: (lease, room) => store.takeDue(serviceUrl, lease, room, clock.now()),
		nextDueAt: () => store.nextDueAt(serviceUrl, clock.now()),
		work,
		onFailure: ({ id }, error) =>
			log.error({ answer: id, code: codeOf(error), err: error }, 'work on an answer broke off'),
		async renew(held, ms) {
			const renewed = held.map(({ item, token }) => store.renew(item.id, { token, ms }, clock.now()));
			const isKept = await Promise.all(renewed);
			return held.filter((_, index) => isKept[index]);
		},
		release: (held) => store.release(held.map(({ item, token }) => ({ id: item.id, token }))),
		// Whoever takes an answer then waits until this process's PUT cannot land any more.
		drainMs: STOP_WITHIN_MS,
		clock,
		log,
	});

	return {
		start(): void {
			running ??= loop.run(shutdownSignal);
		},
		/** An answer was accepted: it is taken at once. */
		wake: loop.wake,
		/** Takes nothing more, lets PUTs that have begun finish, gives back every lease. */
		async stop(): Promise<void> {
			stopping.abort();
			await running;
		},
	};
}

function tellAgainAfter(ms: number): number {
	return Math.min(Math.max(ms, TELL_AGAIN_MIN_MS), TELL_AGAIN_MAX_MS);
}

/** After a failed attempt there is news though the state is the same: when the next attempt is, and that it takes long. */
function isReceiptCurrent(answer: Pick<Answer, 'state' | 'agentOutcome' | 'receiptState' | 'lastError'>): boolean {
	if (isBlocking(answer.state) && answer.lastError !== null) return false;
	return answer.receiptState.state === answer.state && answer.receiptState.agentOutcome === answer.agentOutcome;
}
