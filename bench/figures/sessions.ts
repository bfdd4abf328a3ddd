import { asking, item } from '../../fake-session-service/builders.ts';
import type { SessionJson } from '../../fake-session-service/json.ts';

const QUESTION = 'What should the report be called?';
/** The only item of `reportSession`. */
export const REPORT_ITEM = item(QUESTION, 'As it stands on the cover.');

/** A session of about 10 kB that waits for one answer. */
export function reportSession(): SessionJson {
	return {
		name: 'Write the report',
		status: 'humanInput',
		maxSteps: 30,
		startTime: new Date().toISOString(),
		sessionVariables: [{ name: 'REGION', value: 'north' }],
		files: [],
		messages: [
			{ role: 'user', content: 'Write the report.' },
			...Array.from({ length: 12 }, (_, n) => ({
				role: 'assistant',
				content: `### Step ${n}\n\n${'I read the **sources** and noted some figures. '.repeat(12)}`,
				agent_data: { action: [{ go_to_url: { url: `https://source-${n}.example/report?page=${n}` } }] },
			})),
			asking('I need a name.', [REPORT_ITEM]),
		],
	};
}

/** The body of a session of 600 messages with `size` characters each: as many unread fields as read ones. */
export function longSessionBody(size: number): string {
	const messages = Array.from({ length: 600 }, (_, n) => ({
		role: n === 0 ? 'user' : 'assistant',
		content: `### Step ${n}\n\n${'The page shows a *list* of orders. '.repeat(Math.ceil(size / 35))}`,
		agent_data: {
			action: [{ click: { index: n } }, { go_to_url: { url: `https://shop${n}.example.org/orders?page=${n}` } }],
			state: { memory: 'm'.repeat(size / 4), evaluation: 'ok', nested: { deep: [1, 2, 3] } },
		},
		...(n % 40 === 0 ? { human_input: [{ title: 'Colour', description: 'Which?', value: 'red' }] } : {}),
	}));
	const session = {
		sessionId: '3f9a2c1d',
		status: 'humanInput',
		maxSteps: 600,
		messages: [...messages.slice(0, 599), asking('I need a name.', [QUESTION])],
		files: [],
		sessionVariables: [],
	};
	return JSON.stringify({ session });
}
