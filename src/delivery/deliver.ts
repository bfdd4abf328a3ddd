import type { Core } from '../core.ts';
import {
	type Answer,
	type AnswerPatch,
	firstDueAt,
	isBlocking,
	QUESTION_MOVED,
	SEND_WITHIN_MS,
	UNREADABLE_VALUES,
} from '../domain/answer.ts';
import { beforePut, compareForDelivery, hasMovedSince, hasWorkedSince } from '../domain/compare.ts';
import type { Session } from '../domain/session.ts';
import { uptimeOf } from '../kernel/clock.ts';
import type { Missed } from '../service/health.ts';
import { type DeliveryPermit, NOT_FOUND_CODES, WAITS_FOR_SERVICE_CODES } from '../service/service.ts';
import type { AnswerStore } from './answer-store.ts';
import { createAuthorCheck, type Policy } from './author-check.ts';
import type { NoteRead } from './confirm.ts';
import { whoWasFirst } from './earlier-answers.ts';
import { classifyFailure, type Failure, NotNoted, nextStepAt } from './failed-attempt.ts';
import {
	comparisonInput,
	createPut,
	createWrite,
	deliveredPatch,
	heldOrLost,
	keptQuestion,
	LeaseLost,
	newRepeats,
} from './put.ts';

/** The PUT leaves within this time after the response to our read, because somebody else may write in between. */
const FRESH_MS = 50;

interface Options {
	readonly policy: Policy;
	readonly missed: Missed;
	readonly noteRead: NoteRead;
	readonly random: () => number;
}

type Comparison = ReturnType<typeof compareForDelivery>;

interface Attempt {
	readonly answer: Answer;
	readonly token: string;
	/** When an earlier PUT began that may have arrived or may still land; null once that is ruled out. */
	maybeSentAt: number | null;
	/** When its author was last allowed to send it. */
	checkedAt: number;
}

/**
 * Makes one attempt to deliver an answer under a lease: reads the session, compares it and sends the PUT within
 * milliseconds, if the rules allow it. The signal aborts the attempt until the PUT begins. @throws LeaseLost
 */
