import { join } from 'node:path';
import { createManualClock, type SlackState } from '../../../fake-slack/index.ts';
import { MIGRATIONS } from '../../../src/store/migrate.ts';
import { startApp } from '../../support/app.ts';
import { steadyClock } from '../../support/pass-time.ts';
import { startPostgres } from '../../support/postgres.ts';
import { dumpPostgres, dumpSqlite } from './dump.ts';
import { FIXTURE_KEY, type Which, writeFormerVersion } from './fixture.ts';
import { workUntilKilled } from './scenario.ts';

/** Runs the program of this checkout, kills it and stores what it left; see README.md. */
async function make(kind: Which['kind'], databaseUrl: string | null): Promise<void> {
	const clock = steadyClock(createManualClock(), databaseUrl === null ? 2 : 25);
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
	await writeFormerVersion({ kind, schema: MIGRATIONS.length }, made, app.service.url);
	// Ends the running PUT. Otherwise the program waits for it on a clock that nobody moves.
	await app.service.stop();
}

/** Without windows and without former versions of messages. */
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

await make('sqlite', null);
const postgres = await startPostgres();
try {
	await make('postgres', await postgres.createDatabase());
} finally {
	await postgres.close();
}
