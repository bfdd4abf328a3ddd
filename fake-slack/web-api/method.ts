import { type Core, channelById, findChannel, isMember, kindOf, openDm, SlackError } from '../core.ts';
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

/** A Web API method of the fake. */
export interface Method {
	/** The kind of token it takes; `none` for a method that checks none. */
	token: 'bot' | 'app' | 'none';
	/** Any one of these scopes is enough; empty for none. A function decides by the arguments. */
	scopes: readonly string[] | ((context: MethodContext) => readonly string[]);
	/** Calls a minute (docs.slack.dev, rate limit tiers); undefined where Slack has special rules. */
	perMinute?: number;
	/** Returns the fields of the response beside `ok`. Throws SlackError. */
	run(context: MethodContext): Json;
}

export type Methods = Record<string, Method>;

/** Slack's tiers in calls a minute (docs.slack.dev, "Rate limits"). */
export const TIER = { two: 20, three: 50, four: 100 } as const;

/** An argument that is required. Slack's response names the missing one in its messages. */
export function required(args: Json, name: string): string {
	const value = args[name];
	if (typeof value === 'string' && value !== '') return value;
	throw new SlackError('invalid_arguments', {
		response_metadata: { messages: [`[ERROR] missing required field: ${name}`] },
	});
}

/** Whether the bot can see the channel: private ones only as a member. */
function visible(core: Core, channel: Channel): boolean {
	return !channel.isPrivate || isMember(channel, core.state.app.botUser);
}

/** The channel with this id, as far as the bot can see it; names do not work. Throws channel_not_found. */
export function channelArg(core: Core, value: unknown): Channel {
	return requireVisible(core, channelById(core, value));
}

function requireVisible(core: Core, channel: Channel | undefined): Channel {
	if (!channel || !visible(core, channel)) throw new SlackError('channel_not_found');
	return channel;
}

/**
 * The channel of a new message: as `channelArg`, but chat.postMessage and chat.postEphemeral also take a name, and a
 * user id stands for the direct message with that person.
 */
export function destination(core: Core, value: unknown): Channel {
	const person = core.state.people.find((one) => one.id === value && !one.deleted);
	// Two bots cannot have a direct message (HubSpot/slack-client #90).
	if (person?.isBot) throw new SlackError('cannot_dm_bot');
	if (person) return openDm(core, person.id);
	return requireVisible(core, typeof value === 'string' ? findChannel(core, value) : undefined);
}

/** The scope for a kind of conversation: `channels:history`, `groups:read`, `im:history` … */
export function conversationScope(core: Core, value: unknown, action: 'read' | 'history' | 'write'): string {
	return `${kindOf(channelById(core, value))}:${action}`;
}
