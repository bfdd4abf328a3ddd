// Owns `channel_settings`, `discoveries` and `waiting_sessions`: what channels want, and which listed sessions wait.

import { z } from 'zod';
import { type AnswerRule, namesAnybody, OPERATOR, type Standing } from '../domain/answerers.ts';
import { changedParts, DEFAULT_CHANNEL_SETTINGS, FORMER_DEFAULT, UNKNOWN_STYLE } from '../domain/channel-settings.ts';
import type { Person } from '../domain/person.ts';
import type { ListedSession, SessionKey } from '../domain/session.ts';
import { DAY_MS } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { parseOrNull, pick } from '../kernel/values.ts';
import { recordEvents } from '../store/audit.ts';
import { removeInBatches } from '../store/batches.ts';
import { readChannelSettings } from '../store/channel-settings.ts';
import {
	add,
	addNew,
	change,
	channelOf,
	type Db,
	from,
	hasChanged,
	isFound,
	placeId,
	type RawBuilder,
	type Row,
	remove,
	type StoreParts,
	sessionOf,
	sql,
	type Tx,
} from '../store/database.ts';
import { lockFor } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import type { ChannelKey, Discovery, WaitingSession } from '../store/watch.ts';
import { dropPlanned, planPosts, redrawChannel } from '../surfaces/plan-store.ts';
import type { NewPost } from '../surfaces/post.ts';
import { lookAtChannel } from '../surfaces/reminder-store.ts';
import { changeRules, removeOldRules, rulesAmong, rulesAround, tellNobodyLeft } from './answerers-store.ts';

type WaitingRow = Row<'waiting_sessions'>;

/** A session saved this shortly before it left the list was answered, resumed or stopped in the service. */
const SAVED_BEFORE_MS = 10 * 60_000;

