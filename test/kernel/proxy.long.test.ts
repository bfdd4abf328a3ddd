import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type ConnectProxy, createConnectProxy } from '../support/connect-proxy.ts';
import { startProgram } from '../support/program.ts';
import { DELIVERED, whatHappened } from '../support/sentences.ts';
import { createWorld, type World } from '../support/world.ts';

// The program as a process. Slack and the session service have host names that only the proxy knows.
const SLACK = 'slack.test';
const SERVICE = 'sessions.test';

let proxy: ConnectProxy;
let world: World;
let slack: World['slack'];
let program: ReturnType<typeof startProgram>;
beforeAll(async () => {
	proxy = await createConnectProxy();
	world = await createWorld({ hostname: SLACK }, { resumeAfterMs: 50, pace: 0.02 });
	({ slack } = world);
	const serviceUrl = new URL(world.service.url);
	serviceUrl.hostname = SERVICE;
	proxy.refuse(503);
	program = startProgram({
		...world.env,
		SESSION_SERVICE_URL: serviceUrl.origin,
		http_proxy: proxy.url,
		HTTP_PROXY: 'http://not-used.test',
	});
});
afterEach(() => proxy.accept());
afterAll(async () => {
	program.child.kill('SIGKILL');
	await proxy[Symbol.asyncDispose]();
	await world[Symbol.asyncDispose]();
});

const ada = () => slack.as('ada');
async function open(id: string) {
	await ada().command('#agents', `/session ${id}`);
	return ada().waitForModal((modal) => !modal.text().includes('Looking at session'));
}

it('starts when the proxy lets it through, and repeats until then', async () => {
	await program.says('Slack cannot be reached yet');
	expect(slack.traffic.all()).toEqual([]);
	proxy.accept();
	await program.says('Handraise is ready');
	await slack.connected(2);
});

it('delivers an answer through the proxy, and replies to a response_url', async () => {
	const modal = await open('yesno');
	await modal.choose(0, 'Yes');
	await modal.submit();
	await ada().waitForModal(DELIVERED);
	await ada().modal()?.close(true);
	expect(world.service.log.savedPuts('yesno')).toHaveLength(1);
	await ada().command('#agents', '/session help');
	await slack.changes.until(
		() => slack.traffic.all().some(({ direction }) => direction === 'response_url'),
		() => 'Nothing came to a response_url.',
	);
	expect(proxy.hosts()).toEqual(new Set([SLACK, SERVICE]));
});

it('says what it says of other outages when the proxy refuses the session service', async () => {
	proxy.refuse(403, SERVICE);
	const modal = await open('choices');
	expect(modal.text()).toContain(whatHappened('unavailable'));
	await modal.close(true);
	proxy.accept();
	expect((await open('choices')).submitText()).toBe('Send answer');
	await ada().modal()?.close(true);
});

// The library sends a ping every 5 s, and closes at the second one without a pong.
it('closes stalled sockets and opens others', { timeout: 60_000 }, async () => {
	await slack.connected(2);
	const opened = slack.traffic.calls('apps.connections.open').length;
	proxy.stall();
	await vi.waitFor(() => expect(proxy.stalledCount()).toBe(0), { timeout: 45_000, interval: 50 });
	await slack.changes.until(
		() => slack.traffic.calls('apps.connections.open').length === opened + 2 && slack.sockets.count() === 2,
		() => `It has ${slack.sockets.count()} connections.`,
	);
	expect((await open('choices')).submitText()).toBe('Send answer');
});

it("logs that it uses a proxy, and never the proxy's password", async () => {
	program.child.kill('SIGTERM');
	const { code, stdout, stderr } = await program.closed;
	expect([code, stderr]).toEqual([0, '']);
	expect(stdout).toContain('"proxy":"127.0.0.1:');
	expect(stdout).not.toContain(proxy.password);
	expect(stdout).not.toContain(Buffer.from(proxy.password).toString('base64').slice(3, -3));
});
