import { describe, expect, it } from 'vitest';
import { createEndings } from '../../src/sessions/endings.ts';
import type { Watch } from '../../src/store/watch.ts';
import { pass, SERVICE, setStyle } from '../sessions/support.ts';
import { createRecordingLog } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { createOutboxHarness, questionOf, recordRead, statusOf } from './outbox-harness.ts';

describe('a channel whose watches ended because another organisation reads it', () => {
	const C1 = { teamId: 'T1', channelId: 'C1' };
	const endChannel = ({ store, clock }: Pick<Awaited<ReturnType<typeof createOutboxHarness>>, 'store' | 'clock'>) => {
		const core = coreOf({ store, clock, log: createRecordingLog() });
		return createEndings(core).endChannel(C1, 'channelShared');
	};

	it('an external channel gets no post or card that is being prepared', async () => {
		const { clock, start, add, store, announcer, texts } = await createOutboxHarness();
		const watch = await add();
		const other = await add({ sessionId: 's2' });
		const standing: (() => void)[] = [];
		let isHeld = false;
		start({
			announcer: {
				...announcer,
				async draw(due) {
					const isOther = due.watch?.id === other.id;
					if (isOther || (isHeld && due.post.ts !== null)) await new Promise<void>((resolve) => standing.push(resolve));
					return announcer.draw(due);
				},
			},
		});
		await pass(clock, 2_000);
		isHeld = true;
		await recordRead(store, watch.id, clock.now(), { card: 'progress', step: 2 });
		await pass(clock, 2_000);
		// The first card of the other watch, and the update of the posted card.
		expect(standing).toHaveLength(2);
		await endChannel({ store, clock });
		for (const goOn of standing) goOn();
		await pass(clock, 20_000);
		expect(texts()).toEqual(['card', 'creatorTold']);
	});

	it('an external channel gets no end of a session and no notice of an outage', async () => {
		const { clock, start, add, store, answer, sent } = await createOutboxHarness();
		const over = await add();
		await add({ sessionId: 's2' });
		const { stop } = start();
		await pass(clock, 5_000);
		await stop();
		await recordRead(store, over.id, clock.now(), {
			posts: [statusOf(over, 'over')],
			card: 'now',
			end: 'sessionOver',
		});
		const now = clock.now() + 60_000;
		const outage = { service: SERVICE, now, down: true, since: now - 40_000, unlessReadSince: now, code: '' };
		expect(await store.reads.noteOutage(outage)).toBe(true);
		const before = sent.length;
		await endChannel({ store, clock });
		// Another replica does not know of the end yet.
		answer(() => null);
		start();
		await pass(clock, 10_000);
		expect(sent.slice(before).map(({ what }) => what)).toEqual(['creatorTold']);
	});

	it('an external channel is not told that the service is back', async () => {
		const { clock, start, add, store, texts } = await createOutboxHarness();
		await add();
		start();
		await pass(clock, 5_000);
		const down = {
			service: SERVICE,
			now: clock.now(),
			down: true,
			since: clock.now(),
			unlessReadSince: clock.now() + 1,
			code: '',
		};
		await store.reads.noteOutage(down);
		await pass(clock, 5_000);
		await endChannel({ store, clock });
		await store.reads.noteOutage({ ...down, now: clock.now(), down: false });
		await pass(clock, 5_000);
		expect(texts()).toEqual(['card', 'serviceDown', 'creatorTold']);
	});
});

