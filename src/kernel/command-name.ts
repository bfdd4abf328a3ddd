const named = (setting: string, fallback: string) => process.env[setting]?.trim() || fallback;

/** This installation's command: a constant of the process, so that all words can name it. `config.ts` checks it. */
export const COMMAND = named('SLASH_COMMAND', '/session');

/** What stands behind it. */
const COMMAND_WORDS = ['watch', 'unwatch', 'list', 'inbox', 'settings', 'history', 'help'];

/** The one of these words from which a typed one differs by a letter, or by two that changed places. */
export function commandLike(typed: string): string | undefined {
	const shorter = (word: string) => [word, ...Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))];
	const isAlike = (word: string) => shorter(typed.toLowerCase()).some((one) => shorter(word).includes(one));
	return typed.length > 20 ? undefined : COMMAND_WORDS.find(isAlike);
}

/** What the app and its bot are called in Slack. */
export const APP_NAME = named('APP_NAME', 'Handraise');

/** Commands that Slack has itself (its help, "Use built-in slash commands"): an app cannot have them. */
// biome-ignore format: a list of words
export const COMMANDS_OF_SLACK: readonly string[] = [
	'/active', '/apps', '/archive', '/away', '/call', '/collapse', '/dm', '/dnd', '/expand', '/feed', '/feedback',
	'/huddle', '/invite', '/invite_people', '/join', '/keys', '/kick', '/leave', '/me', '/msg', '/mute', '/open',
	'/part', '/prefs', '/pro', '/remind', '/remove', '/rename', '/search', '/shortcuts', '/shrug', '/star', '/status',
	'/topic', '/who',
];
