import { integer, large, orNull, personId, tables, text } from './columns.ts';

/** Columns of a row of the audit that one event may lack. */
const EVENT = {
	/** A Slack user id, `operator` or `program`; null: the agent, or nobody knows. */
	actor: orNull({ ...text, people: 'part' }),
	/** Of an operator: the account and machine. */
	operator: orNull(text),
	/** Another person: whose answer it is, who was first, who got the question; or what was refused. */
	about: orNull({ ...text, people: 'part' }),
	sessionId: orNull(text),
	channelId: orNull(text),
	answerId: orNull(text),
	fingerprint: orNull(text),
	outcome: orNull(text),
	/** The `request` of log lines. */
	request: orNull(text),
} as const;

/** What people, agents and operators did. */
export const AUDIT_TABLES = tables({
	audit_events: {
		key: ['number'],
		columns: {
			/** In the order of writing. PostgreSQL leaves gaps, and commits in another order: see `audit.ts`. */
			number: large,
			/** PostgreSQL's transaction; 0 on SQLite. */
			transactionId: large,
			at: large,
			action: text,
			/** How often it happened. */
			count: { ...integer, default: 1 },
			...EVENT,
		},
		kept: 'whileUsed',
		since: 34,
	},

	/** Refusals of this minute, until each becomes one row of the audit. */
	refusals: {
		key: ['minute', 'userId', 'action', 'outcome'],
		columns: { minute: large, userId: personId, action: text, outcome: text, count: integer },
		kept: 'whileUsed',
		since: 34,
	},
});
