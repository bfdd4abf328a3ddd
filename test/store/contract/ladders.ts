import { describe, expect, it } from 'vitest';
import { type SessionSnapshot, snapshotOf } from '../../../src/domain/session-snapshot.ts';
import type { Ladder, LadderOutcome } from '../../../src/store/ladders.ts';
import { hasOpenQuestion, type Watch } from '../../../src/store/watch.ts';
import type { LadderBatch } from '../../../src/surfaces/ladder-store.ts';
import type { NewPost, Post } from '../../../src/surfaces/post.ts';
import { addWatch, assistant, session } from '../../sessions/support.ts';
import { type FoundChange, recordRead } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import {
	ANN,
	accepted,
	attemptAt,
	BOB,
	LEASE,
	moved,
	OTHER_LEASE,
	SERVICE,
	submission,
	T0,
	touchSession,
} from '../support.ts';
import { asking, C1, KEY, news, read, shownAt, watchActs } from './watch-acts.ts';

const REMIND_AT = T0 + 900_000;
const WAIT = { kind: 'wait', dueAt: REMIND_AT, reminderDueAt: null, heldBy: null, readBy: null } as const;

export function describeLadders(subject: Subject): void {
	const { recorded, posted } = watchActs(subject);
	const ladders = () => subject.store.ladders;
	const replica = () => subject.replica.ladders;

	const asks = (title = 'Colour') => session({ status: 'humanInput', messages: [assistant('Which?', title)] });

	/** A watch whose question was posted at `T0`. */
	async function asked(overrides: Parameters<typeof addWatch>[1] = {}, title = 'Colour'): Promise<Watch> {
		const asking = asks(title);
		const watch = await addWatch(watches(), { view: snapshotOf(asking, T0), ...overrides });
		await posted();
		await announce(watch, title);
		await posted();
		return watch;
	}

	/** Queues the post of the watch's question, as a read does. */
	async function announce(watch: Watch, title = 'Colour'): Promise<void> {
		const view = snapshotOf(asks(title), T0);
		const posts = [asking(watch, `question:${title}`)];
		await recorded([news(watch, { posts })], await again(view, watch.session));
	}

	/** A read of this content, after which the session is due again at once. */
	async function again(view: SessionSnapshot, { service, sessionId } = KEY) {
		const asked = subject.store.db.read.selectFrom('questions').selectAll().where('settledAt', 'is', null);
		const here = asked.where('service', '=', service).where('sessionId', '=', sessionId);
		const open = await here.executeTakeFirst();
		const { question } = view.digest;
		const isOpen = question !== null && hasOpenQuestion(view.digest);
		const isSame = isOpen && open?.fingerprint === question.fingerprint;
		const questions: FoundChange[] = [];
		if (open !== undefined && !isSame) questions.push({ kind: 'settled', how: isOpen ? 'changed' : 'closed' });
		if (isOpen && !isSame) questions.push({ kind: 'asked', question, settled: null });
		return read({ view, questions, nextRead: { at: T0, by: T0 } });
	}

	const take = (now = T0, lease = LEASE, options: { limit?: number; except?: (typeof C1)[] } = {}) =>
		ladders().takeDue(SERVICE, lease, { now, limit: 100, except: [], ...options });

	async function takeOne(now = T0): Promise<LadderBatch['ladders'][number]> {
		const [batch, ...others] = await take(now);
		const [taken, ...more] = batch?.ladders ?? [];
		if (taken === undefined || others.length + more.length > 0) throw new Error('not exactly one ladder is due');
		return taken;
	}

	type Wait = Omit<Extract<LadderOutcome, { kind: 'wait' }>, 'ladder' | 'changeCount' | 'kind'>;

	async function waits(wait: Partial<Wait> = {}, now = T0) {
		const { ladder, changeCount } = await takeOne(now);
		return ladders().record(LEASE.token, [{ ladder, changeCount, ...WAIT, ...wait }], { posts: [], now });
	}

	/** The ladders of these sessions ask for reads in the order of these times. */
	async function asksForReads(now: number, places: Readonly<Record<string, number>>): Promise<void> {
		const due = (await take(now)).flatMap((batch) => batch.ladders);
		const outcomes = due.map((taken): LadderOutcome => {
			const readBy = places[taken.ladder.session.sessionId] ?? null;
			return { ...taken, ...WAIT, dueAt: now, readBy };
		});
		await ladders().record(LEASE.token, outcomes, { posts: [], now });
	}

	/** Makes the ladders of these sessions due one after the other, the first the longest ago. */
	async function dueFrom(sessionIds: readonly string[]): Promise<void> {
		for (const [index, sessionId] of sessionIds.entries()) {
			await touchSession(subject.store, { ...KEY, sessionId }, T0 - 1_000 + index);
		}
	}

	/** Channels and sessions in the order in which they were taken. */
	const channelsOf = (batches: readonly LadderBatch[]) =>
		batches.map((batch) => {
			const sessionIds = batch.ladders.map(({ ladder }) => ladder.session.sessionId);
			return `${batch.channel.channelId}: ${sessionIds.join(' ')}`;
		});

	/** A watch of another session in the same channel, with its question posted. */
	async function another(sessionId: string): Promise<Watch> {
		const view = { ...snapshotOf(asks(), T0), sessionId };
		const watch = await addWatch(watches(), { sessionId, view });
		await posted();
		await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0);
		const update = news(watch, { posts: [asking(watch)] });
		const held = { session: { ...KEY, sessionId }, token: LEASE.token };
		const seen = await again(view, held.session);
		await recordRead(subject.store, held, { update: seen, watches: [update], now: T0 });
		await posted();
		return watch;
	}

	/** Watches of the same session in another channel. */
	async function addChannels(): Promise<void> {
		const watch = await addWatch(watches(), { channelId: 'C2', view: snapshotOf(asks(), T0) });
		await posted();
		await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0 + 20_000);
		const update = news(watch, { posts: [asking(watch)] });
		const held = { session: KEY, token: LEASE.token };
		await recordRead(subject.store, held, { update: read(), watches: [update], now: T0 });
		await posted();
	}
	const watches = () => subject.store.watches;

	describe('ladders', () => {
		it('begin with the post of a question, and not before', async () => {
			const watch = await addWatch(watches(), { view: snapshotOf(asks(), T0) });
			await posted();
			await announce(watch);
			expect(await take()).toEqual([]);
			await posted(T0 + 5);
			expect(await takeOne(T0 + 5)).toMatchObject({
				ladder: {
					watchId: watch.id,
					channel: C1,
					session: KEY,
					postedAt: T0 + 5,
					remindedAt: null,
					escalationCount: 0,
				},
				isOpen: true,
				isAnswered: false,
				claim: null,
				isFailing: false,
			});
		});

		it('count from when the post was sent, at the latest from now', async () => {
			const watch = await addWatch(watches(), { view: snapshotOf(asks(), T0) });
			await posted();
			for (const [title, sentAt, countsFrom] of [
				['Colour', T0 + 60_000, T0 + 60_000],
				['Size', T0 + 99_000, T0 + 62_000],
			] as const) {
				await announce({ ...watch, revision: title === 'Colour' ? 0 : 1 }, title);
				const due = await subject.store.posts.takeDue(LEASE, 9, T0 + 62_000);
				const post = due.find((one) => one.post.ts === null)?.post as Post;
				await subject.store.posts.beginAttempt(post.id, LEASE.token, attemptAt(T0));
				await subject.store.posts.endAttempt(post, LEASE.token, shownAt(post, '1.2', { sentAt }), T0 + 62_000);
				await subject.store.posts.release([LEASE.token]);
				expect((await takeOne(T0 + 62_000)).ladder.postedAt).toBe(countsFrom);
				await ladders().release([LEASE.token]);
			}
		});

		it('begin anew with the post of another question', async () => {
			const watch = await asked();
			const { ladder, changeCount } = await takeOne();
			await ladders().record(LEASE.token, [{ ladder, changeCount, kind: 'remind', stage: 'escalation' }], {
				posts: [],
				now: T0,
			});
			await announce({ ...watch, revision: 1 }, 'Size');
			await posted(T0 + 9);
			const next = await takeOne(T0 + 9);
			expect(next.ladder).toMatchObject({ postedAt: T0 + 9, escalationCount: 0, lastReminderAt: null });
			expect(next.ladder.questionId).not.toBe(ladder.questionId);
		});

		it('of one channel are taken together, with its settings, and by one replica', async () => {
			await asked();
			await addChannels();
			const [mine, others] = await Promise.all([
				take(),
				replica().takeDue(SERVICE, OTHER_LEASE, { now: T0, limit: 100, except: [] }),
			]);
			const channels = [...mine, ...others].map(
				({ channel: { channelId }, ladders: { length } }) => `${channelId} ${length}`,
			);
			expect(channels.sort()).toEqual(['C1 1', 'C2 1']);
		});

		it('are not taken in channels that are in work', async () => {
			await asked();
			await addChannels();
			const taken = await take(T0, LEASE, { except: [C1] });
			expect(taken.map(({ channel }) => channel.channelId)).toEqual(['C2']);
		});

		it('are taken of so many channels, longest due first, and all of each', async () => {
			await asked({ sessionId: 's1', channelId: 'C1' });
			await asked({ sessionId: 's2', channelId: 'C2' });
			await asked({ sessionId: 's3', channelId: 'C3' });
			await asked({ sessionId: 's4', channelId: 'C1' });
			await asked({ sessionId: 's5', channelId: 'C2' });
			await dueFrom(['s2', 's1', 's3', 's4', 's5']);
			expect(channelsOf(await take(T0, LEASE, { limit: 2 }))).toEqual(['C2: s2 s5', 'C1: s1 s4']);
			expect(channelsOf(await take(T0, OTHER_LEASE, { limit: 2 }))).toEqual(['C3: s3']);
		});

		it('are due when their time has come', async () => {
			await asked();
			await waits();
			expect(await ladders().nextDueAt(SERVICE, [])).toBe(REMIND_AT);
			expect(await take(REMIND_AT - 1)).toEqual([]);
			expect(await take(REMIND_AT)).toHaveLength(1);
			expect(await ladders().nextDueAt('https://other.example', [])).toBeNull();
		});

		it('are not waited for in channels in which a batch is in work', async () => {
			await asked();
			expect(await take()).toHaveLength(1);
			await asked({ sessionId: 's2' });
			expect(await ladders().nextDueAt(SERVICE, [])).toBe(T0);
			expect(await replica().nextDueAt(SERVICE, [C1])).toBeNull();
			await asked({ sessionId: 's3', channelId: 'C2' });
			expect(await ladders().nextDueAt(SERVICE, [C1])).toBe(T0);
		});

		it('are taken with the reminders of their channel that wait for them', async () => {
			const asking = [await asked(), await another('s2'), await another('s3')];
			const [batch] = await take();
			const [waiting, later, due] = asking.map(({ id }) => batch?.ladders.find(({ ladder }) => ladder.watchId === id));
			if (waiting === undefined || later === undefined || due === undefined) throw new Error('a ladder is missing');
			const outcomes = [
				{ ...waiting, ...WAIT, dueAt: T0 + 10_000, reminderDueAt: T0 },
				{ ...later, ...WAIT, dueAt: T0 + 10_000, reminderDueAt: T0 + 10_000 },
				{ ...due, ...WAIT, dueAt: T0 + 4_000 },
			];
			await ladders().record(LEASE.token, outcomes, { posts: [], now: T0 });
			expect(await take(T0 + 3_999)).toEqual([]);
			const [together] = await take(T0 + 4_000);
			expect(together?.ladders.map(({ ladder }) => ladder.watchId)).toEqual(
				[due, waiting].map((one) => one.ladder.watchId),
			);
		});

		it('without a time wait until something changes', async () => {
			await asked();
			await waits({ dueAt: null });
			expect(await ladders().nextDueAt(SERVICE, [])).toBeNull();
			await touchSession(subject.replica, KEY, T0 + 1);
			expect(await ladders().nextDueAt(SERVICE, [])).toBe(T0 + 1);
			await waits({ dueAt: null }, T0 + 1);
			await replica().touchAll(SERVICE, T0 + 2);
			expect(await take(T0 + 2)).toHaveLength(1);
		});

		it('are looked at again at once when the question changed during the work', async () => {
			await asked();
			const { ladder, changeCount } = await takeOne();
			await touchSession(subject.replica, KEY, T0);
			await ladders().record(LEASE.token, [{ ladder, changeCount, ...WAIT }], { posts: [], now: T0 });
			expect(await ladders().nextDueAt(SERVICE, [])).toBe(T0);
		});

		it('whose reminders wait for each other are taken together', async () => {
			await asked();
			await waits({ dueAt: T0 + 10_000, reminderDueAt: T0 + 1 });
			await asked({ sessionId: 's2' });
			await waits({ dueAt: T0 + 15_000, reminderDueAt: T0 + 5_000 });
			expect(await take(T0 + 9_999)).toEqual([]);
			const [batch] = await take(T0 + 10_000);
			expect(batch?.ladders.map(({ ladder }) => ladder.session.sessionId).sort()).toEqual(['s1', 's2']);
		});

		it('tell what is known of the question', async () => {
			await asked();
			const until = T0 + 60_000;
			const { question } = submission();
			const key = { ...question, messageIndex: 0 };
			await subject.store.claims.claim({ question: key, person: ANN, until }, T0);
			await subject.store.claims.claim({ question: key, person: BOB, until: until + 1 }, T0);
			const answer = await accepted(subject.store, submission({ question: key }));
			expect(await takeOne()).toMatchObject({
				isAnswered: true,
				claim: { userId: BOB.userId, until: until + 1 },
				readAt: T0,
			});
			await ladders().release([LEASE.token]);
			await moved(subject.store, answer.id, 'delivering', 'delivered');
			expect(await takeOne(T0 + 2)).toMatchObject({ isAnswered: true });
		});

		it('are not answered by an answer that a later read did not find', async () => {
			await asked();
			const answer = submission({ question: { ...submission().question, messageIndex: 0 } });
			await accepted(subject.store, answer, 'delivering', 'delivered');
			const again = read({ lastReadAt: T0 + 60_000, nextRead: { at: T0, by: T0 } });
			await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0 + 60_000);
			await recordRead(subject.store, { session: KEY, token: LEASE.token }, { update: again, watches: [], now: T0 });
			expect(await takeOne(T0 + 2)).toMatchObject({ isAnswered: false, readAt: T0 + 60_000 });
		});

		it('without a time are looked at once more when their question is settled, when their watch ends, and never when they are over', async () => {
			const watch = await asked();
			await waits({ dueAt: null });
			const closed = snapshotOf(session({ messages: [assistant('Which?'), assistant('Thanks')] }), T0);
			const current = { ...watch, revision: 1 };
			await recorded([news(current)], await again(closed));
			expect(await takeOne()).toMatchObject({ isOpen: false });
			await ladders().release([LEASE.token]);
			await waits({ dueAt: null });
			await subject.store.watches.end(watch.id, 'unwatched', { now: T0, posts: [] });
			const { ladder, changeCount, isOpen } = await takeOne();
			expect(isOpen).toBe(false);
			await ladders().record(LEASE.token, [{ ladder, changeCount, kind: 'over' }], { posts: [], now: T0 });
			expect(await ladders().nextDueAt(SERVICE, [])).toBeNull();
		});

		it('note a reminder together with its post, and are planned anew', async () => {
			const watch = await asked();
			const { ladder, changeCount } = await takeOne();
			const post = reminderOf(watch, ladder);
			const outcome = { ladder, changeCount, kind: 'remind', stage: 'reminder' } as const;
			await ladders().record(LEASE.token, [outcome], { posts: [post], now: T0 + 7 });
			expect(await takeOne(T0 + 7)).toMatchObject({ ladder: { remindedAt: T0 + 7, lastReminderAt: T0 + 7 } });
			expect(await posted(T0 + 7)).toEqual(['reminder']);
		});

		it('whose reminder nobody saw have it due again, and not at once', async () => {
			const watch = await asked();
			const { ladder, changeCount } = await takeOne();
			const post = reminderOf(watch, ladder);
			const outcome = { ladder, changeCount, kind: 'remind', stage: 'reminder' } as const;
			await ladders().record(LEASE.token, [outcome], { posts: [post], now: T0 });
			expect(await takeOne()).toMatchObject({ ladder: { isSending: true } });
			await ladders().release([LEASE.token]);
			await waits({ dueAt: null });
			const due = await subject.store.posts.takeDue(LEASE, 9, T0);
			const reminder = due.find((one) => one.post.content.kind === 'reminder')?.post as Post;
			const dropped = { kind: 'dropped', unknown: false } as const;
			await subject.store.posts.endAttempt(reminder, LEASE.token, dropped, T0 + 5_000);
			expect(await take(T0 + 9_999)).toEqual([]);
			expect(await takeOne(T0 + 10_000)).toMatchObject({
				ladder: { isSending: false, remindedAt: null, lastReminderAt: null },
			});
		});

		it('write nothing after their lease was lost', async () => {
			const watch = await asked();
			const { ladder, changeCount } = await takeOne();
			const later = T0 + LEASE.ms;
			await replica().takeDue(SERVICE, OTHER_LEASE, { now: later, limit: 9, except: [] });
			const outcome = { ladder, changeCount, kind: 'remind', stage: 'reminder' } as const;
			const post = reminderOf(watch, ladder);
			expect(await ladders().record(LEASE.token, [outcome], { posts: [post], now: later })).toBeNull();
			expect(await posted(later)).toEqual([]);
		});

		it('are given back when another ladder of the work began anew', async () => {
			const watch = await asked({ sessionId: 's1' });
			await asked({ sessionId: 's2' });
			await asked({ sessionId: 's3', channelId: 'C3' });
			const batches = await take();
			const [batch, inWork] = ['C1', 'C3'].map((id) => batches.find(({ channel }) => channel.channelId === id));
			await announce({ ...watch, revision: 1 }, 'Size');
			await posted();
			const ring = { kind: 'remind', stage: 'reminder' } as const;
			const outcomes = (batch?.ladders ?? []).map((taken) => ({ ...taken, ...ring }));
			expect(await ladders().record(LEASE.token, outcomes, { posts: [], now: T0 })).toBeNull();
			const again = await take(T0, OTHER_LEASE);
			expect(channelsOf(again)).toEqual([expect.stringMatching(/^C1: (?:s1 s2|s2 s1)$/)]);
			expect(again[0]?.ladders.map(({ ladder }) => ladder.remindedAt)).toEqual([null, null]);
			const untouched = (inWork?.ladders ?? []).map((taken) => ({ ...taken, ...WAIT }));
			expect(await ladders().record(LEASE.token, untouched, { posts: [], now: T0 })).toBe('recorded');
		});

		it('have their session read before others that are due', async () => {
			await asked();
			await another('s2');
			await recorded([], read({ nextRead: { at: T0 + 90_000, by: T0 + 90_000 } }));
			await asksForReads(T0 + 60_000, { s1: T0 + 60_000 });
			const [first] = await subject.store.sessions.takeDue(SERVICE, LEASE, 1, T0 + 60_000);
			expect(first?.session.sessionId).toBe('s1');
		});

		it('have their sessions read in the order that they ask for, however often they ask', async () => {
			for (const sessionId of ['s1', 's2', 's3']) await asked({ sessionId });
			await asksForReads(T0 + 60_000, { s3: T0 + 58_000, s1: T0 + 59_000 });
			await asksForReads(T0 + 70_000, { s3: T0 + 58_000, s2: T0 + 59_500 });
			await asksForReads(T0 + 80_000, { s1: T0 + 59_000, s3: T0 + 60_000 });
			const taken = await subject.store.sessions.takeDue(SERVICE, LEASE, 3, T0 + 80_000);
			expect(taken.map(({ session: { sessionId } }) => sessionId)).toEqual(['s3', 's1', 's2']);
		});

		it('are looked at as soon as the service is back', async () => {
			await asked();
			await waits();
			const failed = read({ failures: 1, nextRead: { at: T0, by: T0 } });
			await recorded([], failed);
			expect(await ladders().nextDueAt(SERVICE, [])).toBe(REMIND_AT);
			await recorded([], await again(snapshotOf(asks(), T0)));
			expect(await ladders().nextDueAt(SERVICE, [])).toBe(T0);
		});

		it('put the read of a session that fails ahead of others, not before its time', async () => {
			await asked();
			await waits();
			const failed = read({ failures: 3, nextRead: { at: T0 + 50_000, by: T0 + 50_000 } });
			await recorded([], failed);
			await waits({ readBy: T0, dueAt: T0 + 5_000 }, REMIND_AT);
			const row = await subject.store.sessions.watched(KEY);
			expect(row?.nextRead.at).toBe(T0 + 50_000);
			expect(row?.nextRead.by).toBeLessThan(T0);
			expect(row?.earlyReadAskedAt).toBeNull();
			// A further failure keeps the place that its outcome names.
			await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0 + 50_000);
			const update = read({ failures: 4, nextRead: { at: T0 + 90_000, by: T0 - 60_000 } });
			await recordRead(subject.store, { session: KEY, token: LEASE.token }, { update, watches: [], now: T0 + 50_000 });
			expect((await subject.store.sessions.watched(KEY))?.nextRead.by).toBe(T0 - 60_000);
		});

		it('ask for a read of their session once', async () => {
			await asked();
			const later = read({ nextRead: { at: T0 + 600_000, by: T0 + 600_000 } });
			await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0 + 20_000);
			await recordRead(subject.store, { session: KEY, token: LEASE.token }, { update: later, watches: [], now: T0 });
			await waits({ readBy: T0, dueAt: T0 + 1_000 });
			expect(await subject.store.sessions.nextDueAt(SERVICE)).toBe(T0);
			const [taken] = await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0);
			await waits({ readBy: T0, dueAt: T0 + 20_000 }, T0 + 10_000);
			const { earlyReadCount = -1 } = taken ?? {};
			const update = { ...later, earlyReadCount };
			await recordRead(subject.store, { session: KEY, token: LEASE.token }, { update, watches: [], now: T0 });
			expect(await subject.store.sessions.nextDueAt(SERVICE)).toBe(T0 + 600_000);
		});

		it('have no further early reads after the one that they asked for', async () => {
			await asked();
			await waits({ readBy: T0, dueAt: T0 + 1_000 });
			expect((await subject.store.sessions.watched(KEY))?.earlyReadAskedAt).toBeNull();
		});
	});
}

function reminderOf({ teamId, channelId }: Watch, { watchId, questionId, postTs }: Ladder): NewPost {
	const entry = { watchId, sessionId: 's1', questionId, postTs, postedAt: T0, heldBy: null } as const;
	const content = {
		kind: 'reminder',
		entries: [{ ...entry, stage: 'reminder', dueAt: T0, isLast: false, lastReminderAt: null }],
	} as const;
	return { target: { kind: 'watch', watchId, teamId, channelId }, key: 'reminder', content };
}
