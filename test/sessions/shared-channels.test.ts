import { placeWords } from '../../src/slack/phrases.ts';
import { plainWords } from '../../src/slack/rich-text.ts';
import {
	type AppOptions,
	describe,
	expect,
	FEWEST_REQUESTS,
	forCase,
	sampleOrganisation,
	WATCHING,
	type WatchingApp,
	watchingApp,
	whatHappened,
	withApp,
} from '../kit.ts';
import { auditRows } from '../support/audit-rows.ts';

const OTHER = 'T0OTHER';
const EVERY_MS = 3 * 60_000;
const SHARED = 'Another organisation can read this channel, or is invited to it';

const begin = (options: AppOptions = {}) =>
	watchingApp({ realRates: true, ...options, env: { ...FEWEST_REQUESTS, ...options.env } });
const start = (options: AppOptions = {}) => forCase(begin(options));
const it = withApp(begin);

/** The direct messages to this person about the session. */
const dms = (app: WatchingApp, who: string, words: string) => app.slack.as(who).dm(words);
const told = (app: WatchingApp, who: string, words = SHARED) => app.until(() => dms(app, who, words)[0]);
const listings = (app: WatchingApp, from = 0) => app.calls('users.conversations', from);

/** Every call that posts into the channel since then, also those that Slack refused. */
function writtenInto(app: WatchingApp, channel: string, from: number): unknown[] {
	return ['chat.postMessage', 'chat.update'].flatMap((method) =>
		app
			.calls(method, from)
			.map(({ request }) => request)
			.filter((request) => (request as { channel?: unknown }).channel === channel),
	);
}

/** The agent works and asks for some minutes, and nothing is posted in the channel. */
async function expectSilence(app: WatchingApp, id: string, from: number, channel = 'C0AGENTS'): Promise<void> {
	const reads = app.service.log.reads(id).length;
	app.step(id, 'I look further.');
	app.ask(id);
	await app.pass(2 * EVERY_MS);
	expect(writtenInto(app, channel, from)).toEqual([]);
	// One may have been under way.
	expect(app.service.log.reads(id).length - reads).toBeLessThanOrEqual(1);
}

/** Drops Slack's events, as if Slack could not deliver them. */
function deaf(app: WatchingApp): void {
	app.slack.settings.events = app.slack.settings.events.filter((name) => !/shared|id_changed/.test(name));
}

describe('a watched channel that is shared with another organisation', () => {
	it('posts nothing in a channel from the moment it is shared, and tells the creators', async () => {
		const app = await start({ env: { ADMIN_CONTACT: 'the help desk' } });
		const id = await app.watched();
		const other = app.session();
		await app.watch(other, { who: 'grace' });
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.pass(5_000);
		const from = app.now();
		await app.slack.share('#agents', OTHER);
		const dm = await told(app, 'ada');
		expect(dm.text()).toContain(id);
		expect(dm.text()).toContain('#agents');
		expect(dm.text()).toContain('What it posted there before stays, and they can read it: ask a workspace admin');
		expect(dm.text()).toContain('ask the help desk');
		expect((await told(app, 'grace')).text()).toContain(other);
		expect(listings(app)).toEqual([]);
		await expectSilence(app, id, from);
		expect(dms(app, 'ada', SHARED)).toHaveLength(1);
		expect(auditRows(app.dataDir, 'unwatched')).toMatchObject(
			[id, other].map((session) => ({ session, channel: 'C0AGENTS', outcome: 'channelShared' })),
		);
		const again = await app.command(`/session watch ${id}`);
		expect(again.text()).toContain(whatHappened('watch_external'));
		// Sharing that ends needs nothing: whoever wants to watches again.
		await app.slack.unshare('#agents', OTHER);
		expect((await app.command(`/session watch ${id}`)).text()).toContain(WATCHING);
	});

	it.each([
		['shared', (app: WatchingApp) => app.slack.share('#agents', OTHER)],
		['open to another organisation that is invited', (app: WatchingApp) => app.slack.inviteOrganisation('#agents')],
	])('finds within three minutes and without an event that a channel is %s', async (_, share) => {
		const app = await start();
		const id = await app.watched();
		deaf(app);
		await share(app);
		const from = app.now();
		const sharedAt = app.clock.now();
		await told(app, 'ada');
		expect(app.clock.now() - sharedAt).toBeLessThan(EVERY_MS + 5_000);
		await expectSilence(app, id, from);
		expect(listings(app, from)[0]?.request).toMatchObject({ types: 'public_channel,private_channel', limit: '200' });
		expect(await app.said()).toMatch(/handraise_channel_checks_total\{outcome="complete"\} [1-9]/);
	});

	it('finds a shared channel at the start before any post', async ({ app }) => {
		const id = await app.watched();
		const ended = await app.watched();
		// What waits to be posted while Slack takes no posts waits over the stop, that of a session that is over too.
		const lifts = ['chat.postMessage', 'chat.update'].map((method) => app.slack.faults.rateLimit(method));
		app.ask(id);
		app.service.sessions.setStatus(ended, 'completed');
		await app.pass(30_000);
		expect(app.thread(id)).toEqual([]);
		expect(app.thread(ended)).toEqual([]);
		await app.stop();
		await app.slack.share('#agents', OTHER);
		for (const lift of lifts) lift();
		const from = app.now();
		await app.clock.advance(300_000);
		await app.restart();
		const dm = await told(app, 'ada');
		expect(dm.text()).toContain(id);
		await app.pass(60_000);
		expect(writtenInto(app, 'C0AGENTS', from)).toEqual([]);
	});

	it('keeps watches of a shared channel while ALLOW_EXTERNAL allows it, and ends them at the start after that', async () => {
		const app = await start({ env: { ALLOW_EXTERNAL: 'true' } });
		const id = await app.watched();
		await app.slack.share('#agents', OTHER);
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.pass(2 * EVERY_MS);
		expect(listings(app)).toEqual([]);
		expect(dms(app, 'ada', id)).toEqual([]);
		await app.restart({ ALLOW_EXTERNAL: 'false' });
		const from = app.now();
		await told(app, 'ada');
		await expectSilence(app, id, from);
	});

	it('ends the watches under the former id when a private channel is shared', async () => {
		const secret = { id: 'G0SECRET', name: 'secret', members: ['U0ADA', 'U0BOT'], isPrivate: true };
		const organisation = sampleOrganisation();
		const channels = organisation.channels.filter(({ name }) => name !== 'secret');
		const made = { ...secret, isIm: false, isArchived: false, isExtShared: false };
		const app = await start({ slack: { workspace: { ...organisation, channels: [...channels, made] } } });
		const id = app.session();
		await app.watch(id, { channel: '#secret' });
		await app.pass(5_000);
		const from = app.now();
		await app.slack.inviteOrganisation('#secret');
		await told(app, 'ada');
		await expectSilence(app, id, from, 'G0SECRET');
		expect(writtenInto(app, 'C0SECRET', from)).toEqual([]);
	});
});

