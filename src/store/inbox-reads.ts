import { type Kysely, sql } from 'kysely';
import { type Answer, BLOCKING_STATES, FAILED_STATES, type Person, type QuestionKey } from '../answers/answer.ts';
import type { HandOver } from '../inbox/hand-over.ts';
import type { AskedIn, OpenQuestion } from '../inbox/inbox.ts';
import type { Snooze } from '../inbox/snooze.ts';
import type { Log } from '../log.ts';
import type { Digest } from '../questions/changes.ts';
import type { SessionSnapshot } from '../watches/session-snapshot.ts';
import { hasOpenQuestion } from '../watches/watched-session.ts';
import { type AnswerRow, readAnswer } from './answer-rows.ts';
import { type Claim, type Draft, readDraft } from './answering-store.ts';
import type { StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { readHandOver } from './hand-over-rows.ts';
import { personColumns, type Row, type Tables } from './tables.ts';
import { readDigest, readView } from './watch-rows.ts';

/** Drafts that are looked at until enough are found whose question is not closed. */
const DRAFTS_EXAMINED = 40;

/** What inboxes show. Damaged rows are left out. */
export function createInboxReads({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	function readOrSkip(row: AnswerRow): Answer[] {
		try {
			return [readAnswer(row, cipher)];
		} catch {
			log.error({ answer: row.id }, 'a damaged answer cannot be read and is skipped');
			return [];
		}
	}

	/** Delivered or being delivered, by session and message index. */
	async function settled(serviceUrl: string, open: readonly AskingSession[]): Promise<ReadonlySet<string>> {
		if (open.length === 0) return new Set();
		const oldestReadAt = Math.min(...open.map(({ readAt }) => readAt));
		const rows = await db.read
			.selectFrom('answers')
			.select(['session_id', 'message_index', 'state', 'delivered_at'])
			.where('service', '=', serviceUrl)
			.where(
				'session_id',
				'in',
				open.map(({ sessionId }) => sessionId),
			)
			.where(({ eb, or, and }) =>
				or([
					eb('state', 'in', BLOCKING_STATES),
					and([eb('state', 'in', ['delivered', 'resumed']), eb('delivered_at', '>=', oldestReadAt)]),
				]),
			)
			.execute();
		const readAt = new Map(open.map((session) => [session.sessionId, session.readAt]));
		return new Set(
			rows
				.filter((row) => row.delivered_at === null || row.delivered_at >= (readAt.get(row.session_id) ?? 0))
				.map((row) => `${row.message_index}:${row.session_id}`),
		);
	}

	function ofPerson(serviceUrl: string, person: Person) {
		return db.read
			.selectFrom('answers')
			.where('service', '=', serviceUrl)
			.where((eb) => eb.and(personColumns(person)));
	}

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
			const answered = await settled(serviceUrl, open);
			return open.flatMap(({ sessionId, messageIndex, fingerprint, since, channels }): OpenQuestion[] => {
				if (answered.has(`${messageIndex}:${sessionId}`)) return [];
				return [{ question: { service: serviceUrl, sessionId, messageIndex }, fingerprint, since, channels }];
			});
		},

		/** Whether a channel of this workspace watches a session. */
		async isWatching(serviceUrl: string, teamId: string): Promise<boolean> {
			const row = await db.read
				.selectFrom('watches')
				.select('id')
				.where('service', '=', serviceUrl)
				.where('team_id', '=', teamId)
				.where('ended_at', 'is', null)
				.limit(1)
				.executeTakeFirst();
			return row !== undefined;
		},

		/** The person's snoozes, also those that have ended. */
		async snoozes(serviceUrl: string, person: Person): Promise<readonly Snooze[]> {
			const rows = await db.read
				.selectFrom('snoozes')
				.selectAll()
				.where('service', '=', serviceUrl)
				.where((eb) => eb.and(personColumns(person)))
				.execute();
			return rows.map(({ service, session_id: sessionId, fingerprint, until }) => {
				return { person, session: { service, sessionId }, fingerprint, until };
			});
		},

		/** The questions of this workspace that somebody has, because they were handed over to them. */
		async handOvers(serviceUrl: string, teamId: string): Promise<readonly HandOver[]> {
			const rows = await db.read
				.selectFrom('hand_overs')
				.selectAll()
				.where('service', '=', serviceUrl)
				.where('team_id', '=', teamId)
				.where('given_back_at', 'is', null)
				.execute();
			return rows.map(readHandOver);
		},

		/** What cards show of these sessions, by session id; without those that cannot be read. */
		async snapshots(serviceUrl: string, sessionIds: readonly string[]): Promise<ReadonlyMap<string, SessionSnapshot>> {
			if (sessionIds.length === 0) return new Map();
			const rows = await db.read
				.selectFrom('watched_sessions')
				.select(['service', 'session_id', 'view'])
				.where('service', '=', serviceUrl)
				.where('session_id', 'in', sessionIds)
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
			const wanted = new Set(questions.map(({ sessionId, messageIndex }) => `${messageIndex}:${sessionId}`));
			const rows = await db.read
				.selectFrom('claims')
				.selectAll()
				.where('service', '=', first.service)
				.where(
					'session_id',
					'in',
					questions.map(({ sessionId }) => sessionId),
				)
				.where('until', '>', now)
				.orderBy('claimed_at')
				.orderBy('user_id')
				.execute();
			return rows
				.filter((row) => wanted.has(`${row.message_index}:${row.session_id}`))
				.map((row) => ({
					question: { service: row.service, sessionId: row.session_id, messageIndex: row.message_index },
					person: { teamId: row.team_id, userId: row.user_id },
					until: row.until,
				}));
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
			const rows = await db.read
				.selectFrom('answers')
				.select('session_id')
				.distinct()
				.where('service', '=', serviceUrl)
				.where('session_id', 'in', sessionIds)
				.where(({ eb, or }) => or([eb('state', 'in', BLOCKING_STATES), eb('delivered_at', '>=', since)]))
				.execute();
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
					const key = `${row.message_index}:${row.session_id}`;
					const isNew = !seen.has(key);
					seen.add(key);
					return isNew && !isClosed(row);
				})
				.slice(0, limit)
				.map((row) => row.form_id);
			if (ids.length === 0) return [];
			const full = await db.read.selectFrom('drafts').selectAll().where('form_id', 'in', ids).execute();
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
