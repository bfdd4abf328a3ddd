import { limitPerMinute } from '../../service/rate-limit-headers.ts';
import { listQuery, readListResponse } from '../../service/schema.ts';
import { counted } from '../../slack/phrases.ts';
import { OWN_SCHEMA } from '../../store/migrate.ts';
import { judgeAddresses, movedWords } from '../../store/service-address.ts';
import { type Findings, notChecked, type Setup } from './check.ts';
import { type CheckedResponse, jsonObject, request } from './requests.ts';

const PROBE = { limit: 1, page: 1 };

export async function checkService({ ok, warning, failure }: Findings, { service }: Setup) {
	const { response, url } = await service;
	const { host, hostname, protocol } = new URL(url);
	if (response.kind === 'no-response')
		return failure(`${host} does not answer: ${response.why}. See SESSION_SERVICE_URL.`);
	const problem = problemOf(response, url);
	if (problem !== null) return failure(problem);
	const body = jsonObject(response.body);
	ok(`${host} accepts the key and answers in ${response.ms} ms.`);
	if (response.status === 404 && body?.message !== 'Session not found' && body?.error !== 'Session not found')
		warning(`${host} says "not found" in other words than a session service does: check SESSION_SERVICE_URL.`);
	if (protocol === 'http:' && !/^(localhost|\[::1\]|127\..*)$/.test(hostname))
		warning(
			'SESSION_SERVICE_URL starts with http://: the key and all answers are sent unencrypted. Use https:// if ' +
				'the service has it.',
		);
}

/** Whether what is stored is for the address that is set. */
export async function checkAddress({ ok, warning, failure }: Findings, { need, database }: Setup) {
	const url = need('SESSION_SERVICE_URL');
	const found = await database;
	if (found.kind === 'absent') return ok('the database is new: nothing is stored for another address.');
	if (found.kind !== 'database') throw notChecked('the database cannot be used');
	if (found.addresses === null) throw notChecked(`the database does not have schema ${OWN_SCHEMA}`);
	const { kind, others } = judgeAddresses(found.addresses, url);
	if (kind === 'own') return ok(`no watches, lists or answers are stored for another address than ${url}.`);
	if (kind === 'moved') return failure(movedWords(others, url));
	const counts = others.map(({ service, answers, watches, lists }) => {
		const each = [counted(answers, 'answer'), counted(watches, 'watch', 'watches')].join(', ');
		return `${service} (${each}, lists for ${counted(lists, 'session')})`;
	});
	return warning(
		`what is stored for ${counts.join(' and ')} is left alone: these answers wait, and nobody is told of what is ` +
			'watched there. If the service has moved, run `npm run migrate -- --service-moved`.',
	);
}

/** Whether the service lists the sessions that wait. Only DISCOVER_SESSIONS needs a list. */
export async function checkList({ ok, warning, failure }: Findings, { settings, service }: Setup) {
	const { DISCOVER_SESSIONS: discovers = false } = settings;
	const { response: first, url, address, get } = await service;
	if (first.kind === 'no-response' || problemOf(first, url) !== null)
		throw notChecked('the session service is not usable');
	const response = await get(`${address.listPath}?${listQuery(PROBE)}`);
	if (response.kind === 'no-response') return warning(`no answer: ${response.why}. Watched sessions are read in turn.`);
	const { status, body } = response;
	if (status === 200 && readListResponse(jsonObject(body), PROBE) !== null)
		return ok(
			'the service lists the sessions that wait, so questions of watched ones are seen within seconds.' +
				(discovers ? ' Everybody who may use Handraise sees all of them, because DISCOVER_SESSIONS is true.' : ''),
		);
	if (status === 429 || status >= 500)
		return warning(`the service could not say whether it has one (${status}): try again later.`);
	const none = `the service has none that can be used (${status}).`;
	return discovers
		? failure(`${none} DISCOVER_SESSIONS needs one: set it to false.`)
		: ok(`${none} Watched sessions are read in turn.`);
}

