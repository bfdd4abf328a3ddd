import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import { LONGEST_INTERVAL_MS } from '../watches/schedule.ts';
import type { Tables } from './tables.ts';

/**
 * The one rule for stored times that processes compare. `now` is the database's time on PostgreSQL (`database-clock.ts`)
 * and the machine's on SQLite. A time further ahead than the longest legal delay of its kind of row was written before a
 * clock was put back, or by a clock that was ahead: it counts as due, or its row would wait until that time comes.
 */
export const LONGEST_DELAY_MS = {
	/** The last confirmation check comes 10 minutes after a delivery; a receipt is tried again after 10 minutes. */
	answer: 15 * 60_000,
	/** The schedule leaves no session unread for longer. */
	read: LONGEST_INTERVAL_MS,
	/** Posts and cards: the longest retry, and the longest pause that Slack is believed. */
	post: 15 * 60_000,
	/** "(name) is answering" holds for 5 minutes. */
	claim: 10 * 60_000,
} as const;

/** No lease is longer. */
const LONGEST_LEASE_MS = 60_000;

/** Whether the time in `column` has come at `now`. */
export function isDue(column: string, now: number, longestMs: number) {
	const at = sql.ref(column);
	return sql<boolean>`(${at} <= ${now} or ${at} > ${now + longestMs})`;
}

/** The time in `column`, or `now` for one that counts as due because it is too far ahead. */
export function dueAt(column: string, now: number, longestMs: number) {
	const at = sql.ref(column);
	return sql<number | null>`case when ${at} > ${now + longestMs} then ${now} else ${at} end`;
}

/** Whether the time in `column`, at which something was done, is not ahead of `now` by more than clocks may differ. */
export function isPast(column: string, now: number) {
	return sql<boolean>`${sql.ref(column)} <= ${now + CLOCK_ALLOWANCE_MS}`;
}

/** Whether nobody holds the row: no lease, or one that has lapsed. */
export function isFree(now: number) {
	return ({
		eb,
		or,
	}: ExpressionBuilder<Tables, 'answers' | 'watches' | 'watched_sessions' | 'announcements'>): ExpressionWrapper<
		Tables,
		'answers' | 'watches' | 'watched_sessions' | 'announcements',
		SqlBool
	> => or([eb('lease_token', 'is', null), hasLapsed('lease_until', now)]);
}

/** Whether a lease that ends at the time in `column` has lapsed. */
export function hasLapsed(column: string, now: number) {
	return isDue(column, now, LONGEST_LEASE_MS);
}

/** When a lease that ends at the time in `column` is to be looked at: `now` when it has lapsed. */
export function lapsesAt(column: string, now: number) {
	return dueAt(column, now, LONGEST_LEASE_MS);
}
