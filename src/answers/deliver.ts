import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import { compareForDelivery, type DeliveryComparison, mergeForPut } from '../questions/compare.ts';
import { assistantCountOf } from '../questions/progress.ts';
import type { Session } from '../questions/session.ts';
import type { Answer, AnswerItem, OtherAnswer } from './answer.ts';
import { classifyFailure, type Failure, nextAttemptAt } from './failure.ts';
import type { AnswerPatch, AnswerStore, DeliveryPermit, DeliveryService } from './ports.ts';

/** How long after the answer to our read the PUT may begin: the part of the window against outside writers that is ours. */
const FRESH_MS = 50;
/** The PUT begins at most this long after it was noted in the store that it may. */
const START_WITHIN_MS = 2_000;
/** A read before the end of the wait for an unknown outcome, so that a PUT that did land is told soon. */
const EARLY_LOOK_MS = 1_000;
const FRESH_TRIES = 3;

/** The first look after a delivery, see `confirm.ts`. */
const FIRST_CONFIRM_MS = 2_000;

export interface DeliveryMetrics {
	attempt(outcome: 'delivered' | 'settled' | Failure['kind']): void;
	/** Somebody else's answer was there. */
	conflict(): void;
	/** Milliseconds between the answer to the read and the start of the PUT. */
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
	readonly code = 'store_unavailable';
	readonly retryable = true;
	readonly outcomeUnknown = true;
}

/**
 * Carries one answer to the service: read, compare, PUT every item within milliseconds, or find out that it must not.
 * `deliver` makes one attempt for an answer that `owner` leases and writes what came of it, keeping the lease; it
 * resolves to the answer as stored, or null when the lease was lost. `signal` is heeded until the PUT begins.
 */
