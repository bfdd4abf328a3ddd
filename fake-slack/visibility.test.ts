import { afterEach, expect, it } from 'vitest';
import { startHearingApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { sampleOrganisation, sampleWorkspace, withMembers } from './seed.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: FakeSlack;
let running: Awaited<ReturnType<typeof startHearingApp>>;

async function start(workspace = sampleWorkspace()): Promise<void> {
	slack = await createFakeSlack({ workspace });
	running = await startHearingApp(slack);
}
afterEach(async () => {
	await running.stop();
	await slack.close();
});

const plain = (text: string) => ({ type: 'plain_text', text });
const buttons = {
	type: 'actions',
	block_id: 'row',
	elements: [{ type: 'button', action_id: 'go', text: plain('Go') }],
};
const field = (type: string) => ({ type: 'input', label: plain(type), element: { type, action_id: 'value' } });
const post = (channel: string, blocks: Json[] = [buttons]) => callSlack(slack, 'chat.postMessage', { channel, blocks });
const open = (person: string, blocks: Json[]) =>
	callSlack(slack, 'views.open', { trigger_id: slack.trigger(person), view: inputModal({ blocks }) });

/** How many messages of each channel the person sees. */
const countsFor = (name: string, channels: string[]) =>
	channels.map((channel) => slack.as(name).messages(channel).length).join(' ');

it.each([
	['dora', 'dora is deactivated: Slack has ended their sessions.'],
	['otherbot', 'otherbot is a bot: it has no client'],
])('lets %s do nothing', async (name, words) => {
	await start();
	slack.state.channels[0]?.members.push('U0DORA', 'U0OTHERBOT');
	const ts = String((await post('C0AGENTS')).ts);
	const somebody = slack.as(name);
	const shortcut = { do: 'messageShortcut', channel: 'C0AGENTS', ts, callbackId: 'x' } as const;
	const acts = [
		() => somebody.command('#agents', '/demo'),
		() => somebody.say('dm', 'hello'),
		() => somebody.openApp(),
		() => somebody.join('#general'),
		() => somebody.leave('#agents'),
		() => slack.perform({ user: somebody.user, window: 'main' }, shortcut),
	];
	for (const act of acts) await expect(act()).rejects.toThrow(words);
	expect(running.heard).toEqual([]);
});

it('ends the session of somebody who is deactivated, with whatever they had open', async () => {
	await start();
	await callSlack(slack, 'views.publish', { user_id: 'U0GRACE', view: { type: 'home', blocks: [buttons] } });
	await post('C0AGENTS', [buttons, field('plain_text_input')]);
	await open('grace', [buttons, field('plain_text_input')]);
	const grace = slack.as('grace');
	const modal = await grace.waitForModal();
	const message = await grace.waitForMessage('#agents', 'Go');
	Object.assign(slack.state.people.find((one) => one.name === 'grace') ?? {}, { deleted: true });
	expect([grace.modal(), grace.home(), grace.messages('#agents')]).toEqual([null, null, []]);
	const acts = [modal, message].flatMap((surface) => [
		() => surface.press('Go'),
		() => surface.fill('plain_text_input', 'x'),
	]);
	for (const act of [...acts, modal.submit, modal.close]) await expect(act()).rejects.toThrow('grace is deactivated');
	expect([modal.value('plain_text_input'), running.heard]).toEqual([null, []]);
});

it('shows public channels to full members, and to guests and other organisations only those that they are in', async () => {
	await start(withMembers(sampleWorkspace(), 'general', ['mae']));
	await callSlack(slack, 'chat.postEphemeral', { channel: 'C0SHARED', user: 'U0ADA', blocks: [buttons] });
	for (const channel of ['C0AGENTS', 'C0SHARED', 'C0SECRET']) await post(channel);
	const counts = ['ada', 'mae', 'gus', 'eve', 'sid', 'otherbot'].map((name) =>
		countsFor(name, ['agents', 'shared', 'secret']),
	);
	expect(counts).toEqual(['1 2 1', '1 1 0', '1 0 0', '0 1 0', '0 0 0', '0 0 0']);
	const [forAda, inAgents, inShared] = slack.state.messages;
	const press = (user: string, { channel = '', ts = '' } = {}) =>
		slack.perform({ user, window: 'main' }, { do: 'pressInMessage', channel, ts, blockId: 'row', actionId: 'go' });
	await expect(press('U0EVE', inAgents)).rejects.toThrow('U0EVE cannot see this message');
	await expect(press('U0EVE', forAda)).rejects.toThrow('U0EVE cannot see this message');
	expect(await press('U0MAE', inShared)).toEqual({ acked: true });
	for (const name of ['eve', 'mae']) await expect(slack.as(name).command('#agents', '/x')).rejects.toThrow('is not in');
	expect(running.heard).toHaveLength(1);
});

it('shows public channels of an organisation to the full members of their workspaces', async () => {
	await start(sampleOrganisation());
	await post('C0SHARED');
	await post('C0TOGETHER');
	Object.assign(slack.state.channels.find(({ name }) => name === 'together') ?? {}, { members: ['U0BOT'] });
	const counts = ['hana', 'henry', 'hugo', 'eve'].map((name) => countsFor(name, ['shared', 'together']));
	expect(counts).toEqual(['1 1', '0 1', '0 0', '1 0']);
});

/** Which of these a person can choose in a field. */
async function offered(person: string, which: string, wishes: readonly string[]): Promise<string[]> {
	const taken: string[] = [];
	for (const wish of wishes) {
		const choosing = slack
			.as(person)
			.modal()
			?.choose(which, which.startsWith('multi') ? [wish] : wish);
		const refused = await choosing?.then(() => '').catch((error: Error) => error.message);
		if (refused === '') taken.push(wish);
		else expect(refused).toMatch(/^A \w+_select holds/);
	}
	return taken;
}

it('offers people whom the person can see and nobody who has left, in modals and messages', async () => {
	await start();
	await post('C0AGENTS', [field('users_select')]);
	const message = await slack.as('ada').waitForMessage('#agents', 'users_select');
	await expect(message.choose('users_select', 'dora')).rejects.toThrow('people whom this person can see');
	await message.choose('users_select', 'grace');
	for (const type of ['users_select', 'multi_users_select']) {
		await open('ada', [field(type)]);
		const people = await offered('ada', type, ['ada', 'gus', 'otherbot', 'eve', 'sid', 'dora']);
		expect(people).toEqual(['ada', 'gus', 'otherbot', 'eve']);
	}
	await open('eve', [field('users_select')]);
	expect(await offered('eve', 'users_select', ['ada', 'grace', 'gus'])).toEqual(['ada', 'grace']);
});
