import { expect, WATCHING, type WatchingApp, watchingApp, withApp } from '../kit.ts';

/** The service checks 150 keys in each call, one call after another. */
const CALL_MS = 8_000;
const it = withApp(() =>
	watchingApp({
		env: { SESSION_SERVICE_TIMEOUT_MS: '20000' },
		service: { keyCheckMs: CALL_MS, list: { mode: 'on' } },
	}),
);

/** Sends these commands at once; what Ada is told in the end of each. */
async function atOnce(app: WatchingApp, lines: readonly string[]): Promise<string[]> {
	const before = new Set(app.onlyFor('ada', '#agents').map(({ ts }) => ts));
	for (const line of lines) expect(await app.slack.as('ada').command('#agents', line)).toMatchObject({ ok: true });
	const told = () => {
		const since = app.onlyFor('ada', '#agents').filter(({ ts }) => !before.has(ts));
		return since.map((post) => post.text()).filter((text) => !text.includes('Still waiting'));
	};
	await app.until(() => told().length >= lines.length);
	return told();
}

it('puts an answer within the time of four calls and settles it within ten', async ({ app }) => {
	const ids = Array.from({ length: 10 }, () => app.session());
	await app.command(`/session watch ${ids.join(' ')}`);
	await app.pass(5 * 60_000);
	for (const id of ids.slice(3, 6)) {
		app.ask(id);
		const post = await app.threadSays(id, 'Which colour?');
		await post.press('Answer…');
		const ada = app.slack.as('ada');
		// Not the stored question, which is there first.
		const isRead = () => ada.modal()?.text().includes('I open the shop.') === true;
		const modal = await app.until(() => isRead() && ada.modal());
		await modal.fill(0, 'red');
		const sentAt = app.clock.now();
		await modal.submit();
		const put = await app.until(() => app.service.log.puts(id).find(({ savedAt }) => savedAt !== null));
		app.service.sessions.setStatus(id, 'active');
		app.step(id, 'I order red chairs.');
		expect((put.savedAt ?? 0) - sentAt).toBeLessThanOrEqual(4 * CALL_MS);
		await app.threadSays(id, '· continued');
		expect(app.clock.now() - sentAt).toBeLessThanOrEqual(10 * CALL_MS);
		await modal.close();
	}
	expect(app.service.log.list().filter(({ clientGone }) => clientGone)).toEqual([]);
});

it('watches five sessions that are named at once, right after the start', async ({ app }) => {
	const ids = Array.from({ length: 5 }, () => app.session());
	const told = await atOnce(
		app,
		ids.map((id) => `/session watch ${id}`),
	);
	expect(told).toEqual(ids.map(() => expect.stringContaining(WATCHING)));
	for (const id of ids) await app.until(() => app.card(id));
});
