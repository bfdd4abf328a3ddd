import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { HELD, type NewAnnouncement, switchingTargetOf } from '../watches/announcements.ts';
import { kindOf, kindsWith } from '../watches/kinds.ts';
import { COUNTED_MS, NO_ENDINGS, SHOWN_EVERY_MS, UNANSWERED, withEnding } from '../watches/news.ts';
import type { Endings, SessionKey } from '../watches/watch.ts';
import { change, countChanged, type Filter, from, isFound } from './database.ts';
import { type Row, type Tables, WITHOUT_LEASE } from './tables.ts';
import { targetKey } from './watch-rows.ts';

/** The kinds of posts with a question and its buttons. */
export const QUESTION_POSTS = kindsWith(({ showsQuestion = false }) => showsQuestion);

/** Drops the pending announcements that match `filter`; returns how many. */
export function dropPending(trx: Kysely<Tables>, filter: Filter<'announcements'>): Promise<number> {
	const dropped = change(trx, 'announcements', { ...filter, state: 'pending' });
	return countChanged(dropped.set({ state: 'dropped', next_attempt_at: null, ...WITHOUT_LEASE }));
}

/** The query of the posts of questions of these targets, posted or about to be, that are not settled. */
export function openPosts(trx: Kysely<Tables>, target: string | readonly string[]) {
	const posts = from(trx, 'announcements', { target, kind: QUESTION_POSTS, state: ['pending', 'posted'] });
	return posts.where(({ not }) => not(isSettled()));
}

/** Whether a later announcement of the same target settles one of `announcements`; `isPosted`: only one that was posted. */
export function isSettled({ isPosted = false } = {}) {
	const state = isPosted ? sql`and settle.state = 'posted'` : sql``;
	return sql<boolean>`exists (select 1 from announcements as settle where settle.target = announcements.target
		and settle.kind = 'settle' and settle.number > announcements.number ${state})`;
}

/** Whether a target has a question, posted or about to be, that no redraw which waits will draw. */
export async function needsRedraw(trx: Kysely<Tables>, target: string): Promise<boolean> {
	// One after the newest question that no attempt has begun draws the newest state.
	const isUndrawn = sql<boolean>`not exists (select 1 from announcements as waiting where waiting.target = announcements.target
				and waiting.kind = 'redraw' and waiting.state = 'pending' and waiting.lease_token is null
				and not exists (select 1 from announcements as later where later.target = waiting.target
					and later.kind in (${sql.join(QUESTION_POSTS)}) and later.number > waiting.number))`;
	return isFound(openPosts(trx, target).select('id').where(isUndrawn));
}

/**
 * What to queue for an announcement of a watch, whose session may change its question often. A question that ends drops the
 * one that waits until it has rested. The one post for all questions is updated now and then, and not posted again before it
 * has ended: with an answer, with the watch, or because the question has rested.
 */
export async function withSwitchingPost(trx: Kysely<Tables>, announcement: NewAnnouncement, now: number) {
	const { target, content } = announcement;
	const isUpdate = kindOf(content).updates === true;
	if (target.kind !== 'watch' || (target.topic === undefined && !isUpdate)) return [announcement];
	if (content.kind === 'settle') {
		await dropPending(trx, { target: targetKey(target), kind: 'question', last_error: HELD });
	}
	const switching = switchingTargetOf(target);
	const isOpen = await isFound(openPosts(trx, targetKey(switching)).select('id'));
	const own = target.topic === undefined || (!isOpen && !isUpdate) ? [announcement] : [];
	if (!isOpen) return own;
	const isEnd = content.kind === 'settle' && content.how !== 'changed' && content.how !== 'closed';
	if (isEnd) return [...own, { ...announcement, target: switching }];
	if (!(await needsRedraw(trx, targetKey(switching)))) return own;
	const redraw: NewAnnouncement = { target: switching, key: `redraw:${randomUUID()}`, content: { kind: 'redraw' } };
	return [...own, { ...redraw, heldUntil: now + SHOWN_EVERY_MS }];
}

/** A session that floods has many announcements, and those that count are among the newest. */
const MOST_LOOKED_AT = 100;

/** How the questions of a session ended lately, by channel. */
export async function endingsOf(db: Kysely<Tables>, { service, sessionId }: SessionKey, now: number) {
	// Of former watches too: with `watch all`, each question may have one of its own.
	const ended = sql<Pick<Row<'announcements'>, 'place_id' | 'unique_key' | 'created_at'>>`
		select ending.place_id, ending.unique_key, ending.created_at
		from watches as watch inner join announcements as ending on ending.target = 'watch:' || watch.id
			and ending.number > (select max(number) - ${MOST_LOOKED_AT} from announcements where target = 'watch:' || watch.id)
		where watch.service = ${service} and watch.session_id = ${sessionId}
			and (watch.ended_at is null or watch.ended_at > ${now - COUNTED_MS}) and ending.created_at > ${now - COUNTED_MS}
			and (ending.kind = 'settle' or ending.unique_key like ${`${UNANSWERED}%`})
		order by ending.created_at, ending.number`;
	const answered = sql<object>`
		select answers.id from answers inner join questions on questions.service = answers.service
			and questions.session_id = answers.session_id and questions.fingerprint = answers.fingerprint
		where answers.service = ${service} and answers.session_id = ${sessionId} and settled_at is null
			and (state = 'delivering' or delivered_at >= asked_at) limit 1`;
	const { rows } = await ended.execute(db);
	const isAnswered = (await answered.execute(db)).rows.length > 0;
	const found = new Map<string, Endings>();
	for (const { place_id: channelId, unique_key: key, created_at: at } of rows) {
		found.set(channelId, withEnding(found.get(channelId) ?? NO_ENDINGS, !key.startsWith(UNANSWERED), at));
	}
	return (channelId: string): Endings => ({ ...(found.get(channelId) ?? NO_ENDINGS), isAnswered });
}
