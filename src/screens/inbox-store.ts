// What inboxes show. Snoozes are written by their owner, `store/question-store.ts`.

import { nameInService, readDraft } from '../delivery/draft-store.ts';
import { createAnswerReader, dismissAnswer } from '../delivery/rows-store.ts';
import { type Answer, BLOCKING_STATES, FAILED_STATES } from '../domain/answer.ts';
import { isInThread } from '../domain/channel-settings.ts';
import { holderOf } from '../domain/hand-over.ts';
import type { Person } from '../domain/person.ts';
import { isOffered } from '../domain/session-snapshot.ts';
import type { Log } from '../kernel/log.ts';
import { pick } from '../kernel/values.ts';
import type { PressedOption } from '../slack/ids.ts';
import { removeInBatches } from '../store/batches.ts';
import { stylesOf } from '../store/channel-settings.ts';
import {
	from,
	isFound,
	personOf,
	questionOf,
	type RawBuilder,
	type Row,
	type StoreParts,
	sessionOf,
	sql,
} from '../store/database.ts';
import { endSnoozes, IS_ANSWERED, readHandOver, type Snooze, snooze } from '../store/question-store.ts';
import { snapshotColumn } from '../store/watched-sessions.ts';
import { activeClaims } from '../surfaces/view-plan-store.ts';

/** At most this many drafts are read: several may be of one question, and some are empty. */
const DRAFTS_EXAMINED = 40;

type AskingRow = Row<'questions'> &
	Pick<Row<'watches'>, 'channelId' | 'createdBy' | 'mode'> &
	Readonly<Record<'cardTs' | 'postTs', string | null>>;

/** The `ts` of the newest of these posts of a watch that Slack shows. */
const newestTs = (isKind: RawBuilder<unknown>) =>
	sql`(select ts from posts where posts.watch_id = watch.id and state in ('shown', 'closed') and ts is not null
		and ${isKind} order by number desc limit 1)`;

