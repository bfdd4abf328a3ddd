/**
 * One kind of trouble. `saves`: whether a PUT is stored anyway, which the client cannot know. `saveAfterMs`: how long
 * after the response (or the reset) it is stored.
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
		/** 500 by default. A `body` that is not JSON is sent as plain text. */
		| { readonly kind: 'error'; readonly status?: number; readonly body?: string }
		| { readonly kind: 'unauthorized' }
		| { readonly kind: 'reset' }
		/** No response ever. The connection stays open until the client gives up. */
		| { readonly kind: 'hang' }
		/** 200 and JSON's content type, with bytes that are not JSON. */
		| { readonly kind: 'garbage' }
		/** Bytes that are not HTTP. */
		| { readonly kind: 'broken-http' }
		/** Half of the correct response, complete as HTTP. */
		| { readonly kind: 'truncated' }
		/** Half of the correct response, then a reset. */
		| { readonly kind: 'cut-off' }
		/** A proxy's page; 502 by default. */
		| { readonly kind: 'html'; readonly status?: number }
		/** JSON of some other service. */
		| { readonly kind: 'foreign-json' }
		/** The right keys with values of wrong types. */
		| { readonly kind: 'wrong-types' }
		/** 200 with exactly this body, which may be one that no JSON value in memory can produce. */
		| { readonly kind: 'body'; readonly body: string }
		| { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
		/** The correct response, compressed if it has at least that many bytes (1 by default), unless `coding` is a charset. */
		| { readonly kind: 'coded'; readonly coding?: string; readonly least?: number }
		/** A well-formed response of that many bytes (33 MiB by default), with or without a Content-Length. */
		| { readonly kind: 'huge'; readonly bytes?: number; readonly chunked?: boolean }
	);

/** Every kind, to check input from HTTP. */
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
	'coded',
	'huge',
] as const satisfies readonly Fault['kind'][];

interface FaultSelector {
	/** Only requests of this method (`GET`, `PUT`). */
	readonly method?: string;
	/** Only lists. Without it a fault with `times` or `sessionId` meets no list. */
	readonly onlyLists?: boolean;
	readonly sessionId?: string;
	/** For that many requests; by default until cleared. */
	readonly times?: number;
}

export interface ArmedFault {
	readonly id: number;
	readonly fault: Fault;
	/** Requests that are left; null until cleared. */
	left: number | null;
	hits: number;
}

/** The armed faults, oldest first. */
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
		 * Takes the faults for a request: every delay that matches, and the first fault of another kind. Each loses one use.
		 * `sessionId` is null for a list.
		 */
		take(method: string, sessionId: string | null): readonly Fault[] {
			const taken: Fault[] = [];
			let decided = false;
			for (const candidate of armed) {
				const { fault } = candidate;
				if (fault.method !== undefined && fault.method !== method) continue;
				if (sessionId === null ? !meetsLists(fault) : fault.onlyLists === true) continue;
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

/** A test that counts uses means reads and answers: lists come by themselves. */
function meetsLists({ onlyLists, times, sessionId }: Fault): boolean {
	return onlyLists === true || (times === undefined && sessionId === undefined);
}

export type Faults = ReturnType<typeof createFaults>;
