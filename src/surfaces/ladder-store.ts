import { activeClaims, nameInService } from '../delivery/answering-store.ts';
import { evidence } from '../domain/asked.ts';
import { type Lease, parseOrNull } from '../kernel/basics.ts';
import type { SettingsParts } from '../sessions/channel-store.ts';
import { readSettings } from '../store/channel-settings.ts';
import { channelOf, type Db, from, sessionOf, sql } from '../store/database.ts';
import { freeLeases, leaseDue, nextDue, queueOf } from '../store/due.ts';
import { type LadderOutcome, type LadderRow, readLadder, recordLadder, touchLadders } from '../store/ladders.ts';
import { inLockOrder, locked, lockFor, lockSession } from '../store/locks.ts';
import { IS_ANSWERED } from '../store/question-store.ts';
import { AWAITED_AHEAD_MS, type ChannelKey, isInThread } from '../store/watch.ts';
import { askForRead, hasPlace } from '../store/watch-store.ts';
import { planPosts } from './plan-store.ts';
import type { NewPost } from './post.ts';

/** The ladders of open questions: rows with a due time. One begins when its question's post is noted as posted. */
export function createLadderStore({ db, log }: SettingsParts) {
	async function batchOf(rows: readonly LadderRow[], now: number) {
		const channel = channelOf(rows[0] as LadderRow);
		const [{ settings, change: changed }, facts] = await Promise.all([
			readSettings({ db, log }, channel),
			factsOf(rows, now),
		]);
		/** `isThreadOnly`: its reminder stays in the thread of the card. */
		const ladders = facts.map(({ mode, ...one }) => ({ ...one, isThreadOnly: isInThread(mode, settings) }));
		return { channel, settings, settingsChangedAt: changed?.at ?? null, ladders };
	}

	async function factsOf(rows: readonly LadderRow[], now: number) {
		const service = rows[0]?.service ?? '';
		const ofSessions = { service, sessionId: [...new Set(rows.map(({ sessionId }) => sessionId))] };
		const ofLadders = { id: rows.map(({ watchId }) => watchId), endedAt: null };
		const columns = ['sessionId', 'lastReadAt', 'failures'] as const;
		const [watches, read, questions, claims] = await Promise.all([
			from(db.read, 'watches', ofLadders).select(['id', 'mode']).execute(),
			from(db.read, 'watched_sessions', ofSessions).select(columns).execute(),
			from(db.read, 'questions', ofSessions)
				.where(sql<boolean>`(settled_at is null or settled_how = 'wentOn')`)
				.selectAll()
				.select(IS_ANSWERED.as('isAnswered'))
				.execute(),
			activeClaims(db.read, ofSessions, now),
		]);
		const live = new Map(watches.map((watch) => [watch.id, watch]));
		const sessions = new Map(read.map((row) => [row.sessionId, row]));
		const asked = new Map(questions.map((row) => [row.sessionId, row]));
		const byEnd = claims.toSorted((a, b) => a.until - b.until);
		const latest = new Map(byEnd.map((claim) => [nameInService(claim.question), claim]));
		return rows.map((row) => {
			const session = sessions.get(row.sessionId);
			const question = asked.get(row.sessionId);
			const claim = latest.get(nameInService({ sessionId: row.sessionId, messageIndex: question?.messageIndex ?? -1 }));
			return {
				ladder: readLadder(row),
				/** Counts what happened to the question; see `LadderOutcome`. */
				changeCount: row.changeCount,
				/** Whether the watch goes on, and the newest read found this question open. */
				isOpen: live.has(row.watchId) && question?.id === row.questionId,
				mode: live.get(row.watchId)?.mode,
				/** Nobody has to answer it as long as the agent works on. */
				hasGoneOn: question?.settledHow === 'wentOn',
				/** An answer of ours to it is gone, so it is asked again. */
				isLost: Boolean(parseOrNull(evidence, question?.evidence ?? null)?.lost),
				/** Whether somebody has answered in Handraise since: delivered, or on its way. */
				isAnswered: Boolean(question?.isAnswered),
				/** The active claim that lasts longest. */
				claim: claim === undefined ? null : { userId: claim.person.userId, until: claim.until },
				/** When the newest successful read of the session began. */
				readAt: session?.lastReadAt ?? null,
				isFailing: (session?.failures ?? 0) > 0,
			};
		});
	}

	/** Locks the session of an outcome if needed: for a read without a better place yet, and for a post to its watch. */
	async function prepareSession(trx: Db, outcome: LadderOutcome, { posts, now }: Reminded) {
		const { session, watchId } = outcome.ladder;
		if (posts.some(({ target }) => target.kind === 'watch' && target.watchId === watchId))
			await lockSession(trx, session);
		if (outcome.kind !== 'wait' || outcome.readBy === null) return;
		const by = outcome.readBy - AWAITED_AHEAD_MS;
		const seen = await from(trx, 'watched_sessions', sessionOf(session)).selectAll().executeTakeFirst();
		if (seen === undefined || hasPlace(seen, by, now)) return;
		const row = await lockSession(trx, session);
		if (row !== undefined && !hasPlace(row, by, now)) await askForRead(trx, row, by, now);
	}

	return {
		/**
		 * Leases the due ladders of up to `limit` channels, longest due first, with the reminders of these channels that
		 * wait for others: all of a channel together, by one replica. None of the channels `except`.
		 */
		async takeDue(service: string, lease: Lease, options: DueOptions) {
			const { now } = options;
			const where = dueByChannel(service, options);
			// Two replicas at once would each take some ladders of a channel.
			const before = (trx: Db) => lockFor(trx, 'takingLadders');
			const order = { orderBy: [sql`due_at`, sql`posted_at`], limit: MOST_LADDERS, before };
			const rows = await leaseDue(db, { table: 'ladders', service, where, ...order }, { lease, now });
			const byChannel = Map.groupBy(rows, ({ teamId, channelId }) => `${teamId}:${channelId}`);
			return Promise.all(Array.from(byChannel.values(), (group) => batchOf(group, now)));
		},

		...queueOf(db, 'ladders'),

		/** When `takeDue` with the same `except` next finds something; null for never. */
		async nextDueAt(service: string, except: readonly ChannelKey[]): Promise<number | null> {
			const where = sql<boolean>`service = ${service} and due_at is not null and ${isElsewhere('ladders', except)}`;
			return nextDue(db, 'ladders', where, 'dueAt');
		},

		/** Notes what becomes of ladders, queues `posts` and gives the leases back. Null: one was lost, nothing written. */
		record: (token: string, outcomes: readonly LadderOutcome[], { posts, now }: Reminded) =>
			db
				.write(async (trx) => {
					for (const outcome of inLockOrder(outcomes, ({ ladder }) => ladder.session.sessionId)) {
						await prepareSession(trx, outcome, { posts, now });
					}
					await planPosts({ trx, now }, posts);
					await locked(trx, 'ladders', { watchId: outcomes.map(({ ladder }) => ladder.watchId) }).execute();
					for (const outcome of outcomes) {
						if (!(await recordLadder(trx, token, outcome, now))) throw new LeaseLost();
					}
					return 'recorded' as const;
				})
				.catch(async (error: unknown) => {
					if (!(error instanceof LeaseLost)) throw error;
					// What is left of the batch: other batches may have the same token.
					const left = { leaseToken: token, watchId: outcomes.map(({ ladder }) => ladder.watchId) };
					await db.writeOne((trx) => freeLeases(trx, 'ladders', left));
					return null;
				}),

		/** Looks at all ladders now: settings of the program may have changed. */
		touchAll: (service: string, now: number) => db.writeOne((trx) => touchLadders(trx, { service }, now)),
	};
}

