import { type RawBuilder, sql } from 'kysely';
import { type Answer, BLOCKING_STATES, FAILED_STATES, type Person, type QuestionKey } from '../answers/answer.ts';
import type { HandOver } from '../inbox/hand-over.ts';
import {
	FOLLOWED_MS,
	type Inbox,
	type InboxPlace,
	type OpenQuestion,
	PRESS_SPACING_MS,
	type Snooze,
} from '../inbox/inbox.ts';
import type { Lease } from '../lease-loop.ts';
import type { Log } from '../log.ts';
import type { SessionSnapshot } from '../watches/session-snapshot.ts';
import { createAnswerReader } from './answer-rows.ts';
import {
	activeClaims,
	answeredQuestions,
	type Claim,
	type Draft,
	nameInService,
	readDraft,
} from './answering-store.ts';
import { change, countChanged, from, hasChanged, isFound, remove, type StoreDatabase } from './database.ts';
import { isOurs, leaseDue, nextDue } from './due.ts';
import type { Cipher } from './encryption.ts';
import { personColumns, personOf, questionOf, type Row, sessionColumns, sessionOf, WITHOUT_LEASE } from './tables.ts';
import { readHandOver, readView } from './watch-rows.ts';

/** Drafts that are looked at: of one question there may be several, and some are empty. */
const DRAFTS_EXAMINED = 40;

type AskingRow = Pick<Row<'questions'>, 'service' | 'session_id' | 'message_index' | 'fingerprint' | 'asked_at'> &
	Pick<Row<'watched_sessions'>, 'last_read_at'> &
	Pick<Row<'watches'>, 'channel_id' | 'card_ts' | 'created_by' | 'buttons' | 'mode'>;

/** The person did something that the inbox does not show yet. */
const IS_ASKED = sql<boolean>`asked_count <> shown_count`;

/**
 * The stored inboxes and what they show; damaged rows are left out. The row of an inbox is the queue: it is due when its person
 * asked for it or its content may have changed.
 */
