import { afterEach, describe, expect, it } from 'vitest';
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

const watchReply = (channel = '#agents', who = 'ada') => app.command(`/session watch ${app.session()}`, who, channel);

describe('the reply to /session watch', () => {
	it('adds whoever presses its button to the people whom the channel mentions, and turns escalation on', async () => {
		await start();
		const reply = await watchReply();
		expect(reply.buttons()).toEqual([OFFER]);
		const told = await app.toldAfter(() => reply.press(OFFER));
		expect(told.text()).toContain('when nobody has answered a question for 30 min.');
		const change = await app.told(1);
		expect(change).toContain('Escalate after*: default (off) → 30 min');
		expect(change).toContain('Mention*: nobody → ada');
		// Another reply offers it no more; an older one adds others.
		expect((await watchReply('#agents', 'grace')).buttons()).toEqual([]);
		await app.toldAfter(() => app.seenBy('ada', reply).press(OFFER));
		expect(app.changes()).toHaveLength(1);
	});

	it('leaves the time of an escalation that is on', async () => {
		await start({ ESCALATE_AFTER: '2h' });
		const reply = await watchReply();
		const told = await app.toldAfter(() => reply.press(OFFER));
		expect(told.text()).toContain('for 2 h.');
		expect(await app.told(1)).not.toContain('Escalate');
	});

	it('does not let an escalation come before the reminder', async () => {
		await start({ REMIND_AFTER: '45m' });
		const reply = await watchReply();
		await app.toldAfter(() => reply.press(OFFER));
		expect(await app.told(1)).toContain('Escalate after*: default (off) → 1 h 30 min');
	});

	it('offers it neither in a direct message, nor where no session is watched', async () => {
		await start();
		expect((await watchReply('dm')).buttons()).toEqual([]);
		expect((await app.command('/session watch never-heard-of')).buttons()).toEqual([]);
	});
});
