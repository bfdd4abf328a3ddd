import { afterEach, beforeEach, expect, it } from 'vitest';
import { readBlocks, readMrkdwn } from './driver/visible-text.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;

beforeEach(async () => {
	slack = await createFakeSlack();
});
afterEach(() => slack.close());

const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });

it.each([
	['<@U0ADA> and <@U0NO>', '@ada and @@U0NO'],
	['<#C0AGENTS|old-name>', '#agents'],
	['<!subteam^S0OPS>', '@ops'],
	['<!channel> <!here>', '@channel @here'],
	['<https://a.test|label> <https://b.test>', 'label https://b.test'],
	['<!date^1767603600^{date_short}|5 Jan>', '5 Jan'],
	['&lt;!channel&gt; &amp;amp;', '<!channel> &amp;'],
])('reads %s as a person does', (written, read) => {
	expect(readMrkdwn(slack, written)).toBe(read);
});

it('reads every kind of block, with controls in brackets', () => {
	const button = { type: 'button', action_id: 'go', text: plain('Go') };
	const blocks = [
		{ type: 'header', text: plain('<Header>') },
		{ type: 'section', text: mrkdwn('&lt;b&gt;'), fields: [plain('left')], accessory: button },
		{
			type: 'context',
			elements: [mrkdwn('small'), { type: 'image', image_url: 'https://a.test/i', alt_text: 'icon' }],
		},
		{ type: 'image', image_url: 'https://a.test/i', alt_text: 'screen', title: plain('Now') },
		{ type: 'markdown', text: '**bold** &lt;@U0ADA&gt;' },
		{
			type: 'rich_text',
			elements: [
				{
					type: 'rich_text_section',
					elements: [
						{ type: 'text', text: '<raw> ' },
						{ type: 'user', user_id: 'U0ADA' },
					],
				},
			],
		},
		{
			type: 'table',
			rows: [
				[
					{ type: 'raw_text', text: 'a' },
					{ type: 'raw_text', text: 'b' },
				],
			],
		},
		{ type: 'divider' },
	];
	expect(readBlocks(slack, blocks)).toBe(
		[
			'<Header>',
			'<b>\nleft\n[Go]',
			'small [image: icon]',
			'Now\n[image: screen]',
			'**bold** <@U0ADA>',
			'<raw> @ada',
			'a | b',
			'---',
		].join('\n'),
	);
	expect(() => readBlocks(slack, [{ type: 'card' }])).toThrow('This fake Slack does not show a card.');
});

it('reads rich text without marks for its styles, with one before each quoted line', () => {
	const text = (words: string, style?: object) => ({ type: 'text', text: words, ...(style && { style }) });
	const part = (type: string, ...elements: object[]) => ({ type: `rich_text_${type}`, elements });
	const date = { type: 'date', timestamp: 1767603600, format: '{date_short} {time}', fallback: '5 Jan, 9:00' };
	const item = (words: string) => part('section', text(words));
	const elements = [
		part(
			'section',
			text('Bold', { bold: true }),
			text(' code', { code: true }),
			text(' *kept*\nuntil '),
			date,
			text(' for '),
			{ type: 'usergroup', usergroup_id: 'S0OPS' },
			text(' and '),
			{ type: 'usergroup', usergroup_id: 'S0NO' },
			text('\n'),
		),
		part('quote', text('one\n\n'), { type: 'user', user_id: 'U0ADA' }, text(' three\n')),
		part('preformatted', text('a  b\n  c\n\nd')),
		part(
			'section',
			{ type: 'link', url: 'https://a.test', text: 'label' },
			text(' '),
			{ type: 'link', url: 'https://b.test' },
			text(' '),
			{ type: 'channel', channel_id: 'C0AGENTS' },
			text(' '),
			{ type: 'broadcast', range: 'here' },
		),
		{ ...part('list', item('x'), item('y')), style: 'bullet' },
		{ ...part('list', item('z')), style: 'ordered', indent: 1, offset: 2 },
	];
	const lines = [
		'Bold code *kept*',
		'until 5 Jan, 9:00 for @ops and @S0NO',
		'> one',
		'> ',
		'> @ada three',
		'a  b',
		'  c',
		'',
		'd',
		'label https://b.test #agents @here',
		'• x',
		'• y',
		'    3. z',
	];
	expect(readBlocks(slack, [{ type: 'rich_text', elements }])).toBe(lines.join('\n'));
	// Inside of other blocks too.
	const rows = [[{ type: 'rich_text', elements: [item('a'), part('quote', text('b'))] }]];
	expect(readBlocks(slack, [{ type: 'table', rows }])).toBe('a\n> b');
});

it('shows the table of a message below its buttons, and takes no second one', async () => {
	const cell = (words: string) => ({ type: 'raw_text', text: words });
	const table = { type: 'table', rows: [[cell('Flight'), cell('Price')]] };
	const go = { type: 'actions', elements: [{ type: 'button', action_id: 'go', text: plain('Go') }] };
	const post = (...blocks: object[]) =>
		callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'Offers', blocks });

	expect(await post(table, go)).toMatchObject({ ok: true });
	expect((await slack.as('ada').waitForMessage('#agents', 'Flight')).text()).toBe('[Go]\nFlight | Price');
	expect(await post(table, go, table)).toMatchObject({
		ok: false,
		error: 'invalid_attachments',
		response_metadata: { messages: ['[ERROR] only_one_table_allowed'] },
	});
});
