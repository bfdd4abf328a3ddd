// Owns `posts`, with `plan-store.ts`: has them drawn again after a change.
import type { Answer } from '../domain/answer.ts';
import type { SessionKey } from '../domain/session.ts';
import { inParts } from '../store/batches.ts';
import {
	change,
	channelOf,
	countChanged,
	type Db,
	type Filter,
	from,
	type RawBuilder,
	sessionOf,
	sql,
	type Tx,
} from '../store/database.ts';
import { locked } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import type { ChannelKey, PostUrgency } from '../store/watch.ts';
import { OPEN, silencePosts } from './plan-store.ts';
import { AWAITED, QUESTION_KINDS, streamOf, URGENCIES, WATCH_KINDS } from './post.ts';

/**
 * Has the open posts that match `filter` drawn again. Unless `filter` names one kind, so are the reminders of several
 * questions in the same channels: such a reminder belongs to no session.
 */
export async function markPosts(
	{ trx, now }: Tx,
	filter: Filter<'posts'>,
	urgency: PostUrgency = 'now',
): Promise<void> {
	const rank = URGENCIES.indexOf(urgency);
	const isMoreUrgent = sql`state = 'shown' and (due_at is null or urgency > ${rank})`;
	const isAwaited = sql`state = 'planned' and waits_as = ${AWAITED}`;
	const columns = {
		wanted: sql<number>`wanted + 1`,
		urgency: sql<number>`case when ${isMoreUrgent} then ${sql.lit(rank)} else urgency end`,
		// All others keep their time.
		dueAt: sql<number>`case when ${isMoreUrgent} or ${isAwaited} then ${now} else due_at end`,
	};
	const marked = typeof filter.kind === 'string' ? { ...filter, state: OPEN } : openWithLists(trx, filter);
	await change(trx, 'posts', { id: locked(trx, 'posts', marked) }, columns).execute();
}

/** The open posts that match `filter`, and the reminders of several questions in their channels. */
function openWithLists(trx: Db, filter: Filter<'posts'>): Filter<'posts'> {
	const own = from(trx, 'posts', filter);
	// Written out: SQLite uses a partial index only then.
	const shown = from(trx, 'posts', { placeId: own.select('placeId') });
	// A planned reminder may wait for this change, or be on its way to Slack as it was drawn before it.
	const streams = own.select(sql<string>`'channel:' || team_id || ':' || place_id`.as('stream'));
	const planned = from(trx, 'posts', { stream: streams });
	return {
		id: from(trx, 'posts', { ...filter, state: OPEN })
			.select('id')
			.union(shown.where(sql<boolean>`kind = 'reminder' and state = 'shown' and session_id is null`).select('id'))
			.union(planned.where(sql<boolean>`kind = 'reminder' and state = 'planned'`).select('id')),
	};
}

/**
 * After a change of a channel's settings: has all open posts of its watches and all inboxes drawn again. `isWhole`: so
 * are the posts in the channel that were over.
 */
export async function redrawChannel(tx: Tx, channel: ChannelKey, { isWhole }: { isWhole: boolean }): Promise<void> {
	const watches = from(tx.trx, 'watches', channelOf(channel)).select('id');
	await markPosts(tx, { watchId: watches }, 'progress');
	await markDue(tx, null);
	if (!isWhole) return;
	const place = { teamId: channel.teamId, placeId: channel.channelId };
	await redrawOver(tx, { ...place, kind: [...WATCH_KINDS, ...QUESTION_KINDS] }, 'progress');
}

/** Has a channel's posts of a session's earlier watches drawn again: they must not offer *Watch again* any more. */
export async function redrawFormer(tx: Tx, watch: ChannelKey & { readonly session: SessionKey }): Promise<void> {
	const here = from(tx.trx, 'watches', { ...channelOf(watch), ...sessionOf(watch.session) }).select('id');
	await redrawOver(tx, { watchId: here.where('endedAt', 'is not', null), kind: WATCH_KINDS });
}

/** Has the posts of an ended watch drawn again: three newer ones offer *Watch again* in its place. */
export const redrawEnded = (tx: Tx, watchId: string) => redrawOver(tx, { watchId, kind: WATCH_KINDS });

/** Has the posts of a settled question drawn again: another answer to it has arrived. */
export const redrawSettled = (tx: Tx, questionId: string) => redrawOver(tx, { questionId, kind: QUESTION_KINDS });

/** Has the direct message about an answer drawn again, although that was over: its author sends it again. */
export const redrawReceipt = (tx: Tx, { id, person }: Pick<Answer, 'id' | 'person'>) =>
	redrawOver(tx, { stream: streamOf({ kind: 'person', ...person, topic: id }), kind: 'receipt' });

/** Has the posts that match `filter` and were over drawn once more. */
async function redrawOver({ trx, now }: Tx, filter: Filter<'posts'>, urgency: PostUrgency = 'now'): Promise<void> {
	const closed = locked(trx, 'posts', { ...filter, state: 'closed' });
	const again = { state: 'shown', dueAt: now, urgency: URGENCIES.indexOf(urgency) };
	await change(trx, 'posts', { id: closed }, again).execute();
}

/** Has posts that may name somebody drawn again, and ends those to that person. Returns how many are drawn again. */
export async function redrawNaming({ trx, now }: Tx, userId: string): Promise<number> {
	const inSession = (table: 'answers' | 'views' | 'questions', column = 'userId') =>
		sql`(service, session_id) in (select service, session_id from ${sql.table(table)}
			where ${sql.ref(column)} = ${userId})`;
	const named = `%"${userId}"%`;
	const inLists = sql`(service, session_id) in (select service, session_id from answer_rules
		join channel_settings using (team_id, channel_id) where settings like ${named})`;
	const isNaming = sql<boolean>`ts is not null and place_id <> ${userId}
		and (kind = 'reminder' and session_id is null or content like ${named} or ${inLists}
			or ${inSession('answers')} or ${inSession('views')}
			or ${inSession('questions', 'fromUserId')} or ${inSession('questions', 'toUserId')})`;
	await silencePosts(trx, { placeId: userId });
	const wanted = sql<number>`wanted + 1`;
	// A first post on its way may show the name. It is drawn again as soon as it has arrived.
	await change(trx, 'posts', { state: 'planned' }, { wanted }).execute();
	const due = { state: 'shown', dueAt: now, urgency: 1, wanted };
	const shown = (isIn: RawBuilder<boolean>) => change(trx, 'posts', { state: ['shown', 'closed'] }, due).where(isIn);
	return inParts(trx, 'posts', (isIn) => countChanged(shown(isIn).where(isNaming)));
}
