import type { WatchTables } from './watch-tables.ts';

/**
 * The tables as Kysely types. One schema for both databases: text, integer and bigint only. Times are milliseconds
 * since the epoch in `bigint` columns (read as numbers on both), JSON and ciphertexts are `text`.
 */
export interface Tables extends WatchTables {
	migrations: MigrationsTable;
	meta: MetaTable;
	answers: AnswersTable;
	drafts: DraftsTable;
	claims: ClaimsTable;
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

export interface AnswersTable {
	id: string;
	submission_key: string;
	view_id: string;
	team_id: string;
	user_id: string;
	service: string;
	session_id: string;
	message_index: number;
	fingerprint: string;
	/** Encrypted: the items without the values of secret ones. Null once removed. */
	content: string | null;
	/** Encrypted: the values of secret items by position. Null once wiped, which needs no key. */
	secrets: string | null;
	/** Encrypted: the answer that was there first. */
	other: string | null;
	/** JSON: the positions that this answer fills or leaves empty on purpose. */
	positions: string;
	/** JSON */
	left_empty: string;
	/** JSON: the positions that its author keeps secret. Null where there was no box to say so. */
	secret_positions: string | null;
	origin_channel: string | null;
	origin_thread: string | null;
	state: string;
	attempts: number;
	/** Raised whenever its author replaces the text. */
	edit_count: number;
	form_read_at: number;
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
	lease_token: string | null;
	lease_until: number | null;
	/** The service asked not to be asked before this time. */
	not_before: number | null;
	/** Attempts in a row for which the service did not know the session. */
	missing_count: number;
	/** 1: the service saved it and reported a failure, most likely to start the agent's machine. */
	start_failed: number;
	/** Its author asked to have it sent once more, to start the agent; null once that began. */
	restart_asked_at: number | null;
}

export interface DraftsTable {
	form_id: string;
	team_id: string;
	user_id: string;
	service: string;
	session_id: string;
	message_index: number;
	fingerprint: string;
	/** Encrypted: the values by position. */
	content: string;
	updated_at: number;
}

interface ClaimsTable {
	service: string;
	session_id: string;
	message_index: number;
	team_id: string;
	user_id: string;
	claimed_at: number;
	until: number;
}