export function createDelivery(core: Core<{ answers: AnswerStore }>, { policy, missed, noteRead, random }: Options) {
	const { clock, log, sessionService } = core;
	const { answers: store } = core.store;
	const metrics = core.metrics.delivery;
	const put = createPut(core);
	const write = createWrite(core);
	const author = createAuthorCheck(core, policy);

	/**
	 * Puts the next attempt at the time when the PUT can no longer land. If the clock was put back, that counts from
	 * now.
	 */
	function untilItLanded(startedAt: number): AnswerPatch {
		const now = clock.now();
		return { putStartedAt: Math.min(startedAt, now), nextAttemptAt: now + put.landsForMs(startedAt) };
	}

	/**
	 * Notes that the PUT begins. From here on the text cannot be edited, and the outcome is unknown. After an edit
	 * during the read nothing is noted and the next attempt reads again: what is compared is always what is sent.
	 * Resolves also to when the PUT began, by uptime. @throws LeaseLost
	 */
	async function markPut(answer: Answer, token: string, session: Session) {
		const begunAt = uptimeOf(clock);
		const begun = { beforePut: await beforePut(comparisonInput(answer, session)), startedAt: clock.now() };
		const { editCount } = answer;
		return { begunAt, answer: heldOrLost(await store.beginPut(answer, token, begun, { now: clock.now(), editCount })) };
	}

	/**
	 * What became of an earlier PUT that may have arrived. Null when it did not: then the answer may be sent.
	 * @throws LeaseLost
	 */
	async function lookFor(attempt: Attempt, sentAt: number, signal: AbortSignal): Promise<Answer | null> {
		const { answer, token } = attempt;
		using permit = await sessionService.reserveDelivery(signal);
		// Decided before the read begins: a read during which the PUT lands may not show it.
		const isEarly = put.landsForMs(sentAt) > 0;
		const reading = await permit.read(answer.question.sessionId);
		const { session } = reading;
		signal.throwIfAborted();
		const comparison = compareForDelivery(comparisonInput(answer, session));
		if (isEarly && comparison.kind !== 'alreadyOurs') {
			// It may still land, so it can be neither repeated nor given up yet.
			return write(answer, token, { ...untilItLanded(sentAt), missingCount: 0 });
		}
		const settled = await settleSent(answer, comparison, session, sentAt);
		return settled && end(attempt, reading, settled);
	}

	/** Stores what the read shows, then writes the end of an answer that must not be sent. */
	async function end(
		{ answer, token }: Attempt,
		reading: Parameters<NoteRead>[0],
		settled: AnswerPatch,
	): Promise<Answer> {
		const { session } = reading;
		// The read is stored first, or people would see the question open in between.
		await noteRead(reading);
		metrics.attempt('settled');
		if (settled.state === 'conflicted') metrics.conflict();
		// After an edit during the read, the comparison was about another text.
		return write(answer, token, { ...settled, ...newRepeats(answer, session) }, answer.editCount);
	}

	/** Reads, compares and sends, within the time that the check of the author holds. @throws LeaseLost */
	async function readAndSend(
		attempt: Attempt,
		permit: DeliveryPermit,
		signal: AbortSignal,
		/** Of a second read: when the PUT of this attempt began, by uptime. */
		markedAt: number | null = null,
	): Promise<Answer> {
		const { answer, token, checkedAt } = attempt;
		const reading = await permit.read(answer.question.sessionId);
		const { session, endedAt } = reading;
		signal.throwIfAborted();
		const comparison = compareForDelivery(comparisonInput(answer, session));
		if (comparison.kind !== 'clear') return end(attempt, reading, await endedBy(answer, comparison, session, null));
		author.assertChecked(checkedAt);
		const isMarked = markedAt !== null && uptimeOf(clock) - markedAt <= SEND_WITHIN_MS / 2;
		const { answer: marked, begunAt } = isMarked
			? { answer, begunAt: markedAt }
			: await markPut(answer, token, session);
		const elapsed = clock.now() - endedAt;
		// The store took long to note it. That is done now, so the PUT can follow a second read at once.
		if (elapsed > FRESH_MS && markedAt === null)
			return readAndSend({ ...attempt, answer: marked }, permit, signal, begunAt);
		await put.send(marked, permit, session, begunAt);
		metrics.readToPut(elapsed);
		return noteDelivery(marked, token, session);
	}

	async function noteDelivery(answer: Answer, token: string, session: Session): Promise<Answer> {
		const now = clock.now();
		metrics.attempt('delivered');
		metrics.delivered(now - firstDueAt(answer));
		try {
			// After the PUT: with a long session this takes milliseconds, which must not pass between read and PUT.
			const asked = keptQuestion(session, answer);
			return await write(answer, token, { ...deliveredPatch(now), ...newRepeats(answer, session), ...asked });
		} catch (error) {
			if (error instanceof LeaseLost) throw error;
			throw new NotNoted(error);
		}
	}

	/** The error to store for a failed attempt, and the run of 404s so far. */
	async function errorOf(answer: Answer, { code, kind }: Pick<Failure, 'code' | 'kind'>) {
		const { lastError, missingCount, missingSince } = answer;
		// Without a permit nothing was asked: what was found before counts.
		if (code === 'no_permit')
			return { lastError: WAITS_FOR_SERVICE_CODES.has(lastError ?? '') ? lastError : code, missingCount, missingSince };
		if (kind !== 'missing') return { lastError: code, missingCount: 0, missingSince: null };
		const missing = await missed(answer.question.sessionId, { count: missingCount, since: missingSince });
		return { lastError: missing.code, missingCount: missing.run.count, missingSince: missing.run.since };
	}

	async function fail(attempt: Attempt, error: unknown): Promise<Answer> {
		const { answer, token, maybeSentAt } = attempt;
		const { code, kind, retryAt, reported } = classifyFailure(error, clock.now());
		const now = clock.now();
		const attempts = answer.attempts + 1;
		metrics.attempt(kind);
		// A write may be committed although its reply was lost, so the stored answer decides.
		const current = await store.get(answer.id);
		if (current === null) throw new LeaseLost();
		if (!isBlocking(current.state)) return write(current, token, {});
		// When this attempt certainly saved nothing, an unknown outcome of an earlier one stays unknown.
		const mayHaveLanded = kind === 'unknown' ? current.putStartedAt : maybeSentAt;
		const { lastError, missingCount, missingSince } = await errorOf(answer, { code, kind });
		log.warn('delivery_failed', { answer: answer.id, code: lastError, kind, attempts });
		const base = {
			attempts,
			lastError,
			putStartedAt: mayHaveLanded,
			missingCount,
			missingSince,
			notBefore: retryAt,
			...(reported && { startFailed: true }),
		};
		// An answer that may have arrived blocks until a read shows whether it did.
		if (kind !== 'permanent' && now >= answer.giveUpAt && mayHaveLanded === null) {
			return write(current, token, { ...base, state: 'waiting', nextAttemptAt: null });
		}
		// While a PUT may still land, the answer blocks others, even if no read of the session can succeed.
		const isHopeless = kind === 'permanent' || lastError === NOT_FOUND_CODES.gone;
		if (isHopeless && put.landsForMs(mayHaveLanded) === 0) {
			return write(current, token, { ...base, state: 'refused', nextAttemptAt: null });
		}
		const isNewlyUnknown = kind === 'unknown' && mayHaveLanded !== null && maybeSentAt === null;
		return write(current, token, {
			...base,
			state: mayHaveLanded === null ? 'accepted' : 'delivering',
			nextAttemptAt: nextStepAt(answer, { attempts, missingCount, isNewlyUnknown, retryAt }, now, random),
		});
	}

	/** What to write when an earlier PUT may have arrived; null when it did not, and the answer may be sent again. */
	async function settleSent(
		answer: Answer,
		comparison: Comparison,
		session: Session,
		sentAt: number,
	): Promise<AnswerPatch | null> {
		const now = clock.now();
		const delivered = deliveredPatch(now, answer.startFailed);
		if (comparison.kind === 'alreadyOurs') return { ...delivered, ...keptQuestion(session, answer) };
		if (await hasMovedSince(answer.beforePut, comparisonInput(answer, session))) return delivered;
		if (comparison.kind !== 'clear') return endedBy(answer, comparison, session, sentAt);
		// An agent that has worked since may have read our answer and emptied the field.
		if (answer.beforePut !== null && hasWorkedSince(answer.beforePut, session))
			return { state: 'changed', nextAttemptAt: null, putStartedAt: sentAt };
		if (now < answer.giveUpAt) return null;
		// The time to try is over, and this read shows that nothing arrived.
		return { state: 'waiting', nextAttemptAt: null, putStartedAt: null };
	}

	/** What ends an answer. `putStartedAt`: of an earlier PUT that may have arrived; null: there is none. */
	async function endedBy(
		answer: Answer,
		comparison: Exclude<Comparison, { kind: 'clear' }>,
		session: Session,
		putStartedAt: number | null,
	): Promise<AnswerPatch> {
		const ended = { nextAttemptAt: null, putStartedAt };
		switch (comparison.kind) {
			case 'alreadyOurs':
			case 'answeredByOther': {
				// `alreadyOurs` without an earlier PUT of ours: somebody else gave the same answer.
				const values = 'values' in comparison ? comparison.values : null;
				return { ...ended, state: 'conflicted', other: await whoWasFirst(store, answer, session, values) };
			}
			case 'changed':
			case 'moved':
				return { ...ended, state: 'changed', lastError: comparison.kind === 'moved' ? QUESTION_MOVED : null };
			case 'over':
				return { ...ended, state: 'ended' };
		}
	}

	return async function deliver(answer: Answer, token: string, signal: AbortSignal): Promise<Answer> {
		const { putStartedAt } = answer;
		const attempt: Attempt = { answer, token, maybeSentAt: putStartedAt, checkedAt: answer.checkedAt };
		try {
			if (answer.content.kind !== 'readable') {
				// It cannot be compared, so it blocks others while its PUT may still land.
				const mayLand = putStartedAt !== null && put.landsForMs(putStartedAt) > 0;
				const next = mayLand ? untilItLanded(putStartedAt) : ({ state: 'waiting', nextAttemptAt: null } as const);
				return await write(answer, token, { ...next, lastError: UNREADABLE_VALUES });
			}
			// Nobody has to be asked about a PUT that arrived.
			const found = putStartedAt === null ? null : await lookFor(attempt, putStartedAt, signal);
			if (found !== null) return found;
			attempt.maybeSentAt = null;
			// Before the read, which has to come last, and costs nothing while Slack does not tell.
			attempt.checkedAt = await author.check(answer, answer.checkedAt);
			signal.throwIfAborted();
			using permit = await sessionService.reserveDelivery(signal);
			return await readAndSend(attempt, permit, signal);
		} catch (error) {
			if (error instanceof LeaseLost || signal.aborted) throw error;
			return fail(attempt, error);
		}
	};
}
