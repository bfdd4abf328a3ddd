import { afterEach, describe, expect, it } from 'vitest';
import { startHearingApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack, type FakeSlackOptions } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { sampleOrganisation, sampleWorkspace, withMembers } from './seed.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let clock: ManualClock;

const start = async (options: FakeSlackOptions = {}) => {
	clock = createManualClock();
	slack = await createFakeSlack({ clock, ...options });
};
afterEach(() => slack.close());

const list = (args: Json = {}) => callSlack(slack, 'users.list', args);
const names = ({ members }: Json) => (members as Json[]).map(({ name }) => String(name)).toSorted();
const cursorOf = (answer: Json) => (answer.response_metadata as { next_cursor: string }).next_cursor;

describe('users.list', () => {
	it('lists the workspace with guests, bots and those who left, without people of other organisations', async () => {
		await start();
		const answer = await list();
		expect(names(answer)).toEqual(['ada', 'dora', 'grace', 'gus', 'otherbot', 'sampleapp', 'una']);
		expect(answer).toMatchObject({ cache_ts: clock.now() / 1000, response_metadata: { next_cursor: '' } });
	});

	it('tells of each what users.info tells', async () => {
		await start();
		const { members } = (await list()) as { members: Json[] };
		for (const member of members) {
			expect((await callSlack(slack, 'users.info', { user: member.id })).user).toEqual(member);
		}
		const dora = members.find(({ name }) => name === 'dora') as Json;
		expect(dora).toEqual({ id: 'U0DORA', team_id: 'T0ACME', name: 'dora', updated: 0, deleted: true, is_bot: false });
	});

	it('gives pages', async () => {
		await start();
		const found: string[] = [];
		let cursor = '';
		const sizes: number[] = [];
		do {
			const answer = await list({ limit: '3', cursor });
			sizes.push((answer.members as Json[]).length);
			found.push(...names(answer));
			cursor = cursorOf(answer);
		} while (cursor !== '');
		expect(sizes).toEqual([3, 3, 1]);
		expect(found.toSorted()).toEqual(['ada', 'dora', 'grace', 'gus', 'otherbot', 'sampleapp', 'una']);
	});

	it('wants a limit of a large workspace', async () => {
		const many = Array.from({ length: 993 }, (_, index) => `p${index}`);
		await start({ workspace: withMembers(sampleWorkspace(), 'agents', many) });
		expect(await list()).toEqual({ ok: false, error: 'limit_required' });
		expect((await list({ limit: 999 })).members).toHaveLength(999);
	});

	it.each([0, -1, 1000, 'many', 1.5])('refuses a limit of %s', async (limit) => {
		await start();
		expect(await list({ limit })).toMatchObject({ error: 'invalid_limit' });
	});

	it('refuses a cursor of another list', async () => {
		await start();
		const other = cursorOf(await callSlack(slack, 'conversations.members', { channel: 'C0AGENTS', limit: 1 }));
		expect(await list({ cursor: other })).toMatchObject({ error: 'invalid_cursor' });
		expect(await list({ cursor: 'nonsense' })).toMatchObject({ error: 'invalid_cursor' });
	});

	it('needs users:read', async () => {
		await start({ settings: { scopes: ['commands'] } });
		expect(await list()).toMatchObject({ error: 'missing_scope', needed: 'users:read' });
	});

	it('lists its own workspace of an organisation', async () => {
		await start({ workspace: sampleOrganisation() });
		const own = await list({ team_id: 'T0APEX' });
		expect(names(own)).toContain('ada');
		expect(names(own)).toContain('hana');
		expect(names(own)).not.toContain('henry');
	});
});

describe('user_change', () => {
	const subscribed = (scopes = ['users:read']) => ({
		display_information: { name: 'Sample App' },
		oauth_config: { scopes: { bot: scopes } },
		settings: { event_subscriptions: { bot_events: ['user_change'] } },
	});
	let running: Awaited<ReturnType<typeof startHearingApp>>;
	afterEach(() => running.stop());
	const hear = async (options: FakeSlackOptions) => {
		await start(options);
		running = await startHearingApp(slack);
	};

	it('tells an app that is subscribed to it of each change of a person, with all that is known', async () => {
		await hear({ manifest: subscribed() });
		expect(slack.violations()).toEqual([]);
		await clock.advance(5000);
		await slack.changePerson('grace', { statusText: 'riding a train' });
		await slack.changePerson('grace', { realName: 'Grace B. Hopper', displayName: 'amazing' });
		await slack.changePerson('gus', { isRestricted: false });
		await slack.changePerson('grace', { deleted: true });
		const user = async (id: string) => (await callSlack(slack, 'users.info', { user: id })).user;
		expect(running.heard).toMatchObject([
			{
				type: 'event_callback',
				team_id: 'T0ACME',
				event: { type: 'user_change', user: { id: 'U0GRACE', profile: { status_text: 'riding a train' } } },
			},
			{ event: { user: { real_name: 'Grace B. Hopper', profile: { display_name: 'amazing' } } } },
			{ event: { user: await user('U0GUS') } },
			{ event: { user: await user('U0GRACE'), cache_ts: clock.now() / 1000, event_ts: expect.any(String) } },
		]);
		expect(await user('U0GUS')).toMatchObject({ is_restricted: false, updated: clock.now() / 1000 });
		expect(await user('U0GRACE')).toMatchObject({ deleted: true });
		expect(await user('U0ADA')).toMatchObject({ updated: 0, profile: { status_text: '' } });
	});

	it('tells an app without the subscription or the scope nothing', async () => {
		await hear({});
		await slack.changePerson('grace', { deleted: true });
		expect(slack.traffic.deliveries()).toEqual([]);
		slack.settings.events.push('user_change');
		slack.settings.scopes = ['commands'];
		await slack.changePerson('ada', { statusText: 'away' });
		expect(slack.traffic.deliveries()).toEqual([]);
		slack.settings.scopes.push('users:read');
		await slack.changePerson('ada', { statusText: 'back' });
		expect(running.heard).toHaveLength(1);
	});

	it('tells of people of the workspace only', async () => {
		await hear({ manifest: subscribed(), workspace: sampleOrganisation() });
		for (const person of ['eve', 'henry', 'hana']) await slack.changePerson(person, { statusText: 'away' });
		expect(running.heard.map(({ event }) => ((event as Json).user as Json).name)).toEqual(['hana']);
	});
});
