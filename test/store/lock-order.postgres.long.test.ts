import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it } from 'vitest';
import { NOTHING_SEEN } from '../../src/domain/asked.ts';
import { DEFAULT_CHANNEL_SETTINGS } from '../../src/domain/channel-settings.ts';
import { questionSnapshotAt, snapshotOf } from '../../src/domain/session-snapshot.ts';
import { codeOf } from '../../src/kernel/errors.ts';
import { openQuestionOf, readHandOver } from '../../src/store/question-store.ts';
import type { Store } from '../../src/stores.ts';
import { planPosts } from '../../src/surfaces/plan-store.ts';
import { type Post, type ReminderEntry, targetOf } from '../../src/surfaces/post.ts';
import { retryWaiting } from '../../src/surfaces/post-store.ts';
import type { ReminderFacts } from '../../src/surfaces/reminder-store.ts';
import { addWatch, assistant, session } from '../sessions/support.ts';
import { type FoundChange, foundIn, recordRead } from '../support/found.ts';
import { createRandom, type Random } from '../support/random.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { forget } from './contract/person.ts';
import { ASKED, asking as askingPost, news, read, settled, shownAt, watchActs } from './contract/watch-acts.ts';
import { deadlocksIn } from './postgres-replicas.ts';
import {
	ANN,
	attemptAt,
	KEY as ENCRYPTION_KEY,
	formShown,
	LEASE,
	leased,
	open,
	patched,
	present,
	refreshed,
	SERVICE,
	submission,
	T0,
} from './support.ts';

const SESSION_IDS = ['s1', 's2', 's3', 's4', 's5'];
/** The session on which answers, reads, hand-overs and ends race. */
const RACED = ['s1'] as const;
const CHANNEL_IDS = ['C1', 'C2', 'C3'];
/** How often each actor acts. Without an order for the locks of reminders there are some deadlocks in as many. */
const ROUNDS = 25;

const asking = session({ status: 'humanInput', messages: [assistant('Which?', 'Colour')] });

/** Two replicas on a database with these settings, and a connection beside them. Expects at the end that there was no deadlock. */
async function openDatabase(...settings: readonly string[]) {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const clients: pg.Client[] = [];
	async function connect(): Promise<pg.Client> {
		const client = new pg.Client({ connectionString: databaseUrl });
		clients.push(client);
		await client.connect();
		return client;
	}
	const admin = await connect();
	// PostgreSQL looks for deadlocks after a second by default; a wait for a lock is over long before this.
	for (const setting of ["deadlock_timeout = '25ms'", ...settings]) {
		await admin.query(`alter database ${new URL(databaseUrl).pathname.slice(1)} set ${setting}`);
	}
	const options = { databaseUrl, dataDir: '/nonexistent', encryptionKey: ENCRYPTION_KEY };
	const [store, replica] = await Promise.all([open(options), open(options)]);
	return {
		store,
		replica,
		stores: [store, replica],
		admin,
		connect,
		async [Symbol.asyncDispose]() {
			await Promise.all([store.close(), replica.close(), ...clients.map((client) => client.end())]);
			expect(await deadlocksIn(databaseUrl)).toBe(0);
		},
	};
}

it('locks rows of reminders in one order: writers of all kinds at once make no deadlock', async () => {
	// As with many rows, where each index finds them in an order of its own.
	await using database = await openDatabase('enable_seqscan = off', 'enable_bitmapscan = off');
	const { store, stores } = database;
	for (const sessionId of SESSION_IDS) {
		const snapshot = { ...snapshotOf(asking, T0), sessionId };
		for (const channelId of CHANNEL_IDS) {
			const watch = await addWatch(store.watches, { sessionId, channelId, snapshot });
			await store.db.write((trx) => planPosts({ trx, now: T0 }, [askingPost(watch, 'question:')]));
		}
	}
	const random = createRandom(18);
	await Promise.all(
		stores.flatMap((one, index) =>
			[reminds, posts, reads, lists, touches, configures, releases].map((act) =>
				repeatedly(act, one, { random: random.fork(), token: `${act.name}-${index}` }),
			),
		),
	);
});

