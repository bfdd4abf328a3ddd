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

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
const post = (args: Json) => callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', ...args });

describe('chat.postMessage', () => {
	it('posts for everybody in the channel, with increasing timestamps', async () => {
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

	it('refuses an empty message, invalid blocks and a malformed thread_ts', async () => {
		expect(await post({})).toMatchObject({ error: 'no_text' });
		const answer = await post({ text: 'x', blocks: [{ type: 'section' }] });
		expect(answer).toMatchObject({ error: 'invalid_blocks' });
		expect(slack.violations().map((one) => one.where)).toEqual(['chat.postMessage', 'chat.postMessage']);
		expect(await post({ text: 'x', thread_ts: 'yesterday' })).toMatchObject({ error: 'invalid_thread_ts' });
	});

	it('refuses and records what it does not imitate', async () => {
		const { error } = await post({ text: 'x', attachments: [{ text: 'aside' }] });
		expect(error).toBe('not_in_this_fake_slack');
		expect(slack.violations().map(({ messages }) => messages)).toEqual([
			['[ERROR] this fake Slack does not imitate attachments [json-pointer:/attachments]'],
		]);
	});

	it.each([
		['broken JSON', '[{'],
		['JSON that is no list', { blocks: [section('x')] }],
		['half a surrogate pair', [section('\ud83d')]],
	])('refuses blocks that are %s', async (_, blocks) => {
		const form = new URLSearchParams({
			channel: 'C0AGENTS',
			text: 'x',
			blocks: typeof blocks === 'string' ? blocks : JSON.stringify(blocks),
		});
		const headers = { authorization: `Bearer ${slack.tokens.bot}` };
		const response = await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', body: form, headers });
		expect(await response.json()).toMatchObject({ ok: false, error: 'invalid_blocks_format' });
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

	it.each([{}, { reply_broadcast: true }])(
		'posts into the channel when the parent of its thread is gone, %o',
		async (more) => {
			const { ts } = await post({ text: 'parent' });
			await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts });
			const answer = await post({ text: 'reply', thread_ts: ts, ...more });
			expect(answer).toMatchObject({ ok: true, message: { text: 'reply' } });
			expect(answer.message).not.toHaveProperty('thread_ts');
			const [message] = slack.as('ada').messages('#agents');
			expect([message?.text(), message?.threadTs(), message?.isBroadcast()]).toEqual(['reply', null, false]);
		},
	);

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

	it('posts no direct message to another bot', async () => {
		expect(await post({ channel: 'U0OTHERBOT', text: 'hello' })).toMatchObject({ error: 'cannot_dm_bot' });
	});

	it('fails a message as a whole on an image that Slack cannot download', async () => {
		slack.settings.undownloadable = (url) => url.includes('gone');
		const image = { type: 'image', image_url: 'https://files.test/gone.png', alt_text: 'screen' };
		expect(await post({ text: 'x', blocks: [section('before'), image] })).toMatchObject({
			error: 'invalid_blocks',
			response_metadata: { messages: ['[ERROR] downloading image failed [json-pointer:/blocks/1/image_url]'] },
		});
		const beside = { ...section('before'), accessory: image };
		expect(await post({ text: 'x', blocks: [beside] })).toMatchObject({
			response_metadata: {
				messages: ['[ERROR] downloading image failed [json-pointer:/blocks/0/accessory/image_url]'],
			},
		});
		expect(slack.as('ada').messages('#agents')).toEqual([]);
		expect(slack.violations()).toEqual([]);
	});
});

describe('chat.update and chat.delete', () => {
	it('removes the blocks when only text is given, and keeps the former version', async () => {
		const { ts } = await post({ text: 'old', blocks: [section('old block')] });
		const answer = await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'new' });
		expect(answer).toMatchObject({
			ok: true,
			message: { bot_id: 'B0BOT', app_id: 'A0APP', edited: { user: 'U0BOT', ts: expect.any(String) } },
		});
		const [message] = slack.as('ada').messages('#agents');
		expect(message?.text()).toBe('new');
		expect(message?.blocks()).toEqual([]);
		expect(message?.editHistory()).toEqual(['old block']);
	});

	it('leaves no text when only blocks are given', async () => {
		const { ts } = await post({ text: 'old' });
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, blocks: [section('new')] });
		expect(slack.snapshot().messages).toMatchObject([{ text: '' }]);
	});

	it('treats an update’s text as typed by a person unless parse says otherwise, unlike a new message', async () => {
		const text = 'see @here, @grace and #agents <@U0GRACE>';
		const { ts } = await post({ text });
		const stored = () => slack.snapshot().messages[0]?.text;
		expect(stored()).toBe(text);
		const full = await post({ text: '@grace', parse: 'full' });
		expect(full.message).toMatchObject({ text: '<@U0GRACE>' });
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text, parse: 'none' });
		expect(stored()).toBe(text);
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text });
		expect(stored()).toBe('see <!here>, <@U0GRACE> and <#C0AGENTS|> &lt;@U0GRACE&gt;');
		const wrong = await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text, parse: 'some' });
		expect(wrong).toMatchObject({ error: 'invalid_arguments' });
	});

	it('keeps the metadata unless told otherwise', async () => {
		const metadata = { event_type: 'card', event_payload: { key: '1' } };
		const { ts } = await post({ text: 'old', metadata });
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'new' });
		expect(slack.state.messages[0]?.metadata).toEqual(metadata);
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'new', metadata: {} });
		expect(slack.state.messages[0]?.metadata).toBeUndefined();
	});

	it('changes only the app’s own messages, and no ephemeral ones', async () => {
		const theirs = await slack.as('ada').say('#general', 'mine');
		await slack.invite('#general', 'sampleapp');
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

	it('leaves a tombstone for a message with replies, and keeps the thread until its last reply is deleted', async () => {
		const { ts } = await post({ text: 'parent', metadata: { event_type: 'card', event_payload: {} } });
		const first = await post({ text: 'first', thread_ts: ts });
		await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts });
		const second = await post({ text: 'second', thread_ts: ts });
		expect(second).toMatchObject({ ok: true, message: { thread_ts: ts } });
		const thread = await callSlack(slack, 'conversations.replies', { channel: 'C0AGENTS', ts });
		const tombstone = { subtype: 'tombstone', text: 'This message was deleted.', user: 'USLACKBOT', hidden: true };
		expect((thread.messages as Json[])[0]).toMatchObject({ ...tombstone, ts, thread_ts: ts, reply_count: 2 });
		expect(JSON.stringify(thread)).not.toContain('event_type');
		const [seen] = slack.as('ada').messages('#agents');
		expect([seen?.author(), seen?.text()]).toEqual(['slackbot', 'This message was deleted.']);
		const gone = { error: 'message_not_found' };
		expect(await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'x' })).toMatchObject(gone);
		expect(await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts })).toMatchObject(gone);
		for (const reply of [first, second]) await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts: reply.ts });
		expect(slack.as('ada').messages('#agents', { all: true })).toEqual([]);
	});

	it('refuses an update in an archived channel and a text that is too long', async () => {
		const { ts } = await post({ text: 'old' });
		const long = { channel: 'C0AGENTS', ts, text: 'x'.repeat(4001) };
		expect(await callSlack(slack, 'chat.update', long)).toMatchObject({ error: 'msg_too_long' });
		await slack.archive('#agents');
		const archived = { channel: 'C0AGENTS', ts, text: 'x' };
		expect(await callSlack(slack, 'chat.update', archived)).toMatchObject({ error: 'is_inactive' });
	});
});

