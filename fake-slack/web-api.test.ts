import { WebClient } from '@slack/web-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let clock: ManualClock;

beforeEach(async () => {
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
});
afterEach(() => slack.close());

describe('tokens and scopes', () => {
	it('refuses a call without a token, with a wrong one, and with the other kind', async () => {
		const bare = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST' });
		expect(await bare.json()).toEqual({ ok: false, error: 'not_authed' });
		expect(await callSlack(slack, 'auth.test', {}, 'xoxb-wrong')).toMatchObject({ error: 'invalid_auth' });
		const other = await callSlack(slack, 'auth.test', {}, slack.tokens.app);
		expect(other).toMatchObject({ error: 'not_allowed_token_type' });
		const open = await callSlack(slack, 'apps.connections.open', {});
		expect(open).toMatchObject({ error: 'not_allowed_token_type' });
	});

	it('takes the token from the body too and never logs it', async () => {
		const body = new URLSearchParams({ token: slack.tokens.bot });
		const response = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', body });
		expect(await response.json()).toMatchObject({ ok: true, user_id: 'U0BOT', team_id: 'T0ACME' });
		expect(JSON.stringify(slack.traffic.all())).not.toContain(slack.tokens.bot);
	});

	it('refuses a token in the query', async () => {
		const response = await fetch(`${slack.apiUrl}auth.test?token=${slack.tokens.bot}`);
		expect(await response.json()).toEqual({ ok: false, error: 'not_authed' });
		expect(JSON.stringify(slack.traffic.all())).not.toContain(slack.tokens.bot);
	});

	it('names the missing scope and lists the granted ones', async () => {
		slack.settings.scopes = ['chat:write', 'commands'];
		expect(await callSlack(slack, 'users.info', { user: 'U0ADA' })).toEqual({
			ok: false,
			error: 'missing_scope',
			needed: 'users:read',
			provided: 'chat:write,commands',
		});
		const response = await fetch(`${slack.apiUrl}auth.test`, {
			method: 'POST',
			headers: { authorization: `Bearer ${slack.tokens.bot}` },
		});
		expect(response.headers.get('x-oauth-scopes')).toBe('chat:write,commands');
		const open = await fetch(`${slack.apiUrl}apps.connections.open`, {
			method: 'POST',
			headers: { authorization: `Bearer ${slack.tokens.app}` },
		});
		expect(open.headers.get('x-oauth-scopes')).toBe('connections:write');
	});

	it('asks for the scope of the kind of conversation', async () => {
		slack.settings.scopes = ['channels:read'];
		expect(await callSlack(slack, 'conversations.info', { channel: 'C0AGENTS' })).toMatchObject({ ok: true });
		const hidden = await callSlack(slack, 'conversations.info', { channel: 'C0SECRET' });
		expect(hidden).toMatchObject({ error: 'missing_scope', needed: 'groups:read' });
		for (const method of ['conversations.history', 'conversations.replies']) {
			const answer = await callSlack(slack, method, { channel: 'C0SECRET', ts: '1.000000' });
			expect(answer).toMatchObject({ error: 'missing_scope', needed: 'groups:history' });
		}
	});

	it('tells names that Slack does not know from methods of Slack that it does not have', async () => {
		expect(await callSlack(slack, 'chat.shout', {})).toMatchObject({ ok: false, error: 'unknown_method' });
		expect(await callSlack(slack, 'reactions.add', {})).toMatchObject({ ok: false, error: 'not_in_this_fake_slack' });
		expect(slack.violations().map(({ messages }) => messages)).toEqual([
			['Slack has no method chat.shout'],
			['this fake Slack does not have reactions.add, which Slack has'],
		]);
	});
});

