import { statusWords } from '../src/slack/phrases.ts';
import { askingSession, expect, headline, it, openSession, startTimedApp, whatHappened } from './kit.ts';

const TEN_MINUTES_MS = 600_000;

it('ten minutes without the service: people are told, nothing is lost or doubled, and all works again afterwards', async () => {
	const unhandled: unknown[] = [];
	const note = (error: unknown) => void unhandled.push(error);
	process.on('unhandledRejection', note);
	await using timed = await startTimedApp();
	const { app, clock } = timed;
	const ids = ['o1', 'o2', 'o3'];
	for (const id of ids) {
		app.service.sessions.put(id, askingSession(['Colour']));
	}
	const forms = [];
	for (const [n, id] of ids.entries()) {
		const window = `window-${n}`;
		await app.slack.as('ada', window).command('#agents', `/session ${id}`);
		const form = await app.slack.as('ada', window).waitForModal('Colour');
		await form.fill('Colour', `answer to ${id}`);
		forms.push(form);
	}

	await app.service.goDown();
	const from = clock.now();
	for (const form of forms) expect((await form.submit()).outcome).toBe('updated');
	let commands = 0;
	while (clock.now() < from + TEN_MINUTES_MS) {
		await app.slack.as('grace').command('#agents', '/session o1');
		await timed.shows(whatHappened('unavailable'), 'grace');
		await app.slack.as('grace').modal()?.close();
		commands++;
		const next = clock.now() + 120_000;
		await timed.until(() => clock.now() >= next);
	}
	expect(commands).toBeGreaterThanOrEqual(5);
	const told = app.slack.as('ada').dm();
	for (const id of ids) expect(told.filter((message) => message.text().includes(`Session ${id}`))).toHaveLength(1);
	expect(told[0]?.text()).toContain(headline('accepted', { lastError: 'unavailable' }));

	await app.service.comeBack();
	const back = await openSession(app, 'o1', 'grace');
	expect(back.text()).toContain(statusWords('humanInput').words);
	const backAt = clock.now();
	await timed.until(
		() => ids.every((id) => app.service.sessions.get(id).status === 'active'),
		() => JSON.stringify(ids.map((id) => app.service.sessions.values(id, 1))),
	);
	// Her read was news for the answers that waited, whose next attempts were up to a minute away.
	expect(clock.now() - backAt).toBeLessThan(10_000);
	for (const id of ids) {
		expect(app.service.sessions.values(id, 1)).toEqual([`answer to ${id}`]);
		expect(app.service.log.puts(id)).toHaveLength(1);
	}
	await timed.until(() => app.slack.as('ada').dm(headline('resumed')).length === ids.length);
	expect(app.slack.as('ada').dm()).toHaveLength(ids.length);

	process.off('unhandledRejection', note);
	expect(unhandled).toEqual([]);
	expect(app.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
	expect(app.slack.violations()).toEqual([]);
});
