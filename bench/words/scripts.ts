import type { Scenario } from '../../fake-session-service/agents.ts';
import { done, item, task } from '../../fake-session-service/builders.ts';

/** The options of every question here: they come from the agent's description of it. */
export const OPTIONS = ['Yes', 'No'] as const;

export interface Asks {
	readonly name: string;
	readonly task: string;
	readonly step: string;
	readonly says: string;
	readonly title: string;
	readonly next: string;
	readonly result: string;
}

const DESCRIPTION = 'Yes or no';

/**
 * Ten agents, each of which asks once: its name and task, what it found, its question. Their sentences share no two words in a
 * row with what the program could say.
 */
export const TEN: readonly Asks[] = `
Renew the domain | Renew our domain below 20 €. | 21.40 €, slightly above your limit | Shall I renew it anyway?
Order desk chairs | Order six chairs for Lisbon. | graphite ones for 1,140 € | Order the chairs?
Book a room in Porto | Book a quiet room for Thursday. | one room with a balcony for 96 € | Reserve the balcony room?
Cancel the old plan | Cancel the printer’s maintenance plan. | a fee of 30 € before March | Pay the fee of 30 €?
Send the newsletter | Write and send our newsletter. | a draft for 412 readers | Mail it to 412 readers?
Move the meeting | Move Friday’s review to Monday. | ten o’clock free for everybody but Una | Move it without Una?
Buy train tickets | Buy two tickets to Coimbra. | second class sold out before noon | Buy first class for 58 €?
Update the price list | Put the new prices into the shop. | three prices below their cost | Publish those three prices?
Fill the visa form | Fill in the visa form for Grace. | a photo that is older than six months | Upload that older photo?
Compare suppliers | Find the cheapest supplier of paper. | a cheaper one that wants 500 € in advance | Pay 500 € in advance?`
	.trim()
	.split('\n')
	.map((line) => line.split(' | '))
	.map(([name = '', goal = '', found = '', title = '']) => ({
		name,
		task: goal,
		step: 'I opened the page, signed in and looked through everything on it.',
		says: `My search came to ${found}. Nothing else matched it.`,
		title,
		next: 'Understood, and acted on. I am checking the confirmation page for mistakes.',
		result: `**${name}**: that is settled.\n\n- Found: ${found}\n- Confirmation number: XK4T2P\n- Costs nothing further`,
	}));

/** Every text of these agents that a person may see. */
export const AGENTS_TEXTS: readonly string[] = [...TEN.flatMap((asks) => Object.values(asks)), DESCRIPTION, ...OPTIONS];

/** The agent's script. `completes`: it ends after the answer; otherwise it goes on working. */
export function scriptOf(asks: Asks, completes: boolean): Scenario {
	return {
		id: 'asks',
		summary: '',
		seed: {
			status: 'active',
			name: asks.name,
			maxSteps: 30,
			messages: [task(asks.task), done(asks.step, { go_to_url: { url: 'https://shop.example/' } })],
			files: [],
		},
		async play(agent) {
			await agent.ask(asks.says, [item(asks.title, DESCRIPTION)]);
			agent.step(asks.next, { click: { index: 4 } });
			await agent.wait(3_000);
			if (completes) agent.complete(asks.result);
		},
	};
}
