import type { Clock } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { createWaker } from '../waker.ts';
import { type Answer, isBlocking, type Told } from './answer.ts';
import type { createConfirmation } from './confirm.ts';
import type { createDelivery } from './deliver.ts';
import type { AnswerPatch, AnswerStore, QuestionObserver, Receipts } from './ports.ts';

/** A dead replica's answers are taken over after this long. */
const LEASE_MS = 20_000;
const RENEW_EVERY_MS = 5_000;
/** Answers in work at once in this process; one for a session at a time (the store sees to that). */
const CONCURRENCY = 64;
/** Answers that other replicas accepted or left behind are noticed at least this often. */
const LOOK_EVERY_MS = 1_000;
/** A PUT under way when the process stops may take this long. */
const STOP_WITHIN_MS = 8_000;
/** A receipt that Slack does not take is tried for this long, in growing steps. */
const TELL_FOR_MS = 24 * 3_600_000;
const TELL_AGAIN_MIN_MS = 2_000;
const TELL_AGAIN_MAX_MS = 10 * 60_000;
const TELL_WHAT_IS_SO_TRIES = 5;

interface Dependencies {
	readonly owner: string;
	readonly store: AnswerStore;
	readonly delivery: ReturnType<typeof createDelivery>;
	readonly confirmation: ReturnType<typeof createConfirmation>;
	readonly receipts: Receipts;
	readonly observer: QuestionObserver;
	readonly clock: Clock;
	readonly log: Log;
}

/**
 * Takes due answers by lease and does for each what its state asks for: deliver, confirm, tell. The row is the queue:
 * after a crash or on another replica everything goes on from what is stored.
 */
