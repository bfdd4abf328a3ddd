/** A change in the fake that can be waited for; `kind` says what changed, `id` for whom or which. */
interface Change {
	kind: 'message' | 'view' | 'call' | 'delivery' | 'socket' | 'channel' | 'state';
	id: string;
}

export interface Changes {
	emit(change: Change): void;
	/** Calls the listener at every change until the returned function is called. */
	listen(listener: (change: Change) => void): () => void;
	/**
	 * Resolves with the first value of `look` that is not undefined, null or false. Looks at once and after every change.
	 * Rejects after `timeoutMs` of real time with the text of `describe`, which says what was there instead.
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
					() => finish(() => reject(new Error(`The condition did not hold within ${timeoutMs} ms. ${describe()}`))),
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