export function createDelivery({ store, service, clock, log, metrics, random = Math.random }: Dependencies) {
	async function write(answer: Answer, owner: string, patch: AnswerPatch): Promise<Answer> {
		const written = await store.update(answer.id, owner, patch, { now: clock.now(), release: false });
		if (written === null) throw new LeaseLost();
		return written;
	}

	/** Notes in the store that a PUT may begin: from here on its text can not be replaced and its outcome is unknown. */
	async function mark(answer: Answer, owner: string, session: Session): Promise<Answer> {
		return write(answer, owner, {
			state: 'delivering',
			putStartedAt: clock.now(),
			before: { status: session.status, assistantCount: assistantCountOf(session) },
		});
	}

	async function attempt(answer: Answer, owner: string, permit: DeliveryPermit, signal: AbortSignal): Promise<Answer> {
		const unknownUntil =
			answer.putStartedAt === null ? null : answer.putStartedAt + START_WITHIN_MS + service.callTimeoutMs;
		let current = answer;
		let marked = false;
		for (let tries = 1; ; tries++) {
			const { session, readAt } = await permit.read(answer.question.sessionId);
			signal.throwIfAborted();
			const comparison = compare(current, session);
			if (unknownUntil !== null && clock.now() < unknownUntil && comparison.kind !== 'alreadyOurs') {
				// The earlier PUT is not there but may still land: only after that is it safe to repeat it, or true to say
				// that it was not sent.
				return await write(current, owner, { nextAttemptAt: unknownUntil });
			}
			const settled = settle(current, comparison, unknownUntil !== null, clock.now());
			if (settled !== null) {
				metrics.attempt('settled');
				if (settled.state === 'conflicted') metrics.conflict();
				return await write(current, owner, settled);
			}
			if (!marked || clock.now() - (current.putStartedAt ?? 0) > START_WITHIN_MS / 2) {
				current = await mark(current, owner, session);
				marked = true;
			}
			const elapsed = clock.now() - readAt;
			if (elapsed > FRESH_MS && tries < FRESH_TRIES) continue;
			if (clock.now() - (current.putStartedAt ?? 0) > START_WITHIN_MS) continue;
			return await put(current, owner, permit, session, elapsed);
		}
	}

	async function put(
		answer: Answer,
		owner: string,
		permit: DeliveryPermit,
		session: Session,
		elapsed: number,
	): Promise<Answer> {
		const { sessionId, messageIndex } = answer.question;
		// The mark returned the text as it stands now: an edit that came before it is in there, none can come after it.
		const items = mergeForPut(session.messages[messageIndex]?.humanInput ?? [], valuesOf(answer));
		metrics.readToPut(elapsed);
		await permit.putAnswers(sessionId, messageIndex, items);
		const now = clock.now();
		metrics.attempt('delivered');
		metrics.delivered(now - answer.acceptedAt);
		try {
			return await write(answer, owner, deliveredPatch(now));
		} catch (error) {
			if (error instanceof LeaseLost) throw error;
			throw new DeliveryNotNotedError('The store did not take the note of a delivery', { cause: error });
		}
	}

	async function fail(answer: Answer, owner: string, error: unknown): Promise<Answer> {
		const failure = classifyFailure(error);
		const now = clock.now();
		const attempts = answer.attempts + 1;
		metrics.attempt(failure.kind);
		log.warn({ answer: answer.id, code: failure.code, kind: failure.kind, attempts }, 'delivery attempt failed');
		// What the store says now, not what this attempt began with: the PUT may have been marked in between.
		const current = (await store.get(answer.id)) ?? answer;
		// Known not to have been saved by this attempt; an unknown outcome of an earlier one stays unknown.
		const mayHaveLanded = failure.kind === 'unknown' ? current.putStartedAt : answer.putStartedAt;
		const base = { attempts, lastError: failure.code, putStartedAt: mayHaveLanded };
		if (failure.kind === 'permanent' && mayHaveLanded === null) {
			return write(current, owner, { ...base, state: 'refused', nextAttemptAt: now });
		}
		if (now >= answer.giveUpAt) return write(current, owner, { ...base, state: 'waiting', nextAttemptAt: now });
		const early = failure.kind === 'unknown' && mayHaveLanded !== null && answer.putStartedAt === null;
		return write(current, owner, {
			...base,
			state: mayHaveLanded === null ? 'accepted' : 'delivering',
			nextAttemptAt: early
				? Math.ceil(Math.max(now + EARLY_LOOK_MS, failure.retryAt ?? 0))
				: Math.min(nextAttemptAt(now, attempts, failure.retryAt, random), Math.max(answer.giveUpAt, now + 1)),
		});
	}

	return {
		async deliver(answer: Answer, owner: string, signal: AbortSignal): Promise<Answer | null> {
			try {
				if (answer.content.kind !== 'readable') {
					return await write(answer, owner, {
						state: 'waiting',
						lastError: 'values_unreadable',
						nextAttemptAt: clock.now(),
					});
				}
				const permit = await service.reserveDelivery(signal);
				return await attempt(answer, owner, permit, signal);
			} catch (error) {
				if (error instanceof LeaseLost) return null;
				if (signal.aborted) throw error;
				try {
					return await fail(answer, owner, error);
				} catch (failed) {
					if (failed instanceof LeaseLost) return null;
					throw failed;
				}
			}
		},
	};
}

/** What the comparison says about an answer that must not be sent; null when it may. */
function settle(answer: Answer, comparison: DeliveryComparison, maybeSent: boolean, now: number): AnswerPatch | null {
	switch (comparison.kind) {
		case 'clear':
			return null;
		case 'alreadyOurs':
			// Only an earlier PUT of ours makes it ours. Without one, somebody else gave the very same answer.
			return maybeSent
				? deliveredPatch(now)
				: { state: 'conflicted', other: outsider(answer, null), nextAttemptAt: now, putStartedAt: null };
		case 'answeredByOther':
			return {
				state: 'conflicted',
				other: outsider(answer, comparison.values),
				nextAttemptAt: now,
				putStartedAt: null,
			};
		case 'changed':
			return { state: 'changed', nextAttemptAt: now, putStartedAt: null };
		case 'over':
			return { state: 'ended', nextAttemptAt: now, putStartedAt: null };
	}
}

function deliveredPatch(now: number): AnswerPatch {
	return {
		state: 'delivered',
		deliveredAt: now,
		nextAttemptAt: now + FIRST_CONFIRM_MS,
		putStartedAt: null,
		lastError: null,
	};
}

/**
 * `values` null: word for word what this answer says. Of items that were not its author's to fill nothing is kept: whether
 * they are secret was never asked.
 */
function outsider(answer: Answer, values: readonly string[] | null): OtherAnswer {
	const items = itemsOf(answer);
	return {
		person: null,
		at: null,
		same: values === null,
		values: items.map((item, position) =>
			item.secret || item.value === null ? null : values === null ? item.value : (values[position] ?? null),
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
