import { randomUUID } from 'node:crypto';
import { type Kysely, sql, type UpdateObject } from 'kysely';
import { type HandOver, targetOfHandOver } from '../inbox/hand-over.ts';
import { cardAgain, HELD, type NewAnnouncement, targetOf } from '../watches/announcements.ts';
import type { ContentOf } from '../watches/kinds.ts';
import { type CardUrgency, isChannelEnd, type SessionKey, type WatchEnd } from '../watches/watch.ts';
import { change, type Filter, from, isFound, locked, remove, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { dropPending, needsRedraw, QUESTION_POSTS, withSwitchingPost } from './question-posts.ts';
import { openQuestionOf } from './question-store.ts';
import { sessionColumns, sessionOf, type Tables, WITHOUT_LEASE } from './tables.ts';
import {
	readAnnouncement,
	readDigest,
	readHandOver,
	readView,
	readWatch,
	sealContent,
	targetKey,
	URGENCIES,
	type WatchedSessionRow,
	type WatchRow,
} from './watch-rows.ts';

type Settle = ContentOf<'settle'>;

/** A transaction that writes posts and cards. */
export interface Tx {
	readonly trx: Kysely<Tables>;
	readonly cipher: Cipher;
	readonly now: number;
}

/** The query of the live watches that match `filter`. */
export function liveWatches(db: Kysely<Tables>, filter: Filter<'watches'>) {
	return from(db, 'watches', { ...filter, ended_at: null }).selectAll();
}

/** The query of one watch, whose row stays locked until the end of the transaction. */
export function lockWatch(trx: Kysely<Tables>, watchId: string) {
	return from(trx, 'watches', { id: watchId }).selectAll().forUpdate();
}

/**
 * Locks the session's row. Everything that adds or ends a watch does this first, because it then decides whether the
 * session is still watched.
 */
export async function lockSession(trx: Kysely<Tables>, key: SessionKey) {
	return from(trx, 'watched_sessions', sessionColumns(key)).selectAll().forUpdate().executeTakeFirst();
}

/** Locks the session of a watch; null when there is no such watch. */
export async function lockSessionOf(trx: Kysely<Tables>, watchId: string | null): Promise<SessionKey | null> {
	if (watchId === null) return null;
	const row = await from(trx, 'watches', { id: watchId }).select(['service', 'session_id']).executeTakeFirst();
	if (row === undefined) return null;
	await lockSession(trx, sessionOf(row));
	return sessionOf(row);
}

/**
 * Moves the read of a session forward to `at`, and its next reads for a short time after `askedAt`. `by`: its place among
 * due reads (see `PlannedRead`), by default that of its time. The caller holds the lock of the session.
 */
export async function readEarly(
	trx: Kysely<Tables>,
	row: WatchedSessionRow,
	{ askedAt, at, by }: { askedAt: number | null; at: number; by?: number },
): Promise<void> {
	if (row.next_read_at === null) return;
	// While the session is being read, `next_read_at` is the past time of that read.
	const earlier = row.lease_token === null ? Math.min(row.next_read_at, at) : at;
	await change(trx, 'watched_sessions', sessionColumns(sessionOf(row)))
		.set({ touched_at: askedAt, hurry: row.hurry + 1, next_read_at: earlier, read_by: by ?? earlier })
		.execute();
}

/** Whether the read of a session has the place `by` or a better one. While the service is away, exactly this one. */
export function hasPlace(row: WatchedSessionRow, by: number, now: number): boolean {
	const { next_read_at: nextReadAt, read_by: readBy, failures } = row;
	if (nextReadAt === null) return true;
	return failures === 0 ? nextReadAt <= now && readBy <= by : readBy === by;
}

/** Moves the read of a session to the place `by`, ahead of others. The caller holds the lock of the session. */
export async function askForRead(trx: Kysely<Tables>, row: WatchedSessionRow, by: number, now: number): Promise<void> {
	const session = sessionColumns(sessionOf(row));
	// Not before its time: the service is away. But ahead of others when it is back.
	if (row.failures > 0) await change(trx, 'watched_sessions', session).set({ read_by: by }).execute();
	// As of before: the agent does not go on after this read, so no further early ones follow.
	else await readEarly(trx, row, { askedAt: row.touched_at, at: now, by });
}

/** A watch with what its card shows; `view` is null when there is none or it cannot be read. */
export async function readShownWatch(db: StoreDatabase, cipher: Cipher, row: WatchRow) {
	const key = sessionOf(row);
	const stored = from(db.read, 'watched_sessions', sessionColumns(key)).selectAll();
	const [session, question] = await Promise.all([stored.executeTakeFirst(), openQuestionOf(db.read, key)]);
	const view = session === undefined ? null : readView(session, cipher);
	const { last_read_at: checkedAt = null } = session ?? {};
	return { watch: readWatch(row), view, checkedAt, questionSince: question?.asked_at ?? null };
}

/**
 * Queues announcements: each key once for its target, and none that repeats the last one (`unlessSaid`). The caller holds
 * a lock that excludes other writers for these targets.
 */
export async function queueAnnouncements(tx: Tx, announcements: readonly NewAnnouncement[]): Promise<void> {
	const { trx, cipher, now } = tx;
	const queued: NewAnnouncement[] = [];
	for (const one of announcements) queued.push(...(await withSwitchingPost(trx, one, now)));
	for (const { target, key, content, heldUntil, unlessSaid } of queued) {
		const id = randomUUID();
		const targetName = targetKey(target);
		if (unlessSaid !== undefined && (await wasSaidLast(trx, targetName, unlessSaid))) continue;
		await trx
			.insertInto('announcements')
			.values({
				id,
				target: targetName,
				number: sql<number>`(select coalesce(max(number), 0) + 1 from announcements where target = ${targetName})`,
				unique_key: key,
				team_id: target.teamId,
				place_id: target.kind === 'person' ? target.userId : target.channelId,
				watch_id: target.kind === 'watch' ? target.watchId : null,
				kind: content.kind,
				content: sealContent(id, content, cipher),
				state: 'pending',
				created_at: now,
				attempts: 0,
				next_attempt_at: heldUntil ?? now,
				last_error: heldUntil === undefined ? null : HELD,
			})
			.onConflict((conflict) => conflict.columns(['target', 'unique_key']).doNothing())
			.execute();
	}
}

type Said = NonNullable<NewAnnouncement['unlessSaid']>;

async function wasSaidLast(trx: Kysely<Tables>, target: string, { about, says }: Said): Promise<boolean> {
	const saying = from(trx, 'announcements', { target }).where('unique_key', 'like', `%${about}%`);
	const last = await saying.select('unique_key').orderBy('number', 'desc').limit(1).executeTakeFirst();
	return last?.unique_key.startsWith(`${says}:`) === true;
}

/** See `WatchStore.redraw`. The caller holds the lock of the session. `only`: watches without a card to show who is answering. */
export async function queueRedraws(tx: Tx, session: SessionKey, only?: 'withoutCard'): Promise<number> {
	const { trx } = tx;
	const live = await liveWatches(trx, sessionColumns(session)).execute();
	const watches = only === undefined ? live : live.filter((row) => !hasCard(row));
	const handOvers = await from(trx, 'hand_overs', sessionColumns(session)).selectAll().execute();
	const targets = [
		...watches.map((row) => targetOf(readWatch(row))),
		...(only === undefined ? handOvers.map((row) => targetOfHandOver(readHandOver(row))) : []),
	];
	const redraws: NewAnnouncement[] = [];
	for (const target of targets) {
		if (!(await needsRedraw(trx, targetKey(target)))) continue;
		redraws.push({ target, key: `redraw:${randomUUID()}`, content: { kind: 'redraw' } });
	}
	await queueAnnouncements(tx, redraws);
	return redraws.length;
}

/** Requests an update of the session's cards. The caller holds the lock of the session. */
export async function wantCards({ trx, now }: Tx, session: SessionKey): Promise<void> {
	const live = await liveWatches(trx, sessionColumns(session)).orderBy('id').forUpdate().execute();
	for (const watch of live.filter(hasCard)) {
		const card = change(trx, 'watches', { id: watch.id });
		await card.set(wantCard(watch, 'now', now)).execute();
	}
}

/** Settles the direct message about a hand-over. */
export function settleDirectMessage(tx: Tx, handOver: HandOver, settled: Settle): Promise<void> {
	return queueAnnouncements(tx, [{ target: targetOfHandOver(handOver), key: 'settle', content: settled }]);
}

/**
 * Ends what belongs to a watch's question, because the question's posts are settled: forgets its hand-over and settles the
 * direct message about it. The caller holds the lock of the session, and touches its ladders at the end.
 */
export async function endQuestion(tx: Tx, watchId: string, settled: Settle): Promise<void> {
	const rows = await remove(tx.trx, 'hand_overs', { watch_id: watchId }).returningAll().execute();
	for (const row of rows) await settleDirectMessage(tx, readHandOver(row), settled);
}

/** Makes these ladders due at `now`. */
export async function touchLadders(trx: Kysely<Tables>, filter: Filter<'ladders'>, now: number): Promise<void> {
	const ladders = change(trx, 'ladders', { watch_id: locked(trx, 'ladders', filter) });
	await ladders.set({ due_at: now, change_count: sql<number>`change_count + 1` }).execute();
}

/** The columns that request a card update: they keep the oldest time and the highest urgency. */
export function wantCard(row: WatchRow, urgency: CardUrgency, now: number) {
	const rank = URGENCIES.indexOf(urgency);
	const formerRank = row.card_urgency ?? URGENCIES.length;
	return {
		card_since: row.card_since ?? now,
		card_urgency: Math.min(formerRank, rank),
		card_wants: row.card_wants + 1,
		// An urgent update does not wait for the time that was set for a less urgent one.
		card_not_before: rank < formerRank ? 0 : row.card_not_before,
	};
}

/**
 * Forgets the card `ts`, which somebody deleted, and queues a new one for a live watch. Does nothing when the watch has
 * another card by now. The caller holds the locks of the session and the watch.
 */
export async function loseCard(tx: Tx, row: WatchRow, ts: string): Promise<void> {
	const { trx, cipher, now } = tx;
	const watch = readWatch(row);
	if (watch.card.ts !== ts) return;
	const lost = { card_ts: null, card_key: null, ...NO_CARD_WANTED };
	await change(trx, 'watches', { id: watch.id }).set(lost).execute();
	if (watch.ended !== null || !hasCard(row)) return;
	const cards = from(trx, 'announcements', { target: targetKey(targetOf(watch)), kind: 'card' }).selectAll();
	const last = await cards.orderBy('number', 'desc').limit(1).executeTakeFirst();
	const content = last === undefined ? undefined : readAnnouncement(last, cipher)?.content;
	const before = content?.kind === 'card' ? (content.notBefore ?? null) : null;
	await queueAnnouncements(tx, [cardAgain(watch, ts, before, now)]);
}

/** The columns of a watch whose card is up to date. */
export const NO_CARD_WANTED = { card_since: null, card_urgency: null } as const;

export interface WatchEnding {
	readonly reason: WatchEnd;
	readonly announcements: readonly NewAnnouncement[];
	/** Whether what was queued before is still posted. */
	readonly keepPending: boolean;
}

/** Ends a live watch. The caller holds the locks of its session and of the watch, and touches its ladders at the end. */
export async function endWatch(tx: Tx, row: WatchRow, ending: WatchEnding): Promise<WatchRow> {
	const { trx, now } = tx;
	const { reason, announcements, keepPending } = ending;
	const ended = await change(trx, 'watches', { id: row.id })
		.set({
			ended_reason: reason,
			ended_at: now,
			// Before its first read: what the person saw who watched it.
			digest: sql`coalesce(digest, (select session.digest from watched_sessions as session
				where session.service = watches.service and session.session_id = watches.session_id))`,
			...(isChannelEnd(reason) && { ...NO_CARD_WANTED, ...WITHOUT_LEASE }),
			...(!isChannelEnd(reason) && hasCard(row) && wantCard(row, 'now', now)),
		})
		.returningAll()
		.executeTakeFirstOrThrow();
	// A post that is on its way is settled when it has arrived.
	if (!keepPending) await dropPending(trx, { watch_id: row.id, sending_since: null });
	await queueAnnouncements(tx, announcements);
	const messageIndex = readDigest(row.digest)?.question?.messageIndex ?? 0;
	const settled = settleIn(announcements) ?? { kind: 'settle', messageIndex, how: 'unwatched' };
	await endQuestion(tx, row.id, settled);
	return ended;
}

/** Whether a watch has a card, posted or not: a raised hand has none. */
export function hasCard({ mode }: Pick<WatchRow, 'mode'>): boolean {
	return mode !== 'raisedHand';
}

/**
 * Ends a raised hand whose question is not open any more. What was not sent yet is dropped, and without any post nothing
 * remains of it. The caller holds the lock of its session.
 */
export async function lowerHand(tx: Tx, row: WatchRow, announcements: readonly NewAnnouncement[]): Promise<void> {
	const { trx, now } = tx;
	await dropPending(trx, { watch_id: row.id, kind: QUESTION_POSTS, sending_since: null });
	await endWatch(tx, row, { reason: 'handLowered', announcements, keepPending: true });
	const asked = { watch_id: row.id, kind: 'question', state: ['pending', 'posted'] };
	const wasPosted = await isFound(from(trx, 'announcements', asked).select('id'));
	// Once for all channels.
	const count = sql<number>`case when lowered_at = ${now} then lowered_count else lowered_count + 1 end`;
	const lowered = { lowered_at: now, lowered_count: wasPosted ? 0 : count };
	await changeWaiting(trx, row, { ...lowered, ...(wasPosted && asksAnew(now)) });
	if (wasPosted) return;
	await remove(trx, 'announcements', { watch_id: row.id }).execute();
	await remove(trx, 'watches', { id: row.id }).execute();
}

/** The columns of a waiting session that asks something else, however long it has been listed. */
export const asksAnew = (now: number) => ({ since: now, is_new: 1 });

/** Changes what is known of a watch's session while it waits. */
export function changeWaiting(trx: Kysely<Tables>, row: WatchRow, columns: UpdateObject<Tables, 'waiting_sessions'>) {
	const waiting = change(trx, 'waiting_sessions', sessionColumns(sessionOf(row)));
	return waiting.set(columns).execute();
}

/** The first of these announcements that settles a question. */
export function settleIn(announcements: readonly NewAnnouncement[]): Settle | null {
	return announcements.map(({ content }) => content).find((content) => content.kind === 'settle') ?? null;
}
