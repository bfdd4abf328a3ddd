import { expect, watchingApp, withApp } from '../kit.ts';

const it = withApp(() => watchingApp({ realRates: true }));

it('whoever has a question open is answering for five minutes after they last typed, or until they close it', async ({
	app,
}) => {
	const id = await app.watchedAsking(['Which colour?']);
	const post = await app.threadSays(id, 'Which colour?');
	await post.press('Answer…');
	const form = await app.slack.as('ada').waitForModal('[Send answer]');
	await app.until(() => post.text().includes('is answering'));
	await app.pass(4 * 60_000);
	await form.fill(0, 'Blue');
	await app.pass(4 * 60_000);
	expect(post.text()).toContain('is answering');
	await app.pass(90_000);
	expect(post.text()).not.toContain('is answering');
	await form.fill(0, 'Blue, or red');
	await app.until(() => post.text().includes('is answering'));
	await form.close();
	await app.until(() => !post.text().includes('is answering'));
});

it('a window that is closed right after typing leaves no claim, and its text as a draft', async ({ app }) => {
	const id = await app.watchedAsking(['Which colour?']);
	const post = await app.threadSays(id, 'Which colour?');
	await post.press('Answer…');
	const form = await app.slack.as('ada').waitForModal('[Send answer]');
	await app.until(() => post.text().includes('is answering'));
	// Slack is asked about her again, for the typing and for the closing, which go on in the same moment.
	await app.pass(6 * 60_000);
	await app.until(() => !post.text().includes('is answering'));
	const release = app.slack.faults.hold('users.info');
	await form.fill(0, 'Blue');
	await form.close();
	release();
	await app.pass(10_000);
	expect(post.text()).not.toContain('is answering');
	await post.press('Answer…');
	const again = await app.slack.as('ada').waitForModal('[Send answer]');
	expect(again.value(0)).toBe('Blue');
});

it('a window that is closed before Slack responds to its content leaves no claim', async ({ app }) => {
	const id = await app.watchedAsking(['Which colour?']);
	const post = await app.threadSays(id, 'Which colour?');
	const { promise: hold, resolve: release } = Promise.withResolvers<void>();
	app.slack.faults.add({ method: 'views.update', afterEffect: true, hold });
	await post.press('Answer…');
	const form = await app.slack.as('ada').waitForModal('[Send answer]');
	await app.handled('close handraise.session', () => form.close());
	release();
	await app.pass(10_000);
	expect(post.text()).not.toContain('is answering');
});
