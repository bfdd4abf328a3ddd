import type { Settings, SettingsReading } from '../config.ts';
import { ask, createSlackCall, type SlackCall, type SlackReply } from './ask.ts';
import { type Examined, type Finding, findingsOf, notLookedAt } from './report.ts';

type SomeSettings = SettingsReading['settings'];

export async function examineSlack({ settings }: SettingsReading): Promise<Examined> {
	const { SLACK_API_URL: apiUrl, SLACK_BOT_TOKEN: token } = settings;
	if (apiUrl === undefined) return { findings: notLookedAt('Slack', 'SLACK_API_URL') };
	const call = createSlackCall(apiUrl);
	const bot = token === undefined ? null : await call('auth.test', token);
	const asked = bot?.kind === 'ok' && token !== undefined ? { call, token } : null;
	const [transport, access] = await Promise.all([checkTransport(settings, call, bot), checkAccess(settings, asked)]);
	const ofBot =
		bot === null ? notLookedAt('Bot token', 'SLACK_BOT_TOKEN') : [...checkBotToken(bot), ...checkScopes(bot, settings)];
	return { findings: [...ofBot, ...transport, ...access], aheadMs: bot?.answer?.aheadMs ?? null };
}

const BOT_TOKEN = {
	setting: 'SLACK_BOT_TOKEN',
	copyFrom: 'from "OAuth & Permissions" (Bot User OAuth Token, xoxb-…)',
} as const;

const APP_TOKEN = {
	setting: 'SLACK_APP_TOKEN',
	copyFrom: 'from "Basic Information", App-Level Tokens (xapp-…)',
} as const;

/** What to do about a token that Slack refuses; null when the code says nothing about the token. */
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
			return `The app was removed from the workspace, or its bot deactivated (${code}): install it again and ${copy}.`;
		case 'token_revoked':
			return `The token was revoked (${code}): reinstall the app and ${copy}.`;
		case 'token_expired':
			return `The token has expired (${code}): the app has token rotation, which cannot be turned off again; make a new app from manifest.yml.`;
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

/** What `auth.test` says about the bot token. */
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

/** The bot scopes without which Handraise does not work, as in manifest.yml, and what happens without them. */
export const REQUIRED_SCOPES: Readonly<Record<string, string>> = {
	commands: '/session and "Use as answer" do not work',
	'chat:write': 'no card, thread or receipt is posted',
	'users:read': 'members cannot be told from guests, so everybody is refused',
	'app_mentions:read': 'a mention in a thread is not heard',
	'im:history': 'direct messages are not heard',
	'im:write': 'authors are not told about late or failed answers',
	'channels:read': 'public channels cannot be watched',
	'groups:read': 'private channels cannot be watched',
};

/** The scopes that an installation may leave out, and what is lost then. */
export const OPTIONAL_SCOPES: Readonly<Record<string, string>> = {
	'usergroups:read': 'ALLOWED_USERGROUPS cannot be used',
	'channels:history': 'after a crash a post in a public channel may come twice, marked as a repeat',
	'groups:history': 'after a crash a post in a private channel may come twice, marked as a repeat',
};

const HOW = 'under "OAuth & Permissions", Scopes, Bot Token Scopes, and reinstall the app';

