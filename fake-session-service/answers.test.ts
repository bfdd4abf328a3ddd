import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import { askingSession, item } from './builders.ts';
import { itemsOf } from './log.ts';
import { BODY_LIMIT_BYTES } from './operations.ts';
import { startForTest } from './test-client.ts';

const waiting = askingSession([item('A', 'first'), 'A']);

it('replaces the whole array with an answer, and usually replies without updatedMessage', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', waiting);
	const reply = await client.put('s1', {
		sessionId: 's1',
		messageIndex: 1,
		humanInputResponse: [{ title: 'A', description: 'first', value: 'one' }],
	});
	expect([reply.status, reply.json]).toEqual([200, { message: 'Updated successfully' }]);
	expect(client.service.sessions.get('s1').messages?.[1]?.human_input).toEqual([
		{ title: 'A', description: 'first', value: 'one' },
	]);
});

it('replies with the updated message on request', async () => {
	await using client = await startForTest({ echoMessage: true });
	client.service.sessions.put('s1', waiting);
	const reply = await client.answer('s1', 1, ['one', 'two']);
	expect(reply.json.updatedMessage).toMatchObject({
		role: 'assistant',
		human_input: [{ value: 'one' }, { value: 'two' }],
	});
});

it('lets the last of two answers that do not overlap win silently, and logs who changed what', async () => {
	await using client = await startForTest({ resumeAfterMs: null });
	client.service.sessions.put('s1', waiting);
	await client.answer('s1', 1, ['one', 'two']);
	await client.answer('s1', 1, ['one', 'two']);
	await client.answer('s1', 1, ['three', 'two']);
	const { log, sessions } = client.service;
	expect(sessions.values('s1', 1)).toEqual(['three', 'two']);
	expect(log.savedPuts('s1', 1)).toHaveLength(3);
	expect(log.effectivePuts('s1', 1).map((entry) => itemsOf(entry)[0]?.value)).toEqual(['one', 'three']);
	expect(log.effectivePuts('s1', 1).map((entry) => entry.previous?.[0]?.value)).toEqual(['', 'one']);
	expect(log.effectivePuts('s1', 0)).toEqual([]);
});

it('refuses the later of two answers that overlap, in the words of every failure, and does not save it', async () => {
	await using client = await startForTest({ resumeAfterMs: null });
	const { hooks, log, sessions } = client.service;
	sessions.put('s1', waiting);
	hooks.onLoaded = async () => {
		delete hooks.onLoaded;
		expect((await client.answer('s1', 1, ['first', 'saved'])).status).toBe(200);
	};
	const later = await client.answer('s1', 1, ['begun before', 'saved after']);
	expect([later.status, later.json]).toEqual([500, { error: 'Failed to update human input' }]);
	expect(sessions.values('s1', 1)).toEqual(['first', 'saved']);
	// Agents write to the database themselves.
	hooks.onLoaded = () => void sessions.push('s1', { role: 'assistant', content: 'A step.' });
	expect((await client.answer('s1', 1, ['one', 'two'])).status).toBe(200);
	expect(log.savedPuts('s1')).toHaveLength(2);
});

it('saves an answer to a session of another account', async () => {
	await using client = await startForTest({ resumeAfterMs: null });
	client.service.sessions.put('theirs', waiting, { foreign: true });
	expect((await client.answer('theirs', 1, ['one', 'two'])).json).toEqual({ message: 'Updated successfully' });
	expect(client.service.sessions.values('theirs', 1)).toEqual(['one', 'two']);
	expect((await client.put('nowhere', {})).json).toEqual({ error: 'Session not found' });
});

it('drops every field of an item but title, description and value', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', waiting);
	const more = { title: 'A', description: 'first', value: 'one', choices: ['one', 'two'] };
	await client.put('s1', { sessionId: 's1', messageIndex: 1, humanInputResponse: [more] });
	expect(client.service.sessions.get('s1').messages?.[1]?.human_input?.[0]).not.toHaveProperty('choices');
});

it('answers 500 in JSON and saves nothing for an index out of range, no number or no array', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', waiting);
	for (const body of [
		{ messageIndex: 2, humanInputResponse: [] },
		{ messageIndex: -1, humanInputResponse: [] },
		{ messageIndex: '1', humanInputResponse: [] },
		{ messageIndex: 1, humanInputResponse: 'x' },
		{ messageIndex: 1, humanInputResponse: [null] },
		{},
	]) {
		const reply = await client.put('s1', body);
		expect([reply.status, reply.json]).toEqual([500, { error: 'Failed to update human input' }]);
	}
	expect(client.service.log.savedPuts()).toEqual([]);
});

