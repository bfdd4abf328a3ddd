import { afterEach, beforeEach, expect, it } from 'vitest';
import { startHearingApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import { callSlack } from './test-calls.ts';

function manifest(name: string, command: string) {
	return {
		display_information: { name },
		features: { bot_user: { display_name: name }, slash_commands: [{ command, description: 'Order' }] },
		oauth_config: { scopes: { bot: ['commands', 'chat:write', 'channels:read', 'channels:history', 'users:read'] } },
		settings: { event_subscriptions: { bot_events: ['message.channels', 'member_joined_channel'] } },
	};
}

let lunch: FakeSlack;
let dinner: FakeSlack;
let apps: Record<'lunch' | 'dinner', Awaited<ReturnType<typeof startHearingApp>>>;
beforeEach(async () => {
	lunch = await createFakeSlack({ manifest: manifest('Lunch', '/lunch') });
	dinner = await createFakeSlack({ manifest: manifest('Dinner', '/dinner'), beside: lunch });
	apps = { lunch: await startHearingApp(lunch), dinner: await startHearingApp(dinner) };
});
afterEach(async () => {
	await Promise.all([apps.lunch.stop(), apps.dinner.stop()]);
	await dinner.close();
	await lunch.close();
});

const button = { type: 'button', action_id: 'order', text: { type: 'plain_text', text: 'Order' } };
const offer = (text: string) => ({ channel: 'C0AGENTS', text, blocks: [{ type: 'actions', elements: [button] }] });

it('gives each command to the app that declares it, whoever is asked', async () => {
	for (const slack of [lunch, dinner]) {
		for (const command of ['/lunch', '/dinner']) await slack.as('ada').command('#agents', command);
		expect(await slack.as('ada').command('#agents', '/tea')).toMatchObject({ error: 'invalid_command' });
	}
	expect(apps.lunch.heard.map(({ command }) => command)).toEqual(['/lunch', '/lunch']);
	expect(apps.dinner.heard).toMatchObject(Array(2).fill({ command: '/dinner', api_app_id: 'A0APP2' }));
});

it('gives a press to the app that posted the message, and one app no trigger of the other', async () => {
	await dinner.invite('#agents', 'dinner');
	apps.lunch.heard.length = 0;
	await callSlack(dinner, 'chat.postMessage', offer('Soup?'));
	await (await lunch.as('ada').waitForMessage('#agents', (post) => post.author() === 'dinner')).press('Order');
	const [press] = apps.dinner.heard.filter(({ type }) => type === 'block_actions');
	expect(press).toMatchObject({ api_app_id: 'A0APP2', message: { app_id: 'A0APP2', bot_id: 'B0BOT2' } });
	expect(apps.lunch.heard.filter(({ type }) => type === 'block_actions')).toEqual([]);
	const view = { type: 'modal', title: { type: 'plain_text', text: 'Soup' }, blocks: [] };
	const opening = { trigger_id: press?.trigger_id, view };
	expect(await callSlack(lunch, 'views.open', opening)).toMatchObject({ error: 'invalid_trigger_id' });
	expect(await callSlack(dinner, 'views.open', opening)).toMatchObject({ ok: true });
	expect([lunch.as('ada').modal(), dinner.as('ada').modal()?.text()]).toEqual([null, expect.stringContaining('Soup')]);
});

it('tells both of what happens in a channel that both are in, and lets neither act as the other', async () => {
	await lunch.as('ada').say('#agents', 'hungry');
	await lunch.invite('#agents', 'dinner');
	await dinner.as('ada').say('#agents', 'starving');
	const texts = (one: 'lunch' | 'dinner') => apps[one].heard.map(({ event }) => (event as { text?: string }).text);
	expect(texts('lunch')).toEqual(['hungry', undefined, 'starving']);
	expect(texts('dinner')).toEqual([undefined, 'starving']);
	const { ts } = await callSlack(lunch, 'chat.postMessage', offer('Salad?'));
	const change = { channel: 'C0AGENTS', ts, text: 'Stew?' };
	expect(await callSlack(dinner, 'chat.update', change)).toMatchObject({ error: 'cant_update_message' });
	const foreign = await callSlack(dinner, 'chat.update', change, lunch.tokens.bot);
	expect(foreign).toMatchObject({ error: 'invalid_auth' });
	await lunch.remove('#agents', 'dinner');
	expect(await callSlack(dinner, 'chat.postMessage', offer('Stew?'))).toMatchObject({ error: 'not_in_channel' });
	await lunch.as('ada').say('#agents', 'full');
	expect(texts('dinner')).not.toContain('full');
});

it('refuses an app with the command of another', async () => {
	await expect(createFakeSlack({ manifest: manifest('Brunch', '/lunch'), beside: dinner })).rejects.toThrow(
		'Another app of the workspace has /lunch already.',
	);
});
