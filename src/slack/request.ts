import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Origin, Person } from '../answers/answer.ts';
import { HandraiseError } from '../errors.ts';
import { type Log, loggedId } from '../log.ts';
import { decodeMetadata, type ViewMetadata } from './metadata.ts';

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

/** A view of ours as an interaction brings it. */
export interface ViewSnapshot {
	readonly id: string;
	readonly hash: string;
	readonly privateMetadata: string;
	/** `state.values`, unread. */
	readonly values: unknown;
	readonly callbackId: string;
	/** `label.text` of its input blocks by block_id. */
	readonly labels: Readonly<Record<string, string>>;
}

/** One press of a button, or a change of an input that Slack reports. */
export interface Press {
	readonly value: string | undefined;
	readonly blockId: string;
	/** Null on a message. */
	readonly view: ViewSnapshot | null;
}

/** Slack leaves out, or sends as null, whatever does not apply; a field of another kind counts as left out. */
const lenient = <T extends z.ZodType>(type: T) => type.nullish().catch(null);
const id = lenient(z.string().min(1));

/** Slash commands are flat, interactions are nested; one schema reads both. */
const bodySchema = z.object({
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

const label = z.object({ block_id: z.string(), label: z.object({ text: z.string() }) });
const viewSchema = z
	.object({
		id: z.string(),
		hash: z.string().default(''),
		private_metadata: z.string().default(''),
		callback_id: z.string().default(''),
		state: z.object({ values: z.unknown().optional() }).nullish(),
		blocks: z.array(z.unknown()).default([]),
	})
	.transform(
		(view): ViewSnapshot => ({
			id: view.id,
			hash: view.hash,
			privateMetadata: view.private_metadata,
			values: view.state?.values ?? {},
			callbackId: view.callback_id,
			labels: Object.fromEntries(
				view.blocks.flatMap((block) => {
					const { success, data } = label.safeParse(block);
					return success ? [[data.block_id, data.label.text]] : [];
				}),
			),
		}),
	);
const interactionSchema = z.object({ view: viewSchema.nullish() });
const actionSchema = z.object({
	value: z.string().optional().catch(undefined),
	selected_option: z.object({ value: z.string() }).nullish().catch(null),
	block_id: z.string().default(''),
});

/**
 * Reads what Slack sent for the app that is installed in the workspace `teamId`. Throws for something that no person in
 * Slack sent.
 */
export function personRequest(raw: unknown, teamId: string, log: Log): PersonRequest {
	const data = bodySchema.parse(raw);
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

/** The view of an interaction, if it has one. Throws for a view that Slack does not send. */
export function viewIn(interaction: unknown): ViewSnapshot | null {
	return interactionSchema.parse(interaction).view ?? null;
}

/** The view of a submission or a closing. Throws for a view that Slack does not send. */
export const readView = (raw: unknown): ViewSnapshot => viewSchema.parse(raw);

export function readPress(action: unknown, view: ViewSnapshot | null): Press {
	const { value, selected_option: option, block_id: blockId } = actionSchema.parse(action);
	return { value: value ?? option?.value, blockId, view };
}

/** What a view carries. @throws HandraiseError `button_outdated` when another version made it */
export function metadataOf(view: ViewSnapshot | null): ViewMetadata {
	const metadata = decodeMetadata(view?.privateMetadata);
	if (metadata === null) {
		throw new HandraiseError('the metadata of a view cannot be read', { code: 'button_outdated' });
	}
	return metadata;
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

/** Where a form opened by this request belongs: inside a modal, where that modal was opened. */
export function originOf({ channelId, threadTs }: PersonRequest, view: ViewSnapshot | null): Origin {
	return decodeMetadata(view?.privateMetadata)?.origin ?? { channelId, threadTs };
}

/** The channel that a press is about: inside a modal the one that the modal was opened from. */
export function channelOf(request: PersonRequest, view: ViewSnapshot | null): string | null {
	return view === null ? request.channelId : (decodeMetadata(view.privateMetadata)?.origin.channelId ?? null);
}

/**
 * Whether it is the request's person who did something earlier. Rows of former versions name the workspace that the
 * request of that time named.
 */
export function isSamePerson({ person, claimedTeamId }: PersonRequest, earlier: Person): boolean {
	const isOfTeam = earlier.teamId === person.teamId || earlier.teamId === claimedTeamId;
	return earlier.userId === person.userId && isOfTeam;
}

/** What people do with a session that an audit asks for. */
type Access = 'open' | 'refresh' | 'history' | 'files' | 'screenshot' | 'watch' | 'unwatch' | 'list';

/**
 * The line that every access leaves in the log: the person (of the request), the session and the outcome, a stable word.
 * Never anything of the session's content.
 *
 * @param sessionId null for what is about a whole channel
 */
export function logAccess(request: PersonRequest, access: Access, sessionId: string | null, outcome: string): void {
	request.log.info(
		{ access, session: sessionId === null ? null : loggedId(sessionId), channel: request.channelId, outcome },
		'access',
	);
}
