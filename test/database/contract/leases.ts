import { describe, expect, it } from 'vitest';
import type { Subject } from '../contract.ts';
import {
	accepted,
	BOB,
	LEASE,
	lease,
	leased,
	OTHER_LEASE,
	patched,
	SERVICE,
	submission,
	T0,
	valuesOf,
} from '../support.ts';

export function describeLeases(subject: Subject): void {
	const answers = () => subject.store.answers;
	const replica = () => subject.replica.answers;
	describe('leases of answers', () => {
		it('leases due answers, oldest first and up to the limit', async () => {
			const later = submission({ sessionId: 's1', acceptedAt: T0 + 2 });
			const first = submission({ sessionId: 's2', acceptedAt: T0 });
			const second = submission({ sessionId: 's3', acceptedAt: T0 + 1 });
			const notYet = submission({ sessionId: 's4', acceptedAt: T0 + 11 });
			for (const answer of [later, first, second, notYet]) await accepted(subject.store, answer);
			const taken = await answers().takeDue(SERVICE, LEASE, 2, T0 + 10);
			expect(taken.map((answer) => answer.id)).toEqual([first.id, second.id]);
			expect(valuesOf(taken[0])).toEqual(['blue']);
			const secondBatch = await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10);
			expect(secondBatch.map((answer) => answer.id)).toEqual([later.id]);
			expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 10)).toEqual([]);
		});

		it('leases no answer without a next attempt', async () => {
			await accepted(subject.store, submission(), 'delivering', 'delivered');
			expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 1e9)).toEqual([]);
			expect(await answers().nextDueAt(SERVICE)).toBeNull();
		});

		it('leases one answer of a session at a time', async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			const two = submission({ question: { ...question, messageIndex: 2 }, acceptedAt: T0 + 1 });
			const elsewhere = await accepted(subject.store, submission({ sessionId: 's2', acceptedAt: T0 + 2 }));
			for (const answer of [one, two]) await accepted(subject.store, answer);
			const ids = (answers: readonly { id: string }[]) => answers.map((answer) => answer.id);
			expect(ids(await answers().takeDue(SERVICE, LEASE, 10, T0 + 10))).toEqual([one.id, elsewhere.id]);
			expect(await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10)).toEqual([]);
			await patched(subject.store, one.id, { nextAttemptAt: null }, { now: T0 + 10, release: true });
			expect(ids(await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10))).toEqual([two.id]);
		});

		it('takes over the answers of a dead replica after their leases lapse, which it had renewed', async () => {
			const given = await leased(subject.store, submission());
			const taken = (after: number) => replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + after);
			expect(await taken(LEASE.ms - 1)).toEqual([]);
			expect(await answers().renew(given.id, LEASE, T0 + 15_000)).toBe(true);
			expect(await taken(15_000 + LEASE.ms - 1)).toEqual([]);
			expect(await taken(15_000 + LEASE.ms)).toMatchObject([{ id: given.id }]);
		});

		it("makes a session's answers available when the lease of one of them lapses", async () => {
			const question = submission().question;
			const one = submission({ question: { ...question, messageIndex: 1 } });
			const two = submission({ question: { ...question, messageIndex: 2 } });
			await leased(subject.store, one);
			await patched(subject.store, one.id, { nextAttemptAt: null });
			await accepted(subject.store, two);
			const taken = await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms);
			expect(taken.map((answer) => answer.id)).toEqual([two.id]);
		});

		it('refuses writes and renewals of an owner whose lease another has taken', async () => {
			const given = await leased(subject.store, submission());
			await lease(subject.replica, given.id, OTHER_LEASE, T0 + LEASE.ms);
			const options = { now: T0 + LEASE.ms, release: true };
			expect(await patched(subject.store, given.id, { state: 'refused' }, options)).toBeNull();
			expect(await answers().renew(given.id, LEASE, T0 + LEASE.ms)).toBe(false);
			expect((await answers().get(given.id))?.state).toBe('accepted');
			expect(await replica().renew(given.id, OTHER_LEASE, T0 + LEASE.ms)).toBe(true);
		});

		it('refuses writes of a task in the same process that paused past its lease', async () => {
			const held = await leased(subject.store, submission());
			const awake = T0 + 60_000;
			expect(await answers().takeDue(SERVICE, { token: 'next-take', ms: 20_000 }, 10, awake)).toHaveLength(1);
			expect(await answers().renew(held.id, LEASE, awake)).toBe(false);
			const options = { now: awake, release: false };
			const begin = { state: 'delivering', putStartedAt: awake } as const;
			expect(await answers().update(held, LEASE.token, begin, options)).toBeNull();
			expect(await answers().update(held, 'next-take', begin, options)).toMatchObject(begin);
		});

		it('leases no answers of another service and counts them', async () => {
			const elsewhere = { ...submission().question, service: 'https://other.example' };
			await accepted(subject.store, submission({ question: elsewhere }));
			expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 10)).toEqual([]);
			expect(await answers().nextDueAt(SERVICE)).toBeNull();
			expect(await answers().unsentElsewhere(SERVICE)).toBe(1);
			expect(await answers().takeDue(elsewhere.service, LEASE, 10, T0 + 10)).toHaveLength(1);
		});

		it('postpones an answer of a newer version, which blocks neither its session nor others nor the history', async () => {
			const question = submission().question;
			const newer = submission({ question: { ...question, messageIndex: 1 } });
			const readable = submission({ question: { ...question, messageIndex: 2 }, acceptedAt: T0 + 1 });
			const elsewhere = submission({ sessionId: 's2', acceptedAt: T0 + 2 });
			for (const answer of [newer, readable, elsewhere]) await accepted(subject.store, answer);
			await subject.store.db.writeOne((db) =>
				db.updateTable('answers').set({ state: 'pondered' }).where('id', '=', newer.id).execute(),
			);
			for (const { id } of [elsewhere, readable]) {
				expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 10)).toMatchObject([{ id }]);
			}
			const history = answers().history({ service: SERVICE, sessionId: 's1', teamId: 'T1' }, { offset: 0, limit: 10 });
			expect((await history).answers).toMatchObject([{ id: readable.id }]);
		});

		it('releases only the given leases', async () => {
			for (const sessionId of ['s1', 's2']) await accepted(subject.store, submission({ sessionId }));
			const held = await answers().takeDue(SERVICE, LEASE, 10, T0);
			await accepted(subject.store, submission({ sessionId: 's3' }));
			await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0);
			await answers().release(held.map(({ id }) => ({ id, token: LEASE.token })));
			const taken = await answers().takeDue(SERVICE, LEASE, 10, T0);
			expect(taken.map((answer) => answer.question.sessionId).sort()).toEqual(['s1', 's2']);
		});

		it('returns the time of the next due answer', async () => {
			expect(await answers().nextDueAt(SERVICE)).toBeNull();
			const first = await accepted(subject.store, submission({ acceptedAt: T0 + 5 }));
			await accepted(subject.store, submission({ sessionId: 's2', acceptedAt: T0 + 600_000 }));
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + 5);
			await lease(subject.store, first.id, LEASE, T0 + 5);
			// The answer itself is leased: it can be taken when that lease lapses.
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + 5 + LEASE.ms);
			const options = { now: T0 + 6, release: true };
			await patched(subject.store, first.id, { nextAttemptAt: T0 + 650_000 }, options);
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + 600_000);
		});

		it("returns no due time before the lease of the answer's session ends", async () => {
			const question = submission().question;
			await leased(subject.store, submission({ question: { ...question, messageIndex: 1 } }));
			await accepted(subject.store, submission({ person: BOB, question: { ...question, messageIndex: 2 } }));
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + LEASE.ms);
		});
	});
}
