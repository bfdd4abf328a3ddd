import type { Fault } from '../../fake-session-service/faults.ts';
import { expect, FEWEST_REQUESTS, forCase, it, says, type WatchingApp, watchingApp, whatHappened } from '../kit.ts';
import { typed } from './played-agent.ts';

const MINUTE_MS = 60_000;
const GZIP: Fault = { kind: 'coded' };
const LIMITED = whatHappened('rate_limited');
const CANNOT = 'This session cannot be read';

const posts = (app: WatchingApp, words: string) => app.inChannel().filter((post) => says(post.text(), words));

it.each(['12', '60'])(
	'does not take its own limit for one of the service, while that is down, with %s requests a minute',
	async (SESSION_SERVICE_RPM) => {
		const app = await forCase(watchingApp({ env: { SESSION_SERVICE_RPM } }));
		const { id, post } = await app.askedPost();
		const send = await typed(app, id);
		await app.service.goDown();
		await send();
		for (let passed = 0; passed < 3 * MINUTE_MS; passed += 10_000) {
			await app.pass(10_000);
			const shown = [
				post.text(),
				app.slack.as('ada').modal()?.text() ?? '',
				...app.slack
					.as('ada')
					.dm(id)
					.map((dm) => dm.text()),
			];
			expect(says(shown.join('\n'), LIMITED)).toBe(false);
		}
		expect(says(post.text(), 'not delivered yet; sent when the service is back')).toBe(true);
		expect(posts(app, whatHappened('unavailable'))).toHaveLength(1);
		expect(posts(app, LIMITED)).toEqual([]);
		await app.service.comeBack();
		await app.until(() => app.service.sessions.values(id, 2)[0] === 'Sand');
	},
);

it('tells once that nothing can be read, and why, when what the service sends is compressed', async () => {
	// With fewer requests a minute, a delivery that fails leaves one read a minute: the notice may take five minutes.
	const app = await forCase(watchingApp());
	const [id, other] = [await app.watchedAsking(), await app.watched()];
	const post = await app.threadSays(id, 'Which colour?');
	const send = await typed(app, id);
	app.service.faults.add(GZIP);
	await send();
	// A read of an unchanged session has no body: it can be read, and the PUT is sent.
	app.step(other, 'Step two.');
	const notices = () => posts(app, 'Nothing here is updated').map((post) => post.text());
	await app.until(() => notices()[0]);
	await app.until(
		() =>
			says(post.text(), 'not delivered yet; sent when the service is back') ||
			says(post.text(), 'checking whether it arrived'),
	);
	await app.pass(20 * MINUTE_MS);
	expect(notices()).toEqual([expect.stringContaining(whatHappened('coded_gzip'))]);
	expect(posts(app, LIMITED)).toEqual([]);
	expect(app.log.some((line) => line.includes('service_down') && line.includes('coded_gzip'))).toBe(true);
	app.service.faults.clear();
	await app.until(() => posts(app, 'The session service is back')[0]);
	await app.until(() => app.service.sessions.values(id, 2)[0] === 'Sand');
});

it('has a card that says so, and why: one session beside others, which is compressed because it is large', async () => {
	const app = await forCase(watchingApp());
	const [id, other] = [await app.watched(), await app.watched()];
	app.service.faults.add({ kind: 'coded', least: 3_000 });
	app.ask(id, ['Which colour?'], 'Long. '.repeat(700));
	await app.cardSays(id, `${CANNOT}. ${whatHappened('coded_gzip')}`);
	await app.pass(MINUTE_MS);
	app.ask(other);
	await app.threadSays(other, 'Which colour?');
	expect(
		app
			.card(id)
			?.editHistory()
			.filter((text) => says(JSON.stringify(text), CANNOT)).length,
	).toBeLessThan(3);
	expect(app.card(other)?.text()).not.toContain(CANNOT);
	expect(posts(app, 'Nothing here is updated')).toEqual([]);
	app.service.faults.clear();
	await app.threadSays(id, 'Which colour?');
	await app.until(() => app.card(id)?.text().includes(CANNOT) === false);
});

it('says on the card of the only session that it cannot be read, and why', async () => {
	const app = await forCase(watchingApp({ env: FEWEST_REQUESTS }));
	const id = await app.watched();
	app.service.faults.add(GZIP);
	app.ask(id);
	await app.cardSays(id, `${CANNOT}. ${whatHappened('coded_gzip')}`);
	await app.pass(20 * MINUTE_MS);
	expect(posts(app, LIMITED)).toEqual([]);
	app.service.faults.clear();
	await app.threadSays(id, 'Which colour?');
	await app.until(() => app.card(id)?.text().includes(CANNOT) === false);
});
