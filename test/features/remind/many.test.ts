import { afterEach, expect, it } from 'vitest';
import { digestText } from '../../support/sentences.ts';
import { expectNothingWrong, SOME_REQUESTS, type WatchingApp, watchingApp } from '../watch/harness.ts';

const MINUTE = 60_000;
const COUNT = 40;
let app: WatchingApp;

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

/** The texts in threads or outside of them that begin so. To look at each thread would take long for so many. */
function texts(words: string, { inThread }: { inThread: boolean }): string[] {
	const messages = app.slack.state.messages.filter(({ threadTs }) => (threadTs !== undefined) === inThread);
	return messages.map(({ text }) => text).filter((text) => text.startsWith(words));
}

it('reminders that were due while the program was stopped are one message, also when their reads take longer than 20 s', async () => {
	app = await watchingApp({ env: { ...SOME_REQUESTS, REMIND_AFTER: '20m', ESCALATE_AFTER: 'off' } });
	const ids = Array.from({ length: COUNT }, () => app.session());
	for (const some of [ids.slice(0, 20), ids.slice(20)]) await app.command(`/session watch ${some.join(' ')}`);
	await app.until(() => ids.every((id) => app.service.log.reads(id).length > 1));
	for (const id of ids) app.ask(id, ['Which colour?']);
	const questions = () => app.inChannel().filter((message) => /^✋ .* asks$/m.test(message.text()));
	await app.until(() => questions().length === COUNT);
	await app.pass(2_000);
	await app.stop();
	await app.clock.advance(30 * MINUTE);
	await app.restart({ SESSION_SERVICE_RPM: '120' });
	const restartedAt = app.clock.now();
	await app.until(() => texts('⏰', { inThread: false }).length > 0);
	expect(app.clock.now() - restartedAt).toBeGreaterThan(20_000);
	await app.pass(3 * MINUTE);
	expect(texts('⏰', { inThread: false })).toEqual([`${digestText(COUNT)}.`]);
	expect(texts('⏰', { inThread: true })).toEqual([]);
});
