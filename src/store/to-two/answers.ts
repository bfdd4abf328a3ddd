import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { DAY_MS } from '../../kernel/clock.ts';
import { parseOrNull } from '../../kernel/values.ts';

/**
 * Answers without the row of their question: all of 1.0.0, and those of 1.1.0 in sessions that nobody watched. Failed
 * ones are left out, because sending one again links it.
 */
const UNLINKED = sql.raw(
	`question_id is null and state in ('accepted', 'delivering', 'waiting', 'delivered', 'resumed')`,
);

/**
 * Links answers to the newest question with their position and fingerprint. An answer that arrived gets none that was
 * asked later.
 */
export const linkAnswers = (db: Kysely<unknown>) =>
	sql`with found as (select answers.id as answer_id, questions.id,
				row_number() over (partition by answers.id order by number desc) as newest
			from answers join questions using (service, session_id, message_index, fingerprint)
			where ${UNLINKED} and (delivered_at is null or asked_at <= delivered_at))
		update answers set question_id = found.id from found where found.answer_id = answers.id and newest = 1`.execute(db);

/**
 * Adds a row for each question that only answers know, settled as `unwatched`. Its id is that of its first answer. Its
 * number comes before the known numbers of its session, or after them if its message comes after the newest known one.
 */
export const addQuestions = (db: Kysely<unknown>) =>
	sql`with every as (
			select service, session_id, message_index, fingerprint, min(id) as id, min(accepted_at) as accepted_at,
				cast(null as integer) as number
			from answers where ${UNLINKED} group by service, session_id, message_index, fingerprint
			union all select service, session_id, message_index, fingerprint, null, null, number from questions),
		known as (select every.*,
				min(number) over (partition by service, session_id) as lowest,
				max(number) over (partition by service, session_id) as highest,
				first_value(case when number is not null then message_index end) over (partition by service, session_id
					order by case when number is null then 1 else 0 end, number desc) as newest
			from every),
		missing as (select known.*, case when newest >= message_index then 1 else 0 end as is_before
			from known where number is null)
		insert into questions (id, service, session_id, message_index, number, same_before, fingerprint, shown_hash,
			asked_at, settled_at, settled_how)
		select id, service, session_id, message_index,
			case when is_before = 1
				then lowest - row_number() over (partition by service, session_id, is_before
					order by message_index desc, accepted_at desc, id desc)
				else coalesce(highest, 0) + row_number() over (partition by service, session_id, is_before
					order by message_index, accepted_at, id) end,
			0, fingerprint, '', 0, accepted_at, 'unwatched' from missing`.execute(db);

/** 1.0.0 did not count the agent's messages after the one that asks. At most it is all but that one. */
export const beforePut = z
	.object({ assistantCount: z.int(), stepsSince: z.int().nullish(), filled: z.array(z.int()).default([]) })
	.transform(({ assistantCount, stepsSince, filled }) => ({
		steps: stepsSince ?? Math.max(assistantCount - 1, 0),
		filled,
	}));

const delivered = z.array(z.looseObject({ state: z.string() }));

/** Numbers the arrivals of 1.0.0, which had no numbers. They come first: 1.1.0 counted on from how many there were. */
export async function numberArrivals(db: Kysely<unknown>): Promise<void> {
	const isFirst = sql.raw(`timeline not like '%"arrival"%'`);
	const { rows } = await sql<{ id: string; timeline: string; number: number }>`select * from (
			select id, timeline, row_number() over (partition by service, session_id
				order by case when ${isFirst} then 0 else 1 end, delivered_at, accepted_at, id) as number
			from answers where state in ('delivered', 'resumed')) as arrived
		where ${isFirst}`.execute(db);
	for (const { id, timeline: stored, number } of rows) {
		const entries = parseOrNull(delivered, stored) ?? [];
		const arrived = entries.find(({ state }) => state === 'delivered');
		if (arrived === undefined) continue;
		Object.assign(arrived, { arrival: Number(number) });
		await sql`update answers set timeline = ${JSON.stringify(entries)} where id = ${id}`.execute(db);
	}
}

/**
 * Adds the count of steps before the PUT, which 1.0.0 did not store. With it a later message shows that the agent has
 * continued.
 */
export async function countSteps(db: Kysely<unknown>): Promise<void> {
	const { rows } = await sql<{ id: string; beforePut: string }>`select id, before_put from answers
		where before_put is not null and before_put not like '%"stepsSince"%'`.execute(db);
	for (const row of rows) {
		const counted = parseOrNull(beforePut, row.beforePut);
		if (counted === null) continue;
		const { steps: stepsSince, filled } = counted;
		const stored = JSON.stringify({ ...JSON.parse(row.beforePut), stepsSince, filled });
		await sql`update answers set before_put = ${stored} where id = ${row.id}`.execute(db);
	}
}

/** Outcomes that 2.0.0 does not have. */
const GONE = ['taken', 'emptied', 'unconfirmed', 'paused'] as const;

/**
 * Replaces outcomes that are gone. An agent that emptied the field and wrote a message has continued: `resumed`. All
 * others become `unseen`, and those of the last day are checked again. Authors get no message about this change.
 */
export async function renewOutcomes(db: Kysely<unknown>, now: number): Promise<void> {
	await sql`update answers set state = 'resumed', agent_outcome = 'resumed',
			timeline = substr(timeline, 1, length(timeline) - 1)
				|| ',{"state":"resumed","at":' || coalesce(delivered_at, accepted_at) || '}]',
			receipt_state = replace(receipt_state, '"state":"delivered"', '"state":"resumed"')
		where state = 'delivered' and agent_outcome in ('taken', 'emptied')
			and evidence like '%"grew":true%'`.execute(db);
	await sql`update answers set agent_outcome = 'unseen'
		where agent_outcome in (${sql.join(GONE.map((word) => sql.lit(word)))})`.execute(db);
	for (const word of GONE) {
		const [former, told] = [`"agentOutcome":"${word}"`, '"agentOutcome":"'].map((text) => sql.lit(text));
		await sql`update answers set receipt_state = replace(receipt_state, ${former},
				${told} || case state when 'resumed' then 'resumed' else 'unseen' end || '"')
			where receipt_state like ${sql.lit(`%"agentOutcome":"${word}"%`)}`.execute(db);
	}
	await sql`update answers set next_attempt_at = ${sql.lit(now)}
		where state = 'delivered' and agent_outcome = 'unseen' and next_attempt_at is null
			and delivered_at > ${sql.lit(now - DAY_MS)}`.execute(db);
}

/**
 * Ends the wait of answers that came second and whose first answer failed: their texts are drafts already. Their
 * receipts are drawn again. `give_up_at` holds when such an answer began to wait.
 */
export const renewSecond = (db: Kysely<unknown>, now: number) =>
	sql`update answers set state = 'conflicted', ended_at = give_up_at, next_attempt_at = ${sql.lit(now)},
			last_error = case when last_error in ('first_over', 'first_unknown') then last_error else 'first_failed' end,
			receipt_state = replace(receipt_state, '"state":"waiting"', '"state":null')
		where state = 'waiting'
			and last_error in ('first_withdrawn', 'first_outdated', 'first_over', 'first_failed', 'first_unknown')`.execute(
		db,
	);
