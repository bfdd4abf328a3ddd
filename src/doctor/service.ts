import type { SettingsReading } from '../config.ts';
import { parseBaseUrl, sessionPath } from '../session-service/address.ts';
import { type Answer, ask, jsonObject, type NoAnswer } from './ask.ts';
import { type Examined, type Finding, findingsOf, notLookedAt } from './report.ts';

/** A session that nobody has. The service checks the key before it looks for it, so "not found" means a good key. */
const NOBODYS_SESSION = 'handraise-doctor';
/** People notice it from then on; Slack gives a modal three seconds. */
const SLOW_MS = 3_000;

/** Reads a session that does not exist: one request of the budget, and no effect. */
export async function examineService({ settings }: SettingsReading): Promise<Examined> {
	const { SESSION_SERVICE_URL: url, SESSION_SERVICE_API_KEY: key, SESSION_SERVICE_RPM: rpm } = settings;
	if (url === undefined) return { findings: notLookedAt('Session service', 'SESSION_SERVICE_URL') };
	if (key === undefined) return { findings: notLookedAt('Session service', 'SESSION_SERVICE_API_KEY') };
	const address = parseBaseUrl(url);
	const answer = await ask(`${address.origin}${sessionPath(address, NOBODYS_SESSION)}`, {
		headers: { 'x-api-key': key, accept: 'application/json' },
		timeoutMs: settings.SESSION_SERVICE_TIMEOUT_MS ?? 20_000,
	});
	const limits = rpm === undefined ? [] : checkRateLimit(answer, rpm);
	return {
		findings: [...checkService(answer, url), ...limits],
		aheadMs: answer.kind === 'answer' ? answer.aheadMs : null,
	};
}

/** What the answer says about SESSION_SERVICE_URL and SESSION_SERVICE_API_KEY. */
function checkService(answer: Answer | NoAnswer, url: string): Finding[] {
	const { ok, warning, failure } = findingsOf('Session service');
	const { host, hostname, protocol } = new URL(url);
	if (answer.kind === 'no-answer') return failure(`${host} does not answer: ${answer.why}. See SESSION_SERVICE_URL.`);
	const wrong = wrongAnswer(answer, url);
	if (wrong !== null) return failure(wrong);
	const words = jsonObject(answer.body);
	const found = ok(`${host} knows the key, and answers in ${answer.ms} ms.`);
	if (answer.status === 404 && words?.message !== 'Session not found' && words?.error !== 'Session not found') {
		warning(`${host} says "not found" in other words than a session service does: check SESSION_SERVICE_URL.`);
	}
	if (answer.ms > SLOW_MS) {
		warning(`${host} took ${(answer.ms / 1000).toFixed(1)} s: people will look at a loading view for that long.`);
	}
	if (protocol === 'http:' && !isThisMachine(hostname)) {
		warning(
			'SESSION_SERVICE_URL starts with http://: the key and all answers travel in the clear. Use https:// if there is one.',
		);
	}
	return found;
}

function wrongAnswer(answer: Answer, url: string): string | null {
	const { host } = new URL(url);
	const { status, headers, body } = answer;
	if (status >= 300 && status < 400) return redirected(answer, url);
	if (status === 401 || status === 403) {
		return `${host} refuses the key (${status}): copy it again from the API section of the service's dashboard, into SESSION_SERVICE_API_KEY.`;
	}
	if (status === 429) {
		const after = Number(headers.get('retry-after')) || 60;
		return `${host} says that this address has used up its requests (429), so the key could not be checked: try again in ${after} s. If it happens often, lower SESSION_SERVICE_RPM: others behind this address share the limit.`;
	}
	// The type alone says nothing: the service sends plain sentences as text/html, as Express does.
	if ((headers.get('content-type') ?? '').includes('html') && /^\s*</.test(body)) {
		return `${host} answers with a web page (${status}): ${otherAddress(url)}`;
	}
	if (status >= 500) return `${host} is in trouble (${status}): see its own log, or ask who runs it.`;
	if (status === 404 && jsonObject(body) !== null) return null;
	// Somebody made a session with this id after all. Only the beginning of a long body was kept.
	if (status === 200 && /^\s*\{\s*"session"/.test(body)) return null;
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
function checkRateLimit(answer: Answer | NoAnswer, requestsPerMinute: number): Finding[] {
	const { ok, warning, skipped } = findingsOf('Rate limit');
	if (answer.kind === 'no-answer') return skipped('not known, since the session service does not answer.');
	const limit = limitPerMinute(answer.headers);
	if (limit === null) {
		return warning(
			`the session service tells no limit; Handraise keeps to SESSION_SERVICE_RPM=${requestsPerMinute}. Ask whether that is right.`,
		);
	}
	if (limit === requestsPerMinute) {
		return ok(`${limit} requests a minute for everything behind this address, as SESSION_SERVICE_RPM says.`);
	}
	const advice =
		limit < requestsPerMinute
			? `set it to ${limit} or less.`
			: 'unless others behind this address need the rest, raise it, and watching gets faster.';
	return warning(
		`the session service allows ${limit} requests a minute, SESSION_SERVICE_RPM is ${requestsPerMinute}: ${advice}`,
	);
}

/** From `RateLimit-Limit`, with the window of `RateLimit-Policy` (`250;w=60`; a minute when it is not told). */
function limitPerMinute(headers: Headers): number | null {
	const limit = /^\s*(\d{1,9})\b/.exec(headers.get('ratelimit-limit') ?? '')?.[1];
	if (limit === undefined) return null;
	const windowSeconds = Number(/;\s*w=(\d{1,9})/.exec(headers.get('ratelimit-policy') ?? '')?.[1] ?? 60);
	return windowSeconds > 0 ? Math.floor((Number(limit) * 60) / windowSeconds) : null;
}

/** SESSION_DASHBOARD_URL is for people's browsers: that this machine cannot reach it proves nothing. */
export async function examineDashboard({ settings }: SettingsReading): Promise<Examined> {
	if (!('SESSION_DASHBOARD_URL' in settings)) return { findings: [] };
	const { ok, warning, okIfNone } = findingsOf('Dashboard');
	const { SESSION_DASHBOARD_URL: url } = settings;
	if (url === undefined) {
		return { findings: ok('SESSION_DASHBOARD_URL is not set: no links to it, and pasted links are not understood.') };
	}
	const { host, pathname } = new URL(url);
	if (/\/sessions\/session\/?$/.test(pathname)) {
		warning("SESSION_DASHBOARD_URL is a session's page: leave out /sessions/session, which Handraise adds.");
	}
	const answer = await ask(url, { timeoutMs: 5_000 });
	if (answer.kind === 'no-answer') {
		warning(`${host} cannot be reached from here: ${answer.why}. That is fine if people's browsers can.`);
	} else if (answer.status >= 400 && answer.status !== 401 && answer.status !== 403) {
		warning(
			`${host} answers ${answer.status} there: open SESSION_DASHBOARD_URL in a browser to see whether it is right.`,
		);
	}
	return { findings: okIfNone(`${host} can be reached.`) };
}
