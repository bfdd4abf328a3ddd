import { withoutFinalMarks } from '../../domain/matching-text.ts';
import { COMMAND_WORDS, type CommandWord, commandLike } from '../../kernel/command-name.ts';
import { parseAddress } from '../../kernel/values.ts';
import type { HelpReason } from '../../screens/help.ts';
import { isReservedId } from '../../service/service.ts';

/** The service promises only that an id is a string. A button's value holds this many. */
const MAX_ID_LENGTH = 400;
/** An id in a link may be percent-encoded. The limit ends the work of removing quotes layer by layer. */
const MAX_WORD_LENGTH = 4_000;
const MAX_IDS = 20;

/** Invisible characters, which come along when people paste. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;
/** Commas separate ids. A comma inside of quotes or a link is part of the id. */
const COMMAS = /[,;，、；،]/;
const COMMAS_AFTER = /(?<=["'`”’»>])[,;，、；،]|[,;，、；،](?=["'`“„‘«<])/;
const QUOTED_OR_LINK = /["'`“”„‘’«»:]/;

/**
 * Parses the text after `/session`: an id alone, in quotes or backticks, as a link of Slack (`<…|…>`) or of the
 * dashboard; nothing (the inbox); `watch` (alone: to choose), `unwatch`, `list`, `settings`, `help` and, though the
 * help does not name them, `inbox` and `history`, in any letter case. A quoted word is always an id. Marks behind a
 * word, and what nobody sees, do not count.
 * @param dashboardUrl without trailing slash; null accepts a session link of any dashboard
 */
export function parseSessionCommand(text: string, dashboardUrl: string | null) {
	// The label of a link may hold spaces, so it is removed before the text is split.
	const parts = text
		.replace(INVISIBLE, '')
		.replace(/<(https?:[^|<>]*)\|[^<>]*>/g, '$1')
		.split(/\s+/);
	const words = parts
		.flatMap((part) => part.split(QUOTED_OR_LINK.test(part) ? COMMAS_AFTER : COMMAS))
		.map((part) => withoutFinalMarks(part) || part)
		.filter((word) => word !== '');
	const [first, ...args] = words;
	if (first === undefined) return { kind: 'inbox' } as const;
	const typed = first.toLowerCase();
	const word = typed === '?' ? 'help' : COMMAND_WORDS.find((one) => one === typed);
	if (word !== undefined) return PARSERS[word](args, dashboardUrl);
	if (words.length > 1) return severalWords(first, args);
	if (isAll(words)) return help('all_alone');
	return withIds(words, dashboardUrl, 1, ([sessionId = '']) => ({ kind: 'open', sessionId }) as const);
}

type Parse = (args: readonly string[], dashboardUrl: string | null) => { readonly kind: string };

/** Parse what stands behind each word. */
const PARSERS = {
	watch: parseWatch,
	unwatch(args, dashboardUrl) {
		if (args.length === 0) return { kind: 'list' } as const;
		if (isAll(args)) return { kind: 'unwatch', sessionIds: 'all' } as const;
		return withIds(args, dashboardUrl, MAX_IDS, (sessionIds) => ({ kind: 'unwatch', sessionIds }) as const);
	},
	list: alone('list'),
	inbox: alone('inbox'),
	settings: alone('settings'),
	history(args, dashboardUrl) {
		if (args.length > 1) return unknownFlag(args) ?? help('one_id', 'history');
		if (args.length === 0 || isAll(args)) return help('no_history');
		return withIds(args, dashboardUrl, 1, ([sessionId = '']) => ({ kind: 'history', sessionId }) as const);
	},
	help: () => help('asked'),
} satisfies Record<CommandWord, Parse>;

function alone<Word extends CommandWord>(kind: Word) {
	return (args: readonly string[]) => (args.length === 0 ? { kind } : help('stands_alone', kind));
}

/** What is wrong with several words that begin with no command. */
function severalWords(first: string, others: readonly string[]) {
	const mistyped = unknownFlag([first, ...others]);
	if (mistyped !== null) return mistyped;
	const meant = commandLike(first);
	return meant === undefined ? help('one_session', first) : help('unknown_word', first, meant);
}

/** Whether somebody asks for all. In quotes the word is an id. */
const isAll = (words: readonly string[]) => words.length === 1 && words[0]?.toLowerCase() === 'all';

function parseWatch(words: readonly string[], dashboardUrl: string | null) {
	const mistyped = unknownFlag(words);
	if (mistyped !== null) return mistyped;
	if (words.length === 0) return { kind: 'watch', sessionIds: [] } as const;
	if (isAll(words)) return { kind: 'watchAll' } as const;
	return withIds(words, dashboardUrl, MAX_IDS, (sessionIds) => ({ kind: 'watch', sessionIds }) as const);
}

/** Keyboards make other dashes of `--`. An id that begins with a dash is quoted. */
const FLAG = /^[\p{Pd}\u2212]/u;

function unknownFlag(words: readonly string[]) {
	const flag = words.find((word) => FLAG.test(word));
	return flag === undefined ? null : help('unknown_flag', flag);
}

function withIds<Command>(
	words: readonly string[],
	dashboardUrl: string | null,
	maxCount: number,
	build: (ids: readonly string[]) => Command,
) {
	if (words.length === 0) return help('missing_id');
	const mistyped = unknownFlag(words);
	if (mistyped !== null) return mistyped;
	if (words.length > maxCount) return help('too_many_ids');
	if (words.length > 1 && words.some((word) => isAll([word]))) return help('all_alone');
	const ids: string[] = [];
	for (const word of words) {
		const parsed = parseSessionId(word, dashboardUrl);
		if (typeof parsed !== 'string') return help(parsed.problem, parsed.problem === 'unclear' ? word : undefined);
		if (isReservedId(parsed)) return help('reserved_id', parsed);
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

/** Removes quotes, backticks and Slack's marks around links. */
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
	const url = parseAddress(link);
	if (url === null) return { problem: 'unclear' };
	const expected = dashboardUrl === null ? null : URL.parse(`${dashboardUrl}/sessions/session`);
	const isOurs =
		expected === null
			? url.pathname.endsWith('/sessions/session')
			: url.origin === expected.origin && url.pathname.replace(/\/+$/, '') === expected.pathname;
	if (!isOurs) return { problem: 'foreign_link' };
	const id = url.searchParams.get('id')?.replace(INVISIBLE, '').trim() ?? '';
	if (id === '') return { problem: 'link_without_id' };
	return id.length > MAX_ID_LENGTH ? { problem: 'id_too_long' } : id;
}

/** `word`: the word that `reason` is about; left out: the whole text. `meant`: what it probably means. */
function help(reason: HelpReason, word?: string, meant?: string) {
	return { kind: 'help', reason, word, meant } as const;
}
