/** Counts as the service does: in fixed windows of a minute for each client address, as observed. */
export interface LimitedService {
	/** Counts a request; `allowed` is false for a 429. */
	request(now: number): { readonly allowed: boolean; readonly remaining: number; readonly resetSeconds: number };
	readonly requests: number;
	readonly refused: number;
}

export const LIMIT = 250;
export const WINDOW_MS = 60_000;

/** @param phase when the first window began, in ms before the start */
export function createLimitedService(phase: number): LimitedService {
	let window = -1;
	let used = 0;
	let requests = 0;
	let refused = 0;
	return {
		request(now) {
			const current = Math.floor((now + phase) / WINDOW_MS);
			if (current !== window) {
				window = current;
				used = 0;
			}
			used += 1;
			requests += 1;
			const allowed = used <= LIMIT;
			if (!allowed) refused += 1;
			const resetSeconds = Math.ceil(((current + 1) * WINDOW_MS - phase - now) / 1000);
			return { allowed, remaining: Math.max(0, LIMIT - used), resetSeconds };
		},
		get requests() {
			return requests;
		},
		get refused() {
			return refused;
		},
	};
}
