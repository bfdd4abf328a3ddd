import { describe, expect, it } from 'vitest';
import type { Subject } from '../contract.ts';
import { BOB, item, LEASE, OTHER_LEASE, SERVICE, storeActs, submission, T0, valuesOf } from '../support.ts';

export function describeLeases(subject: Subject): void {
	const { accepted, lease, leased, patched, setRows } = storeActs(subject);
	const answers = () => subject.store.answers;
	const replica = () => subject.replica.answers;
	describe('leases of answers', () => {
		it('leases due answers, oldest first and up to the limit', async () => {
			const later = submission({ sessionId: 's1', acceptedAt: T0 + 2 });
			const first = submission({ sessionId: 's2', acceptedAt: T0 });
			const second = submission({ sessionId: 's3', acceptedAt: T0 + 1 });
			const notYet = submission({ sessionId: 's4', acceptedAt: T0 + 11 });
			for (const answer of [later, first, second, notYet]) await accepted(answer);
			const taken = await answers().takeDue(SERVICE, LEASE, 2, T0 + 10);
			expect(taken.map((answer) => answer.id)).toEqual([first.id, second.id]);
			expect(valuesOf(taken[0])).toEqual(['blue']);
			const secondBatch = await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10);
			expect(secondBatch.map((answer) => answer.id)).toEqual([later.id]);
			expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 10)).toEqual([]);
		});

		it('leases no answer without a next attempt', async () => {
			await accepted(submission(), 'delivering', 'delivered');
			expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 1e9)).toEqual([]);
			expect(await answers().nextDueAt(SERVICE)).toBeNull();
		});

		it('leases one answer of a session at a time', async () => {
			const one = submission({ messageIndex: 1 });
			const two = submission({ messageIndex: 2, acceptedAt: T0 + 1 });
			const elsewhere = await accepted(submission({ sessionId: 's2', acceptedAt: T0 + 2 }));
			for (const answer of [one, two]) await accepted(answer);
			const ids = (answers: readonly { id: string }[]) => answers.map((answer) => answer.id);
			expect(ids(await answers().takeDue(SERVICE, LEASE, 10, T0 + 10))).toEqual([one.id, elsewhere.id]);
			expect(await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10)).toEqual([]);
			await patched(one.id, { nextAttemptAt: null }, { now: T0 + 10, release: true });
			expect(ids(await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + 10))).toEqual([two.id]);
		});

		it('takes over the answers of a dead replica after their leases lapse, which it had renewed', async () => {
			const given = await leased(submission());
			const taken = (after: number) => replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + after);
			expect(await taken(LEASE.ms - 1)).toEqual([]);
			expect(await answers().renew(given.id, LEASE, T0 + 15_000)).toBe(true);
			expect(await taken(15_000 + LEASE.ms - 1)).toEqual([]);
			expect(await taken(15_000 + LEASE.ms)).toMatchObject([{ id: given.id }]);
		});

		it("makes a session's answers available when the lease of one of them lapses", async () => {
			const one = submission({ messageIndex: 1 });
			const two = submission({ messageIndex: 2 });
			await leased(one);
			await patched(one.id, { nextAttemptAt: null });
			await accepted(two);
			const taken = await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0 + LEASE.ms);
			expect(taken.map((answer) => answer.id)).toEqual([two.id]);
		});

		it('refuses writes of a task in the same process that paused past its lease', async () => {
			const held = await leased(submission());
			const awake = T0 + 60_000;
			expect(await answers().takeDue(SERVICE, { token: 'next-take', ms: 20_000 }, 10, awake)).toHaveLength(1);
			expect(await answers().renew(held.id, LEASE, awake)).toBe(false);
			const options = { now: awake };
			const begin = { state: 'delivering', putStartedAt: awake } as const;
			expect(await answers().update(held, LEASE.token, begin, options)).toBeNull();
			expect(await answers().update(held, 'next-take', begin, options)).toMatchObject(begin);
		});

		it('leases an answer of another service that nobody has taken for a minute, after its own', async () => {
			const minute = 60_000;
			const other = await accepted(submission({ service: 'https://other.example' }));
			const dueAt = (await answers().nextDueAt(other.question.service)) ?? 0;
			expect(await answers().nextDueAt(SERVICE)).toBe(dueAt + minute);
			const own = await accepted(submission());
			const take = async (now: number) =>
				(await answers().takeDue(SERVICE, { ...LEASE, token: String(now) }, 10, now)).map(({ id }) => id);
			expect(await take(dueAt + minute - 1)).toEqual([own.id]);
			expect(await take(dueAt + minute - 1)).toEqual([]);
			expect(await take(dueAt + minute)).toEqual([other.id]);
			expect(await take(dueAt + minute + 1)).toEqual([]);
		});

		it('postpones an answer of a newer version, which blocks neither its session nor others nor the history', async () => {
			const newer = submission({ messageIndex: 1 });
			const readable = submission({ messageIndex: 2, acceptedAt: T0 + 1 });
			const elsewhere = submission({ sessionId: 's2', acceptedAt: T0 + 2 });
			for (const answer of [newer, readable, elsewhere]) await accepted(answer);
			await setRows('answers', { state: 'pondered' }, { id: newer.id });
			for (const { id } of [elsewhere, readable]) {
				expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 10)).toMatchObject([{ id }]);
			}
			const history = answers().history({ service: SERVICE, sessionId: 's1', teamId: 'T1' }, { offset: 0, limit: 10 });
			expect((await history).answers).toMatchObject([{ id: readable.id }]);
		});

		it('releases only the given leases', async () => {
			for (const sessionId of ['s1', 's2']) await accepted(submission({ sessionId }));
			const held = await answers().takeDue(SERVICE, LEASE, 10, T0);
			await accepted(submission({ sessionId: 's3' }));
			await replica().takeDue(SERVICE, OTHER_LEASE, 10, T0);
			await answers().release(held.map(({ id }) => ({ id, token: LEASE.token })));
			const taken = await answers().takeDue(SERVICE, LEASE, 10, T0);
			expect(taken.map((answer) => answer.question.sessionId).sort()).toEqual(['s1', 's2']);
		});

		it('returns the time of the next due answer', async () => {
			expect(await answers().nextDueAt(SERVICE)).toBeNull();
			const first = await accepted(submission({ acceptedAt: T0 + 5 }));
			await accepted(submission({ sessionId: 's2', acceptedAt: T0 + 600_000 }));
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + 5);
			await lease(first.id, LEASE, T0 + 5);
			// The answer itself is leased: it can be taken when that lease lapses.
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + 5 + LEASE.ms);
			const options = { now: T0 + 6, release: true };
			await patched(first.id, { nextAttemptAt: T0 + 650_000 }, options);
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + 600_000);
		});

		it("returns no due time before the lease of the answer's session ends", async () => {
			await leased(submission({ messageIndex: 1 }));
			await accepted(submission({ person: BOB, messageIndex: 2 }));
			expect(await answers().nextDueAt(SERVICE)).toBe(T0 + LEASE.ms);
		});
	});
}

