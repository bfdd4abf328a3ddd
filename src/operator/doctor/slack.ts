import type { Settings } from '../../config.ts';
import { COMMAND } from '../../kernel/command-name.ts';
import { type Findings, notChecked, type Setup } from './check.ts';
import { at, createSlackCall, request, SLACK_WITHIN_MS, type SlackReply } from './requests.ts';

const TOKENS = {
	SLACK_BOT_TOKEN: 'from "OAuth & Permissions" (Bot User OAuth Token, xoxb-…)',
	SLACK_APP_TOKEN: 'from "Basic Information", App-Level Tokens (xapp-…)',
} as const;

const UNKNOWN_TOKEN = 'Slack does not know this token (CODE): copy it again FROM, into SETTING.';
const NOT_LET_IN = 'The workspace does not let the app in (CODE): ask its administrators to approve the app.';
const TOKEN_ADVICE: Readonly<Record<string, string>> = {
	invalid_auth: UNKNOWN_TOKEN,
	not_authed: UNKNOWN_TOKEN,
	account_inactive:
		'The app was removed from the workspace, or its bot was deactivated (CODE): install it again and copy it ' +
		'again FROM.',
	token_revoked: 'The token was revoked (CODE): reinstall the app and copy it again FROM.',
	token_expired:
		'The token has expired (CODE): the app has token rotation, which cannot be turned off; create a new app from ' +
		'manifest.yml.',
	not_allowed_token_type:
		'This is another kind of token (CODE), perhaps swapped with the other one: copy it again FROM, into SETTING.',
	team_access_not_granted: NOT_LET_IN,
	team_disabled: NOT_LET_IN,
	org_login_required: NOT_LET_IN,
	ekm_access_denied: NOT_LET_IN,
	access_denied: NOT_LET_IN,
};

/** What to do about a token that Slack refuses; null when the code is not about the token. */
function tokenAdvice(code: string, setting: keyof typeof TOKENS): string | null {
	const advice = Object.hasOwn(TOKEN_ADVICE, code) ? TOKEN_ADVICE[code] : undefined;
	return advice?.replace('CODE', code).replace('FROM', TOKENS[setting]).replace('SETTING', setting) ?? null;
}

/** `reply`: to `auth.test`. */
export function checkBotToken({ ok, failure }: Findings, reply: SlackReply) {
	if (reply.kind === 'unreachable') return failure(`Slack cannot be asked: ${reply.why}.`);
	if (reply.kind === 'refused')
		return failure(
			tokenAdvice(reply.code, 'SLACK_BOT_TOKEN') ??
				`Slack refuses it (${reply.code}): try again, then reinstall the app.`,
		);
	const { user, team, team_id: teamId, bot_id: botId, is_enterprise_install: isForOrganisation } = reply.data;
	if (typeof botId !== 'string')
		return failure(`This is a person's token, not the bot's: copy it ${TOKENS.SLACK_BOT_TOKEN}, into SLACK_BOT_TOKEN.`);
	if (isForOrganisation === true || typeof teamId !== 'string')
		return failure(
			'The app is installed for a whole Enterprise Grid organisation, which is not supported yet: install it in ' +
				'one workspace and set that bot token as SLACK_BOT_TOKEN.',
		);
	return ok(`it is ${String(user)} in the workspace ${String(team)}.`);
}

/** The required bot scopes of manifest.yml, and what happens without them. */
export const REQUIRED_SCOPES: Readonly<Record<string, string>> = {
	commands: `${COMMAND} and "Use as answer" do not work`,
	'chat:write': 'no card, thread or receipt is posted',
	'users:read': 'guests cannot be recognised, so everybody is refused',
	'app_mentions:read': 'mentions in threads do not arrive',
	'im:history': 'direct messages do not arrive',
	'im:write': 'authors are not told about late or failed answers',
	'channels:read': 'public channels cannot be watched',
	'groups:read': 'private channels cannot be watched',
};

