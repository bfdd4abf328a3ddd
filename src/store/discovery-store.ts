import { type Kysely, sql } from 'kysely';
import type { ListedSession } from '../questions/session.ts';
import type { NewAnnouncement } from '../watches/announcements.ts';
import type {
	ChannelKey,
	Discovery,
	NewDiscovery,
	RaisedHand,
	SessionKey,
	WaitingSession,
	WatchLimits,
} from '../watches/watch.ts';
import { change, from, isFound, lockFor, remove, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { dropPending } from './question-posts.ts';
import { channelColumns, channelOf, type Row, sessionColumns, sessionOf, type Tables } from './tables.ts';
import { limitReached, type NewRaisedHand, raiseHand } from './watch-adding.ts';
import { asksAnew, queueAnnouncements } from './watch-writes.ts';

type DiscoveryRow = Row<'discoveries'>;
type WaitingRow = Row<'waiting_sessions'>;

/** A session that comes back to the list within this time asks what it asked before, unless something shows that it went on. */
const BACK_WITHIN_MS = 24 * 3_600_000;
/** A session that was saved through the service so shortly before it left the list was answered, resumed or stopped there. */
const SAVED_BEFORE_MS = 10 * 60_000;

/** The part of the store of watches about discovery. */
export function createDiscoveryStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }) {
	const nameOf = (row: WaitingRow) => cipher.decrypt(row.name, namePlace(sessionOf(row))) ?? '';

	return {
		/**
		 * The newest list of the sessions that wait for a person replaces the one before. Sessions that were listed in the last day
		 * keep their `since`, unless something shows that they went on. Returns whether anything changed.
		 *
		 * `isFollowing`: a list came before this one, also when no session waited. `isCut`: the end of this list or the one before
		 * is missing, so a session that moves up from there has waited before.
		 */
		async replaceWaiting(
			service: string,
			sessions: readonly Omit<ListedSession, 'status'>[],
			{ now, isFollowing, isCut }: { now: number; isFollowing: boolean; isCut: boolean },
		): Promise<boolean> {
			const wanted = new Map(sessions.map((session) => [session.sessionId, session]));
			const differs = (rows: readonly WaitingRow[]) =>
				rows.length !== wanted.size || rows.some((row) => wanted.get(row.session_id)?.name !== nameOf(row));
			// Most lists say what the one before said.
			if (!differs(await waitingRows(db.read, service).execute())) return false;
			return db.write(async (trx) => {
				await lockFor(trx, 'replacingLists');
				const forgotten = remove(trx, 'waiting_sessions', { service });
				await forgotten.where('gone_at', '<=', now - BACK_WITHIN_MS).execute();
				const known = await from(trx, 'waiting_sessions', { service }).selectAll().execute();
				const rows = known.filter((row) => row.gone_at === null);
				const before = new Map(known.map((row) => [row.session_id, row]));
				const missing = rows.filter((row) => !wanted.has(row.session_id)).map((row) => row.session_id);
				await change(trx, 'waiting_sessions', { service, session_id: missing }).set({ gone_at: now }).execute();
				const lastKnown = [...wanted.keys()].findLastIndex((sessionId) => before.has(sessionId));
				for (const [index, [sessionId, { name, updatedAt }]] of [...wanted].entries()) {
					const row = before.get(sessionId);
					if (row !== undefined && row.gone_at === null && nameOf(row) === name) continue;
					const sealed = cipher.encrypt(name, namePlace({ service, sessionId }));
					if (row !== undefined) {
						// Whoever comes back is read at once: it may ask something else.
						const back = row.gone_at !== null && { gone_at: null, lowered_at: null, lowered_count: 0 };
						const anew = back && (await hasGoneOn(trx, row, updatedAt)) && asksAnew(now);
						const known = change(trx, 'waiting_sessions', { service, session_id: sessionId });
						await known.set({ name: sealed, ...back, ...anew }).execute();
						continue;
					}
					const isNew = (isFollowing || before.size > 0) && (!isCut || index < lastKnown);
					await trx
						.insertInto('waiting_sessions')
						.values({ service, session_id: sessionId, name: sealed, since: now, is_new: Number(isNew) })
						.execute();
				}
				return differs(rows);
			});
		},

		/** The listed sessions, the longest waiting first. A name that needs another key is empty. */
		async waiting(service: string): Promise<readonly WaitingSession[]> {
			const rows = await waitingRows(db.read, service).execute();
			return rows.map((row) => {
				return { sessionId: row.session_id, name: nameOf(row), since: row.since, isNew: row.is_new === 1 };
			});
		},

		/**
		 * Begins to discover and queues `announcements`, or changes the settings; who began it stays. One of another service is
		 * replaced.
		 */
		discover: (
			{ teamId, channelId, service, createdBy, createdAt, settings }: NewDiscovery,
			announcements: readonly NewAnnouncement[],
		) =>
			db.write(async (trx): Promise<'begun' | 'changed' | 'already'> => {
				const channel = channelColumns({ teamId, channelId });
				const stored = await from(trx, 'discoveries', channel).selectAll().forUpdate().executeTakeFirst();
				const row = stored?.service === service ? stored : undefined;
				const values = {
					discreet: Number(settings.discreet ?? row?.discreet ?? false),
					buttons: Number(settings.buttons ?? row?.buttons ?? true),
				};
				if (row === undefined) {
					await remove(trx, 'discoveries', channel).execute();
					// Of two replicas that find none, one fails on the key and runs again.
					const begun = { ...channel, service, ...values, created_by: createdBy, created_at: createdAt };
					await trx.insertInto('discoveries').values(begun).execute();
					await queueAnnouncements({ trx, cipher, now: createdAt }, announcements);
					return 'begun';
				}
				if (row.discreet === values.discreet && row.buttons === values.buttons) return 'already';
				await change(trx, 'discoveries', channel).set(values).execute();
				return 'changed';
			}),

		/** Ends it and queues `announcements`; null when the channel discovers nothing. */
		endDiscovery: (
			channel: ChannelKey,
			{ now, announcements }: { now: number; announcements: (discovery: Discovery) => readonly NewAnnouncement[] },
		) =>
			db.write(async (trx) => {
				const ended = remove(trx, 'discoveries', channelColumns(channel)).returningAll();
				const row = await ended.executeTakeFirst();
				if (row === undefined) return null;
				const discovery = readDiscovery(row);
				// Who was not told that it began is not told that it ended.
				const begun = { team_id: channel.teamId, place_id: channel.channelId, kind: 'discoveryBegun' };
				const wasTold = (await dropPending(trx, { ...begun, sending_since: null })) === 0;
				const told = announcements(discovery).filter(({ content }) => wasTold || content.kind !== 'discoveryEnded');
				await queueAnnouncements({ trx, cipher, now }, told);
				return discovery;
			}),

		/** `serviceUrl` null: of any service. */
		async discoveryOf(channel: ChannelKey, service: string | null): Promise<Discovery | null> {
			const filter = { ...channelColumns(channel), ...(service !== null && { service }) };
			const row = await from(db.read, 'discoveries', filter).selectAll().executeTakeFirst();
			return row === undefined ? null : readDiscovery(row);
		},

		/** The oldest first. */
		async discoveries(service: string): Promise<readonly Discovery[]> {
			const all = from(db.read, 'discoveries', { service }).selectAll();
			return (await all.orderBy('created_at').orderBy('channel_id').execute()).map(readDiscovery);
		},

		/** The listed sessions that a channel does not watch, the longest waiting first. */
		async raisedHands({ teamId, channelId, service, createdAt }: Discovery): Promise<readonly RaisedHand[]> {
			const rows = await waitingRows(db.read, service)
				.where(
					sql<boolean>`not exists (select 1 from watches where watches.team_id = ${teamId}
						and watches.channel_id = ${channelId} and watches.service = waiting_sessions.service
						and watches.session_id = waiting_sessions.session_id
						and watches.ended_at is null)`,
				)
				.execute();
			return rows.map(({ session_id: sessionId, lowered_at: at, lowered_count: loweredCount, is_new: isNew }) => {
				// Reads from before this channel began do not put its questions off.
				const loweredAt = at !== null && at >= createdAt ? at : null;
				return { sessionId, loweredAt, loweredCount, isNew: isNew === 1 };
			});
		},

		/**
		 * Creates a watch without a card, whose session is read at once: the read shows what it asks. A question that the channel
		 * stopped watching while it was open is not posted again. `unneeded`: it watches the session already, or discovers no more.
		 */
		raiseHand: (hand: NewRaisedHand) => db.write((trx) => raiseHand(trx, hand)),

		/** The limit that leaves no place in a channel; raised hands whose question does not stand yet do not count. */
		limitOf: (discovery: Discovery, limits: WatchLimits) =>
			limitReached(db.read, { ...discovery, limits }, ['channel', 'all'], { countsUnposted: false }),

		/** Queues an announcement, unless one with its key was queued before. */
		tell: (announcement: NewAnnouncement, now: number) =>
			db.write((trx) => queueAnnouncements({ trx, cipher, now }, [announcement])),
	};
}

