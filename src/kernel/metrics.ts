import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ownVersion } from './own-version.ts';

interface Labels {
	readonly build: { readonly schema: number; readonly dialect: 'sqlite' | 'postgres' };
	readonly serviceCalls: { readonly priorities: readonly string[]; readonly outcomes: readonly string[] };
}

/** Values that are read when the metrics are requested. */
interface Sources {
	/** Rejects while the database does not answer. */
	answers(): Promise<{
		readonly byState: Readonly<Record<string, number>>;
		/** By state of an undelivered answer: when the oldest was accepted, clock milliseconds; null: there is none. */
		readonly oldestAt: Readonly<Record<string, number | null>>;
	}>;
	now(): number;
	/** Whether Slack's requests arrive, as in `/readyz`. */
	isConnected(): boolean;
	/** Requests to the session service that all replicas together may send at once. */
	budgetLeft(): number;
}

/** Prometheus metrics, all named `handraise_…`, in seconds and counts. No label holds an id or text of people. */
export function createMetrics(labels: Labels) {
	const registry = new Registry();
	collectDefaultMetrics({ register: registry });

	function counterOf(name: string, help: string, labelNames: string[] = []) {
		return new Counter({ name: `handraise_${name}`, help, labelNames, registers: [registry] });
	}
	function counter<Label extends string = never>(name: string, help: string, ...labels: Label[]) {
		const metric = counterOf(name, help, labels);
		return (values: Readonly<Record<Label, string>>) => metric.inc(values);
	}
	/** A counter by outcome. Each begins at 0, because Prometheus sees no rise when a series begins with 1. */
	function outcomes<Outcome extends string>(name: string, help: string, ...known: Outcome[]) {
		const metric = counterOf(name, help, ['outcome']);
		for (const outcome of known) metric.inc({ outcome }, 0);
		return (outcome: Outcome) => metric.inc({ outcome });
	}
	/** A histogram. `buckets` are seconds; the returned function takes milliseconds. */
	function duration(name: string, help: string, buckets: number[]) {
		const metric = new Histogram({ name: `handraise_${name}`, help, buckets, registers: [registry] });
		return (ms: number) => metric.observe(ms / 1000);
	}
	function gaugeOf(name: string, help: string, labelNames: string[] = []) {
		return new Gauge({ name: `handraise_${name}`, help, labelNames, registers: [registry] });
	}
	function gauge(name: string, help: string) {
		const metric = gaugeOf(name, help);
		return (value: number) => metric.set(value);
	}

	const build = { version: ownVersion(), node: process.versions.node, ...labels.build };
	gaugeOf('build_info', 'Always 1: what runs', Object.keys(build)).set(build, 1);
	const answers = gaugeOf('answers', 'Answers in the store by state', ['state']);
	const oldest = gaugeOf(
		'oldest_undelivered_answer_age_seconds',
		'Age of the oldest answer that is accepted, delivering or waiting for its author; 0 when there is none',
		['state'],
	);
	const databaseUp = gauge('database_up', '1 when the database answers');
	const connected = gauge('slack_connected', '1 when requests of Slack can arrive (Socket Mode: connected)');
	const budgetLeft = gauge('service_budget_left', 'Requests to the session service that may be sent at once');

	const serviceRequests = counterOf('service_requests_total', 'Requests to the session service', [
		'priority',
		'outcome',
	]);
	const { priorities, outcomes: serviceOutcomes } = labels.serviceCalls;
	for (const priority of priorities) {
		for (const outcome of serviceOutcomes) serviceRequests.inc({ priority, outcome }, 0);
	}
	const submissions = outcomes(
		'submissions_total',
		'Answers and other forms by result before the acknowledgement; failed: nothing could be stored',
		...(['accepted', 'repeated', 'tooLate', 'taken', 'failed'] as const),
	);
	const conflicts = counter('conflicts_total', 'Answers that conflicted with another one', 'seen');
	const checkpoints = outcomes(
		'wipe_checkpoints_total',
		'Removals of wiped secrets from the files of SQLite by outcome: done, busy (another program read) and failed ' +
			'are tried again',
		...(['done', 'busy', 'failed'] as const),
	);
	const checkpointSeconds = duration(
		'wipe_checkpoint_seconds',
		'How long a removal of wiped secrets from the files of SQLite blocked the event loop',
		[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
	);

	const listRequests = counterOf('list_requests_total', 'Requests for the list by outcome', ['outcome']);
	const listBytes = counterOf('list_bytes_total', 'Bytes of lists, most of them signed links that nobody reads');
	const listSeconds = duration(
		'list_seconds',
		'How long a list took, without the wait for the request budget',
		[0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45],
	);
	const listWaiting = gauge('listed_waiting_sessions', 'Sessions in the last list: those that wait for a person');
	const listReads = counterOf('list_reads_total', 'Reads of watched sessions that a list led to');

	return {
		answers: {
			submitted(kind: Parameters<typeof submissions>[0]) {
				submissions(kind);
				if (kind === 'taken') conflicts({ seen: 'at_submit' });
			},
		},
		delivery: {
			attempt: outcomes(
				'delivery_attempts_total',
				'Delivery attempts by outcome',
				...(['delivered', 'settled', 'later', 'unknown', 'missing', 'permanent'] as const),
			),
			conflict: () => conflicts({ seen: 'at_delivery' }),
			readToPut: duration(
				'read_to_put_seconds',
				'Between the response to the read before a PUT and the start of the PUT',
				[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
			),
			delivered: duration(
				'delivery_seconds',
				'From Submit, or from the end of the time for Undo, to "the service has it"',
				[0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400],
			),
		},
		watches: {
			watchedSessions: gauge('watched_sessions', 'Sessions that at least one channel watches'),
			read: outcomes('watch_reads_total', 'Background reads by outcome', 'changed', 'unchanged', 'failed'),
			detectionAge: duration(
				'detection_age_seconds',
				'Upper bound of the time between a change of a session and its detection',
				[0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300],
			),
			card: outcomes('card_updates_total', 'Card updates by outcome', 'wanted', 'sent', 'unchanged', 'failed'),
			limitReached: counter('watch_limits_total', 'Watches that were not added because a limit was reached', 'limit'),
			post: outcomes('posts_total', 'Posts by outcome', 'posted', 'found', 'retried', 'refused', 'maybeRepeated'),
			reminder: counter('reminders_total', 'Reminders and escalations that were posted', 'stage'),
			reminderLate: duration(
				'reminder_late_seconds',
				'From the time at which a reminder or escalation was due to its post',
				[1, 2.5, 5, 10, 15, 20, 30, 60, 300, 900],
			),
			channelCheck: outcomes('channel_checks_total', 'Checks for outside readers by outcome', 'complete', 'failed'),
		},
		listing: {
			/** 1 or 0, by the newest finding of any replica. */
			available: gauge('list_available', '1 when the session service has a list of sessions that works'),
			listed({ sessions, requestCount }: { readonly sessions: readonly unknown[]; readonly requestCount: number }) {
				listRequests.inc({ outcome: 'ok' }, requestCount);
				listWaiting(sessions.length);
			},
			requested(byteCount: number, tookMs: number) {
				listBytes.inc(byteCount);
				listSeconds(tookMs);
			},
			listFailed: (code: string) => listRequests.inc({ outcome: code }),
			listedReads: (count: number) => listReads.inc(count),
		},
		inboxes: {
			update: outcomes('inbox_updates_total', 'Updates of inboxes by outcome', 'sent', 'unchanged', 'failed'),
			built: duration(
				'inbox_build_seconds',
				'How long the content of an inbox took to put together, without showing it',
				[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
			),
		},
		checkpoint(outcome: Parameters<typeof checkpoints>[0], ms: number) {
			checkpoints(outcome);
			checkpointSeconds(ms);
		},
		people: {
			personRead: outcomes('person_reads_total', 'Reads and windows that people asked for', 'allowed', 'tooFast'),
			unknownSession: counter('unknown_sessions_total', 'Session ids that people named and the service did not know'),
		},
		acknowledged: duration(
			'ack_seconds',
			'From the arrival of a request of Slack to its acknowledgement',
			[0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3],
		),
		serviceRequest: (priority: string, outcome: string) => serviceRequests.inc({ priority, outcome }),
		httpRefused: counter('http_refused_total', 'Refused HTTP requests and connections by reason', 'reason'),
		slackCall: counter('slack_calls_total', 'Web API calls by method and outcome', 'method', 'outcome'),
		async expose(sources: Sources) {
			const stats = await sources.answers().catch(() => null);
			databaseUp(Number(stats !== null));
			answers.reset();
			oldest.reset();
			for (const [state, count] of Object.entries(stats?.byState ?? {})) answers.set({ state }, count);
			for (const [state, at] of Object.entries(stats?.oldestAt ?? {})) {
				oldest.set({ state }, at === null ? 0 : (sources.now() - at) / 1000);
			}
			connected(Number(sources.isConnected()));
			budgetLeft(sources.budgetLeft());
			return { contentType: registry.contentType, text: await registry.metrics() };
		},
	};
}

export type Metrics = ReturnType<typeof createMetrics>;