export type LadderStore = ReturnType<typeof createLadderStore>;
export type LadderBatch = Awaited<ReturnType<LadderStore['takeDue']>>[number];
export type TakenLadder = LadderBatch['ladders'][number];
/** Far more than are due in a few channels: a statement's parameters are limited. */
const MOST_LADDERS = 10_000;

type Reminded = { readonly posts: readonly NewPost[]; readonly now: number };
type DueOptions = { readonly now: number; readonly limit: number; readonly except: readonly ChannelKey[] };

function dueByChannel(service: string, { now, limit, except }: DueOptions) {
	return sql<boolean>`(team_id, channel_id) in (select first.team_id, first.channel_id from ladders as first
		where first.service = ${service} and first.due_at <= ${now}
		and (first.lease_token is null or first.leased_until <= ${now}) and ${isElsewhere('first', except)}
		group by first.team_id, first.channel_id
		order by min(first.due_at), min(first.posted_at) limit ${limit})
		and (due_at <= ${now} or reminder_due_at <= ${now})`;
}

function isElsewhere(table: string, channels: readonly ChannelKey[]) {
	if (channels.length === 0) return sql<boolean>`true`;
	const keys = channels.map(({ teamId, channelId }) => sql`${`${teamId}:${channelId}`}`);
	const [team, channel] = [sql.ref(`${table}.team_id`), sql.ref(`${table}.channel_id`)];
	return sql<boolean>`${team} || ':' || ${channel} not in (${sql.join(keys)})`;
}

/** Ends the transaction of a batch whose lease somebody else has. */
class LeaseLost extends Error {}
