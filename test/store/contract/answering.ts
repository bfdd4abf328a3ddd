import type { ModalView } from '@slack/types';
import { describe, expect, it, vi } from 'vitest';
import type { Draft } from '../../../src/delivery/answering-store.ts';
import { buildSession } from '../../support/sessions.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, draftOf, EVE, LEASE, OTHER_LEASE, submission, T0, windowsDue } from '../support.ts';

const { question } = submission();
const LONG = { 0: 'blue', 2: 'x'.repeat(10_000) };
const draft = (overrides: Partial<Draft> = {}) => draftOf({ question, values: LONG, secret: [1], ...overrides });

export function describeDrafts(subject: Subject): void {
	it('stores a draft word for word', async () => {
		await subject.store.drafts.save(draft());
		expect(await subject.replica.drafts.get('form-1')).toEqual(draft());
		expect(await subject.store.drafts.get('form-2')).toBeNull();
	});

	it("removes secret items from the person's drafts for the question, and nothing else", async () => {
		const kept = [
			draft({ formId: 'bob', person: BOB }),
			draft({ formId: 'other', question: { ...question, messageIndex: 9 } }),
			draft({ formId: 'without', values: { 2: 'green' } }),
		];
		for (const one of kept) await subject.store.drafts.save(one);
		await subject.store.drafts.save(draft({ values: { 0: 'blue', 2: 'green' } }));
		await subject.store.drafts.save(draft({ formId: 'form-2', values: { 0: 'blue' } }));
		await subject.replica.drafts.forget(ANN, question, [0, 1]);
		expect(await subject.store.drafts.get('form-1')).toEqual(draft({ values: { 2: 'green' } }));
		expect(await subject.store.drafts.get('form-2')).toBeNull();
		for (const one of kept) expect(await subject.store.drafts.get(one.formId)).toEqual(one);
	});

	it('adds a draft once for its id, and keeps the id when its texts are forgotten', async () => {
		const added = await Promise.all([subject.store.drafts.addNew(draft()), subject.replica.drafts.addNew(draft())]);
		expect(added.toSorted()).toEqual([false, true]);
		await subject.store.drafts.save(draft({ values: {}, secret: [] }));
		expect(await subject.replica.drafts.addNew(draft())).toBe(false);
		expect((await subject.store.drafts.get('form-1'))?.values).toEqual({});
	});

	it('replaces the draft of the same form', async () => {
		await subject.store.drafts.save(draft());
		const next = draft({ values: { 1: '' }, fingerprint: 'fingerprint-2', updatedAt: T0 + 1 });
		await subject.store.drafts.save(next);
		expect(await subject.store.drafts.get('form-1')).toEqual(next);
	});

	it.each([1, 3_600_000])('keeps a newer draft when an older one arrives that was held up for %i ms', async (ms) => {
		await subject.store.drafts.save(draft({ values: { 0: 'new' }, updatedAt: T0 + ms }));
		await subject.replica.drafts.save(draft({ values: { 0: 'old' } }));
		expect((await subject.store.drafts.get('form-1'))?.values).toEqual({ 0: 'new' });
	});

	it('stores no draft of a submitted form', async () => {
		const given = submission({ submissionKey: 'view-1:form-1' });
		await subject.store.drafts.save(draft(), given.submissionKey);
		await subject.store.answers.accept(given);
		await subject.replica.drafts.save(draft({ updatedAt: T0 + 5 }), given.submissionKey);
		expect(await subject.store.drafts.get('form-1')).toBeNull();
		await subject.replica.drafts.save(draft({ formId: 'form-2' }), 'view-1:form-2');
		expect(await subject.store.drafts.get('form-2')).not.toBeNull();
	});

	it("finds a person's newest draft for a question, whatever its fingerprint", async () => {
		await subject.store.drafts.save(draft());
		const newest = draft({ formId: 'form-2', fingerprint: 'fingerprint-2', updatedAt: T0 + 1 });
		await subject.store.drafts.save(newest);
		await subject.store.drafts.save(draft({ formId: 'form-3', person: BOB, updatedAt: T0 + 2 }));
		const elsewhere = { ...question, messageIndex: 2 };
		await subject.store.drafts.save(draft({ formId: 'form-4', question: elsewhere, updatedAt: T0 + 3 }));
		expect(await subject.store.drafts.newest(ANN, question)).toEqual(newest);
		expect(await subject.store.drafts.newest(EVE, question)).toBeNull();
		expect(await subject.store.drafts.newest({ ...ANN, teamId: EVE.teamId }, question)).toBeNull();
	});

	it('discards only the drafts of a person for a question', async () => {
		await subject.store.drafts.save(draft());
		await subject.store.drafts.save(draft({ formId: 'form-2' }));
		await subject.store.drafts.save(draft({ formId: 'form-3', person: BOB }));
		await subject.store.drafts.save(draft({ formId: 'form-4', question: { ...question, sessionId: 's2' } }));
		await subject.store.drafts.discard({ person: ANN, question });
		const left = await Promise.all(['form-1', 'form-2', 'form-3', 'form-4'].map((id) => subject.store.drafts.get(id)));
		expect(left.map((one) => one?.formId)).toEqual([undefined, undefined, 'form-3', 'form-4']);
	});

	it.each(['accepted', 'taken'] as const)(
		'go with the claim and the window in the transaction that has their answer %s',
		async (how) => {
			const { store, replica } = subject;
			if (how === 'taken') await store.answers.accept(submission({ person: BOB }));
			await store.drafts.save(draft());
			await store.drafts.save(draft({ formId: 'form-2', person: BOB }));
			const given = submission({ viewId: 'V1', acceptedAt: T0 + 1 });
			const shown = { ...ANN, ...question, fingerprint: 'f', shownHash: 'h', hash: 'hash' };
			await store.windows.shown(
				'V1',
				{ ...shown, claimUntil: T0 + 60_000 },
				{ type: 'modal', blocks: [] } as never,
				T0,
			);
			expect(await store.claims.active(question, T0)).toHaveLength(1);
			expect((await replica.answers.accept(given)).kind).toBe(how);
			expect(await store.claims.active(question, T0)).toEqual([]);
			expect(await store.drafts.get('form-1')).toBeNull();
			expect(await store.drafts.get('form-2')).not.toBeNull();
			expect(await store.db.read.selectFrom('windows').select('viewId').execute()).toEqual([]);
		},
	);

	it('removes drafts older than a given time', async () => {
		await subject.store.drafts.save(draft());
		await subject.store.drafts.save(draft({ formId: 'form-2', updatedAt: T0 + 1 }));
		expect(await subject.store.drafts.removeOlderThan(T0 + 1)).toBe(1);
		expect(await subject.store.drafts.get('form-1')).toBeNull();
		expect(await subject.store.drafts.get('form-2')).not.toBeNull();
	});

	it('removes many drafts in several transactions, so that others are not held up', async () => {
		for (let n = 0; n < 450; n++)
			await subject.store.drafts.save(draft({ formId: `form-${n}`, values: { 0: 'blue' } }));
		const transactions = vi.spyOn(subject.store.db, 'writeOne');
		expect(await subject.store.drafts.removeOlderThan(T0 + 1)).toBe(450);
		expect(transactions.mock.calls.length).toBe(3);
		transactions.mockRestore();
	});
}

