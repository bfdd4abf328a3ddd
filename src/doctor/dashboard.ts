import { ask } from './ask.ts';
import { type Finding, findingsOf } from './finding.ts';

/** SESSION_DASHBOARD_URL is for people's browsers: that this machine cannot reach it proves nothing. */
export async function checkDashboard(url: string | undefined): Promise<Finding[]> {
	const { ok, warning } = findingsOf('Dashboard');
	if (url === undefined)
		return [ok('SESSION_DASHBOARD_URL is not set: no links to it, and pasted links are not understood.')];
	const { host, pathname } = new URL(url);
	const found: Finding[] = [];
	if (/\/sessions\/session\/?$/.test(pathname)) {
		found.push(
			warning("SESSION_DASHBOARD_URL is a session's page: leave out /sessions/session, which Handraise adds."),
		);
	}
	const answer = await ask(url, { timeoutMs: 5_000 });
	if (answer.kind === 'no-answer') {
		found.push(warning(`${host} cannot be reached from here: ${answer.why}. That is fine if people's browsers can.`));
	} else if (answer.status >= 400 && answer.status !== 401 && answer.status !== 403) {
		found.push(
			warning(
				`${host} answers ${answer.status} there: open SESSION_DASHBOARD_URL in a browser to see whether it is right.`,
			),
		);
	}
	return found.length > 0 ? found : [ok(`${host} can be reached.`)];
}
