import type { Manifest } from './manifest.ts';

/** The scopes of an app without a manifest. */
const DEFAULT_SCOPES = [
	'app_mentions:read',
	'channels:history',
	'channels:read',
	'chat:write',
	'commands',
	'groups:history',
	'groups:read',
	'im:history',
	'im:write',
	'usergroups:read',
	'users:read',
];

/** The events that such an app is subscribed to. */
const DEFAULT_EVENTS = [
	'app_home_opened',
	'app_mention',
	'app_uninstalled',
	'channel_archive',
	'channel_deleted',
	'channel_id_changed',
	'channel_left',
	'channel_shared',
	'channel_unarchive',
	'group_archive',
	'group_deleted',
	'group_left',
	'group_unarchive',
	'member_joined_channel',
	'member_left_channel',
	'message.im',
	'tokens_revoked',
] as const;

/** Every event that this fake sends an app that is subscribed to it. */
export const SENT_EVENTS = [
	...DEFAULT_EVENTS,
	'message.channels',
	'message.groups',
	'message.mpim',
	'user_change',
] as const;

interface DeclaredCommand {
	command: string;
	/** `should_escape`: mentions, channels and links arrive as `<@U…|name>`, `<#C…|name>` and `<https://…>`. */
	escaped: boolean;
}

export interface Settings {
	scopes: string[];
	events: string[];
	/** The app's commands. Slack itself answers others. Null, without a manifest: every command goes to the app. */
	commands: DeclaredCommand[] | null;
	/** The callback_ids of the app's message shortcuts. Nobody can choose others. Null, without a manifest: any. */
	shortcuts: string[] | null;
	/** Whether the app has a Home tab. */
	homeTab: boolean;
	/** Whether the app has a Messages tab. Without one neither side can write direct messages. */
	messagesTab: boolean;
	/** Whether the Messages tab is read-only for people. */
	messagesTabReadOnly: boolean;
	/** Counts calls against Slack's real tiers and answers 429 beyond them. */
	realRates: boolean;
	/** The most messages in one response of conversations.history and .replies: 15 for apps outside the Marketplace. */
	historyPageSize: number;
	/**
	 * The most channels in one response of users.conversations, whatever the limit: Slack may give fewer than requested.
	 */
	conversationsPageSize: number;
	/** What becomes of a message that a response_url replaces for everybody: not documented for messages of chat.postMessage. */
	replaceOriginal: 'works' | 'refused' | 'losesMetadata';
	/** URLs that Slack cannot download: one in an image block fails the whole message. */
	undownloadable: (url: string) => boolean;
}

/** What the manifest declares is granted, subscribed to and delivered; without one, what an ordinary app has. */
export function settingsOf(manifest: Manifest | null): Settings {
	const features = manifest?.features;
	return {
		scopes: manifest?.oauth_config.scopes.bot ?? [...DEFAULT_SCOPES],
		events: manifest?.settings.event_subscriptions.bot_events ?? [...DEFAULT_EVENTS],
		commands: features?.slash_commands.map(({ command, should_escape: escaped }) => ({ command, escaped })) ?? null,
		shortcuts: features?.shortcuts.map(({ callback_id: callbackId }) => callbackId) ?? null,
		homeTab: features?.app_home.home_tab_enabled ?? true,
		messagesTab: features?.app_home.messages_tab_enabled ?? true,
		messagesTabReadOnly: features?.app_home.messages_tab_read_only_enabled ?? false,
		realRates: false,
		historyPageSize: 999,
		conversationsPageSize: 999,
		replaceOriginal: 'works',
		undownloadable: () => false,
	};
}
