// Owns `posts`, with `post-store.ts` and `plan-store.ts`: notes what became of attempts, and what follows from that.
import { DAY_MS } from '../kernel/clock.ts';
import { change, type Db, from, isFound, type StoreDatabase, sql, type Tx, WITHOUT_LEASE } from '../store/database.ts';
import { UNREADABLE_POST } from '../store/due.ts';
import { locked, lockSessionOf } from '../store/locks.ts';
import { isChannelEnd, type WatchEnd } from '../store/watch.ts';
import { readWatch, type WatchRow } from '../store/watches.ts';
import { giveBackUndelivered } from './giving-back-store.ts';
import { OPEN, planPosts } from './plan-store.ts';
import {
	type AttemptResult,
	AWAITED,
	cardAgain,
	HELD,
	isOfHandOver,
	isToBePlain,
	NEWS_KINDS,
	NOT_MARKED,
	PACED,
	type Post,
	type PostContent,
	type PostRow,
	readPost,
	remindedIn,
	targetOf,
	UNSURE_MS,
} from './post.ts';
import { markPosts } from './redraw-store.ts';
import { aboutOf, beginReminders, countReminders, questionsOf } from './reminder-store.ts';

/** What became of the attempt of a post, which `token` leases. */
export interface AttemptEnd {
	readonly post: Post;
	readonly token: string;
	readonly result: AttemptResult;
	readonly now: number;
}

type Shown = Extract<AttemptResult, { kind: 'shown' }>;
/** A result from which more may follow than the columns of its own row. */
type FinalResult = Exclude<AttemptResult, { kind: 'held' | 'retry' }>;

/** Notes what became of an attempt and gives the lease back. Does nothing when the lease was lost. */
export async function endAttempt(db: StoreDatabase, { post, token, result, now }: AttemptEnd): Promise<void> {
	const columns = ownColumns(post, result, now);
	if (columns === null) return db.write((trx) => finish({ trx, now }, post, token, result as FinalResult));
	const leased = { id: post.id, leaseToken: token, state: OPEN };
	await db.writeOne((trx) => change(trx, 'posts', leased, { ...WITHOUT_LEASE, ...columns }).execute());
}

/** The columns of a result from which nothing follows. Null: `finish` writes it, with what follows. */
function ownColumns(post: Post, result: AttemptResult, now: number) {
	switch (result.kind) {
		case 'held': {
			const { content } = result;
			const isAwaited = content.kind === 'card' || (content.kind === 'reminder' && content.entries.length > 0);
			const waitsAs = isAwaited ? AWAITED : HELD;
			const { dueAt } = dueAgain(post.wanted, Math.round(result.until), now, true);
			const unsent = !result.mayBeThere && { sendingSince: null };
			return { dueAt, content: JSON.stringify(content), waitsAs, ...unsent };
		}
		case 'retry': {
			const { code, mayBeThere } = result;
			const failed = code !== PACED && { attempts: sql<number>`attempts + 1` };
			const plain = isToBePlain(post, code) && { isPlain: 1 };
			const waitsAs = code === UNREADABLE_POST ? code : null;
			return { dueAt: Math.round(result.at), waitsAs, ...failed, ...plain, ...(!mayBeThere && { sendingSince: null }) };
		}
		case 'shown': {
			if (post.ts === null) return null;
			// News that came during the attempt is not shown yet.
			const shownAt = sql<number>`cast(case when wanted > ${post.wanted} then shown_at else ${now} end as bigint)`;
			return { ...shownColumns(post, result, now), shownAt, ...afterShown(post, result, now, false) };
		}
		default:
			return null;
	}
}

/** The columns of a result from which more may follow. `wanted`: of the post when it was taken. */
function endColumns(row: PostRow, wanted: number, result: FinalResult, now: number): object {
	const isFirstPost = row.state === 'planned';
	const none = { dueAt: null, sendingSince: null };
	if (result.kind === 'shown') {
		const { sendingSince } = row;
		return { ...shownColumns(row, result, now), ...afterShown({ wanted, sendingSince }, result, now, isFirstPost) };
	}
	if (isToBePostedAnew(row, result)) return { ...none, state: 'planned', ts: null, dueAt: now };
	if (result.kind === 'dropped' && row.kind === 'reminder') return { ...none, ...droppedUnless(wanted, now) };
	if (result.kind === 'dropped') return { ...none, state: 'dropped' };
	if (result.kind === 'deleted') return GONE;
	if (isFirstPost) return { ...none, state: 'refused' };
	// Slack refuses this update. The next change of the post brings another.
	return { ...none, ...dueAgain(wanted, null, now, false), waitsAs: null };
}

const GONE = { state: 'gone', dueAt: null, sendingSince: null } as const;

