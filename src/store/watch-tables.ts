/** The tables of watching; see `tables.ts` for the conventions. */
export interface WatchTables {
	watches: WatchesTable;
	watched_sessions: WatchedSessionsTable;
	announcements: AnnouncementsTable;
	service_outages: ServiceOutagesTable;
	paces: PacesTable;
	request_budgets: RequestBudgetsTable;
}

export interface WatchesTable {
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
	/** Of the card's update. */
	lease_token: string | null;
	lease_until: number | null;
}

export interface WatchedSessionsTable {
	service: string;
	session_id: string;
	/** JSON */
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
	lease_token: string | null;
	lease_until: number | null;
}

export interface AnnouncementsTable {
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
	lease_token: string | null;
	lease_until: number | null;
}

export interface ServiceOutagesTable {
	service: string;
	down_since: number | null;
}

export interface PacesTable {
	name: string;
	due: number;
	paused_until: number;
}

export interface RequestBudgetsTable {
	service: string;
	/** JSON */
	state: string;
}
