import { GONE_ON } from '../../src/screens/form.ts';
import { OUTSIDE, SETTLED_WORDS } from '../../src/screens/question-post.ts';
import {
	describe,
	expect,
	headline,
	line,
	openSession,
	type Posted,
	REMINDER,
	type WatchingApp,
	withApp,
} from '../kit.ts';
import { asked, emptyNewest, FLIGHT, messagesOf, playedApp, postsOf, receipt, step } from './played-agent.ts';

const MINUTE = 60_000;
const CHOICE = { ...FLIGHT, description: 'One of: LH 1173, TP 570' };
const it = withApp(() => playedApp('3m'));

const setStatus = (app: WatchingApp, id: string, status: string) => app.service.sessions.setStatus(id, status);

/** A watched session asks with options, and its post is there. */
const asks = (app: WatchingApp, status?: string) => asked(app, status, [CHOICE]);

/** Ada presses an option, and the service has it. */
async function press(app: WatchingApp, id: string, post: Posted, count = 1) {
	await post.press('LH 1173');
	await app.until(() => app.service.log.savedPuts(id).length === count);
}

async function delivered(app: WatchingApp) {
	const { id, post } = await asks(app);
	await press(app, id, post);
	return { id, post };
}

/** All that the post has shown. */
const shown = (post: Posted) => [...post.editHistory(), post.text()];
/** Whether it asked again after it had shown these words. */
const opensAfter = (post: Posted, words: RegExp) => {
	const texts = shown(post);
	return texts.slice(texts.findIndex((text) => words.test(text))).some((text) => text.startsWith('✋'));
};

it('does not ask an agent again that takes the answer and empties the field: no post, no reminder, no form', async ({
	app,
}) => {
	const { id, post } = await asks(app);
	const open = await openSession(app, id, 'grace');
	await press(app, id, post);
	setStatus(app, id, 'active');
	emptyNewest(app, id);
	step(app, id);
	await app.until(() => post.text().includes('· continued'));
	step(app, id, 2);
	await app.pass(6 * MINUTE);
	expect(postsOf(app, id).map(({ ts }) => ts)).toEqual([post.ts]);
	expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
	// Her window has named Ada since, and her answer is not sent.
	expect(open.text()).toContain('@ada has answered');
	await open.choose(0, 'TP 570');
	await open.submit();
	await app.until(() => open.text().includes(headline('conflicted')));
	await open.close();
	const form = await openSession(app, id, 'grace');
	expect(form.submitText()).toBeNull();
	expect(form.text()).toContain('@ada answered its newest question');
	expect(app.service.log.savedPuts(id)).toHaveLength(1);
});

it('asks again for an agent that puts back what it read before, once it has waited for a minute, and tells the author', async ({
	app,
}) => {
	const { id, post } = await delivered(app);
	emptyNewest(app, id);
	await app.until(() => post.text().includes('delivered'));
	await app.pass(30_000);
	expect(postsOf(app, id)).toHaveLength(1);
	const again = await app.until(() => postsOf(app, id).find(({ ts }) => ts !== post.ts));
	expect(again.text()).toContain("Asked again. Not in the field any more: ada's answer, LH 1173");
	await app.until(() => app.slack.as('ada').dm(line('delivered', { agentOutcome: 'lost' }))[0]);
	expect(shown(post).join()).not.toContain('continued');
	await press(app, id, again, 2);
	setStatus(app, id, 'active');
	step(app, id);
	await app.until(() => again.text().includes('· continued'));
});

describe('an agent that works on', () => {
	it('closes its question quietly, which can still be answered', async ({ app }) => {
		const { id, post } = await asks(app);
		await app.pass(5_000);
		setStatus(app, id, 'active');
		step(app, id, 4);
		await app.until(() => post.text().includes(SETTLED_WORDS.wentOn));
		expect(post.buttons()).toEqual(['Answer anyway']);
		await app.pass(5 * MINUTE);
		expect(app.thread(id).some((one) => REMINDER.test(one.text()))).toBe(false);
		await post.press('Answer anyway');
		const form = await app.slack.as('ada').waitForModal(GONE_ON);
		expect(form.submitText()).not.toBeNull();
		await form.close();
		setStatus(app, id, 'humanInput');
		await app.until(() => post.buttons().includes('LH 1173'));
		await app.threadSays(id, REMINDER);
		expect(postsOf(app, id).filter((one) => one.ts !== post.ts && !REMINDER.test(one.text()))).toEqual([]);
		await press(app, id, post);
	});

	it('says how far it has gone on where it never waits visibly', async ({ app }) => {
		const { id, post } = await asks(app, 'active');
		step(app, id, 4);
		await app.until(() => post.text().includes('4 steps since'));
		await app.pass(2 * MINUTE);
		expect(post.buttons()).toContain('LH 1173');
		const reminder = await app.threadSays(id, REMINDER);
		expect(reminder.text()).toContain('4 steps since');
	});
});

it('follows an agent that goes on with the post of its question, within one read of the watch', async ({ app }) => {
	const { id, post } = await delivered(app);
	await app.pass(200_000);
	setStatus(app, id, 'active');
	step(app, id);
	const readCount = app.service.log.reads(id).length;
	await app.until(() => app.service.log.reads(id).length > readCount);
	await app.pass(2_000);
	expect(post.text()).toContain('continued');
});

