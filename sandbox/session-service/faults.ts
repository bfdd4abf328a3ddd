/**
 * One kind of trouble. `saves` says, for a PUT, whether it is stored all the same (the outcome the client cannot know);
 * `saveAfterMs` how long after the answer (or the reset) that happens.
 */
export type Fault = FaultSelector & {
	readonly saves?: boolean;
	readonly saveAfterMs?: number;
} & (
		| /** Something in front holds the request that long; it is dropped when the client has gone by then. */
		{ readonly kind: 'slow'; readonly ms: number }
		/** The service itself is that late: it saves and answers although the client may have gone. */
		| { readonly kind: 'late'; readonly ms: number }
		| { readonly kind: 'rate-limited'; readonly retryAfterSeconds?: number }
		/** 500 by default; a `body` that is no JSON is sent as plain text. */
		| { readonly kind: 'error'; readonly status?: number; readonly body?: string }
		| { readonly kind: 'unauthorized' }
		| { readonly kind: 'reset' }
		/** No answer ever; the connection stays open until the client gives up. */
		| { readonly kind: 'hang' }
		/** 200 and JSON's content type over bytes that are no JSON. */
		| { readonly kind: 'garbage' }
		/** Bytes that are no HTTP. */
		| { readonly kind: 'broken-http' }
		/** Half of the right answer, complete as HTTP. */
		| { readonly kind: 'truncated' }
		/** Half of the right answer, then a reset. */
		| { readonly kind: 'cut-off' }
		/** A proxy's page; 502 by default. */
		| { readonly kind: 'html'; readonly status?: number }
		/** JSON of some other service. */
		| { readonly kind: 'foreign-json' }
		/** The right keys with values of wrong types. */
		| { readonly kind: 'wrong-types' }
		/** 200 with exactly this body, which no JSON value in memory may be able to stand for. */
		| { readonly kind: 'body'; readonly body: string }
		| { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
		/** A well-formed answer of that many bytes (33 MiB by default), with or without a Content-Length. */
		| { readonly kind: 'huge'; readonly bytes?: number; readonly chunked?: boolean }
	);

/** Every kind, for checking what comes over HTTP. */
export const FAULT_KINDS = [
	'slow',
	'late',
	'rate-limited',
	'error',
	'unauthorized',
	'reset',
	'hang',
	'garbage',
	'broken-http',
	'truncated',
	'cut-off',
	'html',
	'foreign-json',
	'wrong-types',
	'body',
	'redirect',
	'huge',
] as const satisfies readonly Fault['kind'][];

interface FaultSelector {
	/** Only requests of this method (`GET`, `PUT`). */
	readonly method?: string;
	readonly sessionId?: string;
	/** For so many requests; until cleared when absent. */
	readonly times?: number;
}

export interface ArmedFault {
	readonly id: number;
	readonly fault: Fault;
	/** Requests it is still good for; null until cleared. */
	left: number | null;
	hits: number;
}

/** The trouble that was asked for, oldest first. */
export function createFaults() {
	let armed: ArmedFault[] = [];
	let lastId = 0;
	return {
		/** Returns the id by which it is cleared. */
		add(fault: Fault): number {
			armed.push({ id: ++lastId, fault, left: fault.times ?? null, hits: 0 });
			return lastId;
		},
		/** Clears one, or all. */
		clear(id?: number): void {
			armed = id === undefined ? [] : armed.filter((candidate) => candidate.id !== id);
		},
		list: (): readonly ArmedFault[] => armed,
		/**
		 * Takes what applies to a request: every delay that matches and the first fault of another kind, each used up by
		 * one.
		 */
		take(method: string, sessionId: string | null): readonly Fault[] {
			const taken: Fault[] = [];
			let decided = false;
			for (const candidate of armed) {
				const { fault } = candidate;
				if (fault.method !== undefined && fault.method !== method) continue;
				if (fault.sessionId !== undefined && fault.sessionId !== sessionId) continue;
				const delays = fault.kind === 'slow' || fault.kind === 'late';
				if (!delays && decided) continue;
				decided ||= !delays;
				candidate.hits++;
				if (candidate.left !== null) candidate.left--;
				taken.push(fault);
			}
			armed = armed.filter((candidate) => candidate.left !== 0);
			return taken;
		},
	};
}

export type Faults = ReturnType<typeof createFaults>;
