import { answeredBy, expect, forCase, it, type Posted, watchingApp } from '../../kit.ts';
import { asked, FLIGHT, value } from './harness.ts';

const PRESSES = 20;

it('sends a choice at once when UNDO_SECONDS is 0', async () => {
	const app = await forCase(watchingApp({ env: { UNDO_SECONDS: '0' } }));
	const { id, index, post } = await asked(app);
	const before = app.clock.now();
	await post.press('TP 570');
	await app.until(() => value(app, id, index) === 'TP 570');
	expect(app.clock.now() - before).toBeLessThan(3_000);
	const own = app.slack.as('ada').messages('#agents', { all: true });
	expect(own.filter((message) => message.buttons().includes('Undo'))).toEqual([]);
});

it('sends no message about a delivery that only waited for UNDO_SECONDS', async () => {
	const app = await forCase(watchingApp({ env: { UNDO_SECONDS: '60' } }));
	const { id, index, post } = await asked(app);
	await post.press('TP 570');
	await app.until(() => value(app, id, index) === 'TP 570');
	await app.answered(id);
	await app.pass(20_000);
	expect(app.slack.as('ada').messages('dm')).toEqual([]);
});

it('offers no options when QUICK_ANSWERS is off, and sends nothing for a press on an older post', async () => {
	const app = await forCase(watchingApp());
	const { id, post } = await asked(app);
	await app.restart({ QUICK_ANSWERS: 'off' });
	const told = await app.toldAfter(() => post.press('TP 570'));
	expect(told.buttons()).toEqual(['Answer…']);
	expect(told.text()).toContain('One-press answers are switched off here.');
	await app.pass(20_000);
	expect(app.service.log.puts(id)).toHaveLength(0);
	const second = await asked(app);
	expect(second.post.buttons()).toEqual(['Answer…', ...app.MENU]);
});

it('tells only that somebody answered when channels see no answers', async () => {
	const app = await forCase(watchingApp({ env: { SHOW_ANSWERS: 'never' } }));
	const { id, index, post } = await asked(app);
	await app.choose(post, 'LH 1173');
	await app.until(() => value(app, id, index) === 'LH 1173');
	await app.answered(id);
	expect(post.text()).toMatch(answeredBy('ada'));
	expect(post.text()).not.toContain('LH 1173');
});

it('has the posts of questions and their cards right soon when 20 are pressed in a second, within the rates of Slack', async () => {
	const app = await forCase(watchingApp({ realRates: true }));
	const ids = Array.from({ length: PRESSES }, () => app.session());
	await app.command(`/session watch ${ids.join(' ')}`);
	await app.until(() => ids.every((id) => app.card(id) !== undefined));
	for (const id of ids) app.ask(id, [FLIGHT]);
	const posts: Posted[] = [];
	for (const id of ids) posts.push(await app.threadSays(id, 'Which flight'));
	await app.pass(60_000);
	const pressedAt = app.clock.now();
	await Promise.all(posts.map((post) => post.press('LH 1173')));
	await app.until(() => posts.every((post) => post.text().includes('ada: LH 1173')));
	expect(app.clock.now() - pressedAt).toBeLessThanOrEqual(1_000);
	await app.pass(60_000 - (app.clock.now() - pressedAt));
	const wrong = (pattern: RegExp) => posts.map((post) => post.text()).filter((text) => !pattern.test(text));
	expect(wrong(/LH 1173 · (?:delivered|continued)$/m)).toEqual([]);
	await app.pass(15_000);
	expect(wrong(/ · continued$/m)).toEqual([]);
	await app.pass(45_000);
	expect(ids.filter((id) => !app.card(id)?.text().includes('working'))).toEqual([]);
	expect(app.slack.traffic.all().filter(({ answer }) => JSON.stringify(answer).includes('ratelimited'))).toEqual([]);
}, 120_000);