/** Whether what a session that comes back asks is known to be something else. `savedAt`: `ListedSession.updatedAt`. */
async function hasGoneOn(trx: Kysely<Tables>, row: WaitingRow, savedAt: number | null): Promise<boolean> {
	const isClosed = row.lowered_at !== null && row.lowered_count === 0;
	if (isClosed || (savedAt ?? 0) > Math.max(row.since, (row.gone_at ?? 0) - SAVED_BEFORE_MS)) return true;
	const answers = from(trx, 'answers', sessionColumns(sessionOf(row))).select('id');
	return isFound(answers.where('delivered_at', '>', row.since));
}

/** The longest waiting first. */
function waitingRows(db: Kysely<Tables>, service: string) {
	const listed = from(db, 'waiting_sessions', { service, gone_at: null }).selectAll();
	return listed.orderBy('since').orderBy('session_id');
}

function readDiscovery(row: DiscoveryRow): Discovery {
	const { service, created_by: createdBy, created_at: createdAt } = row;
	return { ...channelOf(row), service, discreet: row.discreet === 1, buttons: row.buttons === 1, createdBy, createdAt };
}

function namePlace({ service, sessionId }: SessionKey) {
	return { table: 'waiting_sessions', id: JSON.stringify([service, sessionId]), column: 'name' };
}
