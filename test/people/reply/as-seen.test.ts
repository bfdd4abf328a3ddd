import { itemsOf } from '../../../fake-session-service/log.ts';
import { expect, item, type Posted, type WatchingApp, watchingApp, withApp } from '../../kit.ts';

const BOT = 'U0BOT';

/** A session with a question, and the post of that. */
async function asked(
	app: WatchingApp,
	...items: [title: string, description?: string][]
): Promise<{ id: string; post: Posted }> {
	const id = await app.watched();
	app.ask(
		id,
		items.map((one) => item(...one)),
	);
	const post = await app.threadSays(id, items[0]?.[0] ?? '');
	await app.pass(500);
	return { id, post };
}

type Element = Readonly<Record<string, unknown>>;
const text = (words: string, style?: Element): Element => ({ type: 'text', text: words, ...(style && { style }) });
const section = (...elements: Element[]): Element => ({ type: 'rich_text_section', elements });
const list = (style: string, ...items: string[]): Element => {
	return { type: 'rich_text_list', style, indent: 0, border: 0, elements: items.map((one) => section(text(one))) };
};
const us = { type: 'user', user_id: BOT };

/** Sends a message as Slack's client does: its mrkdwn, with or without the rich text. */
function say(app: WatchingApp, post: Posted, mrkdwn: string, ...parts: Element[]): Promise<Posted> {
	const blocks = parts.length === 0 ? [] : [{ type: 'rich_text', block_id: 'b', elements: parts }];
	return app.toldAfter(() => app.slack.as('ada').say('#agents', { text: mrkdwn, blocks }, { thread: post }));
}

const it = withApp(async () => {
	const app = await watchingApp({ transport: 'http' });
	// Ada leaves a private channel that the app is in.
	const secret = app.slack.state.channels.find(({ id }) => id === 'C0SECRET');
	if (secret !== undefined) secret.members = secret.members.filter((id) => id !== 'U0ADA');
	return { ...app, ...(await asked(app, ['What shall I do?'])) };
});

async function expectOffer(offer: Promise<Posted>, words: string): Promise<void> {
	const lines = words.split('\n').map((line) => `> ${line}`);
	const [said] = (await offer).text().split('\nWhat shall I do? · ');
	expect(said).toBe(`Send this to the agent as the answer?\n${lines.join('\n')}`);
}

it.for([
	['a comma behind the mention', `<@${BOT}>, LH 1173`, 'LH 1173'],
	['a comma after a space', `<@${BOT}> , LH 1173`, 'LH 1173'],
	['a colon behind the mention', `<@${BOT}>: LH 1173`, 'LH 1173'],
	['an emoji behind the mention', `<@${BOT}> :+1: yes`, ':+1: yes'],
	['a number behind the mention', `<@${BOT}> -5`, '-5'],
	['a fraction behind the mention', `Take <@${BOT}> .5`, 'Take .5'],
	['a mention in the middle', `Take <@${BOT}> LH 1173`, 'Take LH 1173'],
	['a mention between commas', `Yes, <@${BOT}>, LH 1173`, 'Yes, LH 1173'],
	['a mention at the end', `LH 1173, <@${BOT}>!`, 'LH 1173!'],
	['a mention on a line of its own', `LH 1173\n<@${BOT}>\nplease`, 'LH 1173\nplease'],
	['two mentions', `<@${BOT}> LH 1173 <@${BOT}|handraise>.`, 'LH 1173.'],
	['a file that looks like a host', `<@${BOT}> <http://config.py|config.py>`, 'config.py'],
	[
		'a host',
		`<@${BOT}> <http://Example.org|Example.org> or <https://a.example/x?a=1&amp;b=2>`,
		'Example.org or https://a.example/x?a=1&b=2',
	],
	['a link with a label', `<@${BOT}> see <https://a.example/x|the page>`, 'see the page (https://a.example/x)'],
	[
		'a label that names another host',
		`<@${BOT}> <https://evil.example/|good.example>`,
		'good.example (https://evil.example/)',
	],
	[
		'mail',
		`<@${BOT}> <mailto:ann@a.example|ann@a.example>, <mailto:ann@a.example|Ann>`,
		'ann@a.example, Ann (ann@a.example)',
	],
	['a phone', `<@${BOT}> <tel:+4930123456|030 123456>`, '030 123456'],
	['a person', `<@${BOT}> ask <@U0GRACE>, not <@U0NOBODY>`, 'ask @grace, not <@U0NOBODY>'],
	['a channel', `<@${BOT}> ask in <#C0GENERAL|> or <#C0GENERAL>`, 'ask in #general or #general'],
	['a channel that the author is not in', `<@${BOT}> ask in <#C0SECRET>`, 'ask in <#C0SECRET>'],
	['everybody', `<@${BOT}> ask <!here> or <!subteam^S0OPS|@ops>`, 'ask @here or @ops'],
	['a date', `<@${BOT}> on <!date^1700000000^{date}|14 Nov 2023>`, 'on 14 Nov 2023'],
	['emphasis', `<@${BOT}> *LH 1173*, _not *TP 570*_, ~no~, \`npm ci\``, 'LH 1173, not TP 570, ~no~, npm ci'],
	['code', `<@${BOT}> \`\`\`\nfor _x_ in *y*:\n  z\n\`\`\``, 'for _x_ in *y*:\n  z'],
	[
		'what is no emphasis',
		`<@${BOT}> 2 * 3 * 4, snake_case_name, __init__, <https://a.example/*x*>`,
		'2 * 3 * 4, snake_case_name, __init__, https://a.example/*x*',
	],
	['no-break spaces', `<@${BOT}>\u00a0LH\u00a01173 for 10\u202f000`, 'LH 1173 for 10 000'],
	['what nobody sees', `<@${BOT}>\u200b, L\u00adH\ufeff 1173 👩\u200d💻`, 'LH 1173 👩\u200d💻'],
	['signs', `<@${BOT}> a &lt; b &amp;amp; &lt;@U0GRACE&gt;`, 'a < b &amp; <@U0GRACE>'],
] as const)('arrives as its author sees it: %s', async ([, mrkdwn, words], { app }) => {
	await expectOffer(say(app, app.post, mrkdwn), words);
});

