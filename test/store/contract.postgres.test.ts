import { type KyselyPlugin, sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { acceptAnswer } from '../../src/delivery/accept-store.ts';
import { firstPersonOf } from '../../src/screens/answer.ts';
import { type Changes, changesOf, type Db, noteTo, type StoreDatabase } from '../../src/store/database.ts';
import { beginLadder } from '../../src/store/ladders.ts';
import { lockFor, lockSession } from '../../src/store/locks.ts';
import { OWN_SCHEMA } from '../../src/store/migrate.ts';
import { mapPostgresError } from '../../src/store/postgres.ts';
import { createSharedState } from '../../src/store/shared-states.ts';
import { addWatch } from '../sessions/support.ts';
import { forget } from './contract/person.ts';
import { describeStores, replicasFrom } from './contract.ts';
import { deadlocksIn, openReplicas } from './postgres-replicas.ts';
import { ANN, accepted, BOB, current, LEASE, leased, SERVICE, submission, T0 } from './support.ts';

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

it('waits while another replica takes ladders, because both at once would split channels', async () => {
	const { store, replica } = subject;
	const watch = await addWatch(store.watches);
	const question = { questionId: 'question-1', postTs: '1.2', postedAt: T0, now: T0 };
	const { id, teamId, channelId, session } = watch;
	const { service, sessionId } = session;
	await store.db.write((db) => beginLadder(db, { id, teamId, channelId, service, sessionId }, question));
	let taking: Promise<readonly unknown[]> = Promise.resolve([]);
	await replica.db.write(async (db) => {
		await lockFor(db, 'takingLadders');
		taking = store.ladders.takeDue(SERVICE, LEASE, { now: T0, limit: 1, except: [] });
		await vi.waitFor(async () => {
			const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted`;
			expect((await waiting.execute(db)).rows).toHaveLength(1);
		});
	});
	expect(await taking).toHaveLength(1);
});

it('does not deadlock when two channels ask for reads of the same sessions in another order', async () => {
	const { store, close, databaseUrl } = await openReplicas();
	const sessionIds = Array.from({ length: 10 }, (_, index) => `s${index}`);
	const posted = { C1: sessionIds, C2: sessionIds.toReversed() };
	for (const [channelId, ids] of Object.entries(posted)) {
		for (const [index, sessionId] of ids.entries()) {
			const { id } = await addWatch(store.watches, { sessionId, channelId });
			const watch = { id, teamId: 'T1', channelId, service: SERVICE, sessionId };
			const question = { questionId: 'question-1', postTs: '1.2', postedAt: T0 + index, now: T0 };
			await store.db.write((db) => beginLadder(db, watch, question));
		}
	}
	const batches = await store.ladders.takeDue(SERVICE, LEASE, { now: T0, limit: 2, except: [] });
	await Promise.all(
		batches.map(({ ladders }, index) => {
			const wait = {
				kind: 'wait',
				dueAt: T0 + 1_000,
				reminderDueAt: T0,
				heldBy: null,
				readBy: T0 - 60_000 - index,
			} as const;
			const outcomes = ladders.map(({ ladder, changeCount }) => ({ ladder, changeCount, ...wait }));
			return store.ladders.record(LEASE.token, outcomes, { posts: [], now: T0 });
		}),
	);
	expect(batches.map(({ ladders }) => ladders.length)).toEqual([10, 10]);
	await close();
	expect(await deadlocksIn(databaseUrl)).toBe(0);
});

it('queues a reminder after what another replica adds to the same watch', async () => {
	const { store, replica } = subject;
	const { id: watchId, session } = await addWatch(store.watches);
	const { sessionId } = session;
	const place = { teamId: 'T1', channelId: 'C1' } as const;
	const watch = { id: watchId, teamId: 'T1', channelId: 'C1', service: SERVICE, sessionId };
	const question = { questionId: 'question-1', postTs: '1.2', postedAt: T0, now: T0 };
	await store.db.write((db) => beginLadder(db, watch, question));
	const [batch] = await store.ladders.takeDue(SERVICE, LEASE, { now: T0, limit: 1, except: [] });
	const asked = { watchId, sessionId, questionId: 'question-1', postTs: '1.2', postedAt: T0, heldBy: null };
	const entry = { ...asked, stage: 'reminder', dueAt: T0, isLast: false, number: 0, lastReminderAt: null } as const;
	const post = {
		target: { kind: 'watch', watchId, ...place },
		key: 'reminder',
		content: { kind: 'reminder', entries: [entry] },
	} as const;
	const outcomes = (batch?.ladders ?? []).map((taken) => ({ ...taken, kind: 'remind', stage: 'reminder' }) as const);
	let recorded: string | null = null;
	let recording: Promise<unknown> = Promise.resolve();
	await replica.db.write(async (db) => {
		await lockSession(db, session);
		recording = store.ladders.record(LEASE.token, outcomes, { posts: [post], now: T0 }).then((result) => {
			recorded = result;
		});
		await waitsForLock(replica.db);
		expect(recorded).toBeNull();
	});
	await recording;
	expect(recorded).toBe('recorded');
});

/** Resolves once a connection to the database waits for a lock. */
async function waitsForLock(db: StoreDatabase): Promise<void> {
	const waiting = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`;
	await expect.poll(async () => (await waiting.execute(db.read)).rows[0]?.count).toBe(1);
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
