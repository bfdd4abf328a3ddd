import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHearingApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let running: Awaited<ReturnType<typeof startHearingApp>>;

beforeEach(async () => {
	slack = await createFakeSlack();
	running = await startHearingApp(slack);
});
afterEach(async () => {
	await running.stop();
	await slack.close();
});

const events = () => running.heard.map((body) => body.event as Json);
const plain = (text: string) => ({ type: 'plain_text', text });
const post = (args: Json) => callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'card', ...args });

describe('talk', () => {
	it('delivers mentions where the app is a member, in threads with thread_ts, and without a trigger', async () => {
		const parent = await slack.as('ada').say('#agents', 'look');
		expect(running.heard).toEqual([]);
		await slack.as('ada').mention('#agents', 'use this', { thread: parent });
		expect(events()).toMatchObject([
			{ type: 'app_mention', text: '<@U0BOT> use this', thread_ts: parent.ts, channel: 'C0AGENTS', user: 'U0ADA' },
		]);
		expect(JSON.stringify(running.heard)).not.toContain('trigger_id');
		await slack.as('ada').mention('#general', 'hello?');
		expect(running.heard).toHaveLength(1);
	});

	it('delivers mentions as typed, and none from the app’s own messages', async () => {
		slack.settings.events.push('message.channels');
		const { ts } = await post({});
		await slack.as('ada').mention('#agents', 'look', { thread: String(ts), broadcast: true });
		await post({ text: '<@U0BOT> itself' });
		// Bolt keeps an app's own messages from it: this has come once the fake has delivered it.
		await slack.changes.until(
			() => slack.traffic.deliveries('message').filter((one) => one.acked).length === 3,
			() => JSON.stringify(slack.traffic.deliveries()),
		);
		const mentions = slack.traffic.deliveries('app_mention').map((one) => one.request.event as Json);
		expect(mentions).toMatchObject([{ text: '<@U0BOT> look', thread_ts: ts }]);
		expect(events().find((event) => event.type === 'app_mention')).not.toHaveProperty('subtype');
		expect(events()).toContainEqual(expect.objectContaining({ type: 'message', subtype: 'thread_broadcast' }));
	});

	it('delivers files with a message: as file_share, without a text where nobody typed one', async () => {
		slack.settings.events.push('message.channels');
		const parent = await slack.as('ada').say('#agents', 'look');
		await slack.as('ada').mention('#agents', 'this', { thread: parent, files: ['plan.pdf'] });
		await slack.as('ada').say('#agents', '', { thread: parent, files: ['voice.m4a'] });
		const files = [{ id: expect.any(String), name: 'plan.pdf' }];
		expect(events().find((event) => event.type === 'app_mention')).toMatchObject({ text: '<@U0BOT> this', files });
		expect(events().find((event) => event.type === 'app_mention')).not.toHaveProperty('subtype');
		const shared = { type: 'message', subtype: 'file_share', upload: false, thread_ts: parent.ts };
		expect(events()).toContainEqual(
			expect.objectContaining({
				...shared,
				text: '<@U0BOT> this',
				files: [expect.objectContaining({ name: 'plan.pdf' })],
			}),
		);
		expect(events().at(-1)).toMatchObject({ ...shared, text: '', files: [{ name: 'voice.m4a' }] });
		expect(events().at(-1)).not.toHaveProperty('blocks');
	});

	it('delivers the app’s own direct messages, which it has to recognise', async () => {
		await callSlack(slack, 'chat.postMessage', { channel: 'U0ADA', text: 'hello' });
		await slack.changes.until(
			() => slack.traffic.deliveries('message').at(-1)?.acked,
			() => 'It has not come.',
		);
		expect(slack.traffic.deliveries('message')[0]?.request.event).toMatchObject({ bot_id: 'B0BOT', user: 'U0BOT' });
	});

	it('tells of edited and deleted messages where the app is subscribed to messages, of its own too', async () => {
		slack.settings.events.push('message.channels');
		const { ts } = await post({});
		const said = await slack.as('ada').say('#agents', 'lok');
		await said.edit('look');
		said.remove();
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'changed' });
		const changes = () => slack.traffic.deliveries('message').map((one) => one.request.event as Json);
		expect(changes().slice(2)).toMatchObject([
			{
				subtype: 'message_changed',
				message: { text: 'look' },
				previous_message: { text: 'lok' },
				channel_type: 'channel',
			},
			{ subtype: 'message_deleted', deleted_ts: said.ts, previous_message: { text: 'look', user: 'U0ADA' } },
			{ subtype: 'message_changed', message: { text: 'changed', bot_id: 'B0BOT' } },
		]);
		await expect(slack.as('grace').messages('#agents')[0]?.edit('mine')).rejects.toThrow('author');
	});

	it('delivers a mention in the direct message with the app as an ordinary message', async () => {
		await slack.as('ada').mention('dm', 'hello');
		expect(events()).toMatchObject([{ type: 'message', channel_type: 'im', text: '<@U0BOT> hello' }]);
	});

	it('delivers only events that the app is subscribed to', async () => {
		slack.settings.events = [];
		await slack.as('ada').mention('#agents', 'hello');
		await slack.as('ada').say('dm', 'hello');
		expect(slack.traffic.deliveries()).toEqual([]);
	});

	it('lets nobody write in a channel without membership, or in an archive', async () => {
		await expect(slack.as('eve').say('#agents', 'hi')).rejects.toThrow('is not in');
		await expect(slack.as('ada').say('#old', 'hi')).rejects.toThrow('archived');
	});
});

