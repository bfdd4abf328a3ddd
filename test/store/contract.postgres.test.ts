import { type KyselyPlugin, sql } from 'kysely';
import { expect, it } from 'vitest';
import { acceptAnswer } from '../../src/delivery/accept-store.ts';
import { firstPersonOf } from '../../src/screens/answer.ts';
import { type Changes, changesOf, type Db, noteTo, type StoreDatabase } from '../../src/store/database.ts';
import { lockSession } from '../../src/store/locks.ts';
import { markDue } from '../../src/store/marks.ts';
import { OWN_SCHEMA } from '../../src/store/migrate.ts';
import { mapPostgresError } from '../../src/store/postgres.ts';
import { AWAITED_AHEAD_MS } from '../../src/store/session-reads.ts';
import { createSharedState } from '../../src/store/shared-states.ts';
import type { Watch } from '../../src/store/watch.ts';
import type { Store } from '../../src/stores.ts';
import type { Post } from '../../src/surfaces/post.ts';
import { beginReminders } from '../../src/surfaces/reminder-store.ts';
import { addWatch } from '../sessions/support.ts';
import { forget } from './contract/person.ts';
import { KEY, shownAt, watchActs } from './contract/watch-acts.ts';
import { describeStores, replicasFrom } from './contract.ts';
import { deadlocksIn, openReplicas } from './postgres-replicas.ts';
import {
	ANN,
	accepted,
	BOB,
	current,
	LEASE,
	leased,
	present,
	rowsOf,
	SERVICE,
	spread,
	submission,
	T0,
} from './support.ts';

describeStores('PostgreSQL', openReplicas);

const subject = replicasFrom(openReplicas);

it('does not wait for the disk at a change of a shared state', async () => {
	const { store } = subject;
	const settings: string[] = [];
	const setting = async (db: Db) => {
		const { rows } = await sql<{ value: string }>`select current_setting('synchronous_commit') as value`.execute(db);
		return rows[0]?.value ?? '';
	};
	const writeOne: StoreDatabase['writeOne'] = (work) =>
		store.db.write(async (trx) => {
			await sql`set local synchronous_commit to on`.execute(trx);
			const result = await work(trx);
			settings.push(await setting(trx));
			return result;
		});
	const cell = createSharedState<number>({ ...store, db: { ...store.db, writeOne } as StoreDatabase }, 'one');
	for (const state of [1, 2]) await cell.update(() => ({ state, result: null }));
	expect(settings).toEqual(['on', 'off']);
});

it('skips due answers that another PostgreSQL transaction has locked', async () => {
	const { store, replica } = subject;
	const held = submission({ sessionId: 's1' });
	const free = submission({ sessionId: 's2', acceptedAt: T0 + 1 });
	for (const given of [held, free]) await accepted(store, given);
	const taken = await replica.db.write(async (db) => {
		await db.selectFrom('answers').select('id').where('id', '=', held.id).forUpdate().execute();
		return store.answers.takeDue(SERVICE, LEASE, 1, T0 + 1);
	});
	expect(taken.map((answer) => answer.id)).toEqual([free.id]);
});

it('sees a newer schema with each look for due rows, also where none is due', async () => {
	const { store, replica } = subject;
	const newer = { number: OWN_SCHEMA + 1, name: 'newer', appliedAt: T0 };
	await store.db.write((trx) => trx.insertInto('migrations').values(newer).execute());
	try {
		await expect(replica.sessions.nextDueAt(SERVICE)).rejects.toMatchObject({ code: 'database_newer' });
		expect(await replica.replaced).toBe('database_newer');
	} finally {
		await store.db.write((trx) => trx.deleteFrom('migrations').where('number', '=', newer.number).execute());
	}
	expect(await replica.sessions.nextDueAt(SERVICE)).toBeNull();
});

