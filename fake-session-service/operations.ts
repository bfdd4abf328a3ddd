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
		/** `SessionRecord.version` as it was loaded. */
		readonly version: number;
	};
	/** The real service's process would have ended here. */
	readonly endsProcess?: boolean;
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

/** Of a PUT, whatever went wrong: a message that does not exist, a save that was refused, a machine that did not start. */
export const updateFailed = () => jsonOutcome(500, { error: 'Failed to update human input' });

/** What a request without the right key gets; null when it has that. */
export function refusalOfKey(given: string | null, apiKey: string): Outcome | null {
	if (given === null || given === '') return sentenceOutcome(302, 'Found. Redirecting to /', { Location: '/' });
	return given === apiKey ? null : jsonOutcome(401, { success: false, error: 'Invalid API key' });
}

/** RFC 9110's weak comparison, with Express's exception for `Cache-Control: no-cache` (which fetch sends). */
export function isFresh(request: Pick<OperationRequest, 'ifNoneMatch' | 'cacheControl'>, etag: string): boolean {
	if (request.ifNoneMatch === null || /(?:^|,)\s*no-cache\s*(?:,|$)/.test(request.cacheControl ?? '')) return false;
	const bare = (tag: string) => tag.trim().replace(/^W\//, '');
	return request.ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag));
}

function planRead(state: State, request: OperationRequest): Plan {
	const record = state.find(request.sessionId);
	if (record === undefined || record.foreign) return { outcome: jsonOutcome(404, { message: 'Session not found' }) };
	const { body, etag } = state.render(record);
	if (isFresh(request, etag)) return { outcome: { status: 304, headers: { ETag: etag }, body: '' } };
	return { outcome: { status: 200, body, headers: { 'Content-Type': 'application/json; charset=utf-8', ETag: etag } } };
}

/** It does not look whose session it is. */
function planAnswer(state: State, request: OperationRequest, parsed: unknown, echoMessage: boolean): Plan {
	const failed = { outcome: updateFailed() };
	const record = state.find(request.sessionId);
	if (record === undefined) return { outcome: jsonOutcome(404, { error: 'Session not found' }) };
	if (typeof parsed !== 'object' || parsed === null) return failed;
	const { messageIndex, humanInputResponse } = parsed as { messageIndex?: unknown; humanInputResponse?: unknown };
	const message = typeof messageIndex === 'number' ? record.json.messages?.[messageIndex] : undefined;
	if (typeof messageIndex !== 'number' || message === undefined || !Array.isArray(humanInputResponse)) return failed;
	if (humanInputResponse.some((item) => item == null)) return failed;
	const items = (humanInputResponse as AnswerJson[]).map(({ title, description, value }) => {
		return { title, description, value };
	});
	const reply: Record<string, unknown> = { message: 'Updated successfully' };
	if (echoMessage) reply.updatedMessage = { ...message, human_input: items };
	const save = { record, messageIndex, items, version: record.version };
	return { outcome: jsonOutcome(200, reply), save };
}

export interface OperationSettings {
	readonly state: State;
	readonly apiKey: string;
	/** Whether the reply to a PUT carries the documented `updatedMessage`; the real service usually omits it. */
	readonly echoMessage: boolean;
}

/** What a JSON body that is too large or does not parse gets, before anything else looks at the request; else null. */
export function refusalOfBody({ contentType, body }: Pick<OperationRequest, 'contentType' | 'body'>): Outcome | null {
	if (!isJson(contentType)) return null;
	return body.length > BODY_LIMIT_BYTES || parse(body) === undefined ? somethingWentWrong() : null;
}

function isJson(contentType: string | null): boolean {
	return /^application\/json\b/i.test(contentType ?? '');
}

function parse(body: Buffer): unknown {
	try {
		return body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
	} catch {
		return undefined;
	}
}

/** The two operations and their errors, in the order of the real service's checks: key, session, index. */
export function planOperation({ state, apiKey, echoMessage }: OperationSettings, request: OperationRequest): Plan {
	const refusal = refusalOfKey(request.apiKey, apiKey);
	if (refusal !== null) return { outcome: refusal };
	if (request.method === 'GET') return planRead(state, request);
	if (!isJson(request.contentType)) return { endsProcess: true, outcome: somethingWentWrong() };
	return planAnswer(state, request, parse(request.body), echoMessage);
}
