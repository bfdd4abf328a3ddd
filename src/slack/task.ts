import { type ActRefusal, type ChannelPlace, FRESH_MS, type Place } from '../answers/access-policy.ts';
import type { Origin } from '../answers/answer.ts';
import type { PersonRequest } from './request.ts';

/** A request that the access policy allowed. Only `listen` creates one. */
export interface AllowedRequest extends PersonRequest {
	readonly access: 'allowed';
}

/** Resolves to the next task, if there is one. The access policy is asked again for it. */
export type Done = Promise<void> | Promise<Task>;

/** `others`: how many more sessions it was about. */
interface About {
	readonly sessionId: string;
	readonly others?: number;
	readonly kept?: 'answer';
}

/** The work of a request, which `listen` runs. */
export interface Task {
	/** What the access policy checks; `anybody`: it is not asked. */
	readonly place: Place | 'anybody';
	/** The maximum age of the facts about the person; left out: the policy's default. */
	readonly maxAgeMs?: number;
	/** It changes something, so a refusal says that nothing was changed. */
	readonly changes?: true;
	/** It is not run for a person who is too fast. For what uses a limit that people share, and takes no read. */
	readonly takesTurn?: true;
	/** What a person who is too fast is told besides. */
	readonly about?: About;
	run(request: AllowedRequest): Done;
	/** Replaces the usual reply to a person who is refused. */
	readonly refused?: (refusal: ActRefusal) => Promise<void>;
}

/** For work that shows nothing of a session and stores nothing. */
export function forAnybody(run: () => Done): Task {
	return { place: 'anybody', run };
}

export const NOTHING_TO_DO: Task = forAnybody(async () => {});

/** Where somebody acts on a question of this channel: perhaps on a copy of it, in an inbox or a direct message. */
export function copyPlace(request: PersonRequest, channelId: string | null, sessionId: string): ChannelPlace {
	return channelId === null || channelId === request.channelId ? { channelId } : { channelId, sessionId, isCopy: true };
}

/** Where somebody acts in a window, or on their own answer: they may have left its channel since. */
export function windowPlace(shown: { readonly origin: Origin; readonly sessionId: string } | null): ChannelPlace {
	return shown === null ? { channelId: null } : { ...shown.origin, sessionId: shown.sessionId };
}

/** For people who may act in this channel; null: the request belongs to no channel. */
export function ifAllowed(
	channel: string | null | ChannelPlace,
	run: (request: AllowedRequest) => Done,
	refused?: (refusal: ActRefusal) => Promise<void>,
): Task {
	const place = channel === null || typeof channel === 'string' ? { channelId: channel } : channel;
	return { place, run, ...(refused === undefined ? {} : { refused }) };
}

/** For work that changes something for its person or others. */
export function changing(task: Task): Task {
	return { ...task, changes: true };
}

/** For work that takes a turn of its person. */
export function inTurn(task: Task, about?: About): Task {
	return { ...task, takesTurn: true, ...(about !== undefined && { about }) };
}

/** For work that sends something in a person's name: facts about them are as fresh as for "Send answer". */
export function inTheirName(task: Task): Task {
	return changing({ ...task, maxAgeMs: FRESH_MS });
}

/** For people who may act in any channel: the reply must show nothing of a session. */
export function ifAllowedAnywhere(run: (request: PersonRequest) => Done): Task {
	return { place: 'anyChannel', run };
}

/** Replaces the usual reply where a refusal is told later, at "Send answer". */
export async function silently(): Promise<void> {}