describe('a press that came too late', () => {
	it('does not open the post again when somebody else answered in the dashboard', async ({ app }) => {
		const { id, post } = await asks(app);
		app.service.sessions.answerAsPage(id, ['TP 570']);
		await post.press('LH 1173');
		await app.until(() => post.text().includes(OUTSIDE));
		await app.pass(20_000);
		expect(opensAfter(post, /^⏳/)).toBe(false);
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('shows the new text of a question that changed meanwhile, and not the old one again', async ({ app }) => {
		const { id, post } = await asks(app);
		const messages = messagesOf(app, id);
		Object.assign(messages.at(-1) ?? {}, { content: 'Only two seats are left.' });
		app.service.sessions.patch(id, { messages });
		await post.press('LH 1173');
		await app.until(() => post.text().includes('Only two seats are left.'));
		const texts = shown(post);
		const pressed = texts.findIndex((text) => text.startsWith('⏳'));
		const opened = texts.slice(pressed).filter((text) => text.startsWith('✋'));
		expect(opened.every((text) => text.includes('Only two seats are left.'))).toBe(true);
		expect(app.service.log.puts(id)).toEqual([]);
	});
});

describe('an agent that asks the next question', () => {
	const UNSEEN = line('delivered', { agentOutcome: 'unseen' }).slice(2).toLowerCase();

	/** It takes the answer as soon as that is saved, and asks something else. */
	function asksNext(app: WatchingApp, id: string): void {
		app.service.hooks.onSaved = () => {
			delete app.service.hooks.onSaved;
			setStatus(app, id, 'active');
			step(app, id);
			app.ask(id, ['Which hotel?']);
		};
	}

	it('has continued, also when that is read before the service has confirmed the answer', async ({ app }) => {
		const { id, post } = await asks(app);
		asksNext(app, id);
		const { promise: isRead, resolve: respond } = Promise.withResolvers<void>();
		app.service.hooks.onWorkedOut = ({ method }) => (method === 'PUT' ? isRead : undefined);
		await post.press('LH 1173');
		await app.threadSays(id, 'Which hotel?');
		respond();
		await app.until(() => post.text().includes('· continued'));
		await app.pass(150_000);
		expect(shown(post).join()).not.toContain(UNSEEN);
	});

	it('has continued, also when that is read before the outcome of a request is known', async ({ app }) => {
		const { id, post } = await asks(app);
		asksNext(app, id);
		app.service.faults.add({ kind: 'error', method: 'PUT', sessionId: id, saves: true, times: 1 });
		await post.press('LH 1173');
		await app.until(() => app.service.log.savedPuts(id).length === 1);
		// The read of a person shows the next question.
		await (await openSession(app, id, 'grace')).close(true);
		await app.until(() => post.text().includes('· continued'));
		expect(postsOf(app, id, 'Which hotel?').at(-1)?.text()).toMatch(/^✋/);
	});
});

describe('of two items, one that is erased', () => {
	const ITEMS = [FLIGHT, { title: 'How many bags?', description: 'One of: 1, 2', value: '' }];
	const LOST = line('delivered', { agentOutcome: 'lost' });

	/** Ada answers in a form what it asks. */
	async function answers(app: WatchingApp, id: string, ...texts: readonly string[]) {
		const form = await openSession(app, id);
		for (const [field, text] of texts.entries())
			await (text.length === 1 ? form.choose(field, text) : form.fill(field, text));
		await form.submit();
		await app.until(() => app.service.log.savedPuts(id).length === 1);
		await form.close();
		await app.pass(10_000);
	}

	/** The second item is empty again. The post that asks for it. */
	async function erased(app: WatchingApp, id: string) {
		const messages = messagesOf(app, id);
		Object.assign(messages.at(-1)?.human_input?.[1] ?? {}, { value: '' });
		app.service.sessions.patch(id, { messages });
		return app.until(() => app.thread(id).find((post) => post.text().includes('How many bags?')));
	}

	it('is not called the loss of the other, which stands', async ({ app }) => {
		const id = await app.watched();
		app.ask(id, ITEMS);
		const post = await app.threadSays(id, 'How many bags?');
		app.service.sessions.answerAsPage(id, ['', '2']);
		await app.until(() => post.text().includes(OUTSIDE));
		await answers(app, id, 'LH 1173');
		const again = await erased(app, id);
		expect(again.text()).not.toContain('Asked again');
		await app.pass(20_000);
		expect(receipt(app, id)?.text() ?? '').not.toContain(LOST);
	});

	it('is asked again with what was given there, and not with the other', async ({ app }) => {
		const id = await app.watched();
		app.ask(id, ITEMS);
		await app.threadSays(id, 'How many bags?');
		await answers(app, id, 'LH 1173', '2');
		const again = await erased(app, id);
		expect(again.text()).toContain("Asked again. Not in the field any more: ada's answer, 2");
		await app.until(() => receipt(app, id)?.text().includes(LOST));
		const form = await openSession(app, id, 'grace');
		expect(form.text()).toContain("Asked again. @ada's answer is not in the field any more.\n> 2");
	});
});
