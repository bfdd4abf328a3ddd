import { expect, it, onTestFinished } from 'vitest';
import { createConnectProxy } from '../../support/connect-proxy.ts';
import { createHarness, type Env, nobody } from './harness.ts';

// Slack and the session service have host names that only the proxy knows. The settings of a process are its proxy's.
const SLACK = 'slack.test';
const SERVICE = 'sessions.test';

/** A set-up in order behind a proxy, and the doctor's report about it. */
async function behindProxy() {
	const proxy = await createConnectProxy();
	const harness = await createHarness({ hostname: SLACK });
	onTestFinished(async () => {
		await harness[Symbol.asyncDispose]();
		await proxy[Symbol.asyncDispose]();
	});
	const serviceUrl = new URL(harness.service.url);
	serviceUrl.hostname = SERVICE;
	const env = { HTTP_PROXY: proxy.url, SESSION_SERVICE_URL: serviceUrl.origin };
	return { proxy, doctor: (changed: Env = {}) => harness.doctorProcess({ ...env, ...changed }) };
}

it('asks Slack and the session service through the proxy, and warns of a range', async () => {
	const { proxy, doctor } = await behindProxy();
	const { lines, exit } = await doctor({ NO_PROXY: '10.0.0.0/8' });
	expect(lines).toContainEqual(expect.stringMatching(/^✓ Session service: /));
	expect(proxy.hosts()).toEqual(new Set([SLACK, SERVICE]));
	expect(lines).toContainEqual(expect.stringMatching(/^! Proxy: NO_PROXY takes no ranges /));
	expect(exit).toBe(0);
});

it('says that the proxy refuses to connect', async () => {
	const { proxy, doctor } = await behindProxy();
	proxy.refuse(403);
	const { lines, exit } = await doctor();
	expect(lines).toContainEqual(
		expect.stringMatching(
			/^✗ Bot token: .*slack\.test:\d+: the proxy refuses the connection \(403\): see HTTPS_PROXY and NO_PROXY/,
		),
	);
	expect(lines).toContainEqual(expect.stringMatching(/^✗ Session service: sessions\.test.* refuses the connection/));
	expect(exit).toBe(1);
});

it('names the proxy without its password when nothing listens there', async () => {
	const { doctor } = await behindProxy();
	const { host } = new URL(await nobody());
	const { lines, exit } = await doctor({ HTTP_PROXY: `http://user:canary-of-the-proxy@${host}` });
	expect(lines).toContain(`- Proxy: ${host} is used, except for hosts in NO_PROXY. The checks below go through it.`);
	expect(lines).toContainEqual(expect.stringMatching(/^✗ Bot token: .* nothing listens at that host and port/));
	expect(lines.find((line) => line.startsWith('✗ Bot token'))).toContain(`(${host})`);
	expect(exit).toBe(1);
});

it('reaches a host that NO_PROXY names without the proxy', async () => {
	const { proxy, doctor } = await behindProxy();
	const { lines } = await doctor({ no_proxy: SERVICE, NO_PROXY: SLACK });
	expect(lines).toContainEqual(expect.stringMatching(/^✗ Session service: sessions\.test.* (host name|DNS)/));
	expect(proxy.hosts()).toEqual(new Set([SLACK]));
});
