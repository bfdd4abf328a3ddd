import type { Generated, Kysely, Selectable } from 'kysely';
import { pick } from '../core/values.ts';
import type { Person, QuestionKey } from '../questions/answer.ts';
import type { SessionKey } from '../questions/session.ts';
import type { ChannelKey } from './watch.ts';

const SESSION = { service: 'text not null', sessionId: 'text not null' } as const;
const QUESTION = { ...SESSION, messageIndex: 'integer not null' } as const;
const PERSON = { teamId: 'text not null', userId: 'text not null' } as const;
const CHANNEL = { teamId: 'text not null', channelId: 'text not null' } as const;
/** Null while nobody holds the row. */
const LEASE = { leaseToken: 'text', leasedUntil: 'bigint' } as const;

/**
 * In SQL that both databases understand; there, names are in snake_case (`nameInSql`). Times are milliseconds since the epoch
 * in `bigint` columns (read as numbers); JSON and ciphertexts are `text`; 0 or 1 is an `integer`.
 */
export const COLUMNS = {
	migrations: { number: 'integer primary key', name: 'text not null', appliedAt: 'bigint not null' },

	/** Facts about the database, such as the check value of the encryption key. */
	meta: { name: 'text primary key', value: 'text not null' },

	answers: {
		id: 'text primary key',
		submissionKey: 'text not null unique',
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
		/** JSON that no query filters by, see `rows-store.ts`. */
		submission: `text not null default ''`,
		secretPositions: 'text',
		state: 'text not null',
		attempts: 'integer not null',
		editCount: 'integer not null default 0',
		acceptedAt: 'bigint not null',
		giveUpAt: 'bigint not null',
		undoUntil: 'bigint',
		nextAttemptAt: 'bigint',
		putStartedAt: 'bigint',
		beforePut: 'text',
		deliveredAt: 'bigint',
		agentOutcome: 'text',
		endedAt: 'bigint',
		lastError: 'text',
		timeline: 'text not null',
		receiptState: 'text not null',
		notBefore: 'bigint',
		missingCount: 'integer not null default 0',
		startFailed: 'integer not null default 0',
		restartAskedAt: 'bigint',
		/** The row of `questions` that it answers; null: nobody watched the session then, or 1.0.0 accepted it. */
		questionId: 'text',
		/** JSON: what reads have shown since it arrived, see `Evidence`. */
		evidence: 'text',
		/** The first of the attempts in a row that found no such session. */
		missingSince: 'bigint',
		/** The `endedAt` of the ending that its author has dismissed from their inbox. */
		dismissedAt: 'bigint',
	},

	drafts: {
		formId: 'text primary key',
		...PERSON,
		...QUESTION,
		fingerprint: 'text not null',
		/** Encrypted: the values by position. */
		content: 'text not null',
		updatedAt: 'bigint not null',
	},

	windows: {
		viewId: 'text primary key',
		...PERSON,
		...QUESTION,
		...LEASE,
		fingerprint: 'text not null',
		shownHash: 'text',
		/** Slack's, of what the view shows. */
		hash: 'text not null',
		/** Encrypted: the view, with what was typed before it was shown. */
		view: 'text not null',
		/** See `Became`. */
		learned: 'text',
		notice: `text not null default ''`,
		touchedAt: 'bigint not null',
		dueAt: 'bigint',
	},

	claims: { ...QUESTION, ...PERSON, claimedAt: 'bigint not null', until: 'bigint not null' },

	watches: {
		id: 'text primary key',
		...CHANNEL,
		...SESSION,
		mode: 'text not null',
		questionsInChannel: 'integer not null',
		discreet: 'integer not null default 0',
		buttons: 'integer not null default 1',
		createdBy: 'text not null',
		createdAt: 'bigint not null',
		revision: 'integer not null default 0',
		lastChangeAt: 'bigint not null',
		endedReason: 'text',
		endedAt: 'bigint',
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
		nextReadAt: 'bigint',
		readBy: 'bigint not null',
		/** When the newest successful read began. */
		lastReadAt: 'bigint',
		/** When the newest read began that found a change; before any change, the first read. */
		lastChangeAt: 'bigint',
		/** When an early read was asked for, because an answer was delivered. */
		touchedAt: 'bigint',
		/** Failed reads since the last successful one. */
		failures: 'integer not null',
		/** When a read first found the session over. One more read follows. */
		overSince: 'bigint',
		/** Counts the requests for early reads: a read that began before the newest request does not cancel it. */
		hurry: 'integer not null',
		/** JSON: what its reads have shown besides, see `SessionReads`. */
		reads: 'text',
	},

	/** One row for each time the agent of a watched session asks. At most one of a session is open. */
	questions: {
		id: 'text primary key',
		...QUESTION,
		/** Counts the session's questions in the order of asking. */
		number: 'integer not null',
		sameBefore: 'integer not null',
		fingerprint: 'text not null',
		shownHash: 'text not null',
		/** Encrypted: what channels see of it, see `Asked`. Null after removal. */
		content: 'text',
		rewordedCount: 'integer not null default 0',
		rewordedAt: 'bigint',
		/** When the read began that found it; 0: it was answered before anybody watched its session. */
		askedAt: 'bigint not null',
		settledAt: 'bigint',
		settledHow: 'text',
		/** Our answer that settled it; null: it was given outside Handraise, or there is none. */
		answerId: 'text',
		/** JSON, see `Evidence`; null: the row is of 1.0.0. */
		evidence: 'text',
		/** The newest hand-over, see `HandOver`; null when nobody has handed it over. */
		handOverId: 'text',
		/** Null too when the hand-over is over. */
		heldWatchId: 'text',
		heldTeamId: 'text',
		heldChannelId: 'text',
		fromUserId: 'text',
		toUserId: 'text',
		handOverCount: 'integer not null default 0',
		handedOverAt: 'bigint',
		/** Encrypted: what whoever handed it over wrote to its holder. Null without, and once that is over. */
		handOverNote: 'text',
		givenBackAt: 'bigint',
	},

	/** One row for each Slack message that has to stay true. */
	posts: {
		id: 'text primary key',
		...LEASE,
		/** `watch:<id>`, `channel:<team>:<channel>`, `person:<team>:<user>` or `person:<team>:<user>:<topic>`. */
		stream: 'text not null',
		/** Position in the stream: the order of first posts. */
		number: 'integer not null',
		uniqueKey: 'text not null',
		teamId: 'text not null',
		/** The channel's or person's id. */
		placeId: 'text not null',
		watchId: 'text',
		/** Null, like `sessionId` and `questionId`, for what is about no session. */
		service: 'text',
		sessionId: 'text',
		questionId: 'text',
		kind: 'text not null',
		/** JSON, see `KINDS`; no text of a person or an agent. */
		content: 'text not null',
		/** `planned`, `shown`, `closed` (after its last look), `gone` (deleted), `refused`, `dropped` (not needed). */
		state: 'text not null',
		createdAt: 'bigint not null',
		dueAt: 'bigint',
		/** 0: now, 1: progress. */
		urgency: 'integer not null default 0',
		/** Counts what changed after it was planned. */
		wanted: 'integer not null default 0',
		attempts: 'integer not null default 0',
		sendingSince: 'bigint',
		ts: 'text',
		shownKey: 'text',
		shownAt: 'bigint',
		lastError: 'text',
	},

	inboxes: {
		/** `home:<team>:<user>` or `view:<view id>`. */
		id: 'text primary key',
		...PERSON,
		...LEASE,
		viewId: 'text',
		/** Counts from 0. */
		page: 'integer not null',
		openedAt: 'bigint not null',
		/** Counts what the person did: opening it, changing the page, pressing something. */
		askedCount: 'integer not null',
		/** Counts every reason for an update, also these. */
		changeCount: 'integer not null',
		nextUpdateAt: 'bigint',
		/** The `askedCount` that it shows. */
		shownCount: 'integer not null default 0',
		/** What it shows, see `InboxDisplay`. */
		shownKey: 'text',
		builtAt: 'bigint',
	},

	/** The reminders of a question in a channel. */
	ladders: {
		watchId: 'text primary key',
		...CHANNEL,
		...SESSION,
		...LEASE,
		questionId: 'text not null',
		postTs: 'text not null',
		postedAt: 'bigint not null',
		remindedAt: 'bigint',
		escalationCount: 'integer not null default 0',
		isSending: 'integer not null default 0',
		lastReminderAt: 'bigint',
		/** When the reminder was due that waits for something. */
		reminderDueAt: 'bigint',
		/** Who was answering when a reminder was due. */
		heldBy: 'text',
		/** See `WaitingReminders`. */
		waitingSince: 'bigint',
		fewSince: 'bigint',
		/** When to look at it; null: when something changes. */
		dueAt: 'bigint',
		changeCount: 'integer not null default 0',
	},

	channel_settings: {
		...CHANNEL,
		settings: 'text not null',
		revision: 'integer not null',
		changedBy: 'text not null',
		changedAt: 'bigint not null',
	},

	/** A question that a person does not see in their inbox for some time. */
	snoozes: { ...PERSON, ...SESSION, fingerprint: 'text not null', until: 'bigint not null' },

	waiting_sessions: {
		...SESSION,
		/** Encrypted */
		name: 'text not null',
		since: 'bigint not null',
		/** When a read last found that it asks nothing, or it could not be read. */
		loweredAt: 'bigint',
		/** How often in a row; 0: only once, after it had asked. */
		loweredCount: 'integer not null default 0',
		/** 1: it began to wait, or asked something else, after the first list, and has not given way in a channel since. */
		isNew: 'integer not null default 0',
		/** Since when lists lack it; null: it is listed. */
		goneAt: 'bigint',
	},

	discoveries: {
		...CHANNEL,
		service: 'text not null',
		discreet: 'integer not null',
		buttons: 'integer not null',
		createdBy: 'text not null',
		createdAt: 'bigint not null',
	},

	service_outages: { service: 'text primary key', downSince: 'bigint not null' },

	shared_states: {
		/** The service's address (its request budget), `list:<address>` (who lists), `memberships`, or `rate:<key>`. */
		name: 'text primary key',
		state: 'text not null',
		changedAt: 'bigint not null',
	},
} as const;

