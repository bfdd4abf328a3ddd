import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Origin, Person } from '../answers/answer.ts';
import type { Log } from '../log.ts';

/** What every request of a person brings, whatever it is: a command, a press, a submission. */
export interface PersonRequest {
	/** Ties together the log lines of one request. */
	readonly id: string;
	readonly person: Person;
	/** Where the person acts; null inside a modal. */
	readonly channelId: string | null;
	/** The thread of the message they acted on, or that message itself when it is in a channel and starts one. */
	readonly threadTs: string | null;
	readonly messageTs: string | null;
	/** They have just written a reply there: the thread has one, and they look at it. */
	readonly wroteInThread: boolean;
	/** Opens one modal within three seconds. */
	readonly triggerId: string | null;
	/** Takes five replies within half an hour. */
	readonly responseUrl: string | null;
	readonly log: Log;
}

/** Slack leaves out, or sends as null, whatever does not apply; a field of another kind counts as left out. */
const lenient = <T extends z.ZodType>(type: T) => type.nullish().catch(null);
const id = lenient(z.string().min(1));

/** Slash commands are flat, interactions are nested; one schema reads both. Anything else in them is not looked at. */
const body = z.object({
	user_id: id,
	team_id: id,
	channel_id: id,
	user: lenient(z.object({ id, team_id: id })),
	team: lenient(z.object({ id })),
	channel: lenient(z.object({ id })),
	container: lenient(z.object({ channel_id: id, message_ts: id, thread_ts: id, is_ephemeral: lenient(z.boolean()) })),
	message: lenient(z.object({ ts: id, thread_ts: id })),
	trigger_id: id,
	response_url: id,
});

/** Throws for something that no person in Slack sent. */
export function personRequest(raw: unknown, log: Log): PersonRequest {
	const data = body.parse(raw);
	const userId = data.user_id ?? data.user?.id;
	const teamId = data.user?.team_id ?? data.team_id ?? data.team?.id;
	if (userId == null || teamId == null) throw new Error('the request names no person');
	const requestId = randomBytes(6).toString('hex');
	const messageTs = data.container?.message_ts ?? data.message?.ts ?? null;
	const isEphemeral = data.container?.is_ephemeral === true;
	return {
		id: requestId,
		person: { teamId, userId },
		channelId: data.channel_id ?? data.channel?.id ?? data.container?.channel_id ?? null,
		threadTs: data.container?.thread_ts ?? data.message?.thread_ts ?? (isEphemeral ? null : messageTs),
		messageTs: isEphemeral ? null : messageTs,
		wroteInThread: false,
		triggerId: data.trigger_id ?? null,
		responseUrl: data.response_url ?? null,
		log: log.child({ request: requestId, user: userId, team: teamId }),
	};
}

/** Where a form opened by this request belongs. */
export function originOf(request: PersonRequest): Origin {
	return { channelId: request.channelId, threadTs: request.threadTs };
}
