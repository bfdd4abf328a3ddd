import { pathToFileURL } from 'node:url';

/** The parts of the program under test. `entry`: its `main.ts`, perhaps of a copy that was sabotaged. */
export async function loadProgram(entry: string) {
	const load = <Part>(path: string): Promise<Part> => import(new URL(path, pathToFileURL(entry)).href);
	const [open, reminders, outbox, messages, drawing, endings, reading, schedule, snapshot, rates, claims] =
		await Promise.all([
			load<typeof import('../../../src/stores.ts')>('stores.ts'),
			load<typeof import('../../../src/features/remind/reminders.ts')>('features/remind/reminders.ts'),
			load<typeof import('../../../src/posts/outbox.ts')>('posts/outbox.ts'),
			load<typeof import('../../../src/posts/messages.ts')>('posts/messages.ts'),
			load<typeof import('../../../src/drawing.ts')>('drawing.ts'),
			load<typeof import('../../../src/features/watch/endings.ts')>('features/watch/endings.ts'),
			load<typeof import('../../../src/features/watch/reading.ts')>('features/watch/reading.ts'),
			load<typeof import('../../../src/features/watch/schedule.ts')>('features/watch/schedule.ts'),
			load<typeof import('../../../src/questions/session-snapshot.ts')>('questions/session-snapshot.ts'),
			load<typeof import('../../../src/core/rate-limiter.ts')>('core/rate-limiter.ts'),
			load<typeof import('../../../src/features/answer/drafts.ts')>('features/answer/drafts.ts'),
		]);
	return {
		openStore: open.openStore,
		createReminders: reminders.createReminders,
		createOutbox: outbox.createOutbox,
		createMessages: messages.createMessages,
		createDrawing: drawing.createDrawing,
		createEndings: endings.createEndings,
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