const SECRET = item('hunter2', { title: 'Password', secret: true });

export function describeUpdates(subject: Subject): void {
	const { accepted, current, lease, leased, moved, patched, rowsOf } = storeActs(subject);
	const answers = () => subject.store.answers;
	describe('update', () => {
		it('writes every field of a patch and no others', async () => {
			const given = submission();
			const before = await leased(given);
			const other = { person: null, values: ['red', null], at: null, answerId: null, same: false };
			const written = {
				state: 'delivered',
				attempts: 3,
				nextAttemptAt: T0 + 7,
				putStartedAt: T0 + 3,
				deliveredAt: T0 + 4,
				agentOutcome: 'unseen',
				lastError: 'service_unavailable',
				notBefore: T0 + 8,
				missingCount: 2,
				startFailed: true,
			} as const;
			const after = await patched(given.id, { ...written, other }, { now: T0 + 5 });
			expect(after).toEqual({
				...before,
				...written,
				content: { kind: 'readable', items: given.items, other, sessionName: 'Chairs' },
				endedAt: T0 + 5,
				timeline: [
					{ state: 'accepted', at: T0 },
					{ state: 'delivered', at: T0 + 5, arrival: 1 },
				],
			});
			expect(await subject.replica.answers.get(given.id)).toEqual(after);
			const none = { nextAttemptAt: null, putStartedAt: null, lastError: null };
			const cleared = await patched(given.id, none, { now: T0 + 6 });
			expect(cleared).toEqual({ ...after, ...none });
		});

		it('keeps the lease until it is released', async () => {
			const given = await leased(submission());
			const update = (release: boolean) => patched(given.id, {}, { release });
			expect(await update(false)).not.toBeNull();
			expect(await update(true)).not.toBeNull();
			expect(await update(false)).toBeNull();
		});

		it('refuses a patch for an unexpected state', async () => {
			const seen = await leased(submission());
			const options = { now: T0 + 1 };
			const delivered = { state: 'delivered', deliveredAt: T0 + 1 } as const;
			expect(await answers().update(seen, LEASE.token, delivered, options)).not.toBeNull();
			// After a COMMIT whose response was lost, the caller still has the former state.
			const again = await answers().update(seen, LEASE.token, { state: 'accepted' }, options);
			expect(again).toBeNull();
			expect(await current(seen.id)).toMatchObject(delivered);
		});

		it('adds each state to the timeline with its time, and repeated attempts only once', async () => {
			const given = await accepted(submission());
			const flips = Array.from({ length: 10 }, () => ['delivering', 'accepted'] as const).flat();
			const answer = await moved(given.id, ...flips, 'delivering', 'delivering', 'delivered', 'resumed');
			expect(answer.timeline).toEqual([
				{ state: 'accepted', at: T0 },
				{ state: 'delivering', at: T0 + 1 },
				{ state: 'delivered', at: T0 + 23, arrival: 1 },
				{ state: 'resumed', at: T0 + 24 },
			]);
			expect(answer.endedAt).toBe(T0 + 23);
		});

		it('adds new attempts to the timeline after the author retries', async () => {
			const given = await accepted(submission(), 'delivering', 'waiting');
			await answers().retry(given.id, given.person, T0 + 10, T0 + 99);
			await lease(given.id, LEASE, T0 + 10);
			const options = { now: T0 + 11, release: true };
			const answer = await patched(given.id, { state: 'delivering' }, options);
			const states = answer?.timeline.map((entry) => entry.state);
			expect(states).toEqual(['accepted', 'delivering', 'waiting', 'accepted', 'delivering']);
		});

		it.each(['delivered', 'conflicted', 'changed', 'refused', 'ended'] as const)(
			'wipes only secret values in the write that makes an answer %s',
			async (state) => {
				const given = submission({
					items: [item('blue'), SECRET, item(null, { secret: true }), item('', { secret: true })],
				});
				const held = await leased(given);
				expect(held.content).toEqual({ kind: 'readable', items: given.items, other: null, sessionName: 'Chairs' });
				const options = { now: T0 + 1, release: true };
				const ended = await patched(given.id, { state }, options);
				expect(ended?.content).toMatchObject({
					items: [item('blue'), { ...SECRET, value: null, wiped: true }, given.items[2], given.items[3]],
				});
				expect(await rowsOf('answers')).toMatchObject([{ secrets: null }]);
			},
		);

		it('wipes secret values when the author withdraws the answer', async () => {
			const given = await accepted(submission({ items: [SECRET] }), 'waiting');
			const gone = await answers().withdraw(given.id, given.person, T0 + 9);
			expect(gone?.content).toMatchObject({ items: [{ value: null, wiped: true }] });
			expect(await rowsOf('answers')).toMatchObject([{ secrets: null }]);
		});

		it.each(['delivering', 'waiting'] as const)('keeps secret values of an answer that is %s', async (state) => {
			const given = await accepted(submission({ items: [SECRET] }));
			expect(valuesOf(await moved(given.id, state))).toEqual(['hunter2']);
		});

		it('refuses a patch that makes two answers live', async () => {
			const first = await leased(submission());
			await patched(first.id, { state: 'refused' });
			await accepted(submission({ person: BOB }));
			await expect(patched(first.id, { state: 'accepted' }, { release: true })).rejects.toThrow();
			expect((await answers().get(first.id))?.state).toBe('refused');
		});
	});
}
