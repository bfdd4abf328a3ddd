import { CLOCK_ALLOWANCE_MS, type Clock, elapsedSince } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import {
	compareForDelivery,
	countSame,
	type DeliveryComparison,
	mergeForPut,
	resumeOutcome,
} from '../questions/compare.ts';
import { fingerprintOf, sameText } from '../questions/fingerprint.ts';
import { questionAt } from '../questions/open-question.ts';
import { assistantCountOf } from '../questions/progress.ts';
import { isSecretValue } from '../questions/secrecy.ts';
import { isOver, type Session } from '../questions/session.ts';
import { type Answer, type AnswerItem, isBlocking, type OtherAnswer, TAKES_LONG_MS } from './answer.ts';
import { classifyFailure, type Failure, nextAttemptAt } from './failure.ts';
import type { AnswerPatch, AnswerStore, DeliveryPermit, DeliveryService } from './ports.ts';

/** How long after the response to our read the PUT may leave: the part of the window against outside writers that is ours. */
const FRESH_MS = 50;
/** A PUT leaves this process at most this long after it was noted in the store that it may, or not at all. */
const LEAVE_WITHIN_MS = 2_000;
/** A read before the end of the wait for an unknown outcome, so that a PUT that did land is told soon. */
const EARLY_LOOK_MS = 1_000;
const FRESH_TRIES = 3;

/** The first look after a delivery, see `confirm.ts`. */
const FIRST_CONFIRM_MS = 2_000;

/** When to look again for a session that the service does not know; after the last of them it is gone for good. */
const MISSING_RETRIES_MS = [1_000, 4_000] as const;

export interface DeliveryMetrics {
	attempt(outcome: 'delivered' | 'settled' | Failure['kind']): void;
	/** Somebody else's answer was there. */
	conflict(): void;
	/** Milliseconds between the response to the read and the start of the PUT. */
	readToPut(ms: number): void;
	/** Milliseconds from Submit to "the service has it". */
	delivered(ms: number): void;
}

interface Dependencies {
	readonly store: AnswerStore;
	readonly service: DeliveryService;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: DeliveryMetrics;
	readonly random?: () => number;
}

/** The lease was lost: another replica has this answer now, and this one must not touch it. */
class LeaseLost extends Error {}

/** The service has taken the answer, but the store did not take the note of it: the next read tells that it is there. */
class DeliveryNotNotedError extends HandraiseError {
	override readonly code = 'store_unavailable';
	override readonly retryable = true;
	readonly outcomeUnknown = true;
}

/** One attempt. `maybeSentAt`: when an earlier PUT was noted that may have arrived or may yet; null once that is ruled out. */
interface Attempt {
	readonly answer: Answer;
	readonly token: string;
	maybeSentAt: number | null;
}

/** How long after it began a PUT may still land, in ms: what it may take to leave, to end, and what clocks differ by. */
export function mayLandForMs(callTimeoutMs: number): number {
	return LEAVE_WITHIN_MS + callTimeoutMs + CLOCK_ALLOWANCE_MS;
}

/**
 * Carries one answer to the service: read, compare, PUT every item within milliseconds, or find out that it must not.
 *
 * Three moments of a PUT are told apart. It *begins* when the store has noted that it may have been sent
 * (`putStartedAt`). It *leaves* when its first byte is handed to the connection, within `LEAVE_WITHIN_MS` of that or never.
 * It has *ended* when the service has answered or given it up, within the call's time-out after it left. So a PUT of
 * unknown outcome cannot land any more when those two times, and what clocks may differ by, have passed since it began;
 * and only a read that begins after that can rule it out.
 */
