import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type App, HTTPModuleFunctions, HTTPResponseAck, type Receiver } from '@slack/bolt';
import type { Log } from '../../log.ts';
import { codeOf, createSlackLogger } from '../clients.ts';

const PATH = '/slack/events';
/** Far above what Slack sends: its views may have 250 KB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Of all bodies that are arriving: enough for thousands of Slack's. */
const MAX_ARRIVING_BYTES = 16 * 1024 * 1024;
/** What a chunk costs in memory beside its bytes: a body that comes byte by byte must not hold more than it counts. */
const CHUNK_OVERHEAD_BYTES = 512;
/** Each chunk costs time too. The largest body, cut as networks cut it, has 3,000. */
const MAX_CHUNKS = 8_000;
/** Slack's check of the certificate, the one request that it does not sign, has 42 bytes. */
const MAX_SSL_CHECK_BYTES = 256;
/** Slack stops waiting after 3 s: the status only ends its request. */
const UNHANDLED_AFTER_MS = 3_001;
/** Slack's advice against replayed requests: five minutes, here also for clocks that run ahead. */
const LONGEST_SKEW_S = 300;

const STATUS = {
	wrong_path: 404,
	wrong_method: 405,
	wrong_content_type: 400,
	unsigned: 401,
	malformed_signature: 401,
	stale: 401,
	ahead: 401,
	wrong_signature: 401,
	malformed_body: 400,
	too_large: 413,
	crowded: 503,
} as const;

type Refusal = keyof typeof STATUS;
type Fields = Readonly<Record<string, unknown>>;

export interface HttpReceiver extends Receiver {
	/** For the process' HTTP server. `verified` is called when a request is known to be Slack's. */
	listener(request: IncomingMessage, response: ServerResponse, verified: () => void): void;
}

/**
 * Receives signed requests at `POST /slack/events`. Bolt's own receiver buffers a body before it looks at the signature,
 * takes time stamps of the future and hangs on a signed `null`; this one hands Bolt what is known to be Slack's.
 */
export function createHttpReceiver({
	signingSecret,
	log,
	onRefused,
}: {
	signingSecret: string;
	log: Log;
	onRefused: (reason: string) => void;
}): HttpReceiver {
	const logger = createSlackLogger(log);
	const readBody = createBodyReader();
	let app: App | null = null;

	/** The parsed body, or why it is refused; null when the sender went away. */
	async function bodyOf(request: IncomingMessage, verified: () => void): Promise<Fields | Refusal | null> {
		const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
		const isForm = type === 'application/x-www-form-urlencoded';
		if (!isForm && type !== 'application/json') return 'wrong_content_type';
		// The machine's time, as Slack's is: a database's or a test's clock may differ.
		const signature = readSignature(request.headers, Date.now());
		const isSslCheck = signature === 'unsigned' && isForm && lengthOf(request) <= MAX_SSL_CHECK_BYTES;
		if (typeof signature === 'string' && !isSslCheck) return signature;
		const raw = await readBody(request);
		if (raw === 'gone') return null;
		if (typeof raw === 'string') return raw;
		if (typeof signature === 'string') {
			return new URLSearchParams(raw.toString()).get('ssl_check') === '1' ? { ssl_check: '1' } : signature;
		}
		if (!isSigned(signingSecret, signature, raw)) return 'wrong_signature';
		verified();
		return parseBody(raw.toString(), isForm) ?? 'malformed_body';
	}

	async function receive(request: IncomingMessage, response: ServerResponse, verified: () => void): Promise<void> {
		const body = await bodyOf(request, verified);
		if (body === null) return;
		if (typeof body === 'string') return refuse(response, body);
		if (body.ssl_check === '1') return HTTPModuleFunctions.buildSSLCheckResponse(response);
		if (body.type === 'url_verification') return HTTPModuleFunctions.buildUrlVerificationResponse(response, body);
		const ack = new HTTPResponseAck({
			logger,
			processBeforeResponse: false,
			unhandledRequestTimeoutMillis: UNHANDLED_AFTER_MS,
			httpRequest: request,
			httpRequestBody: body,
			httpResponse: response,
		});
		const retryNum = HTTPModuleFunctions.extractRetryNumFromHTTPRequest(request);
		const retryReason = HTTPModuleFunctions.extractRetryReasonFromHTTPRequest(request);
		await app?.processEvent({
			body,
			ack: ack.bind(),
			...(retryNum === undefined ? {} : { retryNum }),
			...(retryReason === undefined ? {} : { retryReason }),
		});
		if (response.headersSent) return;
		// No handler took it, and none will: Slack need not wait.
		ack.ack();
		response.writeHead(404).end();
	}

	function refuse(response: ServerResponse, reason: Refusal): void {
		onRefused(reason);
		response.writeHead(STATUS[reason], {
			connection: 'close',
			...(reason === 'wrong_method' ? { allow: 'POST' } : {}),
			...(reason === 'crowded' ? { 'retry-after': '1' } : {}),
		});
		response.end();
	}

	return {
		init(bolt) {
			app = bolt;
		},
		// The server belongs to the process, which also serves health and metrics on it.
		start: async () => {},
		stop: async () => {},
		listener(request, response, verified) {
			if (request.url?.split('?')[0] !== PATH) return refuse(response, 'wrong_path');
			if (request.method !== 'POST') return refuse(response, 'wrong_method');
			receive(request, response, verified).catch((error: unknown) => {
				log.error({ code: codeOf(error), err: error }, 'a request of Slack could not be handled');
				if (!response.headersSent) response.writeHead(500).end();
			});
		},
	};
}

