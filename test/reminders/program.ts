import { pathToFileURL } from 'node:url';

/** The parts of the program under test. `entry`: its `main.ts`, perhaps of a copy that was sabotaged. */
export async function loadProgram(entry: string) {
	const load = <Part>(path: string): Promise<Part> => import(new URL(path, pathToFileURL(entry)).href);
	const [open, reminders, outbox, announcer, reading, schedule, snapshot, rates, claims] = await Promise.all([
		load<typeof import('../../src/store/open.ts')>('store/open.ts'),
		load<typeof import('../../src/inbox/reminders.ts')>('inbox/reminders.ts'),
		load<typeof import('../../src/watches/outbox.ts')>('watches/outbox.ts'),
		load<typeof import('../../src/slack/posts/announcer.ts')>('slack/posts/announcer.ts'),
		load<typeof import('../../src/watches/reading.ts')>('watches/reading.ts'),
		load<typeof import('../../src/watches/schedule.ts')>('watches/schedule.ts'),
		load<typeof import('../../src/watches/session-snapshot.ts')>('watches/session-snapshot.ts'),
		load<typeof import('../../src/rate-limiter.ts')>('rate-limiter.ts'),
		load<typeof import('../../src/answers/accept.ts')>('answers/accept.ts'),
	]);
	return {
		openStore: open.openStore,
		createReminders: reminders.createReminders,
		createOutbox: outbox.createOutbox,
		createAnnouncer: announcer.createAnnouncer,
		createReading: reading.createReading,
		movesFor: schedule.movesFor,
		snapshotOf: snapshot.snapshotOf,
		questionViewAt: snapshot.questionViewAt,
		NO_ANSWERS: snapshot.NO_ANSWERS,
		createRateLimiter: rates.createRateLimiter,
		createClaims: claims.createClaims,
	};
}

export type Program = Awaited<ReturnType<typeof loadProgram>>;
