import { afterEach, describe, expect, it } from 'vitest';
import { type RunningApp, startBoltApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { callSlack } from './test-calls.ts';

let slack: FakeSlack;
let running: RunningApp | undefined;
let heard: Json[];

afterEach(async () => {
	await running?.stop();
	running = undefined;
	await slack.close();
});

const EVENTS = ['message_metadata_posted', 'message_metadata_updated', 'message_metadata_deleted'];

function manifest({ scopes = ['chat:write', 'metadata.message:read'], events = EVENTS, appId = 'A0APP' } = {}) {
	return {
		display_information: { name: 'Task Bot' },
		oauth_config: { scopes: { bot: scopes } },
		settings: {
			event_subscriptions: {
				bot_events: events,
				metadata_subscriptions: [{ app_id: appId, event_type: 'task_created' }],
			},
		},
	};
}

async function start(declared: unknown): Promise<void> {
	heard = [];
	slack = await createFakeSlack({ manifest: declared });
	running = await startBoltApp(slack, 'socket', (app) => {
		app.use(async ({ body, next }) => {
			heard.push((body as unknown as { event: Json }).event);
			await next();
		});
	});
}

const task = (id: string, type = 'task_created'): Json => ({ event_type: type, event_payload: { id } });
const post = (metadata: Json) =>
	callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'A task', metadata });
const update = (ts: unknown, metadata?: Json) =>
	callSlack(slack, 'chat.update', { channel: 'C0AGENTS', ts, text: 'Still a task', ...(metadata ? { metadata } : {}) });
const acked = () => slack.traffic.deliveries().filter((one) => one.acked === true).length;
/** Waits until so many events were acknowledged, then returns the types of all, in the order they went out. */
async function told(count: number): Promise<string[]> {
	await slack.changes.until(
		() => acked() >= count,
		() => `${acked()} deliveries were acknowledged, not ${count}.`,
	);
	return slack.traffic.deliveries().map((one) => one.name);
}

describe('the metadata of messages', () => {
	it('tells of metadata that is posted, changed and deleted, with its former value', async () => {
		await start(manifest());
		const { ts } = await post(task('T-1'));
		await told(1);
		await update(ts, task('T-2'));
		await told(2);
		await callSlack(slack, 'chat.delete', { channel: 'C0AGENTS', ts });
		expect(await told(3)).toEqual(EVENTS);
		const common = { app_id: 'A0APP', bot_id: 'B0BOT', user_id: 'U0BOT', channel_id: 'C0AGENTS', message_ts: ts };
		expect(heard).toMatchObject([
			{ ...common, metadata: task('T-1'), event_ts: ts },
			{ ...common, metadata: task('T-2'), previous_metadata: task('T-1') },
			{ ...common, previous_metadata: task('T-2'), deleted_ts: expect.stringMatching(/^\d+\.\d{6}$/) },
		]);
		expect(heard[0]).not.toHaveProperty('previous_metadata');
		expect(heard[2]).not.toHaveProperty('metadata');
	});

	it('tells only of changed metadata: an update without metadata keeps it, an empty one removes it', async () => {
		await start(manifest({ appId: '*' }));
		const { ts } = await post(task('T-1'));
		await update(ts);
		expect(slack.traffic.deliveries()).toHaveLength(1);
		await update(ts, {});
		await update(ts, task('T-2'));
		expect(await told(3)).toEqual([EVENTS[0], EVENTS[2], EVENTS[0]]);
	});

	it('tells of metadata only where the app is a member', async () => {
		await start(manifest({ scopes: ['chat:write', 'chat:write.public', 'metadata.message:read'] }));
		const args = { channel: 'C0GENERAL', text: 'A task', metadata: task('T-1') };
		expect(await callSlack(slack, 'chat.postMessage', args)).toMatchObject({ ok: true });
		expect(slack.traffic.deliveries()).toEqual([]);
	});

	it.each([
		['other kinds of metadata', manifest(), task('T-1', 'task_closed')],
		['the metadata of other apps', manifest({ appId: 'A0OTHER' }), task('T-1')],
		['metadata without the scope', manifest({ scopes: ['chat:write'] }), task('T-1')],
		['metadata without the event', manifest({ events: [] }), task('T-1')],
	])('says nothing of %s', async (_what, declared, metadata) => {
		await start(declared);
		await post(metadata);
		expect(slack.traffic.deliveries()).toEqual([]);
	});
});
