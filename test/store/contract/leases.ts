import { describe, expect, test } from 'vitest';
import type { Subject } from '../contract.ts';
import { accepted, BOB, LEASE, lease, OTHER_LEASE, submission, T0, valuesOf } from '../support.ts';

export function describeLeases(subject: Subject): void {
	describe('leasing', () => {
		test('hands out what is due, oldest first and no more than asked for', async () => {
			const later = submission({ sessionId: 's1', acceptedAt: T0 + 2 });
			const first = submission({ sessionId: 's2', acceptedAt: T0 });
			const second = submission({ sessionId: 's3', acceptedAt: T0 + 1 });
			const notYet = submission({ sessionId: 's4', acceptedAt: T0 + 11 });
			for (const answer of [later, first, second, notYet]) await accepted(subject.store, answer);
			const taken = await subject.store.answers.takeDue(LEASE, 2, T0 + 10);
			expect(taken.map((answer) => answer.id)).toEqual([first.id, second.id]);
			expect(valuesOf(taken[0])).toEqual(['blue']);
			const rest = await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + 10);
			expect(rest.map((answer) => answer.id)).toEqual([later.id]);
			expect(await subject.store.answers.takeDue(LEASE, 10, T0 + 10)).toEqual([]);
		});

		test('hands out the others when one was written by a version that knows more states', async () => {
			const [newer, known] = [submission({ sessionId: 's1' }), submission({ sessionId: 's2', acceptedAt: T0 + 1 })];
			for (const answer of [newer, known]) await accepted(subject.store, answer);
			await subject.store.db.writeOne((db) =>
				db.updateTable('answers').set({ state: 'pondered' }).where('id', '=', newer.id).execute(),
			);
			const taken = await subject.store.answers.takeDue(LEASE, 10, T0 + 10);
			expect(taken.map((answer) => answer.id)).toEqual([known.id]);
		});

		test('hands out nothing that has nothing left to do', async () => {
			await accepted(subject.store, submission(), 'delivering', 'delivered');
			expect(await subject.store.answers.takeDue(LEASE, 10, T0 + 1e9)).toEqual([]);
			expect(await subject.store.answers.nextDueAt()).toBeNull();
		});

		test('gives out one answer of a session at a time', async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			const two = submission({ question: { ...question, messageIndex: 2 }, acceptedAt: T0 + 1 });
			const elsewhere = submission({ question: { ...question, service: 'https://other.example' }, acceptedAt: T0 + 2 });
			for (const answer of [one, two, elsewhere]) await accepted(subject.store, answer);
			const ids = (answers: readonly { id: string }[]) => answers.map((answer) => answer.id);
			expect(ids(await subject.store.answers.takeDue(LEASE, 10, T0 + 10))).toEqual([one.id, elsewhere.id]);
			expect(await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + 10)).toEqual([]);
			await subject.store.answers.update(one.id, LEASE.owner, { nextAttemptAt: null }, { now: T0 + 10, release: true });
			expect(ids(await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + 10))).toEqual([two.id]);
		});

		test('takes over what a dead replica held, once its lease has lapsed', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id, LEASE, T0);
			expect(await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + LEASE.ms - 1)).toEqual([]);
			const taken = await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + LEASE.ms);
			expect(taken.map((answer) => answer.id)).toEqual([given.id]);
		});

		test('frees a whole session when the lease on one of its answers lapses', async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			const two = submission({ question: { ...question, messageIndex: 2 } });
			await accepted(subject.store, one);
			await lease(subject.store, one.id);
			await subject.store.answers.update(one.id, LEASE.owner, { nextAttemptAt: null }, { now: T0, release: false });
			await accepted(subject.store, two);
			const taken = await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + LEASE.ms);
			expect(taken.map((answer) => answer.id)).toEqual([two.id]);
		});

		test('writes and renews nothing for an owner whose lease another has taken', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			await lease(subject.replica, given.id, OTHER_LEASE, T0 + LEASE.ms);
			const options = { now: T0 + LEASE.ms, release: true };
			expect(await subject.store.answers.update(given.id, LEASE.owner, { state: 'refused' }, options)).toBeNull();
			expect(await subject.store.answers.renew(given.id, LEASE, T0 + LEASE.ms)).toBe(false);
			expect((await subject.store.answers.get(given.id))?.state).toBe('accepted');
			expect(await subject.replica.answers.renew(given.id, OTHER_LEASE, T0 + LEASE.ms)).toBe(true);
		});

		test('does not give a process what it let lapse before its former task has found out', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			const awake = T0 + 60_000;
			expect(await subject.store.answers.takeDue(LEASE, 10, awake)).toEqual([]);
			expect(await subject.store.answers.nextDueAt()).toBe(awake + LEASE.ms);
			expect(await subject.store.answers.renew(given.id, LEASE, awake)).toBe(false);
			const late = await subject.store.answers.update(
				given.id,
				LEASE.owner,
				{ state: 'delivering', putStartedAt: awake },
				{ now: awake, release: false },
			);
			expect(late).toBeNull();
			expect(await subject.store.answers.takeDue(LEASE, 10, awake)).toMatchObject([
				{ id: given.id, state: 'accepted' },
			]);
			expect(await subject.store.answers.renew(given.id, LEASE, awake)).toBe(true);
		});

		test('gives a process what it let lapse when its former task never finds out', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			const awake = T0 + 60_000;
			await subject.store.answers.takeDue(LEASE, 10, awake);
			expect(await subject.store.answers.takeDue(LEASE, 10, awake + LEASE.ms)).toHaveLength(1);
		});

		test('prolongs a lease', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			expect(await subject.store.answers.renew(given.id, LEASE, T0 + 15_000)).toBe(true);
			expect(await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + LEASE.ms)).toEqual([]);
			expect(await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0 + 15_000 + LEASE.ms)).toHaveLength(1);
		});

		test('gives back all that one owner holds and nothing of others', async () => {
			for (const sessionId of ['s1', 's2']) await accepted(subject.store, submission({ sessionId }));
			await subject.store.answers.takeDue(LEASE, 10, T0);
			await accepted(subject.store, submission({ sessionId: 's3' }));
			await subject.replica.answers.takeDue(OTHER_LEASE, 10, T0);
			await subject.store.answers.releaseAll(LEASE.owner);
			const taken = await subject.store.answers.takeDue(LEASE, 10, T0);
			expect(taken.map((answer) => answer.question.sessionId).sort()).toEqual(['s1', 's2']);
		});

		test('knows when it is worth looking again', async () => {
			expect(await subject.store.answers.nextDueAt()).toBeNull();
			const first = submission({ acceptedAt: T0 + 5 });
			await accepted(subject.store, first);
			await accepted(subject.store, submission({ sessionId: 's2', acceptedAt: T0 + 900_000 }));
			expect(await subject.store.answers.nextDueAt()).toBe(T0 + 5);
			await lease(subject.store, first.id, LEASE, T0 + 5);
			// Its own lease stands in the way: then it is to be had.
			expect(await subject.store.answers.nextDueAt()).toBe(T0 + 5 + LEASE.ms);
			const options = { now: T0 + 6, release: true };
			await subject.store.answers.update(first.id, LEASE.owner, { nextAttemptAt: T0 + 950_000 }, options);
			expect(await subject.store.answers.nextDueAt()).toBe(T0 + 900_000);
		});

		test('does not promise an answer whose session is leased before that lease ends', async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			await accepted(subject.store, one);
			await lease(subject.store, one.id);
			await accepted(subject.store, submission({ person: BOB, question: { ...question, messageIndex: 2 } }));
			expect(await subject.store.answers.nextDueAt()).toBe(T0 + LEASE.ms);
		});
	});
}
