import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Watch } from '../../../src/store/watch.ts';
import { planPosts } from '../../../src/surfaces/plan-store.ts';
import type { NewPost, Post } from '../../../src/surfaces/post.ts';
import { retryWaiting } from '../../../src/surfaces/post-store.ts';
import { newWatch } from '../../sessions/support.ts';
import type { FoundChange } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, LEASE, OTHER_LEASE, present, storeActs, T0 } from '../support.ts';
import {
	ASKED,
	asking,
	askingView,
	byText,
	C1,
	KEY,
	keyOf,
	listed,
	news,
	read,
	said,
	settled,
	shownAt,
	watchActs,
} from './watch-acts.ts';

/** Posts and cards of watches. */
export function describeWatchPosts(subject: Subject): void {
	const { refreshed, spread } = storeActs(subject);
	const { store, replica, stored, added, recorded, ended, next, posted, drawn, cardOf } = watchActs(subject);

	describe('posts', () => {
		it('shows watches that have ended too, with what their cards show, and nothing of none', async () => {
			expect(await store().watches.shownOf([])).toEqual(new Map());
			const watch = await added();
			await store().watches.end(watch.id, 'unwatched', { now: T0, posts: [] });
			const shown = await replica().watches.shownOf([watch.id, 'unknown']);
			expect([...shown.keys()]).toEqual([watch.id]);
			expect(shown.get(watch.id)).toMatchObject({
				watch: { ended: { reason: 'unwatched' } },
				snapshot: { sessionId: 's1' },
			});
		});

		it('tells the creator what Slack refuses, and plans it anew when the session is watched again', async () => {
			await added();
			await ended((await next()).post, { kind: 'refused', code: 'restricted_action' });
			await recorded([]);
			const [told] = await store().posts.takeDue({ ...LEASE, token: 'told' }, 10, T0);
			expect(told?.post.content).toMatchObject({ kind: 'postRefused', code: 'restricted_action' });
			expect(await replica().watches.add(newWatch())).toMatchObject({ kind: 'already', isPosting: true });
			expect(await replica().watches.add(newWatch())).toMatchObject({ kind: 'already', isPosting: false });
			const { post } = await next();
			expect(post).toMatchObject({ content: { kind: 'card' }, ts: null, attempts: 0 });
			const place = { teamId: 'T1', placeIds: ['C1'], key: post.id };
			expect(await store().posts.repeatedBy({ ...place, ts: '0.9' })).toBeNull();
			await ended(post, shownAt(post, '1.1'));
			expect(await replica().posts.repeatedBy({ ...place, ts: '0.9' })).toEqual({ channel: 'C1', ts: '1.1' });
			expect(await replica().posts.repeatedBy({ ...place, ts: '1.1' })).toBeNull();
		});

		it('posts in the order of a target, independent of other targets', async () => {
			const one = await added();
			const two = await added({ sessionId: 's2' });
			await recorded([news(one, { posts: [said(one, 'a'), said(one, 'b')] })]);
			await store().watches.end(two.id, 'noChange', { now: T0, posts: [said(two, 'bye')] });
			expect((await posted()).sort()).toEqual(['card', 'card']);
			expect((await posted()).sort()).toEqual(['a', 'bye']);
			expect(await posted()).toEqual(['b']);
		});

		it('draws a post again without waiting for first posts, which wait for each other', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { posts: [said(watch, 'a'), said(watch, 'b')], card: 'progress' })]);
			const both = await store().posts.takeDue(LEASE, 10, T0);
			expect(both.map(keyOf).toSorted()).toEqual(['a', 'card']);
		});

		it('leases a post to one replica, and to another after the first has died', async () => {
			await added();
			const due = await next(T0, 10);
			const { post } = due;
			expect(await replica().posts.takeDue(OTHER_LEASE, 10, T0)).toEqual([]);
			expect(await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(T0 + 1))).toBe(true);
			// The attempt has prolonged the lease.
			expect(await replica().posts.takeDue(OTHER_LEASE, 10, T0 + LEASE.ms)).toEqual([]);
			const [again] = await replica().posts.takeDue(OTHER_LEASE, 10, T0 + 1 + LEASE.ms);
			expect(again?.post).toMatchObject({ id: post.id, sendingSince: T0 + 1 });
			expect(await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(T0 + 2))).toBe(false);
			await ended(post, { kind: 'refused', code: 'late' });
			await replica().posts.endAttempt(post, OTHER_LEASE.token, shownAt(post, '1.1'), T0);
			expect(await store().posts.takeDue(LEASE, 10, T0 + 1e6)).toEqual([]);
		});

		it('updates posted cards by urgency and then by waiting time', async () => {
			const watches = [await added(), await added({ sessionId: 's2' }), await added({ sessionId: 's3' })];
			await added({ sessionId: 's4', createdAt: T0 + 50 });
			await posted(T0 + 10);
			await refreshed({ ...KEY, sessionId: 's4' }, { now: T0, earlyReadAt: null });
			const cards = { 1: 'progress', 0: 'progress', 2: 'now' } as const;
			for (const index of [1, 0, 2] as const) {
				const watch = watches[index] as Watch;
				const held = { session: watch.session, now: T0 + 2 - index };
				await recorded([news(watch, { card: cards[index] })], read(), held);
				await spread();
			}
			const order: (string | undefined)[] = [];
			for (let turn = 0; turn < 4; turn += 1) {
				const [due] = await store().posts.takeDue(LEASE, 1, T0 + 20);
				order.push(due?.watch?.session.sessionId);
			}
			expect(order).toEqual(['s3', 's2', 's1', undefined]);
		});

		it('draws a post again when a change came while it was sent', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { card: 'progress' })]);
			const due = await next();
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			await ended(due.post, shownAt(due.post, '', { key: 'one' }));
			const { post: again } = await next();
			expect(again).toMatchObject({ shownKey: 'one', urgency: 'now', wanted: due.post.wanted + 1 });
			await ended(again, shownAt(again, '', { key: 'two' }));
			expect(await cardOf(watch.id)).toMatchObject({ shownKey: 'two', dueAt: null, state: 'shown' });
		});

		it('draws a reminder again when what it tells of changed while it was first sent', async () => {
			const watch = await added();
			await posted();
			await subject.store.db.write((trx) => planPosts({ trx, now: T0 }, [listed(watch)]));
			const due = await next();
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			expect(await drawn()).toEqual(['card']);
			await ended(due.post, shownAt(due.post, '2.1', { isLast: false }));
			expect(await drawn()).toEqual([expect.stringMatching(/^reminder:/)]);
		});
	});

	describe('posts of a question', () => {
		async function queue(watch: Watch, posts: readonly NewPost[], update = read()) {
			const current = present(await stored(watch.id));
			await recorded([news(current, { posts })], update, { takenAt: T0 + 1e6, now: T0 });
		}

		it('shows each post with its own question, also when the agent asked the same again', async () => {
			const watch = await added();
			const other = await added({ channelId: 'C2' });
			await posted();
			const again = (...questions: FoundChange[]) => read({ snapshot: askingView(), questions });
			await queue(watch, [asking(watch)], again(ASKED));
			await queue(other, [asking(other)]);
			await posted();
			await drawn();
			const settles = async () => {
				const due = await store().posts.takeDue(LEASE, 10, T0);
				await store().posts.release([LEASE.token]);
				const questions = due.filter(({ post: { content } }) => content.kind === 'question');
				return questions.map(({ watch: of, post: { ts }, question }) => [
					of?.channelId,
					ts === null ? 'first' : 'again',
					question?.settledHow,
				]);
			};
			await queue(watch, [asking(watch)], again(settled('answered'), ASKED));
			expect((await settles()).toSorted(byText)).toEqual([
				['C1', 'again', 'answered'],
				['C1', 'first', null],
				['C2', 'again', 'answered'],
			]);
			expect(await posted()).toEqual(['question']);
			expect((await drawn()).filter((key) => key === 'question')).toHaveLength(2);
			await queue(watch, [], again(settled('closed')));
			// The first one has not had its last look here.
			expect((await settles()).toSorted(byText)).toEqual([
				['C1', 'again', 'answered'],
				['C1', 'again', 'closed'],
				['C2', 'again', 'answered'],
			]);
		});
	});

	describe('the next post', () => {
		it('returns the due time of posts that can be taken, not of those that wait for another', async () => {
			const watch = await added();
			expect(await store().posts.nextDueAt()).toBe(T0);
			await posted();
			expect(await store().posts.nextDueAt()).toBeNull();
			await recorded([news(watch, { posts: [said(watch, 'a'), said(watch, 'b')] })]);
			const [first] = await store().posts.takeDue(LEASE, 10, T0);
			expect(await store().posts.nextDueAt()).toBe(T0 + LEASE.ms);
			await ended(present(first).post, { kind: 'retry', at: T0 + 40_000, code: 'ratelimited', mayBeThere: false });
			expect(await store().posts.nextDueAt()).toBe(T0 + 40_000);
			await refreshed(KEY, { now: T0 + 7, earlyReadAt: null });
			expect(await store().posts.nextDueAt()).toBe(T0 + 7);
		});
	});
}

