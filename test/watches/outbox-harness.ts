import { onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../fake-slack/index.ts';
import type { Clock } from '../../src/clock.ts';
import { createRateLimiter, type RateLimiter } from '../../src/rate-limiter.ts';
import type { Announcer } from '../../src/slack/posts/announcer.ts';
import type { WatchStore } from '../../src/store/watch-store.ts';
import type { NewAnnouncement, SendOutcome } from '../../src/watches/announcements.ts';
import { createOutbox } from '../../src/watches/outbox.ts';
import { snapshotOf } from '../../src/watches/session-snapshot.ts';
import type { CardUrgency, Watch } from '../../src/watches/watch.ts';
import { type SessionUpdate, UNKNOWN_STEP_RATE } from '../../src/watches/watched-session.ts';
import { createRecordingLog } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { addWatch, createRecordingMetrics, type newWatch, openTestStore, SERVICE, session, T0 } from './support.ts';

interface Sent {
	readonly what: string;
	readonly channel: string;
	readonly at: number;
	readonly maybeRepeat?: boolean;
}

/**
 * The outcome of a call. `hang` and `lost`: it is posted, but the call hangs or times out. `unthreaded`: it is posted in
 * the channel. Null: it succeeds.
 */
type Outcome = (what: string, channel: string) => SendOutcome | 'hang' | 'lost' | 'unthreaded' | null;

/** A fake of Slack for the outbox: records what is sent; `answer` sets the outcomes. */
function createFakeAnnouncer(clock: ManualClock) {
	const sent: Sent[] = [];
	const removed: string[] = [];
	const outcomes: Outcome[] = [];
	const history = new Map<string, { readonly ts: string; readonly at: number; readonly isThreaded: boolean }>();
	let readable = true;
	let count = 0;
	let crash = new AbortController();

	async function deliver(entry: Sent, id: string | null): Promise<SendOutcome> {
		const outcome = outcomes[0]?.(entry.what, entry.channel) ?? null;
		if (outcome !== null && typeof outcome !== 'string') return outcome;
		count += 1;
		const ts = `${count}.0`;
		sent.push(entry);
		if (id !== null) history.set(id, { ts, at: clock.now(), isThreaded: outcome !== 'unthreaded' });
		if (outcome === 'lost') return { kind: 'unknown', code: 'timed_out' };
		if (outcome === 'unthreaded') return { kind: 'unthreaded', ts };
		// It is posted, but the call does not return.
		if (outcome === 'hang') await clock.sleep(3_600_000, crash.signal);
		return { kind: 'sent', ts };
	}

	const announcer: Announcer = {
		async prepareCard({ watch, view }) {
			const key = `${view.step}:${view.status}`;
			const what = `update ${watch.session.sessionId} ${key}`;
			return { key, send: () => deliver({ what, channel: watch.channelId, at: clock.now() }, null) };
		},
		async preparePost({ announcement, view }, maybeRepeat) {
			const { id, content, target } = announcement;
			const what = content.kind === 'status' ? content.to : content.kind;
			const channel = target.kind === 'person' ? target.userId : target.channelId;
			const isCard = content.kind === 'card';
			const cardKey = isCard ? `${view?.step}:${view?.status}` : null;
			const send = () => deliver({ what, channel, at: clock.now(), ...(!isCard && { maybeRepeat }) }, id);
			return { cardKey, leftOut: [], send };
		},
		async updatesOf({ announcement }) {
			const { target, content } = announcement;
			const channel = target.kind === 'person' ? target.userId : target.channelId;
			const send = () => deliver({ what: content.kind, channel, at: clock.now() }, null);
			return [{ post: announcement, key: 'shown', send }];
		},
		async remove(_, ts) {
			removed.push(ts);
			for (const [id, post] of history) if (post.ts === ts) history.delete(id);
			return 'removed';
		},
		async find({ announcement: { id } }, sentAt) {
			if (!readable) return { kind: 'unreadable' };
			const post = history.get(id);
			if (post === undefined || post.at < sentAt) return { kind: 'absent' };
			return { kind: 'found', ts: post.ts, isThreaded: post.isThreaded };
		},
	};
	return {
		announcer,
		sent,
		removed,
		texts: () => sent.map(({ what }) => what),
		answer: (outcome: Outcome) => outcomes.splice(0, 1, outcome),
		hideHistory: () => {
			readable = false;
		},
		showHistory: () => {
			readable = true;
		},
		forget: () => history.clear(),
		/** Ends the hanging calls, as the end of their process does. */
		cut: () => {
			crash.abort(new Error('crash'));
			crash = new AbortController();
		},
	};
}

export async function createOutboxHarness() {
	const clock = createManualClock(T0);
	const { watches: store, db } = await openTestStore();
	const fake = createFakeAnnouncer(clock);
	const recorded = createRecordingMetrics();
	const shared = createRateLimiter(clock);
	/** `calls`: how often the outbox called its store. */
	function start({
		store: ownStore,
		announcer = fake.announcer,
		clock: ownClock = clock,
		rateLimiter = shared,
	}: {
		store?: WatchStore;
		announcer?: Announcer;
		clock?: Clock;
		rateLimiter?: RateLimiter;
	} = {}) {
		let calls = 0;
		const counted = new Proxy(store, {
			get(target, name) {
				calls += 1;
				return Reflect.get(target, name);
			},
		});
		const core = coreOf({
			store: { watches: ownStore ?? counted },
			rateLimiter,
			clock: ownClock,
			metrics: { watches: recorded.metrics },
			log: createRecordingLog(),
		});
		const outbox = createOutbox(core, announcer);
		outbox.start();
		const stop = async () => {
			const stopped = outbox.stop();
			fake.cut();
			await stopped;
		};
		onTestFinished(stop);
		return { stop, calls: () => calls };
	}
	const add = (overrides: Parameters<typeof newWatch>[0] = {}) => addWatch(store, overrides);
	return { clock, store, db, recorded, start, add, ...fake };
}

export function statusOf({ id, teamId, channelId }: Watch, to: string): NewAnnouncement {
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	return { target, key: to, content: { kind: 'status', from: '', to } };
}

export function questionOf({ id, teamId, channelId }: Watch): NewAnnouncement {
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	const question = {
		messageIndex: 1,
		fingerprint: 'f',
		shownHash: 'h',
		goneOn: false,
		context: '',
		items: [],
		itemCount: 0,
		openCount: 0,
		quick: null,
	};
	return { target, key: 'question', content: { kind: 'question', question, changed: false, readAt: 0 } };
}

/** Records the outcome of a read for one watch, as the poller does. */
export async function recordRead(
	store: WatchStore,
	watchId: string,
	now: number,
	news: { announcements?: NewAnnouncement[]; card?: CardUrgency; step?: number; end?: 'sessionOver' },
): Promise<void> {
	const channels = await Promise.all((await store.activeChannels()).map((channel) => store.ofChannel(channel)));
	const watch = channels.flat().find(({ id }) => id === watchId) ?? null;
	if (watch === null) throw new Error('there is no such watch');
	const { step, announcements = [], card = null, end = null } = news;
	const messages = Array.from({ length: step ?? 1 }, () => session().messages[1] ?? fail());
	const view = snapshotOf(session({ sessionId: watch.session.sessionId, messages }), now);
	const update: SessionUpdate = {
		stepRate: UNKNOWN_STEP_RATE,
		nextRead: { at: now, by: now },
		lastReadAt: now,
		lastChangeAt: now,
		failures: 0,
		overSince: null,
		earlyReadCount: 1,
		view,
	};
	const { digest } = view;
	const { revision } = watch;
	await store.takeDue(SERVICE, { token: 'poller', ms: 60_000 }, 1_000, { now: now + 1e9, only: null });
	const written = await store.record(
		{ session: watch.session, token: 'poller' },
		{ update, watches: [{ watchId, revision, digest, changed: true, announcements, card, end }], now },
	);
	if (written === null) throw new Error('not held');
}

export function fail(): never {
	throw new Error('a session has a message, and what was posted was sent');
}
