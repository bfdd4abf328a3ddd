// Owns `answer_rules`: the channels whose lists say who may answer a session.

import { checkAuthorsAgain } from '../delivery/author-check-store.ts';
import { type Answerers, type AnswerRule, mayAnswer, namesAnybody, type PersonInGroups } from '../domain/answerers.ts';
import { channelSettings } from '../domain/channel-settings.ts';
import type { SessionKey } from '../domain/session.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { parseOrNull } from '../kernel/values.ts';
import { removeInBatches } from '../store/batches.ts';
import {
	addNew,
	channelOf,
	type Db,
	type Filter,
	from,
	hasChanged,
	isFound,
	remove,
	type StoreDatabase,
	sessionOf,
	sql,
	type Tx,
} from '../store/database.ts';
import { inLockOrder, lockSession } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import type { ChannelKey, Watch } from '../store/watch.ts';
import { planPosts } from '../surfaces/plan-store.ts';

export type Rules = ReadonlyMap<string, readonly AnswerRule[]>;

/** Tells channels that their lists name nobody who is still there: once for each revision of a list. */
export function tellNobodyLeft(tx: Tx, teamId: string, rules: readonly AnswerRule[]): Promise<void> {
	const posts = rules.map(({ channelId, revision }) => {
		const target = { kind: 'channel', teamId, channelId } as const;
		return { target, key: `nobodyLeft:${revision}`, content: { kind: 'nobodyLeft' } as const };
	});
	return planPosts(tx, posts);
}

/**
 * The lists that decide about the sessions in `filter`, by session id. Lists for any address of the service count: one
 * from before the service moved must not stop protecting a session.
 */
export async function rulesAmong(db: Db, filter: Omit<Filter<'answer_rules'>, 'service'>): Promise<Rules> {
	const rows = await from(db, 'answer_rules', filter).select(['teamId', 'channelId', 'sessionId']).execute();
	if (rows.length === 0) return new Map();
	const { teamId = '' } = rows[0] ?? {};
	const channelId = [...new Set(rows.map((row) => row.channelId))];
	const settings = await from(db, 'channel_settings', { teamId, channelId }).selectAll().execute();
	const lists = new Map(settings.map((row) => [row.channelId, row]));
	const rules = rows.flatMap(({ channelId, sessionId }) => {
		const list = lists.get(channelId);
		if (list === undefined) return [];
		return [{ channelId, sessionId, revision: list.revision, ...answerersIn(list.settings) }];
	});
	return Map.groupBy(rules, ({ sessionId }) => sessionId);
}

/** The lists that decide about sessions which this channel watches or has watched. */
export async function rulesAround(db: Db, channel: ChannelKey): Promise<readonly AnswerRule[]> {
	const around = watchedIn(db, channel).select('sessionId');
	return [...(await rulesAmong(db, { teamId: channel.teamId, sessionId: around })).values()].flat();
}

/** Unreadable settings count as a list of nobody: they must not open what a list has closed. */
const answerersIn = (settings: string): Answerers =>
	parseOrNull(channelSettings, settings)?.answerers ?? { userIds: [], groupIds: [] };

/** The watches of a channel, ended or not, of sessions that are not known to be over. */
function watchedIn(db: Db, channel: ChannelKey) {
	const watched = from(db, 'watches', channelOf(channel));
	return watched.where((eb) => eb.or([eb('endedReason', 'is', null), eb('endedReason', '!=', 'sessionOver')]));
}

/**
 * A session is watched in a channel with a list: that list decides about the session from now on, if whoever watches it
 * may answer it at that moment. The caller holds the lock `addingWatches`.
 */
export async function enterRule(
	tx: Tx,
	watch: Pick<Watch, 'teamId' | 'channelId' | 'session' | 'createdBy' | 'createdAt'> & Partial<PersonInGroups>,
): Promise<void> {
	const { trx } = tx;
	const row = await from(trx, 'channel_settings', channelOf(watch)).select('settings').executeTakeFirst();
	const settings = row && parseOrNull(channelSettings, row.settings);
	// Unreadable settings decide only where the list has decided before, see `readChannelSettings`.
	const closes = settings === null && (await isFound(from(trx, 'answer_rules', channelOf(watch)).select('service')));
	if (!closes && !(settings && namesAnybody(settings.answerers))) return;
	const { teamId, channelId, session, createdAt: enteredAt } = watch;
	const rules = (await rulesAmong(trx, { teamId, sessionId: session.sessionId })).get(session.sessionId) ?? [];
	if (!mayAnswer({ userId: watch.createdBy, groupIds: watch.groupIds ?? new Set() }, rules)) return;
	await checkAuthorsAgain(trx, session);
	await lockSession(trx, session);
	const rule = { teamId, channelId, ...sessionOf(session), enteredAt };
	if (!(await hasChanged(addNew(trx, 'answer_rules', rule)))) return;
	await markDue(tx, session);
}

/**
 * Somebody changed a channel's list. It decides about the sessions that the channel watches or has watched, and that
 * this person may answer. A list of nobody decides about none. The caller holds the lock `addingWatches`.
 */
export async function changeRules(tx: Tx, channel: ChannelKey, list: Answerers, by: PersonInGroups) {
	const { trx, now } = tx;
	const key = channelOf(channel);
	const before = await from(trx, 'answer_rules', key).select(['service', 'sessionId']).execute();
	const sessions = keyed(before);
	const around = watchedIn(trx, channel).select(['service', 'sessionId']).distinct();
	const watched = namesAnybody(list) ? await around.execute() : [];
	const all = keyed([...before, ...watched]);
	for (const session of inLockOrder([...all.values()], idOf)) await checkAuthorsAgain(trx, session);
	// The order of locks: all sessions before rules and posts.
	for (const session of inLockOrder([...all.values()], idOf)) await lockSession(trx, session);
	if (!namesAnybody(list)) await remove(trx, 'answer_rules', key).execute();
	const rules = await rulesAmong(trx, { teamId: channel.teamId, sessionId: watched.map((row) => row.sessionId) });
	for (const row of watched) {
		if (sessions.has(idOf(row)) || !mayAnswer(by, rules.get(row.sessionId) ?? [])) continue;
		await addNew(trx, 'answer_rules', { ...key, ...sessionOf(row), enteredAt: now }).execute();
		sessions.set(idOf(row), sessionOf(row));
	}
	for (const session of sessions.values()) await markDue(tx, session);
}

/** The key of a session in the order of locks. One id may be stored for two addresses of the service. */
const idOf = ({ service, sessionId }: SessionKey) => `${sessionId}\0${service}`;
const keyed = (rows: readonly SessionKey[]) => new Map(rows.map((row) => [idOf(row), sessionOf(row)]));

/** Ends the rules of a session that is over. */
export const endRules = (trx: Db, session: SessionKey) => remove(trx, 'answer_rules', sessionOf(session)).execute();

/** Removes rules of sessions that nobody watches, made long before `before`. */
export function removeOldRules(db: StoreDatabase, before: number) {
	const watched = sql`select session_id from watches where ended_at is null`;
	// Nobody sees the end of an unwatched session, so its rules are kept for long after.
	const isOld = sql<boolean>`entered_at < ${before - 400 * DAY_MS}`;
	return removeInBatches(db, 'answer_rules', sql<boolean>`${isOld} and session_id not in (${watched})`);
}
