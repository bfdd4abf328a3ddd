import { describe, expect, it } from 'vitest';
import type { Subject } from '../contract.ts';
import {
	ANN,
	BOB,
	CONNECTIONS,
	inTurns,
	item,
	LEASE,
	OTHER_LEASE,
	SERVICE,
	storeActs,
	submission,
	T0,
	valuesOf,
} from '../support.ts';

/** Races between two replicas, tried `rounds` times each. */
export function describeManyRaces(subject: Subject, rounds: number): void {
	const { current } = storeActs(subject);
	describe('concurrent calls', () => {
		it(`accepts exactly one of two simultaneous answers, ${rounds} times, and tells the other author who was first`, async () => {
			const sessions = Array.from({ length: rounds }, (_, index) => `race-${index}`);
			const pairs = await inTurns(sessions, CONNECTIONS, (sessionId) =>
				Promise.all([
					subject.store.answers.accept(submission({ sessionId, person: ANN, items: [item('blue')] })),
					subject.replica.answers.accept(submission({ sessionId, person: BOB, items: [item('red')] })),
				]),
			);
			for (const pair of pairs) {
				expect(pair.map((result) => result.kind).sort()).toEqual(['accepted', 'taken']);
				const winner = pair.find((result) => result.kind === 'accepted')?.answer;
				const loser = pair.find((result) => result.kind === 'taken');
				expect(loser).toMatchObject({ by: { id: winner?.id }, answer: { state: 'conflicted' } });
				expect(loser?.answer.content).toMatchObject({ other: { person: winner?.person, values: valuesOf(winner) } });
			}
			const { byState } = await subject.store.answers.stats();
			expect(byState).toMatchObject({ accepted: rounds, conflicted: rounds });
		});
	});

	describe('a one-press answer', () => {
		it(`accepts or makes a draft of what comes while the first one is taken back, ${rounds} times`, async () => {
			const sessions = Array.from({ length: rounds }, (_, index) => `again-${index}`);
			const states = await inTurns(sessions, CONNECTIONS, async (sessionId) => {
				const first = submission({ sessionId, press: { undoUntil: T0 + 10_000 }, viewId: '' });
				await subject.store.answers.accept(first);
				const second = submission({ sessionId, person: BOB, items: [item('red')] });
				await Promise.all([
					subject.store.answers.withdraw(first.id, ANN, T0 + 1, { onlyUnsent: true }),
					subject.replica.answers.accept(second),
				]);
				const [one, other] = [await current(first.id), await current(second.id)];
				const draft = await subject.store.drafts.newest(BOB, second.question);
				return [one.state, `${other.state} ${other.lastError} ${draft?.values[0]}`];
			});
			for (const [first, second] of states) {
				expect(first).toBe('withdrawn');
				expect(['accepted null undefined', 'conflicted first_failed red']).toContain(second);
			}
		});
	});
}

export function describeRaces(subject: Subject, rounds: number): void {
	const { accepted } = storeActs(subject);
	describe('concurrent calls', () => {
		it('accepts a submission once when several copies arrive', async () => {
			const given = submission();
			const results = await Promise.all(
				Array.from({ length: 20 }, (_, index) =>
					(index % 2 === 0 ? subject.store : subject.replica).answers.accept({ ...given, id: `copy-${index}` }),
				),
			);
			expect(results.filter((result) => result.kind === 'accepted')).toHaveLength(1);
			expect(results.filter((result) => result.kind === 'repeated')).toHaveLength(19);
			expect(new Set(results.map((result) => result.answer.id)).size).toBe(1);
		});

		it('leases every answer once when two replicas take as fast as they can', async () => {
			const count = 30;
			for (let index = 0; index < count; index++) {
				await accepted(submission({ sessionId: `s${index % 10}`, messageIndex: index }));
			}
			const held = new Map<string, string>();
			let seen = 0;
			const work = async (replica: Subject['store'], lease: typeof LEASE) => {
				while (seen < count) {
					for (const answer of await replica.answers.takeDue(SERVICE, lease, 3, T0)) {
						const { sessionId } = answer.question;
						expect(held.get(sessionId)).toBeUndefined();
						held.set(sessionId, lease.token);
						await replica.answers.renew(answer.id, lease, T0);
						seen++;
						held.delete(sessionId);
						const updated = await replica.answers.update(answer, lease.token, { nextAttemptAt: null }, { now: T0 });
						expect(updated).not.toBeNull();
						await replica.answers.release([{ id: answer.id, token: lease.token }]);
					}
				}
			};
			await Promise.all([work(subject.store, LEASE), work(subject.replica, OTHER_LEASE)]);
			expect(seen).toBe(count);
		});

		it(`leases one due answer to one of eight simultaneous takers, ${rounds} times`, async () => {
			const given = submission();
			await accepted(given);
			for (let round = 0; round < rounds; round++) {
				const taken = await Promise.all(
					Array.from({ length: 8 }, async (_, index) => {
						const replica = index % 2 === 0 ? subject.store : subject.replica;
						const token = `token-${index}`;
						const [answer] = await replica.answers.takeDue(SERVICE, { token, ms: 20_000 }, 1, T0);
						return answer === undefined ? [] : [{ id: answer.id, token }];
					}),
				);
				expect(taken.flat()).toHaveLength(1);
				await subject.store.answers.release(taken.flat());
			}
		});

		it('refuses an edit after the PUT has begun', async () => {
			for (let round = 0; round < rounds; round++) {
				const given = submission({ sessionId: `edit-${round}` });
				await accepted(given);
				const [taken] = await subject.store.answers.takeDue(SERVICE, LEASE, 1, T0);
				if (taken === undefined) throw new Error('nothing was due');
				const begin = { state: 'delivering', putStartedAt: T0, nextAttemptAt: null } as const;
				const [begun, edit] = await Promise.all([
					subject.store.answers.update(taken, LEASE.token, begin, { now: T0 }),
					subject.replica.answers.accept({ ...given, items: [item('red')] }),
				]);
				expect(valuesOf(begun)).toEqual(edit.kind === 'repeated' ? ['red'] : ['blue']);
				expect(valuesOf(await subject.store.answers.get(given.id))).toEqual(valuesOf(begun));
			}
		});

		it('makes either a retry or a new answer live, never both', async () => {
			for (let round = 0; round < rounds; round++) {
				const waiting = await accepted(submission({ sessionId: `retry-${round}` }), 'waiting');
				const [retried, fresh] = await Promise.all([
					subject.store.answers.retry(waiting.id, ANN, T0 + 5, T0 + 99),
					subject.replica.answers.accept(submission({ sessionId: `retry-${round}`, person: BOB, acceptedAt: T0 + 5 })),
				]);
				const live = [retried?.kind === 'queued', fresh.kind === 'accepted'];
				expect(live.filter(Boolean)).toHaveLength(1);
			}
		});
	});
}
