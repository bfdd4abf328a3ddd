import { expect, it, vi } from 'vitest';
import type { Draft } from '../../../src/delivery/draft-store.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, draftOf, EVE, submission, T0 } from '../support.ts';

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

	it.each(['accepted', 'taken'] as const)('go in the transaction that has their answer %s', async (how) => {
		const { store, replica } = subject;
		if (how === 'taken') await store.answers.accept(submission({ person: BOB }));
		await store.drafts.save(draft());
		await store.drafts.save(draft({ formId: 'form-2', person: BOB }));
		expect((await replica.answers.accept(submission({ acceptedAt: T0 + 1 }))).kind).toBe(how);
		expect(await store.drafts.get('form-1')).toBeNull();
		expect(await store.drafts.get('form-2')).not.toBeNull();
	});

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
