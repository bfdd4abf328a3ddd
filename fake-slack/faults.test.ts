import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let clock: ManualClock;

beforeEach(async () => {
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
});
afterEach(() => slack.close());

const post = (text = 'x') => callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text });
const texts = () =>
	slack
		.as('ada')
		.messages('#agents')
		.map((message) => message.text());

function raw(method: string): Promise<Response> {
	const headers = { authorization: `Bearer ${slack.tokens.bot}` };
	return fetch(`${slack.apiUrl}${method}`, { method: 'POST', headers });
}

describe('faults on request', () => {
	it('answers 429 with Retry-After, for a number of calls of one method', async () => {
		slack.faults.rateLimit('auth.test', { retryAfter: 7, times: 1 });
		expect(await post()).toMatchObject({ ok: true });
		const limited = await raw('auth.test');
		expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
		expect((await raw('auth.test')).status).toBe(200);
	});

	it('answers something else, for the calls that the fault selects', async () => {
		slack.faults.add({ method: 'users.info', answer: { user: {} }, when: ({ user }) => user === 'U0ADA' });
		expect(await callSlack(slack, 'users.info', { user: 'U0ADA' })).toEqual({ ok: true, user: {} });
		expect(await callSlack(slack, 'users.info', { user: 'U0GUS' })).toMatchObject({ user: { id: 'U0GUS' } });
	});

	it('delays a call by the clock', async () => {
		slack.faults.add({ method: 'auth.test', delayMs: 1000, times: 1 });
		const states: string[] = [];
		const called = raw('auth.test').then(() => states.push('answered'));
		await slack.changes.until(
			() => slack.traffic.calls('auth.test').length === 1,
			() => 'The call has not come.',
		);
		expect((await raw('auth.test')).status).toBe(200);
		expect(states).toEqual([]);
		await clock.advance(1000);
		await called;
	});

	it('ends a fault at its time, or when it is lifted', async () => {
		slack.faults.rateLimit('auth.test', { untilMs: clock.now() + 1000 });
		expect((await raw('auth.test')).status).toBe(429);
		await clock.advance(1000);
		expect((await raw('auth.test')).status).toBe(200);
		const lift = slack.faults.add({ method: '*', status: 503 });
		expect((await raw('auth.test')).status).toBe(503);
		lift();
		expect((await raw('auth.test')).status).toBe(200);
	});

	it('applies a fault before or after the effect', async () => {
		slack.faults.add({ method: 'chat.postMessage', error: 'internal_error', times: 1 });
		expect(await post('lost')).toMatchObject({ error: 'internal_error' });
		slack.faults.add({ method: 'chat.postMessage', error: 'internal_error', times: 1, afterEffect: true });
		expect(await post('there')).toMatchObject({ error: 'internal_error' });
		expect(texts()).toEqual(['there']);
	});

	it('cuts the connection', async () => {
		slack.faults.add({ method: 'chat.postMessage', drop: true, times: 1 });
		await expect(post('lost')).rejects.toThrow('fetch failed');
		slack.faults.add({ method: 'chat.postMessage', drop: true, times: 1, afterEffect: true });
		await expect(post('there')).rejects.toThrow('fetch failed');
		expect(texts()).toEqual(['there']);
	});

	it('holds a call until it is released', async () => {
		const release = slack.faults.hold('chat.postMessage');
		const held = post('held');
		await slack.changes.until(
			() => slack.traffic.calls('chat.postMessage').length === 1,
			() => 'The call has not come.',
		);
		expect(texts()).toEqual([]);
		release();
		expect(await held).toMatchObject({ ok: true });
		expect(texts()).toEqual(['held']);
	});
});

describe('the traffic log', () => {
	it('logs each call with its response and the result of the validation', async () => {
		await post('hello');
		await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'x', blocks: [{ type: 'nothing' }] });
		const [good, bad] = slack.traffic.calls('chat.postMessage');
		expect(good).toMatchObject({ status: 200, problems: [], answer: { ok: true }, request: { text: 'hello' } });
		expect(good?.tookMs).toBeGreaterThan(0);
		expect(bad?.problems[0]).toContain('[json-pointer:/blocks/0');
		expect(slack.violations()).toMatchObject([{ where: 'chat.postMessage' }]);
		slack.traffic.clear();
		expect([slack.traffic.all(), slack.violations()]).toEqual([[], []]);
	});

	it('keeps no more traffic entries than the limit', async () => {
		const small = await createFakeSlack({ trafficLimit: 10 });
		for (let call = 0; call < 30; call++) await callSlack(small, 'auth.test', {});
		expect(small.traffic.all().length).toBeLessThanOrEqual(12);
		expect(small.traffic.all().at(-1)?.seq).toBe(30);
		await small.close();
	});
});

describe('the state', () => {
	it('restores the state from plain data', async () => {
		await post('hello');
		const kept = JSON.parse(JSON.stringify(slack.snapshot())) as ReturnType<FakeSlack['snapshot']>;
		const other = await createFakeSlack({ state: kept });
		await callSlack(other, 'chat.postMessage', { channel: 'C0AGENTS', text: 'again' });
		expect(
			other
				.as('ada')
				.messages('#agents')
				.map((message) => message.text()),
		).toEqual(['hello', 'again']);
		expect(texts()).toEqual(['hello']);
		other.restore(kept);
		expect(
			other
				.as('ada')
				.messages('#agents')
				.map((message) => message.text()),
		).toEqual(['hello']);
		await other.close();
	});
});

describe('waiting', () => {
	it('says what was there instead when a wait fails', async () => {
		await post('something else');
		await expect(slack.as('ada').waitForMessage('#agents', 'the answer', 20)).rejects.toThrow('something else');
		await expect(slack.as('ada').waitForModal('Question', 20)).rejects.toThrow('no modal');
	});
});