/** The optional bot scopes of manifest.yml, and what is lost without them. */
export const OPTIONAL_SCOPES: Readonly<Record<string, string>> = {
	'usergroups:read': `ALLOWED_USERGROUPS cannot be used, and ${COMMAND} settings offers no user groups`,
	'channels:history': 'after a crash a post in a public channel may come twice, marked as a repeat',
	'groups:history': 'after a crash a post in a private channel may come twice, marked as a repeat',
};

const WHERE_SCOPES_ARE = 'under "OAuth & Permissions", Scopes, Bot Token Scopes, and reinstall the app';

/** Compares what Slack granted (a header of `auth.test`) with what manifest.yml asks for. */
export async function checkScopes({ warning, failure, okIfNone }: Findings, { auth, settings }: Setup) {
	const reply = await auth;
	if (reply.kind !== 'ok') throw notChecked('the bot token could not be checked');
	const header = reply.response.headers.get('x-oauth-scopes');
	if (header === null)
		return warning(
			'Slack does not say what it granted (no x-oauth-scopes header; a proxy may remove it): compare the scopes ' +
				'with manifest.yml yourself.',
		);
	const granted = new Set(header.match(/[^\s,]+/g));
	for (const [scope, loss] of Object.entries(REQUIRED_SCOPES)) {
		if (!granted.delete(scope)) failure(`${scope} is missing: ${loss}. Add it ${WHERE_SCOPES_ARE}.`);
	}
	for (const [scope, loss] of Object.entries(OPTIONAL_SCOPES)) {
		if (granted.delete(scope)) continue;
		if (scope === 'usergroups:read' && settings.ALLOWED_USERGROUPS?.length)
			failure(`${scope} is missing, and ALLOWED_USERGROUPS needs it: add it ${WHERE_SCOPES_ARE}.`);
		else warning(`the optional ${scope} is missing: ${loss}. If you want it, add it ${WHERE_SCOPES_ARE}.`);
	}
	// Scopes that neither table has are left over.
	if (granted.size > 0)
		warning(`${[...granted].join(', ')}: granted, but Handraise does not use it. Remove it ${WHERE_SCOPES_ARE}.`);
	return okIfNone('exactly those of manifest.yml.');
}

const NO_CONNECTIONS =
	'The app-level token lacks connections:write: create one with that scope under "Basic Information", App-Level ' +
	'Tokens, and put it into SLACK_APP_TOKEN.';

/** Does not connect to the Socket Mode address: Slack would send some of people's commands to the doctor. */
export async function checkSocketMode({ ok, warning, failure }: Findings, { need, bot }: Setup) {
	const token = need('SLACK_APP_TOKEN');
	if (token === null) return;
	const reply = await createSlackCall(need('SLACK_API_URL'), token)('apps.connections.open');
	if (reply.kind === 'unreachable') return failure(`Slack cannot be asked: ${reply.why}.`);
	if (reply.kind === 'refused')
		return failure(
			(reply.code === 'missing_scope' ? NO_CONNECTIONS : tokenAdvice(reply.code, 'SLACK_APP_TOKEN')) ??
				`Slack opens no connection (${reply.code}): is "Enable Socket Mode" on in the app's settings, under ` +
					'Socket Mode?',
		);
	const address = URL.parse(String(reply.data.url));
	if (address === null) return failure('Slack gave no address to connect to: try again.');
	const origin = `${address.protocol === 'ws:' ? 'http' : 'https'}://${address.host}/`;
	const response = await request(origin, { timeoutMs: SLACK_WITHIN_MS });
	if (response.kind === 'no-response')
		return failure(
			`The token is good, but ${address.host} cannot be reached: ${response.why}. Allow this machine to connect ` +
				'there (WebSocket).',
		);
	ok(`the app-level token is good, and ${address.host} can be reached.`);
	// Only a warning, because it is not documented that an app-level token contains the app's id.
	const tokensApp = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(token)?.[1];
	const botsApp = (await bot)?.app_id;
	if (tokensApp !== undefined && typeof botsApp === 'string' && botsApp !== tokensApp)
		warning(
			`SLACK_APP_TOKEN is of the app ${tokensApp}, SLACK_BOT_TOKEN of ${botsApp}: what people do in ${botsApp} ` +
				'would not arrive. Take both from one app.',
		);
}

