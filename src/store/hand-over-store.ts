import { type Kysely, sql } from 'kysely';
import type { Person } from '../answers/answer.ts';
import {
	type GiveBackResult,
	HAND_OVER_WINDOW_MS,
	type HandedQuestion,
	type HandOver,
	type HandOverResult,
	MOST_IN_WINDOW,
	type NewHandOver,
	obstacleTo,
	targetOfHandOver,
} from '../inbox/hand-over.ts';
import type { Announcement, NewAnnouncement } from '../watches/announcements.ts';
import type { ContentOf } from '../watches/kinds.ts';
import type { ChannelKey, SessionKey } from '../watches/watch.ts';
import { change, from, isFound, lockFor, remove, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { openQuestionOf } from './question-store.ts';
import { channelColumns, personColumns, type Row, sessionColumns, type Tables } from './tables.ts';
import { readAnnouncement, readHandOver, targetKey, type WatchRow } from './watch-rows.ts';
import {
	liveWatches,
	lockSession,
	queueAnnouncements,
	queueRedraws,
	readShownWatch,
	settleDirectMessage,
	type Tx,
	wantCards,
} from './watch-writes.ts';

/** The newest hand-overs to one person, among which that of a session is looked for. */
const MOST_EXAMINED = 200;

/**
 * The stored hand-overs, one for a question. A hand-over is over when its question is answered, changed or closed, or not
 * watched any more (see `endQuestion`).
 */
export function createHandOverStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }) {
	async function handOver(tx: Tx, wish: NewHandOver): Promise<HandOverResult> {
		const { trx, now } = tx;
		// Before the session.
		await lockFor(trx, 'handingOver');
		const messageIndex = await lockQuestion(trx, wish);
		const watch = await liveWatches(trx, { id: wish.watchId }).executeTakeFirst();
		if (messageIndex === null || watch === undefined) return { kind: 'closed' };
		const current = await handOverOf(trx, wish);
		const { question, readAt, replaces: _, ...handed } = wish;
		const next: HandOver = { ...handed, count: (current?.count ?? 0) + 1, handedOverAt: now, givenBackAt: null };
		const { watchId, session, from: by } = next;
		const content = { kind: 'handedOver', watchId, sessionId: session.sessionId, from: by, question, readAt } as const;
		const announcement = { target: targetOfHandOver(next), key: keyOfGiver(by), content };
		const obstacle = obstacleTo(wish, current);
		if (obstacle !== null && current !== null) return { kind: obstacle, handOver: current };
		if (await wasQueued(trx, announcement)) return { kind: 'handedOver', handOver: next };
		const tooMany = await tooManyOf(trx, next, now);
		if (tooMany !== null) return tooMany;
		const row = handOverRow(next);
		await trx
			.insertInto('hand_overs')
			.values(row)
			.onConflict((conflict) => conflict.columns(['service', 'session_id', 'team_id']).doUpdateSet(row))
			.execute();
		const got = { ...personColumns({ teamId: next.teamId, userId: next.to }), ...sessionColumns(session) };
		await remove(trx, 'snoozes', got).execute();
		await passOn(tx, next, current, { settled: { messageIndex, how: 'handedOn' }, announcement });
		return { kind: 'handedOver', handOver: next };
	}

	/** What a person's newest direct message about a question of these watches says: it stays when the hand-over is gone. */
	async function newestTold({ teamId, userId }: Person, watches: readonly Pick<WatchRow, 'id' | 'created_at'>[]) {
		const rows = await from(db.read, 'announcements', { team_id: teamId, place_id: userId })
			.selectAll()
			// Written out: SQLite uses a partial index only then.
			.where(sql<boolean>`kind = 'handedOver'`)
			.where('created_at', '>=', Math.min(...watches.map((watch) => watch.created_at)))
			.orderBy('created_at', 'desc')
			.limit(MOST_EXAMINED)
			.execute();
		for (const row of rows) {
			const content = readAnnouncement(row, cipher)?.content;
			if (content?.kind !== 'handedOver' || watches.every(({ id }) => id !== content.watchId)) continue;
			return { target: row.target, ...content };
		}
		return null;
	}

	/** Whether the question of this direct message was settled while its person had it. */
	async function wasHeldAtEnd(target: string): Promise<boolean> {
		const row = await from(db.read, 'announcements', { target, kind: 'settle' }).selectAll().executeTakeFirst();
		const end = row === undefined ? null : readAnnouncement(row, cipher)?.content;
		return end?.kind === 'settle' && end.how !== 'handedOn' && end.how !== 'givenBack';
	}

	return {
		/**
		 * Hands a question over, all or nothing: queues the direct message, settles that of whoever had it, and has posts and
		 * cards drawn again. Of two at the same moment one wins. Idempotent by `id` and `to`.
		 */
		handOver: (wish: NewHandOver, now: number) => db.write((trx) => handOver({ trx, cipher, now }, wish)),
		/** Gives a question back for `userId`, and tells whoever handed it over. Idempotent. */
		giveBack: (given: GivenBack, now: number) => db.write((trx) => giveBack({ trx, cipher, now }, given)),
		/** The newest hand-over of this question, also one that was given back. */
		handOverOf: (question: HandedQuestion) => handOverOf(db.read, question),

		/**
		 * Whether a person has a question of a session in a channel, or had one when it was settled: not when they gave it back
		 * or others handed it on. Of several, the newest hand-over to them counts.
		 */
		async holds({ teamId, userId }: Person, channelId: string, session: SessionKey): Promise<boolean> {
			const held = { ...keyOf({ teamId, session }), channel_id: channelId, to_user_id: userId, given_back_at: null };
			if (await isFound(from(db.read, 'hand_overs', held).select('id'))) return true;
			const here = { ...channelColumns({ teamId, channelId }), ...sessionColumns(session) };
			const watches = await from(db.read, 'watches', here).select(['id', 'created_at']).execute();
			if (watches.length === 0) return false;
			const told = await newestTold({ teamId, userId }, watches);
			if (told === null || !(await wasHeldAtEnd(told.target))) return false;
			// Not for what the agent asked since, even in the same words.
			const current = await openQuestionOf(db.read, session);
			if (current === undefined) return true;
			return current.fingerprint === told.question.fingerprint && current.asked_at <= told.readAt;
		},

		/** The live watch of a session in a channel, with what its card shows and when the session was last read. */
		async watchedIn(channel: ChannelKey, session: SessionKey) {
			const here = { ...channelColumns(channel), ...sessionColumns(session) };
			const row = await liveWatches(db.read, here).executeTakeFirst();
			if (row === undefined) return null;
			const { watch, view, checkedAt } = await readShownWatch(db, cipher, row);
			return view === null ? null : { watch, view, checkedAt };
		},
	};
}

