import { createHandraise } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLog } from '../../src/kernel/log.ts';
import { type App, askingSession, expect, openSession, startApp, whatHappened, withApp } from '../kit.ts';

const it = withApp(startApp);

/** Ada's answer to this session, accepted by a program that then ends; and a program that cannot reach Slack, later. */
async function acceptedBefore(app: App, id: string, laterMs: number) {
	app.service.sessions.put(id, askingSession(['Name']));
	const modal = await openSession(app, id);
	await modal.fill(0, 'Ada');
	app.service.faults.add({ kind: 'unauthorized', times: 1_000 });
	await modal.submit();
	await app.slack.as('ada').waitForModal(whatHappened('unauthorized'), 10_000);
	await modal.close();
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
	const lines: string[] = [];
	const log = createLog('info', { write: (line) => void lines.push(line) });
	const clock = { ...systemClock, now: () => systemClock.now() + laterMs };
	const isolated = await createHandraise({ config, log, clock });
	const stopping = new AbortController();
	const starting = isolated.start(stopping.signal).catch(() => undefined);
	return {
		lines,
		async [Symbol.asyncDispose]() {
			stopping.abort();
			await starting;
			await isolated.stop();
		},
	};
}

it('delivers an answer accepted before a restart while Slack is unreachable', async ({ app }) => {
	await using _ = await acceptedBefore(app, 'away', 0);
	await expect.poll(() => app.service.log.savedPuts('away').length, { timeout: 15_000 }).toBe(1);
});

it('keeps an answer while Slack is unreachable when its author was checked more than a minute ago', async ({ app }) => {
	await using isolated = await acceptedBefore(app, 'later', 60_000);
	const failed = () => isolated.lines.filter((line) => line.includes('"code":"not_checked"'));
	await expect.poll(() => failed().length, { timeout: 15_000 }).toBeGreaterThan(1);
	expect(app.service.log.puts('later')).toEqual([]);
});
