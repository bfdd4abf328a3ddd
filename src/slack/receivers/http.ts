import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type App, HTTPModuleFunctions, HTTPResponseAck, isValidSlackRequest } from '@slack/bolt';
import { z } from 'zod';
import type { Log } from '../../kernel/log.ts';
import { parseOrNull } from '../../kernel/values.ts';
import { createSlackLogger, slackCodeOf } from '../clients.ts';

const PATH = '/slack/events';
/** Far above Slack's limit for a view, 250 KB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Bytes of all arriving bodies together: enough for thousands of requests from Slack. */
const MAX_ARRIVING_BYTES = 16 * 1024 * 1024;
/** Memory of a chunk besides its bytes. It counts, because a body may arrive byte by byte. */
const CHUNK_OVERHEAD_BYTES = 512;
/** A limit on processing time. The largest body, in network packets, has 3,000 chunks. */
const MAX_CHUNKS = 8_000;
/** Slack's check of the certificate, the only request that it does not sign, has 42 bytes. */
const MAX_SSL_CHECK_BYTES = 256;
/** Slack stops waiting after 3 s. */
const UNHANDLED_AFTER_MS = 3_001;
/** Five minutes, as Slack recommends against replayed requests; here also for clocks that run ahead. */
const MAX_SKEW_S = 300;

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

/** Receives signed requests at `POST /slack/events` and passes verified ones to Bolt. */
export function createHttpReceiver(signingSecret: string, log: Log, onRefused: (reason: string) => void) {
	// Bolt's receiver buffers a body before it checks headers, accepts times of the future and hangs on a signed `null`.
	// Its `parseAndVerifyHTTPRequest` takes any body with `ssl_check=1` for verified.
	const logger = createSlackLogger(log);
	const readBody = createBodyReader();
	let app: App | null = null;

	/** The parsed body, or why it is refused; null when the sender closed the connection. */
	async function bodyOf(request: IncomingMessage, verified: () => void): Promise<Fields | Refusal | null> {
		const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
		const isForm = type === 'application/x-www-form-urlencoded';
		if (!isForm && type !== 'application/json') return 'wrong_content_type';
		// Slack signs with real time; the clock of a database or a test may differ.
		const signature = readSignature(request.headers, Date.now());
		const isShort = Number(request.headers['content-length'] ?? Infinity) <= MAX_SSL_CHECK_BYTES;
		const isSslCheck = signature === 'unsigned' && isForm && isShort;
		if (typeof signature === 'string' && !isSslCheck) return signature;
		const raw = await readBody(request);
		if (raw === 'gone') return null;
		if (typeof raw === 'string') return raw;
		if (typeof signature === 'string')
			return new URLSearchParams(raw.toString()).get('ssl_check') === '1' ? { ssl_check: '1' } : signature;
		const body = raw.toString();
		// Bolt verifies a text. Bytes that are no UTF-8 would count as the text that replaces them.
		if (!isUtf8(raw) || !isValidSlackRequest({ signingSecret, body, headers: signature })) return 'wrong_signature';
		verified();
		return parseBody(body, isForm) ?? 'malformed_body';
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
		await app?.processEvent({ body, ack: ack.bind() });
		if (response.headersSent) return;
		// No handler exists for this request, so Slack need not wait.
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
		init(bolt: App) {
			app = bolt;
		},
		// The process owns the server, which also serves health and metrics.
		start: async () => {},
		stop: async () => {},
		isServing: () => true,
		/** For the process' HTTP server. `verified` is called when the signature is correct. */
		listener(request: IncomingMessage, response: ServerResponse, verified: () => void) {
			if (request.url?.split('?')[0] !== PATH) return refuse(response, 'wrong_path');
			if (request.method !== 'POST') return refuse(response, 'wrong_method');
			receive(request, response, verified).catch((error: unknown) => {
				log.error('slack_request_failed', { code: slackCodeOf(error), err: error });
				if (!response.headersSent) response.writeHead(500).end();
			});
		},
	};
}

/** The object in the body, or in the field `payload` of a form; null when there is none. */
function parseBody(text: string, isForm: boolean): Fields | null {
	const fields = isForm ? new URLSearchParams(text) : null;
	const payload = fields === null ? text : fields.get('payload');
	return payload === null ? Object.fromEntries(fields ?? []) : parseOrNull(z.record(z.string(), z.unknown()), payload);
}

/** The headers of a signature, for Bolt; or why they cannot be those of a request of now. `nowMs`: real time. */
export function readSignature(headers: IncomingHttpHeaders, nowMs: number) {
	const timestamp = headers['x-slack-request-timestamp'];
	const signature = headers['x-slack-signature'];
	if (timestamp === undefined || signature === undefined) return 'unsigned';
	// Bolt reads the time as a number, and ignores what follows a second `=`.
	const isWellFormed = /^v0=[0-9a-f]{64}$/.test(String(signature)) && /^[1-9]\d{0,10}$/.test(String(timestamp));
	if (!isWellFormed) return 'malformed_signature';
	const ageS = Math.floor(nowMs / 1_000) - Number(timestamp);
	if (ageS > MAX_SKEW_S) return 'stale';
	if (ageS < -MAX_SKEW_S) return 'ahead';
	return { 'x-slack-signature': String(signature), 'x-slack-request-timestamp': Number(timestamp) };
}

/**
 * Beyond `MAX_ARRIVING_BYTES` the oldest body is dropped. Slack's arrive in milliseconds, so it is not Slack's. Bolt's
 * reader ignores the declared length, and cannot drop a body.
 */
function createBodyReader() {
	const arriving = new Set<{ heldBytes: number; drop(): void }>();
	let totalBytes = 0;

	/** Never rejects. `gone`: the sender closed the connection. */
	return (request: IncomingMessage): Promise<Buffer | 'too_large' | 'crowded' | 'gone'> => {
		if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
			request.resume();
			return Promise.resolve('too_large');
		}
		return new Promise((resolve) => {
			const chunks: Buffer[] = [];
			let bytes = 0;
			const body = { heldBytes: 0, drop: (): void => end('crowded') };
			arriving.add(body);

			function end(outcome: Buffer | 'too_large' | 'crowded' | 'gone'): void {
				if (!arriving.delete(body)) return;
				totalBytes -= body.heldBytes;
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
				body.heldBytes += chunk.length + CHUNK_OVERHEAD_BYTES;
				totalBytes += chunk.length + CHUNK_OVERHEAD_BYTES;
				while (totalBytes > MAX_ARRIVING_BYTES) arriving.values().next().value?.drop();
			}
			request.on('data', take);
			request.once('end', () => end(Buffer.concat(chunks)));
			request.once('error', () => end('gone'));
			request.once('close', () => end('gone'));
		});
	};
}
