import { expect, it } from 'vitest';
import { asking } from '../../../fake-session-service/builders.ts';
import { AFTER_KILL_MS, createKillHarness, watchOneSession } from '../../faults/shared-stores.ts';
import { GAVE_BACK, openButtons } from '../../support/sentences.ts';

const ID = 'chairs';

it.each(['sqlite', 'postgres'] as const)(
	'posts and settles the direct message of a hand-over once, although processes are killed, on %s',
	{ timeout: 400_000 },
	async (kind) => {
		await using harness = await createKillHarness(kind, 1);
		const { slack, service, replicas } = harness;
		const ada = slack.as('ada');
		const messages = () => slack.as('grace').dm();
		const until = (look: () => boolean | undefined, what: string) =>
			slack.changes.until(
				look,
				() => `waited for ${what}, grace has:\n${messages().map((one) => one.text())}`,
				AFTER_KILL_MS,
			);
		const killed = async (meanwhile = () => {}) => {
			await replicas[0]?.kill();
			meanwhile();
			await harness.startAll();
			await harness.serving();
		};
		await watchOneSession(harness, ID);
		service.sessions.push(ID, asking('Three are in stock.', ['Which colour?']));
		service.sessions.setStatus(ID, 'humanInput');
		const asked = () => ada.messages('#agents').find((one) => one.buttons().includes('Hand over'));
		await until(() => asked() !== undefined, 'the question');

		// Slack does not take the direct message, so it is stored when the process dies.
		slack.faults.add({ method: 'conversations.open', error: 'internal_error' });
		await asked()?.press('Hand over');
		const modal = await ada.waitForModal('Hand over to');
		await modal.choose('Hand over to', 'grace');
		expect((await modal.submit()).outcome).toBe('updated');
		await killed(() => slack.faults.clear());
		await until(() => messages()[0]?.buttons().includes('Give back'), 'the direct message');

		await messages()[0]?.press('Give back');
		await killed();
		await until(() => openButtons(messages()[0])?.length === 0, 'the settled direct message');
		await until(() => ada.dm(GAVE_BACK).length > 0, 'the word to ada');
		expect(messages()).toHaveLength(1);
		expect(ada.dm()).toHaveLength(1);
		expect(slack.violations()).toEqual([]);
	},
);
