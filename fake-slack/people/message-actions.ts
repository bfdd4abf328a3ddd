import { appOf, type Core, channelOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import { type Placed, placedElements } from '../elements.ts';
import { escapedTexts } from '../escaping.ts';
import { freshInput, setValue, stateValues } from '../input-state.ts';
import type { Json } from '../json.ts';
import { messageForApp } from '../messages.ts';
import { actionTs, channelForApp, payloadBase, type Viewer } from '../payloads.ts';
import { createResponseUrl } from '../response-urls.ts';
import type { InputState, Message } from '../state.ts';
import { createTrigger } from '../triggers.ts';
import { requireSeen } from '../visibility.ts';
import { actionForApp } from './modal-actions.ts';
import { requireOffered } from './pickers.ts';

/** The values that a person's client holds in a message's inputs. */
export function messageInput(message: Message, user: string): InputState {
	message.inputs[user] ??= freshInput(message.blocks);
	return message.inputs[user];
}

export function placedInMessage(message: Message, blockId: string, actionId: string): Placed {
	const found = placedElements(message.blocks).find((one) => one.blockId === blockId && one.actionId === actionId);
	if (!found) throw new Error(`The message no longer has the element ${blockId}/${actionId}.`);
	return found;
}

/** A person presses a message's button or chooses in it. False when the app did not acknowledge. */
export async function actInMessage(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ message, placed, chosen = {} }: { message: Message; placed: Placed; chosen?: Json },
): Promise<boolean> {
	const owner = appOf(core, deliverer, message);
	if (owner.core !== core) return actInMessage(owner.core, owner.deliverer, viewer, { message, placed, chosen });
	requireSeen(core, viewer, message);
	const channel = channelOf(core, message.channel);
	const input = messageInput(message, viewer.user);
	const { channel: channelId, ts } = message;
	const ack = await deliverer.deliver({
		kind: 'interactive',
		name: 'block_actions',
		acceptsPayload: false,
		payload: {
			...payloadBase(core, 'block_actions', viewer.user),
			container: {
				type: 'message',
				message_ts: ts,
				channel_id: channelId,
				is_ephemeral: message.ephemeralFor !== undefined,
				...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
			},
			trigger_id: createTrigger(core, viewer),
			channel: channelForApp(channel),
			// Slack does not send the content of an ephemeral message back to the app.
			// With its metadata, as published apps read it (Netflix/dispatch, `message_context_middleware`).
			...(message.ephemeralFor === undefined ? { message: messageForApp(core, message, true) } : {}),
			state: { values: escapedTexts(stateValues(message.blocks, input, false)) },
			response_url: createResponseUrl(core, { channel: channelId, user: viewer.user, ts }),
			actions: [actionForApp(core, placed, chosen)],
		},
	});
	return ack.ok;
}

/** A person types or chooses in a message. Choices outside input blocks go to the app at once. */
export async function fillInMessage(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ message, placed, held }: { message: Message; placed: Placed; held: unknown },
): Promise<void> {
	requireSeen(core, viewer, message);
	requireOffered(core, viewer, placed, held);
	const input = messageInput(message, viewer.user);
	setValue(input, placed, held);
	core.changes.emit({ kind: 'message', id: message.ts });
	if (placed.isInput && placed.block.dispatch_action !== true) return;
	const { type: _type, ...value } = input.values[placed.blockId]?.[placed.actionId] ?? { type: placed.type };
	await actInMessage(core, deliverer, viewer, { message, placed, chosen: value });
}

/** A person chooses a message shortcut in a message's menu. False when the app did not acknowledge. */
export async function sendMessageShortcut(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ message, callbackId }: { message: Message; callbackId: string },
): Promise<boolean> {
	requireSeen(core, viewer, message);
	if (core.settings.shortcuts?.includes(callbackId) === false)
		throw new Error(`The app has no shortcut ${callbackId}.`);
	const channel = channelOf(core, message.channel);
	const ack = await deliverer.deliver({
		kind: 'interactive',
		name: 'message_action',
		acceptsPayload: false,
		payload: {
			...payloadBase(core, 'message_action', viewer.user),
			callback_id: callbackId,
			trigger_id: createTrigger(core, viewer),
			response_url: createResponseUrl(core, { channel: channel.id, user: viewer.user, ts: message.ts }),
			channel: channelForApp(channel),
			message: messageForApp(core, message),
			message_ts: message.ts,
			action_ts: actionTs(core),
		},
	});
	return ack.ok;
}
