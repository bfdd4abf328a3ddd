import type { Core } from '../core.ts';
import { findChannel, isMember, openDm, SlackError } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Json } from '../json.ts';
import type { Sockets } from '../sockets.ts';
import type { Channel } from '../state.ts';

/** What a Web API method may use. */
interface MethodContext {
	core: Core;
	sockets: Sockets;
	deliverer: Deliverer;
	args: Json;
}

/** A Web API method of the stand-in. */
export interface Method {
	/** Which token it takes. */
	token: 'bot' | 'app';
	/** Any one of these scopes is enough; empty when it needs none. A function decides by the arguments. */
	scopes: readonly string[] | ((context: MethodContext) => readonly string[]);
	/** Calls a minute (docs.slack.dev, rate limit tiers); undefined where Slack has special rules. */
	perMinute?: number;
	/** Returns the fields of the answer beside `ok`; throws SlackError. */
	run(context: MethodContext): Json;
}

export type Methods = Record<string, Method>;

/** Slack's tiers in calls a minute (docs.slack.dev, "Rate limits"). */
export const TIER = { two: 20, three: 50, four: 100 } as const;

/** An argument that has to be there. Slack's answer names the missing one in its messages. */
export function required(args: Json, name: string): string {
	const value = args[name];
	if (typeof value === 'string' && value !== '') return value;
	throw new SlackError('invalid_arguments', {
		response_metadata: { messages: [`[ERROR] missing required field: ${name}`] },
	});
}

/** Whether the bot can know of the channel: private ones only as a member. */
function visible(core: Core, channel: Channel): boolean {
	return !channel.isPrivate || isMember(channel, core.state.app.botUser);
}

/** The channel an argument names, as far as the bot can see it. Throws channel_not_found. */
export function channelArg(core: Core, value: unknown): Channel {
	const channel = typeof value === 'string' ? findChannel(core, value) : undefined;
	if (!channel || !visible(core, channel)) throw new SlackError('channel_not_found');
	return channel;
}

/** As `channelArg`, where a user id stands for the direct conversation with that person. */
export function destination(core: Core, value: unknown): Channel {
	const person = core.state.people.find((one) => one.id === value && !one.deleted);
	return person ? openDm(core, person.id) : channelArg(core, value);
}

/** The read scope of a kind of conversation: `channels:history`, `groups:read`, `im:history` … */
export function conversationScope(core: Core, value: unknown, action: 'read' | 'history' | 'write'): string {
	const channel = typeof value === 'string' ? findChannel(core, value) : undefined;
	const kind = channel?.isIm ? 'im' : channel?.isPrivate ? 'groups' : 'channels';
	return `${kind}:${action}`;
}
