// Reads what due posts are about: watch, session, question and thread. Writes nothing.
import { isInThread, UNKNOWN_STYLE } from '../domain/channel-settings.ts';
import { columnsAs, joinedRow, type RawBuilder, type StoreParts, sql } from '../store/database.ts';
import { UNREADABLE_POST } from '../store/due.ts';
import { readQuestion } from '../store/question-store.ts';
import { JOINED_SHOWN, readShown, SHOWN_COLUMNS } from '../store/watches.ts';
import {
	askedOf,
	type DuePost,
	NEWS_KINDS,
	type Post,
	type PostKind,
	type PostRow,
	QUESTION_KINDS,
	readPost,
} from './post.ts';

/** What is stored about a post of a watch, beside the columns of `readShown` and of its own question. */
interface PostFacts {
	readonly postId: string;
	/** The newest card that Slack shows. */
	readonly cardTs: string | null;
	/** The newest post of the post's own question that Slack shows. */
	readonly ownTs: string | null;
	/** Read for a card only, as is all below. The post of the session's end; empty: it is planned. */
	readonly endTs: string | null;
	/** The post of the newest question; empty: it is planned. */
	readonly questionTs: string | null;
	/** Not null: the post of the newest question is gone, or Slack refused it. */
	readonly lostTs: string | null;
	/** Not null: a question of its watch is settled. */
	readonly settledTs: string | null;
}

const NO_WATCH = {
	watch: null,
	style: UNKNOWN_STYLE,
	snapshot: null,
	checkedAt: null,
	unreadCode: null,
	question: null,
	threadTs: null,
	formerThreadTs: null,
	isQuestionLost: false,
	isAnySettled: false,
	lead: null,
} as const;

/** Reads rows of posts together with what they are about. */
export function createDuePostReader({ db, cipher }: Pick<StoreParts, 'db' | 'cipher'>) {
	/** For each row: null where the post, or what it shows of its session or question, cannot be read. */
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
		const { watch, snapshot } = shown;
		const inThread = isInThread(watch.mode, shown.style);
		if (snapshot === null && row.kind === 'card') return null;
		const isNewest = row.questionId === null || row.questionId === shown.question?.id;
		const own = isNewest ? undefined : joinedRow(found, 'questions', 'own');
		const question = isNewest ? shown.question : own === undefined ? null : readQuestion(own, cipher);
		const isLost = question?.isUnreadable === true && askedOf({ question, snapshot }) === null;
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
		/** A column of the watch's newest post that matches. */
		const newest = (
			column: RawBuilder<unknown>,
			where: RawBuilder<unknown>,
		) => sql`(select ${column} from posts as other
			where other.watch_id = posts.watch_id and ${where} order by other.number desc limit 1)`;
		/** Only cards need it. */
		const ofCard = (value: RawBuilder<unknown>) => sql`case when posts.kind = 'card' then ${value} end`;
		const isKept = sql`other.state in ('planned', 'shown', 'closed')
			and coalesce(other.waits_as, '') <> ${UNREADABLE_POST}`;
		const isOwn = sql`other.kind = 'question' and other.question_id = posts.question_id and ${isShown}`;
		const isAsked = sql`other.kind = 'question' and other.question_id = ${about}`;
		const isSettled = sql`other.kind = 'question' and exists (select 1 from questions as asked
			where asked.id = other.question_id and asked.settled_at is not null)`;
		const leads = (isLead: RawBuilder<unknown>) =>
			ofCard(newest(sql`coalesce(other.ts, '')`, sql`${isKept} and ${isLead}`));
		const { rows } =
			await sql<PostFacts>`select posts.id as post_id, ${SHOWN_COLUMNS}, ${columnsAs('questions', 'own')},
				${newest(sql`other.ts`, sql`other.kind = 'card' and ${isShown}`)} as card_ts,
				${newest(sql`other.ts`, isOwn)} as own_ts,
				${leads(sql`other.kind = 'sessionEnded'`)} as end_ts,
				${leads(isAsked)} as question_ts,
				${ofCard(newest(sql`'lost'`, sql`other.state in ('gone', 'refused') and ${isAsked}`))} as lost_ts,
				${ofCard(newest(sql`'settled'`, isSettled))} as settled_ts
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

	return dueOf;
}
