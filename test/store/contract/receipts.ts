import { describe, expect, it } from 'vitest';
import { type NewAnswer, TAKES_LONG_MS, TOLD_WITHIN_MS } from '../../../src/domain/answer.ts';
import { DAY_MS } from '../../../src/kernel/clock.ts';
import { markDue } from '../../../src/store/marks.ts';
import type { DueView } from '../../../src/surfaces/view-store.ts';
import type { Subject } from '../contract.ts';
import { ANN, attemptAt, BOB, item, LEASE, OTHER_LEASE, only, storeActs, submission, T0 } from '../support.ts';
import { forget } from './person.ts';
import { KEY, shownAt, watchActs } from './watch-acts.ts';

/** Slack may show the view of the acknowledgement until then. */
const AFTER_ACK = T0 + 1_000;
const PRESS = { press: { undoUntil: T0 + 10_000 }, viewId: '' };

/** What becomes of an answer, as its author is told: the row of its window, or of none. */
export function describeTold(subject: Subject): void {
	const { formShown, lease, moved, patched, receiptOf, rowsOf, setRows } = storeActs(subject);
	const views = () => subject.store.views;
	const replica = () => subject.replica.views;
	const row = (id: string) => receiptOf(id);
	const accept = (overrides: Parameters<typeof submission>[0] = {}) => {
		const given = submission(overrides);
		return subject.store.answers.accept(given).then(({ kind }) => ({ ...given, kind }));
	};
	/** A change of the answer's session is spread. */
	async function changed(now: number): Promise<void> {
		await subject.store.db.write((trx) => markDue({ trx, now }, submission().question));
		await subject.store.marks.spread(now);
	}
	async function take(now: number): Promise<DueView> {
		return only(await views().takeDue(LEASE, 9, { now, least: 'now' }));
	}
	const end = (view: DueView, drawn: Partial<Parameters<Subject['store']['views']['end']>[2]> = {}, now = T0) =>
		views().end(view, LEASE.token, { nextAt: null, ...drawn }, now);

	describe('a receipt', () => {
		it('takes the window of its form in the transaction that accepts the answer, and waits for the acknowledgement', async () => {
			const { question } = submission();
			const viewId = await formShown({ question, until: T0 + 60_000 }, T0);
			const { id } = await accept({ viewId });
			const empty = { view: null, hash: null, claimUntil: null, shownKey: null, told: null };
			expect(await row(id)).toMatchObject({ id: viewId, kind: 'receipt', viewId, ...question, ...ANN, ...empty });
			await changed(T0);
			expect(await replica().nextDueAt('now', T0)).toBe(AFTER_ACK);
			expect(await take(AFTER_ACK)).toMatchObject({ kind: 'receipt', viewId, answerId: id, person: ANN });
			expect(await replica().takeDue(OTHER_LEASE, 9, { now: AFTER_ACK, least: 'follows' })).toEqual([]);
		});

		it('is one row of an answer, also when that is edited, or sent again', async () => {
			const given = await accept();
			await subject.store.answers.accept({ ...given, items: [], acceptedAt: T0 + 5 });
			expect(await row(given.id)).toMatchObject({ id: given.viewId, dueAt: AFTER_ACK + 5 });
			await moved(given.id, 'waiting');
			await end(await take(AFTER_ACK + 5), { shownKey: 'waiting', told: 'waiting ' });
			await subject.replica.answers.retry(given.id, ANN, T0 + 60_000, T0 + DAY_MS);
			await subject.store.marks.spread(T0 + 60_000);
			expect(await row(given.id)).toMatchObject({ id: given.viewId, shownKey: 'waiting', dueAt: T0 + 60_000 });
			expect(await rowsOf('views')).toHaveLength(1);
		});

		it('of a press has no window, and is due when sending takes long', async () => {
			const { id } = await accept(PRESS);
			const dueAt = T0 + 10_000 + TAKES_LONG_MS;
			expect(await row(id)).toMatchObject({ id: `answer:${id}`, viewId: null, ...ANN, dueAt, notBefore: T0 });
			await changed(T0 + 1_000);
			expect(await row(id)).toMatchObject({ dueAt });
		});

		it.each([
			['somebody else was first', BOB, T0 + TOLD_WITHIN_MS],
			['the same person was first', ANN, null],
		])('of a press that came second is due soon unless the reply says so: %s', async (_, person, dueAt) => {
			await accept({ person, ...PRESS });
			const { id, kind } = await accept(PRESS);
			expect([kind, (await row(id))?.dueAt ?? null]).toEqual(['taken', dueAt]);
			if (dueAt === null) return;
			await replica().noteTold({ id });
			expect(await row(id)).toBeUndefined();
		});

		it('that another was first stays as the acknowledgement shows it until there is news', async () => {
			const first = await accept({ person: BOB });
			const { id, viewId } = await accept();
			expect(await row(id)).toMatchObject({ id: viewId, viewId, dueAt: null });
			await subject.store.answers.withdraw(first.id, BOB, T0 + 5_000);
			await subject.store.marks.spread(T0 + 5_000);
			expect(await row(id)).toMatchObject({ dueAt: T0 + 5_000 });
		});

		it('is made for news of an answer that had none any more', async () => {
			const first = await accept(PRESS);
			const { id } = await accept({ person: BOB });
			await views().remove({ id: (await row(id))?.id ?? '' });
			await subject.store.answers.withdraw(first.id, ANN, T0 + 5_000);
			expect(await row(id)).toMatchObject({ id: `answer:${id}`, viewId: null, dueAt: T0 + 5_000 });
		});

		it('is not done with what its author was told before the first ended', async () => {
			const first = await accept({ ...PRESS, person: BOB });
			const { id } = await accept(PRESS);
			await subject.store.answers.withdraw(first.id, BOB, T0 + 5);
			await replica().noteTold({ id });
			expect(await row(id)).toMatchObject({ dueAt: T0 + TOLD_WITHIN_MS });
		});

		it('goes on where it is being drawn, or shown, or the answer is not second', async () => {
			const first = await accept({ ...PRESS, person: BOB });
			await replica().noteTold(first);
			expect(await row(first.id)).toBeDefined();
			await subject.store.db.writeOne((trx) => trx.deleteFrom('views').execute());
			const { id } = await accept(PRESS);
			const view = await take(T0 + TOLD_WITHIN_MS);
			await replica().noteTold({ id });
			await end(view, { shownKey: 'second' });
			await replica().noteTold({ id });
			expect(await row(id)).toMatchObject({ shownKey: 'second', leaseToken: null });
		});

		it('is told by a message once its window shows something else, which may be a form', async () => {
			const { id, viewId, question } = await accept();
			await replica().leaveReceipt(viewId);
			expect(await row(id)).toMatchObject({ id: `answer:${id}`, viewId: null, dueAt: AFTER_ACK });
			await formShown({ id: viewId, question, until: T0 + 9 }, T0);
			expect(await row(id)).toMatchObject({ kind: 'receipt' });
			expect(await replica().claims(question, T0)).toHaveLength(1);
			await replica().leaveReceipt('none');
		});

		it('goes on by a message when its window is closed in the moment of sending', async () => {
			const { id, viewId, person } = await accept();
			await replica().formClosed(viewId, person, T0 + 5);
			expect(await row(id)).toMatchObject({ kind: 'receipt', viewId: null, dueAt: AFTER_ACK });
		});

		it('begins anew when its text is changed after its window showed something else', async () => {
			const answer = submission();
			await subject.store.answers.accept(answer);
			await replica().leaveReceipt(answer.viewId);
			const edited = { ...answer, items: [item('another')], acceptedAt: T0 + 6_000 };
			expect(await subject.store.answers.accept(edited)).toMatchObject({ kind: 'repeated', edited: true });
			expect(await row(answer.id)).toMatchObject({ id: answer.viewId, dueAt: T0 + 7_000 });
		});

		it('that nobody could be told of is forgotten after a month', async () => {
			await accept();
			expect(await replica().removeOld(AFTER_ACK + 32 * DAY_MS - 1)).toBe(0);
			expect(await replica().removeOld(AFTER_ACK + 32 * DAY_MS)).toBe(1);
		});

		it.each<[string, object, object, boolean]>([
			['its window is open', {}, {}, true],
			['no window shows it', { viewId: null }, {}, false],
			['a message told it', { viewId: null, told: 'accepted ' }, {}, true],
			['the answer failed', { viewId: null }, { state: 'refused' }, true],
			['the agent stopped', { viewId: null }, { state: 'delivered', agentOutcome: 'stopped' }, true],
			['the agent went on', { viewId: null }, { state: 'resumed', agentOutcome: 'resumed' }, false],
			['the agent could not be started', { viewId: null }, { state: 'delivered', startFailed: 1 }, true],
			['that is long ago', { followedUntil: T0 + 5 }, {}, true],
		])('is drawn again after a change: %s', async (_, columns, answer, isDue) => {
			const { id } = await accept();
			if (Object.keys(answer).length > 0) await setRows('answers', answer, { id });
			await setRows('views', { dueAt: null, notBefore: null, ...columns });
			await changed(T0 + 5);
			expect((await row(id))?.dueAt ?? null).toBe(isDue ? T0 + 5 : null);
		});

		it('of an answer to another session is left alone', async () => {
			const { id } = await accept({ sessionId: 's2' });
			await end(await take(AFTER_ACK));
			await changed(T0 + 5_000);
			expect(await row(id)).toMatchObject({ dueAt: null });
		});

		it('is forgotten when nothing is told any more, and not before what is due was told', async () => {
			const { id } = await accept();
			expect(await replica().removeOld(T0 + 3 * DAY_MS)).toBe(0);
			await end(await take(AFTER_ACK));
			expect(await replica().removeOld(AFTER_ACK + 2 * DAY_MS - 1)).toBe(0);
			expect(await replica().removeOld(AFTER_ACK + 2 * DAY_MS)).toBe(1);
			expect(await row(id)).toBeUndefined();
		});

		it('is forgotten with its author', async () => {
			const her = { teamId: 'T1', userId: 'U0ADA' };
			const ids: NewAnswer['id'][] = [];
			for (const person of [her, BOB]) {
				const { id } = await accept({ person, sessionId: person.userId });
				await lease(id);
				await patched(id, { state: 'refused', nextAttemptAt: null }, { release: true });
				ids.push(id);
			}
			expect(await forget(subject.store, her.userId)).toMatchObject({ kind: 'forgotten' });
			const left = await Promise.all(ids.map(row));
			expect(left.map((one) => one?.userId)).toEqual([undefined, BOB.userId]);
		});
	});
}

