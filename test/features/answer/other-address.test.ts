import { afterAll, beforeAll, expect, it } from 'vitest';
import { itemsOf } from '../../../sandbox/session-service/log.ts';
import { openSession } from '../../slack/support/open-session.ts';
import { headline, whatHappened } from '../../support/sentences.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../watch/harness.ts';

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp({ env: { GIVE_UP_HOURS: '2' } });
});
afterAll(() => app[Symbol.asyncDispose]());

it('tells the author that an answer waits for a former address, and that it was not sent, and sends it there', async () => {
	const address = app.service.url;
	const elsewhere = address.replace('127.0.0.1', 'localhost');
	expect(elsewhere).not.toBe(address);
	const id = app.session();
	app.ask(id);
	const modal = await openSession(app.app, id);
	await modal.fill(0, 'Sand');
	await app.service.goDown();
	await modal.submit();
	await app.restart({ SESSION_SERVICE_URL: elsewhere });
	await app.service.comeBack();
	const dms = () => app.slack.as('ada').dm(id);
	const says = (words: string) => app.until(() => dms().some((dm) => dm.text().includes(words)));
	await says(whatHappened('other_service'));
	await app.pass(3 * 3_600_000);
	await says(headline('waiting'));
	expect(dms()).toHaveLength(1);
	expect(app.service.log.puts(id)).toEqual([]);

	await dms()[0]?.press('Try again');
	await app.until(() => !dms()[0]?.text().includes(headline('waiting')));
	await says(whatHappened('other_service'));
	await app.restart({ SESSION_SERVICE_URL: address });
	await app.until(() => app.service.log.effectivePuts(id).length === 1);
	expect(app.service.log.puts(id).map((put) => itemsOf(put)[0]?.value)).toEqual(['Sand']);
	await says(headline('delivered'));
	expectNothingWrong(app);
});
