import { describe, expect, it } from 'vitest';
import type { SessionKey } from '../../../src/domain/session.ts';
import { snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { placeIn, SEALED_COLUMNS, TABLES, type TableName } from '../../../src/store/database.ts';
import { otherSpellings, TABLES_OF_SESSIONS } from '../../../src/store/spellings.ts';
import { addWatch, assistant, newWatch, session } from '../../sessions/support.ts';
import type { Subject } from '../contract.ts';
import {
	ANN,
	BOB,
	CONNECTIONS,
	draftOf,
	inTurns,
	item,
	LEASE,
	SERVICE,
	storeActs,
	submission,
	T0,
	valuesOf,
} from '../support.ts';
import { asking, KEY as FORMER, news, read, watchActs } from './watch-acts.ts';

/** The id that the service says for the session of `FORMER`. */
const SESSION: SessionKey = { service: SERVICE, sessionId: FORMER.sessionId.toUpperCase() };
const asks = (sessionId: string) =>
	session({ sessionId, status: 'humanInput', messages: [assistant('Which?', 'Colour')] });
const viewOf = (sessionId: string) => snapshotOf(asks(sessionId), T0);
const { fingerprint = '' } = viewOf('s1').question ?? {};
/** Of a question at place 0, which is what the session asks. */
const answerOf = (sessionId: string, overrides: Partial<Parameters<typeof submission>[0]> = {}) =>
	submission({ question: { service: SERVICE, sessionId, messageIndex: 0 }, fingerprint, ...overrides });

export function describeSpellings(subject: Subject): void {
	const { accepted, current, damage, formShown, lease, patched, receiptOf, rowsOf } = storeActs(subject);
	const acts = watchActs(subject);
	const move = (store = subject.store, former = FORMER, to = SESSION) => store.spellings.move(former, to, T0 + 50);
	const rowsIn = async (table: TableName, { service, sessionId }: SessionKey) =>
		(await rowsOf(table as 'drafts', { service, sessionId })) as Record<string, unknown>[];

	/** A watch whose question is posted. */
	async function asked(sessionId = FORMER.sessionId, channelId = 'C1') {
		const watch = await addWatch(subject.store.watches, { snapshot: viewOf(sessionId), sessionId, channelId });
		const session = { service: SERVICE, sessionId };
		await acts.recorded([news(watch, { posts: [asking(watch)] })], read({ nextRead: { at: T0, by: T0 } }), { session });
		for (let time = 0; time < 3; time += 1) await acts.posted();
		return watch;
	}

	/** Something in each table that has rows of sessions. */
	async function everything() {
		const { store } = subject;
		const answerers = { userIds: ['U-ANN'], groupIds: [] };
		const channel = { teamId: 'T1', channelId: 'C1' };
		const { settings, revision } = await store.channelSettings.read(channel);
		const post = { target: { kind: 'channel', ...channel }, key: 'x', content: { kind: 'nobodyLeft' } } as const;
		const written = { settings: { ...settings, answerers }, revision, person: ANN, post, now: T0 };
		await store.channelSettings.write(channel, written);
		const watch = await asked();
		const given = answerOf('s1', { items: [item('blue'), item('hunter2', { secret: true })] });
		await accepted(given);
		const question = given.question;
		await store.drafts.save(draftOf({ person: BOB, question, fingerprint, values: { 0: 'red' } }));
		await formShown({ question, person: BOB, until: T0 + 60_000 }, T0);
		await store.inboxes.snooze({ person: BOB, session: FORMER, fingerprint, until: T0 + 60_000 });
		await store.discoveries.replaceWaiting(SERVICE, [{ sessionId: 's1', name: 'Chairs', updatedAt: null }], {
			now: T0,
			isFollowing: false,
			isCut: false,
		});
		return { watch, given };
	}

	describe('a session whose id the service says in other letters', () => {
		it('has every row under that id, with values that can be read there', async () => {
			const { watch, given } = await everything();
			const before = Object.fromEntries(
				await Promise.all(TABLES_OF_SESSIONS.map(async (table) => [table, (await rowsIn(table, FORMER)).length])),
			);
			expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([]);
			expect(await move()).toBe(true);
			expect(await move(subject.replica)).toBe(false);
			for (const table of TABLES_OF_SESSIONS) {
				expect(await rowsIn(table, FORMER)).toEqual([]);
				const rows = await rowsIn(table, SESSION);
				// One more has all drawn again.
				expect([table, rows.length]).toEqual([table, (before[table] ?? 0) + Number(table === 'marks')]);
				for (const row of rows) {
					for (const column of SEALED_COLUMNS.filter((one) => one.table === table)) {
						const value = row[column.column];
						if (typeof value !== 'string') continue;
						const text = subject.store.cipher.decrypt(value, placeIn(column, row));
						expect([table, column.column, text]).not.toContain(null);
					}
					if ('leaseToken' in TABLES[table].columns) expect(row.leaseToken).toBeNull();
				}
			}
			expect(valuesOf(await current(given.id))).toEqual(['blue', 'hunter2']);
			const shown = (await subject.replica.watches.shownOf([watch.id])).get(watch.id);
			expect(shown).toMatchObject({ watch: { session: SESSION }, snapshot: { sessionId: 'S1' } });
			expect(shown?.question?.asked?.question.fingerprint).toBe(fingerprint);
			const [rule] = await subject.replica.channelSettings.rulesOf('T1', SESSION.sessionId);
			expect(rule).toMatchObject({ channelId: 'C1', userIds: ['U-ANN'] });
		});

		it('has its posts drawn again, and is read again at once', async () => {
			const watch = await asked();
			await acts.drawn();
			await move();
			const again = (await acts.postsOf(watch.id)).filter(({ dueAt }) => dueAt !== null);
			expect(again.map(({ kind }) => kind).toSorted()).toEqual(['card', 'question']);
			const [taken] = await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0 + 50);
			expect(taken?.session).toEqual(SESSION);
		});

		it('takes the lease of whoever works on what moves', async () => {
			const given = answerOf('s1');
			await accepted(given);
			await lease(given.id);
			await move();
			expect(await patched(given.id, { state: 'delivering' })).toBeNull();
			expect((await lease(given.id, LEASE, T0 + 60)).question).toEqual({ ...given.question, sessionId: 'S1' });
		});

		it.each([
			['the first of them', 0, 1_000, {}],
			['the first of them', 1_000, 0, {}],
			['the one whose PUT may arrive', 0, 1_000, { state: 'delivering', putStartedAt: T0 } as const],
		])('keeps one of two live answers to a question: %s (%i, %i ms)', async (_, formerMs, ms, put) => {
			const former = answerOf('s1', { person: ANN, items: [item('blue')], acceptedAt: T0 + formerMs });
			const own = answerOf('S1', { person: BOB, items: [item('red')], acceptedAt: T0 + ms });
			for (const one of [former, own]) await accepted(one);
			const isPut = 'putStartedAt' in put;
			if (isPut) {
				await lease(own.id, LEASE, T0 + 1_000);
				await patched(own.id, put);
			}
			const [first, second] = isPut || ms < formerMs ? [own, former] : [former, own];
			await subject.store.views.remove({ id: second.viewId });
			await move();
			expect(await current(first.id)).toMatchObject({ state: isPut ? 'delivering' : 'accepted', question: SESSION });
			const lost = await current(second.id);
			expect(lost).toMatchObject({ state: 'conflicted', question: SESSION, nextAttemptAt: null });
			const told = { viewId: null, ...SESSION, dueAt: T0 + 50 };
			expect(await receiptOf(second.id)).toMatchObject(told);
			expect(lost.content).toMatchObject({
				other: { answerId: first.id, person: first.person, values: valuesOf(await current(first.id)) },
			});
			expect(valuesOf(lost)).toEqual(second.items.map(({ value }) => value));
		});

		it('tells somebody whose answer waits of one that arrived under the other spelling', async () => {
			const arrived = answerOf('S1', { person: BOB, items: [item('red')] });
			await accepted(arrived, 'delivering', 'delivered');
			const waits = answerOf('s1', { formReadAt: T0 - 1_000 });
			await accepted(waits);
			await move();
			const content = { other: { answerId: arrived.id } };
			expect(await current(waits.id)).toMatchObject({ state: 'conflicted', content });
		});

		it('leaves an answer where it is that nobody can read now, and blocks nothing by it', async () => {
			const unreadable = answerOf('s1');
			await accepted(unreadable);
			await damage(unreadable.id, 'content');
			const own = answerOf('S1', { person: BOB, acceptedAt: T0 + 5 });
			await accepted(own);
			await move();
			expect(await current(own.id)).toMatchObject({ state: 'accepted' });
			expect(await current(unreadable.id)).toMatchObject({ state: 'accepted', question: FORMER });
		});

		it('has one open question where both were watched, with who has it, and all posts are about that', async () => {
			const [watch, own] = [await asked('s1', 'C1'), await asked('S1', 'C2')];
			const place = { teamId: 'T1', channelId: 'C1', session: FORMER, fingerprint, watchId: watch.id };
			const wish = { ...place, id: 'V1', from: 'U-ANN', to: 'U-BOB', replaces: null, note: 'You know it.' };
			expect(await subject.store.handOvers.handOver(wish, T0)).toMatchObject({ kind: 'handedOver' });
			await move();
			const questions = await rowsIn('questions', SESSION);
			expect(questions).toMatchObject([{ settledAt: null, toUserId: 'U-BOB' }]);
			const about = (await acts.postsOf(watch.id)).filter(({ kind }) => kind !== 'card');
			expect(about.map(({ questionId }) => questionId)).toEqual(Array(2).fill(questions[0]?.id));
			const shown = (await subject.replica.watches.shownOf([watch.id, own.id])).values();
			for (const one of shown) expect(one.question).toMatchObject({ settledHow: null, note: 'You know it.' });
			for (const channelId of ['C1', 'C2']) {
				const channel = { kind: 'channel', teamId: 'T1', channelId } as const;
				const { questions: reminded } = await subject.replica.reminders.factsOf(SERVICE, channel, T0);
				expect(reminded).toMatchObject([{ ...SESSION, questionId: questions[0]?.id }]);
			}
		});

		it('has one watch in a channel that watched both', async () => {
			const [watch, own] = [await asked('s1'), await asked('S1')];
			await move();
			expect(await acts.stored(watch.id)).toMatchObject({ session: SESSION, ended: { reason: 'unwatched' } });
			expect(await acts.stored(own.id)).toMatchObject({ ended: null });
		});

		it('is found by what is stored under it in other letters, and by nothing else', async () => {
			expect(await otherSpellings(subject.store.db.read, SESSION)).toEqual([]);
			await everything();
			expect(await subject.replica.spellings.others(SESSION)).toEqual(['s1']);
			expect(await subject.replica.spellings.others(FORMER)).toEqual([]);
			const elsewhere = { ...SESSION, service: 'https://another.example' };
			// By its list, which decides whatever the address is; the rest stays where it is.
			expect(await subject.replica.spellings.others(elsewhere)).toEqual(['s1']);
			await move(subject.store, { ...FORMER, service: elsewhere.service }, elsewhere);
			expect(await rowsIn('answer_rules', SESSION)).toHaveLength(1);
			expect(await rowsIn('answers', FORMER)).not.toEqual([]);
			expect(await subject.replica.spellings.others(elsewhere)).toEqual([]);
		});
	});

	it('leaves one live answer when people answer under both spellings while the replicas move it', async () => {
		const ids = Array.from({ length: 20 }, (_, index) => `race-${index}a`);
		await inTurns(ids, Math.max(1, Math.floor(CONNECTIONS / 4)), async (id) => {
			const [former, to] = [
				{ service: SERVICE, sessionId: id },
				{ service: SERVICE, sessionId: id.toUpperCase() },
			];
			await addWatch(subject.store.watches, { sessionId: id });
			const given = [answerOf(id, { person: ANN }), answerOf(to.sessionId, { person: BOB })] as const;
			await Promise.all([
				subject.store.answers.accept(given[0]),
				subject.replica.answers.accept(given[1]),
				move(subject.store, former, to),
				move(subject.replica, former, to),
				addWatch(subject.replica.watches, newWatch({ sessionId: to.sessionId, channelId: 'C2' })),
			]);
			// As the read of whoever delivers what came after the move.
			await move(subject.store, former, to);
			const states = await Promise.all(given.map(async (one) => (await current(one.id)).state));
			expect(states.toSorted()).toEqual(['accepted', 'conflicted']);
			expect(await rowsIn('answers', former)).toEqual([]);
		});
	});
}
