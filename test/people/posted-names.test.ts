import { expect, forCase, handOverApp, it } from '../kit.ts';

it('a post still says who answered after a status change and a restart', async () => {
	const app = await forCase(handOverApp({}, { resumeAfterMs: 10_000_000 }));
	const { id, post } = await app.asked();
	await app.press(post, 'bob', 'LH 1173');
	await app.saysIn(post, 'bob: LH 1173 · delivered');
	await app.slack.changePerson('bob', { statusText: 'riding a train' });
	await app.pass(10_000);
	await app.restart({});
	app.service.sessions.setStatus(id, 'active');
	app.step(id, 'I go on.');
	await app.until(() => post.text().includes('continued'));
	expect(post.text()).toContain('bob: LH 1173');
});