/** What inboxes show, without damaged rows. */
export function createInboxStore({ db, cipher, log }: StoreParts & { log: Log }) {
	const readOrSkip = createAnswerReader(cipher, log);
	const ofPerson = (service: string, person: Person) => from(db.read, 'answers', { service, ...personOf(person) });

	/** What cards show of these sessions, by session id. */
	async function snapshots(service: string, sessionIds: readonly string[]) {
		const sessions = from(db.read, 'watched_sessions', { service, sessionId: sessionIds });
		const rows = await sessions.select(['service', 'sessionId', 'snapshot']).execute();
		const read = rows.map((row) => [row.sessionId, snapshotColumn.open(row.snapshot, row, cipher)] as const);
		return new Map(read.flatMap(([id, snapshot]) => (snapshot === null ? [] : [[id, snapshot]])));
	}

	/** Whether reads found the question of a pressed option changed or closed, without an answer to it. */
	async function isReplaced(
		service: string,
		{ sessionId, messageIndex, fingerprint }: PressedOption,
	): Promise<boolean> {
		const asked = from(db.read, 'questions', { service, sessionId, messageIndex, fingerprint }).select('settledHow');
		const newest = await asked.orderBy('number', 'desc').limit(1).executeTakeFirst();
		return newest?.settledHow === 'changed' || newest?.settledHow === 'closed';
	}

	return {
		/**
		 * The open questions of sessions that channels of this workspace watch, without texts, in no order. Left out are
		 * those with an answer of ours that is on its way, or that was delivered after the last read. `since`: when a read
		 * first found it open. `channels`: those that watch it, at least one. `handOver`: who has it now, or null.
		 */
		async openQuestions(service: string, teamId: string) {
			const { rows } = await sql<AskingRow>`
				select questions.*, channel_id, created_by, mode,
					${newestTs(sql`kind = 'card'`)} as card_ts,
					${newestTs(sql`kind = 'question' and question_id = questions.id`)} as post_ts
				from questions
				inner join watches as watch
					on watch.service = questions.service and watch.session_id = questions.session_id and ended_at is null
				where questions.service = ${service} and team_id = ${teamId} and settled_at is null and not ${IS_ANSWERED}
				order by watch.created_at, watch.id`.execute(db.read);
			const styleOf = await stylesOf(db.read, teamId, [...new Set(rows.map(({ channelId }) => channelId))]);
			return [...Map.groupBy(rows, (row) => row.sessionId).values()].map((watches) => {
				const [row] = watches as [AskingRow];
				const channels = watches.map(({ channelId, createdBy, mode, cardTs, postTs }) => {
					const style = styleOf(channelId);
					return {
						channelId,
						/** The thread of the question's post, or of the watch's card; null before it is posted. */
						threadTs: isInThread(mode, style) ? cardTs : (postTs ?? cardTs),
						/** Who began to watch: in a direct message with the app the only person there. */
						watchedBy: createdBy,
						...pick(style, 'discreet', 'buttons'),
						/** `watch all` brought the question there. */
						isRaised: mode === 'raisedHand',
					};
				});
				const handOver = holderOf(readHandOver(row, teamId));
				return { question: questionOf(row), fingerprint: row.fingerprint, since: row.askedAt, channels, handOver };
			});
		},

		/** Whether a channel of this workspace watches a session. */
		isWatching: (service: string, teamId: string) =>
			isFound(from(db.read, 'watches', { service, teamId, endedAt: null }).select('id')),

		/** The person's snoozes, also those that have ended. */
		async snoozes(service: string, person: Person): Promise<readonly Snooze[]> {
			const filter = { service, ...personOf(person) };
			const rows = await from(db.read, 'snoozes', filter).selectAll().execute();
			return rows.map(({ fingerprint, until, ...row }) => ({ person, session: sessionOf(row), fingerprint, until }));
		},

		snapshots,

		/**
		 * Whether the question of a pressed option still offers it, with the name of the session. `notOffered`: the same
		 * question has no such option. `changed`: the agent asks something else instead, and nobody had answered. What is
		 * not stored counts as offered.
		 */
		async offering(service: string, choice: PressedOption) {
			const { question = null, name = '' } = (await snapshots(service, [choice.sessionId])).get(choice.sessionId) ?? {};
			const offered = { kind: 'offered', name } as const;
			if (question === null) return offered;
			const isOther = question.openCount > 0 && question.fingerprint !== choice.fingerprint;
			if (isOther && (await isReplaced(service, choice))) return { kind: 'changed' } as const;
			return isOffered(question, choice) ? offered : ({ kind: 'notOffered' } as const);
		},

		/** The active claims on questions of these sessions, the oldest first. */
		claims: (service: string, sessionIds: readonly string[], now: number) =>
			activeClaims(db.read, { service, sessionId: sessionIds }, now),

		/** A person's answers: first those that failed after `failedSince` and were not repeated, then those under way. */
		async ownAnswers(service: string, person: Person, { failedSince, limit }: { failedSince: number; limit: number }) {
			const rows = await ofPerson(service, person)
				.selectAll()
				.select(sql<number>`count(*) over ()`.as('total'))
				.where((eb) => eb.or([IS_UNDER_WAY, eb('state', '=', 'waiting'), isFailedSince(failedSince)]))
				.where(IS_NOT_DISMISSED)
				.orderBy(sql`case when ${IS_UNDER_WAY} then 1 else 0 end`)
				.orderBy('acceptedAt', 'desc')
				.orderBy('id')
				.limit(limit)
				.execute();
			return { shown: rows.flatMap(readOrSkip), total: Number(rows[0]?.total ?? 0) };
		},

		/** The sessions with an answer of ours that is under way, or that was delivered at or after `since`. */
		async answeredSessions(service: string, sessionIds: readonly string[], since: number) {
			const answered = await from(db.read, 'answers', { service, sessionId: sessionIds })
				.select('sessionId')
				.where((eb) => eb.or([IS_UNDER_WAY, eb('deliveredAt', '>=', since)]))
				.execute();
			return new Set(answered.map(({ sessionId }) => sessionId));
		},

		async lastAnswers(service: string, person: Person, limit: number): Promise<readonly Answer[]> {
			const kept = ofPerson(service, person).selectAll().where(IS_NOT_DISMISSED);
			return (await kept.orderBy('acceptedAt', 'desc').orderBy('id').limit(limit).execute()).flatMap(readOrSkip);
		},

		/** A person's newest drafts, one for each question. `isClosed`: the question ended without an answer of theirs. */
		async drafts(service: string, person: Person, limit: number) {
			// A session that is not read any more still has its settled questions. Drafts with a negative index were put
			// aside.
			const { rows } = await sql<Row<'drafts'> & { readonly isClosed: 0 | 1 }>`
				select * from (select draft.*, case (select min(case when settled_at is null then 0
							when settled_how = 'unwatched' then 2 else 1 end) from questions as question
						where question.service = draft.service and question.session_id = draft.session_id
							and question.fingerprint = draft.fingerprint
							and (question.message_index = draft.message_index or question.asked_at <= draft.updated_at))
						when 0 then 0 when 1 then 1 else (select cast(count(*) as integer) from watched_sessions as session
							where session.service = draft.service and session.session_id = draft.session_id
								and next_read_at is not null and digest is not null) end as is_closed
					from drafts as draft where draft.service = ${service}
						and team_id = ${person.teamId} and user_id = ${person.userId} and message_index >= 0) as own
				where is_closed = 0 or not exists (select 1 from answers as sent where sent.service = own.service
					and sent.session_id = own.session_id and sent.fingerprint = own.fingerprint
					and sent.state <> 'withdrawn' and sent.team_id = own.team_id and sent.user_id = own.user_id
					and (sent.accepted_at >= own.updated_at or sent.id = own.form_id))
				order by updated_at desc, form_id limit ${DRAFTS_EXAMINED}`.execute(db.read);
			const byQuestion = Map.groupBy(rows, (row) => nameInService(questionOf(row)));
			const newest = [...byQuestion.values()].flatMap(([row]) => {
				const draft = row && readDraft(row, cipher);
				return row && draft ? { ...draft, isClosed: row.isClosed === 1 } : [];
			});
			// Filtered before the limit, so that an empty draft takes no place in the list.
			return newest.filter(({ values }) => Object.values(values).some((text) => text.trim() !== '')).slice(0, limit);
		},

		snooze: (wish: Snooze) => db.writeOne((trx) => snooze(trx, wish)),

		async endSnoozes(service: string, person: Person): Promise<void> {
			await db.writeOne((trx) => endSnoozes(trx, { service, ...personOf(person) }));
		},

		removeEndedSnoozes: (now: number) => removeInBatches(db, 'snoozes', sql<boolean>`until <= ${now}`),

		/** Hides an answer that is over from its author's inbox. It comes back if it goes on and ends again. */
		dismiss: (id: string, person: Person) => db.writeOne((trx) => dismissAnswer(trx, id, person)),
	};
}

