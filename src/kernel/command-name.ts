const named = (setting: string, fallback: string) => process.env[setting]?.trim() || fallback;

/** This installation's slash command. A constant of the process, because all texts name it. `config.ts` checks it. */
export const COMMAND = named('SLASH_COMMAND', '/session');

/** The words that may follow it. The parser and the help have an entry for each. */
export const COMMAND_WORDS = ['watch', 'unwatch', 'list', 'inbox', 'settings', 'history', 'help'] as const;
export type CommandWord = (typeof COMMAND_WORDS)[number];

/** The word that was probably meant: it differs from the typed one by a letter, or by two letters that are swapped. */
export function commandLike(typed: string): string | undefined {
	const shorter = (word: string) => [word, ...Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))];
	const isAlike = (word: string) => shorter(typed.toLowerCase()).some((one) => shorter(word).includes(one));
	return typed.length > 20 ? undefined : COMMAND_WORDS.find(isAlike);
}

/** What the app and its bot are called in Slack. */
export const APP_NAME = named('APP_NAME', 'Handraise');

/** Slack's own commands, which an app cannot have (Slack's help, "Use built-in slash commands"). */
// biome-ignore format: a list of words
export const COMMANDS_OF_SLACK: readonly string[] = [
	'/active', '/apps', '/archive', '/away', '/call', '/collapse', '/dm', '/dnd', '/expand', '/feed', '/feedback',
	'/huddle', '/invite', '/invite_people', '/join', '/keys', '/kick', '/leave', '/me', '/msg', '/mute', '/open',
	'/part', '/prefs', '/pro', '/remind', '/remove', '/rename', '/search', '/shortcuts', '/shrug', '/star', '/status',
	'/topic', '/who',
];
