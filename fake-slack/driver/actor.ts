import { type Core, channelOf, openDirect, openDm, personOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import { messageAt } from '../messages.ts';
import type { Viewer } from '../payloads.ts';
import { joinYourself, leaveYourself } from '../people/channels.ts';
import { type CommandOutcome, typeCommand } from '../people/commands.ts';
import type { Written } from '../people/composer.ts';
import { sendMessageShortcut } from '../people/message-actions.ts';
import { openHome, say } from '../people/talk.ts';
import type { Channel, View } from '../state.ts';
import { sees } from '../visibility.ts';
import { reloadWindow, topView } from '../windows.ts';
import { fileOf } from './controls.ts';
import { createModal, type Modal } from './modal.ts';
import { createPosted, type Posted } from './posted.ts';

interface Replying {
	thread?: Posted | string;
	/** Also shows the reply in the channel. */
	broadcast?: boolean;
	/** Names of files that are attached. */
	files?: readonly string[];
}

/** What to look for in a text: a part of it, a pattern or a predicate. */
type Wanted<T> = string | RegExp | ((one: T) => boolean);

/**
 * A person in one of their Slack windows. Channels are named `#name`, by id, `dm` for the direct message with the app,
 * or by the people of a direct message: `@grace`, `@grace @gus`.
 */
export interface Actor {
	readonly user: string;
	/** Types a slash command. Resolves when it is acknowledged or has failed. */
	command(channel: string, line: string): Promise<CommandOutcome>;
	/** The modal on top, or null. */
	modal(): Modal | null;
	/** Waits for a modal with this in its text (title, blocks, buttons); without an argument for any modal. */
	waitForModal(wanted?: Wanted<Modal>, timeoutMs?: number): Promise<Modal>;
	/** The messages of a channel that this person sees outside threads, oldest first; `all` includes threads. */
	messages(channel: string, options?: { all?: boolean }): Posted[];
	/** Waits for a message (in a thread or not) with this in its text. Returns the newest one. */
	waitForMessage(channel: string, wanted: Wanted<Posted>, timeoutMs?: number): Promise<Posted>;
	/** Writes a message, or sends one as it is. Resolves when the events it causes were delivered once. @name mentions somebody. */
	say(channel: string, text: string | Written, options?: Replying): Promise<Posted>;
	/** Mentions the app's bot. */
	mention(channel: string, text: string, options?: Replying): Promise<Posted>;
	/** Uses a message shortcut; false when the app did not acknowledge. */
	shortcut(message: Posted, callbackId: string): Promise<boolean>;
	/** Reloads or quits the client of this window: its modals leave the screen, and Slack keeps them. */
	reload(): void;
	/** Joins a public channel, or leaves a channel. Resolves when the app has its event. Throws where Slack refuses. */
	join(channel: string): Promise<void>;
	leave(channel: string): Promise<void>;
	/** The messages of the direct message with the app, or those with this in their text. */
	dm(wanted?: Wanted<Posted>): Posted[];
	/** Opens the app's home or messages tab. */
	openApp(tab?: 'home' | 'messages'): Promise<void>;
	/** The Home tab as the app published it, or null. */
	home(): Modal | null;
}

function matches<T extends { text(): string }>(one: T, wanted: Wanted<T> | undefined): boolean {
	if (wanted === undefined) return true;
	if (typeof wanted === 'function') return wanted(one);
	return typeof wanted === 'string' ? one.text().includes(wanted) : wanted.test(one.text());
}

function wish<T>(wanted: Wanted<T> | undefined): string {
	if (wanted === undefined) return 'anything';
	return typeof wanted === 'function' ? 'what the predicate asks for' : `"${String(wanted)}"`;
}

export function createActor(core: Core, deliverer: Deliverer, viewer: Viewer): Actor {
	function place(name: string): Channel {
		if (name === 'dm') return openDm(core, viewer.user);
		if (!name.startsWith('@')) return channelOf(core, name);
		return openDirect(core, [viewer.user, ...name.split(' ').map((one) => personOf(core, one).id)]);
	}
	/** Nothing, when Slack has ended the person's sessions. */
	function onScreen(view: View | undefined): Modal | null {
		return view && !personOf(core, viewer.user).deleted ? createModal(core, deliverer, viewer, view) : null;
	}
	const modal = () => onScreen(topView(core, viewer.user, viewer.window));
	function visible(channel: Channel): Posted[] {
		return core.state.messages
			.filter((one) => one.channel === channel.id && sees(core, viewer, one))
			.map((one) => createPosted(core, deliverer, viewer, one));
	}
	function threadOf(thread: Posted | string | undefined): string | undefined {
		return typeof thread === 'object' ? (thread.threadTs() ?? thread.ts) : thread;
	}
	async function write(
		name: string,
		text: string | Written,
		{ thread, broadcast = false, files = [] }: Replying = {},
	): Promise<Posted> {
		const attached = files.map((file) => fileOf(core, file));
		const replying = { threadTs: threadOf(thread), broadcast, files: attached };
		const { message, told } = say(core, deliverer, viewer, { channel: place(name), typed: text, ...replying });
		await told;
		return createPosted(core, deliverer, viewer, message);
	}

	return {
		user: viewer.user,
		async command(channel, line) {
			if (!line.startsWith('/'))
				throw new Error(`A slash command begins with a slash: ${JSON.stringify(line)} is a message.`);
			return typeCommand(core, deliverer, viewer, { where: place(channel).id, line });
		},
		modal,
		waitForModal: (wanted, timeoutMs) =>
			core.changes.until(
				() => {
					const now = modal();
					return now && matches(now, wanted) ? now : null;
				},
				() => `${viewer.user} waited for a modal with ${wish(wanted)}; there was: ${modal()?.text() ?? 'no modal'}`,
				timeoutMs,
			),
		messages: (channel, options) =>
			visible(place(channel)).filter((one) => options?.all === true || one.threadTs() === null || one.isBroadcast()),
		waitForMessage: (channel, wanted, timeoutMs) =>
			core.changes.until(
				() => visible(place(channel)).findLast((one) => matches(one, wanted)),
				() => {
					const there = visible(place(channel)).map((one) => one.text());
					return `${viewer.user} waited in ${channel} for ${wish(wanted)}; there was: ${JSON.stringify(there, null, 1)}`;
				},
				timeoutMs,
			),
		say: (channel, text, options) => write(channel, text, options),
		mention: (channel, text, options) => write(channel, `@${core.state.app.name} ${text}`, options),
		async shortcut(message, callbackId) {
			const found = messageAt(core, message);
			if (!found) throw new Error('The message no longer exists.');
			if (message.isEphemeral()) throw new Error('Messages only one person sees have no shortcuts.');
			return sendMessageShortcut(core, deliverer, viewer, { message: found, callbackId });
		},
		join: (channel) => joinYourself(core, deliverer, viewer, place(channel)),
		leave: (channel) => leaveYourself(core, deliverer, viewer, place(channel)),
		reload: () => reloadWindow(core, viewer.user, viewer.window),
		dm(wanted) {
			const both = [viewer.user, core.state.app.botUser];
			const channel = core.state.channels.find((one) => one.isIm && both.every((user) => one.members.includes(user)));
			return channel ? visible(channel).filter((one) => matches(one, wanted)) : [];
		},
		openApp: (tab = 'messages') => openHome(core, deliverer, viewer, { channel: openDm(core, viewer.user), tab }),
		home: () => onScreen(core.state.views[core.state.homes[viewer.user] ?? '']),
	};
}