/** Compares what Slack granted (a header of `auth.test`) with what manifest.yml asks for. */
function checkScopes(reply: SlackReply, { ALLOWED_USERGROUPS: groups = [] }: SomeSettings): Finding[] {
	const { warning, failure, skipped, okIfNone } = findingsOf('Scopes');
	if (reply.kind !== 'ok') return skipped('not looked at, since the bot token could not be checked.');
	const header = reply.answer.headers.get('x-oauth-scopes');
	if (header === null) {
		return warning(
			'Slack does not say what it granted (no x-oauth-scopes header; a proxy may remove it): compare with manifest.yml yourself.',
		);
	}
	const granted = new Set(header.split(',').map((scope) => scope.trim()));
	granted.delete('');
	for (const [scope, loss] of Object.entries(REQUIRED_SCOPES)) {
		if (!granted.has(scope)) failure(`${scope} is missing: ${loss}. Add it ${HOW}.`);
	}
	for (const [scope, loss] of Object.entries(OPTIONAL_SCOPES)) {
		if (granted.has(scope)) continue;
		if (scope === 'usergroups:read' && groups.length > 0) {
			failure(`${scope} is missing, and ALLOWED_USERGROUPS needs it: add it ${HOW}.`);
		} else warning(`the optional ${scope} is missing: ${loss}. If you want it, add it ${HOW}.`);
	}
	const surplus = [...granted].filter((scope) => !Object.hasOwn({ ...REQUIRED_SCOPES, ...OPTIONAL_SCOPES }, scope));
	if (surplus.length > 0) {
		warning(`${surplus.join(', ')}: granted, and Handraise never uses it. Best taken away ${HOW}.`);
	}
	return okIfNone('all that manifest.yml asks for, and no more.');
}

async function checkTransport(settings: SomeSettings, call: SlackCall, bot: SlackReply | null): Promise<Finding[]> {
	if (!('SLACK_APP_TOKEN' in settings)) return notLookedAt('Socket Mode', 'SLACK_APP_TOKEN');
	const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = settings;
	if (appToken !== undefined) return checkSocketMode(appToken, call, bot);
	return signingSecret === undefined ? [] : checkHttpMode(signingSecret);
}

/**
 * Asks Slack for a Socket Mode address, which opens nothing yet. It is not connected to: Slack would send some of the
 * commands that people type to the doctor, which answers none.
 */
async function checkSocketMode(token: string, call: SlackCall, bot: SlackReply | null): Promise<Finding[]> {
	const { ok, warning, failure } = findingsOf('Socket Mode');
	const reply = await call('apps.connections.open', token);
	if (reply.kind === 'unreachable') return failure(`Slack cannot be asked: ${reply.why}.`);
	if (reply.kind === 'refused') return failure(socketRefusal(reply.code));

	const address = URL.parse(String(reply.data.url));
	if (address === null) return failure('Slack gave no address to connect to: try again.');
	const origin = `${address.protocol === 'ws:' ? 'http' : 'https'}://${address.host}/`;
	const there = await ask(origin, { timeoutMs: 10_000 });
	if (there.kind === 'no-answer') {
		return failure(
			`The token is good, but ${address.host} cannot be reached: ${there.why}. Let the machine connect there (WebSocket).`,
		);
	}
	const found = ok(`the app-level token is good, and ${address.host} can be reached.`);
	// Undocumented, so no more than a warning: the app's id is part of an app-level token.
	const ofApp = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(token)?.[1];
	const botsApp = bot?.kind === 'ok' ? bot.data.app_id : undefined;
	if (ofApp !== undefined && typeof botsApp === 'string' && botsApp !== ofApp) {
		warning(
			`SLACK_APP_TOKEN is of the app ${ofApp}, SLACK_BOT_TOKEN of ${botsApp}: nothing typed there would arrive here. Take both from one app.`,
		);
	}
	return found;
}

function socketRefusal(code: string): string {
	if (code === 'missing_scope') {
		return 'The app-level token lacks connections:write: make a new one with that scope under "Basic Information", App-Level Tokens, and put it into SLACK_APP_TOKEN.';
	}
	return (
		tokenAdvice(code, APP_TOKEN) ??
		`Slack opens no connection (${code}): is "Enable Socket Mode" on in the app's settings, under Socket Mode?`
	);
}

