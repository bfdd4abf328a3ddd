import type { WatchPage } from '../../../src/store/watch-store.ts';
import type { SessionSnapshot } from '../../../src/watches/session-snapshot.ts';
import { now } from './answers.ts';

/** A watch of a session, as a channel's list shows it. */
export function watchOf(view: SessionSnapshot): WatchPage['watches'][number] {
	return {
		id: 'watch-1',
		teamId: 'T1',
		channelId: 'C1',
		session: { service: 'https://service.example', sessionId: view.sessionId },
		mode: 'everything',
		questionsInChannel: true,
		discreet: false,
		buttons: true,
		createdBy: 'U0OURS1',
		createdAt: now,
		card: { ts: '1795250400.000100', shownKey: null, wanted: null },
		digest: null,
		revision: 1,
		lastChangeAt: now,
		ended: null,
		view,
		checkedAt: now,
	};
}