it('accepts, reads, hands over, ends and forgets at once on one session: no deadlock, and no half of a hand-over', async () => {
	await using database = await openDatabase();
	const { store, stores, admin } = database;
	for (const channelId of CHANNEL_IDS) {
		const snapshot = { ...snapshotOf(asking, T0), sessionId: RACED[0] };
		await addWatch(store.watches, { sessionId: RACED[0], channelId, snapshot });
	}
	const count = async (query: string) =>
		(await admin.query(`select count(*)::int as count from ${query}`)).rows[0]?.count;
	const happened = [
		`posts where kind = 'handedOver'`,
		`posts where kind = 'givenBack'`,
		`watches where ended_at is not null`,
		`answers where state = 'withdrawn'`,
		`answers where user_id like 'forgotten-%'`,
		`questions where from_user_id like 'forgotten-%' or to_user_id like 'forgotten-%'`,
	];
	const isComplete = async () => {
		for (const query of happened) if ((await count(query)) === 0) return false;
		return true;
	};
	const random = createRandom(27);
	do {
		await Promise.all(
			stores.flatMap((one, index) =>
				[accepts, views, reads, handsOver, ends, posts, reminds, forgets, configuresAtTimes].map((act) =>
					repeatedly(act, one, { random: random.fork(), token: `${act.name}-${index}` }),
				),
			),
		);
	} while (!(await isComplete()));
	const held = 'questions where settled_at is null and held_watch_id is not null';
	const isTold = `exists (select 1 from posts where posts.stream = 'person:T1:' || to_user_id || ':' || hand_over_id)`;
	expect(await count(`${held} and not ${isTold}`)).toBe(0);
	const isLive = 'exists (select 1 from watches where watches.id = held_watch_id and ended_at is null)';
	expect(await count(`${held} and not ${isLive}`)).toBe(0);
	const stands = `from posts where posts.watch_id = watches.id and kind = 'card' and state in ('planned', 'shown')`;
	expect(await count(`watches where (select count(*) ${stands}) > 1`)).toBe(0);
	// It goes on until chance has let everything happen; who changes a list holds many locks meanwhile.
}, 240_000);

it('drops the posts of a channel while they are given back: both lock them in one order', async () => {
	await using database = await openDatabase();
	const { store, replica, admin } = database;
	for (let number = 0; number < 12; number += 1) await addWatch(store.watches, { sessionId: `s${number}` });
	const due = await store.posts.takeDue(LEASE, 12, T0);
	expect(due).toHaveLength(12);
	const stored = await admin.query('select id, stream from posts order by ctid');
	// Stored after one that its index has behind it: the two orders in which PostgreSQL may find them.
	const between = stored.rows.find(({ stream }, index) =>
		stored.rows.slice(0, index).some((earlier) => earlier.stream > stream),
	);
	await behindLock(admin, { id: between?.id }, [
		() => store.posts.silence({ teamId: 'T1', channelId: 'C1' }),
		() => replica.posts.release([LEASE.token]),
	]);
});

it('ends shown and planned posts of a channel while they are given back, in one order too', async () => {
	await using database = await openDatabase();
	const { store, replica, admin } = database;
	const sessionIds = Array.from({ length: 6 }, (_, number) => `s${number}`);
	for (const sessionId of sessionIds) await addWatch(store.watches, { sessionId });
	const first = await store.posts.takeDue(LEASE, 6, T0);
	const [card, ...planned] = first.map(({ post }) => post).toSorted(byId);
	const one = present(card);
	await store.posts.endAttempt(one, LEASE.token, shownAt(one, '1.1'), T0);
	await store.posts.release([LEASE.token]);
	for (const sessionId of sessionIds) {
		await refreshed(store, { service: SERVICE, sessionId }, { now: T0, earlyReadAt: null });
	}
	expect(await store.posts.takeDue(LEASE, 6, T0)).toHaveLength(6);
	await behindLock(admin, { id: planned.at(-1)?.id }, [
		() => store.posts.silence({ teamId: 'T1', channelId: 'C1' }),
		() => replica.posts.release([LEASE.token]),
	]);
});

