import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createManualClock, type ManualClock, type SlackState } from '../../../fake-slack/index.ts';
import { startApp } from '../../support/app.ts';
import { watchRequests } from '../../support/pass-time.ts';
import { startPostgres } from '../../support/postgres.ts';
import { dumpPostgres, dumpSqlite } from './dump.ts';
import { FIXTURE_KEY, type StoreKind, writeFormerVersion } from './fixture.ts';
import { workUntilKilled } from './scenario.ts';

/** Runs the program of this checkout and stores what it left when it was killed; see README.md. */
async function make(kind: StoreKind, databaseUrl: string | null): Promise<void> {
	const clock = createSteadyClock(databaseUrl === null ? 2 : 25);
	await using app = await startApp({
		clock,
		service: { clock, resumeAfterMs: null, rateLimit: false },
		env: {
			ENCRYPTION_KEY: FIXTURE_KEY,
			GIVE_UP_HOURS: '1',
			SESSION_SERVICE_TIMEOUT_MS: '20000',
			...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
		},
	});
	await workUntilKilled(app, clock);
	const sql = databaseUrl === null ? dumpSqlite(join(app.dataDir, 'handraise.db')) : await dumpPostgres(databaseUrl);
	const sessions = app.service.sessions.snapshot();
	const made = { stoppedAt: clock.now(), sql, sessions, slack: onlyWhatStays(app.slack.snapshot()) };
	await writeFormerVersion(kind, made, app.service.url);
	// Ends the PUT under way: the program would wait for it, on a clock that nobody moves any more.
	await app.service.stop();
}

/**
 * Tells whole milliseconds, as a machine's clock does and PostgreSQL needs. A second takes `secondTakesMs` at least: nobody
 * sees from here how long a database takes, and time must not run out under a lease meanwhile.
 */
function createSteadyClock(secondTakesMs: number): ManualClock {
	const clock = createManualClock();
	return {
		now: clock.now,
		sleep: (ms, signal) => clock.sleep(Math.ceil(ms), signal),
		async advance(ms) {
			await clock.advance(ms);
			await delay((ms / 1_000) * secondTakesMs);
		},
		get sleeping() {
			return clock.sleeping;
		},
		get nextWake() {
			return clock.nextWake;
		},
	};
}

/** Without windows, and messages without how they read before. */
function onlyWhatStays(state: SlackState): SlackState {
	return {
		...state,
		messages: state.messages
			.filter(({ ephemeralFor }) => ephemeralFor === undefined)
			.map((message) => ({ ...message, history: [], inputs: {} })),
		views: {},
		homes: {},
		windows: [],
		triggers: {},
		responseUrls: {},
	};
}

const unwatch = watchRequests();
await make('sqlite', null);
const postgres = await startPostgres();
try {
	await make('postgres', await postgres.createDatabase());
} finally {
	await postgres.close();
	unwatch();
}
