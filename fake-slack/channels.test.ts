import type { App } from '@slack/bolt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningApp, startBoltApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let running: RunningApp;
let heard: Json[];

beforeEach(async () => {
	heard = [];
	slack = await createFakeSlack();
	running = await startBoltApp(slack, 'socket', (app: App) => {
		app.use(async ({ body, next }) => {
			heard.push(body as unknown as Json);
			await next();
		});
		app.command(/.*/, async ({ ack, respond }) => {
			await ack();
			await respond('Done');
		});
	});
});
afterEach(async () => {
	await running.stop();
	await slack.close();
});

const events = () => heard.map((body) => body.event as Json);
const post = (channel: string) => callSlack(slack, 'chat.postMessage', { channel, text: 'card' });

describe('channels', () => {
	it('deletes a channel: tells the app where it was a member, and no longer knows its id', async () => {
		await post('C0AGENTS');
		await slack.deleteChannel('#agents');
		await slack.deleteChannel('#secret');
		await slack.deleteChannel('#general');
		expect(events()).toMatchObject([
			{ type: 'channel_deleted', channel: 'C0AGENTS' },
			{ type: 'group_deleted', channel: 'C0SECRET' },
		]);
		expect(await post('C0AGENTS')).toMatchObject({ error: 'channel_not_found' });
		const facts = await callSlack(slack, 'conversations.info', { channel: 'C0AGENTS' });
		expect(facts).toMatchObject({ error: 'channel_not_found' });
		expect(slack.snapshot().messages).toEqual([]);
	});

	it('tells of people who join a channel once, with the channel’s kind', async () => {
		await slack.invite('#agents', 'grace');
		await slack.invite('#secret', 'grace');
		await slack.remove('#agents', 'sampleapp');
		await slack.invite('#agents', 'sampleapp');
		expect(events()).toMatchObject([
			{ type: 'member_joined_channel', user: 'U0GRACE', channel: 'C0SECRET', inviter: 'U0ADA' },
			{ type: 'channel_left' },
			{ type: 'member_joined_channel', user: 'U0BOT', channel: 'C0AGENTS', inviter: 'U0ADA' },
		]);
	});

	it('tells of a person who leaves and joins by themselves, without an inviter', async () => {
		await slack.as('ada').leave('#agents');
		await expect(slack.as('ada').say('#agents', 'still here?')).rejects.toThrow('is not in');
		await slack.as('ada').join('#agents');
		await slack.as('ada').join('#agents');
		const facts = { user: 'U0ADA', channel: 'C0AGENTS', channel_type: 'C', team: 'T0ACME' };
		const event_ts = expect.any(String);
		expect(events()).toEqual([
			{ type: 'member_left_channel', ...facts, event_ts },
			{ type: 'member_joined_channel', ...facts, event_ts },
		]);
	});

	it('tells nobody’s coming and going without subscription, scope or the bot in the channel', async () => {
		const { settings } = slack;
		await slack.as('grace').leave('#shared');
		settings.events = settings.events.filter((event) => event !== 'member_joined_channel');
		await slack.as('grace').join('#shared');
		settings.scopes = settings.scopes.filter((scope) => scope !== 'groups:read');
		await slack.invite('#secret', 'grace');
		await slack.as('grace').leave('#secret');
		await slack.remove('#agents', 'sampleapp');
		await slack.as('ada').leave('#agents');
		expect(events().map(({ type, channel }) => [type, channel])).toEqual([
			['member_left_channel', 'C0SHARED'],
			['channel_left', 'C0AGENTS'],
		]);
	});

	it('does not tell private channels by channel_type, which is the first letter of the id', async () => {
		const channel = slack.state.channels.find((one) => one.id === 'C0SECRET');
		await slack.invite('#secret', 'grace');
		if (channel) channel.id = 'G0SECRET';
		await slack.as('grace').leave('#secret');
		expect(events()).toMatchObject([{ channel_type: 'C' }, { channel: 'G0SECRET', channel_type: 'G' }]);
	});

	it.each([
		['grace', 'join', '#secret', 'needs an invitation'],
		['una', 'join', '#general', 'needs an invitation'],
		['eve', 'join', '#general', 'needs an invitation'],
		['gus', 'join', '#old', 'archived'],
		['ada', 'leave', '#old', 'archived'],
		['ada', 'leave', '#general', 'Nobody can leave'],
		['ada', 'leave', '#vault', 'last member'],
		['gus', 'leave', '#agents', 'Guests'],
		['eve', 'leave', '#agents', 'is not in'],
		['ada', 'leave', '@grace', 'direct message'],
	] as const)('does not let %s %s %s', async (person, act, channel, reason) => {
		const before = slack.snapshot().channels.find((one) => `#${one.name}` === channel)?.members;
		await expect(slack.as(person)[act](channel)).rejects.toThrow(reason);
		expect(slack.snapshot().channels.find((one) => `#${one.name}` === channel)?.members).toEqual(before);
		expect(heard).toEqual([]);
	});

	it('tells of a channel under the scope of its kind', async () => {
		slack.settings.scopes = slack.settings.scopes.filter((scope) => !scope.startsWith('groups:'));
		slack.settings.events.push('message.groups');
		await slack.as('ada').say('#secret', 'hello');
		await slack.archive('#secret');
		expect(slack.traffic.deliveries()).toEqual([]);
		slack.settings.scopes.push('groups:read', 'groups:history');
		await slack.archive('#secret', false);
		await slack.as('ada').say('#secret', 'hello');
		expect(events()).toMatchObject([{ type: 'group_unarchive' }, { type: 'message', channel_type: 'group' }]);
	});

	it('takes channels out of the archive, private ones too', async () => {
		for (const channel of ['#agents', '#secret']) {
			await slack.archive(channel);
			await slack.archive(channel, false);
		}
		expect(events().map((event) => event.type)).toEqual([
			'channel_archive',
			'channel_unarchive',
			'group_archive',
			'group_unarchive',
		]);
		expect(await post('C0SECRET')).toMatchObject({ ok: true });
	});

	it('shares a channel with another organisation, and removes its people when it is unshared', async () => {
		await slack.inviteOrganisation('#agents');
		await slack.share('#agents', 'T0OTHER');
		await slack.invite('#agents', 'eve');
		await slack.share('#secret', 'T0OTHER');
		const shared = await callSlack(slack, 'conversations.info', { channel: 'C0AGENTS' });
		expect(shared).toMatchObject({
			channel: { is_ext_shared: true, is_pending_ext_shared: false, shared_team_ids: ['T0ACME', 'T0OTHER'] },
		});
		await slack.unshare('#agents', 'T0OTHER');
		expect(events()).toMatchObject([
			{ type: 'channel_shared', connected_team_id: 'T0OTHER', channel: 'C0AGENTS' },
			{ type: 'member_joined_channel', user: 'U0EVE', team: 'T0OTHER' },
			{ type: 'channel_shared', channel: 'C0SECRET' },
		]);
		await expect(slack.as('eve').say('#agents', 'still here?')).rejects.toThrow('is not in');
	});

	it('lists a channel with its pending invitation of another organisation, without an event', async () => {
		const flags = async () => {
			const { channels } = await callSlack(slack, 'users.conversations', { types: 'public_channel,private_channel' });
			const found = (channels as Json[]).find(({ id }) => id === 'C0SECRET');
			return [found?.is_ext_shared, found?.is_pending_ext_shared];
		};
		expect(await flags()).toEqual([false, false]);
		await slack.inviteOrganisation('#secret');
		expect(await flags()).toEqual([false, true]);
		await slack.inviteOrganisation('#secret', false);
		expect(await flags()).toEqual([false, false]);
		await slack.share('#secret', 'T0OTHER');
		expect(await flags()).toEqual([true, false]);
		expect(events().map(({ type }) => type)).toEqual(['channel_shared']);
	});

	it('changes the id of a channel from before 2021 when somebody starts to share it', async () => {
		const channel = slack.state.channels.find((one) => one.id === 'C0SECRET');
		if (channel) channel.id = 'G0SECRET';
		const before = await slack.as('ada').say('#secret', 'hello');
		expect(before.channel).toBe('G0SECRET');
		await slack.inviteOrganisation('#secret');
		expect(events()).toMatchObject([
			{ type: 'channel_id_changed', old_channel_id: 'G0SECRET', new_channel_id: 'C0SECRET' },
		]);
		expect(await post('G0SECRET')).toMatchObject({ error: 'channel_not_found' });
		expect(slack.as('ada').messages('#secret')[0]?.text()).toBe('hello');
		await slack.share('#secret', 'T0OTHER');
		expect(events().map(({ type }) => type)).toEqual(['channel_id_changed', 'channel_shared']);
	});

	it('lists channels in pages that may be shorter than requested', async () => {
		slack.settings.conversationsPageSize = 2;
		const { channels } = await callSlack(slack, 'users.conversations', { limit: 200 });
		expect(channels).toMatchObject([{ id: 'C0AGENTS' }, { id: 'C0OLD' }]);
	});
});