/** What `userId` gives back, with what the message about it shows. */
type GivenBack = HandedQuestion &
	Pick<ContentOf<'givenBack'>, 'question' | 'readAt' | 'undelivered'> & { readonly userId: string };

async function giveBack(tx: Tx, given: GivenBack): Promise<GiveBackResult> {
	const { trx, now } = tx;
	const { userId: by, question, readAt, undelivered, ...handed } = given;
	const messageIndex = await lockQuestion(trx, handed);
	const current = await handOverOf(trx, handed);
	if (messageIndex === null || current === null) return { kind: 'closed' };
	if (current.to !== by) return { kind: 'notYours', handOver: current };
	if (current.givenBackAt !== null) return { kind: 'givenBack', handOver: current, repeated: true };
	const handOver = { ...current, givenBackAt: now };
	await change(trx, 'hand_overs', keyOf(handOver)).set({ given_back_at: now }).execute();
	const shown = { watchId: handOver.watchId, sessionId: handOver.session.sessionId, by, question, readAt };
	const content = { kind: 'givenBack', ...shown, ...(undelivered && { undelivered }) } as const;
	const announcement = { target: targetOfHandOver(handOver), key: 'givenBack', content };
	await passOn(tx, handOver, current, { settled: { messageIndex, how: 'givenBack' }, announcement });
	return { kind: 'givenBack', handOver, repeated: false };
}

/**
 * Gives back a question whose direct message Slack refuses, and tells whoever handed it over. Does nothing when the
 * hand-over is over. The caller holds the lock of the session.
 */
