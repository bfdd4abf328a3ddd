import type { Scenario } from '../agents.ts';
import { done, item, task } from '../builders.ts';
import { CANARIES } from '../canaries.ts';
import type { ItemJson } from '../json.ts';

interface OneQuestion {
	readonly id: string;
	readonly summary: string;
	readonly name: string;
	readonly task: string;
	readonly says: string;
	readonly items: readonly ItemJson[];
	/** The agent's next message, which may quote the answers. */
	readonly next: (values: readonly string[]) => string;
	readonly result: string;
}

/** A session that asks once, refers to the answer and completes. */
function oneQuestion(question: OneQuestion): Scenario {
	return {
		id: question.id,
		summary: question.summary,
		seed: {
			status: 'active',
			name: question.name,
			maxSteps: 20,
			sessionVariables: [{ name: 'LOGIN', value: CANARIES.variable }],
			messages: [task(question.task), done('I have opened the page.', { go_to_url: { url: 'https://shop.example/' } })],
			files: [],
		},
		async play(agent) {
			const values = await agent.ask(question.says, question.items);
			await agent.wait(1500);
			agent.step(question.next(values), { click: { index: 2 } });
			await agent.wait(3000);
			agent.complete(question.result);
		},
	};
}

const quoted = (values: readonly string[]) => values.map((value) => `“${value}”`).join(', ');

const COMPARISON = [
	'## Three laptops',
	'',
	'I compared them with `bench --quick`; **two** are in stock, ~~three~~ as of *today*:',
	'',
	'| Model | Price | In stock | What the tests say |',
	'|:--|--:|:-:|---|',
	'| **Nova 14** | 1,190 € | yes | Quiet, a bright screen, and the battery lasts a whole working day |',
	'| Aki 13 「軽量」 | 980 € | yes | Light; see [the test](https://tests.example/aki) |',
	'| Rad & Co | 1,240 € | ❌ | |',
	'',
	'1. Both come with three years of service',
	'   - in Lisbon and Porto',
	'   - not on the islands',
	'2. Orders before noon are sent today',
	'',
	'```sh',
	'shop order --model nova-14 \\',
	'    --count 6  # 7,140 €',
	'```',
	'',
	'> Offers end on Friday.',
	'',
	'- Nova 14',
	'- Aki 13',
].join('\n');

export const markdown = oneQuestion({
	id: 'markdown',
	summary: 'Markdown: a heading, lists, code, a table, and the options as lines.',
	name: 'Order six laptops',
	task: 'Order six laptops for the **Lisbon** office.\n\n- at most 1,200 € each\n- before `1 December`',
	says: COMPARISON,
	items: [item('Which laptop?', 'One of: Nova 14, Aki 13')],
	next: (values) => `### Next\n\nI put six of ${quoted(values)} into the basket.\n\n${COMPARISON}`,
	result: `# Ordered\n\n${COMPARISON}`,
});

export const choices = oneQuestion({
	id: 'choices',
	summary: 'Options as a list.',
	name: 'Order new chairs',
	task: 'Order six desk chairs for the Lisbon office.',
	says: 'The shop has three colours in stock.',
	items: [item('Which colour?', '- Graphite\n- Sand\n- Forest green')],
	next: (values) => `I put six chairs in ${quoted(values)} into the basket.`,
	result: 'Six chairs are ordered.',
});

export const several = oneQuestion({
	id: 'several',
	summary: 'Several can be chosen: boxes, a list of more than ten, and options with a comma.',
	name: 'Order lunch for the team',
	task: 'Order lunch for Thursday.',
	says: 'The shop delivers to the office.',
	items: [
		item('Which toppings? Select all that apply.', '- Ham\n- Olives\n- Basil'),
		item('Pick 2 drinks', Array.from({ length: 12 }, (_, n) => `- Lemonade no. ${n + 1}`).join('\n')),
		item('Which invoices go with it? Select all that apply.', '- Acme, Inc.\n- Bolt\n- Nut, Ltd.'),
	],
	next: (values) => `I ordered ${quoted(values)}.`,
	result: 'Lunch is ordered.',
});

