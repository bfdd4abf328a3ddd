import { type Answer, awaitsAgentOutcome, isBlocking } from '../domain/answer.ts';
import { MINUTE_MS } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import { createLeaseLoop, leaseQueue } from '../kernel/lease-loop.ts';
import type { Missed } from '../service/health.ts';
import type { Policy } from './author-check.ts';
import { createConfirmation, type NoteRead } from './confirm.ts';
import { createDelivery } from './deliver.ts';
import { createWrite, LeaseLost } from './put.ts';

/** Answers in work at the same time in this process, at most one per session. */
const CONCURRENCY = 64;
/** How long a PUT may take that is under way when the process stops. */
const STOP_WITHIN_MS = 8_000;
/** How often an answer for another address is looked at until its time to be sent is over. */
const ELSEWHERE_MS = 10 * MINUTE_MS;
/** The `lastError` of an answer that was given for another address of the service. */
export const OTHER_SERVICE = 'other_service';

interface Options {
	readonly policy: Policy;
	readonly missed: Missed;
	readonly noteRead: NoteRead;
	readonly random?: () => number;
}

/** Takes due answers by lease and does each one's next step: deliver or confirm. */
export function createAnswerWorker(
	core: Parameters<typeof createConfirmation>[0],
	{ policy, missed, noteRead, random = Math.random }: Options,
) {
	const { serviceUrl, clock, log } = core;
	const { answers: store } = core.store;
	const write = createWrite(core);
	const deliver = createDelivery(core, { policy, missed, noteRead, random });
	const confirm = createConfirmation(core, noteRead);

	async function work(answer: Answer, token: string, signal: AbortSignal): Promise<void> {
		await advance(answer, token, signal).catch((error: unknown) => {
			// The author or another replica has changed the answer.
			if (!(error instanceof LeaseLost || signal.aborted)) throw error;
		});
		await store.release([{ id: answer.id, token }]);
	}

	/** @throws LeaseLost */
	async function advance(answer: Answer, token: string, signal: AbortSignal): Promise<unknown> {
		if (isBlocking(answer.state) && answer.question.service !== serviceUrl) {
			const now = clock.now();
			const isLate = now >= answer.giveUpAt;
			const next = isLate ? { state: 'waiting' as const, nextAttemptAt: null } : { nextAttemptAt: now + ELSEWHERE_MS };
			return write(answer, token, { ...next, lastError: OTHER_SERVICE });
		}
		if (isBlocking(answer.state)) {
			// It is due early because the clock was set.
			const from = Math.max(answer.press?.undoUntil ?? 0, answer.notBefore ?? 0);
			if (from > clock.now()) return write(answer, token, { nextAttemptAt: from });
			return deliver(answer, token, signal);
		}
		const checked = awaitsAgentOutcome(answer) ? await confirm(answer, signal) : { nextAttemptAt: null };
		return checked && write(answer, token, checked);
	}

	const queue = leaseQueue<Answer>({
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
	return createLeaseLoop(core, queue);
}
