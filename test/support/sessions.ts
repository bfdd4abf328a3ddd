import type { HumanInputItem, Message, Session } from '../../src/questions/session.ts';

/** A session as the program reads it: by default it waits for a person and has no messages. */
export function buildSession(fields: Partial<Session> = {}): Session {
	return {
		sessionId: '3f9a2c1d',
		status: 'humanInput',
		name: '',
		messages: [],
		files: [],
		startTime: null,
		endTime: null,
		lastScreenshotUrl: null,
		sessionVariables: [],
		sessionDetails: '',
		maxSteps: 30,
		...fields,
	};
}

/** A message without actions and questions. */
export function saying(content: string, role = 'assistant'): Message {
	return { role, content, actions: [], humanInput: [] };
}

/** An item without an answer. */
export function unanswered(title: string): HumanInputItem {
	return { title, description: '', value: '' };
}
