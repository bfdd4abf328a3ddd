import { LIMITS } from '../../src/limits.ts';
import { expect, forCase, it, type WatchingApp, watchingApp } from '../kit.ts';

/** Grace opens a session; milliseconds until its window shows it. */
async function openedAfter(app: WatchingApp, id: string): Promise<number> {
	const from = app.clock.now();
	const grace = app.slack.as('grace');
	await grace.command('#agents', `/session ${id}`);
	await app.until(() => grace.modal()?.text().includes('I open the shop.'));
	await grace.modal()?.close();
	return app.clock.now() - from;
}

async function askedAfter(app: WatchingApp, id: string): Promise<number> {
	const from = app.clock.now();
	app.ask(id);
	await app.until(() => app.thread(id).some((post) => post.buttons().includes('Answer…')));
	return app.clock.now() - from;
}

it('serves others while one person sends 500 commands in ten seconds', async () => {
	const app = await forCase(
		watchingApp({ limits: { personReads: LIMITS.personReads }, service: { list: { mode: 'on' } } }),
	);
	const watched = await app.watched();
	const own = Array.from({ length: 50 }, () => app.session());
	const elsewhere = app.session();
	await app.pass(60_000);
	const ada = app.slack.as('ada');
	for (let second = 0; second < 10; second += 1) {
		await Promise.all(own.map((id) => ada.command('#secret', `/session ${id}`)));
		await app.pass(1_000);
		if (second % 3 === 1) expect(await openedAfter(app, elsewhere)).toBeLessThanOrEqual(5_000);
	}
	expect(await askedAfter(app, watched)).toBeLessThanOrEqual(30_000);
});

it('serves others beside 240 watches of one person', async () => {
	const app = await forCase(
		watchingApp({
			env: { MAX_WATCHES: '500' },
			limits: { watches: { channel: 300, person: 300 } },
			service: { list: { mode: 'on' } },
		}),
	);
	const watched = await app.watched();
	const own = Array.from({ length: 240 }, () => app.session());
	const elsewhere = app.session();
	for (let from = 0; from < own.length; from += 20) {
		await app.command(`/session watch ${own.slice(from, from + 20).join(' ')}`, 'ada', '#secret');
		expect(await openedAfter(app, elsewhere)).toBeLessThanOrEqual(5_000);
	}
	// What people wait for goes first: all of these are read before a session that is only watched.
	await app.until(() => own.every((id) => app.service.log.reads(id).length > 0));
	expect(await askedAfter(app, watched)).toBeLessThanOrEqual(30_000);
	expect(await openedAfter(app, elsewhere)).toBeLessThanOrEqual(5_000);
});
