import { expect, headline, inboxApp, item, openSession, withApp } from '../kit.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const NAME = 'Plan the Frankfurt trip';

const it = withApp(inboxApp);

it('names the session of an answer that waits for the service, also after a restart', async ({ app }) => {
	const id = await app.watched({ name: 'Plan the Frankfurt trip' });
	app.ask(id, [FLIGHT]);
	const post = await app.threadSays(id, 'Which flight');
	await app.choose(post, 'LH 1173');
	app.service.faults.add({ kind: 'error', status: 503, sessionId: id });
	const dm = await app.until(
		() =>
			app.slack
				.as('ada')
				.dm(id)
				.find((one) => one.text().includes(headline('accepted', { lastError: 'unavailable' }))),
		undefined,
		300_000,
	);
	expect(dm.text()).toContain(`For ${NAME} · Session ${id}`);
	await app.restart();
	expect(await app.openHome()).toContain(`${NAME} · Which flight should I book? · You: LH 1173 · ⏳ Not delivered yet`);
	app.service.faults.clear();
	await app.until(() => dm.text().includes(headline('resumed')));
	expect(dm.text()).toContain(`For ${NAME} · Session ${id}`);
});

it('names the session in its window, receipt, draft and history, although nobody watches it', async ({ app }) => {
	const id = app.session({ name: 'Plan the Frankfurt trip' });
	app.ask(id, [FLIGHT]);
	const first = await openSession(app, id);
	expect([first.title(), first.text()]).toEqual(['Answer', expect.stringContaining(`✋ ${NAME} asks`)]);
	expect(first.text()).toMatch(new RegExp(`^Session ${id}$`, 'm'));
	await first.choose(0, 'TP 570');
	await first.close();
	expect(await app.openHome()).toContain(`📝 ${NAME} · TP 570 · `);
	const modal = await openSession(app, id);
	await modal.submit();
	await app.until(() => modal.text().includes(headline('resumed')));
	expect(modal.title()).toBe('Answer');
	await modal.close();
	await app.slack.as('ada').command('#agents', `/session history ${id}`);
	const history = await app.slack.as('ada').waitForModal((one) => one.title() === 'History');
	expect(history.text()).toContain(`One answer to ${NAME}, newest first.`);
});

it('shows that a form was answered in two lines, and its values on a press', async ({ app }) => {
	const id = await app.watched({ name: 'Book a room' });
	app.ask(id, ['How many guests?', 'Which floor?']);
	await app.threadSays(id, 'How many guests?');
	const modal = await openSession(app, id);
	await modal.fill(0, '12');
	await modal.fill(1, 'The second');
	await modal.submit();
	await modal.close();
	const post = await app.answered(id);
	await app.until(() => post.text().includes('· continued'));
	expect(post.text()).toMatch(/^✅ Book a room asked 2 questions\nada answered · continued/);
	expect(post.text()).not.toContain('The second');
	await app.seenBy('grace', post).press('Show question');
	const question = await app.slack.as('grace').waitForModal((one) => one.title() === 'Question');
	expect(question.text()).toContain('@ada answered:\nHow many guests?\n> 12\nWhich floor?\n> The second');
	await question.close();
});
