import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../fake-slack/index.ts';
import { ourAnswers } from '../../src/delivery/earlier-answers.ts';
import type { PostStyle } from '../../src/domain/channel-settings.ts';
import type { ReadMessage, ReadSession } from '../../src/domain/gate.ts';
import type { Session } from '../../src/domain/session.ts';
import { NO_ANSWERS, type SessionSnapshot, snapshotOf } from '../../src/domain/session-snapshot.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { HandraiseError } from '../../src/kernel/errors.ts';
import type { Metrics } from '../../src/kernel/metrics.ts';
import { nextTurn } from '../../src/kernel/slices.ts';
import type { BackgroundBudget } from '../../src/service/budget.ts';
import { createServiceHealth } from '../../src/service/health.ts';
import type { SessionServiceClient } from '../../src/service/service.ts';
import type { NewWatch } from '../../src/sessions/adding-store.ts';
import { createPoller, type PollerOptions } from '../../src/sessions/poller.ts';
import type { WatchStore } from '../../src/sessions/watch-store.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import type { Watch, WatchEnd, WatchLimits } from '../../src/store/watch.ts';
import { readWatch } from '../../src/store/watches.ts';
import type { Store } from '../../src/stores.ts';
import type { PostContent } from '../../src/surfaces/post.ts';
import { createRecordingLog, makeDataDir, open } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { firstFound } from '../support/found.ts';
import { putDatabase } from '../support/made-database.ts';
import { buildSession, saying, unanswered } from '../support/sessions.ts';

export const SERVICE = 'https://service.example';
export const T0 = Date.parse('2026-01-05T09:00:00Z');

export function assistant(content: string, ...titles: string[]): ReadMessage {
	return { ...saying(content), humanInput: titles.map(unanswered) };
}

/** By default a working session with one step. */
export function session(overrides: Partial<ReadSession> = {}): Session {
	const sessionId = overrides.sessionId ?? 's1';
	return buildSession({
		sessionId,
		status: 'active',
		name: `Session ${sessionId}`,
		messages: [saying('Do it', 'user'), assistant('Looking')],
		...overrides,
	});
}

export function sessionView(sessionId: string, seenAt = T0): SessionSnapshot {
	return snapshotOf(session({ sessionId }), seenAt);
}

export const NO_LIMITS: WatchLimits = { person: 1_000_000, channel: 1_000_000, all: 1_000_000 };

/** Of a read that costs nothing. */
const NO_COST = { tookMs: 0, byteCount: 0, isOther: false } as const;

/** Adds `newWatch`; throws when a limit is reached. */
export async function addWatch(store: WatchStore, overrides: Parameters<typeof newWatch>[0] = {}): Promise<Watch> {
	const result = await store.add(newWatch(overrides));
	if (result.kind === 'limit') throw new Error(`the limit for ${result.limit} is reached`);
	return result.watch;
}

/** How a channel of `T1` wants its posts from now on, as a row that nobody was told of. */
export const setStyle = ({ db }: Pick<Store, 'db'>, style: Partial<PostStyle>, channelId = 'C1') =>
	db.writeOne((trx) => {
		const changed = { revision: 1, changedBy: 'U-ANN', changedAt: T0 };
		const row = { teamId: 'T1', channelId, settings: JSON.stringify(style), ...changed };
		return trx.insertInto('channel_settings').values(row).execute();
	});

/** By default session `s1` in channel `C1`. */
export function newWatch(overrides: Partial<NewWatch> & { sessionId?: string } = {}): NewWatch {
	const { sessionId = 's1', ...fields } = overrides;
	const id = randomUUID();
	const teamId = fields.teamId ?? 'T1';
	const channelId = fields.channelId ?? 'C1';
	return {
		id,
		teamId,
		channelId,
		session: { service: SERVICE, sessionId },
		createdBy: 'U-ANN',
		createdAt: T0,
		card: { target: { kind: 'watch', watchId: id, teamId, channelId }, key: 'card', content: { kind: 'card' } },
		snapshot: sessionView(sessionId),
		found: firstFound(fields.snapshot ?? sessionView(sessionId)),
		limits: NO_LIMITS,
		...fields,
	};
}

