import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Modal } from '../../../fake-slack/index.ts';
import { CANARY_STRINGS } from '../../../sandbox/session-service/canaries.ts';
import { startApp } from '../../support/app.ts';
import { openSession } from '../support/open-session.ts';

let app: Awaited<ReturnType<typeof startApp>>;
beforeAll(async () => {
	app = await startApp();
});
afterAll(() => app[Symbol.asyncDispose]());
afterEach(async () => {
	app.slack.settings.undownloadable = () => false;
	await app.slack.as('ada').modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
	expect(app.service.scriptErrors).toEqual([]);
});

const open = (id: string) => openSession(app, id);
const fields = (modal: Modal) => modal.fields().map(({ label, kind }) => [label, kind]);

describe('the modal of a session that asks', () => {
	it('puts the open question first, then the steps, the task and the rest', async () => {
		const text = (await open('demo')).text();
		const order = [
			'Book a flight to Frankfurt',
			'✋ *Waiting for a person* · step 3 of 30',
			'Two flights fit.',
			'Which flight should I book?',
			'LH 1173 at 06:05 for 129 €',
			"I can't answer all of it",
			'Step 3',
			'asks the question above',
			'I enter Lisbon',
			'Step 2 · clicked · input text',
			'Step 1 · opened flights.example',
			'*Task*\nBook me a flight',
			'Travel desk, window seat',
			'[image: ',
			'AIRLINE_PASSWORD',
			'Refresh',
			'Open in the dashboard',
			'[Cancel] [Send answer]',
		].map((part) => [part, text.indexOf(part)] as const);
		expect(order.filter(([, at]) => at === -1)).toEqual([]);
		expect(order.map(([, at]) => at)).toEqual(order.map(([, at]) => at).toSorted((a, b) => a - b));
	});

	it.each([
		[
			'choices',
			[
				['Which colour?', 'radio_buttons'],
				['Something else, for: Which colour?', 'plain_text_input'],
			],
		],
		['yesno', [['Shall I renew it anyway?', 'radio_buttons']]],
		[
			'three',
			[
				['Name (1 of 2)', 'plain_text_input'],
				['Name (2 of 2)', 'plain_text_input'],
				['Affiliation', 'plain_text_input'],
			],
		],
		['code', [['One-time code', 'plain_text_input']]],
		[
			'fields',
			[
				['Number of participants', 'number_input'],
				['Email address', 'email_text_input'],
				['Website URL', 'url_text_input'],
				['Date', 'datepicker'],
				['Start time', 'timepicker'],
			],
		],
		[
			'nulls',
			[
				['Question 1 of 3', 'plain_text_input'],
				['Question 2 of 3', 'plain_text_input'],
				['Question 3 of 3', 'plain_text_input'],
			],
		],
		['unknown', [['Approve?', 'radio_buttons']]],
		[
			'paused',
			[
				['Formal or informal?', 'radio_buttons'],
				['Something else, for: Formal or informal?', 'plain_text_input'],
			],
		],
	])('has a fitting field for each item of %s, in order', async (id, wanted) => {
		const modal = await open(id);
		expect(fields(modal)).toEqual(wanted);
		expect(modal.submitText()).toBe('Send answer');
		expect(modal.fields().filter((field) => field.optional && !field.label.startsWith('Something else'))).toEqual([]);
	});

	it('warns that Slack hides nothing before a field for a secret', async () => {
		expect((await open('code')).text()).toContain('Slack cannot hide what you type');
		expect((await open('choices')).text()).not.toContain('Slack cannot hide');
	});

	it('says that the agent has gone on since', async () => {
		const modal = await open('goneon');
		expect(modal.text()).toContain('The agent has gone on since it asked this. You can still answer.');
		expect(fields(modal)).toEqual([['Budget for each person', 'plain_text_input']]);
	});

	it('takes forty items as bare inputs', async () => {
		const modal = await open('forty');
		expect(modal.fields()).toHaveLength(40);
		expect(modal.fields()[39]?.hint).toBe('Please answer number 40 of the form.');
	});

	it.each([
		['ninetyfive', '95 things at once, more than Slack can show'],
		['toolong', 'so long that the session service would not take an answer'],
	])('sends people with %s to the dashboard and offers no Submit', async (id, words) => {
		const modal = await open(id);
		expect(modal.text()).toContain(words);
		expect(modal.text()).toContain('in the dashboard');
		expect(modal.buttons()).toContain('Open in the dashboard');
		expect(modal.fields()).toEqual([]);
		expect(modal.submitText()).toBeNull();
	});

	it('shows what is hostile as text and nothing of it live', async () => {
		const modal = await open('hostile');
		expect(fields(modal)).toHaveLength(4);
		const sent = JSON.stringify(modal.blocks());
		for (const live of ['<!channel>', '<!here>', '<!everyone>', '<@U0000000001>', '|Your bank>', 'javascript:']) {
			const inMrkdwn = modal
				.blocks()
				.flatMap((block) => JSON.stringify(block).match(/\{"type":"mrkdwn"[^}]*\}/g) ?? [])
				.filter((text) => text.includes(live));
			expect(inMrkdwn).toEqual([]);
		}
		expect(sent).not.toContain('javascript:alert');
		expect(Buffer.byteLength(sent)).toBeLessThan(250_000);
	});
});

