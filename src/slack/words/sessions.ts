import { oneLine, oneLineMrkdwn, quotedName, quotedNameMrkdwn } from '../text.ts';

/** What ids look like. The service promises a string, and a link that somebody passes on may carry any words as an id. */
const ID = /^[\w.-]+$/;
/** Slack shows 24 characters of a view's title. */
const TITLE_ID = 24 - 'Session '.length;

/** A session's id as it is, or between quotation marks where it reads like something else. mrkdwn. */
export function sessionIdMrkdwn(sessionId: string): string {
	return ID.test(sessionId) ? oneLineMrkdwn(sessionId, 100) : quotedNameMrkdwn(sessionId, 100) || '(no id)';
}

/** "session *3f9a2c1d*", as receipts name it. mrkdwn. */
export function sessionName(sessionId: string): string {
	return `session *${sessionIdMrkdwn(sessionId)}*`;
}

/** `Session “Book a flight”`, or with its id where it has no name. mrkdwn without emphasis. */
export function sessionTitle(name: string, sessionId: string): string {
	return `Session ${quotedNameMrkdwn(name, 150) || sessionIdMrkdwn(sessionId)}`;
}

/** The title of a view about a session. */
export function viewTitle(sessionId: string): string {
	const id = ID.test(sessionId) ? oneLine(sessionId, TITLE_ID) : quotedName(sessionId, TITLE_ID);
	return `Session ${id}`.trim();
}