export function createDelivery({ store, service, clock, log, metrics, random = Math.random }: Dependencies) {
	const landsWithinMs = mayLandForMs(service.callTimeoutMs);

	/** Whether a PUT that began at `at` may still land; null: none did. */
	function mayStillLand(at: number | null): boolean {
		return at !== null && elapsedSince(clock, at) < landsWithinMs;
	}

	/** When to look again for a PUT that may still land; a time noted before the clock was put back is counted from now on. */
	function untilItLanded(at: number): AnswerPatch {
		const now = clock.now();
		const left = landsWithinMs - elapsedSince(clock, at);
		return { putStartedAt: Math.min(at, now), nextAttemptAt: now + Math.max(left, 0) };
	}

	async function write(answer: Answer, token: string, patch: AnswerPatch): Promise<Answer> {
		const written = await store.update(answer, token, patch, { now: clock.now(), release: false });
		if (written === null) throw new LeaseLost();
		return written;
	}

	/** Notes in the store that a PUT begins: from here on its text can not be replaced and its outcome is unknown. */
	async function mark(answer: Answer, token: string, session: Session): Promise<Answer> {
		return write(answer, token, {
			state: 'delivering',
			putStartedAt: clock.now(),
			before: beforePut(answer, session),
			startFailed: false,
			missingCount: 0,
		});
	}

	/** Whether a PUT that was noted at `markedAt` may still leave. A clock that was set since then tells nothing. */
	function mayLeave(markedAt: number): boolean {
		const since = clock.now() - markedAt;
		return since >= 0 && since <= LEAVE_WITHIN_MS && (clock.steadySince?.() ?? 0) <= markedAt;
	}

	async function carry(attempt: Attempt, permit: DeliveryPermit, signal: AbortSignal): Promise<Answer> {
		const { answer, token } = attempt;
		let current = answer;
		let marked = false;
		for (let tries = 1; ; tries++) {
			const { maybeSentAt } = attempt;
			// Decided before the read begins: one that is under way while the PUT lands may not show it.
			const isEarly = mayStillLand(maybeSentAt);
			const { session, endedAt } = await permit.read(answer.question.sessionId);
			signal.throwIfAborted();
			const comparison = compare(current, session);
			if (maybeSentAt !== null && isEarly && comparison.kind !== 'alreadyOurs') {
				// It is not there but may still land: only after that is it safe to repeat it, or true to say what became of it.
				return await write(current, token, { ...untilItLanded(maybeSentAt), missingCount: 0 });
			}
			const settled = await settle(current, comparison, session, maybeSentAt);
			if (settled !== null) return await writeSettled(current, token, settled);
			attempt.maybeSentAt = null;
			const markedFor = clock.now() - (current.putStartedAt ?? 0);
			if (!marked || markedFor > LEAVE_WITHIN_MS / 2 || !mayLeave(current.putStartedAt ?? 0)) {
				current = await mark(current, token, session);
				marked = true;
				// The mark returned the text as it stands now: an edit may have come before it, none can come after it.
				const edited = await settle(current, compare(current, session), session, null);
				if (edited !== null) return await writeSettled(current, token, edited);
			}
			const elapsed = clock.now() - endedAt;
			if (elapsed > FRESH_MS && tries < FRESH_TRIES) continue;
			if (!mayLeave(current.putStartedAt ?? 0)) continue;
			return await put(current, token, permit, session, elapsed);
		}
	}

	async function writeSettled(answer: Answer, token: string, settled: AnswerPatch): Promise<Answer> {
		metrics.attempt('settled');
		if (settled.state === 'conflicted') metrics.conflict();
		const { editCount } = answer;
		const written = await store.update(answer, token, settled, { now: clock.now(), release: false, editCount });
		// Edited while the session was read: what was found out is about another text.
		if (written === null) throw new LeaseLost();
		return written;
	}

	async function put(
		answer: Answer,
		token: string,
		permit: DeliveryPermit,
		session: Session,
		elapsed: number,
	): Promise<Answer> {
		await send(answer, permit, session, valuesOf(answer));
		metrics.readToPut(elapsed);
		const now = clock.now();
		metrics.attempt('delivered');
		metrics.delivered(now - answer.acceptedAt);
		try {
			return await write(answer, token, deliveredPatch(now));
		} catch (error) {
			if (error instanceof LeaseLost) throw error;
			throw new DeliveryNotNotedError('The store did not take the note of a delivery', { cause: error });
		}
	}

	async function send(
		answer: Answer,
		permit: DeliveryPermit,
		session: Session,
		values: readonly (string | null)[],
	): Promise<void> {
		const { sessionId, messageIndex } = answer.question;
		const items = mergeForPut(session.messages[messageIndex]?.humanInput ?? [], values);
		const markedAt = answer.putStartedAt ?? 0;
		await permit.putAnswers(sessionId, messageIndex, items, () => mayLeave(markedAt));
	}

	async function fail(attempt: Attempt, error: unknown): Promise<Answer | null> {
		const { answer, token, maybeSentAt } = attempt;
		const failure = classifyFailure(error, clock.now());
		const now = clock.now();
		const attempts = answer.attempts + 1;
		metrics.attempt(failure.kind);
		log.warn({ answer: answer.id, code: failure.code, kind: failure.kind, attempts }, 'delivery attempt failed');
		// What the store says now, not what this attempt began with: a write may have been committed whose confirmation
		// was lost, the mark of a PUT as well as the end of the answer.
		const current = await store.get(answer.id);
		if (current === null) return null;
		if (!isBlocking(current.state)) return store.update(current, token, {}, { now, release: false });
		// Known not to have been saved by this attempt; an unknown outcome of an earlier one stays unknown.
		const mayHaveLanded = failure.kind === 'unknown' ? current.putStartedAt : maybeSentAt;
		const missingCount = failure.kind === 'missing' ? answer.missingCount + 1 : 0;
		const base = {
			attempts,
			lastError: failure.code,
			putStartedAt: mayHaveLanded,
			missingCount,
			notBefore: failure.retryAt,
			...(failure.reported && { startFailed: true }),
		};
		// While a PUT may still land nobody else is let in, whatever the service says of the session.
		const isGone = missingCount > MISSING_RETRIES_MS.length && !mayStillLand(mayHaveLanded);
		if (isGone || (failure.kind === 'permanent' && mayHaveLanded === null)) {
			return write(current, token, { ...base, state: 'refused', nextAttemptAt: now });
		}
		// An answer that may have arrived goes on blocking until a read has told whether it did.
		if (now >= answer.giveUpAt && mayHaveLanded === null) {
			return write(current, token, { ...base, state: 'waiting', nextAttemptAt: now });
		}
		const missingRetry = MISSING_RETRIES_MS[missingCount - 1];
		const firstLook = failure.kind === 'unknown' && mayHaveLanded !== null && maybeSentAt === null;
		const next =
			missingRetry !== undefined
				? now + missingRetry
				: firstLook
					? Math.ceil(Math.max(now + EARLY_LOOK_MS, failure.retryAt ?? 0))
					: nextAttemptAt(now, attempts, failure.retryAt, random);
		return write(current, token, {
			...base,
			state: mayHaveLanded === null ? 'accepted' : 'delivering',
			nextAttemptAt: soonerOf(next, [answer.acceptedAt + TAKES_LONG_MS, answer.giveUpAt], now),
		});
	}

	/** What the comparison says about an answer that must not be sent; null when it may. */
	async function settle(
		answer: Answer,
		comparison: DeliveryComparison,
		session: Session,
		maybeSentAt: number | null,
	): Promise<AnswerPatch | null> {
		const now = clock.now();
		// In a state in which nothing is sent any more it says that an earlier PUT may have arrived.
		const ended = { nextAttemptAt: now, putStartedAt: maybeSentAt };
		// It stands at another place by now: messages were put in or taken out before it.
		if (maybeSentAt !== null && comparison.kind !== 'alreadyOurs' && hasMoved(answer, session)) {
			return deliveredPatch(now, answer.startFailed);
		}
		switch (comparison.kind) {
			case 'clear':
				if (maybeSentAt === null) return null;
				// Agents empty the field of what they have taken: one that went on since may have it.
				if (answer.before !== null && resumeOutcome(answer.before, session) === 'resumed') {
					return { ...ended, state: 'changed' };
				}
				if (now < answer.giveUpAt) return null;
				// The time to try is over, and a read has shown that nothing arrived.
				return { state: 'waiting', nextAttemptAt: now, putStartedAt: null };
			case 'alreadyOurs':
				// The same text is ours only if we sent a PUT before. Without one, somebody else gave the same answer.
				return maybeSentAt !== null
					? deliveredPatch(now, answer.startFailed)
					: { ...ended, state: 'conflicted', other: await whoWasFirst(answer, session, null) };
			case 'answeredByOther':
				return { ...ended, state: 'conflicted', other: await whoWasFirst(answer, session, comparison.values) };
			case 'changed':
				return { ...ended, state: 'changed' };
			case 'over':
				return { ...ended, state: 'ended' };
		}
	}

	/**
	 * Whose values stand there: a colleague's whose answer Handraise delivered, or, when none of those fits, somebody's
	 * outside. `values` null: word for word what this answer says.
	 */
	async function whoWasFirst(answer: Answer, session: Session, values: readonly string[] | null): Promise<OtherAnswer> {
		const there = values ?? valuesOf(answer).map((value) => value ?? '');
		const { service: name, sessionId, messageIndex } = answer.question;
		const [marks, asked] = [await store.marks(name, sessionId), questionAt(session, messageIndex)];
		const outsider = outsiderOf(answer, values, (position) => asked === null || isSecretValue(marks, asked, position));
		for (const other of await store.delivered(answer.question, answer.fingerprint)) {
			if (other.id === answer.id || !standsThere(other, there)) continue;
			return { ...outsider, person: other.person, at: other.deliveredAt };
		}
		return outsider;
	}

	return {
		/**
		 * Makes one attempt for an answer that `token` leases and writes what came of it, keeping the lease. Resolves to the
		 * answer as stored, or null when the lease was lost. `signal` is heeded until the PUT begins.
		 */
		async deliver(answer: Answer, token: string, signal: AbortSignal): Promise<Answer | null> {
			const { putStartedAt } = answer;
			const attempt: Attempt = { answer, token, maybeSentAt: putStartedAt };
			try {
				if (answer.content.kind !== 'readable') {
					const lastError = 'values_unreadable';
					// It cannot be compared, so nobody else is let in while it may still land.
					return putStartedAt !== null && mayStillLand(putStartedAt)
						? await write(answer, token, { ...untilItLanded(putStartedAt), lastError })
						: await write(answer, token, { state: 'waiting', lastError, nextAttemptAt: clock.now() });
				}
				const permit = await service.reserveDelivery(signal);
				return await carry(attempt, permit, signal);
			} catch (error) {
				if (error instanceof LeaseLost) return null;
				if (signal.aborted) throw error;
				try {
					return await fail(attempt, error);
				} catch (failed) {
					if (failed instanceof LeaseLost) return null;
					throw failed;
				}
			}
		},

		/**
		 * Sends a delivered answer once more, at its author's request, because the service said that it could not start the
		 * agent: the same PUT starts it. Only while a fresh read still shows the answer and nothing newer, and never again by
		 * itself: the request is cleared before the PUT begins. Null when the lease was lost.
		 */
		async restart(answer: Answer, token: string, signal: AbortSignal): Promise<Answer | null> {
			const heard = { ...answer.told, state: null, aftermath: null };
			let begun = answer;
			try {
				const permit = await service.reserveDelivery(signal);
				const { session } = await permit.read(answer.question.sessionId);
				signal.throwIfAborted();
				const now = clock.now();
				if (!canRestart(answer, session)) {
					return await write(answer, token, { restartAskedAt: null, nextAttemptAt: now, told: heard });
				}
				begun = await write(answer, token, {
					...restarted(now),
					restartAskedAt: null,
					putStartedAt: now,
					before: beforePut(answer, session),
					// Should this process end now, another one looks what became of it, and tells.
					told: heard,
				});
				await send(begun, permit, session, []);
				return await write(begun, token, {
					...restarted(clock.now()),
					startFailed: false,
					lastError: null,
					told: heard,
				});
			} catch (error) {
				if (error instanceof LeaseLost) return null;
				if (signal.aborted && begun === answer) throw error;
				const { code, kind } = classifyFailure(error, clock.now());
				log.warn({ answer: answer.id, code }, 'an answer could not be sent again to start the agent');
				if (kind === 'unknown' && begun.putStartedAt !== null) {
					// While it may still land, the lease keeps everybody else's answer to this session back.
					const left = landsWithinMs - elapsedSince(clock, begun.putStartedAt);
					await clock.sleep(Math.max(left, 0), signal);
				}
				const failed = { ...restarted(clock.now()), restartAskedAt: null, lastError: code, told: heard };
				return store.update(begun, token, failed, { now: clock.now(), release: false });
			}
		},
	};
}

