import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/database/encryption.ts';
import { createReencryption } from '../../../src/database/reencryption.ts';
import { addWatch } from '../../features/watch/support.ts';
import { asVersion1, storeValues, TEXTS, versionsOf } from '../key-values.ts';
import {
	ANN,
	accepted,
	BOB,
	createRecordingLog,
	draftOf,
	item,
	KEY,
	LEASE,
	submission,
	T0,
	valuesOf,
	windowsDue,
} from '../support.ts';
import { cipherOf, HURRIED, NEW, type Options, startsAt, storeAnswers } from './former-keys.ts';

type Started = Awaited<ReturnType<ReturnType<typeof startsAt>['first']>>;

const SECRET = item('hunter2', { secret: true });

/** What holds on any database for somebody who can write it and has no key. `where`: a new one for each test. */
export function describeBoundValues(name: string, where: () => Promise<Options>): void {
	describe(`stored values on ${name}`, () => {
		let place: string;
		let starts: ReturnType<typeof startsAt>;
		let now: Started;
		beforeEach(async () => {
			const options = await where();
			place = options.databaseUrl ?? options.dataDir;
			starts = startsAt(options);
			now = await starts.first();
		});
		const run = (statement: string) => now.store.db.writeOne((trx) => sql.raw(statement).execute(trx));

		it.each([
			"service = 'https://other.example'",
			"session_id = 'other'",
			'message_index = 2',
			"fingerprint = 'other'",
			"team_id = 'T2'",
			"user_id = 'U-BOB'",
		])('open in no answer that was moved by: set %s', async (change) => {
			const { id } = await accepted(now.store, submission({ items: [item('blue'), SECRET] }));
			expect(valuesOf(await now.store.answers.get(id))).toEqual(['blue', 'hunter2']);
			await run(`update answers set ${change}`);
			expect(valuesOf(await now.store.answers.get(id))).toBe('unreadable');
		});

		it('open in no answer to another session, also with the id of their own', async () => {
			const given = await accepted(now.store, submission({ sessionId: 's1', items: [SECRET] }));
			const { id } = await accepted(now.store, submission({ sessionId: 's2', items: [item('blue')] }));
			await run(`update answers set session_id = 's3', id = 'gone' where id = '${given.id}'`);
			await run(`update answers set id = '${given.id}', (content, secrets) =
				(select content, secrets from answers where id = 'gone') where id = '${id}'`);
			expect(await now.store.answers.get(given.id)).toMatchObject({
				question: { sessionId: 's2' },
				content: { kind: 'unreadable' },
			});
		});

		it('open after an edit by their author, which changes what they are bound to', async () => {
			const given = submission({ items: [item('blue'), SECRET] });
			await accepted(now.store, given);
			await now.store.answers.accept({ ...given, fingerprint: 'fingerprint-2', items: [item('red'), SECRET] });
			expect(valuesOf(await now.store.answers.get(given.id))).toEqual(['red', 'hunter2']);
		});

		it('show no draft to somebody else', async () => {
			const { question } = submission();
			await now.store.drafts.save(draftOf({ values: { 0: 'of ann' } }));
			expect((await now.store.drafts.newest(ANN, question))?.values).toEqual({ 0: 'of ann' });
			await run("update drafts set user_id = 'U-BOB'");
			expect(await now.store.drafts.newest(BOB, question)).toBeNull();
			await run("update drafts set user_id = 'U-ANN', session_id = 's2'");
			expect(await now.store.drafts.newest(ANN, { ...question, sessionId: 's2' })).toBeNull();
		});

		it('show no window to somebody else', async () => {
			await storeValues(now.store);
			await run("update windows set user_id = 'U-BOB'");
			await windowsDue(now.store, submission({ sessionId: 's2' }).question, T0);
			expect(await now.store.windows.takeDue(LEASE, 5, T0)).toMatchObject([{ userId: 'U-BOB', view: null }]);
		});

		it('of a question open in its session alone, wherever it stands and whoever has it, a note in its hand-over', async () => {
			await storeValues(now.store);
			const [{ id: watchId } = { id: '' }] = await now.store.db.read.selectFrom('watches').select('id').execute();
			const shown = async () => (await now.store.watches.shownOf([watchId])).get(watchId)?.question;
			await run(
				"update questions set message_index = 9, fingerprint = 'other', to_user_id = 'U-ANN' where hand_over_note is not null",
			);
			expect(await shown()).toMatchObject({ note: TEXTS['questions.handOverNote'], isUnreadable: false });
			await run("update questions set hand_over_id = 'H2' where hand_over_note is not null");
			expect(await shown()).toMatchObject({ note: null, isUnreadable: false });
			await addWatch(now.store.watches, { sessionId: 's7' });
			await run("update questions set session_id = 's7' where hand_over_id = 'H2'");
			const rows = now.store.db.read.selectFrom('watches').select('id').where('sessionId', '=', 's7');
			const { id } = await rows.executeTakeFirstOrThrow();
			expect((await now.store.watches.shownOf([id])).get(id)?.question).toMatchObject({ isUnreadable: true });
		});

		describe('of 1.0.0', () => {
			let readAll: Awaited<ReturnType<typeof storeValues>>;
			let expected: string;
			let putBack: Awaited<ReturnType<typeof asVersion1>>;
			beforeEach(async () => {
				readAll = await storeValues(now.store);
				expected = await readAll(now.store);
				await now.close();
				putBack = await asVersion1(place, KEY);
			});
			/** Brings all over. */
			async function bringOver(): Promise<void> {
				now.store.reencryption?.start();
				await expect.poll(now.messages, { interval: 10 }).toContainEqual(expect.stringContaining('bound to its row'));
			}

			it('are read, brought over without another key, and then not read any more', async () => {
				now = await starts.first();
				// Secrets of SQLite come over at the start.
				expect(await versionsOf(now.store)).toContain('1.');
				expect(await readAll(now.store)).toBe(expected);
				await bringOver();
				expect(await versionsOf(now.store)).toEqual(['2.']);
				expect(await readAll(now.store)).toBe(expected);
				for (const start of [starts.first, starts.both]) {
					await now.close();
					await putBack();
					now = await start();
					expect(now.fits()).toBe(true);
					expect(now.store.reencryption === null).toBe(start === starts.first);
					expect(await versionsOf(now.store)).toEqual(['1.']);
					const read = await readAll(now.store);
					for (const text of Object.values(TEXTS).filter((one) => !VIEWS.includes(one)))
						expect(read).not.toContain(text);
				}
			});

			it('stay unread when the check value is taken away', async () => {
				now = await starts.first();
				await bringOver();
				await run("delete from meta where name = 'key_check'");
				await now.close();
				await putBack();
				now = await starts.first();
				expect(await readAll(now.store)).toContain('unreadable');
			});

			it('are brought over by a change of the key', async () => {
				now = await starts.both();
				expect(await readAll(now.store)).toBe(expected);
				await now.change();
				await bringOver();
				expect(await versionsOf(now.store)).toEqual(['2.']);
				expect(await readAll(now.store)).toBe(expected);
				await now.close();
				expect(await starts.isEnough(NEW)).toBe(true);
			});

			it('of a key that is not given are read once it is', async () => {
				now = await starts.start({ encryptionKey: NEW });
				expect(now.store.reencryption).toBeNull();
				await now.close();
				now = await starts.both();
				expect(await readAll(now.store)).toBe(expected);
			});
		});

		it('of 1.0.0 are bound to what their row has when they are written, also when that just changed', async () => {
			const { read, texts } = await storeAnswers(now.store, 3);
			await now.close();
			await asVersion1(place, KEY);
			now = await starts.first();
			let writes = 0;
			let changing: Promise<unknown> | null = null;
			const writeOne: typeof now.store.db.writeOne = async (work) => {
				writes++;
				changing ??= run("update answers set fingerprint = 'other'");
				await changing;
				return now.store.db.writeOne(work);
			};
			const ring = createKeyRing(cipherOf(KEY));
			ring.setOpensOld(true);
			const reencryption = createReencryption({
				db: { ...now.store.db, writeOne },
				ring,
				clock: HURRIED,
				log: createRecordingLog(),
				onFormerValues: () => {},
				found: async () => {},
				finish: async () => true,
				follow: async () => {},
			});
			reencryption.start();
			await expect.poll(() => versionsOf(now.store), { interval: 10 }).toEqual(['2.']);
			await reencryption.stop();
			expect(writes).toBe(2 * texts.length);
			expect(await read(now.store)).toEqual(texts);
		});

		it('of 1.0.0 stay readable after a stop in the middle, and the next start goes on', async () => {
			const { read, texts } = await storeAnswers(now.store, 250);
			await now.close();
			await asVersion1(place, KEY);
			now = await starts.first();
			now.store.reencryption?.start();
			await expect.poll(() => versionsOf(now.store), { interval: 1 }).toEqual(['1.', '2.']);
			await now.close();
			now = await starts.first();
			expect(await versionsOf(now.store)).toEqual(['1.', '2.']);
			expect(await read(now.store)).toEqual(texts);
			now.store.reencryption?.start();
			await expect.poll(now.messages, { interval: 10 }).toContainEqual(expect.stringContaining('bound to its row'));
			expect(await versionsOf(now.store)).toEqual(['2.']);
			expect(await read(now.store)).toEqual(texts);
			await now.close();
			expect(await starts.isEnough(KEY)).toBe(true);
		});
	});
}

/** What is bound to its place alone, and stays. */
const VIEWS: readonly string[] = [TEXTS['watched_sessions.view'], TEXTS['waiting_sessions.name']];
