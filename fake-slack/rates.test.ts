import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { sampleWorkspace, withMembers } from './seed.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let clock: ManualClock;

beforeEach(async () => {
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
});
afterEach(() => slack.close());

describe('rates', () => {
	it('answers 429 beyond the tier of chat.update and continues a minute later', async () => {
		slack.settings.realRates = true;
		const posted = await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'card' });
		const update = { channel: 'C0AGENTS', ts: posted.ts, text: 'newer' };
		for (let call = 0; call < 50; call++)
			expect(await callSlack(slack, 'chat.update', update)).toMatchObject({ ok: true });
		const refused = await fetch(`${slack.apiUrl}chat.update`, {
			method: 'POST',
			body: JSON.stringify(update),
			headers: { 'content-type': 'application/json', authorization: `Bearer ${slack.tokens.bot}` },
		});
		expect(refused.status).toBe(429);
		expect(refused.headers.get('retry-after')).toBe('60');
		await clock.advance(60_000);
		expect(await callSlack(slack, 'chat.update', update)).toMatchObject({ ok: true });
	});

	it('takes five messages in a channel at once, then one a second, and says how long to wait', async () => {
		slack.settings.realRates = true;
		const post = (channel: string) =>
			fetch(`${slack.apiUrl}chat.postMessage`, {
				method: 'POST',
				body: JSON.stringify({ channel, text: 'card' }),
				headers: { 'content-type': 'application/json', authorization: `Bearer ${slack.tokens.bot}` },
			});
		for (let call = 0; call < 5; call++) expect((await post('C0AGENTS')).status).toBe(200);
		await clock.advance(2000);
		const refused = await post('C0AGENTS');
		expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3']);
		expect((await post('C0SECRET')).status).toBe(200);
		await clock.advance(3000);
		expect((await post('C0AGENTS')).status).toBe(200);
	});

	it.each([
		[20, ['users.list', 'usergroups.list', 'usergroups.users.list']],
		[50, ['chat.delete', 'conversations.info', 'conversations.open', 'conversations.history', 'conversations.replies']],
		[50, ['users.conversations']],
		[100, ['views.open', 'views.push', 'views.update', 'views.publish']],
		[100, ['users.info', 'conversations.members', 'chat.postEphemeral']],
	])('takes %i calls a minute of %j, refused ones too', async (limit, methods) => {
		slack.settings.realRates = true;
		for (const method of methods) {
			// Most of the calls at once, because one after the other takes three times as long.
			const answers = await Promise.all(Array.from({ length: limit }, () => callSlack(slack, method, {})));
			expect(answers.filter(({ error }) => error === 'ratelimited')).toEqual([]);
			expect(await callSlack(slack, method, {})).toMatchObject({ error: 'ratelimited' });
		}
	});

	it('takes several hundred messages a minute in all channels together', async () => {
		const names = Array.from({ length: 70 }, (_, at) => `p${at}`);
		await slack.close();
		const workspace = withMembers(sampleWorkspace(), 'agents', names);
		slack = await createFakeSlack({ clock, workspace, settings: { realRates: true } });
		const post = (channel: string) => callSlack(slack, 'chat.postMessage', { channel, text: 'card' });
		const people = slack.state.people.filter(({ name }) => names.includes(name));
		const answers = await Promise.all(people.flatMap(({ id }) => [1, 2, 3, 4, 5].map(() => post(id))));
		expect(answers.filter(({ ok }) => ok === true)).toHaveLength(300);
		await clock.advance(30_000);
		expect(await post('C0AGENTS')).toMatchObject({ error: 'ratelimited' });
		await clock.advance(30_000);
		expect(await post('C0AGENTS')).toMatchObject({ ok: true });
	});

	it('counts the messages of a channel under any of its names', async () => {
		slack.settings.realRates = true;
		const opened = await callSlack(slack, 'conversations.open', { users: 'U0ADA' });
		const post = (channel: unknown) => callSlack(slack, 'chat.postMessage', { channel, text: 'card' });
		for (const names of [
			['C0AGENTS', 'agents', '#agents'],
			['U0ADA', (opened.channel as Json).id],
		]) {
			for (let call = 0; call < 5; call++) expect(await post(names[call % names.length])).toMatchObject({ ok: true });
			for (const name of names) expect(await post(name)).toMatchObject({ error: 'ratelimited' });
		}
	});
});
