// Owns `ladders`: the reminders of questions in channels, with their due times.
import { sql } from 'kysely';
import type { SessionKey } from '../domain/session.ts';
import { pick } from '../kernel/basics.ts';
import {
	add,
	change,
	channelOf,
	type Db,
	type Filter,
	hasChanged,
	type Row,
	remove,
	sessionOf,
	WITHOUT_LEASE,
} from './database.ts';
import { locked } from './locks.ts';
import type { ChannelKey, ReminderStage } from './watch.ts';

export type LadderRow = Row<'ladders'>;

/** The reminders of one question in one channel. All times are milliseconds since the epoch. */
export type Ladder = Readonly<ReturnType<typeof readLadder>>;
/** Since when reminders of a channel wait: when one was first seen due, and since when at most a few are not read. */
export type WaitingReminders = NonNullable<Ladder['waiting']>;

/** Look again at `dueAt` (null: when something changes). `reminderDueAt`: the time of the due reminder. */
export interface Wait {
	readonly kind: 'wait';
	readonly dueAt: number | null;
	readonly reminderDueAt: number | null;
	readonly heldBy: string | null;
}

/** What becomes of a ladder that was taken. One whose question changed meanwhile is due at once. */
export type LadderOutcome = { readonly ladder: Ladder; readonly changeCount: number } & (
	| { readonly kind: 'over' }
	| (Wait & {
			/** Left out: its reminder waits for no others. */
			readonly waiting?: WaitingReminders | null;
			/** Read the session early: those that reminders wait for in the order of these times. Null: no read is needed. */
			readonly readBy: number | null;
	  })
	| { readonly kind: 'remind'; readonly stage: ReminderStage }
);

/** Begins the ladder of a question whose post is there, and forgets the one before. */
export async function beginLadder(
	trx: Db,
	watch: Pick<Row<'watches'>, 'id'> & ChannelKey & SessionKey,
	{ now, ...begun }: Pick<LadderRow, 'questionId' | 'postTs' | 'postedAt'> & { readonly now: number },
): Promise<void> {
	const of = { watchId: watch.id };
	await remove(trx, 'ladders', of).execute();
	await add(trx, 'ladders', { ...of, ...channelOf(watch), ...sessionOf(watch), ...begun, dueAt: now }).execute();
}

/** Has the ladders of sessions, a channel or a service looked at now. */
export async function touchLadders(trx: Db, of: Filter<'ladders'>, now: number): Promise<void> {
	const columns = { dueAt: now, changeCount: sql<number>`change_count + 1` };
	await change(trx, 'ladders', { watchId: locked(trx, 'ladders', of) }, columns).execute();
}

/** Has the ladders of a session count from now: nobody was asked while the agent worked. */
export const restartLadders = (trx: Db, session: SessionKey, now: number) =>
	change(trx, 'ladders', sessionOf(session), { postedAt: now, lastReminderAt: null }).execute();

export const removeLadders = (trx: Db, watchId: readonly string[]) => remove(trx, 'ladders', { watchId }).execute();

/** Ends all leases: nobody writes what they decided for a ladder. */
export const endLadderLeases = (trx: Db) =>
	change(trx, 'ladders', {}, WITHOUT_LEASE).where('leaseToken', 'is not', null).execute();

/** Notes what becomes of a ladder and gives the lease back. False when that was lost. */
export function recordLadder(trx: Db, token: string, outcome: LadderOutcome, now: number): Promise<boolean> {
	const held = { watchId: outcome.ladder.watchId, leaseToken: token };
	if (outcome.kind === 'over') return hasChanged(remove(trx, 'ladders', held));
	const columns = outcome.kind === 'wait' ? waitColumns(outcome, now) : reminderColumns(outcome, now);
	return hasChanged(change(trx, 'ladders', held, { ...WITHOUT_LEASE, ...columns }));
}

export function readLadder(row: LadderRow) {
	return {
		...pick(row, 'watchId', 'questionId', 'postTs', 'postedAt', 'remindedAt', 'lastReminderAt', 'reminderDueAt'),
		...pick(row, 'escalationCount', 'heldBy'),
		channel: channelOf(row),
		session: sessionOf(row),
		isSending: row.isSending === 1,
		waiting: row.waitingSince === null ? null : { since: row.waitingSince, fewSince: row.fewSince },
	};
}

function waitColumns(outcome: Extract<LadderOutcome, { kind: 'wait' }>, now: number) {
	const { dueAt, changeCount, waiting } = outcome;
	const plannedAt = dueAt === null ? null : Math.round(dueAt);
	return {
		// At once if the question changed meanwhile. PostgreSQL takes a case of nothing but parameters for a text.
		dueAt: sql<number>`cast(case when change_count = ${changeCount} then ${plannedAt} else ${now} end as bigint)`,
		...pick(outcome, 'reminderDueAt', 'heldBy'),
		waitingSince: waiting?.since ?? null,
		fewSince: waiting?.fewSince ?? null,
	};
}

function reminderColumns({ stage }: Extract<LadderOutcome, { kind: 'remind' }>, now: number) {
	const count = stage === 'reminder' ? { remindedAt: now } : { escalationCount: sql<number>`escalation_count + 1` };
	const waitsForNothing = { reminderDueAt: null, heldBy: null, waitingSince: null, fewSince: null };
	return { ...count, ...waitsForNothing, lastReminderAt: now, isSending: 1, dueAt: now };
}

/** What left a reminder out may still hold: else it would be queued and left out again and again. */
const UNSEEN_AGAIN_MS = 5_000;

type EndedReminder = Pick<LadderRow, 'watchId' | 'postTs' | 'lastReminderAt'> & { readonly stage: ReminderStage };

/** Lets ladders of these ended reminders go on, unless of another post. `unseen`: due after `UNSEEN_AGAIN_MS`. */
export async function endReminders(
	trx: Db,
	{ entries, unseen }: Readonly<Record<'entries' | 'unseen', readonly EndedReminder[]>>,
	now: number,
): Promise<void> {
	if (entries.length === 0) return;
	await locked(trx, 'ladders', { watchId: entries.map(({ watchId }) => watchId) }).execute();
	for (const { watchId, postTs, stage, lastReminderAt } of entries) {
		const isUnseen = unseen.some((entry) => entry.watchId === watchId);
		const before = stage === 'reminder' ? { remindedAt: null } : { escalationCount: sql<number>`escalation_count - 1` };
		const again = isUnseen
			? { ...before, lastReminderAt, dueAt: now + UNSEEN_AGAIN_MS }
			: { lastReminderAt: now, dueAt: now };
		const ended = { isSending: 0, changeCount: sql<number>`change_count + 1`, ...again };
		await change(trx, 'ladders', { watchId, postTs, isSending: 1 }, ended).execute();
	}
}
