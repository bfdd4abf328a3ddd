/** The fields of a manifest that the rules read. Their shape is checked before. */
export type Manifest = {
	display_information: { name: string; description?: string; long_description?: string; background_color?: string };
	features?: {
		app_home?: { home_tab_enabled?: boolean; messages_tab_enabled?: boolean; messages_tab_read_only_enabled?: boolean };
		bot_user?: { display_name: string };
		slash_commands?: { command: string; description: string; usage_hint?: string; url?: string }[];
		shortcuts?: { name: string; callback_id: string; description: string }[];
		unfurl_domains?: string[];
	};
	oauth_config?: { scopes?: { bot?: string[]; bot_optional?: string[]; user?: string[] } };
	settings?: {
		event_subscriptions?: { bot_events?: string[]; user_events?: string[]; request_url?: string };
		interactivity?: { is_enabled: boolean; request_url?: string };
		socket_mode_enabled?: boolean;
	};
};

/** Returns a line for each problem. */
export type ManifestRule = (manifest: Manifest) => string[];

type Lists = { knownScopes: Readonly<Record<string, string>>; knownEvents: Readonly<Record<string, string | null>> };

function tooLong(path: string, text: string | undefined, max: number): string[] {
	return text !== undefined && text.length > max ? [`${path} has ${text.length} characters, at most ${max}`] : [];
}

function tooMany(path: string, list: readonly unknown[] | undefined, max: number): string[] {
	return list !== undefined && list.length > max ? [`${path} has ${list.length} items, at most ${max}`] : [];
}

function repeated(path: string, list: readonly string[] = []): string[] {
	return list.filter((item, index) => list.indexOf(item) !== index).map((item) => `${path} names ${item} twice`);
}

/** Limits of docs.slack.dev/reference/app-manifest. */
const caps: ManifestRule = ({ display_information: display, features }) => [
	...tooLong('/display_information/name', display.name, 35),
	...tooLong('/display_information/description', display.description, 140),
	...tooLong('/display_information/long_description', display.long_description, 4000),
	...tooLong('/features/bot_user/display_name', features?.bot_user?.display_name, 80),
	...tooMany('/features/slash_commands', features?.slash_commands, 50),
	...tooMany('/features/shortcuts', features?.shortcuts, 10),
	...tooMany('/features/unfurl_domains', features?.unfurl_domains, 5),
	...(features?.slash_commands ?? []).flatMap(({ command, description, usage_hint }, index) => [
		...tooLong(`/features/slash_commands/${index}/command`, command, 32),
		...tooLong(`/features/slash_commands/${index}/description`, description, 2000),
		...tooLong(`/features/slash_commands/${index}/usage_hint`, usage_hint, 1000),
	]),
	...(features?.shortcuts ?? []).flatMap(({ name, callback_id, description }, index) => [
		...tooLong(`/features/shortcuts/${index}/name`, name, 24),
		...tooLong(`/features/shortcuts/${index}/callback_id`, callback_id, 255),
		...tooLong(`/features/shortcuts/${index}/description`, description, 150),
	]),
];

const writing: ManifestRule = ({ display_information: display, features }) => {
	const problems: string[] = [];
	if (display.long_description !== undefined && display.long_description.length < 174) {
		problems.push('/display_information/long_description has fewer than 174 characters');
	}
	if (display.background_color !== undefined && !/^#([\da-f]{3}|[\da-f]{6})$/i.test(display.background_color)) {
		problems.push('/display_information/background_color is no colour like #1f4e5f');
	}
	for (const [index, { command }] of (features?.slash_commands ?? []).entries()) {
		if (!/^\/[a-z\d_-]+$/.test(command)) {
			problems.push(`/features/slash_commands/${index}/command must be a slash, small letters, digits, _ and -`);
		}
	}
	return problems;
};

