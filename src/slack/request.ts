import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Origin } from '../domain/answer.ts';
import { choicesFrom } from '../domain/choices.ts';
import type { Person } from '../domain/person.ts';
import { type Clock, within } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { LogEvent } from '../kernel/log-lines.ts';
import { inRequest } from '../kernel/requests.ts';
import type { DeepReadonly } from '../kernel/values.ts';
import { type ActRefusal, ANYWHERE, isCertainRefusal, type Place } from './access-policy.ts';
import type { MessageContent, ModalView } from './blocks.ts';
import type { Need } from './calls.ts';
import { POST_METADATA_TYPE, slackCodeOf, slackFailure } from './clients.ts';
import { CALLBACKS, decodeInboxRow, decodeMetadata, NO_OPTION, OLDER, type ViewMetadata } from './ids.ts';
import { unescaped } from './rich-text.ts';

/** Slack leaves out fields that do not apply, or sends null. A field of another type is ignored. */
const lenient = <T extends z.ZodType>(type: T) => type.nullish().catch(null);
const id = lenient(z.string().min(1));

const OWN_METADATA = z.object({
	event_type: z.literal(POST_METADATA_TYPE),
	event_payload: z.object({ key: z.string() }),
});

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
	message: lenient(z.object({ ts: id, thread_ts: id, subtype: id, metadata: lenient(OWN_METADATA) })),
	trigger_id: id,
	response_url: id,
});

const INPUT_SCHEMA = z.object({
	block_id: z.string(),
	// Slack gives text objects back escaped (bolt-python #513 tells it of buttons).
	label: z.object({ text: z.string().transform(unescaped) }),
	element: lenient(
		z
			.object({
				type: z.string().default(''),
				options: z
					.array(z.object({ value: z.string() }))
					.transform((all) => all.flatMap(({ value }) => (value === NO_OPTION ? [] : value))),
			})
			.transform(({ type, options }) => choicesFrom(options, /^(?:checkboxes|multi_)/.test(type))),
	),
});
const VIEW_SCHEMA = z
	.object({
		id: z.string(),
		hash: z.string().default(''),
		private_metadata: z.string().default(''),
		callback_id: z.string().default(''),
		state: z.object({ values: z.record(z.string(), z.record(z.string(), z.unknown())).catch({}) }).nullish(),
		blocks: z.array(lenient(INPUT_SCHEMA)).default([]),
	})
	.transform(({ id, hash, private_metadata: privateMetadata, callback_id: callbackId, state, blocks }) => ({
		id,
		hash,
		privateMetadata,
		/** Null when another version wrote it, or the view has metadata of another kind. */
		metadata: decodeMetadata(privateMetadata),
		/** Elements by block_id and action_id, not yet checked. */
		values: state?.values ?? {},
		callbackId,
		labels: Object.fromEntries(blocks.flatMap((block) => (block ? [[block.block_id, block.label.text]] : []))),
		choices: Object.fromEntries(blocks.flatMap((block) => (block?.element ? [[block.block_id, block.element]] : []))),
	}));
export type SubmittedView = DeepReadonly<z.infer<typeof VIEW_SCHEMA>>;

const INTERACTION_SCHEMA = z.object({ view: VIEW_SCHEMA.nullish() });
const ACTION_SCHEMA = z.object({
	value: z.string().optional().catch(undefined),
	selected_option: z.object({ value: z.string() }).nullish().catch(null),
	block_id: z.string().default(''),
	action_ts: id,
});

