import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Posted } from '../../fake-slack/index.ts';
import { itemsOf } from '../../sandbox/session-service/log.ts';
import type { App } from '../slack/support/open-session.ts';
import { startApp } from '../support/app.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { FIXTURE_KEY, type FormerVersion, readFormerVersion, SECRETS, sqlMovedTo } from './former-version/fixture.ts';

const CALL_TIMEOUT_MS = 20_000;
/** Time between the kill of the former version and this start: its leases and waits still run. */
const AWAY_MS = 14_000;
/** For those waits and for confirmation checks, which take seconds. */
const PATIENCE_MS = 30_000;

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

describe.each(['sqlite', 'postgres'] as const)('a database of the former version, on %s,', (kind) => {
	let app: App;
	let former: FormerVersion;
	let startedAt: number;
	/** When the killed program began the PUT of `unknown-lost`. */
	let putStartedAt: number;

	beforeAll(async () => {
		former = await readFormerVersion({ kind, schema: 3 });
		const databaseUrl = kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : null;
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
				const sql = sqlMovedTo(former, { service: service.url, stoppedAt: startedAt - AWAY_MS });
				putStartedAt = await (databaseUrl === null
					? loadSqlite(join(dataDir, 'handraise.db'), sql)
					: loadPostgres(databaseUrl, sql));
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
		const told = () =>
			['ada', 'grace'].flatMap((who) =>
				app.slack
					.as(who)
					.dm()
					.map((message) => message.text()),
			);
		return app.slack.changes.until(look, () => [look.toString(), ...told()].join('\n--\n'), limitMs);
	}

	/** Resolves when the service has saved an answer to this session since its start. */
	async function saved(sessionId: string): Promise<void> {
		await expect.poll(() => app.service.log.savedPuts(sessionId).length, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
	}

	/** The former version's direct message about this session's answer. */
	function receipt(sessionId: string, who: string): Posted {
		const found = app.slack
			.as(who)
			.dm()
			.filter((message) => message.text().includes(`session *${sessionId}*`));
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

	it('delivers the answers of the former version once', { timeout: 60_000 }, async () => {
		const { log, sessions } = app.service;
		for (const [id, wasSaved, ...values] of IN_HAND) {
			if (!wasSaved) await saved(id);
			expect(sessions.values(id, 1), id).toEqual(values);
		}
		for (const id of ['live', 'live-secret', 'unknown-saved']) {
			await until(() => receipt(id, 'grace').text().includes('Your answer was delivered and the agent went on.'));
		}
		for (const [id, wasSaved] of IN_HAND) {
			expect(log.puts(id), id).toHaveLength(wasSaved ? 0 : 1);
			await expect.poll(() => historyOf(id), { timeout: PATIENCE_MS }).toContain('✅ Delivered');
		}
	});

	it('sends an answer again only when its earlier PUT cannot take effect any more', {
		timeout: 60_000,
	}, async () => {
		await saved('unknown-lost');
		const [put] = app.service.log.puts('unknown-lost');
		expect(putStartedAt + CALL_TIMEOUT_MS).toBeGreaterThan(startedAt);
		expect(put?.at).toBeGreaterThan(putStartedAt + CALL_TIMEOUT_MS);
		expect(put === undefined ? [] : itemsOf(put).map(({ value }) => value)).toEqual(['Words for unknown-lost']);
	});

	it('retries a waiting answer when its author asks for it', { timeout: 60_000 }, async () => {
		for (const [id, value] of [
			['waiting', 'Words for waiting'],
			['waiting-secret', SECRETS.waiting],
		] as const) {
			expect(app.service.log.puts(id)).toEqual([]);
			expect(receipt(id, 'ada').buttons()).toEqual(['Try again', 'Give it up']);
			expect(await receipt(id, 'ada').press('Try again')).toBe(true);
			await until(() => receipt(id, 'ada').text().includes('Your answer was delivered and the agent went on.'));
			expect(app.service.sessions.values(id, 1)).toEqual([value]);
			expect(app.service.log.puts(id)).toHaveLength(1);
		}
	});

	it('reports a waiting answer as delivered when the service already has it', { timeout: 60_000 }, async () => {
		await until(() => receipt('waiting-saved', 'ada').text().includes('Your answer was delivered'), 15_000);
		expect(app.service.log.puts('waiting-saved')).toEqual([]);
	});

	it('continues the watches and posts their pending announcements', { timeout: 60_000 }, async () => {
		const thread = () => cardOf('working').thread();
		await until(() => thread().length > 0);
		await until(() => cardOf('working').text().includes('Which shop?'));
		app.service.sessions.answerAsPage('working', ['The first']);
		await until(() => thread().length > 1);
		expect(thread().map((post) => post.text())).toEqual([
			expect.stringContaining('I have found two shops.'),
			expect.stringContaining('Answered outside Slack'),
		]);
		await until(() => cardOf('working').text().includes('Answered outside Slack'));
		expect(app.slack.as('ada').messages('#secret')).toHaveLength(1);
	});

	it('keeps drafts and claims, and buttons of old posts work', { timeout: 60_000 }, async () => {
		const question = cardOf('asking', 'grace').thread()[0];
		expect(await question?.press('Answer')).toBe(true);
		const form = await app.slack.as('grace').waitForModal((modal) => modal.submitText() !== null);
		expect(form.value(0)).toBe('What grace typed so far');
		expect(form.text()).toMatch(/✏️ @ada .*is answering this/);
		expect((await form.submit()).outcome).toBe('updated');
		await until(() => cardOf('asking').thread().at(-1)?.text().includes('Answered by'));
		await until(() => question?.buttons().length === 0);
		await until(() => /✅ Answered by .*grace/i.test(cardOf('asking').text()));
		expect(app.service.sessions.values('asking', 2)).toEqual(['What grace typed so far']);
	});

	it('lists ended answers in the history and sends none of them', { timeout: 60_000 }, async () => {
		for (const [id, words] of [
			['resumed', '▶️ The agent went on'],
			['conflicted', 'Not sent: somebody else answered first'],
			['refused', 'Words for refused'],
		] as const) {
			expect(await historyOf(id)).toContain(words);
		}
		for (const id of ENDED) expect(app.service.log.puts(id), id).toEqual([]);
	});

	it('reveals no secret', async () => {
		const words = await app.said();
		for (const secret of Object.values(SECRETS)) {
			expect(words).not.toContain(secret);
			expect(former.sql).not.toContain(secret);
			expect(JSON.stringify(former.slack)).not.toContain(secret);
		}
	});
});

/** Column names of the former version. */
const PUT_STARTED_AT = "select put_started_at as at from answers where session_id = 'unknown-lost'";

/** Resolves to the time at which the PUT of `unknown-lost` began. */
async function loadSqlite(path: string, sql: string): Promise<number> {
	const database = new DatabaseSync(path);
	database.exec(sql);
	const row = database.prepare(PUT_STARTED_AT).get();
	database.close();
	return Number(row?.at);
}

/** Like `loadSqlite`. */
async function loadPostgres(url: string, sql: string): Promise<number> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	await client.query(sql);
	const { rows } = await client.query<{ at: string }>(PUT_STARTED_AT);
	await client.end();
	return Number(rows[0]?.at);
}
