import { type Core, SlackError } from './core.ts';
import { withIds } from './elements.ts';
import { flag, isRecord, type Json, text } from './json.ts';
import { write } from './people/composer.ts';
import type { Channel } from './state.ts';

/*
 * How Slack treats bare names, channels and addresses in what an app sends, and whom a message notifies
 * (docs.slack.dev, "Formatting message text", chat.postMessage, chat.update, text object).
 */

/** Text in angle brackets, an address, and a name as people type it. */
const MARKUP = /<[^>]*>/;
const ADDRESS = /https?:\/\/[^\s<>|]*[^\s<>|.,:;!?]/;
const NAME = /(?<![\w@#])[@#][\w.-]*\w/;
const ANY = new RegExp(`${MARKUP.source}|${ADDRESS.source}|${NAME.source}`, 'g');

interface Reading {
	/** Whether bare names of people, groups and channels become live. */
	readonly names: boolean;
	/** Whether bare addresses become links. */
	readonly addresses: boolean;
	/** Whether the app's markup takes effect; otherwise it is shown as text. */
	readonly markup: boolean;
}

const TYPED: Reading = { names: true, addresses: true, markup: false };
const READINGS: Readonly<Record<string, Reading>> = {
	none: { names: false, addresses: false, markup: true },
	full: TYPED,
	client: TYPED,
};
/** What each method does with text by default: not the same for all. */
const DEFAULTS = {
	/** The pages call it "none", and yet addresses become links. */
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

/** Unless a text object is `verbatim`, Slack links addresses and channels in it and turns names into mentions. */
function liven(core: Core, value: unknown): void {
	if (Array.isArray(value)) for (const one of value) liven(core, one);
	if (!isRecord(value)) return;
	if (value.type === 'mrkdwn' && typeof value.text === 'string' && value.verbatim !== true) {
		value.text = read(core, value.text, { names: true, addresses: true, markup: true });
	}
	for (const one of Object.values(value)) liven(core, one);
}

/** A copy of the blocks as Slack stores them: with all ids, and with live names and addresses unless forbidden. */
export function takenBlocks(core: Core, blocks: unknown): Json[] {
	const copies = withIds(core, blocks);
	liven(core, copies);
	return copies;
}

/** Every text with markup, and every rich-text element that is more than text. */
function* liveParts(value: unknown): Generator<Json> {
	if (Array.isArray(value)) for (const one of value) yield* liveParts(one);
	if (!isRecord(value)) return;
	if (['mrkdwn', 'markdown', 'user', 'usergroup', 'broadcast', 'link', 'date'].includes(String(value.type)))
		yield value;
	for (const one of Object.values(value)) yield* liveParts(one);
}

/** The addresses in a message's text that a person can follow, without those of buttons and images. */
export function linksIn(words: string, blocks: readonly Json[]): string[] {
	return [{ type: 'mrkdwn', text: words }, ...liveParts(blocks)].flatMap((part) => {
		if (part.type === 'link' || part.type === 'date') {
			const address = text(part, 'url');
			return address === undefined ? [] : [address];
		}
		const bare = part.type === 'markdown' ? (text(part, 'text') ?? '').matchAll(new RegExp(ADDRESS, 'g')) : [];
		const marked = (text(part, 'text') ?? '').matchAll(/<(https?:[^|>]*)/g);
		return [...[...bare].map(([address]) => address), ...[...marked].map(([, address = '']) => address)];
	});
}

/**
 * The people whom a message notifies: those it mentions who are there. A message for one person notifies nobody else.
 * That a mention in `text` notifies beside blocks, and that an edit does, is stricter than documented.
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
