import type { Generated, Selectable } from 'kysely';
import type { Person, QuestionKey } from '../questions/answer.ts';
import type { SessionKey } from '../questions/session.ts';
import type { ChannelKey } from './watch.ts';

const SESSION = { service: 'text not null', session_id: 'text not null' } as const;
const QUESTION = { ...SESSION, message_index: 'integer not null' } as const;
const PERSON = { team_id: 'text not null', user_id: 'text not null' } as const;
const CHANNEL = { team_id: 'text not null', channel_id: 'text not null' } as const;
/** Null while nobody holds the row. */
const LEASE = { lease_token: 'text', leased_until: 'bigint' } as const;

/**
 * The columns of each table in SQL that both databases understand. Times are milliseconds since the epoch in `bigint`
 * columns (read as numbers); JSON and ciphertexts are `text`; what is 0 or 1 is an `integer`.
 */
export const COLUMNS = {
	migrations: { number: 'integer primary key', name: 'text not null', applied_at: 'bigint not null' },

	/** Facts about the database, such as the check value of the encryption key. */
	meta: { name: 'text primary key', value: 'text not null' },

	answers: {
		id: 'text primary key',
		submission_key: 'text not null unique',
		...PERSON,
		...QUESTION,
		...LEASE,
		fingerprint: 'text not null',
		/** Encrypted: the items without secret values. Null after removal. */
		content: 'text',
		/** Encrypted: secret values by position. Null after wiping, which needs no key. */
		secrets: 'text',
		/** Encrypted: the answer that was there first. */
		other: 'text',
		/** JSON that no query filters by, see `answer-rows.ts`. */
		submission: `text not null default ''`,
		/** JSON: the positions that the author marked as secret. Null when the form had no checkbox for it. */
		secret_positions: 'text',
		state: 'text not null',
		attempts: 'integer not null',
		/** Incremented when the author edits the answer. */
		edit_count: 'integer not null default 0',
		accepted_at: 'bigint not null',
		give_up_at: 'bigint not null',
		/** `undoUntil` of `SubmittedAnswer.press`; null for an answer from a form. */
		undo_until: 'bigint',
		next_attempt_at: 'bigint',
		put_started_at: 'bigint',
		/** JSON */
		before_put: 'text',
		delivered_at: 'bigint',
		agent_outcome: 'text',
		ended_at: 'bigint',
		last_error: 'text',
		/** JSON */
		timeline: 'text not null',
		/** JSON */
		receipt_state: 'text not null',
		/** The service asked for no request before this time. */
		not_before: 'bigint',
		/** Consecutive attempts for which the service did not know the session. */
		missing_count: 'integer not null default 0',
		/** 1: the service saved the answer and reported a failure, most likely because the agent's machine did not start. */
		start_failed: 'integer not null default 0',
		/** When the author asked to send it again in order to start the agent; null after that began. */
		restart_asked_at: 'bigint',
	},

	drafts: {
		form_id: 'text primary key',
		...PERSON,
		...QUESTION,
		fingerprint: 'text not null',
		/** Encrypted: the values by position. */
		content: 'text not null',
		updated_at: 'bigint not null',
	},

	claims: { ...QUESTION, ...PERSON, claimed_at: 'bigint not null', until: 'bigint not null' },

	watches: {
		id: 'text primary key',
		...CHANNEL,
		...SESSION,
		mode: 'text not null',
		questions_in_channel: 'integer not null',
		discreet: 'integer not null default 0',
		buttons: 'integer not null default 1',
		created_by: 'text not null',
		created_at: 'bigint not null',
		revision: 'integer not null default 0',
		last_change_at: 'bigint not null',
		ended_reason: 'text',
		ended_at: 'bigint',
	},

	watched_sessions: {
		...SESSION,
		...LEASE,
		/** The step rate as JSON. */
		rhythm: 'text not null',
		/** JSON: the digest of the latest read. */
		digest: 'text',
		/** Encrypted: the content of cards. */
		view: 'text',
		/** Null while no watch is live. */
		next_read_at: 'bigint',
		read_by: 'bigint not null',
		last_read_at: 'bigint',
		last_change_at: 'bigint',
		touched_at: 'bigint',
		failures: 'integer not null',
		over_since: 'bigint',
		hurry: 'integer not null',
	},

	/** One row for each time the agent of a watched session asks. At most one of a session is open. */
	questions: {
		id: 'text primary key',
		...QUESTION,
		/** Counts the session's questions in the order of asking. */
		number: 'integer not null',
		/** How many earlier messages ask the same. */
		same_before: 'integer not null',
		fingerprint: 'text not null',
		shown_hash: 'text not null',
		/** JSON: positions, like `answered_items`. */
		open_items: 'text not null',
		answered_items: 'text not null',
		/** Encrypted: what channels see of it, see `Asked`. Null after removal. */
		content: 'text',
		/** How often its text has changed, and when last. */
		reworded_count: 'integer not null default 0',
		reworded_at: 'bigint',
		/** When the read began that found it. */
		asked_at: 'bigint not null',
		/** Null while it is open. */
		settled_at: 'bigint',
		settled_how: 'text',
		/** Our answer that settled it; null: it was given outside Handraise, or there is none. */
		answer_id: 'text',
		/** The newest hand-over, see `HandOver`; null when nobody has handed it over. */
		hand_over_id: 'text',
		/** Null too when the hand-over is over. */
		held_watch_id: 'text',
		held_team_id: 'text',
		held_channel_id: 'text',
		from_user_id: 'text',
		to_user_id: 'text',
		hand_over_count: 'integer not null default 0',
		handed_over_at: 'bigint',
		given_back_at: 'bigint',
	},

	/** One row for each Slack message that has to stay true. */
	posts: {
		id: 'text primary key',
		...LEASE,
		/** `watch:<id>`, `channel:<team>:<channel>`, `person:<team>:<user>` or `person:<team>:<user>:<topic>`. */
		stream: 'text not null',
		/** Position in the stream: the order of first posts. */
		number: 'integer not null',
		unique_key: 'text not null',
		team_id: 'text not null',
		/** The channel's or person's id. */
		place_id: 'text not null',
		watch_id: 'text',
		/** Null, like `session_id` and `question_id`, for what is about no session. */
		service: 'text',
		session_id: 'text',
		question_id: 'text',
		kind: 'text not null',
		/** Encrypted; empty after removal. */
		content: 'text not null',
		/**
		 * `planned`, `shown` (and kept current), `closed` (after its last look), `gone` (somebody deleted it), `refused`, or
		 * `dropped`: there was nothing to say any more.
		 */
		state: 'text not null',
		created_at: 'bigint not null',
		/** Null: nothing to do. */
		due_at: 'bigint',
		/** 0: now, 1: progress. */
		urgency: 'integer not null default 0',
		/** Counts what changed after it was planned. */
		wanted: 'integer not null default 0',
		attempts: 'integer not null default 0',
		sending_since: 'bigint',
		ts: 'text',
		/** Hash of what it shows. */
		shown_key: 'text',
		shown_at: 'bigint',
		last_error: 'text',
	},

	/** An inbox that a person has open: their Home tab or a window. */
	inboxes: {
		/** `home:<team>:<user>` or `view:<view id>`. */
		id: 'text primary key',
		...PERSON,
		...LEASE,
		/** Null for the Home tab. */
		view_id: 'text',
		/** Counts from 0. */
		page: 'integer not null',
		opened_at: 'bigint not null',
		/** Counts what the person did: opening it, changing the page, pressing something. */
		asked_count: 'integer not null',
		/** Counts every reason for an update, also these. */
		change_count: 'integer not null',
		/** Null when it is not followed any more. */
		next_update_at: 'bigint',
		/** The `asked_count` that it shows. */
		shown_count: 'integer not null default 0',
		/** What it shows, see `InboxDisplay`. */
		shown_key: 'text',
		/** When its content was last put together. */
		built_at: 'bigint',
	},

	/** The reminders of a question in a channel. */
	ladders: {
		watch_id: 'text primary key',
		...CHANNEL,
		...SESSION,
		...LEASE,
		question_id: 'text not null',
		/** The question's post. */
		post_ts: 'text not null',
		posted_at: 'bigint not null',
		reminded_at: 'bigint',
		escalation_count: 'integer not null default 0',
		/** 1 while a reminder is on its way to Slack. */
		is_sending: 'integer not null default 0',
		last_reminder_at: 'bigint',
		/** When the reminder was due that waits for something. */
		reminder_due_at: 'bigint',
		/** Who was answering when a reminder was due. */
		held_by: 'text',
		/** See `WaitingReminders`. */
		waiting_since: 'bigint',
		few_since: 'bigint',
		/** When to look at it; null: when something changes. */
		due_at: 'bigint',
		/** Counts what happened to the question. */
		change_count: 'integer not null default 0',
	},

	channel_settings: {
		...CHANNEL,
		/** JSON */
		settings: 'text not null',
		revision: 'integer not null',
		changed_by: 'text not null',
		changed_at: 'bigint not null',
	},

	/** A question that a person does not see in their inbox for some time. */
	snoozes: { ...PERSON, ...SESSION, fingerprint: 'text not null', until: 'bigint not null' },

	/** The sessions of the account that wait for a person. */
	waiting_sessions: {
		...SESSION,
		/** Encrypted */
		name: 'text not null',
		since: 'bigint not null',
		/** When a read last found that it asks nothing, or it could not be read. */
		lowered_at: 'bigint',
		/** How often in a row; 0: only once, after it had asked. */
		lowered_count: 'integer not null default 0',
		/** 1: it began to wait, or asked something else, after the first list, and has not given way in a channel since. */
		is_new: 'integer not null default 0',
		/** Since when lists lack it; null: it is listed. */
		gone_at: 'bigint',
	},

	discoveries: {
		...CHANNEL,
		service: 'text not null',
		discreet: 'integer not null',
		buttons: 'integer not null',
		created_by: 'text not null',
		created_at: 'bigint not null',
	},

	/** The services that are down. */
	service_outages: { service: 'text primary key', down_since: 'bigint not null' },

	/** See `createSharedState`. */
	shared_states: {
		/** The service's address (its request budget), `list:<address>` (who lists), `memberships`, or `rate:<key>`. */
		name: 'text primary key',
		/** JSON */
		state: 'text not null',
		changed_at: 'bigint not null',
	},
} as const;

