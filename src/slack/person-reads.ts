import { setBounded } from '../bounded-map.ts';
import { type Clock, uptimeOf } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import { loggedId } from '../log.ts';
import type { Session } from '../questions/session.ts';
import { createRateLimiter, type RateLimit, type RateLimiter } from '../rate-limiter.ts';
import { codeOf } from './clients.ts';
import type { PersonRequest } from './request.ts';

/** A person asks for more than one person may: nothing was read or opened. */
export class TooFastError extends HandraiseError {
	override readonly code = 'too_fast';
	override readonly retryable = true;
	/** Milliseconds since the epoch. */
	readonly retryAt: number;
	/** Later ones are told only where that costs no call to Slack's API. */
	readonly isFirst: boolean;

	constructor({ retryAt, isFirst }: { retryAt: number; isFirst: boolean }) {
		super('a person asks for more reads than one person may');
		this.retryAt = retryAt;
		this.isFirst = isFirst;
	}
}

/** The session as it was read at a time. */
export interface Reading {
	readonly session: Session;
	/** Milliseconds since the epoch. */
	readonly readAt: number;
	/** When the service first gave this very session; it was unchanged since. Milliseconds since the epoch. */
	readonly since: number;
}

/** Good for one read. */
export interface ReadPermit {
	/** @throws what the session service's client throws, or the signal's reason */
	read(sessionId: string, signal?: AbortSignal): Promise<Reading>;
}

interface Dependencies {
	readonly service: {
		read(sessionId: string, options: { priority: 'person'; person: string; signal?: AbortSignal }): Promise<Reading>;
	};
	readonly rateLimiter: Pick<RateLimiter, 'take' | 'charge'>;
	/** Reads at once, and then so many in a minute. */
	readonly limits: { readonly burst: number; readonly readsPerMinute: number };
	readonly clock: Clock;
	readonly metrics: { personRead(outcome: 'allowed' | 'tooFast'): void; unknownSession(): void };
}

/**
 * What a read of an id that the service does not know costs in all: two slips of the keyboard leave half of the usual burst,
 * and whoever guesses gets four ids a minute.
 */
const UNKNOWN_COSTS = 5;
/** A database that is slower than this must not cost the three seconds in which Slack opens a window. */
const DECIDE_WITHIN_MS = 500;
/** A view may be changed this many times as often as read. */
const TURNS_PER_READ = 2;
const REMEMBERED_PEOPLE = 1_000;
const HOUR_MS = 3_600_000;

/**
 * The only way to the session service for what people ask for, so that nobody takes the reads of everybody. While the
 * shared rates cannot be had, this process decides by itself.
 */
export function createPersonReads({ service, rateLimiter, limits, clock, metrics }: Dependencies) {
	const reading: RateLimit = {
		intervalMs: 60_000 / limits.readsPerMinute,
		burst: limits.burst,
		debt: limits.readsPerMinute,
	};
	const turning: RateLimit = { intervalMs: reading.intervalMs / TURNS_PER_READ, burst: reading.burst * TURNS_PER_READ };
	const ownLimiter = createRateLimiter();
	/** Until when those who were told to slow down have been told. */
	const toldUntil = new Map<string, number>();
	const unknownIds = new Map<string, { readonly since: number; readonly count: number }>();

	/** Null when there was one left. */
	async function take(key: string, rate: RateLimit): Promise<TooFastError | null> {
		const options = { now: clock.now(), keep: 0 };
		const shared = rateLimiter.take(key, rate, options).catch(() => null);
		const late = AbortSignal.timeout(DECIDE_WITHIN_MS);
		const waitMs = (await Promise.race([shared, aborted(late)])) ?? (await ownLimiter.take(key, rate, options));
		if (waitMs <= 0) return null;
		const now = clock.now();
		const told = toldUntil.get(key);
		const isFirst = told === undefined || told <= now;
		if (isFirst) setBounded(toldUntil, key, now + waitMs, REMEMBERED_PEOPLE);
		metrics.personRead('tooFast');
		return new TooFastError({ retryAt: now + waitMs, isFirst });
	}

	async function noteUnknown(request: PersonRequest, key: string, sessionId: string): Promise<void> {
		const now = uptimeOf(clock);
		const before = unknownIds.get(key);
		const isRecent = before !== undefined && now - before.since < HOUR_MS;
		const entry = isRecent ? { since: before.since, count: before.count + 1 } : { since: now, count: 1 };
		setBounded(unknownIds, key, entry, REMEMBERED_PEOPLE);
		metrics.unknownSession();
		request.log.info(
			{ session: loggedId(sessionId), unknownInHour: entry.count },
			'a person named a session that the service does not know',
		);
		const options = { now: clock.now(), count: UNKNOWN_COSTS - 1 };
		await rateLimiter.charge(key, reading, options).catch(() => ownLimiter.charge(key, reading, options));
	}

	return {
		/**
		 * Takes one read of this person's rate. Comes before everything that uses up a rate which all share: Slack's views,
		 * its facts about channels, the session service. Resolves to why not when this person has none left.
		 */
		async permit(request: PersonRequest): Promise<ReadPermit | TooFastError> {
			const { userId } = request.person;
			// A person's id is the same in every workspace.
			const key = `person:${userId}`;
			const tooFast = await take(key, reading);
			if (tooFast !== null) return tooFast;
			metrics.personRead('allowed');
			return {
				async read(sessionId, signal) {
					try {
						return await service.read(sessionId, { priority: 'person', person: userId, ...(signal && { signal }) });
					} catch (error) {
						if (codeOf(error) === 'session_not_found') await noteUnknown(request, key, sessionId);
						throw error;
					}
				},
			};
		},
		/**
		 * Takes one change of a view that needs no read: another page, other fields. Slack changes about 100 views a minute for
		 * all people together. Resolves to why not when this person has none left.
		 */
		turn: ({ person }: PersonRequest) => take(`turn:${person.userId}`, turning),
	};
}

export type PersonReads = ReturnType<typeof createPersonReads>;

/** Whether a refusal is worth telling: a reply through a response_url costs nothing that others need. */
export function isWorthTelling(request: PersonRequest, error: TooFastError): boolean {
	return request.responseUrl !== null || error.isFirst;
}

function aborted(signal: AbortSignal): Promise<null> {
	return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}
