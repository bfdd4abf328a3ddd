import type { Scenario } from '../agents.ts';
import { done, item, task } from '../builders.ts';
import { CANARIES } from '../canaries.ts';

const PAGES = ['Market', 'Prices', 'Suppliers', 'Risks', 'Law'];

const steps = Array.from({ length: 300 }, (_, n) =>
	done(
		`### ${PAGES[n % PAGES.length]} ${n + 1}\n\nI read source ${n + 1} and noted **${(n * 7) % 90} figures**.\n\n- first finding of step ${n + 1}\n- second finding with \`code\`\n\n${'It goes into some detail here. '.repeat(12)}`,
		n % 3 === 0
			? { go_to_url: { url: `https://source-${n}.example/report?token=${CANARIES.urlToken}` } }
			: { click: { index: n, xpath: CANARIES.elementPath } },
	),
);

const REPORT = [
	'# Report\n',
	...PAGES.map(
		(page) =>
			`## ${page}\n\n| Year | Value |\n|---|---|\n| 2024 | 12 |\n| 2025 | 15 |\n\n${'A finding with **weight**. '.repeat(60)}\n`,
	),
].join('\n');

export const report: Scenario = {
	id: 'report',
	summary: 'A long run: 300 steps, a question, then a long report in Markdown.',
	seed: {
		status: 'active',
		name: 'Market report',
		maxSteps: 400,
		messages: [task('Write a market report about e-bikes with sources.'), ...steps],
		files: [],
	},
	async play(agent) {
		const [focus = ''] = await agent.ask('I have enough material for two emphases.', [
			item('What should the summary stress?', 'Prices, suppliers or both? Write as much as you like.'),
		]);
		await agent.wait(2000);
		agent.step(`I stress “${focus}”.`);
		await agent.wait(4000);
		agent.complete(REPORT, { 'report.md': { type: 'text/markdown; charset=utf-8', content: REPORT } });
	},
};

/** Never asks: for watching. Ends after 500 steps. */
export const busy: Scenario = {
	id: 'busy',
	summary: 'Steps every 3 s and never asks.',
	seed: {
		status: 'active',
		name: 'Check 500 listings',
		maxSteps: 500,
		messages: [task('Check 500 listings.')],
		files: [],
	},
	async play(agent) {
		for (let n = 1; n <= 500; n++) {
			agent.step(`Listing ${n} is ${n % 7 === 0 ? 'gone' : 'still there'}.`, { click: { index: n } });
			await agent.wait(3000);
		}
		agent.complete('500 listings checked.');
	},
};

export const stepping: Scenario = {
	id: 'stepping',
	summary: 'Begins now, does four steps, asks, goes on, asks again, completes: for watching from the start.',
	seed: {
		status: 'active',
		name: 'Prepare the newsletter',
		maxSteps: 20,
		messages: [task('Prepare the newsletter.')],
		files: [],
	},
	async play(agent) {
		for (const text of ['I open the editor.', 'I collect the news.', 'I write a draft.', 'I add pictures.']) {
			await agent.wait(4000);
			agent.step(text, { click: { index: 3 } });
		}
		await agent.wait(4000);
		const [subject = ''] = await agent.ask('The draft is ready.', [
			item('Subject line', 'One line, at most 60 characters'),
		]);
		await agent.wait(3000);
		agent.step(`The subject is “${subject}”.`, { input_text: { index: 1 } });
		await agent.wait(4000);
		const [send = ''] = await agent.ask('A test copy is in your inbox.', [item('Send it now?', 'Yes or no')]);
		await agent.wait(3000);
		agent.complete(`The newsletter “${subject}” is prepared. Send now: ${send}.`);
	},
};

export const quiet: Scenario = {
	id: 'quiet',
	summary: 'Nothing happens for an hour, then one question.',
	seed: {
		status: 'active',
		name: 'Wait for the supplier’s reply',
		maxSteps: 10,
		messages: [task('Tell me when the supplier replies.'), done('I wait for the reply.', { wait: { seconds: 3600 } })],
		files: [],
	},
	async play(agent) {
		await agent.wait(60 * 60 * 1000);
		const [price = ''] = await agent.ask('The supplier has replied.', [
			item('Accept the price of 1,210 €?', 'Yes or no'),
		]);
		agent.step(`I tell the supplier “${price}”.`);
		agent.complete('The supplier knows.');
	},
};
