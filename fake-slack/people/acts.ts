import { z } from 'zod';
import { type Core, channelOf, openDm } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Json } from '../json.ts';
import { messageAt } from '../messages.ts';
import type { Viewer } from '../payloads.ts';
import type { Message, View } from '../state.ts';
import { joinYourself, leaveYourself } from './channels.ts';
import { typeCommand } from './commands.ts';
import { actInMessage, fillInMessage, placedInMessage, sendMessageShortcut } from './message-actions.ts';
import { closeView, fillInView, pressInView, submitView } from './modal-actions.ts';
import { openHome, say } from './talk.ts';

const element = { blockId: z.string(), actionId: z.string() };
const inMessage = { channel: z.string(), ts: z.string() };

/**
 * What a person can do on the page. `held` is a value in the form of Slack's `state.values`: text, option, options …
 */
export const actSchema = z.discriminatedUnion('do', [
	z.object({ do: z.literal('command'), channel: z.string(), line: z.string() }),
	z.object({ do: z.literal('say'), channel: z.string(), text: z.string(), threadTs: z.string().optional() }),
	z.object({
		do: z.literal('pressInModal'),
		viewId: z.string(),
		...element,
		option: z.record(z.string(), z.unknown()).optional(),
	}),
	z.object({
		do: z.literal('fillInModal'),
		viewId: z.string(),
		...element,
		held: z.unknown(),
		enter: z.boolean().optional(),
	}),
	z.object({
		do: z.literal('pressInMessage'),
		...inMessage,
		...element,
		option: z.record(z.string(), z.unknown()).optional(),
	}),
	z.object({ do: z.literal('fillInMessage'), ...inMessage, ...element, held: z.unknown() }),
	z.object({ do: z.literal('submit') }),
	z.object({ do: z.literal('close'), all: z.boolean().optional() }),
	z.object({ do: z.literal('messageShortcut'), ...inMessage, callbackId: z.string() }),
	z.object({ do: z.literal('join'), channel: z.string() }),
	z.object({ do: z.literal('leave'), channel: z.string() }),
	z.object({ do: z.literal('openApp'), tab: z.enum(['home', 'messages']) }),
]);
export type Act = z.infer<typeof actSchema>;

function viewOf(core: Core, viewer: Viewer, id: string): View {
	const view = core.state.views[id];
	if (!view || view.user !== viewer.user) throw new Error('This modal is no longer open.');
	return view;
}

function messageOf(core: Core, where: { channel: string; ts: string }): Message {
	const message = messageAt(core, where);
	if (!message) throw new Error('The message no longer exists.');
	return message;
}

/**
 * Does it. Resolves when the app has acknowledged or Slack has given up. Throws with words for the person when it
 * cannot be done.
 */
export async function perform(core: Core, deliverer: Deliverer, viewer: Viewer, act: Act): Promise<Json> {
	switch (act.do) {
		case 'command':
			return { ...(await typeCommand(core, deliverer, viewer, { where: act.channel, line: act.line })) };
		case 'say': {
			const saying = { channel: channelOf(core, act.channel), typed: act.text, threadTs: act.threadTs };
			const { message, told } = say(core, deliverer, viewer, saying);
			await told;
			return { ts: message.ts };
		}
		case 'pressInModal': {
			const { blockId, actionId } = act;
			const chosen = act.option ? { selected_option: act.option } : {};
			const target = { view: viewOf(core, viewer, act.viewId), blockId, actionId, chosen };
			return { acked: await pressInView(core, deliverer, viewer, target) };
		}
		case 'fillInModal': {
			const { blockId, actionId, enter = false, held = null } = act;
			const view = viewOf(core, viewer, act.viewId);
			await fillInView(core, deliverer, viewer, { view, blockId, actionId, held, enter });
			return {};
		}
		case 'pressInMessage': {
			const message = messageOf(core, act);
			const placed = placedInMessage(message, act.blockId, act.actionId);
			const chosen = act.option ? { selected_option: act.option } : {};
			return { acked: await actInMessage(core, deliverer, viewer, { message, placed, chosen }) };
		}
		case 'fillInMessage': {
			const message = messageOf(core, act);
			const placed = placedInMessage(message, act.blockId, act.actionId);
			await fillInMessage(core, deliverer, viewer, { message, placed, held: act.held ?? null });
			return {};
		}
		case 'submit':
			return { outcome: await submitView(core, deliverer, viewer) };
		case 'close':
			await closeView(core, deliverer, viewer, act.all);
			return {};
		case 'messageShortcut': {
			const shortcut = { message: messageOf(core, act), callbackId: act.callbackId };
			return { acked: await sendMessageShortcut(core, deliverer, viewer, shortcut) };
		}
		case 'join':
			await joinYourself(core, deliverer, viewer, channelOf(core, act.channel));
			return {};
		case 'leave':
			await leaveYourself(core, deliverer, viewer, channelOf(core, act.channel));
			return {};
		case 'openApp': {
			const channel = openDm(core, viewer.user);
			await openHome(core, deliverer, viewer, { channel, tab: act.tab });
			return { channel: channel.id };
		}
	}
}
