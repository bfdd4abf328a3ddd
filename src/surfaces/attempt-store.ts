// Owns `posts`, with `post-store.ts` and `plan-store.ts`: notes what became of attempts, and what follows from that.
import { DAY_MS } from '../kernel/clock.ts';
import { change, type Db, from, isFound, type StoreDatabase, type Tx, WITHOUT_LEASE } from '../store/database.ts';
import { UNREADABLE_POST } from '../store/due.ts';
import { locked, lockSessionOf } from '../store/locks.ts';
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

/** Notes what became of an attempt and gives the lease back. Does nothing when the lease was lost. */
export async function endAttempt(db: StoreDatabase, end: AttemptEnd): Promise<void> {
	const { post, token, result, now } = end;
	await db.write(async (trx) => {
		const around = isOfPostAlone(end) ? null : await lockAround(trx, post);
		// Read after the locks: another question may have come into the same message before them.
		const leased = from(trx, 'posts', { id: post.id, leaseToken: token, state: OPEN });
		const row = await leased.selectAll().forUpdate().executeTakeFirst();
		if (row === undefined) return;
		const isMarked = result.kind === 'shown' && isLastLook(result) && (await isMarkWaiting(trx, row));
		const isReminded = around !== null && result.kind === 'shown';
		const about = isReminded ? aboutOf(remindedIn(post.content), around.session?.service) : {};
		const columns = { ...WITHOUT_LEASE, ...columnsAfter(row, end, isMarked), ...about };
		await change(trx, 'posts', { id: row.id }, columns).execute();
		if (around === null) return;
		const isFirstPost = row.state === 'planned';
		const ended = { content: post.content, result, isFirstPost };
		await finish({ trx, now }, { ...row, ...columns }, around.watch, ended);
	});
}

/** Whether nothing follows from a result but the columns of the post's own row. */
const isOfPostAlone = ({ post, result }: AttemptEnd) =>
	result.kind === 'held' || result.kind === 'retry' || (result.kind === 'shown' && post.ts !== null);

/** Locks all rows that are written after an attempt, and returns what they belong to. */
async function lockAround(trx: Db, { id, content }: Post) {
	const entries = remindedIn(content);
	const found = await from(trx, 'posts', { id }).select('watchId').executeTakeFirst();
	// A reminder of a channel belongs to no watch.
	const watchId = found?.watchId ?? entries[0]?.watchId ?? null;
	const session = await lockSessionOf(trx, watchId);
	const ofPost = from(trx, 'watches', { id: watchId ?? '' }).selectAll();
	const watch = session === null ? undefined : await ofPost.executeTakeFirst();
	// All posts at once, in the order of their keys.
	const own = from(trx, 'posts', { id }).select('id');
	const ofWatch = watchId === null ? own : own.union(from(trx, 'posts', { watchId, kind: 'card' }).select('id'));
	const reminded = from(trx, 'posts', questionsOf(entries)).select('id');
	await locked(trx, 'posts', { id: entries.length === 0 ? ofWatch : ofWatch.union(reminded) }).execute();
	return { session, watch };
}

/** Whether a mark of the post's session waits: the change may have come after the post was drawn. */
function isMarkWaiting(trx: Db, { service, sessionId, kind }: PostRow): Promise<boolean> {
	const ofSession = from(trx, 'marks', { service: service ?? '', sessionId: sessionId ?? '' });
	return isFound((kind === 'card' ? ofSession : ofSession.where('cards', 'is', null)).select('service'));
}