export const three = oneQuestion({
	id: 'three',
	summary: 'Three items at once, two with the same title, one without a description.',
	name: 'Register two participants',
	task: 'Register our two speakers for the conference.',
	says: 'I need both names and the affiliation for the badges.',
	items: [
		item('Name', 'The first speaker, as on the badge'),
		item('Name', 'The second speaker, as on the badge'),
		item('Affiliation', ''),
	],
	next: (values) => `I registered ${quoted(values)}.`,
	result: 'Both speakers are registered.',
});

/** Nobody repeats the code, not even the agent, so that a test can search everywhere for it. */
export const code = oneQuestion({
	id: 'code',
	summary: 'A one-time code: secret, never repeated.',
	name: 'Download the invoices',
	task: 'Download this month’s invoices from the supplier’s portal.',
	says: 'The portal sent a code to the phone ending in 42.',
	items: [item('One-time code', 'The 6-digit verification code from the text message')],
	next: (values) => `The code of ${values[0]?.length ?? 0} characters was accepted.`,
	result: 'The invoices are downloaded.',
});

export const yesNo = oneQuestion({
	id: 'yesno',
	summary: 'Yes or no.',
	name: 'Renew the domain',
	task: 'Renew our domain when the price is below 20 €.',
	says: 'The price is 21.40 €, slightly above your limit.',
	items: [item('Shall I renew it anyway?', 'yes/no')],
	next: (values) => `You said ${quoted(values)}. I act on it.`,
	result: 'Done as you said.',
});

export const fields = oneQuestion({
	id: 'fields',
	summary: 'A number, an email address, a URL, a date and a time.',
	name: 'Book a meeting room',
	task: 'Book a meeting room for the quarterly review.',
	says: 'The form asks for these.',
	items: [
		item('Number of participants', 'How many people will come?'),
		item('Email address', 'The confirmation goes there'),
		item('Website URL', 'Link to the agenda'),
		item('Date', 'On which date? (YYYY-MM-DD)'),
		item('Start time', 'At what time does it begin? (HH:MM)'),
	],
	next: (values) => `I filled the form with ${quoted(values)}.`,
	result: 'The room is booked.',
});

export const forty = oneQuestion({
	id: 'forty',
	summary: 'A form of 40 items.',
	name: 'Fill the supplier questionnaire',
	task: 'Fill the supplier questionnaire.',
	says: 'The questionnaire has 40 questions I cannot answer from the documents.',
	items: Array.from({ length: 40 }, (_, n) => item(`Question ${n + 1}`, `Please answer number ${n + 1} of the form.`)),
	next: (values) => `I filled in ${values.filter((value) => value !== '').length} of ${values.length} answers.`,
	result: 'The questionnaire is sent.',
});

export const ninetyFive = oneQuestion({
	id: 'ninetyfive',
	summary: 'A form of 95 items: more than a Slack modal holds.',
	name: 'Fill the customs declaration',
	task: 'Fill the customs declaration.',
	says: 'The declaration has 95 fields.',
	items: Array.from({ length: 95 }, (_, n) => item(`Field ${n + 1}`)),
	next: (values) => `I filled in ${values.filter((value) => value !== '').length} of ${values.length} fields.`,
	result: 'The declaration is sent.',
});

/** Each PUT must carry the descriptions, which alone exceed the service's body limit of 100 kB. */
export const tooLong = oneQuestion({
	id: 'toolong',
	summary: 'Descriptions over 100 kB: no answer fits the service’s body limit.',
	name: 'Review the contract',
	task: 'Review the contract and ask me where it is unclear.',
	says: 'I quote the whole contract with my two questions.',
	items: [
		item('Is clause 14 acceptable?', 'Clause text. '.repeat(5_000)),
		item('Is clause 15 acceptable?', 'Clause text. '.repeat(5_000)),
	],
	next: (values) => `You said ${quoted(values)}.`,
	result: 'Reviewed.',
});
