import { openQuestion } from '../../src/questions/open-question.ts';
import type { Session } from '../../src/questions/session.ts';
import type { SessionModel } from '../../src/slack/blocks/session-modal.ts';
import { createLinks } from '../../src/slack/links.ts';
import { newMetadata } from '../../src/slack/metadata.ts';

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
		adminContact: null,
		watch: null,
		...changes,
	};
}
