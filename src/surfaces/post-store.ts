// Owns `posts`, with `plan-store.ts` and `attempt-store.ts`: gives out what is due, and plans single posts.
import type { Answer } from '../domain/answer.ts';
import { DAY_MS } from '../kernel/clock.ts';
import type { Lease } from '../kernel/lease-loop.ts';
import type { Log } from '../kernel/log.ts';
import {
	addIf,
	change,
	channelOf,
	from,
	hasChanged,
	isFound,
	personOf,
	type StoreDatabase,
	type StoreParts,
	sessionOf,
	sql,
} from '../store/database.ts';
import { CANDIDATES_PER_ROW, nextDue, queueOf, takeReadable, UNREADABLE_POST } from '../store/due.ts';
import { locked } from '../store/locks.ts';
import type { ChannelKey } from '../store/watch.ts';
import { liveWatches } from '../store/watches.ts';
import { isOurs } from '../store/workspaces.ts';
import { endAttempt } from './attempt-store.ts';
import { createDuePostReader } from './due-post-store.ts';
import { OPEN, plannedRow, planPosts, silencePosts } from './plan-store.ts';
import type { AttemptResult, DuePost, NewPost, Post, PostContent } from './post.ts';

/** The posts that are due, the attempts to show them, and what else is known of posts. */
export function createPostStore({ db, cipher, log }: StoreParts & { log: Log }) {
	const dueOf = createDuePostReader({ db, cipher });

	return {
		/**
		 * Leases due posts of this workspace, urgent ones first. Of a stream's first posts it takes only the next one.
		 * Without `updates`, it takes first posts alone.
		 */
		takeDue(lease: Lease, limit: number, now: number, { updates } = ALL): Promise<readonly DuePost[]> {
			// One query for each state, because both databases then read only the first rows of an index.
			const candidates = (updates ? OPEN : OPEN.slice(0, 1)).map((state) => {
				return sql`select id from (select id from posts where state = ${sql.lit(state)} and due_at is not null
					and due_at <= ${now} and (lease_token is null or leased_until <= ${now})
					and ${isOurs(db)} and ${isNextOfStream(updates)}
					order by urgency, due_at, created_at limit ${CANDIDATES_PER_ROW * limit}) as ${sql.ref(state)}`;
			});
			const where = sql<boolean>`due_at <= ${now} and id in (${sql.join(candidates, sql` union all `)})`;
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

		/**
		 * The post of which a pressed message is a repeat: its channel, and its `ts` (null: Slack does not show it). Null:
		 * the message is no repeat.
		 */
		async repeatedBy({ key, ts, placeIds: [channel = ''] }: PressedPlace) {
			const keyed = from(db.read, 'posts', { id: key ?? '' }).select(['ts', 'state']);
			const row = await keyed.executeTakeFirst();
			if (row === undefined || row.ts === ts || row.state === 'planned') return null;
			return { channel, ts: row.state === 'shown' || row.state === 'closed' ? row.ts : null };
		},

		/** Whether a channel watches anything, or has `watch all`. */
		async isFollowing(channel: ChannelKey): Promise<boolean> {
			const here = channelOf(channel);
			const discovery = from(db.read, 'discoveries', here).select('service');
			return (await isFound(liveWatches(db.read, here))) || isFound(discovery);
		},

		/**
		 * The channels of this workspace that watch something, have `watch all`, or have posts that are due at some time.
		 */
		async activeChannels(): Promise<readonly ChannelKey[]> {
			// The recursion jumps from place to place by index, so its cost does not grow with the number of posts.
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

		/** Notes that Slack is about to be called, and prolongs the lease. False when the lease was lost. */
		beginAttempt: (id: string, token: string, { since, leasedUntil, content = null }: BegunAttempt) =>
			db.writeOne((trx) => {
				const shows = content && { content: JSON.stringify(content) };
				const begun = { sendingSince: since, leasedUntil, waitsAs: null, ...shows };
				return hasChanged(change(trx, 'posts', { id, leaseToken: token, state: OPEN }, begun));
			}),

		/** Notes the outcome and gives the lease back; does nothing when the lease was lost. */
		endAttempt: (post: Post, token: string, result: AttemptResult, now: number) =>
			endAttempt(db, { post, token, result, now }),

		...queueOf(db, 'posts'),

		/** When `takeDue` next finds something, or null. Posts that wait for another one do not count. */
		nextDueAt: ({ updates } = ALL) => nextDue(db, 'posts', sql`${isOurs(db)} and ${isNextOfStream(updates)}`, 'dueAt'),

		/** Plans a post, unless one with its key was planned before. */
		planOnce: (post: NewPost, now: number) => db.write((trx) => planPosts({ trx, now }, [post])),

		/**
		 * Plans the direct message about an answer, or has it drawn again. For news (`isNews`), a message that is over is
		 * posted anew. Does nothing when the data of the author was removed meanwhile.
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
				// Locks watches first, as everyone does who drops their posts.
				await locked(trx, 'watches', channelOf(channel)).execute();
				await silencePosts(trx, { teamId: channel.teamId, placeId: channel.channelId });
			}),

		/** Updates the notices of the last day in channels: why `watch all` is paused, or (null) that it goes on. */
		async notePaused(service: string, why: string | null, now: number): Promise<void> {
			const reason = why === null ? { why: 'noList', isOver: true } : { why };
			const content = JSON.stringify({ kind: 'discoveryPaused', ...reason });
			const stream = sql<string>`(select 'channel:' || team_id || ':' || channel_id from discoveries
				where service = ${service})`;
			const since = why === null ? 0 : now - DAY_MS;
			const notices = from(db.read, 'posts', { kind: 'discoveryPaused', state: ['shown', 'closed'] }).select('id');
			const outdated = notices
				.where('stream', 'in', stream)
				.where('content', '!=', content)
				.where('createdAt', '>', since);
			const again = { content, state: 'shown', dueAt: now, wanted: sql<number>`wanted + 1` };
			for (const { id } of await outdated.execute())
				await db.writeOne((trx) => change(trx, 'posts', { id }, again).execute());
		},
	};
}

export type PostStore = ReturnType<typeof createPostStore>;

/** The message on which somebody pressed a button. */
export interface PressedPlace {
	readonly teamId: string;
	/** The channel and the person who pressed: the post of a direct message has the person's id as its place. */
	readonly placeIds: readonly string[];
	readonly ts: string;
	/** The id of a post in the message's metadata, or null. */
	readonly key: string | null;
}

type ToldAnswer = Pick<Answer, 'id' | 'person' | 'question' | 'questionId'>;
interface ReceiptNews {
	readonly isNews: boolean;
	readonly now: number;
}

/** `since`: now, or when an earlier attempt of unknown outcome began. `content`: what is shown, if that differs. */
interface BegunAttempt {
	readonly since: number;
	readonly leasedUntil: number;
	readonly content?: Post['content'] | null;
}

const ALL = { updates: true };

/**
 * Whether no other first post of its stream goes before it. A card goes before all others. A post that is held or
 * cannot be read delays none.
 */
function isNextOfStream(updates: boolean) {
	const isKind = updates ? sql`posts.state = 'shown' or` : sql`posts.state = 'planned' and`;
	return sql<boolean>`(${isKind} (posts.kind = 'card' or not exists (select 1 from posts as earlier
		where earlier.stream = posts.stream and earlier.state = 'planned' and earlier.waits_as is null
		and (earlier.kind = 'card' or earlier.number < posts.number))))`;
}

/** Makes unreadable and held posts due at a start, which may bring the right key, another version or other settings. */
export async function retryWaiting(db: StoreDatabase): Promise<void> {
	const waitsAs = sql<string>`case when waits_as = ${UNREADABLE_POST} then null else waits_as end`;
	const due = { dueAt: sql<number>`created_at`, waitsAs };
	await db.writeOne((trx) => {
		// All of them have a due time, so this is enough for an index.
		const id = locked(trx, 'posts', { state: OPEN }).where(sql<boolean>`waits_as is not null and due_at is not null`);
		return change(trx, 'posts', { id }, due).execute();
	});
}
