import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { Evidence } from '../domain/asked.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { parseOrNull } from '../kernel/values.ts';
import { isPostgres } from './database.ts';

/** Rows that one statement reads or writes. */
const BATCH = 500;

/**
 * Turns what 1.0.0 and 1.1.0 stored into what 2.0.0 has in its place: evidence of reads, outcomes, flags of watches,
 * posts of a kind that is gone. Answers that may still matter get the row of their question. Decrypts nothing. `now`:
 * clock milliseconds.
 */
export async function toTwo(db: Kysely<unknown>, now: number): Promise<void> {
	// Without statistics it joins tables row by row.
	if (isPostgres(db)) await sql`analyze answers, questions`.execute(db);
	await linkAnswers(db);
	await addQuestions(db);
	await linkAnswers(db);
	await numberArrivals(db);
	await countSteps(db);
	await renewOutcomes(db, now);
	await renewSecond(db, now);
	await renewEvidence(db);
	await flagsToSettings(db);
	await endSwitching(db, now);
	await holdReminders(db, now);
	await receiptsToPosts(db, now);
	await receiptsToViews(db, now);
}

/** 1.0.0 linked none, and 1.1.0 none of sessions that nobody watched. One that is sent again is linked then. */
const UNLINKED = sql.raw(
	`question_id is null and state in ('accepted', 'delivering', 'waiting', 'delivered', 'resumed')`,
);

/** The newest row at the place of the answer; of one that arrived, not one that was asked later. */
const linkAnswers = (db: Kysely<unknown>) =>
	sql`with found as (select answers.id as answer_id, questions.id,
				row_number() over (partition by answers.id order by number desc) as newest
			from answers join questions using (service, session_id, message_index, fingerprint)
			where ${UNLINKED} and (delivered_at is null or asked_at <= delivered_at))
		update answers set question_id = found.id from found where found.answer_id = answers.id and newest = 1`.execute(db);

/**
 * One row for each question that has none, as if nobody had watched when it was answered. It has the id of an answer,
 * and a number before those that are known of its session, unless its message is after the newest of them.
 */
const addQuestions = (db: Kysely<unknown>) =>
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

const numbers = z.array(z.int());

/** What of the evidence of 1.1.0 still says something. */
const formerEvidence = z.object({
	waitedSeen: z.boolean(),
	mostSteps: z.int().default(0),
	arrived: z
		.object({
			answerId: z.string().nullable(),
			number: z.int().nullable(),
			at: z.number(),
			positions: numbers,
			steps: z.int(),
		})
		.nullable(),
	grew: z.boolean(),
	wasActive: z.boolean(),
	hasLeft: z.boolean(),
	emptySince: z.number().nullable(),
	activeSince: z.number().nullable(),
	lost: z.string().nullable(),
});
const submission = z.object({ positions: numbers, leftEmpty: numbers });
/** 1.0.0 did not count the messages after the one that asks: at most all of the agent but that one. */
const beforePut = z
	.object({ assistantCount: z.int(), stepsSince: z.int().nullish(), filled: numbers.default([]) })
	.transform(({ assistantCount, stepsSince, filled }) => ({
		steps: stepsSince ?? Math.max(assistantCount - 1, 0),
		filled,
	}));
const timeline = z.array(z.object({ arrival: z.int().nullable().default(null) }));

/** How 1.1.0 stored that nobody counted the steps. */
const UNKNOWN_STEPS = Number.MAX_SAFE_INTEGER;

interface QuestionRow {
	readonly id: string;
	readonly settledHow: string | null;
	readonly settledAt: number | null;
	readonly answerId: string | null;
	readonly evidence: string | null;
}

interface AnswerRow {
	readonly id: string;
	readonly questionId: string;
	readonly state: string;
	readonly deliveredAt: number | null;
	readonly putStartedAt: number | null;
	readonly submission: string;
	readonly beforePut: string | null;
	readonly timeline: string;
	readonly evidence: string | null;
}

async function renewEvidence(db: Kysely<unknown>): Promise<void> {
	for (let after = ''; ; ) {
		const { rows } = await sql<QuestionRow>`select id, settled_how, settled_at, answer_id, evidence from questions
			where id > ${after} order by id limit ${sql.lit(BATCH)}`.execute(db);
		const last = rows.at(-1);
		if (last === undefined) return;
		const { rows: answers } = await sql<AnswerRow>`select answers.id, question_id, state, delivered_at, put_started_at,
				submission, before_put, timeline, answers.evidence
			from questions join answers on answers.service = questions.service
				and answers.session_id = questions.session_id and answers.question_id = questions.id
			where questions.id > ${after} and questions.id <= ${last.id}`.execute(db);
		const ofQuestions = Map.groupBy(answers.map(readAnswer), ({ questionId }) => questionId);
		const renewed = rows.map((row) => {
			const evidence = JSON.stringify(evidenceOf(row, ofQuestions.get(row.id) ?? []));
			return sql`(${row.id}, ${evidence})`;
		});
		// Both databases call the columns of `values` so.
		await sql`update questions set evidence = given.column2 from (values ${sql.join(renewed)}) as given
			where questions.id = given.column1`.execute(db);
		after = last.id;
	}
}

