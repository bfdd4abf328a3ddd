import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import { createBackgroundBudget, usuallyPerSecond } from './capacity.ts';
import { createChannelGuard, endChannel, endNotAllowed } from './channel-guard.ts';
import { createOutbox } from './outbox.ts';
import { createPoller } from './poller.ts';
import type {
	Announcer,
	ChannelKey,
	ChannelList,
	GoneReason,
	WatchingService,
	WatchLimits,
	WatchMetrics,
	WatchStore,
} from './ports.ts';
import { createPlanner } from './schedule.ts';
import type { ServiceHealth } from './service-health.ts';
import { createSubscriptions } from './subscribe.ts';
import type { ChannelEnd, SessionKey } from './watch.ts';

const DAY_MS = 24 * 3_600_000;
/** Ended watches are removed a while after they could still matter, and never later than answers are. */
const FORGET_AFTER_DAYS = 7;

type PollerOptions = Parameters<typeof createPoller>[0];

interface Options {
	readonly store: WatchStore;
	readonly service: WatchingService;
	/** Names the session service in the store. */
	readonly serviceUrl: string;
	/** The request budget of the service, and what of it watching leaves to deliveries and people. */
	readonly budget: Parameters<typeof createBackgroundBudget>[0];
	/** Is told of every call to the service, whoever made it. */
	readonly health: ServiceHealth;
	readonly leftEmpty: NonNullable<PollerOptions['leftEmpty']>;
	/** What channels see of the values. */
	readonly disclosure: NonNullable<PollerOptions['disclosure']>;
	readonly metrics: WatchMetrics;
	readonly rateLimiter: RateLimiter;
	readonly limits: WatchLimits;
	readonly maxDays: number;
	/** Empty: all. */
	readonly allowedChannels: readonly string[];
	/** Whether channels shared with other organisations may hold watches. */
	readonly allowExternal: boolean;
	/** Texts of posts are kept for so long at most. */
	readonly retentionDays: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Everything that watches: reads sessions when they are due and posts what is new. */
export function createWatching(options: Options) {
	const { store, service, serviceUrl, budget, metrics, rateLimiter, limits, disclosure, clock, log } = options;
	const { maxDays, retentionDays, allowExternal } = options;
	const stopping = new AbortController();
	let wakeOutbox = () => {};

	const poller = createPoller({
		store,
		service,
		serviceUrl,
		budget: createBackgroundBudget(budget),
		planner: createPlanner(),
		clock,
		log,
		metrics,
		health: options.health,
		maxDays,
		leftEmpty: options.leftEmpty,
		disclosure,
		onNews: () => wakeOutbox(),
	});
	const subscriptions = createSubscriptions({
		store,
		serviceUrl,
		limits,
		metrics,
		budget: {
			backgroundPerSecond() {
				const { limit } = budget.figures();
				return usuallyPerSecond(limit, budget.keptFor(limit));
			},
		},
		clock,
		disclosure,
		onChange: () => {
			poller.wake();
			wakeOutbox();
		},
	});

	async function channelEnded(channel: ChannelKey, reason: ChannelEnd): Promise<void> {
		const ended = await endChannel(store, channel, reason, clock.now());
		if (ended > 0) log.info({ channel: channel.channelId, reason, ended }, 'the watches of a channel ended');
		wakeOutbox();
	}

	let running: Promise<unknown> | null = null;
	return {
		subscriptions,
		/** A question of this session was claimed or answered; `readEarly`: the service has just got an answer. */
		questionUpdated({ service: name, sessionId }: SessionKey, { readEarly }: { readEarly: boolean }): void {
			subscriptions
				.refresh({ service: name, sessionId }, { readEarly })
				.catch((error: unknown) => log.warn({ err: error }, 'the cards of a question could not be marked'));
		},
		/** Slack takes no more posts in this channel. */
		channelGone: (channel: ChannelKey, reason: GoneReason) => channelEnded(channel, reason),
		/** Another organisation reads this channel or is invited to it; for everybody who watches there. */
		async channelShared(channelId: string): Promise<void> {
			const active = await store.activeChannels();
			for (const channel of active) {
				if (channel.channelId === channelId) await channelEnded(channel, 'channelShared');
			}
		},
		async forget(): Promise<void> {
			const now = clock.now();
			await store.removeEnded(now - Math.min(FORGET_AFTER_DAYS, retentionDays) * DAY_MS);
			await store.removeTexts(now - retentionDays * DAY_MS);
			await rateLimiter.forget(now - FORGET_AFTER_DAYS * DAY_MS);
		},
		/** Resolves when what may not be watched any more has ended; reading and posting go on from there. */
		async start({ announcer, channels }: { announcer: Announcer; channels: ChannelList }): Promise<void> {
			await endNotAllowed(store, options.allowedChannels, { clock, log });
			const { signal } = stopping;
			const outbox = createOutbox({ store, announcer, rateLimiter, clock, metrics, log });
			wakeOutbox = () => outbox.wake();
			const end = (channel: ChannelKey) => channelEnded(channel, 'channelShared');
			const guard = createChannelGuard({ store, channels, end, clock, log, metrics });
			const posting = allowExternal ? outbox.run(signal) : guard.firstLook(signal).then(() => outbox.run(signal));
			const guarding = allowExternal ? null : guard.run(signal);
			running = Promise.all([poller.run(signal), posting, guarding]);
		},
		/** Ends reading and posting and gives the leases back. */
		async stop(): Promise<void> {
			stopping.abort();
			await running;
		},
	};
}
