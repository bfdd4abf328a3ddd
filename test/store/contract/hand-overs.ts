import { describe, expect, it } from 'vitest';
import type { NewHandOver } from '../../../src/domain/hand-over.ts';
import { snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { forgetQuestions, newestQuestionOf, openQuestionOf, readHandOver } from '../../../src/store/question-store.ts';
import type { Watch } from '../../../src/store/watch.ts';
import { streamOf } from '../../../src/surfaces/post.ts';
import { addWatch, assistant, session } from '../../sessions/support.ts';
import type { FoundChange } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { LEASE, present, removeEnded, SERVICE, storeActs, T0 } from '../support.ts';
import { asking, byText, KEY, news, read, settled, shownAt, watchActs } from './watch-acts.ts';

const asks = session({ sessionId: 's1', status: 'humanInput', messages: [assistant('Which?', 'Colour')] });
const snapshot = snapshotOf(asks, T0);
const question = present(snapshot.question);
const { fingerprint } = question;
const QUESTION = { teamId: 'T1', session: KEY, fingerprint };
const NOTE = 'You know the traveller.';

export function describeHandOvers(subject: Subject): void {
	const { refreshed, rowsOf, spread } = storeActs(subject);
	const acts = watchActs(subject);
	const store = () => subject.store.handOvers;
	const replica = () => subject.replica.handOvers;

	/** A watch whose question is posted. */
	async function askedIn(channelId = 'C1'): Promise<Watch> {
		const watch = await addWatch(subject.store.watches, { snapshot, channelId });
		await acts.recorded([news(watch, { posts: [asking(watch)] })], read({ nextRead: { at: T0, by: T0 } }));
		await acts.posted();
		await acts.posted();
		await acts.drawn();
		return watch;
	}

	function wish(watch: Watch, id: string, [from, to]: readonly [string, string]): NewHandOver {
		const { id: watchId, channelId } = watch;
		return { ...QUESTION, id, watchId, channelId, from, to, replaces: null, note: NOTE };
	}

	/** Who has the question, as inboxes of this workspace show it. */
	const held = async (teamId = 'T1') =>
		(await subject.replica.inboxes.openQuestions(SERVICE, teamId)).map(({ handOver }) => handOver);

	/** The newest hand-over of the question while it is open, also one that was given back. */
	const current = async () => readHandOver(await openQuestionOf(subject.replica.db.read, KEY), 'T1');

	const storedNote = async () => (await newestQuestionOf(subject.replica.db.read, KEY))?.handOverNote;

	const giveBack = (userId: string) => store().giveBack({ ...QUESTION, userId }, T0);

	/** What waits to be posted, or to be drawn again, as `stream kind`. */
	async function waiting(): Promise<string[]> {
		await spread();
		return (await rowsOf('posts'))
			.filter(({ dueAt }) => dueAt !== null && dueAt <= T0)
			.map(({ stream, kind, ts }) => {
				const name = stream.startsWith('watch:') ? 'watch' : stream;
				return `${name} ${kind}${ts === null ? '' : ' again'}`;
			})
			.toSorted();
	}
	const ALL_AGAIN = ['watch card again', 'watch question again'];

	/** Posts the direct messages that wait, and draws all posts again. */
	async function told(): Promise<void> {
		await acts.posted();
		await acts.drawn();
	}

	/** The posts that are due, with their questions. */
	async function due(now = T0) {
		const taken = await subject.store.posts.takeDue(LEASE, 10, now);
		await subject.store.posts.release([LEASE.token]);
		return taken;
	}

	/** Gives the posts of this stream their last look. */
	async function closed(stream: string): Promise<void> {
		const taken = await subject.store.posts.takeDue(LEASE, 10, T0);
		for (const { post } of taken) {
			if (streamOf(post.target) === stream) await acts.ended(post, shownAt(post, '', { isLast: true }));
		}
		await subject.store.posts.release([LEASE.token]);
	}

	/** Records the read that finds this. */
	async function found(watch: Watch, questions: readonly FoundChange[], seen = snapshot) {
		const current = present(await acts.stored(watch.id));
		await acts.recorded([news(current)], read({ nextRead: { at: T0, by: T0 }, questions, snapshot: seen }));
	}

	describe('a hand-over', () => {
		it('is stored with its direct message, and has posts and cards drawn again', async () => {
			const watch = await askedIn();
			expect(await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0)).toMatchObject({ kind: 'handedOver' });
			const handOver = { ...QUESTION, id: 'V1', watchId: watch.id, channelId: 'C1', from: 'U-ANN', to: 'U-BOB' };
			const stored = { ...handOver, count: 1, handedOverAt: T0, givenBackAt: null };
			expect(await current()).toEqual(stored);
			expect(await held()).toEqual([stored]);
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver', ...ALL_AGAIN]);
			expect((await acts.cardOf(watch.id))?.urgency).toBe(0);
			const told = (await due()).find(({ post }) => post.content.kind === 'handedOver');
			expect(told).toMatchObject({ watch: { id: watch.id }, question: { fingerprint, settledHow: null, note: NOTE } });
			expect(await storedNote()).toMatch(/^(?!.*know).+/s);
			await addWatch(subject.store.watches, { snapshot, teamId: 'T2' });
			expect(await held('T2')).toEqual([null]);
		});

		it('is refused while somebody in another workspace has the question', async () => {
			const watch = await askedIn();
			const other = await addWatch(subject.store.watches, { snapshot, teamId: 'T2' });
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			const elsewhere = { ...wish(other, 'V2', ['U-EVE', 'U-FAY']), teamId: 'T2' };
			expect(await replica().handOver(elsewhere, T0)).toEqual({ kind: 'elsewhere' });
			expect(await current()).toMatchObject({ to: 'U-BOB', count: 1 });
			await giveBack('U-BOB');
			expect(await replica().handOver(elsewhere, T0)).toMatchObject({ kind: 'handedOver' });
		});

		it('is the same when its window is submitted again, also after it was given back', async () => {
			const watch = await askedIn();
			const first = wish(watch, 'V1', ['U-ANN', 'U-BOB']);
			await store().handOver(first, T0);
			expect((await replica().handOver(first, T0)).kind).toBe('handedOver');
			await giveBack('U-BOB');
			expect((await replica().handOver(first, T0)).kind).toBe('handedOver');
			expect(await current()).toMatchObject({ count: 1, givenBackAt: T0 });
			expect((await waiting()).filter((one) => one.endsWith('handedOver'))).toHaveLength(1);
		});

		it('is the same also after it was handed on and given back', async () => {
			const watch = await askedIn();
			const first = wish(watch, 'V1', ['U-ANN', 'U-BOB']);
			await store().handOver(first, T0);
			await store().handOver(wish(watch, 'V2', ['U-BOB', 'U-DAN']), T0);
			await giveBack('U-DAN');
			expect(await replica().handOver(first, T0)).toMatchObject({ kind: 'handedOver', handOver: { to: 'U-BOB' } });
			expect(await current()).toMatchObject({ id: 'V2', count: 2, givenBackAt: T0 });
		});

		it('has one winner when two people hand over at once', async () => {
			const watch = await askedIn();
			const results = await Promise.all([
				store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0),
				replica().handOver(wish(watch, 'V2', ['U-EVE', 'U-DAN']), T0),
			]);
			expect(results.map(({ kind }) => kind).toSorted()).toEqual(['handedOver', 'taken']);
			const winner = await current();
			for (const result of results) expect(result).toMatchObject({ handOver: { to: winner?.to } });
			expect((await waiting()).filter((one) => one.endsWith('handedOver'))).toHaveLength(1);
		});

		it('is handed on by whoever has it, three times', async () => {
			const watch = await askedIn();
			const hand = (id: string, ...people: [string, string]) => store().handOver(wish(watch, id, people), T0);
			expect((await hand('V1', 'U-ANN', 'U-BOB')).kind).toBe('handedOver');
			await told();
			expect(await waiting()).toEqual([]);
			expect((await hand('V2', 'U-ANN', 'U-DAN')).kind).toBe('taken');
			expect(await waiting()).toEqual([]);
			expect((await hand('V3', 'U-BOB', 'U-DAN')).kind).toBe('handedOver');
			expect(await waiting()).toContain('person:T1:U-BOB:V1 handedOver again');
			await giveBack('U-DAN');
			expect((await hand('V4', 'U-BOB', 'U-ANN')).kind).toBe('handedOver');
			const fourth = await hand('V5', 'U-ANN', 'U-BOB');
			expect(fourth).toMatchObject({ kind: 'limit', handOver: { from: 'U-BOB', to: 'U-ANN', count: 3 } });
			expect((await hand('V1', 'U-ANN', 'U-BOB')).kind).toBe('handedOver');
			expect(await current()).toMatchObject({ id: 'V4', count: 3 });
		});

		it('is replaced, as it was seen, when whoever has it may not answer any more', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await told();
			const replacing = (id: string, replaces: string) =>
				store().handOver({ ...wish(watch, id, ['U-DAN', 'U-EVE']), replaces }, T0);
			expect((await replacing('V2', 'V0')).kind).toBe('taken');
			expect((await replacing('V3', 'V1')).kind).toBe('handedOver');
			expect(await waiting()).toContain('person:T1:U-BOB:V1 handedOver again');
			expect((await replacing('V4', 'V1')).kind).toBe('taken');
			expect((await replacing('V5', 'V3')).kind).toBe('handedOver');
			expect((await replacing('V6', 'V5')).kind).toBe('handedOver');
			await giveBack('U-EVE');
			expect(await replacing('V7', 'V5')).toMatchObject({ kind: 'limit', handOver: { count: 4 } });
		});

		describe('in ten minutes', () => {
			const MINUTES = 10 * 60_000;
			/** So many hand-overs of one question, each in the place of the one before. */
			async function handOvers(count: number, people: (number: number) => [string, string]) {
				const watch = await askedIn();
				for (let number = 1; number <= count; number++) {
					const one = { ...wish(watch, `V${number}`, people(number)), replaces: `V${number - 1}` };
					expect((await store().handOver(one, T0 + number)).kind).toBe('handedOver');
				}
				return (id: string, between: [string, string], now: number) =>
					replica().handOver({ ...wish(watch, id, between), replaces: `V${count}` }, now);
			}

			it('comes from one person ten times, whoever gets it and though it was given back', async () => {
				const hand = await handOvers(10, (number) => ['U-ANN', `U-${number}`]);
				await giveBack('U-10');
				const tooMany = { kind: 'tooMany', who: 'from', againInMs: 1 };
				expect(await hand('V11', ['U-ANN', 'U-BOB'], T0 + MINUTES)).toEqual(tooMany);
				expect((await hand('V10', ['U-ANN', 'U-10'], T0 + MINUTES)).kind).toBe('handedOver');
				expect((await hand('V12', ['U-ANN', 'U-BOB'], T0 + MINUTES + 1)).kind).toBe('handedOver');
			});

			it('goes to one person twenty times, whoever hands it over', async () => {
				const hand = await handOvers(20, (number) => [`U-${number}`, 'U-BOB']);
				const tooMany = { kind: 'tooMany', who: 'to', againInMs: 1 };
				expect(await hand('V21', ['U-ANN', 'U-BOB'], T0 + MINUTES)).toEqual(tooMany);
				expect((await hand('V22', ['U-ANN', 'U-EVE'], T0 + MINUTES)).kind).toBe('handedOver');
			});
		});

		it('is not possible for another question, or where it is not watched', async () => {
			const watch = await askedIn();
			const other = { ...wish(watch, 'V1', ['U-ANN', 'U-BOB']), fingerprint: 'another' };
			expect(await store().handOver(other, T0)).toEqual({ kind: 'closed' });
			const nowhere = { ...wish(watch, 'V1', ['U-ANN', 'U-BOB']), watchId: 'unknown' };
			expect(await store().handOver(nowhere, T0)).toEqual({ kind: 'closed' });
			expect(await waiting()).toEqual([]);
		});

		it('is given back once, by whoever has it', async () => {
			const watch = await askedIn();
			expect(await giveBack('U-BOB')).toEqual({ kind: 'closed' });
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			expect(await giveBack('U-ANN')).toMatchObject({ kind: 'notYours', handOver: { to: 'U-BOB' } });
			expect(await giveBack('U-BOB')).toMatchObject({ kind: 'givenBack', repeated: false });
			expect(await storedNote()).toBeNull();
			expect(await giveBack('U-BOB')).toMatchObject({ kind: 'givenBack', repeated: true });
			expect(await held()).toEqual([null]);
			expect(await waiting()).toEqual(['person:T1:U-ANN:V1 givenBack', 'person:T1:U-BOB:V1 handedOver', ...ALL_AGAIN]);
		});

		it('is given back when Slack refuses its direct message, once', async () => {
			const watch = await askedIn();
			const refuse = async (id: string) => {
				const taken = await subject.store.posts.takeDue(LEASE, 10, T0);
				const told = taken.find(({ post: { target } }) => target.kind === 'person' && target.topic === id);
				await acts.ended(present(told).post, { kind: 'refused', code: 'user_disabled' });
				await subject.store.posts.release([LEASE.token]);
			};
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await refuse('V1');
			expect(await current()).toMatchObject({ id: 'V1', givenBackAt: T0 });
			expect(await waiting()).toEqual(['person:T1:U-ANN:V1 givenBack', ...ALL_AGAIN]);
			await store().handOver(wish(watch, 'V2', ['U-ANN', 'U-DAN']), T0);
			await store().handOver(wish(watch, 'V3', ['U-DAN', 'U-EVE']), T0);
			await refuse('V2');
			expect(await current()).toMatchObject({ id: 'V3', givenBackAt: null });
		});

		it.each(['answered', 'closed', 'changed'] as const)('is over when its question is %s', async (how) => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await told();
			expect(await waiting()).toEqual([]);
			await found(watch, [settled(how)]);
			expect([await current(), await storedNote()]).toEqual([null, null]);
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver again', ...ALL_AGAIN]);
			const direct = (await due()).find(({ post }) => post.target.kind === 'person');
			expect(direct?.question).toMatchObject({ fingerprint, settledHow: how });
		});

		it('has the direct message about its end drawn again with the question, until that is settled', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await told();
			await giveBack('U-BOB');
			await closed('person:T1:U-BOB:V1');
			await told();
			await store().handOver(wish(watch, 'V2', ['U-DAN', 'U-BOB']), T0);
			expect(await waiting()).toContain('person:T1:U-ANN:V1 givenBack again');
			await closed('person:T1:U-ANN:V1');
			await told();
			await giveBack('U-BOB');
			await closed('person:T1:U-BOB:V2');
			await told();
			await refreshed(KEY, { now: T0, earlyReadAt: null });
			const left = ['person:T1:U-DAN:V2 givenBack again', ...ALL_AGAIN];
			expect(await waiting()).toEqual(left);
			await acts.drawn();
			// It is not settled yet, so it stays beyond the retention time.
			await removeEnded(subject.store.db, T0 + 1);
			await acts.unwatch(watch.id);
			expect(await waiting()).toEqual(left);
			const direct = (await due()).find(({ post }) => post.target.kind === 'person');
			expect(direct).toMatchObject({
				post: { content: { kind: 'givenBack' } },
				question: { settledHow: 'unwatched', asked: { question: { fingerprint } } },
			});
		});

		it('is over when its watch ends: its direct message is drawn again, or not sent any more', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await told();
			await store().handOver(wish(watch, 'V2', ['U-BOB', 'U-DAN']), T0);
			await acts.unwatch(watch.id);
			expect(await current()).toBeNull();
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver again', ...ALL_AGAIN]);
		});

		it('keeps its direct message beyond the retention time until the message is settled', async () => {
			const watch = await askedIn();
			const messages = async () =>
				(await rowsOf('posts', { kind: 'handedOver' })).map(({ stream }) => stream).toSorted();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await told();
			await store().handOver(wish(watch, 'V2', ['U-BOB', 'U-DAN']), T0);
			await removeEnded(subject.store.db, T0 + 1);
			expect(await messages()).toEqual(['person:T1:U-BOB:V1', 'person:T1:U-DAN:V2']);
			await closed('person:T1:U-BOB:V1');
			await told();
			await removeEnded(subject.store.db, T0 + 1);
			expect(await messages()).toEqual(['person:T1:U-DAN:V2']);
			await giveBack('U-DAN');
			await removeEnded(subject.store.db, T0 + 1);
			expect(await waiting()).toContain('person:T1:U-DAN:V2 handedOver again');
			await closed('person:T1:U-DAN:V2');
			await removeEnded(subject.store.db, T0 + 1);
			expect(await messages()).toEqual([]);
		});

		describe('of a question that', () => {
			const again = present(snapshot.digest.question);
			const ends = (how: 'closed' | 'renewed') => ({ kind: 'settled', how }) as const;
			const asked = { kind: 'asked', question: again, settled: null } as const;

			const reads = (...questions: FoundChange[]) =>
				acts.recorded([], read({ questions, earlyReadCount: 2, nextRead: { at: T0, by: T0 } }));

			it('is asked again while it is open goes on', async () => {
				const watch = await askedIn();
				await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
				await reads(ends('renewed'), asked);
				expect(await current()).toMatchObject({ id: 'V1', to: 'U-BOB', count: 1 });
				const told = (await due()).find(({ post }) => post.content.kind === 'handedOver');
				expect(told?.question).toMatchObject({ settledHow: null, note: NOTE });
				// A direct message that was not sent yet is not sent any more.
				await acts.unwatch(watch.id);
				expect(await waiting()).toEqual(ALL_AGAIN);
			});

			it('its agent went on without keeps its note, until the agent asks something else', async () => {
				const watch = await askedIn();
				await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
				const note = await storedNote();
				await reads({ kind: 'settled', how: 'wentOn' });
				expect(await storedNote()).toBe(note);
				await reads({ kind: 'reopened', question: again });
				expect(await current()).toMatchObject({ id: 'V1', to: 'U-BOB' });
				await reads({ kind: 'settled', how: 'wentOn' });
				await reads(ends('closed'), { ...asked, question: { ...again, fingerprint: 'another', messageIndex: 9 } });
				expect((await rowsOf('questions')).map((row) => row.handOverNote)).toEqual([null, null]);
			});

			it('its agent went on without loses its note with its text', async () => {
				await store().handOver(wish(await askedIn(), 'V1', ['U-ANN', 'U-BOB']), T0);
				await reads({ kind: 'settled', how: 'wentOn' });
				await forgetQuestions(subject.store.db, T0);
				expect(await storedNote()).toEqual(expect.any(String));
				await forgetQuestions(subject.store.db, T0 + 1);
				expect(await rowsOf('questions')).toMatchObject([{ content: null, handOverNote: null }]);
			});

			it('is settled stays with whoever had it then, until the agent asks again', async () => {
				const watch = await askedIn();
				const hand = (id: string, ...people: [string, string]) => store().handOver(wish(watch, id, people), T0);
				const holders = async () => {
					const people = ['U-ANN', 'U-BOB', 'U-DAN'];
					const held = people.map((userId) => replica().holds({ teamId: 'T1', userId }, 'C1', KEY));
					const answers = await Promise.all(held);
					return people.filter((_, index) => answers[index]);
				};
				await hand('V1', 'U-ANN', 'U-BOB');
				await reads(ends('closed'));
				expect(await holders()).toEqual(['U-BOB']);
				await reads(asked);
				expect(await holders()).toEqual([]);
				await hand('V2', 'U-ANN', 'U-BOB');
				await hand('V3', 'U-BOB', 'U-DAN');
				expect(await holders()).toEqual(['U-DAN']);
				await reads(ends('closed'));
				expect(await holders()).toEqual(['U-DAN']);
				await reads(asked);
				await hand('V4', 'U-ANN', 'U-DAN');
				await giveBack('U-DAN');
				await reads(ends('closed'));
				expect(await holders()).toEqual([]);
			});
		});

		it('has its direct message drawn again with the posts, once', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await told();
			for (let time = 0; time < 2; time += 1) await refreshed(KEY, { now: T0, earlyReadAt: null });
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver again', ...ALL_AGAIN]);
			await told();
			expect(await waiting()).toEqual([]);
		});
	});

	it('gives the open posts of a reworded question its new text, also a direct message that waits, and draws them again', async () => {
		const watch = await askedIn();
		const known = present(snapshot.digest.question);
		await found(watch, [settled('answered'), { kind: 'asked', question: known, settled: null }]);
		const posts = [asking(watch, 'again')];
		const current = present(await acts.stored(watch.id));
		await acts.recorded([news(current, { posts })], read({ nextRead: { at: T0, by: T0 } }));
		await told();
		await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
		const reworded = { ...question, context: 'Another text', shownHash: 'h2' };
		const update = read({
			lastReadAt: T0 + 5,
			nextRead: { at: T0, by: T0 },
			questions: [{ kind: 'updated', question: { ...known, shownHash: 'h2' } }],
			snapshot: { ...snapshot, question: reworded },
		});
		await acts.recorded([], update);
		expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver', ...ALL_AGAIN, 'watch question again']);
		const asked = (await due()).flatMap(({ post: { content }, question: of }) =>
			content.kind === 'card' ? [] : [[content.kind, of?.settledHow, of?.asked?.question.context, of?.asked?.readAt]],
		);
		expect(asked.toSorted(byText)).toEqual([
			['handedOver', null, 'Another text', T0 + 5],
			['question', 'answered', question.context, T0],
			['question', null, 'Another text', T0 + 5],
		]);
	});
}
