import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { parseOrNull } from '../../kernel/values.ts';

/** Keeps how posts of 1.1.0 wait, and removes the codes of failures, which nobody read. */
export const keepWaits = (db: Kysely<unknown>) =>
	sql`update posts set waits_as = null where waits_as not in ('held', 'unreadable')`.execute(db);

/**
 * Ends the posts of kind `switching`: one for all questions of a session whose question changed often. Such a post is
 * of the newest question now. Questions that 1.1.0 held back meanwhile are posted, or removed where such a post is.
 */
export async function endSwitching(db: Kysely<unknown>, now: number): Promise<void> {
	const held = sql`kind = 'question' and state = 'planned' and waits_as = 'held'`;
	const isShown = sql`kind = 'switching' and state = 'shown' and ts is not null`;
	await sql`delete from posts where ${held} and stream in (select stream from posts where ${isShown})`.execute(db);
	await sql`update posts set waits_as = null, due_at = ${sql.lit(now)} where ${held}`.execute(db);
	const { rows } = await sql<Switching>`select posts.id, ts, watch_id, questions.id as question_id, settled_at
		from posts join questions using (service, session_id) where ${isShown} and questions.number =
			(select max(number) from questions as newest
				where newest.service = posts.service and newest.session_id = posts.session_id)
			and not exists (select 1 from posts as own
				where own.stream = posts.stream and own.unique_key = 'question:' || questions.id)`.execute(db);
	for (const { id, ts, watchId, questionId, settledAt } of rows) {
		await sql`update posts set kind = 'question', content = '{"kind":"question","changed":true}',
				question_id = ${questionId}, unique_key = ${`question:${questionId}`}, due_at = ${sql.lit(now)},
				wanted = wanted + 1
			where id = ${id}`.execute(db);
		if (settledAt !== null) continue;
		await sql`delete from ladders where watch_id = ${watchId} and question_id <> ${questionId}`.execute(db);
		await sql`insert into ladders (watch_id, team_id, channel_id, service, session_id, question_id, post_ts, posted_at,
				due_at)
			select id, team_id, channel_id, service, session_id, ${questionId}, ${ts}, ${sql.lit(now)}, ${sql.lit(now)}
			from watches where id = ${watchId} and ended_at is null
				and not exists (select 1 from ladders where watch_id = watches.id)`.execute(db);
	}
	await sql`delete from posts where kind = 'switching'`.execute(db);
}

/**
 * Moves reminders from `ladders` to posts: their counts to the post of the question, and one held reminder for each
 * channel and each card. Queued reminders that were not sent are dropped and decided again. One that may have been sent
 * goes on, because the search may find its message.
 */
export async function holdReminders(db: Kysely<unknown>, now: number): Promise<void> {
	await sql`update posts set remind_since = ladders.posted_at, reminded_at = ladders.reminded_at,
			escalation_count = ladders.escalation_count, last_reminder_at = ladders.last_reminder_at
		from ladders where posts.kind = 'question' and posts.watch_id = ladders.watch_id
			and posts.question_id = ladders.question_id`.execute(db);
	for (const kind of ['escalation', 'digest'])
		await sql`update posts set kind = 'reminder',
				content = replace(content, ${sql.lit(`"kind":"${kind}"`)}, '"kind":"reminder"')
			where kind = ${sql.lit(kind)}`.execute(db);
	const { rows } = await sql<Queued>`select id, stream, content, sending_since from posts
		where kind = 'reminder' and state = 'planned' order by number`.execute(db);
	for (const queued of Map.groupBy(rows, ({ stream }) => stream).values()) {
		const sent = queued.find(({ sendingSince }) => sendingSince !== null);
		for (const { id, content, sendingSince } of queued) {
			if (id === sent?.id) await sql`update posts set unique_key = 'reminder' where id = ${id}`.execute(db);
			else await sql`update posts set state = 'dropped', due_at = null where id = ${id}`.execute(db);
			// A second one of the stream that may have been sent counts as seen.
			if (id === sent?.id || sendingSince === null) await uncount(db, content);
		}
	}
	const none = sql`cast(null as text)`;
	const ofChannels = sql`select distinct 'channel:' || team_id || ':' || channel_id as stream, team_id, channel_id,
		${none} as watch_id, ${none} as service, ${none} as session_id from ladders`;
	// For reminders in the threads of cards. One that does not belong there is dropped when it is looked at.
	const ofWatches = sql`select 'watch:' || watch_id as stream, ladders.team_id, ladders.channel_id, watch_id,
		ladders.service, ladders.session_id from ladders join watches on watches.id = watch_id where mode = 'card'`;
	for (const places of [ofChannels, ofWatches])
		await sql`insert into posts (id, stream, number, unique_key, team_id, place_id, watch_id, service, session_id, kind,
				content, state, created_at, due_at, waits_as)
			select stream, stream, (select coalesce(max(number), 0) + 1 from posts where posts.stream = held.stream),
				'reminder', team_id, channel_id, watch_id, service, session_id, 'reminder',
				'{"kind":"reminder","entries":[]}', 'planned', ${sql.lit(now)}, ${sql.lit(now)}, 'held'
			from (${places}) as held where true
			on conflict (stream, unique_key) do nothing`.execute(db);
}

interface Queued extends Readonly<Record<'id' | 'stream' | 'content', string>> {
	readonly sendingSince: number | null;
}

const queuedContent = z.object({
	entries: z.array(
		z.object({
			watchId: z.string(),
			questionId: z.string(),
			stage: z.string(),
			lastReminderAt: z.number().nullable().default(null),
		}),
	),
});

/** Takes back the counts of the reminders in a queued post, which nobody has seen. */
async function uncount(db: Kysely<unknown>, content: string): Promise<void> {
	for (const { watchId, questionId, stage, lastReminderAt } of parseOrNull(queuedContent, content)?.entries ?? []) {
		const count = stage === 'reminder' ? sql`reminded_at = null` : sql`escalation_count = escalation_count - 1`;
		const isCounted = stage === 'reminder' ? sql`reminded_at is not null` : sql`escalation_count > 0`;
		await sql`update posts set ${count}, last_reminder_at = ${lastReminderAt} where kind = 'question'
			and watch_id = ${watchId} and question_id = ${questionId} and ${isCounted}`.execute(db);
	}
}

interface Switching {
	readonly id: string;
	readonly ts: string;
	readonly watchId: string;
	readonly questionId: string;
	readonly settledAt: number | null;
}
