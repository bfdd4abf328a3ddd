import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Figures that are looked up when somebody asks for them. */
export interface MetricSources {
	answers(): Promise<{
		readonly byState: Readonly<Record<string, number>>;
		/** Milliseconds since the epoch. */
		readonly oldestUndeliveredAt: number | null;
	}>;
	now(): number;
	/** Requests to the session service that its window counts now, those of other replicas too. */
	budgetUsed(): number;
}

/** Seconds; deliveries take from milliseconds to a day. */
const DELIVERY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];
const WINDOW_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const DETECTION_BUCKETS = [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

/** Prometheus metrics, all named `handraise_…`, in seconds and counts. No label carries an id or text of people. */
export function createMetrics(sources: MetricSources) {
	const registry = new Registry();
	collectDefaultMetrics({ register: registry });
	const counter = (name: string, help: string, labelNames: string[]) =>
		new Counter({ name: `handraise_${name}`, help, labelNames, registers: [registry] });
	const histogram = (name: string, help: string, buckets: number[]) =>
		new Histogram({ name: `handraise_${name}`, help, buckets, registers: [registry] });
	const gauge = (name: string, help: string) => new Gauge({ name: `handraise_${name}`, help, registers: [registry] });

	new Gauge({
		name: 'handraise_answers',
		help: 'Answers in the store by state',
		labelNames: ['state'],
		registers: [registry],
		async collect() {
			const { byState } = await sources.answers();
			for (const [state, count] of Object.entries(byState)) this.set({ state }, count);
		},
	});
	new Gauge({
		name: 'handraise_oldest_undelivered_answer_age_seconds',
		help: 'Age of the oldest answer that is accepted, delivering or waiting for its author; 0 when there is none',
		registers: [registry],
		async collect() {
			const { oldestUndeliveredAt } = await sources.answers();
			this.set(oldestUndeliveredAt === null ? 0 : (sources.now() - oldestUndeliveredAt) / 1000);
		},
	});

	const accepted = counter('submissions_total', 'Submissions by what became of them before the acknowledgement', [
		'outcome',
	]);
	const attempts = counter('delivery_attempts_total', 'Delivery attempts by outcome', ['outcome']);
	const conflicts = counter('conflicts_total', 'Answers that found another one there', ['seen']);
	const delivery = histogram('delivery_seconds', 'From Submit to "the service has it"', DELIVERY_BUCKETS);
	const window = histogram(
		'read_to_put_seconds',
		'Between the answer to the read before a PUT and the start of the PUT',
		WINDOW_BUCKETS,
	);
	const ack = histogram(
		'ack_seconds',
		'From the arrival of a request of Slack to its acknowledgement',
		[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
	);
	const serviceRequests = counter('service_requests_total', 'Requests to the session service', ['priority', 'outcome']);
	new Gauge({
		name: 'handraise_service_budget_used',
		help: 'Requests to the session service in the last minute',
		registers: [registry],
		collect() {
			this.set(sources.budgetUsed());
		},
	});
	const httpRefused = counter('http_refused_total', 'HTTP requests and connections that were refused, by reason', [
		'reason',
	]);
	const slackCalls = counter('slack_calls_total', 'Web API calls by method and outcome', ['method', 'outcome']);
	const watched = gauge('watched_sessions', 'Sessions that at least one channel watches');
	const backgroundRate = gauge('background_requests_per_second', 'What people and deliveries leave over for watching');
	const reads = counter('watch_reads_total', 'Background reads by outcome', ['outcome']);
	const detection = histogram(
		'detection_age_seconds',
		'Upper bound of the time between a change of a session and its detection',
		DETECTION_BUCKETS,
	);
	const cards = counter('card_updates_total', 'Card updates by what became of them', ['outcome']);
	const channelChecks = counter('channel_checks_total', 'Looks for channels that other organisations read', [
		'outcome',
	]);
	const limits = counter('watch_limits_total', 'Watches that were not added because a limit was reached', ['limit']);
	const personReads = counter(
		'person_reads_total',
		'Reads and windows that people asked for, and those who were too fast',
		['outcome'],
	);
	const unknownSessions = counter(
		'unknown_sessions_total',
		'Session ids that people named and the service did not know',
		[],
	);
	const posts = counter('posts_total', 'Posts by what became of them', ['outcome']);
	const checkpoints = counter(
		'wipe_checkpoints_total',
		'Removals of wiped secrets from the files of SQLite by outcome: done, busy (another program read) and failed are tried again',
		['outcome'],
	);
	const checkpointSeconds = histogram(
		'wipe_checkpoint_seconds',
		'How long a removal of wiped secrets from the files of SQLite held the event loop',
		[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
	);

	return {
		answers: {
			accepted(kind: string) {
				accepted.inc({ outcome: kind });
				if (kind === 'taken') conflicts.inc({ seen: 'at_submit' });
			},
		},
		delivery: {
			attempt: (outcome: string) => attempts.inc({ outcome }),
			conflict: () => conflicts.inc({ seen: 'at_delivery' }),
			readToPut: (ms: number) => window.observe(ms / 1000),
			delivered: (ms: number) => delivery.observe(ms / 1000),
		},
		watches: {
			watchedSessions: (count: number) => watched.set(count),
			read: (outcome: string) => reads.inc({ outcome }),
			detectionAge: (ms: number) => detection.observe(ms / 1000),
			backgroundPerSecond: (rate: number) => backgroundRate.set(rate),
			card: (outcome: string) => cards.inc({ outcome }),
			limitReached: (limit: string) => limits.inc({ limit }),
			post: (outcome: string) => posts.inc({ outcome }),
			channelCheck: (outcome: string) => channelChecks.inc({ outcome }),
		},
		checkpoint(outcome: string, ms: number) {
			checkpoints.inc({ outcome });
			checkpointSeconds.observe(ms / 1000);
		},
		people: {
			personRead: (outcome: string) => personReads.inc({ outcome }),
			unknownSession: () => unknownSessions.inc(),
		},
		acknowledged: (ms: number) => ack.observe(ms / 1000),
		serviceRequest: (priority: string, outcome: string) => serviceRequests.inc({ priority, outcome }),
		httpRefused: (reason: string) => httpRefused.inc({ reason }),
		slackCall: (method: string, outcome: string) => slackCalls.inc({ method, outcome }),
		async expose() {
			return { contentType: registry.contentType, text: await registry.metrics() };
		},
	};
}
