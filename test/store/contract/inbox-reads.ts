import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/domain/answer.ts';
import { snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { addWatch, assistant, session, setStyle } from '../../sessions/support.ts';
import type { FoundChange } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, draftOf, EVE, SERVICE, storeActs, submission, T0 } from '../support.ts';
import { ASKED, news, read, settled, watchActs } from './watch-acts.ts';

type AskingOptions = Partial<Parameters<typeof addWatch>[1]> & { since?: number };

export function describeInboxReads(subject: Subject): void {
	const { accepted, formShown, moved, setRows } = storeActs(subject);
	const replica = () => subject.replica.inboxes;

	/** A session with an open question, watched from `channelId`. */
	async function asking(sessionId: string, { since = T0, ...watch }: AskingOptions = {}) {
		const asks = session({ sessionId, status: 'humanInput', messages: [assistant('Which?', 'Colour')] });
		return addWatch(subject.store.watches, {
			sessionId,
			snapshot: snapshotOf(asks, since),
			createdAt: since,
			...watch,
		});
	}

	/** The open questions of Ann's workspace as `session: channels`. */
	async function open(teamId = 'T1') {
		const found = await replica().openQuestions(SERVICE, teamId);
		return found
			.map(({ question, channels }) => `${question.sessionId}: ${channels.map(({ channelId }) => channelId).join(' ')}`)
			.sort();
	}

	describe('open questions', () => {
		it('are those of watched sessions, with the channels that watch them', async () => {
			await asking('s1', { channelId: 'C1', since: T0 + 5 });
			await asking('s1', { channelId: 'C2', since: T0 + 9 });
			await setStyle(subject.store, { buttons: false }, 'C2');
			await addWatch(subject.store.watches, { sessionId: 'quiet' });
			expect(await replica().openQuestions(SERVICE, 'T1')).toEqual([
				{
					question: { service: SERVICE, sessionId: 's1', messageIndex: 0 },
					fingerprint: expect.any(String),
					since: T0 + 5,
					channels: [
						{ channelId: 'C1', threadTs: null, watchedBy: 'U-ANN', discreet: false, buttons: true, isRaised: false },
						{ channelId: 'C2', threadTs: null, watchedBy: 'U-ANN', discreet: false, buttons: false, isRaised: false },
					],
					handOver: null,
				},
			]);
			expect(await replica().isWatching(SERVICE, 'T1')).toBe(true);
		});

		it('of other workspaces and services, and of watches that ended, are left out', async () => {
			await asking('s1', { teamId: 'T2' });
			const { id } = await asking('s2');
			await subject.store.watches.end(id, 'unwatched', { now: T0, posts: [] });
			expect(await open()).toEqual([]);
			expect(await open('T2')).toEqual(['s1: C1']);
			expect(await replica().openQuestions('https://other.example', 'T2')).toEqual([]);
			expect(await replica().isWatching(SERVICE, 'T1')).toBe(false);
		});

		it('are known also while what is stored of their session is damaged', async () => {
			await asking('s1');
			await asking('s2');
			await setRows('watched_sessions', { digest: '{"question":1}' }, { sessionId: 's1' });
			expect(await open()).toEqual(['s1: C1', 's2: C1']);
		});

		it.each(['accepted', 'delivering'] as const)('do not wait while an answer is %s', async (state) => {
			await asking('s1');
			await asking('s2');
			await accepted(submission({ messageIndex: 0, formReadAt: T0 }), ...(state === 'accepted' ? [] : [state]));
			expect(await open()).toEqual(['s2: C1']);
		});

		it('do not wait after a delivery that their last read cannot know', async () => {
			await asking('s1', { since: T0 });
			await asking('read long ago', { since: T0 - 3_600_000 });
			await accepted(submission({ messageIndex: 0, formReadAt: T0 }), 'delivering', 'delivered');
			expect(await open()).toEqual(['read long ago: C1']);
			await setRows('watched_sessions', { lastReadAt: T0 + 60_000 }, { sessionId: 's1' });
			expect(await open()).toEqual(['read long ago: C1', 's1: C1']);
		});

		it('wait again when an answer failed, and while an answer to another question is sent', async () => {
			await asking('s1');
			await accepted(submission({ messageIndex: 0, formReadAt: T0 }), 'waiting');
			await accepted(submission({ messageIndex: 9, formReadAt: T0 }));
			expect(await open()).toEqual(['s1: C1']);
		});
	});

	it('reads what cards show of sessions, and the claims on their questions', async () => {
		await asking('s1');
		await asking('s2');
		const question = { service: SERVICE, sessionId: 's1', messageIndex: 0 };
		await formShown({ question, person: BOB, until: T0 + 300_000 }, T0 + 1);
		await formShown({ question, person: ANN, until: T0 + 300_000 }, T0);
		await formShown({ question: { ...question, messageIndex: 3 }, person: EVE, until: T0 + 9 }, T0);
		const snapshots = await replica().snapshots(SERVICE, ['s1', 'nowhere']);
		expect([...snapshots].map(([id, { name }]) => [id, name])).toEqual([['s1', 'Session s1']]);
		await formShown({ question: { ...question, sessionId: 's2' }, person: EVE, until: T0 + 9 }, T0);
		const claims = await replica().claims(SERVICE, ['s1'], T0 + 2);
		expect(claims.map(({ person, question: { messageIndex } }) => [person, messageIndex])).toEqual([
			[ANN, 0],
			[EVE, 3],
			[BOB, 0],
		]);
		expect(await replica().claims(SERVICE, ['s1'], T0 + 300_000)).toEqual([]);
		expect(await replica().claims(SERVICE, [], T0)).toEqual([]);
		expect(await replica().snapshots(SERVICE, [])).toEqual(new Map());
	});

	describe("a person's answers", () => {
		const own = (failedSince = T0, limit = 5) => replica().ownAnswers(SERVICE, ANN, { failedSince, limit });
		const sessionsOf = (answers: readonly { readonly question: { readonly sessionId: string } }[]) =>
			answers.map(({ question }) => question.sessionId);
		let at = T0;
		const given = (sessionId: string, more: Parameters<typeof submission>[0] = {}) => {
			at += 10;
			return submission({ sessionId, acceptedAt: at, formReadAt: at, ...more });
		};

		it('under way come after those that need a decision, each newest first', async () => {
			await accepted(given('waits'), 'waiting');
			await accepted(given('sent'), 'delivering', 'delivered');
			await accepted(given('saved'));
			await accepted(given('refused'), 'refused');
			await accepted(given('resumed'), 'delivering', 'delivered', 'resumed');
			await accepted(given('of bob', { person: BOB }));
			const { shown: found, total } = await own();
			expect(sessionsOf(found)).toEqual(['refused', 'waits', 'saved', 'sent']);
			expect(total).toBe(4);
			expect(found.map(({ state }) => state)).toEqual(['refused', 'waiting', 'accepted', 'delivered']);
			expect(await own(T0, 1)).toMatchObject({ shown: [{ question: { sessionId: 'refused' } }], total: 4 });
		});

		it('that failed long ago, were discarded or were given again need no decision', async () => {
			await accepted(given('long ago'), 'ended');
			const discarded = await accepted(given('discarded'), 'waiting');
			await subject.store.answers.withdraw(discarded.id, ANN, T0);
			await accepted(given('again'), 'refused');
			await accepted(given('again'), 'delivering', 'delivered', 'resumed');
			expect(await own(T0 + 3_600_000)).toEqual({ shown: [], total: 0 });
			expect(sessionsOf((await own(T0)).shown)).toEqual(['long ago']);
		});

		it('that could not start the agent need a decision', async () => {
			const answer = await accepted(given('stands'), 'delivering', 'delivered');
			await setRows('answers', { startFailed: 1, agentOutcome: 'unseen' }, { id: answer.id });
			expect(sessionsOf((await own()).shown)).toEqual(['stands']);
			await setRows('answers', { startFailed: 0 });
			expect((await own()).shown).toEqual([]);
		});

		it('that are over are left out once dismissed, by their author, until they go on', async () => {
			const dismissed = (id: string, person = ANN) => subject.replica.inboxes.dismiss(id, person);
			const refused = await accepted(given('refused'), 'refused');
			const waiting = await accepted(given('waits'), 'waiting');
			expect(await dismissed(refused.id, BOB)).toBe(false);
			expect(await dismissed(waiting.id)).toBe(false);
			expect(sessionsOf((await own()).shown)).toEqual(['waits', 'refused']);
			expect([await dismissed(refused.id), await dismissed(refused.id)]).toEqual([true, true]);
			expect(sessionsOf((await own()).shown)).toEqual(['waits']);
			expect(sessionsOf(await replica().lastAnswers(SERVICE, ANN, 5))).toEqual(['waits']);
			await subject.store.answers.retry(refused.id, ANN, T0 + 1, T0 + 9);
			expect(sessionsOf((await own()).shown)).toEqual(['waits', 'refused']);
			await moved(refused.id, 'refused');
			await setRows('answers', { endedAt: T0 + 2 }, { id: refused.id });
			expect(sessionsOf((await own()).shown)).toEqual(['waits', 'refused']);
		});

		it('are listed newest first', async () => {
			for (const id of ['a', 'b', 'c']) await accepted(given(id), 'delivering', 'delivered', 'resumed');
			await accepted(given('of bob', { person: BOB }));
			expect(sessionsOf(await replica().lastAnswers(SERVICE, ANN, 5))).toEqual(['c', 'b', 'a']);
			expect(sessionsOf(await replica().lastAnswers(SERVICE, ANN, 1))).toEqual(['c']);
			expect(await replica().lastAnswers('https://other.example', ANN, 5)).toEqual([]);
		});
	});

	describe("a person's drafts", () => {
		let at = T0;
		const next = () => {
			at += 1;
			return at;
		};
		async function draft(
			sessionId: string,
			more: Partial<Record<'text' | 'asked' | 'formId', string>> & { messageIndex?: number } = {},
		) {
			const { messageIndex = 0, text = 'half', formId = `form-${next()}` } = more;
			const question = { service: SERVICE, sessionId, messageIndex };
			const watched = await replica().snapshots(SERVICE, [sessionId]);
			const fingerprint = more.asked ?? watched.get(sessionId)?.question?.fingerprint ?? 'unknown';
			await subject.store.drafts.save(
				draftOf({ formId, person: ANN, question, fingerprint, values: { 0: text }, updatedAt: next() }),
			);
		}
		const found = async (limit = 5) =>
			(await replica().drafts(SERVICE, ANN, limit)).map(
				({ question, isClosed }) => `${question.sessionId}${isClosed ? ', closed' : ''}`,
			);

		it('are listed newest first, once for a question, which is closed unless it is open or nothing is known of it', async () => {
			await asking('open');
			await addWatch(subject.store.watches, { sessionId: 'closed' });
			await draft('unknown');
			await draft('open');
			await draft('closed');
			await draft('open', { messageIndex: 7, asked: 'something else' });
			await draft('open', { text: 'newer' });
			expect(await found()).toEqual(['open', 'open, closed', 'closed, closed', 'unknown']);
			expect(await found(1)).toEqual(['open']);
			expect((await replica().drafts(SERVICE, ANN, 1))[0]?.values).toEqual({ 0: 'newer' });
			expect(await replica().drafts(SERVICE, BOB, 5)).toEqual([]);
		});

		it('are left out once their author has answered, also where the question stands now', async () => {
			await addWatch(subject.store.watches, { sessionId: 's1' });
			await draft('s1');
			const answered = (more: Partial<Parameters<typeof submission>[0]>, ...states: Answer['state'][]) =>
				accepted(submission({ fingerprint: 'unknown', acceptedAt: at, ...more }), ...states);
			await answered({ person: BOB }, 'refused');
			// What was taken back, or was to another text there.
			const { id } = await answered({});
			await subject.store.answers.withdraw(id, ANN, T0 + 1);
			await answered({ messageIndex: 0, fingerprint: 'something else' }, 'refused');
			// The same words, before this was typed.
			await answered({ acceptedAt: at - 1 }, 'refused');
			// Each acceptance took the draft.
			expect(await found()).toEqual([]);
			await draft('s1');
			expect(await found()).toEqual(['s1, closed']);
			const sent = await answered({}, 'refused');
			expect(await found()).toEqual([]);
			// It was made of that answer.
			await draft('s1', { formId: sent.id });
			expect(await found()).toEqual([]);
		});

		it('are not closed while the same is asked at another place', async () => {
			await asking('moved');
			await draft('moved', { messageIndex: 7 });
			expect(await found()).toEqual(['moved']);
		});

		it('are closed while the same is asked at another place since a later time', async () => {
			await draft('later', { messageIndex: 7, asked: 'f' });
			await draft('there', { messageIndex: 1, asked: 'f' });
			for (const sessionId of ['later', 'there']) {
				await addWatch(subject.store.watches, { sessionId });
				const place = { service: SERVICE, sessionId, messageIndex: 1, fingerprint: 'f', shownHash: 'h' };
				const row = { ...place, id: sessionId, number: 1, askedAt: at + MINUTE };
				await subject.store.db.writeOne((trx) => trx.insertInto('questions').values(row).execute());
			}
			expect(await found()).toEqual(['there', 'later, closed']);
		});

		it('that hold nothing, or that were put aside for a form, are left out, and hide no others', async () => {
			await draft('older');
			for (const place of [1, 2, 3]) await draft('empty', { messageIndex: place, text: ' ' });
			await draft('aside', { messageIndex: -1 });
			expect(await found(1)).toEqual(['older']);
		});
	});
}

