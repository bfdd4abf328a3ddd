import { describe, expect, it } from 'vitest';
import type { AnswerState, ReceiptState } from '../../../src/questions/answer.ts';
import type { Subject } from '../contract.ts';
import {
	accepted,
	BOB,
	current,
	item,
	LEASE,
	lease,
	leased,
	moved,
	patched,
	submission,
	T0,
	valuesOf,
} from '../support.ts';

const SECRET = item('hunter2', { title: 'Password', secret: true });

export function describeUpdates(subject: Subject): void {
	const answers = () => subject.store.answers;
	describe('update', () => {
		it('writes every field of a patch and no others', async () => {
			const given = submission();
			const before = await leased(subject.store, given);
			const receiptState: ReceiptState = {
				state: 'accepted',
				agentOutcome: null,
				dm: { channelId: 'D1', ts: '1' },
				modalOpen: false,
			};
			const other = { person: null, values: ['red', null], at: null, answerId: null, same: false };
			const after = await patched(
				subject.store,
				given.id,
				{
					state: 'delivered',
					attempts: 3,
					nextAttemptAt: T0 + 7,
					putStartedAt: T0 + 3,
					before: { status: 'humanInput', assistantCount: 12, sameCount: 0 },
					deliveredAt: T0 + 4,
					agentOutcome: 'unseen',
					lastError: 'service_unavailable',
					other,
					receiptState,
					notBefore: T0 + 8,
					missingCount: 2,
					startFailed: true,
					restartAskedAt: T0 + 9,
				},
				{ now: T0 + 5 },
			);
			expect(after).toEqual({
				...before,
				content: { kind: 'readable', items: given.items, other },
				state: 'delivered',
				attempts: 3,
				nextAttemptAt: T0 + 7,
				putStartedAt: T0 + 3,
				before: { status: 'humanInput', assistantCount: 12, sameCount: 0 },
				deliveredAt: T0 + 4,
				agentOutcome: 'unseen',
				endedAt: T0 + 5,
				lastError: 'service_unavailable',
				receiptState,
				notBefore: T0 + 8,
				missingCount: 2,
				startFailed: true,
				restartAskedAt: T0 + 9,
				timeline: [
					{ state: 'accepted', at: T0 },
					{ state: 'delivered', at: T0 + 5, arrival: 1 },
				],
			});
			expect(await subject.replica.answers.get(given.id)).toEqual(after);
			const none = { nextAttemptAt: null, putStartedAt: null, before: null, lastError: null, restartAskedAt: null };
			const cleared = await patched(subject.store, given.id, none, { now: T0 + 6 });
			expect(cleared).toEqual({ ...after, ...none });
		});

		it('keeps the lease until it is released', async () => {
			const given = await leased(subject.store, submission());
			const update = async (release: boolean) => patched(subject.store, given.id, {}, { release });
			expect(await update(false)).not.toBeNull();
			expect(await update(true)).not.toBeNull();
			expect(await update(false)).toBeNull();
		});

		it('returns null for an unknown answer', async () => {
			expect(
				await answers().update({ id: 'none', state: 'accepted' }, LEASE.token, {}, { now: T0, release: true }),
			).toBeNull();
		});

		it('refuses a patch for an unexpected state', async () => {
			const seen = await leased(subject.store, submission());
			const options = { now: T0 + 1, release: false };
			const delivered = { state: 'delivered', deliveredAt: T0 + 1 } as const;
			expect(await answers().update(seen, LEASE.token, delivered, options)).not.toBeNull();
			// After a COMMIT whose response was lost, the caller still has the former state.
			const again = await answers().update(seen, LEASE.token, { state: 'accepted' }, options);
			expect(again).toBeNull();
			expect(await current(subject.store, seen.id)).toMatchObject(delivered);
		});

		it('adds each state to the timeline with its time, and repeated attempts only once', async () => {
			const given = await accepted(subject.store, submission());
			const flips: AnswerState[] = Array.from({ length: 20 }, (_, index) =>
				index % 2 === 0 ? 'delivering' : 'accepted',
			);
			const answer = await moved(subject.store, given.id, ...flips, 'delivering', 'delivering', 'delivered', 'resumed');
			expect(answer.timeline).toEqual([
				{ state: 'accepted', at: T0 },
				{ state: 'delivering', at: T0 + 1 },
				{ state: 'delivered', at: T0 + 23, arrival: 1 },
				{ state: 'resumed', at: T0 + 24 },
			]);
			expect(answer.endedAt).toBe(T0 + 23);
		});

		it('adds new attempts to the timeline after the author retries', async () => {
			const given = await accepted(subject.store, submission(), 'delivering', 'waiting');
			await answers().retry(given.id, given.person, T0 + 10, T0 + 99);
			await lease(subject.store, given.id, LEASE, T0 + 10);
			const options = { now: T0 + 11, release: true };
			const answer = await patched(subject.store, given.id, { state: 'delivering' }, options);
			const states = answer?.timeline.map((entry) => entry.state);
			expect(states).toEqual(['accepted', 'delivering', 'waiting', 'accepted', 'delivering']);
		});

		it.each(['delivered', 'conflicted', 'changed', 'refused', 'ended'] as const)(
			'wipes only secret values in the write that makes an answer %s',
			async (state) => {
				const given = submission({
					items: [item('blue'), SECRET, item(null, { secret: true }), item('', { secret: true })],
				});
				const held = await leased(subject.store, given);
				expect(held.content).toEqual({ kind: 'readable', items: given.items, other: null });
				const options = { now: T0 + 1, release: true };
				const ended = await patched(subject.store, given.id, { state }, options);
				expect(ended?.content).toMatchObject({
					items: [item('blue'), { ...SECRET, value: null, wiped: true }, given.items[2], given.items[3]],
				});
				expect(await secretsColumn(subject, given.id)).toBeNull();
			},
		);

		it('wipes secret values when the author withdraws the answer', async () => {
			const given = await accepted(subject.store, submission({ items: [SECRET] }), 'waiting');
			const gone = await answers().withdraw(given.id, given.person, T0 + 9);
			expect(gone?.content).toMatchObject({ items: [{ value: null, wiped: true }] });
			expect(await secretsColumn(subject, given.id)).toBeNull();
		});

		it.each(['delivering', 'waiting'] as const)('keeps secret values of an answer that is %s', async (state) => {
			const given = await accepted(subject.store, submission({ items: [SECRET] }));
			expect(valuesOf(await moved(subject.store, given.id, state))).toEqual(['hunter2']);
		});

		it('refuses a patch that makes two answers live', async () => {
			const first = await leased(subject.store, submission());
			await patched(subject.store, first.id, { state: 'refused' });
			await accepted(subject.store, submission({ person: BOB }));
			await expect(patched(subject.store, first.id, { state: 'accepted' }, { release: true })).rejects.toThrow();
			expect((await answers().get(first.id))?.state).toBe('refused');
		});
	});
}

async function secretsColumn({ store }: Subject, id: string): Promise<string | null> {
	const answers = store.db.read.selectFrom('answers').select('secrets');
	return (await answers.where('id', '=', id).executeTakeFirstOrThrow()).secrets;
}
