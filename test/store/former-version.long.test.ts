import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Posted } from '../../fake-slack/index.ts';
import { itemsOf } from '../../sandbox/session-service/log.ts';
import { systemClock } from '../../src/clock.ts';
import { OUTSIDE } from '../../src/slack/words/watching.ts';
import { createCipher } from '../../src/store/encryption.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrate.ts';
import { readAnnouncement } from '../../src/store/watch-rows.ts';
import type { App } from '../slack/support/open-session.ts';
import { startApp } from '../support/app.ts';
import { DELIVERED, headline, line } from '../support/sentences.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { type Database, postgresAt, type Row, rowsOf, sqliteIn, useDatabaseOf } from './former-version/database.ts';
import {
	FIXTURE_KEY,
	type FormerVersion,
	readFormerVersion,
	SECRETS,
	sqlMovedTo,
	type Which,
} from './former-version/fixture.ts';
import { createRecordingLog } from './support.ts';

const CALL_TIMEOUT_MS = 20_000;
/** Time between the kill of the former version and this start: its leases and waits still run, or have ended. */
const AWAY_MS = 14_000;
const LONG_AWAY_MS = 120_000;
/** For those waits and for confirmation checks, which take seconds. */
const PATIENCE_MS = 30_000;
const STORES = ['sqlite', 'postgres'] as const satisfies readonly Which['kind'][];

/** Unfinished answers of the former version, and the values that the service must have in the end. */
const IN_HAND: readonly (readonly [session: string, wasSaved: boolean, ...values: string[]])[] = [
	['live', false, 'Words for live', ''],
	['live-secret', false, SECRETS.live],
	['unknown-lost', false, 'Words for unknown-lost'],
	['unknown-saved', true, 'Words for unknown-saved'],
	['killed', true, 'Words for killed'],
	['delivered', true, 'Words for delivered'],
];
const ENDED = ['resumed', 'conflicted', 'conflicted-by-grace', 'changed', 'refused', 'ended', 'withdrawn'];

