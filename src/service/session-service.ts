import { type Config, liveSecret } from '../config.ts';
import type { Session, SessionKey } from '../domain/session.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { createRequestBudget } from './budget.ts';
import { createSessionServiceClient } from './client.ts';
import { createServiceHealth } from './health.ts';
import { PRIORITIES, SERVICE_CODES } from './service.ts';
import type { TransportOptions } from './transport.ts';

/** The labels of service calls in the metrics. */
export const SERVICE_CALLS = { priorities: PRIORITIES, outcomes: ['ok', 'unchanged', ...SERVICE_CODES] } as const;

interface Parts extends Pick<TransportOptions, 'clock' | 'log'> {
	readonly config: Config;
	readonly metrics: Pick<Metrics, 'serviceRequest' | 'listing'>;
	readonly serviceUrl: string;
	readonly store: {
		sharedStateOf(name: string): NonNullable<Parameters<typeof createRequestBudget>[0]['sharedState']>;
		readonly sessions: { otherReadAt(session: SessionKey): Promise<number | null> };
		readonly answers: { arrivals(session: SessionKey): Promise<number> };
	};
}

interface Own extends Required<Pick<TransportOptions, 'proxy'>> {
	/** Called after a session's first read, and after each read that found another state. */
	readonly onChanged: (key: SessionKey, session: Session) => void;
}

/** Makes the client of the session service, its request budget, and its health, which is judged by the calls. */
export function createSessionService(
	{ config, clock, log, metrics, serviceUrl, store }: Parts,
	{ proxy, onChanged }: Own,
) {
	const keyOf = (sessionId: string) => ({ service: serviceUrl, sessionId });
	const sharedState = store.sharedStateOf(`budget:${serviceUrl}`);
	const budget = createRequestBudget({ requestsPerMinute: config.SESSION_SERVICE_RPM, clock, sharedState });
	const health = createServiceHealth({ clock }, (sessionId) => store.sessions.otherReadAt(keyOf(sessionId)));
	const client = createSessionServiceClient({
		proxy,
		onChanged: (session) => onChanged(keyOf(session.sessionId), session),
		baseUrl: serviceUrl,
		apiKey: liveSecret('SESSION_SERVICE_API_KEY', config, log),
		clock,
		log,
		budget,
		callTimeoutMs: config.SESSION_SERVICE_TIMEOUT_MS,
		arrivals: (sessionId) => store.answers.arrivals(keyOf(sessionId)).catch(() => null),
		onCall({ operation, priority, outcome, byteCount, tookMs }) {
			metrics.serviceRequest(priority, outcome);
			if (operation === 'list') metrics.listing.requested(byteCount, tookMs);
			// Watching reports its own reads to `health`, also those that were never sent.
			if (priority === 'background') return;
			if (outcome === 'ok' || outcome === 'unchanged') health.succeeded();
			else health.failed(outcome);
		},
	});
	return { client, budget, health };
}

export type SessionService = ReturnType<typeof createSessionService>;
