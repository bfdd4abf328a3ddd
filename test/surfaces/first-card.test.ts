import { isOfBlocks } from '../../src/slack/blocks.ts';
import { MAYBE_REPEAT } from '../../src/slack/phrases.ts';
import {
	answeredBy,
	describe,
	discoveringApp,
	ended,
	expect,
	FEWEST_REQUESTS,
	forCase,
	item,
	openButtons,
	type Posted,
	SETTLED_MENU,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';

/* When the card of a watch comes, how long it offers to watch again, and what Slack refuses for its blocks. */

const MINUTE_MS = 60_000;
const it = withApp(() => watchingApp({ realRates: true, env: FEWEST_REQUESTS }));

/** What the channel is told of sessions. */
const told = (app: WatchingApp) => app.inChannel().filter((post) => !post.text().includes('changed the settings'));

describe('the card of a watch', () => {
	it('of a session that asks comes when its question is settled: until then the question stands alone', async ({
		app,
	}) => {
		const id = app.session();
		app.ask(id);
		const at = app.clock.now();
		await app.command(`/session watch ${id}`);
		const post = await app.until(() => told(app)[0]);
		expect(app.clock.now() - at).toBeLessThan(10_000);
		expect(post.buttons()).toContain('Answer…');
		await app.pass(10 * MINUTE_MS);
		expect(told(app).map(({ ts }) => ts)).toEqual([post.ts]);

		const answeredAt = app.clock.now();
		app.service.sessions.answerAsPage(id, ['Sand']);
		const card = await app.until(() => told(app)[1]);
		expect(app.clock.now() - answeredAt).toBeLessThan(MINUTE_MS);
		expect(card.buttons()).toContain('Stop watching');
		// What comes later has its one card.
		app.ask(id, ['Which size?']);
		await app.until(() => told(app)[2]?.text().includes('Which size?'));
		await app.pass(2 * MINUTE_MS);
		expect(told(app)).toHaveLength(3);
	});

	it('comes when the first of a chain of questions is settled', async ({ app }) => {
		const id = app.session();
		const first = app.ask(id, ['Which colour?']);
		await app.command(`/session watch ${id}`);
		await app.threadSays(id, 'Which colour?');
		await app.pass(2 * MINUTE_MS);
		expect(app.card(id)).toBeUndefined();
		app.service.sessions.answerAsPage(id, ['red'], first);
		app.ask(id, ['Which size?']);
		await app.threadSays(id, 'Which size?');
		await app.cardSays(id, 'Go to question');
	});

	it('of a session that asks nothing comes after a minute', async ({ app }) => {
		const id = app.session();
		const at = app.clock.now();
		await app.command(`/session watch ${id}`);
		await app.pass(55_000);
		expect(told(app)).toEqual([]);
		const card = await app.until(() => app.card(id));
		expect(app.clock.now() - at).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(app.clock.now() - at).toBeLessThan(MINUTE_MS + 10_000);
		await app.pass(MINUTE_MS);
		expect(told(app).map(({ ts }) => ts)).toEqual([card.ts]);
	});

	it('gives way to a question that is asked within the minute, also over a restart', async ({ app }) => {
		const id = app.session();
		await app.command(`/session watch ${id}`);
		await app.pass(20_000);
		await app.restart();
		app.ask(id);
		const post = await app.until(() => told(app)[0]);
		expect(post.text()).toContain('Which colour?');
		await app.pass(3 * MINUTE_MS);
		expect(told(app)).toHaveLength(1);
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.until(() => app.card(id));
		expect(told(app)).toHaveLength(2);
	});

	it.for([true, false])(
		'does not come after the end of its session, which another post tells; it asks: %s',
		async (asks, { app }) => {
			const id = app.session();
			if (asks) app.ask(id);
			await app.command(`/session watch ${id}`);
			if (asks) await app.until(() => told(app)[0]);
			await app.pass(10_000);
			app.service.sessions.setStatus(id, 'failed');
			const end = await app.until(() => told(app)[asks ? 1 : 0]);
			expect(end.text()).toContain('failed');
			await app.pass(3 * MINUTE_MS);
			expect(told(app)).toHaveLength(asks ? 2 : 1);
			expect(app.card(id)).toBeUndefined();
		},
	);

	it('comes when a session goes on that one read showed as over', async ({ app }) => {
		const id = app.session();
		app.ask(id);
		await app.command(`/session watch ${id}`);
		await app.until(() => app.thread(id)[0]);
		const reads = app.service.log.reads(id).length;
		app.service.sessions.setStatus(id, 'stopped');
		await app.until(() => app.service.log.reads(id).length > reads);
		app.service.sessions.setStatus(id, 'active');
		app.step(id, 'On it.');
		await app.until(() => app.card(id)?.buttons().includes('Stop watching'));
	});

	it('says nothing of a question that was answered', async ({ app }) => {
		const id = app.session();
		app.ask(id, [item('Which colour?', 'One of: Sand, Sky')]);
		await app.command(`/session watch ${id}`);
		const post = await app.until(() => told(app)[0]);
		await app.choose(post, 'Sand');
		const card = await app.until(() => app.card(id));
		expect(JSON.stringify([card.text(), card.editHistory()])).not.toMatch(/✋|asks/);
	});

	it('comes at once where the channel wants progress, unless the session asks', async ({ app }) => {
		await app.setPosts({ progress: true });
		const id = app.session();
		const at = app.clock.now();
		await app.command(`/session watch ${id}`);
		const card = await app.until(() => app.card(id));
		expect(app.clock.now() - at).toBeLessThan(10_000);
		app.service.sessions.setStatus(id, 'paused');
		await app.until(() => card.thread().some((post) => post.text().includes('paused')));
		const asking = app.session();
		app.ask(asking);
		await app.command(`/session watch ${asking}`);
		await app.pass(2 * MINUTE_MS);
		expect(app.card(asking)).toBeUndefined();
	});

	it('comes at once where its thread has the questions', async ({ app }) => {
		await app.setPosts({ questionsInThread: true });
		for (const asks of [false, true]) {
			const id = app.session();
			if (asks) app.ask(id);
			const at = app.clock.now();
			await app.command(`/session watch ${id}`);
			const card = await app.until(() => app.card(id));
			expect(app.clock.now() - at).toBeLessThan(10_000);
			if (asks) expect((await app.threadSays(id, 'Which colour?')).threadTs()).toBe(card.ts);
		}
	});

	it('does not come for a session that nobody watches any more', async ({ app }) => {
		const [quiet, asks] = [app.session(), app.session()];
		app.ask(asks);
		await app.command(`/session watch ${quiet} ${asks}`);
		const post = await app.until(() => told(app)[0]);
		await app.command(`/session unwatch ${quiet} ${asks}`);
		await app.until(() => openButtons(post)?.join() === 'Watch again');
		await app.pass(3 * MINUTE_MS);
		expect(told(app).map(({ ts }) => ts)).toEqual([post.ts]);
	});
});

describe('a question that stands in the channel already', () => {
	it('delays the word on a new watch by nothing', async () => {
		const other = await forCase(discoveringApp({ env: FEWEST_REQUESTS }));
		await other.watchAll();
		const id = other.waiting('Raised');
		await other.postOf(id);
		const at = other.clock.now();
		await other.command(`/session watch ${id}`);
		expect(other.clock.now() - at).toBeLessThan(1_000);
	});
});

describe('*Watch again*', () => {
	const offers = (card: Posted | undefined) => card?.buttons().includes('Watch again') === true;

	it('stands on the newest three ended cards of a channel only, also when a fourth is unwatched later', async ({
		app,
	}) => {
		const ids = [app.session(), app.session(), app.session(), app.session(), app.session()];
		const elsewhere = app.session();
		await app.command(`/session watch ${elsewhere}`, 'ada', '#secret');
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.until(() => ids.every((id) => app.card(id)) && app.card(elsewhere, '#secret'));
		const cards = ids.map((id) => app.card(id));
		const offered = () => cards.map(offers);
		await app.command(`/session unwatch ${elsewhere}`, 'ada', '#secret');
		for (const id of ids.slice(0, 3)) {
			await app.command(`/session unwatch ${id}`);
			await app.pass(1_000);
		}
		await app.until(() => offered().join() === 'true,true,true,false,false');
		await app.command(`/session unwatch ${ids[3]}`);
		await app.until(() => offered().join() === 'false,true,true,true,false');
		await app.pass(1_000);
		await app.command(`/session unwatch ${ids[4]}`);
		await app.until(() => offered().join() === 'false,false,true,true,true');
		await app.pass(MINUTE_MS);
		expect(offered()).toEqual([false, false, true, true, true]);
		// Another channel has its own.
		expect(offers(app.card(elsewhere, '#secret'))).toBe(true);
		for (const card of cards) expect(card?.text()).toContain(ended('unwatched'));

		await cards[2]?.press('Watch again');
		await app.until(() => app.card(ids[2] ?? '')?.ts !== cards[2]?.ts);
		expect(app.card(ids[2] ?? '')?.buttons()).toContain('Stop watching');
	});

	it('counts each session once, and no session that is watched again', async ({ app }) => {
		const ids = [app.session(), app.session(), app.session()];
		await app.command(`/session watch ${ids.join(' ')}`);
		await app.until(() => ids.every((id) => app.card(id)));
		const first = ids.map((id) => app.card(id));
		await app.unwatchAll();
		await app.until(() => first.every(offers));
		const again = ids[0] ?? '';
		for (let time = 0; time < 2; time += 1) {
			const former = app.card(again);
			await app.command(`/session watch ${again}`);
			await app.until(() => app.card(again)?.ts !== former?.ts);
			await app.command(`/session unwatch ${again}`);
			await app.until(() => offers(app.card(again)));
		}
		await app.pass(MINUTE_MS);
		expect(ids.map((id) => offers(app.card(id)))).toEqual([true, true, true]);
		expect(offers(first[0])).toBe(false);
	});
});

describe('a message that Slack refuses for its blocks', () => {
	const hasRichText = ({ blocks }: object & { blocks?: unknown }) =>
		JSON.stringify(blocks ?? null).includes('"type":"rich_text"');

	it.for(['invalid_blocks', 'invalid_blocks_format', 'msg_blocks_too_long', 'msg_too_long'])(
		'is one that is refused with %s',
		(error) => expect(isOfBlocks(error)).toBe(true),
	);

	it('goes out once more as plain text with its buttons, and is kept current', async ({ app }) => {
		const id = await app.watched();
		app.slack.faults.add({ method: 'chat.postMessage', error: 'invalid_blocks', when: hasRichText });
		app.slack.faults.add({ method: 'chat.update', error: 'msg_too_long', when: hasRichText });
		const from = app.now();
		app.ask(id, [item('Which *colour*?', 'One of: Sand, Sky')], 'Three are in <stock> & cheap.');
		const post = await app.threadSays(id, 'Which *colour*?');
		expect(app.calls('chat.postMessage', from)).toHaveLength(2);
		expect(post.blocks().map(({ type }) => type)).not.toContain('rich_text');
		expect(post.text()).toContain('Three are in <stock> & cheap.');
		expect(post.text()).not.toContain(MAYBE_REPEAT);
		expect(post.buttons()).toEqual(['Sand', 'Sky', 'Other answer…', ...app.MENU]);
		await app.choose(post, 'Sand');
		await app.threadSays(id, answeredBy('ada', 'Sand'));
		expect(post.buttons()).toEqual(SETTLED_MENU);
		expect(app.thread(id).map(({ ts }) => ts)).toEqual([post.ts]);
	});
});
