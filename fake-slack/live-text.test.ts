import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock } from './manual-clock.ts';
import { createResponseUrl } from './response-urls.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: FakeSlack;
beforeEach(async () => {
	slack = await createFakeSlack({ clock: createManualClock() });
});
afterEach(() => slack.close());

const BARE = 'ask @grace, @ops or @here. See #general and https://a.example/x?a=1.';
const LIVE = 'ask <@U0GRACE>, <!subteam^S0OPS> or <!here>. See <#C0GENERAL|> and <https://a.example/x?a=1>.';
const LINKED = BARE.replace(/https\S+1/, '<$&>');

const post = (args: Json) => callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', ...args });
const newest = () => slack.as('ada').messages('#agents').at(-1);
const stored = () => slack.state.messages.at(-1)?.text;

/** A post that says only this, and an update of it. */
async function posted(args: Json): Promise<string> {
	const { ts } = await post({ text: 'first', ...args });
	return String(ts);
}

describe('bare names and addresses in the text of a call', () => {
	it.each<[options: Json, expected: string]>([
		[{}, LINKED],
		[{ parse: 'none' }, BARE],
		[{ parse: 'none', link_names: false }, BARE],
		[{ parse: 'none', link_names: true }, LIVE.replace(/<(https[^>]*)>/, '$1')],
		[{ link_names: '1' }, LIVE],
		[{ parse: 'full' }, LIVE],
		[{ parse: 'client' }, LIVE],
	])('of a post with %j', async (options, expected) => {
		await post({ text: BARE, ...options });
		expect(stored()).toBe(expected);
	});

	it.each<[options: Json, expected: string]>([
		[{}, LIVE],
		[{ parse: 'none' }, BARE],
	])('of an update with %j, whose default is another', async (options, expected) => {
		const ts = await posted({ parse: 'none' });
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: BARE, ...options });
		expect(stored()).toBe(expected);
	});

	it.each<[options: Json, expected: string]>([
		[{}, LINKED],
		[{ parse: 'none' }, BARE],
		[{ link_names: true }, LIVE],
	])('of a message for one person with %j', async (options, expected) => {
		await callSlack(slack, 'chat.postEphemeral', { channel: 'C0AGENTS', user: 'U0ADA', text: BARE, ...options });
		expect(stored()).toBe(expected);
	});

	it.each<[options: Json, expected: string]>([
		[{}, LINKED],
		[{ parse: 'none' }, BARE],
	])('of what comes over a response_url with %j', async (options, expected) => {
		const place = { channel: 'C0AGENTS', user: 'U0ADA' };
		const url = createResponseUrl({ clock: createManualClock(), origin: slack.origin, state: slack.state }, place);
		const headers = { 'content-type': 'application/json' };
		await fetch(url, { method: 'POST', headers, body: JSON.stringify({ text: BARE, ...options }) });
		expect(stored()).toBe(expected);
	});

	it('keeps markup where the text counts as an app’s, and shows it as text elsewhere', async () => {
		await post({ text: '<@U0GRACE> <https://a.example|a>', parse: 'none' });
		expect(stored()).toBe('<@U0GRACE> <https://a.example|a>');
		await post({ text: '<@U0GRACE> <https://a.example|a>', parse: 'full' });
		expect(stored()).toBe('&lt;@U0GRACE&gt; &lt;https://a.example|a&gt;');
	});

	it('leaves names alone that do not exist here', async () => {
		await post({ text: 'mail ada@example.com, @nobody, #nowhere, 1 @ 2', parse: 'full' });
		expect(stored()).toBe('mail ada@example.com, @nobody, #nowhere, 1 @ 2');
	});
});

describe('bare names and addresses in blocks', () => {
	const section = (text: Json) => [{ type: 'section', text: { type: 'mrkdwn', ...text } }];
	const shown = () => (newest()?.blocks()[0]?.text as Json | undefined)?.text;

	it('makes bare names and addresses live in mrkdwn', async () => {
		await post({ text: 'x', blocks: section({ text: BARE }) });
		expect(shown()).toBe(LIVE);
		expect(newest()?.links()).toEqual(['https://a.example/x?a=1']);
		await post({ text: 'x', blocks: section({ text: BARE, verbatim: false }) });
		expect(shown()).toBe(LIVE);
	});

	it('leaves verbatim mrkdwn as it is', async () => {
		await post({ text: 'x', blocks: section({ text: `${BARE} <@U0GRACE>`, verbatim: true }) });
		expect(shown()).toBe(`${BARE} <@U0GRACE>`);
		expect(newest()?.links()).toEqual([]);
		expect(newest()?.rung()).toEqual(['grace']);
	});

	it('makes them live in all mrkdwn, also in updates and views, and never in plain text', async () => {
		const blocks = [
			{ type: 'context', elements: [{ type: 'mrkdwn', text: '@here' }] },
			{ type: 'section', fields: [{ type: 'mrkdwn', text: '#general' }] },
			{ type: 'header', text: { type: 'plain_text', text: '@here' } },
		];
		const ts = await posted({});
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'x', parse: 'none', blocks });
		expect(JSON.stringify(newest()?.blocks())).toMatch(/<!here>.*<#C0GENERAL\|>.*"@here"/);
		const view = inputModal({ blocks: section({ text: 'see #general' }), extra: { submit: undefined } });
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view });
		expect(JSON.stringify(slack.as('ada').modal()?.blocks())).toContain('<#C0GENERAL|>');
	});

	it('links addresses in a markdown block', async () => {
		await post({ text: 'x', blocks: [{ type: 'markdown', text: 'see https://a.example' }] });
		expect(newest()?.links()).toEqual(['https://a.example']);
	});
});

