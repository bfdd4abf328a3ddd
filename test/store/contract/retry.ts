import { describe, expect, it } from 'vitest';
import { TOLD_WITHIN_MS, UNREADABLE_VALUES } from '../../../src/domain/answer.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, EVE, item, LEASE, SERVICE, storeActs, submission, T0, valuesOf } from '../support.ts';

const LATER = T0 + 3_600_000;
const GIVE_UP = LATER + 86_400_000;

export function describeRetry(subject: Subject): void {
	const { accepted, current, damage, lease, leased, patched, receiptOf } = storeActs(subject);
	const answers = () => subject.store.answers;
	describe('retry', () => {
		it.each(['waiting', 'changed', 'refused', 'ended'] as const)('queues an answer that is %s again', async (state) => {
			const given = submission({ items: [item('blue'), item('')], leftEmpty: [1] });
			await leased(given);
			const failed = { state, attempts: 9, lastError: 'refused', nextAttemptAt: null };
			await patched(given.id, failed, { now: T0 + 1, release: true });
			const result = await subject.replica.answers.retry(given.id, ANN, LATER, GIVE_UP);
			const stored = await answers().get(given.id);
			expect(result).toEqual({ kind: 'queued', answer: stored });
			const anew = { attempts: 0, nextAttemptAt: LATER, giveUpAt: GIVE_UP, lastError: null, endedAt: null };
			expect(stored).toMatchObject({ state: 'accepted', ...anew });
			expect(valuesOf(stored)).toEqual(['blue', '']);
			expect(stored?.timeline.map((entry) => entry.state)).toEqual(['accepted', state, 'accepted']);
			expect(await answers().takeDue(SERVICE, LEASE, 1, LATER)).toHaveLength(1);
		});

		it('notes the press as the newest check of its author, but not when the program puts it back', async () => {
			const given = await accepted(submission(), 'refused');
			expect(await current(given.id)).toMatchObject({ checkedAt: T0 });
			await answers().retry(given.id, ANN, LATER, GIVE_UP);
			expect(await current(given.id)).toMatchObject({ checkedAt: LATER });
			await lease(given.id, LEASE, LATER);
			const unreadable = { state: 'waiting', lastError: UNREADABLE_VALUES } as const;
			await patched(given.id, unreadable, { now: LATER, release: true });
			await answers().retry(given.id, ANN, LATER + 1, GIVE_UP);
			expect(await current(given.id)).toMatchObject({ state: 'accepted', checkedAt: LATER });
		});

		it.each([
			['accepted', []],
			['delivering', ['delivering']],
			['delivered', ['delivering', 'delivered']],
			['resumed', ['delivering', 'delivered', 'resumed']],
			['withdrawn', ['withdrawn']],
		] as const)('does not retry an answer that is %s', async (state, states) => {
			const given = await accepted(submission(), ...states);
			const result = await answers().retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({ kind: 'notRetryable', answer: { state, giveUpAt: given.giveUpAt } });
		});

		it('is for its author alone', async () => {
			const given = await accepted(submission(), 'refused');
			for (const person of [BOB, EVE, { teamId: EVE.teamId, userId: ANN.userId }]) {
				expect(await answers().retry(given.id, person, LATER, GIVE_UP)).toBeNull();
				expect(await answers().withdraw(given.id, person, LATER)).toBeNull();
			}
			expect(await answers().retry('none', ANN, LATER, GIVE_UP)).toBeNull();
			expect((await answers().get(given.id))?.state).toBe('refused');
		});

		it('reports a retry whose secret was wiped', async () => {
			const given = submission({ items: [item('blue'), item('hunter2', { secret: true })] });
			await accepted(given, 'refused');
			const result = await answers().retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({ kind: 'valuesGone', answer: { state: 'refused' } });
		});

		it('keeps the secret of an answer that waits for its author', async () => {
			const given = submission({ items: [item('hunter2', { secret: true })] });
			await accepted(given, 'waiting');
			const result = await answers().retry(given.id, ANN, LATER, GIVE_UP);
			expect(result?.kind === 'queued' && valuesOf(result.answer)).toEqual(['hunter2']);
		});

		it('rejects a retry when another answer is live and tells whose it is', async () => {
			const given = await accepted(submission(), 'refused');
			// Its author was told, and nothing is told of it any more.
			await subject.store.views.remove({ id: given.viewId });
			const other = await accepted(submission({ person: BOB, items: [item('red')] }));
			const result = await answers().retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({
				kind: 'taken',
				by: { id: other.id },
				answer: { state: 'conflicted', content: { other: { person: BOB, values: ['red'] } } },
			});
			expect(valuesOf(await answers().get(given.id))).toEqual(['blue']);
			// The process may end before it shows that to the author.
			expect(await receiptOf(given.id)).toMatchObject({ dueAt: LATER + TOLD_WITHIN_MS });
			await subject.replica.views.noteTold(given);
			expect(await receiptOf(given.id)).toBeUndefined();
		});

		it('replaces another answer that waits for its author', async () => {
			const refused = await accepted(submission(), 'refused');
			const waiting = await accepted(submission({ person: BOB }), 'waiting');
			for (const { viewId: id } of [refused, waiting]) await subject.store.views.remove({ id });
			expect((await answers().retry(refused.id, ANN, LATER, GIVE_UP))?.kind).toBe('queued');
			expect(await answers().get(waiting.id)).toMatchObject({ state: 'conflicted', nextAttemptAt: null });
			expect(await receiptOf(waiting.id)).toMatchObject({ viewId: null, dueAt: LATER });
			// It is told once it was sent, or that takes a moment.
			expect(await receiptOf(refused.id)).toMatchObject({ viewId: null, dueAt: LATER + 2_000 });
		});

		it('queues an answer to items that a delivered one left open whose row is damaged', async () => {
			const given = await accepted(submission({ items: [item(null), item('four')] }), 'refused');
			const other = await accepted(submission({ person: BOB }), 'delivering', 'delivered');
			await damage(other.id, 'agentOutcome');
			expect((await answers().retry(given.id, ANN, LATER, GIVE_UP))?.kind).toBe('queued');
		});

		it('rejects a retry while an answer that cannot be read is live', async () => {
			const given = await accepted(submission(), 'refused');
			const other = await accepted(submission({ person: BOB }));
			await damage(other.id, 'submission');
			await expect(answers().retry(given.id, ANN, LATER, GIVE_UP)).rejects.toThrow();
			expect(await answers().get(given.id)).toMatchObject({ state: 'refused' });
		});

		it('retries an answer while a worker still tells its author', async () => {
			const held = await leased(submission());
			const options = { now: T0 };
			const refused = await answers().update(held, LEASE.token, { state: 'refused' }, options);
			expect((await answers().retry(held.id, ANN, T0 + 5, GIVE_UP))?.kind).toBe('queued');
			expect(await answers().renew(held.id, LEASE, T0 + 5)).toBe(false);
			if (refused === null) throw new Error('the lease was lost');
			expect(await answers().update(refused, LEASE.token, { nextAttemptAt: null }, options)).toBeNull();
			const next = { token: 'next-take', ms: 20_000 };
			expect(await answers().takeDue(SERVICE, next, 1, T0 + 5)).toMatchObject([{ id: held.id, state: 'accepted' }]);
		});
	});

	describe('withdraw', () => {
		it.each([
			['accepted', []],
			['waiting', ['waiting']],
			['conflicted', ['conflicted']],
			['changed', ['changed']],
			['refused', ['refused']],
			['ended', ['ended']],
		] as const)('withdraws an answer that is %s', async (_state, states) => {
			const given = await accepted(submission(), ...states);
			const gone = await answers().withdraw(given.id, ANN, LATER);
			expect(gone).toMatchObject({ state: 'withdrawn', nextAttemptAt: null });
			expect(gone?.timeline.at(-1)).toEqual({ state: 'withdrawn', at: LATER });
			expect(await answers().get(given.id)).toEqual(gone);
			expect((await answers().accept(submission({ person: BOB }))).kind).toBe('accepted');
		});

		it.each([
			['a PUT may have begun', { state: 'delivering' }],
			['it was delivered', { state: 'delivered', deliveredAt: T0 }],
			['its PUT is marked', { putStartedAt: T0 }],
		] as const)('does not withdraw an answer when %s', async (_when, patch) => {
			const given = await leased(submission());
			await patched(given.id, patch, { release: true });
			expect(await answers().withdraw(given.id, ANN, LATER)).toBeNull();
		});

		it('stops a worker that has leased a withdrawn answer but not begun', async () => {
			const given = await leased(submission());
			expect(await answers().withdraw(given.id, ANN, LATER)).not.toBeNull();
			const begin = { state: 'delivering', putStartedAt: LATER } as const;
			expect(await patched(given.id, begin, { now: LATER })).toBeNull();
		});
	});
}
