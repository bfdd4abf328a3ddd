import type { IncomingMessage, ServerResponse } from 'node:http';
import { type App, HTTPModuleFunctions, HTTPResponseAck, type Receiver } from '@slack/bolt';
import type { Log } from '../../log.ts';
import { codeOf } from '../error-code.ts';
import { createSlackLogger } from '../slack-logger.ts';
import { createBodies } from './bodies.ts';
import { isSigned, readSignature } from './signature.ts';

const PATH = '/slack/events';
/** Far above what Slack sends: its windows may have 250 KB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Of all that arrive together: thousands of those of Slack. More would only cost time to read in a flood. */
const MAX_ARRIVING_BYTES = 16 * 1024 * 1024;
/** Slack's check of the certificate, the one request that it does not sign, has 42 bytes. */
const MAX_SSL_CHECK_BYTES = 256;
/** Nobody acknowledged in time: the status only ends Slack's request, the person was told otherwise. */
const UNHANDLED_AFTER_MS = 3_001;

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
	/** Takes Slack's requests; hang it into the process' one server. `verified` is called when one is known to be Slack's. */
	listener(request: IncomingMessage, response: ServerResponse, verified: () => void): void;
}

interface Options {
	readonly signingSecret: string;
	readonly log: Log;
	/** Hears why a request was refused. */
	readonly onRefused: (reason: string) => void;
}

/**
 * Receives signed requests at `POST /slack/events`. Bolt's own receiver buffers a body before it looks at the signature,
 * takes time stamps of the future and hangs on a signed `null`; this one hands Bolt what is known to be Slack's.
 */
export function createHttpReceiver({ signingSecret, log, onRefused }: Options): HttpReceiver {
	const logger = createSlackLogger(log);
	const bodies = createBodies({ maxBytes: MAX_BODY_BYTES, maxTotalBytes: MAX_ARRIVING_BYTES });
	let app: App | null = null;

	/** Null when the sender went away. */
	async function bodyOf(request: IncomingMessage, verified: () => void): Promise<Fields | Refusal | null> {
		const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
		const isForm = type === 'application/x-www-form-urlencoded';
		if (!isForm && type !== 'application/json') return 'wrong_content_type';
		// The machine's time, as Slack's is: not a clock that a database or a test has set.
		const signature = readSignature(request.headers, Date.now());
		const isSslCheck = signature === 'unsigned' && isForm && lengthOf(request) <= MAX_SSL_CHECK_BYTES;
		if (typeof signature === 'string' && !isSslCheck) return signature;
		const raw = await bodies.read(request);
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

/** Null when it is no object, neither itself nor in the field `payload` of a form. */
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
