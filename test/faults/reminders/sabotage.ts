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
	/** Nothing knows of quiet hours. */
	'no-quiet-hours': [
		{ file: 'surfaces/reminders.ts', in: 'nextReminder', call: 'quietUntil', becomes: 'null', every: true },
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
	/** A reminder is noted as shown, and counted in a transaction of its own. */
	'two-transactions': [
		{
			file: 'surfaces/store.ts',
			in: 'finish',
			call: 'countReminders',
			becomes: 'void db.write((trx) => countReminders({ trx, now }, $2, $3))',
		},
	],
	/** Reminders come while somebody is answering. */
	'no-claims': [{ file: 'surfaces/reminders.ts', in: 'decide', if: 'claim', becomes: 'false' }],
	/** Neither who decides nor who draws a reminder looks for answers that are on their way. */
	'no-answers': [
		{ file: 'surfaces/reminders.ts', in: 'decide', if: 'isAnswered', becomes: 'false' },
		{ file: 'screens/reminder-posts.ts', in: 'asked', call: 'isAnsweredSince', becomes: 'false' },
	],
	/** After an outage nothing is known of a session, and it counts as read. */
	'no-outages': [{ file: 'surfaces/reminders.ts', in: 'decide', if: 'isFailing', becomes: 'false' }, NO_READ],
	/** Nobody looks at a reminder when it is due, and rarely at all. */
	'late-look': [
		{
			file: 'surfaces/reminders.ts',
			in: 'decide',
			returns: `((decision) =>
				decision.kind === 'later' && decision.lookAt !== null ? { ...decision, lookAt: decision.lookAt + 45_000 } : decision
			)($result)`,
		},
	],
} as const satisfies Record<string, readonly Edit[]>;
