import { sql } from 'kysely';
import { change, from, isFound, lockFor, noteQuestions, remove } from '../../database/database.ts';
import type { StoreParts } from '../../database/encryption.ts';
import { type Db, personOf, sessionOf } from '../../database/tables.ts';
import type { ContentOf } from '../../posts/kinds.ts';
import { markPosts, planPosts, type Tx } from '../../posts/plan-store.ts';
import type { NewPost } from '../../posts/post.ts';
import { holderColumns, noteColumns, openQuestionOf, readHandOver } from '../../posts/question-store.ts';
import { streamOf } from '../../posts/watch-rows.ts';
import { liveWatches, lockSession } from '../../posts/watch-store.ts';
import type { Person } from '../../questions/answer.ts';
import {
	HAND_OVER_WINDOW_MS,
	type HandedQuestion,
	type HandOver,
	type HandOverResult,
	holderOf,
	MOST_IN_WINDOW,
	type NewHandOver,
	obstacleTo,
	targetOfHandOver,
} from '../../questions/hand-over.ts';
import type { SessionKey } from '../../questions/session.ts';

/** The newest hand-over of each question, stored with it. `settleQuestion` and `endWatch` end it. */
export function createHandOverStore({ db, cipher }: StoreParts) {
	async function handOver(tx: Tx, wish: NewHandOver): Promise<HandOverResult> {
		const { trx, now } = tx;
		// Before the session.
		await lockFor(trx, 'handingOver');
		const asked = await lockQuestion(trx, wish);
		const watch = await liveWatches(trx, { id: wish.watchId }).executeTakeFirst();
		if (asked === undefined || watch === undefined) return { kind: 'closed' };
		const held = holderOf(readHandOver(asked));
		if (held !== null && held.teamId !== wish.teamId) return { kind: 'elsewhere' };
		const current = readHandOver(asked, wish.teamId);
		const { replaces: _, note, ...handed } = wish;
		const next: HandOver = { ...handed, count: (current?.count ?? 0) + 1, handedOverAt: now, givenBackAt: null };
		const { id: handOverId, watchId, session, from: by } = next;
		const content = { kind: 'handedOver', watchId, handOverId, from: by } as const;
		const post = { target: targetOfHandOver(next), key: keyOfGiver(by), content };
		const obstacle = obstacleTo(wish, current);
		if (obstacle !== null && current !== null) return { kind: obstacle, handOver: current };
		// Its window is submitted again, and others have handed the question over since.
		const queued = from(trx, 'posts', { stream: streamOf(post.target), uniqueKey: post.key }).select('id');
		if (await isFound(queued)) return { kind: 'handedOver', handOver: next };
		const tooMany = await tooManyOf(trx, next, now);
		if (tooMany !== null) return tooMany;
		const columns = { ...holderColumns(next), ...noteColumns(note, { ...asked, handOverId: next.id }, cipher) };
		await change(trx, 'questions', { id: asked.id }, columns).execute();
		const got = { ...personOf({ teamId: next.teamId, userId: next.to }), ...sessionOf(session) };
		await remove(trx, 'snoozes', got).execute();
		await passOn(tx, session, post);
		return { kind: 'handedOver', handOver: next };
	}

	return {
		/**
		 * Hands a question over, all or nothing: queues the direct message and has the session's posts drawn again, also that of
		 * whoever had it. Of two at the same moment one wins. Idempotent by `id` and `to`.
		 */
		handOver: (wish: NewHandOver, now: number) => db.write((trx) => handOver({ trx, now }, wish)),
		/** Gives a question back for `userId`, and tells whoever handed it over. Idempotent. */
		giveBack: (given: GivenBack, now: number) => db.write((trx) => giveBack({ trx, now }, given)),

		/**
		 * Whether a person has a question of a session in a channel, or had one when it was settled: not when they gave it back
		 * or handed it on, and not for what the agent asked since. Of several, the newest that they got or handed over counts.
		 */
		async holds({ teamId, userId }: Person, channelId: string, session: SessionKey): Promise<boolean> {
			const here = { ...sessionOf(session), heldTeamId: teamId, heldChannelId: channelId };
			const newest = await from(db.read, 'questions', here)
				.selectAll()
				.where(({ eb, or }) => or([eb('fromUserId', '=', userId), eb('toUserId', '=', userId)]))
				.orderBy('number', 'desc')
				.limit(1)
				.executeTakeFirst();
			if (newest?.toUserId !== userId || newest.givenBackAt !== null) return false;
			const open = await openQuestionOf(db.read, session);
			return open === undefined || open.id === newest.id;
		},
	};
}

