import { type Kysely, type Selectable, sql } from 'kysely';
import type { NewAnnouncement } from '../watches/announcements.ts';
import type { Discovery } from '../watches/discovered.ts';
import type { DiscoveryStore } from '../watches/ports.ts';
import type { ChannelKey, SessionKey } from '../watches/watch.ts';
import { type Dialect, lockRows, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import type { DiscoveriesTable, Tables } from './tables.ts';
import { limitReached, raiseHand } from './watch-adding.ts';
import { dropPending, inChannel, queueAnnouncements } from './watch-writes.ts';

type DiscoveryRow = Selectable<DiscoveriesTable>;

/** The discovering part of `WatchStore`. */
export function createDiscoveryStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }): DiscoveryStore {
	const { dialect } = db;

	function nameOf(row: { service: string; session_id: string; name: string }): string {
		return cipher.decrypt(row.name, namePlace({ service: row.service, sessionId: row.session_id })) ?? '';
	}

	return {
		async replaceWaiting(service, sessions, now) {
			const wanted = new Map(sessions.map(({ sessionId, name }) => [sessionId, name]));
			const differs = (rows: readonly { service: string; session_id: string; name: string }[]) =>
				rows.length !== wanted.size || rows.some((row) => wanted.get(row.session_id) !== nameOf(row));
			// Most lists say what the one before said.
			if (!differs(await waitingRows(db.read, service).execute())) return false;
			return db.write(async (trx) => {
				await lockLists(trx, dialect);
				const rows = await waitingRows(trx, service).execute();
				const before = new Map(rows.map((row) => [row.session_id, nameOf(row)]));
				const gone = [...before.keys()].filter((sessionId) => !wanted.has(sessionId));
				if (gone.length > 0) {
					await trx
						.deleteFrom('waiting_sessions')
						.where('service', '=', service)
						.where('session_id', 'in', gone)
						.execute();
				}
				for (const [sessionId, name] of wanted) {
					if (before.get(sessionId) === name) continue;
					const sealed = cipher.encrypt(name, namePlace({ service, sessionId }));
					await trx
						.insertInto('waiting_sessions')
						.values({ service, session_id: sessionId, name: sealed, since: now, lowered_at: null })
						.onConflict((conflict) => conflict.columns(['service', 'session_id']).doUpdateSet({ name: sealed }))
						.execute();
				}
				return differs(rows);
			});
		},

		async waiting(service) {
			const rows = await waitingRows(db.read, service).orderBy('since').orderBy('session_id').execute();
			return rows.map((row) => ({ sessionId: row.session_id, name: nameOf(row), since: row.since }));
		},

		discover: ({ teamId, channelId, service, createdBy, createdAt, settings }, announcements) =>
			db.write(async (trx) => {
				const begun = {
					service,
					discreet: Number(settings.discreet ?? false),
					buttons: Number(settings.buttons ?? true),
					created_by: createdBy,
					created_at: createdAt,
				};
				let row: DiscoveryRow | undefined;
				// Another replica may end one after our insert has met it.
				while (row === undefined) {
					const inserted = await trx
						.insertInto('discoveries')
						.values({ team_id: teamId, channel_id: channelId, ...begun })
						.onConflict((conflict) => conflict.columns(['team_id', 'channel_id']).doNothing())
						.executeTakeFirst();
					if (Number(inserted.numInsertedOrUpdatedRows ?? 0n) > 0) {
						await queueAnnouncements(trx, cipher, announcements, createdAt);
						return 'begun';
					}
					row = await ofChannel(trx, { teamId, channelId }).$call(lockRows(dialect)).executeTakeFirst();
				}
				if (row.service !== service) {
					await trx
						.updateTable('discoveries')
						.set({ ...begun, is_full: 0, is_paused: 0 })
						.where(inChannel({ teamId, channelId }))
						.execute();
					await queueAnnouncements(trx, cipher, announcements, createdAt);
					return 'begun';
				}
				const values = {
					discreet: settings.discreet === undefined ? row.discreet : Number(settings.discreet),
					buttons: settings.buttons === undefined ? row.buttons : Number(settings.buttons),
				};
				if (Object.entries(values).every(([name, value]) => row[name as keyof typeof values] === value))
					return 'already';
				await trx.updateTable('discoveries').set(values).where(inChannel({ teamId, channelId })).execute();
				return 'changed';
			}),

		endDiscovery: (channel, { now, announcements }) =>
			db.write(async (trx) => {
				const row = await trx.deleteFrom('discoveries').where(inChannel(channel)).returningAll().executeTakeFirst();
				if (row === undefined) return null;
				const discovery = readDiscovery(row);
				const wasUntold = await dropUntold(trx, channel, 'discoveryBegun');
				const told = announcements(discovery).filter(({ content }) => !wasUntold || content.kind !== 'discoveryEnded');
				await queueAnnouncements(trx, cipher, told, now);
				return discovery;
			}),

		async discoveryOf(channel, service) {
			const row = await ofChannel(db.read, channel).executeTakeFirst();
			const isOurs = row !== undefined && (service === null || row.service === service);
			return isOurs ? readDiscovery(row) : null;
		},

		async discoveries(service) {
			const rows = await db.read
				.selectFrom('discoveries')
				.selectAll()
				.where('service', '=', service)
				.orderBy('created_at')
				.orderBy('channel_id')
				.execute();
			return rows.map(readDiscovery);
		},

		async raisedHands({ teamId, channelId, service, createdAt }) {
			const rows = await waitingRows(db.read, service)
				.where(
					sql<boolean>`not exists (select 1 from watches where watches.team_id = ${teamId}
						and watches.channel_id = ${channelId} and watches.service = waiting_sessions.service
						and watches.session_id = waiting_sessions.session_id
						and watches.ended_at is null)`,
				)
				.orderBy('since')
				.orderBy('session_id')
				.execute();
			return rows.map(({ session_id: sessionId, lowered_at: at, lowered_count: loweredCount }) => {
				// Reads from before this channel began do not put its questions off.
				const loweredAt = at !== null && at >= createdAt ? at : null;
				return { sessionId, loweredAt, loweredCount };
			});
		},

		raiseHand: (hand) => db.write((trx) => raiseHand(trx, { dialect, cipher }, hand)),

		noteFull: (discovery, { announcement, limits, now }) =>
			db.write(async (trx) => {
				const row = await ofChannel(trx, discovery).$call(lockRows(dialect)).executeTakeFirst();
				if (row === undefined || (row.is_full === 1) === (announcement !== null)) return false;
				const countsUnread = announcement === null;
				const reached = await limitReached(trx, { ...discovery, limits }, ['channel', 'all'], { countsUnread });
				if ((reached === null) !== countsUnread) return false;
				await trx
					.updateTable('discoveries')
					.set({ is_full: announcement === null ? 0 : 1 })
					.where(inChannel(discovery))
					.execute();
				if (announcement === null) await dropUntold(trx, discovery, 'discoveryFull');
				else await queueAnnouncements(trx, cipher, [announcement], now);
				return true;
			}),

		notePaused: (service, why, now) =>
			db.write(async (trx) => {
				const rows = await trx
					.selectFrom('discoveries')
					.selectAll()
					.where('service', '=', service)
					.where('is_paused', '=', why === null ? 1 : 0)
					.orderBy('team_id')
					.orderBy('channel_id')
					.$call(lockRows(dialect))
					.execute();
				for (const discovery of rows.map(readDiscovery)) {
					await trx
						.updateTable('discoveries')
						.set({ is_paused: why === null ? 0 : 1 })
						.where(inChannel(discovery))
						.execute();
					const { teamId, channelId } = discovery;
					const target = { kind: 'channel', teamId, channelId } as const;
					if (why === null && (await dropUntold(trx, discovery, 'discoveryPaused'))) continue;
					const told: NewAnnouncement =
						why === null
							? { target, key: `discoveryBack:${now}`, content: { kind: 'discoveryBack' } }
							: { target, key: `discoveryPaused:${now}`, content: { kind: 'discoveryPaused', why } };
					await queueAnnouncements(trx, cipher, [told], now);
				}
				return rows.length;
			}),
	};
}

