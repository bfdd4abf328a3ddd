import { afterAll, beforeAll, expect, it } from 'vitest';
import { askingSession } from '../../../sandbox/session-service/builders.ts';
import { type App, openSession } from '../../slack/support/open-session.ts';
import { startApp } from '../../support/app.ts';
import { DELIVERED, headline } from '../../support/sentences.ts';

let app: App;
beforeAll(async () => {
	app = await startApp({ service: { resumeAfterMs: 600_000 } });
});
afterAll(async () => {
	await app[Symbol.asyncDispose]();
});

it('tells the second person who was first when their form was read before the first answer and shown after it', async () => {
	app.service.sessions.put('late', askingSession(['Name']));
	const first = await openSession(app, 'late');
	await first.fill(0, 'From Ada');
	// The service has produced the second reading, but its response takes long to arrive.
	const arriving = Promise.withResolvers<void>();
	const workedOut = Promise.withResolvers<void>();
	app.service.hooks.onWorkedOut = async (entry) => {
		if (entry.kind !== 'read') return;
		delete app.service.hooks.onWorkedOut;
		workedOut.resolve();
		await arriving.promise;
	};
	const opening = openSession(app, 'late', 'grace');
	await workedOut.promise;
	await first.submit();
	await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
	arriving.resolve();
	const second = await opening;
	await second.fill(0, 'From Grace');
	await second.submit();
	const told = await app.slack.as('grace').waitForModal(headline('conflicted'), 10_000);
	expect(told.text()).toMatch(/@ada>? answered/);
	expect(told.text()).not.toContain('outside');
	expect(app.service.log.savedPuts('late')).toHaveLength(1);
});
