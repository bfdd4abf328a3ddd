import pg from 'pg';
import { expect, it } from 'vitest';
import { codeOf } from '../../src/errors.ts';
import type { LadderBatch, LadderOutcome } from '../../src/inbox/ladder.ts';
import { beginLadder } from '../../src/store/ladder-store.ts';
import type { Store } from '../../src/store/open.ts';
import type { NewAnnouncement } from '../../src/watches/announcements.ts';
import { DEFAULT_CHANNEL_SETTINGS } from '../../src/watches/channel-settings.ts';
import type { ReminderEntry } from '../../src/watches/kinds.ts';
import { questionViewAt, snapshotOf } from '../../src/watches/session-snapshot.ts';
import type { Watch } from '../../src/watches/watch.ts';
import { createRandom, type Random } from '../support/random.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addWatch, assistant, session } from '../watches/support.ts';
import { news, read } from './contract/watch-acts.ts';
import { deadlocksIn } from './deadlocks.ts';
import { ANN, attemptAt, KEY as ENCRYPTION_KEY, LEASE, open, SERVICE, T0 } from './support.ts';

const SESSION_IDS = ['s1', 's2', 's3', 's4', 's5'];
const CHANNEL_IDS = ['C1', 'C2', 'C3'];
/** How often each actor acts. Without an order for the locks of ladders there are some deadlocks in as many. */
const ROUNDS = 50;

const asking = session({ status: 'humanInput', messages: [assistant('Which?', 'Colour')] });

it('locks rows of reminders in one order: writers of all kinds at once make no deadlock', async () => {
	const server = await sharedPostgres();
	const databaseUrl = await server.createDatabase();
	const database = new URL(databaseUrl).pathname.slice(1);
	const admin = new pg.Client({ connectionString: databaseUrl });
	await admin.connect();
	// PostgreSQL looks for deadlocks after a second by default; a wait for a lock is over long before this.
	await admin.query(`alter database ${database} set deadlock_timeout = '25ms'`);
	// As with many rows, where each index finds them in an order of its own.
	await admin.query(`alter database ${database} set enable_seqscan = off`);
	await admin.query(`alter database ${database} set enable_bitmapscan = off`);
	await admin.end();
	const options = { databaseUrl, dataDir: '/nonexistent', encryptionKey: ENCRYPTION_KEY };
	const stores = await Promise.all([open(options), open(options)]);
	const [store] = stores as [Store, Store];
	for (const sessionId of SESSION_IDS) {
		const view = { ...snapshotOf(asking, T0), sessionId };
		for (const channelId of CHANNEL_IDS) {
			const watch = await addWatch(store.watches, { sessionId, channelId, view });
			await store.db.write((trx) => beginLadder(trx, rowOf(watch), { ...QUESTION, postedAt: T0, now: T0 }));
		}
	}
	const random = createRandom(18);
	await Promise.all(
		stores.flatMap((one, index) =>
			[reminds, posts, reads, plans, touches, configures, releases].map((act) =>
				repeatedly(act, one, { random: random.fork(), token: `${act.name}-${index}` }),
			),
		),
	);
	await Promise.all(stores.map((one) => one.close()));
	expect(await deadlocksIn(databaseUrl)).toBe(0);
});

