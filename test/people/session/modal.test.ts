import { CANARY_STRINGS } from '../../../fake-session-service/canaries.ts';
import { GONE_ON } from '../../../src/screens/form.ts';
import { noFormWords } from '../../../src/screens/question.ts';
import { NOTE_LABEL } from '../../../src/slack/form/build.ts';
import { statusWords } from '../../../src/slack/phrases.ts';
import {
	type App,
	answerFields,
	describe,
	expect,
	forCase,
	type Modal,
	openSession,
	startApp,
	withApp,
} from '../../kit.ts';

const it = withApp(startApp);

const open = (app: App, id: string) => openSession(app, id);
const fields = (modal: Modal) => answerFields(modal).map(({ label, kind }) => `${label} ${kind}`);

describe('the modal of a session that asks', () => {
	it('shows the open question first, then the steps, the task and the other parts', async ({ app }) => {
		const text = (await open(app, 'demo')).text();
		const order = [
			`✋ Book a flight to Frankfurt ${statusWords('humanInput').words} · step 3`,
			'> Two flights fit.',
			'[image: ',
			'Which flight should I book?',
			'LH 1173 at 06:05 for 129 €',
			NOTE_LABEL,
			'[…]',
			'Task\n> Book me a flight',
			'I enter Lisbon',
			'Step 2 · clicked · typed',
			'Step 1 · opened flights.example',
			'Travel desk, window seat',
			'Refresh',
			'History',
			'Open in the dashboard',
			'[Cancel] [Send answer]',
		].map((part) => [part, text.indexOf(part)] as const);
		expect(order.filter(([, at]) => at === -1)).toEqual([]);
		expect(order.map(([, at]) => at)).toEqual(order.map(([, at]) => at).toSorted((a, b) => a - b));
	});

	it.for([
		[
			'several',
			[
				'Which toppings? Select all that apply. checkboxes',
				'Pick 2 drinks multi_static_select',
				'Which invoices go with it? Select all that apply. checkboxes',
				`${NOTE_LABEL} to question 3 plain_text_input`,
			],
		],
		[
			'three',
			[
				'Name (question 1 of 3) plain_text_input',
				'Name (question 2 of 3) plain_text_input',
				'Affiliation plain_text_input',
			],
		],
		[
			'fields',
			[
				'Number of participants number_input',
				'Email address email_text_input',
				'Website URL url_text_input',
				'Date datepicker',
				'Start time timepicker',
			],
		],
		[
			'nulls',
			['Question 1 of 3 plain_text_input', 'Question 2 of 3 plain_text_input', 'Question 3 of 3 plain_text_input'],
		],
	] as const)('shows a suitable field for each item of %s, in order', async ([id, wanted], { app }) => {
		const modal = await open(app, id);
		expect(fields(modal)).toEqual(wanted);
		expect(modal.submitText()).toBe('Send answer');
		// An own text is enough where there are options.
		const optional = answerFields(modal).filter((field) => field.optional && !field.label.startsWith(NOTE_LABEL));
		expect(optional.every(({ options }) => options.length > 0)).toBe(true);
	});

	it('says that the agent has continued since the question, and shows forty items as inputs only', async ({ app }) => {
		const modal = await open(app, 'goneon');
		expect(modal.text()).toContain(GONE_ON);
		expect(fields(modal)).toEqual(['Budget for each person plain_text_input']);
		const long = await open(app, 'forty');
		expect(answerFields(long)).toHaveLength(40);
		expect(answerFields(long)[39]?.hint).toBe('Please answer number 40 of the form.');
	});

	it.for([
		['ninetyfive', { kind: 'tooMany', count: 95 }],
		['toolong', { kind: 'tooLarge' }],
	] as const)('refers people with %s to the dashboard and offers no Submit', async ([id, form], { app }) => {
		const modal = await open(app, id);
		expect(modal.text()).toContain(noFormWords(form, true));
		expect(modal.buttons()).toContain('Open in the dashboard');
		expect(answerFields(modal)).toEqual([]);
		expect(modal.submitText()).toBeNull();
	});
});