/** A reminder without questions is dropped, unless another question came into its place during the attempt. */
function droppedUnless(wanted: number, now: number) {
	const { dueAt } = dueAgain(wanted, null, now, true);
	return { dueAt, state: sql<string>`case when wanted > ${wanted} then 'planned' else 'dropped' end` };
}

/**
 * Whether a message could not be changed that was to show another question, or news of an answer. It is posted anew.
 * Such a post has a `ts` and was never shown: see `showInstead` and `showReceipt`.
 */
function isToBePostedAnew({ kind, ts, shownAt }: PostRow, result: FinalResult): boolean {
	if (ts === null || shownAt !== null) return false;
	if (result.kind === 'deleted') return kind === 'question' || kind === 'receipt';
	return result.kind === 'refused' && kind === 'receipt';
}

function shownColumns({ sendingSince }: Pick<Post, 'sendingSince'>, { ts, key, isUnsure = false }: Shown, now: number) {
	const since = isUnsure ? sendingSince : null;
	return { state: 'shown', ts, shownKey: key, shownAt: now, sendingSince: since, waitsAs: null, attempts: 0 };
}

/** When to draw a shown post again. Its last look closes it, unless something changed after that was drawn. */
function afterShown(
	{ wanted, sendingSince }: Pick<Post, 'wanted' | 'sendingSince'>,
	result: Shown,
	now: number,
	isFirstPost: boolean,
) {
	if (isLastLook(result)) return { ...dueAgain(wanted, null, now, isFirstPost), state: closedUnlessChanged(wanted) };
	const unsureUntil = result.isUnsure === true ? (sendingSince ?? now) + UNSURE_MS : (result.againAt ?? null);
	return dueAgain(wanted, result.key === null ? now : unsureUntil, now, isFirstPost);
}

const isLastLook = ({ isLast, isUnsure = false }: Shown) => isLast && !isUnsure;

/** When to draw a post again: at once if something has changed since it was taken, else at `againAt`, if any. */
function dueAgain(wanted: number, againAt: number | null, now: number, isFirstPost: boolean) {
	// A first post may have had to wait longer than changes of it do.
	const urgency = isFirstPost ? sql.lit(0) : sql.ref('urgency');
	return {
		dueAt: sql<number>`cast(case when wanted > ${wanted} then ${now} else ${againAt} end as bigint)`,
		urgency: sql<number>`case when wanted > ${wanted} then ${urgency} else ${sql.lit(NOT_MARKED)} end`,
	};
}

/** Whether a mark of its session waits: the change may have come after the post was drawn. */
const IS_MARKED = sql<boolean>`exists (select 1 from marks
	where marks.service = posts.service and marks.session_id = posts.session_id
		and (marks.cards is null or posts.kind = 'card'))`;
const closedUnlessChanged = (wanted: number) =>
	sql<string>`case when wanted > ${wanted} or ${IS_MARKED} then 'shown' else 'closed' end`;

/** Notes the result of a first post, or that Slack no longer shows a post, and writes what follows from that. */
async function finish(tx: Tx, { id, content, wanted }: Post, token: string, result: FinalResult): Promise<void> {
	const { trx, now } = tx;
	const found = await from(trx, 'posts', { id }).select('watchId').executeTakeFirst();
	if (found === undefined) return;
	const entries = remindedIn(content);
	// A reminder of a channel belongs to no watch.
	const watchId = found.watchId ?? entries[0]?.watchId ?? null;
	const session = await lockSessionOf(trx, watchId);
	const ofPost = from(trx, 'watches', { id: watchId ?? '' }).selectAll();
	const watch = session === null ? undefined : await ofPost.executeTakeFirst();
	// Lock all posts that are written below at once, in the order of their keys.
	const own = from(trx, 'posts', { id }).select('id');
	const ofWatch = watchId === null ? own : own.union(from(trx, 'posts', { watchId, kind: 'card' }).select('id'));
	const reminded = from(trx, 'posts', questionsOf(entries)).select('id');
	await locked(trx, 'posts', { id: entries.length === 0 ? ofWatch : ofWatch.union(reminded) }).execute();
	// Read after the lock: another question may have come into the same message before it.
	const before = await from(trx, 'posts', { id }).selectAll().executeTakeFirst();
	if (before === undefined) return;
	const isFirstPost = before.state === 'planned';
	const columns = { ...WITHOUT_LEASE, ...endColumns(before, wanted, result, now) };
	const about = content.kind === 'reminder' && result.kind === 'shown' && aboutOf(entries, session?.service);
	const noted = change(trx, 'posts', { id, leaseToken: token, state: OPEN }, { ...columns, ...about });
	const row = await noted.returningAll().executeTakeFirst();
	if (row === undefined) return;
	if (isFirstPost && result.kind === 'refused' && content.kind === 'handedOver')
		await giveBackUndelivered(tx, content.handOverId, before.questionId);
	const isCreatorTold = watch !== undefined && (await followUp(tx, row, { content, watch, result, isFirstPost }));
	// Last, because held reminders come last in the order of locks.
	if (!isFirstPost || result.kind === 'dropped') return;
	if (content.kind === 'reminder') await countReminders(tx, row, entries);
	if (watch === undefined || content.kind !== 'question') return;
	if (result.kind === 'shown') await beginRemindersOf(tx, row, watch, result.sentAt);
	else if (isCreatorTold) await beginRemindersOf(tx, row, watch);
}

