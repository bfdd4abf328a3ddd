import { afterEach, describe, expect, it } from 'vitest';
import { asking, item } from '../../../sandbox/session-service/builders.ts';
import type { FakeSessionService } from '../../../sandbox/session-service/fake-session-service.ts';
import { QUESTIONS_HIDDEN, waitingCountWords, waitingSessionsWords } from '../../../src/features/inbox/view.ts';
import { SETTLED_WORDS } from '../../../src/features/watch/post-view.ts';
import { leftOutWords } from '../../../src/features/watch/view.ts';
import { discoveringApp } from '../discover/harness.ts';
import { expectNothingWrong } from './harness.ts';

/** An account collects sessions that wait for ever: nothing but stop, pause or resume ends that. */

const MINUTE = 60_000;
let app: Awaited<ReturnType<typeof discoveringApp>>;

/** Sessions that waited before the program was started. */
function abandoned(service: FakeSessionService, count: number): void {
	for (let index = 0; index < count; index += 1) {
		const messages = [asking('Three are in stock.', [item('Which colour?', 'One of: red, green')])];
		service.sessions.put(`old-${index}`, { status: 'humanInput', name: `Old ${index}`, messages });
	}
}

async function start(count: number, env: Record<string, string> = {}): Promise<void> {
	app = await discoveringApp({
		env: { MAX_WATCHES_PER_CHANNEL: '3', REMIND_AFTER: 'off', ...env },
		prepare: async ({ service }) => abandoned(service, count),
	});
	await app.watchAll();
	await app.until(() => openOnes().length === 3);
}

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const openOnes = (channel?: string) => app.inChannel(channel).filter((post) => post.buttons().length > 0);
const gaveWay = (channel?: string) =>
	app.inChannel(channel).filter((post) => post.text().includes(SETTLED_WORDS.gaveWay));

describe('a channel that is full of old questions', () => {
	it('gets a new one at once, in the place of the stalest, whose post says where it is now', async () => {
		await start(6);
		const before = openOnes().map(({ ts }) => ts);
		const post = await app.postOf(app.waiting('New chairs'));
		expect(post.buttons()).toContain('red');
		const [stalest] = await app.until(() => gaveWay().length === 1 && gaveWay());
		expect(before).toContain(stalest?.ts);
		expect(stalest?.buttons()).toEqual([]);
		await app.pass(2 * MINUTE);
		expect(openOnes().map(({ ts }) => ts)).toEqual([...before.filter((ts) => ts !== stalest?.ts), post.ts]);
		expect(app.raised().filter((one) => one.text().includes('Old'))).toHaveLength(3);
	});

	it('follows the newest when more begin than it has places, and none comes twice', async () => {
		await start(4);
		const ids = Array.from({ length: 5 }, (_, index) => app.waiting(`New ${index}`));
		for (const id of ids) await app.postOf(id);
		await app.pass(3 * MINUTE);
		expect(openOnes()).toHaveLength(3);
		expect(openOnes().every((post) => post.text().includes('New'))).toBe(true);
		expect(ids.map((id) => app.asked(id).length)).toEqual([1, 1, 1, 1, 1]);
	});

	it('brings what gave way again when there is room', async () => {
		await start(3);
		const id = app.waiting('New chairs');
		await app.postOf(id);
		const [stalest] = await app.until(() => gaveWay().length === 1 && gaveWay());
		const name = /Old \d/.exec(stalest?.text() ?? '')?.[0] ?? 'none';
		app.answerElsewhere(id);
		const again = await app.until(() => openOnes().find((post) => post.text().includes(name)));
		expect(again.ts).not.toBe(stalest?.ts);
	});

	it('gets a new one also when its first reads fail, or find nothing yet', async () => {
		await start(6);
		const failing = app.waiting('New chairs');
		app.service.faults.add({ kind: 'error', sessionId: failing, times: 3 });
		const early = app.session({ name: 'New lamps', status: 'humanInput' });
		await app.until(() => app.service.log.reads(early).length > 0);
		await app.pass(1_000);
		app.ask(early);
		await app.until(() => app.asked(failing).length === 1 && app.asked(early).length === 1);
		await app.until(() => gaveWay().length === 2);
		await app.pass(2 * MINUTE);
		expect(openOnes()).toHaveLength(3);
	});

	it('gives no place to sessions that ask nothing', async () => {
		await start(3);
		for (let index = 0; index < 5; index += 1) app.session({ name: `Dead ${index}`, status: 'humanInput' });
		await app.pass(3 * MINUTE);
		expect(gaveWay()).toEqual([]);
		expect(openOnes()).toHaveLength(3);
	});

	it('keeps its questions when a list is empty, or lacks some, and they come back', async () => {
		await start(9);
		await app.postOf(app.waiting('New chairs'));
		await app.until(() => gaveWay().length === 1);
		for (const id of ['old-3', 'old-4', 'old-5']) app.service.list.hidden.add(id);
		await app.pass(30_000);
		app.service.list.hidden.clear();
		await app.pass(5 * MINUTE);
		expect(gaveWay()).toHaveLength(1);
		expect(openOnes().some((post) => post.text().includes('New chairs'))).toBe(true);
	});

	it('lets no question give way that somebody is answering or has just answered', async () => {
		await start(4);
		const [answered, claimed, free] = openOnes();
		await answered?.press('red');
		await claimed?.press('Answer…');
		await app.until(() => app.slack.as('ada').modal()?.text().includes('Which colour?'));
		await app.postOf(app.waiting('New chairs'));
		await app.until(() => gaveWay().length === 1);
		expect([answered?.ts, claimed?.ts, free?.ts].indexOf(gaveWay()[0]?.ts)).toBe(2);
	});

	it('is told once how new ones come, and gets the longest waiting when there is room', async () => {
		await start(4);
		const full = leftOutWords({ kind: 'discoveryFull', limit: 'channel', most: 3 }, null);
		await app.saysInChannel(full);
		expect((await app.command('/session list')).text()).toContain(full);
		const waits = ['Old 0', 'Old 1', 'Old 2', 'Old 3'].find(
			(name) => !openOnes().some((post) => post.text().includes(name)),
		);
		const [first] = openOnes();
		const answered = /Old (\d)/.exec(first?.text() ?? '')?.[1];
		app.answerElsewhere(`old-${answered}`, 0);
		await app.until(() => openOnes().find((post) => post.text().includes(waits ?? 'none')));
		await app.pass(MINUTE);
		expect((await app.command('/session list')).text()).not.toContain('that is the limit');
		expect(app.inChannel().filter((post) => post.text().includes('that is the limit'))).toHaveLength(1);
	});

	it('keeps what people chose to watch', async () => {
		app = await discoveringApp({ env: { MAX_WATCHES_PER_CHANNEL: '2', REMIND_AFTER: 'off' } });
		const ids = [app.session(), app.session()];
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.watchAll();
		app.waiting('New chairs');
		await app.saysInChannel('that is the limit');
		expect(ids.map((id) => app.card(id)?.text().includes('Not watched'))).toEqual([false, false]);
		expect(gaveWay()).toEqual([]);
	});
});

