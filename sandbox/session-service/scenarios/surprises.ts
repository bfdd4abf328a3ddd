import type { Scenario } from '../agents.ts';
import { asking, done, item, task } from '../builders.ts';

export const elsewhere: Scenario = {
	id: 'elsewhere',
	summary: 'Somebody else answers through the service’s web page after 8 s.',
	seed: {
		status: 'active',
		name: 'Reply to the landlord',
		maxSteps: 20,
		messages: [task('Reply to the landlord’s letter.')],
		files: [],
	},
	async play(agent) {
		const index = agent.pose('He proposes two days for the visit.', [item('Which day?', 'Monday or Wednesday?')]);
		await agent.wait(8000);
		agent.page(['Wednesday']);
		const [day = ''] = await agent.answered(index);
		await agent.wait(1500);
		agent.step(`I reply that ${day} suits us.`);
		await agent.wait(3000);
		agent.complete(`Replied: ${day}.`);
	},
};

export const changing: Scenario = {
	id: 'changing',
	summary: 'The question changes after 8 s, while one looks at it.',
	seed: {
		status: 'active',
		name: 'Buy concert tickets',
		maxSteps: 20,
		messages: [task('Buy two tickets for Saturday.')],
		files: [],
	},
	async play(agent) {
		const index = agent.pose('Two rows have seats together.', [item('Which row?', 'One of: 4, 12')]);
		await agent.wait(8000);
		agent.change((json) => {
			const message = json.messages?.[index];
			if (message === undefined) return;
			message.content = 'Row 4 was sold meanwhile.';
			message.human_input = [item('Which row?', 'One of: 12, 17'), item('Note for the seller')];
		});
		const [row = ''] = await agent.answered(index);
		agent.step(`I take row ${row}.`);
		await agent.wait(3000);
		agent.complete(`Two tickets in row ${row}.`);
	},
};

export const goneOn: Scenario = {
	id: 'goneon',
	summary: 'The agent has gone on since it asked; the question may still be answered.',
	seed: {
		status: 'active',
		name: 'Plan the team trip',
		maxSteps: 30,
		messages: [
			task('Plan a team trip in May.'),
			asking('Before I compare hotels:', [item('Budget for each person', 'In euros')]),
			done('Nobody answered so far, so I look at cheap and expensive ones.', {
				go_to_url: { url: 'https://hotels.example/' },
			}),
			done('I noted four hotels.', { extract_content: { goal: 'hotels' } }),
		],
		files: [],
	},
};

export const unknown: Scenario = {
	id: 'unknown',
	summary: 'A status, roles and actions that nobody has seen yet.',
	seed: {
		status: 'awaitingApproval',
		name: 'A session from the future',
		maxSteps: 12,
		messages: [
			task('Do something new.'),
			{ role: 'supervisor', content: 'I watch this agent.', agent_data: { action: [{ approve_plan: { id: 3 } }] } },
			done(
				'I did.',
				{ teleport: { to: 'Lisbon' } },
				{ 'weird key <!channel>': null },
				JSON.parse('{"__proto__":{"polluted":true},"constructor":{}}'),
			),
			{ role: 'tool', content: '{"ok":true}', agent_data: { action: 'none' } },
			{ role: 'assistant', content: 'An action that is text.', agent_data: { action: ['text', 7, null] } },
			asking('May I?', [item('Approve?', 'Yes or no')]),
		],
		files: [],
	},
};

export const empty: Scenario = {
	id: 'empty',
	summary: 'Just created: no message yet.',
	seed: { status: 'active', messages: [] },
};

export const nulls: Scenario = {
	id: 'nulls',
	summary: 'Null or absent wherever the service may leave something out.',
	seed: {
		status: 'humanInput',
		name: null,
		startTime: null,
		endTime: null,
		lastScreenshotUrl: null,
		lastScreenshotTimestamp: null,
		files: null,
		sessionVariables: null,
		sessionDetails: null,
		maxSteps: null,
		messages: [
			{ role: 'user', content: null, agent_data: null, human_input: null },
			{ role: null, content: null },
			{ role: 'assistant' },
			{ role: 'assistant', content: null, agent_data: { action: null }, human_input: [] },
			{ role: 'assistant', content: null, human_input: [{ title: null, description: null }, { value: null }, {}] },
		],
	},
};
