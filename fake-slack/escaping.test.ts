import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: FakeSlack;

beforeEach(async () => {
	slack = await createFakeSlack();
});
afterEach(() => slack.close());

const plain = (text: string) => ({ type: 'plain_text', text });
const delivered = (name: string) => slack.traffic.deliveries(name).at(-1)?.request as Json;

it('gives the text of an app back escaped, with its markup', async () => {
	const given = 'R&D &lt;b&gt; a > b <@U0ADA> <https://a.example/?b=1&c=2|R&D>';
	const { message } = await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: given });
	const back = 'R&amp;D &lt;b&gt; a &gt; b <@U0ADA> <https://a.example/?b=1&c=2|R&D>';
	expect(message).toMatchObject({ text: back });
	const { messages } = await callSlack(slack, 'conversations.history', { channel: 'C0AGENTS' });
	expect(messages).toMatchObject([{ text: back }]);
	expect(slack.as('ada').messages('#agents')[0]?.text()).toContain('R&D <b> a > b');
});

it('gives text objects back escaped with a press, and rich text as it is', async () => {
	const rich = { type: 'rich_text_section', elements: [{ type: 'text', text: 'R&D <b>' }] };
	const blocks = [
		{ type: 'rich_text', elements: [rich] },
		{
			type: 'actions',
			elements: [{ type: 'button', action_id: 'go', text: plain('Answer & 1 > &lt;'), value: 'R&D' }],
		},
	];
	await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'x', blocks });
	await slack.as('ada').messages('#agents')[0]?.press('Answer & 1 > &lt;');
	const text = 'Answer &amp; 1 &gt; &lt;';
	expect(delivered('block_actions')).toMatchObject({
		actions: [{ text: { text }, value: 'R&D' }],
		message: { blocks: [{ elements: [rich] }, { elements: [{ text: { text }, value: 'R&D' }] }] },
	});
});

it('gives labels and options of a modal back escaped, and what was typed as it is', async () => {
	const options = [{ text: plain('R&D'), value: 'R&D' }];
	const select = { type: 'static_select', action_id: 'one', options };
	const text = { type: 'plain_text_input', action_id: 'two' };
	const blocks = [select, text].map((element, at) => ({
		type: 'input',
		block_id: `b${at}`,
		label: plain(`Label & ${at}`),
		element,
	}));
	await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view: inputModal({ blocks }) });
	const modal = await slack.as('ada').waitForModal();
	await modal.choose('Label & 0', 'R&D');
	await modal.fill('Label & 1', 'a & <b> &amp; 😀');
	await modal.submit();
	const { view } = delivered('view_submission');
	expect(view).toMatchObject({
		blocks: [{ label: { text: 'Label &amp; 0' } }, { label: { text: 'Label &amp; 1' } }],
		state: {
			values: {
				b0: { one: { selected_option: { text: { text: 'R&amp;D' }, value: 'R&D' } } },
				b1: { two: { value: 'a & <b> &amp; 😀' } },
			},
		},
	});
});

it('escapes the text of a command with should_escape only', async () => {
	slack.settings.commands = [
		{ command: '/escaped', escaped: true },
		{ command: '/plain', escaped: false },
	];
	await slack.as('ada').command('#agents', '/escaped R&D <@ada>');
	expect(delivered('slash_commands').text).toBe('R&amp;D &lt;<@U0ADA|ada>&gt;');
	await slack.as('ada').command('#agents', '/plain R&D <@ada>');
	expect(delivered('slash_commands').text).toBe('R&D <@ada>');
});

it('delivers emoji of a message as names, and as elements with their code points', async () => {
	await slack.as('ada').mention('#agents', 'yes 👍🏽 :tada: :shipit: at 10:30:45 🦜');
	const event = record(delivered('app_mention'));
	expect(event.text).toContain('yes :+1::skin-tone-4: :tada: :shipit: at 10:30:45 🦜');
	const [block] = event.blocks as { elements: { elements: Json[] }[] }[];
	expect(block?.elements[0]?.elements.filter(({ type }) => type === 'emoji')).toEqual([
		{ type: 'emoji', name: '+1::skin-tone-4', unicode: '1f44d-1f3fd' },
		{ type: 'emoji', name: 'tada', unicode: '1f389' },
		{ type: 'emoji', name: 'shipit' },
	]);
});

const record = (delivery: Json) => delivery.event as Json;