/** Reads the body of a request. `teamId`: where the app is installed. Throws when the body names no person. */
export function personRequest(raw: unknown, teamId: string, log: Log) {
	const data = BODY_SCHEMA.parse(raw);
	const userId = data.user_id ?? data.user?.id;
	const claimedTeamId = data.user?.team_id ?? data.team_id ?? data.team?.id ?? null;
	if (userId == null) throw new Error('the request names no person');
	const messageTs = data.container?.message_ts ?? data.message?.ts ?? null;
	const isEphemeral = data.container?.is_ephemeral === true;
	const threadTs = data.container?.thread_ts ?? data.message?.thread_ts ?? (isEphemeral ? null : messageTs);
	// Slack does not tell where somebody pressed a button of a reply shown in the channel too.
	const isOnlyInThread = data.message != null && data.message.subtype !== 'thread_broadcast';
	const person: Person = { teamId, userId };
	const requestId = randomBytes(6).toString('hex');
	return {
		requestId,
		/** `teamId` is the workspace in which the app is installed, whichever workspace Slack names for the person. */
		person,
		/** The workspace that Slack names for the person; null: none. Only the access policy uses it. */
		claimedTeamId,
		/** The channel in which the person acts; null inside a modal. */
		channelId: data.channel_id ?? data.channel?.id ?? data.container?.channel_id ?? null,
		/** The thread of the message they acted on, or that message itself if it can start a thread. */
		threadTs,
		messageTs: isEphemeral ? null : messageTs,
		/** The key of the post they acted on, from its metadata; null for other messages. */
		postKey: data.message?.metadata?.event_payload.key ?? null,
		/** The person has the thread open: they wrote a reply in it, or acted on a message that only it shows. */
		isInThread: threadTs !== null && threadTs !== messageTs && (isEphemeral || isOnlyInThread),
		/** They pressed a button or chose from a menu. A shortcut or an event has no container. */
		isPress: data.container != null,
		isCommand: data.command != null,
		/** Opens one modal within three seconds. */
		triggerId: data.trigger_id ?? null,
		/** Accepts five replies within half an hour. */
		responseUrl: data.response_url ?? null,
		log: log.child({ request: requestId, user: userId, team: claimedTeamId }),
	};
}

export type PersonRequest = Readonly<ReturnType<typeof personRequest>>;

/** Throws for a view that Slack does not send. */
export const viewIn = (interaction: unknown) => INTERACTION_SCHEMA.parse(interaction).view ?? null;

/** For a submission or a closing. Throws for a view that Slack does not send. */
export const readView = (raw: unknown): SubmittedView => VIEW_SCHEMA.parse(raw);

/**
 * Reads a press. `number`: its value as a page or position, else 0. `view`: null on a message. `row`: the origin of the
 * pressed row in an inbox or a direct message. `actionTs`: when Slack took the press, the same for a repeat; or null.
 */
export function readPress(action: unknown, view: SubmittedView | null) {
	const { value, selected_option: option, block_id: blockId, action_ts: actionTs = null } = ACTION_SCHEMA.parse(action);
	const given = value ?? option?.value;
	const number = Math.max(0, Math.floor(Number(given)) || 0);
	return { value: given, number, blockId, row: decodeInboxRow(blockId), actionTs, view };
}

export type Press = Readonly<ReturnType<typeof readPress>>;

export type SubmittedSessionView = SubmittedView & { readonly metadata: ViewMetadata };

export const isOfSession = (view: SubmittedView | null): view is SubmittedSessionView => view?.metadata != null;

/** @throws HandraiseError `older_version` when another version wrote the metadata */
export function sessionViewOf(view: SubmittedView | null): SubmittedSessionView {
	if (isOfSession(view)) return view;
	throw new HandraiseError('the metadata of a view cannot be read', { code: OLDER });
}

const WRITTEN_SCHEMA = z
	.object({ user: z.string(), channel: z.string(), ts: id, thread_ts: id, user_team: id, bot_id: z.null().optional() })
	// `user_team`: the author's workspace, in shared channels.
	.transform(({ user: user_id, channel: channel_id, user_team: team_id, ts, thread_ts }) => {
		return { user_id, channel_id, team_id, message: { ts, thread_ts } };
	});

/** The request of whoever caused an event, such as a message; null for a bot. It has no trigger and no response_url. */
export function writtenRequest(event: unknown, teamId: string, log: Log): PersonRequest | null {
	const { data } = WRITTEN_SCHEMA.safeParse(event);
	return data === undefined ? null : personRequest(data, teamId, log);
}

/** A place where a person looks at their inbox: their Home tab (`viewId` null) or a window. */
export interface InboxPlace {
	readonly id: string;
	readonly person: Person;
	readonly viewId: string | null;
}

