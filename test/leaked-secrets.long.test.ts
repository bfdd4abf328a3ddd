import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { itemsOf } from '../fake-session-service/log.ts';
import {
	type App,
	answeredBy,
	askingSession,
	DELIVERED,
	expect,
	headline,
	it,
	openSession,
	startApp,
	watchingApp,
} from './kit.ts';
import { runRekey } from './support/commands.ts';

// The steps of docs/leaks.md for a secret that has leaked, while an answer waits and a window is open.

/** What docs/leaks.md lists the channels with. */
const [CHANNELS = ''] =
	/(?<=`)select channel_id [^`]*/.exec(readFileSync(new URL('../docs/leaks.md', import.meta.url), 'utf8')) ?? [];

/** A watched session, a form that is filled in, and an answer that the service does not take. */
async function underWay(app: App, refuse: () => void) {
	for (const id of ['watched', 'queued', 'open']) app.service.sessions.put(id, askingSession(['What now?']));
	expect((await app.slack.as('ada').command('#agents', '/session watch watched')).ok).toBe(true);
	const open = await openSession(app, 'open', 'grace');
	await open.fill(0, 'The red one');
	const queued = await openSession(app, 'queued');
	await queued.fill(0, 'The blue one');
	refuse();
	await queued.submit();
	await app.slack.as('ada').waitForModal(headline('accepted', { lastError: 'unauthorized' }));
	return open;
}

const refuseQueued = (app: App) => () => app.service.faults.add({ kind: 'unauthorized', sessionId: 'queued' });

/** Both answers arrive, once, and the channel's post of a third follows it to its end. */
async function expectNothingLost(app: App, open: Awaited<ReturnType<typeof underWay>>) {
	app.service.faults.clear();
	expect((await open.submit()).outcome).toBe('updated');
	await app.slack.as('grace').waitForModal(DELIVERED);
	await expect.poll(() => app.service.log.savedPuts('queued').length, { timeout: 60_000 }).toBe(1);
	await app.slack.as('ada').waitForModal(DELIVERED);
	const form = await openSession(app, 'watched');
	await form.fill(0, 'Green');
	await form.submit();
	const posts = () =>
		app.slack
			.as('ada')
			.messages('#agents')
			.map((message) => message.text());
	await expect.poll(() => posts().join('\n'), { timeout: 30_000 }).toMatch(answeredBy('ada', 'Green'));
	for (const [id, answer] of [
		['queued', 'The blue one'],
		['open', 'The red one'],
		['watched', 'Green'],
	] as const)
		expect([id, app.service.log.savedPuts(id).length, app.service.sessions.values(id, 1)]).toEqual([id, 1, [answer]]);
	expect(app.slack.violations()).toEqual([]);
}

it('a bot token: the app is stopped, loses its channels with the token, is invited again and goes on', async () => {
	await using app = await startApp();
	const open = await underWay(app, refuseQueued(app));
	await app.stop();
	const database = new DatabaseSync(join(app.dataDir, 'handraise.db'));
	expect(database.prepare(CHANNELS).all()).toEqual([{ channel_id: 'C0AGENTS' }]);
	database.close();
	await app.slack.remove('#agents', 'handraise');
	app.slack.tokens.bot = 'xoxb-second';
	await app.slack.invite('#agents', 'handraise');
	await app.restart({ SLACK_BOT_TOKEN: 'xoxb-second' });
	await expectNothingLost(app, open);
});

it('an app-level token: a restart with another one loses nothing', async () => {
	await using app = await startApp();
	const open = await underWay(app, refuseQueued(app));
	app.slack.tokens.app = 'xapp-second';
	await app.restart({ SLACK_APP_TOKEN: 'xapp-second' });
	await expectNothingLost(app, open);
});

it('a key of the service that is revoked first: answers wait for the new one in the file, without a restart', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'handraise-key-'));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const file = join(folder, 'key');
	writeFileSync(file, 'sandbox-key');
	await using app = await startApp({ env: { SESSION_SERVICE_API_KEY: '', SESSION_SERVICE_API_KEY_FILE: file } });
	const open = await underWay(app, () => app.service.changeApiKey('second-key'));
	expect(app.service.log.savedPuts('queued')).toEqual([]);
	writeFileSync(file, 'second-key');
	await expectNothingLost(app, open);
	expect(app.log.filter((line) => line.includes('the file has changed'))).toHaveLength(1);
});

it('an encryption key that is lost: the answer that waits is not sent, its question is answered again, also when it is found', async () => {
	const [lost, next] = ['the key that is lost', 'the key that comes after it'];
	await using app = await watchingApp({ env: { ENCRYPTION_KEY: lost } });
	const id = app.session();
	app.ask(id);
	const form = await openSession(app, id);
	await form.fill(0, 'Sand');
	app.service.faults.add({ kind: 'unauthorized', sessionId: id });
	await form.submit();
	await app.until(() => app.log.some((line) => line.includes('delivery_failed')));
	await app.restart({ ENCRYPTION_KEY: next });
	expect(app.log.join('\n')).toContain('encryption_key_mismatch');
	app.service.faults.clear();
	// Until the program has met the answer, it is the first one.
	await app.pass(60_000);
	const again = await openSession(app, id, 'grace');
	await again.fill(0, 'Graphite');
	await again.submit();
	const values = () => app.service.log.savedPuts(id).map((put) => itemsOf(put)[0]?.value);
	await app.until(() => values().length === 1);
	const told = () =>
		app.slack
			.as('ada')
			.dm(id)
			.map((message) => message.text());
	await app.until(() => told().join('\n').includes(headline('conflicted')));

	await app.stop();
	const keys = { ENCRYPTION_KEY: next, ENCRYPTION_KEY_FORMER: lost };
	expect(await runRekey({ DATA_DIR: app.dataDir, ...keys })).toMatchObject({ code: 0, stderr: '' });
	await app.restart({ ENCRYPTION_KEY: next });
	expect(app.log.filter((line) => line.includes('encryption_key_mismatch'))).toHaveLength(1);
	// What cannot be read is put off for ten minutes.
	await app.pass(11 * 60_000);
	expect(values()).toEqual(['Graphite']);
});
