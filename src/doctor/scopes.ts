import type { Settings } from '../config.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { SlackReply } from './slack-call.ts';

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
export function checkScopes(reply: SlackReply, settings: Partial<Settings>): Finding[] {
	const { ok, warning, failure, skipped } = findingsOf('Scopes');
	if (reply.kind !== 'ok') return [skipped('not looked at, since the bot token could not be checked.')];
	const header = reply.answer.headers.get('x-oauth-scopes');
	if (header === null) {
		return [
			warning(
				'Slack does not say what it granted (no x-oauth-scopes header; a proxy may remove it): compare with manifest.yml yourself.',
			),
		];
	}
	const granted = new Set(
		header
			.split(',')
			.map((scope) => scope.trim())
			.filter((scope) => scope !== ''),
	);
	const needsGroups = (settings.ALLOWED_USERGROUPS ?? []).length > 0;
	const found: Finding[] = [];
	for (const [scope, loss] of Object.entries(REQUIRED_SCOPES)) {
		if (!granted.has(scope)) found.push(failure(`${scope} is missing: ${loss}. Add it ${HOW}.`));
	}
	for (const [scope, loss] of Object.entries(OPTIONAL_SCOPES)) {
		if (granted.has(scope)) continue;
		if (scope === 'usergroups:read' && needsGroups) {
			found.push(failure(`${scope} is missing, and ALLOWED_USERGROUPS needs it: add it ${HOW}.`));
		} else found.push(warning(`the optional ${scope} is missing: ${loss}. If you want it, add it ${HOW}.`));
	}
	const surplus = [...granted].filter((scope) => !Object.hasOwn({ ...REQUIRED_SCOPES, ...OPTIONAL_SCOPES }, scope));
	if (surplus.length > 0) {
		found.push(warning(`${surplus.join(', ')}: granted, and Handraise never uses it. Best taken away ${HOW}.`));
	}
	return found.length > 0 ? found : [ok('all that manifest.yml asks for, and no more.')];
}
