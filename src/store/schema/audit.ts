import { integer, large, orNull, personId, tables, text } from './columns.ts';

/** Stable words. What becomes of an answer is called as in the history. */
// biome-ignore format: a list of words
export const AUDIT_ACTIONS = [
	'asked', 'opened', 'answered', 'edited', 'undone', 'discarded', 'delivered', 'resumed', 'overwritten', 'conflicted',
	'failed', 'refused', 'sentAgain', 'handedOver', 'givenBack', 'watched', 'unwatched', 'settingsChanged',
	'keyChanged', 'serviceMoved', 'personExported', 'personForgotten', 'restored',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

const word = orNull(text);
const person = orNull({ ...text, people: 'part' });

export const AUDIT_TABLES = tables({
	/** What people, agents and operators did: ids and stable words, never a text. Rows are added and removed alone. */
	audit_events: {
		key: ['number'],
		columns: {
			/** In the order of writing. PostgreSQL leaves gaps, and commits in another order: see `readEvents`. */
			number: large,
			/** PostgreSQL's transaction; 0 on SQLite. */
			transactionId: large,
			at: large,
			action: text,
			/** How often, of refusals. */
			count: integer,
			/** A Slack user id, `operator` or `program`; null: the agent. */
			actor: person,
			/** The account and machine of an operator. */
			operator: word,
			/** Another person: whose answer it is, who was first, who got the question; or what was refused. */
			about: person,
			session: word,
			channel: word,
			answer: word,
			fingerprint: word,
			/** A hash of all that the author saw of the question (`shownHashOf`). */
			shownHash: word,
			outcome: word,
			/** The `request` of log lines; null: the program did it by itself. */
			request: word,
		},
		indexes: { committed: '(transaction_id, number)' },
		kept: 'whileUsed',
	},

	/** Refusals of this minute, until each becomes one row of the audit. */
	refusals: {
		key: ['minute', 'userId', 'action', 'outcome'],
		columns: { minute: large, userId: personId, action: text, outcome: text, count: integer },
		kept: 'whileUsed',
	},
});
