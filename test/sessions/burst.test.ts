import { expect, forCase, it, watchingApp } from '../kit.ts';

const SECOND = 1_000;

it('goes on reading, within the budget, after 120 sessions were watched at once', async () => {
	const app = await forCase(watchingApp());
	const ids = Array.from({ length: 120 }, () => app.session());
	for (let at = 0; at < ids.length; at += 20) await app.command(`/session watch ${ids.slice(at, at + 20).join(' ')}`);
	const from = app.clock.now();
	await app.pass(50 * SECOND);
	const times = app.service.log.reads().flatMap(({ at }) => (at >= from ? [at] : []));
	expect(times.length).toBeGreaterThan(25);
	const gaps = [...times, app.clock.now()].map((at, index) => at - (times[index - 1] ?? from));
	// Until what is kept for people is there again.
	expect(Math.max(...gaps)).toBeLessThan(20 * SECOND);
	const again = app.clock.now();
	await app.pass(60 * SECOND);
	expect(app.service.log.reads().filter(({ at }) => at >= again).length).toBeGreaterThan(150);
});
