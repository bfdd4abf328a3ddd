import { describe, expect, it } from 'vitest';
import { homeOf, type InboxPlace, windowOf } from '../../../src/slack/request.ts';
import { FOLLOWED_MS } from '../../../src/surfaces/view-plan-store.ts';
import type { DueView, ViewLane } from '../../../src/surfaces/view-store.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, EVE, LEASE, OTHER_LEASE, only, present, storeActs, submission, T0 } from '../support.ts';

const ANNS_HOME = homeOf(ANN);
const BOBS_HOME = homeOf(BOB);
const ANNS_WINDOW = windowOf(ANN, 'V1');
const NOT_BEFORE = T0 + 2_000;

/** The queue of views, and the inboxes in it. */
export function describeViews(subject: Subject): void {
	const { formShown, setRows } = storeActs(subject);
	const views = () => subject.store.views;
	const replica = () => subject.replica.views;

	const taken = (now = T0, least: ViewLane = 'follows') => views().takeDue(LEASE, 10, { now, least });
	const takenBy = (lease: typeof LEASE, now: number) => replica().takeDue(lease, 10, { now, least: 'follows' });
	const ids = (due: readonly DueView[]) => due.map(({ id }) => id);

	/** The only due view, leased. */
	async function take(now = T0): Promise<DueView> {
		return only(await taken(now));
	}

	const end = (view: DueView, drawn: Partial<Parameters<Subject['store']['views']['end']>[2]> = {}, now = T0) =>
		views().end(view, LEASE.token, { shownKey: 'looks', nextAt: T0 + 60_000, notBefore: NOT_BEFORE, ...drawn }, now);

	/** An inbox that was opened at `T0` and shows the newest state. */
	async function shown(place: InboxPlace = ANNS_HOME): Promise<void> {
		await views().ask(place, 0, T0);
		await end(await take());
	}

	const nextDueAt = (least: ViewLane = 'follows') => replica().nextDueAt(least, T0);
	const allDueAt = async () => ({
		now: await nextDueAt('now'),
		asked: await nextDueAt('asked'),
		follows: await nextDueAt(),
	});

	describe('opened inboxes', () => {
		it('are due at once, for one replica, as they were asked for', async () => {
			await views().ask(ANNS_WINDOW, 2, T0);
			expect(await allDueAt()).toEqual({ now: null, asked: T0, follows: T0 });
			const drawn = { isAsked: true, shownKey: null, shownAt: null, attempts: 0 };
			expect(await taken()).toMatchObject([{ ...ANNS_WINDOW, kind: 'inbox', page: 2, ...drawn }]);
			expect(await takenBy(OTHER_LEASE, T0)).toEqual([]);
			expect(await nextDueAt()).toBe(T0 + LEASE.ms);
			expect(await takenBy(OTHER_LEASE, T0 + LEASE.ms)).toHaveLength(1);
		});

		it('are one row for a place, with the newest page, and not drawn too often', async () => {
			await shown();
			await replica().ask(ANNS_HOME, 3, T0 + 5);
			expect(await taken(NOT_BEFORE - 1)).toEqual([]);
			const drawn = { kind: 'home', page: 3, isAsked: true, shownKey: 'looks', shownAt: T0 };
			expect(await taken(NOT_BEFORE)).toMatchObject([drawn]);
		});

		it('keep their page when their person does something in them', async () => {
			await views().ask(ANNS_HOME, null, T0);
			await views().ask(ANNS_WINDOW, 3, T0);
			await replica().ask(ANNS_WINDOW, null, T0 + 5);
			const pages = (await taken(T0 + 5)).map(({ id, page }) => [id, page]);
			expect(Object.fromEntries(pages)).toEqual({ [ANNS_HOME.id]: 0, [ANNS_WINDOW.id]: 3 });
		});

		it('come after forms and receipts, and before those that only follow', async () => {
			await shown();
			const { question } = submission();
			const form = await formShown({ question }, T0);
			await views().markInboxes(T0 + 10_000);
			await views().ask(BOBS_HOME, 0, T0 + 20_000);
			await setRows('views', { dueAt: T0 + 30_000 }, { id: form });
			expect(await allDueAt()).toEqual({ now: T0 + 30_000, asked: T0 + 20_000, follows: T0 + 10_000 });
			for (const [least, expected] of [
				['now', [form]],
				['asked', [form, BOBS_HOME.id]],
				['follows', [form, BOBS_HOME.id, ANNS_HOME.id]],
			] as const) {
				expect(ids(await taken(T0 + 30_000, least))).toEqual(expected);
				await views().release([LEASE.token]);
			}
		});

		it('of people who wait come in the order of when they were last shown something', async () => {
			const others = [homeOf(EVE), BOBS_HOME];
			for (const [at, place] of [ANNS_HOME, ...others].entries()) {
				await views().ask(place, 0, T0 + at);
				await end(await take(T0 + at), { notBefore: NOT_BEFORE }, T0 + at);
			}
			await views().ask(BOBS_HOME, 1, T0 + 10_000);
			await views().ask(ANNS_HOME, 1, T0 + 10_001);
			await views().ask(ANNS_WINDOW, 0, T0 + 10_002);
			await views().markInboxes(T0 + 10_003);
			expect(ids(await taken(T0 + 20_000))).toEqual([ANNS_WINDOW.id, ANNS_HOME.id, BOBS_HOME.id, others[0]?.id]);
		});

		it('still wait for what could not be shown', async () => {
			await views().ask(ANNS_HOME, 0, T0);
			const view = await take();
			const failed = { nextAt: T0 + 2_000, isAsked: true, attempts: view.attempts + 1 };
			await views().end(view, LEASE.token, failed, T0);
			expect(await allDueAt()).toEqual({ now: null, asked: T0 + 2_000, follows: T0 + 2_000 });
			expect(await take(T0 + 2_000)).toMatchObject({ isAsked: true, shownKey: null, attempts: 1 });
		});

		it('keep the result of their holder only', async () => {
			await views().ask(ANNS_HOME, 0, T0);
			const view = await take();
			await replica().end(view, OTHER_LEASE.token, { shownKey: 'late', nextAt: null }, T0);
			await replica().giveBack(view, OTHER_LEASE.token);
			expect(await nextDueAt()).toBe(T0 + LEASE.ms);
			await end(view);
			expect((await take(T0 + 60_000)).shownKey).toBe('looks');
		});

		it('show nobody knows what while Slack is called, also after the process died', async () => {
			await shown();
			const view = await take(T0 + 60_000);
			expect(await replica().begin(view, OTHER_LEASE.token)).toBe(false);
			expect(await replica().begin(view, LEASE.token)).toBe(true);
			expect((await take(T0 + 60_000 + LEASE.ms)).shownKey).toBeNull();
			await views().remove({ id: view.id });
			expect(await replica().begin(view, LEASE.token)).toBe(false);
		});

		it('are forgotten by their holder alone when nobody can see them any more, whatever changed meanwhile', async () => {
			await views().ask(ANNS_WINDOW, 0, T0);
			const view = await take();
			await replica().markInboxes(T0 + 1);
			await views().removeLeased(view, OTHER_LEASE.token);
			expect(await nextDueAt()).not.toBeNull();
			await views().removeLeased(view, LEASE.token);
			expect(await nextDueAt()).toBeNull();
		});

		it('are forgotten when they were closed, also while somebody works on them', async () => {
			await views().ask(ANNS_WINDOW, 0, T0);
			const view = await take();
			await replica().remove({ id: ANNS_WINDOW.id });
			await end(view);
			expect(await taken(T0 + 1e6)).toEqual([]);
		});

		it('stay when they were asked for again since they were taken', async () => {
			await views().ask(ANNS_HOME, 0, T0);
			const view = await take();
			await replica().ask(ANNS_HOME, 0, T0 + 1);
			expect(await views().removeUnchanged(view, LEASE.token)).toBe(false);
			await end(view, {}, T0 + 1);
			const again = await take(NOT_BEFORE);
			expect(await views().removeUnchanged(again, OTHER_LEASE.token)).toBe(false);
			expect(await views().removeUnchanged(again, LEASE.token)).toBe(true);
			expect(await allDueAt()).toEqual({ now: null, asked: null, follows: null });
		});

		it('are forgotten when nobody follows them, and kept while they wait for the end of a snooze', async () => {
			const tomorrow = T0 + 30 * 3_600_000;
			await views().ask(ANNS_HOME, 0, T0);
			await end(await take(), { nextAt: null });
			await views().ask(ANNS_WINDOW, 0, T0);
			await end(await take(), { nextAt: tomorrow });
			expect(await replica().removeOld(T0 + FOLLOWED_MS - 1)).toBe(0);
			expect(await replica().removeOld(T0 + FOLLOWED_MS)).toBe(1);
			expect(await taken(tomorrow - 1)).toEqual([]);
			expect(ids(await taken(tomorrow))).toEqual([ANNS_WINDOW.id]);
		});

		it('that wait for what Slack tells of people are due when it has told', async () => {
			const isAsked = { nextAt: T0 + 10_000, isAsked: true };
			for (const place of [ANNS_HOME, ANNS_WINDOW]) {
				await views().ask(place, 0, T0);
				await end(await take(), isAsked);
			}
			await views().ask(BOBS_HOME, 0, T0);
			await end(await take());
			await replica().showWaiting(T0 + 1);
			expect(ids(await taken(T0 + 1))).toEqual([ANNS_HOME.id]);
		});
	});

	describe('a change', () => {
		it('makes followed inboxes due, but not before they may be drawn', async () => {
			await shown();
			await replica().markInboxes(T0 + 1_000);
			expect(await nextDueAt()).toBe(NOT_BEFORE);
			await replica().markInboxes(T0 + 30_000);
			// It keeps its place in line.
			expect(await nextDueAt()).toBe(NOT_BEFORE);
		});

		it('does not touch inboxes that nobody opened lately', async () => {
			await views().ask(ANNS_HOME, 0, T0);
			await end(await take(), { nextAt: null });
			await views().markInboxes(T0 + FOLLOWED_MS);
			expect(await nextDueAt()).toBeNull();
			await views().markInboxes(T0 + FOLLOWED_MS - 1);
			expect(await nextDueAt()).toBe(T0 + FOLLOWED_MS - 1);
		});

		it.each([0, 1])('is not lost %i ms after somebody began to work on an inbox', async (ms) => {
			await views().ask(ANNS_HOME, 0, T0);
			const view = await take();
			await replica().markInboxes(T0 + ms);
			await end(view, {}, T0 + 10 * ms);
			expect(await nextDueAt()).toBe(NOT_BEFORE);
			// Nobody knows whose change it was.
			expect(await take(NOT_BEFORE)).toMatchObject({ isAsked: true });
		});

		it('by its own person during the work is still asked for', async () => {
			await shown();
			await views().markInboxes(T0 + 10_000);
			const view = await take(T0 + 10_000);
			await replica().ask(ANNS_HOME, 1, T0 + 10_001);
			await end(view, { notBefore: T0 + 12_000 }, T0 + 10_002);
			// It was shown something just now, and waits in turn with those that only follow.
			expect(await allDueAt()).toEqual({ now: null, asked: null, follows: T0 + 12_000 });
			expect(await taken(T0 + 12_000, 'asked')).toEqual([]);
			expect(await take(T0 + 12_000)).toMatchObject({ page: 1, isAsked: true });
		});

		it('leaves an inbox that found no room its place in line', async () => {
			await views().ask(ANNS_HOME, 0, T0);
			await views().ask(BOBS_HOME, 0, T0 + 5);
			const [first, second] = await taken(T0 + 10);
			expect([first?.id, second?.id]).toEqual([ANNS_HOME.id, BOBS_HOME.id]);
			await views().giveBack(present(first), LEASE.token);
			expect(await nextDueAt('asked')).toBe(T0);
			expect(ids(await takenBy(OTHER_LEASE, T0 + 10))).toEqual([ANNS_HOME.id]);
		});
	});
}
