import { randomUUID } from 'node:crypto';
import type { Message, Session } from '../../src/questions/session.ts';
import type { NewWatch } from '../../src/watches/ports.ts';
import { type SessionView, viewOf } from '../../src/watches/session-view.ts';

export const SERVICE = 'https://service.example';
export const T0 = Date.parse('2026-01-05T09:00:00Z');

export function assistant(content: string, ...titles: string[]): Message {
	const humanInput = titles.map((title) => ({ title, description: '', value: '' }));
	return { role: 'assistant', content, actions: [], humanInput };
}

/** By default a session at work with one step. */
export function session(overrides: Partial<Session> = {}): Session {
	const sessionId = overrides.sessionId ?? 's1';
	return {
		sessionId,
		status: 'active',
		name: `Session ${sessionId}`,
		messages: [{ role: 'user', content: 'Do it', actions: [], humanInput: [] }, assistant('Looking')],
		files: [],
		startTime: null,
		endTime: null,
		lastScreenshotUrl: null,
		lastScreenshotTimestamp: null,
		sessionVariables: [],
		sessionDetails: '',
		maxSteps: 30,
		...overrides,
	};
}

export function sessionView(sessionId: string, seenAt = T0): SessionView {
	return viewOf(session({ sessionId }), seenAt);
}

/** By default session `s1` in channel `C1`, with everything. */
export function newWatch(overrides: Partial<NewWatch> & { sessionId?: string } = {}): NewWatch {
	const { sessionId = 's1', ...rest } = overrides;
	const id = randomUUID();
	const teamId = rest.teamId ?? 'T1';
	const channelId = rest.channelId ?? 'C1';
	return {
		id,
		teamId,
		channelId,
		session: { service: SERVICE, sessionId },
		mode: 'everything',
		questionsInChannel: true,
		createdBy: 'U-ANN',
		createdAt: T0,
		card: { target: { kind: 'watch', watchId: id, teamId, channelId }, key: 'card', content: { kind: 'card' } },
		view: sessionView(sessionId),
		...rest,
	};
}