const MINUTE_MS = 60_000;
const QUESTION = { service: 'https://service.example', sessionId: 's1', messageIndex: 3 };
const VIEW = { type: 'modal', blocks: [{ type: 'divider' }] } as unknown as ModalView;
const SHOWN = { ...ANN, ...QUESTION, fingerprint: 'f', shownHash: 'h', hash: 'hash-1' };

export function describeWindows(subject: Subject): void {
	const windows = () => subject.store.windows;
	const replica = () => subject.replica.windows;
	const CLAIM = { question: QUESTION, person: ANN };
	const type = (hash: string, now: number, submissionKey = 'none') =>
		windows().typed({ viewId: 'V1', hash, submissionKey }, { ...CLAIM, until: now + 1 }, now);
	const answering = async (now: number) =>
		(await subject.replica.claims.active(QUESTION, now)).map(({ person }) => person.userId);

	describe('open windows', () => {
		it('are due when a read finds something else or an answer comes, for one replica, and again when marked meanwhile', async () => {
			await windows().shown('V1', SHOWN, VIEW, T0);
			expect(await replica().nextDueAt(T0)).toBeNull();
			const asksOther = buildSession({ sessionId: 's1', messages: [] });
			await windows().learn(QUESTION, asksOther, T0 + 1);
			await windows().learn(QUESTION, asksOther, T0 + 2);
			expect(await replica().nextDueAt(T0 + 2)).toBe(T0 + 1);
			const [window] = await replica().takeDue(LEASE, 5, T0 + 2);
			expect(window).toMatchObject({ ...SHOWN, view: VIEW, learned: 'changed', notice: '' });
			expect(await windows().takeDue(OTHER_LEASE, 5, T0 + 2)).toEqual([]);
			await windowsDue(subject.store, QUESTION, T0 + 3);
			if (window !== undefined) await replica().end(window, LEASE.token, { notice: 'n', hash: 'hash-2' });
			const [again] = await windows().takeDue(LEASE, 5, T0 + 3);
			expect(again).toMatchObject({ notice: 'n', hash: 'hash-2', dueAt: T0 + 3 });
			if (again !== undefined) await windows().end(again, LEASE.token, {}, T0 + 9);
			expect(await windows().nextDueAt(T0 + 3)).toBe(T0 + 9);
		});

		it('are due again when somebody types in one with another hash, and never 15 minutes after that', async () => {
			await windows().shown('V1', SHOWN, VIEW, T0);
			await type('hash-1', T0 + 10 * MINUTE_MS);
			expect(await windows().nextDueAt(T0 + 10 * MINUTE_MS)).toBeNull();
			await type('hash-2', T0 + 12 * MINUTE_MS);
			expect(await windows().takeDue(LEASE, 5, T0 + 26 * MINUTE_MS)).toMatchObject([{ hash: 'hash-2' }]);
			await windows().release([LEASE.token]);
			expect(await windows().takeDue(LEASE, 5, T0 + 27 * MINUTE_MS)).toEqual([]);
			await windowsDue(subject.store, QUESTION, T0 + 27 * MINUTE_MS);
			expect(await windows().nextDueAt(T0 + 27 * MINUTE_MS)).toBeNull();
		});

		it('are told of nothing while they are taken over, also after a notice, which is not disturbed', async () => {
			await windows().shown('V1', SHOWN, VIEW, T0);
			await windowsDue(subject.store, QUESTION, T0);
			const [window] = await replica().takeDue(LEASE, 5, T0);
			expect(await windows().takeOver('V1', T0)).toBe(false);
			if (window !== undefined) await replica().end(window, LEASE.token, { notice: 'n', hash: 'hash-2' });
			expect(await windows().takeOver('V1', T0)).toBe('hash-2');
			await windowsDue(subject.store, QUESTION, T0 + 1);
			expect(await replica().takeDue(LEASE, 5, T0 + 44_999)).toEqual([]);
			expect(await replica().takeDue(LEASE, 5, T0 + 45_000)).toHaveLength(1);
			// The note of a read that goes on.
			await windows().shown('V1', { ...SHOWN, isReading: true }, VIEW, T0);
			await windowsDue(subject.store, QUESTION, T0 + 1);
			expect(await replica().takeDue(LEASE, 5, T0 + 44_999)).toEqual([]);
			await windows().shown('V1', SHOWN, VIEW, T0);
			await windowsDue(subject.store, QUESTION, T0 + 1);
			expect(await replica().takeDue(LEASE, 5, T0 + 1)).toHaveLength(1);
			await windows().shown('V1', SHOWN, VIEW, T0);
			expect(await windows().takeOver('V1', T0)).toBeNull();
			expect(await windows().takeOver('other', T0)).toBeNull();
		});

		it('claim their question while they are open, and for good no more once they are closed', async () => {
			await windows().shown('V1', { ...SHOWN, claimUntil: T0 + 5 }, VIEW, T0);
			expect(await answering(T0)).toEqual([ANN.userId]);
			await type('hash-1', T0 + 9);
			expect(await answering(T0 + 9)).toEqual([ANN.userId]);
			await replica().closed('V1', { ...CLAIM, fingerprint: 'f', shownHash: 'h' }, T0 + 9);
			await subject.replica.claims.release(QUESTION, ANN, T0 + 9);
			await type('hash-1', T0 + 9);
			await windows().shown('V1', { ...SHOWN, claimUntil: T0 + 99 }, VIEW, T0 + 9);
			expect(await answering(T0 + 9)).toEqual([]);
			await windowsDue(subject.store, QUESTION, T0 + 9);
			expect(await windows().nextDueAt(T0 + 9)).toBeNull();
		});

		it('claim nothing when what was typed comes after the answer', async () => {
			const sent = submission({ question: QUESTION, submissionKey: 'V1:form' });
			await windows().shown('V1', SHOWN, VIEW, T0);
			await subject.store.answers.accept({ ...sent, viewId: 'V1' });
			await type('hash-1', T0 + 1, 'V1:form');
			expect(await answering(T0 + 1)).toEqual([]);
			await type('hash-1', T0 + 1, 'V1:later form');
			expect(await answering(T0 + 1)).toEqual([ANN.userId]);
		});

		it('are forgotten when they close, are old, or a text in them becomes secret', async () => {
			const isThere = async () => {
				await windowsDue(subject.store, QUESTION, T0);
				return (await windows().nextDueAt(T0)) !== null;
			};
			for (const forget of [
				() => windows().forget('V1'),
				() => windows().removeOld(T0 + 15 * MINUTE_MS),
				() => subject.store.drafts.forget(ANN, QUESTION, [0]),
			]) {
				await windows().shown('V1', SHOWN, VIEW, T0);
				expect(await isThere()).toBe(true);
				await forget();
				expect(await isThere()).toBe(false);
			}
		});
	});
}

