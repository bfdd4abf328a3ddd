import { EventEmitter, once } from 'node:events';
import { done, task } from '../../fake-session-service/builders.ts';
import { createFakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, sampleWorkspace, seedState, withMembers } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { NO_LIMITS_ENV } from '../support/no-limits.ts';
import type { Random } from '../support/random.ts';
import { watchRates } from './rates.ts';
import { createReplica, READY_WITHIN_MS, type Replica } from './replica.ts';
import type { StoreUnderTest } from './stores.ts';
import { until } from './until.ts';

/** What happens while a submission is under way, as seen from outside the program. */
export type Signal = 'pressed' | 'commit' | 'acked' | 'read' | 'put' | 'saved' | 'redraw';

/** What each part of a run gets. */
export interface Part {
	readonly harness: Harness;
	/** Answers, duels or undos under way at once: one kill meets them all. */
	readonly batch: number;
	readonly random: Random;
	readonly onProgress?: (line: string) => void;
}

/** What each part of a run finds. */
export interface Outcome {
	/** Calls that Slack refused with status 429. */
	readonly refusedCalls: number;
	/** Also what Slack refuses as malformed of what the app sent. One text for each. */
	readonly problems: readonly string[];
	readonly seconds: number;
}

export interface HarnessOptions {
	readonly store: StoreUnderTest;
	/** The `main.ts` of the program. */
	readonly entry: string;
	readonly replicas: number;
	readonly people: number;
	/** How long a call to the service may take, in ms: short, so that unknown outcomes are resolved soon. */
	readonly callTimeoutMs: number;
	readonly env?: Readonly<Record<string, string>>;
	/** False: Slack takes any number of calls. */
	readonly realRates?: boolean;
}

/**
 * The program in its own processes, between a fake Slack with the real one's rates and the fake session service. Both
 * fakes run in this process.
 */
export async function createHarness(options: HarnessOptions) {
	const { store, entry, callTimeoutMs, realRates = true } = options;
	const signals = new EventEmitter();
	signals.setMaxListeners(0);
	const held = new Map<string, () => Promise<void>>();
	const agentPauses = new Map<string, number>();
	const service = createFakeSessionService({
		rateLimit: false,
		resumeAfterMs: (sessionId) => agentPauses.get(sessionId) ?? 50,
		scenarios: [],
		startOnRead: false,
		hooks: {
			onRequest: (entry) => void signals.emit(entry.kind === 'answer' ? 'put' : 'read', entry.sessionId),
			onSaved: (entry) => void signals.emit('saved', entry.sessionId),
			onWorkedOut: (entry) => (entry.kind === 'read' ? held.get(entry.sessionId ?? '')?.() : undefined),
		},
	});
	await service.start();
	const people = Array.from({ length: options.people }, (_, index) => `person${index}`);
	const slack = await createFakeSlack({
		waitMs: 20_000,
		state: seedState(withMembers(sampleWorkspace(), 'agents', people)),
		settings: { realRates },
		trafficLimit: 2_000,
	});
	store.onCommit = () => void signals.emit('commit');
	// The fake emits this when the acknowledgement arrives, before the person's window shows it.
	const acknowledged = new WeakSet<object>();
	slack.changes.listen((change) => {
		if (change.kind !== 'delivery' || change.id !== 'view_submission') return;
		for (const entry of slack.traffic.deliveries('view_submission').slice(-100)) {
			if (entry.acked !== true || acknowledged.has(entry)) continue;
			acknowledged.add(entry);
			signals.emit('acked');
		}
	});
	const env: Readonly<Record<string, string>> = {
		...connectionEnv({ slack, service }),
		SESSION_SERVICE_TIMEOUT_MS: String(callTimeoutMs),
		SESSION_SERVICE_RPM: '100000',
		...NO_LIMITS_ENV,
		PORT: '0',
		...store.env,
		...options.env,
	};
	const replicas = Array.from({ length: options.replicas }, () => createReplica({ entry, env }));

	return {
		service,
		slack,
		store,
		replicas: replicas as readonly Replica[],
		callTimeoutMs,
		rates: watchRates({ slack }, realRates),
		/** Emits a `Signal` at the moment it happens. */
		signals,
		/** By session: what a read waits for between working out its response and sending it. */
		held,
		/** By session: how long an agent thinks about an answer, in ms; 50 by default. */
		agentPauses,
		/** Names of the people who may answer. */
		people: people as readonly string[],
		/** What the replicas are started with. */
		env,
		/** Starts the replicas that do not run. */
		async startAll(): Promise<void> {
			const stopped = replicas.filter((replica) => !replica.running);
			await Promise.all(stopped.map((replica) => replica.start()));
			if (stopped.length > 0) signals.emit('started');
		},
		/** Resolves when at least one replica takes Slack's requests. It has as long for that as for its start. */
		async serving(): Promise<void> {
			const connected = () =>
				slack.changes.until(
					() => slack.sockets.count() > 0,
					() => 'No socket.',
					READY_WITHIN_MS,
				);
			while (!replicas.some((replica) => replica.running) || slack.sockets.count() === 0) {
				await Promise.race([once(signals, 'started'), connected()]);
			}
		},
		async [Symbol.asyncDispose](): Promise<void> {
			await Promise.all(replicas.map((replica) => replica.kill()));
			await slack.close();
			await service.stop();
		},
	};
}