export function createDiscoveryStore({ db, cipher }: StoreParts) {
	const nameOf = (row: WaitingRow) => cipher.decrypt(row.name, namePlace(sessionOf(row))) ?? '';

	return {
		/**
		 * Replaces the sessions that wait. Those listed in the last day keep their `since`, unless something shows that
		 * they went on. Whether anything changed. `isFollowing`: a list came before this one, also when no session waited.
		 * `isCut`: the end of this list or the one before is missing, so what moves up from there has waited before.
		 */
		async replaceWaiting(
			service: string,
			sessions: readonly Omit<ListedSession, 'status'>[],
			{ now, isFollowing, isCut }: { now: number; isFollowing: boolean; isCut: boolean },
		): Promise<boolean> {
			const wanted = new Map(sessions.map((session) => [session.sessionId, session]));
			const differs = (rows: readonly WaitingRow[]) =>
				rows.length !== wanted.size || rows.some((row) => wanted.get(row.sessionId)?.name !== nameOf(row));
			// Most lists say what the one before said.
			if (!differs(await waitingRows(db.read, service).execute())) return false;
			return db.write(async (trx) => {
				await lockFor(trx, 'replacingLists');
				// One that is listed again within a day asks what it asked before, unless it is known to have gone on.
				const forgotten = remove(trx, 'waiting_sessions', { service });
				await forgotten.where('goneAt', '<=', now - DAY_MS).execute();
				const known = await from(trx, 'waiting_sessions', { service }).selectAll().execute();
				const rows = known.filter((row) => row.goneAt === null);
				const before = new Map(known.map((row) => [row.sessionId, row]));
				const missing = rows.filter((row) => !wanted.has(row.sessionId)).map((row) => row.sessionId);
				await change(trx, 'waiting_sessions', { service, sessionId: missing }, { goneAt: now }).execute();
				const lastKnown = [...wanted.keys()].findLastIndex((sessionId) => before.has(sessionId));
				for (const [index, [sessionId, { name, updatedAt }]] of [...wanted].entries()) {
					const row = before.get(sessionId);
					if (row !== undefined && row.goneAt === null && nameOf(row) === name) continue;
					const sealed = cipher.encrypt(name, namePlace({ service, sessionId }));
					if (row !== undefined) {
						// Whoever comes back is read at once: it may ask something else.
						const back = row.goneAt !== null && { goneAt: null, loweredAt: null, loweredCount: 0 };
						const anew = back && (await hasGoneOn(trx, row, updatedAt)) && asksAnew(now);
						await change(trx, 'waiting_sessions', { service, sessionId }, { name: sealed, ...back, ...anew }).execute();
						continue;
					}
					const isNew = (isFollowing || before.size > 0) && (!isCut || index < lastKnown);
					const first = { service, sessionId, name: sealed, since: now, isNew: Number(isNew) };
					await add(trx, 'waiting_sessions', first).execute();
				}
				const isOther = differs(rows);
				if (isOther) await markDue({ trx, now }, null);
				return isOther;
			});
		},

		/** The listed sessions, the longest waiting first. A name that needs another key is empty. */
		async waiting(service: string): Promise<readonly WaitingSession[]> {
			const gaveWay = sql<0 | 1>`case when exists (select 1 from watches
				where watches.service = waiting_sessions.service and watches.session_id = waiting_sessions.session_id
					and ended_reason = 'gaveWay' and ended_at >= since) then 1 else 0 end`;
			const rows = await waitingRows(db.read, service).select(gaveWay.as('gaveWay')).execute();
			return rows.map((row) => {
				const known = { ...pick(row, 'sessionId', 'since'), name: nameOf(row) };
				return { ...known, isNew: row.isNew === 1, gaveWay: row.gaveWay === 1 };
			});
		},

		/** Begins to discover with `posts`; who began it stays. Replaces another service's. */
		begin: (begun: Discovery, posts: readonly NewPost[]) =>
			db.write(async (trx): Promise<'begun' | 'already'> => {
				const { service, createdBy, createdAt } = begun;
				const channel = channelOf(begun);
				const stored = await from(trx, 'discoveries', channel).select('service').forUpdate().executeTakeFirst();
				if (stored?.service === service) return 'already';
				await remove(trx, 'discoveries', channel).execute();
				// Of two replicas that find none, one fails on the key and runs again.
				await add(trx, 'discoveries', { ...channel, service, createdBy, createdAt }).execute();
				await planPosts({ trx, now: createdAt }, posts);
				const event = { at: createdAt, action: 'watched', actor: createdBy, channel: channel.channelId } as const;
				recordEvents(trx, { ...event, outcome: 'all_begun' });
				return 'begun';
			}),

		/** Ends it and queues `posts`; null when the channel discovers nothing. */
		end: (channel: ChannelKey, { now, posts }: { now: number; posts: (discovery: Discovery) => readonly NewPost[] }) =>
			db.write(async (trx): Promise<Discovery | null> => {
				const ended = remove(trx, 'discoveries', channelOf(channel)).returningAll();
				const row = await ended.executeTakeFirst();
				if (row === undefined) return null;
				recordEvents(trx, { at: now, action: 'unwatched', channel: channel.channelId, outcome: 'all_ended' });
				// Who was not told that it began is not told that it ended.
				const begun = { teamId: channel.teamId, placeId: channel.channelId, kind: 'discoveryBegun' };
				const wasTold = (await dropPlanned(trx, { ...begun, sendingSince: null })) === 0;
				const told = posts(row).filter(({ content }) => wasTold || content.kind !== 'discoveryEnded');
				await planPosts({ trx, now }, told);
				return row;
			}),

		async find(channel: ChannelKey, service: string): Promise<Discovery | null> {
			const here = from(db.read, 'discoveries', { ...channelOf(channel), service });
			return (await here.selectAll().executeTakeFirst()) ?? null;
		},

		/** The oldest first. */
		async list(service: string): Promise<readonly Discovery[]> {
			const all = from(db.read, 'discoveries', { service }).selectAll();
			return all.orderBy('createdAt').orderBy('channelId').execute();
		},

		/**
		 * The listed sessions that a channel does not watch, the longest waiting first. `loweredAt`: when it was last found
		 * to ask nothing, or could not be read (null: it was not read); `loweredCount`: how often in a row. `newsAt`: when
		 * it began to wait; 0: before the first list, or before this channel began.
		 */
		async raisedHands({ teamId, channelId, service, createdAt }: Discovery) {
			const rows = await waitingRows(db.read, service)
				.where(
					sql<boolean>`not exists (select 1 from watches where watches.team_id = ${teamId}
						and watches.channel_id = ${channelId} and watches.service = waiting_sessions.service
						and watches.session_id = waiting_sessions.session_id
						and watches.ended_at is null)`,
				)
				.execute();
			return rows.map(({ sessionId, since, loweredAt: at, loweredCount, isNew }) => {
				// Reads from before this channel began do not put its questions off.
				const lowered = { loweredAt: at !== null && at >= createdAt ? at : null, loweredCount };
				return { sessionId, ...lowered, newsAt: isNew === 1 && since >= createdAt ? since : 0 };
			});
		},

		/** Forgets who may answer sessions that nobody has watched for long. */
		removeOldRules: (before: number) => removeOldRules(db, before),

		/**
		 * Forgets sessions first listed before `before`, except of `listedService`: its lists show who still waits.
		 */
		forgetListed: (before: number, listedService: string | null) =>
			removeInBatches(db, 'waiting_sessions', sql<boolean>`service <> ${listedService ?? ''} and since < ${before}`),
	};
}

