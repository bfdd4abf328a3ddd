import { afterAll, beforeAll, expect, it } from 'vitest';
import { askingSession } from '../../sandbox/session-service/builders.ts';
import { createHandraise } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { createLog } from '../../src/ops/log.ts';
import { type App, openSession } from '../slack/support/open-session.ts';
import { startApp } from '../support/app.ts';
import { whatHappened } from '../support/sentences.ts';

let app: App;
beforeAll(async () => {
	app = await startApp();
});
afterAll(async () => {
	await app[Symbol.asyncDispose]();
});

it('delivers an answer accepted before a restart while Slack is unreachable', async () => {
	app.service.sessions.put('away', askingSession(['Name']));
	const modal = await openSession(app, 'away');
	await modal.fill(0, 'Ada');
	app.service.faults.add({ kind: 'unauthorized', times: 1_000 });
	await modal.submit();
	await app.slack.as('ada').waitForModal(whatHappened('unauthorized'), 10_000);
	await app.stop();
	app.service.faults.clear();

	const config = parseConfig({
		SLACK_BOT_TOKEN: app.slack.tokens.bot,
		SLACK_APP_TOKEN: app.slack.tokens.app,
		// Nothing listens there.
		SLACK_API_URL: 'http://127.0.0.1:9/api/',
		SESSION_SERVICE_URL: app.service.url,
		SESSION_SERVICE_API_KEY: app.service.apiKey,
		DATA_DIR: app.dataDir,
		PORT: '0',
	});
	const isolated = await createHandraise({ config, log: createLog('info', { write: () => undefined }) });
	const stopping = new AbortController();
	const starting = isolated.start(stopping.signal).catch(() => undefined);
	await expect.poll(() => app.service.log.savedPuts('away').length, { timeout: 15_000 }).toBe(1);
	stopping.abort();
	await starting;
	await isolated.stop();
});
