import { type Answer, ask, jsonObject, type NoAnswer } from './ask.ts';

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

const TIMEOUT_MS = 10_000;

/** Calls Slack directly, not through a client library: the headers are wanted, and no repeats. */
export function createSlackCall(apiUrl: string): SlackCall {
	return async (method, token, args = {}) => {
		const answer = await ask(`${apiUrl}${method}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${token}` },
			form: args,
			timeoutMs: TIMEOUT_MS,
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

/** What to do about a token that Slack refuses; null when the code says nothing about the token. */
export function tokenAdvice(
	code: string,
	token: { readonly setting: string; readonly copyFrom: string },
): string | null {
	const copy = `copy it again ${token.copyFrom}`;
	switch (code) {
		case 'invalid_auth':
		case 'not_authed':
			return `Slack does not know this token (${code}): ${copy}, into ${token.setting}.`;
		case 'account_inactive':
			return `The app was removed from the workspace, or its bot deactivated (${code}): install it again and ${copy}.`;
		case 'token_revoked':
			return `The token was revoked (${code}): reinstall the app and ${copy}.`;
		case 'token_expired':
			return `The token has expired (${code}): the app has token rotation, which cannot be turned off again; make a new app from manifest.yml.`;
		case 'not_allowed_token_type':
			return `This is another kind of token (${code}), perhaps swapped with the other one: ${copy}, into ${token.setting}.`;
		case 'team_access_not_granted':
		case 'team_disabled':
		case 'org_login_required':
		case 'ekm_access_denied':
		case 'access_denied':
			return `The workspace does not let the app in (${code}): ask its administrators to approve the app.`;
		default:
			return null;
	}
}