/** Only the form of the secret can be checked, and only Slack knows the address. */
export function checkHttpMode({ skipped, warning }: Findings, { settings }: Setup) {
	const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = settings;
	if (appToken !== null || signingSecret == null) return;
	skipped(
		'Slack must send to https://<your address>/slack/events: set that address under Slash Commands, ' +
			'"Interactivity & Shortcuts" and Event Subscriptions, and turn Socket Mode off.',
	);
	if (!/^[0-9a-f]{32}$/.test(signingSecret))
		warning(
			'SLACK_SIGNING_SECRET does not look like one (32 characters, 0-9 and a-f): copy the Signing Secret from ' +
				'"Basic Information", not the client secret or the verification token.',
		);
}

/** At most this many ids of a setting are looked up, because Slack limits the calls. */
const MAX_LOOKUPS = 20;

const LOOKUPS = [
	{ setting: 'ADMIN_CONTACT', method: 'users.info', argument: 'user' },
	{ setting: 'ALLOWED_USERS', method: 'users.info', argument: 'user' },
	{ setting: 'ALLOWED_CHANNELS', method: 'conversations.info', argument: 'channel' },
	{ setting: 'ALLOWED_USERGROUPS', method: 'usergroups.users.list', argument: 'usergroup' },
] as const satisfies readonly { setting: keyof Settings; method: string; argument: string }[];

export async function checkAccess({ warning, skipped, okIfNone }: Findings, setup: Setup) {
	const { settings } = setup;
	const contact = settings.ADMIN_CONTACT;
	if (contact == null) {
		warning(
			'ADMIN_CONTACT is not set: refused people are told to ask "whoever runs Handraise here". Name somebody (a ' +
				'Slack user id, or words).',
		);
	} else if (/^[@#]|^[CGDS][A-Z0-9]{8,}$/.test(contact)) {
		warning(
			'ADMIN_CONTACT is shown as it is, which mentions nobody: give a user id (U…, from "Copy member ID" in ' +
				'their profile), or words such as "the platform team".',
		);
	}
	const lookups = LOOKUPS.flatMap(({ setting, ...lookup }) => {
		const ids = settings[setting] ?? [];
		const listed = typeof ids === 'string' ? [ids].filter((id) => /^[UW][A-Z0-9]{2,}$/.test(id)) : ids;
		return listed.slice(0, MAX_LOOKUPS).map(async (id) => ({ setting, id, problem: await lookUp(setup, lookup, id) }));
	});
	const unasked: string[] = [];
	for (const { setting, id, problem } of await Promise.all(lookups)) {
		if (problem === undefined) unasked.push(`${setting} (${id})`);
		else if (problem !== null) warning(`${setting} names ${id}, ${problem}.`);
	}
	if (unasked.length > 0)
		skipped(`${unasked.join(', ')}: not checked, because Slack refuses the app (see above) or limits the calls.`);
	okIfNone(
		lookups.length === 0 ? 'the settings are plausible.' : 'the people, channels and groups in the settings exist.',
	);
}

const PROBLEMS: Readonly<Record<string, string>> = {
	user_not_found: 'a user whom Slack does not know: copy the member ID from the profile',
	user_not_visible: 'a user whom the app cannot see',
	channel_not_found:
		'a channel that the app cannot see: copy the channel ID from the end of "About" in the channel, and invite ' +
		'the app if it is private',
	no_such_subteam: 'a user group that does not exist',
	subteam_not_found: 'a user group that does not exist',
};

/** What is wrong with an id; null when it is right, undefined when Slack refuses for another reason. */
async function lookUp({ bot, call }: Setup, { method, argument }: Record<'method' | 'argument', string>, id: string) {
	if ((await bot) === null) return undefined;
	const reply = await call(method, { [argument]: id });
	if (reply.kind === 'unreachable') return undefined;
	if (reply.kind === 'refused') return PROBLEMS[reply.code];
	const { user, channel, users } = reply.data;
	if (at(user, 'deleted') === true) return 'a user who has left: name somebody else';
	if (at(channel, 'is_archived') === true) return 'a channel that is archived';
	return Array.isArray(users) && users.length === 0 ? 'a user group that has no members' : null;
}
