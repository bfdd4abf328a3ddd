import type { SessionModel } from '../../src/features/answer/form-view.ts';
import { openQuestion, type Session } from '../../src/questions/session.ts';
import { newMetadata } from '../../src/slack/ids.ts';
import { createLinks } from '../../src/slack/links.ts';

const DASHBOARD_URL = 'https://dash.example';

/** What the modal of `session` shows to Ada at `now`, with `changes`. Milliseconds since the epoch. */
export function buildSessionModel(session: Session, now: number, changes: Partial<SessionModel> = {}): SessionModel {
	return {
		session,
		readAt: now,
		question: openQuestion(session),
		metadata: newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' }),
		draft: {},
		notices: [],
		claims: [],
		now,
		dashboardUrl: DASHBOARD_URL,
		links: createLinks({ serviceUrl: 'https://service.example', dashboardUrl: DASHBOARD_URL }),
		watch: null,
		...changes,
	};
}
