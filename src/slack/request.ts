import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Origin, Person } from '../answers/answer.ts';
import type { DeepReadonly } from '../deep-readonly.ts';
import { HandraiseError } from '../errors.ts';
import { homeInboxId, type InboxPlace, windowInboxId } from '../inbox/inbox.ts';
import { type Log, loggedId } from '../log.ts';
import { codeOf } from './clients.ts';
import { CALLBACKS, decodeInboxRow } from './ids.ts';
import { decodeMetadata, type ViewMetadata } from './metadata.ts';

/** Slack leaves out fields that do not apply, or sends null. A field of another type is ignored. */
const lenient = <T extends z.ZodType>(type: T) => type.nullish().catch(null);
const id = lenient(z.string().min(1));

/** Slash commands are flat and interactions are nested; this schema reads both. */
const BODY_SCHEMA = z.object({
	command: id,
	user_id: id,
	team_id: id,
	channel_id: id,
	user: lenient(z.object({ id, team_id: id })),
	team: lenient(z.object({ id })),
	channel: lenient(z.object({ id })),
	container: lenient(z.object({ channel_id: id, message_ts: id, thread_ts: id, is_ephemeral: lenient(z.boolean()) })),
	message: lenient(z.object({ ts: id, thread_ts: id, subtype: id })),
	trigger_id: id,
	response_url: id,
});

const LABEL_SCHEMA = z.object({ block_id: z.string(), label: z.object({ text: z.string() }) });
const VIEW_SCHEMA = z
	.object({
		id: z.string(),
		hash: z.string().default(''),
		private_metadata: z.string().default(''),
		callback_id: z.string().default(''),
		state: z.object({ values: z.record(z.string(), z.record(z.string(), z.unknown())).catch({}) }).nullish(),
		blocks: z.array(lenient(LABEL_SCHEMA)).default([]),
	})
	.transform(({ id, hash, private_metadata: privateMetadata, callback_id: callbackId, state, blocks }) => ({
		id,
		hash,
		privateMetadata,
		/** Elements by block_id and action_id, not yet checked. */
		values: state?.values ?? {},
		callbackId,
		/** `label.text` of the input blocks, by block_id. */
		labels: Object.fromEntries(blocks.flatMap((block) => (block ? [[block.block_id, block.label.text]] : []))),
	}));
/** A view of ours as Slack sends it with an interaction. */
export type SubmittedView = DeepReadonly<z.infer<typeof VIEW_SCHEMA>>;

const INTERACTION_SCHEMA = z.object({ view: VIEW_SCHEMA.nullish() });
const ACTION_SCHEMA = z.object({
	value: z.string().optional().catch(undefined),
	selected_option: z.object({ value: z.string() }).nullish().catch(null),
	block_id: z.string().default(''),
	action_ts: id,
});

/** Reads the body of a request. `teamId`: the workspace in which the app is installed. Throws when it names no person. */
export function personRequest(raw: unknown, teamId: string, log: Log) {
	const data = BODY_SCHEMA.parse(raw);
	const userId = data.user_id ?? data.user?.id;
	const claimedTeamId = data.user?.team_id ?? data.team_id ?? data.team?.id ?? null;
	if (userId == null) throw new Error('the request names no person');
	const messageTs = data.container?.message_ts ?? data.message?.ts ?? null;
	const isEphemeral = data.container?.is_ephemeral === true;
	const threadTs = data.container?.thread_ts ?? data.message?.thread_ts ?? (isEphemeral ? null : messageTs);
	// Slack does not tell where somebody pressed a button of a reply that is shown in the channel too.
	const isOnlyInThread = data.message != null && data.message.subtype !== 'thread_broadcast';
	const person: Person = { teamId, userId };
	return {
		/** `teamId` is the workspace in which the app is installed, whichever workspace Slack names for the person. */
		person,
		/** The workspace that Slack names for the person; null when it names none. Only the access policy uses it. */
		claimedTeamId,
		/** Where the person acts; null inside a modal. */
		channelId: data.channel_id ?? data.channel?.id ?? data.container?.channel_id ?? null,
		/** The thread of the message they acted on, or that message when it is in a channel and can start a thread. */
		threadTs,
		messageTs: isEphemeral ? null : messageTs,
		/** Whether the person has the thread open: they wrote a reply there, or acted on a message that is shown only there. */
		isInThread: threadTs !== null && threadTs !== messageTs && (isEphemeral || isOnlyInThread),
		isCommand: data.command != null,
		/** Opens one modal within three seconds. */
		triggerId: data.trigger_id ?? null,
		/** Accepts five replies within half an hour. */
		responseUrl: data.response_url ?? null,
		log: log.child({ request: randomBytes(6).toString('hex'), user: userId, team: claimedTeamId }),
	};
}

export type PersonRequest = Readonly<ReturnType<typeof personRequest>>;