describe('arguments', () => {
	it('reads forms with JSON inside, as the SDK sends them', async () => {
		const client = new WebClient(slack.tokens.bot, { slackApiUrl: slack.apiUrl });
		const blocks = [{ type: 'section' as const, text: { type: 'mrkdwn' as const, text: '*hello*' } }];
		const answer = await client.chat.postMessage({ channel: 'C0AGENTS', text: 'hello', blocks });
		expect(answer.message?.blocks).toMatchObject(blocks);
		expect(slack.traffic.calls('chat.postMessage')[0]?.request).toMatchObject({ blocks });
	});

	it('reads arguments from the query too', async () => {
		const headers = { authorization: `Bearer ${slack.tokens.bot}` };
		const response = await fetch(`${slack.apiUrl}users.info?user=U0ADA`, { headers });
		expect(await response.json()).toMatchObject({ ok: true, user: { id: 'U0ADA' } });
	});

	it('names a missing argument', async () => {
		expect(await callSlack(slack, 'users.info', {})).toMatchObject({
			error: 'invalid_arguments',
			response_metadata: { messages: ['[ERROR] missing required field: user'] },
		});
	});
});

describe('bodies', () => {
	const send = async (type: string, body: string | URLSearchParams, method = 'auth.test') => {
		const headers = { authorization: `Bearer ${slack.tokens.bot}`, ...(type === '' ? {} : { 'content-type': type }) };
		const response = await fetch(`${slack.apiUrl}${method}`, { method: 'POST', body, headers });
		return (await response.json()) as Json;
	};

	it.each([
		{ what: 'no JSON', type: 'application/json', body: '{"channel":', error: 'invalid_json' },
		{ what: 'a list', type: 'application/json', body: '["x"]', error: 'json_not_object' },
		{
			what: 'half a surrogate pair',
			type: 'application/json; charset=utf-8',
			body: '{"text":"\\ud83d"}',
			error: 'invalid_json',
		},
		{ what: 'another type', type: 'application/xml', body: '<x/>', error: 'invalid_post_type' },
	])('with $what are refused', async ({ type, body, error }) => {
		expect(await send(type, body)).toEqual({ ok: false, error });
		expect(slack.violations()).toMatchObject([{ where: 'auth.test', messages: [error] }]);
	});

	it('refuses a body without a type', async () => {
		const headers = { authorization: `Bearer ${slack.tokens.bot}` };
		const body = new Blob(['{}']);
		const response = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', headers, body });
		expect(await response.json()).toEqual({ ok: false, error: 'missing_post_type' });
	});

	it('accepts whole surrogate pairs and an empty body', async () => {
		expect(await send('application/json', '{"text":"\\ud83d\\ude00"}')).toMatchObject({ ok: true });
		expect(await send('application/json', '')).toMatchObject({ ok: true });
	});

	it('refuses a form with half a surrogate pair in the JSON of its blocks', async () => {
		const blocks = '[{"type":"section","text":{"type":"mrkdwn","text":"\\udc00"}}]';
		const form = new URLSearchParams({ channel: 'C0AGENTS', text: 'x', blocks });
		const answer = await send('application/x-www-form-urlencoded', form, 'chat.postMessage');
		expect(answer).toMatchObject({ ok: false, error: expect.stringMatching(/^invalid_(blocks_format|arguments)$/) });
	});

	it('ignores the token in a JSON body', async () => {
		const body = JSON.stringify({ token: slack.tokens.bot });
		const headers = { 'content-type': 'application/json' };
		const response = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST', body, headers });
		expect(await response.json()).toEqual({ ok: false, error: 'not_authed' });
		expect(JSON.stringify(slack.traffic.all())).not.toContain(slack.tokens.bot);
	});
});

