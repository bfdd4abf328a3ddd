import type { Config } from './config.ts';
import type { Clock } from './kernel/clock.ts';
import type { Log } from './kernel/log.ts';
import type { Metrics } from './kernel/metrics.ts';
import type { RateLimiter } from './kernel/rate-limiter.ts';
import type { SessionServiceClient } from './service/service.ts';

/** What most parts need, made once in `app.ts`. A part's dependencies are the fields that it takes from it. */
export interface Core<S = unknown> {
	readonly config: Config;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: Metrics;
	readonly store: S;
	/** The session service's address, which also identifies it in the store. */
	readonly serviceUrl: string;
	readonly sessionService: SessionServiceClient;
	readonly rateLimiter: RateLimiter;
}