it('knows after a restart which sessions are old, and that those that began meanwhile are new', async () => {
	await start(6);
	await app.stop();
	const id = app.waiting('New chairs');
	await app.restart();
	await app.postOf(id);
	await app.until(() => gaveWay().length === 1);
	await app.pass(MINUTE);
	expect(gaveWay()).toHaveLength(1);
});

describe('the inbox', () => {
	const home = (who = 'ada') => app.slack.as(who).home();
	const text = () => home()?.text() ?? '';

	it('shows new ones first and the old ones as one line, with pages', async () => {
		await start(14);
		const id = app.waiting('New chairs');
		await app.postOf(id);
		await app.slack.as('ada').openApp('home');
		await app.until(() => text().includes('New chairs'));
		expect(text()).toContain('14 sessions have waited for more than a day');
		expect(text()).not.toMatch(/Old \d/);
		expect(text()).not.toContain(waitingSessionsWords(0));
		await home()?.press('Show');
		await app.until(() => /Old \d/.test(text()));
		const first = text().match(/Old \d+/g) ?? [];
		expect(text()).not.toMatch(/asked just now|waiting \d/);
		expect(text()).toContain('Sessions 1 to 10 of 14, oldest first.');
		expect(text()).toContain(QUESTIONS_HIDDEN);
		await home()?.press('Next 4');
		await app.until(() => (text().match(/Old \d+/g) ?? []).length === 4);
		await home()?.press('Refresh');
		await app.pass(5_000);
		expect(text()).toContain('Sessions 11 to 14 of 14');
		expect(home()?.buttons()).toContain('Hide');
		expect(new Set([...first, ...(text().match(/Old \d+/g) ?? [])]).size).toBe(14);
		await home()?.press('Previous 10');
		await app.until(() => (text().match(/Old \d+/g) ?? []).length === 10);
		await home()?.press('Open');
		await app.until(() => app.slack.as('ada').modal()?.text().includes('Which colour?'));
		await app.slack.as('ada').modal()?.close();
		await home()?.press('Hide');
		await app.until(() => text().includes('New chairs') && !/Old \d/.test(text()));
	});

	it('folds a session that has waited for a day, and not what people watch', async () => {
		await start(10);
		const watched = app.session({ name: 'Lamps' });
		await app.command(`/session watch ${watched}`, 'ada', '#secret');
		app.ask(watched);
		const id = app.waiting('New chairs');
		await app.postOf(id);
		await app.stop();
		await app.clock.advance(24 * 60 * MINUTE);
		await app.restart();
		await app.slack.as('ada').openApp('home');
		await app.until(() => text().includes('11 sessions have waited for more than a day'));
		expect(text()).not.toContain('New chairs');
		expect(text()).toContain('Lamps');
	});

	it('does not say that nothing waits while old questions do', async () => {
		await start(14);
		await app.slack.as('ada').openApp('home');
		await app.until(() => text().includes('14 sessions have waited for more than a day'));
		expect(text()).toContain(waitingCountWords(0, 0, 14));
	});

	it('shows a few old ones like others', async () => {
		await start(4);
		await app.slack.as('grace').openApp('home');
		await app.until(() => home('grace')?.text().includes('Old 1'));
		expect(home('grace')?.text()).not.toContain('more than a day');
	});
});
