import type { Settings, SettingsReading } from '../config.ts';
import { type Examined, type Finding, findingsOf, notChecked } from './report.ts';
import { createSlackCall, request, type SlackCall, type SlackReply } from './request.ts';

type UsableSettings = SettingsReading['settings'];

export async function examineSlack({ settings }: SettingsReading): Promise<Examined> {
	const { SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: token } = settings;
	if (apiUrl === undefined) return { findings: notChecked('Slack', 'SLACK_API_URL') };
	const call = createSlackCall(apiUrl);
	const bot = token === undefined ? null : await call('auth.test', token);
	const asker = bot?.kind === 'ok' && token !== undefined ? { call, token } : null;
	const [transport, access] = await Promise.all([checkTransport(settings, call, bot), checkAccess(settings, asker)]);
	const botFindings =
		bot === null ? notChecked('Bot token', 'SLACK_BOT_TOKEN') : [...checkBotToken(bot), ...checkScopes(bot, settings)];
	const teamId = bot?.kind === 'ok' && typeof bot.data.team_id === 'string' ? bot.data.team_id : undefined;
	return { findings: [...botFindings, ...transport, ...access], aheadMs: bot?.response?.aheadMs ?? null, teamId };
}

const BOT_TOKEN = {
	setting: 'SLACK_BOT_TOKEN',
	copyFrom: 'from "OAuth & Permissions" (Bot User OAuth Token, xoxb-…)',
} as const;

const APP_TOKEN = {
	setting: 'SLACK_APP_TOKEN',
	copyFrom: 'from "Basic Information", App-Level Tokens (xapp-…)',
} as const;

/** What to do about a token that Slack refuses; null when the code is not about the token. */
export function tokenAdvice(
	code: string,
	token: { readonly setting: string; readonly copyFrom: string },
): string | null {
	const copy = `copy it again ${token.copyFrom}`;
	switch (code) {
		case 'invalid_auth':
		case 'not_authed':
			return `Slack does not know this token (${code}): ${copy}, into ${token.setting}.`;
		case 'account_inactive':
			return `The app was removed from the workspace, or its bot was deactivated (${code}): install it again and ${copy}.`;
		case 'token_revoked':
			return `The token was revoked (${code}): reinstall the app and ${copy}.`;
		case 'token_expired':
			return `The token has expired (${code}): the app has token rotation, which cannot be turned off; create a new app from manifest.yml.`;
		case 'not_allowed_token_type':
			return `This is another kind of token (${code}), perhaps swapped with the other one: ${copy}, into ${token.setting}.`;
		case 'team_access_not_granted':
		case 'team_disabled':
		case 'org_login_required':
		case 'ekm_access_denied':
		case 'access_denied':
			return `The workspace does not let the app in (${code}): ask its administrators to approve the app.`;
		default:
			return null;
	}
}

/** What the reply to `auth.test` says about the bot token. */
export function checkBotToken(reply: SlackReply): Finding[] {
	const { ok, failure } = findingsOf('Bot token');
	if (reply.kind === 'unreachable') return failure(`Slack cannot be asked: ${reply.why}.`);
	if (reply.kind === 'refused') {
		return failure(
			tokenAdvice(reply.code, BOT_TOKEN) ?? `Slack refuses it (${reply.code}): try again, then reinstall the app.`,
		);
	}
	const { user, team, team_id: teamId, bot_id: botId, is_enterprise_install: isForOrganisation } = reply.data;
	if (typeof botId !== 'string') {
		return failure(`This is a person's token, not the bot's: copy it ${BOT_TOKEN.copyFrom}, into SLACK_BOT_TOKEN.`);
	}
	if (isForOrganisation === true || typeof teamId !== 'string') {
		return failure(
			'The app is installed for a whole Enterprise Grid organisation, which is not supported yet: install it in one workspace and set that bot token as SLACK_BOT_TOKEN.',
		);
	}
	return ok(`it is ${String(user)} in the workspace ${String(team)}.`);
}

/** The required bot scopes of manifest.yml, and what happens without them. */
export const REQUIRED_SCOPES: Readonly<Record<string, string>> = {
	commands: '/session and "Use as answer" do not work',
	'chat:write': 'no card, thread or receipt is posted',
	'users:read': 'guests cannot be recognised, so everybody is refused',
	'app_mentions:read': 'mentions in threads do not arrive',
	'im:history': 'direct messages do not arrive',
	'im:write': 'authors are not told about late or failed answers',
	'channels:read': 'public channels cannot be watched',
	'groups:read': 'private channels cannot be watched',
};

/** The optional bot scopes of manifest.yml, and what happens without them. */
export const OPTIONAL_SCOPES: Readonly<Record<string, string>> = {
	'usergroups:read': 'ALLOWED_USERGROUPS cannot be used, and /session settings offers no user groups',
	'channels:history': 'after a crash a post in a public channel may come twice, marked as a repeat',
	'groups:history': 'after a crash a post in a private channel may come twice, marked as a repeat',
};

