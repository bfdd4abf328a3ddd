import { randomBytes } from 'node:crypto';
import { waitingCountWords } from '../../../src/screens/inbox.ts';
import { NOT_THERE } from '../../../src/slack/error-view.ts';
import { expect, forCase, type InboxApp, inboxApp, it } from '../../kit.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

it('no replica shows the questions of a channel to somebody who has left it, or takes a press on an old copy', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const app = await forCase(
		inboxApp({
			env: { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString('base64') },
		}),
	);
	await app.startOther();
	await app.slack.invite('#secret', 'grace');
	await app.askedIn('#secret', ['Order new chairs']);
	// Each replica has asked Slack for her channels.
	const asked = () => app.calls('users.conversations').filter(({ request }) => isOfGrace(app, request)).length;
	for (let time = 0; asked() < 2; time += 1) {
		if (time === 20) throw new Error('one replica shows all inboxes');
		await app.openHome('grace');
	}
	await app.homeSays('Order new chairs', { who: 'grace' });
	const old = app.slack.as('grace').home();
	app.slack.faults.add({ method: 'views.publish', error: 'internal_error' });
	await app.slack.remove('#secret', 'grace');
	for (let time = 0; time < 8; time += 1) {
		await old?.press('Answer…');
		await app.windowSays(NOT_THERE, { who: 'grace' });
		await app.slack.as('grace').modal()?.close();
	}
	app.slack.faults.clear();
	await app.homeSays(waitingCountWords(0, 0), { who: 'grace', without: ['Order new chairs'] });
	for (let time = 0; time < 8; time += 1) expect(await app.openHome('grace')).not.toContain('Order new chairs');
});

function isOfGrace(app: InboxApp, request: unknown): boolean {
	return (request as { user?: string }).user === app.slack.as('grace').user;
}