it('forgets nobody between the look at who was first and the answer that lost to them', async () => {
	const { store, replica } = subject;
	const first = await accepted(store, submission(), 'delivering', 'delivered', 'resumed');
	const looked = Promise.withResolvers<void>();
	const goesOn = Promise.withResolvers<void>();
	const pausing: KyselyPlugin = {
		transformQuery: ({ node }) => node,
		async transformResult({ result }) {
			if (result.rows.some((row) => row.id === first.id)) {
				looked.resolve();
				await goesOn.promise;
			}
			return result;
		},
	};
	const paused = {
		...store.db,
		write: (work) =>
			store.db.write((trx) => {
				const own = trx.withPlugin(pausing);
				noteTo(own, changesOf(trx) as Changes);
				return work(own);
			}),
	} as StoreDatabase;
	const second = submission({ person: BOB, acceptedAt: T0 + 60 });
	const accepting = acceptAnswer(paused, store.cipher, second);
	await looked.promise;
	await expect(forget(replica, ANN.userId)).rejects.toMatchObject({ code: 'store_unavailable' });
	goesOn.resolve();
	expect(await accepting).toMatchObject({ kind: 'taken', by: { person: ANN } });
	expect(await forget(replica, ANN.userId)).toMatchObject({ kind: 'forgotten' });
	const lost = await current(store, second.id);
	expect(firstPersonOf(lost)?.userId).toMatch(/^forgotten-/);
});

it('does not deadlock when two channels ask for reads of the same sessions in another order', async () => {
	const { store, replica, close, databaseUrl } = await openReplicas();
	const sessionIds = Array.from({ length: 10 }, (_, index) => `s${index}`);
	const keys = sessionIds.map((sessionId) => ({ service: SERVICE, sessionId }));
	for (const sessionId of sessionIds) await addWatch(store.watches, { sessionId });
	await Promise.all([
		store.reminders.askForReads(keys, T0 - 60_000, T0),
		replica.reminders.askForReads(keys.toReversed(), T0 - 60_001, T0),
	]);
	const rows = await rowsOf(store, 'watched_sessions');
	expect(rows.map(({ readBy }) => readBy)).toEqual(Array(10).fill(T0 - 60_001 - AWAITED_AHEAD_MS));
	await close();
	expect(await deadlocksIn(databaseUrl)).toBe(0);
});

it('holds one reminder in a channel when questions of two sessions are posted there at the same moment', async () => {
	const { store, replica } = subject;
	const all = Array.from({ length: 20 }, (_, index) => `s${index}`);
	const channel = { teamId: 'T1', channelId: 'C1' };
	const content = { kind: 'nobodyLeft' } as const;
	const watches: Watch[] = [];
	for (const sessionId of all) watches.push(await addWatch(store.watches, { sessionId }));
	await Promise.all(
		watches.map((watch, index) =>
			(index % 2 === 0 ? store : replica).db.write((trx) =>
				beginReminders({ trx, now: T0 }, [{ postId: 'question', watch: { ...watch, ...watch.session } }], T0),
			),
		),
	);
	await store.posts.planOnce({ target: { kind: 'channel', ...channel }, key: 'nobody', content }, T0);
	const rows = store.db.read.selectFrom('posts').select(['kind', 'wanted']).where('watchId', 'is', null);
	expect(await rows.orderBy('number').execute()).toEqual([
		{ kind: 'reminder', wanted: 19 },
		{ kind: 'nobodyLeft', wanted: 0 },
	]);
});