/** What an attempt changes in the row of its post. `row`: as it is now, while `post` is as it was taken. */
function columnsAfter(row: PostRow, { post, result, now }: AttemptEnd, isMarked: boolean): Partial<PostRow> {
	const isFirstPost = row.state === 'planned';
	/** Something has changed during the attempt, so the post is drawn again at once. */
	const isChanged = row.wanted > post.wanted;
	const dueAgain = (againAt: number | null) => {
		// A first post may have had to wait longer than changes of it do.
		const urgency = isFirstPost ? 0 : row.urgency;
		return isChanged ? { dueAt: now, urgency } : { dueAt: againAt, urgency: NOT_MARKED };
	};
	const over = { dueAt: null, sendingSince: null };
	switch (result.kind) {
		case 'held': {
			const { content, until, mayBeThere } = result;
			const isAwaited = content.kind === 'card' || (content.kind === 'reminder' && content.entries.length > 0);
			return {
				// Not before: it would be held once more, and again.
				dueAt: isChanged ? now : Math.ceil(until),
				content: JSON.stringify(content),
				waitsAs: isAwaited ? AWAITED : HELD,
				sendingSince: mayBeThere ? row.sendingSince : null,
			};
		}
		case 'retry': {
			const { code, at, mayBeThere } = result;
			return {
				dueAt: Math.ceil(at),
				waitsAs: code === UNREADABLE_POST ? code : null,
				attempts: code === PACED ? row.attempts : row.attempts + 1,
				isPlain: isToBePlain(post, code) ? 1 : row.isPlain,
				sendingSince: mayBeThere ? row.sendingSince : null,
			};
		}
		case 'shown': {
			const { ts, key, isUnsure = false } = result;
			const isClosed = isLastLook(result) && !isChanged && !isMarked;
			return {
				...dueAgain(againAtOf(result, row, now)),
				state: isClosed ? 'closed' : 'shown',
				ts,
				shownKey: key,
				// News that came during an update is not shown yet.
				shownAt: isChanged && !isFirstPost ? row.shownAt : now,
				sendingSince: isUnsure ? row.sendingSince : null,
				waitsAs: null,
				attempts: 0,
			};
		}
		case 'dropped':
			// Another question may have come into the place of a reminder without questions.
			return row.kind === 'reminder' && isChanged ? { ...over, dueAt: now } : { ...over, state: 'dropped' };
		default:
			if (isToBePostedAnew(row, result)) return { ...over, state: 'planned', ts: null, dueAt: now };
			if (result.kind === 'deleted') return GONE;
			if (isFirstPost) return { ...over, state: 'refused' };
			// Slack refuses this update. The next change of the post brings another.
			return { ...over, ...dueAgain(null), waitsAs: null };
	}
}

const GONE = { state: 'gone', dueAt: null, sendingSince: null } as const;

/**
 * Whether a message could not be changed that was to show another question, or news of an answer. It is posted anew.
 * Such a post has a `ts` and was never shown: see `showInstead` and `showReceipt`.
 */
function isToBePostedAnew({ kind, ts, shownAt }: PostRow, result: AttemptResult): boolean {
	if (ts === null || shownAt !== null) return false;
	if (result.kind === 'deleted') return kind === 'question' || kind === 'receipt';
	return result.kind === 'refused' && kind === 'receipt';
}

/** When to draw a shown post again although nothing has changed; null: never. */
function againAtOf(result: Shown, { sendingSince }: PostRow, now: number): number | null {
	if (isLastLook(result)) return null;
	if (result.key === null) return now;
	return result.isUnsure === true ? (sendingSince ?? now) + UNSURE_MS : (result.againAt ?? null);
}

/** Whether nothing is drawn after it, unless something changed after it was drawn. */
const isLastLook = ({ isLast, isUnsure = false }: Shown) => isLast && !isUnsure;

/** Writes what follows from the result of a first post, or from Slack's refusal to show a post. */
async function finish(tx: Tx, row: PostRow, watch: WatchRow | undefined, ended: Ended): Promise<void> {
	const { content, result, isFirstPost } = ended;
	if (isFirstPost && result.kind === 'refused' && content.kind === 'handedOver')
		await giveBackUndelivered(tx, content.handOverId, row.questionId);
	const isCreatorTold = watch !== undefined && (await followUp(tx, row, watch, ended));
	// Last, because held reminders come last in the order of locks.
	if (!isFirstPost || result.kind === 'dropped') return;
	if (content.kind === 'reminder') await countReminders(tx, row, remindedIn(content));
	if (watch === undefined || content.kind !== 'question') return;
	if (result.kind === 'shown') await beginRemindersOf(tx, row, watch, result.sentAt);
	else if (isCreatorTold) await beginRemindersOf(tx, row, watch);
}

interface Ended extends Pick<AttemptEnd, 'result'>, Pick<Post, 'content'> {
	readonly isFirstPost: boolean;
}

/** Writes what follows for the watch of a post. Returns whether its creator is told that Slack refuses the post. */
async function followUp(tx: Tx, row: PostRow, watch: WatchRow, { content, result, isFirstPost }: Ended) {
	const lostThread = result.kind === 'shown' ? result.lostThread : undefined;
	if (lostThread !== undefined) await loseThread(tx, watch, lostThread);
	if (!isFirstPost && result.kind === 'deleted' && row.kind === 'card') await replaceCard(tx, watch, row.ts ?? '');
	// The card links to such a post, or shows the question that has no post.
	if (content.kind !== 'reminder' && NEWS_KINDS.includes(content.kind))
		await markPosts(tx, { watchId: watch.id, kind: 'card' });
	// The end of a channel ends its watches, and `endChannel` tells their creators.
	if (result.kind !== 'refused' || isOfHandOver(content)) return false;
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
