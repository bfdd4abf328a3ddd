import { describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../../src/kernel/errors.ts';
import { createRateLimiter } from '../../src/kernel/rate-limiter.ts';
import type { Watch } from '../../src/store/watch.ts';
import type { SendOutcome } from '../../src/surfaces/post.ts';
import { pass, T0 } from '../sessions/support.ts';
import { settableClock } from '../support/settable-clock.ts';
import { createOutboxHarness, questionOf, recordRead, statusOf } from './outbox-harness.ts';

describe('the store', () => {
	/** For a minute: three queries a second, and a few more. */
	const FEW = 4 * 60;

	it('does not query the store over and over for posts behind a waiting one', async () => {
		const { clock, store, start, add, answer, texts } = await createOutboxHarness();
		const watch = await add();
		await recordRead(store, watch.id, T0, { posts: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
		answer((what) => (what === 'asked' ? { kind: 'later', ms: 240_000, code: 'ratelimited', limited: true } : null));
		const { calls } = start();
		await pass(clock, 5_000);
		const before = calls();
		await pass(clock, 60_000);
		expect(texts()).toEqual(['card']);
		expect(calls() - before).toBeLessThan(FEW);
	});

	it('does not query the store over and over while the rate of updates has no room', async () => {
		const { clock, store, start, add, answer } = await createOutboxHarness();
		const watches: Watch[] = [];
		for (let index = 0; index < 9; index += 1) {
			watches.push(await add({ sessionId: `s${index}`, channelId: `C${index}` }));
		}
		answer((what) =>
			what.startsWith('update') ? { kind: 'later', ms: 240_000, code: 'ratelimited', limited: true } : null,
		);
		const { calls } = start();
		await pass(clock, 5_000);
		for (const watch of watches) await recordRead(store, watch.id, clock.now(), { card: 'progress', step: 3 });
		await pass(clock, 5_000);
		for (const { id } of watches.slice(4)) await recordRead(store, id, clock.now(), { card: 'now', step: 4 });
		await pass(clock, 1_000);
		const before = calls();
		await pass(clock, 60_000);
		expect(calls() - before).toBeLessThan(FEW);
	});
});

it('sends new posts while Slack does not respond to updates', async () => {
	const { clock, store, start, add, answer, texts } = await createOutboxHarness();
	const watches: Watch[] = [];
	for (let index = 0; index < 12; index += 1) {
		watches.push(await add({ sessionId: `s${index}`, channelId: `C${index}` }));
	}
	answer((what) => (what.startsWith('update') ? 'hang' : null));
	start();
	await pass(clock, 5_000);
	for (const { id } of watches) await recordRead(store, id, clock.now(), { card: 'now', step: 3 });
	await pass(clock, 20_000);
	const [watch] = watches as [Watch];
	await recordRead(store, watch.id, clock.now(), { posts: [statusOf(watch, 'asked')] });
	await pass(clock, 2_000);
	expect(texts().at(-1)).toBe('asked');
});

describe.each([
	['back', -3_600_000],
	['forward', 3_600_000],
])('when the clock is put %s by an hour', (_, shift) => {
	it('sends posts and cards as before, under Slack’s rates', async () => {
		const { clock, db, store, start, add, texts, sent, answer } = await createOutboxHarness();
		const machine = await settableClock(clock, { db });
		start({ clock: machine, rateLimiter: createRateLimiter(machine) });
		const watch = await add();
		const second = await add({ sessionId: 's2' });
		// The clock looks after a minute.
		await pass(clock, 50_000);
		// Both wait when the clock is set: the first for Slack, the second for the first.
		const limits: SendOutcome[] = Array(2).fill({ kind: 'later', ms: 20_000, code: 'ratelimited', limited: true });
		answer(() => limits.shift() ?? null);
		await recordRead(store, watch.id, machine.now(), {
			posts: [statusOf(watch, 'asked')],
			card: 'now',
			step: 2,
		});
		await pass(clock, 2_000);
		const posts = [statusOf(second, 'asked too')];
		await recordRead(store, second.id, machine.now(), { posts, card: 'now', step: 2 });
		await pass(clock, 2_000);
		machine.set(shift);
		await pass(clock, 30_000);
		expect(texts().sort()).toEqual(['asked', 'asked too', 'card', 'card', 'update s1 2:active', 'update s2 2:active']);
		const from = sent.length;
		for (let step = 3; step < 8; step += 1) {
			const posts = [statusOf(watch, `${step}`)];
			await recordRead(store, watch.id, machine.now(), { posts, card: 'now', step });
		}
		await pass(clock, 20_000);
		const told = sent.slice(from).filter(({ what }) => !what.startsWith('update'));
		expect(told.map(({ what }) => what)).toEqual(['3', '4', '5', '6', '7']);
		told.reduce((before, { at }) => {
			expect(at - before).toBeGreaterThanOrEqual(1_000);
			return at;
		}, 0);
		expect(texts().at(-1)).toMatch(/^7$|7:active$/);
		expect(texts()).toContain('update s1 7:active');
	});
});

it('counts the attempts of a post that cannot be drawn, sends those behind it, and draws it when that is possible', async () => {
	const { clock, db, store, start, add, announcer, texts } = await createOutboxHarness();
	const watch = await add();
	await recordRead(store, watch.id, T0, { posts: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
	let isBroken = true;
	start({
		announcer: {
			...announcer,
			async draw(due) {
				const { content, ts } = due.post;
				const isHit = content.kind === 'status' ? content.to === 'asked' : ts !== null;
				if (isBroken && isHit) throw new RangeError('as a mistake in a builder of blocks does');
				return announcer.draw(due);
			},
		},
	});
	await pass(clock, 60_000);
	expect(texts()).toEqual(['card', 'answered']);
	await recordRead(store, watch.id, clock.now(), { card: 'now', step: 2 });
	await pass(clock, 60_000);
	const posts = db.read.selectFrom('posts').select(['kind', 'attempts']).where('dueAt', 'is not', null);
	const attempts = (await posts.orderBy('kind').execute()).map(({ kind, attempts: count }) => [kind, count]);
	expect(attempts).toEqual([
		['card', 5],
		['status', 6],
	]);
	isBroken = false;
	await pass(clock, 300_000);
	expect(texts().toSorted()).toEqual(['answered', 'asked', 'card', 'update s1 2:active']);
});

it('keeps the order of posts while the store fails', async () => {
	const { clock, store, start, add, announcer, texts } = await createOutboxHarness();
	const watch = await add();
	await recordRead(store, watch.id, T0, { posts: [statusOf(watch, 'asked'), statusOf(watch, 'answered')] });
	let failures = 1;
	start({
		announcer: {
			...announcer,
			async draw(due) {
				const isHit = due.post.content.kind === 'status' && failures-- > 0;
				if (isHit) throw new StoreUnavailableError('as if the database did not respond');
				return announcer.draw(due);
			},
		},
	});
	await pass(clock, 60_000);
	expect(texts()).toEqual(['card', 'asked', 'answered']);
});

describe('a question that Slack refuses for its blocks', () => {
	/** Slack refuses questions with rich text; `calls`: the attempts, in order. */
	async function refusing() {
		const harness = await createOutboxHarness();
		const { clock, start, add, answer } = harness;
		const watch = await add();
		start();
		await pass(clock, 5_000);
		const calls: string[] = [];
		answer((what, _, isPlain) => {
			if (!what.startsWith('question')) return null;
			calls.push(isPlain ? `plain ${what}` : what);
			return isPlain ? null : { kind: 'refused', code: 'invalid_blocks' };
		});
		return { ...harness, watch, calls };
	}

	it('goes out as plain text in a busy channel', async () => {
		const { clock, store, add, watch, calls, texts } = await refusing();
		const other = await add({ sessionId: 's2' });
		await recordRead(store, watch.id, clock.now(), { posts: [questionOf(watch)] });
		for (let second = 0; second < 30; second += 1) {
			await recordRead(store, other.id, clock.now(), { posts: [statusOf(other, `step ${second}`)] });
			await pass(clock, 1_000);
		}
		expect(texts().length).toBeGreaterThan(20);
		expect(calls).toEqual(['question', 'plain question']);
	});

	it('goes out as plain text after other failures, however often they came', async () => {
		const { clock, store, watch, calls, answer } = await refusing();
		let failures = 0;
		answer((what, _, isPlain) => {
			if (!what.startsWith('question')) return null;
			if (failures++ < 6) return { kind: 'later', ms: 1_000, code: 'ratelimited', limited: true };
			calls.push(isPlain ? `plain ${what}` : what);
			if (!isPlain) return { kind: 'refused', code: 'msg_too_long' };
			return failures < 10 ? { kind: 'later', ms: 1_000, code: 'ratelimited', limited: true } : null;
		});
		await recordRead(store, watch.id, clock.now(), { posts: [questionOf(watch)] });
		await pass(clock, 30 * 60_000);
		expect(calls).toEqual(['question', 'plain question', 'plain question', 'plain question']);
	});

	it('is plain in its updates, too, without another refusal', async () => {
		const { clock, db, store, watch, calls } = await refusing();
		await recordRead(store, watch.id, clock.now(), { posts: [questionOf(watch)] });
		await pass(clock, 10_000);
		await db.write((trx) => trx.updateTable('posts').set({ shownKey: null }).where('kind', '=', 'question').execute());
		await recordRead(store, watch.id, clock.now(), { settled: 'answered' });
		await pass(clock, 10_000);
		expect(calls).toEqual(['question', 'plain question', 'plain question again']);
	});
});
