import { expect, it } from 'vitest';
import { item } from '../../../sandbox/session-service/builders.ts';
import { expectNothingWrong, USUAL_REQUESTS, watchingApp } from '../watch/harness.ts';

const FLIGHT = item('Which flight should I book?', 'One of: LH 1173, TP 570');
const PRESSES = 20;

it('has the posts of questions and their cards right soon when 20 are pressed in a second, within the rates of Slack', async () => {
	await using app = await watchingApp({ realRates: true, env: USUAL_REQUESTS });
	const ids = Array.from({ length: PRESSES }, () => app.session());
	await app.command(`/session watch ${ids.join(' ')}`);
	await app.until(() => ids.every((id) => app.card(id) !== undefined));
	for (const id of ids) app.ask(id, [FLIGHT]);
	const posts = await Promise.all(ids.map((id) => app.threadSays(id, 'Which flight')));
	await app.pass(60_000);
	const pressedAt = app.clock.now();
	await Promise.all(posts.map((post) => post.press('LH 1173')));
	await app.until(() => posts.every((post) => post.text().includes('*@ada: LH 1173*')));
	expect(app.clock.now() - pressedAt).toBeLessThanOrEqual(1_000);
	await app.pass(60_000 - (app.clock.now() - pressedAt));
	const wrong = (pattern: RegExp) => posts.map((post) => post.text()).filter((text) => !pattern.test(text));
	expect(wrong(/LH 1173\* · (?:✅ delivered|@ada · the agent went on)$/)).toEqual([]);
	await app.pass(15_000);
	expect(wrong(/ · the agent went on$/)).toEqual([]);
	await app.pass(45_000);
	expect(ids.filter((id) => !app.card(id)?.text().includes('working'))).toEqual([]);
	expect(app.slack.traffic.all().filter(({ answer }) => JSON.stringify(answer).includes('ratelimited'))).toEqual([]);
	expectNothingWrong(app);
}, 120_000);