it('notes a deleted question while its card is given back, in one order too', async () => {
	await using database = await openDatabase();
	const { store, replica, admin } = database;
	const acts = watchActs({ store, replica });
	const watch = await acts.added();
	await acts.recorded([news(watch, { posts: [askingPost(watch)] })], read({ questions: [ASKED] }));
	expect([...(await acts.posted()), ...(await acts.posted())]).toHaveLength(2);
	await refreshed(store, watch.session, { now: T0, earlyReadAt: null });
	// Who notes what became of the question writes it before its card.
	await admin.query(
		`update posts set id = case kind when 'card' then '1' else '2' end where kind in ('card', 'question')`,
	);
	const [card, question] = (await store.posts.takeDue(LEASE, 2, T0)).map(({ post }) => post).toSorted(byId);
	await behindLock(admin, { id: present(card).id }, [
		() => replica.posts.release([LEASE.token]),
		() => store.posts.endAttempt(present(question), LEASE.token, { kind: 'deleted' }, T0),
	]);
});

it('loses no answer that arrives while a read is stored of a session that nobody watches', async () => {
	await using database = await openDatabase();
	const { store, replica, admin } = database;
	const session = { service: SERVICE, sessionId: 's1' };
	const { id } = await leased(store, submission());
	const begun = { state: 'delivering', putStartedAt: T0 } as const;
	await patched(store, id, begun);
	const seen = await foundIn(replica, session, [{ kind: 'seen', evidence: { ...NOTHING_SEEN, waitedSteps: 1 } }]);
	const stored: boolean[] = [];
	await behindLock(admin, { table: 'questions' }, [
		() => patched(store, id, { state: 'delivered', deliveredAt: T0 + 1, putStartedAt: null }),
		async () => stored.push(await replica.reads.recordUnwatched(session, seen, { readAt: T0, now: T0 })),
	]);
	expect(stored).toEqual([false]);
	const { newest } = await store.answers.known(session, null);
	expect(newest?.evidence.value).toMatchObject({ answerId: id });
});

/** Runs both while a row is locked: the second begins when the first waits for a lock, and the lock ends when both do. */
async function behindLock(
	admin: pg.Client,
	{ table = 'posts', id }: { readonly table?: 'posts' | 'questions'; readonly id?: string | undefined },
	acts: readonly (() => Promise<unknown>)[],
): Promise<void> {
	await admin.query('begin');
	await admin.query(`select 1 from ${table} where id = coalesce($1, id) for update`, [id]);
	const waiting = `select count(*)::int as count from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`;
	const done: Promise<unknown>[] = [];
	for (const act of acts) {
		done.push(act());
		// Within a transaction PostgreSQL shows its first look again and again.
		await expect
			.poll(async () => {
				await admin.query('select pg_stat_clear_snapshot()');
				return (await admin.query(waiting)).rows[0]?.count;
			})
			.toBe(done.length);
	}
	await admin.query('commit');
	await Promise.all(done);
}

interface Actor {
	readonly random: Random;
	readonly token: string;
}

async function repeatedly(act: (store: Store, actor: Actor) => Promise<unknown>, store: Store, actor: Actor) {
	for (let round = 0; round < ROUNDS; round++) {
		await act(store, actor).catch((error: unknown) => {
			// A busy machine: the next round goes on, as the program's loops do.
			if (codeOf(error) !== 'store_unavailable') throw error;
		});
	}
}

const byId = (one: Post, other: Post) => (one.id < other.id ? -1 : 1);

