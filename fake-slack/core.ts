import type { Changes } from './changes.ts';
import type { Clock } from './clock.ts';
import type { Deliverer } from './delivery.ts';
import type { Faults } from './faults.ts';
import type { Settings } from './settings.ts';
import type { Channel, Message, Person, SlackState } from './state.ts';
import type { Traffic } from './traffic.ts';

/** An app of the workspace, as the parts of the fake take it. */
export interface AppHere {
	readonly core: Core;
	readonly deliverer: Deliverer;
}

/** What the parts of the fake share. */
export interface Core {
	/** A restore replaces it as a whole: always read it through the core. */
	state: SlackState;
	readonly clock: Clock;
	readonly settings: Settings;
	readonly changes: Changes;
	readonly traffic: Traffic;
	readonly faults: Faults;
	readonly tokens: { bot: string; app: string; signingSecret: string };
	/** The error with which Slack refuses each of these tokens; null: it takes the token. */
	readonly refusals: { bot: string | null; app: string | null };
	/** The other apps of the workspace. */
	readonly others: AppHere[];
	/** `http://127.0.0.1:port`, known when the server listens. */
	origin: string;
}

/** An error with Slack's code: becomes `{ ok: false, error, …extra }`. */
export class SlackError extends Error {
	readonly code: string;
	readonly extra: Record<string, unknown>;

	constructor(code: string, extra: Record<string, unknown> = {}) {
		super(code);
		this.code = code;
		this.extra = extra;
	}
}

/** A new id that looks like Slack's: `V` becomes `V0000000A`. */
export function nextId(core: Pick<Core, 'state'>, prefix: string): string {
	core.state.counter++;
	return `${prefix}${core.state.counter.toString(36).toUpperCase().padStart(9, '0')}`;
}

/** A message timestamp: seconds with six digits, unique and increasing. */
export function nextTs(core: Core): string {
	const last = Number(core.state.lastTs.replace('.', ''));
	const micros = Math.max(Math.floor(core.clock.now()) * 1000, last + 1);
	core.state.lastTs = `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
	return core.state.lastTs;
}

/** By id, or by the name after the @. Throws when there is no such person. */
export function personOf(core: Core, idOrName: string): Person {
	const name = idOrName.replace(/^@/, '');
	const person = core.state.people.find((one) => one.id === name || one.name === name);
	if (!person) throw new Error(`There is nobody called ${idOrName} in this workspace.`);
	return person;
}

export function channelById(core: Core, id: unknown): Channel | undefined {
	return core.state.channels.find((one) => one.id === id);
}

/** By id, or by name with or without the #. */
export function findChannel(core: Core, idOrName: string): Channel | undefined {
	const name = idOrName.replace(/^#/, '');
	return core.state.channels.find((one) => one.id === idOrName || (one.name !== '' && one.name === name));
}

/** As `findChannel`, but throws when there is no such channel. */
export function channelOf(core: Core, idOrName: string): Channel {
	const channel = findChannel(core, idOrName);
	if (!channel) throw new Error(`There is no channel ${idOrName} in this workspace.`);
	return channel;
}

/** Whether it is the workspace's default channel, which nobody can leave. */
export function isGeneral(channel: Channel): boolean {
	return channel.name === 'general';
}

/** The kind of a conversation, as scopes and subscriptions name it; an unknown one counts as public. */
export function kindOf(channel: Channel | undefined): 'im' | 'mpim' | 'groups' | 'channels' {
	if (channel?.isIm) return 'im';
	return channel?.isMpim ? 'mpim' : channel?.isPrivate ? 'groups' : 'channels';
}

export function isMember(channel: Channel, user: string): boolean {
	return channel.members.includes(user);
}

/** This app and the others of the workspace. */
export function appsHere(core: Core, deliverer: Deliverer): readonly AppHere[] {
	return [{ core, deliverer }, ...core.others];
}

/** Those whose bots are in the channel, and hear what happens there. */
export function appsIn(core: Core, deliverer: Deliverer, channel: Channel): readonly AppHere[] {
	return appsHere(core, deliverer).filter((one) => isMember(channel, one.core.state.app.botUser));
}

/** The app that posted the message: presses in it go there. This one when none did. */
export function appOf(core: Core, deliverer: Deliverer, message: Message): AppHere {
	const isOf = (one: AppHere) => one.core.state.app.botUser === message.user;
	return core.others.find(isOf) ?? { core, deliverer };
}

/** Whether two lists hold the same people. */
function isSame(some: readonly string[], others: readonly string[]): boolean {
	return some.length === others.length && some.every((one) => others.includes(one));
}

/**
 * The direct message of these people (the app's bot may be one), of two people or a group. Creates it when there is
 * none.
 */
export function openDirect(core: Core, users: readonly string[]): Channel {
	const members = [...new Set(users)];
	const isIm = members.length <= 2;
	const found = core.state.channels.find(
		(one) => (isIm ? one.isIm : one.isMpim === true) && isSame(one.members, members),
	);
	if (found) return found;
	const names = members.map((user) => personOf(core, user).name);
	const channel: Channel = {
		id: nextId(core, isIm ? 'D' : 'G'),
		name: isIm ? '' : `mpdm-${names.join('--')}-1`,
		isPrivate: true,
		isIm,
		...(isIm ? {} : { isMpim: true }),
		isArchived: false,
		isExtShared: false,
		members,
	};
	core.state.channels.push(channel);
	core.changes.emit({ kind: 'channel', id: channel.id });
	return channel;
}

/** The direct message between a person and the app. */
export function openDm(core: Core, user: string): Channel {
	return openDirect(core, [user, core.state.app.botUser]);
}
