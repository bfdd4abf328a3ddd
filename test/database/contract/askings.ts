import { describe, expect, it } from 'vitest';
import {
	type Evidence,
	type Judgement,
	NOT_JUDGED,
	NOTHING_SEEN,
	type SettledHow,
} from '../../../src/questions/asked.ts';
import type { OccurrenceChange } from '../../../src/questions/occurrences.ts';
import type { QuestionDigest } from '../../../src/questions/session.ts';
import { SERVICE } from '../../features/watch/support.ts';
import type { Subject } from '../contract.ts';
import { accepted, BOB, current, EVE, item, LEASE, lease, moved, patched, submission, T0 } from '../support.ts';
import { askingView, KEY, QUESTION, read, watchActs } from './watch-acts.ts';

/** What the answers of these tests answer. */
const ASKED: QuestionDigest = {
	messageIndex: 1,
	fingerprint: 'fingerprint-1',
	shownHash: 'shown',
	sameBefore: 0,
	answered: [],
	open: [0, 1, 2],
};
const OTHER: QuestionDigest = { ...ASKED, messageIndex: 3, fingerprint: 'fingerprint-2' };

const placeOf = ({ fingerprint, messageIndex, sameBefore, answered }: QuestionDigest) => ({
	answered,
	fingerprint,
	messageIndex,
	sameBefore,
});
const asks = (question = ASKED): OccurrenceChange => ({ kind: 'asked', question, settled: null });
const settles = (how: SettledHow): OccurrenceChange => ({ kind: 'settled', how });
const REOPENED: OccurrenceChange = { kind: 'reopened', question: ASKED };
/** The agent asks the same once more, while it was open. */
const ASKS_AGAIN = [settles('renewed'), asks()];

/** A form whose session was read before any answer arrived. */
const EARLY = { formReadAt: T0 - 1_000, arrivalSeen: 0 };
const BEFORE_PUT = { status: 'humanInput', assistantCount: 2, sameCount: 0, stepsSince: 1, sameBefore: 0 };

