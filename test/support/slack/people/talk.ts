import { type Core, isMember, personOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Json } from '../json.ts';
import { messageForApp, postMessage } from '../messages.ts';
import { eventPayload, type Viewer } from '../payloads.ts';
import type { Channel, Message } from '../state.ts';

/** Sends an event to the app when it is subscribed to it; resolves after the first attempt. */
async function tell(
	core: Core,
	deliverer: Deliverer,
	subscription: string,
	event: Json,
	shared = false,
): Promise<void> {
	if (!core.settings.events.includes(subscription)) return;
	await deliverer.deliverEvent(String(event.type), eventPayload(core, event, shared));
}

/** What people type becomes what Slack stores: escaped, with @names as mentions. */
function stored(core: Core, typed: string): string {
	return typed
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replace(/@([\w.-]+)/g, (whole, name: string) => {
			const person = core.state.people.find((one) => one.name === name);
			return person ? `<@${person.id}>` : whole;
		});
}

/**
 * The events a new message causes where the bot is a member; its own messages come back to it too (with its bot_id),
 * and it has to leave them alone.
 */
export async function tellOfMessage(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	message: Message,
): Promise<void> {
	const { botUser } = core.state.app;
	if (!isMember(channel, botUser)) return;
	const told: Promise<void>[] = [];
	const common = { ...messageForApp(core, message), channel: channel.id, event_ts: message.ts };
	if (message.user !== botUser && message.text.includes(`<@${botUser}>`) && !channel.isIm) {
		told.push(tell(core, deliverer, 'app_mention', { ...common, type: 'app_mention' }, channel.isExtShared));
	}
	const kind = channel.isIm ? 'im' : channel.isPrivate ? 'group' : 'channel';
	const subscription = kind === 'im' ? 'message.im' : `message.${kind}s`;
	told.push(tell(core, deliverer, subscription, { ...common, channel_type: kind }, channel.isExtShared));
	await Promise.all(told);
}

/**
 * A person writes a message. `told` resolves when the events it causes (app_mention where the bot is a member,
 * message.im in a direct message, message.channels and message.groups when subscribed) were delivered once.
 */
export function say(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	channel: Channel,
	typed: string,
	threadTs?: string,
): { message: Message; told: Promise<void> } {
	if (!isMember(channel, viewer.user)) throw new Error(`${viewer.user} is not in ${channel.name || channel.id}.`);
	if (channel.isArchived) throw new Error(`#${channel.name} is archived: nobody can write there.`);
	const payload = { text: stored(core, typed) };
	const message = postMessage(core, {
		channel,
		user: viewer.user,
		payload,
		...(threadTs === undefined ? {} : { threadTs }),
	});
	return { message, told: tellOfMessage(core, deliverer, channel, message) };
}

/**
 * Somebody (the app's bot too) leaves a channel or is removed. The bot hears of its own removal as channel_left or
 * group_left; member_left_channel does not reach one who is no member any more (bolt-js #1847).
 */
export async function leaveChannel(core: Core, deliverer: Deliverer, channel: Channel, user: string): Promise<void> {
	const { botUser } = core.state.app;
	const botThere = isMember(channel, botUser);
	channel.members = channel.members.filter((one) => one !== user);
	core.changes.emit({ kind: 'channel', id: channel.id });
	if (!botThere) return;
	const eventTs = (core.clock.now() / 1000).toFixed(6);
	if (user === botUser) {
		const type = channel.isPrivate ? 'group_left' : 'channel_left';
		await tell(core, deliverer, type, {
			type,
			channel: channel.id,
			actor_id: core.state.people[0]?.id,
			event_ts: eventTs,
		});
		return;
	}
	await tell(core, deliverer, 'member_left_channel', {
		type: 'member_left_channel',
		user,
		channel: channel.id,
		channel_type: channel.isPrivate ? 'G' : 'C',
		team: personOf(core, user).teamId,
		event_ts: eventTs,
	});
}

/** Somebody (the app's bot too) is added to a channel. */
export async function joinChannel(core: Core, deliverer: Deliverer, channel: Channel, user: string): Promise<void> {
	if (isMember(channel, user)) return;
	channel.members.push(user);
	core.changes.emit({ kind: 'channel', id: channel.id });
	if (!isMember(channel, core.state.app.botUser)) return;
	await tell(core, deliverer, 'member_joined_channel', {
		type: 'member_joined_channel',
		user,
		channel: channel.id,
		channel_type: channel.isPrivate ? 'G' : 'C',
		team: personOf(core, user).teamId,
		event_ts: (core.clock.now() / 1000).toFixed(6),
	});
}

/** A channel is archived, or taken out of the archive. */
export async function archiveChannel(
	core: Core,
	deliverer: Deliverer,
	channel: Channel,
	user: string,
	archived = true,
): Promise<void> {
	channel.isArchived = archived;
	core.changes.emit({ kind: 'channel', id: channel.id });
	if (!isMember(channel, core.state.app.botUser)) return;
	const type = `${channel.isPrivate ? 'group' : 'channel'}_${archived ? 'archive' : 'unarchive'}`;
	await tell(core, deliverer, type, {
		type,
		channel: channel.id,
		user,
		event_ts: (core.clock.now() / 1000).toFixed(6),
	});
}

/** A person opens the app's home or messages tab. */
export async function openHome(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	channel: Channel,
	tab: 'home' | 'messages',
): Promise<void> {
	await tell(core, deliverer, 'app_home_opened', {
		type: 'app_home_opened',
		user: viewer.user,
		channel: channel.id,
		tab,
		event_ts: (core.clock.now() / 1000).toFixed(6),
	});
}
