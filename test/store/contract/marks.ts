import { describe, expect, it } from 'vitest';
import { markDue } from '../../../src/store/marks.ts';
import type { Subject } from '../contract.ts';
import { ANN, LEASE, present, storeActs, T0 } from '../support.ts';
import { KEY, read, settled, shownAt, watchActs } from './watch-acts.ts';

/** What was changed, and what is drawn again for it. */
export function describeMarks(subject: Subject): void {
	const { formShown, rowsOf } = storeActs(subject);
	const { store, replica, recorded, ended, asked, postsOf } = watchActs(subject);
	const mark = (options: Parameters<typeof markDue>[2] = {}, session: typeof KEY | null = KEY) =>
		store().db.write((trx) => markDue({ trx, now: T0 }, session, options));

	const wantedOf = async (id: string) => (await rowsOf('views', { id }))[0]?.wanted;
	const due = async (id: string) => (await postsOf(id)).filter(({ dueAt }) => dueAt !== null).map(({ kind }) => kind);

	describe('marks', () => {
		it('are spread once, by one of two replicas', async () => {
			const watch = await asked();
			const inbox = { id: 'home', person: ANN, viewId: null };
			await store().views.ask(inbox, 0, T0);
			const [asking] = await store().views.takeDue(LEASE, 1, { now: T0, least: 'asked' });
			await mark();
			await mark();
			await Promise.all([store().marks.spread(T0), replica().marks.spread(T0)]);
			expect((await due(watch.id)).toSorted()).toEqual(['card', 'question']);
			expect(await wantedOf(inbox.id)).toBe((asking?.wanted ?? 0) + 1);
			expect(await replica().marks.nextDueAt()).toBeNull();
			await store().marks.spread(T0 + 1);
			expect(await wantedOf(inbox.id)).toBe((asking?.wanted ?? 0) + 1);
		});

		it('wait for their time, and of cards draw nothing else', async () => {
			const watch = await asked();
			await mark({ cards: 'progress', afterMs: 250 });
			expect(await replica().marks.nextDueAt()).toBe(T0 + 250);
			await store().views.ask({ id: 'home', person: ANN, viewId: null }, 0, T0);
			const before = await wantedOf('home');
			await store().marks.spread(T0 + 249);
			expect(await store().marks.nextDueAt()).toBe(T0 + 250);
			await store().marks.spread(T0 + 250);
			expect(await due(watch.id)).toEqual(['card']);
			expect(await wantedOf('home')).toBe(before);
		});

		it('of inboxes alone draw no message and no form', async () => {
			const watch = await asked();
			await store().views.ask({ id: 'home', person: ANN, viewId: null }, 0, T0);
			const form = await formShown({ question: { ...KEY, messageIndex: 1 } }, T0);
			const before = await wantedOf('home');
			await mark({}, null);
			await store().marks.spread(T0);
			expect(await due(watch.id)).toEqual([]);
			expect([await wantedOf('home'), await wantedOf(form)]).toEqual([(before ?? 0) + 1, 0]);
		});

		it('keep a message from being closed that was drawn before its change', async () => {
			const watch = await asked();
			await recorded([], read({ nextRead: { at: T0, by: T0 }, questions: [settled('answered')] }));
			const question = async () => (await postsOf(watch.id)).find(({ kind }) => kind === 'question');
			const drawnLast = async (meanwhile: () => Promise<unknown>) => {
				const due = await store().posts.takeDue(LEASE, 9, T0);
				const { post } = present(due.find(({ post }) => post.content.kind === 'question'));
				await meanwhile();
				await ended(post, shownAt(post, '', { isLast: true }));
			};
			await drawnLast(mark);
			expect(await question()).toMatchObject({ state: 'shown', dueAt: T0 });
			await drawnLast(async () => undefined);
			expect(await question()).toMatchObject({ state: 'closed' });
		});
	});
}