type ReadAnswer = ReturnType<typeof readAnswer>;

function readAnswer(row: AnswerRow) {
	const { positions, leftEmpty } = parseOrNull(submission, row.submission) ?? { positions: [], leftEmpty: [] };
	const { steps, filled } = parseOrNull(beforePut, row.beforePut) ?? { steps: null, filled: [] };
	const entries = parseOrNull(timeline, row.timeline) ?? [];
	return {
		...row,
		leftEmpty,
		own: positions.filter((position) => !leftEmpty.includes(position)),
		stood: filled,
		steps,
		number: entries.find(({ arrival }) => arrival !== null)?.arrival ?? null,
		evidence: parseOrNull(formerEvidence, row.evidence),
		arrivedAt: row.state === 'delivered' || row.state === 'resumed' ? (row.deliveredAt ?? 0) : null,
	};
}

/** `answers`: those to it. Of a row of 1.0.0, which has no evidence, they are all that is known. */
function evidenceOf(row: QuestionRow, answers: readonly ReadAnswer[]): Evidence {
	const stored = parseOrNull(formerEvidence, row.evidence);
	const arrived = answers.filter(({ arrivedAt }) => arrivedAt !== null).toSorted(byArrival);
	const newest = arrived.at(-1);
	const value = knownValue(row, stored, arrived) ?? perhapsOf(row, answers);
	const given = value?.isPerhaps ? answers.filter(({ id }) => id === value.answerId) : arrived;
	const filledByUs = new Set(arrived.flatMap(({ own, stood }) => [...own, ...stood]));
	const leftEmpty = new Set(given.flatMap((answer) => answer.leftEmpty).filter((at) => !filledByUs.has(at)));
	const filled = [...filledByUs, ...(stored?.arrived?.positions ?? [])].filter((at) => !leftEmpty.has(at));
	// What reads have shown since the value arrived: reads of a watch, and checks after the delivery.
	const shown = [stored, ...arrived.map(({ evidence }) => evidence)].filter(
		(one) => one?.arrived != null && one.arrived.answerId === value?.answerId && one.arrived.at === value.at,
	);
	const isSeen = (is: (one: Former) => boolean) => shown.some((one) => one != null && is(one));
	const isResumed = newest?.state === 'resumed' && newest.id === value?.answerId;
	return {
		waitedSteps: stored?.waitedSeen === true ? stored.mostSteps : null,
		filled: ascending(filled),
		leftEmpty: ascending(leftEmpty),
		value,
		emptied: isSeen(({ emptySince }) => emptySince !== null),
		awaySeen: isSeen(({ wasActive, hasLeft, activeSince }) => wasActive || hasLeft || activeSince !== null),
		// A message, and the newest read shows no `humanInput`; or people were told so.
		continued: isSeen(({ grew }) => grew) && (isResumed || isSeen(({ activeSince }) => activeSince !== null)),
		// These were counted by another rule: they begin anew.
		emptySince: null,
		activeSince: null,
		lost: stored?.lost ?? null,
	};
}

type Former = z.infer<typeof formerEvidence>;

const byArrival = (one: ReadAnswer, other: ReadAnswer) => (one.number ?? 0) - (other.number ?? 0);

const ascending = (positions: Iterable<number>) => [...new Set(positions)].sort((a, b) => a - b);

/** `arrived`: our answers, the newest last. One that settled as answered has a value, whatever is known of it. */
function knownValue(row: QuestionRow, stored: Former | null, arrived: readonly ReadAnswer[]): Evidence['value'] {
	const newest = arrived.at(-1);
	const own = stored?.arrived ?? null;
	const isOwn = own !== null && (newest === undefined || own.answerId === newest.id || own.at >= arrivalAt(newest));
	const of = isOwn ? own : newest?.evidence?.arrived;
	if (of != null && (isOwn || of.answerId === newest?.id)) {
		const { answerId, number, at, steps } = of;
		const filled = arrived.find(({ id }) => id === answerId)?.own ?? [];
		return { answerId, number, at, steps: steps === UNKNOWN_STEPS ? null : steps, isPerhaps: false, filled };
	}
	if (newest !== undefined) {
		const { id: answerId, number, steps, own: filled } = newest;
		return { answerId, number, at: arrivalAt(newest), steps, isPerhaps: false, filled };
	}
	if (row.settledHow !== 'answered') return null;
	return { answerId: row.answerId, number: null, at: row.settledAt ?? 0, steps: null, isPerhaps: false, filled: [] };
}

