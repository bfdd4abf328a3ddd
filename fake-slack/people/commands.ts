import { type Core, channelOf, isMember, personOf } from '../core.ts';
import type { Ack, Deliverer } from '../delivery.ts';
import { escaped } from '../escaping.ts';
import { isRecord, type Json } from '../json.ts';
import { postMessage, requireValidMessage } from '../messages.ts';
import { channelNameForApp, type Viewer } from '../payloads.ts';
import { createResponseUrl } from '../response-urls.ts';
import type { Channel } from '../state.ts';
import { createTrigger } from '../triggers.ts';
import { requireClient } from '../visibility.ts';

/** Slack's names for a command's failure in "failed with the error". */
const FAILURES = {
	timeout: 'operation_timeout',
	no_connection: 'dispatch_failed',
	http_error: 'http_service_error',
	connection_failed: 'http_client_error',
} as const;

export interface CommandOutcome {
	ok: boolean;
	/** The error code that Slack shows to the person. */
	error: string | null;
}

/** With `should_escape`, @name and #name arrive as ids and addresses as links (docs.slack.dev, "Slash commands"). */
function escapeText(core: Core, text: string): string {
	return escaped(text)
		.replace(/@([\w.-]+)/g, (whole, name: string) => {
			const person = core.state.people.find((one) => one.name === name);
			return person ? `<@${person.id}|${person.name}>` : whole;
		})
		.replace(/#([\w-]+)/g, (whole, name: string) => {
			const channel = core.state.channels.find((one) => one.name === name);
			return channel ? `<#${channel.id}|${channel.name}>` : whole;
		})
		.replace(/https?:\/\/[^\s<>|]+/g, (url) => `<${url}>`);
}

/** A message from Slack itself that only this person sees. */
function slackSays(core: Core, viewer: Viewer, channel: Channel, text: string): void {
	const user = core.state.app.botUser;
	postMessage(core, { channel, user, payload: { text }, ephemeralFor: viewer.user, subtype: 'slackbot' });
}

function showAnswer(core: Core, viewer: Viewer, channel: Channel, answer: unknown): string | null {
	const message: Json | undefined =
		typeof answer === 'string' ? { text: answer } : isRecord(answer) ? answer : undefined;
	if (!message || Object.keys(message).length === 0) return null;
	try {
		requireValidMessage(core, message, 'response_url');
	} catch {
		return 'invalid_command_response';
	}
	const everyone = message.response_type === 'in_channel';
	const user = core.state.app.botUser;
	postMessage(core, { channel, user, payload: message, ...(everyone ? {} : { ephemeralFor: viewer.user }) });
	return null;
}

/** A person types a slash command in a channel. Resolves when the app has acknowledged it or Slack has given up. */
export async function typeCommand(
	core: Core,
	deliverer: Deliverer,
	viewer: Viewer,
	{ where, line }: { where: string; line: string },
): Promise<CommandOutcome> {
	const channel = channelOf(core, where);
	requireClient(core, viewer);
	// Who only looks at a public channel has a button to join it, and nowhere to type.
	if (!isMember(channel, viewer.user)) throw new Error(`${viewer.user} is not in ${where}.`);
	const [command = '', ...rest] = line.split(/(?<=^\S+)\s+/);
	const declares = (one: Core) => one.settings.commands?.find((own) => own.command === command);
	const declared = declares(core);
	const owner = declared ? undefined : core.others.find((one) => declares(one.core));
	if (owner) return typeCommand(owner.core, owner.deliverer, viewer, { where, line });
	const { commands } = core.settings;
	if (commands !== null && !declared) {
		slackSays(core, viewer, channel, `${command} is not a valid command.`);
		return { ok: false, error: 'invalid_command' };
	}
	const typed = rest.join(' ').trim();
	const { enterprise } = core.state;
	const ack: Ack = await deliverer.deliver({
		kind: 'slash_commands',
		name: 'slash_commands',
		acceptsPayload: true,
		payload: {
			token: 'verification',
			team_id: core.state.team.id,
			team_domain: core.state.team.domain,
			...(enterprise ? { enterprise_id: enterprise.id, enterprise_name: enterprise.name } : {}),
			channel_id: channel.id,
			channel_name: channelNameForApp(channel),
			user_id: viewer.user,
			user_name: personOf(core, viewer.user).name,
			command,
			text: declared?.escaped === true ? escapeText(core, typed) : typed,
			api_app_id: core.state.app.id,
			is_enterprise_install: 'false',
			response_url: createResponseUrl(core, { channel: channel.id, user: viewer.user }),
			trigger_id: createTrigger(core, viewer),
		},
	});
	const error = ack.ok ? showAnswer(core, viewer, channel, ack.payload) : FAILURES[ack.failure];
	if (error !== null) slackSays(core, viewer, channel, `${command} failed with the error "${error}"`);
	return { ok: error === null, error };
}
