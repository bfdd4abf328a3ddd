import { randomBytes } from 'node:crypto';
import { type App, askingSession, DELIVERED, expect, type Modal, openSession, startApp, withApp } from '../kit.ts';
import { createLossyProxy, hasParameter } from '../support/lossy-proxy.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const it = withApp(async () => {
	const proxy = await createLossyProxy(await (await sharedPostgres()).createDatabase());
	const app = await startApp({
		env: { DATABASE_URL: proxy.url, ENCRYPTION_KEY: randomBytes(32).toString('base64') },
		service: { resumeAfterMs: 600_000 },
	});
	return {
		...app,
		proxy,
		async [Symbol.asyncDispose]() {
			await app[Symbol.asyncDispose]();
			await proxy[Symbol.asyncDispose]();
		},
	};
});

/** Each acceptance begins with the lock of its question, also one that finds its answer stored. Others lock numbers. */
const isAcceptance = (statement: string) => statement.includes('hashtextextended');

async function fillIn(app: App, id: string, title: string, value: string): Promise<Modal> {
	app.service.sessions.put(id, askingSession([title]));
	const modal = await openSession(app, id);
	await modal.fill(0, value);
	return modal;
}

it('reports a secret answer as arrived and sends it once when the reply to recording its delivery is lost', async ({
	app,
}) => {
	app.proxy.lose((statement) => statement.includes('update "answers"') && hasParameter(statement, 'delivered'), 1);
	const modal = await fillIn(app, 'secret', 'Password', 'hunter2hunter2');
	await modal.submit();
	await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
	expect(app.proxy.lost).toBe(1);
	expect(app.service.log.savedPuts('secret')).toHaveLength(1);
});

it('sends an answer once when the reply to storing it is lost', async ({ app }) => {
	app.proxy.lose(isAcceptance, 1);
	const modal = await fillIn(app, 'insert', 'Name', 'Ada');
	expect(await modal.submit()).toMatchObject({ outcome: 'updated', trouble: null });
	await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
	expect(app.service.log.savedPuts('insert')).toHaveLength(1);
});

it('says that the outcome is unknown when both replies to storing are lost, and sends nothing twice', async ({
	app,
}) => {
	app.proxy.lose(isAcceptance, 2);
	const modal = await fillIn(app, 'twice', 'Name', 'Ada');
	const first = await modal.submit();
	expect(JSON.stringify(first.errors)).toContain('Handraise could not check whether your answer was saved.');
	expect(JSON.stringify(first.errors)).not.toContain('Nothing was sent');
	// It was committed and is sent while the form is still open.
	await expect.poll(() => app.service.log.savedPuts('twice').length, { timeout: 10_000 }).toBe(1);
	if (modal.isOpen() && modal.submitText() !== null) await modal.submit();
	await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
	expect(app.service.log.savedPuts('twice')).toHaveLength(1);
});
