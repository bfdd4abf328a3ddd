import { randomUUID } from 'node:crypto';
import { type AppHere, appsIn, type Core, channelOf, isMember, kindOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Json } from '../json.ts';
import { messageForApp, postMessage } from '../messages.ts';
import { actionTs, type Viewer } from '../payloads.ts';
import type { Channel, Message } from '../state.ts';
import { viewForApp } from '../views.ts';
import { requireClient } from '../visibility.ts';
import { type Written, write } from './composer.ts';
import { tell } from './tell.ts';

/**
 * The events that a new message causes in the apps whose bots are members. A bot gets its own messages too (with its
 * bot_id) and has to ignore them.
 */
export async function tellOfMessage(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	message: Message,
): Promise<void> {
	await Promise.all(appsIn(core, deliverer, channel).map((app) => tellApp(app, channel, message)));
}

async function tellApp({ core, deliverer }: AppHere, channel: Channel, message: Message): Promise<void> {
	const { botUser } = core.state.app;
	const told: Promise<void>[] = [];
	const common = { ...messageForApp(core, message), channel: channel.id, event_ts: message.ts };
	if (message.user !== botUser && message.text.includes(`<@${botUser}>`) && !channel.isIm) {
		const mention = { ...common, type: 'app_mention', subtype: undefined, root: undefined };
		told.push(tell(core, deliverer, 'app_mention', { event: mention, channel }));
	}
	const kind = kindOf(channel);
	const event = { ...common, channel_type: kind.replace(/s$/, '') };
	told.push(tell(core, deliverer, `message.${kind}`, { event, channel }));
	await Promise.all(told);
}

/**
 * Call it before a message is edited or deleted, and what it returns after that (`after`: null for a deletion): sends the event
 * message_changed or message_deleted where the bot is a member, also of the bot's own messages.
 */
export function tellOfChange(
	core: Core,
	deliverer: Deliverer,
	message: Message,
): (after: Message | null) => Promise<void> {
	const channel = channelOf(core, message.channel);
	if (message.ephemeralFor !== undefined) return async () => {};
	const told = appsIn(core, deliverer, channel).map((app) => tellAppOfChange(app, channel, message));
	return async (after) => {
		await Promise.all(told.map((tellOf) => tellOf(after)));
	};
}

function tellAppOfChange({ core, deliverer }: AppHere, channel: Channel, message: Message) {
	const kind = kindOf(channel);
	if (!core.settings.events.includes(`message.${kind}`)) return async () => {};
	const previous = messageForApp(core, message);
	return async (after: Message | null): Promise<void> => {
		const at = actionTs(core);
		const change =
			after === null
				? { subtype: 'message_deleted', deleted_ts: message.ts }
				: { subtype: 'message_changed', message: messageForApp(core, after) };
		const about = { channel: channel.id, channel_type: kind.replace(/s$/, ''), previous_message: previous };
		const event = { type: 'message', hidden: true, ...change, ...about, ts: at, event_ts: at };
		await tell(core, deliverer, `message.${kind}`, { event, channel });
	};
}

interface Saying {
	readonly channel: Channel;
	/** What the client sends may be given instead of what is typed. */
	readonly typed: string | Written;
	readonly threadTs?: string | undefined;
	readonly broadcast?: boolean;
	/** Attached files. With them, a client sends no text, too. */
	readonly files?: readonly Json[];
}

/**
 * A person writes a message. `told` resolves when the events it causes (app_mention where the bot is a member,
 * message.im in a direct message, message.channels and others when subscribed) were delivered once.
 */
export function say(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ channel, typed, threadTs, broadcast = false, files = [] }: Saying,
): { message: Message; told: Promise<void> } {
	requireClient(core, viewer);
	if (!isMember(channel, viewer.user)) throw new Error(`${viewer.user} is not in ${channel.name || channel.id}.`);
	if (channel.isArchived) throw new Error(`#${channel.name} is archived. Nobody can write in it.`);
	const { messagesTab, messagesTabReadOnly } = core.settings;
	if (channel.isIm && isMember(channel, core.state.app.botUser) && (!messagesTab || messagesTabReadOnly)) {
		throw new Error('Sending messages to this app has been turned off.');
	}
	const written = typed === '' ? { text: '' } : typeof typed === 'string' ? write(core, typed) : typed;
	const message = postMessage(core, {
		channel,
		user: viewer.user,
		payload: { ...written, reply_broadcast: broadcast },
		...(files.length === 0 ? {} : { subtype: 'file_share', files }),
		clientMsgId: randomUUID(),
		...(threadTs === undefined ? {} : { threadTs }),
	});
	return { message, told: tellOfMessage(core, deliverer, channel, message) };
}

/**
 * A person opens the app's Home or Messages tab. The event of the Home tab carries the current view, if there is one.
 */
export async function openHome(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ channel, tab }: { channel: Channel; tab: 'home' | 'messages' },
): Promise<void> {
	requireClient(core, viewer);
	if (tab === 'home' && !core.settings.homeTab) throw new Error('The app has no Home tab.');
	if (tab === 'messages' && !core.settings.messagesTab) throw new Error('The app has no Messages tab.');
	const view = core.state.views[core.state.homes[viewer.user] ?? ''];
	const event = {
		type: 'app_home_opened',
		user: viewer.user,
		channel: channel.id,
		tab,
		...(tab === 'home' && view ? { view: viewForApp(core, view, true) } : {}),
		event_ts: actionTs(core),
	};
	await tell(core, deliverer, 'app_home_opened', { event, channel });
}