/** Each time that an agent asks: its answers, what reads have shown of it, and whether it is asked once more. */
export function describeAskings(subject: Subject): void {
	const { store, added } = watchActs(subject);
	const answers = () => subject.store.answers;
	const known = () => subject.replica.answers.asked(KEY, ASKED);

	const rows = () => subject.replica.db.read.selectFrom('questions').selectAll().orderBy('number').execute();
	const evidenceOf = async (index: number) => JSON.parse((await rows())[index]?.evidence ?? 'null') as Evidence | null;

	/** Records a read with these changes of questions; returns the ids of all of them. */
	async function found(questions: readonly OccurrenceChange[], judged: Partial<Judgement> = {}) {
		const token = 'reads';
		await store().sessions.takeDue(SERVICE, { ...LEASE, token }, 10, { now: T0, only: null });
		const { newest } = await subject.store.answers.asked(KEY, null);
		const nextRead = { at: T0, by: T0 };
		const update = read({ nextRead, questions, judged: { ...NOT_JUDGED, ...judged, known: newest } });
		expect(await store().reads.record({ session: KEY, token }, { update, watches: [], now: T0 })).toBe(true);
		return (await rows()).map(({ id }) => id);
	}

	const questionIdOf = async (id: string) => (await current(subject.replica, id)).questionId;

	describe('an answer to a watched question', () => {
		it('belongs to the newest time that it is asked: when it is accepted, when its PUT begins, and when it is tried again', async () => {
			await added();
			const [first] = await found([asks()]);
			const elsewhere = await accepted(subject.store, submission({ fingerprint: OTHER.fingerprint }));
			expect(elsewhere.questionId).toBeNull();
			await moved(subject.store, elsewhere.id, 'changed');
			const given = await accepted(subject.store, submission());
			expect(given.questionId).toBe(first);
			await lease(subject.store, given.id);
			const [, again] = await found(ASKS_AGAIN);
			await patched(subject.store, given.id, { state: 'delivering' });
			expect(await questionIdOf(given.id)).toBe(first);
			await patched(subject.store, given.id, { putStartedAt: T0, before: BEFORE_PUT });
			expect(await questionIdOf(given.id)).toBe(again);
			await patched(subject.store, given.id, { state: 'waiting' }, { release: true });
			const [, , once] = await found(ASKS_AGAIN);
			await answers().retry(given.id, given.person, T0, T0 + 9_000);
			expect(await questionIdOf(given.id)).toBe(once);
		});

		it('is noted in its row when it arrives, with its number, and all positions that have got a value', async () => {
			await added();
			await found([asks()]);
			const first = await accepted(subject.store, submission());
			await lease(subject.store, first.id);
			await patched(subject.store, first.id, { state: 'delivering', putStartedAt: T0, before: BEFORE_PUT });
			expect(await evidenceOf(0)).toEqual(NOTHING_SEEN);
			const delivered = { state: 'delivered', deliveredAt: T0 + 2, nextAttemptAt: null } as const;
			await patched(subject.store, first.id, delivered, { release: true });
			const arrived = { answerId: first.id, number: 1, at: T0 + 2, positions: [0], steps: 1, waited: true };
			const seen = { ...NOTHING_SEEN, waitedSeen: true, mostSteps: 1, arrived };
			expect(await evidenceOf(0)).toEqual(seen);
			expect((await current(subject.store, first.id)).evidence).toEqual(seen);
			const items = [item(null), item(null), item('red')];
			const second = await accepted(subject.store, submission({ person: BOB, items, formReadAt: T0 + 9 }));
			await moved(subject.store, second.id, 'delivering', 'delivered');
			expect((await evidenceOf(0))?.arrived).toMatchObject({ answerId: second.id, number: 2, positions: [0, 2] });
			expect((await current(subject.store, second.id)).evidence?.arrived).toMatchObject({ positions: [2] });
		});

		it('is noted with the values that stood beside it before the PUT, and under the same number when it is sent again', async () => {
			await added();
			await found([asks()]);
			const given = await accepted(subject.store, submission());
			await lease(subject.store, given.id);
			const begun = { state: 'delivering', putStartedAt: T0, before: { ...BEFORE_PUT, filled: [2] } } as const;
			await patched(subject.store, given.id, begun);
			await patched(subject.store, given.id, { state: 'delivered', deliveredAt: T0 + 2 });
			expect((await evidenceOf(0))?.arrived).toMatchObject({ number: 1, positions: [0, 2] });
			await patched(subject.store, given.id, { before: BEFORE_PUT, putStartedAt: T0 + 9 });
			await patched(subject.store, given.id, { state: 'delivered', deliveredAt: T0 + 10 });
			expect((await evidenceOf(0))?.arrived).toMatchObject({ number: 1, at: T0 + 10 });
			expect((await current(subject.store, given.id)).timeline.at(-1)).toMatchObject({ arrival: 1 });
		});

		it('is due to its author when a read shows that it is lost, whatever they were told before', async () => {
			await added();
			await found([asks()]);
			const given = await accepted(subject.store, submission());
			await lease(subject.store, given.id);
			await patched(subject.store, given.id, { state: 'delivering', putStartedAt: T0, before: BEFORE_PUT });
			const told = { state: 'delivered', deliveredAt: T0, agentOutcome: 'unseen', nextAttemptAt: null } as const;
			await patched(subject.store, given.id, told, { release: true });
			const evidence = { ...NOTHING_SEEN, lost: given.id };
			await found([], { of: placeOf(ASKED), evidence, isNews: true, verdict: 'waits' });
			expect(await current(subject.store, given.id)).toMatchObject({ agentOutcome: 'unseen', nextAttemptAt: null });
			await found([settles('answered'), asks()], { of: placeOf(ASKED), evidence, isNews: true, verdict: 'lost' });
			expect(await current(subject.store, given.id)).toMatchObject({ agentOutcome: 'lost', nextAttemptAt: T0 });
			// A check that found nothing comes later.
			await lease(subject.store, given.id);
			await patched(subject.store, given.id, { agentOutcome: 'unconfirmed', nextAttemptAt: null }, { release: true });
			expect(await current(subject.store, given.id)).toMatchObject({ agentOutcome: 'lost' });
		});

		it('is noted in no other row', async () => {
			await added();
			await found([asks()]);
			const late = await accepted(subject.store, submission());
			await found([settles('closed'), asks(OTHER)]);
			await moved(subject.store, late.id, 'delivering', 'delivered');
			expect(await evidenceOf(0)).toEqual(NOTHING_SEEN);
			expect(await evidenceOf(1)).toEqual(NOTHING_SEEN);
		});

		it('is noted in the row of its question when it was accepted before anybody watched', async () => {
			const early = await accepted(subject.store, submission());
			await added();
			await found([asks()]);
			await moved(subject.store, early.id, 'delivering', 'delivered');
			expect((await evidenceOf(0))?.arrived).toMatchObject({ answerId: early.id, number: 1 });
		});

		it('prevents no other answer, and does not stand, once the same is asked again', async () => {
			await added();
			await found([asks()]);
			const first = await accepted(subject.store, submission(), 'delivering', 'delivered');
			expect(await answers().standing(first.question)).toMatchObject({ id: first.id });
			expect(await answers().accept(submission({ person: BOB, ...EARLY }))).toMatchObject({ kind: 'taken' });
			await found([settles('answered'), asks()]);
			expect(await answers().standing(first.question)).toBeNull();
			const second = await accepted(subject.store, submission({ person: BOB, ...EARLY }));
			expect(await answers().standing(first.question)).toMatchObject({ id: second.id });
		});

		it.each([
			['accepted', []],
			['delivering', ['delivering']],
		] as const)(
			'prevents another one, and stands, while it is %s, also when the same is asked again',
			async (_, states) => {
				await added();
				await found([asks()]);
				const first = await accepted(subject.store, submission(), ...states);
				await found(ASKS_AGAIN);
				expect(await answers().standing(first.question)).toMatchObject({ id: first.id });
				expect(await answers().accept(submission({ person: EVE, ...EARLY }))).toMatchObject({ kind: 'taken' });
			},
		);
	});

	describe('a time that an agent asks', () => {
		it('keeps what reads have shown of it', async () => {
			await added();
			const of = placeOf(ASKED);
			const shown = { ...NOTHING_SEEN, waitedSeen: true };
			await found([asks()], { of, evidence: shown, isNews: true });
			expect(await evidenceOf(0)).toEqual(shown);
			await found([], { of, evidence: { ...shown, activeSince: T0 }, isNews: false });
			expect(await evidenceOf(0)).toEqual(shown);
			await found([settles('answered'), asks()]);
			expect(await known()).toMatchObject({ newest: { evidence: NOTHING_SEEN }, same: { settledHow: null } });
			await found([settles('closed'), asks(OTHER)], { of, evidence: { ...shown, activeSince: T0 }, isNews: true });
			expect(await known()).toMatchObject({
				newest: { evidence: NOTHING_SEEN, messageIndex: 3 },
				same: { evidence: { activeSince: T0 }, settledHow: 'closed' },
			});
			expect(await evidenceOf(0)).toEqual(shown);
		});

		it('takes nothing from a read that an answer overtook, and is read again at once', async () => {
			await added();
			await found([asks()]);
			const given = await accepted(subject.store, submission());
			await store().sessions.takeDue(SERVICE, LEASE, 10, { now: T0, only: null });
			const before = (await known()).newest;
			await moved(subject.store, given.id, 'delivering', 'delivered');
			const late = T0 + 5_000;
			const outcome = {
				update: read({ lastReadAt: late, questions: [settles('closed')], judged: { ...NOT_JUDGED, known: before } }),
				watches: [],
				now: late,
			};
			const stored = await rows();
			expect(await store().reads.record({ session: KEY, token: LEASE.token }, outcome)).toBe(false);
			expect(await rows()).toEqual(stored);
			expect(await store().sessions.nextDueAt(SERVICE, null)).toBe(late);
			const [taken] = await store().sessions.takeDue(SERVICE, LEASE, 10, { now: late, only: null });
			expect(taken).toMatchObject({ session: KEY, lastReadAt: T0 });
			const { newest } = await known();
			const judgedAnew = { ...outcome, update: { ...outcome.update, judged: { ...NOT_JUDGED, known: newest } } };
			expect(await store().reads.record({ session: KEY, token: LEASE.token }, judgedAnew)).toBe(true);
			expect(await rows()).toMatchObject([{ settledHow: 'closed' }]);
		});

		it('goes on as it was when its session is watched again', async () => {
			const watch = await added();
			const of = placeOf(ASKED);
			const shown = { ...NOTHING_SEEN, waitedSeen: true };
			const [id] = await found([asks()], { of, evidence: shown, isNews: true });
			await store().watches.end(watch.id, 'unwatched', { now: T0 + 1, posts: [], keepPending: false });
			expect(await rows()).toMatchObject([{ id, settledHow: 'unwatched' }]);
			const question = { ...QUESTION, fingerprint: ASKED.fingerprint };
			const view = askingView(question);
			await added({
				createdAt: T0 + 9,
				view: { ...view, seenAt: T0 + 9, digest: { ...view.digest, question: ASKED } },
			});
			const reopened = { id, settledAt: null, settledHow: null, askedAt: T0 };
			expect(await rows()).toMatchObject([reopened]);
			expect(await evidenceOf(0)).toEqual(shown);
		});

		it('is another one when its session is watched again, and the agent asks something else', async () => {
			const watch = await added();
			await found([asks()]);
			await store().watches.end(watch.id, 'unwatched', { now: T0 + 1, posts: [], keepPending: false });
			const view = askingView({ ...QUESTION, messageIndex: OTHER.messageIndex, fingerprint: OTHER.fingerprint });
			const judged = { ...NOT_JUDGED, of: placeOf(OTHER) };
			await added({ view: { ...view, digest: { ...view.digest, question: OTHER } }, judged });
			expect(await rows()).toMatchObject([{ settledHow: 'closed' }, { messageIndex: 3, settledAt: null }]);
		});

		it('is the same one when its agent went on without an answer, and waits again', async () => {
			await added();
			const [id] = await found([asks()]);
			await found([settles('wentOn')]);
			expect(await rows()).toMatchObject([{ id, settledHow: 'wentOn' }]);
			await found([REOPENED]);
			expect(await rows()).toMatchObject([{ id, settledAt: null, settledHow: null, askedAt: T0 }]);
		});

		it('is closed when its agent went on without an answer, and asks something else', async () => {
			await added();
			const [id] = await found([asks()]);
			await found([settles('wentOn')]);
			await found([asks(OTHER)]);
			expect(await rows()).toMatchObject([
				{ id, settledHow: 'closed' },
				{ messageIndex: 3, settledHow: null },
			]);
		});
	});
}
