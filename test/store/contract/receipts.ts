import { expect, it } from 'vitest';
import { markDue } from '../../../src/store/marks.ts';
import type { Subject } from '../contract.ts';
import { accepted, attemptAt, LEASE, spread, submission, T0 } from '../support.ts';
import { forget } from './person.ts';
import { KEY, shownAt } from './watch-acts.ts';

/** Direct messages about answers. */
export function describeReceipts(subject: Subject): void {
	const store = () => subject.store;
	const receipt = () =>
		store().db.read.selectFrom('posts').selectAll().where('kind', '=', 'receipt').executeTakeFirst();

	/** An answer that waits for its author, and the message about it as it is taken. */
	async function told() {
		const answer = await accepted(store(), submission(), 'delivering', 'waiting');
		await store().posts.showReceipt(answer, { isNews: true, now: T0 });
		return { answer, post: await taken(T0) };
	}

	async function taken(now: number) {
		const [due] = await store().posts.takeDue(LEASE, 9, now);
		if (due === undefined) throw new Error('no receipt is due');
		await store().posts.beginAttempt(due.post.id, LEASE.token, attemptAt(now));
		return due.post;
	}

	it('are neither stored nor sent to somebody who was forgotten meanwhile', async () => {
		const her = { teamId: 'T1', userId: 'U0ADA' };
		const answer = await accepted(store(), submission({ person: her }), 'delivering', 'ended');
		expect(await forget(store(), her.userId)).toMatchObject({ kind: 'forgotten' });
		await store().posts.showReceipt(answer, { isNews: true, now: T0 });
		expect(await receipt()).toBeUndefined();
	});

	it('with news that come while an unchanged look is noted are posted where the message was deleted', async () => {
		const { answer, post } = await told();
		await store().posts.endAttempt(post, LEASE.token, shownAt(post, '1.1', { isLast: false }), T0);
		await store().db.write((trx) => markDue({ trx, now: T0 }, KEY));
		await spread(store());
		const same = await taken(T0);
		await store().posts.showReceipt(answer, { isNews: true, now: T0 + 1 });
		await store().posts.endAttempt(same, LEASE.token, shownAt(same, '', { isLast: false }), T0 + 2);
		await store().posts.endAttempt(await taken(T0 + 3), LEASE.token, { kind: 'deleted' }, T0 + 4);
		expect(await receipt()).toMatchObject({ state: 'planned', ts: null, dueAt: T0 + 4 });
	});

	it('are over although a card of their session is to be drawn', async () => {
		const { post } = await told();
		await store().db.write((trx) => markDue({ trx, now: T0 }, KEY, { cards: 'progress' }));
		await store().posts.endAttempt(post, LEASE.token, shownAt(post, '1.1', { isLast: true }), T0);
		await spread(store());
		expect(await receipt()).toMatchObject({ state: 'closed', dueAt: null });
	});
}
