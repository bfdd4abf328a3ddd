import { describe, expect, it } from 'vitest';
import { ourAnswers, whoWasFirst } from '../../../src/delivery/earlier-answers.ts';
import type { Answer } from '../../../src/domain/answer.ts';
import { questionAt } from '../../../src/domain/session.ts';
import { AWAITED } from '../../../src/surfaces/post.ts';
import { assistant, session } from '../../sessions/support.ts';
import { buildSession } from '../../support/sessions.ts';
import type { Subject } from '../contract.ts';
import {
	ANN,
	BOB,
	CONNECTIONS,
	EVE,
	inTurns,
	item,
	LEASE,
	only,
	SERVICE,
	storeActs,
	submission,
	T0,
	valuesOf,
} from '../support.ts';
import { ASKED, asking, askingView, KEY, news, QUESTION, read, watchActs } from './watch-acts.ts';

/** Asks for three items in message 1. */
const ASKS = session({ status: 'humanInput', messages: [assistant('Looking'), assistant('Which?', 'A', 'B', 'C')] });
const { fingerprint = '' } = questionAt(ASKS, 1) ?? {};

export function describeQueries(subject: Subject): void {
	const { accepted, damage, lease, patched, receiptOf, setRows } = storeActs(subject);
	const answers = () => subject.store.answers;
	/** What our answers mean for a read after all of them. */
	async function oursIn(asking: typeof ASKS) {
		const { answers: stored } = subject.replica;
		const arrival = await stored.arrivals({ service: SERVICE, sessionId: asking.sessionId });
		return ourAnswers(stored, { serviceUrl: SERVICE, reading: { session: asking, readAt: T0 + 1_000, arrival } });
	}
	const marksIn = async () => (await oursIn(ASKS)).secrecy;

	/** The positions of the question of `asking` that are not open although they are empty. */
	async function closed(asking = ASKS): Promise<number[]> {
		return [...(await oursIn(asking)).closedItems(1)].toSorted((one, other) => one - other);
	}

	describe('queries', () => {
		it.each([
			[true, []],
			[true, ['delivering']],
			[true, ['waiting']],
			[true, ['delivering', 'delivered']],
			[true, ['delivering', 'delivered', 'resumed']],
			[false, ['refused']],
			[false, ['conflicted']],
			[false, ['changed']],
			[false, ['ended']],
		] as const)('returns %s for a standing answer after %j', async (stands, states) => {
			const given = await accepted(submission(), ...states);
			expect((await answers().standing(given.question))?.id ?? null).toBe(stands ? given.id : null);
			expect(await answers().standing({ ...given.question, messageIndex: 2 })).toBeNull();
		});

		it('returns the newest of several standing answers', async () => {
			await accepted(submission(), 'delivering', 'delivered');
			const newer = submission({ person: BOB, acceptedAt: T0 + 1, formReadAt: T0 + 60 });
			await accepted(newer);
			expect((await answers().standing(newer.question))?.id).toBe(newer.id);
		});

		it('closes the items that answers left empty, and those that got a value which is not there', async () => {
			const items = [item('blue'), item('')];
			const first = submission({ items, leftEmpty: [1], fingerprint });
			await accepted(first, 'delivering', 'delivered', 'resumed');
			const second = submission({
				items: [item(null), item(null), item('')],
				leftEmpty: [2],
				fingerprint,
				formReadAt: T0 + 9,
			});
			await accepted(second, 'delivering', 'delivered');
			const [looking, which] = [assistant('Looking'), assistant('Which?', 'A', 'B', 'C')];
			const humanInput = which.humanInput.map((one, at) => (at === 0 ? { ...one, value: 'blue' } : one));
			expect(await closed(session({ ...ASKS, messages: [looking, { ...which, humanInput }] }))).toEqual([1, 2]);
			// The agent waits: nobody knows yet whether it has read them.
			expect(await closed()).toEqual([0, 1, 2]);
			expect(
				await closed(buildSession({ ...ASKS, messages: [assistant('Looking'), assistant('Which?', 'A')] })),
			).toEqual([]);
			await accepted(submission({ sessionId: 's2', items, leftEmpty: [1], fingerprint }), 'refused');
			expect(await closed({ ...ASKS, sessionId: 's2' })).toEqual([]);
		});

		it('tells secret positions after the values are removed, and which other values may have arrived', async () => {
			const items = [item('blue'), item('hunter2', { secret: true }), item(null)];
			const first = submission({ items });
			await accepted(first, 'delivering', 'delivered');
			const marks = {
				messageIndex: 1,
				fingerprint: 'fingerprint-1',
				secret: [1],
				boxed: true,
				mayHaveArrived: true,
				values: ['blue', null, null],
			};
			expect(await marksIn()).toEqual([marks]);
			await answers().removeValues(T0 + 99, T0 + 99);
			expect(await marksIn()).toEqual([{ ...marks, values: [] }]);
			const waits = submission({ items, boxed: false, person: EVE, formReadAt: T0 + 9, acceptedAt: T0 + 9 });
			await accepted(waits);
			expect((await marksIn())[1]).toEqual({ ...marks, boxed: false, mayHaveArrived: false });
			await accepted(submission({ sessionId: 's2' }));
			expect(await marksIn()).toHaveLength(2);
		});

		it.each([
			['content', { values: [] }],
			['secrets', {}],
			['other', {}],
			['submission', {}],
			['beforePut', {}],
			['agentOutcome', {}],
			['state', {}],
			['secretPositions', { secret: null, values: [null, null, null] }],
		] as const)('tells secret positions of an answer whose "%s" is damaged', async (column, lost) => {
			const given = submission({ items: [item('blue'), item('hunter2', { secret: true }), item(null)] });
			await accepted(given, 'delivering', 'delivered');
			const [secrecy] = await marksIn();
			expect(secrecy).toMatchObject({ secret: [1], mayHaveArrived: true, values: ['blue', null, null] });
			await damage(given.id, column);
			expect(await marksIn()).toEqual([{ ...secrecy, ...lost }]);
		});

		it('hides what somebody outside wrote where a damaged answer of ours was secret', async () => {
			const ours = submission({ items: [item('hunter2', { secret: true }), item('blue')], fingerprint });
			await accepted(ours, 'delivering', 'delivered');
			const later = submission({ items: [item('mine'), item('mine')], fingerprint, person: BOB, formReadAt: T0 + 9 });
			const lost = await accepted(later);
			await damage(ours.id, 'submission');
			const first = await whoWasFirst(subject.replica.answers, lost, ASKS, ['theirs', 'red']);
			expect(first).toMatchObject({ person: null, values: [null, 'red'] });
		});

		it('knows by its number, not by its time, which answer came after another', async () => {
			const given = (value: string, arrivalSeen: number) =>
				submission({ items: [item(value), item(null), item(null)], fingerprint, formReadAt: T0 + 2, arrivalSeen });
			const first = await accepted(given('blue', 0), 'delivering', 'delivered');
			const second = await accepted(given('red', 1), 'delivering', 'delivered');
			// As after the repair of a clock that was set back.
			expect(second.deliveredAt).toBe(first.deliveredAt);
			const holding = (value: string) => {
				const [looking, which] = [assistant('Looking'), assistant('Which?', 'A', 'B', 'C')];
				const humanInput = which.humanInput.map((one, at) => (at === 0 ? { ...one, value } : one));
				return session({ status: 'humanInput', messages: [looking, { ...which, humanInput }] });
			};
			async function isOverwritten({ id }: Answer, value: string) {
				const reading = { session: holding(value), readAt: T0 + 1_000, arrival: null };
				const { outcomes } = await ourAnswers(answers(), { serviceUrl: SERVICE, reading });
				return outcomes.some(({ answerId, outcome }) => answerId === id && outcome === 'overwritten');
			}
			expect(await isOverwritten(first, 'red')).toBe(false);
			expect(await isOverwritten(second, 'blue')).toBe(true);
			const third = await accepted(given('green', 2));
			// It may be the one that arrived.
			expect(await isOverwritten(second, 'green')).toBe(false);
			await lease(third.id, LEASE, T0 + 1_000);
			await patched(third.id, { state: 'waiting' });
			expect(await isOverwritten(second, 'green')).toBe(true);
			await patched(third.id, { state: 'refused', putStartedAt: T0 });
			expect(await isOverwritten(second, 'green')).toBe(false);
			expect(await whoWasFirst(answers(), first, holding('red'), ['red', '', ''])).toMatchObject({
				answerId: second.id,
			});
		});

		it("pages through a session's history of one workspace, newest first", async () => {
			const ids: string[] = [];
			for (let index = 0; index < 5; index++) {
				const given = submission({ acceptedAt: T0 + index, person: index % 2 === 0 ? ANN : BOB });
				ids.unshift(given.id);
				await accepted(given, 'refused');
			}
			await accepted(submission({ person: EVE }), 'refused');
			await accepted(submission({ sessionId: 's2' }), 'refused');
			const { service, sessionId } = submission().question;
			const page = (offset: number) => answers().history({ service, sessionId, teamId: 'T1' }, { offset, limit: 2 });
			const pages = [await page(0), await page(2), await page(4)];
			expect(pages.map(({ total }) => total)).toEqual([5, 5, 5]);
			expect(pages.flatMap(({ answers }) => answers.map((answer) => answer.id))).toEqual(ids);
		});

		it('counts answers by state and finds the oldest undelivered one', async () => {
			const none = { accepted: null, delivering: null, waiting: null };
			expect((await answers().stats()).oldestAt).toEqual(none);
			await accepted(submission({ acceptedAt: T0 - 9 }), 'delivering', 'delivered');
			await accepted(submission({ sessionId: 's2', acceptedAt: T0 - 5 }), 'waiting');
			await accepted(submission({ sessionId: 's3', acceptedAt: T0 }));
			await accepted(submission({ sessionId: 's4', acceptedAt: T0 }));
			expect(await answers().stats()).toEqual({
				byState: {
					accepted: 2,
					delivering: 0,
					waiting: 1,
					delivered: 1,
					resumed: 0,
					conflicted: 0,
					changed: 0,
					refused: 0,
					ended: 0,
					withdrawn: 0,
				},
				oldestAt: { ...none, accepted: T0, waiting: T0 - 5 },
			});
		});

		it('removes only the values of answers that ended before a given time', async () => {
			const old = submission({ items: [item('blue'), item('')], leftEmpty: [1], fingerprint });
			await accepted(old, 'delivering', 'delivered');
			const whole = await answers().get(old.id);
			const waiting = await accepted(submission({ sessionId: 's2' }), 'waiting');
			const live = await accepted(submission({ sessionId: 's3' }));
			expect(await answers().removeValues(T0 + 2, T0 + 2)).toBe(0);
			expect(await answers().removeValues(T0 + 3, T0 + 3)).toBe(1);
			expect(await answers().removeValues(T0 + 3, T0 + 3)).toBe(0);
			expect(await answers().get(old.id)).toEqual({ ...whole, content: { kind: 'removed' } });
			expect(valuesOf(await answers().get(waiting.id))).toEqual(['blue']);
			expect(valuesOf(await answers().get(live.id))).toEqual(['blue']);
			// It is still known what it filled, and left empty.
			expect(await closed()).toEqual([0, 1]);
		});

		it('removes the values of an answer that waited as long for its author and tells the author', async () => {
			const waiting = submission({ items: [item('blue'), item('hunter2', { secret: true })] });
			await accepted(waiting, 'waiting');
			await subject.store.views.remove({ id: waiting.viewId });
			const { giveUpAt } = waiting;
			expect(await answers().removeValues(giveUpAt, giveUpAt + 5)).toBe(0);
			expect(await answers().removeValues(giveUpAt + 1, giveUpAt + 5)).toBe(1);
			expect(await answers().removeValues(giveUpAt + 1, giveUpAt + 6)).toBe(0);
			const emptied = { state: 'waiting', content: { kind: 'removed' }, nextAttemptAt: null };
			expect(await answers().get(waiting.id)).toMatchObject(emptied);
			expect(await receiptOf(waiting.id)).toMatchObject({ viewId: null, dueAt: giveUpAt + 5 });
			expect(await subject.store.marks.nextDueAt()).not.toBeNull();
			expect((await answers().retry(waiting.id, waiting.person, T0, T0))?.kind).toBe('valuesGone');
		});

		it('removes more values than fit into one transaction', async () => {
			const { store } = subject;
			const many = Array.from({ length: 230 }, (_, index) => submission({ sessionId: `s${index}` }));
			await inTurns(many, CONNECTIONS, (given) => store.answers.accept(given));
			await setRows('answers', { endedAt: T0 });
			expect(await store.answers.removeValues(T0 + 1, T0 + 1)).toBe(230);
		});
	});
}

