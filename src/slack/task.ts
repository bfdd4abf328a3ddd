import { FRESH_MS, type Place, type Refusal } from '../answers/access-policy.ts';
import type { PersonRequest } from './request.ts';

/** A request of somebody who may do what it asks for in the channel that it is about. Only `listen` makes one. */
export interface AllowedRequest extends PersonRequest {
	readonly access: 'allowed';
}

/** Done, or with what is to be done next. */
export type Done = Promise<void> | Promise<Task>;

/** What a request asks for, and who may have it done. Handlers return it; `listen` asks the access policy and runs it. */
export interface Task {
	/** What the rules about people and channels are asked of; `anybody`: no rule has to be asked. */
	readonly place: Place | 'anybody';
	/** How old, in milliseconds, what is known of the person may be; left out: as usual. */
	readonly maxAgeMs?: number;
	/** May resolve to what is to be done next, for which the access policy is asked anew. */
	run(request: AllowedRequest): Done;
	/** Takes the place of the usual word to somebody who may not. */
	readonly refused?: (refusal: Refusal) => Promise<void>;
}

/** For what shows nothing of a session and changes nothing. */
export function forAnybody(run: () => Promise<void>): Task {
	return { place: 'anybody', run };
}

export const NOTHING_TO_DO: Task = forAnybody(async () => {});

/** For those who may act in this channel; null is no channel, as in a view that was opened from none. */
export function ifAllowed(
	channelId: string | null,
	run: (request: AllowedRequest) => Done,
	refused?: (refusal: Refusal) => Promise<void>,
): Task {
	return { place: { channelId }, run, ...(refused === undefined ? {} : { refused }) };
}

/** For what is sent in somebody's name: what is known of them is as new as at "Send answer". */
export function inTheirName(task: Task): Task {
	return { ...task, maxAgeMs: FRESH_MS };
}

/** For those who may act at all, in whichever channel: what they get must show nothing of a session. */
export function ifAllowedAnywhere(run: (request: PersonRequest) => Done): Task {
	return { place: 'anyChannel', run };
}

/** Instead of the usual word: whoever types is told at "Send answer". */
export async function silently(): Promise<void> {}