it('drops the posts of a channel while they are given back: both lock them in one order', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const options = { databaseUrl, dataDir: '/nonexistent', encryptionKey: ENCRYPTION_KEY };
	const [store, replica] = await Promise.all([open(options), open(options)]);
	const admin = new pg.Client({ connectionString: databaseUrl });
	await admin.connect();
	for (let number = 0; number < 12; number += 1) await addWatch(store.watches, { sessionId: `s${number}` });
	const due = await store.watches.takeAnnouncements(LEASE, 12, T0);
	expect(due).toHaveLength(12);
	const stored = await admin.query('select id, target from announcements order by ctid');
	const waiting = `select count(*)::int as count from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`;
	const waits = async () => (await admin.query(waiting)).rows[0]?.count;
	// Stored after one that its index has behind it: the two orders in which PostgreSQL may find them.
	const between = stored.rows.find(({ target }, index) =>
		stored.rows.slice(0, index).some((earlier) => earlier.target > target),
	);
	const locker = new pg.Client({ connectionString: databaseUrl });
	await locker.connect();
	await locker.query('begin');
	await locker.query('select 1 from announcements where id = $1 for update', [between?.id]);
	const done = [store.watches.silence({ teamId: 'T1', channelId: 'C1' })];
	await expect.poll(waits).toBe(1);
	done.push(replica.watches.releasePosts([LEASE.token]));
	await expect.poll(waits).toBe(2);
	await locker.query('commit');
	await Promise.all(done);
	await Promise.all([store.close(), replica.close(), locker.end(), admin.end()]);
	expect(await deadlocksIn(databaseUrl)).toBe(0);
});

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

const QUESTION = { fingerprint: questionViewAt(asking, 0)?.fingerprint ?? '', postTs: '1.2' };

const rowOf = ({ id, teamId, channelId, session: { service, sessionId } }: Watch) => {
	return { id, team_id: teamId, channel_id: channelId, service, session_id: sessionId };
};

/** The loop of reminders. */
async function reminds({ ladders }: Store, { random, token }: Actor): Promise<void> {
	const batches = await ladders.takeDue(SERVICE, { token, ms: 20_000 }, { now: T0, limit: 2, except: [] });
	for (const batch of batches) {
		const rings = random.chance(0.5);
		const outcomes = batch.ladders.map(({ ladder, changeCount }): LadderOutcome => {
			const wait = {
				kind: 'wait',
				dueAt: T0,
				reminderDueAt: T0,
				heldBy: null,
				readBy: T0 - random.whole(0, 999),
			} as const;
			return { ladder, changeCount, ...(rings ? ({ kind: 'remind', stage: 'escalation' } as const) : wait) };
		});
		await ladders.record(token, outcomes, { announcement: rings ? remindersOf(batch, random) : null, now: T0 });
	}
}

function remindersOf({ channel, ladders }: LadderBatch, random: Random): NewAnnouncement {
	const entries = ladders.map(({ ladder }): ReminderEntry => {
		const { watchId, fingerprint, postTs, session: asked } = ladder;
		const question = { watchId, sessionId: asked.sessionId, fingerprint, postTs, postedAt: T0, heldBy: null };
		return { ...question, stage: 'escalation', dueAt: T0, isLast: false, number: 0, lastReminderAt: null };
	});
	const [entry] = entries as [ReminderEntry, ...ReminderEntry[]];
	const key = `stage:${random.uniform()}`;
	if (entries.length > 1) return { target: { kind: 'channel', ...channel }, key, content: { kind: 'digest', entries } };
	return {
		target: { kind: 'watch', watchId: entry.watchId, ...channel },
		key,
		content: { kind: 'escalation', entries: [entry] },
	};
}

/** The outbox. */
async function posts({ watches }: Store, { random, token }: Actor): Promise<void> {
	const due = await watches.takeAnnouncements({ token, ms: 20_000 }, 6, T0);
	for (const { announcement, watch } of due) {
		if (random.chance(0.3)) {
			await watches.endAttempt(announcement.id, token, { kind: 'dropped', unknown: false }, T0);
			continue;
		}
		await watches.beginAttempt(announcement.id, token, attemptAt(T0));
		const lost = watch?.card.ts != null && random.chance(0.2) ? { lostCardTs: watch.card.ts } : {};
		const posted = { kind: 'posted', ts: `${random.uniform()}`, cardKey: 'looks', ...lost } as const;
		await watches.endAttempt(announcement.id, token, posted, T0);
	}
}

