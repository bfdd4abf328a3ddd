// Owns `posts`, with the other stores of this folder: plans posts, and drops, silences and removes them.
import { isForgotten } from '../domain/person.ts';
import type { SessionKey } from '../domain/session.ts';
import { changeInBatches } from '../store/batches.ts';
import {
	add,
	change,
	countChanged,
	type Db,
	type Filter,
	from,
	type Row,
	remove,
	type StoreDatabase,
	sessionOf,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { locked } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import type { ChannelKey, PostUrgency } from '../store/watch.ts';
import {
	isOfHandOver,
	type NewPost,
	type PostContent,
	type PostTarget,
	readPost,
	streamOf,
	URGENCIES,
} from './post.ts';

/** The states of a post that is not over. */
export const OPEN = ['planned', 'shown'] as const;

/** Drops the planned posts that match `filter`; returns how many. */
export function dropPlanned(trx: Db, filter: Filter<'posts'>): Promise<number> {
	const dropped = { state: 'dropped', dueAt: null, ...WITHOUT_LEASE };
	const planned = locked(trx, 'posts', { ...filter, state: 'planned' });
	return countChanged(change(trx, 'posts', { id: planned }, dropped));
}

/** The columns of a planned post, the last of its stream. */
export function plannedRow(target: PostTarget, uniqueKey: string, content: PostContent, now: number) {
	const stream = streamOf(target);
	return {
		id: crypto.randomUUID(),
		stream,
		number: sql<number>`(select coalesce(max(number), 0) + 1 from posts where stream = ${stream})`,
		uniqueKey,
		teamId: target.teamId,
		placeId: target.kind === 'person' ? target.userId : target.channelId,
		kind: content.kind,
		content: JSON.stringify(content),
		state: 'planned',
		createdAt: now,
		dueAt: now,
	};
}

/** Plans posts: each key once for its target. The caller holds a lock that keeps others from planning the same. */
export async function planPosts({ trx, now }: Tx, posts: readonly NewPost[], urgency: PostUrgency = 'now') {
	for (const { target, key, content } of posts) {
		if (target.kind === 'person' && isForgotten(target.userId)) continue;
		const watchId = target.kind === 'watch' ? target.watchId : isOfHandOver(content) ? content.watchId : null;
		const about: Subject = watchId === null ? {} : await subjectOf(trx, watchId, content);
		// A question has one post for each time that it is asked.
		const uniqueKey = content.kind === 'question' ? `${key}${about.questionId}` : key;
		const row = { ...plannedRow(target, uniqueKey, content, now), ...about, urgency: URGENCIES.indexOf(urgency) };
		await add(trx, 'posts', row)
			.onConflict((conflict) => conflict.columns(['stream', 'uniqueKey']).doNothing())
			.execute();
	}
}

type Subject = Partial<Pick<Row<'posts'>, 'watchId' | 'service' | 'sessionId' | 'questionId'>>;

const ABOUT_OPEN = new Set<PostContent['kind']>(['question', 'handedOver', 'givenBack']);

/** What a post of a watch is about: its session, and the open question, or that of its reminder. */
async function subjectOf(trx: Db, watchId: string, content: PostContent): Promise<Subject> {
	const watch = await from(trx, 'watches', { id: watchId }).select(['service', 'sessionId']).executeTakeFirst();
	const about = { watchId, ...watch };
	if (watch === undefined) return about;
	if (content.kind === 'outcome') return { ...about, questionId: content.questionId };
	if (content.kind === 'reminder') return { ...about, questionId: content.entries[0]?.questionId ?? null };
	if (!ABOUT_OPEN.has(content.kind)) return about;
	const open = from(trx, 'questions', { ...watch, settledAt: null }).select('id');
	return { ...about, questionId: (await open.executeTakeFirst())?.id ?? null };
}

/** The watches and questions that a message of a channel is about: several for a reminder that lists them. */
export async function subjectsAt(db: Db, { teamId, channelId }: ChannelKey, ts: string) {
	const posted = from(db, 'posts', { ts, teamId, placeId: channelId });
	const row = await posted.selectAll().limit(1).executeTakeFirst();
	const content = row && readPost(row)?.content;
	const about = content?.kind === 'reminder' ? content.entries : row === undefined ? [] : [row];
	return about.map(({ watchId, questionId }) => ({ kind: row?.kind, watchId: watchId ?? '', questionId }));
}

/** Ends these posts of a channel without a last look, and revokes their leases. */
export async function silencePosts(trx: Db, filter: Filter<'posts'>): Promise<void> {
	// Locks both states at once, because others lock posts in the order of their keys.
	await locked(trx, 'posts', { ...filter, state: OPEN }).execute();
	await dropPlanned(trx, filter);
	const closed = { state: 'closed', dueAt: null, ...WITHOUT_LEASE };
	await change(trx, 'posts', { ...filter, state: 'shown' }, closed).execute();
}

/** Plans the card and the open question of a watch anew where Slack has refused them. Returns whether it had. */
export async function planRefused(tx: Tx, watch: SessionKey & { readonly id: string }): Promise<boolean> {
	const open = from(tx.trx, 'questions', { ...sessionOf(watch), settledAt: null }).select('id');
	const refused = from(tx.trx, 'posts', { watchId: watch.id, state: 'refused', kind: ['card', 'question'] });
	const shown = refused.where(({ eb, or }) => or([eb('questionId', 'is', null), eb('questionId', 'in', open)]));
	const id = locked(tx.trx, 'posts', { id: shown.select('id') });
	const anew = { state: 'planned', attempts: 0, dueAt: tx.now, waitsAs: null };
	const count = await countChanged(change(tx.trx, 'posts', { id }, anew));
	// A card shows the question while that has no post: it has to be drawn again.
	if (count > 0) await markDue(tx, watch);
	return count > 0;
}

/** Has the notices of outages name another address of the service in their keys, by which `noteOutage` finds them. */
export async function moveNotices(trx: Db, { from: former, to }: { readonly from: string; readonly to: string }) {
	const kind = ['serviceDown', 'serviceBack'];
	const notices = from(trx, 'posts', { kind }).select(['id', 'uniqueKey']);
	for (const { id, uniqueKey } of await notices.execute()) {
		const [what, begin, ...address] = uniqueKey.split(':');
		if (address.join(':') === former)
			await change(trx, 'posts', { id }, { uniqueKey: `${what}:${begin}:${to}` }).execute();
	}
}

export const removePosts = (trx: Db, watchId: string | readonly string[]) =>
	remove(trx, 'posts', { watchId }).execute();

/** Whether a question of a watch stands in its channel. */
export const HAS_POSTED = sql<boolean>`exists (select 1 from posts where posts.watch_id = watches.id
	and posts.kind = 'question' and posts.ts is not null)`;

/**
 * Posts that were over before `before`. Not cards: they hold no text, and the newest says when a deleted card may be
 * replaced again.
 */
function overBefore(trx: Db, before: number) {
	// Written out: SQLite uses a partial index only then.
	const over = from(trx, 'posts').select('id').where(sql<boolean>`state not in ('planned', 'shown')`);
	const isOld = sql<boolean>`created_at < ${before} and coalesce(shown_at, 0) < ${before}`;
	return over.where(isOld).where('kind', '!=', 'card');
}

/** Removes posts that were over before `before`. */
export const removeOver = (db: StoreDatabase, before: number) =>
	changeInBatches(db, (trx, limit) => remove(trx, 'posts', { id: overBefore(trx, before).limit(limit) }));
