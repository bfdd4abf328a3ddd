/**
 * The scopes and events that Handraise may name in its manifest, kept by hand: Slack's schema accepts any string, and
 * every workspace is asked for a scope that is added by mistake. Source: docs.slack.dev/reference/scopes and
 * docs.slack.dev/reference/events, "Required scopes" of each page.
 */

/** Bot scopes and their purpose. */
export const knownScopes: Readonly<Record<string, string>> = {
	commands: 'slash commands and shortcuts',
	'chat:write': 'posting and updating messages',
	'users:read': 'names, guests, bots and foreigners',
	'app_mentions:read': 'the event app_mention',
	'im:history': 'the event message.im',
	'im:write': 'opening direct messages',
	'channels:read': 'facts and events of public channels',
	'groups:read': 'facts and events of private channels',
	'usergroups:read': 'members of user groups',
	'channels:history': 'looking for a post in a public channel',
	'groups:history': 'looking for a post in a private channel',
};

/** Bot events and the scope that Slack requires for each; null: none. */
export const knownEvents: Readonly<Record<string, string | null>> = {
	app_mention: 'app_mentions:read',
	'message.im': 'im:history',
	channel_left: 'channels:read',
	channel_archive: 'channels:read',
	channel_unarchive: 'channels:read',
	channel_deleted: 'channels:read',
	group_left: 'groups:read',
	group_archive: 'groups:read',
	group_unarchive: 'groups:read',
	group_deleted: 'groups:read',
	// For private channels it also needs groups:read.
	channel_shared: 'channels:read',
	channel_id_changed: 'groups:read',
	app_home_opened: null,
	app_uninstalled: null,
	tokens_revoked: null,
	// For private channels they need groups:read instead.
	member_joined_channel: 'channels:read',
	member_left_channel: 'channels:read',
	user_change: 'users:read',
};
