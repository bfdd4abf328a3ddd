import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlack } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { manifestPath } from '../../sandbox/manifest-path.ts';
import { ADVISORY_LOCKS } from '../../src/store/locks.ts';
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
/** Whether what became of the answer is stored, and the program waits to have it shown. */
const isUnshown = async (id: string) =>
	(await holds(`select from answers where session_id = '${id}' and state = 'refused' and next_attempt_at is null`)) &&
	(await holds(`select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`));

/** Ada answers a watched question, and that is refused while marks are not spread. */
async function refusedWhileHeld(id: string): Promise<void> {
	service.sessions.put(id, askingSession(['Which colour? One of: Sand, Forest']));
	await slack.as('ada').command('#agents', `/session watch ${id}`);
	const post = await vi.waitUntil(() => posts().find((message) => message.buttons().includes('Sand')), TAKEN_OVER);
	service.faults.add(tooComplex(id));
	await admin.query(`select pg_advisory_lock(${ADVISORY_LOCKS.spreadingMarks})`);
	await post.press('Sand');
	await vi.waitUntil(() => isUnshown(id), TAKEN_OVER);
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

it('shows the end of an answer after the program was killed before its mark was spread', {
	timeout: 120_000,
}, async () => {
	await refusedWhileHeld('killed');
	program.child.kill('SIGKILL');
	await once(program.child, 'close');
	await admin.query(`select pg_advisory_unlock(${ADVISORY_LOCKS.spreadingMarks})`);
	program = startProgram(env);
	await isOpenAgain();
});
