import { createServer, type Server } from 'node:net';
import { proxySettings, type SettingsReading } from '../config.ts';
import type { Findings, Setup } from './check.ts';
import { request } from './request.ts';

const OLDEST_NODE = 24;
/** Slack's signatures are refused when clocks differ by five minutes. Ages in cards are wrong long before. */
const MAX_OFF_MS = 60_000;

export function checkNode({ ok, failure }: Findings, version: string) {
	if (Number.parseInt(version, 10) >= OLDEST_NODE) return ok(`${version}.`);
	return failure(
		`this is ${version}; Handraise needs ${OLDEST_NODE} or newer, which runs TypeScript without a build: install it.`,
	);
}

/** The problems that src/config.ts finds, and names that look like settings of Handraise but are not. */
export function checkSettings(findings: Findings, reading: Pick<SettingsReading, 'problems' | 'unknown'>) {
	for (const problem of reading.problems) findings.failure(`${problem}.`);
	for (const name of reading.unknown) {
		findings.warning(
			`${name} is not a setting of Handraise and is not read: is it misspelt? See the settings in the README.`,
		);
	}
	return findings.okIfNone('complete and well-formed.');
}

/** Only names the proxy: whether it works is found by the checks of Slack and the service. */
export function checkProxy({ all, warning, skipped }: Findings, { settings }: Pick<SettingsReading, 'settings'>) {
	const proxy = proxySettings(settings);
	if (proxy !== null) skipped(`${proxy.hosts} is used, except for hosts in NO_PROXY. The checks below go through it.`);
	if (proxy?.noProxy.includes('/'))
		warning('NO_PROXY takes no ranges such as 10.0.0.0/8: name each host, or a domain such as .example.com.');
	return all;
}

/** Whether Handraise can listen on its port, or already does. */
export async function checkPort({ ok, warning, failure }: Findings, port: number) {
	if (port === 0) return ok('PORT is 0: Handraise takes any free port.');
	const server = createServer();
	const problem = await listen(server, port);
	server.close();
	if (problem === null) return ok(`${port} is free.`);
	if (problem === 'EACCES') return failure(`${port} needs more rights than this user has: set PORT to 1024 or more.`);
	if (problem !== 'EADDRINUSE') {
		return failure(`Handraise cannot listen on ${port} (${problem}): set PORT to another port.`);
	}
	const health = await request(`http://127.0.0.1:${port}/healthz`, { timeoutMs: 3_000 });
	if (health.kind === 'no-response' || health.body !== 'ok\n') {
		return failure(`${port} is taken by another program: stop it, or set PORT to another port.`);
	}
	const ready = await request(`http://127.0.0.1:${port}/readyz`, { timeoutMs: 3_000 });
	if (ready.kind === 'response' && ready.status === 200) return ok(`Handraise is running on ${port}, and ready.`);
	const reasons = ready.kind === 'response' ? ready.body.trim().split('\n').join(', ').slice(0, 200) : ready.why;
	return warning(`Handraise is running on ${port}, but is not ready: ${reasons}. See its log.`);
}

/** Returns the error's code; null when it listens. */
export function listen(server: Server, port: number): Promise<string | null> {
	const { promise, resolve } = Promise.withResolvers<string | null>();
	server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
	server.listen(port, () => resolve(null));
	return promise;
}

/** Compares this machine's clock with the `Date` of Slack and the service. */
export async function checkClock({ ok, warning, failure, skipped }: Findings, { auth, service }: Setup) {
	const replies = await Promise.allSettled([auth, service]);
	const [slackMs, serviceMs] = replies.map((reply) =>
		reply.status === 'fulfilled' ? reply.value.response.aheadMs : null,
	);
	const isOff = (ms: number | null | undefined): ms is number => ms != null && Math.abs(ms) > MAX_OFF_MS;
	if (isOff(slackMs)) {
		const agreeing = isOff(serviceMs) ? 'Slack and the session service' : 'Slack';
		return failure(
			`this machine is ${off(slackMs)} ${agreeing}: synchronise its clock (NTP). At five minutes Slack's signed requests are refused.`,
		);
	}
	if (isOff(serviceMs)) {
		const slack = slackMs == null ? 'Slack could not be asked' : 'Slack agrees with this machine';
		return warning(
			`this machine is ${off(serviceMs)} the session service, and ${slack}: find out which clock is wrong and synchronise it (NTP).`,
		);
	}
	const against = [...(slackMs == null ? [] : ['Slack']), ...(serviceMs == null ? [] : ['the session service'])];
	if (against.length === 0) return skipped('not checked, because neither Slack nor the session service sent the time.');
	return ok(`within a minute of ${against.join(' and ')}.`);
}

function off(aheadMs: number): string {
	const seconds = Math.round(Math.abs(aheadMs) / 1000);
	const amount = seconds < 600 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
	return aheadMs > 0 ? `${amount} behind` : `${amount} ahead of`;
}
