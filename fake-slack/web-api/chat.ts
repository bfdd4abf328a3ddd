import { type Core, isMember, SlackError } from '../core.ts';
import { flag, type Json, text } from '../json.ts';
import { parsedText } from '../live-text.ts';
import {
	deleteMessage,
	editMessage,
	findMessage,
	isTombstone,
	messageForApp,
	postMessage,
	requireValidMessage,
} from '../messages.ts';
import { tellOfChange, tellOfMessage } from '../people/talk.ts';
import type { Channel, Message } from '../state.ts';
import { channelArg, destination, type Methods, required, TIER } from './method.ts';

function requireWritable(core: Core, channel: Channel): void {
	if (channel.isArchived) throw new SlackError('is_archived');
	if (channel.isIm && !core.settings.messagesTab) throw new SlackError('messages_tab_disabled');
	if (isMember(channel, core.state.app.botUser)) return;
	const anywhere = core.settings.scopes.includes('chat:write.public') && !channel.isPrivate;
	if (!anywhere) throw new SlackError('not_in_channel');
}

function threadArg(args: Json): string | undefined {
	const threadTs = text(args, 'thread_ts');
	if (threadTs !== undefined && !/^\d+\.\d{6}$/.test(threadTs)) throw new SlackError('invalid_thread_ts');
	return threadTs;
}

/** The app's own message at a ts. */
function ownMessage(core: Core, channel: Channel, args: Json, refusal: string): Message {
	const message = findMessage(core, channel.id, required(args, 'ts'));
	if (!message || isTombstone(message)) throw new SlackError('message_not_found');
	if (message.user !== core.state.app.botUser) throw new SlackError(refusal);
	return message;
}

function content(core: Core, args: Json): Json {
	return { ...parsedText(core, args, 'post'), reply_broadcast: flag(args.reply_broadcast) };
}

export const chatMethods: Methods = {
	'chat.postMessage': {
		token: 'bot',
		scopes: ['chat:write'],
		run({ core, deliverer, args }) {
			const channel = destination(core, args.channel);
			requireWritable(core, channel);
			requireValidMessage(core, args, 'chat.postMessage');
			const threadTs = threadArg(args);
			const message = postMessage(core, {
				channel,
				user: core.state.app.botUser,
				payload: content(core, args),
				...(threadTs === undefined ? {} : { threadTs }),
			});
			void tellOfMessage(core, deliverer, channel, message);
			return { channel: channel.id, ts: message.ts, message: messageForApp(core, message, true) };
		},
	},
	'chat.postEphemeral': {
		token: 'bot',
		scopes: ['chat:write'],
		perMinute: TIER.four,
		run({ core, args }) {
			const channel = destination(core, args.channel);
			requireWritable(core, channel);
			const user = required(args, 'user');
			if (!isMember(channel, user)) throw new SlackError('user_not_in_channel');
			requireValidMessage(core, args, 'chat.postEphemeral');
			const threadTs = threadArg(args);
			const message = postMessage(core, {
				channel,
				user: core.state.app.botUser,
				payload: content(core, args),
				ephemeralFor: user,
				...(threadTs === undefined ? {} : { threadTs }),
			});
			return { message_ts: message.ts };
		},
	},
	'chat.update': {
		token: 'bot',
		scopes: ['chat:write'],
		perMinute: TIER.three,
		run({ core, deliverer, args }) {
			const channel = channelArg(core, args.channel);
			const message = ownMessage(core, channel, args, 'cant_update_message');
			if (channel.isArchived) throw new SlackError('is_inactive');
			requireValidMessage(core, args, 'chat.update');
			const told = tellOfChange(core, deliverer, message);
			editMessage(core, message, parsedText(core, args, 'update'));
			void told(message);
			return {
				channel: channel.id,
				ts: message.ts,
				text: message.text,
				message: messageForApp(core, message, true),
			};
		},
	},
	'chat.delete': {
		token: 'bot',
		scopes: ['chat:write'],
		perMinute: TIER.three,
		run({ core, deliverer, args }) {
			const channel = channelArg(core, args.channel);
			const message = ownMessage(core, channel, args, 'cant_delete_message');
			const told = tellOfChange(core, deliverer, message);
			deleteMessage(core, message);
			void told(null);
			return { channel: channel.id, ts: message.ts };
		},
	},
	'chat.getPermalink': {
		token: 'bot',
		scopes: [],
		run({ core, args }) {
			const channel = channelArg(core, args.channel);
			const message = findMessage(core, channel.id, required(args, 'message_ts'));
			if (!message) throw new SlackError('message_not_found');
			const path = `archives/${channel.id}/p${message.ts.replace('.', '')}`;
			const thread = message.threadTs === undefined ? '' : `?thread_ts=${message.threadTs}&cid=${channel.id}`;
			return { channel: channel.id, permalink: `https://${core.state.team.domain}.slack.com/${path}${thread}` };
		},
	},
};