export type DiscoveryStore = ReturnType<typeof createDiscoveryStore>;

/** The columns of a waiting session that asks something else, however long it has been listed. */
const asksAnew = (now: number) => ({ since: now, isNew: 1 });

/** Whether what a session asks was asked before its channel began to discover, or before anything was listed. */
export async function isBacklog(trx: Db, watch: ChannelKey & SessionKey): Promise<boolean> {
	const begun = await from(trx, 'discoveries', channelOf(watch)).select('createdAt').executeTakeFirst();
	const listed = await from(trx, 'waiting_sessions', sessionOf(watch)).select(['since', 'isNew']).executeTakeFirst();
	return begun !== undefined && listed !== undefined && (listed.isNew === 0 || listed.since < begun.createdAt);
}

/** Notes that a listed session asks something else. */
export const noteAsked = (trx: Db, session: SessionKey, now: number) =>
	change(trx, 'waiting_sessions', sessionOf(session), asksAnew(now)).execute();

/** Notes that a read found a listed session to ask nothing. `wasPosted`: what it asked before stood in a channel. */
export async function noteLowered(trx: Db, session: SessionKey, wasPosted: boolean, now: number): Promise<void> {
	// Once for all channels.
	const count = sql<number>`case when lowered_at = ${now} then lowered_count else lowered_count + 1 end`;
	const lowered = { loweredAt: now, loweredCount: wasPosted ? 0 : count };
	const columns = { ...lowered, ...(wasPosted && asksAnew(now)) };
	await change(trx, 'waiting_sessions', sessionOf(session), columns).execute();
}

/** Ends what somebody began in their direct message with the app. `isDirect`: as SQL. */
export const removeDiscoveries = (trx: Db, createdBy: string, isDirect: RawBuilder<boolean>) =>
	remove(trx, 'discoveries', { createdBy }).where(isDirect).execute();

/** Whether a session that comes back is known to ask something else. `savedAt`: `ListedSession.updatedAt`. */
async function hasGoneOn(trx: Db, row: WaitingRow, savedAt: number | null): Promise<boolean> {
	const isClosed = row.loweredAt !== null && row.loweredCount === 0;
	if (isClosed || (savedAt ?? 0) > Math.max(row.since, (row.goneAt ?? 0) - SAVED_BEFORE_MS)) return true;
	return isFound(from(trx, 'answers', sessionOf(row)).select('id').where('deliveredAt', '>', row.since));
}

function waitingRows(db: Db, service: string) {
	return from(db, 'waiting_sessions', { service, goneAt: null }).selectAll().orderBy('since').orderBy('sessionId');
}

function namePlace({ service, sessionId }: SessionKey) {
	return { table: 'waiting_sessions', id: placeId(service, sessionId), column: 'name' } as const;
}

export type StoredChannelSettings = Readonly<Awaited<ReturnType<typeof readChannelSettings>>>;

/**
 * Settings that a person chose for a channel whose settings they saw at `revision`. `groupIds`: the user groups that
 * they are known to be in.
 */
type ChosenSettings = Pick<StoredChannelSettings, 'settings' | 'revision'> &
	Readonly<{ person: Person; post: NewPost; now: number; groupIds?: Standing['groupIds'] }>;

/** Settings as 1.1.0 stored them where nobody had chosen when to escalate. */
const withoutEscalation = z.looseObject({ escalateAfterMs: z.literal(FORMER_DEFAULT).optional() });

export type SettingsParts = Pick<StoreParts, 'db'> & { readonly log: Log };

