import { MINUTE_MS } from '../../../src/kernel/clock.ts';
import { MOST_PEOPLE } from '../../../src/screens/settings-fields.ts';
import {
	describe,
	expect,
	FEWEST_REQUESTS,
	forCase,
	type Posted,
	type SettingsApp,
	settingsApp,
	withApp,
} from '../../kit.ts';
import { auditRows } from '../../support/audit-rows.ts';

const OFFER = 'Mention me if nobody answers';

const start = (env: Record<string, string> = {}) =>
	forCase(settingsApp({ env: { ...FEWEST_REQUESTS, ...env }, escalates: null }));

/** Presses the button, and what stands in its place then. */
async function pressOffer(app: SettingsApp, reply: Posted): Promise<string> {
	await reply.press(OFFER);
	const inPlace = () => app.onlyFor('ada', '#agents').find(({ ts }) => ts === reply.ts);
	return app.until(() => (inPlace()?.buttons().includes(OFFER) === false ? inPlace()?.text() : undefined));
}

const watchReply = (app: SettingsApp, channel = '#agents', who = 'ada') =>
	app.command(`/session watch ${app.session()}`, who, channel);

const it = withApp(() => settingsApp({ env: FEWEST_REQUESTS, escalates: null }));

describe('the reply to /session watch', () => {
	it('adds whoever presses its button to the people whom the channel mentions, and turns escalation on', async () => {
		const app = await start();
		const reply = await watchReply(app);
		expect(reply.buttons()).toEqual([OFFER]);
		expect(reply.text()).toContain(`\nThe button is for any session in #agents\n[${OFFER}]`);
		const older = await watchReply(app);
		expect(await pressOffer(app, reply)).toContain(
			'🔔 You are mentioned in #agents when a question of any session has asked for 30 min. The channel was told.',
		);
		expect(await app.told(1)).toBe('🔔 ada is mentioned here when nobody answers for 30 min.');
		// Another reply offers it no more; an older one changes nothing.
		expect((await watchReply(app, '#agents', 'grace')).buttons()).toEqual([]);
		await pressOffer(app, older);
		expect(app.changes()).toHaveLength(1);
	});

	it('leaves the time of an escalation that is on', async ({ app }) => {
		await app.save({ 'Escalate after': '2 h' });
		await app.told(1);
		const reply = await watchReply(app);
		expect(await pressOffer(app, reply)).toContain('has asked for 2 h.');
		expect(await app.told(2)).toContain('for 2 h.');
	});

	it('does not let an escalation come before the reminder', async () => {
		const app = await start({ REMIND_AFTER: '45m' });
		const reply = await watchReply(app);
		await pressOffer(app, reply);
		expect(await app.told(1)).toContain('for 1 h 30 min.');
	});

	it('lists what else changes when somebody turns on an escalation in the window too, and keeps whom to mention when it is off', async ({
		app,
	}) => {
		await app.save({ 'Remind after': '5 min', 'Escalate after': '30 min', Mention: ['ada'] });
		const change = await app.told(1);
		expect(change).toContain('ada changed the reminders of this channel');
		expect(change).toContain('Remind after: default (15 min) → 5 min');
		// The list may be kept for later.
		const { modal } = await app.save({ 'Escalate after': 'Off' });
		expect(modal.text()).toContain('Mention: @ada, but not while Escalate after is off');
	});

	it('says that no escalation comes while nobody is named, in a direct message too', async ({ app }) => {
		const WARNING = '⚠️ Nobody is named, so there is no escalation.';
		const { modal } = await app.save({ 'Escalate after': '30 min' });
		expect(modal.text()).toContain(WARNING);
		expect((await app.save({ 'Escalate after': 'Off' })).modal.text()).not.toContain(WARNING);
		expect((await app.save({ 'Escalate after': '30 min' }, { channel: 'dm' })).modal.text()).toContain(WARNING);
	});

	it('means its channel also where Slack took it as a direct message alone', async ({ app }) => {
		app.slack.faults.add({ method: 'response_url', status: 500 });
		app.slack.faults.add({ method: 'chat.postEphemeral', error: 'internal_error' });
		await app.slack.as('ada').command('#agents', `/session watch ${app.session()}`);
		const inDm = (words: string) =>
			app.slack
				.as('ada')
				.dm()
				.find((post) => post.text().includes(words));
		const reply = await app.until(() => inDm(OFFER));
		app.slack.faults.clear();
		await reply.press(OFFER);
		expect(await app.told(1)).toBe('🔔 ada is mentioned here when nobody answers for 30 min.');
		const told = await app.until(() => inDm('🔔 You are mentioned in #agents when'));
		expect([told.ts, told.buttons()]).toEqual([reply.ts, []]);
		expect(app.changes('dm')).toEqual([]);
	});

	it('means the channel of the message when it was posted without a value', async ({ app }) => {
		const reply = await watchReply(app);
		const stored = app.slack.state.messages.find(({ ts }) => ts === reply.ts);
		if (stored?.blocks === undefined) throw new Error('there is no reply');
		stored.blocks = JSON.parse(JSON.stringify(stored.blocks).replace(/,"value":"[^"]*"/, ''));
		expect(JSON.stringify(reply.blocks())).not.toContain('"value"');
		await pressOffer(app, reply);
		expect(await app.told(1)).toContain('ada is mentioned here');
	});

	it('says when the most people are mentioned already, and changes nothing', async ({ app }) => {
		const reply = await watchReply(app);
		await app.save({ 'Escalate after': '30 min', Mention: ['grace'] });
		await app.told(1);
		await app.stop();
		const ids = Array.from({ length: MOST_PEOPLE }, (_, index) => `"U0OTHER${index}"`);
		app.onDatabase((database) => {
			database.exec(`update channel_settings set settings = replace(settings, '"U0GRACE"', '${ids.join()}')`);
		});
		await app.restart();
		const told = await app.toldAfter(() => reply.press(OFFER));
		expect(told.text()).toContain(`🛑 You were not added: ${MOST_PEOPLE} people are mentioned in #agents already`);
		await app.pass(5_000);
		expect(app.changes()).toHaveLength(1);
	});

	it('refuses it to whom the channel does not name as somebody who may answer, and the audit counts that', async ({
		app,
	}) => {
		const reply = await watchReply(app);
		await app.save({ 'Who may answer': ['grace'] }, { who: 'grace' });
		await app.told(1);
		expect((await app.toldAfter(() => reply.press(OFFER))).text()).toContain('may answer');
		const counted = () => auditRows(app.dataDir, 'refused');
		await app.pass(2 * MINUTE_MS);
		expect(counted()).toMatchObject([{ actor: 'U0ADA', outcome: 'not_named', count: 1 }]);
	});

	it('offers it neither in a direct message, nor where no session is watched', async ({ app }) => {
		expect((await watchReply(app, 'dm')).buttons()).toEqual([]);
		expect((await app.command('/session watch never-heard-of')).buttons()).toEqual([]);
	});
});
