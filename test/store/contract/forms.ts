import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../src/kernel/clock.ts';
import { markDue } from '../../../src/store/marks.ts';
import { FORM_FOLLOWED_MS } from '../../../src/surfaces/view-plan-store.ts';
import type { DueView } from '../../../src/surfaces/view-store.ts';
import { buildSession } from '../../support/sessions.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, EVE, LEASE, OTHER_LEASE, only, SERVICE, storeActs, submission, T0, VIEW } from '../support.ts';

const SESSION = { service: SERVICE, sessionId: 's1' };
const QUESTION = { ...SESSION, messageIndex: 3 };
const UNTIL = T0 + 5 * MINUTE_MS;
/** What a read of the session shows that asks something else by now. */
const ASKS_OTHER = buildSession({ sessionId: 's1', messages: [] });

/** Windows with a form, and who is answering in them. */
export function describeForms(subject: Subject): void {
	const { accepted, formShown, receiptOf, rowsOf, setRows } = storeActs(subject);
	const { store, replica } = { store: () => subject.store.views, replica: () => subject.replica.views };

	const shown = (form: Partial<Parameters<typeof formShown>[0]> = {}, now = T0) =>
		formShown({ question: QUESTION, id: 'V1', until: UNTIL, ...form }, now);

	interface Typing {
		readonly id?: string;
		readonly hash?: string;
		readonly question?: typeof QUESTION;
		readonly person?: typeof ANN;
		readonly until?: number;
		readonly submissionKey?: string;
	}
	const typed = (now: number, typing: Typing = {}, views = store()) => {
		const { id = 'V1', hash = 'hash-1', question = QUESTION, person = ANN, submissionKey = 'none' } = typing;
		const form = { question, person, fingerprint: 'fingerprint-1', shownHash: null, submissionKey };
		return views.typed(id, { ...form, hash, claimUntil: typing.until ?? now + 1 }, now);
	};
	const answering = async (now: number, question = QUESTION) =>
		(await replica().claims(question, now)).map(({ person }) => person.userId);

	/** A change of the session is spread. */
	async function changed(now: number, session = SESSION): Promise<void> {
		await subject.store.db.write((trx) => markDue({ trx, now }, session));
		await subject.store.marks.spread(now);
	}
	const take = (now: number, lease = LEASE) => store().takeDue(lease, 9, { now, least: 'follows' });
	async function takeOne(now: number): Promise<DueView> {
		return only(await take(now));
	}
	const dueAt = () => replica().nextDueAt('follows', T0);
	/** How many changes are marked that were not before. */
	async function marksOf(work: () => Promise<unknown>): Promise<number> {
		const count = async () => (await rowsOf('marks')).length;
		const before = await count();
		await work();
		return (await count()) - before;
	}

	describe('forms', () => {
		it('are due when a read finds something else, for one replica, and again when that changes meanwhile', async () => {
			await shown();
			expect(await dueAt()).toBeNull();
			await store().learn(SESSION, ASKS_OTHER, T0 + 1);
			await store().learn(SESSION, ASKS_OTHER, T0 + 2);
			expect(await dueAt()).toBe(T0 + 1);
			const view = await takeOne(T0 + 2);
			expect(view).toMatchObject({ kind: 'form', viewId: 'V1', person: ANN, hash: 'hash-1', learned: 'changed' });
			expect(store().formOf(view)).toEqual(VIEW);
			expect(await replica().takeDue(OTHER_LEASE, 9, { now: T0 + 2, least: 'follows' })).toEqual([]);
			await changed(T0 + 3);
			await store().end(view, LEASE.token, { shownKey: 'notice', hash: 'hash-2', nextAt: null }, T0 + 4);
			const again = await takeOne(T0 + 4);
			expect(again).toMatchObject({ shownKey: 'notice', hash: 'hash-2' });
			await store().end(again, LEASE.token, { nextAt: T0 + 9, attempts: 1 }, T0 + 4);
			expect(await dueAt()).toBe(T0 + 9);
		});

		it('hear of their own session alone, before all inboxes', async () => {
			await shown({ until: null });
			await shown({ id: 'V2', question: { ...QUESTION, sessionId: 's2' }, until: null });
			await subject.store.views.ask({ id: 'home', person: BOB, viewId: null }, 0, T0);
			await changed(T0 + 1, { ...SESSION, sessionId: 's2' });
			expect((await take(T0 + 1)).map(({ id }) => id)).toEqual(['V2', 'home']);
		});

		it('hear nothing 15 minutes after they were shown or typed in, and are told what they could not be told', async () => {
			await shown();
			await typed(T0 + 10 * MINUTE_MS);
			expect(await dueAt()).toBeNull();
			const touchedAt = T0 + 12 * MINUTE_MS;
			await typed(touchedAt, { hash: 'hash-2' });
			const view = await takeOne(touchedAt);
			expect(view.hash).toBe('hash-2');
			await store().end(view, LEASE.token, { nextAt: null }, touchedAt);
			const endsAt = touchedAt + FORM_FOLLOWED_MS;
			await changed(endsAt);
			await store().learn(SESSION, ASKS_OTHER, endsAt);
			expect(await dueAt()).toBeNull();
			await changed(endsAt - 1);
			expect(await dueAt()).toBe(endsAt - 1);
		});

		it('know the hash of a notice until they show another form, which has none', async () => {
			await shown();
			expect(await replica().noticeHash('V1')).toBeNull();
			await store().learn(SESSION, ASKS_OTHER, T0);
			const notice = { shownKey: 'notice', hash: 'hash-2', nextAt: null };
			await store().end(await takeOne(T0), LEASE.token, notice, T0);
			expect(await replica().noticeHash('V1')).toBe('hash-2');
			await changed(T0 + 1);
			// An update that is under way says nothing of the new form.
			const late = await takeOne(T0 + 1);
			await shown({}, T0 + 2);
			await store().end(late, LEASE.token, { ...notice, nextAt: T0 + 9 }, T0 + 3);
			expect(await replica().noticeHash('V1')).toBeNull();
			expect(await dueAt()).toBeNull();
			await store().learn(SESSION, ASKS_OTHER, T0 + 4);
			expect(await takeOne(T0 + 4)).toMatchObject({ learned: 'changed', shownKey: null, hash: 'hash-1' });
		});

		it('claim their question while they are open, and for good no more once they are closed', async () => {
			await shown({ until: T0 + 5 });
			expect(await answering(T0)).toEqual([ANN.userId]);
			await typed(T0 + 9);
			expect(await answering(T0 + 9)).toEqual([ANN.userId]);
			await replica().formClosed('V1', ANN, T0 + 9);
			expect(await answering(T0 + 9)).toEqual([]);
			await typed(T0 + 9);
			await shown({}, T0 + 9);
			await changed(T0 + 10);
			await store().learn(SESSION, ASKS_OTHER, T0 + 10);
			expect(await answering(T0 + 9)).toEqual([]);
			expect(await dueAt()).toBeNull();
			// Nobody knew this one.
			await store().formClosed('V2', ANN, T0);
			await shown({ id: 'V2' }, T0 + 1);
			await typed(T0 + 1, { id: 'V2' });
			expect(await answering(T0 + 1)).toEqual([]);
		});

		it.each([true, false])('claim nothing when typed or shown after the answer; known before: %s', async (isShown) => {
			const sent = submission({ question: QUESTION, submissionKey: 'V1:form', viewId: isShown ? 'V1' : 'other' });
			if (isShown) await shown();
			await accepted(sent);
			await typed(T0 + 1, { submissionKey: 'V1:form' });
			// A read that ended late.
			await shown({ submissionKey: 'V1:form' }, T0 + 1);
			expect(await answering(T0 + 1)).toEqual([]);
			expect(await receiptOf(sent.id)).toMatchObject({ kind: 'receipt', claimUntil: null });
			await typed(T0 + 1, { id: 'V2', submissionKey: 'V2:form' });
			expect(await answering(T0 + 1)).toEqual([ANN.userId]);
		});

		it('stay as they are when what was typed in an earlier form of their window comes late', async () => {
			const other = { ...QUESTION, messageIndex: 4 };
			await shown();
			await shown({ question: other, until: UNTIL }, T0 + 1);
			expect(await marksOf(() => typed(T0 + 2, { hash: 'hash-0', until: UNTIL + 9 }))).toBe(0);
			expect(await answering(T0 + 2)).toEqual([]);
			expect(await replica().claims(other, T0 + 2)).toMatchObject([{ until: UNTIL }]);
			expect(await dueAt()).toBeNull();
		});

		it('are forgotten when they show something else, or nobody has touched them for long', async () => {
			const isThere = async () => {
				await setRows('views', { dueAt: T0 });
				return (await dueAt()) !== null;
			};
			await shown();
			await store().remove({ id: 'V1' });
			expect(await isThere()).toBe(false);
			await shown();
			expect(await isThere()).toBe(true);
			expect(await replica().removeOld(T0 + FORM_FOLLOWED_MS - 1)).toBe(0);
			expect(await replica().removeOld(T0 + FORM_FOLLOWED_MS)).toBe(1);
			await store().formClosed('V1', ANN, T0);
			expect(await replica().removeOld(T0 + FORM_FOLLOWED_MS - 1)).toBe(0);
			expect(await replica().removeOld(T0 + FORM_FOLLOWED_MS)).toBe(1);
		});

		it('lose what they show when a text in it becomes secret, and their person goes on answering', async () => {
			await shown();
			await shown({ id: 'V2', person: BOB });
			await subject.replica.drafts.forget(ANN, QUESTION, [0]);
			await changed(T0 + 1);
			const views = new Map((await take(T0 + 1)).map((view) => [view.id, store().formOf(view)]));
			expect(Object.fromEntries(views)).toEqual({ V1: null, V2: VIEW });
			expect(await answering(T0 + 1)).toEqual([ANN.userId, BOB.userId]);
		});
	});

	describe('claims', () => {
		it('are listed until they lapse, each person once, the first first', async () => {
			await shown({ id: 'V1', person: BOB });
			await shown({ id: 'V2', person: ANN, until: UNTIL + 1 }, T0 + 1);
			// Ann has opened it in another window, too.
			await shown({ id: 'V3', person: ANN, until: UNTIL + 5 }, T0 + 2);
			await shown({ id: 'V4', person: EVE, question: { ...QUESTION, messageIndex: 2 } });
			// Who may not answer sees the form all the same.
			await shown({ id: 'V5', person: EVE, until: null });
			expect(await replica().claims(QUESTION, T0 + 2)).toEqual([
				{ question: QUESTION, person: BOB, until: UNTIL },
				{ question: QUESTION, person: ANN, until: UNTIL + 5 },
			]);
			expect(await answering(UNTIL)).toEqual([ANN.userId]);
			expect(await answering(UNTIL + 5)).toEqual([]);
		});

		it('are marked once when they begin, not while they go on, and again when they end', async () => {
			expect(await marksOf(() => shown())).toBe(1);
			expect(await marksOf(() => typed(T0 + 1, { until: UNTIL + 5 }))).toBe(0);
			expect(await marksOf(() => shown({ until: UNTIL + 6 }, T0 + 2))).toBe(0);
			expect(await replica().claims(QUESTION, UNTIL)).toMatchObject([{ until: UNTIL + 6 }]);
			expect(await marksOf(() => store().formClosed('V1', ANN, T0 + 3))).toBe(1);
			expect(await marksOf(() => store().formClosed('V1', ANN, T0 + 4))).toBe(0);
			// Nobody has heard of a window whose opening was not noted.
			expect(await marksOf(() => typed(T0 + 5, { id: 'V2' }))).toBe(1);
			expect(await marksOf(() => shown({ id: 'V3', person: BOB, until: null }))).toBe(0);
		});

		it('end when their window shows another question, or a form that its person may not send', async () => {
			await shown();
			const other = { ...QUESTION, messageIndex: 4 };
			expect(await marksOf(() => shown({ question: other }, T0 + 1))).toBe(2);
			expect(await answering(T0 + 1)).toEqual([]);
			expect(await answering(T0 + 1, other)).toEqual([ANN.userId]);
			expect(await marksOf(() => shown({ question: other, until: null }, T0 + 2))).toBe(1);
			expect(await answering(T0 + 2, other)).toEqual([]);
		});

		it('that have lapsed are new when their person goes on, behind the held ones', async () => {
			await shown({ id: 'V1', person: ANN, until: T0 + 5 });
			await shown({ id: 'V2', person: BOB }, T0 + 1);
			expect(await marksOf(() => typed(T0 + 6, { until: UNTIL }))).toBe(1);
			expect(await answering(T0 + 7)).toEqual([BOB.userId, ANN.userId]);
		});

		it('begin once when one person types twice at the same moment', async () => {
			for (let round = 0; round < 30; round++) {
				const id = `V${round}`;
				const question = { ...QUESTION, messageIndex: round };
				const typing = { id, question, until: UNTIL };
				const work = () => Promise.all([typed(T0, typing), typed(T0, typing, replica()), typed(T0, typing)]);
				expect(await marksOf(work)).toBe(1);
				expect(await answering(T0, question)).toEqual([ANN.userId]);
			}
		});

		it('of a person end with their answer, and of no other', async () => {
			await shown();
			await shown({ id: 'V2', person: BOB });
			// On another device.
			await shown({ id: 'V3' });
			await accepted(submission({ question: QUESTION, viewId: 'V1' }));
			expect(await answering(T0)).toEqual([BOB.userId]);
			const lost = submission({ question: QUESTION, viewId: 'V2', person: BOB });
			expect((await subject.replica.answers.accept(lost)).kind).toBe('taken');
			expect(await answering(T0)).toEqual([]);
		});
	});
}