export async function giveBackUndelivered(tx: Tx, { target, content }: Announcement): Promise<void> {
	if (target.kind !== 'person' || content.kind !== 'handedOver') return;
	const { userId, topic = '' } = target;
	const row = await from(tx.trx, 'hand_overs', { id: topic }).selectAll().executeTakeFirst();
	const { question, readAt } = content;
	const given = { userId, question, readAt, undelivered: true } as const;
	if (row !== undefined) await giveBack(tx, { ...readHandOver(row), ...given });
}

/** Locks the session. The question's index; null when it is not open any more. */
async function lockQuestion(trx: Kysely<Tables>, { session, fingerprint }: HandedQuestion): Promise<number | null> {
	await lockSession(trx, session);
	const question = await openQuestionOf(trx, session);
	return question?.fingerprint === fingerprint ? question.message_index : null;
}

/**
 * Settles the direct message about the former hand-over, has posts and cards show who has the question, and queues the next
 * direct message. The caller holds the lock of the session.
 */
async function passOn(
	tx: Tx,
	{ session }: HandOver,
	former: HandOver | null,
	{ settled, announcement }: { settled: Omit<ContentOf<'settle'>, 'kind'>; announcement: NewAnnouncement },
): Promise<void> {
	if (former !== null) await settleDirectMessage(tx, former, { kind: 'settle', ...settled });
	await queueRedraws(tx, session);
	await wantCards(tx, session);
	// Last, because it shows the newest state anyway.
	await queueAnnouncements(tx, [announcement]);
}

/** The key of the direct messages about what somebody hands over: by that their hand-overs are counted. */
const keyOfGiver = (userId: string) => `handedOver:${userId}`;

/** Whether it was queued before: its window is submitted again, and others have handed the question over since. */
function wasQueued(trx: Kysely<Tables>, { target, key }: NewAnnouncement): Promise<boolean> {
	return isFound(from(trx, 'announcements', { target: targetKey(target), unique_key: key }).select('id'));
}

/** Who of both has reached their limit. The direct messages are counted, because they outlive the hand-overs. */
async function tooManyOf(trx: Kysely<Tables>, next: HandOver, now: number): Promise<HandOverResult | null> {
	const key = keyOfGiver(next.from);
	const { fromCount, toCount, fromSince, toSince } = await from(trx, 'announcements', { team_id: next.teamId })
		.select([
			sql<number>`count(case when unique_key = ${key} then 1 end)`.as('fromCount'),
			sql<number>`count(case when place_id = ${next.to} then 1 end)`.as('toCount'),
			sql<number>`min(case when unique_key = ${key} then created_at end)`.as('fromSince'),
			sql<number>`min(case when place_id = ${next.to} then created_at end)`.as('toSince'),
		])
		// Written out: SQLite uses a partial index only then.
		.where(sql<boolean>`kind = 'handedOver'`)
		.where('created_at', '>', now - HAND_OVER_WINDOW_MS)
		.executeTakeFirstOrThrow();
	const until = (since: number) => Number(since) + HAND_OVER_WINDOW_MS - now;
	if (Number(fromCount) >= MOST_IN_WINDOW.from) return { kind: 'tooMany', who: 'from', againInMs: until(fromSince) };
	return Number(toCount) >= MOST_IN_WINDOW.to ? { kind: 'tooMany', who: 'to', againInMs: until(toSince) } : null;
}

/** Null too when the session's hand-over is about another question. */
async function handOverOf(read: Kysely<Tables>, question: HandedQuestion): Promise<HandOver | null> {
	const row = await from(read, 'hand_overs', keyOf(question)).selectAll().executeTakeFirst();
	return row === undefined || row.fingerprint !== question.fingerprint ? null : readHandOver(row);
}

function keyOf({ teamId, session }: Pick<HandedQuestion, 'teamId' | 'session'>) {
	return { ...sessionColumns(session), team_id: teamId };
}

function handOverRow(handOver: HandOver): Row<'hand_overs'> {
	return {
		id: handOver.id,
		team_id: handOver.teamId,
		...sessionColumns(handOver.session),
		fingerprint: handOver.fingerprint,
		watch_id: handOver.watchId,
		channel_id: handOver.channelId,
		from_user_id: handOver.from,
		to_user_id: handOver.to,
		count: handOver.count,
		handed_over_at: handOver.handedOverAt,
		given_back_at: handOver.givenBackAt,
	};
}
