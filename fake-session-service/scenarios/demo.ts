import type { Scenario } from '../agents.ts';
import { done, item, task } from '../builders.ts';
import { CANARIES } from '../canaries.ts';

export const demo: Scenario = {
	id: 'demo',
	summary: 'Books a flight: which of these two, then a follow-up, then the result with a file and a screenshot.',
	seed: {
		status: 'active',
		name: 'Book a flight to Frankfurt',
		maxSteps: 30,
		sessionDetails: 'Travel desk, window seat when there is one.',
		sessionVariables: [{ name: 'AIRLINE_PASSWORD', value: CANARIES.variable }],
		messages: [
			task('Book me a flight from Lisbon to Frankfurt on Friday, arriving before noon, under 200 €.'),
			done('I open the airline’s booking page.', {
				go_to_url: { url: `https://flights.example/search?token=${CANARIES.urlToken}` },
			}),
			done(
				'I enter Lisbon, Frankfurt and Friday, and search.',
				{ click: { index: 12, xpath: CANARIES.elementPath } },
				{ input_text: { index: 3, text: 'LIS' } },
			),
		],
		files: [],
	},
	async play(agent) {
		const [flight = ''] = await agent.ask(
			'Two flights fit. The early one is cheaper, the later one has a window seat.',
			[item('Which flight should I book?', 'One of: LH 1173 at 06:05 for 129 €, TP 570 at 08:40 for 164 €')],
		);
		await agent.wait(2000);
		agent.step(`You chose “${flight}”. I select it.`, { click: { index: 4, xpath: CANARIES.elementPath } });
		await agent.wait(3000);
		agent.step('I fill in the passenger’s details.', { input_text: { index: 7 } });
		await agent.wait(3000);
		const [bag = ''] = await agent.ask('Only hand luggage is included in this fare.', [
			item('Add a checked bag for 35 €?', 'Yes or no'),
		]);
		await agent.wait(2000);
		agent.step(`Checked bag: “${bag}”. I confirm the booking.`, { click: { index: 21 } });
		await agent.wait(3000);
		agent.step('I save the itinerary.', {
			save_to_file: { file_path: `/data/${CANARIES.filePath}/itinerary.txt`, filename: 'itinerary.txt' },
		});
		await agent.wait(1500);
		agent.complete(
			`**Booked:** ${flight}\n\n- Checked bag: ${bag}\n- Confirmation: \`XK4T2P\`\n\nThe itinerary is attached.`,
			{
				'itinerary.txt': {
					type: 'text/plain; charset=utf-8',
					content: `Lisbon to Frankfurt, Friday\nFlight: ${flight}\nChecked bag: ${bag}\nConfirmation: XK4T2P\n`,
				},
			},
		);
	},
};