describe('the modal of a session that asks nothing', () => {
	it.for([
		['completed', '· done · step 4'],
		['failed', '· failed · step 1 · took 12 min'],
		['stopped', '· stopped · step 2 · took 12 min'],
		['empty', '· working · no step yet', 'active'],
	] as const)('shows the state of %s and offers no Submit', async ([id, headline, status = id], { app }) => {
		const modal = await open(app, id);
		expect(modal.text()).toContain(headline);
		expect(modal.text()).toContain(statusWords(status).meaning);
		expect(modal.submitText()).toBeNull();
		// Nobody can watch what is over.
		expect(modal.buttons().includes('Watch in this channel')).toBe(status === 'active');
		expect(answerFields(modal)).toEqual([]);
	});

	it('shows the result, the files and what the agent did with them, from its first step on', async ({ app }) => {
		const modal = await open(app, 'completed');
		expect(modal.text()).toContain("The agent's result\n> # Three suppliers\n");
		expect(modal.text()).toContain('See the table (https://suppliers.example/table).');
		expect(modal.text()).toContain('📄 suppliers.csv\n[Open]');
		expect(modal.text()).toContain('Step 3 · saved suppliers.csv');
		expect(modal.text()).toContain('Step 2 · deleted draft.csv');
		expect(modal.text()).toContain('I search.');
		expect(modal.buttons()).not.toContain('Older steps');
		expect(await modal.press('Open')).toBe(true);
		expect(await modal.press('Open in the dashboard')).toBe(true);
	});
});

