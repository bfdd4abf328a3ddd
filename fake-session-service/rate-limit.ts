import type { Clock } from '../src/kernel/clock.ts';

export interface RateLimitSettings {
	/** Requests in a window. */
	readonly limit: number;
	readonly windowMs: number;
}

export interface RateLimitVerdict {
	readonly allowed: boolean;
	readonly headers: Record<string, string>;
	/** Seconds until the window ends, rounded up, at least 1. */
	readonly resetSeconds: number;
}

/**
 * A fixed window for each client address, which its first request starts: 250 requests in 60 s on the real service,
 * whatever the key and the response.
 */
export function createRateLimiter({ clock, limit, windowMs }: RateLimitSettings & { clock: Clock }) {
	const windows = new Map<string, { endsAt: number; used: number }>();
	return {
		hit(address: string): RateLimitVerdict {
			const now = clock.now();
			let window = windows.get(address);
			if (window === undefined || now >= window.endsAt) {
				window = { endsAt: now + windowMs, used: 0 };
				windows.set(address, window);
			}
			window.used++;
			const resetSeconds = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
			return {
				allowed: window.used <= limit,
				resetSeconds,
				headers: {
					'RateLimit-Policy': `${limit};w=${Math.round(windowMs / 1000)}`,
					'RateLimit-Limit': String(limit),
					'RateLimit-Remaining': String(Math.max(0, limit - window.used)),
					'RateLimit-Reset': String(resetSeconds),
				},
			};
		},
		/** Uses up some of an address's budget, as other programs behind it do. */
		use(address: string, requests: number): void {
			for (let n = 0; n < requests; n++) this.hit(address);
		},
		/** Forgets every window, as a restart of the service does. */
		reset(): void {
			windows.clear();
		},
	};
}

/** The sentence of a 429. Its seconds disagree with the header, as the real ones do (57 against 28): never parse it. */
export function tooManySentence(retryAfterSeconds: number): string {
	return `Too many requests, please try again in ${retryAfterSeconds + 29} seconds.`;
}
