import { afterEach, describe, expect, it } from 'vitest';
import { waitingCountWords } from '../../../src/features/inbox/view.ts';
import { whatHappened } from '../../support/sentences.ts';
import { expectNothingWrong, SOME_REQUESTS } from '../watch/harness.ts';
import { type InboxApp, inboxApp } from './harness.ts';

let app: InboxApp;
const start = async (options: Parameters<typeof inboxApp>[0] = {}) => {
	app = await inboxApp({ ...options, env: { ...SOME_REQUESTS, ...options.env } });
};
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

const NOTHING = waitingCountWords(0, 0);
const updates = (viewId: string) =>
	app.slack.traffic.calls('views.update').filter(({ request }) => (request as { view_id?: string }).view_id === viewId);

async function openWindow(who = 'ada') {
	await app.slack.as(who).command('#agents', '/session inbox');
	await app.windowSays('[Refresh]', { who });
	const modal = app.slack.as(who).modal();
	if (modal === null) throw new Error('there is no window');
	return modal;
}

describe('/session inbox', () => {
	it('shows the inbox in a window that follows changes', async () => {
		await start();
		const id = await app.watched({ name: 'Chairs' });
		await openWindow();
		await app.windowSays(NOTHING);
		app.ask(id);
		await app.windowSays(waitingCountWords(1, 0));
		app.service.sessions.answerAsPage(id, ['red']);
		await app.windowSays(NOTHING);
	});

	it('opens the form on top, for the channel of the question, and has the newest state under it', async () => {
		await start();
		const [id = ''] = await app.askedIn('#agents', ['Chairs', 'Tables']);
		const inbox = await openWindow();
		await inbox.press('Answer', 0);
		const form = await app.slack
			.as('ada')
			.waitForModal((modal) => modal.id !== inbox.id && modal.text().includes('Which colour?'));
		await form.fill(0, 'grey');
		await form.submit();
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
		await app.slack.as('ada').modal()?.close();
		await app.windowSays(waitingCountWords(1, 0), { without: ['“Chairs”'] });
		expect(app.slack.as('ada').modal()?.id).toBe(inbox.id);
	});

	it('pages through 25 questions, ten at a time, and misses none', { timeout: 180_000 }, async () => {
		await start();
		const names = Array.from({ length: 25 }, (_, index) => `Order ${String(index).padStart(2, '0')}`);
		await app.askedIn('#agents', names);
		const inbox = await openWindow();
		const namesShown = () => [...inbox.text().matchAll(/“(Order \d\d)”/g)].map(([, name]) => name);
		expect(inbox.text()).toContain(waitingCountWords(25, 0));
		expect(inbox.text()).toContain('Questions 1 to 10 of 25, oldest first.');
		const pages = [namesShown()];
		await inbox.press('Next 10');
		await app.windowSays('Questions 11 to 20 of 25');
		pages.push(namesShown());
		await inbox.press('Next 5');
		await app.windowSays('Questions 21 to 25 of 25');
		pages.push(namesShown());
		expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
		expect(new Set(pages.flat())).toEqual(new Set(names));
		expect(inbox.buttons().filter((label) => label.startsWith('Next'))).toEqual([]);
		await inbox.press('Previous 10');
		await app.windowSays('Questions 11 to 20 of 25');
		expect(namesShown()).toEqual(pages[1]);
	});

	it('shows the last page that is left when the questions of a page are answered', async () => {
		await start();
		const ids = await app.askedIn(
			'#agents',
			Array.from({ length: 11 }, (_, index) => `Order ${index}`),
		);
		const inbox = await openWindow();
		await inbox.press('Next 1');
		await app.windowSays('Question 11 of 11');
		const last = Number(/“Order (\d+)”/.exec(inbox.text())?.[1]);
		app.service.sessions.answerAsPage(ids[last] ?? '', ['red']);
		await app.windowSays(waitingCountWords(10, 0));
		expect(inbox.text().match(/“Order \d+”/g)).toHaveLength(10);
		expect(inbox.buttons().filter((label) => /Next|Previous/.test(label))).toEqual([]);
	});

	it('updates no window that was closed', async () => {
		await start();
		const id = await app.watched();
		const inbox = await openWindow();
		await app.pass(1_000);
		const before = updates(inbox.id).length;
		await inbox.close();
		app.ask(id);
		await app.pass(30_000);
		expect(updates(inbox.id)).toHaveLength(before);
	});

	it('gives up a window that Slack does not know any more', async () => {
		await start();
		const id = await app.watched();
		const inbox = await openWindow();
		app.slack.forgetViews([inbox.id]);
		app.ask(id);
		await app.until(() => updates(inbox.id).some(({ answer }) => JSON.stringify(answer).includes('not_found')));
		const before = updates(inbox.id).length;
		app.service.sessions.answerAsPage(id, ['red']);
		await app.pass(90_000);
		expect(updates(inbox.id)).toHaveLength(before);
	});

	it('says what to do when the trigger is lost', async () => {
		await start();
		app.slack.faults.add({ method: 'views.open', error: 'expired_trigger_id' });
		const told = await app.command('/session inbox');
		expect(told.text()).toContain('Open the *Home* tab of this app');
	});

	it('slows down a person who opens it over and over', async () => {
		await start({ env: { PERSON_BURST: '2', PERSON_READS_PER_MINUTE: '2' } });
		for (let opened = 0; opened < 4; opened++) await openWindow();
		const told = await app.command('/session inbox');
		expect(told.text()).toContain(whatHappened('too_fast'));
	});
});
