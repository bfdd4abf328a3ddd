import { type Cases, testBroken } from './broken.ts';
import { type Harness, nobody, omit } from './harness.ts';

const botToken: Cases = {
	'Slack does not know the two tokens': {
		env: () => ({ SLACK_BOT_TOKEN: 'xoxb-of-somebody-else', SLACK_APP_TOKEN: 'xapp-of-somebody-else' }),
		says: [
			/^✗ Bot token: Slack does not know this token \(invalid_auth\): copy it again from "OAuth & Permissions"/,
			/^✗ Socket Mode: Slack does not know this token \(invalid_auth\): copy it again from "Basic Information"/,
		],
	},
	'the app was removed from the workspace': {
		breaks: ({ slack }) => slack.faults.add({ method: 'auth.test', error: 'account_inactive' }),
		says: /^✗ Bot token: The app was removed .*\(account_inactive\): install it again/,
	},
	'the bot token is of another kind': {
		breaks: ({ slack }) => slack.faults.add({ method: 'auth.test', error: 'not_allowed_token_type' }),
		says: /^✗ Bot token: This is another kind of token \(not_allowed_token_type\), perhaps swapped/,
	},
	'the token is a person’s': {
		env: ({ slackBehind }) => slackBehind({ json: { of: 'auth.test', change: (body) => omit(body, 'bot_id') } }),
		says: /^✗ Bot token: This is a person's token, not the bot's/,
	},
	'the app is installed for a whole organisation': {
		env: ({ slackBehind }) =>
			slackBehind({ json: { of: 'auth.test', change: (body) => ({ ...body, is_enterprise_install: true }) } }),
		says: /^✗ Bot token: The app is installed for a whole Enterprise Grid organisation, which is not supported yet: /,
	},
	'the token belongs to no workspace': {
		env: ({ slackBehind }) => slackBehind({ json: { of: 'auth.test', change: (body) => omit(body, 'team_id') } }),
		says: /^✗ Bot token: The app is installed for a whole Enterprise Grid organisation, which is not supported yet: /,
	},
	'Slack cannot be reached': {
		env: async () => ({ SLACK_API_URL: `${await nobody()}/api/` }),
		says: /^✗ Bot token: Slack cannot be asked: 127\.0\.0\.1:\d+: nothing listens at that host and port/,
	},
	'a proxy answers instead of Slack': {
		breaks: ({ slack }) => slack.faults.add({ method: 'auth.test', status: 503 }),
		says: /^✗ Bot token: Slack cannot be asked: .* answers 503, but not as Slack does/,
	},
	'Slack limits the calls': {
		breaks: ({ slack }) => slack.faults.rateLimit('auth.test', { retryAfter: 17 }),
		says: /^✗ Bot token: Slack cannot be asked: .* limits the calls; try again in 17 s/,
	},
};

function without(...scopes: string[]) {
	return ({ slack }: Harness) => {
		slack.settings.scopes = slack.settings.scopes.filter((granted) => !scopes.includes(granted));
	};
}

const scopes: Cases = {
	'a scope is missing': {
		breaks: without('users:read'),
		says: /^✗ Scopes: users:read is missing: .*everybody is refused\. Add it under "OAuth & Permissions".*and reinstall the app/,
	},
	'an optional scope is missing, and an unused one was granted': {
		breaks: (harness) => {
			without('channels:history')(harness);
			harness.slack.settings.scopes.push('files:read');
		},
		says: [
			/^! Scopes: the optional channels:history is missing: after a crash a post .* may come twice/,
			/^! Scopes: files:read: granted, but Handraise does not use it/,
		],
	},
	'an optional scope is missing that a setting needs': {
		breaks: without('usergroups:read'),
		env: () => ({ ALLOWED_USERGROUPS: 'S0OPS' }),
		says: /^✗ Scopes: usergroups:read is missing, and ALLOWED_USERGROUPS needs it/,
	},
	'Slack does not say what it granted': {
		env: ({ slackBehind }) => slackBehind({ headers: (headers) => omit(headers, 'x-oauth-scopes') }),
		says: /^! Scopes: Slack does not say what it granted/,
	},
};

const transport: Cases = {
	'the app-level token lacks its scope': {
		breaks: ({ slack }) => slack.faults.add({ method: 'apps.connections.open', error: 'missing_scope' }),
		says: /^✗ Socket Mode: The app-level token lacks connections:write: create one/,
	},
	'Socket Mode is off': {
		breaks: ({ slack }) => slack.faults.add({ method: 'apps.connections.open', error: 'not_enabled' }),
		says: /^✗ Socket Mode: Slack opens no connection \(not_enabled\): is "Enable Socket Mode" on/,
	},
	'the WebSocket’s host cannot be reached': {
		env: async ({ slackBehind }) => {
			const url = (await nobody()).replace('http', 'ws');
			return slackBehind({ json: { of: 'apps.connections.open', change: (body) => ({ ...body, url }) } });
		},
		says: /^✗ Socket Mode: The token is good, but 127\.0\.0\.1:\d+ cannot be reached/,
	},
	'the tokens are of two apps': {
		env: ({ slackBehind }) =>
			slackBehind({ json: { of: 'auth.test', change: (body) => ({ ...body, app_id: 'A0OTHER' }) } }),
		says: /^! Socket Mode: SLACK_APP_TOKEN is of the app A0APP, SLACK_BOT_TOKEN of A0OTHER/,
	},
	'the signing secret is malformed': {
		env: () => ({ SLACK_APP_TOKEN: '', SLACK_SIGNING_SECRET: 'canary-client-secret' }),
		says: /^! HTTP mode: SLACK_SIGNING_SECRET does not look like one/,
	},
};

testBroken('bot token', botToken);
testBroken('scopes', scopes);
testBroken('transport', transport);
