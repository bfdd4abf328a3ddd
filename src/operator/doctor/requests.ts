import { z } from 'zod';
import type { Settings } from '../../config.ts';
import { cutText } from '../../domain/texts.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseOrNull } from '../../kernel/values.ts';
import { MAX_PAGE_BYTES } from '../../service/transport.ts';

export type CheckedResponse = Extract<Awaited<ReturnType<typeof request>>, { kind: 'response' }>;

/** Sends a GET, or a form, and follows no redirect. Never throws: a failed connection is `no-response`. */
export async function request(
	url: string,
	{ headers = {}, form, timeoutMs }: { headers?: Record<string, string>; form?: URLSearchParams; timeoutMs: number },
) {
	const startedAt = performance.now();
	try {
		const sent = form === undefined ? {} : { method: 'POST', body: form };
		const response = await fetch(url, { ...sent, headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
		const ms = Math.round(performance.now() - startedAt);
		return {
			kind: 'response' as const,
			status: response.status,
			headers: response.headers,
			body: await readBeginning(response),
			ms,
		};
	} catch (error) {
		return { kind: 'no-response' as const, why: causeOf(error, timeoutMs) };
	}
}

/** Reads no more than the longest body that the program reads, a page of a list. A body may be endless. */
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

/** Why a connection failed, by the code of its error: the first that fits. */
const CAUSES: readonly (readonly [codes: RegExp, words: string])[] = [
	[/^ENOTFOUND$/, 'no such host name; check the spelling and the DNS'],
	[/^EAI_AGAIN$/, 'the DNS does not answer'],
	[/^ECONNREFUSED$/, 'nothing listens at that host and port'],
	[/^(ECONNRESET|UND_ERR_SOCKET)$/, 'the connection was cut; a firewall or proxy may be in between'],
	[/^(EHOST|ENET)UNREACH$/, 'this machine has no route to that host'],
	[/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the connection was not accepted in time; a firewall may be in between'],
	[/^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/, 'it does not speak TLS: is it http:// instead of https://?'],
	[/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
	[/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another host name'],
	[
		/CERT|ISSUER|SELF_SIGNED/,
		'its certificate is not trusted (CODE); for a private authority, set NODE_EXTRA_CA_CERTS to its certificate',
	],
	[/^HPE_/, 'the response is not HTTP'],
];

function causeOf(error: unknown, timeoutMs: number): string {
	if (error instanceof DOMException && error.name === 'TimeoutError')
		return `nothing came within ${timeoutMs / 1000} s`;
	const proxyStatus = /^Proxy response \((\d+)\)/.exec(String(at(error, 'cause.cause.message')))?.[1];
	if (proxyStatus !== undefined)
		return `the proxy refuses the connection (${proxyStatus}): see HTTPS_PROXY and NO_PROXY`;
	const code = [at(error, 'code'), at(error, 'cause.code')].find((value) => typeof value === 'string') ?? 'unknown';
	const words = CAUSES.find(([pattern]) => pattern.test(code))?.[1] ?? 'the connection failed (CODE)';
	// With a proxy, that is its address.
	const address = at(error, 'cause.address');
	const where = typeof address === 'string' ? ` (${address}:${at(error, 'cause.port')})` : '';
	return `${words.replace('CODE', code)}${where}`;
}

export type Json = Readonly<Record<string, unknown>>;

/** A part of what Slack sent, by its path: `message.thread_ts`. */
export const at = (value: unknown, path: string): unknown =>
	path.split('.').reduce((part, name) => (part as Json | null | undefined)?.[name], value);

export const jsonObject = (text: string): Json | null => parseOrNull(z.record(z.string(), z.unknown()), text);

/** How long Slack may take to answer, or to tell of an event. */
export const SLACK_WITHIN_MS = 10_000;

export type SlackCall = ReturnType<typeof createSlackCall>;
export type SlackReply = Awaited<ReturnType<SlackCall>>;

/** Calls Slack without a client library, to see the headers and to repeat nothing. Arguments go as JSON in a form. */
export function createSlackCall(apiUrl: string, token: string) {
	const { host } = new URL(apiUrl);
	return async (method: string, args: Json = {}) => {
		const form = new URLSearchParams();
		for (const [name, arg] of Object.entries(args)) form.set(name, typeof arg === 'string' ? arg : JSON.stringify(arg));
		const headers = { authorization: `Bearer ${token}` };
		const response = await request(`${apiUrl}${method}`, { headers, form, timeoutMs: SLACK_WITHIN_MS });
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
		if (typeof data?.ok !== 'boolean')
			return unreachable(
				` answers ${response.status}, but not as Slack does: a proxy may be in between, or SLACK_API_URL may be wrong`,
			);
		if (data.ok) return { kind: 'ok' as const, data, response };
		const code = typeof data.error === 'string' && /^[\w-]{1,60}$/.test(data.error) ? data.error : 'no reason given';
		return { kind: 'refused' as const, code, data, response };
	};
}

/** What is known once the bot token is good. */
export interface Bot {
	/** Those that `may` does not ask for may be missing. */
	readonly settings: Settings;
	readonly call: SlackCall;
	readonly clock: Clock;
	readonly teamId: string;
	readonly enterpriseId: string | null;
}

/** The longest words of one reply, and of one error in it, in UTF-16 units. */
const MAX_WORDS = 4_000;
const MAX_ERROR_LENGTH = 500;

/** Slack's error messages, each once, with the pointer to the first part it is about, and how many more there are. */
export function wordsOfErrors(data: Json): string {
	const lists = [data.errors, at(data, 'response_metadata.messages')].filter(Array.isArray);
	const errors = lists.find((list) => list.length > 0) ?? [];
	const lines = Array.from(Map.groupBy(errors, wordsOfError), ([words, [first, ...others]]) => {
		const pointer = at(first, 'pointer');
		if (typeof pointer !== 'string') return words;
		return `${words} at ${pointer}${others.length === 0 ? '' : ` and ${others.length} more`}`;
	});
	return lines.length === 0 ? 'it does not say why.' : `${cutText(lines.join('; '), MAX_WORDS)}.`;
}

/** What one of the errors in a reply says: it is a sentence, or has one. */
function wordsOfError(error: unknown): string {
	const texts: readonly unknown[] = [error, at(error, 'message'), at(error, 'code')];
	const words = texts.find((text): text is string => typeof text === 'string' && text !== '') ?? 'no words';
	return cutText(words.replace(/^\[ERROR\] /, ''), MAX_ERROR_LENGTH);
}