export const homeOf = (person: Person) => ({ id: `home:${person.teamId}:${person.userId}`, person, viewId: null });

export const windowOf = (person: Person, viewId: string): InboxPlace => ({ id: viewId, person, viewId });

/** The inbox that a view is, which shows changes by itself; null when it is none. */
export function inboxOf({ person }: PersonRequest, view: SubmittedView | null): InboxPlace | null {
	if (view?.callbackId === CALLBACKS.home) return homeOf(person);
	return view?.callbackId === CALLBACKS.inbox ? windowOf(person, view.id) : null;
}

/** The origin of a form that somebody opens: where they act; inside a modal, the origin of that modal. */
export function originOf({ channelId, threadTs }: PersonRequest, view: SubmittedView | null): Origin {
	return view?.metadata?.origin ?? { channelId, threadTs };
}

/** The request as if made at the origin of its modal: a press inside a modal names no channel to reply in. */
export function atOrigin(request: PersonRequest, origin: ViewMetadata['origin']): PersonRequest {
	return request.channelId === null ? { ...request, ...origin } : request;
}

/** Codes of failures of the store or the program. Other codes are about what somebody sent. */
export const NOT_STORED: ReadonlySet<string> = new Set(['store_unavailable', 'acceptance_unknown', 'internal']);

/** Runs `work` so that the audit and the log name this request and its `action`. */
export const inRequestOf = <Result>(
	{ requestId: id, person }: PersonRequest,
	action: string,
	work: () => Promise<Result>,
) => inRequest({ id, userId: person.userId, action }, work);

/** Logs and counts a refusal. Does not throw. */
export async function noteRefusal(
	{ log }: PersonRequest,
	refusal: string,
	count: (refusal: string) => Promise<void>,
): Promise<void> {
	log.info({ refusal }, 'refused');
	await count(refusal).catch((error: unknown) => log.warn('refusal_not_counted', { code: slackCodeOf(error) }));
}

/** Whether `work` settles within `ms`. Never rejects. */
export function endsWithin(clock: Clock, work: Promise<unknown>, ms: number): Promise<boolean> {
	const yes = () => true;
	return within(clock, work.then(yes, yes), ms, () => false);
}

/** A request that the access policy allowed. Only `listen` creates one. */
export interface AllowedRequest extends PersonRequest {
	readonly access: 'allowed';
}

/** Resolves to the next task, if there is one, for which the access policy is asked again. */
export type TaskResult = Promise<void> | Promise<Task>;

/** The session that a request is about. `others`: how many more there are. */
export interface Subject {
	readonly sessionId: string;
	readonly others?: number;
	readonly kept?: 'answer';
}

/** The work of a request, which `listen` runs. */
export interface Task {
	/** What the access policy checks; `anybody`: it is not asked. */
	readonly place: Place | 'anybody';
	/** How fresh facts about the person have to be, and the priority of asking for them. Default: `look`. */
	readonly need?: Need;
	/** It changes something, so a refusal says that nothing was changed. */
	readonly changes?: true;
	/** Takes a turn of the person before it runs, because it uses a limit that all share and takes no read. */
	readonly takesTurn?: true;
	/** The page that the pressed inbox shows after the task; left out: the same as before. */
	readonly inboxPage?: number;
	/** The session that is named to a person who is too fast. */
	readonly about?: Subject;
	run(request: AllowedRequest): TaskResult;
	/**
	 * The view to open before the person is checked, if Slack is asked about many people: a trigger lives for 3 seconds.
	 * `reply.openWindow` returns that window to the task. It shows nothing of a session.
	 */
	readonly window?: ModalView;
	/** Replaces the usual reply to a person who is refused. Nor is this person told that Slack takes long. */
	readonly refused?: (refusal: NotAllowed) => Promise<void>;
}

/**
 * Why a task is not run. An error is a refusal with the names of whom to ask, or `too_fast`: the person is too fast to
 * ask Slack whether they are in the channel.
 */
export type NotAllowed = ActRefusal | HandraiseError;

