import { setTimeout as delay } from 'node:timers/promises';
import { HOUR_MS, uptimeOf } from '../kernel/clock.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import { loggedId } from '../kernel/log.ts';
import { setBounded } from '../kernel/memory.ts';
import { createRateLimiter, type RateLimit } from '../kernel/rate-limiter.ts';
import type { PersonRequest } from './request.ts';
import type { SlackCore } from './slack-core.ts';

/** The rate at which a person hears that they are too fast. Other refusals of that kind are silent. */
const TELLING_RATE: RateLimit = { intervalMs: 30_000, burst: 1 };

export type PersonRead = NonNullable<ReturnType<SlackCore['sessionService']['latest']>>;

/**
 * The reads that an unknown id costs: two typing errors leave half of the default burst, and a guesser gets 4 a minute.
 */
const UNKNOWN_ID_COST = 5;
/** After this, the process decides by itself: a slow database must not use up the 3 s in which Slack opens a modal. */
const DECIDE_WITHIN_MS = 500;
/** Changes of a view that a person may make for each read. */
const TURNS_PER_READ = 2;
const MAX_PEOPLE = 1_000;

/**
 * The only way of people's requests to the session service, so that nobody uses up the reads of all. `wasRead`: whether
 * a session could be read before. If so, its 404 may come from a proxy, and its id was no guess.
 */
export function createPersonReads(
	{ sessionService, rateLimiter, directory, config, clock, metrics: { people: metrics } }: SlackCore,
	stored: {
		wasRead(sessionId: string): Promise<boolean>;
		/** Has the result of a read stored. Never rejects. */
		noteRead(reading: PersonRead): Promise<void>;
	},
) {
	const { burst, perMinute } = config.personReads;
	const readRate: RateLimit = { intervalMs: 60_000 / perMinute, burst, debt: perMinute };
	const turnRate: RateLimit = { intervalMs: readRate.intervalMs / TURNS_PER_READ, burst: burst * TURNS_PER_READ };
	const ownLimiter = createRateLimiter(clock);
	const unknownIds = new Map<string, { readonly since: number; readonly count: number }>();

	/** Null when the rate allows it, else the error. If the shared limiter fails, this process limits by itself. */
	async function take(key: string, rate: RateLimit): Promise<HandraiseError | null> {
		const options = { now: clock.now(), keep: 0 };
		const shared = rateLimiter.take(key, rate, options).catch(() => null);
		const late = delay(DECIDE_WITHIN_MS, null, { ref: false });
		const waitMs = (await Promise.race([shared, late])) ?? (await ownLimiter.take(key, rate, options));
		if (waitMs <= 0) return null;
		metrics.personRead('tooFast');
		const details = { code: 'too_fast', retryable: true, retryAt: clock.now() + waitMs };
		return new HandraiseError('a person asked for more reads than one person may; try again at `retryAt`', details);
	}

	async function chargeUnknownId(request: PersonRequest, key: string, sessionId: string): Promise<void> {
		const now = uptimeOf(clock);
		const before = unknownIds.get(key);
		const isRecent = before !== undefined && now - before.since < HOUR_MS;
		const entry = isRecent ? { since: before.since, count: before.count + 1 } : { since: now, count: 1 };
		setBounded(unknownIds, key, entry, MAX_PEOPLE);
		metrics.unknownSession({});
		const facts = { session: loggedId(sessionId), unknownInHour: entry.count };
		request.log.info(facts, 'a person named a session that the service does not know');
		const options = { now: clock.now(), count: UNKNOWN_ID_COST - 1 };
		await rateLimiter.charge(key, readRate, options).catch(() => ownLimiter.charge(key, readRate, options));
	}

	/**
	 * Takes one read from this person's rate. Call it before anything with a limit for all people: a new window, Slack's
	 * facts about channels, a read of the service. @throws `too_fast`: nothing was read or opened; `listen` tells them
	 */
	async function permit(request: PersonRequest) {
		const { userId } = request.person;
		// A person has the same id in every workspace.
		const key = `person:${userId}`;
		const tooFast = await take(key, readRate);
		if (tooFast !== null) throw tooFast;
		metrics.personRead('allowed');
		return {
			/** @throws what the session service's client throws, or the signal's reason */
			async read(sessionId: string, signal?: AbortSignal): Promise<PersonRead> {
				try {
					const options = { priority: 'person', person: userId, ...(signal && { signal }) } as const;
					const reading = await sessionService.read(sessionId, options);
					await stored.noteRead(reading);
					return reading;
				} catch (error) {
					if (codeOf(error) !== 'session_not_found') throw error;
					if (await stored.wasRead(sessionId)) {
						const details = { code: 'session_missing', retryable: true, cause: error };
						throw new HandraiseError('a session that could be read before was not found', details);
					}
					await chargeUnknownId(request, key, sessionId);
					throw error;
				}
			},
		};
	}

	return {
		permit,
		/** Whether Slack's facts about a person are known, so that they need not wait for them. */
		isKnown: ({ person }: Pick<PersonRequest, 'person'>) => directory.knows(person.userId),
		/** Takes a change of a view without a read, of which Slack allows about 100 a minute in all. Null: allowed. */
		turn: ({ person }: Pick<PersonRequest, 'person'>) => take(`turn:${person.userId}`, turnRate),
		/**
		 * Whether to tell a person that they are too fast. A call counts as telling them. Commands are always told, because
		 * their reply uses no shared limit.
		 */
		async isWorthTelling({ person: { userId }, isCommand }: PersonRequest): Promise<boolean> {
			const waitMs = await ownLimiter.take(`telling:${userId}`, TELLING_RATE, { now: clock.now(), keep: 0 });
			return isCommand || waitMs === 0;
		},
	};
}

export type PersonReads = ReturnType<typeof createPersonReads>;
export type ReadPermit = Awaited<ReturnType<PersonReads['permit']>>;
