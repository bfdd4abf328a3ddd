import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { retryUnreadable } from '../../../src/store/announcement-store.ts';
import { SERVICE } from '../../watches/support.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, LEASE, OTHER_LEASE, T0 } from '../support.ts';
import { C1, KEY, news, read, said, watchActs } from './watch-acts.ts';

const ASKED = {
	kind: 'question',
	changed: false,
	readAt: 0,
	question: {
		messageIndex: 1,
		fingerprint: 'f',
		shownHash: 'shown',
		goneOn: false,
		context: '',
		items: [],
		itemCount: 0,
		openCount: 0,
		quick: null,
	},
} as const;

/** Paused tasks, deleted cards, set clocks, unreadable rows, repeated questions. */
export function describeWatchesInTrouble(subject: Subject): void {
	const { store, replica, stored, added, recorded, posted } = watchActs(subject);

	describe('leases of watching', () => {
		const AGAIN = { ...LEASE, token: 'the same process, taking again' };
		const later = T0 + LEASE.ms;

		it('refuses writes under a lapsed lease of a read, even when the same process took the session again', async () => {
			const watch = await added();
			await store().takeDue(SERVICE, LEASE, 1, { now: T0, only: null });
			expect(await store().takeDue(SERVICE, AGAIN, 1, { now: later, only: null })).toHaveLength(1);
			expect(
				await store().record(
					{ session: KEY, token: LEASE.token },
					{ update: read(), watches: [news(watch)], now: later },
				),
			).toBeNull();
			expect(
				await store().record(
					{ session: KEY, token: AGAIN.token },
					{ update: read(), watches: [news(watch)], now: later },
				),
			).not.toBeNull();
			expect(
				await store().record(
					{ session: KEY, token: AGAIN.token },
					{ update: read(), watches: [news(watch)], now: later },
				),
			).toBeNull();
		});

		it('refuses writes under a lapsed lease of a post', async () => {
			await added();
			const [due] = await store().takeAnnouncements(LEASE, 1, T0);
			const id = due?.announcement.id ?? '';
			await store().beginAttempt(id, LEASE.token, attemptAt(T0));
			await store().takeAnnouncements(AGAIN, 1, later);
			await store().endAttempt(id, LEASE.token, { kind: 'refused', code: 'late' }, later);
			expect(await store().beginAttempt(id, LEASE.token, attemptAt(later))).toBe(false);
			expect(await store().beginAttempt(id, AGAIN.token, attemptAt(later))).toBe(true);
			const sent = { kind: 'posted', ts: '1.1', cardKey: 'k' } as const;
			await store().endAttempt(id, AGAIN.token, sent, later);
			await store().endAttempt(id, AGAIN.token, { kind: 'retry', at: later, code: 'late', unknown: true }, later);
			expect(await store().takeAnnouncements(LEASE, 1, later + 1e5)).toEqual([]);
		});

		it('refuses writes under a lapsed lease of a card', async () => {
			const watch = await added();
			await posted();
			await store().refresh(KEY, { now: T0, earlyReadAt: null });
			const [card] = await store().takeCards(LEASE, 1, { now: T0, urgency: 'any' });
			const wants = card?.watch.card.wanted?.wants ?? 0;
			expect(await store().takeCards(AGAIN, 1, { now: later, urgency: 'any' })).toHaveLength(1);
			await store().endCard(watch.id, LEASE.token, { kind: 'refused' });
			expect((await stored(watch.id))?.card.wanted).not.toBeNull();
			await store().endCard(watch.id, AGAIN.token, { kind: 'shown', key: 'new', wants, now: later });
			expect((await stored(watch.id))?.card).toMatchObject({ shownKey: 'new', wanted: null });
		});

		it('releases a lease only once', async () => {
			await added();
			await store().takeAnnouncements(LEASE, 10, T0);
			await store().releasePosts([LEASE.token, 'another']);
			await store().takeAnnouncements(AGAIN, 10, T0);
			await store().releasePosts([LEASE.token]);
			await store().releasePosts([]);
			expect(await replica().takeAnnouncements(OTHER_LEASE, 10, T0)).toEqual([]);
		});
	});

	describe('deleted cards', () => {
		const CARD_TS = 'ts-card';
		const lost = { ts: CARD_TS, now: T0 };
		const keys = async (now = T0) =>
			(await store().takeAnnouncements(LEASE, 10, now)).map(({ announcement }) => announcement.key);

		/** Takes the card for an update. */
		async function taken(): Promise<void> {
			await store().refresh(KEY, { now: T0, earlyReadAt: null });
			await store().takeCards(LEASE, 1, { now: T0, urgency: 'any' });
		}

		it('replaces a deleted card once, before all pending posts', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { announcements: [said(watch, 'paused'), said(watch, 'active')] })]);
			await taken();
			const [due] = await store().takeAnnouncements(OTHER_LEASE, 10, T0);
			const again = { kind: 'retry', at: T0, code: 'thread_gone', unknown: false, lostCardTs: CARD_TS } as const;
			await Promise.all([
				replica().endAttempt(due?.announcement.id ?? '', OTHER_LEASE.token, again, T0),
				store().endCard(watch.id, LEASE.token, { kind: 'lost', ...lost }),
			]);
			expect((await stored(watch.id))?.card).toMatchObject({ ts: null, shownKey: null, wanted: null });
			expect(await posted()).toEqual([`card:${CARD_TS}`]);
			expect((await stored(watch.id))?.card.ts).toBe(`ts-card:${CARD_TS}`);
			expect(await posted()).toEqual(['paused']);
			expect(await posted()).toEqual(['active']);
			await taken();
			await store().endCard(watch.id, LEASE.token, { kind: 'lost', ...lost });
			expect((await stored(watch.id))?.card.ts).toBe(`ts-card:${CARD_TS}`);
			expect(await keys()).toEqual([]);
		});

		it('does not block posts while a new card has to wait for its time', async () => {
			const watch = await added();
			await posted();
			await taken();
			await store().endCard(watch.id, LEASE.token, { kind: 'lost', ...lost });
			await posted();
			await taken();
			const second = { kind: 'lost', ts: `ts-card:${CARD_TS}`, now: T0 } as const;
			await store().endCard(watch.id, LEASE.token, second);
			await recorded([news(watch, { announcements: [said(watch, 'paused')] })]);
			expect(await keys()).toEqual(['paused']);
			await store().releasePosts([LEASE.token]);
			const later = await store().takeAnnouncements(OTHER_LEASE, 10, T0 + 3_600_000);
			const attempts = later.map(({ announcement }) => [announcement.key, announcement.attempts]);
			expect(attempts).toEqual([
				['paused', 0],
				[`card:${second.ts}`, 0],
			]);
		});

		it('does not replace a deleted card after its watch has ended', async () => {
			const watch = await added();
			await posted();
			await store().end(watch.id, 'unwatched', { now: T0, announcements: [], keepPending: false });
			await store().takeCards(LEASE, 1, { now: T0, urgency: 'any' });
			await store().endCard(watch.id, LEASE.token, { kind: 'lost', ...lost });
			expect((await stored(watch.id))?.card).toMatchObject({ ts: null, wanted: null });
			expect(await keys()).toEqual([]);
		});

		it("finds the watch of a deleted card and of a question's post", async () => {
			const watch = await added();
			const question = { target: said(watch, '').target, key: 'question', content: ASKED };
			await posted();
			await recorded([news(watch, { announcements: [question, said(watch, 'paused')] })]);
			await posted();
			await posted();
			await taken();
			await store().endCard(watch.id, LEASE.token, { kind: 'lost', ...lost });
			await posted();
			for (const ts of [CARD_TS, `ts-card:${CARD_TS}`, 'ts-question']) {
				expect((await store().findByPost(C1, ts))?.watch.id).toBe(watch.id);
			}
			for (const ts of ['ts-paused', 'ts-none']) expect(await store().findByPost(C1, ts)).toBeNull();
			expect(await store().findByPost({ ...C1, channelId: 'C2' }, CARD_TS)).toBeNull();
		});
	});

	describe('unreadable rows', () => {
		const RETRY_MS = 10 * 60_000;
		/** Rows as another key or damage leaves them. */
		async function hide(table: 'announcements' | 'watched_sessions', where: string): Promise<() => Promise<void>> {
			const column = table === 'announcements' ? 'content' : 'view';
			const id = table === 'announcements' ? 'unique_key' : 'session_id';
			const swap = (from: string, to: string) =>
				sql`update ${sql.table(table)} set ${sql.ref(column)} = replace(${sql.ref(column)}, ${from}, ${to})
					where ${sql.ref(id)} = ${where}`.execute(subject.store.db.read);
			await swap('.', '~');
			return async () => {
				await swap('~', '.');
			};
		}

		it('postpones an unreadable announcement without blocking its target', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { announcements: [said(watch, 'a'), said(watch, 'b')] })]);
			const show = await hide('announcements', 'a');
			expect(await store().takeAnnouncements(LEASE, 10, T0)).toEqual([]);
			expect(await posted(T0 + 1)).toEqual(['b']);
			expect(await store().nextPostDueAt()).toMatchObject({ post: T0 + RETRY_MS });
			expect(await posted(T0 + RETRY_MS - 1)).toEqual([]);
			await show();
			expect(await posted(T0 + RETRY_MS)).toEqual(['a']);
		});

		it('retries unreadable announcements in their order after a start', async () => {
			const watch = await added();
			await posted();
			await recorded([news(watch, { announcements: [said(watch, 'a'), said(watch, 'b')], card: 'now' })]);
			const shows = [
				await hide('announcements', 'a'),
				await hide('announcements', 'b'),
				await hide('watched_sessions', 's1'),
			];
			for (let turn = 0; turn < 3; turn += 1) expect(await posted(T0 + turn)).toEqual([]);
			expect(await store().takeCards(LEASE, 1, { now: T0, urgency: 'any' })).toEqual([]);
			expect((await stored(watch.id))?.card.wanted).not.toBeNull();
			for (const show of shows) await show();
			await retryUnreadable(subject.store.db);
			expect(await posted(T0 + 10)).toEqual(['a']);
			expect(await posted(T0 + 10)).toEqual(['b']);
			expect(await store().takeCards(LEASE, 1, { now: T0 + 10, urgency: 'any' })).toHaveLength(1);
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
