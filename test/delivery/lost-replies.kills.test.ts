import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import type { Modal } from '../../fake-slack/index.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startApp } from '../support/app.ts';
import { createLossyProxy, hasParameter, type LossyProxy } from '../support/lossy-proxy.ts';
import { DELIVERED } from '../support/sentences.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

let app: App;
let proxy: LossyProxy;
let admin: pg.Client;
beforeAll(async () => {
	const url = await (await sharedPostgres()).createDatabase();
	admin = new pg.Client({ connectionString: url });
	await admin.connect();
	proxy = await createLossyProxy(url);
	app = await startApp({
		env: { DATABASE_URL: proxy.url, ENCRYPTION_KEY: randomBytes(32).toString('base64') },
		service: { resumeAfterMs: 600_000 },
	});
});
afterAll(async () => {
	await app[Symbol.asyncDispose]();
	await proxy[Symbol.asyncDispose]();
	await admin.end();
});
afterEach(() => proxy.heal());

/** Each acceptance begins with the lock of its question, also one that finds its answer stored. Others lock numbers. */
const isAcceptance = (statement: string) => statement.includes('hashtextextended');

async function fillIn(id: string, title: string, value: string): Promise<Modal> {
	app.service.sessions.put(id, askingSession([title]));
	const modal = await openSession(app, id);
	await modal.fill(0, value);
	return modal;
}

it.each([
	['plain', 'Name', 'Ada'],
	['secret', 'Password', 'hunter2hunter2'],
])(
	'reports a %s answer as arrived and sends it once when the reply to recording its delivery is lost',
	async (kind, title, value) => {
		const before = proxy.lost;
		proxy.lose((statement) => statement.includes('update "answers"') && hasParameter(statement, 'delivered'), 1);
		const modal = await fillIn(kind, title, value);
		await modal.submit();
		const told = await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
		expect(proxy.lost).toBe(before + 1);
		expect(app.service.log.savedPuts(kind)).toHaveLength(1);
		await told.close();
	},
);

it('sends an answer once when the reply to storing it is lost', async () => {
	proxy.lose(isAcceptance, 1);
	const modal = await fillIn('insert', 'Name', 'Ada');
	expect(await modal.submit()).toMatchObject({ outcome: 'updated', trouble: null });
	const told = await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
	expect(app.service.log.savedPuts('insert')).toHaveLength(1);
	await told.close();
});

it('says that the outcome is unknown when both replies to storing are lost, and sends nothing twice', async () => {
	proxy.lose(isAcceptance, 2);
	const modal = await fillIn('twice', 'Name', 'Ada');
	const first = await modal.submit();
	expect(JSON.stringify(first.errors)).toContain('Handraise could not check whether your answer was saved.');
	expect(JSON.stringify(first.errors)).not.toContain('Nothing was sent');
	// It was committed and is sent while the form is still open.
	await expect.poll(() => app.service.log.savedPuts('twice').length, { timeout: 10_000 }).toBe(1);
	if (modal.isOpen() && modal.submitText() !== null) await modal.submit();
	const told = await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
	expect(app.service.log.savedPuts('twice')).toHaveLength(1);
	await told.close();
});
