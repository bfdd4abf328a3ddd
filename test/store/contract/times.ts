import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createSharedState } from '../../../src/store/shared-states.ts';
import { repairTimes } from '../../../src/store/store-clock.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, LEASE, OTHER_LEASE, SERVICE, storeActs, submission, T0 } from '../support.ts';
import { watchActs } from './watch-acts.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const ahead = T0 + 2 * HOUR;

/** Stored times of a clock that was ahead. */
export function describeTimes(subject: Subject): void {
	const { accepted, formShown, setRows } = storeActs(subject);
	const { added, ended, next } = watchActs(subject);
	const { question } = submission();
	const repair = () => repairTimes(subject.store.db, T0);

	describe('times', () => {
		it('keep those that are not further ahead than legal', async () => {
			const press = await accepted(submission({ press: { undoUntil: T0 + 10_000 } }));
			await formShown({ question, until: T0 + 5 * MINUTE }, T0);
			await added();
			await ended((await next()).post, { kind: 'retry', at: T0 + 5 * MINUTE, code: 'timeout', mayBeThere: false });
			const before = await subject.store.answers.get(press.id);
			await repair();
			expect(await subject.store.answers.get(press.id)).toEqual(before);
			expect(await subject.store.views.claims(question, T0)).toHaveLength(1);
			expect(await subject.store.posts.nextDueAt()).toBe(T0 + 5 * MINUTE);
		});

		it('let answers, reads and posts be taken, and leases end after a minute', async () => {
			await accepted(submission({ acceptedAt: ahead }));
			await added({ createdAt: ahead });
			const taken = async (lease: typeof LEASE, now: number) => [
				await subject.store.answers.takeDue(SERVICE, lease, 1, now),
				await subject.store.sessions.takeDue(SERVICE, lease, 1, now),
				await subject.store.posts.takeDue(lease, 1, now),
			];
			expect((await taken(LEASE, T0)).flat()).toEqual([]);
			await repair();
			expect((await taken(LEASE, T0)).flat()).toHaveLength(3);
		});

		it('let a lease of a clock that was ahead end after a minute', async () => {
			await accepted(submission());
			await subject.store.answers.takeDue(SERVICE, LEASE, 1, ahead);
			await repair();
			const take = (now: number) => subject.replica.answers.takeDue(SERVICE, OTHER_LEASE, 1, now);
			expect(await take(T0 + MINUTE - 1)).toEqual([]);
			expect(await take(T0 + MINUTE)).toHaveLength(1);
		});

		it('give people the longest time for Undo, and end a claim', async () => {
			const press = submission({ acceptedAt: ahead, press: { undoUntil: ahead + 10_000 } });
			await accepted(press);
			await formShown({ question, until: ahead + 5 * MINUTE }, ahead);
			await repair();
			const repaired = { acceptedAt: T0, press: { undoUntil: T0 + MINUTE } };
			expect(await subject.store.answers.get(press.id)).toMatchObject(repaired);
			expect(await subject.store.views.claims(question, T0)).toEqual([]);
		});

		it('have a post that may exist searched for from a day before', async () => {
			await added();
			await subject.store.posts.beginAttempt((await next()).post.id, LEASE.token, attemptAt(ahead));
			await repair();
			const [again] = await subject.replica.posts.takeDue(OTHER_LEASE, 1, T0 + MINUTE);
			expect(again?.post.sendingSince).toBe(T0 - 24 * HOUR);
		});

		it('forget a state that replicas share', async () => {
			const stateAt = async (now: number) => {
				const clock = { ...systemClock, now: () => now };
				const cell = createSharedState<number>({ ...subject.store, clock }, SERVICE);
				const before = await cell.update((state) => ({ state: state ?? now, result: state }));
				await repair();
				return before;
			};
			expect(await stateAt(T0)).toBeNull();
			expect(await stateAt(ahead)).toBe(T0);
			await setRows('shared_states', { changedAt: ahead });
			await repair();
			expect(await stateAt(T0)).toBeNull();
		});
	});
}