describe('looking for shared channels', () => {
	it('reads all pages of channels, however short, and uses a page when the next one fails', async () => {
		const app = await start({ slack: { settings: { conversationsPageSize: 1 } } });
		const id = app.session();
		await app.watch(id, { channel: '#secret' });
		deaf(app);
		await app.slack.share('#secret', OTHER);
		const from = app.now();
		await told(app, 'ada');
		const cursors = listings(app, from).map(({ request }) => (request as { cursor?: string }).cursor);
		expect(cursors[0]).toBeUndefined();
		expect(new Set(cursors).size).toBe(cursors.length);
		expect(cursors.length).toBeGreaterThan(1);
		app.slack.faults.add({
			method: 'users.conversations',
			error: 'internal_error',
			when: ({ cursor }) => cursor !== undefined,
		});
		const other = await app.watched();
		await app.slack.share('#agents', OTHER);
		await app.until(() => dms(app, 'ada', other)[0]);
	});

	it('waits as long as Slack says, and continues with the same page of channels', async () => {
		const app = await start({ slack: { settings: { conversationsPageSize: 1 } } });
		const id = app.session();
		await app.watch(id, { channel: '#secret' });
		deaf(app);
		await app.slack.share('#secret', OTHER);
		app.slack.faults.add({
			method: 'users.conversations',
			status: 429,
			retryAfter: 77,
			times: 1,
			when: ({ cursor }) => cursor !== undefined,
		});
		const from = app.now();
		await app.until(() => listings(app, from).length === 2);
		const limitedAt = app.clock.now();
		expect(dms(app, 'ada', SHARED)).toEqual([]);
		await told(app, 'ada');
		expect(app.clock.now() - limitedAt).toBeGreaterThanOrEqual(77_000);
		const [, limited, resumed] = listings(app, from).map(({ request }) => request);
		expect(resumed).toEqual(limited);
	});

	it('ends no watch whatever is wrong with a page of channels, and tries again', async ({ app }) => {
		const id = await app.watched();
		for (const [name, fault] of Object.entries({
			fails: { error: 'internal_error' },
			'gets no answer': { drop: true },
			'is not permitted': { error: 'missing_scope' },
			'names no channels': { answer: {} },
			'leaves our channel out': { answer: { channels: [] } },
			'is followed by itself': { answer: { channels: [], response_metadata: { next_cursor: 'same' } } },
			'says nothing of sharing': { answer: { channels: [{ id: 'C0AGENTS', is_shared: true }, {}] } },
		})) {
			const from = app.now();
			const lift = app.slack.faults.add({ method: 'users.conversations', ...fault });
			await app.until(() => listings(app, from).length >= 2, undefined, 3 * EVERY_MS);
			app.ask(id, [`Colour when one ${name}?`]);
			await app.threadSays(id, `Colour when one ${name}?`);
			expect(dms(app, 'ada', id), name).toEqual([]);
			await app.pass(10_000);
			expect(listings(app, from).length, name).toBeLessThan(10);
			lift();
		}
		deaf(app);
		await app.slack.share('#agents', OTHER);
		await told(app, 'ada');
	});

	it('posts at the start when Slack cannot list channels', async ({ app }) => {
		const id = await app.watched();
		await app.stop();
		app.ask(id);
		app.slack.faults.add({ method: 'users.conversations', drop: true });
		await app.restart();
		await app.threadSays(id, 'Which colour?');
	});
});

