import { beforeEach, expect, it } from 'vitest';
import { addWatch } from '../../sessions/support.ts';
import type { Subject } from '../contract.ts';
import { ANN, EVE, LEASE, only, SERVICE, storeActs, submission, T0 } from '../support.ts';
import { shownAt } from './watch-acts.ts';

/** What the stores are told of their workspace; changed by the tests. */
export interface ServedWorkspace {
	teamId: string | null;
}

export function describeServedWorkspace(subject: Subject, served: ServedWorkspace): void {
	const { accepted, refreshed } = storeActs(subject);
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
			await subject.store.views.ask({ id: person.teamId, person, viewId: null }, null, T0);
		}
		served.teamId = teamId;
		const isDue = expected.length > 0;
		expect(await subject.store.posts.nextDueAt()).toBe(isDue ? T0 : null);
		expect(await subject.store.views.nextDueAt('follows', T0)).toBe(isDue ? T0 : null);
		const channels = await subject.store.posts.activeChannels();
		expect(channels.map((channel) => channel.teamId)).toEqual(expected);
		const posts = await subject.store.posts.takeDue(LEASE, 10, T0);
		expect(posts.map(({ watch }) => watch?.teamId)).toEqual(expected);
		const inboxes = await subject.store.views.takeDue(LEASE, 10, { now: T0, least: 'follows' });
		expect(inboxes.map(({ person }) => person.teamId)).toEqual(expected);
	});

	it.each([
		[null, []],
		['T1', ['T1']],
	])('gives out posts that are drawn again of the workspace %s alone', async (teamId, expected) => {
		for (const other of ['T1', 'T2']) {
			await addWatch(watches(), { teamId: other, sessionId: other });
			served.teamId = other;
			const card = only(await subject.store.posts.takeDue(LEASE, 1, T0));
			await subject.store.posts.endAttempt(card.post, LEASE.token, shownAt(card.post, '1.0'), T0);
			await refreshed({ service: SERVICE, sessionId: other }, { now: T0, earlyReadAt: null });
		}
		served.teamId = teamId;
		expect(await subject.store.posts.nextDueAt()).toBe(expected.length > 0 ? T0 : null);
		const cards = await subject.store.posts.takeDue(LEASE, 10, T0);
		expect(cards.map(({ post, watch }) => [post.ts, watch?.teamId])).toEqual(expected.map((id) => ['1.0', id]));
	});

	it('gives out answers of every workspace, and receipts of ours alone', async () => {
		const ours = submission({ sessionId: 's1' });
		const theirs = submission({ person: EVE, sessionId: 's2' });
		for (const answer of [ours, theirs]) await accepted(answer);
		const at = T0 + 1_000;
		for (const [teamId, receipts] of [
			[null, []],
			['T1', [ours.id]],
			['T2', [theirs.id]],
		] as const) {
			served.teamId = teamId;
			const taken = await answers().takeDue(SERVICE, LEASE, 10, T0);
			await answers().release(taken.map(({ id }) => ({ id, token: LEASE.token })));
			expect(taken.map(({ id }) => id).sort()).toEqual([ours.id, theirs.id].sort());
			expect(await subject.replica.views.nextDueAt('now', T0)).toBe(receipts.length > 0 ? at : null);
			const views = await subject.store.views.takeDue(LEASE, 10, { now: at, least: 'now' });
			await subject.store.views.release([LEASE.token]);
			expect(views.map(({ answerId }) => answerId)).toEqual(receipts);
		}
	});
}
