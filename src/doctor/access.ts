import type { Settings } from '../config.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { SlackCall } from './slack-call.ts';

/** Ids looked up for one setting; more would run into Slack's rates. */
const MOST_LOOKUPS = 20;

type AccessSettings = Partial<
	Pick<Settings, 'ADMIN_CONTACT' | 'ALLOWED_USERS' | 'ALLOWED_CHANNELS' | 'ALLOWED_USERGROUPS'>
>;

/** Whether the people, channels and groups that the configuration names are there. `ask` is null without a bot token. */
export async function checkAccess(settings: AccessSettings, ask: SlackAsk | null): Promise<Finding[]> {
	const { ok, warning, skipped } = findingsOf('Access');
	const contact = settings.ADMIN_CONTACT;
	const found: Finding[] = [];
	if (contact === undefined) {
		found.push(
			warning(
				'ADMIN_CONTACT is not set: refused people are told to ask "whoever runs Handraise here". Name somebody (a Slack user id, or words).',
			),
		);
	} else if (/^[@#]|^[CGDS][A-Z0-9]{8,}$/.test(contact)) {
		found.push(
			warning(
				'ADMIN_CONTACT is shown as it is, which mentions nobody: give a user id (U…, from "Copy member ID" in their profile), or words such as "the platform team".',
			),
		);
	}
	const isContactAnId = contact !== undefined && /^[UW][A-Z0-9]{2,}$/.test(contact);
	const lookups = [
		...(isContactAnId ? [{ setting: 'ADMIN_CONTACT', id: contact, kind: 'user' as const }] : []),
		...idsOf('ALLOWED_USERS', settings.ALLOWED_USERS, 'user'),
		...idsOf('ALLOWED_CHANNELS', settings.ALLOWED_CHANNELS, 'channel'),
		...idsOf('ALLOWED_USERGROUPS', settings.ALLOWED_USERGROUPS, 'group'),
	];
	const learned = await Promise.all(lookups.map(async ({ kind, id }) => (ask === null ? UNASKED : ask(kind, id))));
	for (const [index, { setting, id }] of lookups.entries()) {
		const problem = learned[index];
		if (typeof problem === 'string') found.push(warning(`${setting} names ${id}, ${problem}.`));
	}
	const unasked = lookups.filter((_, index) => learned[index] === UNASKED);
	if (unasked.length > 0) {
		const named = unasked.map(({ setting, id }) => `${setting} (${id})`).join(', ');
		found.push(skipped(`${named}: not looked up, since Slack does not let the app (see above), or limits the calls.`));
	}
	if (found.length > 0) return found;
	return [ok(lookups.length === 0 ? 'the settings are plausible.' : 'whom and what the settings name is there.')];
}

type Kind = 'user' | 'channel' | 'group';

function idsOf(setting: string, ids: readonly string[] | undefined, kind: Kind) {
	return (ids ?? []).slice(0, MOST_LOOKUPS).map((id) => ({ setting, id, kind }));
}

const UNASKED = Symbol('Slack did not say');

/** What is wrong with an id, or null. */
type SlackAsk = (kind: Kind, id: string) => Promise<string | null | typeof UNASKED>;

const METHODS = {
	user: { method: 'users.info', argument: 'user' },
	channel: { method: 'conversations.info', argument: 'channel' },
	group: { method: 'usergroups.users.list', argument: 'usergroup' },
} as const;

const UNKNOWN: Readonly<Record<string, string>> = {
	user_not_found: 'whom Slack does not know here: take the member id from the profile',
	user_not_visible: 'whom the app may not see',
	channel_not_found:
		'a channel that the app cannot see: take the id from the end of "About" in the channel, and invite the app if it is private',
	no_such_subteam: 'a user group that is not there',
	subteam_not_found: 'a user group that is not there',
};

/** Looks ids up with the bot token. Refusals that are not about the id (a missing scope, a limit) are others' to report. */
export function createSlackAsk(call: SlackCall, token: string): SlackAsk {
	return async (kind, id) => {
		const { method, argument } = METHODS[kind];
		const reply = await call(method, token, { [argument]: id });
		if (reply.kind === 'refused') return UNKNOWN[reply.code] ?? UNASKED;
		if (reply.kind !== 'ok') return UNASKED;
		const about = (reply.data[kind] ?? {}) as { deleted?: unknown; is_archived?: unknown };
		if (about.deleted === true) return 'who has left: name somebody else';
		if (about.is_archived === true) return 'a channel that is archived';
		return kind === 'group' && Array.isArray(reply.data.users) && reply.data.users.length === 0
			? 'a user group that has no members'
			: null;
	};
}
