import { DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import {
	ahead,
	CHANNEL,
	fromZero,
	integer,
	LEASE,
	noted,
	orNull,
	PERSON_COLUMNS,
	personId,
	QUESTION,
	SESSION,
	sealed,
	tables,
	text,
} from './columns.ts';

/** Tables of released versions, which migration 35 drops. */
export const FORMER_TABLES = tables({
	/** The reminders of a question in a channel: posts since migration 35. */
	ladders: {
		key: ['watchId'],
		columns: {
			watchId: text,
			...CHANNEL,
			...SESSION,
			...LEASE,
			questionId: text,
			postTs: text,
			postedAt: noted,
			remindedAt: orNull(noted),
			escalationCount: fromZero,
			isSending: fromZero,
			lastReminderAt: orNull(noted),
			/** When the reminder was due that waits for something. */
			reminderDueAt: orNull(ahead(10 * MINUTE_MS, { lasts: true })),
			/** Who was answering when a reminder was due. */
			heldBy: orNull(personId),
			waitingSince: orNull(noted),
			fewSince: orNull(noted),
			/** When to look at it; null: when something changes. Quiet hours may last for days. The start makes all due. */
			dueAt: orNull(ahead(30 * DAY_MS, { decides: true })),
			changeCount: fromZero,
		},
		indexes: {
			due: '(service, due_at) where due_at is not null',
			session: '(service, session_id)',
			channel: '(team_id, channel_id)',
		},
		kept: 'whileUsed',
	},

	/** `views` since migration 35, like the two below. Those that were open begin anew. */
	windows: {
		key: ['viewId'],
		columns: {
			viewId: text,
			...PERSON_COLUMNS,
			...QUESTION,
			...LEASE,
			fingerprint: text,
			shownHash: orNull(text),
			hash: text,
			view: sealed,
			learned: orNull(text),
			notice: { ...text, default: `''` },
			touchedAt: noted,
			dueAt: orNull(ahead(MINUTE_MS)),
		},
		indexes: { session: '(service, session_id)', due: '(due_at) where due_at is not null' },
		kept: 'whileUsed',
	},

	claims: {
		key: ['service', 'sessionId', 'messageIndex', 'teamId', 'userId'],
		columns: { ...QUESTION, ...PERSON_COLUMNS, claimedAt: noted, until: ahead(MINUTE_MS) },
		indexes: { until: '(until)' },
		kept: 'whileUsed',
	},

	inboxes: {
		key: ['id'],
		columns: {
			id: text,
			...PERSON_COLUMNS,
			...LEASE,
			viewId: orNull(text),
			page: integer,
			openedAt: noted,
			askedCount: integer,
			changeCount: integer,
			nextUpdateAt: orNull(ahead(MINUTE_MS)),
			shownCount: fromZero,
			shownKey: orNull(text),
			builtAt: orNull(noted),
		},
		indexes: { due: '(next_update_at) where next_update_at is not null' },
		kept: 'whileUsed',
	},
});
