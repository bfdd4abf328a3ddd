import type { Replacement } from '../faults/source-copy.ts';

/** Ways to break the promise, to show that the judge notices. Each names what the judge has to find. */
export const SABOTAGES = {
	/** A reminder comes without a read before it. */
	'no-read': [
		{
			file: 'features/remind/ladder.ts',
			from: 'facts.readAt === null || facts.readAt < readFrom',
			to: 'facts.readAt === null || readFrom < 0',
		},
	],
	/** Neither the ladder nor the announcer knows quiet hours. */
	'no-quiet-hours': [
		{
			file: 'features/remind/ladder.ts',
			from: 'if (quietHours === null) return at;',
			to: 'if (quietHours !== undefined) return at;',
		},
		{
			file: 'database/channel-settings.ts',
			from: 'if (quietHours !== null && quietUntil(quietHours, now) !== null) return [];',
			to: 'if (quietHours !== null && quietUntil(quietHours, now) === 0) return [];',
		},
	],
	/** The local time of the quiet hours is not that of the day on which clocks change. */
	'no-daylight-saving': [
		{
			file: 'core/quiet-hours.ts',
			from: 'return day.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds;',
			to: `const midnight = day.toZonedDateTime({ timeZone }).epochMilliseconds;
	const [hours = 0, minutes = 0] = time.split(':').map(Number);
	return midnight + (hours * 60 + minutes) * 60_000;`,
		},
	],
	/** The post of a reminder is stored before the ladder, in a transaction of its own. */
	'two-transactions': [
		{
			file: 'features/remind/ladder-store.ts',
			from: `		record: (token: string, outcomes: readonly LadderOutcome[], { post, now }: { post: NewPost | null; now: number }) =>
			db
				.write(async (trx) => {`,
			to: `		record: async (
			token: string,
			outcomes: readonly LadderOutcome[],
			{ post, now }: { post: NewPost | null; now: number },
		) => {
			if (post !== null) {
				await db.write((trx) => planPosts({ trx, now }, [{ ...post, key: post.key + now }]));
			}
			return db
				.write(async (trx) => {`,
		},
		{
			file: 'features/remind/ladder-store.ts',
			from: '					if (post !== null) await planPosts({ trx, now }, [post]);\n',
			to: '',
		},
		{
			file: 'features/remind/ladder-store.ts',
			from: `					await db.writeOne((trx) => freeLeases(trx, 'ladders', left));
					return null;
				}),`,
			to: `					await db.writeOne((trx) => freeLeases(trx, 'ladders', left));
					return null;
				});
		},`,
		},
	],
	/** Reminders come while somebody is answering. */
	'no-claims': [
		{
			file: 'features/remind/ladder.ts',
			from: 'if (claim !== null && claim.until > now) {',
			to: 'if (false as boolean) {',
		},
	],
	/** Neither the ladder nor the announcer looks for answers that are on their way. */
	'no-answers': [
		{
			file: 'features/remind/ladder.ts',
			from: 'if (facts.isAnswered) {',
			to: 'if (facts.isAnswered && now < 0) {',
		},
		{
			file: 'features/remind/posts.ts',
			from: ' && !isAnsweredSince(standing, checkedAt);',
			to: ' && !(isAnsweredSince(standing, checkedAt) && clock.now() < 0);',
		},
	],
	/** After an outage nothing is known of a session, and it counts as read. */
	'no-outages': [
		{ file: 'features/remind/ladder.ts', from: 'if (facts.isFailing) {', to: 'if (false as boolean) {' },
		{
			file: 'features/remind/ladder.ts',
			from: 'facts.readAt === null || facts.readAt < readFrom',
			to: 'facts.readAt === null || readFrom < 0',
		},
	],
	/** Nobody looks at the ladders again after a change of settings, and rarely at all. */
	'late-look': [
		{
			file: 'features/remind/ladder.ts',
			from: 'if (next.at > now) return { ...NOT_DUE, dueAt: next.at, heldBy: ladder.heldBy };',
			to: 'if (next.at > now) return { ...NOT_DUE, dueAt: next.at + 45_000, heldBy: ladder.heldBy };',
		},
	],
} as const satisfies Record<string, readonly Replacement[]>;

export type Sabotage = keyof typeof SABOTAGES;
