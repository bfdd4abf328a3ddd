import { describe, expect, it } from 'vitest';
import { homeOf, type InboxPlace, windowOf } from '../../../src/slack/request.ts';
import { FOLLOWED_MS, type Inbox, PRESS_SPACING_MS } from '../../../src/surfaces/inbox-store.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, LEASE, OTHER_LEASE, T0 } from '../support.ts';

const ANNS_HOME = homeOf(ANN);
const BOBS_HOME = homeOf(BOB);
const ANNS_WINDOW = windowOf(ANN, 'V1');
const SPACING = 3_000;

export function describeInboxes(subject: Subject): void {
	const inboxes = () => subject.store.inboxes;
	const replica = () => subject.replica.inboxes;

	const taken = (now = T0, lease = LEASE) => inboxes().takeDue(lease, 10, { now, only: 'all' });

	/** The only due inbox, leased. */
	async function take(now = T0): Promise<Inbox> {
		const [inbox, ...others] = await taken(now);
		if (inbox === undefined || others.length > 0) throw new Error('not exactly one inbox is due');
		return inbox;
	}

	const end = (inbox: Inbox, result: { key?: string | null; nextAt?: number | null; now?: number } = {}) => {
		const { key = 'looks', nextAt = T0 + 60_000, now = T0 } = result;
		return inboxes().end(inbox, LEASE.token, { shownKey: key, isWhole: true, nextAt, now, spacingMs: SPACING });
	};

	/** An inbox that was opened at `T0` and shows the newest state. */
	async function shown(place: InboxPlace = ANNS_HOME): Promise<Inbox> {
		await inboxes().ask(place, 0, T0);
		const inbox = await take();
		await end(inbox);
		return inbox;
	}

	describe('opened inboxes', () => {
		it('are due at once, for one replica, as they were asked for', async () => {
			await inboxes().ask(ANNS_WINDOW, 2, T0);
			expect(await replica().nextDueAt()).toEqual({ asked: T0, all: T0 });
			expect(await taken()).toEqual([
				{
					...ANNS_WINDOW,
					page: 2,
					openedAt: T0,
					askedCount: 1,
					shownCount: 0,
					changeCount: 1,
					shownKey: null,
				},
			]);
			expect(await replica().takeDue(OTHER_LEASE, 10, { now: T0, only: 'all' })).toEqual([]);
			expect((await replica().nextDueAt()).all).toBe(T0 + LEASE.ms);
			expect(await replica().takeDue(OTHER_LEASE, 10, { now: T0 + LEASE.ms, only: 'all' })).toHaveLength(1);
		});

		it('are one row for a place, with the newest page', async () => {
			await shown();
			await replica().ask(ANNS_HOME, 3, T0 + 5);
			expect(await taken(T0 + PRESS_SPACING_MS - 1)).toEqual([]);
			expect(await taken(T0 + PRESS_SPACING_MS)).toMatchObject([
				{ page: 3, openedAt: T0 + 5, askedCount: 2, shownCount: 1, changeCount: 2, shownKey: 'looks' },
			]);
		});

		it('keep their page when their person does something in them', async () => {
			await inboxes().ask(ANNS_HOME, null, T0);
			await inboxes().ask(ANNS_WINDOW, 3, T0);
			await replica().ask(ANNS_WINDOW, null, T0 + 5);
			const pages = (await taken(T0 + 5)).map(({ id, page, askedCount }) => [id, [page, askedCount]]);
			expect(Object.fromEntries(pages)).toEqual({ [ANNS_HOME.id]: [0, 1], [ANNS_WINDOW.id]: [3, 2] });
		});

		it('come first while their person waits', async () => {
			await shown(ANNS_HOME);
			await inboxes().touchAll(T0 + 10_000);
			await inboxes().ask(BOBS_HOME, 0, T0 + 20_000);
			expect(await inboxes().nextDueAt()).toEqual({ asked: T0 + 20_000, all: T0 + 10_000 });
			const asked = await inboxes().takeDue(LEASE, 10, { now: T0 + 20_000, only: 'asked' });
			expect(asked.map(({ id }) => id)).toEqual([BOBS_HOME.id]);
			await inboxes().release([LEASE.token]);
			expect((await taken(T0 + 20_000)).map(({ id }) => id)).toEqual([BOBS_HOME.id, ANNS_HOME.id]);
		});

		it('show what was sent last, and are due again when they are to be', async () => {
			await shown();
			expect(await taken(T0 + 59_999)).toEqual([]);
			expect(await replica().nextDueAt()).toEqual({ asked: null, all: T0 + 60_000 });
			expect(await take(T0 + 60_000)).toMatchObject({ askedCount: 1, shownCount: 1, shownKey: 'looks' });
		});

		it('still wait for what could not be shown', async () => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			await end(await take(), { key: null, nextAt: T0 + 2_000 });
			expect(await inboxes().nextDueAt()).toEqual({ asked: T0 + 2_000, all: T0 + 2_000 });
			expect(await take(T0 + 2_000)).toMatchObject({ shownCount: 0, shownKey: null });
		});

		it('are never due again without a time', async () => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			await end(await take(), { nextAt: null });
			expect(await inboxes().nextDueAt()).toEqual({ asked: null, all: null });
			expect(await taken(T0 + 1e9)).toEqual([]);
		});

		it('keep the result of their holder only', async () => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			const inbox = await take();
			const result = { shownKey: 'late', isWhole: true, nextAt: null, now: T0, spacingMs: SPACING };
			await replica().end(inbox, OTHER_LEASE.token, result);
			expect((await inboxes().nextDueAt()).all).toBe(T0 + LEASE.ms);
			await end(inbox);
			expect((await take(T0 + 60_000)).shownKey).toBe('looks');
		});

		it('show nobody knows what while Slack is called, also after the process died', async () => {
			await shown();
			await take(T0 + 60_000);
			expect(await replica().beginShowing(ANNS_HOME.id, OTHER_LEASE.token)).toBe(false);
			expect(await replica().beginShowing(ANNS_HOME.id, LEASE.token)).toBe(true);
			expect((await take(T0 + 60_000 + LEASE.ms)).shownKey).toBeNull();
			await inboxes().remove(ANNS_HOME.id);
			expect(await replica().beginShowing(ANNS_HOME.id, LEASE.token)).toBe(false);
		});

		it('are forgotten when they were closed, also while somebody works on them', async () => {
			await inboxes().ask(ANNS_WINDOW, 0, T0);
			const inbox = await take();
			await replica().remove(ANNS_WINDOW.id);
			await end(inbox);
			expect(await taken(T0 + 1e6)).toEqual([]);
		});

		it('are forgotten when nobody opened them since', async () => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			await end(await take(), { nextAt: null });
			await inboxes().ask(BOBS_HOME, 0, T0 + 1);
			expect(await replica().removeOlderThan(T0 + 1)).toBe(1);
			expect((await taken(T0 + 1)).map(({ id }) => id)).toEqual([BOBS_HOME.id]);
		});

		it('are kept, and not due before, while they wait for the end of a snooze', async () => {
			const tomorrow = T0 + 30 * 3_600_000;
			await inboxes().ask(ANNS_HOME, 0, T0);
			await end(await take(), { nextAt: tomorrow });
			expect(await replica().nextDueAt()).toEqual({ asked: null, all: tomorrow });
			expect(await replica().removeOlderThan(T0 + 3_600_000)).toBe(0);
			expect(await taken(tomorrow - 1)).toEqual([]);
			expect(await taken(tomorrow)).toHaveLength(1);
		});
	});

	describe('a change', () => {
		it('makes followed inboxes due, but not faster than their spacing', async () => {
			await shown();
			expect(await replica().touchAll(T0 + 1_000)).toBe(1);
			expect(await taken(T0 + SPACING - 1)).toEqual([]);
			expect((await take(T0 + SPACING)).changeCount).toBe(2);
		});

		it('makes inboxes due at once that rested', async () => {
			await shown();
			await inboxes().touchAll(T0 + 30_000);
			expect(await inboxes().nextDueAt()).toMatchObject({ all: T0 + 30_000 });
		});

		it('puts nothing off that is due earlier', async () => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			await inboxes().touchAll(T0 + 500);
			expect((await inboxes().nextDueAt()).asked).toBe(T0);
		});

		it.each([0, 1])('is not lost %i ms after somebody began to work on an inbox', async (ms) => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			const inbox = await take();
			await replica().touchAll(T0 + ms);
			await end(inbox, { now: T0 + 10 * ms });
			expect((await inboxes().nextDueAt()).all).toBe(T0 + 10 * ms + SPACING);
		});

		it('by its own person makes an inbox due a second after the work on it', async () => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			const inbox = await take();
			await replica().ask(ANNS_HOME, 1, T0 + 1);
			await end(inbox, { now: T0 + 10 });
			const at = T0 + 10 + PRESS_SPACING_MS;
			expect(await inboxes().nextDueAt()).toEqual({ asked: at, all: at });
			expect((await take(at)).page).toBe(1);
		});

		it('by a person who does that often waits like a change, and no longer than before', async () => {
			await shown();
			await inboxes().ask(ANNS_HOME, 1, T0 + 5, SPACING);
			expect(await replica().nextDueAt()).toEqual({ asked: null, all: T0 + SPACING });
			const at = T0 + 2 * SPACING;
			await inboxes().ask(ANNS_HOME, 2, at, SPACING);
			expect(await replica().nextDueAt()).toEqual({ asked: null, all: T0 + SPACING });
			expect(await replica().takeDue(LEASE, 10, { now: at, only: 'asked' })).toEqual([]);
			expect((await take(at)).page).toBe(2);
		});

		it('leaves an inbox that found no room its place in line', async () => {
			await inboxes().ask(ANNS_HOME, 0, T0);
			await inboxes().ask(BOBS_HOME, 0, T0 + 5);
			const all = await inboxes().takeDue(LEASE, 10, { now: T0 + 10, only: 'all' });
			expect(all.map(({ id }) => id)).toEqual([ANNS_HOME.id, BOBS_HOME.id]);
			await inboxes().release([LEASE.token], ANNS_HOME.id);
			expect(await replica().nextDueAt()).toMatchObject({ all: T0 });
			expect((await replica().takeDue(OTHER_LEASE, 10, { now: T0 + 10, only: 'all' })).map(({ id }) => id)).toEqual([
				ANNS_HOME.id,
			]);
		});

		it('does not touch inboxes that nobody opened lately', async () => {
			await shown();
			const touch = (now: number) => inboxes().touchAll(now);
			expect(await touch(T0 + FOLLOWED_MS - 1)).toBe(1);
			expect(await touch(T0 + FOLLOWED_MS)).toBe(0);
		});
	});
}
