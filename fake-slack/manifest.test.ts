import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startHearingApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let running: Awaited<ReturnType<typeof startHearingApp>>;

async function start(manifest: unknown): Promise<void> {
	slack = await createFakeSlack({ manifest });
	running = await startHearingApp(slack);
}
afterEach(async () => {
	await running.stop();
	await slack.close();
});

function manifest({
	escaped = false,
	events = [] as string[],
	scopes = ['commands', 'chat:write'],
	home = false,
	messages = false,
	readOnly = false,
} = {}) {
	return {
		display_information: { name: 'Lunch Bot' },
		features: {
			app_home: {
				home_tab_enabled: home,
				messages_tab_enabled: messages,
				messages_tab_read_only_enabled: readOnly,
			},
			bot_user: { display_name: 'Lunch Bot' },
			slash_commands: [{ command: '/lunch', description: 'Order', should_escape: escaped }],
			shortcuts: [{ type: 'message', name: 'Order this', callback_id: 'order', description: 'Order' }],
		},
		oauth_config: { scopes: { bot: scopes } },
		settings: { event_subscriptions: { bot_events: events } },
	};
}

const line = '/lunch for @grace in #agents, see https://example.com/menu?a=1';

describe('the app as its manifest declares it', () => {
	it('reads a name, also from a manifest file', async () => {
		const folder = mkdtempSync(join(tmpdir(), 'fake-slack-'));
		const path = join(folder, 'manifest.yml');
		writeFileSync(path, 'display_information:\n  name: Dinner\noauth_config: { scopes: { bot: [commands] } }\n');
		await start(path);
		rmSync(folder, { recursive: true });
		expect(await callSlack(slack, 'auth.test', {})).toMatchObject({ user: 'dinner' });
		expect(await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'x' })).toMatchObject({
			error: 'missing_scope',
			needed: 'chat:write',
			provided: 'commands',
		});
	});

	it('refuses a manifest with the fields that are missing, or with what it does not imitate', async () => {
		await start(manifest());
		await expect(createFakeSlack({ manifest: { features: {} } })).rejects.toThrow(
			/^This is no app manifest:\n.*\n.*display_information/,
		);
		const shortcuts = [{ type: 'global', name: 'Order', callback_id: 'order' }];
		await expect(createFakeSlack({ manifest: { ...manifest(), features: { shortcuts } } })).rejects.toThrow(
			/expected "message"\n.*features\.shortcuts\[0\]\.type/,
		);
	});

	it('delivers the text of commands as typed', async () => {
		await start(manifest());
		await slack.as('ada').command('#agents', line);
		expect(running.heard).toMatchObject([{ text: 'for @grace in #agents, see https://example.com/menu?a=1' }]);
	});

	it('sends mentions, channels and links in Slack’s escaped form with should_escape', async () => {
		await start(manifest({ escaped: true }));
		await slack.as('ada').command('#agents', line);
		expect(running.heard).toMatchObject([
			{ text: 'for <@U0GRACE|grace> in <#C0AGENTS|agents>, see <https://example.com/menu?a=1>' },
		]);
	});

	it('offers only the declared commands and shortcuts', async () => {
		await start(manifest());
		expect(await slack.as('ada').command('#agents', '/dinner')).toMatchObject({ ok: false, error: 'invalid_command' });
		const message = await slack.as('ada').say('#agents', 'soup');
		expect(await slack.as('ada').shortcut(message, 'order')).toBe(true);
		await expect(slack.as('ada').shortcut(message, 'pay')).rejects.toThrow('no shortcut pay');
		expect(running.heard).toHaveLength(1);
	});

	it('delivers no event without its subscription or scope', async () => {
		await start(manifest({ events: ['app_mention', 'channel_archive'], scopes: ['commands', 'app_mentions:read'] }));
		await slack.invite('#general', 'lunchbot');
		await slack.archive('#agents');
		await slack.as('ada').mention('#general', 'hello');
		expect(running.heard.map((body) => (body.event as Json).type)).toEqual(['app_mention']);
	});

	it('records a subscription to an event that it never sends', async () => {
		await start(manifest({ events: ['app_mention', 'reaction_added', 'message.channels'] }));
		expect(slack.violations().flatMap(({ messages }) => messages)).toEqual([
			'this fake Slack never sends reaction_added, to which the app is subscribed',
		]);
	});

	it('has a Home tab and direct messages only when the manifest declares them', async () => {
		await start(manifest());
		const view = { type: 'home', blocks: [] };
		const refused = await callSlack(slack, 'views.publish', { user_id: 'U0ADA', view });
		expect(refused).toMatchObject({ error: 'not_enabled' });
		await expect(slack.as('ada').openApp('home')).rejects.toThrow('no Home tab');
		await expect(slack.as('ada').openApp('messages')).rejects.toThrow('no Messages tab');
		await expect(slack.as('ada').say('dm', 'hello')).rejects.toThrow('turned off');
	});

	it('allows no direct messages without a Messages tab, and only the app’s in a read-only one', async () => {
		await start(manifest());
		const direct = { channel: 'U0ADA', text: 'hello' };
		expect(await callSlack(slack, 'chat.postMessage', direct)).toMatchObject({ error: 'messages_tab_disabled' });
		await running.stop();
		await slack.close();
		await start(manifest({ messages: true, readOnly: true }));
		expect(await callSlack(slack, 'chat.postMessage', direct)).toMatchObject({ ok: true });
		await expect(slack.as('ada').say('dm', 'hello')).rejects.toThrow('turned off');
	});
});
