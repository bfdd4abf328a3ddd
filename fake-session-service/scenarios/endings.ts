import type { Scenario } from '../agents.ts';
import { asking, done, item, task } from '../builders.ts';
import { CANARIES } from '../canaries.ts';

const START = '2026-01-05T08:00:00.000Z';
const END = '2026-01-05T08:12:30.000Z';

export const failing: Scenario = {
	id: 'fails',
	summary: 'Asks, goes on with the answer, and fails.',
	seed: {
		status: 'active',
		name: 'Cancel the old subscription',
		maxSteps: 15,
		messages: [task('Cancel our old newsletter subscription.'), done('I have logged in.', { click: { index: 1 } })],
		files: [],
	},
	async play(agent) {
		const [reason = ''] = await agent.ask('The page wants a reason for the cancellation.', [item('Reason')]);
		await agent.wait(2000);
		agent.step(`I enter “${reason}” and press Cancel.`, { click: { index: 9 } });
		await agent.wait(3000);
		agent.step('The page answers with an error three times in a row. I give up.');
		agent.status('failed');
	},
};

export const failed: Scenario = {
	id: 'failed',
	summary: 'Has failed with its question unanswered.',
	seed: {
		status: 'failed',
		name: 'Order printer paper',
		startTime: START,
		endTime: END,
		maxSteps: 15,
		messages: [task('Order printer paper.'), asking('Which brand?', [item('Brand')])],
		files: [],
	},
};

export const stopped: Scenario = {
	id: 'stopped',
	summary: 'Was stopped by somebody while it asked.',
	seed: {
		status: 'stopped',
		name: 'Compare insurance offers',
		startTime: START,
		endTime: END,
		maxSteps: 40,
		messages: [
			task('Compare three insurance offers.'),
			done('I read the first offer.', { scroll_down: { amount: 800 } }),
			asking('Which deductible do you want?', [item('Deductible', 'One of: 150 €, 300 €, 500 €')]),
		],
		files: [],
	},
};

/** A paused session accepts an answer, and reads it when somebody resumes it. */
export const paused: Scenario = {
	id: 'paused',
	summary: 'Paused with an open question: the answer is read when somebody resumes it.',
	seed: {
		status: 'paused',
		name: 'Translate the brochure',
		maxSteps: 25,
		messages: [task('Translate the brochure into French.')],
		files: [],
	},
	async play(agent) {
		const index = agent.pose('The brochure addresses customers informally.', [
			item('Formal or informal?', 'One of: Formal (vous) | informal (tu)'),
		]);
		agent.status('paused');
		const [tone = ''] = await agent.answered(index);
		agent.step(`I translate with “${tone}”.`);
		await agent.wait(4000);
		agent.complete('The brochure is translated.');
	},
};

export const inactive: Scenario = {
	id: 'inactive',
	summary: 'Inactive since nobody answered; it goes on with an answer.',
	seed: {
		status: 'inactive',
		name: 'Collect the team’s sizes',
		maxSteps: 25,
		messages: [task('Order T-shirts for the team.')],
		files: [],
	},
	async play(agent) {
		const index = agent.pose('The form wants the number of shirts.', [item('How many?', 'A number')]);
		agent.status('inactive');
		const [count = ''] = await agent.answered(index);
		agent.step(`I go on and order ${count} shirts.`);
		await agent.wait(3000);
		agent.complete('The shirts are ordered.');
	},
};

export const asleep: Scenario = {
	id: 'asleep',
	summary: 'Asks while its machine is stopped: an answer is saved, and the service reports a failure each time.',
	seed: {
		status: 'humanInput',
		podStatus: 'stopped',
		name: 'Book the meeting room',
		maxSteps: 25,
		messages: [task('Book a room for Friday.'), asking('Two rooms are free.', [item('Which room?')])],
		files: [],
	},
};

export const completed: Scenario = {
	id: 'completed',
	summary: 'Completed, with three files (one was deleted again), a result in Markdown and a screenshot.',
	seed: {
		status: 'active',
		name: 'Research e-bike suppliers',
		maxSteps: 30,
		sessionVariables: [{ name: 'PORTAL_TOKEN', value: CANARIES.variable }],
		messages: [
			task('Find three e-bike suppliers and make a table.'),
			done('I search.', { search_google: { query: 'e-bike wholesale' } }),
			done('I save a first list.', {
				save_to_file: { file_path: `/data/${CANARIES.filePath}/draft.csv`, filename: 'draft.csv', status: 'deleted' },
			}),
			done('I save the table.', {
				save_to_file: { file_path: `/data/${CANARIES.filePath}/suppliers.csv`, filename: 'suppliers.csv' },
			}),
		],
		files: [],
	},
	async play(agent) {
		agent.complete(
			'# Three suppliers\n\n| Name | Price |\n|---|---|\n| **Velo One** | 1,190 € |\n| Rad & Co | 1,240 € |\n\nSee [the table](https://suppliers.example/table).',
			{
				'suppliers.csv': { type: 'text/csv; charset=utf-8', content: 'name,price\nVelo One,1190\nRad & Co,1240\n' },
				'notes (final).md': { type: 'text/markdown; charset=utf-8', content: '# Notes\n\nPrices without tax.\n' },
			},
		);
	},
};