/** An open question, without its text. */
export type OpenQuestion = Awaited<ReturnType<ReturnType<typeof createInboxStore>['openQuestions']>>[number];

/** Not delivered yet, or delivered while it is unknown whether the agent continued. */
const IS_UNDER_WAY = sql<boolean>`(state in (${sql.join(BLOCKING_STATES)})
	or (state = 'delivered' and agent_outcome is null))`;

const IS_NOT_DISMISSED = sql<boolean>`(dismissed_at is null or ended_at is null or dismissed_at <> ended_at)`;

/**
 * Failed for good (but not as `isSecondChoice` says), or its agent could not be started; and not answered again since.
 */
function isFailedSince(since: number) {
	return sql<boolean>`((state in (${sql.join(FAILED_STATES)}) and ended_at >= ${since}
				and not (state = 'conflicted' and undo_until is not null and put_started_at is null)
			or state = 'delivered' and start_failed = 1 and agent_outcome = 'unseen' and delivered_at >= ${since})
		and not exists (select 1 from answers as newer where newer.service = answers.service
			and newer.session_id = answers.session_id and newer.message_index = answers.message_index
			and newer.team_id = answers.team_id and newer.user_id = answers.user_id
			and newer.accepted_at > answers.accepted_at))`;
}

export type InboxStore = ReturnType<typeof createInboxStore>;
