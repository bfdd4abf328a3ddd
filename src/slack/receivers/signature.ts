import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Slack's advice against requests that somebody kept: five minutes, here also for clocks that run ahead. */
const LONGEST_SKEW_S = 300;

/** What a request says of itself, to be compared with its body. */
export interface ClaimedSignature {
	/** As it was sent: it is part of what is signed. */
	readonly timestamp: string;
	/** Of 32 bytes. */
	readonly digest: Buffer;
}

export type UnusableSignature = 'unsigned' | 'malformed_signature' | 'stale' | 'ahead';

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
