import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import { type SessionSnapshot, snapshotOf } from '../../../src/domain/session-snapshot.ts';
import { hasOpenQuestion, type Watch } from '../../../src/store/watch.ts';
import type { Store } from '../../../src/stores.ts';
import {
	type AttemptResult,
	AWAITED,
	type DuePost,
	HELD,
	type Hold,
	type Post,
	QUESTION_KEY,
	type ReminderEntry,
	streamOf,
	targetOf,
} from '../../../src/surfaces/post.ts';
import { retryWaiting } from '../../../src/surfaces/post-store.ts';
import type { ReminderFacts } from '../../../src/surfaces/reminder-store.ts';
import { createReminding } from '../../../src/surfaces/reminders.ts';
import { addWatch, assistant, session, setStyle } from '../../sessions/support.ts';
import { coreOf } from '../../support/core.ts';
import type { FoundChange } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { attemptAt, BOB, LEASE, OTHER_LEASE, only, present, SERVICE, storeActs, submission, T0 } from '../support.ts';
import { asking, C1, KEY, news, read, shownAt, watchActs } from './watch-acts.ts';

const MINUTE_MS = 60_000;
const REMIND_AFTER_MS = 15 * MINUTE_MS;
const REMIND_AT = T0 + REMIND_AFTER_MS;
/** The first look at reminders that have begun at `T0`. */
const FIRST_LOOK = T0 + 10_000;
const CHANNEL = { kind: 'channel', ...C1 } as const;
const CHANNEL_STREAM = streamOf(CHANNEL);
type Place = Parameters<Store['reminders']['factsOf']>[1];
type QuestionFacts = ReminderFacts['questions'][number];

