import { CANARIES } from './canaries.ts';
import { signLink } from './links.ts';
import {
	isFresh,
	jsonOutcome,
	type OperationRequest,
	type Outcome,
	refusalOfKey,
	sentenceOutcome,
} from './operations.ts';
import { type SessionRecord, type State, statusAt } from './state.ts';

/** How the service lists sessions. The interface document does not show it, so other services have something else there. */
export interface ListSettings {
	/**
	 * `off`: `query` is an id like any other (404, or a session with that name), and there is nothing at `/v1/sessions`.
	 * `page`: a web page stands at both.
	 */
	mode: 'on' | 'off' | 'page';
	/** Response bodies are filled up with signed links to this many bytes. */
	bytes: number;
	/** Each session has about so many bytes of signed links. */
	bytesEach: number;
	/** Ids of sessions that lists leave out. */
	readonly hidden: Set<string>;
	/** Lists show, and filter by, the statuses of this long ago. */
	lateMs: number;
	/** Lists give sessions of every status. */
	ignoresStatus: boolean;
}

export function defaultListSettings(): ListSettings {
	return { mode: 'off', bytes: 0, bytesEach: 0, hidden: new Set(), lateMs: 0, ignoresStatus: false };
}

/** `/v1/sessions` and `/v1/sessions/query`. */
export type ListOperation = 'sessions' | 'query';

interface ListRequest extends Pick<OperationRequest, 'apiKey' | 'ifNoneMatch' | 'cacheControl'> {
	readonly operation: ListOperation;
	readonly query: URLSearchParams;
}

interface ListContext {
	readonly state: State;
	readonly settings: ListSettings;
	readonly apiKey: string;
	readonly baseUrl: string;
	readonly now: number;
}

/** The response to a list, in the order of the real service's checks. */
export function planList(context: ListContext, request: ListRequest): Outcome {
	const { apiKey, settings } = context;
	if (settings.mode === 'page') {
		return sentenceOutcome(200, '<!DOCTYPE html>\n<html><body><h1>Sessions</h1></body></html>\n');
	}
	const refusal = refusalOfKey(request.apiKey, apiKey);
	if (refusal !== null) return refusal;
	const outcome = listOutcome(context, request) ?? listFailed(request.operation);
	const etag = outcome.headers.ETag ?? '';
	return isFresh(request, etag) ? { status: 304, headers: { ETag: etag }, body: '' } : outcome;
}

export function listFailed(operation: ListOperation): Outcome {
	const error = operation === 'query' ? 'Failed to query documents' : 'Failed to fetch browser sessions';
	return jsonOutcome(500, { error });
}

function patternOf(text: string): RegExp | null {
	try {
		return new RegExp(text, 'i');
	} catch {
		return null;
	}
}

/** Null when the database refuses the query. */
function listOutcome(context: ListContext, { operation, query }: ListRequest): Outcome | null {
	const search = patternOf(operation === 'query' ? (query.get('searchTerm') ?? '') : '');
	const limit = Number(query.get('limit') ?? 10);
	const skipped = (Number(query.get('page') ?? 1) - 1) * limit;
	if (search === null || !Number.isInteger(limit) || !Number.isInteger(skipped) || skipped < 0) return null;
	const { state, settings, now } = context;
	const wanted = query.get('status') ?? '';
	const status = (record: SessionRecord) => statusAt(record, now - settings.lateMs);
	const found = [...state.records.values()]
		.filter(({ foreign, id }) => !foreign && !settings.hidden.has(id))
		.filter(({ source }) => isFromSource(operation, query.get('source') ?? '', source))
		.filter((record) => settings.ignoresStatus || wanted === '' || status(record) === wanted)
		.filter(({ id, json }) => search.test(id) || search.test(json.name ?? ''))
		.sort((one, other) => (other.json.startTime ?? '').localeCompare(one.json.startTime ?? ''));
	// A limit of 0 is none for the database.
	const shown = limit === 0 ? found : found.slice(skipped, skipped + limit);
	const counts = { totalPages: Math.ceil(found.length / limit), totalSessions: found.length };
	const body = {
		sessions: shown.map((record) => itemOf(record, status(record), context)),
		...(operation === 'sessions' ? { currentPage: query.get('page') ?? 1 } : {}),
		...counts,
	};
	for (const session of settings.bytesEach > 0 ? body.sessions : []) fillUp(session, settings.bytesEach, context);
	fillUp(body.sessions[0], settings.bytes - Buffer.byteLength(JSON.stringify(body)), context);
	return jsonOutcome(200, body);
}

/** `/v1/sessions` gives what was started through the API unless asked for something else, `query` gives everything. */
function isFromSource(operation: ListOperation, wanted: string, source: string): boolean {
	if (wanted !== '') return source === wanted;
	return operation === 'query' || source === 'api';
}

function itemOf({ id, json, linksIssuedAt, updatedAt }: SessionRecord, status: string | null, context: ListContext) {
	return {
		name: json.name ?? null,
		sessionId: id,
		status,
		startTime: json.startTime ?? null,
		files: (json.files ?? []).map((file) => ({
			...file,
			signedUrl: linkOf(context.baseUrl, `/files/${id}/${file?.filename}`, linksIssuedAt),
		})),
		cost: Number(CANARIES.cost),
		updatedAt: new Date(updatedAt).toISOString(),
	};
}

/** A signed link with a canary: nobody reads the links of a list. */
function linkOf(baseUrl: string, path: string, issuedAt: number): string {
	return `${signLink(baseUrl, encodeURI(path), issuedAt)}&x-canary=${CANARIES.listLink}`;
}

/** Adds files to a session until the response has about `missing` bytes more. */
function fillUp(session: ReturnType<typeof itemOf> | undefined, missing: number, context: ListContext): void {
	if (session === undefined || missing <= 0) return;
	const signedUrl = linkOf(context.baseUrl, `/files/${session.sessionId}/filler.txt`, context.now);
	const file = { filename: 'filler.txt', signedUrl, timestamp: new Date(context.now).toISOString() };
	const count = Math.ceil(missing / (JSON.stringify(file).length + 1));
	for (let added = 0; added < count; added++) session.files.push(file);
}