interface PostEnd {
	readonly content: PostContent;
	readonly watch: WatchRow;
	readonly result: FinalResult;
	readonly isFirstPost: boolean;
}

/** Writes what follows for the watch of a post. Returns whether its creator is told that Slack refuses the post. */
async function followUp(tx: Tx, row: PostRow, { content, watch, result, isFirstPost }: PostEnd): Promise<boolean> {
	const lostThread = result.kind === 'shown' ? result.lostThread : undefined;
	if (lostThread !== undefined) await loseThread(tx, watch, lostThread);
	if (!isFirstPost && result.kind === 'deleted' && row.kind === 'card') await replaceCard(tx, watch, row.ts ?? '');
	// The card links to such a post, or shows the question that has no post.
	if (content.kind !== 'reminder' && NEWS_KINDS.includes(content.kind))
		await markPosts(tx, { watchId: watch.id, kind: 'card' });
	// The end of a channel ends its watches, and `endChannel` tells their creators.
	if (result.kind !== 'refused' || isChannelEnd(result.code as WatchEnd) || isOfHandOver(content)) return false;
	const isDone = watch.endedAt !== null || (await isSettled(tx.trx, row));
	if (isFirstPost) {
		if (!isDone) await tellRefused(tx, watch, result.code);
		return !isDone;
	}
	if (!isDone || row.watchId === null) return false;
	// All posts of a question have one such message. If that cannot be changed, a further one brings the news.
	const key = `outcome:${content.kind === 'outcome' ? row.id : row.questionId}`;
	const outcome = { kind: 'outcome', questionId: row.questionId } as const;
	await planPosts(tx, [{ target: targetOf(watch), key, content: outcome }]);
	return false;
}

async function isSettled(trx: Db, { questionId }: PostRow): Promise<boolean> {
	const settled = from(trx, 'questions', { id: questionId ?? '' }).where('settledAt', 'is not', null);
	return isFound(settled.select('id'));
}

/** Begins the reminders of a question. They count from when its post was sent, at the latest from now. */
async function beginRemindersOf(tx: Tx, row: PostRow, watch: WatchRow, sentAt = tx.now): Promise<void> {
	if (watch.endedAt !== null || row.questionId === null) return;
	await beginReminders(tx, [{ postId: row.id, watch }], Math.min(sentAt, tx.now));
}

/** Tells the creator of a watch that Slack refuses a first post: once a day for a channel. */
async function tellRefused(tx: Tx, watch: WatchRow, code: string): Promise<void> {
	const { teamId, channelId, sessionId, createdBy: userId } = watch;
	const about = watch.mode === 'raisedHand' ? null : sessionId;
	const content = { kind: 'postRefused', channelId, sessionId: about, code } as const;
	const key = `refused:${channelId}:${Math.floor(tx.now / DAY_MS)}`;
	await planPosts(tx, [{ target: { kind: 'person', teamId, userId }, key, content }]);
}

/** Forgets the card or the question's post `ts`, which somebody deleted. */
async function loseThread(tx: Tx, watch: WatchRow, ts: string): Promise<void> {
	const lost = { watchId: watch.id, ts, state: ['shown', 'closed'] };
	const gone = change(tx.trx, 'posts', lost, { ...GONE, ...WITHOUT_LEASE });
	const rows = await gone.returning('kind').execute();
	if (rows.some(({ kind }) => kind === 'card')) await replaceCard(tx, watch, ts);
}

/** Plans a new card for a live watch whose card `ts` was deleted. The caller has locked the session and the watch. */
async function replaceCard(tx: Tx, row: WatchRow, ts: string): Promise<void> {
	// A raised hand has no card.
	if (row.endedAt !== null || row.mode === 'raisedHand') return;
	const cards = from(tx.trx, 'posts', { watchId: row.id, kind: 'card' }).selectAll();
	const last = await cards.orderBy('number', 'desc').limit(1).executeTakeFirst();
	const content = last === undefined ? undefined : readPost(last)?.content;
	// A first card has a time for another reason: see `cardHeldUntil`.
	const before = content?.kind === 'card' && content.isFirst !== true ? (content.notBefore ?? null) : null;
	await planPosts(tx, [cardAgain(readWatch(row), ts, before, tx.now)]);
}
