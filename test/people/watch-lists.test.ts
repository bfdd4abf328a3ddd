import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Posted } from '../../fake-slack/index.ts';
import { unwatchedAllWords } from '../../src/screens/watch.ts';
import { NOT_THERE } from '../../src/slack/error-view.ts';
import { expectNothingWrong, type WatchingApp, watchingApp } from '../sessions/harness.ts';

/* The buttons of `/session list` and `/session unwatch all` act on the channel of the list, on what it showed. */

let app: WatchingApp;
beforeAll(async () => {
	app = await watchingApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.faults.clear();
	for (const channel of ['#agents', '#secret', 'dm']) await app.unwatchAll(channel);
	expectNothingWrong(app);
});

const ada = () => app.slack.as('ada');
const listIn = async (channel: string) => (await app.command('/session list', 'ada', channel)).text();
const WATCHES_ONE = 'This channel watches one session.';
const NONE = unwatchedAllWords(0, false);

async function watchSome(count: number, channel = '#agents', name = 'Order'): Promise<string[]> {
	const ids = Array.from({ length: count }, (_, at) => app.session({ name: `${name} ${at + 1}` }));
	await app.command(`/session watch ${ids.join(' ')}`, 'ada', channel);
	return ids;
}

/** What a command says in a direct message, because Slack takes its reply nowhere else. */
async function saidInDm(line: string, channel: string): Promise<Posted> {
	app.slack.faults.add({ method: 'response_url', status: 500 });
	app.slack.faults.add({ method: 'chat.postEphemeral', error: 'not_in_channel' });
	const before = new Set(
		ada()
			.dm()
			.map(({ ts }) => ts),
	);
	await ada().command(channel, line);
	const told = await app.until(() =>
		ada()
			.dm()
			.find((one) => !before.has(one.ts) && one.buttons().length > 0),
	);
	app.slack.faults.clear();
	return told;
}

describe('a list that Slack takes as a direct message alone', () => {
	it('ends all of the channel that it asks about, and nothing of the direct message', async () => {
		await watchSome(2);
		await watchSome(1, 'dm', 'Mine');
		const offer = await saidInDm('/session unwatch all', '#agents');
		expect(offer.text()).toContain('End 2 watches here?');
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(2, false));
		expect(await listIn('#agents')).toContain('This channel watches no session.');
		expect(await listIn('dm')).toContain(WATCHES_ONE);
	});

	it('shows the pages of its channel, and stops watching there', async () => {
		await watchSome(12);
		await watchSome(1, 'dm', 'Mine');
		const list = await saidInDm('/session list', '#agents');
		await list.press('More');
		await app.until(() => list.buttons().includes('Back'));
		expect(list.text()).not.toContain('Mine');
		await list.press('Stop watching');
		await app.until(() => list.text().includes('This channel watches 11 sessions.'));
		expect(await listIn('dm')).toContain(WATCHES_ONE);
	});

	it('does nothing for somebody who has left the channel since, and shows nothing of it', async () => {
		await watchSome(12, '#secret', 'Vault');
		const list = await saidInDm('/session list', '#secret');
		const offer = await saidInDm('/session unwatch all', '#secret');
		await ada().leave('#secret');
		try {
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
		} finally {
			await app.slack.invite('#secret', 'ada');
		}
		await app.pass(10 * 60_000);
		expect(await listIn('#secret')).toContain('This channel watches 12 sessions.');
	});
});

describe('*End all*', () => {
	it('asks again when more is watched than it asked about', async () => {
		await watchSome(2);
		const offer = await app.command('/session unwatch all');
		await app.pass(1_000);
		await watchSome(1, '#agents', 'Later');
		await offer.press('End all');
		await app.until(() => offer.text().includes('End 3 watches here?'));
		expect(await listIn('#agents')).toContain('This channel watches 3 sessions.');
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(3, false));
	});

	it('asks again when another session is watched in place of one that it asked about', async () => {
		const [first = ''] = await watchSome(1);
		const offer = await app.command('/session unwatch all');
		await app.command(`/session unwatch ${first}`);
		await app.pass(1_000);
		await watchSome(1, '#agents', 'Later');
		await offer.press('End all');
		await app.pass(5_000);
		expect(offer.buttons()).toEqual(['End all', 'No']);
		expect(await listIn('#agents')).toContain('Later');
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(1, false));
	});

	it('ends what is left when less is watched by now', async () => {
		const [first = ''] = await watchSome(2);
		const offer = await app.command('/session unwatch all');
		await app.command(`/session unwatch ${first}`);
		await offer.press('End all');
		await app.until(() => offer.text() === unwatchedAllWords(1, false));
	});

	it('says once what it has ended, also when it is pressed twice', async () => {
		await watchSome(3);
		const offer = await app.command('/session unwatch all');
		const told = await app.toldAfter(() => Promise.all([offer.press('End all'), offer.press('End all')]));
		expect(told.text()).toBe(NONE);
		await app.pass(5_000);
		expect(offer.text()).toBe(unwatchedAllWords(3, false));
	});

	it('says so where others have ended all', async () => {
		await watchSome(1);
		const offer = await app.command('/session unwatch all');
		await app.unwatchAll('#agents', 'grace');
		const told = await app.toldAfter(() => offer.press('End all'));
		expect(told.text()).toBe(NONE);
	});
});

describe('*Stop watching* in a list', () => {
	it('stays on its page while that has sessions', async () => {
		await watchSome(12);
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
