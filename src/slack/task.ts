import { FRESH_MS, type Place, type Refusal } from '../answers/access-policy.ts';
import type { PersonRequest } from './request.ts';

/** A request that the access policy allowed. Only `listen` creates one. */
export interface AllowedRequest extends PersonRequest {
	readonly access: 'allowed';
}

/** Resolves to the next task, if there is one. */
export type Done = Promise<void> | Promise<Task>;

/** The work of a request. Handlers return it; `listen` asks the access policy and runs it. */
export interface Task {
	/** What the access policy checks; `anybody`: it is not asked. */
	readonly place: Place | 'anybody';
	/** The maximum age of the facts about the person; left out: the policy's default. */
	readonly maxAgeMs?: number;
	/** It changes something, so a refusal says that nothing was changed. */
	readonly changes?: true;
	/** May resolve to the next task, for which the access policy is asked again. */
	run(request: AllowedRequest): Done;
	/** Replaces the usual reply to a person who is refused. */
	readonly refused?: (refusal: Refusal) => Promise<void>;
}

/** For work that shows nothing of a session and changes nothing. */
export function forAnybody(run: () => Promise<void>): Task {
	return { place: 'anybody', run };
}

export const NOTHING_TO_DO: Task = forAnybody(async () => {});

/** For people who may act in this channel; null: the request belongs to no channel. */
export function ifAllowed(
	channelId: string | null,
	run: (request: AllowedRequest) => Done,
	refused?: (refusal: Refusal) => Promise<void>,
): Task {
	return { place: { channelId }, run, ...(refused === undefined ? {} : { refused }) };
}

/** For work that changes something for its person or others. */
export function changing(task: Task): Task {
	return { ...task, changes: true };
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
