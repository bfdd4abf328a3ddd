import type { Changes } from './changes.ts';
import type { Clock } from './clock.ts';
import type { Json } from './json.ts';

/** A call of the app to Slack, or a delivery of Slack to the app. */
export interface TrafficEntry {
	readonly seq: number;
	readonly direction: 'call' | 'delivery' | 'response_url';
	/** The Web API method; for a delivery the payload's type (`slash_commands`, `view_submission`, `app_mention` …). */
	readonly name: string;
	/** Milliseconds of the fake's clock. */
	readonly at: number;
	/** When the response went out or the ack came in; null while it is under way or when none came. */
	doneAt: number | null;
	/** A fault holds a call back now. */
	isHeld: boolean;
	/** Real time between the two, in ms. */
	tookMs: number | null;
	readonly request: Json;
	answer: unknown;
	/** HTTP status of a call's response or of the app's ack; null over a socket. */
	status: number | null;
	/** For a delivery: whether the app acknowledged in time. */
	acked: boolean | null;
	/** What the strict validation objected to, in Slack's words. */
	problems: string[];
	readonly transport: 'http' | 'socket';
	/** Redelivery number of an event, 0 for the first. */
	readonly retry: number;
}

/** Something that the app sent and Slack would refuse as malformed, or that it uses and this fake does not have. */
export interface Violation {
	where: string;
	messages: string[];
	payload: unknown;
}

export interface Traffic {
	begin(entry: Pick<TrafficEntry, 'direction' | 'name' | 'request'> & Partial<TrafficEntry>): TrafficEntry;
	finish(entry: TrafficEntry, result: Partial<Pick<TrafficEntry, 'answer' | 'status' | 'acked' | 'problems'>>): void;
	all(): readonly TrafficEntry[];
	/** The calls of a Web API method, oldest first. */
	calls(method?: string): TrafficEntry[];
	/** The deliveries of a type, oldest first. */
	deliveries(type?: string): TrafficEntry[];
	violations(): readonly Violation[];
	violate(violation: Violation): void;
	clear(): void;
}

/** Keeps the newest `limit` entries: a long run must not fill the memory. */
export function createTraffic(deps: { clock: Clock; changes: Changes; limit: number }): Traffic {
	const { clock, changes, limit } = deps;
	let entries: TrafficEntry[] = [];
	let violations: Violation[] = [];
	const started = new WeakMap<TrafficEntry, number>();
	let seq = 0;
	return {
		begin(start) {
			const entry: TrafficEntry = {
				seq: ++seq,
				at: clock.now(),
				doneAt: null,
				isHeld: false,
				tookMs: null,
				answer: null,
				status: null,
				acked: null,
				problems: [],
				transport: 'http',
				retry: 0,
				...start,
			};
			started.set(entry, performance.now());
			entries.push(entry);
			if (entries.length > limit * 1.2) entries = entries.slice(-limit);
			changes.emit({ kind: entry.direction === 'delivery' ? 'delivery' : 'call', id: entry.name });
			return entry;
		},
		finish(entry, result) {
			Object.assign(entry, result);
			entry.doneAt = clock.now();
			entry.tookMs = performance.now() - (started.get(entry) ?? performance.now());
			changes.emit({ kind: entry.direction === 'delivery' ? 'delivery' : 'call', id: entry.name });
		},
		all: () => entries,
		calls: (method) =>
			entries.filter((entry) => entry.direction === 'call' && (method === undefined || entry.name === method)),
		deliveries: (type) =>
			entries.filter((entry) => entry.direction === 'delivery' && (type === undefined || entry.name === type)),
		violations: () => violations,
		violate(violation) {
			violations.push(violation);
		},
		clear() {
			entries = [];
			violations = [];
		},
	};
}
