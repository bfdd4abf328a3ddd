import { expect, it, vi } from 'vitest';
import type { Draft } from '../../../src/delivery/draft-store.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, draftOf, EVE, submission, T0 } from '../support.ts';

const { question } = submission();
const LONG = { 0: 'blue', 2: 'x'.repeat(10_000) };
const draft = (overrides: Partial<Draft> = {}) => draftOf({ question, values: LONG, secret: [1], ...overrides });

export function describeDrafts(subject: Subject): void {
	const store = () => subject.store.drafts;
	const replica = () => subject.replica.drafts;
	it("removes secret items from the person's drafts for the question, and nothing else", async () => {
		const kept = [
			draft({ formId: 'bob', person: BOB }),
			draft({ formId: 'other', question: { ...question, messageIndex: 9 } }),
			draft({ formId: 'without', values: { 2: 'green' } }),
		];
		for (const one of kept) await store().save(one);
		await store().save(draft({ values: { 0: 'blue', 2: 'green' } }));
		await store().save(draft({ formId: 'form-2', values: { 0: 'blue' } }));
		await replica().forget(ANN, question, [0, 1]);
		expect(await store().get('form-1')).toEqual(draft({ values: { 2: 'green' } }));
		expect(await store().get('form-2')).toBeNull();
		for (const one of kept) expect(await store().get(one.formId)).toEqual(one);
	});

	it('adds a draft once for its id, and keeps the id when its texts are forgotten', async () => {
		const added = await Promise.all([store().addNew(draft()), replica().addNew(draft())]);
		expect(added.toSorted()).toEqual([false, true]);
		await store().save(draft({ values: {}, secret: [] }));
		expect(await replica().addNew(draft())).toBe(false);
		expect((await store().get('form-1'))?.values).toEqual({});
	});

	it('stores a draft word for word, and replaces that of the same form', async () => {
		await store().save(draft());
		expect(await replica().get('form-1')).toEqual(draft());
		expect(await replica().get('form-2')).toBeNull();
		const next = draft({ values: { 1: '' }, fingerprint: 'fingerprint-2', updatedAt: T0 + 1 });
		await store().save(next);
		expect(await store().get('form-1')).toEqual(next);
	});

	it.each([1, 3_600_000])('keeps a newer draft when an older one arrives that was held up for %i ms', async (ms) => {
		await store().save(draft({ values: { 0: 'new' }, updatedAt: T0 + ms }));
		await replica().save(draft({ values: { 0: 'old' } }));
		expect((await store().get('form-1'))?.values).toEqual({ 0: 'new' });
	});

	it('stores no draft of a submitted form', async () => {
		const given = submission({ submissionKey: 'view-1:form-1' });
		await store().save(draft(), given.submissionKey);
		await subject.store.answers.accept(given);
		await replica().save(draft({ updatedAt: T0 + 5 }), given.submissionKey);
		expect(await store().get('form-1')).toBeNull();
		await replica().save(draft({ formId: 'form-2' }), 'view-1:form-2');
		expect(await store().get('form-2')).not.toBeNull();
	});

	it("finds a person's newest draft for a question, whatever its fingerprint", async () => {
		await store().save(draft());
		const newest = draft({ formId: 'form-2', fingerprint: 'fingerprint-2', updatedAt: T0 + 1 });
		await store().save(newest);
		await store().save(draft({ formId: 'form-3', person: BOB, updatedAt: T0 + 2 }));
		const elsewhere = { ...question, messageIndex: 2 };
		await store().save(draft({ formId: 'form-4', question: elsewhere, updatedAt: T0 + 3 }));
		expect(await store().newest(ANN, question)).toEqual(newest);
		expect(await store().newest(EVE, question)).toBeNull();
		expect(await store().newest({ ...ANN, teamId: EVE.teamId }, question)).toBeNull();
	});

	it('discards only the drafts of a person for a question', async () => {
		await store().save(draft());
		await store().save(draft({ formId: 'form-2' }));
		await store().save(draft({ formId: 'form-3', person: BOB }));
		await store().save(draft({ formId: 'form-4', question: { ...question, sessionId: 's2' } }));
		await store().discard({ person: ANN, question });
		const left = await Promise.all(['form-1', 'form-2', 'form-3', 'form-4'].map((id) => store().get(id)));
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
		await store().save(draft());
		await store().save(draft({ formId: 'form-2', updatedAt: T0 + 1 }));
		expect(await store().removeOlderThan(T0 + 1)).toBe(1);
		expect(await store().get('form-1')).toBeNull();
		expect(await store().get('form-2')).not.toBeNull();
	});

	it('removes many drafts in several transactions, so that others are not held up', async () => {
		for (let n = 0; n < 450; n++) await store().save(draft({ formId: `form-${n}`, values: { 0: 'blue' } }));
		const transactions = vi.spyOn(subject.store.db, 'writeOne');
		expect(await store().removeOlderThan(T0 + 1)).toBe(450);
		expect(transactions.mock.calls.length).toBe(3);
		transactions.mockRestore();
	});
}
