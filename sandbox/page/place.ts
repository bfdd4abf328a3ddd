import { useCallback, useSyncExternalStore } from 'react';

/** What the window shows. It is in the address, so that a reload, the back button and a second window keep it. */
export interface Place {
	/** A channel's id. */
	channel: string | null;
	thread: string | null;
}

const listeners = new Set<() => void>();
const changed = () => {
	for (const listener of listeners) listener();
};
addEventListener('popstate', changed);

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export function usePlace(): [Place, (next: Place) => void] {
	const search = useSyncExternalStore(subscribe, () => location.search);
	const query = new URLSearchParams(search);
	const go = useCallback((next: Place) => {
		const to = new URLSearchParams(location.search);
		for (const [key, value] of [
			['in', next.channel],
			['thread', next.thread],
		] as const) {
			if (value === null) to.delete(key);
			else to.set(key, value);
		}
		history.pushState(null, '', `?${to}`);
		changed();
	}, []);
	return [{ channel: query.get('in'), thread: query.get('thread') }, go];
}

/** The address of this window for another person. */
export function addressAs(person: string): string {
	const to = new URLSearchParams(location.search);
	to.set('as', person);
	to.delete('thread');
	to.delete('in');
	return `/?${to}`;
}
