import { WebClient } from '@slack/web-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { createSlackStandIn, type SlackStandIn } from './stand-in.ts';
import { callSlack } from './test-calls.ts';

let slack: SlackStandIn;
let clock: ManualClock;

beforeEach(async () => {
	clock = createManualClock();
	slack = await createSlackStandIn({ clock });
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
	});

	it('asks for the scope of the kind of conversation', async () => {
		slack.settings.scopes = ['channels:read'];
		expect(await callSlack(slack, 'conversations.info', { channel: 'C0AGENTS' })).toMatchObject({ ok: true });
		const hidden = await callSlack(slack, 'conversations.info', { channel: 'C0SECRET' });
		expect(hidden).toMatchObject({ error: 'missing_scope', needed: 'groups:read' });
	});

	it('knows no other methods', async () => {
		expect(await callSlack(slack, 'chat.shout', {})).toMatchObject({ ok: false, error: 'unknown_method' });
	});
});

describe('arguments', () => {
	it('come in forms with JSON inside, as the SDK sends them', async () => {
		const client = new WebClient(slack.tokens.bot, { slackApiUrl: slack.apiUrl });
		const blocks = [{ type: 'section' as const, text: { type: 'mrkdwn' as const, text: '*hello*' } }];
		const answer = await client.chat.postMessage({ channel: 'C0AGENTS', text: 'hello', blocks });
		expect(answer.message?.blocks).toMatchObject(blocks);
		expect(slack.traffic.calls('chat.postMessage')[0]?.request).toMatchObject({ blocks });
	});

	it('are refused when one is missing, with its name', async () => {
		expect(await callSlack(slack, 'users.info', {})).toMatchObject({
			error: 'invalid_arguments',
			response_metadata: { messages: ['[ERROR] missing required field: user'] },
		});
	});
});

describe('people', () => {
	it.each([
		['U0ADA', { is_restricted: false, is_bot: false, deleted: false, team_id: 'T0ACME' }],
		['U0GUS', { is_restricted: true, is_ultra_restricted: false }],
		['U0UNA', { is_restricted: true, is_ultra_restricted: true }],
		['U0EVE', { is_stranger: true, team_id: 'T0OTHER' }],
		['U0OTHERBOT', { is_bot: true }],
		['U0DORA', { deleted: true }],
	])('tells what %s is', async (user, facts) => {
		expect(await callSlack(slack, 'users.info', { user })).toMatchObject({ ok: true, user: facts });
	});

	it('lists a user group and says when somebody or some group is unknown', async () => {
		const group = await callSlack(slack, 'usergroups.users.list', { usergroup: 'S0OPS' });
		expect(group).toMatchObject({ users: ['U0ADA'] });
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

	it('hides private channels the bot is not in', async () => {
		const answer = await callSlack(slack, 'conversations.info', { channel: 'C0VAULT' });
		expect(answer).toMatchObject({ error: 'channel_not_found' });
	});

	it('opens the same direct conversation each time, and none with bots or people who left', async () => {
		const first = await callSlack(slack, 'conversations.open', { users: 'U0ADA' });
		expect(await callSlack(slack, 'conversations.open', { users: 'U0ADA' })).toEqual(first);
		const bot = await callSlack(slack, 'conversations.open', { users: 'U0OTHERBOT' });
		expect(bot).toMatchObject({ error: 'cannot_dm_bot' });
		const gone = await callSlack(slack, 'conversations.open', { users: 'U0DORA' });
		expect(gone).toMatchObject({ error: 'user_disabled' });
	});

	it('pages through members', async () => {
		const first = await callSlack(slack, 'conversations.members', { channel: 'C0AGENTS', limit: 3 });
		expect(first.members).toHaveLength(3);
		const { next_cursor: cursor } = first.response_metadata as { next_cursor: string };
		const rest = await callSlack(slack, 'conversations.members', { channel: 'C0AGENTS', limit: 3, cursor });
		expect(rest).toMatchObject({ members: ['U0UNA', 'U0BOT'], response_metadata: { next_cursor: '' } });
	});
});

describe('rates', () => {
	it('answers 429 beyond the tier of chat.update and goes on a minute later', async () => {
		slack.settings.realRates = true;
		const posted = await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'card' });
		const update = { channel: 'C0AGENTS', ts: posted.ts, text: 'newer' };
		for (let call = 0; call < 50; call++)
			expect(await callSlack(slack, 'chat.update', update)).toMatchObject({ ok: true });
		const refused = await fetch(`${slack.apiUrl}chat.update`, {
			method: 'POST',
			body: JSON.stringify(update),
			headers: { 'content-type': 'application/json', authorization: `Bearer ${slack.tokens.bot}` },
		});
		expect(refused.status).toBe(429);
		expect(refused.headers.get('retry-after')).toBe('60');
		await clock.advance(60_000);
		expect(await callSlack(slack, 'chat.update', update)).toMatchObject({ ok: true });
	});

	it('lets history be read once a minute when told to', async () => {
		slack.settings.historyOncePerMinute = true;
		const read = () => callSlack(slack, 'conversations.history', { channel: 'C0AGENTS' });
		expect(await read()).toMatchObject({ ok: true });
		expect(await read()).toMatchObject({ error: 'ratelimited' });
		await clock.advance(60_000);
		expect(await read()).toMatchObject({ ok: true });
	});
});

describe('blocks.validate', () => {
	it('needs no scope and answers with pointers', async () => {
		slack.settings.scopes = [];
		const good = [{ type: 'divider' }];
		expect(await callSlack(slack, 'blocks.validate', { blocks: good })).toMatchObject({ ok: true });
		const bad = [{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }];
		const answer = await callSlack(slack, 'blocks.validate', { blocks: bad });
		expect(answer).toMatchObject({ ok: false, error: 'invalid_blocks' });
		expect(JSON.stringify(answer.errors)).toContain('[json-pointer:/blocks/0/text');
	});
});
