import { describe, expect, it } from 'vitest';
import { type Evidence, NOTHING_SEEN } from '../../../src/domain/asked.ts';
import type { QuestionDigest } from '../../../src/domain/session.ts';
import type { FoundInRead } from '../../../src/sessions/adding-store.ts';
import { auditLineOf } from '../../../src/store/audit-reader.ts';
import { settledEvents } from '../../operator/audit-command.ts';
import { SERVICE } from '../../sessions/support.ts';
import { type FoundChange, foundIn, recordRead } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { BOB, EVE, item, LEASE, LIVE, only, removeEnded, storeActs, submission, T0 } from '../support.ts';
import { askingView, KEY, QUESTION, read, settled, watchActs } from './watch-acts.ts';

/** What the answers of these tests answer. */
const ASKED: QuestionDigest = {
	messageIndex: 1,
	fingerprint: 'fingerprint-1',
	shownHash: 'shown',
	answered: [],
	open: [0, 1, 2],
};
const OTHER: QuestionDigest = { ...ASKED, messageIndex: 3, fingerprint: 'fingerprint-2' };

const asks = (question = ASKED): FoundChange => ({ kind: 'asked', question, settled: null });
const REOPENED = { kind: 'reopened', question: ASKED } as const satisfies FoundChange;
/** The agent asks the same once more, while it was open. */
const ASKS_AGAIN = [settled('renewed'), asks()];
const WAITED: Evidence = { ...NOTHING_SEEN, waitedSteps: 1 };

/** A form whose session was read before any answer arrived. */
const EARLY = { formReadAt: T0 - 1_000, arrivalSeen: 0 };
const BEFORE_PUT = { status: 'humanInput', assistantCount: 2, sameCount: 0, stepsSince: 1, filled: [] };
const BEGUN = { state: 'delivering', putStartedAt: T0, beforePut: BEFORE_PUT } as const;
const DELIVERED = { state: 'delivered', deliveredAt: T0 + 2, putStartedAt: null, nextAttemptAt: null } as const;

