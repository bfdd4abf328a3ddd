/** Something that can be waited for happened in the fake; `kind` says what, `id` to whom or what. */
interface Change {
	kind: 'message' | 'view' | 'call' | 'delivery' | 'socket' | 'channel' | 'state';
	id: string;
}

export interface Changes {
	emit(change: Change): void;
	/** Calls the listener on every change until the returned function is called. */
	listen(listener: (change: Change) => void): () => void;
	/**
	 * Resolves with the first value of `look` that is neither undefined, null nor false; looks now and after every change.
	 * Rejects after `timeoutMs` of real time with what `describe` says was there instead.
	 */
	until<T>(look: () => T, describe: () => string, timeoutMs?: number): Promise<Exclude<T, undefined | null | false>>;
}

export function createChanges(defaultTimeoutMs: number): Changes {
	const listeners = new Set<(change: Change) => void>();
	function listen(listener: (change: Change) => void): () => void {
		listeners.add(listener);
		return () => {
			listeners.delete(listener);
		};
	}
	return {
		emit(change) {
			for (const listener of listeners) listener(change);
		},
		listen,
		until<T>(look: () => T, describe: () => string, timeoutMs = defaultTimeoutMs) {
			type Found = Exclude<T, undefined | null | false>;
			const found = (value: T): value is Found => value !== undefined && value !== null && value !== false;
			return new Promise<Found>((resolve, reject) => {
				const first = look();
				if (found(first)) {
					resolve(first);
					return;
				}
				const finish = (end: () => void) => {
					clearTimeout(timer);
					stop();
					end();
				};
				const timer = setTimeout(
					() => finish(() => reject(new Error(`Nothing of the kind after ${timeoutMs} ms. ${describe()}`))),
					timeoutMs,
				);
				const stop = listen(() => {
					try {
						const value = look();
						if (found(value)) finish(() => resolve(value));
					} catch (error) {
						finish(() => reject(error));
					}
				});
			});
		},
	};
}