export function describeReminders(subject: Subject): void {
	const { accepted, formShown, moved, refreshed, rowsOf, setRows, spread } = storeActs(subject);
	const { recorded, ended, unwatch, posted, postsOf } = watchActs(subject);
	const watches = () => subject.store.watches;

	const asks = (title = 'Colour') => session({ status: 'humanInput', messages: [assistant('Which?', title)] });

	/** A watch whose question was posted at `T0`. */
	async function asked(overrides: Parameters<typeof addWatch>[1] = {}): Promise<Watch> {
		const { sessionId = 's1' } = overrides;
		const snapshot = { ...snapshotOf(asks(), T0), sessionId };
		const watch = await addWatch(watches(), { snapshot, ...overrides });
		await posted();
		await announce(watch);
		await posted();
		return watch;
	}

	/** Queues the post of the watch's question, as a read then does. */
	async function announce(watch: Watch, title = 'Colour', readAt = T0): Promise<void> {
		const { sessionId } = watch.session;
		const snapshot = { ...snapshotOf(asks(title), readAt), sessionId };
		const update = { ...(await again(snapshot, watch.session)), lastReadAt: readAt };
		const at = { takenAt: Math.max(readAt, T0 + 20_000), now: readAt, session: watch.session };
		expect(await recorded([news(watch, { posts: [asking(watch, QUESTION_KEY)] })], update, at)).toBe(true);
	}

	/** A read of this content, after which the session is due again at once. */
	async function again(snapshot: SessionSnapshot, { service, sessionId } = KEY) {
		const open = (await rowsOf('questions', { service, sessionId })).find(({ settledAt }) => settledAt === null);
		const { question } = snapshot.digest;
		const isOpen = question !== null && hasOpenQuestion(snapshot.digest);
		const isSame = isOpen && open?.fingerprint === question.fingerprint;
		const questions: FoundChange[] = [];
		if (open !== undefined && !isSame) questions.push({ kind: 'settled', how: isOpen ? 'changed' : 'closed' });
		if (isOpen && !isSame) questions.push({ kind: 'asked', question, settled: null });
		return read({ snapshot, questions, nextRead: { at: T0, by: T0 } });
	}

	/** Leases the held reminders that are due then, and no other posts. */
	async function take(now = FIRST_LOOK, lease = LEASE, store: Store = subject.store): Promise<DuePost[]> {
		const due = await store.posts.takeDue(lease, 50, now);
		const isReminder = ({ post }: DuePost) => post.content.kind === 'reminder';
		for (const { post } of due.filter((one) => !isReminder(one)))
			await setRows('posts', { leaseToken: null, leasedUntil: null }, { id: post.id, leaseToken: lease.token });
		return due.filter(isReminder);
	}

	const takeOne = async (now = FIRST_LOOK): Promise<Post> => only(await take(now)).post;

	const end = (post: Post, result: AttemptResult, now = FIRST_LOOK) => ended(post, result, now);

	/** Takes the reminder that is due then and holds it until `until`, with what waits. */
	async function holds(until: number, entries: readonly ReminderEntry[] = [], now = FIRST_LOOK): Promise<void> {
		await end(await takeOne(now), held(until, entries), now);
	}

	const factsOf = (place: Place = CHANNEL, now = FIRST_LOOK) => subject.replica.reminders.factsOf(SERVICE, place, now);

	const factOf = async (place: Place = CHANNEL, now = FIRST_LOOK): Promise<QuestionFacts> =>
		only((await factsOf(place, now)).questions);

	/** The reminder that is held in this place, as stored. */
	async function heldIn(stream = CHANNEL_STREAM) {
		await spread();
		const [row, ...others] = await rowsOf('posts', { kind: 'reminder', state: 'planned', stream });
		expect(others).toEqual([]);
		return row ?? null;
	}

	const dueAt = async (stream = CHANNEL_STREAM) => (await heldIn(stream))?.dueAt;

	/** Shows the reminder that is due then, of these questions. */
	async function shows(entries: readonly ReminderEntry[], now = FIRST_LOOK): Promise<Post> {
		const content = { kind: 'reminder', entries } as const;
		const post = { ...(await takeOne(now)), content };
		const attempt = { ...attemptAt(now), content };
		expect(await subject.store.posts.beginAttempt(post.id, LEASE.token, attempt)).toBe(true);
		await end(post, shownAt(post, '7.7', { isLast: false }), now);
		return post;
	}

	/** What the program decides of a held reminder then. */
	function decided(now: number, content: Partial<Extract<Post['content'], { kind: 'reminder' }>> = {}): Promise<Hold> {
		const program = { store: subject.store, clock: createManualClock(now), serviceUrl: SERVICE };
		const core = coreOf({ ...program, config: { REMIND_AFTER: REMIND_AFTER_MS } });
		return createReminding(core)(CHANNEL, { kind: 'reminder', entries: [], ...content });
	}

	describe('reminders', () => {
		it('begin with the post of a question, and not before', async () => {
			const watch = await addWatch(watches(), { snapshot: snapshotOf(asks(), T0) });
			await posted();
			await announce(watch);
			expect(await heldIn()).toBeNull();
			expect(await factsOf()).toMatchObject({ questions: [] });
			await posted(T0 + 5);
			expect(await heldIn()).toMatchObject({ watchId: null, waitsAs: HELD, dueAt: T0 + 10_005, ts: null });
			expect(await factOf()).toMatchObject({
				watchId: watch.id,
				...KEY,
				postTs: 'ts-question:',
				remindSince: T0 + 5,
				remindedAt: null,
				escalationCount: 0,
				lastReminderAt: null,
				isThreadOnly: false,
				isAnswered: false,
				claim: null,
				readAt: T0,
				isFailing: false,
			});
		});

		it.each([
			[T0 + MINUTE_MS, T0 + MINUTE_MS],
			[T0 + 99_000, T0 + 62_000],
		])('count from when the post was sent, at the latest from now: %i', async (sentAt, countsFrom) => {
			const watch = await addWatch(watches(), { snapshot: snapshotOf(asks(), T0) });
			await posted();
			await announce(watch);
			const due = await subject.store.posts.takeDue(LEASE, 9, T0 + 62_000);
			const post = due.find((one) => one.post.ts === null)?.post as Post;
			await subject.store.posts.beginAttempt(post.id, LEASE.token, attemptAt(T0));
			await end(post, shownAt(post, '1.2', { sentAt }), T0 + 62_000);
			expect((await factOf()).remindSince).toBe(countsFrom);
		});

		it('begin anew with the post of another question', async () => {
			const watch = await asked();
			const first = await factOf();
			await shows([entryOf(first, 'escalation')]);
			const readAt = T0 + 10 * MINUTE_MS;
			await announce({ ...watch, revision: 1 }, 'Size', readAt);
			expect((await factsOf()).questions).toEqual([]);
			await posted(readAt + 9);
			const next = await factOf();
			expect(next).toMatchObject({ remindSince: readAt + 9, escalationCount: 0, lastReminderAt: null });
			expect(next.questionId).not.toBe(first.questionId);
		});

		it('begin anew in the post of a question that its agent asks instead', async () => {
			const watch = await asked();
			const first = await factOf();
			await shows([entryOf(first, 'escalation')]);
			await announce({ ...watch, revision: 1 }, 'Size', T0 + 30_000);
			const next = await factOf();
			expect(next).toMatchObject({ postTs: first.postTs, remindSince: T0 + 30_000, escalationCount: 0 });
			expect(next.questionId).not.toBe(first.questionId);
		});

		it('count from now where the question is open again, and keep what was counted', async () => {
			await asked();
			await shows([entryOf(await factOf(), 'reminder')]);
			const snapshot = snapshotOf(asks(), T0);
			const question = present(snapshot.digest.question);
			await recorded([], read({ questions: [{ kind: 'settled', how: 'wentOn' }], nextRead: { at: T0, by: T0 } }));
			expect((await factsOf()).questions).toEqual([]);
			await recorded([], read({ snapshot, questions: [{ kind: 'reopened', question }] }), { takenAt: T0 + 80_000 });
			expect(await factOf()).toMatchObject({ remindSince: T0 + 80_000, remindedAt: FIRST_LOOK, lastReminderAt: null });
		});

		it('of one channel are one post, which one replica has at a time', async () => {
			await asked({ sessionId: 's1' });
			await asked({ sessionId: 's2' });
			await asked({ sessionId: 's1', channelId: 'C2' });
			const both = await Promise.all([take(), take(FIRST_LOOK, OTHER_LEASE, subject.replica)]);
			const places = both.flat().map(({ post }) => streamOf(post.target));
			expect(places.toSorted()).toEqual([CHANNEL_STREAM, streamOf({ ...CHANNEL, channelId: 'C2' })]);
			expect(both.flat().map(({ post }) => post.content)).toEqual(Array(2).fill({ kind: 'reminder', entries: [] }));
			expect((await factsOf()).questions.map(({ sessionId }) => sessionId).toSorted()).toEqual(['s1', 's2']);
		});

		it('are found for the channel with its settings, oldest question first', async () => {
			for (const sessionId of ['s3', 's1', 's2']) await asked({ sessionId });
			for (const [index, sessionId] of ['s2', 's3', 's1'].entries())
				await setRows('posts', { remindSince: T0 + index }, { sessionId, kind: 'question' });
			await setStyle(subject.store, { discreet: true });
			const { questions, settings, settingsChangedAt } = await factsOf();
			expect(questions.map(({ sessionId }) => sessionId)).toEqual(['s2', 's3', 's1']);
			expect(settings.discreet).toBe(true);
			expect(settingsChangedAt).toBe(T0);
		});

		it('are those of this address of the service', async () => {
			for (const sessionId of ['s1', 's2']) await asked({ sessionId });
			for (const table of ['watches', 'questions', 'posts', 'watched_sessions'] as const)
				await setRows(table, { service: 'https://former.example' }, { sessionId: 's2' });
			expect((await factsOf()).questions.map(({ sessionId }) => sessionId)).toEqual(['s1']);
		});

		it('that nothing is due of wait for their time whatever happens to their questions', async () => {
			await asked();
			await holds(REMIND_AT);
			expect(await take(REMIND_AT - 1)).toEqual([]);
			expect(await heldIn()).toMatchObject({ waitsAs: HELD, dueAt: REMIND_AT, leaseToken: null });
			await refreshed(KEY, { now: T0 + 20_000, earlyReadAt: null });
			expect(await dueAt()).toBe(REMIND_AT);
		});

		it('that wait for their questions are looked at as soon as something happens to one', async () => {
			await asked();
			await asked({ sessionId: 's2', channelId: 'C2' });
			await subject.store.posts.release([LEASE.token]);
			for (const { post } of await take()) await end(post, held(REMIND_AT, [entryOf(await factOf(), 'reminder')]));
			expect(await heldIn()).toMatchObject({ waitsAs: AWAITED, dueAt: REMIND_AT });
			await refreshed(KEY, { now: T0 + 20_000, earlyReadAt: null });
			expect(await dueAt()).toBe(T0 + 20_000);
			expect(await dueAt(streamOf({ ...CHANNEL, channelId: 'C2' }))).toBe(REMIND_AT);
		});

		it('are all looked at when the program starts', async () => {
			await asked({ sessionId: 's1' });
			await asked({ sessionId: 's2', channelId: 'C2' });
			const [one, other] = (await take()).map(({ post }) => post);
			await end(present(one), held(REMIND_AT, []));
			await end(present(other), held(REMIND_AT, [entryOf(await factOf(), 'reminder')]));
			expect(await take(T0 + 20_000)).toEqual([]);
			await retryWaiting(subject.replica.db);
			expect(await take(T0 + 20_000)).toHaveLength(2);
		});

		it('are looked at soon when another question of their place is posted, and not later than planned', async () => {
			await asked({ sessionId: 's1' });
			await holds(REMIND_AT);
			await asked({ sessionId: 's2' });
			expect(await dueAt()).toBe(FIRST_LOOK);
			await holds(T0 + 9_000);
			await asked({ sessionId: 's3' });
			expect(await dueAt()).toBe(T0 + 9_000);
		});

		it('are looked at again at once when something changed during the work', async () => {
			await asked();
			const post = await takeOne();
			await refreshed(KEY, { now: FIRST_LOOK, earlyReadAt: null });
			await end(post, held(REMIND_AT));
			expect(await dueAt()).toBe(FIRST_LOOK);
		});

		it('are not over when a question was posted during the work', async () => {
			const watch = await asked();
			const closed = snapshotOf(session({ messages: [assistant('Which?'), assistant('Thanks')] }), T0);
			await recorded([news({ ...watch, revision: 1 })], await again(closed));
			const post = await takeOne();
			expect(await decided(FIRST_LOOK)).toEqual({ kind: 'over' });
			await asked({ sessionId: 's2' });
			await end(post, { kind: 'dropped' });
			expect(await heldIn()).toMatchObject({ waitsAs: HELD, dueAt: FIRST_LOOK, leaseToken: null });
			expect(await take()).toHaveLength(1);
		});

		it('tell what is known of the question', async () => {
			await asked();
			const until = T0 + MINUTE_MS;
			const key = { ...KEY, messageIndex: 0 };
			await formShown({ question: key, until }, T0);
			await formShown({ question: key, person: BOB, until: until + 1 }, T0);
			const answer = await accepted(submission({ question: key }));
			const claim = { person: BOB, until: until + 1 };
			expect(await factOf()).toMatchObject({ isAnswered: true, claim, readAt: T0 });
			expect(await factOf(CHANNEL, until + 1)).toMatchObject({ claim: null });
			await moved(answer.id, 'delivering', 'delivered');
			expect(await factOf()).toMatchObject({ isAnswered: true });
		});

		it('are not answered by an answer that a later read did not find', async () => {
			await asked();
			const answer = submission({ messageIndex: 0 });
			await accepted(answer, 'delivering', 'delivered');
			const later = read({ lastReadAt: T0 + MINUTE_MS, nextRead: { at: T0, by: T0 } });
			await recorded([], later, { takenAt: T0 + MINUTE_MS, now: T0 });
			expect(await factOf()).toMatchObject({ isAnswered: false, readAt: T0 + MINUTE_MS });
		});

		it('are over when the question is settled, and when its watch has ended', async () => {
			const watch = await asked();
			await asked({ sessionId: 's2' });
			const waiting = (await factsOf()).questions.map((one) => entryOf(one, 'reminder'));
			await holds(REMIND_AT, waiting);
			const closed = snapshotOf(session({ messages: [assistant('Which?'), assistant('Thanks')] }), T0);
			await recorded([news({ ...watch, revision: 1 })], await again(closed));
			expect(await dueAt()).toBe(T0);
			const other = await factOf();
			expect(other.sessionId).toBe('s2');
			await unwatch(other.watchId);
			expect((await factsOf()).questions).toEqual([]);
			expect(await decided(T0)).toEqual({ kind: 'over' });
			await end(await takeOne(T0), { kind: 'dropped' });
			expect(await heldIn()).toBeNull();
		});

		it('that were over are held again with the next question', async () => {
			const watch = await asked();
			await holds(REMIND_AT, [entryOf(await factOf(), 'reminder')]);
			await unwatch(watch.id);
			await end(await takeOne(T0 + MINUTE_MS), { kind: 'dropped' });
			await asked({ sessionId: 's2' });
			const content = JSON.stringify({ kind: 'reminder', entries: [] });
			expect(await heldIn()).toMatchObject({ waitsAs: HELD, dueAt: FIRST_LOOK, content });
		});

		it('are noted with the message that shows them, and the next one is held', async () => {
			await asked();
			const entry = entryOf(await factOf(), 'reminder');
			const { id } = await shows([entry]);
			const counts = { remindSince: T0, remindedAt: FIRST_LOOK, escalationCount: 0, lastReminderAt: FIRST_LOOK };
			expect(await factOf()).toMatchObject(counts);
			const { watchId, questionId } = entry;
			const content = JSON.stringify({ kind: 'reminder', entries: [entry] });
			const shown = { uniqueKey: `reminder:${id}`, state: 'shown', ts: '7.7', ...KEY, watchId, questionId, content };
			expect(await rowsOf('posts', { id })).toMatchObject([shown]);
			expect(await heldIn()).toMatchObject({ waitsAs: HELD, dueAt: FIRST_LOOK });
			await shows([entryOf(await factOf(), 'escalation')], FIRST_LOOK + 1);
			expect(await factOf()).toMatchObject({ ...counts, escalationCount: 1, lastReminderAt: FIRST_LOOK + 1 });
		});

		it('of several questions are noted for each that the message shows, and for no other', async () => {
			for (const sessionId of ['s1', 's2', 's3']) await asked({ sessionId });
			const { questions } = await factsOf();
			const stages = ['reminder', 'escalation'] as const;
			const shown = stages.flatMap((stage, index) => questions[index] && entryOf(questions[index], stage));
			const { id } = await shows(shown.filter((entry) => entry !== undefined));
			const counts = (await factsOf()).questions;
			expect(counts.map((one) => [one.remindedAt, one.escalationCount, one.lastReminderAt])).toEqual([
				[FIRST_LOOK, 0, FIRST_LOOK],
				[null, 1, FIRST_LOOK],
				[null, 0, null],
			]);
			expect(await rowsOf('posts', { id })).toMatchObject([{ watchId: null, service: null, sessionId: null }]);
		});

		it('are noted also when a watch that the message shows is removed by then', async () => {
			await asked({ sessionId: 's1' });
			await asked({ sessionId: 's2' });
			const entries = (await factsOf()).questions.map((one) => entryOf(one, 'reminder'));
			const content = { kind: 'reminder', entries } as const;
			const post = { ...(await takeOne()), content };
			const { watchId } = present(entries[0]);
			await subject.store.db.write((trx) => trx.deleteFrom('watches').where('id', '=', watchId).execute());
			await end(post, shownAt(post, '7.7', { isLast: false }));
			expect(await factOf()).toMatchObject({ remindedAt: FIRST_LOOK });
			expect(await heldIn()).toMatchObject({ ts: null, dueAt: FIRST_LOOK });
		});

		it('that Slack refuses count too', async () => {
			await asked();
			const content = { kind: 'reminder', entries: [entryOf(await factOf(), 'reminder')] } as const;
			await end({ ...(await takeOne()), content }, { kind: 'refused', code: 'restricted_action' });
			expect(await factOf()).toMatchObject({ remindedAt: FIRST_LOOK, lastReminderAt: FIRST_LOOK });
			expect(await heldIn()).toMatchObject({ waitsAs: HELD, dueAt: FIRST_LOOK });
		});

		it('that are tried again count only when they are there', async () => {
			await asked();
			const content = { kind: 'reminder', entries: [entryOf(await factOf(), 'reminder')] } as const;
			const retry = { kind: 'retry', at: T0 + 40_000, code: 'ratelimited', mayBeThere: false } as const;
			await end({ ...(await takeOne()), content }, retry);
			expect(await factOf()).toMatchObject({ remindedAt: null, lastReminderAt: null });
			// Nothing makes it due earlier: Slack has named the time.
			await refreshed(KEY, { now: T0 + 20_000, earlyReadAt: null });
			await asked({ sessionId: 's2' });
			await retryWaiting(subject.store.db);
			expect(await dueAt()).toBe(T0 + 40_000);
		});

		it('of unknown outcome are looked for with what they showed', async () => {
			await asked();
			const content = { kind: 'reminder', entries: [entryOf(await factOf(), 'reminder')] } as const;
			const { id } = await takeOne();
			await subject.store.posts.beginAttempt(id, LEASE.token, { ...attemptAt(FIRST_LOOK), content });
			const [again] = await take(FIRST_LOOK + LEASE.ms, OTHER_LEASE, subject.replica);
			expect(again?.post).toMatchObject({ id, content, sendingSince: FIRST_LOOK });
			// It is decided anew, but may have been shown.
			const later = { ...held(REMIND_AT), mayBeThere: true };
			await subject.replica.posts.endAttempt(again?.post as Post, OTHER_LEASE.token, later, FIRST_LOOK + LEASE.ms);
			expect(await heldIn()).toMatchObject({ sendingSince: FIRST_LOOK });
		});

		it('write nothing after their lease was lost', async () => {
			await asked();
			const content = { kind: 'reminder', entries: [entryOf(await factOf(), 'reminder')] } as const;
			const post = { ...(await takeOne()), content };
			const later = FIRST_LOOK + LEASE.ms;
			const taken = await take(later, OTHER_LEASE, subject.replica);
			expect(taken).toHaveLength(1);
			const attempt = { ...attemptAt(later), content };
			expect(await subject.store.posts.beginAttempt(post.id, LEASE.token, attempt)).toBe(false);
			const before = await heldIn();
			const results: AttemptResult[] = [
				held(REMIND_AT, content.entries),
				shownAt(post, '7.7', { isLast: false }),
				{ kind: 'refused', code: 'restricted_action' },
				{ kind: 'dropped' },
			];
			for (const result of results) await end(post, result, later);
			expect(await heldIn()).toEqual(before);
			expect(await factOf()).toMatchObject({ remindedAt: null, lastReminderAt: null });
		});

		it('that stay in threads are held for each watch, and looked at when something happens to its question', async () => {
			await setStyle(subject.store, { questionsInThread: true });
			const [watch, other] = [await asked({ sessionId: 's1' }), await asked({ sessionId: 's2' })];
			const places = [targetOf(watch), targetOf(other)];
			expect(await factsOf()).toMatchObject({ questions: [{ isThreadOnly: true }, { isThreadOnly: true }] });
			const due = await take();
			const streams = due.map(({ post }) => streamOf(post.target)).toSorted();
			expect(streams).toEqual([CHANNEL_STREAM, ...places.map(streamOf)].toSorted());
			for (const place of places) expect((await factOf(place)).watchId).toBe(place.watchId);
			for (const { post } of due) {
				const { target } = post;
				const entries = target.kind === 'watch' ? [entryOf(await factOf(target), 'reminder')] : [];
				await end(post, held(REMIND_AT, entries));
			}
			await refreshed(KEY, { now: T0 + 20_000, earlyReadAt: null });
			const looks = await Promise.all([CHANNEL, ...places].map((place) => dueAt(streamOf(place))));
			expect(looks).toEqual([REMIND_AT, T0 + 20_000, REMIND_AT]);
			const taken = await takeOne(T0 + 20_000);
			const content = { kind: 'reminder', entries: [entryOf(await factOf(targetOf(watch)), 'reminder')] } as const;
			const post = { ...taken, content };
			await end(post, shownAt(post, '7.7', { isLast: false }), T0 + 20_000);
			expect((await factOf(targetOf(watch))).remindedAt).toBe(T0 + 20_000);
			expect(await dueAt(streamOf(targetOf(watch)))).toBe(T0 + 20_000);
			const reminders = (await postsOf(watch.id)).filter(({ kind }) => kind === 'reminder');
			expect(reminders.map(({ state }) => state).toSorted()).toEqual(['planned', 'shown']);
		});
	});

	describe('reads that reminders wait for', () => {
		/** Reminders of these sessions, which are due, ask for reads in the order of these times. */
		async function askFor(now: number, places: Readonly<Record<string, number>>): Promise<void> {
			for (const [sessionId, by] of Object.entries(places))
				await subject.store.reminders.askForReads([{ ...KEY, sessionId }], by, now);
		}

		it('come in the order that reminders ask for, however often they ask', async () => {
			for (const sessionId of ['s1', 's2', 's3']) await asked({ sessionId });
			await askFor(T0 + 60_000, { s3: T0 + 58_000, s1: T0 + 59_000 });
			await askFor(T0 + 70_000, { s3: T0 + 58_000, s2: T0 + 59_500 });
			await askFor(T0 + 80_000, { s1: T0 + 59_000, s3: T0 + 60_000 });
			const taken = await subject.store.sessions.takeDue(SERVICE, LEASE, 3, T0 + 80_000);
			expect(taken.map(({ session: { sessionId } }) => sessionId)).toEqual(['s3', 's1', 's2']);
		});

		it('are asked for by the longest due of a channel, in one place for all of it', async () => {
			await asked({ sessionId: 's1' });
			await asked({ sessionId: 's2' });
			await recorded([], read({ nextRead: { at: T0 + 3_600_000, by: T0 + 3_600_000 } }));
			const hold = await decided(REMIND_AT + 3_000);
			if (hold.kind !== 'held' || hold.content.kind !== 'reminder') throw new Error('the reads are not there');
			expect(hold.content.entries.map(({ sessionId }) => sessionId).toSorted()).toEqual(['s1', 's2']);
			expect(hold).toMatchObject({ until: REMIND_AT + 4_000, content: { waitingSince: REMIND_AT + 3_000 } });
			const rows = await rowsOf('watched_sessions');
			expect(new Set(rows.map(({ readBy }) => readBy)).size).toBe(1);
		});

		it('make a reminder due that waits for the service to be back', async () => {
			await asked();
			await holds(REMIND_AT, [entryOf(await factOf(), 'reminder')]);
			await recorded([], read({ failures: 1, nextRead: { at: T0, by: T0 } }));
			expect(await factOf()).toMatchObject({ isFailing: true });
			expect(await dueAt()).toBe(REMIND_AT);
			await recorded([], await again(snapshotOf(asks(), T0)));
			expect(await dueAt()).toBe(T0);
		});

		it('of a session that fails go ahead of others, not before their time', async () => {
			await asked();
			await recorded([], read({ failures: 3, nextRead: { at: T0 + 50_000, by: T0 + 50_000 } }));
			await askFor(REMIND_AT, { s1: T0 });
			const row = await subject.store.sessions.watched(KEY);
			expect(row?.nextRead.at).toBe(T0 + 50_000);
			expect(row?.nextRead.by).toBeLessThan(T0);
			expect(row?.earlyReadAskedAt).toBeNull();
			// A further failure keeps the place that its outcome names.
			const update = read({ failures: 4, nextRead: { at: T0 + 90_000, by: T0 - 60_000 } });
			await recorded([], update, { takenAt: T0 + 50_000 });
			expect((await subject.store.sessions.watched(KEY))?.nextRead.by).toBe(T0 - 60_000);
		});

		it('are asked for once, and have no further early reads after them', async () => {
			await asked();
			const later = read({ nextRead: { at: T0 + 600_000, by: T0 + 600_000 } });
			await recorded([], later, { takenAt: T0 + 20_000, now: T0 });
			await askFor(T0, { s1: T0 });
			expect((await subject.store.sessions.watched(KEY))?.earlyReadAskedAt).toBeNull();
			expect(await subject.store.sessions.nextDueAt(SERVICE)).toBe(T0);
			const [taken] = await subject.store.sessions.takeDue(SERVICE, LEASE, 10, T0);
			await askFor(T0 + 10_000, { s1: T0 });
			await recorded([], { ...later, earlyReadCount: present(taken).earlyReadCount });
			expect(await subject.store.sessions.nextDueAt(SERVICE)).toBe(T0 + 600_000);
		});
	});
}

/** A reminder of this question, as its message shows it. */
function entryOf(
	{ watchId, sessionId, questionId, postTs, remindSince }: QuestionFacts,
	stage: ReminderEntry['stage'],
): ReminderEntry {
	const about = { watchId, sessionId, questionId, postTs, postedAt: remindSince, heldBy: null };
	return { ...about, stage, dueAt: T0, isLast: false };
}

const held = (until: number, entries: readonly ReminderEntry[] = []): Extract<AttemptResult, { kind: 'held' }> => ({
	kind: 'held',
	until,
	content: { kind: 'reminder', entries },
	mayBeThere: false,
});