/** The outbox with reminders: these are held, also for the reads of all, or shown, with some that then count. */
async function reminds({ posts, reminders }: Store, { random, token }: Actor): Promise<void> {
	const due = await posts.takeDue({ token, ms: 20_000 }, 12, T0 + 12_000);
	for (const { post } of due) {
		if (post.content.kind !== 'reminder' || post.target.kind === 'person' || post.ts !== null) continue;
		const { questions } = await reminders.factsOf(SERVICE, post.target, T0);
		const entries = questions.filter(() => random.chance(0.7)).map(entryOf);
		const content = { kind: 'reminder', entries } as const;
		if (entries.length === 0 || random.chance(0.4)) {
			const isOver = entries.length === 0 && random.chance(0.5);
			await reminders.askForReads(questions, T0 - random.whole(0, 999), T0);
			const held = { kind: 'held', until: T0, content, mayBeThere: random.chance(0.1) } as const;
			await posts.endAttempt(post, token, isOver ? { kind: 'dropped' } : held, T0);
			continue;
		}
		await posts.beginAttempt(post.id, token, { ...attemptAt(T0), content });
		const shown = shownAt({ ...post, content }, `${random.uniform()}`, { isLast: false });
		const isRefused = random.chance(0.2);
		const result = isRefused ? ({ kind: 'refused', code: 'restricted_action' } as const) : shown;
		await posts.endAttempt({ ...post, content }, token, result, T0);
	}
	// The others: no lease lapses here.
	await posts.release([token]);
}

function entryOf({ watchId, questionId, sessionId, postTs }: ReminderFacts['questions'][number]): ReminderEntry {
	const question = { watchId, sessionId, questionId, postTs, postedAt: T0, heldBy: null };
	return { ...question, stage: 'escalation', dueAt: T0, isLast: false };
}

/** The outbox. */
async function posts({ posts }: Store, { random, token }: Actor): Promise<void> {
	const due = await posts.takeDue({ token, ms: 20_000 }, 6, T0);
	for (const { post, threadTs } of due) {
		if (random.chance(0.3)) {
			const isFirst = post.ts === null;
			await posts.endAttempt(post, token, isFirst ? { kind: 'dropped' } : { kind: 'deleted' }, T0);
			continue;
		}
		await posts.beginAttempt(post.id, token, attemptAt(T0));
		const lost = threadTs !== null && random.chance(0.2) ? { lostThread: threadTs } : {};
		const isRefused = post.target.kind === 'person' && random.chance(0.3);
		const shown = shownAt(post, `${random.uniform()}`, { ...lost, isLast: random.chance(0.2) });
		await posts.endAttempt(post, token, isRefused ? { kind: 'refused', code: 'user_disabled' } : shown, T0);
	}
}

/** The poller: every second read fails, and after one that does not the question is settled, asked again and reworded. */
async function reads(store: Store, { random, token }: Actor): Promise<void> {
	const { sessions, watches } = store;
	// Who watches again plans the next read for later.
	const taken = await sessions.takeDue(SERVICE, { token, ms: 20_000 }, 3, T0 + 60_000);
	await sessions.renew(
		taken.toReversed().map((one) => ({ session: one.session, token })),
		20_000,
		T0,
	);
	for (const { session: key, failures } of taken) {
		const snapshot = { ...snapshotOf(asking, T0), sessionId: key.sessionId };
		const plan = { nextRead: { at: T0, by: T0 }, lastReadAt: T0 };
		if (failures === 0 && random.chance(0.5)) {
			const update = read({ ...plan, failures: 1 });
			await recordRead(store, { session: key, token }, { update, watches: [], now: T0 });
			continue;
		}
		const question = present(snapshot.digest.question);
		const isReworded = random.chance(0.5);
		const questions: FoundChange[] = isReworded
			? [{ kind: 'updated', question: { ...question, shownHash: `${random.uniform()}` } }]
			: [settled('changed'), { kind: 'asked', question, settled: null }];
		const ofSession = await watches.ofSession(key);
		const updates = ofSession.map((watch) => {
			const posts = isReworded ? [] : [askingPost(watch, 'question:')];
			const end = random.chance(0.1) ? ('noChange' as const) : null;
			return news(watch, { posts, card: 'now', end });
		});
		const update = read({ ...plan, snapshot, questions });
		await recordRead(store, { session: key, token }, { update, watches: updates, now: T0 });
	}
	// What it has lost: no lease lapses here.
	await sessions.release([token]);
}