const scopes =
	({ knownScopes }: Lists): ManifestRule =>
	({ features, oauth_config }) => {
		const { bot = [], bot_optional: optional = [], user = [] } = oauth_config?.scopes ?? {};
		const required = bot.filter((scope) => !optional.includes(scope));
		const problems = [
			...repeated('/oauth_config/scopes/bot', bot),
			...repeated('/oauth_config/scopes/bot_optional', optional),
		];
		for (const scope of new Set([...bot, ...optional])) {
			if (!Object.hasOwn(knownScopes, scope)) problems.push(`/oauth_config/scopes names the unknown scope ${scope}`);
		}
		for (const scope of optional) {
			if (!bot.includes(scope)) problems.push(`/oauth_config/scopes/bot must name the optional scope ${scope} too`);
		}
		for (const scope of user)
			problems.push(`/oauth_config/scopes/user asks for ${scope}; Handraise acts as a bot only`);
		const hasCommands = [...(features?.slash_commands ?? []), ...(features?.shortcuts ?? [])].length > 0;
		if (hasCommands && !required.includes('commands')) {
			problems.push('/oauth_config/scopes/bot needs commands for slash commands and shortcuts');
		}
		if (bot.length > 0 && features?.bot_user === undefined) problems.push('/features needs bot_user for bot scopes');
		return problems;
	};

const events =
	({ knownEvents }: Lists): ManifestRule =>
	({ features, oauth_config, settings }) => {
		const { bot_events = [], user_events = [] } = settings?.event_subscriptions ?? {};
		const { bot = [], bot_optional: optional = [] } = oauth_config?.scopes ?? {};
		const problems = repeated('/settings/event_subscriptions/bot_events', bot_events);
		for (const event of new Set(bot_events)) {
			const scope = Object.hasOwn(knownEvents, event) ? knownEvents[event] : undefined;
			if (scope === undefined) {
				problems.push(`/settings/event_subscriptions/bot_events names the unknown event ${event}`);
			} else if (scope === null) {
			} else if (!bot.includes(scope)) {
				problems.push(`/oauth_config/scopes/bot needs ${scope} for the event ${event}`);
			} else if (optional.includes(scope)) {
				problems.push(`/oauth_config/scopes/bot_optional makes ${scope} optional, but the event ${event} needs it`);
			}
		}
		for (const event of user_events) {
			problems.push(`/settings/event_subscriptions/user_events names ${event}; Handraise acts as a bot only`);
		}
		if (bot_events.includes('app_home_opened') !== (features?.app_home?.home_tab_enabled === true)) {
			problems.push('/features/app_home must enable the Home tab, and the event app_home_opened fills it');
		}
		const { messages_tab_enabled: isOn, messages_tab_read_only_enabled: isReadOnly } = features?.app_home ?? {};
		if (bot_events.includes('message.im') && (isOn !== true || isReadOnly !== false)) {
			problems.push('/features/app_home must enable the messages tab, not read-only, for the event message.im');
		}
		return problems;
	};

/** With Socket Mode Slack needs no address. Without it, it needs one for everything it sends. */
const addresses: ManifestRule = ({ features, settings }) => {
	const places: [string, string | undefined][] = (features?.slash_commands ?? []).map(({ url }, index) => [
		`/features/slash_commands/${index}/url`,
		url,
	]);
	const { event_subscriptions: subscriptions, interactivity } = settings ?? {};
	if ((subscriptions?.bot_events ?? []).length > 0) {
		places.push(['/settings/event_subscriptions/request_url', subscriptions?.request_url]);
	}
	if (interactivity?.is_enabled === true)
		places.push(['/settings/interactivity/request_url', interactivity.request_url]);

	const problems: string[] = [];
	for (const [path, address] of places) {
		if (address === undefined && settings?.socket_mode_enabled !== true)
			problems.push(`${path} is needed without Socket Mode`);
		if (address !== undefined && !/^https:\/\/[^/\s]+/.test(address)) problems.push(`${path} must be an https address`);
	}
	const isInteractive = (features?.shortcuts ?? []).length > 0;
	if (isInteractive && interactivity?.is_enabled !== true)
		problems.push('/settings/interactivity must be enabled for shortcuts');
	return problems;
};

export const manifestRules = (lists: Lists): ManifestRule[] => [caps, writing, scopes(lists), events(lists), addresses];