describe('blocks with rich text whose JSON is too long', () => {
	const withText = (length: number) => {
		const elements = [{ type: 'text', text: 'x'.repeat(length) }];
		return [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
	};
	const most = 12_001 - JSON.stringify(withText(1)).length;
	const fits = { text: 'x', blocks: withText(most) };
	const bursts = { text: 'x', blocks: withText(most + 1) };

	it.each(['chat.postMessage', 'chat.update', 'chat.postEphemeral'])('are refused by %s', async (method) => {
		const { ts } = await post({ text: 'old' });
		const place = { channel: 'C0AGENTS', user: 'U0ADA', ts };
		expect(await callSlack(slack, method, { ...place, ...fits })).toMatchObject({ ok: true });
		expect(await callSlack(slack, method, { ...place, ...bursts })).toMatchObject({ error: 'msg_blocks_too_long' });
	});
});

describe('chat.postEphemeral', () => {
	it('shows an ephemeral message to one person of the channel only', async () => {
		const args = { channel: 'C0AGENTS', user: 'U0ADA', text: 'psst' };
		expect(await callSlack(slack, 'chat.postEphemeral', args)).toMatchObject({ ok: true });
		expect(slack.as('ada').messages('#agents')[0]?.isEphemeral()).toBe(true);
		expect(slack.as('grace').messages('#agents')).toEqual([]);
		expect(await callSlack(slack, 'chat.postEphemeral', { ...args, channel: 'C0OLD' })).toMatchObject({
			error: 'is_archived',
		});
		const invalid = { ...args, blocks: [{ type: 'section' }] };
		expect(await callSlack(slack, 'chat.postEphemeral', invalid)).toMatchObject({ error: 'invalid_blocks' });
		const stranger = { channel: 'C0AGENTS', user: 'U0EVE', text: 'psst' };
		expect(await callSlack(slack, 'chat.postEphemeral', stranger)).toMatchObject({ error: 'user_not_in_channel' });
	});

	it('shows an ephemeral message in a thread only when the thread has replies', async () => {
		const { ts } = await post({ text: 'parent' });
		const psst = (threadTs: unknown) =>
			callSlack(slack, 'chat.postEphemeral', { channel: 'C0AGENTS', user: 'U0ADA', text: 'psst', thread_ts: threadTs });
		const whispers = () =>
			slack
				.as('ada')
				.messages('#agents', { all: true })
				.filter((message) => message.isEphemeral());
		expect(await psst(ts)).toMatchObject({ ok: true, message_ts: expect.any(String) });
		expect(await psst('1.000001')).toMatchObject({ ok: true });
		expect(whispers()).toEqual([]);
		const reply = await post({ text: 'reply', thread_ts: ts });
		await psst(ts);
		await psst(reply.ts);
		expect(whispers().map((message) => message.threadTs())).toEqual([ts, ts]);
	});
});

describe('messages of people', () => {
	it('sends people’s messages with the rich text and the id that their client made', async () => {
		const loud = await slack.as('ada').say('#agents', '@channel @everyone');
		expect(slack.snapshot().messages).toMatchObject([{ ts: loud.ts, text: '<!channel> <!everyone>' }]);
		const typed = 'hey @Grace & @here: #agents has <b> at https://example.com/?a=1&b=2 @nobody';
		const said = await slack.as('ada').say('#agents', typed);
		const answer = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS' });
		expect((answer.messages as Json[])[0]).toMatchObject({
			text: 'hey <@U0GRACE> &amp; <!here>: <#C0AGENTS|> has &lt;b&gt; at <https://example.com/?a=1&amp;b=2> @nobody',
			client_msg_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
			blocks: [
				{
					type: 'rich_text',
					elements: [
						{
							type: 'rich_text_section',
							elements: [
								{ type: 'text', text: 'hey ' },
								{ type: 'user', user_id: 'U0GRACE' },
								{ type: 'text', text: ' & ' },
								{ type: 'broadcast', range: 'here' },
								{ type: 'text', text: ': ' },
								{ type: 'channel', channel_id: 'C0AGENTS' },
								{ type: 'text', text: ' has <b> at ' },
								{ type: 'link', url: 'https://example.com/?a=1&b=2' },
								{ type: 'text', text: ' @nobody' },
							],
						},
					],
				},
			],
		});
		expect(said.text()).toBe(typed.replace('@Grace', '@grace'));
		const own = await post({ text: 'card' });
		expect(own.message).not.toHaveProperty('client_msg_id');
	});

	it('sends a reply that is also shown in the channel as a thread broadcast, with the root of its thread', async () => {
		const { ts } = await post({ text: 'card' });
		const posted = await post({ text: 'look', thread_ts: ts, reply_broadcast: true });
		expect(posted.message).toMatchObject({ subtype: 'thread_broadcast', thread_ts: ts, root: { ts, text: 'card' } });
		const reply = await slack.as('ada').say('#agents', 'mine', { thread: String(ts), broadcast: true });
		expect(reply.isBroadcast()).toBe(true);
		const answer = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS' });
		expect((answer.messages as Json[]).map((message) => message.subtype)).toEqual([
			'thread_broadcast',
			'thread_broadcast',
			undefined,
		]);
		for (const broadcast of [undefined, 'false']) {
			const quiet = await post({ text: 'hidden', thread_ts: ts, reply_broadcast: broadcast });
			expect(quiet.message).not.toHaveProperty('subtype');
		}
		const form = await post({ text: 'as forms have it', thread_ts: ts, reply_broadcast: 'true' });
		expect(form.message).toMatchObject({ subtype: 'thread_broadcast' });
	});
});
