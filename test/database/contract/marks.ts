import { describe, expect, it } from 'vitest';
import { SERVICE } from '../../features/watch/support.ts';
import type { Subject } from '../contract.ts';
import { ANN, current, LEASE, lease, submission, T0 } from '../support.ts';
import { ASKED, asking, askingView, KEY, news, QUESTION, read, watchActs } from './watch-acts.ts';

const LATER = T0 + 5_000;

/** What shows a question is marked in the transaction that changes its answer or its claims: nobody has to tell of it. */
export function describeMarks(subject: Subject): void {
	const { store, added, recorded, posted, drawn, postsOf } = watchActs(subject);
	const question = { service: SERVICE, sessionId: KEY.sessionId, messageIndex: QUESTION.messageIndex };
	const given = (overrides: Parameters<typeof submission>[0] = {}) =>
		submission({ question, fingerprint: QUESTION.fingerprint, acceptedAt: LATER, ...overrides });

	/** A posted question with a reminder, and a window with its form. Returns what is marked after `act`, and nothing before. */
	async function markedBy(prepare: () => Promise<unknown>, act: () => Promise<unknown>) {
		const watch = await added();
		await posted();
		await recorded([news(watch, { posts: [asking(watch)] })], read({ view: askingView(), questions: [ASKED] }));
		await posted();
		const { fingerprint, shownHash } = QUESTION;
		const shown = { ...ANN, ...question, fingerprint, shownHash, hash: 'hash' };
		await subject.store.windows.shown('V1', shown, { type: 'modal', blocks: [] } as never, T0);
		await prepare();
		await drawn(LATER + 60_000);
		const { db } = subject.store;
		await db.writeOne((trx) => trx.updateTable('ladders').set({ dueAt: null }).execute());
		await db.writeOne((trx) => trx.updateTable('windows').set({ dueAt: null }).execute());
		const earlyCount = async () =>
			(await db.read.selectFrom('watched_sessions').select('hurry').executeTakeFirstOrThrow()).hurry;
		const before = await earlyCount();
		await act();
		const posts = (await postsOf(watch.id)).flatMap(({ kind, dueAt }) => (dueAt === null ? [] : [[kind, dueAt]]));
		const ladder = await db.read.selectFrom('ladders').select('dueAt').executeTakeFirst();
		return {
			posts: Object.fromEntries(posts),
			ladder: ladder?.dueAt ?? null,
			window: await subject.store.windows.nextDueAt(LATER),
			isReadEarly: (await earlyCount()) > before,
		};
	}

	const nothing = async () => undefined;
	const update = async (id: string, patch: object) => {
		const answer = await current(subject.store, id);
		expect(
			await subject.store.answers.update(answer, LEASE.token, patch, { now: LATER, release: false }),
		).not.toBeNull();
	};
	/** Takes an answer through these patches under a lease. */
	const under =
		(answer: ReturnType<typeof given>, ...patches: object[]) =>
		async () => {
			await subject.store.answers.accept(answer);
			await lease(subject.store, answer.id, LEASE, LATER);
			for (const patch of patches) await update(answer.id, patch);
		};
	const everything = { posts: { card: LATER, question: LATER }, ladder: LATER, window: LATER, isReadEarly: false };
	const before = { status: 'humanInput', assistantCount: 1, sameCount: 0 };
	const begun = { state: 'delivering', putStartedAt: LATER, before };

	describe('what shows a question is marked in the transaction that', () => {
		it('accepts an answer', async () => {
			expect(await markedBy(nothing, () => subject.store.answers.accept(given()))).toEqual(everything);
		});

		it('accepts a press, which shows itself first', async () => {
			const press = given({ press: { undoUntil: LATER + 10_000 }, viewId: '' });
			const marked = await markedBy(nothing, () => subject.store.answers.accept(press));
			expect(marked).toEqual({ ...everything, posts: { question: LATER + 250 } });
		});

		it.each([
			['refuses it', [begun], { state: 'refused', lastError: 'request_too_large' }],
			['lets it wait for its author', [], { state: 'waiting' }],
			['notes a failure', [], { state: 'accepted', lastError: 'unavailable' }],
			[
				'notes what became of the agent',
				[begun, { state: 'delivered', deliveredAt: LATER }],
				{ agentOutcome: 'failed' },
			],
		])('%s', async (_, former, last) => {
			const answer = given();
			const isDelivered = former.some((patch) => patch.state === 'delivered');
			const marked = await markedBy(under(answer, ...former), () => update(answer.id, last));
			expect(marked).toEqual({ ...everything, isReadEarly: isDelivered });
		});

		it('notes a delivery, and reads the session soon', async () => {
			const answer = given();
			const delivered = { state: 'delivered', deliveredAt: LATER };
			const marked = await markedBy(under(answer, begun), () => update(answer.id, delivered));
			expect(marked).toEqual({ ...everything, isReadEarly: true });
		});

		it('withdraws it, or queues it again', async () => {
			const [taken, failed] = [given(), given()];
			const withdraw = () => subject.store.answers.withdraw(taken.id, ANN, LATER);
			expect(await markedBy(() => subject.store.answers.accept(taken), withdraw)).toEqual(everything);
			const retry = () => subject.replica.answers.retry(failed.id, ANN, LATER, LATER + 1e6);
			await under(failed, { state: 'waiting' })();
			await drawn(LATER + 60_000);
			await retry();
			expect(await subject.store.windows.nextDueAt(LATER)).toBe(LATER);
			expect((await store().takePosts(LEASE, 10, LATER)).length).toBe(2);
		});

		it('begins or ends a claim, but not that a PUT begins', async () => {
			const claim = () => subject.store.claims.claim({ question, person: ANN, until: LATER + 1e5 }, LATER);
			expect(await markedBy(nothing, claim)).toEqual({ ...everything, window: null });
			await drawn(LATER + 60_000);
			await subject.store.claims.release(question, ANN, LATER);
			expect((await store().takePosts(LEASE, 10, LATER)).length).toBe(2);
			await store().releasePosts([LEASE.token]);
			await drawn(LATER + 60_000);
			const answer = given();
			await under(answer)();
			await drawn(LATER + 60_000);
			await update(answer.id, begun);
			expect(await store().takePosts(LEASE, 10, LATER)).toEqual([]);
		});
	});
}
