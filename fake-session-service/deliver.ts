import { gzipSync } from 'node:zlib';
import type { Fault } from './faults.ts';
import { jsonOutcome, type Outcome, sentenceOutcome } from './operations.ts';
import { tooManySentence } from './rate-limit.ts';
import { weakEtag } from './state.ts';

/** How a response is sent: as it is, or damaged. */
export type Delivery =
	| { readonly how: 'answer'; readonly outcome: Outcome; readonly chunked?: boolean; readonly cutOff?: boolean }
	| { readonly how: 'raw'; readonly bytes: Buffer }
	| { readonly how: 'reset' }
	| { readonly how: 'hang' };

const GARBAGE = Buffer.from([0x1f, 0x8b, 0xff, 0x00, 0xfe, 0xc3, 0x28, 0x7b, 0x22, 0x80, 0x0a, 0xe2, 0x82]);

const PROXY_PAGE = (status: number) => `<!DOCTYPE html>
<html><head><title>${status} Bad Gateway</title></head>
<body><center><h1>${status} Bad Gateway</h1></center><hr><center>nginx/1.25.3</center></body></html>
`;

/** `{session}` of exactly that many bytes: well-formed, and more than any reader should accept. */
function hugeBody(bytes: number): Buffer {
	const head = Buffer.from('{"session":{"sessionId":"huge","status":"active","messages":[],"sessionDetails":"');
	const tail = Buffer.from('"}}');
	const body = Buffer.alloc(bytes, 'x');
	head.copy(body);
	tail.copy(body, bytes - tail.length);
	return body;
}

function half(outcome: Outcome): Outcome {
	const body = Buffer.from(outcome.body);
	return { ...outcome, status: 200, body: body.subarray(0, Math.ceil(body.length / 2)) };
}

/** Faults that change the correct response. They store a PUT unless they say otherwise. */
const AFTER_THE_FACT: ReadonlySet<Fault['kind']> = new Set([
	'garbage',
	'broken-http',
	'truncated',
	'cut-off',
	'coded',
	'huge',
]);

/** Whether a PUT under this fault is stored. */
export function savesUnder(fault: Fault | undefined): boolean {
	if (fault === undefined) return true;
	return fault.saves ?? AFTER_THE_FACT.has(fault.kind);
}

/** Character sets, which some servers name as the coding of what is not coded. */
const NOT_CODED = /^utf-?8$/i;

/** What is sent under `fault`, given the correct response and the one of a failure. */
export function deliveryUnder(fault: Fault | undefined, right: Outcome, failed: Outcome): Delivery {
	switch (fault?.kind) {
		case undefined:
		case 'slow':
		case 'late':
			return { how: 'answer', outcome: right };
		case 'rate-limited': {
			const seconds = fault.retryAfterSeconds ?? 28;
			const headers = {
				'Retry-After': String(seconds),
				'RateLimit-Remaining': '0',
				'RateLimit-Reset': String(seconds),
			};
			return { how: 'answer', outcome: sentenceOutcome(429, tooManySentence(seconds), headers) };
		}
		case 'error': {
			const status = fault.status ?? 500;
			return {
				how: 'answer',
				outcome: fault.body === undefined ? { ...failed, status } : sentenceOutcome(status, fault.body),
			};
		}
		case 'unauthorized':
			return { how: 'answer', outcome: jsonOutcome(401, { success: false, error: 'Invalid API key' }) };
		case 'reset':
			return { how: 'reset' };
		case 'hang':
			return { how: 'hang' };
		case 'garbage':
			return {
				how: 'answer',
				outcome: { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: GARBAGE },
			};
		case 'broken-http':
			return { how: 'raw', bytes: GARBAGE };
		case 'truncated':
			return { how: 'answer', outcome: half(right) };
		case 'cut-off':
			return { how: 'answer', outcome: right, cutOff: true };
		case 'html':
			return { how: 'answer', outcome: sentenceOutcome(fault.status ?? 502, PROXY_PAGE(fault.status ?? 502)) };
		case 'foreign-json':
			return { how: 'answer', outcome: jsonOutcome(200, { data: [{ id: 1, kind: 'listing' }], next: null }) };
		case 'wrong-types':
			return {
				how: 'answer',
				outcome: jsonOutcome(200, {
					message: 5,
					updatedMessage: [],
					session: {
						sessionId: 7,
						status: ['active'],
						messages: { role: 'assistant' },
						files: 'none',
						maxSteps: 'thirty',
						sessionVariables: true,
					},
				}),
			};
		case 'body':
			return {
				how: 'answer',
				outcome: {
					status: 200,
					headers: { 'Content-Type': 'application/json; charset=utf-8', ETag: weakEtag(fault.body) },
					body: fault.body,
				},
			};
		case 'redirect':
			return {
				how: 'answer',
				outcome: { status: fault.status ?? 302, headers: { Location: fault.location }, body: '' },
			};
		case 'coded': {
			const { coding = 'gzip', least = 1 } = fault;
			const body = Buffer.from(right.body);
			if (body.length < least) return { how: 'answer', outcome: right };
			const headers = { ...right.headers, 'Content-Encoding': coding };
			return { how: 'answer', outcome: { ...right, headers, body: NOT_CODED.test(coding) ? body : gzipSync(body) } };
		}
		case 'huge':
			return {
				how: 'answer',
				chunked: fault.chunked ?? false,
				outcome: {
					status: 200,
					headers: { 'Content-Type': 'application/json; charset=utf-8' },
					body: hugeBody(fault.bytes ?? 33 * 1024 * 1024),
				},
			};
	}
}