/** Signed HTTP: the secret can only be looked at, and the address is known to Slack alone. */
function checkHttpMode(signingSecret: string): Finding[] {
	const { ok, warning } = findingsOf('HTTP mode');
	const found = ok(
		'Slack has to send to https://<your address>/slack/events: see that it stands under Slash Commands, "Interactivity & Shortcuts" and Event Subscriptions, and that Socket Mode is off.',
	);
	if (!/^[0-9a-f]{32}$/.test(signingSecret)) {
		warning(
			'SLACK_SIGNING_SECRET does not look like one (32 characters, 0-9 and a-f): copy the Signing Secret from "Basic Information", not the client secret nor the verification token.',
		);
	}
	return found;
}

/** Ids looked up for one setting; more would run into Slack's rates. */
const MOST_LOOKUPS = 20;

/** Slack's methods for the ids that settings hold, and the argument that takes the id. */
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

/** Whether the people, channels and groups that the settings name are there. `asked` is null without a good bot token. */
async function checkAccess(
	settings: SomeSettings,
	asked: { readonly call: SlackCall; readonly token: string } | null,
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
	const learned = await Promise.all(lookups.map(async (lookup) => (asked === null ? UNASKED : lookUp(lookup, asked))));
	const unasked: string[] = [];
	for (const [index, { setting, id }] of lookups.entries()) {
		const problem = learned[index];
		if (typeof problem === 'string') warning(`${setting} names ${id}, ${problem}.`);
		else if (problem === UNASKED) unasked.push(`${setting} (${id})`);
	}
	if (unasked.length > 0) {
		skipped(`${unasked.join(', ')}: not looked up, since Slack does not let the app (see above), or limits the calls.`);
	}
	return okIfNone(lookups.length === 0 ? 'the settings are plausible.' : 'whom and what the settings name is there.');
}

function lookupsOf(settings: SomeSettings): Lookup[] {
	const { ADMIN_CONTACT: contact = '', ALLOWED_USERS, ALLOWED_CHANNELS, ALLOWED_USERGROUPS } = settings;
	const of = (setting: Lookup['setting'], kind: Lookup['kind'], ids: readonly string[] = []) =>
		ids.slice(0, MOST_LOOKUPS).map((id) => ({ setting, id, kind }));
	return [
		...of('ADMIN_CONTACT', 'user', /^[UW][A-Z0-9]{2,}$/.test(contact) ? [contact] : []),
		...of('ALLOWED_USERS', 'user', ALLOWED_USERS),
		...of('ALLOWED_CHANNELS', 'channel', ALLOWED_CHANNELS),
		...of('ALLOWED_USERGROUPS', 'group', ALLOWED_USERGROUPS),
	];
}

const UNASKED = Symbol('Slack did not say');

const UNKNOWN: Readonly<Record<string, string>> = {
	user_not_found: 'whom Slack does not know here: take the member id from the profile',
	user_not_visible: 'whom the app may not see',
	channel_not_found:
		'a channel that the app cannot see: take the id from the end of "About" in the channel, and invite the app if it is private',
	no_such_subteam: 'a user group that is not there',
	subteam_not_found: 'a user group that is not there',
};

/** What is wrong with an id, or null. Refusals that are not about the id (a missing scope, a limit) are others' to report. */
async function lookUp(
	{ id, kind }: Lookup,
	{ call, token }: { readonly call: SlackCall; readonly token: string },
): Promise<string | null | typeof UNASKED> {
	const { method, argument } = LOOKUPS[kind];
	const reply = await call(method, token, { [argument]: id });
	if (reply.kind === 'refused') return UNKNOWN[reply.code] ?? UNASKED;
	if (reply.kind !== 'ok') return UNASKED;
	const about = (reply.data[kind] ?? {}) as { deleted?: unknown; is_archived?: unknown };
	if (about.deleted === true) return 'who has left: name somebody else';
	if (about.is_archived === true) return 'a channel that is archived';
	const isEmpty = kind === 'group' && Array.isArray(reply.data.users) && reply.data.users.length === 0;
	return isEmpty ? 'a user group that has no members' : null;
}