export function createChannelSettingsStore({ db, log }: SettingsParts) {
	return {
		read: (channel: ChannelKey) => readChannelSettings({ db, log }, channel),

		/** The lists of a session, at any address; empty: everybody who may use Handraise may answer it. */
		rulesOf: async (teamId: string, sessionId: string) =>
			(await rulesAmong(db.read, { teamId, sessionId })).get(sessionId) ?? [],
		/** The lists of all sessions that have some, by session id. */
		rulesOfAll: (teamId: string) => rulesAmong(db.read, { teamId }),
		/** The lists that decide about sessions which this channel watches or has watched. */
		rulesAround: (channel: ChannelKey) => rulesAround(db.read, channel),

		/** Gives channels without a time of their own for escalations the one that 1.1.0 had for all. How many got it. */
		giveFormerEscalation: (escalateAfterMs: number) =>
			db.write(async (trx) => {
				let count = 0;
				for (const row of await from(trx, 'channel_settings', {}).selectAll().execute()) {
					const former = parseOrNull(withoutEscalation, row.settings);
					if (former === null) continue;
					const settings = JSON.stringify({ ...former, escalateAfterMs });
					const seen = { ...channelOf(row), revision: row.revision };
					if (await hasChanged(change(trx, 'channel_settings', seen, { settings }))) count += 1;
				}
				return count;
			}),

		tellNobodyLeft: (teamId: string, rules: readonly AnswerRule[], now: number) =>
			db.write((trx) => tellNobodyLeft({ trx, now }, teamId, rules)),

		/**
		 * Replaces the settings, queues `post`, looks at the reminders, and has posts drawn again that show something else
		 * now. False, without a write, at another `revision`.
		 */
		write: (channel: ChannelKey, { settings, revision, person, post, now, groupIds }: ChosenSettings) =>
			db.write(async (trx) => {
				const before = await readChannelSettings({ db: { read: trx }, log }, channel);
				const parts = changedParts(before.settings, settings);
				const isOtherList = parts.includes('answerers');
				if (isOtherList) await lockFor(trx, 'addingWatches');
				const key = channelOf(channel);
				const chosen = { settings: JSON.stringify(settings), changedBy: person.userId, changedAt: now };
				const values = { ...chosen, revision: revision + 1 };
				const isWritten = await hasChanged(
					revision === 0
						? addNew(trx, 'channel_settings', { ...key, ...values })
						: change(trx, 'channel_settings', { ...key, revision }, values),
				);
				if (!isWritten) return false;
				const by = { actor: person.userId, channel: key.channelId };
				recordEvents(trx, { at: now, action: 'settingsChanged', ...by, outcome: parts.join(' ') });
				const tx = { trx, now };
				const standing = { userId: person.userId, groupIds: groupIds ?? new Set<string>() };
				if (isOtherList) await changeRules(tx, channel, settings.answerers, standing);
				const isOtherStyle = parts.some((part) => part in UNKNOWN_STYLE);
				const hides = parts.includes('discreet') && settings.discreet;
				if (isOtherStyle) await redrawChannel(tx, channel, { isWhole: hides });
				await planPosts(tx, [post]);
				await lookAtChannel(tx, key);
				return true;
			}),
	};
}

/** Empties the list of who may answer of a channel, which is told. False, without a write, when it closes nothing. */
export async function clearAnswerers(tx: Tx, channelId: string, log: Log): Promise<boolean> {
	const { trx, now } = tx;
	await lockFor(trx, 'addingWatches');
	const rows = await from(trx, 'channel_settings', { channelId }).select('teamId').execute();
	let isCleared = false;
	for (const { teamId } of rows) {
		const channel = { teamId, channelId };
		const { settings: before, revision } = await readChannelSettings({ db: { read: trx }, log }, channel);
		if (!namesAnybody(before.answerers)) continue;
		isCleared = true;
		const after = { ...before, answerers: DEFAULT_CHANNEL_SETTINGS.answerers };
		const content = { kind: 'settingsChanged', by: OPERATOR, before, after } as const;
		const values = { settings: JSON.stringify(after), revision: revision + 1, changedBy: OPERATOR, changedAt: now };
		await change(trx, 'channel_settings', channel, values).execute();
		await changeRules(tx, channel, after.answerers, { userId: '', groupIds: new Set() });
		await planPosts(tx, [{ target: { kind: 'channel', ...channel }, key: `settings:${revision + 1}`, content }]);
	}
	return isCleared;
}

export type ChannelSettingsStore = ReturnType<typeof createChannelSettingsStore>;
