import { afterEach, expect, it } from 'vitest';
import { waitingCountWords } from '../../../src/features/inbox/view.ts';
import { OUTSIDE } from '../../../src/features/watch/post-view.ts';
import { expectNothingWrong } from '../watch/harness.ts';
import { type InboxApp, inboxApp } from './harness.ts';

const MINUTE = 60_000;
let app: InboxApp;
/** Minutes pass, in which few reads suffice. */
const start = async () => {
	app = await inboxApp({ env: { SESSION_SERVICE_RPM: '10' } });
};
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const home = (who = 'ada') => {
	const view = app.slack.as(who).home();
	if (view === null) throw new Error(`${who} has no Home`);
	return view;
};
const SHOWN = waitingCountWords(1, 0);
const SNOOZED = waitingCountWords(0, 1);

/** A question that Ada has snoozed in Home. */
async function snoozed(label: string): Promise<string> {
	const [id = ''] = await app.askedIn('#agents', ['Chairs']);
	await app.openHome();
	await home().press(label);
	await app.homeSays(SNOOZED);
	return id;
}

it('Snooze hides a question in one inbox alone, and shows it again by itself when the time has come', async () => {
	await start();
	await app.askedIn('#agents', ['Chairs']);
	await app.openHome('grace');
	await app.openHome();
	const before = app.now();
	const snoozedAt = app.clock.now();
	await home().press('Snooze for 15 min');
	await app.homeSays(SNOOZED, { without: ['“Chairs”'] });
	expect(app.textOf('ada')).toContain('1 question is snoozed. It comes back here');
	await app.pass(5 * MINUTE);
	await app.homeSays(SHOWN, { who: 'grace' });
	expect([...app.calls('chat.update', before), ...app.calls('chat.postMessage', before)]).toEqual([]);
	// The inbox follows changes for ten minutes only.
	await app.pass(9 * MINUTE);
	expect(app.textOf('ada')).toContain(SNOOZED);
	await app.homeSays(SHOWN);
	expect(app.clock.now() - snoozedAt).toBeGreaterThanOrEqual(15 * MINUTE);
	expect(app.clock.now() - snoozedAt).toBeLessThan(15 * MINUTE + 5_000);
});

it.each(['users.conversations', 'users.info'])(
	'Snooze ends though %s fails just then, and leaves what Home shows until Slack tells again',
	async (method) => {
		await start();
		await app.askedIn('#agents', ['Chairs']);
		await app.openHome();
		// Longer than the inbox is followed and what Slack told is kept.
		await home().press('Snooze for 1 h');
		await app.homeSays(SNOOZED);
		await app.pass(59 * MINUTE);
		const before = app.publishedTo();
		const lift = app.slack.faults.add({ method, error: 'internal_error' });
		await app.pass(2 * MINUTE);
		expect(app.publishedTo()).toBe(before);
		lift();
		await app.homeSays(SHOWN);
	},
);

it('Snooze hides it in the window too, after a restart, and shows it again with one press', async () => {
	await start();
	await app.askedIn('#agents', ['Chairs', 'Tables']);
	await app.openHome();
	await home().press('Snooze for 1 h');
	await app.homeSays(waitingCountWords(1, 1), { without: ['“Chairs”'] });
	await app.restart();
	await app.slack.as('ada').command('#agents', '/session inbox');
	await app.windowSays(waitingCountWords(1, 1), { without: ['“Chairs”'] });
	await app.slack.as('ada').modal()?.press('Show now');
	await app.windowSays(waitingCountWords(2, 0), { without: ['snoozed'] });
	await app.homeSays(waitingCountWords(2, 0), { without: ['snoozed'] });
});

it('Snooze does not hide what the agent asks instead', async () => {
	await start();
	const id = await snoozed('Snooze for 1 h');
	app.service.sessions.answerAsPage(id, ['red']);
	app.ask(id, ['Which size?']);
	await app.homeSays('Which size?', { without: ['snoozed'] });
});

it('Snooze does not hide a later question with the same words', async () => {
	await start();
	const id = await snoozed('Snooze until tomorrow 9:00');
	app.service.sessions.answerAsPage(id, ['red']);
	await app.threadSays(id, OUTSIDE);
	await app.homeSays(waitingCountWords(0, 0));
	app.ask(id);
	await app.homeSays(SHOWN, { without: ['snoozed'] });
});

it('Snooze lasts until tomorrow 9:00 where the person is', async () => {
	await start();
	const ada = app.slack.state.people.find(({ name }) => name === 'ada');
	if (ada === undefined) throw new Error('there is no ada');
	ada.tz = 'Asia/Tokyo';
	await snoozed('Snooze until tomorrow 9:00');
	const [, seconds] = /<!date\^(\d+)\^[^>]*>\. Only your inbox/.exec(JSON.stringify(home().blocks())) ?? [];
	const until = new Date(Number(seconds) * 1_000);
	expect(until.toISOString().slice(11)).toBe('00:00:00.000Z');
	expect(until.getTime() - app.clock.now()).toBeGreaterThan(9 * 60 * MINUTE);
	expect(until.getTime() - app.clock.now()).toBeLessThanOrEqual(33 * 60 * MINUTE);
	expect(app.slack.as('ada').dm()).toEqual([]);
});

it.each([null, 'PST', 'Mars/Olympus'])('Snooze says which time zone it used when Slack tells %s', async (tz) => {
	await start();
	const ada = app.slack.state.people.find(({ name }) => name === 'ada');
	if (ada === undefined) throw new Error('there is no ada');
	ada.tz = tz;
	await snoozed('Snooze until tomorrow 9:00');
	const told = await app.until(() => app.slack.as('ada').dm()[0]);
	expect(told.text()).toContain('That is 9:00 UTC');
});
