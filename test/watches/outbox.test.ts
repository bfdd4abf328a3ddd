import { describe, expect, onTestFinished, test } from 'vitest';
import type { NewAnnouncement } from '../../src/watches/announcement.ts';
import { createOutbox } from '../../src/watches/outbox.ts';
import { createPaces } from '../../src/watches/pace.ts';
import type { Announcer, SendOutcome, SessionUpdate, WatchStore } from '../../src/watches/ports.ts';
import { unknownRhythm } from '../../src/watches/rhythm.ts';
import { viewOf } from '../../src/watches/session-view.ts';
import type { CardUrgency, Watch } from '../../src/watches/watch.ts';
import { createRecordingLog } from '../store/support.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { createRecordingMetrics, newWatch, openTestStore, pass, SERVICE, session, sessionView, T0 } from './support.ts';

interface Sent {
	readonly what: string;
	readonly channel: string;
	readonly at: number;
	readonly maybeRepeat?: boolean;
}

/** What becomes of a call; `hang` and `lost` ones stand in the channel, the first not answered, the second with a time-out. */
type Outcome = (what: string, channel: string) => SendOutcome | 'hang' | 'lost' | null;

/** Slack as the outbox sees it: keeps what was sent; outcomes are set by what is sent. */
function createFakeAnnouncer(clock: ManualClock) {
	const sent: Sent[] = [];
	const outcomes: Outcome[] = [];
	const history = new Map<string, string>();
	let readable = true;
	let count = 0;

	async function deliver(entry: Sent, metadataKey: string | null, signal: AbortSignal): Promise<SendOutcome> {
		const outcome = outcomes[0]?.(entry.what, entry.channel) ?? null;
		if (outcome !== null && typeof outcome !== 'string') return outcome;
		count += 1;
		const ts = `${count}.0`;
		sent.push(entry);
		if (metadataKey !== null) history.set(metadataKey, ts);
		if (outcome === 'lost') return { kind: 'unknown', code: 'timed_out' };
		// It stands in the channel, and nobody hears of it.
		if (outcome === 'hang') await clock.sleep(3_600_000, signal);
		return { kind: 'sent', ts };
	}

	const announcer: Announcer = {
		async prepareCard({ watch, view }) {
			const key = `${view.step}:${view.status}`;
			return {
				key,
				send: ({ ts, metadataKey, signal }) => {
					const what = ts === null ? 'card' : `update ${watch.session.sessionId} ${key}`;
					return deliver({ what, channel: watch.channelId, at: clock.now() }, metadataKey, signal);
				},
			};
		},
		post({ announcement }, { metadataKey, maybeRepeat, signal }) {
			const { content, target } = announcement;
			const what = content.kind === 'status' ? content.to : content.kind;
			const channel = target.kind === 'person' ? target.userId : target.channelId;
			return deliver({ what, channel, at: clock.now(), maybeRepeat }, metadataKey, signal);
		},
		async find(_, { metadataKey }) {
			if (!readable) return { kind: 'unreadable' };
			const ts = history.get(metadataKey);
			return ts === undefined ? { kind: 'absent' } : { kind: 'found', ts };
		},
	};
	return {
		announcer,
		sent,
		texts: () => sent.map(({ what }) => what),
		answer: (outcome: Outcome) => outcomes.splice(0, 1, outcome),
		hideHistory: () => {
			readable = false;
		},
		forget: () => history.clear(),
	};
}

async function outboxSetting() {
	const clock = createManualClock(T0);
	const store = (await openTestStore()).watches;
	const fake = createFakeAnnouncer(clock);
	const recorded = createRecordingMetrics();
	const paces = createPaces();
	function start(owner = 'outbox-1') {
		const controller = new AbortController();
		const { metrics } = recorded;
		const log = createRecordingLog();
		const outbox = createOutbox({ store, announcer: fake.announcer, paces, clock, metrics, owner, log });
		const running = outbox.run(controller.signal);
		const stop = async () => {
			controller.abort(new Error('stop'));
			await running;
		};
		onTestFinished(stop);
		return { stop };
	}
	const add = async (overrides: Parameters<typeof newWatch>[0] = {}) => (await store.add(newWatch(overrides))).watch;
	return { clock, store, recorded, start, add, ...fake };
}

function said({ id, teamId, channelId }: Watch, to: string): NewAnnouncement {
	const target = { kind: 'watch', watchId: id, teamId, channelId } as const;
	return { target, key: to, content: { kind: 'status', from: '', to } };
}