/** Throws for a view that Slack does not send. */
export function viewIn(interaction: unknown): SubmittedView | null {
	return INTERACTION_SCHEMA.parse(interaction).view ?? null;
}

/** For a submission or a closing. Throws for a view that Slack does not send. */
export const readView = (raw: unknown): SubmittedView => VIEW_SCHEMA.parse(raw);

/**
 * `view`: null on a message. `row`: where what was pressed belongs, when it stands in an inbox or a direct message.
 * `actionTs`: when Slack took the press, also of a repeat; null if Slack leaves it out.
 */
export function readPress(action: unknown, view: SubmittedView | null) {
	const { value, selected_option: option, block_id: blockId, action_ts: actionTs = null } = ACTION_SCHEMA.parse(action);
	return { value: value ?? option?.value, blockId, row: decodeInboxRow(blockId), actionTs, view };
}

export type Press = Readonly<ReturnType<typeof readPress>>;

/** The metadata of a view. @throws HandraiseError `button_outdated` when another version wrote it */
export function metadataOf(view: SubmittedView): ViewMetadata {
	const metadata = decodeMetadata(view.privateMetadata);
	if (metadata === null) {
		throw new HandraiseError('the metadata of a view cannot be read', { code: 'button_outdated' });
	}
	return metadata;
}

const WRITTEN_SCHEMA = z.object({
	user: z.string(),
	channel: z.string(),
	ts: id,
	event_ts: id,
	thread_ts: id,
	/** The author's workspace, in shared channels. */
	user_team: id,
	bot_id: z.null().optional(),
});

/**
 * The request of a person who wrote a message, or did something else that Slack tells as an event; null for the event of a
 * bot. It has no trigger and no response_url.
 */
export function writtenRequest(event: unknown, teamId: string, log: Log): PersonRequest | null {
	const { data } = WRITTEN_SCHEMA.safeParse(event);
	if (data === undefined) return null;
	const { user: userId, channel: channelId, thread_ts: threadTs = null, user_team: claimedTeamId = null } = data;
	const ts = data.ts ?? data.event_ts ?? '';
	return {
		person: { teamId, userId },
		claimedTeamId,
		channelId,
		threadTs,
		messageTs: ts,
		isInThread: threadTs !== null && threadTs !== ts,
		isCommand: false,
		triggerId: null,
		responseUrl: null,
		log: log.child({ request: ts, user: userId, team: claimedTeamId }),
	};
}

/** The inbox that a view is, which shows changes by itself; null when it is none. */
export function inboxOf({ person }: PersonRequest, view: SubmittedView | null): InboxPlace | null {
	if (view?.callbackId === CALLBACKS.home) return homeOf({ person });
	return view?.callbackId === CALLBACKS.inbox ? windowOf({ person }, view.id) : null;
}

export function homeOf({ person }: Pick<PersonRequest, 'person'>): InboxPlace {
	return { id: homeInboxId(person), person, viewId: null };
}

export function windowOf({ person }: Pick<PersonRequest, 'person'>, viewId: string): InboxPlace {
	return { id: windowInboxId(viewId), person, viewId };
}

/** Whether the view is an inbox, in the Home tab or in a window. */
export function isInbox(view: SubmittedView | null): boolean {
	return view?.callbackId === CALLBACKS.home || view?.callbackId === CALLBACKS.inbox;
}

/** The origin of a form that somebody opens: where they act; inside a modal, the origin of that modal. */
export function originOf({ channelId, threadTs }: PersonRequest, view: SubmittedView | null): Origin {
	return decodeMetadata(view?.privateMetadata)?.origin ?? { channelId, threadTs };
}

/** A press inside a modal names no channel: replies to it go to where the modal was opened. */
export function whereItBegan(request: PersonRequest, origin: ViewMetadata['origin']): PersonRequest {
	return request.channelId === null ? { ...request, ...origin } : request;
}

/** What a person does with a session, for audits. */
type Access =
	| 'open'
	| 'refresh'
	| 'history'
	| 'files'
	| 'screenshot'
	| 'watch'
	| 'unwatch'
	| 'list'
	| 'inbox'
	| 'settings';

/** Writes no content of the session. `sessionId`: null for a whole channel or an inbox. `outcome`: a stable word. */
export function logAccess(request: PersonRequest, access: Access, sessionId: string | null, outcome: string): void {
	const session = sessionId === null ? null : loggedId(sessionId);
	request.log.info({ access, session, channel: request.channelId, outcome }, 'access');
}

/** Runs an access and logs its outcome: what `run` resolves to, or the code of its error. */
export async function logged(
	request: PersonRequest,
	access: Access,
	sessionId: string | null,
	run: () => Promise<string>,
): Promise<void> {
	try {
		logAccess(request, access, sessionId, await run());
	} catch (error) {
		logAccess(request, access, sessionId, codeOf(error));
		throw error;
	}
}
