import { createHmac } from 'node:crypto';
import type { Core } from './core.ts';
import type { Delivery, Transport } from './delivery.ts';
import { type Json, parseJson } from './json.ts';

/** Slack's names for failures in `x-slack-retry-reason` (docs.slack.dev, "The Events API"). */
const RETRY_REASONS: Record<string, string> = {
	timeout: 'http_timeout',
	http_error: 'http_error',
	connection_failed: 'connection_failed',
};

/** The headers that prove that Slack sent a request (docs.slack.dev, "Verifying requests from Slack"). */
export function signedHeaders(signingSecret: string, body: string, nowMs: number): Record<string, string> {
	const timestamp = String(Math.floor(nowMs / 1000));
	const signature = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
	return { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` };
}

function form(fields: Json): string {
	return new URLSearchParams(
		Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
	).toString();
}

function encode(delivery: Delivery): { body: string; type: string } {
	switch (delivery.kind) {
		case 'events_api':
			return { body: JSON.stringify(delivery.payload), type: 'application/json' };
		case 'slash_commands':
			return { body: form(delivery.payload), type: 'application/x-www-form-urlencoded' };
		case 'interactive':
			return {
				body: form({ payload: JSON.stringify(delivery.payload) }),
				type: 'application/x-www-form-urlencoded',
			};
	}
}

function parse(body: string): unknown {
	if (body === '') return undefined;
	return parseJson(body) ?? body;
}

/**
 * Signed POSTs to the app's request URL. The timestamp is real time, because the app checks it against its own clock.
 */
export function createHttpTransport(core: Core, requestUrl: () => string): Transport {
	async function post(delivery: Delivery, signal: AbortSignal): Promise<{ status: number; body: string }> {
		const { body, type } = encode(delivery);
		const response = await fetch(requestUrl(), {
			method: 'POST',
			body,
			signal,
			redirect: 'manual',
			headers: {
				'content-type': type,
				'user-agent': 'Slackbot 1.0 (fake)',
				...signedHeaders(core.tokens.signingSecret, body, Date.now()),
				...(delivery.retry
					? {
							'x-slack-retry-num': String(delivery.retry),
							'x-slack-retry-reason': RETRY_REASONS[delivery.retryReason ?? ''] ?? 'unknown_error',
						}
					: {}),
			},
		});
		return { status: response.status, body: await response.text() };
	}

	return async (delivery, signal) => {
		try {
			const duplicate = core.faults.takeDuplicate(delivery.name);
			const [answer] = await Promise.all([post(delivery, signal), duplicate ? post(delivery, signal) : undefined]);
			const { status, body } = answer;
			const isAck = delivery.kind === 'events_api' ? status >= 200 && status < 300 : status === 200;
			return isAck ? { ok: true, payload: parse(body), status } : { ok: false, failure: 'http_error', status };
		} catch {
			return { ok: false, failure: signal.aborted ? 'timeout' : 'connection_failed' };
		}
	};
}

/** Slack's check of a request URL: the app must return the challenge (docs.slack.dev, url_verification). */
export async function verifyRequestUrl(core: Core, requestUrl: string): Promise<boolean> {
	const challenge = `challenge-${core.clock.now()}`;
	const body = JSON.stringify({ type: 'url_verification', token: 'verification', challenge });
	try {
		const response = await fetch(requestUrl, {
			method: 'POST',
			body,
			headers: { 'content-type': 'application/json', ...signedHeaders(core.tokens.signingSecret, body, Date.now()) },
		});
		const answer = await response.text();
		const echoed = parse(answer);
		return response.ok && (answer === challenge || (echoed as Json | undefined)?.challenge === challenge);
	} catch {
		return false;
	}
}
