import { itemsOf } from '../../../fake-session-service/log.ts';
import { seenText } from '../../../src/slack/seen-text.ts';
import { expect, item, type Posted, it as rule, type WatchingApp, watchingApp, withApp } from '../../kit.ts';

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
const NAMES = new Map([
	['@U0GRACE', 'grace'],
	['#C0GENERAL', 'general'],
]);

/** What its author sees of a message without the mention of the app. */
const seen = (mrkdwn: string, ...parts: readonly Element[]) =>
	seenText({ text: mrkdwn, blocks: parts.length === 0 ? [] : [{ type: 'rich_text', elements: parts }] }, BOT, NAMES);

/** Says it in the thread as Slack's client does, with or without the rich text; resolves to what only its author is asked. */
function say(app: WatchingApp, thread: Posted, mrkdwn: string, ...elements: Element[]): Promise<Posted> {
	const blocks = elements.length === 0 ? [] : [{ type: 'rich_text', block_id: 'b', elements }];
	return app.toldAfter(() => app.slack.as('ada').say('#agents', { text: mrkdwn, blocks }, { thread }));
}

const it = withApp(async () => {
	const app = await watchingApp({ transport: 'http' });
	// Ada leaves a private channel that the app is in.
	const secret = app.slack.state.channels.find(({ id }) => id === 'C0SECRET');
	if (secret !== undefined) secret.members = secret.members.filter((id) => id !== 'U0ADA');
	return app;
});

rule.each([
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
] as const)('a message is read as its author sees it: %s', (_, mrkdwn, words) => {
	expect(seen(mrkdwn)).toBe(words);
});

rule.each([
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
] as const)('rich text is read as its author sees it: %s', (_, mrkdwn, parts, words) => {
	expect(seen(`<@${BOT}> ${mrkdwn}`, ...parts)).toBe(words);
});

it('a mention arrives with the names of people and channels, but of channels that its author is not in', async ({
	app,
}) => {
	const { post } = await asked(app, ['What shall I do?']);
	const person = (id: string) => ({ type: 'user', user_id: id });
	const channel = (id: string) => ({ type: 'channel', channel_id: id });
	const known = [text(', ask '), person('U0GRACE'), text(' in '), channel('C0GENERAL')];
	const unknown = [text(', not '), person('U0NOBODY'), text(' in '), channel('C0SECRET')];
	const offer = await say(app, post, `<@${BOT}> ask`, section(us, ...known, ...unknown));
	const words = 'ask @grace in #general, not <@U0NOBODY> in <#C0SECRET>';
	expect(offer.text()).toContain(`Send this to the agent as the answer?\n> ${words}\nWhat shall I do? · `);
});

const WHICH: [string, string] = ['Which one?', "- config.py\n- LH 1173\n- I don't know"];

it.for([
	['config.py', `“*<http://config.py|Config.py>*” <@${BOT}>`],
	["I don't know", `<@${BOT}>: “I don’t know”`],
] as const)('sends the option %s, whatever Slack and keyboards make of it', async ([option, mrkdwn], { app }) => {
	const { id, post: thread } = await asked(app, WHICH);
	await (await say(app, thread, mrkdwn)).press('Send');
	await app.until(() => app.service.log.effectivePuts(id).length === 1);
	expect(app.service.log.effectivePuts(id).map((put) => itemsOf(put)[0]?.value)).toEqual([option]);
});

it('chooses the option in the form of several items', async ({ app }) => {
	const { post: thread } = await asked(app, ['First?'], WHICH);
	await (await say(app, thread, `<@${BOT}>, *\u200blh\u00a01173*`)).press('Use as answer');
	const ada = app.slack.as('ada');
	await (await ada.waitForModal('Which question does it answer?')).choose(0, '2. Which one?');
	const form = await ada.waitForModal((modal) => modal.submitText() !== null);
	expect([form.value(0), form.value(1)]).toEqual([null, 'LH 1173']);
});