describe('direct messages', () => {
	it('keeps direct messages between people from the app, but not commands typed there', async () => {
		const said = await slack.as('ada').say('@grace', 'lunch?');
		expect(slack.as('grace').messages('@ada')[0]?.text()).toBe('lunch?');
		expect(heard).toEqual([]);
		expect(await slack.as('ada').command('@grace', '/demo')).toEqual({ ok: true, error: null });
		expect(heard[0]).toMatchObject({ channel_id: said.channel, channel_name: 'directmessage' });
		expect((await slack.as('ada').waitForMessage('@grace', 'Done')).isEphemeral()).toBe(true);
		expect(await post(said.channel)).toMatchObject({ error: 'channel_not_found' });
		expect(slack.as('gus').messages('@grace')).toEqual([]);
		expect(slack.as('ada').dm()).toEqual([]);
	});

	it('opens a direct message of exactly the people asked for', async () => {
		const pair = await slack.as('ada').say('@grace', 'you');
		const three = await slack.as('ada').say('@grace @gus', 'you two');
		const four = await slack.as('ada').say('@grace @gus @una', 'you three');
		expect(new Set([pair.channel, three.channel, four.channel]).size).toBe(3);
		expect((await slack.as('gus').say('@ada @grace', 'back')).channel).toBe(three.channel);
		slack.settings.scopes.push('mpim:write');
		const nine = Array.from({ length: 9 }, () => 'U0ADA').join(',');
		expect(await callSlack(slack, 'conversations.open', { users: nine })).toMatchObject({ error: 'too_many_users' });
	});

	it('delivers messages of a group to the app only as a member, under their own scope and event', async () => {
		slack.settings.events.push('message.mpim');
		slack.settings.scopes.push('mpim:history', 'mpim:write');
		const group = await slack.as('ada').say('@grace @gus', 'lunch?');
		expect(group.channel).toMatch(/^G/);
		expect(heard).toEqual([]);
		const opened = await callSlack(slack, 'conversations.open', { users: 'U0ADA,U0GRACE' });
		const { id } = opened.channel as { id: string };
		expect(await post(id)).toMatchObject({ ok: true });
		await slack.as('grace').say('@ada @sampleapp', 'three of us');
		await slack.changes.until(
			() => events().find((event) => event.user === 'U0GRACE'),
			() => JSON.stringify(heard),
		);
		expect(events().at(-1)).toMatchObject({ channel: id, channel_type: 'mpim' });
		const info = await callSlack(slack, 'conversations.info', { channel: id });
		expect(info).toMatchObject({ error: 'missing_scope', needed: 'mpim:read' });
		slack.settings.scopes.push('mpim:read');
		const facts = await callSlack(slack, 'conversations.info', { channel: id });
		expect(facts).toMatchObject({ channel: { is_mpim: true, is_im: false, is_private: true } });
	});
});
