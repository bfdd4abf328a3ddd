import { onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../fake-slack/index.ts';
import type { SettledHow } from '../../src/domain/occurrences.ts';
import { snapshotOf } from '../../src/domain/session-snapshot.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { createLeaseLoop } from '../../src/kernel/lease-loop.ts';
import { createRateLimiter, type RateLimiter } from '../../src/kernel/rate-limiter.ts';
import { createEndings } from '../../src/sessions/endings.ts';
import type { SessionUpdate } from '../../src/sessions/recording-store.ts';
import { textMessage } from '../../src/slack/blocks.ts';
import { sessionReads } from '../../src/store/session-reads.ts';
import type { PostUrgency, Watch } from '../../src/store/watch.ts';
import type { Store } from '../../src/stores.ts';
import { createSpreading } from '../../src/surfaces/marks.ts';
import { createOutbox, type OutboxParts } from '../../src/surfaces/outbox.ts';
import type { ContentOf, Hold, NewPost, SendOutcome } from '../../src/surfaces/post.ts';
import {
	addWatch,
	createRecordingMetrics,
	type newWatch,
	openTestStore,
	SERVICE,
	session,
	T0,
} from '../sessions/support.ts';
import { createRecordingLog } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { type FoundChange, foundIn } from '../support/found.ts';

interface Sent {
	readonly what: string;
	readonly channel: string;
	readonly at: number;
	readonly maybeRepeat?: boolean;
	/** Without rich text. */
	readonly isPlain?: true;
}

/**
 * The outcome of a call. `hang` and `lost`: it is posted, but the call hangs or times out. `unthreaded`: it is posted in
 * the channel. Null: it succeeds.
 */
type Outcome = (what: string, channel: string, isPlain: boolean) => SendOutcome | 'hang' | 'lost' | 'unthreaded' | null;

/** A fake of Slack for the outbox: records what is sent; `answer` sets the outcomes. */
function createFakeParts(clock: ManualClock) {
	const sent: Sent[] = [];
	const outcomes: Outcome[] = [];
	const holds: ((content: ContentOf<'reminder'>) => Hold | Promise<Hold>)[] = [];
	const history = new Map<string, { readonly ts: string; readonly at: number }>();
	let readable = true;
	let count = 0;
	let crash = new AbortController();

	async function deliver(entry: Sent, id: string | null, threadTs: string | null): Promise<SendOutcome> {
		const outcome = outcomes[0]?.(entry.what, entry.channel, entry.isPlain === true) ?? null;
		if (outcome !== null && typeof outcome !== 'string') return outcome;
		count += 1;
		const ts = `${count}.0`;
		sent.push(entry);
		if (id !== null) history.set(id, { ts, at: clock.now() });
		if (outcome === 'lost') return { kind: 'unknown', code: 'timed_out' };
		if (outcome === 'unthreaded') return { kind: 'sent', ts, lostThread: threadTs ?? '' };
		// It is posted, but the call does not return.
		if (outcome === 'hang') await clock.sleep(3_600_000, crash.signal);
		return { kind: 'sent', ts };
	}

	const announcer: OutboxParts = {
		async remind(_, content) {
			return holds[0]?.(content) ?? { kind: 'over' };
		},
		async draw({ post: { content, ts }, snapshot, watch }) {
			const isCard = content.kind === 'card';
			const key = isCard ? `${snapshot?.step}:${snapshot?.status}` : content.kind;
			const what = content.kind === 'status' ? content.to : content.kind;
			const again = isCard ? `update ${watch?.session.sessionId} ${key}` : `${what} again`;
			const text = ts === null ? what : again;
			return { message: textMessage(text), key, isLast: !isCard && content.kind !== 'question' };
		},
		async prepare({ post: { id, target, content, ts, sendingSince }, threadTs }, { text: what, blocks }) {
			const channel = target.kind === 'person' ? target.userId : target.channelId;
			const repeat = content.kind === 'card' ? {} : { maybeRepeat: sendingSince !== null && !readable };
			const plain = blocks.some(({ type }) => type === 'rich_text') ? {} : ({ isPlain: true } as const);
			return () => deliver({ what, channel, at: clock.now(), ...repeat, ...plain }, ts === null ? id : null, threadTs);
		},
		async replace(_, ts, { text: what }) {
			return deliver({ what, channel: '', at: clock.now() }, null, ts);
		},
		async replaceRepeat() {},
		async find({ id }, _, sentAt) {
			if (!readable) return { kind: 'unreadable' };
			const post = history.get(id);
			if (post === undefined || post.at < sentAt) return { kind: 'absent' };
			return { kind: 'found', ts: post.ts };
		},
	};
	return {
		announcer,
		sent,
		texts: () => sent.map(({ what }) => what),
		answer: (outcome: Outcome) => outcomes.splice(0, 1, outcome),
		/** What becomes of the reminders that are held. Before it is called, they are over. */
		decide: (hold: (content: ContentOf<'reminder'>) => Hold | Promise<Hold>) => holds.splice(0, 1, hold),
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
	const store = await openTestStore();
	const { db } = store;
	const fake = createFakeParts(clock);
	const recorded = createRecordingMetrics();
	const shared = createRateLimiter(clock);
	/** `calls`: how often the outbox called its store. */
	function start({
		store: ownStore,
		announcer = fake.announcer,
		clock: ownClock = clock,
		rateLimiter = shared,
	}: {
		store?: Store;
		announcer?: OutboxParts;
		clock?: Clock;
		rateLimiter?: RateLimiter;
	} = {}) {
		let calls = 0;
		const counted = new Proxy(store.posts, {
			get(target, name) {
				calls += 1;
				return Reflect.get(target, name);
			},
		});
		const core = coreOf({
			store: ownStore ?? { ...store, posts: counted },
			rateLimiter,
			clock: ownClock,
			metrics: { watches: recorded.metrics },
			log: createRecordingLog(),
		});
		const outbox = createOutbox(core, announcer, createEndings(core).endChannel);
		const loop = createLeaseLoop(core, outbox.queue);
		const spreading = createSpreading(core);
		outbox.allow();
		loop.start();
		spreading.start();
		const stop = async () => {
			const stopped = Promise.all([loop.stop(), outbox.stop(), spreading.stop()]);
			fake.cut();
			await stopped;
		};
		onTestFinished(stop);
		return { stop, calls: () => calls };
	}
	const add = (overrides: Parameters<typeof newWatch>[0] = {}) => addWatch(store.watches, overrides);
	return { clock, store, db, recorded, start, add, ...fake };
}

export function statusOf({ id, teamId, channelId }: Watch, to: string): NewPost {
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	return { target, key: to, content: { kind: 'status', from: '', to } };
}

export function questionOf({ id, teamId, channelId }: Watch): NewPost {
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	return { target, key: 'question:', content: { kind: 'question', changed: false } };
}

const ASKED: FoundChange = {
	kind: 'asked',
	question: { messageIndex: 1, fingerprint: 'f', shownHash: 'h', answered: [], open: [0] },
	settled: null,
};

/** Records the outcome of a read for one watch, as the poller does. */
export async function recordRead(
	store: Store,
	watchId: string,
	now: number,
	news: { posts?: NewPost[]; card?: PostUrgency; step?: number; end?: 'sessionOver'; settled?: SettledHow },
): Promise<void> {
	const { watches, sessions, reads } = store;
	const active = await store.posts.activeChannels();
	const channels = await Promise.all(active.map((channel) => watches.ofChannel(channel)));
	const watch = channels.flat().find(({ id }) => id === watchId) ?? null;
	if (watch === null) throw new Error('there is no such watch');
	const { step, posts = [], card = null, end = null, settled } = news;
	const asked = posts.some(({ content }) => content.kind === 'question') ? [ASKED] : [];
	const messages = Array.from({ length: step ?? 1 }, () => session().messages[1] ?? fail());
	const snapshot = snapshotOf(session({ sessionId: watch.session.sessionId, messages }), now);
	const found = await foundIn(
		store,
		watch.session,
		settled === undefined ? asked : [{ kind: 'settled', how: settled }],
	);
	const update: SessionUpdate = {
		nextRead: { at: now, by: now },
		lastReadAt: now,
		lastChangeAt: now,
		failures: 0,
		overSince: null,
		earlyReadCount: 1,
		reads: sessionReads.parse({}),
		snapshot,
		found,
	};
	const { revision } = watch;
	await sessions.takeDue(SERVICE, { token: 'poller', ms: 60_000 }, 1_000, now + 1e9);
	const { lastReadAt = null } = (await sessions.watched(watch.session)) ?? {};
	const written = await reads.record(
		{ session: watch.session, token: 'poller', lastReadAt },
		{ update, watches: [{ watchId, revision, changed: true, posts, card, end }], now },
	);
	if (!written) throw new Error('not held');
}

export function fail(): never {
	throw new Error('a session has a message, and what was posted was sent');
}