export function createAnswerWorker(deps: Dependencies) {
	const { owner, store, delivery, confirmation, receipts, observer, clock, log } = deps;
	const stopping = new AbortController();
	const running = new Set<Promise<void>>();
	const waker = createWaker(clock);
	let loop: Promise<void> | null = null;

	/** One answer, from taking to giving back the lease. */
	async function work(answer: Answer): Promise<void> {
		const lost = new AbortController();
		const signal = AbortSignal.any([stopping.signal, lost.signal]);
		const renewal = keepLease(answer.id, lost, signal);
		try {
			const done = await advance(answer, signal);
			if (done !== null) await tellAndRelease(done);
		} catch (error) {
			if (signal.aborted) {
				await store.update(answer.id, owner, {}, { now: clock.now(), release: true });
				return;
			}
			throw error;
		} finally {
			lost.abort();
			await renewal;
		}
	}

	async function keepLease(id: string, lost: AbortController, signal: AbortSignal): Promise<void> {
		while (!lost.signal.aborted) {
			try {
				await clock.sleep(RENEW_EVERY_MS, lost.signal);
			} catch {
				return;
			}
			try {
				if (!(await store.renew(id, { owner, ms: LEASE_MS }, clock.now()))) lost.abort();
			} catch (error) {
				log.warn({ answer: id, code: codeOf(error), stopping: signal.aborted }, 'could not renew a lease');
			}
		}
	}

	/** Does the next step; null when the lease was lost. */
	async function advance(answer: Answer, signal: AbortSignal): Promise<Answer | null> {
		if (answer.state === 'accepted' || answer.state === 'delivering') return delivery.deliver(answer, owner, signal);
		if (answer.state === 'delivered' && answer.aftermath === null) {
			const patch = await confirmation.look(answer, signal);
			return store.update(answer.id, owner, patch, { now: clock.now(), release: false });
		}
		return answer;
	}

	async function tellAndRelease(answer: Answer): Promise<void> {
		observer.questionTouched(answer.question, answer.state === 'delivered' ? 'delivered' : 'answer');
		const told = isTold(answer) ? answer.told : await receipts.tell(answer, stopping.signal);
		const patch: AnswerPatch = { told, ...dueAfterTelling(answer, told) };
		const written = await store.update(answer.id, owner, patch, { now: clock.now(), release: true });
		if (written === null && told !== answer.told) await tellWhatIsSo(answer);
	}

	/**
	 * The lease was lost while `told` was being told: a process that stood still, say. Another replica may have told more
	 * before, and what is shown last must be what is so.
	 */
	async function tellWhatIsSo(told: Answer): Promise<void> {
		let shown = told;
		for (let tries = 0; tries < TELL_WHAT_IS_SO_TRIES; tries++) {
			const current = await store.get(told.id);
			if (current === null || (current.state === shown.state && current.aftermath === shown.aftermath)) return;
			// As if nothing had been told, or a failure would be taken for what the other replica managed.
			const unheard = { ...current, told: { ...current.told, state: null, aftermath: null } };
			if (isTold({ ...current, told: await receipts.tell(unheard, stopping.signal) })) shown = current;
			else await clock.sleep(TELL_AGAIN_MIN_MS, stopping.signal);
		}
	}

	/** Leaves the time of the next attempt alone while there is something to do besides telling. */
	function dueAfterTelling(answer: Answer, told: Told): AnswerPatch {
		const { state } = answer;
		if (state === 'accepted' || state === 'delivering') return {};
		if (state === 'delivered' && answer.aftermath === null) return {};
		if (isTold({ ...answer, told })) return { nextAttemptAt: null };
		const since = clock.now() - (answer.timeline.at(-1)?.at ?? clock.now());
		if (since > TELL_FOR_MS) return { nextAttemptAt: null };
		return { nextAttemptAt: clock.now() + Math.min(Math.max(since, TELL_AGAIN_MIN_MS), TELL_AGAIN_MAX_MS) };
	}

	async function takeSome(): Promise<number> {
		const room = CONCURRENCY - running.size;
		if (room <= 0) return 0;
		const answers = await store.takeDue({ owner, ms: LEASE_MS }, room, clock.now());
		for (const answer of answers) {
			const task = work(answer)
				.catch((error: unknown) => {
					// The lease runs out and the answer is taken again.
					log.error({ answer: answer.id, code: codeOf(error), err: error }, 'work on an answer broke off');
				})
				.finally(() => {
					running.delete(task);
					waker.wake();
				});
			running.add(task);
		}
		return answers.length;
	}

	async function run(): Promise<void> {
		while (!stopping.signal.aborted) {
			let wait = LOOK_EVERY_MS;
			try {
				if ((await takeSome()) > 0) continue;
				const next = await store.nextDueAt();
				if (next !== null && running.size < CONCURRENCY) wait = Math.min(wait, Math.max(next - clock.now(), 10));
			} catch (error) {
				log.warn({ code: codeOf(error) }, 'could not take due answers');
			}
			await waker.wait(wait, stopping.signal).catch(() => {});
		}
	}

	return {
		start(): void {
			loop ??= run();
		},
		/** Looks at once instead of at the next turn: an answer was accepted. */
		wake: () => waker.wake(),
		/** Takes nothing more, lets PUTs that have begun finish, gives back every lease. */
		async stop(): Promise<void> {
			stopping.abort();
			await loop;
			// What still runs by then is given back all the same: whoever takes it waits until its PUT cannot land any more.
			await Promise.race([Promise.all(running), clock.sleep(STOP_WITHIN_MS)]);
			await store.releaseAll(owner).catch((error: unknown) => {
				log.warn({ code: codeOf(error) }, 'leases could not be given back; they run out by themselves');
			});
		},
	};
}

/** After a failed attempt there is news though the state is as before: the next time, and that it is taking long. */
function isTold(answer: Pick<Answer, 'state' | 'aftermath' | 'told' | 'lastError'>): boolean {
	if (isBlocking(answer.state) && answer.lastError !== null) return false;
	return answer.told.state === answer.state && answer.told.aftermath === answer.aftermath;
}