/** The watch as stored, ended or not; null when there is none. */
export async function storedWatch(db: StoreDatabase, id: string): Promise<Watch | null> {
	const row = await db.read.selectFrom('watches').selectAll().where('id', '=', id).executeTakeFirst();
	return row === undefined ? null : readWatch(row);
}

/** Moves the clock in small steps, with turns of the event loop for the store between them. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
	const end = clock.now() + ms;
	for (let left = ms; left > 0; left = end - clock.now()) {
		await turns();
		const asleep = Math.min((clock.nextWake ?? 0) - clock.now(), LONGEST_STEP_MS);
		await clock.advance(Math.min(Math.max(asleep, STEP_MS), left));
	}
	await turns();
}

const STEP_MS = 200;
/** The longest step while all sleep: work that waits for something else than the clock must not be passed by. */
const LONGEST_STEP_MS = 5_000;

async function turns(): Promise<void> {
	for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

export class FakeServiceError extends HandraiseError {
	constructor(code: string, retryAt: number | null = null) {
		super(code, { code, retryable: true, retryAt });
	}
}

/** A fake of the session service. `failures`: a code by session id, or `*` for all sessions. */
export function createFakeService(clock: Clock) {
	const sessions = new Map<string, Session>();
	const failures = new Map<string, string>();
	const reads: { readonly sessionId: string; readonly at: number; readonly priority: string }[] = [];
	const service: Pick<SessionServiceClient, 'read'> = {
		async read(sessionId, { priority, signal }) {
			signal?.throwIfAborted();
			reads.push({ sessionId, at: clock.now(), priority });
			const failure = failures.get(sessionId) ?? failures.get('*');
			if (failure === 'hangs') await clock.sleep(3_600_000, signal);
			if (failure === 'rate_limited') throw new FakeServiceError(failure, clock.now() + 20_000);
			if (failure !== undefined) throw new FakeServiceError(failure);
			const stored = sessions.get(sessionId);
			if (stored === undefined) throw new FakeServiceError('session_not_found');
			const now = clock.now();
			return { session: stored, readAt: now, arrival: 0, since: now, endedAt: now, ...NO_COST };
		},
	};
	return {
		service,
		failures,
		reads,
		put: (overrides: Partial<ReadSession>) => {
			const made = session(overrides);
			sessions.set(made.sessionId, made);
			return made;
		},
		readsOf: (sessionId: string) => reads.filter((read) => read.sessionId === sessionId),
	};
}

export const plentiful: BackgroundBudget = {
	isSlow: () => false,
	perSecond: () => 3,
	pausedUntil: () => 0,
	freeAt: () => 0,
};

export function createRecordingMetrics() {
	const counts = new Map<string, number>();
	const count = (name: string) => {
		counts.set(name, (counts.get(name) ?? 0) + 1);
	};
	const metrics: Metrics['watches'] = {
		watchedSessions: () => count('watchedSessions'),
		read: (outcome) => count(`read ${outcome}`),
		detectionAge: () => count('detectionAge'),
		card: (outcome) => count(`card ${outcome}`),
		limitReached: ({ limit }) => count(`limit ${limit}`),
		post: (outcome) => count(`post ${outcome}`),
		reminder: ({ stage }) => count(`reminder ${stage}`),
		reminderLate: () => count('reminderLate'),
		channelCheck: (outcome) => count(`channels ${outcome}`),
	};
	return { metrics, of: (name: string) => counts.get(name) ?? 0 };
}

/** How the poller and new watches judge a read, as in the program: by the questions and answers of this store. */
export function judgingBy(answers: Store['answers']): Pick<PollerOptions, 'ourAnswers'> {
	return {
		async ourAnswers(reading) {
			const { secrecy: _marks, ...ours } = await ourAnswers(answers, { serviceUrl: SERVICE, reading, isWatched: true });
			return { ...ours, disclosure: NO_ANSWERS.disclosure };
		},
	};
}

/** A store on its own database, closed at the end of the test. */
export async function openTestStore(): Promise<Store> {
	const directory = makeDataDir();
	await putDatabase(directory.path);
	const store = await open({ dataDir: directory.path });
	onTestFinished(async () => {
		await store.close();
		await directory.remove();
	});
	return store;
}

type Redrawn =
	| { readonly kind: 'redraw' }
	| { readonly kind: 'settled'; readonly messageIndex: number; readonly how: string }
	| { readonly kind: 'watchEnded'; readonly reason: WatchEnd | undefined };

interface PollerOverrides extends Partial<PollerOptions> {
	readonly clock?: Clock;
	readonly sessionService?: Pick<SessionServiceClient, 'read'>;
}

/** A poller with a manual clock and its own store. */
export async function createPollerHarness(overrides: PollerOverrides = {}) {
	const clock = createManualClock(T0);
	const store = await openTestStore();
	const { answers, inboxes, posts, db } = store;
	const judging = judgingBy(answers);
	const fake = createFakeService(clock);
	const recorded = createRecordingMetrics();
	function start(ownOverrides: PollerOverrides = {}) {
		const { clock: ownClock = clock, sessionService = fake.service, ...options } = { ...overrides, ...ownOverrides };
		const core = coreOf({
			store,
			sessionService,
			serviceUrl: SERVICE,
			clock: ownClock,
			log: createRecordingLog(),
			metrics: { watches: recorded.metrics },
		});
		const otherReadAt = (sessionId: string) => store.sessions.otherReadAt({ service: SERVICE, sessionId });
		const health = createServiceHealth({ clock: ownClock }, otherReadAt);
		const poller = createPoller(core, {
			budget: plentiful,
			health,
			list: () => null,
			...judging,
			...options,
		});
		poller.start();
		onTestFinished(poller.stop);
		return { poller, health, stop: poller.stop };
	}
	/**
	 * Takes all posts that are due, and returns in their order the contents of first posts, and of questions that are drawn
	 * again: how they were settled, or that they changed.
	 */
	async function announced(now = clock.now()) {
		const contents: (PostContent | Redrawn)[] = [];
		let count = 0;
		await store.marks.spread(now);
		for (;;) {
			const due = await posts.takeDue({ token: 'test', ms: 1 }, 100, now);
			if (due.length === 0) return contents;
			for (const { post, question, watch } of due) {
				const { kind } = post.content;
				if (kind === 'reminder' && post.ts === null) {
					// Nothing is due in time.
					const held = {
						kind: 'held',
						until: Number.MAX_SAFE_INTEGER,
						content: post.content,
						mayBeThere: false,
					} as const;
					await posts.endAttempt(post, 'test', held, now);
					continue;
				}
				const isOver = question !== null && question.settledHow !== null;
				if (kind === 'watchEnded') contents.push({ kind, reason: watch?.ended?.reason });
				else if (post.ts === null) contents.push(post.content);
				else if (kind === 'question' && question !== null) {
					const { messageIndex, settledHow: how } = question;
					contents.push(how === null ? { kind: 'redraw' } : { kind: 'settled', messageIndex, how });
				}
				const isLast = kind !== 'card' && (kind !== 'question' || (isOver && post.ts !== null));
				count += 1;
				const ts = post.ts ?? `${count}.0`;
				await posts.endAttempt(post, 'test', { kind: 'shown', ts, key: 'first', isLast }, now);
			}
			await posts.release(['test']);
		}
	}
	return { clock, store, db, answers, inboxes, ...fake, ...judging, recorded, start, announced };
}

interface Watched extends PollerOverrides {
	/** Of every watched session. */
	readonly state?: Partial<ReadSession>;
	readonly watches?: readonly Parameters<typeof newWatch>[0][];
	/** Why no read of `s1` succeeds. */
	readonly failure?: string | undefined;
	readonly ms?: number;
}

/** A poller that has run for `ms`; by default session `s1` is watched in one channel. `watch`: the first one. */
export async function createWatchedHarness({ state, watches = [{}], failure, ms = 2_000, ...overrides }: Watched = {}) {
	const harness = await createPollerHarness(overrides);
	const added: Watch[] = [];
	for (const fields of watches) {
		harness.put({ ...state, sessionId: fields?.sessionId ?? 's1' });
		added.push(await addWatch(harness.store.watches, fields));
	}
	if (failure !== undefined) harness.failures.set('s1', failure);
	const started = harness.start();
	await pass(harness.clock, ms);
	return { ...harness, ...started, watch: added[0] as Watch };
}