const WHERE_SCOPES_ARE = 'under "OAuth & Permissions", Scopes, Bot Token Scopes, and reinstall the app';

/** Compares what Slack granted (a header of `auth.test`) with what manifest.yml asks for. */
function checkScopes(reply: SlackReply, { ALLOWED_USERGROUPS: groups = [] }: UsableSettings): Finding[] {
	const { warning, failure, skipped, okIfNone } = findingsOf('Scopes');
	if (reply.kind !== 'ok') return skipped('not checked, because the bot token could not be checked.');
	const header = reply.response.headers.get('x-oauth-scopes');
	if (header === null) {
		return warning(
			'Slack does not say what it granted (no x-oauth-scopes header; a proxy may remove it): compare the scopes with manifest.yml yourself.',
		);
	}
	const granted = new Set(header.split(',').map((scope) => scope.trim()));
	granted.delete('');
	for (const [scope, loss] of Object.entries(REQUIRED_SCOPES)) {
		if (!granted.has(scope)) failure(`${scope} is missing: ${loss}. Add it ${WHERE_SCOPES_ARE}.`);
	}
	for (const [scope, loss] of Object.entries(OPTIONAL_SCOPES)) {
		if (granted.has(scope)) continue;
		if (scope === 'usergroups:read' && groups.length > 0) {
			failure(`${scope} is missing, and ALLOWED_USERGROUPS needs it: add it ${WHERE_SCOPES_ARE}.`);
		} else warning(`the optional ${scope} is missing: ${loss}. If you want it, add it ${WHERE_SCOPES_ARE}.`);
	}
	const surplus = [...granted].filter((scope) => !Object.hasOwn({ ...REQUIRED_SCOPES, ...OPTIONAL_SCOPES }, scope));
	if (surplus.length > 0) {
		warning(`${surplus.join(', ')}: granted, but Handraise does not use it. Remove it ${WHERE_SCOPES_ARE}.`);
	}
	return okIfNone('exactly those of manifest.yml.');
}

async function checkTransport(settings: UsableSettings, call: SlackCall, bot: SlackReply | null): Promise<Finding[]> {
	if (!('SLACK_APP_TOKEN' in settings)) return notChecked('Socket Mode', 'SLACK_APP_TOKEN');
	const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = settings;
	if (appToken !== undefined) return checkSocketMode(appToken, call, bot);
	return signingSecret === undefined ? [] : checkHttpMode(signingSecret);
}

/**
 * Asks Slack for a Socket Mode address and does not connect to it: otherwise Slack would send some of people's commands
 * to the doctor.
 */
async function checkSocketMode(token: string, call: SlackCall, bot: SlackReply | null): Promise<Finding[]> {
	const { ok, warning, failure } = findingsOf('Socket Mode');
	const reply = await call('apps.connections.open', token);
	if (reply.kind === 'unreachable') return failure(`Slack cannot be asked: ${reply.why}.`);
	if (reply.kind === 'refused') return failure(socketRefusal(reply.code));

	const address = URL.parse(String(reply.data.url));
	if (address === null) return failure('Slack gave no address to connect to: try again.');
	const origin = `${address.protocol === 'ws:' ? 'http' : 'https'}://${address.host}/`;
	const response = await request(origin, { timeoutMs: 10_000 });
	if (response.kind === 'no-response') {
		return failure(
			`The token is good, but ${address.host} cannot be reached: ${response.why}. Allow this machine to connect there (WebSocket).`,
		);
	}
	const found = ok(`the app-level token is good, and ${address.host} can be reached.`);
	// Only a warning, because it is not documented that an app-level token contains the app's id.
	const tokensApp = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(token)?.[1];
	const botsApp = bot?.kind === 'ok' ? bot.data.app_id : undefined;
	if (tokensApp !== undefined && typeof botsApp === 'string' && botsApp !== tokensApp) {
		warning(
			`SLACK_APP_TOKEN is of the app ${tokensApp}, SLACK_BOT_TOKEN of ${botsApp}: what people do in ${botsApp} would not arrive. Take both from one app.`,
		);
	}
	return found;
}

function socketRefusal(code: string): string {
	if (code === 'missing_scope') {
		return 'The app-level token lacks connections:write: create one with that scope under "Basic Information", App-Level Tokens, and put it into SLACK_APP_TOKEN.';
	}
	return (
		tokenAdvice(code, APP_TOKEN) ??
		`Slack opens no connection (${code}): is "Enable Socket Mode" on in the app's settings, under Socket Mode?`
	);
}

