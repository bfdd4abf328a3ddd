import { MAYBE_REPEAT } from '../../src/slack/phrases.ts';
import {
	describe,
	expect,
	FEWEST_REQUESTS,
	item,
	openButtons,
	type Posted,
	type WatchingApp,
	watchingApp,
	withApp,
} from '../kit.ts';

const it = withApp(() => watchingApp({ env: FEWEST_REQUESTS }));

const REPEAT = 'This was a repeat.';
const HISTORIES = /^(?:channels|groups|im):history$/;
function hideHistory(app: WatchingApp): void {
	const { settings } = app.slack;
	settings.scopes = settings.scopes.filter((scope) => !HISTORIES.test(scope));
}

/** A question that stands twice: Slack posted it, answered 500, and its history cannot be read. The first is unknown. */
async function askedTwice(app: WatchingApp, description?: string): Promise<[orphan: Posted, real: Posted, id: string]> {
	hideHistory(app);
	const id = await app.watched();
	app.loseReply();
	app.ask(id, [item('Which colour?', description)]);
	await app.until(() => app.thread(id).some((post) => post.text().includes(MAYBE_REPEAT)));
	const [orphan, real] = app.thread(id);
	if (orphan === undefined || real === undefined) throw new Error('It does not stand twice.');
	return [orphan, real, id];
}

describe('a machine whose clock is two minutes ahead of Slack', () => {
	const it = withApp(() => watchingApp({ env: FEWEST_REQUESTS, slackBehindMs: 120_000 }));

	it('finds a post of which Slack lost the response, and posts no second one', async ({ app }) => {
		const id = await app.watched();
		app.loseReply();
		app.ask(id);
		await app.threadSays(id, 'Which colour?');
		await app.pass(60_000);
		expect(app.thread(id)).toHaveLength(1);
	});
});

describe('a repeat that the program does not know', () => {
	it('opens the form when somebody presses it, and then says that it is one, with a link to the other', async ({
		app,
	}) => {
		const [orphan, real] = await askedTwice(app);
		await orphan.press('Answer…');
		await app.slack.as('ada').waitForModal('Which colour?');
		await app.slack.as('ada').modal()?.close(true);
		await app.until(() => orphan.text().includes(REPEAT));
		expect(openButtons(orphan)).toEqual([]);
		expect(orphan.text()).toContain('is this one.');
		const link = expect.stringMatching(new RegExp(`/archives/C0AGENTS/p${real.ts.replace('.', '')}$`));
		// In the message, and in its notification.
		expect(orphan.links()).toEqual([link, link]);
		expect(real.text()).toContain('Which colour?');
		expect(real.buttons()).toContain('Answer…');
	});

	it('takes a press of an option, which the other one shows', async ({ app }) => {
		const [orphan, real] = await askedTwice(app, 'One of: Sand, Sky');
		await orphan.press('Sand');
		await app.until(() => orphan.text().includes(REPEAT));
		await app.until(() => real.buttons().includes('Undo'));
		await app.until(() => app.service.log.list().some(({ method }) => method === 'PUT'));
	});

	it('goes when somebody presses it after the other one was deleted', async ({ app }) => {
		const [orphan, real, id] = await askedTwice(app);
		real.remove();
		app.service.sessions.answerAsPage(id, ['Sand']);
		await app.pass(60_000);
		await orphan.press('Answer…');
		await app.until(() => !orphan.exists());
	});

	it('leaves the post that stands alone as it is', async ({ app }) => {
		const { post } = await app.askedPost();
		await post.press('Answer…');
		await app.slack.as('ada').waitForModal('Which colour?');
		await app.pass(5_000);
		expect(post.text()).not.toContain(REPEAT);
		expect(post.buttons()).toContain('Answer…');
	});
});

describe("a receipt's direct message of which Slack lost the response", () => {
	const receipts = (app: WatchingApp) => app.slack.as('ada').dm((message) => message.author() === 'handraise');

	/** Ada's answer waits for a service that is away, and she has closed the window. Her receipt's first direct message is lost. */
	async function lateAnswer(app: WatchingApp): Promise<void> {
		const { post } = await app.askedPost();
		await post.press('Answer…');
		const form = await app.slack.as('ada').waitForModal('Which colour?');
		await form.fill(0, 'Sand');
		await app.service.goDown();
		app.slack.faults.add({
			method: 'chat.postMessage',
			status: 500,
			times: 1,
			afterEffect: true,
			when: ({ channel }) => String(channel).startsWith('D'),
		});
		await form.submit();
		await app.until(() => app.slack.as('ada').modal()?.submitText() === null);
		await app.slack.as('ada').modal()?.close(true);
		await app.until(() => receipts(app).length > 0);
	}

	it('is found after a restart', async ({ app }) => {
		await lateAnswer(app);
		await app.restart();
		await app.pass(120_000);
		await app.service.comeBack();
		await app.until(() => receipts(app)[0]?.text().includes('delivered'));
		expect(receipts(app)).toHaveLength(1);
	});

	it('is repeated with a mark where the history cannot be read, and says when it is pressed that it is a repeat', async ({
		app,
	}) => {
		hideHistory(app);
		await lateAnswer(app);
		const [orphan, real] = await app.until(() => receipts(app).length > 1 && receipts(app));
		expect(real?.text()).toContain(MAYBE_REPEAT);
		expect(orphan?.text()).not.toContain(MAYBE_REPEAT);
		await orphan?.press('Discard answer');
		await app.until(() => orphan?.text().includes(REPEAT));
		await app.until(() => real?.text().includes('nothing was sent'));
		await app.pass(60_000);
		expect(receipts(app)).toHaveLength(2);
	});
});
