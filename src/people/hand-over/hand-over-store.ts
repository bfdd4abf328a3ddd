import {
	HAND_OVER_WINDOW_MS,
	type HandOver,
	type HandOverResult,
	holderOf,
	MOST_IN_WINDOW,
	type NewHandOver,
	obstacleTo,
	targetOfHandOver,
} from '../../domain/hand-over.ts';
import type { Person } from '../../domain/person.ts';
import type { SessionKey } from '../../domain/session.ts';
import { type Db, from, isFound, type StoreParts, sessionOf, sql, type Tx } from '../../store/database.ts';
import { lockFor } from '../../store/locks.ts';
import { handOverQuestion, openQuestionOf, readHandOver } from '../../store/question-store.ts';
import { liveWatches } from '../../store/watches.ts';
import {
	type GivenBack,
	giveBack,
	lockHandedQuestion,
	passOn,
	recordHandOver,
} from '../../surfaces/giving-back-store.ts';
import { streamOf } from '../../surfaces/post.ts';

/** The newest hand-over of each question, stored with it. `settleQuestion` and `endWatch` end it. */
export function createHandOverStore({ db, cipher }: StoreParts) {
	async function handOver(tx: Tx, wish: NewHandOver): Promise<HandOverResult> {
		const { trx, now } = tx;
		// In the order of locks, before the session.
		await lockFor(trx, 'handingOver');
		const asked = await lockHandedQuestion(trx, wish);
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
		// A repeated submission is done, whatever others did with the question since.
		const queued = from(trx, 'posts', { stream: streamOf(post.target), uniqueKey: post.key }).select('id');
		if (await isFound(queued)) return { kind: 'handedOver', handOver: next };
		const obstacle = obstacleTo(wish, current);
		if (obstacle !== null && current !== null) return { kind: obstacle, handOver: current };
		const tooMany = await tooManyOf(trx, next, now);
		if (tooMany !== null) return tooMany;
		await handOverQuestion(trx, asked, { handOver: next, note }, cipher);
		recordHandOver(tx, next, { action: 'handedOver', actor: by, about: next.to, outcome: 'handedOver' });
		await passOn(tx, session, post);
		return { kind: 'handedOver', handOver: next };
	}

	return {
		/**
		 * Hands a question over, all or nothing: queues the direct message and has the session's posts drawn again, also
		 * that of whoever had it. Of two at the same moment one wins. Idempotent by `id` and `to`.
		 */
		handOver: (wish: NewHandOver, now: number) => db.write((trx) => handOver({ trx, now }, wish)),
		/** Gives a question back for `userId`, and tells whoever handed it over. Idempotent. */
		giveBack: (given: GivenBack, now: number) => db.write((trx) => giveBack({ trx, now }, given)),

		/**
		 * Whether a person has the question of a session in a channel by hand-over, or had it when it was settled. It ends
		 * when they give it back or hand it on, or the agent asks something else.
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

/** The key of the direct messages about the hand-overs of a giver. */
const keyOfGiver = (userId: string) => `handedOver:${userId}`;

/** Whether giver or receiver has reached their limit. The direct messages are counted: they outlive hand-overs. */
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
