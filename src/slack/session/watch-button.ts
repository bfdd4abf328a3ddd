import type { Person } from '../../answers/answer.ts';
import type { WatchStore } from '../../watches/ports.ts';
import type { SessionModel } from '../blocks/session-model.ts';

/** Whether the channel a modal was opened from watches its session; null where there is no channel to watch in. */
export function createWatchButton({ store, service }: { store: Pick<WatchStore, 'find'>; service: string }) {
	return async ({ teamId }: Person, channelId: string | null, sessionId: string): Promise<SessionModel['watch']> => {
		if (channelId === null) return null;
		const watch = await store.find(teamId, channelId, { service, sessionId });
		return watch === null
			? { watching: false, label: 'Watch in this channel' }
			: { watching: true, label: 'Stop watching here' };
	};
}