export type SubmissionAck =
	| { readonly response_action: 'update'; readonly view: ModalView }
	/** Opens above the submitted view, which Slack shows again, with all that was typed, when this one is closed. */
	| { readonly response_action: 'push'; readonly view: ModalView }
	| { readonly response_action: 'errors'; readonly errors: Readonly<Record<string, string>> };

export interface Submitted {
	readonly ack: SubmissionAck;
	readonly after?: () => Promise<void>;
}

/** The time in which Slack waits for the acknowledgement of a submission. */
export interface Wait {
	waitedMs(): number;
	/** Settles as `work` of the store. Throws `code` shortly before Slack gives up: then the outcome is unknown. */
	inTime<Result>(work: Promise<Result>, code: string): Promise<Result>;
}

export interface Storing<Result> {
	readonly place: Place;
	run(request: AllowedRequest): Promise<Result>;
}

export interface SubmissionHandler {
	plan(request: PersonRequest, view: SubmittedView, wait: Wait): Promise<Storing<Submitted>>;
	/** The acknowledgement for what was thrown, or for the code of a refusal. */
	failed(view: SubmittedView, error: unknown): Submitted;
}

/** `run` resolves to what is done after the acknowledgement. */
export interface StoringTask extends Storing<() => Promise<void>> {
	/** The message that the press is not stored. `error`: what was thrown, or a refusal. */
	failure(error: unknown): MessageContent;
	/** The message before the acknowledgement that the result comes later; null for none. */
	readonly late: MessageContent | null;
}

type TaskOptions = Omit<Task, 'place' | 'run'>;

/** A task without a check, for work that shows nothing of a session and stores nothing. */
export const forAnybody = (run: () => TaskResult): Task => ({ place: 'anybody', run });

export const NOTHING_TO_DO: Task = forAnybody(async () => {});

/** The place of an act on something of `channelId`. In another channel or an inbox, the person acts on a copy. */
export function copyPlace(request: PersonRequest, channelId: string | null, sessionId?: string): Place {
	const about = sessionId === undefined ? {} : { sessionId };
	return channelId === null || channelId === request.channelId ? { channelId } : { channelId, ...about, isCopy: true };
}

/** The place of an answer to a question of `channelId`. */
export function answerPlace(request: PersonRequest, channelId: string | null, sessionId: string): Place {
	return { ...copyPlace(request, channelId, sessionId), answers: sessionId };
}

/** The place of an act in a window or on an own answer, whose channel the person may have left. */
export function windowPlace(shown: { readonly origin: Origin; readonly sessionId: string } | null): Place {
	return shown === null ? { channelId: null } : { ...shown.origin, sessionId: shown.sessionId };
}

/** A task for people who may act in this channel, or at this place. Null: the request belongs to no channel. */
export function ifAllowed(
	channel: string | null | Place,
	run: (request: AllowedRequest) => TaskResult,
	options: TaskOptions = {},
): Task {
	const place = channel === null || typeof channel === 'string' ? { channelId: channel } : channel;
	return { place, run, ...options };
}

/** A task for people who may act in any channel. The reply must show nothing of a session. */
export function ifAllowedAnywhere(run: (request: PersonRequest) => TaskResult, options: TaskOptions = {}): Task {
	return { place: ANYWHERE, run, ...options };
}

/** For tasks whose refusal is told later, at *Send answer*. */
export const SILENTLY: TaskOptions = { refused: async () => {} };

/** Whether a code refuses a person or an older version, or says that they are too fast: the program did not fail. */
export const isNoFailure = (code: string) => code === 'too_fast' || code === OLDER || isCertainRefusal(code);

/** Logs what a request threw: a refusal as information, a limit of Slack as a warning, all else as an error. */
export function logFailure(
	{ log }: Pick<PersonRequest, 'log'>,
	error: unknown,
	event: LogEvent,
	facts: object = {},
): void {
	const code = slackCodeOf(error);
	if (isNoFailure(code)) log.info({ ...facts, code }, 'refused');
	else if (slackFailure(error).retryAfterMs !== null) log.warn(event, { ...facts, code });
	else log.error(event, { ...facts, code, err: error });
}