/** Infinite when it is not told. */
function lengthOf({ headers }: IncomingMessage): number {
	return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
}

/** The object itself, or the one in the field `payload` of a form; null when there is none. */
function parseBody(text: string, isForm: boolean): Fields | null {
	if (!isForm) return parseObject(text);
	const fields = new URLSearchParams(text);
	const payload = fields.get('payload');
	return payload === null ? Object.fromEntries(fields) : parseObject(payload);
}

function parseObject(text: string): Fields | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
	} catch {
		return null;
	}
}

/** What a request says of itself, to be compared with its body. */
interface ClaimedSignature {
	/** As it was sent: it is part of what is signed. */
	readonly timestamp: string;
	/** Of 32 bytes. */
	readonly digest: Buffer;
}

type UnusableSignature = 'unsigned' | 'malformed_signature' | 'stale' | 'ahead';

/** Reads the two headers that every request of Slack has, before its body is looked at. `nowMs` is the machine's time. */
export function readSignature(headers: IncomingHttpHeaders, nowMs: number): ClaimedSignature | UnusableSignature {
	const timestamp = headers['x-slack-request-timestamp'];
	const signature = headers['x-slack-signature'];
	if (timestamp === undefined || signature === undefined) return 'unsigned';
	const digest = /^v0=([0-9a-f]{64})$/.exec(String(signature))?.[1];
	if (digest === undefined || typeof timestamp !== 'string' || !/^\d{1,11}$/.test(timestamp)) {
		return 'malformed_signature';
	}
	const ageS = Math.floor(nowMs / 1_000) - Number(timestamp);
	if (ageS > LONGEST_SKEW_S) return 'stale';
	if (ageS < -LONGEST_SKEW_S) return 'ahead';
	return { timestamp, digest: Buffer.from(digest, 'hex') };
}

/**
 * Whether the body was signed with the secret (docs.slack.dev, "Verifying requests from Slack"): over the bytes as they
 * came, compared in constant time.
 */
export function isSigned(secret: string, { timestamp, digest }: ClaimedSignature, body: Buffer): boolean {
	const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
	return timingSafeEqual(expected, digest);
}

/**
 * Reads bodies before their signature can be checked. When all that are arriving hold more than `MAX_ARRIVING_BYTES`, the
 * oldest is dropped: Slack's arrive within milliseconds, so bodies that are held open go first.
 */
function createBodyReader() {
	/** Oldest first. */
	const arriving = new Set<{ held: number; giveWay(): void }>();
	let total = 0;

	/** Never rejects. The rest of a body that was not read to its end is discarded. `gone`: the sender went away. */
	return (request: IncomingMessage): Promise<Buffer | 'too_large' | 'crowded' | 'gone'> => {
		if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
			request.resume();
			return Promise.resolve('too_large');
		}
		return new Promise((resolve) => {
			const chunks: Buffer[] = [];
			let bytes = 0;
			const body = {
				held: 0,
				giveWay(): void {
					end('crowded');
				},
			};
			arriving.add(body);

			function end(outcome: Buffer | 'too_large' | 'crowded' | 'gone'): void {
				if (!arriving.delete(body)) return;
				total -= body.held;
				chunks.length = 0;
				request.off('data', take);
				request.resume();
				resolve(outcome);
			}
			function take(chunk: Buffer): void {
				bytes += chunk.length;
				if (bytes > MAX_BODY_BYTES || chunks.length === MAX_CHUNKS) {
					end('too_large');
					return;
				}
				chunks.push(chunk);
				body.held += chunk.length + CHUNK_OVERHEAD_BYTES;
				total += chunk.length + CHUNK_OVERHEAD_BYTES;
				while (total > MAX_ARRIVING_BYTES) arriving.values().next().value?.giveWay();
			}
			request.on('data', take);
			request.once('end', () => end(Buffer.concat(chunks)));
			request.once('error', () => end('gone'));
			request.once('close', () => end('gone'));
		});
	};
}