const LATER = T0 + 5_000;
/** Until then reminders wait for their questions. */
const FAR = T0 + 900_000;

/** What shows a question is marked in the transaction that changes its answer or its claims: nobody has to tell of it. */
export function describeMarked(subject: Subject): void {
	const { formShown, lease, patched, rowsOf, setRows } = storeActs(subject);
	const { store, added, recorded, posted, drawn, postsOf } = watchActs(subject);
	const question = { service: SERVICE, sessionId: KEY.sessionId, messageIndex: QUESTION.messageIndex };
	const given = (overrides: Parameters<typeof submission>[0] = {}) =>
		submission({ question, fingerprint: QUESTION.fingerprint, acceptedAt: LATER, ...overrides });

	/** A posted question with a reminder, and a window with its form. Returns what is marked after `act`, and nothing before. */
	async function markedBy(prepare: () => Promise<unknown>, act: () => Promise<unknown>) {
		const watch = await added();
		await posted();
		await recorded([news(watch, { posts: [asking(watch)] })], read({ snapshot: askingView(), questions: [ASKED] }));
		await posted();
		await formShown({ question, id: 'V1', person: EVE }, T0);
		await prepare();
		await drawn(LATER + 60_000);
		await setRows('posts', { dueAt: FAR, waitsAs: AWAITED }, { kind: 'reminder' });
		await setRows('views', { dueAt: null });
		const earlyCount = async () => only(await rowsOf('watched_sessions')).earlyReadCount;
		const before = await earlyCount();
		await act();
		const posts = (await postsOf(watch.id)).flatMap(({ kind, dueAt }) => (dueAt === null ? [] : [[kind, dueAt]]));
		const { dueAt: reminderAt } = only(await rowsOf('posts', { kind: 'reminder' }));
		return {
			posts: Object.fromEntries(posts),
			reminder: reminderAt === FAR ? null : reminderAt,
			window: await formDueAt(),
			isReadEarly: (await earlyCount()) > before,
		};
	}

	/** When the window is to be drawn again. */
	const formDueAt = async () => (await rowsOf('views', { id: 'V1' }))[0]?.dueAt;

	/** The messages that are to be drawn again. */
	const marked = async () => (await store().posts.takeDue(LEASE, 10, LATER)).filter(({ post }) => post.ts !== null);

	const nothing = async () => undefined;
	const update = async (id: string, patch: object) => {
		expect(await patched(id, patch, { now: LATER })).not.toBeNull();
	};
	/** Takes an answer through these patches under a lease. */
	const under =
		(answer: ReturnType<typeof given>, ...patches: object[]) =>
		async () => {
			await subject.store.answers.accept(answer);
			await lease(answer.id, LEASE, LATER);
			for (const patch of patches) await update(answer.id, patch);
		};
	const everything = { posts: { card: LATER, question: LATER }, reminder: LATER, window: LATER, isReadEarly: false };
	const beforePut = { status: 'humanInput', assistantCount: 1, sameCount: 0, stepsSince: 0, filled: [] };
	const begun = { state: 'delivering', putStartedAt: LATER, beforePut };
	const delivered = { state: 'delivered', deliveredAt: LATER };

	describe('what shows a question is marked in the transaction that', () => {
		it('accepts an answer', async () => {
			expect(await markedBy(nothing, () => subject.store.answers.accept(given()))).toEqual(everything);
		});

		it('accepts a press, which shows itself first', async () => {
			const press = given({ press: { undoUntil: LATER + 10_000 }, viewId: '' });
			const soon = LATER + 250;
			const marked = { posts: { card: soon, question: soon }, reminder: soon, window: soon, isReadEarly: false };
			expect(await markedBy(nothing, () => subject.store.answers.accept(press))).toEqual(marked);
		});

		it.each([
			['refuses it', [begun], { state: 'refused', lastError: 'request_too_large' }, false],
			['lets it wait for its author', [], { state: 'waiting' }, false],
			['notes a failure', [], { state: 'accepted', lastError: 'unavailable' }, false],
			['notes a delivery, and reads the session soon', [begun], delivered, true],
		])('%s', async (_, former, last, isReadEarly) => {
			const answer = given();
			const marked = await markedBy(under(answer, ...former), () => update(answer.id, last));
			expect(marked).toEqual({ ...everything, isReadEarly });
		});

		it('withdraws it, or queues it again', async () => {
			const [taken, failed] = [given(), given()];
			const withdraw = () => subject.store.answers.withdraw(taken.id, ANN, LATER);
			expect(await markedBy(() => subject.store.answers.accept(taken), withdraw)).toEqual(everything);
			const retry = () => subject.replica.answers.retry(failed.id, ANN, LATER, LATER + 1e6);
			await under(failed, { state: 'waiting' })();
			await drawn(LATER + 60_000);
			await retry();
			expect(await formDueAt()).toBe(LATER);
			expect(await marked()).toHaveLength(2);
		});

		it('begins or ends a claim, but not that a PUT begins', async () => {
			const claim = () => formShown({ question, id: 'V2', until: LATER + 1e5 }, LATER);
			expect(await markedBy(nothing, claim)).toEqual(everything);
			await drawn(LATER + 60_000);
			await subject.replica.views.formClosed('V2', ANN, LATER);
			expect(await marked()).toHaveLength(2);
			await store().posts.release([LEASE.token]);
			await drawn(LATER + 60_000);
			const answer = given();
			await under(answer)();
			await drawn(LATER + 60_000);
			await update(answer.id, begun);
			expect(await marked()).toEqual([]);
		});
	});
}