function problemOf(response: CheckedResponse, url: string): string | null {
	const { host } = new URL(url);
	const { status, headers, body } = response;
	if (status >= 300 && status < 400) return redirected(response, url);
	if (status === 401 || status === 403)
		return (
			`${host} refuses the key (${status}): copy it again from the API section of the service's dashboard, into ` +
			'SESSION_SERVICE_API_KEY.'
		);
	if (status === 429) {
		const after = Number(headers.get('retry-after')) || 60;
		return (
			`${host} says that this address has used up its requests (429), so the key could not be checked: try again ` +
			`in ${after} s. If it happens often, lower SESSION_SERVICE_RPM: others behind this address share the limit.`
		);
	}
	// The type alone is not enough: the service sends plain sentences as text/html, as Express does.
	if ((headers.get('content-type') ?? '').includes('html') && /^\s*</.test(body))
		return `${host} answers with a web page (${status}): ${otherAddress(url)}`;
	if (status >= 500) return `${host} is in trouble (${status}): see its own log, or ask who runs it.`;
	if (status === 404 && jsonObject(body) !== null) return null;
	// A session with this id exists. Only the beginning of a long body was read.
	if (status === 200 && /^\s*\{\s*"session"/.test(body)) return null;
	return `${host} does not answer as a session service does (${status}): ${otherAddress(url)}`;
}

function redirected({ status, headers }: CheckedResponse, url: string): string {
	const from = new URL(url);
	const to = URL.parse(headers.get('location') ?? '', url);
	if (to?.host === from.host && to.protocol === 'https:' && from.protocol === 'http:')
		return `${from.host} wants https (${status}): write https:// in SESSION_SERVICE_URL.`;
	if (to?.href === `${from.origin}/`)
		return (
			`${from.host} redirects to its front page (${status}), as it does without a key: see whether something in ` +
			`between drops the header x-api-key. Or ${otherAddress(url)}`
		);
	return `${from.host} redirects to ${to?.origin ?? 'nowhere'} (${status}): ${otherAddress(url)}`;
}

function otherAddress(url: string): string {
	if (/\/v1(\/|$)/.test(new URL(url).pathname))
		return 'SESSION_SERVICE_URL has /v1 in it, which Handraise adds itself: leave out /v1 and what follows.';
	return "SESSION_SERVICE_URL must be the API's base address, not the dashboard's; /v1/sessions/<id> is added to it.";
}

export async function checkRateLimit({ ok, warning }: Findings, { need, service }: Setup) {
	const requestsPerMinute = need('SESSION_SERVICE_RPM');
	const { response } = await service;
	if (response.kind === 'no-response') throw notChecked('the session service does not answer');
	const limit = limitPerMinute(response.headers);
	if (limit === undefined)
		return warning(
			`the session service does not state its limit; Handraise uses SESSION_SERVICE_RPM=${requestsPerMinute}. ` +
				'Ask whether that is right.',
		);
	if (limit === requestsPerMinute)
		return ok(`${limit} requests a minute for everything behind this address, as SESSION_SERVICE_RPM says.`);
	const advice =
		limit < requestsPerMinute
			? `set it to ${limit} or less.`
			: 'unless others behind this address need the rest, raise it, and watching gets faster.';
	return warning(
		`the session service allows ${limit} requests a minute, SESSION_SERVICE_RPM is ${requestsPerMinute}: ${advice}`,
	);
}

/** Only warns: SESSION_DASHBOARD_URL is for browsers, and this machine perhaps cannot reach it. */
export async function checkDashboard({ ok, warning, okIfNone }: Findings, { need }: Setup) {
	const url = need('SESSION_DASHBOARD_URL');
	if (url === null)
		return ok('SESSION_DASHBOARD_URL is not set: Handraise shows no links to it and does not recognise pasted ones.');
	const { host, pathname } = new URL(url);
	if (/\/sessions\/session\/?$/.test(pathname))
		warning("SESSION_DASHBOARD_URL is a session's page: leave out /sessions/session, which Handraise adds.");
	const response = await request(url, { timeoutMs: 5_000 });
	if (response.kind === 'no-response') {
		warning(`${host} cannot be reached from here: ${response.why}. That is fine if people's browsers can.`);
	} else if (response.status >= 400 && ![401, 403].includes(response.status)) {
		warning(`${host} answers ${response.status} there: open it in a browser to see whether the address is right.`);
	}
	okIfNone(`${host} can be reached.`);
}
