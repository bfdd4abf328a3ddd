import { DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { LONGEST_RETRY_AFTER_MS } from '../../kernel/retries.ts';
import {
	ahead,
	fromZero,
	integer,
	json,
	LEASE,
	noted,
	OF_PERSON,
	orNull,
	PERSON_COLUMNS,
	QUESTION,
	sealed,
	tables,
	text,
} from './columns.ts';

/** How long an answer is tried before its author is asked. */
export const GIVE_UP_MS = DAY_MS;
/** Passwords and codes of an answer that waits for its author are removed after this. */
export const WAITING_SECRET_DAYS = 7;
/** The most that `UNDO_SECONDS` may be. */
export const LONGEST_UNDO_MS = MINUTE_MS;
/** "(name) is answering" lapses after this long without an action of that person. */
export const CLAIM_MS = 5 * MINUTE_MS;

const bound = [...OF_PERSON, 'messageIndex', 'fingerprint'] as const;

/** What people give agents, and the forms in which they do. */
export const ANSWER_TABLES = tables({
	answers: {
		key: ['id'],
		columns: {
			id: text,
			submissionKey: { ...text, people: 'part', isUnique: true },
			...PERSON_COLUMNS,
			...QUESTION,
			...LEASE,
			fingerprint: text,
			/** The items without secret values. Null after removal. */
			content: orNull({ ...sealed, bound }),
			/** Secret values by position. Null after wiping, which needs no key. */
			secrets: orNull({ ...sealed, bound, isSecret: true }),
			/** The other answer to the question, see `OtherAnswer`. */
			other: orNull({ ...sealed, bound, people: ['person.userId'] }),
			/** What no query filters by, see `SUBMISSION`. */
			submission: { ...json, default: `''` },
			secretPositions: orNull(json),
			state: text,
			attempts: integer,
			editCount: fromZero,
			acceptedAt: noted,
			giveUpAt: ahead(GIVE_UP_MS, { becomesMs: GIVE_UP_MS }),
			undoUntil: orNull(ahead(LONGEST_UNDO_MS, { becomesMs: LONGEST_UNDO_MS, lasts: true })),
			// An answer that cannot be read waits 10 minutes. A check after a delivery may be hours ahead. After a start it
			// comes at once: an answer that a wrong clock planned may be among them, and must not go out hours late.
			nextAttemptAt: orNull(ahead(15 * MINUTE_MS, { decides: true })),
			putStartedAt: orNull(noted),
			beforePut: orNull(json),
			deliveredAt: orNull(noted),
			agentOutcome: orNull(text),
			endedAt: orNull(noted),
			lastError: orNull(text),
			timeline: json,
			notBefore: orNull(ahead(LONGEST_RETRY_AFTER_MS, { lasts: true })),
			missingCount: fromZero,
			startFailed: fromZero,
			/** Null: it ended before 2.0.0. */
			questionId: orNull(text),
			missingSince: orNull(noted),
			/** The `endedAt` of the ending that its author has dismissed from their inbox. */
			dismissedAt: orNull(noted),
		},
		indexes: {
			// One live answer for a question, from any team, click or replica.
			one_live: `unique (service, session_id, message_index)\n\t\twhere state in ('accepted', 'delivering')`,
			// One replica at a time works on a session.
			one_lease: 'unique (service, session_id) where lease_token is not null',
			ended: '(ended_at) where content is not null',
			undelivered: `(accepted_at)\n\t\twhere state in ('accepted', 'delivering', 'waiting')`,
			question: '(service, session_id, message_index, accepted_at)',
			state: '(state)',
			due: '(service, next_attempt_at) where next_attempt_at is not null',
			secret: '(id) where secrets is not null',
			person: '(user_id, accepted_at)',
			arrived: `(service, session_id) where state in ('delivered', 'resumed')`,
			authors: `(ended_at) where user_id not like 'forgotten-%'`,
		},
		kept: 'always',
	},

	drafts: {
		key: ['formId'],
		columns: {
			formId: text,
			...PERSON_COLUMNS,
			...QUESTION,
			fingerprint: text,
			/** The values by position. */
			content: { ...sealed, bound: OF_PERSON, isSecret: true },
			updatedAt: noted,
		},
		indexes: {
			question: '(service, session_id, message_index, team_id, user_id, updated_at)',
			updated: '(updated_at)',
			person: '(user_id, updated_at)',
		},
		kept: 30,
	},
});
