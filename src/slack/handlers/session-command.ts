import { isReservedId } from '../../session-service/address.ts';
import type { DiscoverySettings, WatchSettings } from '../../watches/watch.ts';
import { type HelpReason, helpMessage } from '../blocks/commands.ts';
import { changing, forAnybody, ifAllowed, ifAllowedAnywhere } from '../task.ts';
import { registerChannelSettings } from './channel-settings.ts';
import type { HandlerContext } from './context.ts';
import { registerHistory } from './history.ts';
import { registerInbox } from './inbox.ts';
import { createWatchCommands } from './watch-commands.ts';
import { registerWatching } from './watching.ts';

/** The meaning of the text after `/session`. */
export type SessionCommand =
	/** `word`: the word that `reason` is about; left out: the whole text. */
	| { readonly kind: 'help'; readonly reason: HelpReason; readonly word?: string }
	| { readonly kind: 'open' | 'history'; readonly sessionId: string }
	| { readonly kind: 'watch'; readonly sessionIds: readonly string[]; readonly settings: Partial<WatchSettings> }
	| { readonly kind: 'watchAll'; readonly settings: Partial<DiscoverySettings> }
	| { readonly kind: 'unwatch'; readonly sessionIds: readonly string[] | 'all' }
	| { readonly kind: WordCommand };

/** Commands that take nothing more. */
type WordCommand = 'list' | 'inbox' | 'settings';

/** The service promises only that an id is a string. A button's value holds this many. */
const MAX_ID_LENGTH = 400;
/** An id in a link may be percent-encoded. The limit ends the work of removing quotes layer by layer. */
const MAX_WORD_LENGTH = 4_000;
const MAX_IDS = 20;

/**
 * Parses the text after `/session`: an id alone, in quotes or backticks, as a link of Slack (`<…|…>`) or of the dashboard;
 * `watch`, `unwatch`, `list`, `inbox`, `settings`, `history` and `help` in any letter case. A quoted word is always an id.
 *
 * @param dashboardUrl without trailing slash; null accepts a session link of any dashboard
 */
export function parseSessionCommand(text: string, dashboardUrl: string | null): SessionCommand {
	// The label of a link may hold spaces, so it is removed before the text is split.
	const words = text
		.replace(/<(https?:[^|<>]*)\|[^<>]*>/g, '$1')
		.split(/\s+/)
		.filter((word) => word !== '');
	const [first, ...args] = words;
	if (first === undefined) return help('asked');
	switch (first.toLowerCase()) {
		case 'help':
		case '?':
			return help('asked');
		case 'list':
		case 'inbox':
		case 'settings':
			return args.length === 0 ? { kind: first.toLowerCase() as WordCommand } : help('unclear');
		case 'watch':
			return parseWatch(args, dashboardUrl);
		case 'unwatch':
			if (isAll(args)) return { kind: 'unwatch', sessionIds: 'all' };
			return withIds(args, dashboardUrl, MAX_IDS, (sessionIds) => ({ kind: 'unwatch', sessionIds }));
		case 'history':
			return withIds(args, dashboardUrl, 1, ([sessionId = '']) => ({ kind: 'history', sessionId }));
		default:
			if (words.length > 1) return help('unclear');
			if (isAll(words)) return help('all_alone');
			return withIds(words, dashboardUrl, 1, ([sessionId = '']) => ({ kind: 'open', sessionId }));
	}
}

/** An id in quotes may be this word. */
function isAll(words: readonly string[]): boolean {
	return words.length === 1 && words[0]?.toLowerCase() === 'all';
}

function parseWatch(words: readonly string[], dashboardUrl: string | null): SessionCommand {
	const flags = words.filter((word) => FLAG.test(word));
	const ids = words.filter((word) => !FLAG.test(word));
	let settings: Partial<WatchSettings> = {};
	for (const flag of flags) {
		const setting = WATCH_FLAGS[`-${flag.replace(DASHES, '-').toLowerCase()}`];
		if (setting === undefined) return { kind: 'help', reason: 'unknown_flag', word: flag };
		settings = { ...settings, ...setting };
	}
	if (isAll(ids)) {
		const { mode, questionsInChannel, ...discovery } = settings;
		// A raised hand has no card, and its question stands in the channel.
		const isForCards = mode !== undefined || questionsInChannel !== undefined;
		return isForCards ? help('all_alone') : { kind: 'watchAll', settings: discovery };
	}
	return withIds(ids, dashboardUrl, MAX_IDS, (sessionIds) => ({ kind: 'watch', sessionIds, settings }));
}

/** Keyboards make other dashes of `--`. An id that begins with a dash is quoted. */
const FLAG = /^[\p{Pd}\u2212]/u;
const DASHES = /[\p{Pd}\u2212]+/gu;

