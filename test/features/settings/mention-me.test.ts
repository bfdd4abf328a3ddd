import { afterEach, describe, expect, it } from 'vitest';
import type { Posted } from '../../../fake-slack/index.ts';
import { expectNothingWrong, FEWEST_REQUESTS } from '../watch/harness.ts';
import { type SettingsApp, settingsApp } from './harness.ts';

const OFFER = 'Mention me if nobody answers';
let app: SettingsApp;

afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const start = async (env: Record<string, string> = {}) => {
	app = await settingsApp({ env: { ...FEWEST_REQUESTS, ESCALATE_AFTER: 'off', ...env } });
};

/** Presses the button, and what stands in its place then. */
async function pressOffer(reply: Posted): Promise<string> {
	await reply.press(OFFER);
	const inPlace = () => app.onlyFor('ada', '#agents').find(({ ts }) => ts === reply.ts);
	return app.until(() => (inPlace()?.buttons().includes(OFFER) === false ? inPlace()?.text() : undefined));
}

const watchReply = (channel = '#agents', who = 'ada') => app.command(`/session watch ${app.session()}`, who, channel);

describe('the reply to /session watch', () => {
	it('adds whoever presses its button to the people whom the channel mentions, and turns escalation on', async () => {
		await start();
		const reply = await watchReply();
		expect(reply.buttons()).toEqual([OFFER]);
		const older = await watchReply();
		expect(await pressOffer(reply)).toContain(
			'🔔 You are mentioned here when a question of any session waits 30 min. The channel was told.',
		);
		expect(await app.told(1)).toBe('🔔 ada is mentioned here when nobody answers for 30 min.');
		// Another reply offers it no more; an older one changes nothing.
		expect((await watchReply('#agents', 'grace')).buttons()).toEqual([]);
		await pressOffer(older);
		expect(app.changes()).toHaveLength(1);
	});

	it('leaves the time of an escalation that is on', async () => {
		await start({ ESCALATE_AFTER: '2h' });
		const reply = await watchReply();
		expect(await pressOffer(reply)).toContain('waits 2 h.');
		expect(await app.told(1)).toContain('for 2 h.');
	});

	it('does not let an escalation come before the reminder', async () => {
		await start({ REMIND_AFTER: '45m' });
		const reply = await watchReply();
		await pressOffer(reply);
		expect(await app.told(1)).toContain('for 1 h 30 min.');
	});

	it('lists what else changes when somebody turns on an escalation in the window too', async () => {
		await start();
		await app.save({ 'Remind after': '5 min', 'Escalate after': '30 min', Mention: ['ada'] });
		const change = await app.told(1);
		expect(change).toContain('ada changed the reminders of this channel');
		expect(change).toContain('Remind after*: default (15 min) → 5 min');
	});

	it('says of an escalation that mentions nobody that it notifies nobody, but not in a direct message', async () => {
		await start();
		const WARNING = '⚠️ Nobody is mentioned, so nobody is notified.';
		const { modal } = await app.save({ 'Escalate after': '30 min' });
		expect(modal.text()).toContain(WARNING);
		expect((await app.save({ 'Escalate after': 'Off' })).modal.text()).not.toContain(WARNING);
		expect((await app.save({ 'Escalate after': '30 min' }, { channel: 'dm' })).modal.text()).not.toContain(WARNING);
	});

	it('offers it neither in a direct message, nor where no session is watched', async () => {
		await start();
		expect((await watchReply('dm')).buttons()).toEqual([]);
		expect((await app.command('/session watch never-heard-of')).buttons()).toEqual([]);
	});
});