const UNTIL = T0 + 300_000;

export function describeClaims(subject: Subject): void {
	it('lists active claims, oldest first, until they lapse', async () => {
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL }, T0);
		await subject.replica.claims.claim({ question, person: ANN, until: UNTIL + 1 }, T0 + 1);
		await subject.store.claims.claim({ question: { ...question, messageIndex: 2 }, person: EVE, until: UNTIL }, T0);
		expect(await subject.store.claims.active(question, T0 + 2)).toEqual([
			{ question, person: BOB, until: UNTIL },
			{ question, person: ANN, until: UNTIL + 1 },
		]);
		expect(await subject.store.claims.active(question, UNTIL)).toEqual([{ question, person: ANN, until: UNTIL + 1 }]);
	});

	it('tells whether a claim is new and prolongs an existing one', async () => {
		const claim = (until: number, now: number) => subject.store.claims.claim({ question, person: ANN, until }, now);
		expect(await claim(UNTIL, T0)).toBe(true);
		expect(await claim(UNTIL + 5, T0 + 5)).toBe(false);
		expect(await subject.store.claims.active(question, UNTIL)).toHaveLength(1);
		expect(await claim(UNTIL + 400_000, UNTIL + 5)).toBe(true);
	});

	it('counts a claim after a lapse as new, behind the held ones', async () => {
		await subject.store.claims.claim({ question, person: ANN, until: T0 + 5 }, T0);
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL }, T0 + 1);
		await subject.store.claims.claim({ question, person: ANN, until: UNTIL }, T0 + 6);
		const active = await subject.store.claims.active(question, T0 + 7);
		expect(active.map((claim) => claim.person)).toEqual([BOB, ANN]);
	});

	it('counts a claim as new once when one person presses twice at the same moment', async () => {
		for (let round = 0; round < 30; round++) {
			const claim = { question: { ...question, messageIndex: round }, person: ANN, until: UNTIL };
			const news = await Promise.all(
				[subject.store, subject.replica, subject.store, subject.replica].map((store) => store.claims.claim(claim, T0)),
			);
			expect(news.filter(Boolean)).toHaveLength(1);
		}
	});

	it('releases only the claim of one person', async () => {
		await subject.store.claims.claim({ question, person: ANN, until: UNTIL }, T0);
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL }, T0);
		expect(await subject.store.claims.release(question, ANN, T0)).toBe(true);
		expect(await subject.store.claims.release(question, ANN, T0)).toBe(false);
		expect((await subject.store.claims.active(question, T0)).map((claim) => claim.person)).toEqual([BOB]);
	});

	it('removes lapsed claims', async () => {
		await subject.store.claims.claim({ question, person: ANN, until: UNTIL }, T0);
		await subject.store.claims.claim({ question, person: BOB, until: UNTIL + 1 }, T0);
		expect(await subject.store.claims.removeLapsed(UNTIL)).toBe(1);
		expect(await subject.store.claims.active(question, T0)).toHaveLength(1);
	});
}