describe('cards', () => {
	it('a card shows the newest state, and an update without a change is not sent', async () => {
		const { clock, store, start, add, texts, recorded } = await createOutboxHarness();
		const watch = await add();
		start();
		await pass(clock, 2_000);
		for (let step = 2; step <= 40; step += 1) {
			await recordRead(store, watch.id, clock.now(), { card: 'progress', step });
			await pass(clock, 200);
		}
		await pass(clock, 10_000);
		const updates = texts().filter((what) => what.startsWith('update'));
		expect(updates.at(-1)).toBe('update s1 40:active');
		expect(updates.length).toBeLessThan(12);
		const before = recorded.of('card unchanged');
		await recordRead(store, watch.id, clock.now(), { card: 'now', step: 40 });
		await pass(clock, 10_000);
		expect(texts().filter((what) => what.startsWith('update'))).toHaveLength(updates.length);
		expect(recorded.of('card unchanged')).toBe(before + 1);
	});

	it('sends at most 50 card updates a minute in a workspace, urgent ones first', async () => {
		const { clock, store, start, add, sent } = await createOutboxHarness();
		const watches: Watch[] = [];
		for (let index = 0; index < 30; index += 1)
			watches.push(await add({ sessionId: `s${index}`, channelId: `C${index}` }));
		start();
		await pass(clock, 5_000);
		for (let round = 2; round < 14; round += 1) {
			for (const watch of watches) await recordRead(store, watch.id, clock.now(), { card: 'progress', step: round });
			await pass(clock, 10_000);
		}
		const urgent = watches[29] as Watch;
		const askedAt = clock.now();
		await recordRead(store, urgent.id, askedAt, { card: 'now', step: 99 });
		await pass(clock, 3_000);
		const updates = sent.filter(({ what }) => what.startsWith('update'));
		for (const { at } of updates) {
			expect(updates.filter((other) => other.at >= at && other.at < at + 60_000).length).toBeLessThanOrEqual(50);
		}
		expect(updates.length).toBeGreaterThan(70);
		const shown = sent.find(({ what }) => what === 'update s29 99:active');
		expect((shown?.at ?? Number.POSITIVE_INFINITY) - askedAt).toBeLessThan(2_000);
	});
});

describe('a card that somebody deleted', () => {
	/** Slack after the posted cards were deleted. */
	async function withoutCard({ questionsInThread = false } = {}) {
		const harness = await createOutboxHarness();
		await setStyle(harness.store, { questionsInThread });
		const { clock, start, add, answer, texts } = harness;
		const watch = await add();
		start();
		await pass(clock, 2_000);
		let lastDeleted = texts().filter((what) => what === 'card').length;
		const isThere = () => texts().filter((what) => what === 'card').length > lastDeleted;
		answer((what) => {
			if (what === 'card' || isThere()) return null;
			return what.startsWith('update') ? { kind: 'deleted' } : 'unthreaded';
		});
		const deleteAgain = () => {
			lastDeleted = texts().filter((what) => what === 'card').length;
		};
		return { ...harness, watch, deleteAgain };
	}

	it('posts a new card before the posts that follow one without a thread', async () => {
		const { clock, store, watch, texts } = await withoutCard();
		await recordRead(store, watch.id, clock.now(), {
			posts: [statusOf(watch, 'paused'), statusOf(watch, 'active')],
		});
		await pass(clock, 15_000);
		expect(texts()).toEqual(['card', 'paused', 'card', 'active']);
	});

	it('leaves a question without a thread in the channel', async () => {
		const { clock, store, watch, texts } = await withoutCard({ questionsInThread: true });
		await recordRead(store, watch.id, clock.now(), { posts: [questionOf(watch), statusOf(watch, 'answered')] });
		await pass(clock, 15_000);
		expect(texts()).toEqual(['card', 'question', 'card', 'answered']);
	});

	it('replaces a deleted card at once, then once an hour, and posts only questions in the channel meanwhile', async () => {
		const { clock, store, watch, sent, deleteAgain, texts } = await withoutCard();
		for (const step of [5, 6]) {
			await recordRead(store, watch.id, clock.now(), { card: 'now', step });
			await pass(clock, 3_000);
			deleteAgain();
		}
		expect(texts()).toEqual(['card', 'card']);
		const secondAt = sent[1]?.at ?? 0;
		await recordRead(store, watch.id, clock.now(), { card: 'now', step: 7 });
		await pass(clock, 3_000);
		await recordRead(store, watch.id, clock.now(), { posts: [statusOf(watch, 'paused'), questionOf(watch)] });
		await pass(clock, 3_000);
		expect(texts()).toEqual(['card', 'card', 'question']);
		await pass(clock, 3_600_000);
		expect(texts()).toEqual(['card', 'card', 'question', 'card']);
		const again = (sent[3]?.at ?? 0) - secondAt;
		expect(again).toBeGreaterThanOrEqual(3_590_000);
		expect(again).toBeLessThan(3_900_000);
	});
});
