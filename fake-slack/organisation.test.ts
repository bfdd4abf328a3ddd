import { afterEach, describe, expect, it } from 'vitest';
import { startHearingApp, TRANSPORTS, type TransportName } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { sampleOrganisation, type Workspace } from './seed.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: FakeSlack;
let running: Awaited<ReturnType<typeof startHearingApp>>;

async function start(workspace?: Workspace, transport: TransportName = 'socket'): Promise<void> {
	slack = await createFakeSlack(workspace ? { workspace } : {});
	running = await startHearingApp(slack, transport);
}
afterEach(async () => {
	await running.stop();
	await slack.close();
});

const plain = (text: string) => ({ type: 'plain_text', text });
const button = {
	type: 'actions',
	elements: [{ type: 'button', action_id: 'go', text: plain('Go') }],
};

/** A command, a press, a shortcut, a submission and a mention of hana, whose own workspace is another one. */
async function actAsHana(): Promise<void> {
	const hana = slack.as('hana');
	await hana.command('#together', '/demo');
	const card = { channel: 'C0TOGETHER', text: 'card', blocks: [button] };
	await callSlack(slack, 'chat.postMessage', card);
	await (await hana.waitForMessage('#together', 'Go')).press('Go');
	await hana.shortcut(await slack.as('ada').say('#together', 'this'), 'use');
	await callSlack(slack, 'views.open', { trigger_id: slack.trigger('hana'), view: inputModal() });
	const modal = await hana.waitForModal();
	await modal.fill('Answer', 'yes');
	await modal.submit();
	await hana.mention('#together', 'hello');
}

const ENTERPRISE = { id: 'E0ACME', name: 'Acme Group' };
const TEAM = { id: 'T0ACME', domain: 'acme', enterprise_id: 'E0ACME', enterprise_name: 'Acme Group' };
const OWN = { id: 'U0HANA', team_id: 'T0APEX' };

