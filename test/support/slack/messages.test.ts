import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../manual-clock.ts';
import type { Json } from './json.ts';
import { createSlackStandIn, type SlackStandIn } from './stand-in.ts';
import { callSlack } from './test-calls.ts';

let slack: SlackStandIn;

beforeEach(async () => {
	slack = await createSlackStandIn({ clock: createManualClock() });
});
afterEach(() => slack.close());

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
const post = (args: Json) => callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', ...args });

describe('chat.postMessage', () => {
	it('posts for everybody in the channel, with rising timestamps', async () => {
		const first = await post({ text: 'one' });
		const second = await post({ text: 'two' });
		expect(Number(second.ts)).toBeGreaterThan(Number(first.ts));
		expect(
			slack
				.as('grace')
				.messages('#agents')
				.map((message) => message.text()),
		).toEqual(['one', 'two']);
	});

	it.each([
		['C0GENERAL', 'not_in_channel'],
		['C0OLD', 'is_archived'],
		['C0VAULT', 'channel_not_found'],
		['C0NOWHERE', 'channel_not_found'],
	])('refuses %s with %s', async (channel, error) => {
		expect(await post({ channel, text: 'hello' })).toMatchObject({ ok: false, error });
	});

	it('posts into a public channel without being a member only with chat:write.public', async () => {
		slack.settings.scopes.push('chat:write.public');
		expect(await post({ channel: 'C0GENERAL', text: 'hello' })).toMatchObject({ ok: true });
		expect(await post({ channel: 'C0VAULT', text: 'hello' })).toMatchObject({ error: 'channel_not_found' });
	});

	it('refuses an empty message, invalid blocks and a thread that is not there', async () => {
		expect(await post({})).toMatchObject({ error: 'no_text' });
		const answer = await post({ text: 'x', blocks: [{ type: 'section' }] });
		expect(answer).toMatchObject({ error: 'invalid_blocks' });
		expect(slack.violations().map((one) => one.where)).toEqual(['chat.postMessage', 'chat.postMessage']);
		expect(await post({ text: 'x', thread_ts: '1.000001' })).toMatchObject({ error: 'thread_not_found' });
		expect(await post({ text: 'x', thread_ts: 'yesterday' })).toMatchObject({ error: 'invalid_thread_ts' });
	});

	it('puts a reply to a reply into the same thread and shows a broadcast reply in the channel', async () => {
		const { ts } = await post({ text: 'parent' });
		const reply = await post({ text: 'reply', thread_ts: ts });
		await post({ text: 'deeper', thread_ts: reply.ts, reply_broadcast: true });
		const ada = slack.as('ada');
		expect(ada.messages('#agents').map((message) => message.text())).toEqual(['parent', 'deeper']);
		expect(
			ada
				.messages('#agents')[0]
				?.thread()
				.map((message) => message.text()),
		).toEqual(['reply', 'deeper']);
	});

	it('opens the direct conversation when it is given a person', async () => {
		const answer = await post({ channel: 'U0ADA', text: 'hello' });
		expect(answer.channel).toMatch(/^D/);
		expect(
			slack
				.as('ada')
				.dm()
				.map((message) => message.text()),
		).toEqual(['hello']);
	});

	it('fails as a whole on an image Slack cannot download', async () => {
		slack.settings.undownloadable = (url) => url.includes('gone');
		const image = { type: 'image', image_url: 'https://files.test/gone.png', alt_text: 'screen' };
		expect(await post({ text: 'x', blocks: [section('before'), image] })).toMatchObject({
			error: 'invalid_blocks',
			response_metadata: { messages: ['[ERROR] downloading image failed [json-pointer:/blocks/1/image_url]'] },
		});
		expect(slack.as('ada').messages('#agents')).toEqual([]);
		expect(slack.violations()).toEqual([]);
	});
});

