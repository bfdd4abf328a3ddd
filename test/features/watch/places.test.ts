import { afterEach, describe, expect, it } from 'vitest';
import { asking, item } from '../../../sandbox/session-service/builders.ts';
import { SETTLED_WORDS } from '../../../src/features/watch/post-view.ts';
import { answeredBy } from '../../support/sentences.ts';
import { discoveringApp } from '../discover/harness.ts';
import { expectNothingWrong } from './harness.ts';

/** Which questions have the places of a channel with `watch all` that is full. */

const MINUTE = 60_000;
let app: Awaited<ReturnType<typeof discoveringApp>>;

/** `count` sessions waited before the program was started; the channel has three places. */
async function start(count: number, env: Record<string, string> = {}): Promise<void> {
	app = await discoveringApp({
		env: { MAX_WATCHES_PER_CHANNEL: '3', REMIND_AFTER: 'off', ...env },
		prepare: async ({ service }) => {
			for (let index = 0; index < count; index += 1) {
				const messages = [asking('Three are in stock.', [item('Which colour?', 'One of: red, green')])];
				service.sessions.put(`old-${index}`, { status: 'humanInput', name: `Old ${index}`, messages });
			}
		},
	});
	await app.watchAll();
	await app.until(() => openOnes().length === 3);
}

afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const openOnes = () => app.inChannel().filter((post) => post.buttons().length > 0);
const gaveWay = () => app.inChannel().filter((post) => post.text().includes(SETTLED_WORDS.gaveWay));
const idIn = (text = '') => `old-${/Old (\d+)/.exec(text)?.[1]}`;
const isOpen = (name: string) => openOnes().some((post) => post.text().includes(name));
/** The agent of a session goes on and asks something else. */
const asksAgain = (id: string) => app.ask(id, [{ title: 'Which size now?', description: 'One of: big, small' }]);

/** The first two reads of a session that begins to wait fail. */
async function waitingUnread(name = 'New chairs'): Promise<string> {
	const id = app.waiting(name);
	app.service.faults.add({ kind: 'error', sessionId: id, times: 2 });
	await app.until(() => app.service.log.reads(id).length > 0);
	return id;
}

async function handOverAll(): Promise<void> {
	for (const post of openOnes()) {
		await post.press('Hand over');
		const modal = await app.slack.as('ada').waitForModal('Hand over to');
		await modal.choose('Hand over to', 'grace');
		await modal.submit();
		await app.slack.as('ada').modal()?.close(true);
	}
	await app.until(() => openOnes().every((post) => post.text().includes('has it (from')));
}

describe('a session that asks again within ten minutes finds a place in a full channel', () => {
	it('after its question was answered elsewhere', async () => {
		await start(6);
		const id = idIn(openOnes()[0]?.text());
		const name = app.service.sessions.get(id)?.name ?? '';
		app.answerElsewhere(id, 0);
		await app.until(() => openOnes().length === 3 && !isOpen(name));
		await app.pass(30_000);
		asksAgain(id);
		await app.until(() => isOpen('Which size now?'));
	});

	it('after a press', async () => {
		await start(6);
		const [post] = openOnes();
		const id = idIn(post?.text());
		const name = app.service.sessions.get(id)?.name ?? '';
		await post?.press('red');
		await app.until(() => app.service.log.savedPuts(id).length === 1);
		app.service.sessions.setStatus(id, 'active');
		await app.until(() => openOnes().length === 3 && !isOpen(name));
		await app.pass(30_000);
		asksAgain(id);
		await app.until(() => isOpen('Which size now?'));
	});

	it('after it gave way and was answered on the page of the service', async () => {
		await start(3);
		const id = app.waiting('First');
		await app.postOf(id);
		for (const name of ['Second', 'Third', 'Fourth']) await app.postOf(app.waiting(name));
		await app.until(() => gaveWay().some((post) => post.text().includes('First')));
		app.answerElsewhere(id);
		await app.pass(30_000);
		asksAgain(id);
		await app.until(() => isOpen('Which size now?'));
	});

	it('and is new in the inbox, also when no list was without it', async () => {
		await start(14);
		const home = () => app.slack.as('ada').home()?.text() ?? '';
		await app.slack.as('ada').openApp('home');
		await app.until(() => home().includes('14 sessions have waited for more than a day'));
		app.answerElsewhere('old-13', 0);
		await app.until(() => home().includes('13 sessions have waited for more than a day'));
		await app.pass(30_000);
		asksAgain('old-13');
		await app.until(() => home().includes('Old 13'));
		// The one that gave way says so.
		await app.until(() => isOpen('Which size now?') && openOnes().length === 3);
		const id = idIn(openOnes()[0]?.text());
		app.service.sessions.push(id, asking('Or rather:', [item('Which size?', '')]));
		await app.until(() => home().includes(`“${app.service.sessions.get(id)?.name}”`));
		expect(home()).toContain('12 sessions have waited for more than a day');
	});
});

