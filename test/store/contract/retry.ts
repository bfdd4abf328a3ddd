import { describe, expect, test } from 'vitest';
import type { Subject } from '../contract.ts';
import { ANN, accepted, BOB, EVE, item, LEASE, lease, submission, T0, valuesOf } from '../support.ts';

const LATER = T0 + 3_600_000;
const GIVE_UP = LATER + 86_400_000;

export function describeRetry(subject: Subject): void {
	describe('trying again', () => {
		test.each(['waiting', 'conflicted', 'changed', 'refused', 'ended'] as const)(
			'puts an answer that is %s back into the queue',
			async (state) => {
				const given = submission({ items: [item('blue'), item('')], leftEmpty: [1] });
				await accepted(subject.store, given);
				await lease(subject.store, given.id);
				const dm = { channelId: 'D1', ts: '3.4' };
				await subject.store.answers.update(
					given.id,
					LEASE.owner,
					{
						state,
						attempts: 9,
						lastError: 'refused',
						nextAttemptAt: null,
						told: { state, aftermath: null, dm, modalOpen: false },
					},
					{ now: T0 + 1, release: true },
				);
				const result = await subject.replica.answers.retry(given.id, ANN, LATER, GIVE_UP);
				const stored = await subject.store.answers.get(given.id);
				expect(result).toEqual({ kind: 'queued', answer: stored });
				expect(stored).toMatchObject({
					state: 'accepted',
					attempts: 0,
					nextAttemptAt: LATER,
					giveUpAt: GIVE_UP,
					lastError: null,
					endedAt: null,
					told: { state: null, dm, modalOpen: false },
				});
				expect(valuesOf(stored)).toEqual(['blue', '']);
				expect(stored?.timeline.map((entry) => entry.state)).toEqual(['accepted', state, 'accepted']);
				expect(await subject.store.answers.takeDue(LEASE, 1, LATER)).toHaveLength(1);
			},
		);

		test.each([
			['accepted', []],
			['delivering', ['delivering']],
			['delivered', ['delivering', 'delivered']],
			['resumed', ['delivering', 'delivered', 'resumed']],
		] as const)('does nothing for one that is %s', async (state, states) => {
			const given = submission();
			await accepted(subject.store, given, ...states);
			const result = await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({ kind: 'notRetryable', answer: { state, giveUpAt: given.giveUpAt } });
		});

		test('does nothing for one that was withdrawn', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await subject.store.answers.withdraw(given.id, ANN, T0 + 1);
			expect((await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP)).kind).toBe('notRetryable');
		});

		test('is for its author alone', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			for (const person of [BOB, EVE, { teamId: EVE.teamId, userId: ANN.userId }]) {
				expect(await subject.store.answers.retry(given.id, person, LATER, GIVE_UP)).toEqual({ kind: 'notFound' });
				expect(await subject.store.answers.withdraw(given.id, person, LATER)).toBeNull();
			}
			expect(await subject.store.answers.retry('none', ANN, LATER, GIVE_UP)).toEqual({ kind: 'notFound' });
			expect((await subject.store.answers.get(given.id))?.state).toBe('refused');
		});

		test('says when a secret is gone', async () => {
			const given = submission({ items: [item('blue'), item('hunter2', { secret: true })] });
			await accepted(subject.store, given, 'refused');
			const result = await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({ kind: 'valuesGone', answer: { state: 'refused' } });
		});

		test('still has the secret of one that waits for its author', async () => {
			const given = submission({ items: [item('hunter2', { secret: true })] });
			await accepted(subject.store, given, 'waiting');
			const result = await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(result.kind === 'queued' && valuesOf(result.answer)).toEqual(['hunter2']);
		});

		test('says when the values were removed after the retention time', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			await subject.store.answers.removeValues(LATER);
			expect((await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP)).kind).toBe('valuesGone');
		});

		test('is taken when somebody else is live now, and says who', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			const other = submission({ person: BOB, items: [item('red')] });
			await accepted(subject.store, other);
			const result = await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({
				kind: 'taken',
				by: { id: other.id },
				answer: { state: 'conflicted', nextAttemptAt: null, content: { other: { person: BOB, values: ['red'] } } },
			});
			expect(valuesOf(await subject.store.answers.get(given.id))).toEqual(['blue']);
		});

		test('is taken when somebody else was delivered since its form was read', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			await accepted(subject.store, submission({ person: BOB }), 'delivering', 'delivered');
			expect((await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP)).kind).toBe('taken');
		});

		test('replaces another one that waits for its author', async () => {
			const refused = submission();
			await accepted(subject.store, refused, 'refused');
			const waiting = submission({ person: BOB });
			await accepted(subject.store, waiting, 'waiting');
			expect((await subject.store.answers.retry(refused.id, ANN, LATER, GIVE_UP)).kind).toBe('queued');
			expect(await subject.store.answers.get(waiting.id)).toMatchObject({ state: 'conflicted', nextAttemptAt: LATER });
		});

		test('is heard by the worker that was still telling its author, and then goes on', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			await subject.store.answers.update(given.id, LEASE.owner, { state: 'refused' }, { now: T0, release: false });
			expect((await subject.store.answers.retry(given.id, ANN, T0 + 5, GIVE_UP)).kind).toBe('queued');
			// The worker has the same name in its next task: it must not get the answer while the first is alive.
			expect(await subject.store.answers.takeDue(LEASE, 1, T0 + 5)).toEqual([]);
			expect(await subject.store.answers.renew(given.id, LEASE, T0 + 5)).toBe(false);
			const options = { now: T0 + 6, release: true };
			expect(await subject.store.answers.update(given.id, LEASE.owner, { nextAttemptAt: null }, options)).toBeNull();
			expect(await subject.store.answers.takeDue(LEASE, 1, LATER)).toMatchObject([{ id: given.id, state: 'accepted' }]);
		});
	});

	describe('giving up', () => {
		test.each([
			['accepted', []],
			['waiting', ['waiting']],
			['conflicted', ['conflicted']],
			['changed', ['changed']],
			['refused', ['refused']],
			['ended', ['ended']],
		] as const)('withdraws an answer that is %s', async (_state, states) => {
			const given = submission();
			await accepted(subject.store, given, ...states);
			const gone = await subject.store.answers.withdraw(given.id, ANN, LATER);
			expect(gone).toMatchObject({ state: 'withdrawn', nextAttemptAt: null });
			expect(gone?.timeline.at(-1)).toEqual({ state: 'withdrawn', at: LATER });
			expect(await subject.store.answers.get(given.id)).toEqual(gone);
			expect((await subject.store.answers.accept(submission({ person: BOB }))).kind).toBe('accepted');
		});

		test.each([
			['a PUT may have begun', ['delivering']],
			['it was delivered', ['delivering', 'delivered']],
		] as const)('is not possible when %s', async (_when, states) => {
			const given = submission();
			await accepted(subject.store, given, ...states);
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).toBeNull();
		});

		test('is not possible when a PUT was marked though the state says accepted', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			await subject.store.answers.update(given.id, LEASE.owner, { putStartedAt: T0 }, { now: T0, release: true });
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).toBeNull();
		});

		test('is not possible twice', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await subject.store.answers.withdraw(given.id, ANN, LATER);
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).toBeNull();
		});

		test('stops the worker that has leased it but not begun', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).not.toBeNull();
			const begin = { state: 'delivering', putStartedAt: LATER } as const;
			expect(
				await subject.store.answers.update(given.id, LEASE.owner, begin, { now: LATER, release: false }),
			).toBeNull();
		});
	});
}