it('counts a reminder that was shown after what another replica writes of the question meanwhile', async () => {
	const { store, replica } = subject;
	const watch = await addWatch(store.watches);
	const { id: watchId, session } = watch;
	const row = { id: 'question', stream: `watch:${watchId}`, number: 9, uniqueKey: 'question:', teamId: 'T1' };
	const shown = { placeId: 'C1', watchId, questionId: 'q', kind: 'question', content: '{}', state: 'shown', ts: '1.2' };
	await store.db.write(async (trx) => {
		await trx
			.insertInto('posts')
			.values({ ...row, ...shown, createdAt: T0 })
			.execute();
		await beginReminders({ trx, now: T0 }, [{ postId: row.id, watch: { ...watch, ...session } }], T0);
	});
	const due = await store.posts.takeDue(LEASE, 9, T0 + 10_000);
	const post = due.find((one) => one.post.content.kind === 'reminder')?.post as Post;
	const about = { watchId, sessionId: session.sessionId, questionId: 'q', postTs: '1.2', postedAt: T0, heldBy: null };
	const entry = { ...about, stage: 'reminder', dueAt: T0, isLast: false } as const;
	const content = { kind: 'reminder', entries: [entry] } as const;
	let isNoted = false;
	let noting: Promise<unknown> = Promise.resolve();
	await replica.db.write(async (trx) => {
		await lockSession(trx, session);
		const result = shownAt({ ...post, content }, '7.7', { isLast: false });
		noting = store.posts.endAttempt({ ...post, content }, LEASE.token, result, T0 + 10_000).then(() => {
			isNoted = true;
		});
		await waitsForLock(replica);
		expect(isNoted).toBe(false);
	});
	await noting;
	expect(await rowsOf(store, 'posts', { id: row.id })).toMatchObject([{ remindedAt: T0 + 10_000 }]);
});

/** Resolves once a connection to the database waits for a lock. */
async function waitsForLock({ db }: Store): Promise<void> {
	const waiting = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`;
	await expect.poll(async () => (await waiting.execute(db.read)).rows[0]?.count, { interval: 10 }).toBe(1);
}

it('cancels a PostgreSQL statement that waits too long, and the next one works', async () => {
	const { store, replica } = subject;
	const given = await leased(store, submission());
	await replica.db.write(async (db) => {
		await db.selectFrom('answers').select('id').where('id', '=', given.id).forUpdate().execute();
		await expect(store.answers.renew(given.id, LEASE, T0)).rejects.toMatchObject({ code: 'store_unavailable' });
	});
	expect(await store.answers.renew(given.id, LEASE, T0)).toBe(true);
});

const withState = (code: string) => Object.assign(new Error('from the server'), { code });

it.each([
	['08P01', 'a pooler lost the server’s connection'],
	['08006', 'the connection failed'],
	['57P01', 'an administrator ended the connection'],
	['57P02', 'another process of the server crashed'],
	['40003', 'the server itself does not know'],
])('does not know whether a statement was committed after SQLSTATE %s: %s', (code) => {
	expect(mapPostgresError(withState(code), { sent: true })).toMatchObject({
		code: 'store_unavailable',
		commitUnknown: true,
	});
});

it('knows that nothing was committed when no statement was sent or the server refused it', () => {
	expect(mapPostgresError(withState('57P01'), { sent: false })).toMatchObject({ commitUnknown: false });
	expect(mapPostgresError(withState('57014'), { sent: true })).toMatchObject({ commitUnknown: false });
	expect(mapPostgresError(withState('53100'), { sent: true })).toMatchObject({ commitUnknown: false });
});

it('posts a deleted message anew that is to show another question by now', async () => {
	const { store, replica } = subject;
	await watchActs(subject).asked();
	await store.db.write((trx) => markDue({ trx, now: T0 }, KEY));
	await spread(store);
	const due = await store.posts.takeDue(LEASE, 9, T0);
	const { post } = present(due.find(({ post: { content } }) => content.kind === 'question'));
	const { ending } = await replica.db.write(async (trx) => {
		await lockSession(trx, KEY);
		const ending = store.posts.endAttempt(post, LEASE.token, { kind: 'deleted' }, T0 + 2);
		await waitsForLock(replica);
		// As a read does that finds another question in its place.
		await trx.updateTable('posts').set({ shownAt: null }).where('id', '=', post.id).execute();
		return { ending };
	});
	await ending;
	expect(await rowsOf(store, 'posts', { id: post.id })).toMatchObject([{ state: 'planned', ts: null }]);
});
