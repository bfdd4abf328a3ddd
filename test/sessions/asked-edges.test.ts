import { OUTSIDE, SETTLED_WORDS } from '../../src/screens/question-post.ts';
import {
	answeredBy,
	describe,
	expect,
	line,
	openButtons,
	openSession,
	REMINDER,
	type WatchingApp,
	withApp,
} from '../kit.ts';
import { answered, asked, emptyNewest, FLIGHT, playedApp, postsOf, step, takeUnanswered } from './played-agent.ts';

/* What is asked, taken and gone on where watches begin and end, and what channels may see of it. */

const it = withApp(() => playedApp('5m'));

const LOST = line('delivered', { agentOutcome: 'lost' });
const dmSays = (app: WatchingApp, id: string, words: string) =>
	app.until(() =>
		app.slack
			.as('ada')
			.dm()
			.find((dm) => dm.text().includes(words) && JSON.stringify(dm.blocks()).includes(id)),
	);

const MINUTE_MS = 60_000;
const tellsLost = (app: WatchingApp, id: string) =>
	app.slack
		.as('ada')
		.dm()
		.filter((dm) => JSON.stringify(dm.blocks()).includes(id) && dm.text().includes(LOST));

function dropFirst(app: WatchingApp, id: string): void {
	const messages = structuredClone(app.service.sessions.get(id).messages ?? []);
	messages.splice(
		messages.findIndex((one) => one.human_input?.length),
		1,
	);
	app.service.sessions.patch(id, { messages });
}

describe('a question in the words of an earlier one, which is dropped', () => {
	async function twice(app: WatchingApp) {
		const { id, post } = await asked(app);
		await answered(app, id, 'LH 1173');
		app.service.sessions.setStatus(id, 'active');
		emptyNewest(app, id);
		step(app, id);
		await app.until(() => post.text().includes('· continued'));
		app.ask(id, [FLIGHT]);
		return { id, post: await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts)) };
	}

	it('is not posted again', async ({ app }) => {
		const { id } = await twice(app);
		dropFirst(app, id);
		await app.pass(2 * MINUTE_MS);
		expect(postsOf(app, id)).toHaveLength(2);
		expect(postsOf(app, id).at(-1)?.buttons()).toContain('Answer…');
	});

	it('is not asked again when its agent took the answer in that moment', async ({ app }) => {
		const { id } = await twice(app);
		await answered(app, id, 'TP 570');
		await app.pass(3_000);
		emptyNewest(app, id);
		dropFirst(app, id);
		await app.pass(8_000);
		app.service.sessions.setStatus(id, 'active');
		step(app, id);
		await app.pass(2 * MINUTE_MS);
		expect(postsOf(app, id)).toHaveLength(2);
	});

	it('tells its author when the answer is lost', async ({ app }) => {
		const { id } = await twice(app);
		await answered(app, id, 'TP 570');
		dropFirst(app, id);
		await app.pass(20_000);
		emptyNewest(app, id);
		await app.pass(2 * MINUTE_MS);
		expect(postsOf(app, id)).toHaveLength(3);
		expect(tellsLost(app, id)).toHaveLength(1);
	});
});

it('does not offer to send an answer again that a waiting agent took in the moment of the PUT', async ({ app }) => {
	const { id } = await asked(app);
	await app.pass(10_000);
	app.service.sessions.setStatus(id, 'active');
	await answered(app, id, 'LH 1173');
	emptyNewest(app, id);
	step(app, id);
	await app.pass(2 * MINUTE_MS);
	expect(
		JSON.stringify(
			app.slack
				.as('ada')
				.dm()
				.map((dm) => dm.blocks()),
		),
	).not.toContain('Send again');
});

