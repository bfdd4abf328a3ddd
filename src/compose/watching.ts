import { leftEmptyIn } from '../answers/left-empty.ts';
import type { AnswerStore, QuestionObserver } from '../answers/ports.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { askingMessageIndex } from '../questions/open-question.ts';
import type { Session } from '../questions/session.ts';
import { type Disclosure, disclosureOf, type ShowAnswers } from '../questions/show-answers.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import type { RequestBudget } from '../session-service/budget.ts';
import { sharesOf } from '../session-service/budget-state.ts';
import type { Store } from '../store/open.ts';
import { createBackgroundBudget, usuallyPerSecond } from '../watches/background-budget.ts';
import { createChannelGuard, endNotAllowed } from '../watches/channel-guard.ts';
import { createOutbox } from '../watches/outbox.ts';
import { createPoller } from '../watches/poller.ts';
import type { Announcer, ChannelKey, ChannelList, GoneReason, WatchingService, WatchLimits } from '../watches/ports.ts';
import { endChannel } from '../watches/posting.ts';
import { createPlanner } from '../watches/schedule.ts';
import type { ServiceHealth } from '../watches/service-health.ts';
import { createSubscriptions } from '../watches/subscribe.ts';
import type { ChannelEnd, SessionKey } from '../watches/watch.ts';

const DAY_MS = 24 * 3_600_000;
/** Ended watches are forgotten a while after they could still matter. None is kept longer than answers are. */
const FORGET_AFTER_DAYS = 7;

interface Options {
	readonly store: Store;
	readonly service: WatchingService;
	/** Names the session service in the store. */
	readonly serviceUrl: string;
	readonly answers: AnswerStore;
	readonly budget: RequestBudget;
	/** Hears of every call to the service, whoever made it. */
	readonly health: ServiceHealth;
	readonly metrics: Metrics['watches'];
	readonly rateLimiter: RateLimiter;
	readonly limits: WatchLimits;
	readonly maxDays: number;
	/** Empty: all. */
	readonly allowedChannels: readonly string[];
	/** Whether channels shared with other organisations may hold watches. */
	readonly allowExternal: boolean;
	/** Texts of posts are kept for so long at most. */
	readonly retentionDays: number;
	readonly showAnswers: ShowAnswers;
	readonly clock: Clock;
	readonly log: Log;
}

/** Everything that watches: who reads which session when, and what is posted of it. */
export function createWatching(options: Options) {
	const { store, service, serviceUrl, answers, budget, health, metrics, rateLimiter, limits, clock, log } = options;
	const { maxDays, retentionDays } = options;
	const { allowedChannels, allowExternal, showAnswers } = options;
	const watchStore = store.watches;
	const background = createBackgroundBudget({ figures: () => budget.stats(), keptFor: kept });
	const stopping = new AbortController();
	let wakeOutbox = () => {};

	/** What our answers keep secret, or show, goes before the guess. */
	async function disclosure({ service: name, sessionId }: SessionKey, session: Session): Promise<Disclosure> {
		const marks = askingMessageIndex(session) === null ? [] : await answers.marks(name, sessionId);
		return disclosureOf(marks, showAnswers);
	}

	const poller = createPoller({
		store: watchStore,
		service,
		serviceUrl,
		budget: background,
		planner: createPlanner(),
		clock,
		log,
		metrics,
		health,
		maxDays,
		leftEmpty: ({ service: name }, session) => leftEmptyIn(answers, name, session),
		disclosure,
		onNews: () => wakeOutbox(),
	});
	const subscriptions = createSubscriptions({
		store: watchStore,
		serviceUrl,
		limits,
		metrics,
		budget: {
			backgroundPerSecond() {
				const { limit } = budget.stats();
				return usuallyPerSecond(limit, kept(limit));
			},
		},
		clock,
		disclosure,
		onChange: () => {
			poller.wake();
			wakeOutbox();
		},
	});

	const observer: QuestionObserver = {
		questionTouched({ service: name, sessionId }, what) {
			subscriptions
				.touch({ service: name, sessionId }, { readSoon: what === 'delivered' })
				.catch((error: unknown) => log.warn({ err: error }, 'the cards of a question could not be marked'));
		},
	};

	async function channelEnded(channel: ChannelKey, reason: ChannelEnd): Promise<void> {
		const ended = await endChannel(watchStore, channel, reason, clock.now());
		if (ended > 0) log.info({ channel: channel.channelId, reason, ended }, 'the watches of a channel ended');
		wakeOutbox();
	}

	let running: Promise<unknown> | null = null;
	return {
		store: watchStore,
		subscriptions,
		observer,
		channelGone: (teamId: string, channelId: string, reason: GoneReason) => channelEnded({ teamId, channelId }, reason),
		/** Another organisation reads this channel or is invited to it; for everybody who watches there. */
		async channelShared(channelId: string): Promise<void> {
			const active = await watchStore.activeChannels();
			for (const channel of active) {
				if (channel.channelId === channelId) await channelEnded(channel, 'channelShared');
			}
		},
		async forget(): Promise<void> {
			const now = clock.now();
			await watchStore.removeEnded(now - Math.min(FORGET_AFTER_DAYS, retentionDays) * DAY_MS);
			await watchStore.removeTexts(now - retentionDays * DAY_MS);
			await rateLimiter.forget(now - FORGET_AFTER_DAYS * DAY_MS);
		},
		/** Resolves when what may not be watched any more has ended; reading and posting go on from there. */
		async start({ announcer, channels }: { announcer: Announcer; channels: ChannelList }): Promise<void> {
			await endNotAllowed(watchStore, allowedChannels, { clock, log });
			const { signal } = stopping;
			const outbox = createOutbox({ store: watchStore, announcer, rateLimiter, clock, metrics, log });
			wakeOutbox = () => outbox.wake();
			const end = (channel: ChannelKey) => channelEnded(channel, 'channelShared');
			const guard = createChannelGuard({ store: watchStore, channels, end, clock, log, metrics });
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

/** Of the service's limit, what watching leaves to deliveries and people even while they ask for nothing. */
function kept(limit: number): number {
	const { delivery, person } = sharesOf(limit);
	return delivery + person;
}