describe('the steps', () => {
	it('shows other pages of steps without another read of the service', async ({ app }) => {
		const modal = await open(app, 'report');
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

	it('shows the steps of a newer reading, and says so, after another person read the session', async ({ app }) => {
		const steps = (count: number) =>
			Array.from({ length: count }, (_, n) => ({ role: 'assistant', content: `I do thing ${n + 1}.` }));
		app.service.sessions.put('pages1', { status: 'active', messages: steps(8) });
		const modal = await open(app, 'pages1');
		await modal.press('Older steps');
		await app.slack.as('ada').waitForModal('I do thing 3.');
		expect(modal.text()).not.toContain('The session was read again');
		app.service.sessions.push('pages1', { role: 'assistant', content: 'I do thing 9.' });
		await (await openSession(app, 'pages1', 'grace')).close(true);
		const reads = app.service.log.reads('pages1').length;
		await modal.press('Newer steps');
		await app.slack.as('ada').waitForModal('I do thing 9.');
		expect(modal.text()).toContain('The session was read again. Steps may have moved to other pages.');
		await modal.press('Older steps');
		await app.slack.as('ada').waitForModal('I do thing 4.');
		expect(modal.text()).not.toContain('The session was read again');
		expect(app.service.log.reads('pages1')).toHaveLength(reads);
	});

	it('reads the steps again, and says so, when the reading is not in memory any more', async () => {
		// Sessions of 20 MB take long on a busy machine, and a read that is given up is repeated.
		const app = await forCase(startApp({ env: { SESSION_SERVICE_TIMEOUT_MS: '60000' } }));
		const large = (name: string) => ({
			status: 'active',
			messages: [
				// Of items, all that was sent is kept for the PUT.
				{ role: 'user', content: 'Work.', human_input: [{ title: 'x'.repeat(20_000_000) }] },
				...Array.from({ length: 8 }, (_, n) => ({ role: 'assistant', content: `${name} does thing ${n + 1}.` })),
			],
		});
		app.service.sessions.put('large1', large('One'));
		app.service.sessions.put('large2', large('Two'));
		const modal = await openSession(app, 'large1');
		await (await openSession(app, 'large2', 'grace')).close(true);
		await modal.press('Older steps');
		await app.slack.as('ada').waitForModal('One does thing 3.');
		expect(modal.text()).toContain('The session was read again.');
		expect(app.service.log.reads('large1')).toHaveLength(2);
		await modal.press('Newer steps');
		await app.slack.as('ada').waitForModal('One does thing 8.');
		expect(app.service.log.reads('large1')).toHaveLength(2);
	});

	it('reads the steps again on Refresh, in the same modal', async ({ app }) => {
		app.service.sessions.put('fresh1', {
			status: 'active',
			name: 'Fresh',
			messages: [{ role: 'user', content: 'Go.' }],
		});
		const modal = await open(app, 'fresh1');
		expect(modal.text()).toContain('no step yet');
		app.service.sessions.push('fresh1', { role: 'assistant', content: 'I have gone.' });
		await modal.press('Refresh');
		await app.slack.as('ada').waitForModal('I have gone.');
		expect(modal.text()).toContain('step 1');
		expect(modal.isOpen()).toBe(true);
	});
});

const files = [
	['minutes.txt', 'https://bucket.storage.example/minutes.txt?sig=1'],
	['ours.txt', 'https://dashboard.example.com/ours.txt'],
	['router.txt', 'https://192.168.0.1/router.txt'],
	['metadata.txt', 'https://[::ffff:a9fe:a9fe]/latest/meta-data'],
	['plain.txt', 'http://bucket.storage.example/plain.txt'],
	['script.txt', 'javascript:alert(1)'],
	['named.txt', 'https://dashboard.example.com@evil.example/named.txt'],
	['later.txt', null],
].map(([filename, signedUrl]) => ({ filename, signedUrl, timestamp: null }));
const put = (app: App, lastScreenshotUrl: string) =>
	app.service.sessions.put('links1', {
		status: 'active',
		messages: [{ role: 'user', content: 'Go.' }],
		files,
		lastScreenshotUrl,
	} as never);

it('shows the hosts of links, and which links are refused', async ({ app }) => {
	put(app, 'https://bucket.storage.example:8443/screen.png');
	const modal = await open(app, 'links1');
	expect(modal.text()).toContain('📄 minutes.txt\nat bucket.storage.example\n[Open]');
	expect(modal.text()).toContain('📄 ours.txt\n[Open]');
	for (const name of ['router', 'metadata', 'plain', 'script', 'named', 'later']) {
		expect(modal.text()).toMatch(new RegExp(`📄 ${name}.txt\\n(?!at|\\[Open)`));
	}
	expect(modal.text()).toContain('2 files: links not shown (private network)');
	expect(modal.text()).toContain('2 files: links not shown (not https)');
	expect(modal.text()).toContain('1 file: link not shown (user name in the link)');
	expect(modal.text()).toContain('at bucket.storage.example:8443');
	const sent = JSON.stringify(modal.blocks());
	for (const { signedUrl } of files.slice(2, 7)) expect(sent).not.toContain(signedUrl);
	put(app, 'https://intranet/screen.png');
	const other = await open(app, 'links1');
	expect(other.text()).not.toContain('[image: ');
	expect(other.text()).toContain('Latest screenshot: link not shown (private network)');
});

it('shows undocumented content in no view, message, log line or metric, and no variable', async ({ app }) => {
	for (const { id } of app.service.sessions.scenarios) {
		const modal = await open(app, id);
		if (modal.buttons().includes('Older steps')) {
			await modal.press('Older steps');
			await app.slack.as('ada').waitForModal((now) => now.buttons().includes('Newer steps'));
		}
		await modal.close(true);
		app.service.sessions.renewLinks(id);
		await (await open(app, id)).close(true);
	}
	const said = await app.said();
	expect(CANARY_STRINGS.filter((canary) => said.includes(canary))).toEqual([]);
	expect(said).not.toContain(app.service.apiKey);
	expect(said).not.toContain('AIRLINE_PASSWORD');
});