/** The poller: every second read fails, and after one that does not the question is settled, asked again and reworded. */
async function reads({ watches }: Store, { random, token }: Actor): Promise<void> {
	const taken = await watches.takeDue(SERVICE, { token, ms: 20_000 }, 3, { now: T0, only: null });
	await watches.renew(
		taken.toReversed().map((one) => ({ session: one.session, token })),
		20_000,
		T0,
	);
	for (const { session: key, failures } of taken) {
		const view = { ...snapshotOf(asking, T0), sessionId: key.sessionId };
		const plan = { nextRead: { at: T0, by: T0 }, lastReadAt: T0 };
		if (failures === 0 && random.chance(0.5)) {
			await watches.record({ session: key, token }, { update: read({ ...plan, failures: 1 }), watches: [], now: T0 });
			continue;
		}
		const ofSession = await watches.ofSession(key, T0);
		const updates = ofSession.map((watch) => {
			const { id: watchId, teamId, channelId, revision } = watch;
			const target = { kind: 'watch', watchId, teamId, channelId } as const;
			const question = questionViewAt(asking, 0);
			if (question === null) throw new Error('the session asks nothing');
			const settle = { kind: 'settle', messageIndex: 0, how: 'changed' } as const;
			const asked = { kind: 'question', question, changed: true, readAt: T0 } as const;
			const announcements: NewAnnouncement[] = [
				{ target, key: `settle:${revision}`, content: settle },
				{ target, key: `question:${revision}`, content: asked },
			];
			const reworded = random.chance(0.5) ? question : null;
			return news(watch, { digest: view.digest, announcements, reworded, card: 'now' });
		});
		await watches.record({ session: key, token }, { update: read({ ...plan, view }), watches: updates, now: T0 });
	}
}

/** The scheduler, and a list of what waits. */
async function plans({ watches }: Store, { random }: Actor): Promise<void> {
	const moves = (await watches.outlines(SERVICE)).map(({ session: key, nextRead }) => {
		return { session: key, from: nextRead, to: { at: T0, by: T0 - random.whole(0, 999) }, place: random.uniform() };
	});
	await watches.reschedule(moves.toSorted((one, other) => one.place - other.place));
	const listed = SESSION_IDS.map((sessionId) => ({ sessionId, absentAt: T0 + 1, moved: null }));
	await watches.readWaiting(SERVICE, listed, T0);
}

/** People answer, and one of them starts the program again. */
async function touches({ ladders, watches }: Store, { random }: Actor): Promise<void> {
	const key = { service: SERVICE, sessionId: random.pick(SESSION_IDS) };
	await ladders.touchSession(key, T0);
	await watches.refresh(key, { now: T0, earlyReadAt: T0 });
	await watches.redraw(key, T0);
	await ladders.touchAll(SERVICE, T0);
}

/** Somebody changes the settings of a channel, which then is silenced; and unwatches and watches again. */
async function configures({ channelSettings, watches }: Store, { random }: Actor): Promise<void> {
	const channel = { teamId: 'T1', channelId: random.pick(CHANNEL_IDS) };
	const { revision } = await channelSettings.read(channel);
	const settings = DEFAULT_CHANNEL_SETTINGS;
	const content = { kind: 'settingsChanged', by: ANN.userId, before: settings, after: settings } as const;
	const announcement = { target: { kind: 'channel', ...channel }, key: `${random.uniform()}`, content } as const;
	await channelSettings.write(channel, { settings, revision, person: ANN, announcement, now: T0 });
	if (random.chance(0.2)) await watches.silence(channel);
	if (!random.chance(0.2)) return;
	const key = { service: SERVICE, sessionId: random.pick(SESSION_IDS) };
	const watch = await watches.find(channel, key);
	if (watch === null) return;
	await watches.end(watch.id, 'unwatched', { now: T0, announcements: [], keepPending: false });
	await addWatch(watches, { sessionId: key.sessionId, channelId: channel.channelId });
}

/** A stopping replica, or one whose work failed. */
async function releases({ ladders, watches }: Store, { token }: Actor): Promise<void> {
	const tokens = ['reminds', 'posts', 'reads'].map((name) => token.replace('releases', name));
	await ladders.release(tokens);
	await watches.releaseReads(tokens);
	await watches.releasePosts(tokens);
}
