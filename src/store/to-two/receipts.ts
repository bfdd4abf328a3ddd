import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { DAY_MS } from '../../kernel/clock.ts';
import { parseOrNull } from '../../kernel/values.ts';

/**
 * Adds a post for each direct message with a receipt: 1.1.0 stored its place in `answers.receipt_state`. One that may
 * have been sent is `planned`, so that it is searched for.
 */
export async function receiptsToPosts(db: Kysely<unknown>, now: number): Promise<void> {
	const { rows } = await sql<Told>`select id, team_id, user_id, service, session_id, question_id, receipt_state,
			accepted_at, state, agent_outcome
		from answers where receipt_state not like '%"dm":null%' or receipt_state like '%"dmSince":%'`.execute(db);
	for (const row of rows) {
		const told = parseOrNull(formerReceipt, row.receiptState);
		if (told === null) continue;
		const { dm, dmSince = null } = told;
		// The search looks for this id: 1.1.0 gave it to Slack with the message.
		const key = `${row.id} ${dm?.ts ?? ''}`;
		const isSure = dmSince === null;
		const goesOn = GOING_ON.has(row.state) || (row.state === 'delivered' && row.agentOutcome === null);
		const state = !isSure ? 'planned' : goesOn ? 'shown' : 'closed';
		await sql`insert into posts (id, stream, number, unique_key, team_id, place_id, service, session_id, question_id,
				kind, content, state, created_at, due_at, sending_since, ts)
			values (${key}, ${`person:${row.teamId}:${row.userId}:${row.id}`}, 1, 'receipt', ${row.teamId}, ${row.userId},
				${row.service}, ${row.sessionId}, ${row.questionId}, 'receipt',
				${JSON.stringify({ kind: 'receipt', answerId: row.id })}, ${state}, ${row.acceptedAt},
				${isSure ? null : now}, ${dmSince}, ${isSure ? (dm?.ts ?? null) : null})`.execute(db);
	}
}

/**
 * Adds a receipt to `views` for each answer of which there is still to tell, so that messages tell it. Open windows are
 * forgotten. The worker has nothing more to do for answers that it kept only to tell their authors.
 */
export async function receiptsToViews(db: Kysely<unknown>, now: number): Promise<void> {
	const at = sql.lit(now);
	await sql`insert into views (id, kind, team_id, user_id, service, session_id, message_index, answer_id,
			followed_until, not_before, due_at)
		select 'answer:' || id, 'receipt', team_id, user_id, service, session_id, message_index, id,
			${at} + ${sql.lit(2 * DAY_MS)}, ${at}, ${at}
		from answers where next_attempt_at is not null and user_id not like 'forgotten-%'`.execute(db);
	await sql`update answers set next_attempt_at = null where state not in ('accepted', 'delivering')
		and not (state = 'delivered' and coalesce(agent_outcome, 'unseen') = 'unseen')`.execute(db);
}

/** States that may still change. */
const GOING_ON = new Set(['accepted', 'delivering', 'waiting']);

const formerReceipt = z.object({
	dm: z.object({ ts: z.string() }).nullable(),
	dmSince: z.number().exactOptional(),
});

interface Told extends Readonly<Record<'id' | 'teamId' | 'userId' | 'service' | 'sessionId' | 'receiptState', string>> {
	readonly questionId: string | null;
	readonly acceptedAt: number;
	readonly state: string;
	readonly agentOutcome: string | null;
}
