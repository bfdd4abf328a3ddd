import { expect, it } from 'vitest';
import { createManualClock } from '../fake-slack/index.ts';
import { CANARIES } from './canaries.ts';
import { BODY_LIMIT_BYTES } from './operations.ts';
import { SCENARIOS } from './scenarios/index.ts';
import { startForTest } from './test-client.ts';

it('asks in demo, goes on when answered, asks again, and completes with a file and a newer screenshot', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	const first = await client.session('demo');
	expect(first.status).toBe('humanInput');
	expect(first.messages?.[3]?.human_input).toHaveLength(1);
	await client.answer('demo', 3, ['TP 570']);
	await clock.advance(800);
	expect((await client.session('demo')).status).toBe('active');
	await clock.advance(2000);
	expect((await client.session('demo')).messages?.at(-1)?.content).toContain('“TP 570”');
	await clock.advance(6000);
	const second = await client.session('demo');
	expect(second.status).toBe('humanInput');
	const asked = client.service.sessions.askingIndex('demo');
	expect(asked).toBe(6);
	await client.answer('demo', asked, ['No']);
	await clock.advance(20_000);
	const last = await client.session('demo');
	expect(last.status).toBe('completed');
	expect(last.endTime).toBeTypeOf('string');
	expect(JSON.stringify(last.messages?.at(-1)?.agent_data)).toContain('TP 570');
	expect(last.files?.map((file) => file.filename)).toEqual(['itinerary.txt']);
	expect((await client.send('GET', String(last.files?.[0]?.signedUrl))).text).toContain('Checked bag: No');
	expect(last.lastScreenshotUrl).not.toBe(first.lastScreenshotUrl);
});

it.each(SCENARIOS.map((scenario) => [scenario.id, scenario] as const))(
	'the scenario %s starts when it is first read, and is valid JSON',
	async (id) => {
		await using client = await startForTest({ clock: createManualClock() });
		const reply = await client.read(id);
		expect(reply.status).toBe(200);
		expect(reply.json.session.sessionId).toBe(id);
		expect(client.service.scriptErrors).toEqual([]);
	},
);

it.each(SCENARIOS.map((scenario) => scenario.id))(
	'the agent of %s comes to its end when all it asks is answered',
	async (id) => {
		const clock = createManualClock();
		await using client = await startForTest({ clock, resumeAfterMs: 0 });
		const { sessions } = client.service;
		sessions.start(id);
		for (let round = 0; round < 6; round++) {
			const asked = sessions.askingIndex(id);
			if (asked >= 0) sessions.answerAsPage(id, ['an answer', 'another', 'third']);
			if (sessions.get(id).status === 'paused') sessions.setStatus(id, 'active');
			await clock.advance(3_600_000);
		}
		expect(clock.sleeping).toBe(0);
		expect(client.service.scriptErrors).toEqual([]);
	},
);

it('has distinct scenario ids that people can type', () => {
	const ids = SCENARIOS.map((scenario) => scenario.id);
	expect(new Set(ids).size).toBe(ids.length);
	expect(ids.filter((id) => !/^[a-z]+$/.test(id))).toEqual([]);
});

it('plays a scenario under several ids at once, and starts it from its beginning again', async () => {
	await using client = await startForTest({ resumeAfterMs: 0, pace: 0 });
	const { sessions } = client.service;
	sessions.start('yesno', '3f9a2c1d');
	sessions.start('yesno', 'b0b0b0b0');
	await client.answer('3f9a2c1d', 2, ['yes']);
	await sessions.until('3f9a2c1d', (json) => json.status === 'completed');
	expect(sessions.get('b0b0b0b0').status).toBe('humanInput');
	sessions.start('yesno', '3f9a2c1d');
	expect(sessions.get('3f9a2c1d')).toMatchObject({ status: 'humanInput' });
	expect(() => sessions.start('nothing')).toThrow('no scenario nothing');
});

it('lets somebody else answer through the web page after eight seconds', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	const index = (await client.session('elsewhere')).messages?.length ?? 0;
	await clock.advance(7999);
	expect(client.service.sessions.values('elsewhere', index - 1)).toEqual(['']);
	await clock.advance(1);
	expect(client.service.sessions.values('elsewhere', index - 1)).toEqual(['Wednesday']);
});

it('changes the question of changing in place', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	const before = await client.read('changing');
	await clock.advance(8000);
	const after = await client.read('changing', { 'if-none-match': String(before.headers.etag) });
	expect(after.json.session.messages).toHaveLength(before.json.session.messages.length);
	expect(after.json.session.messages.at(-1).human_input).toHaveLength(2);
});

it('puts back what overwrites read before the first answer, without a read that shows active, and takes the second', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	await client.session('overwrites');
	const statuses = new Set<unknown>();
	const { sessions } = client.service;
	await client.answer('overwrites', 1, ['Alpha']);
	for (let tenths = 0; tenths < 20; tenths++) {
		await clock.advance(100);
		statuses.add((await client.session('overwrites')).status);
	}
	expect([...statuses]).toEqual(['humanInput']);
	expect(sessions.values('overwrites', 1)).toEqual(['']);
	const kept = sessions.snapshot();
	// After a restart it still takes the second.
	sessions.restore(kept);
	await client.answer('overwrites', 1, ['Beta']);
	await clock.advance(60_000);
	expect(sessions.get('overwrites').messages?.at(-1)?.agent_data).toMatchObject({
		action: [{ done: { text: 'Insured with Beta.' } }],
	});
});

