// Owns `posts`, with `plan-store.ts`: gives them out, notes what Slack shows, and removes them.
import type { Answer } from '../domain/answer.ts';
import { isInThread, UNKNOWN_STYLE } from '../domain/channel-settings.ts';
import { DAY_MS } from '../kernel/clock.ts';
import type { Lease } from '../kernel/lease-loop.ts';
import type { Log } from '../kernel/log.ts';
import {
	addIf,
	change,
	channelOf,
	columnsAs,
	type Db,
	from,
	hasChanged,
	isFound,
	joinedRow,
	personOf,
	type RawBuilder,
	type StoreDatabase,
	type StoreParts,
	sessionOf,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { CANDIDATES_PER_ROW, nextDue, queueOf, takeReadable, UNREADABLE_POST } from '../store/due.ts';
import { locked, lockSessionOf } from '../store/locks.ts';
import { readQuestion } from '../store/question-store.ts';
import { type ChannelKey, isChannelEnd, type WatchEnd } from '../store/watch.ts';
import { JOINED_SHOWN, liveWatches, readShown, readWatch, SHOWN_COLUMNS, type WatchRow } from '../store/watches.ts';
import { isOurs } from '../store/workspaces.ts';
import { giveBackUndelivered, markPosts, OPEN, planPosts, silencePosts } from './plan-store.ts';
import {
	type AttemptResult,
	AWAITED,
	askedOf,
	cardAgain,
	type DuePost,
	HELD,
	isToBePlain,
	NEWS_KINDS,
	type NewPost,
	NOT_MARKED,
	PACED,
	type Post,
	type PostContent,
	type PostKind,
	type PostRow,
	plannedRow,
	QUESTION_KINDS,
	readPost,
	targetOf,
	UNSURE_MS,
} from './post.ts';
import { aboutOf, beginReminders, countReminders, questionsOf } from './reminder-store.ts';

/** The posts, their attempts and their looks. */
export function createPostStore({ db, cipher, log }: StoreParts & { log: Log }) {
	/** Null where the post, or what it shows of its session or question, cannot be read. */
	async function dueOf(rows: readonly PostRow[]): Promise<(DuePost | null)[]> {
		const watched = rows.filter(({ watchId }) => watchId !== null).map(({ id }) => id);
		const facts = watched.length === 0 ? [] : await factsOf(watched);
		const byPost = new Map(facts.map((one) => [one.postId, one]));
		return rows.map((row) => {
			const post = readPost(row);
			const found = byPost.get(row.id);
			return post && (found === undefined ? { post, ...NO_WATCH } : dueWith(row, post, found));
		});
	}

	function dueWith(row: PostRow, post: Post, found: PostFacts): DuePost | null {
		const shown = readShown(found, cipher);
		if (shown === null) return { post, ...NO_WATCH };
		const { watch, view } = shown;
		const inThread = isInThread(watch.mode, shown.style);
		if (view === null && row.kind === 'card') return null;
		const isNewest = row.questionId === null || row.questionId === shown.question?.id;
		const own = isNewest ? undefined : joinedRow(found, 'questions', 'own');
		const question = isNewest ? shown.question : own === undefined ? null : readQuestion(own, cipher);
		const isLost = question?.isUnreadable === true && askedOf({ question, view }) === null;
		if (isLost && QUESTION_KINDS.includes(row.kind)) return null;
		const threadTs = threadOf(row, found, inThread);
		const formerThreadTs = row.sendingSince === null ? null : threadOf(row, found, !inThread);
		const led = watch.ended?.reason === 'sessionOver' ? found.endTs : found.questionTs;
		const lead = led === null ? null : { ts: led || null };
		const ofCard = { isQuestionLost: found.lostTs !== null, isAnySettled: found.settledTs !== null, lead };
		return { ...shown, post, question, threadTs, formerThreadTs, ...ofCard };
	}

	/** What posts of watches are about, in one statement. */
	async function factsOf(postIds: readonly string[]): Promise<readonly PostFacts[]> {
		const about = sql`coalesce(posts.question_id, newest.id)`;
		const isShown = sql`other.state in ('shown', 'closed')`;
		/** Of the newest such post of the watch; only of a card: the others need not know. */
		const ts = (column: RawBuilder<unknown>, where: RawBuilder<unknown>) => sql`(select ${column} from posts as other
			where other.watch_id = posts.watch_id and ${where} order by other.number desc limit 1)`;
		const ofCard = (value: RawBuilder<unknown>) => sql`case when posts.kind = 'card' then ${value} end`;
		const isKept = sql`other.state in ('planned', 'shown', 'closed')
			and coalesce(other.last_error, '') <> ${UNREADABLE_POST}`;
		const isOwn = sql`other.kind = 'question' and other.question_id = posts.question_id and ${isShown}`;
		const isAsked = sql`other.kind = 'question' and other.question_id = ${about}`;
		const isSettled = sql`other.kind = 'question' and exists (select 1 from questions as asked
			where asked.id = other.question_id and asked.settled_at is not null)`;
		const leads = (isLead: RawBuilder<unknown>) =>
			ofCard(ts(sql`coalesce(other.ts, '')`, sql`${isKept} and ${isLead}`));
		const { rows } =
			await sql<PostFacts>`select posts.id as post_id, ${SHOWN_COLUMNS}, ${columnsAs('questions', 'own')},
				${ts(sql`other.ts`, sql`other.kind = 'card' and ${isShown}`)} as card_ts,
				${ts(sql`other.ts`, isOwn)} as own_ts,
				${leads(sql`other.kind = 'sessionEnded'`)} as end_ts,
				${leads(isAsked)} as question_ts,
				${ofCard(ts(sql`'lost'`, sql`other.state in ('gone', 'refused') and ${isAsked}`))} as lost_ts,
				${ofCard(ts(sql`'settled'`, isSettled))} as settled_ts
			from posts join watches as watch on watch.id = posts.watch_id ${JOINED_SHOWN}
			left join questions as own on own.id = posts.question_id
			where posts.id in (${sql.join(postIds)})`.execute(db.read);
		return rows;
	}

	function threadOf(row: PostRow, { cardTs, ownTs }: PostFacts, inThread: boolean): string | null {
		if (row.kind === 'card') return null;
		if (NEWS_KINDS.includes(row.kind as PostKind)) return inThread ? cardTs : null;
		return inThread ? cardTs : (ownTs ?? cardTs);
	}

	/** Notes the end of a first post, or that Slack shows no more of a post, with what follows from it. */
	async function finish(tx: Tx, { id, content, wanted }: Post, token: string, result: Ended): Promise<void> {
		const { trx, now } = tx;
		const found = await from(trx, 'posts', { id }).select('watchId').executeTakeFirst();
		if (found === undefined) return;
		const entries = 'entries' in content ? content.entries : [];
		// A reminder of a channel belongs to no watch.
		const watchId = found.watchId ?? entries[0]?.watchId ?? null;
		const session = await lockSessionOf(trx, watchId);
		const concerned = from(trx, 'watches', { id: watchId ?? '' }).selectAll();
		const watch = session === null ? undefined : await concerned.executeTakeFirst();
		// All that is written below is locked in the order of all locks.
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
		const isTold = watch !== undefined && (await follow(tx, row, { content, watch, result, isFirstPost }));
		// Held reminders are locked last.
		if (!isFirstPost || result.kind === 'dropped') return;
		if (content.kind === 'reminder') await countReminders(tx, row, entries);
		if (watch === undefined || content.kind !== 'question') return;
		if (result.kind === 'shown') await begin(tx, row, watch, result.sentAt);
		else if (isTold) await begin(tx, row, watch);
	}

	/** What follows for the watch of a post. Returns whether its creator is told that Slack refuses it. */
	async function follow(tx: Tx, row: PostRow, { content, watch, result, isFirstPost }: PostEnd): Promise<boolean> {
		const lostThread = result.kind === 'shown' ? result.lostThread : undefined;
		if (lostThread !== undefined) await loseThread(tx, watch, lostThread);
		if (!isFirstPost && result.kind === 'deleted' && row.kind === 'card') await replaceCard(tx, watch, row.ts ?? '');
		// It leads there, or shows what no post does.
		if (content.kind !== 'reminder' && NEWS_KINDS.includes(content.kind))
			await markPosts(tx, { watchId: watch.id, kind: 'card' });
		// A channel that takes no posts any more ends its watches, which tells their creators.
		if (result.kind !== 'refused' || isChannelEnd(result.code as WatchEnd) || 'handOverId' in content) return false;
		const isDone = watch.endedAt !== null || (await isSettled(tx.trx, row));
		if (isFirstPost) {
			if (!isDone) await tellRefused(tx, watch, result.code);
			return !isDone;
		}
		if (!isDone || row.watchId === null) return false;
		// One for all posts of a question; news of it then comes in a further one.
		const key = `outcome:${content.kind === 'outcome' ? row.id : row.questionId}`;
		const outcome = { kind: 'outcome', questionId: row.questionId } as const;
		await planPosts(tx, [{ target: targetOf(watch), key, content: outcome }]);
		return false;
	}

	/** Begins a question's reminders, which count from when its post was sent, at the latest from now. */
	async function begin(tx: Tx, row: PostRow, watch: WatchRow, sentAt = tx.now): Promise<void> {
		if (watch.endedAt !== null || row.questionId === null) return;
		await beginReminders(tx, [{ postId: row.id, watch }], Math.min(sentAt, tx.now));
	}

	/** Slack refuses a first post: the creator hears it, once a day for a channel. */
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

	return {
		/** Leases our due posts, urgent first; of a stream's first posts only the next. Without `updates`: first ones. */
		takeDue(lease: Lease, limit: number, now: number, { updates } = ALL): Promise<readonly DuePost[]> {
			// By index, however many are due.
			const firsts = (updates ? OPEN : OPEN.slice(0, 1)).map((state) => {
				return sql`select id from (select id from posts where state = ${sql.lit(state)} and due_at is not null
					and due_at <= ${now} and (lease_token is null or leased_until <= ${now})
					and ${isOurs(db)} and ${isFirst(updates)}
					order by urgency, due_at, created_at limit ${CANDIDATES_PER_ROW * limit}) as ${sql.ref(state)}`;
			});
			const where = sql<boolean>`due_at <= ${now} and id in (${sql.join(firsts, sql` union all `)})`;
			const due = { table: 'posts', where, orderBy: [sql`urgency`, sql`due_at`, sql`created_at`], limit } as const;
			return takeReadable(db, due, { lease, now, log }, dueOf);
		},

		/** Leases the post that somebody pressed on, due or not. Null: there is none, or it is being drawn. */
		async takePressed({ teamId, placeIds, ts }: PressedPlace, lease: Lease, now: number): Promise<DuePost | null> {
			const where = sql<boolean>`ts = ${ts} and team_id = ${teamId} and place_id in (${sql.join(placeIds)})
				and state = 'shown' and ${isOurs(db)}`;
			const pressed = { table: 'posts', where, orderBy: [sql`created_at`], limit: 1 } as const;
			return (await takeReadable(db, pressed, { lease, now, log }, dueOf))[0] ?? null;
		},

		/** Where the post stands that a pressed message repeats (`ts` null: nowhere); null: the message is no repeat. */
		async repeatedBy({ key, ts, placeIds: [channel = ''] }: PressedPlace) {
			const keyed = from(db.read, 'posts', { id: key ?? '' }).select(['ts', 'state']);
			const row = await keyed.executeTakeFirst();
			if (row === undefined || row.ts === ts || row.state === 'planned') return null;
			return { channel, ts: row.state === 'shown' || row.state === 'closed' ? row.ts : null };
		},

		/** Whether a channel watches anything, or discovers. */
		async isFollowing(channel: ChannelKey): Promise<boolean> {
			const here = channelOf(channel);
			const discovery = from(db.read, 'discoveries', here).select('service');
			return (await isFound(liveWatches(db.read, here))) || isFound(discovery);
		},

		/** Our channels with watches that have not ended, with a discovery, or with posts to send or to draw again. */
		async activeChannels(): Promise<readonly ChannelKey[]> {
			// Goes from place to place by index, however many posts are due.
			const { rows } = await sql<ChannelKey>`with recursive places(id) as (select min(place_id) from posts
				union all select (select min(place_id) from posts where place_id > places.id) from places where id is not null),
			posted as (select id as channel_id, (select team_id from posts where place_id = places.id and ${isOurs(db)}
				and state in ('planned', 'shown') and due_at is not null and stream not like 'person:%' limit 1) as team_id
				from places)
			select team_id, channel_id from posted where team_id is not null
			union select team_id, channel_id from watches where ended_at is null and ${isOurs(db)}
			union select team_id, channel_id from discoveries where ${isOurs(db)}`.execute(db.read);
			return rows.map(channelOf);
		},

		/**
		 * Notes that Slack is about to be called, and prolongs the lease. False when the lease was lost.
		 */
		beginAttempt: (id: string, token: string, { since, leasedUntil, content = null }: BegunAttempt) =>
			db.writeOne((trx) => {
				const shows = content && { content: JSON.stringify(content) };
				const begun = { sendingSince: since, leasedUntil, lastError: null, ...shows };
				return hasChanged(change(trx, 'posts', { id, leaseToken: token, state: OPEN }, begun));
			}),

		/** Notes the outcome and gives the lease back; does nothing when the lease was lost. */
		endAttempt: async (post: Post, token: string, result: AttemptResult, now: number): Promise<void> => {
			const columns = columnsOf(post, result, now);
			if (columns === null) return db.write((trx) => finish({ trx, now }, post, token, result as Ended));
			const noted = { ...WITHOUT_LEASE, ...columns };
			const held = { id: post.id, leaseToken: token, state: OPEN };
			await db.writeOne((trx) => change(trx, 'posts', held, noted).execute());
		},

		...queueOf(db, 'posts'),

		/** When `takeDue` next finds something; null for never. Posts that wait for another one do not count. */
		nextDueAt: ({ updates } = ALL) => nextDue(db, 'posts', sql`${isOurs(db)} and ${isFirst(updates)}`, 'dueAt'),

		/** Queues a post, unless one with its key was queued before. */
		tell: (post: NewPost, now: number) => db.write((trx) => planPosts({ trx, now }, [post])),

		/**
		 * Has the direct message about an answer show what is true of it now, unless its author was forgotten meanwhile.
		 * The first time, and for news (`isNews`) where its author has deleted it, it is posted.
		 */
		showReceipt: ({ id: answerId, person, question, questionId }: ToldAnswer, { isNews, now }: ReceiptNews) =>
			db.writeOne(async (trx) => {
				const target = { kind: 'person', ...person, topic: answerId } as const;
				const content = { kind: 'receipt', answerId } satisfies PostContent;
				const again = isNews ? sql`('gone', 'refused', 'dropped')` : sql`('')`;
				const about = { ...sessionOf(question), questionId, number: 1 };
				const isAuthor = from(trx, 'answers', { id: answerId, ...personOf(person) }).select('id');
				const row = { ...plannedRow(target, 'receipt', content, now), ...about };
				await addIf(trx, 'posts', row, sql<boolean>`exists ${isAuthor}`)
					.onConflict((conflict) =>
						conflict.columns(['stream', 'uniqueKey']).doUpdateSet({
							wanted: sql<number>`posts.wanted + 1`,
							state: sql<string>`case when posts.state = 'closed' then 'shown'
								when posts.state in ${again} then 'planned' else posts.state end`,
							ts: sql<string>`case when posts.state in ${again} then null else posts.ts end`,
							dueAt: sql<number>`case when posts.state = 'planned' then posts.due_at
								when posts.state in ('shown', 'closed') or posts.state in ${again} then ${now} else posts.due_at end`,
							urgency: 0,
							attempts: sql<number>`case when posts.state in ${again} then 0 else posts.attempts end`,
							...(isNews && { shownAt: null }),
						}),
					)
					.execute();
			}),

		/** Ends all posts of a channel, also of ended watches. */
		silence: (channel: ChannelKey) =>
			db.write(async (trx) => {
				// Whoever else drops posts of a watch has locked it.
				await locked(trx, 'watches', channelOf(channel)).execute();
				await silencePosts(trx, { teamId: channel.teamId, placeId: channel.channelId });
			}),

		/** Has channels' notices of the last day say why `watch all` is paused, or that it goes on (null). */
		async notePaused(service: string, why: string | null, now: number): Promise<void> {
			const said = why === null ? { why: 'noList', isOver: true } : { why };
			const content = JSON.stringify({ kind: 'discoveryPaused', ...said });
			const stream = sql<string>`(select 'channel:' || team_id || ':' || channel_id from discoveries
				where service = ${service})`;
			const since = why === null ? 0 : now - DAY_MS;
			const told = from(db.read, 'posts', { kind: 'discoveryPaused', state: ['shown', 'closed'] }).select('id');
			const others = told.where('stream', 'in', stream).where('content', '!=', content).where('createdAt', '>', since);
			const again = { content, state: 'shown', dueAt: now, wanted: sql<number>`wanted + 1` };
			for (const { id } of await others.execute())
				await db.writeOne((trx) => change(trx, 'posts', { id }, again).execute());
		},
	};
}

export type PostStore = ReturnType<typeof createPostStore>;

/** The message of a press: in a channel, or in the direct message with a person. */
export interface PressedPlace {
	readonly teamId: string;
	/** Of the channel, and of who pressed: posts to a person know no channel. */
	readonly placeIds: readonly string[];
	readonly ts: string;
	/** In its metadata; null: it has none. */
	readonly key: string | null;
}

/** What is stored about a post of a watch, with the columns of `readShown` and its own question. */
interface PostFacts {
	readonly postId: string;
	/** Of the newest card and of the newest post of its question that Slack shows. */
	readonly cardTs: string | null;
	readonly ownTs: string | null;
	/** Of a card: of the post of the session's end, and of the newest question; null: none; empty: on its way. */
	readonly endTs: string | null;
	readonly questionTs: string | null;
	/** Of a card: not null when the newest question's post is gone. */
	readonly lostTs: string | null;
	/** Of a card: not null when any question of its watch is settled. */
	readonly settledTs: string | null;
}

type ToldAnswer = Pick<Answer, 'id' | 'person' | 'question' | 'questionId'>;
interface ReceiptNews {
	readonly isNews: boolean;
	readonly now: number;
}

/** `since`: now, or when an earlier attempt of unknown outcome began. `content`: that is shown, if it is another. */
interface BegunAttempt {
	readonly since: number;
	readonly leasedUntil: number;
	readonly content?: Post['content'] | null;
}

const ALL = { updates: true };
type Shown = Extract<AttemptResult, { kind: 'shown' }>;
type Ended = Exclude<AttemptResult, { kind: 'held' | 'retry' }>;
interface PostEnd {
	readonly content: PostContent;
	readonly watch: WatchRow;
	readonly result: Ended;
	readonly isFirstPost: boolean;
}

const NO_WATCH = {
	watch: null,
	style: UNKNOWN_STYLE,
	view: null,
	checkedAt: null,
	unreadCode: null,
	question: null,
	threadTs: null,
	formerThreadTs: null,
	isQuestionLost: false,
	isAnySettled: false,
	lead: null,
} as const;
const GONE = { state: 'gone', dueAt: null, sendingSince: null } as const;

/** Plans a new card for a live watch whose card `ts` was deleted. The caller has locked the session and the watch. */
async function replaceCard(tx: Tx, row: WatchRow, ts: string): Promise<void> {
	// A raised hand has no card.
	if (row.endedAt !== null || row.mode === 'raisedHand') return;
	const cards = from(tx.trx, 'posts', { watchId: row.id, kind: 'card' }).selectAll();
	const last = await cards.orderBy('number', 'desc').limit(1).executeTakeFirst();
	const content = last === undefined ? undefined : readPost(last)?.content;
	// The time of a first card is no replacement's.
	const before = content?.kind === 'card' && content.isFirst !== true ? (content.notBefore ?? null) : null;
	await planPosts(tx, [cardAgain(readWatch(row), ts, before, tx.now)]);
}

async function isSettled(trx: Db, { questionId }: PostRow): Promise<boolean> {
	const settled = from(trx, 'questions', { id: questionId ?? '' }).where('settledAt', 'is not', null);
	return isFound(settled.select('id'));
}

const isOver = ({ isLast, isUnsure = false }: Shown) => isLast && !isUnsure;

/** When to draw a post again: at once if something has changed since it was taken, else at `againAt`, if any. */
function dueAgain(wanted: number, againAt: number | null, now: number, isFirstPost: boolean) {
	// A first post may have had to wait longer than changes of it do.
	const urgency = isFirstPost ? sql.lit(0) : sql.ref('urgency');
	return {
		dueAt: sql<number>`cast(case when wanted > ${wanted} then ${now} else ${againAt} end as bigint)`,
		urgency: sql<number>`case when wanted > ${wanted} then ${urgency} else ${sql.lit(NOT_MARKED)} end`,
	};
}

/** A mark that has not been spread may be of a change after it was drawn. */
const IS_MARKED = sql<boolean>`exists (select 1 from marks
	where marks.service = posts.service and marks.session_id = posts.session_id
		and (marks.cards is null or posts.kind = 'card'))`;
const closedAt = (wanted: number) =>
	sql<string>`case when wanted > ${wanted} or ${IS_MARKED} then 'shown' else 'closed' end`;

function shownColumns({ sendingSince }: Pick<Post, 'sendingSince'>, { ts, key, isUnsure = false }: Shown, now: number) {
	const since = isUnsure ? sendingSince : null;
	return { state: 'shown', ts, shownKey: key, shownAt: now, sendingSince: since, lastError: null, attempts: 0 };
}

/** When a post is drawn again. Over after its last look, unless that was drawn before something changed. */
function afterShown(
	{ wanted, sendingSince }: Pick<Post, 'wanted' | 'sendingSince'>,
	result: Shown,
	now: number,
	isFirstPost: boolean,
) {
	if (isOver(result)) return { ...dueAgain(wanted, null, now, isFirstPost), state: closedAt(wanted) };
	const unsureUntil = result.isUnsure === true ? (sendingSince ?? now) + UNSURE_MS : (result.againAt ?? null);
	return dueAgain(wanted, result.key === null ? now : unsureUntil, now, isFirstPost);
}

/** What an attempt leaves of which nothing follows; null: see `finish`. */
function columnsOf(post: Post, result: AttemptResult, now: number) {
	switch (result.kind) {
		case 'held': {
			const { content } = result;
			const awaitsAgentOutcome = content.kind === 'card' || (content.kind === 'reminder' && content.entries.length > 0);
			const lastError = awaitsAgentOutcome ? AWAITED : HELD;
			const { dueAt } = dueAgain(post.wanted, Math.round(result.until), now, true);
			const known = !result.unknown && { sendingSince: null };
			return { dueAt, content: JSON.stringify(result.content), lastError, ...known };
		}
		case 'retry': {
			const { code: lastError, unknown } = result;
			const failed = lastError !== PACED && { attempts: sql<number>`attempts + 1` };
			const plain = isToBePlain(post, lastError) && { isPlain: 1 };
			return { dueAt: Math.round(result.at), lastError, ...failed, ...plain, ...(!unknown && { sendingSince: null }) };
		}
		case 'shown': {
			if (post.ts === null) return null;
			// News that came meanwhile are not shown yet.
			const shownAt = sql<number>`cast(case when wanted > ${post.wanted} then shown_at else ${now} end as bigint)`;
			return { ...shownColumns(post, result, now), shownAt, ...afterShown(post, result, now, false) };
		}
		default:
			return null;
	}
}

function endColumns(row: PostRow, wanted: number, result: Ended, now: number): object {
	const isFirstPost = row.state === 'planned';
	const none = { dueAt: null, sendingSince: null };
	if (result.kind === 'shown') {
		const { sendingSince } = row;
		return { ...shownColumns(row, result, now), ...afterShown({ wanted, sendingSince }, result, now, isFirstPost) };
	}
	if (isAnotherLost(row, result)) return { ...none, state: 'planned', ts: null, dueAt: now };
	if (result.kind === 'dropped' && row.kind === 'reminder') return { ...none, ...overUnless(wanted, now) };
	if (result.kind === 'dropped') return { ...none, state: 'dropped' };
	if (result.kind === 'deleted') return GONE;
	if (isFirstPost) return { ...none, state: 'refused', lastError: result.code };
	// What Slack refuses to show is tried again when it has changed.
	return { ...none, ...dueAgain(wanted, null, now, false), lastError: result.code };
}

/** A reminder is held again if another question came into its place while it was found to be over. */
function overUnless(wanted: number, now: number) {
	const { dueAt } = dueAgain(wanted, null, now, true);
	return { dueAt, state: sql<string>`case when wanted > ${wanted} then 'planned' else 'dropped' end` };
}

/** Whether a message that was to show another question, or news of an answer, cannot: it is posted anew. */
function isAnotherLost({ kind, ts, shownAt }: PostRow, result: Ended): boolean {
	if (ts === null || shownAt !== null) return false;
	if (result.kind === 'deleted') return kind === 'question' || kind === 'receipt';
	return result.kind === 'refused' && kind === 'receipt';
}

/** Whether no first post of its stream goes before it: the card is first, unreadable and held ones do not count. */
function isFirst(updates: boolean) {
	const isKind = updates ? sql`posts.state = 'shown' or` : sql`posts.state = 'planned' and`;
	return sql<boolean>`(${isKind} (posts.kind = 'card' or not exists (select 1 from posts as earlier
		where earlier.stream = posts.stream and earlier.state = 'planned'
		and coalesce(earlier.last_error, '') not in (${UNREADABLE_POST}, ${HELD}, ${AWAITED})
		and (earlier.kind = 'card' or earlier.number < posts.number))))`;
}

/** Makes unreadable and held posts due: this start may have brought the right key or version, or other settings. */
export async function retryWaiting(db: StoreDatabase): Promise<void> {
	const waiting = { state: OPEN, lastError: [UNREADABLE_POST, HELD, AWAITED] };
	const lastError = sql<string>`case when last_error = ${UNREADABLE_POST} then null else last_error end`;
	const due = { dueAt: sql<number>`created_at`, lastError };
	await db.writeOne((trx) => {
		// All of them have a due time, so this is enough for an index.
		const id = locked(trx, 'posts', waiting).where(sql<boolean>`due_at is not null`);
		return change(trx, 'posts', { id }, due).execute();
	});
}
