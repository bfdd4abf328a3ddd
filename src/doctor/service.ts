import type { Settings } from '../config.ts';
import { parseBaseUrl, sessionPath } from '../session-service/address.ts';
import { type Answer, ask, jsonObject, looksLikeHtml, type NoAnswer } from './ask.ts';
import { type Finding, findingsOf } from './finding.ts';

/** A session that nobody has. The service checks the key before it looks for it, so "not found" means a good key. */
const NOBODYS_SESSION = 'handraise-doctor';

/** Milliseconds after which people notice; Slack gives a modal three seconds. */
const SLOW_MS = 3_000;

type Needed = Pick<Settings, 'SESSION_SERVICE_URL' | 'SESSION_SERVICE_API_KEY' | 'SESSION_SERVICE_TIMEOUT_MS'>;

/** Reads a session that does not exist: one request of the budget, and no effect. */
export function askService(settings: Needed): Promise<Answer | NoAnswer> {
	const address = parseBaseUrl(settings.SESSION_SERVICE_URL);
	return ask(`${address.origin}${sessionPath(address, NOBODYS_SESSION)}`, {
		headers: { 'x-api-key': settings.SESSION_SERVICE_API_KEY, accept: 'application/json' },
		timeoutMs: settings.SESSION_SERVICE_TIMEOUT_MS,
	});
}

/** What the answer says about SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY. */
export function checkService(answer: Answer | NoAnswer, url: string): Finding[] {
	const { ok, warning, failure } = findingsOf('Session service');
	const { host, hostname, protocol } = new URL(url);
	if (answer.kind === 'no-answer') return [failure(`${host} does not answer: ${answer.why}. See SESSION_SERVICE_URL.`)];
	const wrong = wrongAnswer(answer, url);
	if (wrong !== null) return [failure(wrong)];
	const found = [ok(`${host} knows the key, and answers in ${answer.ms} ms.`)];
	const words = jsonObject(answer.body);
	if (answer.status === 404 && words?.message !== 'Session not found' && words?.error !== 'Session not found') {
		found.push(
			warning(`${host} says "not found" in other words than a session service does: check SESSION_SERVICE_URL.`),
		);
	}
	if (answer.ms > SLOW_MS) {
		found.push(
			warning(`${host} took ${(answer.ms / 1000).toFixed(1)} s: people will look at a loading view for that long.`),
		);
	}
	if (protocol === 'http:' && !isThisMachine(hostname)) {
		found.push(
			warning(
				'SESSION_SERVICE_URL starts with http://: the key and all answers travel in the clear. Use https:// if there is one.',
			),
		);
	}
	return found;
}

function wrongAnswer(answer: Answer, url: string): string | null {
	const { host } = new URL(url);
	const { status } = answer;
	if (status >= 300 && status < 400) return redirected(answer, url);
	if (status === 401 || status === 403) {
		return `${host} refuses the key (${status}): copy it again from the API section of the service's dashboard, into SESSION_SERVICE_API_KEY.`;
	}
	if (status === 429) {
		const after = Number(answer.headers.get('retry-after')) || 60;
		return `${host} says that this address has used up its requests (429), so the key could not be checked: try again in ${after} s. If it happens often, lower SESSION_SERVICE_RPM: others behind this address share the limit.`;
	}
	if (looksLikeHtml(answer)) return `${host} answers with a web page (${status}): ${otherAddress(url)}`;
	if (status >= 500) return `${host} is in trouble (${status}): see its own log, or ask who runs it.`;
	if (status === 404 && jsonObject(answer.body) !== null) return null;
	// Somebody made a session with this id after all; it is cut at 64 kB, so only its beginning is looked at.
	if (status === 200 && /^\s*\{\s*"session"/.test(answer.body)) return null;
	return `${host} does not answer as a session service does (${status}): ${otherAddress(url)}`;
}

function redirected({ status, headers }: Answer, url: string): string {
	const from = new URL(url);
	const to = URL.parse(headers.get('location') ?? '', url);
	if (to?.host === from.host && to.protocol === 'https:' && from.protocol === 'http:') {
		return `${from.host} wants https (${status}): write https:// in SESSION_SERVICE_URL.`;
	}
	return `${from.host} sends the request on to ${to?.origin ?? 'nowhere'} (${status}): ${otherAddress(url)}`;
}

function otherAddress(url: string): string {
	if (/\/v1(\/|$)/.test(new URL(url).pathname)) {
		return 'SESSION_SERVICE_URL has /v1 in it, which Handraise adds itself: leave out /v1 and what follows.';
	}
	return "SESSION_SERVICE_URL has to be the API's base address, not the dashboard's; /v1/sessions/<id> is added to it.";
}

function isThisMachine(hostname: string): boolean {
	return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** Compares the limit that the service tells with the one Handraise keeps to. */
export function checkRateLimit(answer: Answer | NoAnswer, requestsPerMinute: number): Finding[] {
	const { ok, warning, skipped } = findingsOf('Rate limit');
	if (answer.kind === 'no-answer') return [skipped('not known, since the session service does not answer.')];
	const limit = limitPerMinute(answer.headers);
	if (limit === null) {
		return [
			warning(
				`the session service tells no limit; Handraise keeps to SESSION_SERVICE_RPM=${requestsPerMinute}. Ask whether that is right.`,
			),
		];
	}
	if (limit < requestsPerMinute) {
		return [
			warning(
				`the session service allows ${limit} requests a minute, SESSION_SERVICE_RPM is ${requestsPerMinute}: set it to ${limit} or less.`,
			),
		];
	}
	if (limit > requestsPerMinute) {
		return [
			warning(
				`the session service allows ${limit} requests a minute, SESSION_SERVICE_RPM is ${requestsPerMinute}: unless others behind this address need the rest, raise it, and watching gets faster.`,
			),
		];
	}
	return [ok(`${limit} requests a minute for everything behind this address, as SESSION_SERVICE_RPM says.`)];
}

/** From `RateLimit-Limit`, with the window of `RateLimit-Policy` (`250;w=60`; a minute when it is not told). */
function limitPerMinute(headers: Headers): number | null {
	const limit = /^\s*(\d{1,9})\b/.exec(headers.get('ratelimit-limit') ?? '')?.[1];
	if (limit === undefined) return null;
	const windowSeconds = Number(/;\s*w=(\d{1,9})/.exec(headers.get('ratelimit-policy') ?? '')?.[1] ?? 60);
	return windowSeconds > 0 ? Math.floor((Number(limit) * 60) / windowSeconds) : null;
}
