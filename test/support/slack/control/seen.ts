import { type Core, isMember, personOf } from '../core.ts';
import { sees } from '../driver/posted.ts';
import type { Json } from '../json.ts';
import { isTombstone } from '../messages.ts';
import type { Viewer } from '../payloads.ts';
import { messageInput } from '../people/message-actions.ts';
import type { Message, View } from '../state.ts';
import { topView, windowOf } from '../windows.ts';

function messageSeen(core: Core, viewer: Viewer, message: Message): Json {
	return {
		ts: message.ts,
		channel: message.channel,
		user: message.user,
		author: message.subtype === 'slackbot' || isTombstone(message) ? 'Slackbot' : personOf(core, message.user).realName,
		text: message.text,
		blocks: message.blocks,
		threadTs: message.threadTs ?? null,
		broadcast: message.broadcast,
		edited: message.editedTs !== undefined,
		ephemeral: message.ephemeralFor !== undefined,
		values: messageInput(message, viewer.user).values,
	};
}

function viewSeen(core: Core, view: View | undefined): Json | null {
	if (!view) return null;
	return {
		id: view.id,
		hash: view.hash,
		payload: view.payload,
		values: view.input.values,
		fieldErrors: view.fieldErrors,
		trouble: view.trouble,
		depth: windowOf(core, view.user, view.window).stack.length,
	};
}

/** Everything a person sees in a window: channels they may look into, messages for their eyes, the modal on top. */
export function seenBy(core: Core, viewer: Viewer): Json {
	const { state } = core;
	const channels = state.channels.filter((channel) => !channel.isPrivate || isMember(channel, viewer.user));
	return {
		me: personOf(core, viewer.user),
		app: state.app,
		team: state.team,
		people: state.people,
		userGroups: state.userGroups,
		channels,
		messages: state.messages
			.filter((message) => sees(core, viewer, message))
			.map((message) => messageSeen(core, viewer, message)),
		modal: viewSeen(core, topView(core, viewer.user, viewer.window)),
		home: viewSeen(core, state.views[state.homes[viewer.user] ?? '']),
	};
}
