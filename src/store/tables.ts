import type { Generated } from 'kysely';
import type { Person, QuestionKey } from '../answers/answer.ts';

/**
 * The tables as Kysely types, the same for both databases. Times are milliseconds since the epoch in `bigint` columns
 * (read as numbers); JSON and ciphertexts are `text`.
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
	inboxes: InboxesTable;
	ladders: LaddersTable;
	channel_settings: ChannelSettingsTable;
	snoozes: SnoozesTable;
	hand_overs: HandOversTable;
	waiting_sessions: WaitingSessionsTable;
	discoveries: DiscoveriesTable;
	service_outages: ServiceOutagesTable;
	shared_states: SharedStatesTable;
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

/** Facts about the database, such as the check value of the encryption key. */
interface MetaTable {
	name: string;
	value: string;
}

export interface AnswersTable extends PersonColumns, QuestionColumns, LeaseColumns {
	id: string;
	submission_key: string;
	fingerprint: string;
	/** Encrypted: the items without secret values. Null after removal. */
	content: string | null;
	/** Encrypted: secret values by position. Null after wiping, which needs no key. */
	secrets: string | null;
	/** Encrypted: the answer that was there first. */
	other: string | null;
	/** JSON that no query filters by, see `answer-rows.ts`. */
	submission: string;
	/** JSON: the positions that the author marked as secret. Null when the form had no checkbox for it. */
	secret_positions: string | null;
	state: string;
	attempts: number;
	/** Incremented when the author edits the answer. */
	edit_count: Generated<number>;
	accepted_at: number;
	give_up_at: number;
	/** See `OnePress`; null for an answer from a form. */
	undo_until: number | null;
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
	/** The service asked for no request before this time. */
	not_before: number | null;
	/** Consecutive attempts for which the service did not know the session. */
	missing_count: Generated<number>;
	/** 1: the service saved the answer and reported a failure, most likely because the agent's machine did not start. */
	start_failed: Generated<number>;
	/** When the author asked to send it again in order to start the agent; null after that began. */
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
	discreet: Generated<number>;
	buttons: Generated<number>;
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
	/** 0: now, 1: progress. Null, like `card_since`, when no update is requested. */
	card_urgency: number | null;
	card_since: number | null;
	/** Counts the requested updates. */
	card_wants: number;
	card_not_before: number;
}

export interface WatchedSessionsTable extends LeaseColumns {
	service: string;
	session_id: string;
	/** The step rate as JSON. */
	rhythm: string;
	/** JSON: the digest of the latest read. */
	digest: string | null;
	/** Encrypted: the content of cards. */
	view: string | null;
	/** Null while no watch is live. */
	next_read_at: number | null;
	read_by: number;
	last_read_at: number | null;
	last_change_at: number | null;
	touched_at: number | null;
	failures: number;
	last_error: string | null;
	over_since: number | null;
	/** When a read first found the question open; null while none is open. */
	question_since: number | null;
	hurry: number;
}

export interface AnnouncementsTable extends LeaseColumns {
	id: string;
	/** `watch:<id>`, `channel:<team>:<channel>`, `person:<team>:<user>` or `person:<team>:<user>:<topic>`. */
	target: string;
	/** Position in the target's order. */
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
	/** Of a question: what its post shows now, see `PreparedPost.key`. */
	shown_key: string | null;
	last_error: string | null;
}

/** An inbox that a person has open: their Home tab or a window. */
export interface InboxesTable extends PersonColumns, LeaseColumns {
	/** `home:<team>:<user>` or `view:<view id>`. */
	id: string;
	/** Null for the Home tab. */
	view_id: string | null;
	/** Counts from 0. */
	page: number;
	opened_at: number;
	/** Counts what the person did: opening it, changing the page, pressing something. */
	asked_count: number;
	/** Counts every reason for an update, those of `asked_count` too. */
	change_count: number;
	/** Null when it is not followed any more. */
	next_update_at: number | null;
	/** The `asked_count` that it shows. */
	shown_count: Generated<number>;
	/** What it shows, see `PreparedInbox.key`. */
	shown_key: string | null;
	/** When its content was last put together. */
	built_at: number | null;
}

/** The reminders of a question in a channel. */
export interface LaddersTable extends LeaseColumns {
	watch_id: string;
	team_id: string;
	channel_id: string;
	service: string;
	session_id: string;
	fingerprint: string;
	/** The question's post. */
	post_ts: string;
	posted_at: number;
	reminded_at: number | null;
	escalation_count: Generated<number>;
	/** 1 while a rung is on its way to Slack. */
	is_ringing: Generated<number>;
	last_rung_at: number | null;
	/** When the rung was due that waits for something. */
	rung_due_at: number | null;
	/** Who was answering when a rung was due. */
	held_by: string | null;
	/** See `WaitingRungs`. */
	waiting_since: number | null;
	few_since: number | null;
	/** When to look at it; null: when something changes. */
	due_at: number | null;
	/** Counts what happened to the question. */
	change_count: Generated<number>;
}

interface ChannelSettingsTable {
	team_id: string;
	channel_id: string;
	/** JSON */
	settings: string;
	revision: number;
	changed_by: string;
	changed_at: number;
}

/** A question that a person does not see in their inbox for some time. */
interface SnoozesTable extends PersonColumns {
	service: string;
	session_id: string;
	fingerprint: string;
	until: number;
}

/** The newest hand-over of a question. */
export interface HandOversTable {
	team_id: string;
	service: string;
	session_id: string;
	fingerprint: string;
	/** The watch whose question it is, and its channel. */
	watch_id: string;
	channel_id: string;
	from_user_id: string;
	to_user_id: string;
	/** See `HandOver.id`. */
	id: string;
	/** How often the question was handed over. */
	count: number;
	handed_over_at: number;
	/** Null while the person has it. */
	given_back_at: number | null;
}

/** A session of the account that waits for a person, as the newest list tells. */
export interface WaitingSessionsTable {
	service: string;
	session_id: string;
	/** Encrypted */
	name: string;
	since: number;
	/** When a read last found that it asks nothing, or it could not be read. */
	lowered_at: number | null;
	/** How often in a row; 0: only once, after it had asked. */
	lowered_count: Generated<number>;
	/** 1: it began to wait, or asked something else, after the first list, and has not given way in a channel since. */
	is_new: Generated<number>;
	/** Since when lists lack it; null: it is listed. */
	gone_at: number | null;
}

/** A channel into which each raised hand is brought. */
export interface DiscoveriesTable {
	team_id: string;
	channel_id: string;
	service: string;
	discreet: number;
	buttons: number;
	created_by: string;
	created_at: number;
}

interface ServiceOutagesTable {
	service: string;
	down_since: number | null;
}

/** States that are outdated after minutes. */
interface SharedStatesTable {
	/**
	 * The service's address for its request budget, `list:` and the address for who lists, `memberships`, `rate:` and the key
	 * of a rate.
	 */
	name: string;
	/** JSON */
	state: string;
	changed_at: number;
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
 * The lease columns of a row that nobody holds. A holder that still works on the row has its writes refused, because the
 * next lease has another token.
 */
export const WITHOUT_LEASE = { lease_token: null, leased_until: null } as const;