/** Any number that no other advisory lock of this database uses. */
const LISTS_LOCK = 7_205_759_405;

/** One list after the other: two that each remove what the other one has added would wait for each other. */
async function lockLists(trx: Kysely<Tables>, dialect: Dialect): Promise<void> {
	if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(LISTS_LOCK)})`.execute(trx);
}

/** Drops a notice that is not true any more and that the channel was not told yet. Returns whether there was one. */
async function dropUntold(
	trx: Kysely<Tables>,
	{ teamId, channelId }: ChannelKey,
	kind: 'discoveryBegun' | 'discoveryFull' | 'discoveryPaused',
): Promise<boolean> {
	const dropped = await dropPending(trx)
		.where('team_id', '=', teamId)
		.where('place_id', '=', channelId)
		.where('kind', '=', kind)
		.where('sending_since', 'is', null)
		.executeTakeFirst();
	return Number(dropped.numUpdatedRows) > 0;
}

function waitingRows(db: Kysely<Tables>, service: string) {
	return db.selectFrom('waiting_sessions').selectAll().where('service', '=', service);
}

function ofChannel(db: Kysely<Tables>, channel: ChannelKey) {
	return db.selectFrom('discoveries').selectAll().where(inChannel(channel));
}

function readDiscovery(row: DiscoveryRow): Discovery {
	return {
		teamId: row.team_id,
		channelId: row.channel_id,
		service: row.service,
		discreet: row.discreet === 1,
		buttons: row.buttons === 1,
		createdBy: row.created_by,
		createdAt: row.created_at,
		isFull: row.is_full === 1,
		isPaused: row.is_paused === 1,
	};
}

function namePlace({ service, sessionId }: SessionKey) {
	return { table: 'waiting_sessions', id: JSON.stringify([service, sessionId]), column: 'name' };
}
