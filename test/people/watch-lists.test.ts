import { unwatchedAllWords } from '../../src/screens/watch.ts';
import { NOT_THERE } from '../../src/slack/error-view.ts';
import { describe, expect, type Posted, type WatchingApp, watchingApp, withApp } from '../kit.ts';

/* The buttons of `/session list` and `/session unwatch all` act on the channel of the list, on what it showed. */

const it = withApp(watchingApp);

const ada = (app: WatchingApp) => app.slack.as('ada');
const listIn = async (app: WatchingApp, channel: string) => (await app.command('/session list', 'ada', channel)).text();
const WATCHES_ONE = 'This channel watches one session.';
const NONE = unwatchedAllWords(0, false);

async function watchSome(app: WatchingApp, count: number, channel = '#agents', name = 'Order'): Promise<string[]> {
	const ids = Array.from({ length: count }, (_, at) => app.session({ name: `${name} ${at + 1}` }));
	await app.command(`/session watch ${ids.join(' ')}`, 'ada', channel);
	return ids;
}

/** What a command says in a direct message, because Slack takes its reply nowhere else. */
async function saidInDm(app: WatchingApp, line: string, channel: string): Promise<Posted> {
	app.slack.faults.add({ method: 'response_url', status: 500 });
	app.slack.faults.add({ method: 'chat.postEphemeral', error: 'not_in_channel' });
	const before = new Set(
		ada(app)
			.dm()
			.map(({ ts }) => ts),
	);
	await ada(app).command(channel, line);
	const told = await app.until(() =>
		ada(app)
			.dm()
			.find((one) => !before.has(one.ts) && one.buttons().length > 0),
	);
	app.slack.faults.clear();
	return told;
}

describe('a list that Slack takes as a direct message alone', () => {
	it('ends all of the channel that it asks about, and nothing of the direct message', async ({ app }) => {
		await watchSome(app, 2);
		await watchSome(app, 1, 'dm', 'Mine');
		const offer = await saidInDm(app, '/session unwatch all', '#agents');
		expect(offer.text()).toContain('End 2 watches here?');
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(2, false));
		expect(await listIn(app, '#agents')).toContain('This channel watches no session.');
		expect(await listIn(app, 'dm')).toContain(WATCHES_ONE);
	});

	it('shows the pages of its channel, and stops watching there', async ({ app }) => {
		await watchSome(app, 12);
		await watchSome(app, 1, 'dm', 'Mine');
		const list = await saidInDm(app, '/session list', '#agents');
		await list.press('More');
		await app.until(() => list.buttons().includes('Back'));
		expect(list.text()).not.toContain('Mine');
		await list.press('Stop watching');
		await app.until(() => list.text().includes('This channel watches 11 sessions.'));
		expect(await listIn(app, 'dm')).toContain(WATCHES_ONE);
	});

	it('does nothing for somebody who has left the channel since, and shows nothing of it', async ({ app }) => {
		await watchSome(app, 12, '#secret', 'Vault');
		const list = await saidInDm(app, '/session list', '#secret');
		const offer = await saidInDm(app, '/session unwatch all', '#secret');
		await ada(app).leave('#secret');
		await app.pass(10 * 60_000);
		const shown = list.text();
		for (const [message, label] of [
			[list, 'More'],
			[list, 'Stop watching'],
			[offer, 'End all'],
		] as const) {
			const told = await app.toldAfter(() => message.press(label), 'ada', 'dm');
			expect(told.text()).toContain(NOT_THERE);
		}
		expect(list.text()).toBe(shown);
		await app.slack.invite('#secret', 'ada');
		await app.pass(10 * 60_000);
		expect(await listIn(app, '#secret')).toContain('This channel watches 12 sessions.');
	});
});

describe('*End all*', () => {
	it('asks again when more is watched than it asked about', async ({ app }) => {
		await watchSome(app, 2);
		const offer = await app.command('/session unwatch all');
		await app.pass(1_000);
		await watchSome(app, 1, '#agents', 'Later');
		await offer.press('End all');
		await app.until(() => offer.text().includes('End 3 watches here?'));
		expect(await listIn(app, '#agents')).toContain('This channel watches 3 sessions.');
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(3, false));
	});

	it('asks again when another session is watched in place of one that it asked about', async ({ app }) => {
		const [first = ''] = await watchSome(app, 1);
		const offer = await app.command('/session unwatch all');
		await app.command(`/session unwatch ${first}`);
		await app.pass(1_000);
		await watchSome(app, 1, '#agents', 'Later');
		await offer.press('End all');
		await app.pass(5_000);
		expect(offer.buttons()).toEqual(['End all', 'No']);
		expect(await listIn(app, '#agents')).toContain('Later');
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(1, false));
	});

	it('ends what is left when less is watched by now', async ({ app }) => {
		const [first = ''] = await watchSome(app, 2);
		const offer = await app.command('/session unwatch all');
		await app.command(`/session unwatch ${first}`);
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(1, false));
	});

	it('says once what it has ended, also when it is pressed twice', async ({ app }) => {
		await watchSome(app, 3);
		const offer = await app.command('/session unwatch all');
		const told = await app.toldAfter(() => Promise.all([offer.press('End all'), offer.press('End all')]));
		expect(told.text()).toBe(NONE);
		await app.pass(5_000);
		expect(offer.text()).toBe(unwatchedAllWords(3, false));
	});
});

describe('*Stop watching* in a list', () => {
	it('stays on its page while that has sessions', async ({ app }) => {
		await watchSome(app, 12);
		const list = await app.command('/session list');
		await list.press('More');
		await app.until(() => list.buttons().at(-1) === 'Back');
		await list.press('Stop watching');
		await app.until(() => list.text().includes('This channel watches 11 sessions.'));
		expect(list.buttons()).toEqual(['Stop watching', 'Back']);
		await list.press('Stop watching');
		await app.until(() => list.text().includes('This channel watches 10 sessions.'));
		expect(list.buttons()).toEqual(Array.from({ length: 10 }, () => 'Stop watching'));
	});
});
