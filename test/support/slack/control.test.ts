import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningApp, startBoltApp } from './bolt-app.ts';
import type { Json } from './json.ts';
import { createSlackStandIn, type SlackStandIn } from './stand-in.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: SlackStandIn;
let running: RunningApp;

beforeEach(async () => {
	slack = await createSlackStandIn();
	running = await startBoltApp(slack, 'socket', (app) => {
		app.command('/demo', async ({ ack, client, body }) => {
			await ack();
			await client.views.open({ trigger_id: body.trigger_id, view: inputModal() as never });
		});
		app.view(/.*/, async ({ ack }) => ack());
	});
});
afterEach(async () => {
	await running.stop();
	await slack.close();
});

async function get(path: string): Promise<Json> {
	return (await (await fetch(`${slack.origin}/sandbox/${path}`)).json()) as Json;
}
async function send(path: string, body: Json, headers: Record<string, string> = {}): Promise<Json> {
	const init = {
		method: 'POST',
		body: JSON.stringify(body),
		headers: { 'content-type': 'application/json', ...headers },
	};
	return (await (await fetch(`${slack.origin}/sandbox/${path}`, init)).json()) as Json;
}

describe('the control API of a page', () => {
	it('does what a person does and shows what they see', async () => {
		const done = await send('act?user=ada', { do: 'command', channel: '#agents', line: '/demo demo' });
		expect(done).toEqual({ ok: true, error: null });
		const { id } = await slack.as('ada').waitForModal();
		expect(await get('seen?user=ada')).toMatchObject({ me: { name: 'ada' }, modal: { id, depth: 1, fieldErrors: {} } });
		expect(await get('seen?user=ada&window=second')).toMatchObject({ modal: null });
		expect(await send('act?user=ada', { do: 'submit' })).toEqual({ outcome: 'fieldErrors' });
		const fill = { do: 'fillInModal', viewId: id, blockId: 'answer', actionId: 'value', held: 'yes' };
		expect(await send('act?user=grace', fill)).toMatchObject({ error: 'This modal is not open any more.' });
		await send('act?user=ada', fill);
		expect(await send('act?user=ada', { do: 'submit' })).toEqual({ outcome: 'closed' });
		expect(slack.traffic.deliveries('view_submission')).toHaveLength(1);
	});

	it('shows private channels and ephemeral messages only to those they are for', async () => {
		await send('act?user=ada', { do: 'say', channel: '#secret', text: 'hidden' });
		await callSlack(slack, 'chat.postEphemeral', { channel: 'C0AGENTS', user: 'U0ADA', text: 'psst' });
		const texts = async (user: string) => ((await get(`seen?user=${user}`)).messages as Json[]).map((one) => one.text);
		expect(await texts('ada')).toEqual(['hidden', 'psst']);
		expect(await texts('grace')).toEqual([]);
	});

	it('streams changes and lists the traffic after a number', async () => {
		const response = await fetch(`${slack.origin}/sandbox/events`);
		const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
		await reader?.read();
		await send('act?user=ada', { do: 'say', channel: '#agents', text: 'hello' });
		expect((await reader?.read())?.value).toContain('event: message');
		await reader?.cancel();
		const { entries } = await get('traffic');
		const last = (entries as { seq: number }[]).at(-1)?.seq ?? 0;
		await callSlack(slack, 'auth.test', {});
		expect(await get(`traffic?after=${last}`)).toMatchObject({ entries: [{ name: 'auth.test' }], sockets: 1 });
	});

	it('makes trouble', async () => {
		await send('trouble', { do: 'fault', method: 'auth.test', error: 'fatal_error', times: 1 });
		expect(await callSlack(slack, 'auth.test', {})).toMatchObject({ error: 'fatal_error' });
		await send('trouble', { do: 'fault', method: '*', status: 429 });
		await send('trouble', { do: 'clear' });
		expect(await callSlack(slack, 'auth.test', {})).toMatchObject({ ok: true });
		expect(await send('trouble', { do: 'explode' })).toHaveProperty('error');
	});

	it('is closed to pages of other origins', async () => {
		const act = { do: 'say', channel: '#agents', text: 'hello' };
		expect(await send('act?user=ada', act, { origin: 'https://evil.test' })).toEqual({ error: 'This origin may not.' });
		expect(slack.as('ada').messages('#agents')).toEqual([]);
		expect(await send('act?user=ada', act, { origin: slack.origin })).toHaveProperty('ts');
	});
});
