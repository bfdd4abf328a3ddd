import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { startForTest } from './test-client.ts';

it('closes an idle connection', async () => {
	await using client = await startForTest({ keepAliveMs: 30 });
	const socket = connect(Number(new URL(client.service.url).port), '127.0.0.1');
	socket.write('GET /v1/sessions/none HTTP/1.1\r\nHost: x\r\n\r\n');
	const [first] = await once(socket, 'data');
	expect(String(first)).toMatch(/^HTTP\/1\.1 302 /);
	await once(socket, 'end');
	socket.destroy();
});

it('refuses connections while it is down, and has its sessions back on the same port', async () => {
	await using client = await startForTest({ resumeAfterMs: null });
	client.service.sessions.start('choices');
	await client.answer('choices', 2, ['Sand']);
	const { url } = client.service;
	await client.service.goDown();
	await expect(client.read('choices')).rejects.toThrow();
	client.service.sessions.push('choices', { role: 'assistant', content: 'Meanwhile.' });
	await client.service.comeBack();
	expect(client.service.url).toBe(url);
	const session = await client.session('choices');
	expect(session.messages?.[2]?.human_input?.[0]?.value).toBe('Sand');
	expect(session.messages?.at(-1)?.content).toBe('Meanwhile.');
});

it('listens on the loopback interface only', async () => {
	await using client = await startForTest();
	expect(new URL(client.service.url).hostname).toBe('127.0.0.1');
});

it('ends hanging requests and every script when it stops', async () => {
	const client = await startForTest({ pace: 1 });
	client.service.sessions.start('busy');
	client.service.faults.add({ kind: 'hang' });
	const arrived = new Promise<void>((resolve) => {
		client.service.hooks.onRequest = () => resolve();
	});
	const hanging = client.read('busy');
	await arrived;
	const settled = expect(hanging).rejects.toThrow();
	await client.service.stop();
	await settled;
	const steps = client.service.sessions.get('busy').messages?.length;
	expect(() => client.service.sessions.push('busy', { role: 'assistant' })).not.toThrow();
	expect(client.service.sessions.get('busy').messages?.length).toBe((steps ?? 0) + 1);
	expect(client.service.scriptErrors).toEqual([]);
	await client[Symbol.asyncDispose]();
});
