import type { Edit } from '../edits/edit.ts';

const NO_READ: Edit = {
	file: 'surfaces/reminders.ts',
	in: 'decide',
	if: 'readAt',
	becomes: 'facts.readAt === null',
};

/** Ways to break the promise, to show that the judge notices. Each names what the judge has to find. */
export const SABOTAGES = {
	/** A reminder comes without a read before it. */
	'no-read': [NO_READ],
	/** Neither the ladder nor the announcer knows quiet hours. */
	'no-quiet-hours': [
		{ file: 'surfaces/reminders.ts', in: 'nextReminder', call: 'quietUntil', becomes: 'null', every: true },
		{ file: 'store/watch.ts', in: 'stillDue', call: 'quietUntil', becomes: 'null' },
	],
	/** The local time of the quiet hours is not that of the day on which clocks change. */
	'no-daylight-saving': [
		{
			file: 'kernel/quiet-hours.ts',
			in: 'momentOf',
			body: `const midnight = day.toZonedDateTime({ timeZone }).epochMilliseconds;
				const [hours = 0, minutes = 0] = time.split(':').map(Number);
				return midnight + (hours * 60 + minutes) * 60_000;`,
		},
	],
	/** The post of a reminder is stored before the ladder, in a transaction of its own. */
	'two-transactions': [
		{ file: 'surfaces/ladder-store.ts', in: 'record', call: 'planPosts', becomes: 'undefined' },
		{
			file: 'surfaces/ladder-store.ts',
			in: 'record',
			returns: `(async () => {
				const anew = posts.map((post) => ({ ...post, key: post.key + now }));
				await db.write((trx) => planPosts({ trx, now }, anew));
				return $result;
			})()`,
		},
	],
	/** Reminders come while somebody is answering. */
	'no-claims': [{ file: 'surfaces/reminders.ts', in: 'decide', if: 'claim', becomes: 'false' }],
	/** Neither the ladder nor the announcer looks for answers that are on their way. */
	'no-answers': [
		{ file: 'surfaces/reminders.ts', in: 'decide', if: 'isAnswered', becomes: 'false' },
		{ file: 'screens/reminder-posts.ts', in: 'asked', call: 'isAnsweredSince', becomes: 'false' },
	],
	/** After an outage nothing is known of a session, and it counts as read. */
	'no-outages': [{ file: 'surfaces/reminders.ts', in: 'decide', if: 'isFailing', becomes: 'false' }, NO_READ],
	/** Nobody looks at a ladder when it is due, and rarely at all. */
	'late-look': [
		{
			file: 'surfaces/reminders.ts',
			in: 'decide',
			returns: `((decision) =>
				decision.kind === 'wait' && decision.dueAt !== null ? { ...decision, dueAt: decision.dueAt + 45_000 } : decision
			)($result)`,
		},
	],
} as const satisfies Record<string, readonly Edit[]>;
