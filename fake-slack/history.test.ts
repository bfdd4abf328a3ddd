import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock } from './manual-clock.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;

beforeEach(async () => {
	slack = await createFakeSlack({ clock: createManualClock() });
});
afterEach(() => slack.close());

const post = (args: Json) => callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', ...args });

describe('history', () => {
	it('shows metadata only when asked for, newest first, and never ephemeral messages', async () => {
		const metadata = { event_type: 'card', event_payload: { key: '1' } };
		const parent = await post({ text: 'one', metadata });
		await post({ text: 'two' });
		await callSlack(slack, 'chat.postEphemeral', { channel: 'C0AGENTS', user: 'U0ADA', text: 'psst' });
		const bare = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS' });
		expect((bare.messages as Json[]).map((message) => message.text)).toEqual(['two', 'one']);
		expect(JSON.stringify(bare)).not.toContain('event_payload');
		const args = { channel: 'C0AGENTS', include_all_metadata: true, oldest: parent.ts, inclusive: true };
		const full = await callSlack(slack, 'conversations.history', args);
		expect((full.messages as Json[])[1]).toMatchObject({ text: 'one', metadata });
	});

	it.each([
		['oldest', 'yesterday', 'invalid_ts_oldest'],
		['oldest', '0000000000.000000', 'invalid_ts_oldest'],
		['latest', '-1', 'invalid_ts_latest'],
		['latest', '1767603600.1234567', 'invalid_ts_latest'],
	])('is refused with %s %s', async (name, time, error) => {
		const answer = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', [name]: time });
		expect(answer).toMatchObject({ error });
	});

	it('begins after a time and ends before one, and includes both when inclusive', async () => {
		const sent: unknown[] = [];
		for (const text of ['one', 'two', 'three']) sent.push((await post({ text })).ts);
		const [oldest, , latest] = sent;
		const read = async (extra: Json) => {
			const answer = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', ...extra });
			return (answer.messages as Json[]).map((message) => message.text);
		};
		expect(await read({ oldest: 0 })).toEqual(['three', 'two', 'one']);
		expect(await read({ oldest, latest })).toEqual(['two']);
		expect(await read({ oldest, latest, inclusive: true })).toEqual(['three', 'two', 'one']);
	});

	it('leaves replies to their threads, unless they are shown in the channel too', async () => {
		const { ts } = await post({ text: 'parent' });
		await post({ text: 'reply', thread_ts: ts });
		await post({ text: 'for all', thread_ts: ts, reply_broadcast: true });
		const answer = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS' });
		expect((answer.messages as Json[]).map((message) => message.text)).toEqual(['for all', 'parent']);
	});

	it('puts no more messages on a page than the app may have, however many it requests', async () => {
		slack.settings.historyPageSize = 2;
		for (const text of ['one', 'two', 'three']) await post({ text });
		const answer = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', limit: 100 });
		expect(answer).toMatchObject({ messages: [{ text: 'three' }, { text: 'two' }], has_more: true });
	});

	it('refuses a cursor of another list', async () => {
		for (const text of ['one', 'two', 'three']) await post({ text });
		const first = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', limit: 1 });
		const { next_cursor: cursor } = first.response_metadata as { next_cursor: string };
		const next = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', limit: 1, cursor });
		expect(next).toMatchObject({ messages: [{ text: 'two' }] });
		const other = await callSlack(slack, 'conversations.history', { channel: 'C0SECRET', cursor });
		expect(other).toMatchObject({ error: 'invalid_cursor' });
		const number = Buffer.from('1').toString('base64url');
		const madeUp = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', cursor: number });
		expect(madeUp).toMatchObject({ error: 'invalid_cursor' });
		const counted = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', cursor: 1 });
		expect(counted).toMatchObject({ error: 'invalid_cursor' });
	});

	it('gives a thread from its parent, oldest first', async () => {
		const { ts } = await post({ text: 'parent' });
		await post({ text: 'a', thread_ts: ts });
		await post({ text: 'b', thread_ts: ts });
		const answer = await callSlack(slack, 'conversations.replies', { channel: 'C0AGENTS', ts });
		expect((answer.messages as Json[]).map((message) => message.text)).toEqual(['parent', 'a', 'b']);
		const none = await callSlack(slack, 'conversations.replies', { channel: 'C0AGENTS', ts: '1.000000' });
		expect(none).toMatchObject({ error: 'thread_not_found' });
	});

	it('gives only the reply itself for a reply’s ts, and of a thread only what was requested', async () => {
		const { ts } = await post({ text: 'parent' });
		const first = await post({ text: 'a', thread_ts: ts });
		await post({ text: 'b', thread_ts: ts });
		const read = async (args: Json) => {
			const answer = await callSlack(slack, 'conversations.replies', { channel: 'C0AGENTS', ...args });
			return (answer.messages as Json[]).map((message) => message.text);
		};
		expect(await read({ ts: first.ts })).toEqual(['a']);
		expect(await read({ ts, oldest: first.ts })).toEqual(['parent', 'b']);
		expect(await read({ ts, latest: first.ts, inclusive: true })).toEqual(['parent', 'a']);
	});

	it('pages through a thread with its parent on the first page', async () => {
		slack.settings.historyPageSize = 15;
		const { ts } = await post({ text: 'parent' });
		for (let number = 1; number <= 16; number++) await post({ text: `reply ${number}`, thread_ts: ts });
		const asked = { channel: 'C0AGENTS', ts, limit: 100 };
		const first = await callSlack(slack, 'conversations.replies', asked);
		expect((first.messages as Json[]).map((message) => message.text).slice(0, 2)).toEqual(['parent', 'reply 1']);
		expect(first.messages).toHaveLength(15);
		expect(first.has_more).toBe(true);
		const { next_cursor: cursor } = first.response_metadata as { next_cursor: string };
		const rest = await callSlack(slack, 'conversations.replies', { ...asked, cursor });
		expect((rest.messages as Json[]).map((message) => message.text)).toEqual(['reply 15', 'reply 16']);
		expect(rest).toMatchObject({ has_more: false, response_metadata: { next_cursor: '' } });
		const wrong = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS', cursor: 'nonsense' });
		expect(wrong).toMatchObject({ error: 'invalid_cursor' });
	});

	it('refuses history to a bot that is not a member', async () => {
		const answer = await callSlack(slack, 'conversations.history', { channel: 'C0GENERAL' });
		expect(answer).toMatchObject({ error: 'not_in_channel' });
	});

	it('gives a permalink for a message', async () => {
		const { ts } = await post({ text: 'parent' });
		const link = await callSlack(slack, 'chat.getPermalink', { channel: 'C0AGENTS', message_ts: ts });
		expect(link.permalink).toBe(`https://acme.slack.com/archives/C0AGENTS/p${String(ts).replace('.', '')}`);
		const reply = await post({ text: 'reply', thread_ts: ts });
		const inThread = await callSlack(slack, 'chat.getPermalink', { channel: 'C0AGENTS', message_ts: reply.ts });
		expect(inThread.permalink).toMatch(new RegExp(`/p\\d+\\?thread_ts=${ts}&cid=C0AGENTS$`));
		const none = await callSlack(slack, 'chat.getPermalink', { channel: 'C0AGENTS', message_ts: '1.000000' });
		expect(none).toMatchObject({ error: 'message_not_found' });
	});
});
