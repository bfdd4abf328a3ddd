import type { Clock } from './clock.ts';
import type { Json } from './json.ts';

/** What goes wrong in calls of a Web API method. */
export interface CallFault {
	/** `'*'` is every method; `'response_url'` the response_url endpoints. */
	method: string;
	/** Only calls for which this returns true. */
	when?: (args: Json) => boolean;
	/** How many calls are hit; by default all, until the fault is lifted or `untilMs` has come. */
	times?: number;
	/** A time of the fake's clock. */
	untilMs?: number;
	/** An HTTP status instead of a response: 429, 500, 503 … */
	status?: number;
	/** The Retry-After header of a 429, in seconds; a proxy may say something else, or (null) nothing. */
	retryAfter?: number | string | null;
	/** An error code in an ordinary response. */
	error?: string;
	/** An ordinary response with these fields instead, for data that Slack omits or contradicts. */
	answer?: Json;
	/** Cuts the connection instead of responding. */
	drop?: boolean;
	/** A wait first, in the fake's clock. */
	delayMs?: number;
	/** A promise to wait for first. */
	hold?: Promise<void>;
	/** The method takes effect before the fault, also before it is held or delayed. */
	afterEffect?: boolean;
}

export interface Faults {
	/** Returns a function that lifts the fault. */
	add(fault: CallFault): () => void;
	/** Answers 429 with Retry-After (seconds). */
	rateLimit(method: string, options?: { retryAfter?: number; times?: number; untilMs?: number }): () => void;
	/** Holds calls of the method until the returned function is called. */
	hold(method: string, when?: (args: Json) => boolean): () => void;
	/** Delivers the next envelope of this type (a name as in the traffic log, or `'*'`) twice with the same id. */
	duplicateNext(type: string): void;
	clear(): void;
	/** For the Web API: the fault for this call. */
	take(method: string, args: Json): CallFault | undefined;
	/** For the delivery: whether this one goes out twice. */
	takeDuplicate(type: string): boolean;
}

export function createFaults(clock: Clock): Faults {
	const faults = new Set<CallFault>();
	let duplicates: string[] = [];
	const releases = new Set<() => void>();
	function add(fault: CallFault): () => void {
		const own = { ...fault };
		faults.add(own);
		return () => {
			faults.delete(own);
		};
	}
	return {
		add,
		rateLimit: (method, options = {}) => add({ method, status: 429, retryAfter: 30, ...options }),
		hold(method, when) {
			const { promise, resolve } = Promise.withResolvers<void>();
			const lift = add({ method, hold: promise, ...(when ? { when } : {}) });
			const release = () => {
				lift();
				releases.delete(release);
				resolve();
			};
			releases.add(release);
			return release;
		},
		duplicateNext(type) {
			duplicates.push(type);
		},
		clear() {
			for (const release of releases) release();
			faults.clear();
			duplicates = [];
		},
		take(method, args) {
			for (const fault of faults) {
				if (fault.untilMs !== undefined && clock.now() >= fault.untilMs) {
					faults.delete(fault);
					continue;
				}
				if (fault.method !== '*' && fault.method !== method) continue;
				if (fault.when && !fault.when(args)) continue;
				if (fault.times !== undefined && --fault.times <= 0) faults.delete(fault);
				return fault;
			}
			return undefined;
		},
		takeDuplicate(type) {
			const index = duplicates.findIndex((wanted) => wanted === '*' || wanted === type);
			if (index < 0) return false;
			duplicates.splice(index, 1);
			return true;
		},
	};
}