/** Only the form of the secret can be checked, and only Slack knows the address. */
function checkHttpMode(signingSecret: string): Finding[] {
	const { skipped, warning } = findingsOf('HTTP mode');
	const found = skipped(
		'Slack must send to https://<your address>/slack/events: set that address under Slash Commands, "Interactivity & Shortcuts" and Event Subscriptions, and turn Socket Mode off.',
	);
	if (!/^[0-9a-f]{32}$/.test(signingSecret)) {
		warning(
			'SLACK_SIGNING_SECRET does not look like one (32 characters, 0-9 and a-f): copy the Signing Secret from "Basic Information", not the client secret or the verification token.',
		);
	}
	return found;
}

/** Ids looked up for one setting, because Slack limits the calls. */
const MAX_LOOKUPS = 20;

/** The Slack method for each kind of id, and its argument for the id. */
const LOOKUPS = {
	user: { method: 'users.info', argument: 'user' },
	channel: { method: 'conversations.info', argument: 'channel' },
	group: { method: 'usergroups.users.list', argument: 'usergroup' },
} as const;

interface Lookup {
	readonly setting: keyof Settings;
	readonly id: string;
	readonly kind: keyof typeof LOOKUPS;
}

/** Whether the people, channels and groups in the settings exist. `asker` is null without a valid bot token. */
async function checkAccess(
	settings: UsableSettings,
	asker: { readonly call: SlackCall; readonly token: string } | null,
): Promise<Finding[]> {
	const { warning, skipped, okIfNone } = findingsOf('Access');
	const contact = settings.ADMIN_CONTACT;
	if (contact === undefined) {
		warning(
			'ADMIN_CONTACT is not set: refused people are told to ask "whoever runs Handraise here". Name somebody (a Slack user id, or words).',
		);
	} else if (/^[@#]|^[CGDS][A-Z0-9]{8,}$/.test(contact)) {
		warning(
			'ADMIN_CONTACT is shown as it is, which mentions nobody: give a user id (U…, from "Copy member ID" in their profile), or words such as "the platform team".',
		);
	}
	const lookups = lookupsOf(settings);
	const problems = await Promise.all(lookups.map(async (lookup) => (asker === null ? UNASKED : lookUp(lookup, asker))));
	const unasked: string[] = [];
	for (const [index, { setting, id }] of lookups.entries()) {
		const problem = problems[index];
		if (typeof problem === 'string') warning(`${setting} names ${id}, ${problem}.`);
		else if (problem === UNASKED) unasked.push(`${setting} (${id})`);
	}
	if (unasked.length > 0) {
		skipped(`${unasked.join(', ')}: not checked, because Slack refuses the app (see above) or limits the calls.`);
	}
	return okIfNone(
		lookups.length === 0 ? 'the settings are plausible.' : 'the people, channels and groups in the settings exist.',
	);
}

function lookupsOf(settings: UsableSettings): Lookup[] {
	const { ADMIN_CONTACT: contact = '', ALLOWED_USERS, ALLOWED_CHANNELS, ALLOWED_USERGROUPS } = settings;
	const lookupsFor = (setting: Lookup['setting'], kind: Lookup['kind'], ids: readonly string[] = []) =>
		ids.slice(0, MAX_LOOKUPS).map((id) => ({ setting, id, kind }));
	return [
		...lookupsFor('ADMIN_CONTACT', 'user', /^[UW][A-Z0-9]{2,}$/.test(contact) ? [contact] : []),
		...lookupsFor('ALLOWED_USERS', 'user', ALLOWED_USERS),
		...lookupsFor('ALLOWED_CHANNELS', 'channel', ALLOWED_CHANNELS),
		...lookupsFor('ALLOWED_USERGROUPS', 'group', ALLOWED_USERGROUPS),
	];
}

const UNASKED = Symbol('not checked');

const PROBLEMS: Readonly<Record<string, string>> = {
	user_not_found: 'a user whom Slack does not know: copy the member ID from the profile',
	user_not_visible: 'a user whom the app cannot see',
	channel_not_found:
		'a channel that the app cannot see: copy the channel ID from the end of "About" in the channel, and invite the app if it is private',
	no_such_subteam: 'a user group that does not exist',
	subteam_not_found: 'a user group that does not exist',
};

/** What is wrong with an id; null when it is right. `UNASKED` when Slack refuses for another reason. */
async function lookUp(
	{ id, kind }: Lookup,
	{ call, token }: { readonly call: SlackCall; readonly token: string },
): Promise<string | null | typeof UNASKED> {
	const { method, argument } = LOOKUPS[kind];
	const reply = await call(method, token, { [argument]: id });
	if (reply.kind === 'refused') return PROBLEMS[reply.code] ?? UNASKED;
	if (reply.kind !== 'ok') return UNASKED;
	const entity = (reply.data[kind] ?? {}) as { deleted?: unknown; is_archived?: unknown };
	if (entity.deleted === true) return 'a user who has left: name somebody else';
	if (entity.is_archived === true) return 'a channel that is archived';
	const isEmpty = kind === 'group' && Array.isArray(reply.data.users) && reply.data.users.length === 0;
	return isEmpty ? 'a user group that has no members' : null;
}