describe('people', () => {
	it.each([
		['U0ADA', { is_restricted: false, is_bot: false, deleted: false, team_id: 'T0ACME' }],
		['U0GUS', { is_restricted: true, is_ultra_restricted: false }],
		['U0UNA', { is_restricted: true, is_ultra_restricted: true }],
		['U0EVE', { team_id: 'T0OTHER' }],
		['U0SID', { is_stranger: true, team_id: 'T0OTHER' }],
		['U0OTHERBOT', { is_bot: true }],
		['U0DORA', { deleted: true }],
	])('tells what %s is', async (user, facts) => {
		expect(await callSlack(slack, 'users.info', { user })).toMatchObject({ ok: true, user: facts });
	});

	it('lists user groups, with their people only when asked for', async () => {
		slack.state.userGroups.push({ id: 'S0OLD', handle: 'old', users: [], disabled: true });
		const groups = async (args: Json) => (await callSlack(slack, 'usergroups.list', args)).usergroups as Json[];
		const [ops] = await groups({});
		expect(ops).toMatchObject({ id: 'S0OPS', handle: 'ops', name: 'Operations', is_usergroup: true });
		expect(ops).not.toHaveProperty('users');
		expect(await groups({ include_users: true, include_count: true })).toMatchObject([
			{ users: ['U0ADA'], user_count: 1 },
		]);
		expect(await groups({ include_disabled: true })).toHaveLength(2);
	});

	it('lists one user group, and names an unknown person or group', async () => {
		const group = await callSlack(slack, 'usergroups.users.list', { usergroup: 'S0OPS' });
		expect(group).toMatchObject({ users: ['U0ADA'] });
		slack.state.userGroups.push({ id: 'S0OLD', handle: 'old', users: ['U0ADA'], disabled: true });
		const old = { usergroup: 'S0OLD' };
		expect(await callSlack(slack, 'usergroups.users.list', old)).toMatchObject({ error: 'no_such_subteam' });
		expect(await callSlack(slack, 'usergroups.users.list', { ...old, include_disabled: true })).toMatchObject({
			users: ['U0ADA'],
		});
		const none = await callSlack(slack, 'usergroups.users.list', { usergroup: 'S0NO' });
		expect(none).toMatchObject({ error: 'no_such_subteam' });
		expect(await callSlack(slack, 'users.info', { user: 'U0NO' })).toMatchObject({ error: 'user_not_found' });
	});
});

