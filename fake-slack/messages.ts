import { type Core, channelById, nextTs, personOf, SlackError } from './core.ts';
import { escapedTexts, textForApp } from './escaping.ts';
import { carryOver } from './input-state.ts';
import { isRecord, type Json, record, text } from './json.ts';
import { rungBy, takenBlocks } from './live-text.ts';
import type { Channel, Message, Person } from './state.ts';
import { isShared } from './teams.ts';
import { type MessageMethod, type SlackProblem, validateMessage } from './validation/index.ts';

/** Versions kept of a message: a card that is updated for days must not fill the memory. */
const HISTORY_KEPT = 200;

/** Every image_url in the blocks with its JSON pointer. */
function images(value: unknown, pointer: string): { url: string; pointer: string }[] {
	if (Array.isArray(value)) return value.flatMap((one, index) => images(one, `${pointer}/${index}`));
	if (!isRecord(value)) return [];
	return Object.entries(value).flatMap(([key, inner]) =>
		key === 'image_url' && typeof inner === 'string'
			? [{ url: inner, pointer: `${pointer}/image_url` }]
			: images(inner, `${pointer}/${key}`),
	);
}

/** Slack downloads the images of a message or view. One failed download fails the whole. */
export function requireDownloadableImages(core: Core, blocks: unknown, error: string): void {
	const missing = images(blocks, '/blocks').filter((image) => core.settings.undownloadable(image.url));
	if (missing.length === 0) return;
	const messages = missing.map((image) => `[ERROR] downloading image failed [json-pointer:${image.pointer}]`);
	throw new SlackError(error, { response_metadata: { messages } });
}

/** Refuses a message that Slack would refuse, in Slack's words. */
export function requireValidMessage(core: Core, payload: Json, where: MessageMethod): void {
	const problems: SlackProblem[] = validateMessage(payload, where);
	const first = problems[0];
	if (first) {
		const messages = problems.map((problem) => `[ERROR] ${problem.message}`);
		core.traffic.violate({ where, messages, payload });
		throw new SlackError(first.error, { errors: messages, response_metadata: { messages } });
	}
	requireDownloadableImages(core, payload.blocks, 'invalid_blocks');
}

/** Messages by channel and ts. A list only grows, or is replaced. */
const placesIn = new WeakMap<readonly Message[], Map<string, Message>>();

/** The message of a channel with this ts, ephemeral ones too. Tests look at hundreds of messages after every change. */
export function messageAt({ state }: Core, { channel, ts }: Pick<Message, 'channel' | 'ts'>): Message | undefined {
	const places = placesIn.get(state.messages) ?? new Map<string, Message>();
	placesIn.set(state.messages, places);
	for (let one = state.messages[places.size]; one !== undefined; one = state.messages[places.size])
		places.set(`${one.channel} ${one.ts}`, one);
	return places.get(`${channel} ${ts}`);
}

/** The message of a channel with this ts. Ephemeral messages cannot be reached this way. */
export function findMessage(core: Core, channel: string, ts: unknown): Message | undefined {
	const found = typeof ts === 'string' ? messageAt(core, { channel, ts }) : undefined;
	return found?.ephemeralFor === undefined ? found : undefined;
}

/**
 * The thread of a post that names one. Slack's threads are flat: a reply to a reply belongs to the first message. A
 * missing parent is no error: the post goes into the channel, and its `thread_ts` is missing from the response.
 */
function threadOf(core: Core, channel: Channel, threadTs: string): string | undefined {
	const parent = findMessage(core, channel.id, threadTs);
	return parent === undefined ? undefined : (parent.threadTs ?? parent.ts);
}

/** The replies to a message that everybody in the channel sees. */
function repliesTo(core: Core, { channel, ts }: Message): Message[] {
	return core.state.messages.filter(
		(one) => one.channel === channel && one.threadTs === ts && one.ephemeralFor === undefined,
	);
}

interface Posting {
	channel: Channel;
	user: string;
	payload: Json;
	ephemeralFor?: string;
	threadTs?: string;
	subtype?: string;
	clientMsgId?: string;
	files?: readonly Json[];
}

/** Adds a message to a channel or thread. */
export function postMessage(core: Core, posting: Posting): Message {
	const { channel, user, payload } = posting;
	const threadTs = posting.threadTs === undefined ? undefined : threadOf(core, channel, posting.threadTs);
	const metadata = record(payload, 'metadata');
	const broadcast = payload.reply_broadcast === true && threadTs !== undefined;
	// A reply that is also shown in the channel has a subtype of its own (docs.slack.dev, thread_broadcast).
	const subtype = posting.subtype ?? (broadcast ? 'thread_broadcast' : undefined);
	const message: Message = {
		ts: nextTs(core),
		channel: channel.id,
		user,
		text: text(payload, 'text') ?? '',
		blocks: takenBlocks(core, payload.blocks),
		broadcast,
		history: [],
		inputs: {},
		...(user === core.state.app.botUser ? { botId: core.state.app.botId } : {}),
		...(threadTs === undefined ? {} : { threadTs }),
		...(metadata ? { metadata: structuredClone(metadata) } : {}),
		...(posting.ephemeralFor === undefined ? {} : { ephemeralFor: posting.ephemeralFor }),
		...(subtype === undefined ? {} : { subtype }),
		...(posting.clientMsgId === undefined ? {} : { clientMsgId: posting.clientMsgId }),
		...(posting.files === undefined ? {} : { files: structuredClone([...posting.files]) }),
	};
	ring(core, channel, message);
	if (!isShownToNobody(core, posting, threadTs)) core.state.messages.push(message);
	core.changes.emit({ kind: 'message', id: message.ts });
	return message;
}

