import type { ReadSession } from '../../src/domain/gate.ts';
import { openQuestion } from '../../src/domain/session.ts';
import type { SessionModel } from '../../src/screens/form.ts';
import { newMetadata } from '../../src/slack/ids.ts';
import { createLinks } from '../../src/slack/links.ts';
import { throughGate } from './sessions.ts';

const DASHBOARD_URL = 'https://dash.example';

/** What the modal of `session` shows to Ada at `now`, with `changes`. Milliseconds since the epoch. */
export function buildSessionModel(read: ReadSession, now: number, changes: Partial<SessionModel> = {}): SessionModel {
	const session = throughGate(read);
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
		offersWatch: false,
		...changes,
	};
}
