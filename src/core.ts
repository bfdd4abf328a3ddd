import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './ops/metrics.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { SessionServiceClient } from './session-service/client.ts';
import type { SlackClients } from './slack/clients.ts';
import type { createDirectory } from './slack/directory.ts';
import type { Store } from './store/open.ts';

/** What most parts need, made once in `app.ts`. What a part takes from it is a dependency of that part. */
export interface Core {
	readonly config: Config;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: Metrics;
	readonly store: Store;
	/** The session service's address, which also identifies it in the store. */
	readonly serviceUrl: string;
	readonly sessionService: SessionServiceClient;
	/** Replicas share its limits. */
	readonly rateLimiter: RateLimiter;
	readonly clients: SlackClients;
	/** Names and time zones of people whom the access policy has looked up. */
	readonly directory: ReturnType<typeof createDirectory>;
	/** The id of a person's direct message with the app. Throws Slack's errors. */
	readonly directChannelOf: (userId: string) => Promise<string>;
}