const SESSION = { service: SERVICE, sessionId: 's1' };
const MINUTE = 60_000;

export function describeSnoozes(subject: Subject): void {
	const snooze = (until: number, overrides = {}) =>
		subject.store.inboxes.snooze({ person: ANN, session: SESSION, fingerprint: 'f1', until, ...overrides });

	describe('snoozes', () => {
		it('are those of one person, one for each session', async () => {
			await snooze(T0 + 15 * MINUTE);
			await snooze(T0 + 60 * MINUTE, { fingerprint: 'f2' });
			await snooze(T0 + 30 * MINUTE, { session: { ...SESSION, sessionId: 's2' } });
			await snooze(T0 + 45 * MINUTE, { person: BOB });
			const anns = await subject.replica.inboxes.snoozes(SERVICE, ANN);
			expect(anns.toSorted((one, other) => one.until - other.until)).toEqual([
				{ person: ANN, session: { ...SESSION, sessionId: 's2' }, fingerprint: 'f1', until: T0 + 30 * MINUTE },
				{ person: ANN, session: SESSION, fingerprint: 'f2', until: T0 + 60 * MINUTE },
			]);
			expect(await subject.replica.inboxes.snoozes('https://other.example', ANN)).toEqual([]);
		});

		it('of a person end together, those of others stay', async () => {
			await snooze(T0 + 15 * MINUTE);
			await snooze(T0 + 15 * MINUTE, { person: BOB });
			await subject.replica.inboxes.endSnoozes(SERVICE, ANN);
			await subject.replica.inboxes.endSnoozes(SERVICE, ANN);
			expect(await subject.store.inboxes.snoozes(SERVICE, ANN)).toEqual([]);
			expect(await subject.store.inboxes.snoozes(SERVICE, BOB)).toHaveLength(1);
		});

		it('of a question end when it is settled, not when one of its watches ends', async () => {
			const acts = watchActs(subject);
			const [one, two] = [await acts.added(), await acts.added({ channelId: 'C2' })];
			await snooze(T0 + 15 * MINUTE);
			await snooze(T0 + 15 * MINUTE, { person: BOB });
			await snooze(T0 + 15 * MINUTE, { session: { ...SESSION, sessionId: 's2' } });
			const end = { now: T0, posts: [] } as const;
			await subject.store.watches.end(one.id, 'unwatched', end);
			expect(await subject.replica.inboxes.snoozes(SERVICE, BOB)).toHaveLength(1);
			const again = { nextRead: { at: T0, by: T0 } };
			await acts.recorded([news(two)], read({ ...again, questions: [ASKED] }));
			expect(await subject.replica.inboxes.snoozes(SERVICE, BOB)).toHaveLength(1);
			await acts.recorded([], read({ ...again, questions: [settled('answered')] }));
			expect(await subject.replica.inboxes.snoozes(SERVICE, BOB)).toEqual([]);
			const anns = await subject.replica.inboxes.snoozes(SERVICE, ANN);
			expect(anns.map((snooze) => snooze.session.sessionId)).toEqual(['s2']);
		});

		it('of a question go on while its agent has gone on without an answer, until it asks something else', async () => {
			const acts = watchActs(subject);
			await acts.added();
			const found = (...questions: FoundChange[]) =>
				acts.recorded([], read({ nextRead: { at: T0, by: T0 }, questions }));
			await found(ASKED);
			await snooze(T0 + 15 * MINUTE);
			await found(settled('wentOn'));
			expect(await subject.replica.inboxes.snoozes(SERVICE, ANN)).toHaveLength(1);
			await found({ kind: 'reopened', question: ASKED.question });
			expect(await subject.replica.inboxes.snoozes(SERVICE, ANN)).toHaveLength(1);
			await found(settled('wentOn'));
			const another = { ...ASKED.question, fingerprint: 'another', messageIndex: 9 };
			await found(settled('closed'), { ...ASKED, question: another });
			expect(await subject.replica.inboxes.snoozes(SERVICE, ANN)).toEqual([]);
		});

		it('are forgotten after their end', async () => {
			await snooze(T0 + 15 * MINUTE);
			expect(await subject.replica.inboxes.removeEndedSnoozes(T0 + 15 * MINUTE - 1)).toBe(0);
			expect(await subject.replica.inboxes.removeEndedSnoozes(T0 + 15 * MINUTE)).toBe(1);
		});
	});
}
