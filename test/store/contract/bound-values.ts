import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store, StoreOptions } from '../../../src/stores.ts';
import { addWatch } from '../../sessions/support.ts';
import { storeValues, TEXTS } from '../key-values.ts';
import { ANN, accepted, BOB, draftOf, item, KEY, LEASE, open, submission, T0, valuesOf } from '../support.ts';

const SECRET = item('hunter2', { secret: true });

/** What holds on any database for somebody who can write it and has no key. `where`: a new one for each test. */
export function describeBoundValues(
	name: string,
	where: () => Promise<Pick<StoreOptions, 'dataDir' | 'databaseUrl'>>,
): void {
	describe(`stored values on ${name}`, () => {
		let store: Store;
		beforeEach(async () => {
			store = await open({ ...(await where()), encryptionKey: KEY });
		});
		afterEach(() => store.close());
		const run = (statement: string) => store.db.writeOne((trx) => sql.raw(statement).execute(trx));

		it.each([
			"service = 'https://other.example'",
			"session_id = 'other'",
			'message_index = 2',
			"fingerprint = 'other'",
			"team_id = 'T2'",
			"user_id = 'U-BOB'",
		])('open in no answer that was moved by: set %s', async (change) => {
			const { id } = await accepted(store, submission({ items: [item('blue'), SECRET] }));
			expect(valuesOf(await store.answers.get(id))).toEqual(['blue', 'hunter2']);
			await run(`update answers set ${change}`);
			expect(valuesOf(await store.answers.get(id))).toBe('unreadable');
		});

		it('open in no answer to another session, also with the id of their own', async () => {
			const given = await accepted(store, submission({ sessionId: 's1', items: [SECRET] }));
			const { id } = await accepted(store, submission({ sessionId: 's2', items: [item('blue')] }));
			await run(`update answers set session_id = 's3', id = 'gone' where id = '${given.id}'`);
			await run(`update answers set id = '${given.id}', (content, secrets) =
				(select content, secrets from answers where id = 'gone') where id = '${id}'`);
			expect(await store.answers.get(given.id)).toMatchObject({
				question: { sessionId: 's2' },
				content: { kind: 'unreadable' },
			});
		});

		it('open after an edit by their author, which changes what they are bound to', async () => {
			const given = submission({ items: [item('blue'), SECRET] });
			await accepted(store, given);
			await store.answers.accept({ ...given, fingerprint: 'fingerprint-2', items: [item('red'), SECRET] });
			expect(valuesOf(await store.answers.get(given.id))).toEqual(['red', 'hunter2']);
		});

		it('show no draft to somebody else', async () => {
			const { question } = submission();
			await store.drafts.save(draftOf({ values: { 0: 'of ann' } }));
			expect((await store.drafts.newest(ANN, question))?.values).toEqual({ 0: 'of ann' });
			await run("update drafts set user_id = 'U-BOB'");
			expect(await store.drafts.newest(BOB, question)).toBeNull();
			await run("update drafts set user_id = 'U-ANN', session_id = 's2'");
			expect(await store.drafts.newest(ANN, { ...question, sessionId: 's2' })).toBeNull();
		});

		it('show no window to somebody else', async () => {
			await storeValues(store);
			const shown = async () => {
				await run(`update views set due_at = ${T0}`);
				const due = await store.views.takeDue(LEASE, 5, { now: T0, least: 'now' });
				await store.views.release([LEASE.token]);
				return due.filter(({ kind }) => kind === 'form').map((view) => store.views.formOf(view)?.callback_id);
			};
			expect(await shown()).toEqual([TEXTS['views.view']]);
			await run("update views set user_id = 'U-BOB'");
			expect(await shown()).toEqual([undefined]);
		});

		it('of a question open in its session alone, wherever it stands and whoever has it, a note in its hand-over', async () => {
			await storeValues(store);
			const [{ id: watchId } = { id: '' }] = await store.db.read.selectFrom('watches').select('id').execute();
			const shown = async () => (await store.watches.shownOf([watchId])).get(watchId)?.question;
			await run(
				"update questions set message_index = 9, fingerprint = 'other', to_user_id = 'U-ANN' where hand_over_note is not null",
			);
			expect(await shown()).toMatchObject({ note: TEXTS['questions.handOverNote'], isUnreadable: false });
			await run("update questions set hand_over_id = 'H2' where hand_over_note is not null");
			expect(await shown()).toMatchObject({ note: null, isUnreadable: false });
			await addWatch(store.watches, { sessionId: 's7' });
			await run("update questions set session_id = 's7' where hand_over_id = 'H2'");
			const rows = store.db.read.selectFrom('watches').select('id').where('sessionId', '=', 's7');
			const { id } = await rows.executeTakeFirstOrThrow();
			expect((await store.watches.shownOf([id])).get(id)?.question).toMatchObject({ isUnreadable: true });
		});
	});
}