/** `at`, or the first of `moments` that comes before it and is not past. */
function soonerOf(at: number, moments: readonly number[], now: number): number {
	return Math.min(at, ...moments.filter((moment) => moment > now));
}

/**
 * Whether sending it again can only start the agent: what it says stands there (of a wiped secret only that something
 * does) and the agent has written nothing since.
 */
export function canRestart(answer: Answer, session: Session): boolean {
	const { messageIndex } = answer.question;
	const items = session.messages[messageIndex]?.humanInput ?? [];
	const isNewest = session.messages.length - 1 === messageIndex;
	return (
		isNewest &&
		!isOver(session.status) &&
		fingerprintOf(items) === answer.fingerprint &&
		standsThere(
			answer,
			items.map(({ value }) => value),
		)
	);
}

function restarted(now: number): AnswerPatch {
	return { deliveredAt: now, aftermath: null, nextAttemptAt: now + FIRST_CONFIRM_MS, putStartedAt: null };
}

function deliveredPatch(now: number, startFailed = false): AnswerPatch {
	return {
		state: 'delivered',
		deliveredAt: now,
		nextAttemptAt: now + FIRST_CONFIRM_MS,
		putStartedAt: null,
		lastError: null,
		startFailed,
	};
}

function beforePut(answer: Answer, session: Session) {
	const { fingerprint } = answer;
	return {
		status: session.status,
		assistantCount: assistantCountOf(session),
		sameCount: countSame(session, fingerprint, valuesOf(answer)),
	};
}