/** A list of what waits, which fails at times, as the service does. */
async function lists({ sessions }: Store, { random }: Actor): Promise<void> {
	const listed = new Map(SESSION_IDS.map((sessionId) => [sessionId, random.whole(0, 9)]));
	await sessions.noteListed(SERVICE, listed, { now: T0, leastMs: () => 0 });
	await sessions.readWithin(SERVICE, -60_000);
	await sessions.readFailing(SERVICE, T0 - 60_000);
}

/** People answer, and one of them starts the program again. */
async function touches(store: Store, { random }: Actor): Promise<void> {
	const key = { service: SERVICE, sessionId: random.pick(SESSION_IDS) };
	await refreshed(store, key, { now: T0, earlyReadAt: T0 });
	await retryWaiting(store.db);
}

/** Somebody changes who may answer in a channel, which then is silenced; and unwatches and watches again. */
async function configures({ channelSettings, posts, watches }: Store, { random }: Actor): Promise<void> {
	const channel = { teamId: 'T1', channelId: random.pick(CHANNEL_IDS) };
	const { revision } = await channelSettings.read(channel);
	const named = random.pick([[], [ANN.userId], [ANN.userId, 'U-BOB']]);
	const settings = { ...DEFAULT_CHANNEL_SETTINGS, answerers: { userIds: named, groupIds: [] } };
	const content = { kind: 'settingsChanged', by: ANN.userId, before: settings, after: settings } as const;
	const post = { target: { kind: 'channel', ...channel }, key: `${random.uniform()}`, content } as const;
	await channelSettings.write(channel, { settings, revision, person: ANN, post, now: T0 });
	if (random.chance(0.2)) await posts.silence(channel);
	if (!random.chance(0.2)) return;
	const key = { service: SERVICE, sessionId: random.pick(SESSION_IDS) };
	const watch = await watches.find(channel, key);
	if (watch === null) return;
	await watches.end(watch.id, 'unwatched', { now: T0, posts: [] });
	await addWatch(watches, { sessionId: key.sessionId, channelId: channel.channelId });
}

/** Whoever changes a list holds so many locks that others would hardly get their turn. */
async function configuresAtTimes(store: Store, actor: Actor): Promise<void> {
	if (actor.random.chance(0.2)) await configures(store, actor);
}

/** People answer, and take back what they answered. */
async function accepts({ answers }: Store, { random }: Actor): Promise<void> {
	const sessionId = random.pick(RACED);
	const { messageIndex = 0, fingerprint = '' } = questionSnapshotAt(asking, 0) ?? {};
	const question = { service: SERVICE, sessionId, messageIndex };
	const answer = submission({ id: randomUUID(), question, fingerprint, press: { undoUntil: T0 + 10_000 }, viewId: '' });
	const result = await answers.accept(answer);
	if (result.kind !== 'accepted') return;
	await answers.withdraw(answer.id, answer.person, T0, { onlyUnsent: true });
}

