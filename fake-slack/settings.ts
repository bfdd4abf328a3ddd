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
	'channel_archive',
	'channel_deleted',
	'channel_id_changed',
	'channel_left',
	'channel_shared',
	'channel_unarchive',
	'channel_unshared',
	'group_archive',
	'group_deleted',
	'group_left',
	'group_unarchive',
	'member_joined_channel',
	'member_left_channel',
	'message.im',
] as const;

/** Every event that this fake sends an app that is subscribed to it. */
export const SENT_EVENTS = [
	...DEFAULT_EVENTS,
	'message.channels',
	'message.groups',
	'message.mpim',
	'message_metadata_deleted',
	'message_metadata_posted',
	'message_metadata_updated',
	'user_change',
] as const;

interface DeclaredCommand {
	command: string;
	/** `should_escape`: mentions, channels and links arrive as `<@U…|name>`, `<#C…|name>` and `<https://…>`. */
	escaped: boolean;
}

interface DeclaredShortcut {
	type: 'message' | 'global';
	callbackId: string;
}

interface MetadataSubscription {
	/** An app's id, or `*`. */
	appId: string;
	eventType: string;
}

export interface Settings {
	scopes: string[];
	events: string[];
	/**
	 * The metadata kinds the app is subscribed to. Null, without a manifest: all, once `events` contain
	 * message_metadata_posted.
	 */
	metadataSubscriptions: MetadataSubscription[] | null;
	/** The app's commands. Slack itself answers others. Null, without a manifest: every command goes to the app. */
	commands: DeclaredCommand[] | null;
	/** The app's shortcuts. Nobody can choose others. Null, without a manifest: any. */
	shortcuts: DeclaredShortcut[] | null;
	/** Whether the app has a Home tab. */
	homeTab: boolean;
	/** Whether the app has a Messages tab. Without one neither side can write direct messages. */
	messagesTab: boolean;
	/** Whether the Messages tab is read-only for people. */
	messagesTabReadOnly: boolean;
	/**
	 * After an update of a view, initial values of unchanged plain-text inputs are missing from `view.state.values`, and
	 * initially chosen options come as an empty list (bolt-js #1073, #1258).
	 */
	omitUntouchedInitialValues: boolean;
	/** Counts calls against Slack's real tiers and answers 429 beyond them. */
	realRates: boolean;
	/** conversations.history and .replies: once a minute, as for apps distributed outside the Marketplace. */
	historyOncePerMinute: boolean;
	/** The most messages in one response of conversations.history and .replies: 15 for apps outside the Marketplace. */
	historyPageSize: number;
	/**
	 * The most channels in one response of users.conversations, whatever the limit: Slack may give fewer than requested.
	 */
	conversationsPageSize: number;
	/** The most people in one response of users.list, whatever the limit; of more, a call without a limit is refused. */
	usersPageSize: number;
	/** What becomes of a message that a response_url replaces for everybody: not documented for messages of chat.postMessage. */
	replaceOriginal: 'works' | 'refused' | 'losesMetadata';
	/** URLs that Slack cannot download: one in an image block fails the whole message. */
	undownloadable: (url: string) => boolean;
	/** When an event without an ack is redelivered, in ms after the previous failure (Slack: at once, 1 min, 5 min). */
	retryDelaysMs: number[];
}

/** What the manifest declares is granted, subscribed to and delivered; without one, what an ordinary app has. */
export function settingsOf(manifest: Manifest | null): Settings {
	const features = manifest?.features;
	return {
		scopes: manifest?.oauth_config.scopes.bot ?? [...DEFAULT_SCOPES],
		events: manifest?.settings.event_subscriptions.bot_events ?? [...DEFAULT_EVENTS],
		metadataSubscriptions:
			manifest?.settings.event_subscriptions.metadata_subscriptions.map((one) => ({
				appId: one.app_id,
				eventType: one.event_type,
			})) ?? null,
		commands: features?.slash_commands.map(({ command, should_escape: escaped }) => ({ command, escaped })) ?? null,
		shortcuts: features?.shortcuts.map(({ type, callback_id: callbackId }) => ({ type, callbackId })) ?? null,
		homeTab: features?.app_home.home_tab_enabled ?? true,
		messagesTab: features?.app_home.messages_tab_enabled ?? true,
		messagesTabReadOnly: features?.app_home.messages_tab_read_only_enabled ?? false,
		omitUntouchedInitialValues: true,
		realRates: false,
		historyOncePerMinute: false,
		historyPageSize: 999,
		conversationsPageSize: 999,
		usersPageSize: 999,
		replaceOriginal: 'works',
		undownloadable: () => false,
		retryDelaysMs: [0, 60_000, 300_000],
	};
}
