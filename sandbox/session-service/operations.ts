import type { AnswerJson } from './json.ts';
import { type SessionRecord, type State, weakEtag } from './state.ts';

/** An HTTP response before it is sent. */
export interface Outcome {
	readonly status: number;
	readonly headers: Record<string, string>;
	readonly body: string | Buffer;
}

/** A request to one of the two operations, with its body. */
export interface OperationRequest {
	readonly method: 'GET' | 'PUT';
	readonly sessionId: string;
	readonly apiKey: string | null;
	readonly contentType: string | null;
	readonly ifNoneMatch: string | null;
	readonly cacheControl: string | null;
	readonly body: Buffer;
}

/** The result of a request, before anything is stored. */
export interface Plan {
	readonly outcome: Outcome;
	/** For a valid PUT: what to store, and the response that follows from it. */
	readonly save?: {
		readonly record: SessionRecord;
		readonly messageIndex: number;
		readonly items: readonly AnswerJson[];
	};
	/** The real service's process would have ended here. */
	readonly endsProcess?: boolean;
	/** The parsed body of a PUT, for the log. */
	readonly parsed?: unknown;
}

/** The body limit of the real service: 100 kB. */
export const BODY_LIMIT_BYTES = 100 * 1024;

export function jsonOutcome(status: number, value: unknown, headers: Record<string, string> = {}): Outcome {
	const body = JSON.stringify(value);
	return {
		status,
		body,
		headers: { 'Content-Type': 'application/json; charset=utf-8', ETag: weakEtag(body), ...headers },
	};
}

/** A sentence without markup, which the service labels text/html, as Express does. */
export function sentenceOutcome(status: number, sentence: string, headers: Record<string, string> = {}): Outcome {
	return { status, body: sentence, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers } };
}

const somethingWentWrong = () => sentenceOutcome(500, 'Something went wrong!');

/** RFC 9110's weak comparison, with Express's exception for `Cache-Control: no-cache` (which fetch sends). */
export function isFresh(request: Pick<OperationRequest, 'ifNoneMatch' | 'cacheControl'>, etag: string): boolean {
	if (request.ifNoneMatch === null || /(?:^|,)\s*no-cache\s*(?:,|$)/.test(request.cacheControl ?? '')) return false;
	const bare = (tag: string) => tag.trim().replace(/^W\//, '');
	return request.ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag));
}

function planRead(state: State, request: OperationRequest): Plan {
	const record = state.records.get(request.sessionId);
	if (record === undefined || record.foreign) return { outcome: jsonOutcome(404, { message: 'Session not found' }) };
	const { body, etag } = state.render(record);
	if (isFresh(request, etag)) return { outcome: { status: 304, headers: { ETag: etag }, body: '' } };
	return { outcome: { status: 200, body, headers: { 'Content-Type': 'application/json; charset=utf-8', ETag: etag } } };
}

function planAnswer(state: State, request: OperationRequest, parsed: unknown, echoMessage: boolean): Plan {
	const failed = { parsed, outcome: jsonOutcome(500, { error: 'Failed to update human input' }) };
	const record = state.records.get(request.sessionId);
	if (record === undefined || record.foreign) {
		return { parsed, outcome: jsonOutcome(404, { error: 'Session not found' }) };
	}
	if (typeof parsed !== 'object' || parsed === null) return failed;
	const { messageIndex, humanInputResponse } = parsed as { messageIndex?: unknown; humanInputResponse?: unknown };
	const message = typeof messageIndex === 'number' ? record.json.messages?.[messageIndex] : undefined;
	if (typeof messageIndex !== 'number' || message === undefined || !Array.isArray(humanInputResponse)) return failed;
	const items = humanInputResponse as AnswerJson[];
	const reply: Record<string, unknown> = { message: 'Updated successfully' };
	if (echoMessage) reply.updatedMessage = { ...message, human_input: items };
	return { parsed, outcome: jsonOutcome(200, reply), save: { record, messageIndex, items } };
}

export interface OperationSettings {
	readonly state: State;
	readonly apiKey: string;
	/** Whether the reply to a PUT carries the documented `updatedMessage`; the real service usually omits it. */
	readonly echoMessage: boolean;
}

/** The two operations and their errors, in the order of the real service's checks: body, key, session, index. */
export function planOperation({ state, apiKey, echoMessage }: OperationSettings, request: OperationRequest): Plan {
	const isJson = /^application\/json\b/i.test(request.contentType ?? '');
	let parsed: unknown;
	if (request.method === 'PUT') {
		if (isJson) {
			if (request.body.length > BODY_LIMIT_BYTES) return { outcome: somethingWentWrong() };
			try {
				parsed = request.body.length === 0 ? {} : JSON.parse(request.body.toString('utf8'));
			} catch {
				return { parsed: request.body.toString('utf8'), outcome: somethingWentWrong() };
			}
		} else {
			parsed = request.body.toString('utf8');
		}
	}
	if (request.apiKey === null || request.apiKey === '')
		return { parsed, outcome: sentenceOutcome(401, 'Unauthenticated!') };
	if (request.apiKey !== apiKey) {
		return { parsed, outcome: jsonOutcome(401, { success: false, error: 'Invalid API key' }) };
	}
	if (request.method === 'GET') return planRead(state, request);
	if (!isJson) return { parsed, endsProcess: true, outcome: somethingWentWrong() };
	return planAnswer(state, request, parsed, echoMessage);
}
