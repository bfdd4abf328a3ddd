import { randomBytes } from 'node:crypto';
import { askingSession, createManualClock, expect, it, openSession, startApp, vi } from '../kit.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

it('delivers an answer at once: no loop has to look first, because the clock stands still', async () => {
	const clock = createManualClock();
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const env = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString('base64') };
	const app = await startApp({ clock, service: { clock }, env });
	app.service.sessions.put('ask', askingSession(['Which colour?']));
	const modal = await openSession(app, 'ask');
	await modal.fill(0, 'blue');
	await modal.submit();
	await vi.waitFor(() => expect(app.service.log.puts('ask')).toHaveLength(1), 10_000);
	const stopped = app[Symbol.asyncDispose]();
	await clock.advance(60_000);
	await stopped;
});
