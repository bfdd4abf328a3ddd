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
import { type ActRefusal, ANYWHERE, type Place } from './access-policy.ts';
import type { MessageContent, ModalView } from './blocks.ts';
import type { Need } from './calls.ts';
import { OWN_MESSAGE, slackCodeOf } from './clients.ts';
import { CALLBACKS, decodeInboxRow, decodeMetadata, NO_OPTION, type ViewMetadata } from './ids.ts';

/** Slack leaves out fields that do not apply, or sends null. A field of another type is ignored. */
const lenient = <T extends z.ZodType>(type: T) => type.nullish().catch(null);
const id = lenient(z.string().min(1));

const OWN_METADATA = z.object({ event_type: z.literal(OWN_MESSAGE), event_payload: z.object({ key: z.string() }) });

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
	label: z.object({ text: z.string() }),
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
		/** Where the person acts; null inside a modal. */
		channelId: data.channel_id ?? data.channel?.id ?? data.container?.channel_id ?? null,
		/** The thread of the message they acted on, or that message when it can start one in a channel. */
		threadTs,
		messageTs: isEphemeral ? null : messageTs,
		/** By which the program finds that message again; null: it is none that stays current. */
		postKey: data.message?.metadata?.event_payload.key ?? null,
		/** The person has the thread open: they wrote a reply there, or acted on a message that is shown only there. */
		isInThread: threadTs !== null && threadTs !== messageTs && (isEphemeral || isOnlyInThread),
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
 * Reads a press. `number`: its value as a page or position, else 0. `view`: null on a message. `row`: where a press in
 * an inbox or a direct message belongs. `actionTs`: when Slack took the press, also of a repeat; null if left out.
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
	throw new HandraiseError('the metadata of a view cannot be read', { code: 'older_version' });
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

/** A press inside a modal names no channel: replies to it go to where the modal was opened. */
export function whereItBegan(request: PersonRequest, origin: ViewMetadata['origin']): PersonRequest {
	return request.channelId === null ? { ...request, ...origin } : request;
}

/** Codes of failures of the store and of the program. Others are about what somebody sent. */
export const NOT_STORED: ReadonlySet<string> = new Set(['store_unavailable', 'acceptance_unknown', 'internal']);

/** Has the audit and the log name this request in all that `work` does. `action`: what its person did. */
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

/** Whether the work ends within this time. Never rejects. */
export function isWithin(clock: Clock, work: Promise<unknown>, ms: number): Promise<boolean> {
	const yes = () => true;
	return within(clock, work.then(yes, yes), ms, () => false);
}

/** A request that the access policy allowed. Only `listen` creates one. */
export interface AllowedRequest extends PersonRequest {
	readonly access: 'allowed';
}

/** Resolves to the next task, if there is one. The access policy is asked again for it. */
export type Done = Promise<void> | Promise<Task>;

/** What a request is about. `others`: how many more sessions. */
export interface Subject {
	readonly sessionId: string;
	readonly others?: number;
	readonly kept?: 'answer';
}

/** The work of a request, which `listen` runs. */
export interface Task {
	/** What the access policy checks; `anybody`: it is not asked. */
	readonly place: Place | 'anybody';
	/** How new facts about the person have to be, and who is asked about first; left out: the policy's default. */
	readonly need?: Need;
	/** It changes something, so a refusal says that nothing was changed. */
	readonly changes?: true;
	/** Not run for a person who is too fast: for what uses a shared limit, and takes no read. */
	readonly takesTurn?: true;
	/** It asks for the inbox in which the person pressed; else that is shown again after it. */
	readonly asksInbox?: true;
	/** What a person who is too fast is told besides. */
	readonly about?: Subject;
	run(request: AllowedRequest): Done;
	/**
	 * It opens a window, which it has from `reply.openWindow`. Where Slack has to be asked about many people, this view
	 * opens first, because a trigger lives for 3 seconds. It shows nothing of a session.
	 */
	readonly window?: ModalView;
	/** With `refused`: where Slack is asked about many people, they wait, and are told by the task or not at all. */
	readonly waits?: true;
	/** Replaces the usual reply to a person who is refused. */
	readonly refused?: (refusal: NotAllowed) => Promise<void>;
}

/**
 * Why a task is not run. The error is `too_fast`: whether they are there has to be asked, and they ask too much; or a
 * refusal with the names of whom to ask.
 */
export type NotAllowed = ActRefusal | HandraiseError;

export type SubmissionAck =
	| { readonly response_action: 'update'; readonly view: ModalView }
	/** Above the submitted view, which Slack shows again as it was, with all that was typed, when this one is closed. */
	| { readonly response_action: 'push'; readonly view: ModalView }
	| { readonly response_action: 'errors'; readonly errors: Readonly<Record<string, string>> };

export interface Submitted {
	readonly ack: SubmissionAck;
	readonly after?: () => Promise<void>;
}

/** Slack's waiting for the acknowledgement of a submission. */
export interface Wait {
	waitedMs(): number;
	/** Settles as `work` of the store does, or throws `code` before Slack gives up: what becomes of it is not known. */
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
	/** Says that the press is not stored, for what was thrown, or a refusal. */
	failure(error: unknown): MessageContent;
	/** Says before the acknowledgement that the result comes later. Null: nothing says so. */
	readonly late: MessageContent | null;
}

type TaskOptions = Omit<Task, 'place' | 'run'>;

/** For work that shows nothing of a session and stores nothing. */
export const forAnybody = (run: () => Done): Task => ({ place: 'anybody', run });

export const NOTHING_TO_DO: Task = forAnybody(async () => {});

/** Where somebody acts on what is of this channel: perhaps on a copy, in an inbox or a direct message. */
export function copyPlace(request: PersonRequest, channelId: string | null, sessionId?: string): Place {
	const about = sessionId === undefined ? {} : { sessionId };
	return channelId === null || channelId === request.channelId ? { channelId } : { channelId, ...about, isCopy: true };
}

/** Where somebody answers a question of this channel. */
export function answerPlace(request: PersonRequest, channelId: string | null, sessionId: string): Place {
	return { ...copyPlace(request, channelId, sessionId), answers: sessionId };
}

/** Where somebody acts in a window, or on their own answer: they may have left its channel since. */
export function windowPlace(shown: { readonly origin: Origin; readonly sessionId: string } | null): Place {
	return shown === null ? { channelId: null } : { ...shown.origin, sessionId: shown.sessionId };
}

/** For people who may act in this channel; null: the request belongs to no channel. */
export function ifAllowed(
	channel: string | null | Place,
	run: (request: AllowedRequest) => Done,
	options: TaskOptions = {},
): Task {
	const place = channel === null || typeof channel === 'string' ? { channelId: channel } : channel;
	return { place, run, ...options };
}

/** For people who may act in any channel: the reply must show nothing of a session. */
export function ifAllowedAnywhere(run: (request: PersonRequest) => Done, options: TaskOptions = {}): Task {
	return { place: ANYWHERE, run, ...options };
}

/** Where a refusal is told later, at "Send answer". */
export const SILENTLY: TaskOptions = { refused: async () => {}, waits: true };

/** That a person is too fast is no failure of the program. */
export function logFailure({ log }: PersonRequest, error: unknown, event: LogEvent, facts: object = {}): void {
	const code = slackCodeOf(error);
	if (code === 'too_fast') log.info({ ...facts, code }, 'refused');
	else log.error(event, { ...facts, code, err: error });
}
