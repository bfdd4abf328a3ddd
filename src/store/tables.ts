import type { Generated } from 'kysely';
import type { Person, QuestionKey } from '../answers/answer.ts';

/**
 * The tables as Kysely types. One schema for both databases: text, integer and bigint only. Times are milliseconds
 * since the epoch in `bigint` columns (read as numbers on both), JSON and ciphertexts are `text`.
 */
export interface Tables {
	migrations: MigrationsTable;
	meta: MetaTable;
	answers: AnswersTable;
	drafts: DraftsTable;
	claims: ClaimsTable;
	watches: WatchesTable;
	watched_sessions: WatchedSessionsTable;
	announcements: AnnouncementsTable;
	service_outages: ServiceOutagesTable;
	paces: PacesTable;
	request_budgets: RequestBudgetsTable;
}

type PersonColumns = ReturnType<typeof personColumns>;
type QuestionColumns = ReturnType<typeof questionColumns>;

/** Null while nobody holds the row. */
interface LeaseColumns {
	lease_token: string | null;
	leased_until: number | null;
}

interface MigrationsTable {
	number: number;
	name: string;
	applied_at: number;
}

/** Facts about the database itself, such as the check value of the encryption key. */
interface MetaTable {
	name: string;
	value: string;
}

export interface AnswersTable extends PersonColumns, QuestionColumns, LeaseColumns {
	id: string;
	submission_key: string;
	fingerprint: string;
	/** Encrypted: the items without the values of secret ones. Null once removed. */
	content: string | null;
	/** Encrypted: the values of secret items by position. Null once wiped, which needs no key. */
	secrets: string | null;
	/** Encrypted: the answer that was there first. */
	other: string | null;
	/** JSON: what the submission said of itself and nothing is looked for by, see `answer-rows.ts`. */
	submission: string;
	/** JSON: the positions that its author keeps secret. Null where there was no box to say so. */
	secret_positions: string | null;
	state: string;
	attempts: number;
	/** Raised whenever its author replaces the text. */
	edit_count: Generated<number>;
	accepted_at: number;
	give_up_at: number;
	next_attempt_at: number | null;
	put_started_at: number | null;
	/** JSON */
	before_put: string | null;
	delivered_at: number | null;
	aftermath: string | null;
	ended_at: number | null;
	last_error: string | null;
	/** JSON */
	timeline: string;
	/** JSON */
	told: string;
	/** The service asked not to be asked before this time. */
	not_before: number | null;
	/** Attempts in a row for which the service did not know the session. */
	missing_count: Generated<number>;
	/** 1: the service saved it and reported a failure, most likely to start the agent's machine. */
	start_failed: Generated<number>;
	/** Its author asked to have it sent once more, to start the agent; null once that began. */
	restart_asked_at: number | null;
}

export interface DraftsTable extends PersonColumns, QuestionColumns {
	form_id: string;
	fingerprint: string;
	/** Encrypted: the values by position. */
	content: string;
	updated_at: number;
}

interface ClaimsTable extends PersonColumns, QuestionColumns {
	claimed_at: number;
	until: number;
}

/** The lease is that of the card's update. */
export interface WatchesTable extends LeaseColumns {
	id: string;
	team_id: string;
	channel_id: string;
	service: string;
	session_id: string;
	mode: string;
	questions_in_channel: number;
	created_by: string;
	created_at: number;
	/** JSON: what was last announced. */
	digest: string | null;
	revision: number;
	last_change_at: number;
	ended_reason: string | null;
	ended_at: number | null;
	card_ts: string | null;
	card_key: string | null;
	card_shown_at: number | null;
	/** 0: now, 1: progress. Null with `card_since` when nothing is wanted. */
	card_urgency: number | null;
	card_since: number | null;
	/** Counts what was ever wanted. */
	card_wants: number;
	card_not_before: number;
}

export interface WatchedSessionsTable extends LeaseColumns {
	service: string;
	session_id: string;
	/** The step rate as JSON. */
	rhythm: string;
	/** JSON: what the newest read found. */
	digest: string | null;
	/** Encrypted: what cards show. */
	view: string | null;
	/** Null while no watch needs it. */
	next_read_at: number | null;
	read_by: number;
	last_read_at: number | null;
	last_change_at: number | null;
	touched_at: number | null;
	failures: number;
	last_error: string | null;
	over_since: number | null;
	hurry: number;
}

export interface AnnouncementsTable extends LeaseColumns {
	id: string;
	/** `watch:<id>`, `channel:<team>:<channel>` or `person:<team>:<user>`. */
	target: string;
	/** Its place in the target's order. */
	number: number;
	unique_key: string;
	team_id: string;
	/** The channel's or person's id. */
	place_id: string;
	watch_id: string | null;
	kind: string;
	/** Encrypted */
	content: string;
	state: string;
	created_at: number;
	attempts: number;
	next_attempt_at: number | null;
	sending_since: number | null;
	posted_ts: string | null;
	last_error: string | null;
}

interface ServiceOutagesTable {
	service: string;
	down_since: number | null;
}

interface PacesTable {
	name: string;
	due: number;
	paused_until: number;
}

interface RequestBudgetsTable {
	service: string;
	/** JSON */
	state: string;
}

/** A question's columns, for an insert or as an equality filter (`eb.and(…)`). */
export function questionColumns({ service, sessionId, messageIndex }: QuestionKey) {
	return { service, session_id: sessionId, message_index: messageIndex };
}

/** A person's columns, for an insert or as an equality filter (`eb.and(…)`). */
export function personColumns({ teamId, userId }: Person) {
	return { team_id: teamId, user_id: userId };
}

/**
 * Nobody holds the row. Also for a change by somebody else than the holder, who may be at work on it this moment: the next
 * lease has another token, so whatever the former holder writes is refused.
 */
export const WITHOUT_LEASE = { lease_token: null, leased_until: null } as const;
