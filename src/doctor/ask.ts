/** An answer over HTTP, whatever its status. */
export interface Answer {
	readonly kind: 'answer';
	readonly status: number;
	readonly headers: Headers;
	/** Its first megabyte. */
	readonly body: string;
	/** From the request's start to the headers. */
	readonly ms: number;
	/** How far the answering machine's clock is ahead of ours, in milliseconds, give or take a second. */
	readonly aheadMs: number | null;
}

export interface NoAnswer {
	readonly kind: 'no-answer';
	/** Completes "There is no answer: …". */
	readonly why: string;
}

const MOST_BODY_BYTES = 1_048_576;

/** One request, no redirect followed. Never throws: whatever is wrong with the connection is a `NoAnswer`. */
export async function ask(
	url: string,
	{
		method = 'GET',
		headers = {},
		form,
		timeoutMs,
	}: {
		method?: 'GET' | 'POST';
		headers?: Readonly<Record<string, string>>;
		form?: Readonly<Record<string, string>>;
		timeoutMs: number;
	},
): Promise<Answer | NoAnswer> {
	const startedAt = Date.now();
	try {
		const signal = AbortSignal.timeout(timeoutMs);
		const body = form === undefined ? null : new URLSearchParams(form);
		const response = await fetch(url, { method, headers, body, redirect: 'manual', signal });
		const headersAt = Date.now();
		return {
			kind: 'answer',
			status: response.status,
			headers: response.headers,
			body: await beginningOf(response),
			ms: headersAt - startedAt,
			aheadMs: aheadMs(response.headers.get('date'), startedAt, headersAt),
		};
	} catch (error) {
		return { kind: 'no-answer', why: whyNot(error, timeoutMs) };
	}
}

async function beginningOf(response: Response): Promise<string> {
	const decoder = new TextDecoder();
	let text = '';
	let bytes = 0;
	for await (const chunk of response.body ?? []) {
		text += decoder.decode(chunk, { stream: true });
		bytes += chunk.byteLength;
		if (bytes >= MOST_BODY_BYTES) break;
	}
	return text;
}

/** `Date` has no fractions of a second and was written somewhere between the two moments. */
function aheadMs(date: string | null, startedAt: number, headersAt: number): number | null {
	const theirs = Date.parse(date ?? '');
	return Number.isNaN(theirs) ? null : theirs + 500 - (startedAt + headersAt) / 2;
}

const FAILURES: Readonly<Record<string, string>> = {
	ENOTFOUND: 'no such host name; check the spelling and the DNS',
	EAI_AGAIN: 'the DNS does not answer',
	ECONNREFUSED: 'nothing listens at that host and port',
	ECONNRESET: 'the connection was cut; a firewall or proxy may be in between',
	UND_ERR_SOCKET: 'the connection was cut; a firewall or proxy may be in between',
	EHOSTUNREACH: 'there is no way to that host from here',
	ENETUNREACH: 'there is no way to that host from here',
	ETIMEDOUT: 'the connection was not accepted in time; a firewall may be in between',
	UND_ERR_CONNECT_TIMEOUT: 'the connection was not accepted in time; a firewall may be in between',
	ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: is it http:// instead of https://?',
	ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS: is it http:// instead of https://?',
	CERT_HAS_EXPIRED: 'its certificate has expired',
	ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
};

function whyNot(error: unknown, timeoutMs: number): string {
	if (error instanceof DOMException && error.name === 'TimeoutError')
		return `nothing came within ${timeoutMs / 1000} s`;
	const code = systemCodeOf(error) ?? systemCodeOf((error as { cause?: unknown } | null)?.cause) ?? 'unknown';
	if (/CERT|ISSUER|SELF_SIGNED/.test(code) && FAILURES[code] === undefined) {
		return `its certificate is not trusted (${code}); give a private authority's certificate in NODE_EXTRA_CA_CERTS`;
	}
	if (code.startsWith('HPE_')) return 'what answers does not speak HTTP';
	return FAILURES[code] ?? `the connection failed (${code})`;
}

function systemCodeOf(error: unknown): string | null {
	const code = (error as { code?: unknown } | null | undefined)?.code;
	return typeof code === 'string' ? code : null;
}

/** The JSON object in a text, else null. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
	} catch {
		return null;
	}
}

/** What a Web API call came to. */
export type SlackReply =
	| { readonly kind: 'ok'; readonly data: Readonly<Record<string, unknown>>; readonly answer: Answer }
	| {
			readonly kind: 'refused';
			readonly code: string;
			readonly data: Readonly<Record<string, unknown>>;
			readonly answer: Answer;
	  }
	/** `why` completes "Slack cannot be asked: …"; `limitedSec`: only the rate is in the way, for so many seconds. */
	| {
			readonly kind: 'unreachable';
			readonly why: string;
			readonly limitedSec: number | null;
			readonly answer: Answer | null;
	  };

export type SlackCall = (method: string, token: string, args?: Readonly<Record<string, string>>) => Promise<SlackReply>;

const SLACK_TIMEOUT_MS = 10_000;

/** Calls Slack directly, not through a client library: the headers are wanted, and no repeats. */
export function createSlackCall(apiUrl: string): SlackCall {
	return async (method, token, args = {}) => {
		const answer = await ask(`${apiUrl}${method}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${token}` },
			form: args,
			timeoutMs: SLACK_TIMEOUT_MS,
		});
		return replyFrom(answer, new URL(apiUrl).host);
	};
}

function replyFrom(answer: Answer | NoAnswer, host: string): SlackReply {
	const unreachable = { kind: 'unreachable', limitedSec: null } as const;
	if (answer.kind === 'no-answer') return { ...unreachable, why: `${host}: ${answer.why}`, answer: null };
	if (answer.status === 429) {
		const limitedSec = Number(answer.headers.get('retry-after')) || 60;
		return { ...unreachable, why: `${host} limits the calls; try again in ${limitedSec} s`, limitedSec, answer };
	}
	const data = jsonObject(answer.body);
	if (typeof data?.ok !== 'boolean') {
		const why = `${host} answers ${answer.status}, and not as Slack does; is a proxy in between, or SLACK_API_URL wrong?`;
		return { ...unreachable, why, answer };
	}
	if (data.ok) return { kind: 'ok', data, answer };
	const code = typeof data.error === 'string' && /^[\w-]{1,60}$/.test(data.error) ? data.error : 'no reason given';
	return { kind: 'refused', code, data, answer };
}