it('brings nothing again when the list is empty for hours and the old sessions come back', async () => {
	await start(6);
	await app.pass(MINUTE);
	const before = app.inChannel().length;
	for (let index = 0; index < 6; index += 1) app.service.list.hidden.add(`old-${index}`);
	await app.pass(31 * MINUTE);
	app.service.list.hidden.clear();
	await app.pass(3 * MINUTE);
	expect(gaveWay()).toEqual([]);
	expect(app.inChannel()).toHaveLength(before);
}, 60_000);

describe('a question beyond the limit', () => {
	it('takes no place when one became free before it stood', async () => {
		await start(3);
		const id = await waitingUnread();
		app.answerElsewhere(idIn(openOnes()[0]?.text()), 0);
		await app.until(() => app.asked(id).length === 1);
		await app.pass(MINUTE);
		expect(openOnes()).toHaveLength(3);
		expect(gaveWay()).toEqual([]);
	});

	it('takes one also when the program is started again before it stood', async () => {
		await start(3);
		for (const name of ['New chairs', 'New lamps']) {
			const id = await waitingUnread(name);
			await app.restart();
			await app.until(() => app.asked(id).length === 1);
		}
		await app.until(() => openOnes().length === 3);
		expect(isOpen('New chairs') && isOpen('New lamps')).toBe(true);
	});

	it('does not give way itself while people have all others in hand', async () => {
		await start(4);
		const id = await waitingUnread();
		await handOverAll();
		await app.until(() => app.asked(id).length === 1);
		await app.pass(MINUTE);
		expect(openOnes()).toHaveLength(4);
		expect(gaveWay()).toEqual([]);
	});

	it('takes the place of the stalest of another channel when the limit of all channels is reached', async () => {
		await start(3, { MAX_WATCHES_PER_CHANNEL: '100', MAX_WATCHES: '3' });
		await app.watchAll('', '#secret');
		await app.pass(20_000);
		const id = app.waiting('New chairs');
		await app.postOf(id, '#secret');
		await app.until(
			() => openOnes().length + app.inChannel('#secret').filter((post) => post.buttons().length > 0).length === 3,
		);
	});
});

it('leaves a question its place for a day after it was handed over', async () => {
	await start(4);
	await handOverAll();
	const id = app.waiting('New chairs');
	await app.pass(2 * MINUTE);
	expect(app.asked(id)).toEqual([]);
	await app.stop();
	await app.clock.advance(24 * 60 * MINUTE);
	await app.restart();
	await app.postOf(id);
	await app.until(() => gaveWay().length === 1);
});

it('says who answered on a post that gave way before it showed that', async () => {
	await start(3);
	const posts = openOnes();
	app.freezePosts();
	await app.postOf(app.waiting('New chairs'));
	await app.pass(20_000);
	for (const post of posts) {
		await post.press('red');
		await app.pass(1_000);
	}
	expect((await app.command('/session list')).text().match(/Old \d/g)).toHaveLength(2);
	app.slack.faults.clear();
	for (const post of posts) await app.until(() => answeredBy('ada', 'red').test(post.text()));
	for (const post of posts) expect(post.text()).not.toContain(SETTLED_WORDS.gaveWay);
	const saved = posts.map((post) => app.service.log.savedPuts(idIn(post.text())).length);
	expect(saved).toEqual([1, 1, 1]);
});
