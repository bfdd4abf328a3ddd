/** A response with any status. */
export interface HttpResponse {
	readonly kind: 'response';
	readonly status: number;
	readonly headers: Headers;
	/** The first `maxBytes`. */
	readonly body: string;
	/** From the start of the request to the headers. */
	readonly ms: number;
	/** How far the server's clock is ahead of ours, in milliseconds, accurate to about a second; null without a `Date`. */
	readonly aheadMs: number | null;
}

export interface NoResponse {
	readonly kind: 'no-response';
	/** The cause, as words that follow a colon. */
	readonly why: string;
}

/** Sends one request and follows no redirect. Never throws: a failed connection is a `NoResponse`. */
export async function request(
	url: string,
	{
		method = 'GET',
		headers = {},
		form,
		timeoutMs,
		maxBytes = 1_048_576,
	}: {
		method?: 'GET' | 'POST';
		headers?: Readonly<Record<string, string>>;
		form?: Readonly<Record<string, string>>;
		timeoutMs: number;
		maxBytes?: number;
	},
): Promise<HttpResponse | NoResponse> {
	const startedAt = Date.now();
	try {
		const signal = AbortSignal.timeout(timeoutMs);
		const body = form === undefined ? null : new URLSearchParams(form);
		const response = await fetch(url, { method, headers, body, redirect: 'manual', signal });
		const headersAt = Date.now();
		return {
			kind: 'response',
			status: response.status,
			headers: response.headers,
			body: await readBeginning(response, maxBytes),
			ms: headersAt - startedAt,
			aheadMs: aheadMsOf(response.headers.get('date'), startedAt, headersAt),
		};
	} catch (error) {
		return { kind: 'no-response', why: causeOf(error, timeoutMs) };
	}
}

async function readBeginning(response: Response, maxBytes: number): Promise<string> {
	const decoder = new TextDecoder();
	let text = '';
	let bytes = 0;
	for await (const chunk of response.body ?? []) {
		text += decoder.decode(chunk, { stream: true });
		bytes += chunk.byteLength;
		if (bytes >= maxBytes) break;
	}
	return text;
}

/** `Date` has whole seconds and was written between the two moments. */
function aheadMsOf(date: string | null, startedAt: number, headersAt: number): number | null {
	const theirs = Date.parse(date ?? '');
	return Number.isNaN(theirs) ? null : theirs + 500 - (startedAt + headersAt) / 2;
}

const CAUSES: Readonly<Record<string, string>> = {
	ENOTFOUND: 'no such host name; check the spelling and the DNS',
	EAI_AGAIN: 'the DNS does not answer',
	ECONNREFUSED: 'nothing listens at that host and port',
	ECONNRESET: 'the connection was cut; a firewall or proxy may be in between',
	UND_ERR_SOCKET: 'the connection was cut; a firewall or proxy may be in between',
	EHOSTUNREACH: 'this machine has no route to that host',
	ENETUNREACH: 'this machine has no route to that host',
	ETIMEDOUT: 'the connection was not accepted in time; a firewall may be in between',
	UND_ERR_CONNECT_TIMEOUT: 'the connection was not accepted in time; a firewall may be in between',
	ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: is it http:// instead of https://?',
	ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS: is it http:// instead of https://?',
	CERT_HAS_EXPIRED: 'its certificate has expired',
	ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
};

function causeOf(error: unknown, timeoutMs: number): string {
	if (error instanceof DOMException && error.name === 'TimeoutError')
		return `nothing came within ${timeoutMs / 1000} s`;
	const proxyStatus = /^Proxy response \((\d+)\)/.exec(String(at(error, 'cause.cause.message')))?.[1];
	if (proxyStatus !== undefined)
		return `the proxy refuses the connection (${proxyStatus}): see HTTPS_PROXY and NO_PROXY`;
	const code = systemCodeOf(error) ?? systemCodeOf((error as { cause?: unknown } | null)?.cause) ?? 'unknown';
	if (/CERT|ISSUER|SELF_SIGNED/.test(code) && CAUSES[code] === undefined) {
		return `its certificate is not trusted (${code}); for a private authority, set NODE_EXTRA_CA_CERTS to its certificate`;
	}
	if (code.startsWith('HPE_')) return 'the response is not HTTP';
	// With a proxy, that is its address.
	const address =
		at(error, 'cause.address') === undefined ? '' : ` (${at(error, 'cause.address')}:${at(error, 'cause.port')})`;
	return `${CAUSES[code] ?? `the connection failed (${code})`}${address}`;
}

function systemCodeOf(error: unknown): string | null {
	const code = (error as { code?: unknown } | null | undefined)?.code;
	return typeof code === 'string' ? code : null;
}

export type Json = Readonly<Record<string, unknown>>;

/** A part of what Slack sent, by its path: `message.thread_ts`. */
export const at = (value: unknown, path: string): unknown =>
	path.split('.').reduce((part, name) => (part as Json | null | undefined)?.[name], value);

/** The JSON object in a text; null when it holds none. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
	} catch {
		return null;
	}
}

/** The result of a Web API call. */
export type SlackReply =
	| { readonly kind: 'ok'; readonly data: Readonly<Record<string, unknown>>; readonly response: HttpResponse }
	| {
			readonly kind: 'refused';
			readonly code: string;
			readonly data: Readonly<Record<string, unknown>>;
			readonly response: HttpResponse;
	  }
	/** `limitedSec`: the pause in seconds, when Slack only limits the calls. */
	| {
			readonly kind: 'unreachable';
			readonly why: string;
			readonly limitedSec: number | null;
			readonly response: HttpResponse | null;
	  };

export type SlackCall = (method: string, token: string, args?: Readonly<Record<string, string>>) => Promise<SlackReply>;

const SLACK_TIMEOUT_MS = 10_000;

/** Calls Slack without a client library, to see the headers and to repeat nothing. */
export function createSlackCall(apiUrl: string): SlackCall {
	return async (method, token, args = {}) => {
		const response = await request(`${apiUrl}${method}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${token}` },
			form: args,
			timeoutMs: SLACK_TIMEOUT_MS,
		});
		return replyFrom(response, new URL(apiUrl).host);
	};
}

function replyFrom(response: HttpResponse | NoResponse, host: string): SlackReply {
	const unreachable = { kind: 'unreachable', limitedSec: null } as const;
	if (response.kind === 'no-response') return { ...unreachable, why: `${host}: ${response.why}`, response: null };
	if (response.status === 429) {
		const limitedSec = Number(response.headers.get('retry-after')) || 60;
		return { ...unreachable, why: `${host} limits the calls; try again in ${limitedSec} s`, limitedSec, response };
	}
	const data = jsonObject(response.body);
	if (typeof data?.ok !== 'boolean') {
		const why = `${host} answers ${response.status}, but not as Slack does: a proxy may be in between, or SLACK_API_URL may be wrong`;
		return { ...unreachable, why, response };
	}
	if (data.ok) return { kind: 'ok', data, response };
	const code = typeof data.error === 'string' && /^[\w-]{1,60}$/.test(data.error) ? data.error : 'no reason given';
	return { kind: 'refused', code, data, response };
}
