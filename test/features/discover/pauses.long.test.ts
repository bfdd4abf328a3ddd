import { afterEach, describe, expect, it } from 'vitest';
import { ended, SERVICE_DOWN } from '../../support/sentences.ts';
import { expectNothingWrong, USUAL_REQUESTS } from '../watch/harness.ts';
import { discoveringApp } from './harness.ts';

const MINUTE = 60_000;
let app: Awaited<ReturnType<typeof discoveringApp>>;

async function start(options: Parameters<typeof discoveringApp>[0] = {}): Promise<void> {
	app = await discoveringApp(options);
}

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const notices = () => app.inChannel().filter((post) => post.text().includes('is paused'));

/** Listed sessions that ask nothing when they are read. */
function dead(count: number): void {
	for (let number = 0; number < count; number += 1) app.session({ name: `Dead ${number}`, status: 'humanInput' });
}

describe('listed sessions that ask nothing', () => {
	it('do not keep watched sessions from being read', async () => {
		await start({ env: { ...USUAL_REQUESTS, MAX_WATCHES_PER_CHANNEL: '100', REMIND_AFTER: 'off' } });
		const ids = Array.from({ length: 10 }, () => app.session());
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.pass(MINUTE);
		const count = () => ids.reduce((sum, id) => sum + app.service.log.reads(id).length, 0);
		const before = count();
		await app.pass(2 * MINUTE);
		const usual = count() - before;
		dead(150);
		await app.watchAll();
		await app.pass(5 * MINUTE);
		const then = count();
		await app.pass(2 * MINUTE);
		expect(count() - then).toBeGreaterThan(usual / 2);
	}, 60_000);

	it('do not keep a question out of a full channel, and do not count as watched there', async () => {
		await start({ env: { MAX_WATCHES_PER_CHANNEL: '1' } });
		dead(6);
		await app.pass(20_000);
		const id = app.waiting('Real');
		await app.watchAll();
		await app.until(() => app.asked(id)[0]);
		expect(app.inChannel().filter((post) => post.text().includes('limit'))).toEqual([]);
	});

	it('do not keep their places when they cannot be read', async () => {
		await start({ env: { MAX_WATCHES_PER_CHANNEL: '1' } });
		const odd = app.session({ name: 'Odd', status: 'humanInput' });
		app.service.faults.add({ kind: 'error', sessionId: odd });
		await app.watchAll();
		await app.pass(20_000);
		const id = app.waiting('Real');
		await app.until(() => app.asked(id)[0]);
		expect(app.inChannel().filter((post) => post.text().includes(SERVICE_DOWN))).toEqual([]);
	});
});

describe('what ends or pauses it', () => {
	it('ends where the bot was removed, and tells who began it', async () => {
		await start();
		await app.watchAll();
		const id = app.waiting();
		await app.postOf(id);
		await app.slack.remove('#agents', 'handraise');
		const dm = await app.until(() => app.slack.as('ada').dm().at(-1));
		expect(dm.text()).toContain('The watch of all sessions in');
		expect(dm.text()).toContain('use `/session watch all` to start again');
		expect(dm.text()).toContain(ended('botRemoved').replace('watch`', 'watch all`'));
		app.waiting('Another');
		await app.pass(MINUTE);
		expect(app.slack.as('ada').dm()).toHaveLength(1);
	});

	it('pauses when the list disappears and says so once a day, and goes on when it is back', async () => {
		await start();
		await app.watchAll();
		const post = await app.postOf(app.waiting());
		app.service.list.mode = 'off';
		await app.saysInChannel('`watch all` is paused');
		expect((await app.command('/session list')).text()).toContain('`watch all` is paused');
		expect(post.buttons()).toContain('red');
		const other = app.waiting('Other');
		await app.pass(10 * MINUTE);
		expect(app.raised()).toHaveLength(2);
		app.service.list.mode = 'on';
		await app.pass(5 * MINUTE);
		await app.postOf(other);
		expect((await app.command('/session list')).text()).not.toContain('is paused');
		app.service.list.mode = 'off';
		await app.pass(20 * MINUTE);
		expect((await app.command('/session list')).text()).toContain('is paused');
		expect(notices()).toHaveLength(1);
	});

	it('does not pause for a list that fails for a moment', async () => {
		await start();
		await app.watchAll();
		await app.postOf(app.waiting());
		app.service.list.mode = 'off';
		await app.pass(30_000);
		app.service.list.mode = 'on';
		await app.postOf(app.waiting('Other'));
		expect(app.raised()).toHaveLength(2);
	});

	it('tells the channel once a day that discovering is switched off', async () => {
		await start();
		await app.watchAll();
		const id = app.waiting();
		const post = await app.postOf(id);
		await app.restart({ DISCOVER_SESSIONS: 'false' });
		await app.saysInChannel('DISCOVER_SESSIONS');
		await app.pass(5_000);
		await app.restart({ DISCOVER_SESSIONS: 'false' });
		app.waiting('Other');
		await app.pass(MINUTE);
		expect(app.raised()).toHaveLength(2);
		app.answerElsewhere(id);
		await app.until(() => post.buttons().length === 0);
		expect(notices()).toHaveLength(1);
		await app.restart({ DISCOVER_SESSIONS: 'true' });
		await app.until(() => app.inChannel().some((one) => one.text().includes('Other')));
	});

	it('goes on after a restart without posting anything twice', async () => {
		await start();
		await app.watchAll();
		const id = app.waiting();
		await app.postOf(id);
		await app.restart();
		const other = app.waiting('Other');
		await app.postOf(other);
		await app.pass(MINUTE);
		expect([app.asked(id).length, app.asked(other).length]).toEqual([1, 1]);
	});

	it('goes on after an outage of the service', async () => {
		await start();
		await app.watchAll();
		await app.pass(15_000);
		await app.service.goDown();
		await app.pass(3 * MINUTE);
		const id = app.waiting();
		await app.service.comeBack();
		await app.postOf(id);
	});
});
