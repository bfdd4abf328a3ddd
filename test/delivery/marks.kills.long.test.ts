import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createFakeSlack, type FakeSlack } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { manifestPath } from '../../sandbox/manifest-path.ts';
import { askingSession } from '../../sandbox/session-service/builders.ts';
import {
	createFakeSessionService,
	type FakeSessionService,
} from '../../sandbox/session-service/fake-session-service.ts';
import { NO_LIMITS_ENV } from '../support/no-limits.ts';
import { startProgram } from '../support/program.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { tooComplex } from '../support/too-complex.ts';

/** Longer than the lease of a dead process's answer, and the time in which its PUT could land. */
const TAKEN_OVER = { timeout: 60_000, interval: 100 };

let slack: FakeSlack;
let service: FakeSessionService;
let admin: pg.Client;
let env: Record<string, string>;
let program: ReturnType<typeof startProgram>;
beforeAll(async () => {
	service = createFakeSessionService({ resumeAfterMs: 600_000 });
	await service.start();
	slack = await createFakeSlack({ waitMs: 45_000, manifest: manifestPath });
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	admin = new pg.Client({ connectionString: databaseUrl });
	await admin.connect();
	const settings = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString('base64') };
	const times = { SESSION_SERVICE_TIMEOUT_MS: '3000', UNDO_SECONDS: '0', PORT: '0' };
	env = { ...connectionEnv({ slack, service, transport: 'socket' }), ...settings, ...NO_LIMITS_ENV, ...times };
	program = startProgram(env);
	await slack.connected(1);
});
afterAll(async () => {
	program.child.kill('SIGKILL');
	await program.closed;
	await slack.close();
	await service.stop();
	await admin.end();
});

const posts = () =>
	slack
		.as('ada')
		.messages('#agents')
		.filter((message) => message.text().includes('Which colour?'));

const holds = async (query: string) => (await admin.query(query)).rows.length > 0;
const isWaiting = () =>
	holds(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

/** Whether nothing is left to do for the refused answer but its marks, or its transaction waits for the row of the session. */
async function isEnding(id: string): Promise<boolean> {
	if (await holds(`select from answers where session_id = '${id}' and state = 'refused' and next_attempt_at is null`))
		return isWaiting();
	return holds(`select from pg_locks join pg_stat_activity using (pid)
		where relation = 'answers'::regclass and mode = 'RowExclusiveLock' and wait_event_type = 'Lock'`);
}

/** Ada answers a watched question, and that is refused while somebody holds the row of the session. */
async function refusedWhileHeld(id: string): Promise<void> {
	service.sessions.put(id, askingSession(['Which colour? One of: Sand, Forest']));
	await slack.as('ada').command('#agents', `/session watch ${id}`);
	const post = await vi.waitUntil(() => posts().find((message) => message.buttons().includes('Sand')), TAKEN_OVER);
	service.faults.add({ kind: 'late', ms: 1_500, method: 'GET', sessionId: id });
	service.faults.add(tooComplex(id));
	const reads = service.log.reads(id).length;
	await post.press('Sand');
	await vi.waitUntil(() => service.log.reads(id).length > reads, TAKEN_OVER);
	await admin.query('begin');
	await admin.query('select session_id from watched_sessions where session_id = $1 for update', [id]);
	await vi.waitUntil(() => isEnding(id), TAKEN_OVER);
}

/** Once it is refused, others may answer. */
async function isOpenAgain(): Promise<void> {
	await vi.waitUntil(() => posts().some((message) => message.buttons().includes('Sand')), TAKEN_OVER);
	expect(
		posts()
			.map((message) => message.text())
			.join(),
	).not.toContain('sending…');
}

it('shows the end of an answer after the program was killed before its posts were marked', {
	timeout: 120_000,
}, async () => {
	await refusedWhileHeld('killed');
	program.child.kill('SIGKILL');
	await once(program.child, 'close');
	await admin.query('rollback');
	program = startProgram(env);
	await isOpenAgain();
});