/** People open forms, type in them, close and send them; what they show is drawn, and all is marked. */
async function views(store: Store, { random, token }: Actor): Promise<void> {
	const { messageIndex = 0, fingerprint = '' } = questionSnapshotAt(asking, 0) ?? {};
	const question = { service: SERVICE, sessionId: random.pick(RACED), messageIndex };
	const [viewId, other] = random.pick([
		['V1', 'V2'],
		['V2', 'V1'],
	] as const);
	for (const id of [viewId, other]) await formShown(store, { id, question, until: T0 + 60_000 }, T0);
	await store.views.ask({ id: 'home', person: ANN, viewId: null }, 0, T0);
	const answer = submission({ id: randomUUID(), question, fingerprint, viewId });
	const due = await store.views.takeDue({ token, ms: 20_000 }, 9, { now: T0 + 60_000, least: 'follows' });
	await Promise.all([
		store.answers.accept(answer),
		store.marks.spread(T0 + 60_000),
		store.drafts.forget(ANN, question, [0]),
	]);
	for (const view of due) await store.views.end(view, token, { nextAt: null }, T0);
	if (random.chance(0.3)) await store.views.formClosed(other, ANN, T0);
	if (random.chance(0.3)) await store.views.remove({ id: other });
	await store.answers.withdraw(answer.id, ANN, T0);
	await store.views.release([token]);
}

/** People hand a question over, and give it back. */
async function handsOver({ db, handOvers, watches }: Store, { random }: Actor): Promise<void> {
	const key = { service: SERVICE, sessionId: random.pick(RACED) };
	const channelId = random.pick(CHANNEL_IDS);
	const { fingerprint = '' } = questionSnapshotAt(asking, 0) ?? {};
	const question = { teamId: 'T1', session: key, fingerprint };
	const watch = await watches.find({ teamId: 'T1', channelId }, key);
	const current = readHandOver(await openQuestionOf(db.read, key), 'T1');
	const people = Array.from({ length: 60 }, (_, index) => `U${index}`);
	const from = random.pick(people);
	const to = random.pick(people.filter((one) => one !== from));
	const wish = { ...question, id: randomUUID(), watchId: watch?.id ?? '', channelId, from, to, note: 'Yours?' };
	await handOvers.handOver({ ...wish, replaces: current?.id ?? null }, T0);
	if (random.chance(0.5)) await handOvers.giveBack({ ...question, userId: to }, T0);
}

/** Whoever answers is forgotten, or who has a question. While somebody writes, it is tried again. */
async function forgets(store: Store, { random }: Actor): Promise<void> {
	const held = readHandOver(await openQuestionOf(store.db.read, { service: SERVICE, sessionId: RACED[0] }), 'T1');
	const userId = random.chance(0.3) ? ANN.userId : (held?.to ?? ANN.userId);
	for (let tries = 0; tries < 20; tries++) {
		const failed = await forget(store, userId, T0).then(
			() => false,
			(error: unknown) => codeOf(error) === 'store_unavailable',
		);
		if (!failed) return;
	}
}

/** Somebody unwatches and watches again. */
async function ends(store: Store, { random }: Actor): Promise<void> {
	const { watches } = store;
	const channelId = random.pick(CHANNEL_IDS);
	const session = { service: SERVICE, sessionId: random.pick(RACED) };
	const { sessionId } = session;
	const watch = await watches.find({ teamId: 'T1', channelId }, session);
	if (watch === null) {
		const snapshot = { ...snapshotOf(asking, T0), sessionId };
		const question = present(snapshot.digest.question);
		const found = await foundIn(store, session, [{ kind: 'reopened', question }]);
		await addWatch(watches, { sessionId, channelId, snapshot, found });
		return;
	}
	const posts = [{ target: targetOf(watch), key: 'watchEnded', content: { kind: 'watchEnded' } } as const];
	await watches.end(watch.id, random.pick(['unwatched', 'noChange'] as const), { now: T0, posts });
}

/** A stopping replica, or one whose work failed. */
async function releases({ sessions, posts }: Store, { token }: Actor): Promise<void> {
	const tokens = ['reminds', 'posts', 'reads'].map((name) => token.replace('releases', name));
	await sessions.release(tokens);
	await posts.release(tokens);
}
