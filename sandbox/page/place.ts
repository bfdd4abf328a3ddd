import { useCallback, useSyncExternalStore } from 'react';

/** What the window shows. It is in the address, so that a reload, the back button and a second window keep it. */
export interface Place {
	/** A channel's id. */
	channel: string | null;
	thread: string | null;
	/** `home` is the app's Home tab. Absent, the channel is shown. */
	tab?: 'home';
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
			['tab', next.tab ?? null],
		] as const) {
			if (value === null) to.delete(key);
			else to.set(key, value);
		}
		history.pushState(null, '', `?${to}`);
		changed();
	}, []);
	const shown = { channel: query.get('in'), thread: query.get('thread') };
	return [query.get('tab') === 'home' ? { ...shown, tab: 'home' } : shown, go];
}

/** The address of this window for another person. */
export function addressAs(person: string): string {
	const to = new URLSearchParams(location.search);
	to.set('as', person);
	to.delete('thread');
	to.delete('in');
	return `/?${to}`;
}