const arrivalAt = ({ arrivedAt }: ReadAnswer) => arrivedAt ?? 0;

/** An answer that is not sent any more, and may have arrived at a question that nobody waits for as far as is known. */
function perhapsOf({ settledHow }: QuestionRow, answers: readonly ReadAnswer[]): Evidence['value'] {
	if (settledHow !== 'wentOn' && settledHow !== 'unwatched') return null;
	const ended = answers.filter(({ state }) => !['accepted', 'delivering', 'conflicted'].includes(state));
	const newest = ended
		.filter(({ putStartedAt }) => putStartedAt !== null)
		.toSorted((one, other) => (one.putStartedAt ?? 0) - (other.putStartedAt ?? 0))
		.at(-1);
	if (newest === undefined) return null;
	const { id: answerId, putStartedAt, steps, own: filled } = newest;
	return { answerId, number: null, at: putStartedAt ?? 0, steps, isPerhaps: true, filled };
}

const delivered = z.array(z.looseObject({ state: z.string() }));

/** 1.0.0 numbered no arrivals. In each session its are the oldest: 1.1.0 counted on from how many there are. */
async function numberArrivals(db: Kysely<unknown>): Promise<void> {
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

/** What 1.0.0 was sending may have arrived, and then a later message shows that the agent has continued. */
async function countSteps(db: Kysely<unknown>): Promise<void> {
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

const GONE = ['taken', 'emptied', 'unconfirmed', 'paused'] as const;

/**
 * Beside an emptied field, an agent that has written a message since has continued. Of all others nothing is known, and
 * reads may still show it: those of the last day are looked at again. Authors hear nothing of this by itself.
 */
async function renewOutcomes(db: Kysely<unknown>, now: number): Promise<void> {
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
 * An answer that came second and waited, because the first had ended, is a draft already: it does not wait any more,
 * and its author's receipt is drawn anew. `give_up_at`: since when it waited.
 */
const renewSecond = (db: Kysely<unknown>, now: number) =>
	sql`update answers set state = 'conflicted', ended_at = give_up_at, next_attempt_at = ${sql.lit(now)},
			last_error = case when last_error in ('first_over', 'first_unknown') then last_error else 'first_failed' end,
			receipt_state = replace(receipt_state, '"state":"waiting"', '"state":null')
		where state = 'waiting'
			and last_error in ('first_withdrawn', 'first_outdated', 'first_over', 'first_failed', 'first_unknown')`.execute(
		db,
	);

interface Flagged {
	readonly teamId: string;
	readonly channelId: string;
	readonly discreet: number;
	readonly buttons: number;
	readonly inChannel: number;
	readonly createdBy: string;
	readonly createdAt: number;
}

/**
 * Turns the flags of watches into settings of channels: what one live watch of it, or *watch all*, was told
 * holds for all of it. Settings that nobody has saved count as saved by whoever gave the newest of these flags.
 */
async function flagsToSettings(db: Kysely<unknown>): Promise<void> {
	const { rows } = await sql<Flagged>`select * from (
			select team_id, channel_id, discreet, buttons, questions_in_channel as in_channel, created_by, created_at
				from watches where ended_at is null
			union all select team_id, channel_id, discreet, buttons, 1, created_by, created_at from discoveries) as flagged
		where discreet = 1 or buttons = 0 or in_channel = 0 order by created_at`.execute(db);
	for (const flagged of Map.groupBy(rows, (row) => `${row.teamId} ${row.channelId}`).values()) {
		const [{ teamId, channelId }] = flagged as [Flagged];
		const given = {
			...(flagged.some((row) => row.inChannel === 0) && { questionsInThread: true }),
			...(flagged.some((row) => row.discreet === 1) && { discreet: true }),
			...(flagged.some((row) => row.buttons === 0) && { buttons: false }),
		};
		const stored = await sql<{ settings: string }>`select settings from channel_settings
			where team_id = ${teamId} and channel_id = ${channelId}`.execute(db);
		const before = stored.rows[0] === undefined ? {} : parseOrNull(z.looseObject({}), stored.rows[0].settings);
		// Of damaged settings, posts tell the least in any case.
		if (before === null) continue;
		const { createdBy, createdAt } = flagged.at(-1) as Flagged;
		const settings = JSON.stringify({ ...before, ...given });
		await sql`insert into channel_settings (team_id, channel_id, settings, revision, changed_by, changed_at)
			values (${teamId}, ${channelId}, ${settings}, 1, ${createdBy}, ${createdAt})
			on conflict (team_id, channel_id) do update
				set settings = excluded.settings, revision = channel_settings.revision + 1`.execute(db);
	}
	await sql`update watches set mode = 'card' where mode in ('everything', 'questionsOnly')`.execute(db);
}

/**
 * 1.1.0 had one post for all questions of a session that changed its question often, and held back the question until
 * it had rested: now that post is of the newest question. `now`: clock milliseconds.
 */
async function endSwitching(db: Kysely<unknown>, now: number): Promise<void> {
	const held = sql`kind = 'question' and state = 'planned' and last_error = 'held'`;
	const isShown = sql`kind = 'switching' and state = 'shown' and ts is not null`;
	await sql`delete from posts where ${held} and stream in (select stream from posts where ${isShown})`.execute(db);
	await sql`update posts set last_error = null, due_at = ${sql.lit(now)} where ${held}`.execute(db);
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
 * Reminders had rows of their own, with their counts, and one kind of post for each stage. What 1.1.0 had queued and
 * has not certainly shown is decided anew, where the search does not find it: its reminders count again when it is.
 */
async function holdReminders(db: Kysely<unknown>, now: number): Promise<void> {
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
			// A further one that may have been sent counts as seen.
			if (id === sent?.id || sendingSince === null) await uncount(db, content);
		}
	}
	const none = sql`cast(null as text)`;
	const ofChannels = sql`select distinct 'channel:' || team_id || ':' || channel_id as stream, team_id, channel_id,
		${none} as watch_id, ${none} as service, ${none} as session_id from ladders`;
	// Those that stay in threads: any other is dropped when it is looked at.
	const ofWatches = sql`select 'watch:' || watch_id as stream, ladders.team_id, ladders.channel_id, watch_id,
		ladders.service, ladders.session_id from ladders join watches on watches.id = watch_id where mode = 'card'`;
	for (const places of [ofChannels, ofWatches])
		await sql`insert into posts (id, stream, number, unique_key, team_id, place_id, watch_id, service, session_id, kind,
				content, state, created_at, due_at, last_error)
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

/** The reminders of a queued post have not been seen. */
async function uncount(db: Kysely<unknown>, content: string): Promise<void> {
	for (const { watchId, questionId, stage, lastReminderAt } of parseOrNull(queuedContent, content)?.entries ?? []) {
		const count = stage === 'reminder' ? sql`reminded_at = null` : sql`escalation_count = escalation_count - 1`;
		const isCounted = stage === 'reminder' ? sql`reminded_at is not null` : sql`escalation_count > 0`;
		await sql`update posts set ${count}, last_reminder_at = ${lastReminderAt} where kind = 'question'
			and watch_id = ${watchId} and question_id = ${questionId} and ${isCounted}`.execute(db);
	}
}

/** Where an author was told by a direct message stood with the answer: now that is a post of its own. */
async function receiptsToPosts(db: Kysely<unknown>, now: number): Promise<void> {
	const { rows } = await sql<Told>`select id, team_id, user_id, service, session_id, question_id, receipt_state,
			accepted_at, state, agent_outcome
		from answers where receipt_state not like '%"dm":null%' or receipt_state like '%"dmSince":%'`.execute(db);
	for (const row of rows) {
		const told = parseOrNull(formerReceipt, row.receiptState);
		if (told === null) continue;
		const { dm, dmSince = null } = told;
		// What may have been posted is searched for by the key that it was given.
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
 * What an author was told stood with the answer, and the worker told them. Windows that are open begin anew: what is
 * still to be told is told by messages. `now`: clock milliseconds.
 */
async function receiptsToViews(db: Kysely<unknown>, now: number): Promise<void> {
	const at = sql.lit(now);
	await sql`insert into views (id, kind, team_id, user_id, service, session_id, message_index, answer_id,
			followed_until, not_before, due_at)
		select 'answer:' || id, 'receipt', team_id, user_id, service, session_id, message_index, id,
			${at} + ${sql.lit(2 * DAY_MS)}, ${at}, ${at}
		from answers where next_attempt_at is not null and user_id not like 'forgotten-%'`.execute(db);
	await sql`update answers set next_attempt_at = null where state not in ('accepted', 'delivering')
		and not (state = 'delivered' and coalesce(agent_outcome, 'unseen') = 'unseen')`.execute(db);
}

/** They go on by themselves, or by their author. */
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

interface Switching {
	readonly id: string;
	readonly ts: string;
	readonly watchId: string;
	readonly questionId: string;
	readonly settledAt: number | null;
}