export type Harness = Awaited<ReturnType<typeof createHarness>>;

/** A channel of these people and the app. */
export function addChannel(
	{ slack: { state } }: Harness,
	{ id, name, people }: { id: string; name: string; people: readonly string[] },
): void {
	const kind = { isPrivate: false, isIm: false, isArchived: false, isExtShared: false };
	state.channels.push({ id, name, members: [...people, state.app.botUser], ...kind });
}

/** A session that works and asks nothing yet. */
export function addWorkingSession({ service }: Harness, id: string, name: string): void {
	const messages = [task('Work.'), done('I begin.')];
	service.sessions.put(id, { status: 'active', name, maxSteps: 90, messages, files: [] });
}

/** After this a person types a command again: a card comes a minute after it; and for each session, whose card waits for Slack's rate. */
const WATCHED_WITHIN_MS = 75_000;
const CARD_WITHIN_MS = 2_000;
const MOST_TRIES = 10;

/**
 * Types `/session watch` until all these sessions are watched. It is acknowledged before that: a kill loses the command, and the
 * program refuses it while its database is slow, as on a busy machine.
 */
export async function watchSessions(
	{ slack }: Harness,
	options: { person: string; channel: string; ids: readonly string[]; isWatched: (id: string) => boolean },
): Promise<void> {
	const { person, channel, ids, isWatched } = options;
	let missing = ids;
	for (let tries = 0; tries < MOST_TRIES && missing.length > 0; tries++) {
		const line = `/session watch ${missing.join(' ')}`;
		const outcome = await slack.as(person).command(channel, line);
		if (!outcome.ok) throw new Error(`${line} failed with ${outcome.error}`);
		await until(() => ids.every(isWatched), WATCHED_WITHIN_MS + ids.length * CARD_WITHIN_MS);
		missing = ids.filter((id) => !isWatched(id));
	}
	if (missing.length > 0) throw new Error(`Not watched in ${channel}: ${missing.join(', ')}.`);
}

/** The outcome of a part that began at `startedAt`, by `performance.now()`. */
export function outcomeOf({ slack, rates }: Harness, startedAt: number, found: readonly string[]): Outcome {
	const refused = slack.violations().map(({ where, messages, payload }) => {
		return `Slack refuses ${where}: ${messages.join(', ')}: ${JSON.stringify(payload).slice(0, 400)}`;
	});
	const seconds = (performance.now() - startedAt) / 1_000;
	return { refusedCalls: rates.refused, problems: [...found, ...refused], seconds };
}
