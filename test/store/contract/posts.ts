import { describe, expect, it } from 'vitest';
import type { Watch } from '../../../src/store/watch.ts';
import { planPosts } from '../../../src/surfaces/plan-store.ts';
import type { AttemptResult, Post } from '../../../src/surfaces/post.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, LEASE, OTHER_LEASE, only, present, storeActs, T0 } from '../support.ts';
import { ASKED, asking, askingView, C1, KEY, news, read, said, settled, shownAt, watchActs } from './watch-acts.ts';

const HOUR = 3_600_000;
const again = { nextRead: { at: T0, by: T0 } };

/** The states of posts, and what leads from one to another. */
export function describePosts(subject: Subject): void {
	const { refreshed, rowsOf, spread } = storeActs(subject);
	const { store, replica, stored, added, recorded, ended, unwatch, posted, drawn, cardOf, postsOf } =
		watchActs(subject);

	/** Takes all that is due; returns the post of this kind, and gives the others back. */
	async function take(kind: string, now = T0): Promise<Post> {
		const due = await store().posts.takeDue(LEASE, 50, now);
		const { post: mine } = present(due.find(({ post }) => post.content.kind === kind));
		const retry = { kind: 'retry', at: now, code: 'paced', mayBeThere: false } as const;
		for (const { post } of due) if (post !== mine) await ended(post, retry, now);
		return mine;
	}

	/** An attempt for this post with this outcome. */
	async function attempt(post: Post, result: AttemptResult, now = T0): Promise<void> {
		expect(await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(now))).toBe(true);
		await ended(post, result, now);
	}

	const row = async (id: string) => {
		await spread();
		return only(await rowsOf('posts', { id }));
	};
	const refresh = (now = T0) => refreshed(KEY, { now, earlyReadAt: null });

	/** A watch whose card and question are shown, and nothing is due. */
	async function asked(): Promise<Watch> {
		const watch = await added();
		await posted();
		const update = read({ ...again, snapshot: askingView(), questions: [ASKED] });
		await recorded([news(watch, { posts: [asking(watch)] })], update);
		await posted();
		// The card leads to the question, which stands now.
		expect(await drawn()).toEqual(['card']);
		expect(await store().posts.takeDue(OTHER_LEASE, 9, T0)).toEqual([]);
		return present(await stored(watch.id));
	}

	describe('a post', () => {
		it('is planned, shown, and closed after its last look, and nothing wants it then', async () => {
			const watch = await added();
			await posted();
			const update = read({ ...again, snapshot: askingView(), questions: [ASKED] });
			await recorded([news(watch, { posts: [asking(watch)] })], update);
			const first = await take('question');
			const { id } = first;
			expect(await row(id)).toMatchObject({ state: 'planned', ts: null, shownKey: null, wanted: 1 });
			await attempt(first, shownAt(first, '1.1'));
			expect(await row(id)).toMatchObject({ state: 'shown', ts: '1.1', shownKey: 'looks', dueAt: null });
			await recorded([], read({ ...again, questions: [settled('answered')] }));
			const last = await take('question');
			expect(last.ts).toBe('1.1');
			await attempt(last, shownAt(last, '', { key: 'over', isLast: true }));
			expect(await row(id)).toMatchObject({ state: 'closed', ts: '1.1', shownKey: 'over', dueAt: null });
			const { wanted } = await row(id);
			await refresh();
			await unwatch(watch.id);
			expect(await row(id)).toMatchObject({ state: 'closed', dueAt: null, wanted });
		});

		it('is closed at once when it is shown and not kept current', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { posts: [said(watch, 'paused')] })]);
			await posted();
			await refresh();
			expect(await drawn()).toEqual(['card']);
			expect((await postsOf(watch.id)).map(({ state }) => state)).toEqual(['shown', 'closed']);
		});

		it('that is wanted while it is sent for the first time is drawn again at once', async () => {
			const watch = await added();
			const post = await take('card');
			await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(T0));
			await refresh(T0 + 1);
			expect(await store().posts.takeDue(OTHER_LEASE, 9, T0 + 1)).toEqual([]);
			await ended(post, shownAt(post, '1.1'), T0 + 2);
			expect(await cardOf(watch.id)).toMatchObject({ state: 'shown', dueAt: T0 + 2, sendingSince: null });
			expect(await drawn(T0 + 2)).toEqual(['card']);
			expect(await drawn(T0 + HOUR)).toEqual([]);
		});

		it('that waited behind others, and is wanted while it is sent, is as urgent as any other then', async () => {
			const watch = await added();
			await posted();
			await store().db.write((trx) => planPosts({ trx, now: T0 }, [said(watch, 'paused')], 'progress'));
			const post = await take('status');
			await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(T0));
			await refresh(T0 + 1);
			await ended(post, shownAt(post, '1.1'), T0 + 2);
			expect(await row(post.id)).toMatchObject({ state: 'shown', shownAt: T0 + 2, dueAt: T0 + 2, urgency: 0 });
		});

		it('that may show something else is drawn again at once', async () => {
			const watch = await added();
			const post = await take('card');
			await attempt(post, shownAt(post, '1.1', { key: null }));
			expect(await cardOf(watch.id)).toMatchObject({ state: 'shown', ts: '1.1', shownKey: null, dueAt: T0 });
		});

		it('is wanted with the higher urgency, and more often does not delay it', async () => {
			const watch = await asked();
			for (const [card, ms, dueMs, urgency] of [
				['progress', 1_000, 1_000, 1],
				['progress', 2_000, 1_000, 1],
				['now', 3_000, 3_000, 0],
				['progress', 4_000, 3_000, 0],
			] as const) {
				const current = present(await stored(watch.id));
				await recorded([news(current, { card })], read(again), { takenAt: T0 + HOUR, now: T0 + ms });
				expect(await cardOf(watch.id)).toMatchObject({ dueAt: T0 + dueMs, urgency });
			}
		});

		it('that Slack may have written is looked for later, and one that it has not is not', async () => {
			const watch = await asked();
			await refresh();
			const retry = (mayBeThere: boolean) => ({ kind: 'retry', at: T0 + 5_000, code: 'timeout', mayBeThere }) as const;
			await attempt(await take('card'), retry(true));
			const waits = { state: 'shown', dueAt: T0 + 5_000, attempts: 1, waitsAs: null, shownKey: 'looks' };
			expect(await cardOf(watch.id)).toMatchObject({ ...waits, sendingSince: T0 });
			// A mark does not forget it, and does not delay it.
			await refresh(T0 + 6_000);
			expect(await cardOf(watch.id)).toMatchObject({ sendingSince: T0, dueAt: T0 + 5_000 });
			const later = await take('card', T0 + 5_000);
			await ended(later, retry(false));
			expect(await cardOf(watch.id)).toMatchObject({ ...waits, attempts: 2, sendingSince: null });
			const last = await take('card', T0 + 5_000);
			await attempt(last, shownAt(last, ''), T0 + 5_000);
			expect(await cardOf(watch.id)).toMatchObject({ attempts: 0, sendingSince: null });
		});

		it('that an earlier update may still change is drawn once more, a minute after that began', async () => {
			const watch = await asked();
			await refresh();
			await attempt(await take('card'), { kind: 'retry', at: T0 + 5_000, code: 'timeout', mayBeThere: true });
			const unsure = await take('card', T0 + 5_000);
			await ended(unsure, shownAt(unsure, '', { isLast: true, isUnsure: true }), T0 + 5_000);
			expect(await cardOf(watch.id)).toMatchObject({ state: 'shown', sendingSince: T0, dueAt: T0 + 60_000 });
			const last = await take('card', T0 + 60_000);
			await ended(last, shownAt(last, '', { isLast: true }), T0 + 60_000);
			expect(await cardOf(watch.id)).toMatchObject({ state: 'closed', sendingSince: null, dueAt: null });
		});

		it('that its channel does not take is over, and its creator is told by the end of the watch', async () => {
			await added();
			const post = await take('card');
			await attempt(post, { kind: 'gone', reason: 'channelArchived' });
			expect(await row(post.id)).toMatchObject({ state: 'refused', dueAt: null });
			expect(await rowsOf('posts', { kind: 'postRefused' })).toEqual([]);
		});

		it('that waits for the shared rate has not failed', async () => {
			const watch = await added();
			await attempt(await take('card'), { kind: 'retry', at: T0 + 500, code: 'paced', mayBeThere: false });
			expect(await cardOf(watch.id)).toMatchObject({ state: 'planned', attempts: 0, dueAt: T0 + 500 });
		});

		it('that is refused is over when it was planned, and kept when it is shown until it changes', async () => {
			const watch = await asked();
			const refused = { kind: 'refused', code: 'msg_too_long' } as const;
			await recorded([news(watch, { posts: [said(watch, 'paused')] })], read(again));
			const status = await take('status');
			await attempt(status, refused);
			expect(await row(status.id)).toMatchObject({ state: 'refused', dueAt: null });
			await refresh();
			const card = await take('card');
			// What changes while it is sent is drawn too.
			await refresh();
			await attempt(card, refused);
			expect(await cardOf(watch.id)).toMatchObject({ state: 'shown', dueAt: T0 });
			await attempt(await take('card'), refused);
			expect(await cardOf(watch.id)).toMatchObject({ state: 'shown', dueAt: null, ts: 'ts-card', sendingSince: null });
			await refresh();
			expect(await drawn()).toContain('card');
			expect(await row(status.id)).toMatchObject({ state: 'refused', dueAt: null });
		});

		it('with nothing to say any more is dropped, and never sent', async () => {
			const watch = await asked();
			await recorded([news(watch, { posts: [said(watch, 'paused'), said(watch, 'next')] })], read(again));
			const status = await take('status');
			await refresh();
			await ended(status, { kind: 'dropped' });
			expect(await row(status.id)).toMatchObject({ state: 'dropped', dueAt: null, ts: null });
			expect(await posted(T0 + HOUR)).toEqual(['next']);
		});
	});

	describe('a deleted post', () => {
		const states = async (watch: Watch) =>
			(await postsOf(watch.id)).map(({ kind, state }) => `${kind} ${state}`).toSorted();

		it('is gone: only a live watch gets a new card, planned once, at most one an hour', async () => {
			const watch = await asked();
			await refresh();
			await attempt(await take('question'), { kind: 'deleted' });
			expect(await states(watch)).toEqual(['card shown', 'question gone']);
			await attempt(await take('card'), { kind: 'deleted' });
			expect(await states(watch)).toEqual(['card gone', 'card planned', 'question gone']);
			expect(await cardOf(watch.id)).toMatchObject({ dueAt: T0 });
			expect(await posted()).toEqual(['card:ts-card']);
			const at = T0 + 60_000;
			await refresh(at);
			await attempt(await take('card', at), { kind: 'deleted' }, at);
			expect(await states(watch)).toEqual(['card gone', 'card gone', 'card planned', 'question gone']);
			const waits = JSON.stringify({ kind: 'card', notBefore: T0 + HOUR });
			expect(await cardOf(watch.id)).toMatchObject({ content: waits });
			expect(await posted(T0 + HOUR)).toEqual(['card:ts-card:ts-card']);
			// An hour later, the next one waits for nothing.
			await refresh(T0 + 3 * HOUR);
			await attempt(await take('card', T0 + 3 * HOUR), { kind: 'deleted' }, T0 + 3 * HOUR);
			expect(await cardOf(watch.id)).toMatchObject({ state: 'planned', dueAt: T0 + 3 * HOUR });
		});

		it('is found by the thread that is gone too, a question without a new one', async () => {
			const watch = await asked();
			await recorded([news(watch, { posts: [said(watch, 'a'), said(watch, 'b')] })], read(again));
			const first = await take('status');
			await attempt(first, shownAt(first, 'ts-a', { lostThread: 'ts-question' }));
			expect(await states(watch)).toEqual(['card shown', 'question gone', 'status closed', 'status planned']);
			const second = await take('status');
			await attempt(second, shownAt(second, 'ts-b', { lostThread: 'ts-card' }));
			expect(await states(watch)).toEqual([
				'card gone',
				'card planned',
				'question gone',
				'status closed',
				'status closed',
			]);
			expect(await posted()).toEqual(['card:ts-card']);
		});
	});

	describe('the posts of a watch', () => {
		it('that ends are drawn once more, and planned ones are dropped unless they may have been sent', async () => {
			const watch = await asked();
			await recorded([news(watch, { posts: [said(watch, 'a'), said(watch, 'b')] })], read(again));
			const first = await take('status');
			await store().posts.beginAttempt(first.id, LEASE.token, attemptAt(T0));
			await replica().watches.end(watch.id, 'unwatched', { now: T0, posts: [] });
			const planned = (await postsOf(watch.id)).filter(({ kind }) => kind === 'status');
			expect(planned.map(({ state }) => state)).toEqual(['planned', 'dropped']);
			await ended(first, shownAt(first, '1.1'));
			expect((await drawn()).toSorted()).toEqual(['a', 'card', 'question']);
		});

		it.each(['channelShared', 'channelNotAllowed'] as const)(
			'that ends with %s are over at once, whoever sends them: no last look, no attempt',
			async (reason) => {
				const watch = await asked();
				await refresh();
				const post = await take('card');
				await replica().watches.end(watch.id, reason, { now: T0, posts: [] });
				expect(await stored(watch.id)).toMatchObject({ ended: { reason } });
				expect(await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(T0))).toBe(false);
				await ended(post, shownAt(post, ''));
				expect((await postsOf(watch.id)).map(({ state, dueAt }) => [state, dueAt])).toEqual([
					['closed', null],
					['closed', null],
				]);
				expect(await store().posts.takeDue(OTHER_LEASE, 9, T0)).toEqual([]);
			},
		);

		it('in a channel that is silenced are over, also leased ones, planned ones dropped, those elsewhere not', async () => {
			const watch = await asked();
			const other = await added({ channelId: 'C2' });
			await posted();
			await recorded([news(watch, { posts: [said(watch, 'a')], card: 'now' })], read(again));
			await refresh();
			const due = await store().posts.takeDue(LEASE, 9, T0);
			await Promise.all([store().posts.silence(C1), replica().posts.silence(C1)]);
			expect((await postsOf(watch.id)).map(({ kind, state, dueAt }) => [kind, state, dueAt])).toEqual([
				['card', 'closed', null],
				['question', 'closed', null],
				['status', 'dropped', null],
			]);
			const begun = due.map(async ({ post, watch: of }) => {
				const isBegun = await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(T0));
				return `${of?.channelId} ${post.content.kind} ${isBegun}`;
			});
			const attempts = ['C1 card false', 'C1 question false', 'C1 status false', 'C2 card true'];
			expect((await Promise.all(begun)).toSorted()).toEqual(attempts);
			expect((await cardOf(other.id))?.state).toBe('shown');
			expect(await drawn(T0 + HOUR)).toEqual(['card']);
		});
	});
}
