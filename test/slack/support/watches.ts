import { DEFAULT_CHANNEL_SETTINGS } from '../../../src/domain/channel-settings.ts';
import type { SessionSnapshot } from '../../../src/domain/session-snapshot.ts';
import type { WatchStore } from '../../../src/sessions/watch-store.ts';
import { now } from './answers.ts';

/** A watch of a session, as a channel's list shows it. */
export function watchOf(
	view: SessionSnapshot,
): Omit<Awaited<ReturnType<WatchStore['list']>>['watches'][number], 'question'> {
	return {
		id: 'watch-1',
		teamId: 'T1',
		channelId: 'C1',
		session: { service: 'https://service.example', sessionId: view.sessionId },
		mode: 'card',
		createdBy: 'U0OURS1',
		createdAt: now,
		revision: 1,
		lastChangeAt: now,
		ended: null,
		style: DEFAULT_CHANNEL_SETTINGS,
		snapshot: view,
		checkedAt: now,
		unreadCode: null,
	};
}