describe('an organisation with two workspaces', () => {
	it.each(TRANSPORTS)(
		'names the organisation and the fixed workspace of people in every payload, over %s',
		async (transport) => {
			await start(sampleOrganisation(), transport);
			await actAsHana();
			const command = running.heard[0] as Json;
			expect(command).toMatchObject({
				team_id: 'T0ACME',
				enterprise_id: 'E0ACME',
				enterprise_name: 'Acme Group',
				is_enterprise_install: 'false',
			});
			for (const interaction of running.heard.slice(1, 4)) {
				expect(interaction).toMatchObject({
					user: OWN,
					team: TEAM,
					enterprise: ENTERPRISE,
					is_enterprise_install: false,
				});
			}
			expect(running.heard[4]).toMatchObject({
				team_id: 'T0ACME',
				enterprise_id: 'E0ACME',
				is_ext_shared_channel: false,
				context_enterprise_id: 'E0ACME',
				authorizations: [
					{ enterprise_id: 'E0ACME', team_id: 'T0ACME', user_id: 'U0BOT', is_bot: true, is_enterprise_install: false },
				],
				event: { type: 'app_mention', user: 'U0HANA', team: 'T0APEX', user_team: 'T0APEX', source_team: 'T0APEX' },
			});
		},
	);

	it.each([
		['U0HANA', { is_restricted: false, enterprise_user: { id: 'U0HANA', teams: ['T0APEX', 'T0ACME'] } }],
		['U0HENRY', { is_restricted: false, enterprise_user: { teams: ['T0APEX'] } }],
		['U0HUGO', { is_restricted: true, enterprise_user: { enterprise_id: 'E0ACME', enterprise_name: 'Acme Group' } }],
		['U0ADA', { enterprise_user: { teams: ['T0ACME'], is_admin: false, is_owner: false } }],
	])('tells of %s without a team_id, with the enterprise_user', async (user, facts) => {
		await start(sampleOrganisation());
		const answer = await callSlack(slack, 'users.info', { user });
		expect(answer).toMatchObject({ user: facts });
		expect(Object.keys(answer.user as Json)).not.toContain('team_id');
		expect(Object.keys(answer.user as Json)).not.toContain('is_stranger');
	});

	it('shares a channel among its own workspaces, which does not count as sharing with others', async () => {
		await start(sampleOrganisation());
		expect(await callSlack(slack, 'conversations.info', { channel: 'C0TOGETHER' })).toMatchObject({
			channel: {
				is_shared: true,
				is_org_shared: true,
				is_ext_shared: false,
				shared_team_ids: ['T0ACME', 'T0APEX'],
				context_team_id: 'T0ACME',
			},
		});
	});

	it('knows people of other organisations by their team, and sends no event for sharing within', async () => {
		await start(sampleOrganisation());
		const eve = (await callSlack(slack, 'users.info', { user: 'U0EVE' })).user as Json;
		expect(eve).toMatchObject({ team_id: 'T0OTHER' });
		expect(eve).not.toHaveProperty('enterprise_user');
		await slack.share('#agents', 'T0APEX');
		const facts = await callSlack(slack, 'conversations.info', { channel: 'C0AGENTS' });
		expect(facts).toMatchObject({ channel: { is_org_shared: true, is_ext_shared: false } });
		expect(running.heard).toEqual([]);
		await slack.share('#agents', 'T0OTHER');
		await slack.unshare('#agents', 'T0APEX');
		const after = await callSlack(slack, 'conversations.info', { channel: 'C0AGENTS' });
		expect(after).toMatchObject({ channel: { is_org_shared: false, is_ext_shared: true } });
		expect(running.heard).toMatchObject([{ event: { type: 'channel_shared', connected_team_id: 'T0OTHER' } }]);
	});

	it('has no strangers, whatever channels they are in', async () => {
		await start(sampleOrganisation());
		await slack.remove('#together', 'henry');
		const henry = (await callSlack(slack, 'users.info', { user: 'U0HENRY' })).user as Json;
		expect(henry).not.toHaveProperty('is_stranger');
	});

	it('has no organisation unless the workspace declares it', async () => {
		await start();
		await slack.as('ada').shortcut(await slack.as('ada').say('#agents', 'this'), 'use');
		expect(running.heard[0]).toMatchObject({ enterprise: null, is_enterprise_install: false, team: { id: 'T0ACME' } });
		expect(running.heard[0]?.team).toEqual({ id: 'T0ACME', domain: 'acme' });
		const self = await callSlack(slack, 'auth.test', {});
		expect(self).toMatchObject({ is_enterprise_install: false });
		expect(self).not.toHaveProperty('enterprise_id');
	});
});

describe('people of another organisation', () => {
	it('marks people as strangers only while they share no channel with the app', async () => {
		await start();
		const seen = async (user: string) => (await callSlack(slack, 'users.info', { user })).user as Json;
		expect(await seen('U0SID')).toMatchObject({ is_stranger: true });
		expect(await seen('U0EVE')).not.toHaveProperty('is_stranger');
		await slack.invite('#shared', 'sid');
		expect(await seen('U0SID')).not.toHaveProperty('is_stranger');
		await slack.remove('#shared', 'eve');
		await slack.share('#vault', 'T0OTHER');
		await slack.invite('#vault', 'eve');
		expect(await seen('U0EVE')).toMatchObject({ is_stranger: true });
	});

	it('names people’s team in events of shared channels only', async () => {
		await start();
		await slack.as('eve').mention('#shared', 'hello');
		await slack.as('ada').mention('#agents', 'hello');
		expect(running.heard[0]).toMatchObject({
			is_ext_shared_channel: true,
			context_team_id: 'T0ACME',
			event: {
				team: 'T0OTHER',
				user_team: 'T0OTHER',
				source_team: 'T0OTHER',
				user_profile: { team: 'T0OTHER', real_name: 'Eve Elsewhere' },
			},
		});
		expect(Object.keys(running.heard[1]?.event as Json)).not.toContain('user_team');
	});
});