it('takes 100 kB, and answers 500 in plain words and saves nothing for one byte more or for no JSON', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', waiting);
	const fill = (length: number) => {
		const empty = { sessionId: 's1', messageIndex: 1, humanInputResponse: [{ title: '', description: '', value: '' }] };
		const value = 'x'.repeat(length - JSON.stringify(empty).length);
		return { ...empty, humanInputResponse: [{ title: '', description: '', value }] };
	};
	const over = await client.put('s1', fill(BODY_LIMIT_BYTES + 1));
	expect([over.status, over.text]).toEqual([500, 'Something went wrong!']);
	expect(client.service.log.savedPuts()).toEqual([]);
	expect((await client.put('s1', fill(BODY_LIMIT_BYTES))).status).toBe(200);
	const malformed = await client.send('PUT', '/v1/sessions/s1/update-human-input', {
		headers: { 'x-api-key': client.service.apiKey, 'content-type': 'application/json' },
		body: '{"messageIndex":1,',
	});
	expect([malformed.status, malformed.text]).toEqual([500, 'Something went wrong!']);
	expect(client.service.log.savedPuts()).toHaveLength(1);
});

it('logs a PUT without a JSON content type, which would have ended the process, and drops the connection', async () => {
	await using client = await startForTest();
	client.service.sessions.put('s1', waiting);
	const sent = client.send('PUT', '/v1/sessions/s1/update-human-input', {
		headers: { 'x-api-key': client.service.apiKey, 'content-type': 'text/plain' },
		body: '{}',
	});
	await expect(sent).rejects.toThrow();
	expect(client.service.log.processEnders()).toHaveLength(1);
	expect(client.service.log.puts('s1')[0]).toMatchObject({ status: null, savedAt: null });
});

it('makes a waiting session active a moment after an answer, unless nothing was filled in', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock, resumeAfterMs: 800 });
	client.service.sessions.put('s1', waiting);
	await client.answer('s1', 1, ['', '']);
	await clock.advance(5000);
	expect(client.service.sessions.get('s1').status).toBe('humanInput');
	await client.answer('s1', 1, ['one', '']);
	await clock.advance(799);
	expect(client.service.sessions.get('s1').status).toBe('humanInput');
	await clock.advance(1);
	expect(client.service.sessions.get('s1').status).toBe('active');
});

it('makes an inactive session active after an answer, and leaves a paused one paused', async () => {
	await using client = await startForTest({ resumeAfterMs: 0 });
	client.service.sessions.put('sleeping', { ...waiting, status: 'inactive' });
	client.service.sessions.put('held', { ...waiting, status: 'paused' });
	await client.answer('sleeping', 1, ['one', 'two']);
	await client.answer('held', 1, ['one', 'two']);
	expect(client.service.sessions.get('sleeping').status).toBe('active');
	expect(client.service.sessions.get('held').status).toBe('paused');
});

it.each(['humanInput', 'inactive', 'active'])(
	'saves an answer and fails each time while the machine is stopped, with the status %s',
	async (status) => {
		await using client = await startForTest({ resumeAfterMs: 0 });
		client.service.sessions.put('s1', { ...waiting, status, podStatus: 'stopped' });
		for (let n = 0; n < 2; n++) {
			const reply = await client.answer('s1', 1, ['one', 'two']);
			expect([reply.status, reply.json]).toEqual([500, { error: 'Failed to update human input' }]);
		}
		expect(client.service.sessions.values('s1', 1)).toEqual(['one', 'two']);
		expect(client.service.log.savedPuts('s1')).toHaveLength(2);
		expect(client.service.sessions.get('s1').status).toBe(status);
	},
);

it.each(['completed', 'failed', 'stopped'])(
	'an answer to a %s session is stored and read by nobody',
	async (status) => {
		await using client = await startForTest({ resumeAfterMs: 0 });
		client.service.sessions.put('s1', { ...waiting, status });
		expect((await client.answer('s1', 1, ['one', 'two'])).status).toBe(200);
		expect(client.service.sessions.get('s1').status).toBe(status);
		expect(client.service.log.effectivePuts('s1', 1)[0]?.sessionStatus).toBe(status);
	},
);

it('accepts nothing more in the web page once any item has a value, and sends empty items as ""', async () => {
	await using client = await startForTest({ resumeAfterMs: null });
	const { sessions, log } = client.service;
	sessions.put('s1', waiting);
	expect(sessions.answerAsPage('s1', ['one'])).toEqual({ ok: true, messageIndex: 1 });
	expect(sessions.values('s1', 1)).toEqual(['one', '']);
	expect(sessions.answerAsPage('s1', ['', 'two'])).toEqual({ ok: false, reason: 'already answered' });
	sessions.put('s2', { ...waiting, status: 'stopped' });
	expect(sessions.answerAsPage('s2', ['one'])).toEqual({ ok: false, reason: 'ended' });
	sessions.put('s3', { status: 'active', messages: [] });
	expect(sessions.answerAsPage('s3', ['one'])).toEqual({ ok: false, reason: 'nothing asked' });
	expect(log.list({ kind: 'page' })).toHaveLength(1);
	expect(log.effectivePuts('s1')).toEqual([]);
});

it.each([
	[0, true],
	[false, true],
	['0', false],
	[5, false],
	[{}, false],
])('takes an item with the value %j for open in the web page: %j', async (value, isOpen) => {
	await using client = await startForTest({ resumeAfterMs: null });
	const { sessions } = client.service;
	sessions.put('s1', { status: 'humanInput', messages: [{ role: 'assistant', human_input: [{ title: 'A', value }] }] });
	expect(sessions.answerAsPage('s1', ['one']).ok).toBe(isOpen);
});