/** Direct messages about answers. */
export function describeReceipts(subject: Subject): void {
	const { accepted, rowsOf, spread } = storeActs(subject);
	const { store, ended, next } = watchActs(subject);
	const receipt = async () => (await rowsOf('posts', { kind: 'receipt' }))[0];

	/** An answer that waits for its author, and the message about it as it is taken. */
	async function told() {
		const answer = await accepted(submission(), 'delivering', 'waiting');
		await store().posts.showReceipt(answer, { isNews: true, now: T0 });
		return { answer, post: await taken(T0) };
	}

	async function taken(now: number) {
		const { post } = await next(now, 9);
		await store().posts.beginAttempt(post.id, LEASE.token, attemptAt(now));
		return post;
	}

	it('are neither stored nor sent to somebody who was forgotten meanwhile', async () => {
		const her = { teamId: 'T1', userId: 'U0ADA' };
		const answer = await accepted(submission({ person: her }), 'delivering', 'ended');
		expect(await forget(store(), her.userId)).toMatchObject({ kind: 'forgotten' });
		await store().posts.showReceipt(answer, { isNews: true, now: T0 });
		expect(await receipt()).toBeUndefined();
	});

	it('with news that come while an unchanged look is noted are posted where the message was deleted', async () => {
		const { answer, post } = await told();
		await ended(post, shownAt(post, '1.1', { isLast: false }));
		await store().db.write((trx) => markDue({ trx, now: T0 }, KEY));
		await spread();
		const same = await taken(T0);
		await store().posts.showReceipt(answer, { isNews: true, now: T0 + 1 });
		await ended(same, shownAt(same, '', { isLast: false }), T0 + 2);
		await ended(await taken(T0 + 3), { kind: 'deleted' }, T0 + 4);
		expect(await receipt()).toMatchObject({ state: 'planned', ts: null, dueAt: T0 + 4 });
	});

	it('are over although a card of their session is to be drawn', async () => {
		const { post } = await told();
		await store().db.write((trx) => markDue({ trx, now: T0 }, KEY, { cards: 'progress' }));
		await ended(post, shownAt(post, '1.1', { isLast: true }));
		await spread();
		expect(await receipt()).toMatchObject({ state: 'closed', dueAt: null });
	});
}
