import { expect, it } from 'vitest';
import { asking } from '../../fake-session-service/builders.ts';
import { waitingCountWords } from '../../src/screens/inbox.ts';
import { AFTER_KILL_MS, createKillHarness, STORES, watchOneSession } from '../faults/shared-stores.ts';
import { runWatchFaults } from '../faults/watches/run.ts';
import { createRandom } from '../support/random.ts';

/** The short form of `npm run faults -- watches`. */
const RUN = { sessions: 4, perChannel: 2, kills: 1, questions: 4, random: createRandom(3), historyReadable: true };
const ID = 'chairs';
const NOTHING = waitingCountWords(0, 0);
const ONE = waitingCountWords(1, 0);

it.concurrent.each(STORES)(
	'tells every question once when a process is killed meanwhile, and shows each state once before and after, on %s',
	{ timeout: 400_000 },
	async (kind) => {
		await using harness = await createKillHarness(kind);
		const { slack, service, replicas } = harness;
		const ada = slack.as('ada');
		const homeSays = (words: string) =>
			slack.changes.until(
				() => ada.home()?.text().includes(words),
				() => `waited for "${words}" in:\n${ada.home()?.text() ?? 'no Home'}`,
				AFTER_KILL_MS,
			);
		const shown = () =>
			slack.traffic
				.calls('views.publish')
				.map(({ request }) => [NOTHING, ONE].find((words) => JSON.stringify(request).includes(words)));
		await watchOneSession(harness, ID);
		await ada.openApp('home');
		await homeSays(NOTHING);
		service.sessions.push(ID, asking('Three are in stock.', ['Which colour?']));
		service.sessions.setStatus(ID, 'humanInput');
		await homeSays(ONE);

		expect(shown()).toEqual([NOTHING, ONE]);

		const result = await runWatchFaults({ ...RUN, harness });
		expect(result.problems).toEqual([]);
		expect(result).toMatchObject({ kills: 1, expected: 4, missed: 0, unmarkedRepeats: 0, markedRepeats: 0 });
		expect(result.delays.at(-1)).toBeLessThan(30_000);

		// Of two processes, the other follows on.
		if (replicas.length > 1) await replicas[0]?.kill();
		await harness.serving();
		service.sessions.answerAsPage(ID, ['grey']);
		await homeSays(NOTHING);

		// The process may have been killed between Slack's response and its note of it: then the state is shown again.
		expect(shown().filter((words, index, all) => words !== all[index - 1])).toEqual([NOTHING, ONE, NOTHING]);
		expect(slack.violations()).toEqual([]);
	},
);
