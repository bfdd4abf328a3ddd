import { expect, it } from 'vitest';
import { asking, done, task } from '../../../sandbox/session-service/builders.ts';
import { createKillHarness } from '../../faults/shared-stores.ts';
import { GAVE_BACK } from '../../support/sentences.ts';

/** Longer than the lease on a post that the killed process was sending. */
const WITHIN_MS = 90_000;
const ID = 'chairs';

it('posts and settles the direct message of a hand-over once, although the process is killed', {
	timeout: 400_000,
}, async () => {
	await using harness = await createKillHarness('sqlite');
	const { slack, service, replicas } = harness;
	const ada = slack.as('ada');
	const messages = () => slack.as('grace').dm();
	const until = (look: () => boolean | undefined, what: string) =>
		slack.changes.until(
			look,
			() => `waited for ${what}, grace has:\n${messages().map((one) => one.text())}`,
			WITHIN_MS,
		);
	const killed = async (meanwhile = () => {}) => {
		await replicas[0]?.kill();
		meanwhile();
		await harness.startAll();
		await harness.serving();
	};
	service.sessions.put(ID, {
		status: 'active',
		name: 'Order chairs',
		messages: [task('Order six chairs.'), done('I open the shop.')],
	});
	await harness.startAll();
	await harness.serving();
	await ada.command('#agents', `/session watch ${ID}`);
	await ada.waitForMessage('#agents', 'Order chairs', WITHIN_MS);
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
	await until(() => messages()[0]?.buttons().length === 0, 'the settled direct message');
	await until(() => ada.dm(GAVE_BACK).length > 0, 'the word to ada');
	expect(messages()).toHaveLength(1);
	expect(ada.dm()).toHaveLength(1);
	expect(slack.violations()).toEqual([]);
});