/** What `userId` gives back, with what the message about it shows. */
type GivenBack = HandedQuestion & Pick<ContentOf<'givenBack'>, 'undelivered'> & { readonly userId: string };

/** `repeated`: it was given back before. */
export async function giveBack(tx: Tx, given: GivenBack) {
	const { trx, now } = tx;
	const { userId: by, undelivered, ...handed } = given;
	const asked = await lockQuestion(trx, handed);
	const current = readHandOver(asked, handed.teamId);
	if (asked === undefined || current === null) return { kind: 'closed' } as const;
	if (current.to !== by) return { kind: 'notYours', handOver: current } as const;
	if (current.givenBackAt !== null) return { kind: 'givenBack', handOver: current, repeated: true } as const;
	const handOver = { ...current, givenBackAt: now };
	await change(trx, 'questions', { id: asked.id }, { givenBackAt: now, handOverNote: null }).execute();
	const { id: handOverId, watchId } = handOver;
	const content = { kind: 'givenBack', watchId, handOverId, by, ...(undelivered && { undelivered }) } as const;
	await passOn(tx, handOver.session, { target: targetOfHandOver(handOver), key: 'givenBack', content });
	return { kind: 'givenBack', handOver, repeated: false } as const;
}

/** Gives an undeliverable question back and tells its giver, unless that is over. The caller holds the session's lock. */
export async function giveBackUndelivered(tx: Tx, { handOverId }: ContentOf<'handedOver'>, questionId: string | null) {
	const held = from(tx.trx, 'questions', { id: questionId ?? '', handOverId });
	const handOver = readHandOver(await held.selectAll().executeTakeFirst());
	if (handOver !== null) await giveBack(tx, { ...handOver, userId: handOver.to, undelivered: true });
}

/** Locks the session. The question; undefined when it is not open any more. */
async function lockQuestion(trx: Db, { session, fingerprint }: HandedQuestion) {
	await lockSession(trx, session);
	const question = await openQuestionOf(trx, session);
	return question?.fingerprint === fingerprint ? question : undefined;
}

/** Has all posts show who has the question, and queues the direct message. The caller holds the lock of the session. */
async function passOn(tx: Tx, session: SessionKey, post: NewPost): Promise<void> {
	noteQuestions(tx.trx, null);
	await markPosts(tx, sessionOf(session));
	await planPosts(tx, [post]);
}

/** The key of the direct messages about what somebody hands over: by that their hand-overs are counted. */
const keyOfGiver = (userId: string) => `handedOver:${userId}`;

/** Who of both has reached their limit. The direct messages are counted, because they outlive the hand-overs. */
async function tooManyOf(trx: Db, next: HandOver, now: number): Promise<HandOverResult | null> {
	const key = keyOfGiver(next.from);
	const { fromCount, toCount, fromSince, toSince } = await from(trx, 'posts', { teamId: next.teamId })
		.select([
			sql<number>`count(case when unique_key = ${key} then 1 end)`.as('fromCount'),
			sql<number>`count(case when place_id = ${next.to} then 1 end)`.as('toCount'),
			sql<number>`min(case when unique_key = ${key} then created_at end)`.as('fromSince'),
			sql<number>`min(case when place_id = ${next.to} then created_at end)`.as('toSince'),
		])
		// Written out: SQLite uses a partial index only then.
		.where(sql<boolean>`kind = 'handedOver'`)
		.where('createdAt', '>', now - HAND_OVER_WINDOW_MS)
		.executeTakeFirstOrThrow();
	const until = (since: number) => since + HAND_OVER_WINDOW_MS - now;
	if (fromCount >= MOST_IN_WINDOW.from) return { kind: 'tooMany', who: 'from', againInMs: until(fromSince) };
	return toCount >= MOST_IN_WINDOW.to ? { kind: 'tooMany', who: 'to', againInMs: until(toSince) } : null;
}