/** As the poller would: what was found, for one watch. */
async function found(
	store: WatchStore,
	watchId: string,
	now: number,
	news: { announcements?: NewAnnouncement[]; card?: CardUrgency; step?: number; end?: 'sessionOver' },
): Promise<void> {
	const watch = await store.get(watchId);
	if (watch === null) throw new Error('there is no such watch');
	const { step, announcements = [], card = null, end = null } = news;
	const messages = Array.from({ length: step ?? 1 }, () => session().messages[1] ?? fail());
	const view = viewOf(session({ sessionId: watch.session.sessionId, messages }), now);
	const update: SessionUpdate = {
		rhythm: unknownRhythm,
		nextRead: { at: now, by: now },
		lastReadAt: now,
		lastChangeAt: now,
		failures: 0,
		lastError: null,
		overSince: null,
		hurry: 1,
		view,
	};
	const { digest } = view;
	const { revision } = watch;
	await store.takeDue(SERVICE, { owner: 'poller', ms: 60_000 }, 1_000, now + 1e9);
	const written = await store.record(
		watch.session,
		'poller',
		update,
		[{ watchId, revision, digest, changed: true, announcements, card, end }],
		now,
	);
	if (written === null) throw new Error('not held');
}

function fail(): never {
	throw new Error('a session has a message');
}

