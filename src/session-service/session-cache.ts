import type { Session } from '../questions/session.ts';

/** The parsed result of the last answer that carried an ETag. */
export interface CachedSession {
	readonly etag: string;
	readonly session: Session;
	/** Size of the answer's body, which stands for the memory of what was parsed out of it (it is never more). */
	readonly bytes: number;
}

export interface SessionCache {
	get(sessionId: string): CachedSession | undefined;
	set(sessionId: string, entry: CachedSession): void;
	delete(sessionId: string): void;
}

/** Keeps what was used last, within both bounds. An entry larger than the whole is not kept. */
export function createSessionCache({ maxBytes, maxEntries }: { maxBytes: number; maxEntries: number }): SessionCache {
	// A Map keeps the order of insertion: the first key is the one that was used least recently.
	const entries = new Map<string, CachedSession>();
	let bytes = 0;

	function drop(sessionId: string): void {
		bytes -= entries.get(sessionId)?.bytes ?? 0;
		entries.delete(sessionId);
	}

	return {
		get(sessionId) {
			const entry = entries.get(sessionId);
			if (entry !== undefined) {
				entries.delete(sessionId);
				entries.set(sessionId, entry);
			}
			return entry;
		},
		set(sessionId, entry) {
			drop(sessionId);
			entries.set(sessionId, entry);
			bytes += entry.bytes;
			for (const oldest of entries.keys()) {
				if (bytes <= maxBytes && entries.size <= maxEntries) break;
				drop(oldest);
			}
		},
		delete: drop,
	};
}