export function createInboxStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	const readOrSkip = createAnswerReader(cipher, log);
	const ofPerson = (service: string, person: Person) => from(db.read, 'answers', { service, ...personColumns(person) });

	return {
		/**
		 * The person opened it or did something in it: it is followed from now on, and due now or `PRESS_SPACING_MS` after its
		 * content was last put together. `page` null: as before. `spacingMs`: it takes its turn with those that only follow, and
		 * waits for so long instead.
		 */
		async ask({ id, person, viewId }: InboxPlace, page: number | null, now: number, spacingMs?: number): Promise<void> {
			const asked = { ...(page !== null && { page }), opened_at: now };
			const first = { id, ...personColumns(person), view_id: viewId, page: 0, ...asked };
			const soon = notBefore(sql`inboxes.built_at`, spacingMs ?? PRESS_SPACING_MS, now);
			await db.writeOne((trx) =>
				trx
					.insertInto('inboxes')
					.values({ ...first, next_update_at: now, asked_count: 1, change_count: 1 })
					.onConflict((conflict) =>
						conflict.column('id').doUpdateSet({
							...asked,
							next_update_at: earlierOf(sql`inboxes.next_update_at`, soon),
							asked_count: sql<number>`inboxes.asked_count + ${spacingMs === undefined ? 1 : 0}`,
							change_count: sql<number>`inboxes.change_count + 1`,
						}),
					)
					.execute(),
			);
		},

		/**
		 * Marks all followed inboxes as changed. Each is due now, or `spacingMs` after its content was last put together. One
		 * that is leased is due again after that work. Returns how many there are.
		 */
		touchAll: ({ now, spacingMs }: { now: number; spacingMs: number }) =>
			db.writeOne((trx) => {
				const dueAt = earlierOf(sql`next_update_at`, notBefore(sql`built_at`, spacingMs, now));
				const touched = { change_count: sql<number>`change_count + 1`, next_update_at: dueAt };
				return countChanged(
					change(trx, 'inboxes', {})
						.set(touched)
						.where('opened_at', '>', now - FOLLOWED_MS),
				);
			}),

		/** Leases our due inboxes: first those whose person waits (`asked`: only those), then the longest due. */
		async takeDue(lease: Lease, limit: number, { now, only }: { now: number; only: 'asked' | 'all' }) {
			const wanted = only === 'asked' ? IS_ASKED : sql<boolean>`true`;
			const where = sql<boolean>`next_update_at <= ${now} and ${wanted} and ${isOurs(db)}`;
			const orderBy = sql`case when ${IS_ASKED} then 0 else 1 end, next_update_at`;
			const rows = await leaseDue(db, { table: 'inboxes', where, orderBy, limit }, { lease, now });
			return rows.map(readInbox);
		},

		rows: db.queuedRows(['inboxes']),

		/** When `takeDue` next finds something; null for never. */
		async nextDueAt() {
			const dueAt = (where: RawBuilder<boolean>) => nextDue(db, 'inboxes', where, 'next_update_at');
			const [asked, all] = await Promise.all([dueAt(sql`${IS_ASKED} and ${isOurs(db)}`), dueAt(isOurs(db))]);
			return { asked, all };
		},

		/**
		 * Notes that Slack is about to be called, after which nobody knows what is shown until `end`: the process may die in
		 * between. False when the lease was lost or the inbox was forgotten.
		 */
		beginShowing: (id: string, token: string) =>
			db.writeOne((trx) => hasChanged(change(trx, 'inboxes', { id, lease_token: token }).set({ shown_key: null }))),

		/**
		 * Notes what became of an update and gives the lease back; does nothing when the lease was lost. If the inbox was
		 * marked as changed meanwhile, it is due `spacingMs` from now, or `PRESS_SPACING_MS` when its person asked.
		 *
		 * @param shownKey of what it shows now; null when nothing was shown, or nobody knows
		 * @param nextAt when to update it again if nothing changes; null: never
		 */
		async end(
			{ id, changeCount, askedCount }: Inbox,
			token: string,
			shown: { shownKey: string | null; nextAt: number | null; now: number; spacingMs: number },
		): Promise<void> {
			const { shownKey, nextAt, now, spacingMs } = shown;
			await db.writeOne((trx) =>
				change(trx, 'inboxes', { id, lease_token: token })
					.set({
						...WITHOUT_LEASE,
						...(shownKey !== null && { shown_key: shownKey, shown_count: askedCount }),
						built_at: now,
						// PostgreSQL takes a case of nothing but parameters for a text.
						next_update_at: sql<number | null>`cast(case
							when change_count = ${changeCount} then ${nextAt}
							when asked_count <> ${askedCount} then ${now + PRESS_SPACING_MS}
							else ${now + spacingMs} end as bigint)`,
					})
					.execute(),
			);
		},

		/** It is not updated any more. */
		async remove(id: string): Promise<void> {
			await db.writeOne((trx) => remove(trx, 'inboxes', { id }).execute());
		},

		/** Gives back the inboxes that are still held with these tokens, or this one alone. They stay due since when they were. */
		async release(tokens: readonly string[], id?: string): Promise<void> {
			if (tokens.length === 0) return;
			const held = { lease_token: tokens, ...(id !== undefined && { id }) };
			await db.writeOne((trx) => change(trx, 'inboxes', held).set(WITHOUT_LEASE).execute());
		},

		/** Forgets inboxes that nobody opened since `before` and that are not due any more. Returns how many. */
		removeOlderThan: (before: number) =>
			db.writeOne((trx) =>
				countChanged(remove(trx, 'inboxes', { next_update_at: null }).where('opened_at', '<', before)),
			),

		/**
		 * The open questions of sessions that channels of this workspace watch, without those that an answer of ours settles:
		 * one that is being delivered, or was delivered after the last read of the session. In no order, without texts.
		 */
		async openQuestions(service: string, teamId: string): Promise<readonly OpenQuestion[]> {
			const { rows } = await sql<AskingRow>`
				select question.service, question.session_id, message_index, fingerprint, asked_at, last_read_at, channel_id, card_ts,
					created_by, buttons, mode
				from questions as question
				inner join watched_sessions as session
					on session.service = question.service and session.session_id = question.session_id
				inner join watches as watch
					on watch.service = question.service and watch.session_id = question.session_id and ended_at is null
				where question.service = ${service} and team_id = ${teamId} and settled_at is null
				order by watch.created_at, watch.id`.execute(db.read);
			const readAts = new Map(rows.map((row) => [row.session_id, row.last_read_at ?? 0]));
			const answered = new Set((await answeredQuestions(db.read, service, readAts)).map(nameInService));
			return [...Map.groupBy(rows, (row) => row.session_id).values()].flatMap((watches): OpenQuestion[] => {
				const [{ fingerprint, asked_at: since, ...row }] = watches as [AskingRow];
				const question = questionOf(row);
				if (answered.has(nameInService(question))) return [];
				const channels = watches.map((row) => ({
					channelId: row.channel_id,
					threadTs: row.card_ts,
					watchedBy: row.created_by,
					buttons: row.buttons === 1,
					isRaised: row.mode === 'raisedHand',
				}));
				return [{ question, fingerprint, since, channels }];
			});
		},

		/** Whether a channel of this workspace watches a session. */
		isWatching: (service: string, teamId: string) =>
			isFound(from(db.read, 'watches', { service, team_id: teamId, ended_at: null }).select('id')),

		/** The person's snoozes, also those that have ended. */
		async snoozes(service: string, person: Person): Promise<readonly Snooze[]> {
			const filter = { service, ...personColumns(person) };
			const rows = await from(db.read, 'snoozes', filter).selectAll().execute();
			return rows.map(({ fingerprint, until, ...row }) => ({ person, session: sessionOf(row), fingerprint, until }));
		},

		/** The questions of this workspace that somebody has, because they were handed over to them. */
		async handOvers(service: string, teamId: string): Promise<readonly HandOver[]> {
			const filter = { service, team_id: teamId, given_back_at: null };
			return (await from(db.read, 'hand_overs', filter).selectAll().execute()).map(readHandOver);
		},

		/** What cards show of these sessions, by session id. */
		async snapshots(service: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, SessionSnapshot>> {
			if (sessionIds.length === 0) return new Map();
			const sessions = from(db.read, 'watched_sessions', { service, session_id: sessionIds });
			const rows = await sessions.select(['service', 'session_id', 'view']).execute();
			const read = rows.map((row) => [row.session_id, readView(row, cipher)] as const);
			return new Map(read.flatMap(([id, view]) => (view === null ? [] : [[id, view]])));
		},

		/** The claims on these questions that have not lapsed, oldest first. */
		async claims(questions: readonly QuestionKey[], now: number): Promise<readonly Claim[]> {
			const [first] = questions;
			if (first === undefined) return [];
			const wanted = new Set(questions.map(nameInService));
			const ofSessions = { service: first.service, session_id: questions.map(({ sessionId }) => sessionId) };
			const claims = await activeClaims(db.read, ofSessions, now);
			return claims.filter(({ question }) => wanted.has(nameInService(question)));
		},

		/**
		 * The person's answers that are under way or need a decision, those first, each newest first. A failed one needs a
		 * decision if it ended after `failedSince` and the person has not answered the question again.
		 */
		async ownAnswers(service: string, person: Person, { failedSince, limit }: { failedSince: number; limit: number }) {
			const rows = await ofPerson(service, person)
				.selectAll()
				.select(sql<number>`count(*) over ()`.as('total'))
				.where((eb) => eb.or([IS_UNDER_WAY, eb('state', '=', 'waiting'), isFailedSince(failedSince)]))
				.orderBy(sql`case when ${IS_UNDER_WAY} then 1 else 0 end`)
				.orderBy('accepted_at', 'desc')
				.orderBy('id')
				.limit(limit)
				.execute();
			return { shown: rows.flatMap(readOrSkip), total: Number(rows[0]?.total ?? 0) };
		},

		/** Those of these sessions to which an answer of ours is on its way, or was delivered at or after `since`. */
		async answeredSessions(service: string, sessionIds: readonly string[], since: number) {
			const answered = await answeredQuestions(db.read, service, new Map(sessionIds.map((id) => [id, since])));
			return new Set(answered.map(({ sessionId }) => sessionId));
		},

		/** The person's newest answers, newest first. */
		async lastAnswers(service: string, person: Person, limit: number): Promise<readonly Answer[]> {
			const newest = ofPerson(service, person).selectAll().orderBy('accepted_at', 'desc').orderBy('id');
			return (await newest.limit(limit).execute()).flatMap(readOrSkip);
		},

		/** The person's newest drafts, one for each question, without those whose question is known to be closed. */
		async drafts(service: string, person: Person, limit: number): Promise<readonly Draft[]> {
			// A session that is not watched any more is not read: nothing is known of it. Those below 0 were put aside for a form.
			const { rows } = await sql<Row<'drafts'>>`
				select draft.* from drafts as draft
				where draft.service = ${service} and team_id = ${person.teamId} and user_id = ${person.userId}
					and message_index >= 0
					and (exists (select 1 from questions as question where question.service = draft.service
							and question.session_id = draft.session_id and question.message_index = draft.message_index
							and question.fingerprint = draft.fingerprint and settled_at is null)
						or not exists (select 1 from watched_sessions as session where session.service = draft.service
							and session.session_id = draft.session_id and next_read_at is not null and digest is not null))
				order by draft.updated_at desc, form_id limit ${DRAFTS_EXAMINED}`.execute(db.read);
			const byQuestion = Map.groupBy(rows, (row) => nameInService(questionOf(row)));
			const newest = [...byQuestion.values()].flatMap(([row]) => row ?? []);
			return newest
				.slice(0, limit)
				.flatMap((row) => readDraft(row, cipher) ?? [])
				.filter(({ values }) => Object.values(values).some((text) => text.trim() !== ''));
		},

		/** Snoozes a question; replaces what the person has snoozed of this session. */
		async snooze({ person, session, fingerprint, until }: Snooze): Promise<void> {
			await db.writeOne((trx) =>
				trx
					.insertInto('snoozes')
					.values({ ...personColumns(person), ...sessionColumns(session), fingerprint, until })
					.onConflict((conflict) =>
						conflict.columns(['team_id', 'user_id', 'service', 'session_id']).doUpdateSet({ fingerprint, until }),
					)
					.execute(),
			);
		},

		/** Shows a person all questions of a session service again. */
		async endSnoozes(service: string, person: Person): Promise<void> {
			await db.writeOne((trx) => remove(trx, 'snoozes', { service, ...personColumns(person) }).execute());
		},

		removeEndedSnoozes: (now: number) =>
			db.writeOne((trx) => countChanged(remove(trx, 'snoozes').where('until', '<=', now))),
	};
}