describe('chat.update and chat.delete', () => {
	it('removes the blocks when only text is given, and remembers what was there', async () => {
		const { ts } = await post({ text: 'old', blocks: [section('old block')] });
		expect(await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'new' })).toMatchObject({ ok: true });
		const [message] = slack.as('ada').messages('#agents');
		expect(message?.text()).toBe('new');
		expect(message?.blocks()).toEqual([]);
		expect(message?.editHistory()).toEqual(['old block']);
	});

	it('keeps the metadata unless told otherwise', async () => {
		const metadata = { event_type: 'card', event_payload: { key: '1' } };
		const { ts } = await post({ text: 'old', metadata });
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'new' });
		expect(slack.as('ada').messages('#agents')[0]?.metadata()).toEqual(metadata);
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'new', metadata: {} });
		expect(slack.as('ada').messages('#agents')[0]?.metadata()).toBeNull();
	});

	it('touches only the own messages of the app, and no ephemeral ones', async () => {
		const theirs = await slack.as('ada').say('#general', 'mine');
		await slack.invite('#general', 'handraise');
		const edit = { channel: 'C0GENERAL', ts: theirs.ts, text: 'x' };
		expect(await callSlack(slack, 'chat.update', edit)).toMatchObject({ error: 'cant_update_message' });
		expect(await callSlack(slack, 'chat.delete', edit)).toMatchObject({ error: 'cant_delete_message' });
		const hidden = await callSlack(slack, 'chat.postEphemeral', { channel: 'C0AGENTS', user: 'U0ADA', text: 'x' });
		const late = { channel: 'C0AGENTS', ts: hidden.message_ts, text: 'y' };
		expect(await callSlack(slack, 'chat.update', late)).toMatchObject({ error: 'message_not_found' });
	});

	it('deletes a message for everybody', async () => {
		const { ts } = await post({ text: 'old' });
		await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts });
		expect(slack.as('ada').messages('#agents')).toEqual([]);
		const again = await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts });
		expect(again).toMatchObject({ error: 'message_not_found' });
	});

	it('refuses in an archived channel and with too long a text', async () => {
		const { ts } = await post({ text: 'old' });
		const long = { channel: 'C0AGENTS', ts, text: 'x'.repeat(4001) };
		expect(await callSlack(slack, 'chat.update', long)).toMatchObject({ error: 'msg_too_long' });
		await slack.archive('#agents');
		const archived = { channel: 'C0AGENTS', ts, text: 'x' };
		expect(await callSlack(slack, 'chat.update', archived)).toMatchObject({ error: 'is_inactive' });
	});
});

describe('chat.postEphemeral', () => {
	it('is seen by one person of the channel only', async () => {
		const args = { channel: 'C0AGENTS', user: 'U0ADA', text: 'psst' };
		expect(await callSlack(slack, 'chat.postEphemeral', args)).toMatchObject({ ok: true });
		expect(slack.as('ada').messages('#agents')[0]?.isEphemeral()).toBe(true);
		expect(slack.as('grace').messages('#agents')).toEqual([]);
		const stranger = { channel: 'C0AGENTS', user: 'U0EVE', text: 'psst' };
		expect(await callSlack(slack, 'chat.postEphemeral', stranger)).toMatchObject({ error: 'user_not_in_channel' });
	});
});

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

	it('gives a thread from its parent, oldest first', async () => {
		const { ts } = await post({ text: 'parent' });
		await post({ text: 'a', thread_ts: ts });
		await post({ text: 'b', thread_ts: ts });
		const answer = await callSlack(slack, 'conversations.replies', { channel: 'C0AGENTS', ts });
		expect((answer.messages as Json[]).map((message) => message.text)).toEqual(['parent', 'a', 'b']);
		const none = await callSlack(slack, 'conversations.replies', { channel: 'C0AGENTS', ts: '1.000000' });
		expect(none).toMatchObject({ error: 'thread_not_found' });
	});

	it('is closed to a bot that is not a member', async () => {
		const answer = await callSlack(slack, 'conversations.history', { channel: 'C0GENERAL' });
		expect(answer).toMatchObject({ error: 'not_in_channel' });
	});

	it('links to a message', async () => {
		const { ts } = await post({ text: 'parent' });
		const link = await callSlack(slack, 'chat.getPermalink', { channel: 'C0AGENTS', message_ts: ts });
		expect(link.permalink).toBe(`https://acme.slack.com/archives/C0AGENTS/p${String(ts).replace('.', '')}`);
	});
});
