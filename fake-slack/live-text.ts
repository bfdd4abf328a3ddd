import { type Core, SlackError } from './core.ts';
import { withIds } from './elements.ts';
import { flag, isRecord, type Json, text } from './json.ts';
import { write } from './people/composer.ts';
import type { Channel } from './state.ts';

/*
 * What Slack makes of names, channels and addresses that stand bare in what an app sends, and whom a message rings
 * (docs.slack.dev, "Formatting message text", chat.postMessage, chat.update, text object).
 */

/** What is in angle brackets, an address, and a name as people type it. */
const MARKUP = /<[^>]*>/;
const ADDRESS = /https?:\/\/[^\s<>|]*[^\s<>|.,:;!?]/;
const NAME = /(?<![\w@#])[@#][\w.-]*\w/;
const ANY = new RegExp(`${MARKUP.source}|${ADDRESS.source}|${NAME.source}`, 'g');

interface Reading {
	/** Whether bare names of people, groups and channels become live. */
	readonly names: boolean;
	/** Whether bare addresses become links. */
	readonly addresses: boolean;
	/** Whether markup that the app wrote counts; else it is shown as it stands. */
	readonly markup: boolean;
}

const TYPED: Reading = { names: true, addresses: true, markup: false };
const READINGS: Readonly<Record<string, Reading>> = {
	none: { names: false, addresses: false, markup: true },
	full: TYPED,
	client: TYPED,
};
/** What a method does with text when nothing is said: not the same for all. */
const DEFAULTS = {
	/** "none" as the pages call it, and addresses become links all the same. */
	post: { names: false, addresses: true, markup: true },
	/** As if a person had typed it. */
	update: TYPED,
} as const satisfies Record<string, Reading>;

function nameOf(core: Core, name: string): string {
	const group = core.state.userGroups.find(({ handle }) => `@${handle}` === name);
	return group === undefined ? write(core, name).text : `<!subteam^${group.id}>`;
}

function read(core: Core, given: string, { names, addresses, markup }: Reading): string {
	return given.replace(ANY, (found) => {
		if (found.startsWith('<')) return markup ? found : found.replace('<', '&lt;').replace('>', '&gt;');
		if (found.startsWith('http')) return addresses ? `<${found}>` : found;
		return names ? nameOf(core, found) : found;
	});
}

/**
 * The text of a call as Slack stores it, by its `parse` and `link_names`. Throws `invalid_arguments` for a `parse` that
 * Slack does not know.
 */
export function parsedText(core: Core, args: Json, method: keyof typeof DEFAULTS): Json {
	const reading = args.parse === undefined ? DEFAULTS[method] : READINGS[text(args, 'parse') ?? ''];
	if (reading === undefined) {
		throw new SlackError('invalid_arguments', { response_metadata: { messages: ['[ERROR] invalid value of parse'] } });
	}
	const given = text(args, 'text');
	if (given === undefined) return args;
	return { ...args, text: read(core, given, { ...reading, names: reading.names || flag(args.link_names) }) };
}

/** Unless a text object is `verbatim`, Slack makes links of addresses and channels in it, and mentions of names. */
function liven(core: Core, value: unknown): void {
	if (Array.isArray(value)) for (const one of value) liven(core, one);
	if (!isRecord(value)) return;
	if (value.type === 'mrkdwn' && typeof value.text === 'string' && value.verbatim !== true) {
		value.text = read(core, value.text, { names: true, addresses: true, markup: true });
	}
	for (const one of Object.values(value)) liven(core, one);
}

/** A copy of the blocks as Slack keeps them: every id filled in, bare names and addresses live where nothing forbids it. */
export function takenBlocks(core: Core, blocks: unknown): Json[] {
	const copies = withIds(core, blocks);
	liven(core, copies);
	return copies;
}

/** Every text in which markup counts, and every rich-text element that is more than text. */
function* liveParts(value: unknown): Generator<Json> {
	if (Array.isArray(value)) for (const one of value) yield* liveParts(one);
	if (!isRecord(value)) return;
	if (['mrkdwn', 'markdown', 'user', 'usergroup', 'broadcast', 'link'].includes(String(value.type))) yield value;
	for (const one of Object.values(value)) yield* liveParts(one);
}

/** The addresses that a person can follow out of the text of a message, its buttons and images aside. */
export function linksIn(words: string, blocks: readonly Json[]): string[] {
	return [{ type: 'mrkdwn', text: words }, ...liveParts(blocks)].flatMap((part) => {
		if (part.type === 'link') return [text(part, 'url') ?? ''];
		const bare = part.type === 'markdown' ? (text(part, 'text') ?? '').matchAll(new RegExp(ADDRESS, 'g')) : [];
		const marked = (text(part, 'text') ?? '').matchAll(/<(https?:[^|>]*)/g);
		return [...[...bare].map(([address]) => address), ...[...marked].map(([, address = '']) => address)];
	});
}

/**
 * The people whom a message rings: those it mentions and are there. A message for one person rings nobody else. That a
 * mention in `text` rings where there are blocks too, and one that an edit brings, is stricter than documented.
 */
export function rungBy(
	core: Core,
	channel: Channel,
	message: { user: string; text: string; blocks: readonly Json[]; ephemeralFor?: string },
): string[] {
	const everybody = channel.members;
	const groupOf = (id: string) => core.state.userGroups.find((group) => group.id === id)?.users ?? [];
	const named = [{ type: 'mrkdwn', text: message.text }, ...liveParts(message.blocks)].flatMap((part: Json) => {
		if (part.type === 'user') return [text(part, 'user_id') ?? ''];
		if (part.type === 'usergroup') return groupOf(text(part, 'usergroup_id') ?? '');
		if (part.type === 'broadcast') return everybody;
		return [
			...(text(part, 'text') ?? '').matchAll(/<(?:@(\w+)|!subteam\^(\w+)|!(here|channel|everyone))(?=[|>])/g),
		].flatMap(([, user, group, all]) =>
			user !== undefined ? [user] : group !== undefined ? groupOf(group) : all ? everybody : [],
		);
	});
	const bots = core.state.people.filter((person) => person.isBot).map(({ id }) => id);
	return [...new Set(named)].filter(
		(user) =>
			everybody.includes(user) &&
			user !== message.user &&
			!bots.includes(user) &&
			(message.ephemeralFor === undefined || message.ephemeralFor === user),
	);
}