describe('a channel of several workspaces of the own organisation', () => {
	const workspace = sampleOrganisation();

	it('keeps watches of a channel shared inside the organisation', async () => {
		const app = await start({ slack: { workspace } });
		const id = app.session();
		expect((await app.command(`/session watch ${id}`, 'ada', '#together')).text()).toContain(WATCHING);
		await app.until(() => app.card(id, '#together'));
		const event = { type: 'channel_shared', connected_team_id: 'T0APEX', channel: 'C0TOGETHER', event_ts: '1.0' };
		await app.slack.deliver({
			kind: 'events_api',
			name: 'channel_shared',
			payload: { type: 'event_callback', team_id: 'T0ACME', event_id: 'Ev1', api_app_id: 'A0APP', event },
			acceptsPayload: false,
		});
		await app.pass(2 * EVERY_MS);
		expect(listings(app).length).toBeGreaterThan(0);
		app.ask(id);
		const post = await app.threadSays(id, 'Which colour?', '#together');
		expect(dms(app, 'ada', id)).toEqual([]);
		// People of the other workspaces read it; the access policy decides whether they act.
		const henrys = app.seenBy('henry', post);
		expect(henrys.text()).toContain('Which colour?');
		await henrys.press('Answer…');
		const modal = await app.until(() => {
			const shown = app.slack.as('henry').modal();
			return shown?.text().includes(whatHappened('external')) === true && shown;
		});
		expect(modal.submitText()).toBeNull();
	});

	it('ends watches of a channel inside the organisation when another organisation joins', async () => {
		const app = await start({ slack: { workspace } });
		const id = app.session();
		await app.watch(id, { channel: '#together' });
		await app.slack.share('#together', OTHER);
		await told(app, 'ada');
		expect((await app.command(`/session watch ${id}`, 'ada', '#together')).text()).toContain(
			whatHappened('watch_external'),
		);
	});

	it("refuses to watch when Slack's sharing flags contradict each other", async () => {
		const app = await start({ slack: { workspace } });
		const id = app.session();
		const channel = { id: 'C0AGENTS', is_member: true, is_shared: true, is_ext_shared: false, is_org_shared: false };
		app.slack.faults.add({
			method: 'conversations.info',
			answer: { channel: { ...channel, is_pending_ext_shared: false } },
		});
		expect((await app.command(`/session watch ${id}`)).text()).toContain(whatHappened('watch_unclear_sharing'));
		await app.pass(5_000);
		expect(app.card(id)).toBeUndefined();
	});
});

it('ends watches outside a narrowed ALLOWED_CHANNELS at the start, also in direct messages', async () => {
	const app = await start({ env: { ADMIN_CONTACT: 'U0GRACE' } });
	const [agents, secret, dm] = [await app.watched(), app.session(), app.session()];
	await app.command(`/session watch ${secret}`, 'ada', '#secret');
	await app.command(`/session watch ${dm}`, 'ada', 'dm');
	await app.until(() => app.card(secret, '#secret') && app.card(dm, 'dm'));
	await app.pass(5_000);
	const from = app.now();
	await app.restart({ ALLOWED_CHANNELS: 'C0AGENTS' });
	const words = 'Handraise is no longer allowed there';
	await app.until(() => dms(app, 'ada', words).length === 2);
	const [one, other] = dms(app, 'ada', words).map((message) => message.text());
	expect([one, other].join('\n')).toContain(secret);
	expect([one, other].join('\n')).toMatch(new RegExp(`${dm}.* in ${plainWords(placeWords('D'))} has ended`));
	expect(one).toMatch(/ask @grace|<@U0GRACE>|Grace/);
	await expectSilence(app, secret, from, 'C0SECRET');
	app.ask(dm);
	app.ask(agents);
	await app.threadSays(agents, 'Which colour?');
	await app.pass(10_000);
	expect(app.thread(dm, 'dm').filter((post) => post.text().includes('Which colour?'))).toEqual([]);
	expect(dms(app, 'ada', agents)).toEqual([]);
});
