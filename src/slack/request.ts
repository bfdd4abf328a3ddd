import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Origin, Person } from '../answers/answer.ts';
import type { Log } from '../log.ts';

/** What every request of a person brings, whatever it is: a command, a press, a submission. */
export interface PersonRequest {
	/** Ties together the log lines of one request. */
	readonly id: string;
	/** Known by the workspace that the app is installed in, whichever workspace Slack names beside them. */
	readonly person: Person;
	/** The workspace that Slack names beside the person; null when it names none. Only the access policy judges by it. */
	readonly claimedTeamId: string | null;
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

/**
 * Reads what Slack sent for the app that is installed in the workspace `teamId`. Throws for something that no person in
 * Slack sent.
 */
export function personRequest(raw: unknown, teamId: string, log: Log): PersonRequest {
	const data = body.parse(raw);
	const userId = data.user_id ?? data.user?.id;
	const claimedTeamId = data.user?.team_id ?? data.team_id ?? data.team?.id ?? null;
	if (userId == null) throw new Error('the request names no person');
	const requestId = randomBytes(6).toString('hex');
	const messageTs = data.container?.message_ts ?? data.message?.ts ?? null;
	const isEphemeral = data.container?.is_ephemeral === true;
	return {
		id: requestId,
		person: { teamId, userId },
		claimedTeamId,
		channelId: data.channel_id ?? data.channel?.id ?? data.container?.channel_id ?? null,
		threadTs: data.container?.thread_ts ?? data.message?.thread_ts ?? (isEphemeral ? null : messageTs),
		messageTs: isEphemeral ? null : messageTs,
		wroteInThread: false,
		triggerId: data.trigger_id ?? null,
		responseUrl: data.response_url ?? null,
		log: log.child({ request: requestId, user: userId, team: claimedTeamId }),
	};
}

/** A message as an event brings it. */
export interface WrittenMessage {
	readonly userId: string;
	/** The workspace of whoever wrote it, where Slack says it. */
	readonly claimedTeamId: string | null;
	readonly channelId: string;
	readonly ts: string;
	readonly threadTs: string | null;
}

/** The request of somebody who wrote a message: it brings no trigger and no response_url. */
export function writtenRequest(message: WrittenMessage, teamId: string, log: Log): PersonRequest {
	const { userId, claimedTeamId, channelId, ts, threadTs } = message;
	return {
		id: ts,
		person: { teamId, userId },
		claimedTeamId,
		channelId,
		threadTs,
		messageTs: ts,
		wroteInThread: threadTs !== null && threadTs !== ts,
		triggerId: null,
		responseUrl: null,
		log: log.child({ request: ts, user: userId, team: claimedTeamId }),
	};
}

/** Where a form opened by this request belongs. */
export function originOf(request: PersonRequest): Origin {
	return { channelId: request.channelId, threadTs: request.threadTs };
}

/**
 * Whether it is the request's person who did something earlier. Rows of former versions name the workspace that the
 * request of that time named.
 */
export function isSamePerson({ person, claimedTeamId }: PersonRequest, earlier: Person): boolean {
	const isOfTeam = earlier.teamId === person.teamId || earlier.teamId === claimedTeamId;
	return earlier.userId === person.userId && isOfTeam;
}