/** So long after the content was last put together, or now. */
function notBefore(builtAt: RawBuilder<unknown>, spacingMs: number, now: number): RawBuilder<number> {
	return sql`cast(case when ${builtAt} + ${spacingMs} > ${now} then ${builtAt} + ${spacingMs} else ${now} end as bigint)`;
}

/** `soon`, unless it is due before that: then it keeps its place. */
function earlierOf(dueAt: RawBuilder<unknown>, soon: RawBuilder<number>): RawBuilder<number> {
	return sql`case when ${dueAt} < ${soon} then ${dueAt} else ${soon} end`;
}

function readInbox(row: Row<'inboxes'>): Inbox {
	return {
		id: row.id,
		person: personOf(row),
		viewId: row.view_id,
		page: row.page,
		openedAt: row.opened_at,
		askedCount: row.asked_count,
		shownCount: row.shown_count,
		changeCount: row.change_count,
		shownKey: row.shown_key,
	};
}

/** Not delivered yet, or delivered while nobody knows whether the agent went on. */
const IS_UNDER_WAY = sql<boolean>`(state in (${sql.join(BLOCKING_STATES)})
	or (state = 'delivered' and agent_outcome is null))`;

/**
 * Failed for good, or the service could not start the agent; and its author has not answered the question again.
 * `waiting` is a failed state too, but without a time limit.
 */
function isFailedSince(since: number) {
	return sql<boolean>`((state in (${sql.join(FAILED_STATES)}) and ended_at >= ${since}
			or state = 'delivered' and start_failed = 1 and agent_outcome = 'unseen' and delivered_at >= ${since})
		and not exists (select 1 from answers as newer where newer.service = answers.service
			and newer.session_id = answers.session_id and newer.message_index = answers.message_index
			and newer.team_id = answers.team_id and newer.user_id = answers.user_id
			and newer.accepted_at > answers.accepted_at))`;
}