describe('an answer that is lost', () => {
	it('is told to its author who was told that nothing shows, and is over for them once somebody answers again', async ({
		app,
	}) => {
		const { id, post } = await asked(app);
		await answered(app, id, 'LH 1173');
		await app.pass(11 * MINUTE_MS);
		emptyNewest(app, id);
		await app.until(() => postsOf(app, id).some(({ ts }) => ts !== post.ts));
		await app.until(() => tellsLost(app, id).length === 1);
		const [told] = tellsLost(app, id);
		expect(told?.buttons()).toEqual(['Answer again']);
		await answered(app, id, 'TP 570', 'grace');
		await app.until(() => told?.text().includes('answered again since') === true);
		expect(openButtons(told)).toEqual([]);
	});

	it('is still said to be gone on the post of its question when that was answered again since', async ({ app }) => {
		const { id, post } = await asked(app);
		await answered(app, id, 'LH 1173');
		emptyNewest(app, id);
		await app.until(() => post.text().includes('ada answered · delivered · not in the field any more'));
		await answered(app, id, 'TP 570', 'grace');
		await app.until(() => postsOf(app, id).some((other) => answeredBy('grace', 'TP 570').test(other.text())));
		app.service.sessions.setStatus(id, 'completed');
		await app.pass(MINUTE_MS);
		expect(post.text()).toContain('· delivered · not in the field any more');
	});

	it('is not called an answer of somebody meanwhile in the form of its author', async ({ app }) => {
		const { id } = await asked(app);
		await answered(app, id, 'LH 1173');
		emptyNewest(app, id);
		const dm = await dmSays(app, id, LOST);
		await dm.press('Answer again');
		const form = await app.slack.as('ada').waitForModal('not in the field any more');
		expect(form.text()).not.toContain('meanwhile');
		const hers = await openSession(app, id, 'grace');
		expect(hers.text()).toContain("Asked again. @ada's answer is not in the field any more.\n> LH 1173");
	});

	it('is the reason of a question that is asked again, also when it came from the dashboard', async ({ app }) => {
		const { id, post } = await asked(app);
		app.service.sessions.answerAsPage(id, ['LH 1173']);
		await app.until(() => post.text().includes(OUTSIDE));
		emptyNewest(app, id);
		const again = await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
		expect(again.text()).toContain('The answer from the dashboard is not in the field any more');
		const form = await openSession(app, id, 'grace');
		expect(form.text()).toContain('The answer from the dashboard is not in the field any more');
	});

	it('is told to its author within two minutes where nobody watches', async ({ app }) => {
		const { id } = await asked(app);
		await app.command(`/session unwatch ${id}`);
		await answered(app, id, 'LH 1173');
		await app.pass(20_000);
		emptyNewest(app, id);
		await app.pass(2 * MINUTE_MS);
		expect(tellsLost(app, id)).toHaveLength(1);
	});

	it('shows nobody a value that channels do not see', async ({ app }) => {
		const { id, post } = await asked(app);
		await answered(app, id, 'KX7-9942-QQ31-0815');
		emptyNewest(app, id);
		const again = await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
		expect(again.text()).toContain('is not in the field any more');
		expect(
			app
				.thread(id)
				.map((one) => one.text())
				.join('\n'),
		).not.toContain('KX7-9942');
	});

	it('can be given again where nobody watches the session any more', async ({ app }) => {
		const { id } = await asked(app);
		await app.command(`/session unwatch ${id}`);
		await answered(app, id, 'LH 1173');
		emptyNewest(app, id);
		const dm = await dmSays(app, id, LOST);
		await app.pass(60_000);
		await dm.press('Answer again');
		const form = await app.slack.as('ada').waitForModal((modal) => modal.text().includes('step 2'));
		expect(form.submitText()).not.toBeNull();
	});
});

describe('an agent that went on and waits again', () => {
	async function goneOn(app: WatchingApp) {
		const { id, post } = await asked(app);
		await app.pass(5_000);
		app.service.sessions.setStatus(id, 'active');
		step(app, id);
		await app.until(() => post.text().includes(SETTLED_WORDS.wentOn));
		return { id, post };
	}

	it('reminds nobody of the time in which it worked', async ({ app }) => {
		const { id, post } = await goneOn(app);
		await app.pass(6 * 60_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.until(() => post.buttons().length > 1);
		await app.pass(60_000);
		expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
	});

	it('asks in a channel that began to watch meanwhile', async ({ app }) => {
		const { id } = await goneOn(app);
		await app.watch(id, { channel: '#secret' });
		await app.pass(10_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.pass(60_000);
		const asking = app
			.thread(id, '#secret')
			.filter((one) => one.buttons().some((label) => label.startsWith('Answer…')));
		expect(asking.length).toBe(1);
	});

	it('asks in a channel that stopped watching and watches again', async ({ app }) => {
		const { id } = await goneOn(app);
		await app.command(`/session unwatch ${id}`);
		await app.watch(id);
		await app.pass(10_000);
		app.service.sessions.setStatus(id, 'humanInput');
		await app.pass(60_000);
		expect(postsOf(app, id).filter((one) => one.buttons().some((label) => label.startsWith('Answer…'))).length).toBe(1);
	});
});

describe('an answer of which nobody knows whether it arrived', () => {
	it('does not let a post say that the agent went on without one', async ({ app }) => {
		const { id, post } = await asked(app);
		takeUnanswered(app, id);
		const form = await openSession(app, id);
		await form.fill(0, 'LH 1173');
		await form.submit();
		await app.until(() => form.text().includes('may have arrived'));
		await app.pass(2 * 60_000);
		expect([post.text(), ...post.editHistory()].join()).not.toContain(SETTLED_WORDS.wentOn);
	});
});
