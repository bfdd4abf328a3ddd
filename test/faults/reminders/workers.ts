import { randomUUID } from 'node:crypto';
import type { Answer, AnswerPatch } from '../../../src/domain/answer.ts';
import type { Clock } from '../../../src/kernel/basics.ts';
import type { TakenSession } from '../../../src/store/watch-store.ts';
import type { coreOf } from '../../support/core.ts';
import type { Read } from './history.ts';
import type { ProcessOptions } from './process.ts';
import { SERVICE_URL } from './service.ts';

type Core = ReturnType<typeof coreOf>;

const READ_LEASE_MS = 21_000;
/** About what the service's limit leaves to watching. */
const INTERVAL_MS = 333;
const READS_AT_ONCE = 16;
/** So rarely that a reminder has to ask for its own read. */
const REGULARLY_MS = 30 * 60_000;
const ANSWER_LEASE_MS = 20_000;
const AGAIN_MS = 15_000;
/** The share of answers that the service refuses. */
const REFUSED = 0.04;

/**
 * Reads sessions that are due: the poller without its schedule, which would read far more often than this run needs.
 * After an outage the first success makes the failed reads due, as in the poller.
 */
export function createReader(core: Core, { program, service, reads, ...options }: ProcessOptions) {
	const { clock, store } = core;
	const { watches, sessions, reads: recording, answers } = store;
	const random = options.random.fork();
	const reading = program.createReading(core, () => null);
	let roomAt = 0;
	/** Also at the start, because another process may have stored back-offs. */
	let isFailing = true;

	async function read(taken: TakenSession, token: string): Promise<void> {
		const { session: key } = taken;
		const beganAt = clock.now();
		const arrival = await answers.arrivals(key);
		const ms = Math.round(random.between(200, 3_000));
		const back = Math.round(ms * random.uniform());
		await clock.sleep(ms - back);
		const stateAt = clock.now();
		const held = { session: key, token, lastReadAt: taken.lastReadAt };
		try {
			const session = service.read(key.sessionId);
			await clock.sleep(back);
			const now = clock.now();
			const found = { session, readAt: beganAt, arrival, tookMs: now - beganAt, byteCount: 0 };
			const watching = await watches.ofSession(key);
			const looked = { serviceUrl: SERVICE_URL, reading: found, isWatched: true };
			const judged = await program.ourAnswers(answers, looked);
			const ours = { ...judged, disclosure: program.NO_ANSWERS.disclosure };
			const { update, watches: news } = reading.succeeded(taken, found, watching, ours);
			// A process that is killed meanwhile hears nothing more of it.
			const stored: Read = { sessionId: key.sessionId, beganAt, stateAt, storedAt: now, isSure: false };
			reads.push(stored);
			const nextRead = { at: now + REGULARLY_MS, by: now + REGULARLY_MS };
			const isStored = await recording.record(held, { update: { ...update, nextRead }, watches: news, now });
			if (!isStored) {
				reads.splice(reads.lastIndexOf(stored), 1);
				return;
			}
			stored.isSure = true;
			if (isFailing) await sessions.readFailing(SERVICE_URL, now);
			isFailing = false;
		} catch (error) {
			if (!service.isAway) throw error;
			isFailing = true;
			const now = clock.now();
			await recording.record(held, { ...reading.failed(taken, [], false), now });
		}
	}

	/** Begins a read that is due. Returns the milliseconds until the next one may be. */
	async function turn(): Promise<number> {
		const now = clock.now();
		if (loop.underWay.size >= READS_AT_ONCE) return REGULARLY_MS;
		if (roomAt > now) return roomAt - now;
		const token = randomUUID();
		const [taken] = await sessions.takeDue(SERVICE_URL, { token, ms: READ_LEASE_MS }, 1, now);
		if (taken === undefined) {
			const dueAt = await sessions.nextDueAt(SERVICE_URL);
			return dueAt === null ? REGULARLY_MS : Math.max(10, dueAt - now);
		}
		roomAt = now + INTERVAL_MS;
		loop.begin(read(taken, token));
		return INTERVAL_MS;
	}

	const loop = createLoop(clock, turn);
	sessions.rows.onChange(loop.wake);
	return loop;
}

/** Takes stored answers through their states, as the program's worker does, without its reads. */
export function createSender(
	{ clock, store: { answers } }: Core,
	{ service, questionOf, onFailed, ...options }: ProcessOptions,
) {
	const random = options.random.fork();

	async function step(answer: Answer, token: string): Promise<void> {
		const write = (patch: AnswerPatch) => answers.update(answer, token, patch, { now: clock.now(), release: true });
		const end = { nextAttemptAt: null };
		if (answer.state === 'accepted') {
			const nextAttemptAt = clock.now() + Math.round(random.between(100, 2_500));
			await write({ state: 'delivering', nextAttemptAt });
		} else if (answer.state === 'delivering') {
			if (service.isAway) {
				await write({ nextAttemptAt: clock.now() + AGAIN_MS });
				return;
			}
			const outcome = random.chance(REFUSED) ? 'refused' : service.answer(questionOf(answer), answer.id);
			await clock.sleep(Math.round(random.between(50, 600)));
			const arrived = outcome === 'answered' || outcome === 'same';
			if (arrived) {
				const now = clock.now();
				await write({ state: 'delivered', deliveredAt: now, nextAttemptAt: now + 5_000 });
			} else {
				await write({ ...end, state: outcome === 'refused' ? 'refused' : 'conflicted' });
				onFailed(answer);
			}
			return;
		} else await write(answer.state === 'delivered' ? { ...end, state: 'resumed', agentOutcome: 'resumed' } : end);
	}

	async function turn(): Promise<number> {
		const token = randomUUID();
		const due = await answers.takeDue(SERVICE_URL, { token, ms: ANSWER_LEASE_MS }, 100, clock.now());
		for (const answer of due) loop.begin(step(answer, token));
		const dueAt = await answers.nextDueAt(SERVICE_URL);
		return dueAt === null ? 3_600_000 : Math.max(10, dueAt - clock.now());
	}

	const loop = createLoop(clock, turn);
	answers.rows.onChange(loop.wake);
	return loop;
}

/** Repeats `turn`, which returns the milliseconds until the next one, or is woken before. Work that it begins wakes it at its end. */
function createLoop(clock: Clock, turn: () => Promise<number>) {
	const underWay = new Set<Promise<void>>();
	let woken = new AbortController();
	return {
		underWay: underWay as ReadonlySet<Promise<void>>,
		begin(work: Promise<void>): void {
			const ended = work
				.catch(() => undefined)
				.finally(() => {
					underWay.delete(ended);
					woken.abort();
				});
			underWay.add(ended);
		},
		async run(signal: AbortSignal): Promise<void> {
			while (!signal.aborted) {
				const { signal: early } = woken;
				const ms = await turn();
				await clock.sleep(ms, AbortSignal.any([signal, early])).catch(() => undefined);
				if (woken.signal.aborted) woken = new AbortController();
			}
			await Promise.all(underWay);
		},
		wake: () => woken.abort(),
	};
}