const WATCH_FLAGS: Readonly<Record<string, Partial<WatchSettings>>> = {
	'--everything': { mode: 'everything' },
	'--questions-only': { mode: 'questionsOnly' },
	'--in-channel': { questionsInChannel: true },
	'--thread-only': { questionsInChannel: false },
	'--discreet': { discreet: true },
	'--no-discreet': { discreet: false },
	'--buttons': { buttons: true },
	'--no-buttons': { buttons: false },
};

function withIds(
	words: readonly string[],
	dashboardUrl: string | null,
	maxCount: number,
	build: (ids: readonly string[]) => SessionCommand,
): SessionCommand {
	if (words.length === 0) return help('missing_id');
	if (words.length > maxCount) return help(maxCount === 1 ? 'unclear' : 'too_many_ids');
	if (words.length > 1 && words.some((word) => isAll([word]))) return help('all_alone');
	const ids: string[] = [];
	for (const word of words) {
		const parsed = parseSessionId(word, dashboardUrl);
		if (typeof parsed !== 'string') return help(parsed.problem);
		if (isReservedId(parsed)) return { kind: 'help', reason: 'reserved_id', word: parsed };
		if (!ids.includes(parsed)) ids.push(parsed);
	}
	return build(ids);
}

/** The session id in one word, or why there is none. */
function parseSessionId(word: string, dashboardUrl: string | null): string | { problem: HelpReason } {
	if (word.length > MAX_WORD_LENGTH) return { problem: 'id_too_long' };
	const bare = unwrap(word);
	if (bare === '') return { problem: 'missing_id' };
	if (/^https?:\/\//i.test(bare)) return idOfLink(bare, dashboardUrl);
	if (bare.length > MAX_ID_LENGTH) return { problem: 'id_too_long' };
	// No known id has these characters, and Slack's mark-up begins with them.
	if (/[<>@#!]/.test(bare)) return { problem: 'unclear' };
	return bare;
}

/** Removes quotes, backticks and Slack's marks around links, layer by layer. */
function unwrap(word: string): string {
	let bare = word;
	for (let before = ''; before !== bare; ) {
		before = bare;
		bare = bare
			.replace(/^<([^>]*)>$/, '$1')
			.replace(/^(["'`“”„‘’«»])(.*)["'`“”‘’«»]$/u, '$2')
			.trim();
	}
	return bare.replaceAll('&amp;', '&');
}

function idOfLink(link: string, dashboardUrl: string | null): string | { problem: HelpReason } {
	const url = URL.parse(link);
	if (url === null) return { problem: 'unclear' };
	const expected = dashboardUrl === null ? null : URL.parse(`${dashboardUrl}/sessions/session`);
	const isOurs =
		expected === null
			? url.pathname.endsWith('/sessions/session')
			: url.origin === expected.origin && url.pathname.replace(/\/+$/, '') === expected.pathname;
	if (!isOurs) return { problem: 'foreign_link' };
	const id = url.searchParams.get('id')?.trim() ?? '';
	if (id === '') return { problem: 'link_without_id' };
	return id.length > MAX_ID_LENGTH ? { problem: 'id_too_long' } : id;
}

function help(reason: HelpReason): SessionCommand {
	return { kind: 'help', reason };
}

/** Registers `/session …`, and the buttons and windows of what it shows. */
export function registerSessionCommand(core: HandlerContext): void {
	const { listen, flow, reply, config } = core;
	const openHistory = registerHistory(core);
	const openInbox = registerInbox(core);
	const openSettings = registerChannelSettings(core);
	const commands = createWatchCommands(core);
	const { watch, watchAll, unwatch, list } = commands;
	registerWatching(core, commands);

	listen.command('/session', (asked, text) => {
		const command = parseSessionCommand(text, config.dashboardUrl);
		switch (command.kind) {
			case 'help':
				return forAnybody(async () => {
					await reply.toPerson(asked, helpMessage(command.reason, command.word ?? text.trim()));
				});
			case 'open':
				return flow.open(asked, { sessionId: command.sessionId, messageIndex: null });
			case 'history':
				return ifAllowed(asked.channelId, (request) => openHistory(request, command.sessionId));
			case 'list':
				return ifAllowed(asked.channelId, (request) => list(request, 0));
			case 'inbox':
				return ifAllowedAnywhere(openInbox);
			case 'settings':
				return ifAllowed(asked.channelId, openSettings);
			case 'watch': {
				const { sessionIds, settings } = command;
				const [sessionId = '', ...others] = sessionIds;
				const task = ifAllowed(asked.channelId, (request) => watch(request, sessionIds, settings));
				return changing({ ...task, about: { sessionId, others: others.length } });
			}
			case 'watchAll':
				return changing(ifAllowed(asked.channelId, (request) => watchAll(request, command.settings)));
			case 'unwatch':
				return changing(ifAllowedAnywhere((request) => unwatch(request, command.sessionIds)));
		}
	});
}
