import { describe, expect, it } from 'vitest';
import type { NewHandOver } from '../../../src/inbox/hand-over.ts';
import { snapshotOf } from '../../../src/watches/session-snapshot.ts';
import type { Watch } from '../../../src/watches/watch.ts';
import { addWatch, assistant, session } from '../../watches/support.ts';
import type { Subject } from '../contract.ts';
import { LEASE, SERVICE, T0 } from '../support.ts';
import { KEY, news, read, watchActs } from './watch-acts.ts';

const asks = session({ sessionId: 's1', status: 'humanInput', messages: [assistant('Which?', 'Colour')] });
const view = snapshotOf(asks, T0);
const question = view.question;
if (question === null) throw new Error('it asks nothing');
const { fingerprint } = question;
const QUESTION = { teamId: 'T1', session: KEY, fingerprint };
const TOLD = { question, readAt: T0 };

export function describeHandOvers(subject: Subject): void {
	const acts = watchActs(subject);
	const store = () => subject.store.handOvers;
	const replica = () => subject.replica.handOvers;

	/** A watch whose question is posted. */
	async function askedIn(channelId = 'C1'): Promise<Watch> {
		const watch = await addWatch(subject.store.watches, { view, channelId });
		const target = { kind: 'watch', watchId: watch.id, teamId: 'T1', channelId } as const;
		const content = {
			kind: 'question',
			question: question as NonNullable<typeof question>,
			changed: false,
			readAt: T0,
		} as const;
		await acts.recorded(
			[news(watch, { digest: view.digest, announcements: [{ target, key: 'question', content }] })],
			read({ nextRead: { at: T0, by: T0 } }),
		);
		await acts.posted();
		await acts.posted();
		return watch;
	}

	function wish(watch: Watch, id: string, [from, to]: readonly [string, string]): NewHandOver {
		const { id: watchId, channelId } = watch;
		return { ...QUESTION, ...TOLD, id, watchId, channelId, from, to, replaces: null };
	}

	const giveBack = (userId: string) => store().giveBack({ ...QUESTION, ...TOLD, userId }, T0);

	/** What waits to be posted, as `target kind`. */
	async function waiting(): Promise<string[]> {
		const rows = await subject.store.db.read
			.selectFrom('announcements')
			.select(['target', 'kind', 'watch_id'])
			.where('state', '=', 'pending')
			.execute();
		return rows.map(({ target, kind, watch_id }) => `${watch_id === null ? target : 'watch'} ${kind}`).toSorted();
	}

	describe('a hand-over', () => {
		it('is stored with its direct message, and has posts and cards drawn again', async () => {
			const watch = await askedIn();
			expect(await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0)).toMatchObject({ kind: 'handedOver' });
			const handOver = { ...QUESTION, id: 'V1', watchId: watch.id, channelId: 'C1', from: 'U-ANN', to: 'U-BOB' };
			const stored = { ...handOver, count: 1, handedOverAt: T0, givenBackAt: null };
			expect(await replica().handOverOf(QUESTION)).toEqual(stored);
			expect(await subject.replica.inboxes.handOvers(SERVICE, 'T1')).toEqual([stored]);
			expect(await subject.replica.inboxes.handOvers(SERVICE, 'T2')).toEqual([]);
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver', 'watch redraw']);
			expect((await acts.stored(watch.id))?.card.wanted?.urgency).toBe('now');
		});

		it('is the same when its window is submitted again, also after it was given back', async () => {
			const watch = await askedIn();
			const first = wish(watch, 'V1', ['U-ANN', 'U-BOB']);
			await store().handOver(first, T0);
			expect((await replica().handOver(first, T0)).kind).toBe('handedOver');
			await giveBack('U-BOB');
			expect((await replica().handOver(first, T0)).kind).toBe('handedOver');
			expect(await replica().handOverOf(QUESTION)).toMatchObject({ count: 1, givenBackAt: T0 });
			expect((await waiting()).filter((one) => one.endsWith('handedOver'))).toHaveLength(1);
		});

		it('is the same also after it was handed on and given back', async () => {
			const watch = await askedIn();
			const first = wish(watch, 'V1', ['U-ANN', 'U-BOB']);
			await store().handOver(first, T0);
			await store().handOver(wish(watch, 'V2', ['U-BOB', 'U-DAN']), T0);
			await giveBack('U-DAN');
			expect(await replica().handOver(first, T0)).toMatchObject({ kind: 'handedOver', handOver: { to: 'U-BOB' } });
			expect(await replica().handOverOf(QUESTION)).toMatchObject({ id: 'V2', count: 2, givenBackAt: T0 });
		});

		it('has one winner when two people hand over at once', async () => {
			const watch = await askedIn();
			const results = await Promise.all([
				store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0),
				replica().handOver(wish(watch, 'V2', ['U-EVE', 'U-DAN']), T0),
			]);
			expect(results.map(({ kind }) => kind).toSorted()).toEqual(['handedOver', 'taken']);
			const current = await store().handOverOf(QUESTION);
			for (const result of results) expect(result).toMatchObject({ handOver: { to: current?.to } });
			expect((await waiting()).filter((one) => one.endsWith('handedOver'))).toHaveLength(1);
		});

		it('is handed on by whoever has it, three times', async () => {
			const watch = await askedIn();
			const hand = (id: string, ...people: [string, string]) => store().handOver(wish(watch, id, people), T0);
			expect((await hand('V1', 'U-ANN', 'U-BOB')).kind).toBe('handedOver');
			expect((await hand('V2', 'U-ANN', 'U-DAN')).kind).toBe('taken');
			expect((await hand('V3', 'U-BOB', 'U-DAN')).kind).toBe('handedOver');
			expect(await waiting()).toContain('person:T1:U-BOB:V1 settle');
			await giveBack('U-DAN');
			expect((await hand('V4', 'U-BOB', 'U-ANN')).kind).toBe('handedOver');
			const fourth = await hand('V5', 'U-ANN', 'U-BOB');
			expect(fourth).toMatchObject({ kind: 'limit', handOver: { from: 'U-BOB', to: 'U-ANN', count: 3 } });
		});

		it('is replaced, as it was seen, when whoever has it may not answer any more', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			const replacing = (id: string, replaces: string) =>
				store().handOver({ ...wish(watch, id, ['U-DAN', 'U-EVE']), replaces }, T0);
			expect((await replacing('V2', 'V0')).kind).toBe('taken');
			expect((await replacing('V3', 'V1')).kind).toBe('handedOver');
			expect(await waiting()).toContain('person:T1:U-BOB:V1 settle');
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
				expect(await hand('V21', ['U-ANN', 'U-BOB'], T0 + MINUTES)).toEqual({
					kind: 'tooMany',
					who: 'to',
					againInMs: 1,
				});
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
			expect(await giveBack('U-BOB')).toMatchObject({ kind: 'givenBack', repeated: true });
			expect(await subject.replica.inboxes.handOvers(SERVICE, 'T1')).toEqual([]);
			expect(await waiting()).toEqual([
				'person:T1:U-ANN:V1 givenBack',
				'person:T1:U-BOB:V1 handedOver',
				'person:T1:U-BOB:V1 settle',
				'watch redraw',
			]);
		});

		it('is given back when Slack refuses its direct message, once', async () => {
			const watch = await askedIn();
			const refuse = async (id: string) => {
				const due = await subject.store.watches.takeAnnouncements(LEASE, 10, T0);
				const told = due.find(({ announcement: { target } }) => target.kind === 'person' && target.topic === id);
				const refused = { kind: 'refused', code: 'user_disabled' } as const;
				await subject.store.watches.endAttempt(told?.announcement.id ?? '', LEASE.token, refused, T0);
				await subject.store.watches.releasePosts([LEASE.token]);
			};
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			// The redraw is leased, so another one follows it.
			await refuse('V1');
			expect(await replica().handOverOf(QUESTION)).toMatchObject({ id: 'V1', givenBackAt: T0 });
			expect(await waiting()).toEqual([
				'person:T1:U-ANN:V1 givenBack',
				'person:T1:U-BOB:V1 settle',
				'watch redraw',
				'watch redraw',
			]);
			await store().handOver(wish(watch, 'V2', ['U-ANN', 'U-DAN']), T0);
			await store().handOver(wish(watch, 'V3', ['U-DAN', 'U-EVE']), T0);
			await refuse('V2');
			expect(await replica().handOverOf(QUESTION)).toMatchObject({ id: 'V3', givenBackAt: null });
		});

		it.each(['answered', 'closed', 'changed'] as const)('is over when its question is %s', async (how) => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await acts.posted();
			await acts.posted();
			const current = await acts.stored(watch.id);
			const target = { kind: 'watch', watchId: watch.id, teamId: 'T1', channelId: 'C1' } as const;
			const settle = { target, key: 'settle', content: { kind: 'settle', messageIndex: 0, how } } as const;
			await acts.recorded([news(current as Watch, { announcements: [settle] })], read({ earlyReadCount: 2 }));
			expect(await replica().handOverOf(QUESTION)).toBeNull();
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 settle', 'watch settle']);
			const due = await subject.store.watches.takeAnnouncements(LEASE, 10, T0);
			const settled = due.find(({ announcement }) => announcement.target.kind === 'person');
			const posts = await subject.replica.watches.postedQuestions(settled?.announcement.id ?? '');
			expect(posts.map(({ content }) => content.kind)).toEqual(['handedOver']);
		});

		it('has the direct message about its end settled with the question, and when the question is handed over again', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await giveBack('U-BOB');
			await store().handOver(wish(watch, 'V2', ['U-DAN', 'U-BOB']), T0);
			expect(await waiting()).toContain('person:T1:U-ANN:V1 settle');
			await giveBack('U-BOB');
			for (let round = 0; round < 3; round += 1) await acts.posted();
			await subject.replica.watches.redraw(KEY, T0);
			expect(await waiting()).toEqual(['person:T1:U-DAN:V2 redraw', 'watch redraw']);
			await acts.posted();
			// It is not settled yet, so it stays beyond the retention time.
			await subject.store.watches.removeEnded(T0 + 1);
			await subject.store.watches.removeTexts(T0 + 1, null);
			await subject.store.watches.end(watch.id, 'unwatched', { now: T0, announcements: [], keepPending: false });
			expect(await waiting()).toEqual(['person:T1:U-DAN:V2 settle']);
			const [settle] = await subject.store.watches.takeAnnouncements(LEASE, 10, T0);
			const posts = await subject.replica.watches.postedQuestions(settle?.announcement.id ?? '');
			expect(posts.map(({ content }) => content.kind)).toEqual(['givenBack']);
		});

		it('is over when its watch ends', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await subject.store.watches.end(watch.id, 'unwatched', { now: T0, announcements: [], keepPending: false });
			expect(await replica().handOverOf(QUESTION)).toBeNull();
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver', 'person:T1:U-BOB:V1 settle']);
		});

		it('keeps its direct message beyond the retention time until the message is settled', async () => {
			const watch = await askedIn();
			const messages = async () =>
				(
					await subject.store.db.read
						.selectFrom('announcements')
						.select('target')
						.where('kind', '=', 'handedOver')
						.orderBy('target')
						.execute()
				).map(({ target }) => target);
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await acts.posted();
			await acts.posted();
			await store().handOver(wish(watch, 'V2', ['U-BOB', 'U-DAN']), T0);
			await subject.store.watches.removeEnded(T0 + 1);
			expect(await messages()).toEqual(['person:T1:U-BOB:V1', 'person:T1:U-DAN:V2']);
			await acts.posted();
			await acts.posted();
			await subject.store.watches.removeEnded(T0 + 1);
			expect(await messages()).toEqual(['person:T1:U-DAN:V2']);
			await giveBack('U-DAN');
			await subject.store.watches.removeEnded(T0 + 1);
			const due = await subject.store.watches.takeAnnouncements(LEASE, 10, T0);
			const settle = due.find(({ announcement }) => announcement.content.kind === 'settle');
			const posts = await subject.replica.watches.postedQuestions(settle?.announcement.id ?? '');
			expect(posts.map(({ content }) => content.kind)).toEqual(['handedOver']);
			await subject.store.watches.releasePosts([LEASE.token]);
			await acts.posted();
			await subject.store.watches.removeEnded(T0 + 1);
			expect(await messages()).toEqual([]);
		});

		it('has its direct message drawn again with the posts, once', async () => {
			const watch = await askedIn();
			await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
			await acts.posted();
			await acts.posted();
			expect(await subject.replica.watches.redraw(KEY, T0)).toBe(2);
			expect(await subject.replica.watches.redraw(KEY, T0)).toBe(0);
			expect(await waiting()).toEqual(['person:T1:U-BOB:V1 redraw', 'watch redraw']);
		});
	});

	it('gives the open posts of a reworded question its new text, also a direct message that waits, and draws them again', async () => {
		const watch = await askedIn();
		const target = { kind: 'watch', watchId: watch.id, teamId: 'T1', channelId: 'C1' } as const;
		const settle = { target, key: 'settle', content: { kind: 'settle', messageIndex: 0, how: 'answered' } } as const;
		const content = { kind: 'question', question: question as NonNullable<typeof question>, changed: false } as const;
		const asked = { target, key: 'again', content: { ...content, readAt: T0 } };
		const update = (revision: number) => ({ ...watch, revision });
		const soon = { nextRead: { at: T0, by: T0 } };
		await acts.recorded([news(update(1), { digest: view.digest, announcements: [settle, asked] })], read(soon));
		for (let round = 0; round < 3; round += 1) await acts.posted();
		await store().handOver(wish(watch, 'V1', ['U-ANN', 'U-BOB']), T0);
		const reworded = { ...(question as NonNullable<typeof question>), context: 'Another text', shownHash: 'h2' };
		const seen = read({ ...soon, lastReadAt: T0 + 5 });
		await acts.recorded([news(update(2), { digest: view.digest, reworded })], seen);
		expect(await waiting()).toEqual(['person:T1:U-BOB:V1 handedOver', 'person:T1:U-BOB:V1 redraw', 'watch redraw']);
		const told = { question: { ...question, context: 'Another text', shownHash: 'h2' }, readAt: T0 + 5 };
		const due = await subject.store.watches.takeAnnouncements(LEASE, 10, T0);
		const direct = due.find(({ announcement }) => announcement.content.kind === 'handedOver');
		expect(direct?.announcement.content).toMatchObject(told);
		const redraw = due.find(({ announcement }) => announcement.content.kind === 'redraw')?.announcement.id ?? '';
		const open = await subject.replica.watches.postedQuestions(redraw);
		expect(open.map((post) => post.content)).toMatchObject([told]);
		const settles = subject.store.db.read.selectFrom('announcements').selectAll().where('kind', '=', 'settle');
		const [before] = await subject.replica.watches.postedQuestions((await settles.executeTakeFirst())?.id ?? '');
		expect(before?.content).toMatchObject({ question: { context: question?.context }, readAt: T0 });
	});

	it('finds the watch of a channel with what its card shows', async () => {
		const watch = await askedIn();
		expect(await replica().watchedIn({ teamId: 'T1', channelId: 'C1' }, KEY)).toMatchObject({
			watch: { id: watch.id },
			view: { question: { fingerprint } },
			checkedAt: T0,
		});
		expect(await replica().watchedIn({ teamId: 'T1', channelId: 'C2' }, KEY)).toBeNull();
	});
}