/** Runs the program on this database for all tests of a `describe`. */
function useProgramOn(which: Which, awayMs: number) {
	let app: App;
	let former: FormerVersion;
	let startedAt: number;
	/** When the killed program began the PUT of `unknown-lost`. */
	let putStartedAt: number;
	let database: Database;

	beforeAll(async () => {
		former = await readFormerVersion(which);
		const databaseUrl = which.kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : null;
		app = await startApp({
			slack: { state: former.slack, waitMs: PATIENCE_MS },
			env: {
				ENCRYPTION_KEY: FIXTURE_KEY,
				SESSION_SERVICE_TIMEOUT_MS: String(CALL_TIMEOUT_MS),
				...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
			},
			async prepare({ dataDir, service }) {
				service.sessions.restore(former.sessions);
				startedAt = Date.now();
				database = databaseUrl === null ? sqliteIn(dataDir) : postgresAt(databaseUrl);
				await database.load(sqlMovedTo(former, { service: service.url, stoppedAt: startedAt - awayMs }));
				const put = await database.first("select put_started_at as at from answers where session_id = 'unknown-lost'");
				putStartedAt = Number(put.at);
			},
		});
	});
	afterAll(() => app[Symbol.asyncDispose]());
	afterEach(async () => {
		for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
		expect(app.slack.violations()).toEqual([]);
		expect(app.service.log.processEnders()).toEqual([]);
	});

	function until<T>(look: () => T, limitMs = PATIENCE_MS) {
		const told = () => ['ada', 'grace'].flatMap((who) => app.slack.as(who).dm()).map((message) => message.text());
		return app.slack.changes.until(look, () => [look.toString(), ...told()].join('\n--\n'), limitMs);
	}

	/** Resolves when the service has saved an answer to this session since its start. */
	async function saved(sessionId: string): Promise<void> {
		await expect.poll(() => app.service.log.savedPuts(sessionId).length, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
	}

	/** The former version's direct message about this session's answer. */
	function receipt(sessionId: string, who: string): Posted {
		const found = app.slack.as(who).dm(`session *${sessionId}*`);
		const [first, ...others] = found;
		if (first === undefined || others.length > 0) throw new Error(`${found.length} receipts for ${sessionId}`);
		return first;
	}

	async function historyOf(sessionId: string): Promise<string> {
		const grace = app.slack.as('grace');
		await grace.command('#agents', `/session history ${sessionId}`);
		const modal = await grace.waitForModal(({ title, text }) => title() === 'History' && text().includes(sessionId));
		await modal.close(true);
		return modal.text();
	}

	function cardOf(sessionId: string, who = 'ada'): Posted {
		const cards = app.slack
			.as(who)
			.messages('#agents')
			.filter((message) => message.threadTs() === null && message.text().includes(sessionId));
		if (cards[0] === undefined || cards.length > 1) throw new Error(`${cards.length} cards for ${sessionId}`);
		return cards[0];
	}

	return {
		get app() {
			return app;
		},
		get former() {
			return former;
		},
		get startedAt() {
			return startedAt;
		},
		get putStartedAt() {
			return putStartedAt;
		},
		/** The first row of this query. */
		first: (query: string) => database.first(query),
		until,
		saved,
		receipt,
		historyOf,
		cardOf,
	};
}

describe.each(STORES)('a database of the former version, on %s,', (kind) => {
	const run = useProgramOn({ kind, schema: 7 }, AWAY_MS);
	const { until, saved, receipt, historyOf, cardOf } = run;

	it('delivers the answers of the former version once', { timeout: 60_000 }, async () => {
		const { log, sessions } = run.app.service;
		for (const [id, wasSaved, ...values] of IN_HAND) {
			if (!wasSaved) await saved(id);
			expect(sessions.values(id, 1), id).toEqual(values);
		}
		for (const id of ['live', 'live-secret', 'unknown-saved']) {
			await until(() => receipt(id, 'grace').text().includes(headline('resumed')));
		}
		for (const [id, wasSaved] of IN_HAND) {
			expect(log.puts(id), id).toHaveLength(wasSaved ? 0 : 1);
			await expect.poll(() => historyOf(id), { timeout: PATIENCE_MS }).toContain(line('delivered'));
		}
	});

	it('sends an answer again only when its earlier PUT cannot take effect any more', {
		timeout: 60_000,
	}, async () => {
		await saved('unknown-lost');
		const [put] = run.app.service.log.puts('unknown-lost');
		expect(run.putStartedAt + CALL_TIMEOUT_MS).toBeGreaterThan(run.startedAt);
		expect(put?.at).toBeGreaterThan(run.putStartedAt + CALL_TIMEOUT_MS);
		expect(put === undefined ? [] : itemsOf(put).map(({ value }) => value)).toEqual(['Words for unknown-lost']);
	});

	it('retries a waiting answer when its author asks for it', { timeout: 60_000 }, async () => {
		for (const [id, value] of [
			['waiting', 'Words for waiting'],
			['waiting-secret', SECRETS.waiting],
		] as const) {
			expect(run.app.service.log.puts(id)).toEqual([]);
			expect(receipt(id, 'ada').buttons()).toEqual(['Try again', 'Discard answer']);
			expect(await receipt(id, 'ada').press('Try again')).toBe(true);
			await until(() => receipt(id, 'ada').text().includes(headline('resumed')));
			expect(run.app.service.sessions.values(id, 1)).toEqual([value]);
			expect(run.app.service.log.puts(id)).toHaveLength(1);
		}
	});

	it('reports an answer as delivered whose outcome was unknown for too long', { timeout: 60_000 }, async () => {
		await until(() => DELIVERED.test(receipt('unknown-long', 'ada').text()));
		expect(run.app.service.log.puts('unknown-long')).toEqual([]);
	});

	it('notes since when a question is open at the next read', { timeout: 60_000 }, async () => {
		const { log } = run.app.service;
		const reads = () => log.list({ kind: 'read', sessionId: 'asking' });
		await expect.poll(() => reads().length, { timeout: PATIENCE_MS }).toBeGreaterThan(2);
		const row = await run.first("select question_since as since from watched_sessions where session_id = 'asking'");
		const since = Number(row.since);
		const second = reads()[1]?.at;
		expect(since).toBeGreaterThanOrEqual(run.startedAt);
		expect(since).toBeLessThan(Number(second));
	});

	it('begins reminders of open questions, from their posts', async () => {
		const row = await run.first(
			"select fingerprint, post_ts, posted_at, reminded_at from ladders where session_id = 'asking'",
		);
		const post = await run.first(
			"select posted_ts, created_at from announcements where kind = 'question' and posted_ts is not null and watch_id = (select id from watches where session_id = 'asking')",
		);
		const watch = await run.first("select digest from watches where session_id = 'asking'");
		expect(row).toMatchObject({ post_ts: post.posted_ts, reminded_at: null });
		expect(Number(row.posted_at)).toBe(Number(post.created_at));
		expect(JSON.parse(String(watch.digest)).question.fingerprint).toBe(row.fingerprint);
	});

	it('continues the watches and posts their pending announcements', { timeout: 60_000 }, async () => {
		const thread = () => cardOf('working').thread();
		await until(() => thread().length > 0);
		await until(() => cardOf('working').text().includes('Which shop?'));
		run.app.service.sessions.answerAsPage('working', ['The first']);
		await until(() => thread().length > 1);
		expect(thread().map((post) => post.text())).toEqual([
			expect.stringContaining('I have found two shops.'),
			expect.stringContaining(OUTSIDE),
		]);
		await until(() => cardOf('working').text().includes(OUTSIDE));
		const [question] = thread();
		await until(() => question?.buttons().length === 0);
		expect(question?.text()).toContain(`✅ ${OUTSIDE}`);
		expect(run.app.slack.as('ada').messages('#secret')).toHaveLength(1);
	});

	it('keeps drafts and claims, and settles an old post whose button was pressed', { timeout: 60_000 }, async () => {
		const question = cardOf('asking', 'grace').thread()[0];
		// The former version did not store which text it shows, so it is drawn again.
		await until(() => question?.buttons().includes('Hand over'));
		expect(question?.buttons()).toEqual(['Answer', 'Hand over']);
		expect(await question?.press('Answer')).toBe(true);
		const form = await run.app.slack.as('grace').waitForModal((modal) => modal.submitText() !== null);
		expect(form.value(0)).toBe('What grace typed so far');
		expect(form.text()).toMatch(/✏️ @ada .*is answering this/);
		expect((await form.submit()).outcome).toBe('updated');
		await until(() => cardOf('asking').thread().at(-1)?.text().includes('Answered by'));
		await until(() => question?.buttons().length === 0);
		expect(question?.text()).toMatch(/✅ Answered by .*grace/i);
		await until(() => /✅ Answered by .*grace/i.test(cardOf('asking').text()));
		expect(run.app.service.sessions.values('asking', 2)).toEqual(['What grace typed so far']);
	});

	it('lists ended answers in the history and sends none of them', { timeout: 60_000 }, async () => {
		for (const [id, words] of [
			['resumed', line('resumed')],
			['conflicted', line('conflicted')],
			['refused', 'Words for refused'],
		] as const) {
			expect(await historyOf(id)).toContain(words);
		}
		for (const id of ENDED) expect(run.app.service.log.puts(id), id).toEqual([]);
	});

	it('reveals no secret', async () => {
		const words = await run.app.said();
		for (const secret of Object.values(SECRETS)) {
			expect(words).not.toContain(secret);
			expect(run.former.sql).not.toContain(secret);
			expect(JSON.stringify(run.former.slack)).not.toContain(secret);
		}
	});
});

/** An older version, for the migrations since then. */
describe.each(STORES)('a database of schema 3, on %s,', (kind) => {
	const run = useProgramOn({ kind, schema: 3 }, LONG_AWAY_MS);
	const { until, saved, receipt } = run;

	it('delivers the answers once', { timeout: 60_000 }, async () => {
		const { log, sessions } = run.app.service;
		for (const [id, wasSaved, ...values] of IN_HAND) {
			if (!wasSaved) await saved(id);
			expect(sessions.values(id, 1), id).toEqual(values);
		}
		await until(() => DELIVERED.test(receipt('waiting-saved', 'ada').text()));
		expect(receipt('waiting', 'ada').buttons()).toEqual(['Try again', 'Give it up']);
		await receipt('waiting', 'ada').press('Try again');
		await saved('waiting');
		await until(() => receipt('waiting', 'ada').text().includes(headline('resumed')));
		expect(log.puts('waiting')).toHaveLength(1);
		for (const id of [...ENDED, 'waiting-saved']) expect(log.puts(id), id).toEqual([]);
		for (const [id, wasSaved] of IN_HAND) expect(log.puts(id), id).toHaveLength(wasSaved ? 0 : 1);
	});
});

/** What the migration adds to rows. */
const ADDED: Readonly<Record<string, Row>> = {
	watches: { discreet: 0, buttons: 1 },
	watched_sessions: { question_since: null },
	announcements: { shown_key: null },
};

const context = () => ({ clock: systemClock, log: createRecordingLog() });

describe.each(STORES)('the migration of the former version on %s', (kind) => {
	it('changes no value and gives watches the settings of before', () =>
		useDatabaseOf({ kind, schema: 7 }, async ({ db, former }) => {
			const tables = [...former.sql.matchAll(/^create table "?(\w+)/gim)].map(([, name]) => String(name));
			expect(tables).toEqual(expect.arrayContaining(['answers', 'watches', 'announcements', 'drafts', 'claims']));
			const before = await rowsOf(db, tables);
			await migrate(db, context());
			const after = await rowsOf(db, tables);
			for (const [table, rows] of before) {
				const added = ADDED[table] ?? {};
				expect(after.get(table)).toEqual(expect.arrayContaining(rows.map((row) => ({ ...row, ...added }))));
				expect(after.get(table)).toHaveLength(rows.length + (table === 'migrations' ? MIGRATIONS.length - 7 : 0));
			}
			expect((await rowsOf(db, ['inboxes'])).get('inboxes')).toEqual([]);
		}));

	it('leaves questions that have neither options nor the time of their read', () =>
		useDatabaseOf({ kind, schema: 7 }, async ({ db }) => {
			await migrate(db, context());
			const cipher = createCipher(Buffer.from(FIXTURE_KEY, 'base64'));
			const rows = await db.read.selectFrom('announcements').selectAll().where('kind', '=', 'question').execute();
			expect(rows.map(({ state }) => state).sort()).toEqual(['pending', 'posted']);
			for (const row of rows) {
				const plain = cipher.decrypt(row.content, { table: 'announcements', id: row.id, column: 'content' });
				const stored = JSON.parse(String(plain));
				expect(stored).not.toHaveProperty('readAt');
				expect(stored.question).not.toHaveProperty('quick');
				expect(readAnnouncement(row, cipher)?.content).toEqual({
					...stored,
					readAt: 0,
					question: { ...stored.question, quick: null, shownHash: null },
				});
			}
		}));

	it('changes nothing when it fails half way', () =>
		useDatabaseOf({ kind, schema: 7 }, async ({ db, dump }) => {
			// In the way of a late step.
			await db.write((trx) => sql`create table inboxes (id integer primary key)`.execute(trx));
			const before = await dump();
			await expect(migrate(db, context())).rejects.toThrow('inboxes');
			expect(await dump()).toBe(before);
			await db.write((trx) => sql`drop table inboxes`.execute(trx));
			await migrate(db, context());
			expect(await dump()).not.toBe(before);
		}));
});