it('lets workson wait again for the same question, also after a restart, unless it was answered meanwhile', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	await client.session('workson');
	const { sessions } = client.service;
	await clock.advance(60_000);
	expect(sessions.get('workson')).toMatchObject({ status: 'active' });
	expect(sessions.get('workson').messages).toHaveLength(6);
	sessions.restore(sessions.snapshot());
	await clock.advance(180_000);
	expect(sessions.get('workson')).toMatchObject({ status: 'humanInput' });
	expect(sessions.askingIndex('workson')).toBe(1);
	sessions.start('workson');
	await clock.advance(60_000);
	await client.answer('workson', 1, ['Boathouse']);
	await clock.advance(180_000);
	expect(sessions.get('workson')).toMatchObject({ status: 'completed' });
});

it('lets empties take an answer out of its field, and neverwaits step on, both with the status active', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	const { sessions } = client.service;
	for (const id of ['empties', 'neverwaits']) await client.session(id);
	await client.answer('empties', 1, ['Buffet']);
	await clock.advance(62_000);
	expect(sessions.values('empties', 1)).toEqual(['']);
	expect(sessions.get('empties').messages).toHaveLength(3);
	expect(sessions.get('neverwaits').messages).toHaveLength(6);
	for (const id of ['empties', 'neverwaits']) expect(sessions.get(id).status).toBe('active');
});

it('reads the answer of a paused session when it is resumed', async () => {
	await using client = await startForTest({ clock: createManualClock(), resumeAfterMs: 0, pace: 0 });
	const { sessions } = client.service;
	sessions.start('paused');
	await client.answer('paused', 1, ['Formal']);
	expect(sessions.get('paused').messages).toHaveLength(2);
	sessions.setStatus('paused', 'active');
	await sessions.until('paused', (json) => json.status === 'completed');
	expect(sessions.get('paused').messages?.[2]?.content).toContain('Formal');
});

it('does nothing while a session is paused, and nothing after it was stopped', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	const { sessions } = client.service;
	sessions.start('busy');
	const steps = () => sessions.get('busy').messages?.length;
	await clock.advance(3000);
	expect(steps()).toBe(3);
	sessions.setStatus('busy', 'paused');
	await clock.advance(60_000);
	expect(steps()).toBe(3);
	sessions.setStatus('busy', 'active');
	await clock.advance(3000);
	expect(steps()).toBe(5);
	sessions.setStatus('busy', 'stopped');
	await clock.advance(60_000);
	expect(steps()).toBe(5);
	expect(client.service.scriptErrors).toEqual([]);
});

it('leaves an agent in place that is told never to resume', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock, resumeAfterMs: null });
	client.service.sessions.start('yesno');
	await client.answer('yesno', 2, ['yes']);
	await clock.advance(3_600_000);
	expect(client.service.sessions.get('yesno').status).toBe('humanInput');
});

it('never repeats the code in the agent’s messages', async () => {
	await using client = await startForTest({ resumeAfterMs: 0, pace: 0 });
	const { sessions } = client.service;
	sessions.start('code');
	await client.answer('code', 2, ['481516']);
	await sessions.until('code', (json) => json.status === 'completed');
	const others = sessions.get('code').messages?.filter((_, index) => index !== 2);
	expect(JSON.stringify(others)).not.toContain('481516');
});

it('has the documented sizes: 300 steps, 40 and 95 items, descriptions over the body limit', async () => {
	await using client = await startForTest({ clock: createManualClock() });
	expect((await client.session('report')).messages?.filter((one) => one.role === 'assistant')).toHaveLength(301);
	expect((await client.session('forty')).messages?.at(-1)?.human_input).toHaveLength(40);
	expect((await client.session('ninetyfive')).messages?.at(-1)?.human_input).toHaveLength(95);
	await client.session('toolong');
	const reply = await client.answer('toolong', 2, ['yes', 'no']);
	expect([reply.status, reply.text]).toEqual([500, 'Something went wrong!']);
	const sent = client.service.sessions.get('toolong').messages?.[2]?.human_input;
	expect(sent?.map((one) => one.description?.length ?? 0).reduce((sum, n) => sum + n)).toBeGreaterThan(
		BODY_LIMIT_BYTES,
	);
});

it('begins each session that goes on when it is put there, so that none takes months', async () => {
	const clock = createManualClock();
	await using client = await startForTest({ clock });
	for (const { id, play } of SCENARIOS) {
		const { startTime, endTime } = await client.session(id);
		if (typeof startTime !== 'string' || (play === undefined && typeof endTime === 'string')) continue;
		expect(clock.now() - Date.parse(startTime), id).toBeLessThan(60_000);
	}
});

it('puts a canary in the variables of scenarios', async () => {
	await using client = await startForTest({ clock: createManualClock() });
	expect((await client.session('demo')).sessionVariables?.[0]?.value).toBe(CANARIES.variable);
});

it('plays a test’s own script, and keeps what it throws for the test', async () => {
	await using client = await startForTest({ resumeAfterMs: 0 });
	const { sessions, scriptErrors } = client.service;
	sessions.run('own', {
		id: 'own',
		summary: '',
		seed: { status: 'active', messages: [] },
		async play(agent) {
			const [value] = await agent.ask('Well?', [{ title: '', description: '', value: '' }]);
			throw new Error(`I got ${value}`);
		},
	});
	await client.answer('own', 0, ['this']);
	await expect.poll(() => scriptErrors.map(String), { interval: 5 }).toEqual(['Error: I got this']);
});