describe('posts', () => {
	test('go out in the order of their watch, the card first', async () => {
		const { clock, store, start, add, texts } = await outboxSetting();
		const watch = await add();
		await found(store, watch.id, T0, { announcements: [said(watch, 'asked'), said(watch, 'answered')] });
		await found(store, watch.id, T0, { announcements: [said(watch, 'over')], end: 'sessionOver' });
		start();
		await pass(clock, 10_000);
		expect(texts().slice(0, 4)).toEqual(['card', 'asked', 'answered', 'over']);
	});

	test('keep to one a second in a channel, whatever others do', async () => {
		const { clock, start, add, sent } = await outboxSetting();
		for (let index = 0; index < 8; index += 1)
			await add({ sessionId: `s${index}`, channelId: index < 6 ? 'C1' : 'C2' });
		start();
		await pass(clock, 15_000);
		const times = (channel: string) => sent.filter((one) => one.channel === channel).map(({ at }) => at);
		const [first, ...rest] = times('C1');
		expect(rest).toHaveLength(5);
		rest.reduce((before, at) => {
			expect(at - before).toBeGreaterThanOrEqual(1_000);
			return at;
		}, first ?? 0);
		expect(times('C2')[0]).toBeLessThan(T0 + 1_000);
	});

	test('that wait for their turn in a busy channel are not taken over and over', async () => {
		const { clock, store, start, add, texts } = await outboxSetting();
		for (let index = 0; index < 20; index += 1) await add({ sessionId: `s${index}` });
		let taken = 0;
		const takeAnnouncements = store.takeAnnouncements.bind(store);
		store.takeAnnouncements = async (...given) => {
			const due = await takeAnnouncements(...given);
			taken += due.length;
			return due;
		};
		start();
		await pass(clock, 24_000);
		expect(texts()).toHaveLength(20);
		expect(taken).toBeLessThan(60);
	});

	test('are found and not repeated after a crash between Slack and our note', async () => {
		const { clock, store, start, add, texts, answer, recorded } = await outboxSetting();
		const watch = await add();
		await found(store, watch.id, T0, { announcements: [said(watch, 'asked'), said(watch, 'answered')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const { stop } = start('dies');
		await pass(clock, 5_000);
		await stop();
		answer(() => null);
		start('lives');
		await pass(clock, 10_000);
		expect(texts()).toEqual(['card', 'asked', 'answered']);
		expect(recorded.of('post found')).toBe(1);
	});

	test('are repeated as perhaps repeated where history cannot be read, and plainly where nothing is found', async () => {
		const { clock, start, add, sent, answer, hideHistory, forget, store } = await outboxSetting();
		const watch = await add();
		await found(store, watch.id, T0, { announcements: [said(watch, 'asked')] });
		answer((what) => (what === 'asked' ? 'hang' : null));
		const first = start('one');
		await pass(clock, 3_000);
		await first.stop();
		forget();
		const second = start('two');
		await pass(clock, 3_000);
		await second.stop();
		answer(() => null);
		hideHistory();
		start('three');
		await pass(clock, 3_000);
		const posts = sent.filter(({ what }) => what === 'asked').map(({ maybeRepeat }) => maybeRepeat);
		expect(posts).toEqual([false, false, true]);
	});

	test('are looked for after a call of unknown outcome, and not after one that surely failed', async () => {
		const { clock, start, add, texts, answer, recorded } = await outboxSetting();
		await add();
		const failures: SendOutcome[] = [
			{ kind: 'later', ms: null, code: 'internal_error', limited: false },
			{ kind: 'unknown', code: 'timed_out' },
		];
		answer(() => failures.shift() ?? null);
		start();
		await pass(clock, 30_000);
		expect(texts()).toEqual(['card']);
		expect(recorded.of('post retried')).toBe(2);
		expect(recorded.of('post found')).toBe(0);
	});

	test('that Slack took without a word are found, and what follows goes on', async () => {
		const { clock, store, start, add, texts, answer, recorded } = await outboxSetting();
		const watch = await add();
		await found(store, watch.id, T0, { announcements: [said(watch, 'asked'), said(watch, 'answered')] });
		answer((what) => (what === 'asked' ? 'lost' : null));
		start();
		await pass(clock, 20_000);
		expect(texts()).toEqual(['card', 'asked', 'answered']);
		expect(recorded.of('post found')).toBe(1);
	});

	test('wait as long as Slack says', async () => {
		const { clock, start, add, sent, answer } = await outboxSetting();
		await add();
		const failures: SendOutcome[] = [{ kind: 'later', ms: 20_000, code: 'ratelimited', limited: true }];
		answer(() => failures.shift() ?? null);
		start();
		await pass(clock, 30_000);
		expect(sent.map(({ at }) => at - T0)).toEqual([expect.toSatisfy((at: number) => at >= 20_000 && at < 22_000)]);
	});

	test('to a channel that takes none end its watches, and whoever made them is told', async () => {
		const { clock, start, add, answer, store, sent } = await outboxSetting();
		const one = await add();
		const two = await add({ sessionId: 's2' });
		const elsewhere = await add({ channelId: 'C2' });
		answer((_, channel) => (channel === 'C1' ? { kind: 'gone', reason: 'channelArchived' } : null));
		start();
		await pass(clock, 10_000);
		expect(await store.get(one.id)).toMatchObject({ ended: { reason: 'channelArchived' } });
		expect(await store.get(two.id)).toMatchObject({ ended: { reason: 'channelArchived' } });
		expect(await store.get(elsewhere.id)).toMatchObject({ ended: null });
		expect(sent.filter(({ what }) => what === 'creatorTold').map(({ channel }) => channel)).toEqual(['U-ANN']);
	});
});

describe('cards', () => {
	test('show the newest state, and nothing is sent for one that looks the same', async () => {
		const { clock, store, start, add, texts, recorded } = await outboxSetting();
		const watch = await add();
		start();
		await pass(clock, 2_000);
		for (let step = 2; step <= 40; step += 1) {
			await found(store, watch.id, clock.now(), { card: 'progress', step });
			await pass(clock, 200);
		}
		await pass(clock, 10_000);
		const updates = texts().filter((what) => what.startsWith('update'));
		expect(updates.at(-1)).toBe('update s1 40:active');
		expect(updates.length).toBeLessThan(12);
		await found(store, watch.id, clock.now(), { card: 'now', step: 40 });
		await pass(clock, 10_000);
		expect(texts().filter((what) => what.startsWith('update'))).toHaveLength(updates.length);
		expect(recorded.of('card unchanged')).toBe(1);
	});

	test('stay below 50 updates in any minute for a workspace, urgent ones first', async () => {
		const { clock, store, start, add, sent } = await outboxSetting();
		const watches: Watch[] = [];
		for (let index = 0; index < 30; index += 1)
			watches.push(await add({ sessionId: `s${index}`, channelId: `C${index}` }));
		start();
		await pass(clock, 5_000);
		for (let round = 2; round < 14; round += 1) {
			for (const watch of watches) await found(store, watch.id, clock.now(), { card: 'progress', step: round });
			await pass(clock, 10_000);
		}
		const urgent = watches[29] as Watch;
		const askedAt = clock.now();
		await found(store, urgent.id, askedAt, { card: 'now', step: 99 });
		await pass(clock, 3_000);
		const updates = sent.filter(({ what }) => what.startsWith('update'));
		for (const { at } of updates) {
			expect(updates.filter((other) => other.at >= at && other.at < at + 60_000).length).toBeLessThanOrEqual(50);
		}
		expect(updates.length).toBeGreaterThan(70);
		const shown = sent.find(({ what }) => what === 'update s29 99:active');
		expect((shown?.at ?? Number.POSITIVE_INFINITY) - askedAt).toBeLessThan(2_000);
	});

	test('that somebody deleted are not updated any more', async () => {
		const { clock, store, start, add, texts, answer } = await outboxSetting();
		const watch = await add();
		start();
		await pass(clock, 2_000);
		answer(() => ({ kind: 'refused', code: 'message_not_found' }));
		await found(store, watch.id, clock.now(), { card: 'progress', step: 5 });
		await pass(clock, 5_000);
		expect((await store.get(watch.id))?.card.wanted).toBeNull();
		expect(texts()).toEqual(['card']);
	});
});

test('the view in a card survives a restart', async () => {
	const { store, add } = await outboxSetting();
	await add();
	const page = await store.list('T1', 'C1', { offset: 0, limit: 5 });
	expect(page.watches[0]?.view).toEqual(sessionView('s1'));
});
