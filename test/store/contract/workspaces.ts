import { beforeEach, expect, it } from 'vitest';
import { addWatch } from '../../sessions/support.ts';
import type { Subject } from '../contract.ts';
import { ANN, accepted, EVE, LEASE, lease, refreshed, SERVICE, submission, T0 } from '../support.ts';
import { shownAt } from './watch-acts.ts';

/** What the stores are told of their workspace; changed by the tests. */
export interface ServedWorkspace {
	teamId: string | null;
}

export function describeServedWorkspace(subject: Subject, served: ServedWorkspace): void {
	const answers = () => subject.store.answers;
	const watches = () => subject.store.watches;

	beforeEach(() => {
		served.teamId = null;
	});

	it.each([
		[null, []],
		['T1', ['T1']],
		['T2', ['T2']],
	])('gives out posts, inboxes and channels of the workspace %s alone', async (teamId, expected) => {
		for (const person of [ANN, EVE]) {
			await addWatch(watches(), { teamId: person.teamId, sessionId: person.teamId });
			await subject.store.inboxes.ask({ id: person.teamId, person, viewId: null }, null, T0);
		}
		served.teamId = teamId;
		const isDue = expected.length > 0;
		expect(await subject.store.posts.nextDueAt()).toBe(isDue ? T0 : null);
		expect((await subject.store.inboxes.nextDueAt()).all).toBe(isDue ? T0 : null);
		const channels = await subject.store.posts.activeChannels();
		expect(channels.map((channel) => channel.teamId)).toEqual(expected);
		const posts = await subject.store.posts.takeDue(LEASE, 10, T0);
		expect(posts.map(({ watch }) => watch?.teamId)).toEqual(expected);
		const inboxes = await subject.store.inboxes.takeDue(LEASE, 10, { now: T0, only: 'all' });
		expect(inboxes.map(({ person }) => person.teamId)).toEqual(expected);
	});

	it.each([
		[null, []],
		['T1', ['T1']],
	])('gives out posts that are drawn again of the workspace %s alone', async (teamId, expected) => {
		for (const other of ['T1', 'T2']) {
			await addWatch(watches(), { teamId: other, sessionId: other });
			served.teamId = other;
			const [card] = await subject.store.posts.takeDue(LEASE, 1, T0);
			if (card === undefined) throw new Error('not due');
			await subject.store.posts.endAttempt(card.post, LEASE.token, shownAt(card.post, '1.0'), T0);
			await refreshed(subject.store, { service: SERVICE, sessionId: other }, { now: T0, earlyReadAt: null });
		}
		served.teamId = teamId;
		expect(await subject.store.posts.nextDueAt()).toBe(expected.length > 0 ? T0 : null);
		const cards = await subject.store.posts.takeDue(LEASE, 10, T0);
		expect(cards.map(({ post, watch }) => [post.ts, watch?.teamId])).toEqual(expected.map((id) => ['1.0', id]));
	});

	it('gives out answers of every workspace to be delivered and confirmed, but only ours whose author is to be told', async () => {
		const [ours, theirs, elsewhere] = [
			submission({ person: ANN, sessionId: 's1' }),
			submission({ person: EVE, sessionId: 's2' }),
			submission({ person: EVE, sessionId: 's3' }),
		];
		for (const answer of [ours, theirs, elsewhere]) await accepted(subject.store, answer);
		const ids = async (now: number) => {
			const taken = await answers().takeDue(SERVICE, LEASE, 10, now);
			await answers().release(taken.map(({ id }) => ({ id, token: LEASE.token })));
			return taken.map(({ id }) => id).sort();
		};
		expect(await ids(T0)).toEqual([ours.id, theirs.id, elsewhere.id].sort());
		const at = T0 + 1_000;
		for (const [{ id }, patch] of [
			[ours, { state: 'delivered', agentOutcome: 'resumed' }],
			[theirs, { state: 'delivered', agentOutcome: 'resumed' }],
			[elsewhere, { state: 'delivered' }],
		] as const) {
			const change = { ...patch, deliveredAt: T0, nextAttemptAt: at };
			await answers().update(await lease(subject.store, id), LEASE.token, change, { now: T0, release: true });
		}
		expect(await ids(at)).toEqual([elsewhere.id]);
		served.teamId = 'T1';
		expect(await ids(at)).toEqual([ours.id, elsewhere.id].sort());
		served.teamId = 'T2';
		expect(await ids(at)).toEqual([theirs.id, elsewhere.id].sort());
	});

	it('is not due for an author of another workspace who is to be told, and does not hold up their session', async () => {
		const question = submission().question;
		const told = await accepted(subject.store, submission({ person: EVE }));
		const delivered = { state: 'delivered', agentOutcome: 'resumed', deliveredAt: T0, nextAttemptAt: T0 } as const;
		await answers().update(await lease(subject.store, told.id), LEASE.token, delivered, { now: T0, release: true });
		served.teamId = 'T1';
		expect(await answers().nextDueAt(SERVICE)).toBeNull();
		const next = submission({ question: { ...question, messageIndex: 2 }, acceptedAt: T0 + 1 });
		await accepted(subject.store, next);
		expect(await answers().nextDueAt(SERVICE)).toBe(T0 + 1);
		expect(await answers().takeDue(SERVICE, LEASE, 10, T0 + 1)).toMatchObject([{ id: next.id }]);
	});
}