/** Each time that an agent asks: its answers, what reads have shown of it, and whether it is asked once more. */
export function describeAskings(subject: Subject): void {
	const { accepted, current, lease, moved, patched, receiptOf, rowsOf, setRows, spread } = storeActs(subject);
	const { store, added, questionRows: rows } = watchActs(subject);
	const answers = () => subject.store.answers;
	const known = () => subject.replica.answers.known(KEY, ASKED.fingerprint);

	const evidenceOf = async (index: number) => JSON.parse((await rows())[index]?.evidence ?? 'null') as Evidence | null;

	/** Records a read with these changes of questions; returns the ids of all of them. */
	async function found(questions: readonly FoundChange[], overrides: Partial<FoundInRead> = {}) {
		const token = 'reads';
		await store().sessions.takeDue(SERVICE, { ...LEASE, token }, 10, T0);
		const update = read({ nextRead: { at: T0, by: T0 }, found: await foundIn(store(), KEY, questions, overrides) });
		expect(await recordRead(store(), { session: KEY, token }, { update, watches: [], now: T0 })).toBe(true);
		return (await rows()).map(({ id }) => id);
	}

	/** Records a read of somebody while nobody watches the session. */
	const foundUnwatched = async (questions: readonly FoundChange[], overrides: Partial<FoundInRead> = {}) =>
		store().reads.recordUnwatched(KEY, await foundIn(store(), KEY, questions, overrides), { readAt: T0, now: T0 });

	const questionIdOf = async (id: string) => (await current(id)).questionId;
	const unwatch = (id: string) => store().watches.end(id, 'unwatched', { now: T0 + 1, posts: [] });

	/** Accepts an answer, which arrives. */
	async function arrived(given = submission()) {
		await begun(given);
		await patched(given.id, DELIVERED, { release: true });
		return given;
	}

	/** Accepts an answer and has its PUT begin. */
	async function begun(given = submission(), patch: object = BEGUN) {
		await accepted(given);
		await lease(given.id);
		await patched(given.id, patch);
		return given;
	}

	describe('an answer', () => {
		it('belongs to the newest time that its question is asked: when it is accepted, when its PUT begins, and when it is tried again', async () => {
			await added();
			const [first] = await found([asks()]);
			const given = await accepted(submission());
			expect(given.questionId).toBe(first);
			await lease(given.id);
			const [, again] = await found(ASKS_AGAIN);
			await patched(given.id, { state: 'delivering' });
			expect(await questionIdOf(given.id)).toBe(first);
			await patched(given.id, { putStartedAt: T0, beforePut: BEFORE_PUT });
			expect(await questionIdOf(given.id)).toBe(again);
			await patched(given.id, { state: 'waiting' }, { release: true });
			const [, , once] = await found(ASKS_AGAIN);
			await answers().retry(given.id, given.person, T0, T0 + 9_000);
			expect(await questionIdOf(given.id)).toBe(once);
		});

		it('that nobody watches has a row of its question, one for all its answers', async () => {
			const first = await accepted(submission());
			const asked = { messageIndex: 1, fingerprint: 'fingerprint-1', askedAt: 0, content: null };
			const own = { ...asked, settledHow: 'unwatched', settledAt: T0, evidence: JSON.stringify(NOTHING_SEEN) };
			expect(await rows()).toMatchObject([{ ...own, id: first.questionId, number: 1 }]);
			await answers().withdraw(first.id, first.person, T0);
			const second = await accepted(submission({ person: BOB }));
			expect(second.questionId).toBe(first.questionId);
			await answers().withdraw(second.id, second.person, T0);
			const other = await accepted(submission({ fingerprint: OTHER.fingerprint }));
			expect(await rows()).toMatchObject([{ number: 1 }, { id: other.questionId, number: 2 }]);
			expect(await known()).toMatchObject({
				newest: { id: other.questionId },
				equal: [{ id: first.questionId }],
				heldIds: [other.questionId],
			});
			// No agent asked that as far as anybody has read.
			expect((await settledEvents(store().db.read)).map(({ action }) => action)).not.toContain('asked');
		});

		it('to what a watch has never read is to an older question than the one that is asked', async () => {
			await added();
			const [open] = await found([asks()]);
			const late = await accepted(submission({ fingerprint: 'long gone' }));
			expect(await rows()).toMatchObject([
				{ id: late.questionId, number: 0, settledHow: 'unwatched' },
				{ id: open, number: 1, settledHow: null },
			]);
			expect((await known()).newest?.id).toBe(open);
		});

		it('is live to its question until its outcome is known', async () => {
			const given = await begun();
			const { heldIds } = await known();
			expect(heldIds).toContain(await questionIdOf(given.id));
			await patched(given.id, DELIVERED);
			expect((await known()).heldIds).toEqual([]);
		});

		it.each(['watched', 'not watched'])(
			'is noted in its row when it arrives, with its number, and all positions that have got a value, %s',
			async (how) => {
				if (how === 'watched') {
					await added();
					await found([asks()]);
				}
				const first = await begun(submission({ leftEmpty: [1] }));
				expect(await evidenceOf(0)).toEqual(NOTHING_SEEN);
				await patched(first.id, DELIVERED, { release: true });
				const value = { answerId: first.id, number: 1, at: T0 + 2, steps: 1, isPerhaps: false, filled: [0] };
				expect(await evidenceOf(0)).toEqual({ ...NOTHING_SEEN, filled: [0], leftEmpty: [1], value });
				const items = [item(null), item(null), item('red')];
				const second = await accepted(submission({ person: BOB, items, formReadAt: T0 + 9 }));
				await moved(second.id, 'delivering', 'delivered');
				expect(await evidenceOf(0)).toMatchObject({
					filled: [0, 2],
					leftEmpty: [1],
					value: { answerId: second.id, number: 2, filled: [2] },
				});
			},
		);

		it('is noted with the values that stood beside it before the PUT, and under the same number when it is sent again', async () => {
			const given = await begun(submission(), { ...BEGUN, beforePut: { ...BEFORE_PUT, filled: [2] } });
			await patched(given.id, DELIVERED);
			expect(await evidenceOf(0)).toMatchObject({ filled: [0, 2], value: { number: 1, steps: 1, filled: [0] } });
			await patched(given.id, { beforePut: { ...BEFORE_PUT, stepsSince: 4 }, putStartedAt: T0 + 9 });
			await patched(given.id, { ...DELIVERED, deliveredAt: T0 + 10 });
			expect((await evidenceOf(0))?.value).toMatchObject({ number: 1, at: T0 + 10, steps: 4 });
			expect((await current(given.id)).timeline.at(-1)).toMatchObject({ arrival: 1 });
		});

		it('that is not sent any more, and may have arrived, is noted as that, until one arrives', async () => {
			const given = await begun();
			await patched(given.id, { state: 'waiting', nextAttemptAt: T0 }, { release: true });
			const perhaps = { answerId: given.id, number: null, at: T0, steps: 1, isPerhaps: true, filled: [0] };
			// Nobody knows whether it filled anything.
			expect(await evidenceOf(0)).toEqual({ ...NOTHING_SEEN, value: perhaps });
			await lease(given.id);
			await patched(given.id, DELIVERED, { release: true });
			expect(await evidenceOf(0)).toMatchObject({ filled: [0], value: { number: 1, isPerhaps: false } });
		});

		it('whose PUT certainly did not arrive is noted nowhere', async () => {
			const given = await begun();
			await patched(given.id, { state: 'refused', putStartedAt: null }, { release: true });
			expect(await evidenceOf(0)).toEqual(NOTHING_SEEN);
		});

		it('is noted in its own row alone, also when the agent asks something else by then, and so tells the audit', async () => {
			await added();
			await found([asks()]);
			const late = await begun();
			await found([settled('closed'), asks(OTHER)]);
			await patched(late.id, DELIVERED);
			expect((await evidenceOf(0))?.value).toMatchObject({ answerId: late.id });
			expect(await evidenceOf(1)).toEqual(NOTHING_SEEN);
			await found([], { outcomes: [{ answerId: late.id, outcome: 'resumed' }] });
			const events = (await settledEvents(store().db.read)).map(auditLineOf);
			const told = events.filter(({ action }) => action !== 'watched');
			expect(told.map(({ action, fingerprint, answer }) => [action, fingerprint, answer])).toEqual([
				['asked', ASKED.fingerprint, null],
				['answered', ASKED.fingerprint, late.id],
				['asked', OTHER.fingerprint, null],
				['delivered', ASKED.fingerprint, late.id],
				['resumed', ASKED.fingerprint, late.id],
			]);
		});

		it('is noted in the row of its question when it was accepted before anybody watched', async () => {
			const early = await accepted(submission());
			await added();
			const ids = await found([REOPENED]);
			expect(ids).toEqual([early.questionId]);
			expect(await rows()).toMatchObject([{ settledHow: null, askedAt: T0 }]);
			await moved(early.id, 'delivering', 'delivered');
			expect((await evidenceOf(0))?.value).toMatchObject({ answerId: early.id, number: 1 });
		});

		it('settles its question by its name, also when it arrives after a read has shown its value', async () => {
			await added();
			await found([asks()]);
			const given = await begun();
			await found([settled('answered')]);
			expect(await rows()).toMatchObject([{ settledHow: 'answered', answerId: given.id }]);
			await patched(given.id, DELIVERED);
			expect(await rows()).toMatchObject([{ settledHow: 'answered', answerId: given.id }]);
		});

		it('prevents no other answer, and does not stand, once the same is asked again', async () => {
			await added();
			await found([asks()]);
			const first = await accepted(submission(), 'delivering', 'delivered');
			expect(await answers().standing(first.question)).toMatchObject({ id: first.id });
			expect(await answers().accept(submission({ person: BOB, ...EARLY }))).toMatchObject({ kind: 'taken' });
			await found([settled('answered'), asks()]);
			expect(await answers().standing(first.question)).toBeNull();
			const second = await accepted(submission({ person: BOB, ...EARLY }));
			expect(await answers().standing(first.question)).toMatchObject({ id: second.id });
		});

		it.each(LIVE)('prevents another one and stands while %s, also when the same is asked again', async (_, states) => {
			await added();
			await found([asks()]);
			const first = await accepted(submission(), ...states);
			await found(ASKS_AGAIN);
			expect(await answers().standing(first.question)).toMatchObject({ id: first.id });
			expect(await answers().accept(submission({ person: EVE, ...EARLY }))).toMatchObject({ kind: 'taken' });
		});
	});

	describe('what became of a delivered answer', () => {
		it.each(
			['watched', 'not watched'].flatMap((how) => [
				[how, 'lost', { state: 'delivered', startFailed: true }] as const,
				[how, 'completed', { state: 'delivered', startFailed: true }] as const,
				[how, 'resumed', { state: 'resumed', startFailed: false }] as const,
			]),
		)(
			'of a session that is %s is stored with the read that shows it, once, and its author is told: %s',
			async (how, outcome, after) => {
				if (how === 'watched') await added();
				const record = async (...outcomes: FoundInRead['outcomes']) =>
					how === 'watched'
						? void (await found([], { outcomes }))
						: expect(await foundUnwatched([], { outcomes })).toBe(true);
				const { id: answerId } = await begun();
				// It was told before that there is no sign of the agent.
				const unseen = { ...DELIVERED, agentOutcome: 'unseen', startFailed: true } as const;
				await patched(answerId, unseen, { release: true });
				await record();
				expect(await current(answerId)).toMatchObject({ agentOutcome: 'unseen', nextAttemptAt: null });
				await setRows('views', { dueAt: null, notBefore: null });
				await record({ answerId, outcome });
				const told = { agentOutcome: outcome, nextAttemptAt: null, ...after };
				expect(await current(answerId)).toMatchObject(told);
				await spread();
				expect(await receiptOf(answerId)).toMatchObject({ dueAt: T0 });
				await record({ answerId, outcome: 'overwritten' });
				expect(await current(answerId)).toMatchObject(told);
			},
		);

		it.each([
			['lost', T0],
			['completed', undefined],
		] as const)('is told to an author of whom nothing waited any more, if bad news: %s', async (outcome, dueAt) => {
			const { id: answerId, viewId } = await arrived();
			await subject.store.views.remove({ id: viewId });
			await foundUnwatched([], { outcomes: [{ answerId, outcome }] });
			expect((await receiptOf(answerId))?.dueAt).toBe(dueAt);
		});

		it('is told to the audit once, when somebody elsewhere overwrote it', async () => {
			const given = await arrived();
			const outcomes = [{ answerId: given.id, outcome: 'overwritten' }] as const;
			for (let time = 0; time < 2; time += 1) await foundUnwatched([], { outcomes });
			const events = (await settledEvents(store().db.read)).map(({ action }) => action);
			expect(events).toEqual(['answered', 'delivered', 'overwritten']);
		});

		it('changes nothing of an answer that is not delivered', async () => {
			const given = await begun();
			await foundUnwatched([], { outcomes: [{ answerId: given.id, outcome: 'resumed' }] });
			expect(await current(given.id)).toMatchObject({ state: 'delivering', agentOutcome: null });
		});

		it('is replaced when another answer to the question arrives after it was lost', async () => {
			await added();
			await found([asks()]);
			const first = await arrived();
			const outcomes = [{ answerId: first.id, outcome: 'lost' }] as const;
			await found([settled('answered'), asks()], { outcomes });
			await arrived(submission({ person: BOB, formReadAt: T0 + 9, acceptedAt: T0 - 1 }));
			expect(await current(first.id)).toMatchObject({ agentOutcome: 'replaced', nextAttemptAt: null });
		});
	});

	describe('a read', () => {
		/** What a read would write; `overtaken` is stored between it and its judging. Expects that it writes nothing. */
		async function overtaken(
			act: () => Promise<unknown>,
			record: (found: FoundInRead) => Promise<boolean>,
		): Promise<void> {
			const delivered = await arrived(submission({ fingerprint: 'earlier', formReadAt: T0 + 9 }));
			const outcomes = [{ answerId: delivered.id, outcome: 'resumed' }] as const;
			const judged = await foundIn(store(), KEY, [settled('closed')], { outcomes });
			await act();
			const before = [await rows(), await current(delivered.id)];
			expect(await record(judged)).toBe(false);
			expect([await rows(), await current(delivered.id)]).toEqual(before);
		}

		const LATE = T0 + 5_000;

		async function recorded(found: FoundInRead, token: string | null = LEASE.token, lastReadAt: number | null = T0) {
			const outcome = { update: read({ lastReadAt: LATE, found }), watches: [], now: LATE };
			return store().reads.record({ session: KEY, token, lastReadAt }, outcome);
		}

		async function taken(): Promise<void> {
			await added();
			await found([asks()]);
			await store().sessions.takeDue(SERVICE, LEASE, 10, T0);
		}

		it('that an answer overtook changes nothing, and comes again at once', async () => {
			await taken();
			await overtaken(arrived, recorded);
			expect(await store().sessions.nextDueAt(SERVICE)).toBe(LATE);
			const [again] = await store().sessions.takeDue(SERVICE, LEASE, 10, LATE);
			expect(again).toMatchObject({ session: KEY, lastReadAt: T0 });
			expect(await recorded(await foundIn(store(), KEY, [settled('closed')]))).toBe(true);
			expect((await rows()).at(-1)).toMatchObject({ settledHow: 'closed' });
		});

		it('changes nothing once another read is stored', async () => {
			await taken();
			const another = async () => {
				const update = read({ lastReadAt: T0 + 1 });
				expect(await recordRead(store(), { session: KEY, token: null }, { update, watches: [], now: T0 })).toBe(true);
			};
			await overtaken(another, recorded);
		});

		it('changes nothing without its lease', async () => {
			await taken();
			await overtaken(() => store().sessions.release([LEASE.token]), recorded);
		});

		it('of somebody who does not watch keeps the lease and the next read of the watch', async () => {
			await taken();
			const { nextReadAt, leaseToken } = only(await rowsOf('watched_sessions'));
			expect(await recorded(await foundIn(store(), KEY, [settled('closed')]), null)).toBe(true);
			expect(await rows()).toMatchObject([{ settledHow: 'closed' }]);
			expect(await rowsOf('watched_sessions')).toMatchObject([{ nextReadAt, leaseToken, lastReadAt: LATE }]);
			expect(leaseToken).toBe(LEASE.token);
		});

		it.each([
			['an answer arrived', () => arrived(submission({ person: BOB, fingerprint: 'earlier', formReadAt: T0 + 9 }))],
			['somebody watches it', () => added()],
		] as const)('of a session that nobody watches changes nothing once %s', async (_, act) => {
			await overtaken(act, (judged) => store().reads.recordUnwatched(KEY, judged, { readAt: T0, now: T0 }));
		});

		it('of a session that nobody watches notes what our answers are to', async () => {
			await arrived();
			const seen: FoundChange = { kind: 'seen', evidence: { ...WAITED, emptied: true }, messageIndex: 5 };
			expect(await foundUnwatched([seen])).toBe(true);
			expect(await rows()).toMatchObject([{ messageIndex: 5, settledHow: 'unwatched', answerId: null }]);
			expect(await evidenceOf(0)).toEqual({ ...WAITED, emptied: true });
		});
	});

	describe('a time that an agent asks', () => {
		it('keeps what reads have shown of it, and where it stands', async () => {
			await added();
			await found([asks()]);
			await found([{ kind: 'seen', evidence: WAITED }]);
			expect(await evidenceOf(0)).toEqual(WAITED);
			await found([settled('answered'), asks()]);
			expect(await known()).toMatchObject({
				newest: { evidence: NOTHING_SEEN, settledHow: null },
				equal: [{ settledHow: null }, { settledHow: 'answered', evidence: WAITED }],
			});
			const left = { kind: 'seen', evidence: { ...WAITED, activeSince: T0 }, messageIndex: 2 } as const;
			await found([left, settled('closed'), asks(OTHER)]);
			expect(await known()).toMatchObject({
				newest: { evidence: NOTHING_SEEN, messageIndex: 3 },
				equal: [{ evidence: { activeSince: T0 }, settledHow: 'closed', messageIndex: 2 }, {}],
			});
			expect(await evidenceOf(0)).toEqual(WAITED);
		});

		it('is known by the newest times that its text was asked, and by no more', async () => {
			await added();
			for (let time = 0; time < 25; time += 1) await found(ASKS_AGAIN.slice(time === 0 ? 1 : 0));
			const { newest, equal } = await known();
			expect(equal).toHaveLength(20);
			expect(equal[0]).toEqual(newest);
			expect(await subject.replica.answers.known(KEY, OTHER.fingerprint)).toMatchObject({ newest, equal: [] });
			const ofNone = await subject.replica.answers.known({ ...KEY, sessionId: 'none' }, ASKED.fingerprint);
			expect(ofNone).toEqual({ newest: null, equal: [], heldIds: [] });
		});

		it('goes on as it was when its session is watched again', async () => {
			const watch = await added();
			const [id] = await found([asks()]);
			await found([{ kind: 'seen', evidence: WAITED }]);
			await unwatch(watch.id);
			expect(await rows()).toMatchObject([{ id, settledHow: 'unwatched' }]);
			const snapshot = askingView({ ...QUESTION, fingerprint: ASKED.fingerprint });
			const reopened = await foundIn(store(), KEY, [REOPENED]);
			await added({ createdAt: T0 + 9, snapshot: { ...snapshot, seenAt: T0 + 9 }, found: reopened });
			expect(await rows()).toMatchObject([{ id, settledAt: null, settledHow: null, askedAt: T0 }]);
			expect(await evidenceOf(0)).toEqual(WAITED);
		});

		it('is another one when its session is watched again, and the agent asks something else', async () => {
			const watch = await added();
			await found([asks()]);
			await unwatch(watch.id);
			const snapshot = askingView({ ...QUESTION, messageIndex: OTHER.messageIndex, fingerprint: OTHER.fingerprint });
			await added({ snapshot, found: await foundIn(store(), KEY, [settled('closed'), asks(OTHER)]) });
			expect(await rows()).toMatchObject([{ settledHow: 'closed' }, { messageIndex: 3, settledAt: null }]);
		});

		it('is not written by a new watch whose read is older than an answer; its session is read again at once', async () => {
			const watch = await added({ readAt: T0 + 60_000, found: await foundIn(store(), KEY, [asks()]) });
			await unwatch(watch.id);
			const judged = await foundIn(store(), KEY, [REOPENED]);
			await arrived();
			await added({ createdAt: T0 + 9, readAt: T0 + 60_000, found: judged });
			expect(await rows()).toMatchObject([{ settledHow: 'unwatched' }]);
			expect(await store().sessions.nextDueAt(SERVICE)).toBe(T0 + 9);
		});

		it('is the same one when its agent went on without an answer, and waits again', async () => {
			await added();
			const [id] = await found([asks()]);
			await found([settled('wentOn')]);
			expect(await rows()).toMatchObject([{ id, settledHow: 'wentOn' }]);
			await found([REOPENED]);
			expect(await rows()).toMatchObject([{ id, settledAt: null, settledHow: null, askedAt: T0 }]);
			const events = (await settledEvents(store().db.read)).map(({ action, outcome }) => `${action} ${outcome}`);
			expect(events).toEqual(['watched watching', 'asked asked', 'asked reopened']);
		});

		it('is closed when another one opens: at most one of a session is open', async () => {
			await added();
			const [id = ''] = await found([asks()]);
			await found([asks(OTHER)]);
			expect(await rows()).toMatchObject([
				{ id, settledHow: 'closed' },
				{ messageIndex: 3, settledHow: null },
			]);
			await found([{ ...REOPENED, id }]);
			expect(await rows()).toMatchObject([
				{ id, settledHow: null },
				{ messageIndex: 3, settledHow: 'closed' },
			]);
		});

		it('is settled once in the same way', async () => {
			await added();
			await found([asks()]);
			await found([settled('closed')]);
			const first = await rows();
			const token = 'reads';
			await store().sessions.takeDue(SERVICE, { ...LEASE, token }, 10, T0);
			const update = read({ questions: [settled('closed')] });
			await recordRead(store(), { session: KEY, token }, { update, watches: [], now: T0 + 9_000 });
			expect(await rows()).toEqual(first);
		});

		it('keeps its items as the read that settles it shows them', async () => {
			await added();
			const items = [{ title: 'Colour', description: null, value: 'blue' }] as never;
			const snapshot = askingView({ ...QUESTION, messageIndex: 1 });
			const token = 'reads';
			const shows = async (questions: readonly FoundChange[]) => {
				await store().sessions.takeDue(SERVICE, { ...LEASE, token }, 10, T0);
				const found = await foundIn(store(), KEY, questions, { itemsAt: (at) => (at === 1 ? items : undefined) });
				const update = read({ nextRead: { at: T0, by: T0 }, snapshot, found });
				await recordRead(store(), { session: KEY, token }, { update, watches: [], now: T0 });
			};
			await shows([asks()]);
			const before = (await rows())[0]?.content;
			await shows([{ kind: 'settled', how: 'answered', at: 4 }]);
			expect((await rows())[0]?.content).toBe(before);
			await shows([REOPENED]);
			await shows([{ kind: 'settled', how: 'answered', at: 1 }]);
			expect((await rows())[0]?.content?.length).toBeGreaterThan(before?.length ?? 0);
		});
	});

	describe('when nobody watches a session any more', () => {
		it('what its answers are to stays, and its other questions go', async () => {
			const watch = await added();
			const [first] = await found([asks()]);
			const given = await begun();
			await found([settled('closed'), asks(OTHER)]);
			await unwatch(watch.id);
			await setRows('questions', { settledAt: T0 + 9 });
			await removeEnded(store().db, T0 + 2);
			expect(await store().sessions.wasRead(KEY)).toBe(false);
			expect(await rows()).toMatchObject([{ id: first }]);
			await patched(given.id, DELIVERED, { release: true });
			expect((await evidenceOf(0))?.value).toMatchObject({ answerId: given.id });
		});

		it('what its answers are to is forgotten after the retention time, but of the newest what reads have shown', async () => {
			await accepted(submission(), 'delivering', 'delivered');
			await accepted(submission({ fingerprint: OTHER.fingerprint }), 'delivering', 'delivered');
			await removeEnded(store().db, T0);
			expect(await rows()).toHaveLength(2);
			await removeEnded(store().db, T0 + 1);
			expect(await rows()).toMatchObject([{ fingerprint: OTHER.fingerprint }]);
			expect((await evidenceOf(0))?.value).toMatchObject({ number: 2 });
		});
	});
}
