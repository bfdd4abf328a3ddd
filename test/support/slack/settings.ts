/** The scopes an installation of the app has unless a test takes some away. */
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

/** The events the app is subscribed to. */
const DEFAULT_EVENTS = [
	'app_home_opened',
	'app_mention',
	'channel_archive',
	'channel_left',
	'channel_unarchive',
	'group_archive',
	'group_left',
	'member_joined_channel',
	'member_left_channel',
	'message.im',
];

export interface Settings {
	scopes: string[];
	events: string[];
	/** Commands the app has; others are answered by Slack itself. Undefined: every command goes to the app. */
	commands: string[] | undefined;
	/** `should_escape` of the commands: mentions arrive as `<@U…|name>`. */
	escapeCommands: boolean;
	/**
	 * After an update of a view, initial values of plain-text inputs that nobody touched are missing from
	 * `view.state.values` (bolt-js #1073, #1258).
	 */
	omitUntouchedInitialValues: boolean;
	/** Counts calls against Slack's real tiers and answers 429 beyond them. */
	realRates: boolean;
	/** conversations.history and .replies: once a minute, as for apps distributed outside the Marketplace. */
	historyOncePerMinute: boolean;
	/** URLs that Slack cannot download: an image block with one fails the whole message. */
	undownloadable: (url: string) => boolean;
	/** Redeliveries of an event nobody acknowledged, in milliseconds after the failure before (Slack: at once, 1 min, 5 min). */
	retryDelaysMs: number[];
}

export function defaultSettings(): Settings {
	return {
		scopes: [...DEFAULT_SCOPES],
		events: [...DEFAULT_EVENTS],
		commands: undefined,
		escapeCommands: true,
		omitUntouchedInitialValues: true,
		realRates: false,
		historyOncePerMinute: false,
		undownloadable: () => false,
		retryDelaysMs: [0, 60_000, 300_000],
	};
}
