import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlack, type Modal } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { manifestPath } from '../../sandbox/manifest-path.ts';
import { startProgram } from '../support/program.ts';
import { DELIVERED } from '../support/sentences.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { KEY } from './support.ts';

let slack: FakeSlack;
let service: FakeSessionService;
beforeAll(async () => {
	slack = await createFakeSlack({ waitMs: 45_000, manifest: manifestPath });
	service = createFakeSessionService({ resumeAfterMs: 50, pace: 0.02 });
	await service.start();
});
afterAll(async () => {
	await slack.close();
	await service.stop();
});

/** A database of the program, which another program changes. */
interface Place {
	readonly env: Record<string, string>;
	/** Runs these statements in one transaction. */
	change(statements: string): Promise<void>;
}

const onFile = (dataDir: string) => new DatabaseSync(join(dataDir, 'handraise.db'), { timeout: 5_000 });

async function sqlitePlace(dataDir: string): Promise<Place> {
	return {
		env: { DATA_DIR: dataDir },
		async change(statements) {
			using database = onFile(dataDir);
			database.exec(`begin immediate; ${statements}; commit`);
		},
	};
}

async function postgresPlace(dataDir: string): Promise<Place> {
	const url = await (await sharedPostgres()).createDatabase();
	return {
		env: { DATA_DIR: dataDir, DATABASE_URL: url, ENCRYPTION_KEY: KEY },
		async change(statements) {
			const client = new pg.Client({ connectionString: url });
			await client.connect();
			await client.query(`begin; ${statements}; commit`).finally(() => client.end());
		},
	};
}

const NEWER = "insert into migrations (number, name, applied_at) values (999, 'later', 0)";
const NOT_NEWER = 'delete from migrations where number = 999';
/** What the thirteen migrations of before left. */
const FORMER = `create table migrations (number integer primary key, name text not null, applied_at bigint not null);
	${Array.from({ length: 13 }, (_, index) => `insert into migrations values (${index + 1}, 'former', 0)`).join(';')}`;

interface Line {
	readonly time: string;
	readonly level: string;
	readonly event: string;
}

type Program = ReturnType<typeof startProgram>;

function liveAnswers(dataDir: string) {
	using database = onFile(dataDir);
	const states = "'accepted', 'delivering', 'delivered', 'resumed'";
	return database.prepare(`select id from answers where state in (${states})`).all();
}

describe.each([
	['SQLite', sqlitePlace],
	['PostgreSQL', postgresPlace],
])('a program on %s', (name, placeIn) => {
	let dataDir: string;
	let place: Place;
	let running: Program | null = null;
	beforeEach(async () => {
		dataDir = await mkdtemp(join(tmpdir(), 'handraise-schema-'));
		place = await placeIn(dataDir);
	});
	afterEach(async () => {
		running?.child.kill('SIGKILL');
		await running?.closed;
		running = null;
		await rm(dataDir, { recursive: true });
	});

	const start = () => startProgram({ ...connectionEnv({ slack, service }), PORT: '0', ...place.env });

	async function startReady() {
		running = start();
		await running.says('Handraise is ready');
		await slack.connected(1);
		return running;
	}

	/** A filled-in form of a new session. */
	async function openForm(): Promise<{ readonly id: string; readonly form: Modal }> {
		const id = `asks-${randomUUID()}`;
		service.sessions.put(id, askingSession(['Name']));
		const ada = slack.as('ada');
		const before = ada.modal()?.id;
		await ada.command('#agents', `/session ${id}`);
		const form = await ada.waitForModal((modal) => modal.id !== before && modal.submitText() !== null);
		await form.fill(0, 'Ada');
		return { id, form };
	}

	/** Raises the number of the schema; returns when. */
	async function raise(...statements: readonly string[]): Promise<string> {
		const since = new Date().toISOString();
		await place.change([NEWER, ...statements].join(';'));
		return since;
	}

	/** Expects that the program ends with 1, and with one error that says why, beside `others`: a loop may find it first. */
	async function expectEnd(program: Program, since: string, others: readonly string[] = []): Promise<void> {
		const { code, stdout, stderr } = await program.closed;
		expect([code, stderr]).toEqual([1, '']);
		const lines = stdout
			.trimEnd()
			.split('\n')
			.map((line) => JSON.parse(line) as Line);
		const errors = lines.filter(({ time, level }) => time > since && level === 'error');
		expect(errors.map(({ event }) => event).toSorted()).toEqual([...others, 'database_newer'].toSorted());
	}

	/** Expects that the program does not start, and says why in one line. */
	async function expectRefusal(words: string): Promise<void> {
		const { code, stdout, stderr } = await start().closed;
		expect([code, stdout]).toEqual([1, '']);
		expect(stderr).toMatch(/^The database has schema \d+, which .*\n$/);
		expect(stderr).toContain(words);
	}

	it(
		'stops beside a newer one when somebody answers, who is told that nothing was saved, or when an answer is due',
		skipUnless(name === 'SQLite', '`contract.postgres.test.ts` refuses the same statements on PostgreSQL'),
		async () => {
			const program = await startReady();
			const { id, form } = await openForm();
			const since = await raise();
			const refused = await form.submit();
			expect(refused.outcome).toBe('fieldErrors');
			expect(Object.values(refused.errors).join()).toContain(
				'Handraise is being upgraded. Nothing was sent; your text is still here. Please try again in a moment.',
			);
			await expectEnd(program, since, ['submission_not_stored']);
			expect(liveAnswers(dataDir)).toEqual([]);
			expect(service.log.puts(id)).toEqual([]);
			await expectRefusal('a newer Handraise');

			// The newer one.
			await place.change(NOT_NEWER);
			const newer = await startReady();
			service.faults.add({ kind: 'error', status: 503, sessionId: id });
			expect((await form.submit()).outcome).toBe('updated');
			await newer.says('delivery attempt failed');
			const raised = await raise();
			service.faults.clear();
			await expectEnd(newer, raised);
			expect(service.log.puts(id)).toEqual([]);

			await place.change(NOT_NEWER);
			await startReady();
			await slack.as('ada').waitForModal(DELIVERED);
			expect(service.log.savedPuts(id)).toHaveLength(1);
		},
	);

	it(
		'stops when a newer one has renamed what it reads',
		skipUnless(name === 'PostgreSQL', 'SQLite is tested with the number of the schema alone'),
		async () => {
			const program = await startReady();
			const since = await raise('alter table watched_sessions rename column next_read_at to read_next_at');
			await expectEnd(program, since);
		},
	);

	it('does not start on a database of a former version, and says so in one line', async () => {
		await place.change(FORMER);
		await expectRefusal('a Handraise before 2.0.0');
	});
});
