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
	origin_channel: string | null;
	origin_thread: string | null;
	state: string;
	attempts: number;
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
	lease_owner: string | null;
	lease_until: number | null;
	/** 1: its owner has lost it but may not know yet. Nobody gets it before the owner has found out, or it lapses. */
	lease_revoked: number;
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
