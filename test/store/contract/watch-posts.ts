import { describe, expect, it } from 'vitest';
import type { NewAnnouncement } from '../../../src/watches/announcements.ts';
import type { Watch } from '../../../src/watches/watch.ts';
import { SERVICE, sessionView } from '../../watches/support.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, LEASE, OTHER_LEASE, T0 } from '../support.ts';
import { KEY, news, read, said, watchActs } from './watch-acts.ts';

/** Paused tasks, deleted cards, set clocks, unreadable rows, repeated questions. */

/** Posts and cards of watches. */
export function describeWatchPosts(subject: Subject): void {
	const { store, replica, stored, added, recorded, posted } = watchActs(subject);

	describe('posts', () => {
		it('shows nothing of no watches', async () => {
			expect(await store().shownOf([])).toEqual(new Map());
		});

		it('shows watches that have ended too, with what their cards show', async () => {
			const watch = await added();
			await store().end(watch.id, 'unwatched', { now: T0, announcements: [], keepPending: false });
			const shown = await replica().shownOf([watch.id, 'unknown']);
			expect([...shown.keys()]).toEqual([watch.id]);
			expect(shown.get(watch.id)).toMatchObject({
				watch: { ended: { reason: 'unwatched' } },
				view: { sessionId: 's1' },
			});
		});

		it('posts in the order of a target, independent of other targets', async () => {
			const one = await added();
			const two = await added({ sessionId: 's2' });
			await recorded([news(one, { announcements: [said(one, 'a'), said(one, 'b')] })]);
			await store().end(two.id, 'noChange', { now: T0, announcements: [said(two, 'bye')], keepPending: true });
			expect((await posted()).sort()).toEqual(['card', 'card']);
			expect((await posted()).sort()).toEqual(['a', 'bye']);
			expect(await posted()).toEqual(['b']);
		});

		it('posts later announcements without waiting for a settle', async () => {
			const watch = await added();
			const settle = { ...said(watch, 's'), content: { kind: 'settle', messageIndex: 2, how: 'answered' } } as const;
			await recorded([news(watch, { announcements: [said(watch, 'a'), settle, said(watch, 'b')] })]);
			expect(await posted()).toEqual(['card']);
			expect(await posted()).toEqual(['a']);
			const both = await store().takeAnnouncements(LEASE, 10, T0);
			// Taken at once, in any order.
			expect(both.map(({ announcement }) => announcement.key).toSorted()).toEqual(['b', 's']);
		});

		it('leases an announcement to one replica, and to another after the first has died', async () => {
			await added();
			const [due] = await store().takeAnnouncements(LEASE, 10, T0);
			expect(await replica().takeAnnouncements(OTHER_LEASE, 10, T0)).toEqual([]);
			const id = due?.announcement.id ?? '';
			expect(await store().beginAttempt(id, LEASE.token, attemptAt(T0 + 1))).toBe(true);
			// The attempt has prolonged the lease.
			expect(await replica().takeAnnouncements(OTHER_LEASE, 10, T0 + LEASE.ms)).toEqual([]);
			const [again] = await replica().takeAnnouncements(OTHER_LEASE, 10, T0 + 1 + LEASE.ms);
			expect(again?.announcement).toMatchObject({ id, sendingSince: T0 + 1 });
			expect(await store().beginAttempt(id, LEASE.token, attemptAt(T0 + 2))).toBe(false);
			await store().endAttempt(id, LEASE.token, { kind: 'refused', code: 'late' }, T0);
			await replica().endAttempt(id, OTHER_LEASE.token, { kind: 'posted', ts: '1.1', cardKey: 'k' }, T0);
			expect(await store().takeAnnouncements(LEASE, 10, T0 + 1e6)).toEqual([]);
		});

		it('keeps across a retry that the post may already exist', async () => {
			await added();
			const take = async (now: number) => (await store().takeAnnouncements(LEASE, 1, now))[0]?.announcement;
			const first = await take(T0);
			await store().beginAttempt(first?.id ?? '', LEASE.token, attemptAt(T0));
			const retry = (unknown: boolean) => ({ kind: 'retry', at: T0 + 5_000, code: 'timeout', unknown }) as const;
			await store().endAttempt(first?.id ?? '', LEASE.token, retry(true), T0);
			expect(await take(T0 + 4_999)).toBeUndefined();
			expect(await take(T0 + 5_000)).toMatchObject({ sendingSince: T0, attempts: 1, lastError: 'timeout' });
			await store().endAttempt(first?.id ?? '', LEASE.token, retry(false), T0);
			expect(await take(T0 + 5_000)).toMatchObject({ sendingSince: null, attempts: 2 });
		});

		it('encrypts texts of a session', async () => {
			const watch = await added();
			await recorded(
				[news(watch, { announcements: [said(watch, 'xyzzy-canary')] })],
				read({ view: sessionView('s1') }),
			);
			const rows = await subject.store.db.read.selectFrom('announcements').select('content').execute();
			const views = await subject.store.db.read.selectFrom('watched_sessions').select('view').execute();
			expect(JSON.stringify([rows, views])).not.toMatch(/xyzzy-canary|Session s1/);
		});

		it('updates posted cards by urgency and then by waiting time', async () => {
			const watches = [await added(), await added({ sessionId: 's2' }), await added({ sessionId: 's3' })];
			await added({ sessionId: 's4', createdAt: T0 + 50 });
			await posted(T0 + 10);
			await store().refresh({ ...KEY, sessionId: 's4' }, { now: T0, earlyReadAt: null });
			await store().takeDue(SERVICE, LEASE, 10, { now: T0, only: null });
			const want = async (index: number, card: 'now' | 'progress', now: number) => {
				const watch = watches[index] as Watch;
				await store().record(
					{ session: watch.session, token: LEASE.token },
					{ update: read(), watches: [news(watch, { card })], now },
				);
			};
			await want(0, 'progress', T0 + 1);
			await want(1, 'progress', T0);
			await want(2, 'now', T0 + 2);
			const take = async (urgency: 'now' | 'any') =>
				(await store().takeCards(LEASE, 1, { now: T0 + 20, urgency })).map(({ watch }) => watch.session.sessionId);
			expect(await take('now')).toEqual(['s3']);
			expect(await take('now')).toEqual([]);
			expect(await take('any')).toEqual(['s2']);
			expect(await take('any')).toEqual(['s1']);
		});

		it('updates a card again when a change came while it was sent', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { card: 'progress' })]);
			const [card] = await store().takeCards(LEASE, 1, { now: T0, urgency: 'any' });
			await store().refresh(KEY, { now: T0, earlyReadAt: null });
			const wants = card?.watch.card.wanted?.wants ?? 0;
			await store().endCard(watch.id, LEASE.token, { kind: 'shown', key: 'one', wants, now: T0 });
			const [again] = await store().takeCards(LEASE, 1, { now: T0, urgency: 'now' });
			expect(again?.watch.card).toMatchObject({ shownKey: 'one', wanted: { urgency: 'now', wants: wants + 1 } });
			await store().endCard(watch.id, LEASE.token, { kind: 'shown', key: 'two', wants: wants + 1, now: T0 });
			expect((await stored(watch.id))?.card).toMatchObject({ shownKey: 'two', wanted: null });
		});
	});

	describe('announcements of a question', () => {
		const fingerprint = 'f1';
		function about(watch: Watch, says: string, revision: number): NewAnnouncement {
			const unlessSaid = { about: `:${fingerprint}:`, says };
			return { ...said(watch, `${says}:${revision}`), unlessSaid };
		}
		function post(watch: Watch, kind: 'question' | 'settle', revision: number): NewAnnouncement {
			const { question } = sessionView('s1');
			const shown = question ?? {
				messageIndex: 2,
				fingerprint,
				context: '',
				shownHash: 'shown',
				goneOn: false,
				items: [],
				itemCount: 0,
				openCount: 0,
				quick: null,
			};
			const content =
				kind === 'question'
					? ({ kind, question: shown, changed: false, readAt: 0 } as const)
					: ({ kind, messageIndex: 2, how: 'answered' } as const);
			return { ...said(watch, `${kind}:${revision}`), content };
		}
		async function queue(watch: Watch, announcements: readonly NewAnnouncement[]) {
			const current = await stored(watch.id);
			if (current === null) throw new Error('not there');
			await store().takeDue(SERVICE, LEASE, 10, { now: T0 + 1e6, only: null });
			await store().record(
				{ session: KEY, token: LEASE.token },
				{ update: read(), watches: [news(current, { announcements })], now: T0 },
			);
		}

		it('does not repeat an announcement unless another one came between', async () => {
			const watch = await added();
			await posted();
			await queue(watch, [about(watch, 'asked:2:f1:0', 1), about(watch, 'asked:2:f1:0', 2)]);
			await queue(watch, [about(watch, 'asked:2:f1:0', 3), about(watch, 'asked:2:f1:0,1', 4)]);
			await queue(watch, [
				about(watch, 'answered:2:f1:0', 5),
				said(watch, 'other'),
				about(watch, 'answered:2:f1:0', 6),
			]);
			await queue(watch, [about(watch, 'asked:2:f1:0', 7)]);
			const keys: string[] = [];
			for (let next = await posted(); next.length > 0; next = await posted()) keys.push(...next);
			expect(keys).toEqual(['asked:2:f1:0:1', 'asked:2:f1:0,1:4', 'answered:2:f1:0:5', 'other', 'asked:2:f1:0:7']);
		});

		it('settles the posts since the last settled one', async () => {
			const watch = await added();
			const other = await added({ channelId: 'C2' });
			await posted();
			await queue(watch, [post(watch, 'question', 1), post(watch, 'settle', 2), post(watch, 'question', 3)]);
			await queue(watch, [post(watch, 'question', 4), post(watch, 'settle', 5), post(watch, 'settle', 6)]);
			await queue(other, [post(other, 'question', 1)]);
			for (let next = await posted(); next.length > 0; next = await posted());
			const rows = await subject.store.db.read
				.selectFrom('announcements')
				.select(['id', 'unique_key'])
				.where('kind', '=', 'settle')
				.orderBy('number')
				.execute();
			const settled = await Promise.all(rows.map(({ id }) => store().postedQuestions(id)));
			expect(settled.map((posts) => posts.map(({ key }) => key))).toEqual([
				['question:1'],
				['question:3', 'question:4'],
				[],
			]);
		});
	});

	describe('the next post', () => {
		it('returns the due time of posts that can be taken, not of those that wait for another', async () => {
			const watch = await added();
			expect(await store().nextPostDueAt()).toEqual({ post: T0, card: { now: null, progress: null } });
			await posted();
			await recorded([news(watch, { announcements: [said(watch, 'a'), said(watch, 'b')], card: 'progress' })]);
			const [first] = await store().takeAnnouncements(LEASE, 10, T0);
			expect(await store().nextPostDueAt()).toEqual({ post: T0 + LEASE.ms, card: { now: null, progress: 0 } });
			const retry = { kind: 'retry', at: T0 + 40_000, code: 'ratelimited', unknown: false } as const;
			await store().endAttempt(first?.announcement.id ?? '', LEASE.token, retry, T0);
			expect(await store().nextPostDueAt()).toMatchObject({ post: T0 + 40_000 });
			await store().refresh(KEY, { now: T0, earlyReadAt: null });
			expect(await store().nextPostDueAt()).toMatchObject({ card: { now: 0, progress: null } });
		});
	});
}
