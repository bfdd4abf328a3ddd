import { describe, expect, it } from 'vitest';
import { secondAuthorOf } from '../../../src/domain/answer.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, EVE, item, LEASE, SERVICE, storeActs, submission, T0, valuesOf } from '../support.ts';

const UNDO_MS = 10_000;
const press = { undoUntil: T0 + UNDO_MS };

/** Answers that can be taken back for some seconds, and whoever lost to one. */
export function describePresses(subject: Subject): void {
	const { accepted, current, damage, lease, leased, patched, receiptOf, spread } = storeActs(subject);
	const answers = () => subject.store.answers;

	describe('a one-press answer', () => {
		it('is due when it cannot be taken back any more', async () => {
			const given = submission({ press, viewId: '' });
			await answers().accept(given);
			expect(await answers().takeDue(SERVICE, LEASE, 1, T0 + UNDO_MS - 1)).toEqual([]);
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + UNDO_MS);
			const [due] = await answers().takeDue(SERVICE, LEASE, 1, T0 + UNDO_MS);
			expect(due).toMatchObject({ id: given.id, press });
		});

		it('is taken back by its author alone, once', async () => {
			const given = submission({ press, viewId: '' });
			await answers().accept(given);
			expect(await answers().withdraw(given.id, BOB, T0 + 1, { onlyUnsent: true })).toBeNull();
			const withdrawn = await subject.replica.answers.withdraw(given.id, ANN, T0 + 1, { onlyUnsent: true });
			expect(withdrawn).toMatchObject({ state: 'withdrawn', nextAttemptAt: null });
			expect(await answers().withdraw(given.id, ANN, T0 + 2, { onlyUnsent: true })).toBeNull();
		});

		it.each(['delivering', 'delivered', 'waiting', 'refused', 'conflicted'] as const)(
			'is not taken back when it is %s',
			async (state) => {
				const given = submission({ press: { undoUntil: T0 }, viewId: '' });
				await accepted(given, ...(state === 'delivered' ? (['delivering'] as const) : []), state);
				expect(await answers().withdraw(given.id, ANN, T0 + 1, { onlyUnsent: true })).toBeNull();
			},
		);

		it('is taken back beside a loser whose row is damaged', async () => {
			const given = submission({ press, viewId: '' });
			await answers().accept(given);
			const losers = [submission({ person: BOB }), submission({ person: EVE })];
			for (const loser of losers) expect((await answers().accept(loser)).kind).toBe('taken');
			await damage(losers[0]?.id ?? '', 'submission');
			expect(await answers().withdraw(given.id, ANN, T0 + 5)).toMatchObject({ state: 'withdrawn' });
			const unharmed = { state: 'conflicted', lastError: 'first_failed' };
			expect(await answers().get(losers[1]?.id ?? '')).toMatchObject(unharmed);
		});

		it('makes drafts of the texts of the losers when it is taken back, and has their authors told', async () => {
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

			const lost = await answers().get(form.id);
			expect(lost).toMatchObject({ state: 'conflicted', lastError: 'first_failed', nextAttemptAt: null });
			await spread();
			expect(await receiptOf(form.id)).toMatchObject({ viewId: form.viewId, dueAt: T0 + 1_000 });
			expect(valuesOf(lost)).toEqual(['red', null]);
			const draft = await subject.store.drafts.newest(BOB, given.question);
			expect(draft?.values).toEqual({ 0: 'red' });
			// A second press of the same person is not offered to them again.
			expect(await answers().get(second.id)).toMatchObject({ state: 'conflicted', lastError: null });

			const again = await answers().retry(form.id, BOB, T0 + 6, T0 + 1e6);
			expect(again?.kind).toBe('notRetryable');
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
		] as const)('has the newest loser of each told when it is %s, begun: %s, as %s', async (state, begun, ending) => {
			const given = submission({ press: { undoUntil: T0 }, viewId: '' });
			await answers().accept(given);
			const losers = [2, 3, 1].map((at) =>
				submission({ person: BOB, acceptedAt: T0 + at, ...(state === 'changed' && { fingerprint: 'newer' }) }),
			);
			for (const loser of losers) {
				expect((await answers().accept(loser)).kind).toBe('taken');
				await subject.store.views.remove({ id: loser.viewId });
			}
			await lease(given.id);
			const failed = { state, putStartedAt: begun ? T0 : null, nextAttemptAt: null };
			await patched(given.id, failed, { now: T0 + 5, release: true });
			const stored = await Promise.all(losers.map(({ id }) => answers().get(id)));
			expect(stored.map((loser) => loser?.lastError)).toEqual([null, ending, null]);
			expect(stored[1]).toMatchObject({ state: 'conflicted', nextAttemptAt: null, endedAt: T0 + 5 });
			const told = await Promise.all(losers.map(({ id }) => receiptOf(id)));
			expect(told.map((one) => one?.dueAt)).toEqual([undefined, T0 + 5, undefined]);
			const mayAsk = state === 'waiting' || state === 'refused';
			expect(secondAuthorOf(await current(given.id))).toEqual(mayAsk ? BOB : null);
		});

		it.each([
			['another text', 'shown-2'],
			['the same text', 'shown-1'],
		])('has a loser with %s told when its question is outdated', async (_, shownHash) => {
			const given = submission({ press: { undoUntil: T0 }, viewId: '', shownHash: 'shown-1' });
			await leased(given);
			const loser = submission({ person: BOB, shownHash });
			expect((await answers().accept(loser)).kind).toBe('taken');
			const changed = { state: 'changed', nextAttemptAt: null } as const;
			await patched(given.id, changed, { now: T0 + 5, release: true });
			expect(await answers().get(loser.id)).toMatchObject({ state: 'conflicted', lastError: 'first_failed' });
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
}
