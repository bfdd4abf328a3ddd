import { describe, expect, it } from 'vitest';
import type { Subject } from '../contract.ts';
import { accepted, BOB, current, LEASE, lease, OTHER_LEASE, SERVICE, submission, T0, valuesOf } from '../support.ts';

export function describeLeases(subject: Subject): void {
	describe('leases of answers', () => {
		it('leases due answers, oldest first and up to the limit', async () => {
			const later = submission({ sessionId: 's1', acceptedAt: T0 + 2 });
			const first = submission({ sessionId: 's2', acceptedAt: T0 });
			const second = submission({ sessionId: 's3', acceptedAt: T0 + 1 });
			const notYet = submission({ sessionId: 's4', acceptedAt: T0 + 11 });
			for (const answer of [later, first, second, notYet]) await accepted(subject.store, answer);
			const taken = await subject.store.answers.takeDue(SERVICE, LEASE, 2, T0 + 10);
			expect(taken.map((answer) => answer.id)).toEqual([first.id, second.id]);
			expect(valuesOf(taken[0])).toEqual(['blue']);
			const secondBatch = await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10);
			expect(secondBatch.map((answer) => answer.id)).toEqual([later.id]);
			expect(await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0 + 10)).toEqual([]);
		});

		it('leases other answers when one has a state of a newer version', async () => {
			const [newer, known] = [submission({ sessionId: 's1' }), submission({ sessionId: 's2', acceptedAt: T0 + 1 })];
			for (const answer of [newer, known]) await accepted(subject.store, answer);
			await subject.store.db.writeOne((db) =>
				db.updateTable('answers').set({ state: 'pondered' }).where('id', '=', newer.id).execute(),
			);
			const taken = await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0 + 10);
			expect(taken.map((answer) => answer.id)).toEqual([known.id]);
		});

		it('leases no answer without a next attempt', async () => {
			await accepted(subject.store, submission(), 'delivering', 'delivered');
			expect(await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0 + 1e9)).toEqual([]);
			expect(await subject.store.answers.nextDueAt(SERVICE)).toBeNull();
		});

		it('leases one answer of a session at a time', async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			const two = submission({ question: { ...question, messageIndex: 2 }, acceptedAt: T0 + 1 });
			const elsewhere = submission({ sessionId: 's2', acceptedAt: T0 + 2 });
			await accepted(subject.store, elsewhere);
			for (const answer of [one, two]) await accepted(subject.store, answer);
			const ids = (answers: readonly { id: string }[]) => answers.map((answer) => answer.id);
			expect(ids(await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0 + 10))).toEqual([one.id, elsewhere.id]);
			expect(await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10)).toEqual([]);
			await subject.store.answers.update(
				await current(subject.store, one.id),
				LEASE.token,
				{ nextAttemptAt: null },
				{ now: T0 + 10, release: true },
			);
			expect(ids(await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10))).toEqual([two.id]);
		});

		it('takes over the answers of a dead replica after their leases lapse', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id, LEASE, T0);
			expect(await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms - 1)).toEqual([]);
			const taken = await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms);
			expect(taken.map((answer) => answer.id)).toEqual([given.id]);
		});

		it("makes a session's answers available when the lease of one of them lapses", async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			const two = submission({ question: { ...question, messageIndex: 2 } });
			await accepted(subject.store, one);
			await lease(subject.store, one.id);
			await subject.store.answers.update(
				await current(subject.store, one.id),
				LEASE.token,
				{ nextAttemptAt: null },
				{ now: T0, release: false },
			);
			await accepted(subject.store, two);
			const taken = await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms);
			expect(taken.map((answer) => answer.id)).toEqual([two.id]);
		});

		it('refuses writes and renewals of an owner whose lease another has taken', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			await lease(subject.replica, given.id, OTHER_LEASE, T0 + LEASE.ms);
			const options = { now: T0 + LEASE.ms, release: true };
			expect(
				await subject.store.answers.update(
					await current(subject.store, given.id),
					LEASE.token,
					{ state: 'refused' },
					options,
				),
			).toBeNull();
			expect(await subject.store.answers.renew(given.id, LEASE, T0 + LEASE.ms)).toBe(false);
			expect((await subject.store.answers.get(given.id))?.state).toBe('accepted');
			expect(await subject.replica.answers.renew(given.id, OTHER_LEASE, T0 + LEASE.ms)).toBe(true);
		});

		it('refuses writes of a task in the same process that paused past its lease', async () => {
			const given = submission();
			await accepted(subject.store, given);
			const held = await lease(subject.store, given.id);
			const awake = T0 + 60_000;
			expect(await subject.store.answers.takeDue(SERVICE, { token: 'next-take', ms: 20_000 }, 10, awake)).toHaveLength(
				1,
			);
			expect(await subject.store.answers.renew(given.id, LEASE, awake)).toBe(false);
			const options = { now: awake, release: false };
			const begin = { state: 'delivering', putStartedAt: awake } as const;
			expect(await subject.store.answers.update(held, LEASE.token, begin, options)).toBeNull();
			expect(await subject.store.answers.update(held, 'next-take', begin, options)).toMatchObject(begin);
		});

		it('leases no answers of another service and counts them', async () => {
			const elsewhere = { ...submission().question, service: 'https://other.example' };
			await accepted(subject.store, submission({ question: elsewhere }));
			expect(await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0 + 10)).toEqual([]);
			expect(await subject.store.answers.nextDueAt(SERVICE)).toBeNull();
			expect(await subject.store.answers.unsentElsewhere(SERVICE)).toBe(1);
			expect(await subject.store.answers.takeDue(elsewhere.service, LEASE, 10, T0 + 10)).toHaveLength(1);
		});

		it('postpones damaged answers, so that they block neither their session nor the queue', async () => {
			const question = submission().question;
			const newer = submission({ question: { ...question, messageIndex: 1 } });
			const readable = submission({ question: { ...question, messageIndex: 2 }, acceptedAt: T0 + 1 });
			for (const answer of [newer, readable]) await accepted(subject.store, answer);
			await subject.store.db.writeOne((db) =>
				db.updateTable('answers').set({ state: 'pondered' }).where('id', '=', newer.id).execute(),
			);
			expect(await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0 + 10)).toEqual([]);
			const taken = await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0 + 10);
			expect(taken.map((answer) => answer.id)).toEqual([readable.id]);
			const page = { offset: 0, limit: 10 };
			const { answers } = await subject.store.answers.history(
				{ service: SERVICE, sessionId: 's1', teamId: 'T1' },
				page,
			);
			expect(answers.map((answer) => answer.id)).toEqual([readable.id]);
		});

		it('renews a lease', async () => {
			const given = submission();
			await accepted(subject.store, given);
			await lease(subject.store, given.id);
			expect(await subject.store.answers.renew(given.id, LEASE, T0 + 15_000)).toBe(true);
			expect(await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms)).toEqual([]);
			expect(await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0 + 15_000 + LEASE.ms)).toHaveLength(1);
		});

		it('releases only the given leases', async () => {
			for (const sessionId of ['s1', 's2']) await accepted(subject.store, submission({ sessionId }));
			const held = await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0);
			await accepted(subject.store, submission({ sessionId: 's3' }));
			await subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0);
			await subject.store.answers.release(held.map(({ id }) => ({ id, token: LEASE.token })));
			const taken = await subject.store.answers.takeDue(SERVICE, LEASE, 10, T0);
			expect(taken.map((answer) => answer.question.sessionId).sort()).toEqual(['s1', 's2']);
		});

		it('returns the time of the next due answer', async () => {
			expect(await subject.store.answers.nextDueAt(SERVICE)).toBeNull();
			const first = submission({ acceptedAt: T0 + 5 });
			await accepted(subject.store, first);
			await accepted(subject.store, submission({ sessionId: 's2', acceptedAt: T0 + 600_000 }));
			expect(await subject.store.answers.nextDueAt(SERVICE)).toBe(T0 + 5);
			await lease(subject.store, first.id, LEASE, T0 + 5);
			// The answer itself is leased: it can be taken when that lease lapses.
			expect(await subject.store.answers.nextDueAt(SERVICE)).toBe(T0 + 5 + LEASE.ms);
			const options = { now: T0 + 6, release: true };
			await subject.store.answers.update(
				await current(subject.store, first.id),
				LEASE.token,
				{ nextAttemptAt: T0 + 650_000 },
				options,
			);
			expect(await subject.store.answers.nextDueAt(SERVICE)).toBe(T0 + 600_000);
		});

		it("returns no due time before the lease of the answer's session ends", async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			await accepted(subject.store, one);
			await lease(subject.store, one.id);
			await accepted(subject.store, submission({ person: BOB, question: { ...question, messageIndex: 2 } }));
			expect(await subject.store.answers.nextDueAt(SERVICE)).toBe(T0 + LEASE.ms);
		});
	});
}
