import type { App } from '@slack/bolt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningApp, startBoltApp, TRANSPORTS } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: FakeSlack;
let running: RunningApp | undefined;
let clock: ManualClock;
let heard: Json[];

beforeEach(async () => {
	heard = [];
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
});
afterEach(async () => {
	await running?.stop();
	running = undefined;
	await slack.close();
});

async function start(
	register: (app: App) => void = () => {},
	transport = TRANSPORTS[0] as (typeof TRANSPORTS)[number],
) {
	running = await startBoltApp(slack, transport, (app) => {
		app.use(async ({ body, next }) => {
			heard.push(body as unknown as Json);
			await next();
		});
		register(app);
	});
}

const plain = (text: string) => ({ type: 'plain_text', text });
const home = (words: string): Json => ({
	type: 'home',
	blocks: [
		{ type: 'section', text: { type: 'mrkdwn', text: words } },
		{ type: 'actions', block_id: 'row', elements: [{ type: 'button', action_id: 'more', text: plain('More') }] },
	],
});
const publish = (view: Json, extra: Json = {}) =>
	callSlack(slack, 'views.publish', { user_id: 'U0ADA', view, ...extra });

describe('the Home tab', () => {
	it('tells the app that Home is opened, with the published view', async () => {
		await start();
		await slack.as('ada').openApp('home');
		await publish(home('Nothing to do'));
		await slack.as('ada').openApp('home');
		await slack.as('ada').openApp('messages');
		const events = heard.map((body) => body.event as Json);
		expect(events).toMatchObject([
			{ type: 'app_home_opened', user: 'U0ADA', tab: 'home', channel: expect.stringMatching(/^D/) },
			{ tab: 'home', view: { type: 'home', blocks: [{ type: 'section' }, { block_id: 'row' }] } },
			{ tab: 'messages' },
		]);
		expect(events[0]).not.toHaveProperty('view');
		expect(events[2]).not.toHaveProperty('view');
	});

	it('shows each person their own Home, and replaces it only when the hash is the current one', async () => {
		const first = await publish(home('one'));
		expect(slack.as('ada').home()?.text()).toContain('one');
		expect(slack.as('grace').home()).toBeNull();
		const { hash } = first.view as { hash: string };
		expect(await publish(home('two'), { hash })).toMatchObject({ ok: true });
		expect(await publish(home('three'), { hash })).toMatchObject({ error: 'hash_conflict' });
		expect(slack.as('ada').home()?.text()).toContain('two');
		expect(await publish(home('three'), { user_id: 'U0GRACE', hash })).toMatchObject({ error: 'hash_conflict' });
		expect(await publish(inputModal())).toMatchObject({ error: 'invalid_arguments' });
		expect(await publish(home('four'), { user_id: 'U0NO' })).toMatchObject({ error: 'user_not_found' });
	});

	it('tells only an app that is subscribed', async () => {
		await start();
		slack.settings.events = slack.settings.events.filter((event) => event !== 'app_home_opened');
		await slack.as('ada').openApp('home');
		await slack.as('ada').openApp('messages');
		expect(slack.traffic.deliveries()).toEqual([]);
	});

	it('has 100 blocks at most', async () => {
		const divided = (count: number) => ({
			type: 'home',
			blocks: Array.from({ length: count }, () => ({ type: 'divider' })),
		});
		expect(await publish(divided(101))).toMatchObject({ error: 'invalid_arguments' });
		expect(slack.as('ada').home()).toBeNull();
		expect(await publish(divided(100))).toMatchObject({ ok: true });
		expect(slack.violations()).toHaveLength(1);
	});

	it('lets people press buttons on Home, and opens a modal over it', async () => {
		await start((app) => {
			app.action('more', async ({ ack, body, client }) => {
				await ack();
				if ('trigger_id' in body) await client.views.open({ trigger_id: body.trigger_id, view: inputModal() as never });
			});
		});
		await publish(home('one'));
		expect(await slack.as('ada').home()?.press('More')).toBe(true);
		await slack.as('ada').waitForModal('Answer');
		expect(heard[0]).toMatchObject({
			type: 'block_actions',
			view: { type: 'home', callback_id: '' },
			actions: [{ action_id: 'more', block_id: 'row' }],
		});
		expect(heard[0]?.container).toEqual({ type: 'view', view_id: slack.as('ada').home()?.id });
		expect(heard[0]).not.toHaveProperty('channel');
		expect(heard[0]).not.toHaveProperty('response_url');
		// The modal in front of it takes nothing away from it.
		expect(await slack.as('ada').home()?.press('More')).toBe(true);
	});
});

describe('a press', () => {
	const press = (action: string) => ({
		text: action,
		blocks: [{ type: 'actions', elements: [{ type: 'button', action_id: action, text: plain(action) }] }],
	});
	const acknowledge = (app: App) => app.action(/.*/, async ({ ack }) => ack());

	it('names the channel message, reply or ephemeral message that it came from', async () => {
		await start(acknowledge);
		const channel = 'C0AGENTS';
		const parent = await callSlack(slack, 'chat.postMessage', { channel, ...press('parent') });
		await callSlack(slack, 'chat.postMessage', { channel, thread_ts: parent.ts, ...press('reply') });
		await callSlack(slack, 'chat.postEphemeral', { channel, user: 'U0ADA', ...press('hidden') });
		const hiddenReply = { channel, user: 'U0ADA', thread_ts: parent.ts, ...press('hidden reply') };
		await callSlack(slack, 'chat.postEphemeral', hiddenReply);
		const ts: string[] = [];
		for (const label of ['parent', 'reply', 'hidden', 'hidden reply']) {
			const message = await slack.as('ada').waitForMessage('#agents', (one) => one.buttons().includes(label));
			ts.push(message.ts);
			await message.press(label);
		}
		const common = { type: 'message', channel_id: channel };
		expect(heard.map((body) => body.container)).toEqual([
			{ ...common, message_ts: ts[0], is_ephemeral: false },
			{ ...common, message_ts: ts[1], is_ephemeral: false, thread_ts: parent.ts },
			{ ...common, message_ts: ts[2], is_ephemeral: true },
			{ ...common, message_ts: ts[3], is_ephemeral: true, thread_ts: parent.ts },
		]);
		expect(heard.map((body) => 'message' in body)).toEqual([true, true, false, false]);
	});

	it('has an action_ts of its own, which a redelivery repeats', async () => {
		await start(acknowledge);
		await publish(home('one'));
		const pressMore = () => slack.as('ada').home()?.press('More');
		slack.faults.duplicateNext('block_actions');
		await pressMore();
		await expect.poll(() => heard.length).toBe(2);
		// The clock stands still, as for presses within a millisecond.
		await pressMore();
		const [first, again, second] = heard.map((body) => (body.actions as Json[])[0]?.action_ts);
		expect(first).toMatch(/^\d{10}\.\d{6}$/);
		expect(again).toBe(first);
		expect(Number(second)).toBeGreaterThan(Number(first));
	});
});
