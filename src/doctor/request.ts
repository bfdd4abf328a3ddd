import { MAX_PAGE_BYTES } from '../session-service/schema.ts';

/** Without a form, the request is a GET. */
interface HttpRequest {
	readonly headers?: Readonly<Record<string, string>>;
	readonly form?: URLSearchParams;
	readonly timeoutMs: number;
}

type HttpResult = Awaited<ReturnType<typeof request>>;
export type HttpResponse = Extract<HttpResult, { kind: 'response' }>;

/** Sends one request and follows no redirect. Never throws: a failed connection is `no-response`. */
export async function request(url: string, { headers = {}, form, timeoutMs }: HttpRequest) {
	const startedAt = Date.now();
	try {
		const sent = form === undefined ? {} : { method: 'POST', body: form };
		const response = await fetch(url, { ...sent, headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
		const headersAt = Date.now();
		return {
			kind: 'response' as const,
			status: response.status,
			headers: response.headers,
			body: await readBeginning(response),
			ms: headersAt - startedAt,
			/** How far the server's clock is ahead of ours, accurate to about a second; null without a `Date`. */
			aheadMs: aheadMsOf(response.headers.get('date'), startedAt, headersAt),
		};
	} catch (error) {
		return { kind: 'no-response' as const, why: causeOf(error, timeoutMs), aheadMs: null };
	}
}

/** As much as the longest body that the program reads, the page of a list: a body may have no end. */
async function readBeginning({ body }: Response): Promise<string> {
	const decoder = new TextDecoder();
	let [text, bytes] = ['', 0];
	for await (const chunk of body ?? []) {
		text += decoder.decode(chunk, { stream: true });
		bytes += chunk.byteLength;
		if (bytes >= MAX_PAGE_BYTES) break;
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
	const codes: readonly unknown[] = [at(error, 'code'), at(error, 'cause.code')];
	const code = codes.find((value) => typeof value === 'string') ?? 'unknown';
	if (/CERT|ISSUER|SELF_SIGNED/.test(code) && CAUSES[code] === undefined) {
		return `its certificate is not trusted (${code}); for a private authority, set NODE_EXTRA_CA_CERTS to its certificate`;
	}
	if (code.startsWith('HPE_')) return 'the response is not HTTP';
	// With a proxy, that is its address.
	const address = at(error, 'cause.address');
	const where = typeof address !== 'string' ? '' : ` (${address}:${at(error, 'cause.port')})`;
	return `${CAUSES[code] ?? `the connection failed (${code})`}${where}`;
}

export type Json = Readonly<Record<string, unknown>>;

/** A part of what Slack sent, by its path: `message.thread_ts`. */
export const at = (value: unknown, path: string): unknown =>
	path.split('.').reduce((part, name) => (part as Json | null | undefined)?.[name], value);

/** The JSON object in a text; null when it holds none. */
export function jsonObject(text: string): Json | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
	} catch {
		return null;
	}
}

const SLACK_TIMEOUT_MS = 10_000;

export type SlackReply = ReturnType<typeof replyFrom>;
export type SlackCall = ReturnType<typeof createSlackCall>;

/** Calls Slack without a client library, to see the headers and to repeat nothing. Arguments go as JSON in a form. */
export function createSlackCall(apiUrl: string, token: string) {
	return async (method: string, args: Json = {}) => {
		const form = new URLSearchParams();
		for (const [name, arg] of Object.entries(args)) form.set(name, typeof arg === 'string' ? arg : JSON.stringify(arg));
		const headers = { authorization: `Bearer ${token}` };
		const response = await request(`${apiUrl}${method}`, { headers, form, timeoutMs: SLACK_TIMEOUT_MS });
		return replyFrom(response, new URL(apiUrl).host);
	};
}

function replyFrom(response: HttpResult, host: string) {
	/** `limitedSec`: the pause in seconds, when Slack only limits the calls. */
	const unreachable = (why: string, limitedSec: number | null = null) => {
		return { kind: 'unreachable' as const, why: `${host}${why}`, limitedSec, response };
	};
	if (response.kind === 'no-response') return unreachable(`: ${response.why}`);
	if (response.status === 429) {
		const limitedSec = Number(response.headers.get('retry-after')) || 60;
		return unreachable(` limits the calls; try again in ${limitedSec} s`, limitedSec);
	}
	const data = jsonObject(response.body);
	if (typeof data?.ok !== 'boolean') {
		return unreachable(
			` answers ${response.status}, but not as Slack does: a proxy may be in between, or SLACK_API_URL may be wrong`,
		);
	}
	if (data.ok) return { kind: 'ok' as const, data, response };
	const code = typeof data.error === 'string' && /^[\w-]{1,60}$/.test(data.error) ? data.error : 'no reason given';
	return { kind: 'refused' as const, code, data, response };
}
