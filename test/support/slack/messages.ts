import { type Core, nextTs, personOf, SlackError } from './core.ts';
import { withIds } from './elements.ts';
import { carryOver } from './input-state.ts';
import { isRecord, type Json, record, text } from './json.ts';
import type { Channel, Message } from './state.ts';
import { type MessageMethod, type SlackProblem, validateMessage } from './validation/index.ts';

/** Versions of a message kept for tests and the sandbox: a card that is updated for days must not fill the memory. */
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

/** Slack downloads the images of a message or view; one it cannot get fails the whole. */
export function requireDownloadableImages(core: Core, blocks: unknown, error: string): void {
	const missing = images(blocks, '/blocks').filter((image) => core.settings.undownloadable(image.url));
	if (missing.length === 0) return;
	const messages = missing.map((image) => `[ERROR] downloading image failed [json-pointer:${image.pointer}]`);
	throw new SlackError(error, { response_metadata: { messages } });
}

/** Refuses a message Slack would refuse, in Slack's words. */
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

/** The message of a channel with this ts; ephemeral ones cannot be reached this way. */
export function findMessage(core: Core, channel: string, ts: unknown): Message | undefined {
	return core.state.messages.find((one) => one.channel === channel && one.ts === ts && one.ephemeralFor === undefined);
}

interface Posting {
	channel: Channel;
	user: string;
	payload: Json;
	ephemeralFor?: string;
	threadTs?: string;
	subtype?: string;
}

/** Puts a message into a channel. */
export function postMessage(core: Core, posting: Posting): Message {
	const { channel, user, payload } = posting;
	const parent = posting.threadTs === undefined ? undefined : findMessage(core, channel.id, posting.threadTs);
	// Slack's threads are flat: a reply to a reply belongs to the first message.
	const threadTs = parent?.threadTs ?? posting.threadTs;
	const metadata = record(payload, 'metadata');
	const message: Message = {
		ts: nextTs(core),
		channel: channel.id,
		user,
		text: text(payload, 'text') ?? '',
		blocks: withIds(core, payload.blocks),
		broadcast: payload.reply_broadcast === true && threadTs !== undefined,
		history: [],
		inputs: {},
		...(user === core.state.app.botUser ? { botId: core.state.app.botId } : {}),
		...(threadTs === undefined ? {} : { threadTs }),
		...(metadata ? { metadata: structuredClone(metadata) } : {}),
		...(posting.ephemeralFor === undefined ? {} : { ephemeralFor: posting.ephemeralFor }),
		...(posting.subtype === undefined ? {} : { subtype: posting.subtype }),
		...(typeof payload.unfurl_links === 'boolean' ? { unfurlLinks: payload.unfurl_links } : {}),
		...(typeof payload.unfurl_media === 'boolean' ? { unfurlMedia: payload.unfurl_media } : {}),
	};
	core.state.messages.push(message);
	core.changes.emit({ kind: 'message', id: message.ts });
	return message;
}

/** Replaces text and blocks: text without blocks removes the blocks; metadata stays unless given, `{}` removes it. */
export function editMessage(core: Core, message: Message, payload: Json): void {
	message.history.push({ text: message.text, blocks: message.blocks, at: core.clock.now() });
	if (message.history.length > HISTORY_KEPT) message.history.shift();
	message.text = text(payload, 'text') ?? (payload.blocks === undefined ? message.text : '');
	message.blocks = withIds(core, payload.blocks);
	for (const [user, input] of Object.entries(message.inputs)) message.inputs[user] = carryOver(input, message.blocks);
	message.editedTs = nextTs(core);
	const metadata = record(payload, 'metadata');
	if (metadata && Object.keys(metadata).length === 0) delete message.metadata;
	else if (metadata) message.metadata = structuredClone(metadata);
	core.changes.emit({ kind: 'message', id: message.ts });
}

export function deleteMessage(core: Core, message: Message): void {
	core.state.messages = core.state.messages.filter((one) => one !== message);
	core.changes.emit({ kind: 'message', id: message.ts });
}

/** A message as Slack hands it to the app, in answers, events and payloads. */
export function messageForApp(core: Core, message: Message, withMetadata = false): Json {
	const author = personOf(core, message.user);
	const replies = core.state.messages.filter(
		(one) => one.channel === message.channel && one.threadTs === message.ts && one.ephemeralFor === undefined,
	);
	return {
		type: 'message',
		...(message.subtype === undefined ? {} : { subtype: message.subtype }),
		user: message.user,
		ts: message.ts,
		text: message.text,
		team: author.teamId,
		...(message.botId === undefined ? {} : { bot_id: message.botId, app_id: core.state.app.id }),
		...(message.blocks.length === 0 ? {} : { blocks: structuredClone(message.blocks) }),
		...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
		...(replies.length === 0 ? {} : { thread_ts: message.ts, reply_count: replies.length }),
		...(message.editedTs === undefined ? {} : { edited: { user: message.user, ts: message.editedTs } }),
		...(withMetadata && message.metadata ? { metadata: structuredClone(message.metadata) } : {}),
	};
}
