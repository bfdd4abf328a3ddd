import type { Scenario } from '../agents.ts';
import { asking, done, item, task } from '../builders.ts';
import { isAnswered, type SessionJson } from '../json.ts';

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
		const index = agent.pose('He proposes two days for the visit.', [item('Which day?', 'One of: Monday, Wednesday')]);
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

const itemsOf = (json: SessionJson, index: number) => json.messages?.[index]?.human_input ?? [];

function emptyFields(json: SessionJson, index: number): void {
	for (const one of itemsOf(json, index)) one.value = '';
}

export const worksOn: Scenario = {
	id: 'workson',
	summary: 'The agent waits for 20 s, works on without an answer, and waits again three minutes later.',
	seed: {
		status: 'active',
		name: 'Find a venue',
		maxSteps: 30,
		messages: [task('Find a venue for the summer party.')],
		files: [],
	},
	async play(agent) {
		const index = agent.pose('Two venues are free.', [item('Which venue?', 'One of: Boathouse, Old brewery')]);
		await agent.wait(20_000);
		agent.status('active');
		for (const venue of ['Boathouse', 'Old brewery']) {
			await agent.wait(4000);
			agent.step(`I look at photos of the ${venue}.`, { click: { index: 3 } });
			await agent.wait(4000);
			agent.step(`I note what the ${venue} costs.`, { extract_content: { goal: 'price' } });
		}
		await agent.wait(180_000);
		agent.change((json) => {
			if (!itemsOf(json, index).some(isAnswered)) json.status = 'humanInput';
		});
		const [venue = ''] = await agent.answered(index);
		agent.step(`I write to the ${venue}.`);
		await agent.wait(3000);
		agent.complete(`Asked the ${venue} for an offer.`);
	},
};

export const neverWaits: Scenario = {
	id: 'neverwaits',
	summary: 'The agent asks with the status active and goes on at once; it looks for an answer four steps later.',
	seed: {
		status: 'active',
		name: 'Write the job advert',
		maxSteps: 30,
		messages: [task('Write an advert for the open position.')],
		files: [],
	},
	async play(agent) {
		const index = agent.say(
			asking('I can write it in either language.', [item('Which language?', 'One of: English, German')]),
		);
		for (const part of ['tasks', 'profile', 'offer', 'contact']) {
			await agent.wait(15_000);
			agent.step(`I draft the section “${part}”.`, { write_file: { name: 'advert.md' } });
		}
		const [language = ''] = await agent.answered(index);
		agent.step(`I put the draft into ${language}.`);
		await agent.wait(3000);
		agent.complete(`The advert is written (${language}).`);
	},
};

export const empties: Scenario = {
	id: 'empties',
	summary: 'The agent never waits visibly: its status stays active. It empties the field of an answer and works on.',
	seed: {
		status: 'active',
		name: 'Order the catering',
		maxSteps: 30,
		messages: [task('Order lunch for the workshop.')],
		files: [],
	},
	async play(agent) {
		const index = agent.say(asking('Both can deliver at noon.', [item('Which menu?', 'One of: Vegetarian, Buffet')]));
		await agent.answered(index);
		await agent.wait(3000);
		agent.change((json) => emptyFields(json, index));
		agent.step('I fill in the order form.', { input_text: { index: 4 } });
		await agent.wait(900_000);
		agent.complete('Lunch is ordered.');
	},
};

const PUT_BACK = 'The agent has written its messages back once.';

export const overwrites: Scenario = {
	id: 'overwrites',
	summary:
		'The agent writes back what it read before the first answer, which is lost, and goes on waiting. It takes the second.',
	seed: {
		status: 'active',
		name: 'Renew the insurance',
		maxSteps: 20,
		messages: [task('Renew the insurance of the van.')],
		files: [],
	},
	async play(agent) {
		const index = agent.pose('Two offers are similar.', [item('Which offer?', 'One of: Alpha, Beta')]);
		await agent.answered(index);
		// At once, so that no read shows `active`. A kept session knows that it was done.
		agent.change((json) => {
			if (json.sessionDetails === PUT_BACK) return;
			json.sessionDetails = PUT_BACK;
			json.status = 'humanInput';
			emptyFields(json, index);
		});
		const [offer = ''] = await agent.answered(index);
		agent.step(`I accept the offer of ${offer}.`);
		await agent.wait(3000);
		agent.complete(`Insured with ${offer}.`);
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
