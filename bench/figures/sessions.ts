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