export type Tables = {
	[Table in keyof typeof COLUMNS]: {
		-readonly [Column in keyof (typeof COLUMNS)[Table]]: Value<(typeof COLUMNS)[Table][Column]>;
	};
};

/** The database, or a transaction. */
export type Db = Kysely<Tables>;

type Value<Sql> = Sql extends `${string} default ${string}`
	? Generated<Scalar<Sql>>
	: Sql extends `${string} not null${string}` | `${string} primary key`
		? Scalar<Sql>
		: Scalar<Sql> | null;
type Scalar<Sql> = Sql extends `text${string}` ? string : number;

export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

// The keys in a row, or in an object that has more: to filter by them, to insert or to return them.

export const sessionOf = (row: SessionKey): SessionKey => pick(row, 'service', 'sessionId');
export const questionOf = (row: QuestionKey): QuestionKey => pick(row, 'service', 'sessionId', 'messageIndex');
export const personOf = (row: Person): Person => pick(row, 'teamId', 'userId');
export const channelOf = (row: ChannelKey): ChannelKey => pick(row, 'teamId', 'channelId');

/** A holder that still works on the row has its writes refused: they name its token. */
export const WITHOUT_LEASE = { leaseToken: null, leasedUntil: null } as const;

/** The tables whose rows are leased, and their keys; that of a session within its service. */
export const LEASED_KEYS = {
	answers: 'id',
	watched_sessions: 'sessionId',
	posts: 'id',
	ladders: 'watchId',
	inboxes: 'id',
	windows: 'viewId',
} as const;
export type LeasedTable = keyof typeof LEASED_KEYS;
