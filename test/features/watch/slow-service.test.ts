import { afterEach, expect, it } from 'vitest';
import { expectNothingWrong, USUAL_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';

/** The service checks keys one after another, as long as the number of keys takes: 12 keys take 0.66 s. */
const KEY_CHECK_MS = 660;
const MINUTE = 60_000;
let app: WatchingApp;

async function start(
	keyCheckMs: number,
	count: number,
	prepare: (service: WatchingApp['service']) => void = () => {},
): Promise<readonly string[]> {
	app = await watchingApp({
		env: { ...USUAL_REQUESTS, SESSION_SERVICE_TIMEOUT_MS: '20000' },
		service: { keyCheckMs },
		prepare: async ({ service }) => prepare(service),
	});
	const ids = Array.from({ length: count }, () => app.session());
	for (let first = 0; first < count; first += 20) {
		await app.command(`/session watch ${ids.slice(first, first + 20).join(' ')}`);
	}
	await app.until(() => ids.every((id) => app.service.log.reads(id).length > 0));
	return ids;
}

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

/** The most reads that were at the service at once, since `from`. */
function mostAtOnce(from: number): number {
	const reads = app.service.log.reads().filter(({ at }) => at >= from);
	return Math.max(
		...reads.map(
			({ at }) => reads.filter((one) => one.at <= at && (one.answeredAt ?? Number.POSITIVE_INFINITY) > at).length,
		),
	);
}

it('has few reads under way at a service that gets slower by them, and an answer is put soon', async () => {
	const ids = await start(KEY_CHECK_MS, 40);
	await app.pass(MINUTE);
	const from = app.clock.now();
	await app.pass(2 * MINUTE);
	expect(mostAtOnce(from)).toBeLessThanOrEqual(3);
	const id = ids[7] ?? '';
	app.ask(id);
	const post = await app.threadSays(id, 'Which colour?');
	await post.press('Answer');
	const modal = await app.until(
		() => app.slack.as('ada').modal()?.text().includes('Which colour?') && app.slack.as('ada').modal(),
	);
	await modal.fill(0, 'red');
	const sentAt = app.clock.now();
	await modal.submit();
	await app.until(() => app.service.log.puts(id).some(({ savedAt }) => savedAt !== null));
	expect(app.clock.now() - sentAt).toBeLessThan(8 * KEY_CHECK_MS);
});

it('has many under way at a service that is slow, and not slower by them', async () => {
	await start(0, 100, (service) => service.faults.add({ kind: 'slow', ms: 3_000, method: 'GET' }));
	await app.pass(MINUTE);
	const from = app.clock.now();
	await app.pass(MINUTE);
	expect(mostAtOnce(from)).toBeGreaterThan(5);
});

it('reads the others within seconds while a session hangs right after the start', async () => {
	app = await watchingApp({ env: { ...USUAL_REQUESTS, SESSION_SERVICE_TIMEOUT_MS: '20000' } });
	const [hanging = '', ...others] = Array.from({ length: 6 }, () => app.session());
	await app.command(`/session watch ${[hanging, ...others].join(' ')}`);
	app.service.faults.add({ kind: 'hang', sessionId: hanging, method: 'GET' });
	const isHanging = () => app.service.log.reads(hanging).some(({ answeredAt }) => answeredAt === null);
	await app.until(isHanging);
	const from = app.clock.now();
	for (const id of others) app.ask(id);
	await app.until(() => others.every((id) => app.service.log.reads(id).some(({ at }) => at >= from)));
	expect(isHanging()).toBe(true);
	expect(app.clock.now() - from).toBeLessThan(10_000);
});
