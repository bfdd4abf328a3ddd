import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createResponseUrl } from './response-urls.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let clock: ManualClock;

beforeEach(async () => {
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
});
afterEach(() => slack.close());

const urlOf = (ts?: string) =>
	createResponseUrl(
		{ clock, origin: slack.origin, state: slack.state },
		{ channel: 'C0AGENTS', user: 'U0ADA', ...(ts === undefined ? {} : { ts }) },
	);

async function respond(url: string, body: Json): Promise<{ status: number; body: string }> {
	const headers = { 'content-type': 'application/json' };
	const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
	return { status: response.status, body: await response.text() };
}

describe('a response_url', () => {
	it('responds for one person by default, and for all when told to', async () => {
		const url = urlOf();
		expect(await respond(url, { text: 'psst' })).toEqual({ status: 200, body: 'ok' });
		await respond(url, { text: 'all', response_type: 'in_channel' });
		expect(
			slack
				.as('ada')
				.messages('#agents')
				.map((message) => message.text()),
		).toEqual(['psst', 'all']);
		expect(
			slack
				.as('grace')
				.messages('#agents')
				.map((message) => message.text()),
		).toEqual(['all']);
	});

	it('works five times, deletions and replacements too', async () => {
		const { ts } = await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'card' });
		const url = urlOf(String(ts));
		for (let use = 0; use < 3; use++) await respond(url, { text: 'x' });
		await respond(url, { text: 'newer', replace_original: true });
		await respond(url, { delete_original: true });
		expect(await respond(url, { text: 'x' })).toMatchObject({ status: 404, body: expect.stringContaining('used_url') });
	});

	it('works for thirty minutes', async () => {
		const url = urlOf();
		await clock.advance(30 * 60_000);
		expect((await respond(url, { text: 'x' })).status).toBe(200);
		await clock.advance(1);
		expect(await respond(url, { text: 'x' })).toMatchObject({
			status: 404,
			body: expect.stringContaining('expired_url'),
		});
	});

	it('treats an unknown response_url as expired', async () => {
		const answer = await respond(`${urlOf()}X`, { text: 'x' });
		expect(answer).toMatchObject({ status: 404, body: expect.stringContaining('expired_url') });
	});

	it('accepts booleans as strings too, as the documentation writes them', async () => {
		const { ts } = await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'card' });
		const url = urlOf(String(ts));
		await respond(url, { text: 'newer', replace_original: 'true' });
		expect(slack.snapshot().messages).toMatchObject([{ ts, text: 'newer' }]);
		await respond(url, { text: 'beside', replace_original: 'false' });
		expect(slack.snapshot().messages).toHaveLength(2);
		await respond(url, { delete_original: 'true' });
		expect(slack.snapshot().messages).toMatchObject([{ text: 'beside' }]);
	});

	it('refuses a body that is not JSON', async () => {
		const headers = { 'content-type': 'application/json' };
		for (const body of ['{"text":', '{"text":"\\ud83d"}']) {
			const response = await fetch(urlOf(), { method: 'POST', headers, body });
			expect([response.status, await response.text()]).toEqual([400, 'invalid_payload']);
		}
		expect(slack.snapshot().messages).toEqual([]);
	});

	it('replaces and deletes the message it came from, ephemeral ones too', async () => {
		const hidden = await callSlack(slack, 'chat.postEphemeral', { channel: 'C0AGENTS', user: 'U0ADA', text: 'card' });
		const url = urlOf(String(hidden.message_ts));
		await respond(url, { text: 'newer', replace_original: true });
		expect(
			slack
				.as('ada')
				.messages('#agents')
				.map((message) => message.text()),
		).toEqual(['newer']);
		await respond(url, { delete_original: true });
		expect(slack.as('ada').messages('#agents')).toEqual([]);
	});

	it('leaves people’s messages unchanged', async () => {
		const { ts } = await slack.as('grace').say('#agents', 'mine');
		const url = urlOf(ts);
		const replaced = await respond(url, { text: 'yours', replace_original: true });
		expect(replaced.body).toContain('cant_update_message');
		expect((await respond(url, { delete_original: true })).body).toContain('cant_delete_message');
		expect((await respond(url, { text: 'seen' })).status).toBe(200);
		const shown = slack.as('ada').messages('#agents');
		expect(shown.map((message) => message.text())).toEqual(['mine', 'seen']);
	});

	it('refuses an invalid message, and does not count that', async () => {
		const url = urlOf();
		const answer = await respond(url, { blocks: [{ type: 'section' }] });
		expect(answer.body).toContain('invalid_blocks');
		expect(slack.violations()).toHaveLength(1);
		for (let use = 0; use < 5; use++) expect((await respond(url, { text: 'x' })).status).toBe(200);
	});

	it('refuses blocks with rich text whose JSON is too long', async () => {
		const elements = [{ type: 'text', text: 'x'.repeat(12_000) }];
		const blocks = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
		expect((await respond(urlOf(), { text: 'x', blocks })).body).toContain('msg_blocks_too_long');
	});

	it('stays out of the thread unless the response names it', async () => {
		const parent = await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'parent' });
		const reply = await callSlack(slack, 'chat.postMessage', {
			channel: 'C0AGENTS',
			text: 'reply',
			thread_ts: parent.ts,
		});
		const url = urlOf(String(reply.ts));
		await respond(url, { text: 'outside' });
		await respond(url, { text: 'inside', thread_ts: parent.ts });
		const ada = slack.as('ada');
		expect(ada.messages('#agents').map((message) => message.text())).toEqual(['parent', 'outside']);
		expect(
			ada
				.messages('#agents')[0]
				?.thread()
				.map((message) => message.text()),
		).toEqual(['reply', 'inside']);
	});
});
