import { useCallback, useSyncExternalStore } from 'react';

/** What the window shows. It is in the address, so that a reload, the back button and a second window keep it. */
export interface Place {
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
		history.pushState(null, '', addressOf(next));
		changed();
	}, []);
	const shown = { channel: query.get('in'), thread: query.get('thread') };
	return [query.get('tab') === 'home' ? { ...shown, tab: 'home' } : shown, go];
}

/** The address of this window when it shows a place. */
export function addressOf({ channel, thread, tab = null }: Omit<Place, 'tab'> & { tab?: Place['tab'] | null }): string {
	const to = new URLSearchParams(location.search);
	for (const [key, value] of Object.entries({ in: channel, thread, tab })) {
		if (value === null) to.delete(key);
		else to.set(key, value);
	}
	return `?${to}`;
}

/** The place of a message of this workspace, by its permalink; null for other addresses. */
export function placeOfPermalink(address: string, domain: string): Place | null {
	const url = URL.canParse(address) ? new URL(address) : null;
	if (url?.hostname !== `${domain}.slack.com`) return null;
	const [, channel, seconds, micros] = /^\/archives\/(\w+)\/p(\d+)(\d{6})$/.exec(url.pathname) ?? [];
	if (channel === undefined) return null;
	return { channel, thread: url.searchParams.get('thread_ts') ?? `${seconds}.${micros}` };
}

export function addressAs(person: string): string {
	const to = new URLSearchParams(location.search);
	to.set('as', person);
	to.delete('thread');
	to.delete('in');
	return `/?${to}`;
}
