import { describe, expect, it } from 'vitest';
import { type Answer, UNREADABLE } from '../../../src/questions/answer.ts';
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

const LATER = T0 + 3_600_000;
const GIVE_UP = LATER + 86_400_000;

export function describeRetry(subject: Subject): void {
	describe('retry', () => {
		it.each(['waiting', 'conflicted', 'changed', 'refused', 'ended'] as const)(
			'queues an answer that is %s again',
			async (state) => {
				const given = submission({ items: [item('blue'), item('')], leftEmpty: [1] });
				await accepted(subject.store, given);
				await lease(subject.store, given.id);
				const dm = { channelId: 'D1', ts: '3.4' };
				await subject.store.answers.update(
					await current(subject.store, given.id),
					LEASE.token,
					{
						state,
						attempts: 9,
						lastError: 'refused',
						nextAttemptAt: null,
						receiptState: { state, agentOutcome: null, dm, modalOpen: false },
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
					receiptState: { state: null, dm, modalOpen: false },
				});
				expect(valuesOf(stored)).toEqual(['blue', '']);
				expect(stored?.timeline.map((entry) => entry.state)).toEqual(['accepted', state, 'accepted']);
				expect(await subject.store.answers.takeDue(SERVICE, LEASE, 1, LATER)).toHaveLength(1);
			},
		);

		it('notes the press as the newest check of its author, but not when the program puts it back', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			expect(await current(subject.replica, given.id)).toMatchObject({ checkedAt: T0 });
			await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(await current(subject.replica, given.id)).toMatchObject({ checkedAt: LATER });
			await lease(subject.store, given.id, LEASE, LATER);
			const unreadable = { state: 'waiting', lastError: UNREADABLE } as const;
			const options = { now: LATER, release: true };
			await subject.store.answers.update(await current(subject.store, given.id), LEASE.token, unreadable, options);
			await subject.store.answers.retry(given.id, ANN, LATER + 1, GIVE_UP);
			expect(await current(subject.replica, given.id)).toMatchObject({ state: 'accepted', checkedAt: LATER });
		});

		it.each([
			['accepted', []],
			['delivering', ['delivering']],
			['delivered', ['delivering', 'delivered']],
			['resumed', ['delivering', 'delivered', 'resumed']],
		] as const)('does not retry an answer that is %s', async (state, states) => {
			const given = submission();
			await accepted(subject.store, given, ...states);
			const result = await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({ kind: 'notRetryable', answer: { state, giveUpAt: given.giveUpAt } });
		});

		it('does not retry a withdrawn answer', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await subject.store.answers.withdraw(given.id, ANN, T0 + 1);
			expect((await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP))?.kind).toBe('notRetryable');
		});

		it('is for its author alone', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			for (const person of [BOB, EVE, { teamId: EVE.teamId, userId: ANN.userId }]) {
				expect(await subject.store.answers.retry(given.id, person, LATER, GIVE_UP)).toBeNull();
				expect(await subject.store.answers.withdraw(given.id, person, LATER)).toBeNull();
			}
			expect(await subject.store.answers.retry('none', ANN, LATER, GIVE_UP)).toBeNull();
			expect((await subject.store.answers.get(given.id))?.state).toBe('refused');
		});

		it('reports a retry whose secret was wiped', async () => {
			const given = submission({ items: [item('blue'), item('hunter2', { secret: true })] });
			await accepted(subject.store, given, 'refused');
			const result = await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(result).toMatchObject({ kind: 'valuesGone', answer: { state: 'refused' } });
		});

		it('keeps the secret of an answer that waits for its author', async () => {
			const given = submission({ items: [item('hunter2', { secret: true })] });
			await accepted(subject.store, given, 'waiting');
			const result = await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP);
			expect(result?.kind === 'queued' && valuesOf(result.answer)).toEqual(['hunter2']);
		});

		it('reports a retry whose values were removed after the retention time', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			await subject.store.answers.removeValues(LATER, LATER);
			expect((await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP))?.kind).toBe('valuesGone');
		});

		it('rejects a retry when another answer is live and tells whose it is', async () => {
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

		it('rejects a retry when another answer was delivered after its form was read', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			await accepted(subject.store, submission({ person: BOB }), 'delivering', 'delivered');
			expect((await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP))?.kind).toBe('taken');
		});

		it('replaces another answer that waits for its author', async () => {
			const refused = submission();
			await accepted(subject.store, refused, 'refused');
			const waiting = submission({ person: BOB });
			await accepted(subject.store, waiting, 'waiting');
			expect((await subject.store.answers.retry(refused.id, ANN, LATER, GIVE_UP))?.kind).toBe('queued');
			expect(await subject.store.answers.get(waiting.id)).toMatchObject({ state: 'conflicted', nextAttemptAt: LATER });
		});

		it('queues an answer to items that a delivered one left open whose row is damaged', async () => {
			const given = submission({ items: [item(null), item('four')] });
			await accepted(subject.store, given, 'refused');
			const other = submission({ person: BOB });
			await accepted(subject.store, other, 'delivering', 'delivered');
			await damage(subject.store, other.id, 'agentOutcome');
			expect((await subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP))?.kind).toBe('queued');
		});

		it('rejects a retry while an answer that cannot be read is live', async () => {
			const given = submission();
			await accepted(subject.store, given, 'refused');
			const other = submission({ person: BOB });
			await accepted(subject.store, other);
			await damage(subject.store, other.id, 'submission');
			await expect(subject.store.answers.retry(given.id, ANN, LATER, GIVE_UP)).rejects.toThrow();
			expect(await subject.store.answers.get(given.id)).toMatchObject({ state: 'refused' });
		});

		it('retries an answer while a worker still tells its author', async () => {
			const given = submission();
			await accepted(subject.store, given);
			const leased = await lease(subject.store, given.id);
			const options = { now: T0, release: false };
			const refused = await subject.store.answers.update(leased, LEASE.token, { state: 'refused' }, options);
			expect((await subject.store.answers.retry(given.id, ANN, T0 + 5, GIVE_UP))?.kind).toBe('queued');
			expect(await subject.store.answers.renew(given.id, LEASE, T0 + 5)).toBe(false);
			if (refused === null) throw new Error('the lease was lost');
			expect(await subject.store.answers.update(refused, LEASE.token, { nextAttemptAt: null }, options)).toBeNull();
			const next = { token: 'next-take', ms: 20_000 };
			expect(await subject.store.answers.takeDue(SERVICE, next, 1, T0 + 5)).toMatchObject([
				{ id: given.id, state: 'accepted' },
			]);
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
			const given = submission();
			await accepted(subject.store, given, ...states);
			const gone = await subject.store.answers.withdraw(given.id, ANN, LATER);
			expect(gone).toMatchObject({ state: 'withdrawn', nextAttemptAt: null });
			expect(gone?.timeline.at(-1)).toEqual({ state: 'withdrawn', at: LATER });
			expect(await subject.store.answers.get(given.id)).toEqual(gone);
			expect((await subject.store.answers.accept(submission({ person: BOB }))).kind).toBe('accepted');
		});

		it.each([
			['a PUT may have begun', ['delivering']],
			['it was delivered', ['delivering', 'delivered']],
		] as const)('does not withdraw an answer when %s', async (_when, states) => {
			const given = submission();
			await accepted(subject.store, given, ...states);
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).toBeNull();
		});

		it('does not withdraw an accepted answer whose PUT is marked', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			await subject.store.answers.update(
				await current(subject.store, given.id),
				LEASE.token,
				{ putStartedAt: T0 },
				{ now: T0, release: true },
			);
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).toBeNull();
		});

		it('does not withdraw an answer twice', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await subject.store.answers.withdraw(given.id, ANN, LATER);
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).toBeNull();
		});

		it('stops a worker that has leased a withdrawn answer but not begun', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			expect(await subject.store.answers.withdraw(given.id, ANN, LATER)).not.toBeNull();
			const begin = { state: 'delivering', putStartedAt: LATER } as const;
			expect(
				await subject.store.answers.update(await current(subject.store, given.id), LEASE.token, begin, {
					now: LATER,
					release: false,
				}),
			).toBeNull();
		});
	});

	describe('askRestart', () => {
		/** A PUT that began before this time has ended at `LATER`. */
		const QUIET_SINCE = LATER - 27_000;

		/** A delivered and leased answer for which the service could not start the agent. */
		async function startFailed(
			more: { putStartedAt?: number; startFailed?: boolean } = {},
			given = submission(),
		): Promise<Answer> {
			await accepted(subject.store, given, 'delivering');
			await subject.store.db.write((db) =>
				db.updateTable('answers').set({ nextAttemptAt: T0 }).where('id', '=', given.id).execute(),
			);
			const leased = await lease(subject.store, given.id, LEASE, LATER);
			const patch = { state: 'delivered', deliveredAt: T0 + 2, startFailed: true, ...more } as const;
			const written = await subject.store.answers.update(leased, LEASE.token, patch, { now: T0 + 2, release: false });
			if (written === null) throw new Error('the lease was lost');
			return written;
		}

		const ask = (id: string, person = ANN) => subject.replica.answers.askRestart(id, person, LATER, QUIET_SINCE);

		it('makes a delivered answer whose agent did not start due at once', async () => {
			const { id } = await startFailed();
			expect(await ask(id)).toMatchObject({ state: 'delivered', restartAskedAt: LATER, nextAttemptAt: LATER });
			const started = await startFailed({ startFailed: false }, submission({ sessionId: 's3' }));
			expect(await ask(started.id)).toBeNull();
			const waiting = submission({ sessionId: 's2' });
			await accepted(subject.store, waiting, 'waiting');
			expect(await ask(waiting.id)).toBeNull();
		});

		it('is for its author alone', async () => {
			const { id } = await startFailed();
			for (const person of [BOB, EVE, { teamId: EVE.teamId, userId: ANN.userId }]) {
				expect(await ask(id, person)).toBeNull();
			}
			expect(await ask('none')).toBeNull();
			expect((await current(subject.store, id)).restartAskedAt).toBeNull();
		});

		it('accepts one restart until it is done', async () => {
			const { id } = await startFailed();
			expect(await ask(id)).not.toBeNull();
			expect(await ask(id)).toBeNull();
		});

		it('refuses a restart while an earlier one may be running', async () => {
			const { id } = await startFailed({ putStartedAt: QUIET_SINCE + 1 });
			expect(await ask(id)).toBeNull();
			expect((await current(subject.store, id)).restartAskedAt).toBeNull();
		});

		it('accepts a restart when the earlier one cannot be running any more', async () => {
			const { id } = await startFailed({ putStartedAt: QUIET_SINCE });
			expect(await ask(id)).not.toBeNull();
		});

		it('keeps a restart due when the worker that confirms the answer writes its next attempt', async () => {
			const answer = await startFailed();
			await ask(answer.id);
			const looked = await subject.store.answers.update(
				answer,
				LEASE.token,
				{ nextAttemptAt: LATER + 60_000 },
				{ now: LATER, release: false },
			);
			expect(looked).toMatchObject({ restartAskedAt: LATER, nextAttemptAt: LATER });
		});
	});
}
