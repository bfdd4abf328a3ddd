import type { AnswerJson, ItemJson } from './json.ts';

/** What the service did with one request. Tests judge by it: what is not in here did not happen. */
export interface LogEntry {
	readonly seq: number;
	/** When it arrived, on the service's clock (ms since the epoch). */
	readonly at: number;
	/** The same on the machine's clock, with fractions of a ms: comparable across processes of one machine. */
	readonly wallMs: number;
	/** `read` and `answer` are the two operations; `list` is a list, with its query in `path`; `page` is an answer through the service's own web page. */
	readonly kind: 'read' | 'answer' | 'list' | 'page' | 'file' | 'other';
	readonly method: string;
	readonly path: string;
	readonly sessionId: string | null;
	readonly address: string;
	/** Whether a key was sent; never the key. */
	readonly hasKey: boolean;
	readonly contentType: string | null;
	readonly ifNoneMatch: string | null;
	/** The parsed body of a PUT, or its text when it is not JSON. */
	body: unknown;
	/** The body of a PUT as it arrived: parsing loses digits of numbers. */
	text: string;
	messageIndex: number | null;
	/** The kinds of the applied faults, in order; `held` when the hook `onWorkedOut` keeps the response back. */
	readonly faults: string[];
	/** The response's status; null before it, and permanently when the connection was reset or hung. */
	status: number | null;
	answeredAt: number | null;
	/** Of the response's body. */
	byteCount: number;
	/** The client closed the connection before the answer was sent. */
	clientGone: boolean;
	/** The service cut the connection instead of responding. */
	reset: boolean;
	/** When the PUT took effect, on the service's clock and on the machine's; null when it was not saved. */
	savedAt: number | null;
	savedWallMs: number | null;
	/** Whether saving changed the stored array. */
	effective: boolean;
	/** The array before it was saved. */
	previous: ItemJson[] | null;
	/** The session's status when the PUT was saved: nobody reads an answer to an ended one. */
	sessionStatus: string | null;
	/** A PUT like this one (no JSON content type) would have ended the real service's process. */
	wouldEndProcess: boolean;
}

export interface LogFilter {
	readonly kind?: LogEntry['kind'];
	readonly method?: string;
	readonly sessionId?: string;
	/** Only entries after this `seq`. */
	readonly since?: number;
}

/** The most entries kept; the oldest are dropped, because a sandbox may run for days. */
const MAX_ENTRIES = 100_000;

export type NewLogEntry = Pick<
	LogEntry,
	'at' | 'kind' | 'method' | 'path' | 'sessionId' | 'address' | 'hasKey' | 'contentType' | 'ifNoneMatch'
>;

/** The requests of one service, in the order of their arrival. */
export function createRequestLog() {
	let entries: LogEntry[] = [];
	let seq = 0;
	let dropped = 0;

	function list(filter: LogFilter = {}): readonly LogEntry[] {
		return entries.filter(
			(entry) =>
				(filter.kind === undefined || entry.kind === filter.kind) &&
				(filter.method === undefined || entry.method === filter.method) &&
				(filter.sessionId === undefined || entry.sessionId === filter.sessionId) &&
				(filter.since === undefined || entry.seq > filter.since),
		);
	}

	function puts(sessionId?: string, messageIndex?: number): readonly LogEntry[] {
		return list({ kind: 'answer', ...(sessionId === undefined ? {} : { sessionId }) }).filter(
			(entry) => messageIndex === undefined || entry.messageIndex === messageIndex,
		);
	}

	return {
		begin(entry: NewLogEntry): LogEntry {
			const begun: LogEntry = {
				...entry,
				seq: ++seq,
				wallMs: performance.timeOrigin + performance.now(),
				body: null,
				text: '',
				messageIndex: null,
				faults: [],
				status: null,
				answeredAt: null,
				byteCount: 0,
				clientGone: false,
				reset: false,
				savedAt: null,
				savedWallMs: null,
				effective: false,
				previous: null,
				sessionStatus: null,
				wouldEndProcess: false,
			};
			entries.push(begun);
			if (entries.length > MAX_ENTRIES) {
				dropped += entries.length - MAX_ENTRIES / 2;
				entries = entries.slice(-MAX_ENTRIES / 2);
			}
			return begun;
		},
		/** Every entry that matches, oldest first. Entries are live: the status of a hanging request is still null. */
		list,
		/** Reads (GETs) of a session, or of all. */
		reads: (sessionId?: string) => list({ kind: 'read', ...(sessionId === undefined ? {} : { sessionId }) }),
		/** Requests for lists, whatever the service has there. */
		lists: () => list({ kind: 'list' }),
		/** PUTs that arrived, whatever happened to them. */
		puts,
		/**
		 * PUTs that were saved, whether or not they changed anything: a blind repeat of the same answer shows here, because
		 * it changes nothing.
		 */
		savedPuts: (sessionId?: string, messageIndex?: number) =>
			puts(sessionId, messageIndex).filter((entry) => entry.savedAt !== null),
		/** PUTs that changed the stored array: two of them mean that one answer overwrote another. */
		effectivePuts: (sessionId?: string, messageIndex?: number) =>
			puts(sessionId, messageIndex).filter((entry) => entry.effective),
		/** PUTs without a JSON content type: there must be none. */
		processEnders: () => list().filter((entry) => entry.wouldEndProcess),
		clear(): void {
			entries = [];
		},
		get size() {
			return entries.length;
		},
		/** How many of the oldest entries were dropped: a judge must see 0. */
		get dropped() {
			return dropped;
		},
	};
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/** The items of a logged PUT, in order; empty when its body was something else. */
export function itemsOf(entry: LogEntry): readonly AnswerJson[] {
	const body = entry.body;
	if (typeof body !== 'object' || body === null || !('humanInputResponse' in body)) return [];
	return Array.isArray(body.humanInputResponse) ? body.humanInputResponse : [];
}