it.for([
	['asterisks that were typed', '*.py,*.ts and _x_', [section(us, text(' *.py,*.ts and _x_'))], '*.py,*.ts and _x_'],
	[
		'styles',
		'*LH 1173* `npm ci`',
		[section(us, text(', '), text('LH 1173', { bold: true }), text(' '), text('npm ci', { code: true }))],
		'LH 1173 npm ci',
	],
	[
		'links',
		'<http://config.py|config.py>',
		[
			section(us, text(' '), { type: 'link', url: 'http://config.py', text: 'config.py' }, text(' '), {
				type: 'link',
				url: 'https://a.example/x?a=1&b',
				text: 'the <page>',
			}),
		],
		'config.py the <page> (https://a.example/x?a=1&b)',
	],
	[
		'people, channels, dates and emoji',
		'ask',
		[
			section(
				us,
				text(' ask '),
				{ type: 'user', user_id: 'U0GRACE' },
				text(' in '),
				{ type: 'channel', channel_id: 'C0GENERAL' },
				text(' on '),
				{ type: 'date', timestamp: 1_700_000_000, format: '{date}', fallback: '14 Nov 2023' },
				text(' '),
				{ type: 'emoji', name: '+1', unicode: '1f44d-1f3fb' },
				{ type: 'emoji', name: 'parrot' },
			),
		],
		'ask @grace in #general on 14 Nov 2023 👍🏻:parrot:',
	],
	[
		'lists, quotes and code',
		'• a\n1. b',
		[
			section(us, text(' both:')),
			list('bullet', 'a', 'b'),
			list('ordered', 'c', 'd'),
			{ type: 'rich_text_quote', elements: [text('e\nf')] },
			{ type: 'rich_text_preformatted', elements: [text('for *x*:\n  y')], border: 0 },
		],
		'both:\n• a\n• b\n1. c\n2. d\n> e\n> f\nfor *x*:\n  y',
	],
	['mrkdwn, where Slack has something new', '*LH 1173*', [section(us, { type: 'constructor', id: 'x' })], 'LH 1173'],
] as const)('arrives from rich text as its author sees it: %s', async ([, mrkdwn, parts, words], { app }) => {
	await expectOffer(say(app, app.post, `<@${BOT}> ${mrkdwn}`, ...parts), words);
});

const WHICH: [string, string] = ['Which one?', "- config.py\n- LH 1173\n- I don't know"];

it.for([
	['config.py', `“*<http://config.py|Config.py>*” <@${BOT}>`],
	['LH 1173', `<@${BOT}>, \u200blh\u00a01173`],
	["I don't know", `<@${BOT}>: “I don’t know”`],
] as const)('sends the option %s, whatever Slack and keyboards make of it', async ([option, mrkdwn], { app }) => {
	const { id, post: thread } = await asked(app, WHICH);
	await (await say(app, thread, mrkdwn)).press('Send');
	await app.until(() => app.service.log.effectivePuts(id).length === 1);
	expect(app.service.log.effectivePuts(id).map((put) => itemsOf(put)[0]?.value)).toEqual([option]);
});

it('chooses the option in the form of several items', async ({ app }) => {
	const { post: thread } = await asked(app, ['First?'], WHICH);
	await (await say(app, thread, `<@${BOT}>, *lh\u00a01173*`)).press('Use as answer');
	const ada = app.slack.as('ada');
	await (await ada.waitForModal('Which question does it answer?')).choose(0, '2. Which one?');
	const form = await ada.waitForModal((modal) => modal.submitText() !== null);
	expect([form.value(0), form.value(1)]).toEqual([null, 'LH 1173']);
});
