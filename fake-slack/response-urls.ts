import { type Core, findChannel, nextId, SlackError } from './core.ts';
import { flag, type Json } from './json.ts';
import { parsedText } from './live-text.ts';
import { deleteMessage, editMessage, messageAt, postMessage, requireValidMessage } from './messages.ts';
import type { ResponseUrl } from './state.ts';

/** How often and how long a response_url works (docs.slack.dev, "Handling user interaction"). */
const RESPONSE_URL_USES = 5;
const RESPONSE_URL_LIFE_MS = 30 * 60_000;

/** Creates a response_url for an interaction; `ts` names the message it came from. */
export function createResponseUrl(
	core: Pick<Core, 'clock' | 'origin' | 'state'>,
	from: Pick<ResponseUrl, 'channel' | 'user' | 'ts'>,
): string {
	const now = core.clock.now();
	for (const old of Object.values(core.state.responseUrls)) {
		if (now - old.at > 2 * RESPONSE_URL_LIFE_MS) delete core.state.responseUrls[old.id];
	}
	const id = nextId(core, 'R');
	core.state.responseUrls[id] = { ...from, id, at: now, uses: 0 };
	return `${core.origin}/actions/${core.state.team.id}/${id}`;
}

/**
 * Applies a POST to a response_url. Its booleans may be strings (docs.slack.dev writes `"replace_original": "true"`).
 * Throws Slack's errors: used_url, expired_url, no_text, invalid_blocks.
 */
export function spendResponseUrl(core: Core, id: string, payload: Json): void {
	const url = core.state.responseUrls[id];
	if (!url || core.clock.now() - url.at > RESPONSE_URL_LIFE_MS) throw new SlackError('expired_url');
	if (url.uses >= RESPONSE_URL_USES) throw new SlackError('used_url');
	const origin = url.ts === undefined ? undefined : messageAt(core, { channel: url.channel, ts: url.ts });
	// From a message shortcut: the app may not change another author's message, as with chat.update.
	const isOwn = origin === undefined || origin.user === core.state.app.botUser;
	if (flag(payload.delete_original)) {
		if (!isOwn) throw new SlackError('cant_delete_message');
		url.uses++;
		if (origin) deleteMessage(core, origin);
		return;
	}
	const isRefused = !isOwn || (origin?.ephemeralFor === undefined && core.settings.replaceOriginal === 'refused');
	if (flag(payload.replace_original) && origin && isRefused) throw new SlackError('cant_update_message');
	requireValidMessage(core, payload, 'response_url');
	url.uses++;
	const content = parsedText(core, payload, 'post');
	if (flag(payload.replace_original) && origin) {
		editMessage(core, origin, content);
		if (core.settings.replaceOriginal === 'losesMetadata') delete origin.metadata;
		return;
	}
	const channel = findChannel(core, url.channel);
	if (!channel) throw new SlackError('channel_not_found');
	// Without a thread_ts the response does not go into the thread.
	const threadTs = typeof payload.thread_ts === 'string' ? payload.thread_ts : undefined;
	postMessage(core, {
		channel,
		user: core.state.app.botUser,
		payload: content,
		...(payload.response_type === 'in_channel' ? {} : { ephemeralFor: url.user }),
		...(threadTs === undefined ? {} : { threadTs }),
	});
}
