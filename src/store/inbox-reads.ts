import { type Kysely, sql } from 'kysely';
import { type Answer, BLOCKING_STATES, FAILED_STATES, type Person, type QuestionKey } from '../answers/answer.ts';
import type { HandOver } from '../inbox/hand-over.ts';
import type { AskedIn, OpenQuestion, Snooze } from '../inbox/inbox.ts';
import type { Log } from '../log.ts';
import type { Digest } from '../questions/changes.ts';
import type { SessionSnapshot } from '../watches/session-snapshot.ts';
import { hasOpenQuestion } from '../watches/watched-session.ts';
import { createAnswerReader } from './answer-rows.ts';
import {
	activeClaims,
	answeredQuestions,
	type Claim,
	type Draft,
	isAnswering,
	nameInService,
	readDraft,
} from './answering-store.ts';
import { from, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { personColumns, type Row, sessionOf, type Tables } from './tables.ts';
import { readDigest, readHandOver, readView } from './watch-rows.ts';

/** Drafts that are looked at until enough are found whose question is not closed. */
const DRAFTS_EXAMINED = 40;

/** What inboxes show. Damaged rows are left out. */
export function createInboxReads({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	const readOrSkip = createAnswerReader(cipher, log);
	const ofPerson = (service: string, person: Person) => from(db.read, 'answers', { service, ...personColumns(person) });

	return {
		/**
		 * The open questions of sessions that channels of this workspace watch, without those that an answer of ours settles:
		 * one that is being delivered, or was delivered after the last read of the session. In no order, without texts.
		 */
		async openQuestions(serviceUrl: string, teamId: string): Promise<readonly OpenQuestion[]> {
			const rows = await db.read
				.selectFrom('watched_sessions as session')
				.innerJoin('watches as watch', (join) =>
					join
						.onRef('watch.service', '=', 'session.service')
						.onRef('watch.session_id', '=', 'session.session_id')
						.on('watch.ended_at', 'is', null),
				)
				.select([
					'session.session_id',
					'session.digest',
					'session.question_since',
					'session.last_read_at',
					'watch.channel_id',
					'watch.card_ts',
					'watch.created_by',
					'watch.buttons',
					'watch.mode',
				])
				.where('session.service', '=', serviceUrl)
				.where('watch.team_id', '=', teamId)
				.where('session.question_since', 'is not', null)
				.orderBy('watch.created_at')
				.orderBy('watch.id')
				.execute();
			const sessions = new Map<string, AskingSession>();
			for (const row of rows) {
				const { channel_id: channelId, card_ts: threadTs, created_by: watchedBy } = row;
				const isRaised = row.mode === 'raisedHand';
				const channel = { channelId, threadTs, watchedBy, buttons: row.buttons === 1, isRaised };
				const known = sessions.get(row.session_id);
				if (known !== undefined) known.channels.push(channel);
				const asking = known === undefined ? askingSession(row, channel) : null;
				if (asking !== null) sessions.set(row.session_id, asking);
			}
			const open = [...sessions.values()];
			const readAts = new Map(open.map(({ sessionId, readAt }) => [sessionId, readAt]));
			const answered = await answeredQuestions(db.read, serviceUrl, readAts);
			return open.flatMap(({ sessionId, messageIndex, fingerprint, since, channels }): OpenQuestion[] => {
				const question = { service: serviceUrl, sessionId, messageIndex };
				return answered.has(nameInService(question)) ? [] : [{ question, fingerprint, since, channels }];
			});
		},

		/** Whether a channel of this workspace watches a session. */
		async isWatching(serviceUrl: string, teamId: string): Promise<boolean> {
			const live = from(db.read, 'watches', { service: serviceUrl, team_id: teamId, ended_at: null });
			return (await live.select('id').limit(1).executeTakeFirst()) !== undefined;
		},

		/** The person's snoozes, also those that have ended. */
		async snoozes(serviceUrl: string, person: Person): Promise<readonly Snooze[]> {
			const filter = { service: serviceUrl, ...personColumns(person) };
			const rows = await from(db.read, 'snoozes', filter).selectAll().execute();
			return rows.map((row) => {
				return { person, session: sessionOf(row), fingerprint: row.fingerprint, until: row.until };
			});
		},

		/** The questions of this workspace that somebody has, because they were handed over to them. */
		async handOvers(serviceUrl: string, teamId: string): Promise<readonly HandOver[]> {
			const filter = { service: serviceUrl, team_id: teamId, given_back_at: null };
			return (await from(db.read, 'hand_overs', filter).selectAll().execute()).map(readHandOver);
		},

		/** What cards show of these sessions, by session id; without those that cannot be read. */
		async snapshots(serviceUrl: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, SessionSnapshot>> {
			if (sessionIds.length === 0) return new Map();
			const rows = await from(db.read, 'watched_sessions', { service: serviceUrl, session_id: sessionIds })
				.select(['service', 'session_id', 'view'])
				.execute();
			const read = rows.map((row) => [row.session_id, readView(row, cipher)] as const);
			const unreadableCount = read.filter(([, view]) => view === null).length;
			if (unreadableCount > 0) {
				log.warn({ sessions: unreadableCount }, 'questions of another key cannot be read and are left out');
			}
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
		async ownAnswers(
			serviceUrl: string,
			person: Person,
			{ failedSince, limit }: { failedSince: number; limit: number },
		) {
			const rows = await ofPerson(serviceUrl, person)
				.selectAll()
				.select(sql<number>`count(*) over ()`.as('total'))
				.where((eb) => eb.or([isUnderWay(), eb('state', '=', 'waiting'), isFailedSince(failedSince)]))
				.orderBy(sql`case when ${isUnderWay()} then 1 else 0 end`)
				.orderBy('accepted_at', 'desc')
				.orderBy('id')
				.limit(limit)
				.execute();
			return { shown: rows.flatMap(readOrSkip), total: Number(rows[0]?.total ?? 0) };
		},

		/** Those of these sessions to which an answer of ours is on its way, or was delivered at or after `since`. */
		async answeredSessions(
			serviceUrl: string,
			sessionIds: readonly string[],
			since: number,
		): Promise<ReadonlySet<string>> {
			if (sessionIds.length === 0) return new Set();
			const answers = from(db.read, 'answers', { service: serviceUrl, session_id: sessionIds });
			const rows = await answers.select('session_id').distinct().where(isAnswering(since)).execute();
			return new Set(rows.map((row) => row.session_id));
		},

		/** The person's newest answers, newest first. */
		async lastAnswers(serviceUrl: string, person: Person, limit: number): Promise<readonly Answer[]> {
			const newest = ofPerson(serviceUrl, person).selectAll().orderBy('accepted_at', 'desc').orderBy('id');
			return (await newest.limit(limit).execute()).flatMap(readOrSkip);
		},

		/** The person's newest drafts, one for each question, without those whose question is known to be closed. */
		async drafts(serviceUrl: string, person: Person, limit: number): Promise<readonly Draft[]> {
			const rows = await examinedDrafts(db.read, serviceUrl, person);
			const seen = new Set<string>();
			const ids = rows
				.filter((row) => {
					const name = `${row.message_index}:${row.session_id}`;
					const isNew = !seen.has(name);
					seen.add(name);
					return isNew && !isClosed(row);
				})
				.slice(0, limit)
				.map((row) => row.form_id);
			if (ids.length === 0) return [];
			const full = await from(db.read, 'drafts', { form_id: ids }).selectAll().execute();
			return full
				.flatMap((row) => readDraft(row, cipher) ?? [])
				.filter(({ values }) => Object.values(values).some((text) => text.trim() !== ''))
				.sort((a, b) => b.updatedAt - a.updatedAt);
		},
	};
}

/** A session with an open question. */
interface AskingSession {
	readonly sessionId: string;
	readonly messageIndex: number;
	readonly fingerprint: string;
	readonly since: number;
	/** When its last read began: a later delivery is not in it. */
	readonly readAt: number;
	readonly channels: AskedIn[];
}

type SessionColumns = Pick<Row<'watched_sessions'>, 'session_id' | 'digest' | 'question_since' | 'last_read_at'>;

/** Null when it asks nothing, or when its digest is damaged. */
function askingSession(row: SessionColumns, channel: AskedIn): AskingSession | null {
	const digest = readDigest(row.digest);
	if (digest === null || digest.question === null || !hasOpenQuestion(digest)) return null;
	return {
		sessionId: row.session_id,
		messageIndex: digest.question.messageIndex,
		fingerprint: digest.question.fingerprint,
		since: row.question_since ?? 0,
		readAt: row.last_read_at ?? 0,
		channels: [channel],
	};
}

/** Not delivered yet, or delivered while nobody knows whether the agent went on. */
function isUnderWay() {
	return sql<boolean>`(state in (${sql.join(BLOCKING_STATES)}) or (state = 'delivered' and aftermath is null))`;
}

/**
 * Failed for good, or the service could not start the agent; and its author has not answered the question again.
 * `waiting` is a failed state too, but without a time limit.
 */
function isFailedSince(since: number) {
	return sql<boolean>`((state in (${sql.join(FAILED_STATES)}) and ended_at >= ${since}
			or state = 'delivered' and start_failed = 1 and aftermath = 'unseen' and delivered_at >= ${since})
		and not exists (select 1 from answers as newer where newer.service = answers.service
			and newer.session_id = answers.session_id and newer.message_index = answers.message_index
			and newer.team_id = answers.team_id and newer.user_id = answers.user_id
			and newer.accepted_at > answers.accepted_at))`;
}

/** The person's newest drafts with what is known of their sessions; not those that were put aside for a form. */
function examinedDrafts(read: Kysely<Tables>, serviceUrl: string, person: Person) {
	return read
		.selectFrom('drafts as draft')
		.leftJoin('watched_sessions as session', (join) =>
			join
				.onRef('session.service', '=', 'draft.service')
				.onRef('session.session_id', '=', 'draft.session_id')
				// A session that is not watched any more is not read: nothing is known of it.
				.on('session.next_read_at', 'is not', null),
		)
		.select(['draft.form_id', 'draft.session_id', 'draft.message_index', 'draft.fingerprint', 'session.digest'])
		.where('draft.service', '=', serviceUrl)
		.where('draft.team_id', '=', person.teamId)
		.where('draft.user_id', '=', person.userId)
		.where('draft.message_index', '>=', 0)
		.orderBy('draft.updated_at', 'desc')
		.orderBy('draft.form_id')
		.limit(DRAFTS_EXAMINED)
		.execute();
}

/** Whether the session's last read found another question, or this one answered. */
function isClosed(row: { digest: string | null; message_index: number; fingerprint: string }): boolean {
	const digest: Digest | null = readDigest(row.digest);
	if (digest === null) return false;
	const { question } = digest;
	const isSame = question?.messageIndex === row.message_index && question.fingerprint === row.fingerprint;
	return !isSame || !hasOpenQuestion(digest);
}