describe('conversations', () => {
	it.each([
		['C0AGENTS', { is_member: true, is_private: false, is_archived: false, is_ext_shared: false }],
		['C0GENERAL', { is_member: false }],
		['C0SECRET', { is_member: true, is_private: true }],
		['C0OLD', { is_archived: true }],
		['C0SHARED', { is_ext_shared: true }],
	])('tells what %s is', async (channel, facts) => {
		expect(await callSlack(slack, 'conversations.info', { channel })).toMatchObject({ ok: true, channel: facts });
	});

	it('hides private channels without the bot', async () => {
		const answer = await callSlack(slack, 'conversations.info', { channel: 'C0VAULT' });
		expect(answer).toMatchObject({ error: 'channel_not_found' });
	});

	it('opens the same direct message each time, and none with bots or people who left', async () => {
		const first = await callSlack(slack, 'conversations.open', { users: 'U0ADA' });
		expect(await callSlack(slack, 'conversations.open', { users: 'U0ADA' })).toEqual(first);
		slack.settings.scopes.push('im:read');
		const facts = await callSlack(slack, 'conversations.info', { channel: (first.channel as Json).id });
		expect(facts).toMatchObject({ channel: { is_im: true, user: 'U0ADA' } });
		const bot = await callSlack(slack, 'conversations.open', { users: 'U0OTHERBOT' });
		expect(bot).toMatchObject({ error: 'cannot_dm_bot' });
		const gone = await callSlack(slack, 'conversations.open', { users: 'U0DORA' });
		expect(gone).toMatchObject({ error: 'user_disabled' });
		const nobody = await callSlack(slack, 'conversations.open', { users: 'U0NO' });
		expect(nobody).toMatchObject({ error: 'user_not_found' });
		const group = await callSlack(slack, 'conversations.open', { users: 'U0ADA,U0GRACE' });
		expect(group).toMatchObject({ error: 'missing_scope', needed: 'mpim:write' });
	});

	it('wants ids: a name works only where a message is posted', async () => {
		for (const channel of ['agents', '#agents']) {
			const facts = await callSlack(slack, 'conversations.info', { channel });
			expect(facts).toMatchObject({ error: 'channel_not_found' });
			const posted = await callSlack(slack, 'chat.postMessage', { channel, text: 'card' });
			expect(posted).toMatchObject({ ok: true, channel: 'C0AGENTS' });
			const update = await callSlack(slack, 'chat.update', { channel, ts: posted.ts, text: 'newer' });
			expect(update).toMatchObject({ error: 'channel_not_found' });
		}
	});

	const list = async (args: Json) => {
		const answer = await callSlack(slack, 'users.conversations', args);
		return answer.ok === true ? (answer.channels as Json[]).map((channel) => channel.name) : answer.error;
	};

	it.each<[string, Json, unknown]>([
		['its public ones', {}, ['agents', 'old', 'shared']],
		['and the private ones', { types: 'public_channel,private_channel' }, ['agents', 'secret', 'old', 'shared']],
		['without the archive', { exclude_archived: true }, ['agents', 'shared']],
		['those of a person', { user: 'U0GUS' }, ['agents', 'general']],
		['private ones of a person where it is too', { user: 'U0ADA', types: 'private_channel' }, ['secret']],
		['none of an unknown kind', { types: 'secret_channel' }, 'invalid_types'],
		['none without the scope of the kind', { types: 'mpim' }, 'missing_scope'],
		['none of nobody', { user: 'U0NO' }, 'user_not_found'],
	])('lists for the bot %s', async (_what, args, expected) => {
		expect(await list(args)).toEqual(expected);
	});

	it('lists in pages, and says what is shared or about to be', async () => {
		const pending = slack.state.channels.find((one) => one.name === 'agents');
		if (pending) pending.isPendingExtShared = true;
		const first = await callSlack(slack, 'users.conversations', { limit: 2 });
		const { next_cursor: cursor } = first.response_metadata as { next_cursor: string };
		expect(first.channels).toMatchObject([{ is_pending_ext_shared: true, is_ext_shared: false }, { name: 'old' }]);
		expect((first.channels as Json[])[0]).not.toHaveProperty('is_member');
		const rest = await callSlack(slack, 'users.conversations', { limit: 2, cursor });
		expect(rest).toMatchObject({ channels: [{ is_ext_shared: true, is_pending_ext_shared: false }] });
		expect(rest).toMatchObject({ response_metadata: { next_cursor: '' } });
		const other = await callSlack(slack, 'users.conversations', { user: 'U0ADA', cursor });
		expect(other).toMatchObject({ error: 'invalid_cursor' });
		const long = await callSlack(slack, 'users.conversations', { limit: 1000 });
		expect(long).toMatchObject({ error: 'invalid_limit' });
	});

	it.each([0, -1, 1001, 'many', 1.5])('refuses a limit of %s', async (limit) => {
		const answer = await callSlack(slack, 'conversations.members', { channel: 'C0AGENTS', limit });
		expect(answer).toMatchObject({ error: 'invalid_limit' });
	});

	it('pages through members', async () => {
		const first = await callSlack(slack, 'conversations.members', { channel: 'C0AGENTS', limit: 3 });
		expect(first.members).toHaveLength(3);
		const { next_cursor: cursor } = first.response_metadata as { next_cursor: string };
		const rest = await callSlack(slack, 'conversations.members', { channel: 'C0AGENTS', limit: 3, cursor });
		expect(rest).toMatchObject({ members: ['U0UNA', 'U0BOT'], response_metadata: { next_cursor: '' } });
		slack.state.channels[0]?.members.push(...Array.from({ length: 96 }, (_, index) => `U${index}`));
		const hundred = await callSlack(slack, 'conversations.members', { channel: 'C0AGENTS' });
		expect(hundred.members).toHaveLength(100);
	});
});