describe('the modal of a session that asks nothing', () => {
	it.each([
		['completed', '✅ *Completed* · step 4 of 30', 'The agent is done. It takes no more answers.'],
		['failed', '❌ *Failed* · step 1 of 15 · took 12 min', 'The session failed. It takes no more answers.'],
		['stopped', '⏹️ *Stopped* · step 2 of 40 · took 12 min', 'The session was stopped. It takes no more answers.'],
		['empty', '🟢 *Working* · no step yet', 'The agent is working and has no question right now.'],
	])('says of %s what is going on and offers no Submit', async (id, headline, words) => {
		const modal = await open(id);
		expect(modal.text()).toContain(headline);
		expect(modal.text()).toContain(words);
		expect(modal.submitText()).toBeNull();
		expect(modal.fields()).toEqual([]);
	});

	it('shows the result, the files and what the agent did with them', async () => {
		const modal = await open('completed');
		expect(modal.text()).toContain('*Result*\n*Three suppliers*');
		expect(modal.text()).toContain('See the table (https://suppliers.example/table).');
		expect(modal.text()).toContain('📄 suppliers.csv\n[Open]');
		expect(modal.text()).toContain('Step 3 · saved suppliers.csv');
		expect(modal.text()).toContain('Step 2 · deleted draft.csv');
		expect(await modal.press('Open')).toBe(true);
		expect(await modal.press('Open in the dashboard')).toBe(true);
	});
});

describe('the steps', () => {
	it('are turned over page by page without another read of the service', async () => {
		const modal = await open('report');
		expect(modal.text()).toContain('Law 300');
		expect(modal.buttons()).not.toContain('Newer steps');
		const reads = app.service.log.reads('report').length;
		await modal.press('Older steps');
		await app.slack.as('ada').waitForModal('Market 296');
		expect(modal.text()).not.toContain('Law 300');
		expect(modal.text()).toContain('What should the summary stress?');
		await modal.press('Newer steps');
		await app.slack.as('ada').waitForModal('Law 300');
		expect(app.service.log.reads('report')).toHaveLength(reads);
	});

	it('end with the first one', async () => {
		const modal = await open('completed');
		expect(modal.buttons()).not.toContain('Older steps');
		expect(modal.text()).toContain('I search.');
	});

	it('are read anew by Refresh, in the same modal', async () => {
		app.service.sessions.put('fresh1', {
			status: 'active',
			name: 'Fresh',
			messages: [{ role: 'user', content: 'Go.' }],
		});
		const modal = await open('fresh1');
		expect(modal.text()).toContain('no step yet');
		app.service.sessions.push('fresh1', { role: 'assistant', content: 'I have gone.' });
		await modal.press('Refresh');
		await app.slack.as('ada').waitForModal('I have gone.');
		expect(modal.text()).toContain('step 1 of 30');
		expect(modal.isOpen()).toBe(true);
	});
});

describe('a screenshot', () => {
	it('is shown where Slack can load it', async () => {
		expect((await open('choices')).text()).toContain('[image: ');
	});

	it('is left out with a word where Slack cannot', async () => {
		app.slack.settings.undownloadable = (url) => url.includes('screenshot');
		const modal = await open('choices');
		expect(modal.text()).toContain('Slack could not load the screenshot, so it is left out.');
		expect(modal.text()).not.toContain('[image: ');
		expect(modal.submitText()).toBe('Send answer');
	});
});

describe('what the service sends beside what is documented', () => {
	it('appears in no view, message, log line or metric, and variables only by name', async () => {
		for (const { id } of app.service.sessions.scenarios) {
			const modal = await open(id);
			if (modal.buttons().includes('Older steps')) {
				await modal.press('Older steps');
				await app.slack.as('ada').waitForModal((now) => now.buttons().includes('Newer steps'));
			}
			await modal.close(true);
			app.service.sessions.renewLinks(id);
			await (await open(id)).close(true);
		}
		const said = await app.said();
		expect(CANARY_STRINGS.filter((canary) => said.includes(canary))).toEqual([]);
		expect(said).not.toContain(app.service.apiKey);
		expect(said).toContain('AIRLINE_PASSWORD');
	});
});