export type Tables = {
	[Table in keyof typeof COLUMNS]: {
		-readonly [Column in keyof (typeof COLUMNS)[Table]]: Value<(typeof COLUMNS)[Table][Column]>;
	};
};

type Value<Sql> = Sql extends `${string} default ${string}`
	? Generated<Scalar<Sql>>
	: Sql extends `${string} not null${string}` | `${string} primary key`
		? Scalar<Sql>
		: Scalar<Sql> | null;
type Scalar<Sql> = Sql extends `text${string}` ? string : number;

export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

// The columns of keys, for an insert or as a filter, and the keys of rows.

export const sessionColumns = ({ service, sessionId }: SessionKey) => ({ service, session_id: sessionId });

type SessionRow = Pick<Row<'answers'>, keyof typeof SESSION>;
export const sessionOf = (row: SessionRow): SessionKey => ({ service: row.service, sessionId: row.session_id });

export function questionColumns({ messageIndex, ...session }: QuestionKey) {
	return { ...sessionColumns(session), message_index: messageIndex };
}

export function questionOf(row: SessionRow & { message_index: number }): QuestionKey {
	return { ...sessionOf(row), messageIndex: row.message_index };
}

export const personColumns = ({ teamId, userId }: Person) => ({ team_id: teamId, user_id: userId });

type PersonRow = Pick<Row<'answers'>, keyof typeof PERSON>;
export const personOf = (row: PersonRow): Person => ({ teamId: row.team_id, userId: row.user_id });

export const channelColumns = ({ teamId, channelId }: ChannelKey) => ({ team_id: teamId, channel_id: channelId });

export type ChannelRow = Pick<Row<'watches'>, keyof typeof CHANNEL>;
export const channelOf = (row: ChannelRow): ChannelKey => ({ teamId: row.team_id, channelId: row.channel_id });

/** A holder that still works on the row has its writes refused: they name its token. */
export const WITHOUT_LEASE = { lease_token: null, leased_until: null } as const;

/** The tables whose rows are leased, and their keys; that of a session within its service. */
export const LEASED_KEYS = {
	answers: 'id',
	watched_sessions: 'session_id',
	posts: 'id',
	ladders: 'watch_id',
	inboxes: 'id',
} as const;
export type LeasedTable = keyof typeof LEASED_KEYS;