describe('commands', () => {
	it('lets Slack answer commands that the app does not have', async () => {
		slack.settings.commands = [{ command: '/demo', escaped: false }];
		expect(await slack.as('ada').command('#agents', '/dmeo demo')).toMatchObject({ ok: false });
		expect(slack.as('ada').messages('#agents')[0]?.text()).toBe('/dmeo is not a valid command.');
		expect(running.heard).toEqual([]);
		await slack.as('ada').command('#agents', '/demo   "a  b"  ');
		expect(running.heard).toMatchObject([{ command: '/demo', text: '"a  b"' }]);
	});
});

describe('buttons and choices in messages', () => {
	const button = { type: 'button', action_id: 'answer', text: plain('Answer'), value: 'q1' };
	const select = {
		type: 'static_select',
		action_id: 'pick',
		placeholder: plain('Pick one'),
		options: [{ text: plain('Red'), value: 'r' }],
	};
	const blocks = [
		{ type: 'actions', block_id: 'row', elements: [button, select] },
		{
			type: 'input',
			block_id: 'field',
			label: plain('Note'),
			element: { type: 'plain_text_input', action_id: 'note' },
		},
	];

	it('sends the message, the state of its inputs and a response_url with an action', async () => {
		await post({ blocks });
		const message = await slack.as('ada').waitForMessage('#agents', 'Answer');
		await message.fill('Note', 'remember');
		expect(running.heard).toEqual([]);
		expect(await message.press('Answer')).toBe(true);
		expect(running.heard[0]).toMatchObject({
			type: 'block_actions',
			actions: [{ action_id: 'answer', block_id: 'row', value: 'q1', type: 'button' }],
			container: { type: 'message', is_ephemeral: false, channel_id: 'C0AGENTS' },
			message: { ts: message.ts, text: 'card' },
			state: { values: { field: { note: { value: 'remember' } } } },
			response_url: expect.stringContaining('/actions/'),
			channel: { id: 'C0AGENTS', name: 'agents' },
		});
		await message.choose('Pick one', 'Red');
		expect(running.heard[1]).toMatchObject({ actions: [{ action_id: 'pick', selected_option: { value: 'r' } }] });
		expect(() => slack.as('grace').messages('#agents')[0]?.link('Delete')).toThrow('Buttons: Answer');
	});

	it('keeps typed text when the app updates the message, and tells at once with dispatch_action', async () => {
		const { ts } = await post({
			blocks: blocks.map((block) => (block.type === 'input' ? { ...block, dispatch_action: true } : block)),
		});
		const message = await slack.as('ada').waitForMessage('#agents', 'Answer');
		await message.fill('Note', 'remember');
		expect(running.heard).toMatchObject([
			{ type: 'block_actions', actions: [{ action_id: 'note', value: 'remember' }] },
		]);
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'newer', blocks });
		expect(message.fields().find((one) => one.label === 'Note')?.value).toBe('remember');
	});

	it('names the thread of an action, and responds to its message', async () => {
		const parent = await post({});
		await post({ blocks, thread_ts: parent.ts });
		const message = await slack.as('ada').waitForMessage('#agents', 'Answer');
		await message.press('Answer');
		const { container, response_url: url } = running.heard[0] as { container: Json; response_url: string };
		expect(container).toMatchObject({ message_ts: message.ts, thread_ts: parent.ts });
		const headers = { 'content-type': 'application/json' };
		await fetch(url, { method: 'POST', headers, body: JSON.stringify({ replace_original: true, text: 'Done' }) });
		expect(message.text()).toBe('Done');
	});

	it('holds each person’s own typed text', async () => {
		await post({ blocks });
		const message = await slack.as('ada').waitForMessage('#agents', 'Answer');
		await message.fill('Note', 'remember');
		const [seen] = slack.as('grace').messages('#agents');
		expect(seen?.fields().find((field) => field.label === 'Note')?.value).toBeNull();
	});

	it('sends actions of an ephemeral message without its content', async () => {
		await callSlack(slack, 'chat.postEphemeral', { channel: 'C0AGENTS', user: 'U0ADA', text: 'card', blocks });
		const message = await slack.as('ada').waitForMessage('#agents', 'Answer');
		await message.press('Answer');
		expect(running.heard[0]).toMatchObject({ container: { is_ephemeral: true } });
		expect(running.heard[0]?.message).toBeUndefined();
		await expect(slack.as('ada').shortcut(message, 'use_text')).rejects.toThrow('no shortcuts');
	});

	it('rejects a press on a deleted message', async () => {
		const { ts } = await post({ blocks });
		const message = await slack.as('ada').waitForMessage('#agents', 'Answer');
		await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts });
		await expect(message.press('Answer')).rejects.toThrow('no longer exists');
	});

	it('sends the message and a trigger with a message shortcut', async () => {
		const said = await slack.as('grace').say('#agents', 'use port 8080');
		expect(await slack.as('ada').shortcut(said, 'use_text')).toBe(true);
		expect(running.heard[0]).toMatchObject({
			type: 'message_action',
			callback_id: 'use_text',
			message: { text: 'use port 8080', user: 'U0GRACE', ts: said.ts },
			message_ts: said.ts,
			trigger_id: expect.any(String),
			response_url: expect.stringContaining('/actions/'),
			user: { id: 'U0ADA' },
		});
	});
});