/** Whether the question stands at another place by now with this answer in it: one more such message than before the PUT. */
function hasMoved(answer: Answer, session: Session): boolean {
	const sameBefore = answer.before?.sameCount ?? null;
	return sameBefore !== null && countSame(session, answer.fingerprint, valuesOf(answer)) > sameBefore;
}

/** Whether what `answer` says is what stands in `there`; a wiped secret fits any text. */
function standsThere(answer: Answer, there: readonly string[]): boolean {
	const items = itemsOf(answer);
	return (
		items.length > 0 &&
		items.every(({ value, wiped }, position) => {
			const text = there[position] ?? '';
			if (wiped) return text !== '';
			return value === null || value === '' || sameText(text, value);
		})
	);
}

/**
 * `values` null: word for word what this answer says. Of items that were not its author's to fill nothing is kept, nor of
 * what is secret to its author or to whoever gave it.
 */
function outsiderOf(
	answer: Answer,
	values: readonly string[] | null,
	isSecret: (position: number) => boolean,
): OtherAnswer {
	const items = itemsOf(answer);
	return {
		person: null,
		at: null,
		same: values === null,
		values: items.map((item, position) =>
			item.secret || item.value === null || isSecret(position)
				? null
				: values === null
					? item.value
					: (values[position] ?? null),
		),
	};
}

function compare(answer: Answer, session: Session): DeliveryComparison {
	return compareForDelivery({
		session,
		messageIndex: answer.question.messageIndex,
		fingerprint: answer.fingerprint,
		values: valuesOf(answer),
	});
}

function itemsOf(answer: Answer): readonly AnswerItem[] {
	return answer.content.kind === 'readable' ? answer.content.items : [];
}

function valuesOf(answer: Answer): (string | null)[] {
	return itemsOf(answer).map((item) => item.value);
}
