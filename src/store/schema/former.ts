import { DAY_MS, MINUTE_MS } from '../../kernel/basics.ts';
import { ahead, CHANNEL, fromZero, LEASE, noted, orNull, personId, SESSION, tables, text } from './columns.ts';

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
});
