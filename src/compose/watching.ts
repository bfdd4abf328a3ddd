import { leftEmptyIn } from '../answers/left-empty.ts';
import type { AnswerStore, QuestionObserver } from '../answers/ports.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { RequestBudget } from '../session-service/budget.ts';
import { sharesOf } from '../session-service/budget-state.ts';
import type { Store } from '../store/open.ts';
import { createSharedPaces } from '../store/shared-paces.ts';
import { createBackgroundBudget, usuallyPerSecond } from '../watches/background-budget.ts';
import { createOutbox } from '../watches/outbox.ts';
import { createPaces } from '../watches/pace.ts';
import { createPoller } from '../watches/poller.ts';
import type { Announcer, GoneReason, WatchingService } from '../watches/ports.ts';
import { endChannel } from '../watches/posting.ts';
import { createPlanner } from '../watches/schedule.ts';
import type { ServiceHealth } from '../watches/service-health.ts';
import { createSubscriptions } from '../watches/subscribe.ts';

/** Posts and ended watches are forgotten a while after they could still matter. */
const FORGET_AFTER_MS = 7 * 24 * 3_600_000;

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
	readonly maxDays: number;
	readonly clock: Clock;
	readonly log: Log;
}

/** Everything that watches: who reads which session when, and what is posted of it. */
export function createWatching(options: Options) {
	const { store, service, serviceUrl, answers, budget, health, metrics, maxDays, clock, log } = options;
	const watchStore = store.watches;
	const paces = store.dialect === 'postgres' ? createSharedPaces(store) : createPaces();
	const background = createBackgroundBudget({ figures: () => budget.stats(), keptFor: kept });
	const stopping = new AbortController();
	let wakeOutbox = () => {};

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
		onNews: () => wakeOutbox(),
	});
	const subscriptions = createSubscriptions({
		store: watchStore,
		service,
		serviceUrl,
		budget: {
			backgroundPerSecond() {
				const { limit } = budget.stats();
				return usuallyPerSecond(limit, kept(limit));
			},
		},
		clock,
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

	let running: Promise<unknown> | null = null;
	return {
		store: watchStore,
		subscriptions,
		observer,
		async channelGone(teamId: string, channelId: string, reason: GoneReason): Promise<void> {
			const ended = await endChannel({ store: watchStore, teamId, channelId, reason, now: clock.now() });
			if (ended > 0) log.info({ channel: channelId, reason, ended }, 'the watches of a channel ended');
			wakeOutbox();
		},
		async forget(): Promise<void> {
			await watchStore.removeEnded(clock.now() - FORGET_AFTER_MS);
		},
		start(announcer: Announcer): void {
			const outbox = createOutbox({ store: watchStore, announcer, paces, clock, metrics, log });
			wakeOutbox = () => outbox.wake();
			running = Promise.all([poller.run(stopping.signal), outbox.run(stopping.signal)]);
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