function ring(core: Core, channel: Channel, message: Message): void {
	const rung = new Set([...(message.rung ?? []), ...rungBy(core, channel, message)]);
	if (rung.size > 0) message.rung = [...rung];
}

/** An ephemeral message in a thread is shown only where the thread has replies. */
function isShownToNobody(core: Core, { channel, ephemeralFor, threadTs }: Posting, thread?: string): boolean {
	if (ephemeralFor === undefined || threadTs === undefined) return false;
	const parent = thread === undefined ? undefined : findMessage(core, channel.id, thread);
	return parent === undefined || repliesTo(core, parent).length === 0;
}

/** Replaces text and blocks: text without blocks removes the blocks; metadata stays unless given, `{}` removes it. */
export function editMessage(core: Core, message: Message, payload: Json): void {
	message.history.push({ text: message.text, blocks: message.blocks, at: core.clock.now() });
	if (message.history.length > HISTORY_KEPT) message.history.shift();
	message.text = text(payload, 'text') ?? (payload.blocks === undefined ? message.text : '');
	message.blocks = takenBlocks(core, payload.blocks);
	for (const [user, input] of Object.entries(message.inputs)) message.inputs[user] = carryOver(input, message.blocks);
	message.editedTs = nextTs(core);
	const channel = channelById(core, message.channel);
	if (channel !== undefined) ring(core, channel, message);
	const metadata = record(payload, 'metadata');
	if (metadata && Object.keys(metadata).length === 0) delete message.metadata;
	else if (metadata) message.metadata = structuredClone(metadata);
	core.changes.emit({ kind: 'message', id: message.ts });
}

/** What replaces a deleted message with replies: the thread continues. */
const TOMBSTONE = { subtype: 'tombstone', text: 'This message was deleted.', user: 'USLACKBOT' } as const;

export function isTombstone({ subtype }: Message): boolean {
	return subtype === TOMBSTONE.subtype;
}

/** Removes a message. One with replies leaves a tombstone, which disappears with the last reply. */
export function deleteMessage(core: Core, message: Message): void {
	if (repliesTo(core, message).length > 0) {
		const { channel, ts, history } = message;
		const tombstone: Message = {
			...TOMBSTONE,
			channel,
			ts,
			history,
			blocks: [],
			broadcast: false,
			inputs: {},
		};
		core.state.messages = core.state.messages.map((one) => (one === message ? tombstone : one));
	} else {
		core.state.messages = core.state.messages.filter((one) => one !== message);
		const parent = findMessage(core, message.channel, message.threadTs);
		if (parent !== undefined && isTombstone(parent)) deleteMessage(core, parent);
	}
	core.changes.emit({ kind: 'message', id: message.ts });
}

/** The author's fields of a message in channels of several workspaces (docs.slack.dev, "Apps in Slack Connect"). */
function authorInShared(author: Person): Json {
	return {
		user_team: author.teamId,
		source_team: author.teamId,
		user_profile: {
			name: author.name,
			display_name: author.displayName ?? author.name,
			real_name: author.realName,
			team: author.teamId,
			is_restricted: author.isRestricted,
			is_ultra_restricted: author.isUltraRestricted,
		},
	};
}

/** Removes an ephemeral message from this person's screen. Throws with words for the person when there is none. */
export function dismissMessage(core: Core, user: string, channel: string, ts: string): void {
	const message = messageAt(core, { channel, ts });
	if (message === undefined) throw new Error('The message no longer exists.');
	if (message.ephemeralFor !== user) throw new Error('Only a message for you alone can be dismissed.');
	core.state.messages = core.state.messages.filter((one) => one !== message);
	core.changes.emit({ kind: 'message', id: ts });
}

function appIdOf(core: Core, botId: string): string {
	return (core.others.find((one) => one.core.state.app.botId === botId)?.core ?? core).state.app.id;
}

/** A message as Slack gives it to the app, in responses, events and payloads. */
export function messageForApp(core: Core, message: Message, withMetadata = false): Json {
	const author = isTombstone(message) ? null : personOf(core, message.user);
	const channel = channelById(core, message.channel);
	const replies = repliesTo(core, message);
	const root = message.broadcast ? findMessage(core, message.channel, message.threadTs) : undefined;
	return {
		type: 'message',
		...(message.subtype === undefined ? {} : { subtype: message.subtype }),
		...(message.clientMsgId === undefined ? {} : { client_msg_id: message.clientMsgId }),
		user: message.user,
		ts: message.ts,
		text: textForApp(message.text),
		...(author === null ? { hidden: true } : { team: author.teamId }),
		...(author !== null && channel && isShared(channel) && !author.isBot ? authorInShared(author) : {}),
		...(message.botId === undefined ? {} : { bot_id: message.botId, app_id: appIdOf(core, message.botId) }),
		...(message.blocks.length === 0 ? {} : { blocks: escapedTexts(message.blocks) }),
		...(message.files === undefined ? {} : { files: structuredClone(message.files), upload: false }),
		...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
		...(root === undefined ? {} : { root: messageForApp(core, root) }),
		...(replies.length === 0 ? {} : { thread_ts: message.ts, reply_count: replies.length }),
		...(message.editedTs === undefined ? {} : { edited: { user: message.user, ts: message.editedTs } }),
		...(withMetadata && message.metadata ? { metadata: structuredClone(message.metadata) } : {}),
	};
}
