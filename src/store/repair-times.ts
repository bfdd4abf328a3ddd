import { type Kysely, sql } from 'kysely';
import { MAX_UNDO_MS } from '../answers/answer.ts';
import { STEP_MS } from '../clock.ts';
import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import { LONGEST_SNOOZE_MS } from '../inbox/snooze.ts';
import { LONGEST_INTERVAL_MS } from '../watches/schedule.ts';
import type { StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Rule {
	/** The longest legal delay: a time further ahead was stored by a clock that was ahead. */
	readonly longestMs: number;
	/** What such a time becomes, counted from now. */
	readonly becomesMs?: number;
	/** Whether it is the end of a duration, which goes on when the clock is set. Other times follow the clock. */
	readonly lasts?: true;
	/** Whether the row decides anew when it is due, so that each step of the clock makes it due. */
	readonly decides?: true;
}

/** When something happened. Clocks of replicas differ by less. */
const NOTED: Rule = { longestMs: STEP_MS };
const LEASE: Rule = { longestMs: 60_000, becomesMs: 60_000, lasts: true };

/** All columns with times. A new one has to be added here. */
export const TIME_COLUMNS: { readonly [T in keyof Tables]?: { readonly [C in keyof Tables[T]]?: Rule } } = {
	migrations: { applied_at: NOTED },
	answers: {
		...noted('accepted_at', 'put_started_at', 'delivered_at', 'ended_at', 'restart_asked_at'),
		next_attempt_at: { longestMs: 15 * 60_000, decides: true },
		undo_until: { longestMs: MAX_UNDO_MS, becomesMs: MAX_UNDO_MS, lasts: true },
		not_before: { longestMs: LONGEST_RETRY_AFTER_MS, lasts: true },
		// `GIVE_UP_HOURS` is at most 30 days.
		give_up_at: { longestMs: 30 * DAY_MS, becomesMs: DAY_MS },
		leased_until: LEASE,
	},
	drafts: noted('updated_at'),
	claims: { ...noted('claimed_at'), until: { longestMs: 10 * 60_000, lasts: true } },
	watches: {
		...noted('created_at', 'last_change_at', 'ended_at', 'card_shown_at', 'card_since'),
		card_not_before: { longestMs: 15 * 60_000, lasts: true },
		leased_until: LEASE,
	},
	watched_sessions: {
		...noted('last_read_at', 'last_change_at', 'touched_at', 'over_since', 'question_since'),
		next_read_at: { longestMs: LONGEST_INTERVAL_MS, lasts: true },
		read_by: { longestMs: 2 * LONGEST_INTERVAL_MS, lasts: true },
		leased_until: LEASE,
	},
	announcements: {
		...noted('created_at'),
		// A post that may exist is searched for from here on, by Slack's clock.
		sending_since: { ...NOTED, becomesMs: -DAY_MS },
		next_attempt_at: { longestMs: 15 * 60_000, lasts: true },
		leased_until: LEASE,
	},
	inboxes: {
		...noted('opened_at', 'built_at'),
		next_update_at: { longestMs: LONGEST_SNOOZE_MS, decides: true },
		leased_until: LEASE,
	},
	ladders: {
		...noted('posted_at', 'reminded_at', 'last_rung_at', 'waiting_since', 'few_since'),
		// Each start makes them due too.
		due_at: { longestMs: 30 * DAY_MS, decides: true },
		rung_due_at: { longestMs: 10 * 60_000 },
		leased_until: LEASE,
	},
	channel_settings: noted('changed_at'),
	snoozes: { until: { longestMs: LONGEST_SNOOZE_MS } },
	hand_overs: noted('handed_over_at', 'given_back_at'),
	waiting_sessions: noted('since', 'lowered_at', 'gone_at'),
	discoveries: noted('created_at'),
	service_outages: noted('down_since'),
	shared_states: noted('changed_at'),
};

function noted<Column extends string>(...columns: Column[]) {
	return Object.fromEntries(columns.map((column) => [column, NOTED])) as Record<Column, Rule>;
}

/**
 * Repairs stored times that are further ahead of `now` than legal; otherwise their rows would wait until then. Called at the
 * start, and for each step of the clock.
 *
 * @param stepMs how far the clock is just being set; null at the start
 */
export async function repairTimes(db: StoreDatabase, now: number, stepMs: number | null = null): Promise<void> {
	// The step that one replica sees may be its own sleep.
	const before = now - (db.dialect === 'sqlite' ? (stepMs ?? 0) : 0);
	// Their other times are in JSON. They are outdated after minutes.
	const stale = (trx: Kysely<Tables>) => trx.deleteFrom('shared_states').where('changed_at', '>', now + STEP_MS);
	await db.writeOne((trx) => stale(trx).execute());
	const repairs = Object.entries(TIME_COLUMNS).map(([table, columns]) =>
		db.writeOne(async (trx) => {
			const set: Record<string, unknown> = {};
			const wrong = Object.entries<Rule>(columns).map(([name, { longestMs, becomesMs = 0, lasts, decides }]) => {
				const at = sql.ref(name);
				const latest = now + (decides && stepMs !== null ? 0 : longestMs);
				const isKept = lasts && before !== now;
				const kept = isKept ? sql`case when ${at} > ${before} then ${at} + ${now - before} else ${at} end` : at;
				set[name] = sql`case when ${kept} > ${latest} then ${now + becomesMs} else ${kept} end`;
				return sql<boolean>`${at} > ${isKept ? Math.min(before, latest) : latest}`;
			});
			const rows = (trx as Kysely<Record<string, Record<string, unknown>>>).updateTable(table).set(set);
			await rows.where((eb) => eb.or(wrong)).execute();
		}),
	);
	await Promise.all(repairs);
}
