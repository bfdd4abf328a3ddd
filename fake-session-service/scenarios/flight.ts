import type { Scenario } from '../agents.ts';
import { done, item, task } from '../builders.ts';

/** For watching: two questions that one press answers, and two that need the form. */
export const flight: Scenario = {
	id: 'flight',
	summary: 'To watch: two questions that one press answers, then long options and a code, which need the form.',
	seed: {
		status: 'active',
		name: 'Plan the Frankfurt trip',
		maxSteps: 30,
		messages: [
			task('Plan my trip to Frankfurt on Friday: flight, hotel, everything booked.'),
			done('I open the airline’s booking page.', { go_to_url: { url: 'https://flights.example/' } }),
			done('I search for flights that arrive before noon.', { click: { index: 12 } }),
		],
		files: [],
	},
	async play(agent) {
		const [number = ''] = await agent.ask(
			'LH 1173 leaves at 06:05 for 129 €. TP 570 leaves at 08:40 for 164 €, with a window seat.',
			[item('Which flight should I book?', 'One of: LH 1173, TP 570')],
		);
		await agent.wait(2000);
		agent.step(`I select ${number}.`, { click: { index: 4 } });
		await agent.wait(3000);
		const [bag = ''] = await agent.ask('The fare includes hand luggage only.', [
			item('Add a checked bag for 35 €?', 'Yes or no'),
		]);
		await agent.wait(2000);
		agent.step(`Checked bag: ${bag}.`, { click: { index: 21 } });
		await agent.wait(3000);
		const [hotel = ''] = await agent.ask('Two hotels near the office are free.', [
			item(
				'Which hotel should I book?',
				'One of: Hotel am Main with breakfast for 118 €, Station Inn with free cancellation for 96 €',
			),
		]);
		await agent.wait(2000);
		agent.step(`I choose “${hotel}”.`, { click: { index: 8 } });
		await agent.wait(3000);
		const [code = ''] = await agent.ask('The bank sent a code to the phone ending in 42, to confirm the payment.', [
			item('One-time code', 'The 6-digit verification code from the text message'),
		]);
		await agent.wait(2000);
		agent.step(`The code of ${code.length} characters was accepted.`, { input_text: { index: 2 } });
		await agent.wait(2000);
		agent.complete(`**Booked**\n\n- Flight: ${number}\n- Checked bag: ${bag}\n- Hotel: ${hotel}`);
	},
};