describe('a message rings', () => {
	const DATE = { type: 'date', timestamp: 1, format: '{date}', fallback: '1 Jan', url: 'https://a.example/date' };

	it.each([
		['a person', '<@U0GRACE> and <@U0GRACE>', ['grace']],
		['a group', '<!subteam^S0OPS|@ops>', ['ada']],
		['nobody who is not there', '<@U0EVE>', []],
		['nobody by a date, or by markup that is escaped', '<!date^0^{date}|x> &lt;!here&gt;', []],
	])('%s', async (_who, text, names) => {
		await post({ text: 'x', blocks: [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }] });
		expect(newest()?.rung()).toEqual(names);
		await post({ text, parse: 'none' });
		expect(newest()?.rung()).toEqual(names);
		await post({ text: 'x', blocks: [{ type: 'markdown', text }] });
		expect(newest()?.rung()).toEqual(names);
	});

	it('notifies everybody present except bots, by a name for all', async () => {
		const people = slack.state.channels.find(({ id }) => id === 'C0AGENTS')?.members.length ?? 0;
		for (const all of ['<!here>', '<!channel>', '<!everyone>']) {
			await post({ text: all });
			expect(newest()?.rung()).toContain('ada');
			expect(newest()?.rung()).not.toContain('sampleapp');
			expect(newest()?.rung().length).toBeLessThan(people);
		}
	});

	it('notifies people whom rich text mentions', async () => {
		const elements = [{ type: 'broadcast', range: 'here' }];
		const blocks = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
		await post({ text: 'x', blocks });
		expect(newest()?.rung()).toContain('grace');
		await slack.as('ada').say('#agents', 'hello @grace');
		expect(newest()?.rung()).toEqual(['grace']);
		await slack.as('ada').say('#agents', 'hello @here');
		expect(newest()?.rung()).toEqual(expect.arrayContaining(['grace', 'gus']));
		expect(newest()?.rung()).not.toContain('sampleapp');
	});

	it.each([
		['a person', { type: 'user', user_id: 'U0GRACE' }, ['grace']],
		['a group', { type: 'usergroup', usergroup_id: 'S0OPS' }, ['ada']],
		['nobody who is not there', { type: 'user', user_id: 'U0EVE' }, []],
		['nobody by markup in a text', { type: 'text', text: '<@U0GRACE> <!here> @grace' }, []],
		['nobody by a channel', { type: 'channel', channel_id: 'C0AGENTS' }, []],
	])('by rich text: %s', async (_who, element, names) => {
		for (const type of ['rich_text_section', 'rich_text_quote']) {
			await post({ text: 'x', blocks: [{ type: 'rich_text', elements: [{ type, elements: [element] }] }] });
			expect(newest()?.rung()).toEqual(names);
		}
		const elements = [{ type: 'rich_text_section', elements: [element] }];
		const ts = await posted({});
		const blocks = [{ type: 'rich_text', elements }];
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'x', blocks });
		expect(newest()?.rung()).toEqual(names);
	});

	it('leaves names and addresses in the texts of rich text alone', async () => {
		const elements = [{ type: 'text', text: BARE }, DATE];
		await post({ text: 'x', blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }] });
		expect(newest()?.blocks()[0]?.elements).toEqual([{ type: 'rich_text_section', elements }]);
		expect(newest()?.links()).toEqual(['https://a.example/date']);
	});

	it('notifies people whom an edit mentions, and nobody twice', async () => {
		const ts = await posted({ text: '<@U0GRACE>' });
		await callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: '<@U0ADA> <@U0GRACE>', parse: 'none' });
		expect(newest()?.rung()).toEqual(['grace', 'ada']);
	});

	it('notifies nobody else by a message for one person', async () => {
		const args = { channel: 'C0AGENTS', user: 'U0ADA', text: '<!here>' };
		await callSlack(slack, 'chat.postEphemeral', args);
		expect(slack.state.messages.at(-1)?.rung).toEqual(['U0ADA']);
	});
});
