// Owns `posts`, with `plan-store.ts`: the reminders among them, which are held until their time.
import { randomInt } from 'node:crypto';
import { evidence } from '../domain/asked.ts';
import { isInThread, type ReminderStage } from '../domain/channel-settings.ts';
import type { SessionKey } from '../domain/session.ts';
import type { Log } from '../kernel/log.ts';
import { parseOrNull } from '../kernel/values.ts';
import { readChannelSettings, stylesOf } from '../store/channel-settings.ts';
import {
	add,
	change,
	channelOf,
	type Db,
	type Filter,
	from,
	type Row,
	type StoreParts,
	sessionOf,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { inLockOrder, lockSession } from '../store/locks.ts';
import { IS_ANSWERED } from '../store/question-store.ts';
import { AWAITED_AHEAD_MS } from '../store/session-reads.ts';
import type { ChannelKey } from '../store/watch.ts';
import { askForRead, hasPlace } from '../store/watched-sessions.ts';
import { plannedRow } from './plan-store.ts';
import {
	AWAITED,
	HELD,
	NOWHERE,
	type PostTarget,
	type ReminderEntry,
	streamOf,
	targetOf,
	targetOfRow,
} from './post.ts';
import { activeClaims } from './view-plan-store.ts';

/** What reminders are decided from. */
export function createReminderStore({ db, log }: Pick<StoreParts, 'db'> & { readonly log: Log }) {
	return {
		/** The open questions of a channel, or of one watch, at this address of the service, and the channel's settings. */
		async factsOf(service: string, target: Exclude<PostTarget, { kind: 'person' }>, now: number) {
			const channel = channelOf(target);
			const of = target.kind === 'watch' ? sql`and watches.id = ${target.watchId}` : sql``;
			const [{ settings, change: changed }, { rows }] = await Promise.all([
				readChannelSettings({ db, log }, channel),
				sql<FactsRow>`select watches.id as watch_id, mode, questions.id as question_id, questions.service,
						questions.session_id, questions.message_index, evidence, remind_since, reminded_at, escalation_count,
						last_reminder_at, last_read_at, failures, ${IS_ANSWERED} as is_answered,
						coalesce(posts.ts, (select ts from posts as card where card.watch_id = watches.id and card.kind = 'card'
							and card.state in ('shown', 'closed') order by card.number desc limit 1), ${NOWHERE}) as post_ts
					from watches
					join questions on questions.service = watches.service and questions.session_id = watches.session_id
						and settled_at is null
					join posts on posts.watch_id = watches.id and posts.question_id = questions.id
						and posts.kind = 'question' and remind_since is not null
					join watched_sessions as seen on seen.service = watches.service and seen.session_id = watches.session_id
					where watches.team_id = ${channel.teamId} and watches.channel_id = ${channel.channelId}
						and watches.service = ${service} and ended_at is null ${of}
					order by remind_since, posts.id`.execute(db.read),
			]);
			const asked = { service, sessionId: [...new Set(rows.map(({ sessionId }) => sessionId))] };
			const claimed = rows.length === 0 ? [] : await activeClaims(db.read, asked, now);
			const lastFirst = claimed.toSorted((one, other) => one.until - other.until);
			/** The active claim of each question; of several the one that lasts longest. */
			const latest = new Map(lastFirst.map((claim) => [placeOf(claim.question), claim]));
			const questions = rows.map(({ mode, evidence: seen, isAnswered, failures, lastReadAt: readAt, ...row }) => ({
				...row,
				/** Its reminder stays in the thread of the card. */
				isThreadOnly: isInThread(mode, settings),
				/** It is asked again because its field lost an answer of ours. */
				isLost: Boolean(parseOrNull(evidence, seen)?.lost),
				/** An answer of ours was delivered or is on its way. */
				isAnswered: Boolean(isAnswered),
				claim: latest.get(placeOf(row)) ?? null,
				/** When the newest successful read of the session began. */
				readAt,
				isFailing: failures > 0,
			}));
			return { questions, settings, settingsChangedAt: changed?.at ?? null };
		},

		/** Has sessions read ahead of others, in the order of `by`, unless they are due as early already. */
		async askForReads(sessions: readonly SessionKey[], by: number, now: number): Promise<void> {
			const place = by - AWAITED_AHEAD_MS;
			const service = sessions.map((session) => session.service);
			const sessionId = sessions.map((session) => session.sessionId);
			const columns = ['service', 'sessionId', 'nextReadAt', 'readBy', 'failures'] as const;
			const seen = await from(db.read, 'watched_sessions', { service, sessionId }).select(columns).execute();
			for (const session of seen.filter((row) => !hasPlace(row, place, now)))
				await db.write(async (trx) => {
					const row = await lockSession(trx, session);
					if (row !== undefined && !hasPlace(row, place, now)) await askForRead(trx, row, place, now);
				});
		},
	};
}

export type ReminderStore = ReturnType<typeof createReminderStore>;
export type ReminderFacts = Awaited<ReturnType<ReminderStore['factsOf']>>;

interface FactsRow
	extends SessionKey,
		Pick<Row<'posts'>, 'remindedAt' | 'escalationCount' | 'lastReminderAt'>,
		Pick<Row<'questions'>, 'messageIndex' | 'evidence'>,
		Pick<Row<'watched_sessions'>, 'lastReadAt' | 'failures'>,
		Pick<Row<'watches'>, 'mode'>,
		Pick<ReminderEntry, 'watchId' | 'questionId' | 'postTs'> {
	readonly remindSince: number;
	readonly isAnswered: unknown;
}

const placeOf = ({ service, sessionId, messageIndex }: SessionKey & { readonly messageIndex: number }) =>
	`${service} ${sessionId} ${messageIndex}`;

type RemindedWatch = SessionKey & ChannelKey & Pick<Row<'watches'>, 'id' | 'mode'>;

/** A new question is looked at after this time, together with others of its channel. No reminder comes sooner. */
const SOON_MS = 10_000;

/** Has the reminders of a question count from `since`, in each of these watches. The caller has locked the posts. */
export async function beginReminders(
	tx: Tx,
	posted: readonly { readonly postId: string; readonly watch: RemindedWatch }[],
	since: number,
): Promise<void> {
	const begun = { remindSince: since, remindedAt: null, escalationCount: 0, lastReminderAt: null };
	for (const { postId } of posted) await change(tx.trx, 'posts', { id: postId }, begun).execute();
	const watches = posted.map(({ watch }) => watch);
	await lookAtReminders(tx, watches, tx.now + SOON_MS);
}

/** Has the reminders of a session's questions count from now: the agent worked in between, and asks again. */
export async function restartReminders(tx: Tx, session: SessionKey): Promise<void> {
	const { trx, now } = tx;
	const posts = { ...sessionOf(session), kind: 'question' };
	const reminded = from(trx, 'posts', posts).where('remindSince', 'is not', null).forUpdate();
	const id = reminded.select('id').orderBy('id');
	await change(trx, 'posts', { id }, { remindSince: now, lastReminderAt: null }).execute();
	const live = from(trx, 'watches', { ...sessionOf(session), endedAt: null });
	await lookAtReminders(tx, await live.selectAll().execute(), now + SOON_MS);
}

/** Has the reminders of a channel looked at now: its settings have changed. */
export async function lookAtChannel(tx: Tx, channel: ChannelKey): Promise<void> {
	const live = from(tx.trx, 'watches', { ...channelOf(channel), endedAt: null });
	await lookAtReminders(tx, await live.selectAll().execute(), tx.now);
}

/**
 * Has the reminder of each channel of these watches decided at `at` or sooner, and so the reminder in the thread of
 * each watch whose questions stand there.
 */
export async function lookAtReminders(tx: Tx, watches: readonly RemindedWatch[], at: number): Promise<void> {
	const places = new Map<string, HeldPlace>();
	const channels = Map.groupBy(watches, ({ teamId, channelId }) => `${teamId}:${channelId}`);
	for (const here of channels.values()) {
		const { teamId, channelId } = here[0] as RemindedWatch;
		const style = (await stylesOf(tx.trx, teamId, [channelId]))(channelId);
		const channel = { kind: 'channel', teamId, channelId } as const;
		places.set(streamOf(channel), { target: channel, about: {} });
		for (const watch of here) {
			const target = targetOf(watch);
			const about = { watchId: watch.id, ...sessionOf(watch) };
			if (isInThread(watch.mode, style)) places.set(streamOf(target), { target, about });
		}
	}
	for (const [, place] of inLockOrder([...places], ([stream]) => stream)) await hold(tx, place, at);
}

interface HeldPlace {
	readonly target: PostTarget;
	readonly about: Partial<Pick<Row<'posts'>, 'watchId' | 'service' | 'sessionId'>>;
}

/** Plans the held reminder of a place, or has it decided sooner: at `at` at the latest. */
async function hold({ trx, now }: Tx, { target, about }: HeldPlace, at: number): Promise<void> {
	const isWaiting = sql`posts.waits_as in (${HELD}, ${AWAITED})`;
	const isOver = sql`posts.state = 'dropped'`;
	// Two transactions that plan the same reminder may conflict only on its key. If both took the next number, too, each
	// could wait for the other. A negative number comes before those of all other posts.
	const number = -randomInt(1, MOST_NUMBERS);
	const row = { ...plannedRow(target, HELD_KEY, NO_REMINDERS, now), number, dueAt: at, waitsAs: HELD };
	await add(trx, 'posts', { ...row, ...about })
		.onConflict((conflict) =>
			conflict.columns(['stream', 'uniqueKey']).doUpdateSet({
				state: 'planned',
				wanted: sql<number>`posts.wanted + 1`,
				content: sql<string>`case when ${isOver} then excluded.content else posts.content end`,
				waitsAs: sql<string>`case when ${isOver} then excluded.waits_as else posts.waits_as end`,
				dueAt: sql<number>`case when ${isOver} or ${isWaiting} and posts.due_at > excluded.due_at
					then excluded.due_at else posts.due_at end`,
			}),
		)
		.execute();
}

const MOST_NUMBERS = 2 ** 31;
/** The key of the reminder in its stream that is not shown yet. */
const HELD_KEY = 'reminder';
const NO_REMINDERS = { kind: 'reminder', entries: [] } as const;

/** The columns that tie a shown reminder of one question to that, so that changes of it draw the reminder again. */
export function aboutOf(entries: readonly ReminderEntry[], service: string | undefined) {
	const [one, ...others] = entries;
	if (one === undefined || others.length > 0) return {};
	const { watchId, questionId, sessionId } = one;
	return { watchId, questionId, ...(service !== undefined && { service, sessionId }) };
}

/** Counts reminders that were posted or that Slack refused, and holds the next one. The caller has locked the posts. */
export async function countReminders(tx: Tx, row: Row<'posts'>, entries: readonly ReminderEntry[]): Promise<void> {
	const { trx, now } = tx;
	await change(trx, 'posts', { id: row.id }, { uniqueKey: `${HELD_KEY}:${row.id}` }).execute();
	const counts = {
		reminder: { remindedAt: now },
		escalation: { escalationCount: sql<number>`escalation_count + 1` },
	} satisfies Record<ReminderStage, object>;
	for (const [stage, counted] of Map.groupBy(entries, (entry) => entry.stage)) {
		const count = { ...counts[stage], lastReminderAt: now };
		await change(trx, 'posts', questionsOf(counted), count).execute();
	}
	const { service, sessionId } = row;
	const target = targetOfRow(row);
	await hold(
		tx,
		{ target, about: target.kind === 'watch' ? { watchId: target.watchId, service, sessionId } : {} },
		now,
	);
}

/** The posts of the questions that these reminders are about. */
export const questionsOf = (entries: readonly ReminderEntry[]): Filter<'posts'> => ({
	kind: 'question',
	watchId: entries.map(({ watchId }) => watchId),
	questionId: entries.map(({ questionId }) => questionId),
});

/** Takes the leases of all held reminders, so that nothing is written that was decided before. */
export const endHeldLeases = (trx: Db) =>
	change(trx, 'posts', { kind: 'reminder', state: 'planned', sendingSince: null }, WITHOUT_LEASE)
		.where('leaseToken', 'is not', null)
		.execute();