/** Paused tasks, deleted cards, set clocks, unreadable rows, repeated questions. */
export function describeWatchesInTrouble(subject: Subject): void {
	const { refreshed } = storeActs(subject);
	const acts = watchActs(subject);
	const { store, replica, added, recorded, ended, unwatch, next, posted, drawn, cardOf, postsOf } = acts;

	describe('leases of watching', () => {
		const AGAIN = { ...LEASE, token: 'the same process, taking again' };
		const later = T0 + LEASE.ms;

		it('refuses writes under a lapsed lease of a card that is drawn again', async () => {
			const watch = await added();
			await posted();
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			const { post } = await next();
			expect(await store().posts.takeDue(AGAIN, 1, later)).toHaveLength(1);
			await ended(post, { kind: 'refused', code: 'late' }, later);
			expect((await cardOf(watch.id))?.dueAt).not.toBeNull();
			await ended(post, shownAt(post, '', { key: 'new' }), later, AGAIN);
			expect(await cardOf(watch.id)).toMatchObject({ shownKey: 'new', dueAt: null });
		});

		it('releases a lease only once', async () => {
			await added();
			await store().posts.takeDue(LEASE, 10, T0);
			await store().posts.release([LEASE.token, 'another']);
			await store().posts.takeDue(AGAIN, 10, T0);
			await store().posts.release([LEASE.token]);
			await store().posts.release([]);
			expect(await replica().posts.takeDue(OTHER_LEASE, 10, T0)).toEqual([]);
		});
	});

	describe('deleted cards', () => {
		const CARD_TS = 'ts-card';
		const keys = async (now = T0) => (await store().posts.takeDue(LEASE, 10, now)).map(({ post }) => post.key);

		/** Takes the card for an update. */
		async function taken(): Promise<Post> {
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			return (await next()).post;
		}
		const deleted = (post: Post) => ended(post, { kind: 'deleted' });

		it('replaces a deleted card once, before all pending posts', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { posts: [said(watch, 'paused'), said(watch, 'active')] })]);
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			const due = await replica().posts.takeDue(LEASE, 10, T0);
			const [card, paused] = ['card', 'paused'].map((key) => due.find(({ post }) => post.key === key)?.post);
			const unthreaded = shownAt(present(paused), 'ts-paused', { lostThread: CARD_TS });
			await Promise.all([
				replica().posts.endAttempt(present(paused), LEASE.token, unthreaded, T0),
				deleted(present(card)),
			]);
			expect(await cardOf(watch.id)).toMatchObject({ ts: null, shownKey: null, state: 'planned' });
			expect(await posted()).toEqual([`card:${CARD_TS}`]);
			expect((await cardOf(watch.id))?.ts).toBe(`ts-card:${CARD_TS}`);
			expect(await posted()).toEqual(['active']);
			// The former card is not taken again, so nobody loses it once more.
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			expect(await keys()).toEqual([`card:${CARD_TS}`]);
			expect((await postsOf(watch.id)).filter(({ kind }) => kind === 'card').map(({ state }) => state)).toEqual([
				'gone',
				'shown',
			]);
		});

		it('does not block posts while a new card has to wait for its time', async () => {
			const watch = await added();
			await posted();
			await deleted(await taken());
			await posted();
			const second = await taken();
			expect(second.ts).toBe(`ts-card:${CARD_TS}`);
			await deleted(second);
			const { post: held } = await next();
			await ended(held, { kind: 'held', until: T0 + 3_600_000, content: held.content, mayBeThere: false });
			await recorded([news(watch, { posts: [said(watch, 'paused')] })]);
			expect(await keys()).toEqual(['paused']);
			await store().posts.release([LEASE.token]);
			expect(await keys(T0 + 3_599_999)).toEqual(['paused']);
			await store().posts.release([LEASE.token]);
			const later = await store().posts.takeDue(OTHER_LEASE, 10, T0 + 3_600_000);
			expect(later.map(({ post }) => post.key)).toEqual(['paused', `card:${second.ts}`]);
		});

		it('does not replace a deleted card after its watch has ended', async () => {
			const watch = await added();
			await posted();
			await unwatch(watch.id);
			await deleted((await next()).post);
			expect(await cardOf(watch.id)).toMatchObject({ state: 'gone', dueAt: null });
			expect(await keys()).toEqual([]);
		});

		it('finds the watch of a deleted card, of a question and of a list of reminders', async () => {
			const watch = await added();
			await posted();
			const update = read({ snapshot: askingView(), questions: [ASKED] });
			await recorded([news(watch, { posts: [asking(watch), said(watch, 'paused')] })], update);
			await posted();
			await posted();
			await drawn();
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			const due = await store().posts.takeDue(LEASE, 9, T0);
			const card = due.find(({ post }) => post.content.kind === 'card')?.post;
			await deleted(card as Post);
			await store().posts.planOnce(listed(watch), T0);
			await posted();
			const findByPost = async (ts: string, channelId = 'C1') =>
				(await store().watches.findByPost({ ...C1, channelId }, ts)).map((found) => found.watch.id);
			for (const ts of [CARD_TS, `ts-card:${CARD_TS}`, 'ts-question', 'ts-list'])
				expect(await findByPost(ts)).toEqual([watch.id]);
			expect([await findByPost('ts-none'), await findByPost(CARD_TS, 'C2')]).toEqual([[], []]);
		});
	});

	describe('unreadable rows', () => {
		const RETRY_MS = 10 * 60_000;
		/** Rows as damage leaves them, or another key. */
		async function hide(table: 'posts' | 'watched_sessions', where: string): Promise<() => Promise<void>> {
			const column = table === 'posts' ? 'content' : 'snapshot';
			const id = table === 'posts' ? 'uniqueKey' : 'sessionId';
			const needed = table === 'posts' ? '{' : '.';
			const swap = (from: string, to: string) =>
				sql`update ${sql.table(table)} set ${sql.ref(column)} = replace(${sql.ref(column)}, ${from}, ${to})
					where ${sql.ref(id)} = ${where}`.execute(subject.store.db.read);
			await swap(needed, '~');
			return async () => {
				await swap('~', needed);
			};
		}

		it('postpones an unreadable post without blocking its stream', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { posts: [said(watch, 'a'), said(watch, 'b')] })]);
			const show = await hide('posts', 'a');
			expect(await store().posts.takeDue(LEASE, 10, T0)).toEqual([]);
			expect(await posted(T0 + 1)).toEqual(['b']);
			expect(await store().posts.nextDueAt()).toBe(T0 + RETRY_MS);
			expect(await posted(T0 + RETRY_MS - 1)).toEqual([]);
			await show();
			expect(await posted(T0 + RETRY_MS)).toEqual(['a']);
		});

		it('retries unreadable posts in their order after a start', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { posts: [said(watch, 'a'), said(watch, 'b')], card: 'now' })]);
			const shows = [await hide('posts', 'a'), await hide('posts', 'b'), await hide('watched_sessions', 's1')];
			for (let turn = 0; turn < 3; turn += 1) expect(await posted(T0 + turn)).toEqual([]);
			expect(await store().posts.takeDue(LEASE, 9, T0 + 3)).toEqual([]);
			expect((await cardOf(watch.id))?.dueAt).not.toBeNull();
			for (const show of shows) await show();
			await retryWaiting(subject.store.db);
			expect(await posted(T0 + 10)).toEqual(['a']);
			expect(await posted(T0 + 10)).toEqual(['b']);
			expect(await drawn(T0 + 10)).toEqual(['card']);
		});

		it('postpones a card without content', async () => {
			await added();
			const show = await hide('watched_sessions', 's1');
			expect(await posted()).toEqual([]);
			await show();
			expect(await posted(T0 + RETRY_MS)).toEqual(['card']);
		});
	});
}
