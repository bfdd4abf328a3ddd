import { describe, expect, it } from 'vitest';
import type { NewAnnouncement } from '../../../src/watches/announcements.ts';
import type { Watch } from '../../../src/watches/watch.ts';
import { sessionView } from '../../watches/support.ts';
import type { Subject } from '../contract.ts';
import {
	ANN,
	accepted,
	BOB,
	current,
	damage,
	EVE,
	item,
	LEASE,
	lease,
	SERVICE,
	submission,
	T0,
	valuesOf,
} from '../support.ts';
import { KEY, news, read, said, watchActs } from './watch-acts.ts';

const UNDO_MS = 10_000;
const press = { undoUntil: T0 + UNDO_MS };

/** Answers that can be taken back for some seconds, whoever lost to one, and the posts that show it. */
export function describePresses(subject: Subject): void {
	const answers = () => subject.store.answers;

	describe('a one-press answer', () => {
		it('is due when it cannot be taken back any more', async () => {
			const given = submission({ press, viewId: '' });
			await answers().accept(given);
			expect(await answers().takeDue(SERVICE, LEASE, 1, T0 + UNDO_MS - 1)).toEqual([]);
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + UNDO_MS);
			const [due] = await answers().takeDue(SERVICE, LEASE, 1, T0 + UNDO_MS);
			expect(due).toMatchObject({ id: given.id, press, receiptState: { modalOpen: false } });
		});

		it('is taken back by its author, and the worker hears of it', async () => {
			const given = submission({ press, viewId: '' });
			await answers().accept(given);
			expect(await answers().withdraw(given.id, BOB, T0 + 1, { onlyUnsent: true })).toBeNull();
			const withdrawn = await subject.replica.answers.withdraw(given.id, ANN, T0 + 1, { onlyUnsent: true });
			expect(withdrawn).toMatchObject({ state: 'withdrawn', nextAttemptAt: T0 + 1 });
			expect(await answers().withdraw(given.id, ANN, T0 + 2, { onlyUnsent: true })).toBeNull();
		});

		it.each(['delivering', 'delivered', 'waiting', 'refused', 'conflicted'] as const)(
			'is not taken back when it is %s',
			async (state) => {
				const given = submission({ press: { undoUntil: T0 }, viewId: '' });
				await accepted(subject.store, given, ...(state === 'delivered' ? (['delivering'] as const) : []), state);
				expect(await answers().withdraw(given.id, ANN, T0 + 1, { onlyUnsent: true })).toBeNull();
			},
		);

		it('is taken back beside a loser whose row is damaged', async () => {
			const given = submission({ press, viewId: '' });
			await answers().accept(given);
			const losers = [submission({ person: BOB }), submission({ person: EVE })];
			for (const loser of losers) expect((await answers().accept(loser)).kind).toBe('taken');
			await damage(subject.store, losers[0]?.id ?? '', 'submission');
			expect(await answers().withdraw(given.id, ANN, T0 + 5)).toMatchObject({ state: 'withdrawn' });
			expect(await answers().get(losers[1]?.id ?? '')).toMatchObject({ state: 'waiting' });
		});

		it('makes the losers wait for their authors when it is taken back, with their texts as drafts', async () => {
			const given = submission({ press, viewId: '', items: [item('blue')] });
			await answers().accept(given);
			const form = submission({
				person: BOB,
				items: [item('red'), item('hunter2', { secret: true })],
				question: given.question,
			});
			const second = submission({ press, viewId: '', items: [item('green')] });
			for (const loser of [form, second]) expect((await answers().accept(loser)).kind).toBe('taken');
			await answers().withdraw(given.id, ANN, T0 + 5, { onlyUnsent: true });

			const waiting = await answers().get(form.id);
			expect(waiting).toMatchObject({ state: 'waiting', lastError: 'first_withdrawn', nextAttemptAt: T0 + 5 });
			expect(waiting?.receiptState.state).toBeNull();
			expect(valuesOf(waiting)).toEqual(['red', null]);
			const draft = await subject.store.drafts.newest(BOB, given.question);
			expect(draft?.values).toEqual({ 0: 'red' });
			// A second press of the same person is not offered to them again.
			expect(await answers().get(second.id)).toMatchObject({ state: 'conflicted' });

			const again = await answers().retry(form.id, BOB, T0 + 6, T0 + 1e6);
			expect(again.kind).toBe('valuesGone');
			const third = submission({ person: BOB, items: [item('red')] });
			expect((await answers().accept(third)).kind).toBe('accepted');
			expect(await answers().get(form.id)).toMatchObject({ state: 'conflicted' });
		});

		it.each([
			['waiting', false, 'first_failed'],
			['refused', false, 'first_failed'],
			['ended', false, 'first_over'],
			['ended', true, 'first_unknown'],
			['changed', true, 'first_unknown'],
		] as const)(
			'makes the newest loser of each person wait when it is %s, with a PUT begun: %s, as %s',
			async (state, begun, ending) => {
				const given = submission({ press: { undoUntil: T0 }, viewId: '' });
				await answers().accept(given);
				const losers = [2, 3, 1].map((at) =>
					submission({ person: BOB, acceptedAt: T0 + at, ...(state === 'changed' && { fingerprint: 'newer' }) }),
				);
				for (const loser of losers) expect((await answers().accept(loser)).kind).toBe('taken');
				await lease(subject.store, given.id);
				const failed = { state, putStartedAt: begun ? T0 : null, nextAttemptAt: null };
				await answers().update(await current(subject.store, given.id), LEASE.token, failed, {
					now: T0 + 5,
					release: true,
				});
				const stored = await Promise.all(losers.map(({ id }) => answers().get(id)));
				expect(stored.map((loser) => loser?.state)).toEqual(['conflicted', 'waiting', 'conflicted']);
				expect(stored[1]).toMatchObject({ lastError: ending, nextAttemptAt: T0 + 5 });
			},
		);

		it.each([
			['another text', 'shown-2', 'waiting'],
			['the same text', 'shown-1', 'conflicted'],
		])('makes a loser with %s wait only if its question is not outdated too', async (_, shownHash, state) => {
			const given = submission({ press: { undoUntil: T0 }, viewId: '', shownHash: 'shown-1' });
			await answers().accept(given);
			const loser = submission({ person: BOB, shownHash });
			expect((await answers().accept(loser)).kind).toBe('taken');
			await lease(subject.store, given.id);
			const changed = { state: 'changed', nextAttemptAt: null } as const;
			const options = { now: T0 + 5, release: true };
			await answers().update(await current(subject.store, given.id), LEASE.token, changed, options);
			expect(await answers().get(loser.id)).toMatchObject({ state });
		});

		it('keeps the losers of other answers as they are', async () => {
			const first = submission({ sessionId: 's1' });
			await answers().accept(first);
			const loser = submission({ sessionId: 's1', person: BOB });
			await answers().accept(loser);
			const other = submission({ sessionId: 's2', press, viewId: '' });
			await answers().accept(other);
			await answers().withdraw(other.id, ANN, T0 + 1);
			expect(await answers().get(loser.id)).toMatchObject({ state: 'conflicted' });
		});
	});

	describe('the posts of a question', () => {
		const { store, added, recorded, posted } = watchActs(subject);
		const { question } = sessionView('s1');

		function post(watch: Watch, content: NewAnnouncement['content'], key: string): NewAnnouncement {
			return { ...said(watch, key), content };
		}

		/** A watch whose question is posted. */
		async function asking(): Promise<Watch> {
			const watch = await added();
			await posted();
			const shown = question ?? {
				messageIndex: 1,
				fingerprint: 'f',
				context: '',
				shownHash: 'shown',
				goneOn: false,
				items: [],
				itemCount: 0,
				openCount: 1,
				quick: null,
			};
			const asked = { kind: 'question', question: shown, changed: false, readAt: T0 } as const;
			await recorded([news(watch, { announcements: [post(watch, asked, 'asked')] })]);
			await posted();
			return watch;
		}

		it('are drawn again once, however often that is asked for before it begins', async () => {
			await asking();
			expect(await store().redraw(KEY, T0)).toBe(1);
			expect(await store().redraw(KEY, T0)).toBe(0);
			const [redraw] = await store().takeAnnouncements(LEASE, 5, T0);
			expect(redraw?.announcement.content).toEqual({ kind: 'redraw' });
			// This one may have read the state before the change.
			expect(await store().redraw(KEY, T0)).toBe(1);
			const asked = await store().postedQuestions(redraw?.announcement.id ?? '');
			expect(asked.map(({ key, shownKey }) => [key, shownKey])).toEqual([['asked', null]]);
			await store().noteShown(asked[0]?.id ?? '', 'looks');
			expect((await store().postedQuestions(redraw?.announcement.id ?? ''))[0]?.shownKey).toBe('looks');
		});

		it('are drawn one after the other, and not again once they are settled', async () => {
			const watch = await asking();
			await store().redraw(KEY, T0);
			const [redraw] = await store().takeAnnouncements(LEASE, 5, T0);
			const current = (await store().ofSession(KEY, T0))[0];
			if (current === undefined) throw new Error('not there');
			const settle = post(watch, { kind: 'settle', messageIndex: 1, how: 'answered' }, 'settle');
			await store().takeDue(SERVICE, LEASE, 10, { now: T0 + 1e6, only: null });
			const held = { session: KEY, token: LEASE.token };
			const watches = [news(current, { announcements: [settle] })];
			expect(await store().record(held, { update: read(), watches, now: T0 })).not.toBeNull();
			// The settling waits for the update that is under way.
			expect(await store().takeAnnouncements(LEASE, 5, T0)).toEqual([]);
			const done = { kind: 'posted', ts: '', cardKey: null } as const;
			expect(await store().postedQuestions(redraw?.announcement.id ?? '')).toEqual([]);
			await store().endAttempt(redraw?.announcement.id ?? '', LEASE.token, done, T0);
			expect(await posted()).toEqual(['settle']);
			expect(await store().redraw(KEY, T0)).toBe(0);
		});
	});
}
